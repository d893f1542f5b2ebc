"""The interface of a reader of measurement files.

A reader reads one file format. Readers are entry points of the group ``evenly.readers``, so other packages can add
their own. `evenly.read` walks through a folder, offers each folder and file to all readers, and collects their runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:  # the list of formats needs no pandas, whose import is slow
    from evenly.runs.runs import Runs

__all__ = ["Reader"]


class Reader(ABC):
    """Abstract base class of readers; each subclass reads one measurement format.

    The keyword-only arguments of ``__init__`` are the options of the reader, in `evenly.read` and on the command line.

    Every subclass must obey these laws:

    - `recognises` never raises, and reads at most the name and the first few kilobytes of a file.
    - `read` returns at least one solver with at least one row, or raises `ReadError` with the file, the line if there
      is one, and the reason.
    - A reader that recognises a folder reads everything in it; no other reader gets the files inside.
    """

    #: The name of the format, a value of ``evenly read --format``.
    name: ClassVar[str]
    #: A one-line description for the list of formats.
    summary: ClassVar[str]

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Return whether `path`, a file or a folder, has this format."""

    @abstractmethod
    def read(self, path: Path) -> dict[str, Runs]:
        """Read all runs from the file or folder `path`.

        Returns
        -------
        dict of str to Runs
            The runs of each solver; the key is ``""`` if the file does not name its solver.

        Raises
        ------
        ReadError
            If the file is broken, truncated or empty.
        """
