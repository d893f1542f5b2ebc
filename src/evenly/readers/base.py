"""The interface of a reader of measurement files.

A reader knows one format. It is found through the entry-point group ``evenly.readers``, so another package can bring
its own. `evenly.read` walks a folder, asks every reader for every folder and file, and collects what they give.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:  # the list of formats needs no pandas, which takes a while to import
    from evenly.runs.runs import Runs

__all__ = ["Reader"]


class Reader(ABC):
    """Reads one measurement format.

    Options are keyword-only arguments of ``__init__``; their names are offered by `evenly.read` and the command line.

    Laws: `recognises` never raises and looks at no more than the name and the first few kilobytes; a file it does not
    recognise may be read by others. `read` returns at least one solver with at least one row, or raises `ReadError`
    with the file, the line where there is one, and the reason. A reader that recognises a folder owns all in it.
    """

    #: The format's name, as ``evenly read --format`` takes it.
    name: ClassVar[str]
    #: One line for the list of formats.
    summary: ClassVar[str]

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Tell whether `path`, a file or a folder, is in this format."""

    @abstractmethod
    def read(self, path: Path) -> dict[str, Runs]:
        """Read `path`.

        Returns
        -------
        dict of str to Runs
            Runs per solver; the key is ``""`` where the format names no solver.

        Raises
        ------
        ReadError
            If the file is broken, truncated or empty.
        """
