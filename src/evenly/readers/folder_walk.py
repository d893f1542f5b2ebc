"""Robust traversal of folders: it handles links, loops of links, and files and folders without read permission."""

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
    """Traverses folders and yields files and folders, each of them once even if several links lead to it.

    Attributes
    ----------
    unknown : list of Path
        Files that can't be accessed; the caller adds the files that no reader recognised.
    xml : list of Path
        All XML files found, including those inside folders that a reader reads as a whole.
    """

    unknown: list[Path] = field(default_factory=list)
    xml: list[Path] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _skipped: list[Skipped] = field(default_factory=list)

    def below(self, root: Path, owned: Callable[[Path], bool]) -> Iterator[Path]:
        """Yield `root` if it is a file, else all files and owned folders in it, top-down in sorted order.

        Parameters
        ----------
        root : Path
            A file or folder.
        owned : callable
            Takes a folder and returns whether it is read as a whole; such a folder is yielded and not entered.

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
        """Return the folders that could not be opened since the last call."""
        taken, self._skipped = self._skipped, []
        return taken

    def _enter(self, path: Path) -> int | None:
        """Return the mode of a file or folder at its first visit; None for repeated visits and special files."""
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
        """Return the visible entries of a folder, sorted; links last, so that a file is yielded under its own name."""
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
