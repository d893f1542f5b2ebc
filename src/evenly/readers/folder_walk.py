"""Walking folders of unknown size and health: links, loops, and what may not be opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evenly.readers.registry import Skipped

__all__ = ["Walk"]


@dataclass
class Walk:
    """Yields what may hold measurements, each thing once however many links lead to it.

    Attributes
    ----------
    unknown : list of Path
        For the caller: files that nobody recognised.
    xml : list of Path
        XML files seen on the way, also inside folders that a reader owns.
    """

    unknown: list[Path] = field(default_factory=list)
    xml: list[Path] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _skipped: list[Skipped] = field(default_factory=list)

    def below(self, root: Path, owned: Callable[[Path], bool]) -> Iterator[Path]:
        """Yield `root` if it is a file, else all files and owned folders below, top-down in sorted order.

        Parameters
        ----------
        root : Path
            A file or folder.
        owned : callable
            Tells whether a folder is read as a whole: it is yielded and not entered.

        Examples
        --------
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "b.csv").write_text("x"), (folder / "a.csv").write_text("x")
        >>> [path.name for path in Walk().below(folder, lambda folder: False)]
        ['a.csv', 'b.csv']
        """
        pending = [root]
        while pending:
            path = pending.pop()
            kind = self._enter(path)
            if kind is None:
                continue
            if stat.S_ISREG(kind):
                if path.suffix.lower() == ".xml":
                    self.xml.append(path)
                yield path
            elif owned(path):
                self._collect_xml(path)
                yield path
            else:
                pending.extend(reversed(self._entries(path)))

    def take_skipped(self) -> list[Skipped]:
        """Return what could not be entered since the last call."""
        taken, self._skipped = self._skipped, []
        return taken

    def _enter(self, path: Path) -> int | None:
        """Return the mode of a file or folder seen for the first time; None for all else."""
        try:
            status = path.stat()
        except OSError:
            self.unknown.append(path)
            return None
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            return None
        self._seen.add(identity)
        return status.st_mode

    def _entries(self, folder: Path) -> list[Path]:
        """Return what a folder holds, sorted, hidden left out; links last: a thing is seen under its own name."""
        try:
            with os.scandir(folder) as found:
                entries = [entry for entry in found if not entry.name.startswith(".")]
        except OSError as error:
            self._skipped.append(Skipped(folder, f"the folder can't be opened: {error.strerror}"))
            return []
        entries.sort(key=lambda entry: (entry.is_symlink(), entry.name))
        return [Path(entry.path) for entry in entries]

    def _collect_xml(self, folder: Path) -> None:
        for parent, folders, files in os.walk(folder):
            folders.sort()
            self.xml.extend(Path(parent) / name for name in sorted(files) if name.lower().endswith(".xml"))
