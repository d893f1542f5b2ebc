"""The abstract base class of programs: the terms of a program's work, and their amounts in chunks.

A program turns chunks into amounts, such as the number of points with a pole or the number of copied faces. A
`CostModel` holds the seconds per unit of each term on a machine. Calibration and prediction both use `Program.amounts`,
so they are consistent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.pieces import Pieces

__all__ = ["BOUNDARY", "Program", "Term", "few"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """A term of a program's work, whose time is proportional to its amount.

    Parameters
    ----------
    name : str
        The name, such as ``"points"``.
    per : str
        The unit of the amount: ``"point"`` gives coefficients in ns per point and step.
    about : str
        A description of one line for tables.
    """

    name: str
    per: str = "point"
    about: str = ""

    @property
    def unit(self) -> str:
        """Unit of its coefficient in tables and files."""
        return f"ns per {self.per} and step"

    @property
    def extensive(self) -> bool:
        """Whether the amount of a chunk is the sum of the amounts of its parts, as for points and values on them."""
        return self.per in ("point", "value", "node", "product", "value and frequency", "line")


#: Terms of ranks and of borders between them, which every program has. Their amounts come from the layout.
BOUNDARY = (
    Term("faces sent", "face", "faces of points shared with chunks of other ranks"),
    Term("neighbours", "rank", "other ranks that share a face"),
    Term("ranks", "rank", "what a rank does in every step, whatever it owns"),
)


def few(names: Sequence[str]) -> str:
    """Return a list of names for a sentence, three of them at most.

    Examples
    --------
    >>> few(["points", "rows", "chunks", "sides", "ranks"])
    'points, rows, chunks and 2 more'
    """
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


class Program(ABC):
    """A program: its terms, and their amounts in the pieces of a cell.

    ``tests/decomposition/costs/contract.py`` checks these laws for every program. Amounts are finite and never
    negative. The amounts of a piece depend on its contents, on the layers of its cell, and on the other pieces of its
    box, which share the caches with it; they don't depend on other boxes. A piece without points has no amounts.
    """

    #: Name of the program, as in `Cell.program`.
    name: ClassVar[str]
    #: Terms of chunks, without those of `BOUNDARY`.
    terms: ClassVar[tuple[Term, ...]]

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """Terms of chunks, then those of borders."""
        return (*self.terms, *BOUNDARY)

    @abstractmethod
    def amounts(self, pieces: Pieces) -> Array:
        """Return the amount of each term in each piece, (n, terms)."""

    def spread_amounts(self, pieces: Pieces) -> Array:
        """Return the amounts for parts of chunks, (n, terms), without what chunks hold beyond their own points."""
        return self.amounts(pieces)
