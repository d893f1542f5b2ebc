"""What a program's work consists of: which terms its chunks are charged for.

A program turns chunks into amounts (so many points with a pole, so many faces copied); a `CostModel` holds what one of
each takes on a machine. Both calibration and prediction go through `Program.amounts`, so what is learned is what is
used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.pieces import Pieces

__all__ = ["BOUNDARY", "Program", "Term"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """Something that takes time in proportion.

    Parameters
    ----------
    name : str
        Such as ``"vacuum points"``.
    per : str
        What one of it is, for units: ``"point"`` makes ns per point and step.
    about : str
        One line for tables.
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
        """Whether the parts of a chunk have as much of it together as the chunk: points and what lies on them."""
        return self.per in ("point", "value", "node", "product", "value and frequency", "line")


#: Terms of ranks and the borders between them, which every program has: amounts come from the layout, not from chunks.
BOUNDARY = (
    Term("faces sent", "face", "faces of points shared with chunks of other ranks"),
    Term("neighbours", "rank", "other ranks that share a face"),
    Term("ranks", "rank", "what a rank does in every step, whatever it owns"),
)


class Program(ABC):
    """How a program's chunks cost.

    Laws, checked for every program by ``tests/decomposition/costs/contract.py``: amounts are never negative and finite;
    they depend on what a piece holds, where its cell has layers, and which other pieces its box has, which share the
    caches with it, not on other boxes; a piece of no points has none.
    """

    #: As `Cell.program` names it.
    name: ClassVar[str]
    #: Terms of chunks; those of `BOUNDARY` come on top.
    terms: ClassVar[tuple[Term, ...]]

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """Terms of chunks, then those of borders."""
        return (*self.terms, *BOUNDARY)

    @abstractmethod
    def amounts(self, pieces: Pieces) -> Array:
        """Return how much of each term each piece has, (n, terms)."""

    def spread_amounts(self, pieces: Pieces) -> Array:
        """Return the same for parts of chunks, (n, terms): without what chunks hold beyond their own points."""
        return self.amounts(pieces)
