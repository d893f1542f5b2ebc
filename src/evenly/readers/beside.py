"""Texts beside the files with measurements, such as a README: what they say may matter, so that they are quoted."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from evenly.errors import ReadError
from evenly.readers.tables.cell_files import looks_like_table
from evenly.readers.tables.roles import ASSUMED, Column
from evenly.readers.tables.unit_row import units_in_text

__all__ = ["lines_of_text", "refuse_unit_beside", "texts_beside"]

#: Their suffixes, the longest that is read, in bytes, and how many are.
_SUFFIXES, _LONGEST, _MOST = frozenset({".txt", ".md", ".rst", ""}), 50_000, 20
#: What is read beside a file that was given itself.
_README = re.compile(r"(?:read.?me|notes?)\b.*", re.IGNORECASE)


def texts_beside(given: Sequence[Path], tables: Collection[Path], unknown: Iterable[Path]) -> list[Path]:
    r"""Return the texts in given folders, and the README beside given tables.

    One table of several in its folder must be named in the README.

    Parameters
    ----------
    given : sequence of Path
        Files and folders.
    tables : collection of Path
        The tables that were read.
    unknown : iterable of Path
        Files in no known format in the given folders.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, text in (("a.csv", "cores,time_s"), ("b.csv", "cores,time_s"), ("README.md", "Of b.csv")):
    ...     _ = (folder / name).write_text(f"{text}\n")
    >>> [[path.name for path in texts_beside([one], [one], [])] for one in (folder / "a.csv", folder / "b.csv")]
    [[], ['README.md']]
    """
    found = [path for path in unknown if _is_text(path)]
    files = [path for path in given if path in tables]
    for folder in dict.fromkeys(path.parent for path in files):
        own = [path for path in files if path.parent == folder]
        try:
            others = sorted(path for path in folder.iterdir() if path not in own)
        except OSError:
            continue
        notes = [path for path in others if _README.fullmatch(path.name) and _is_text(path)]
        if len(own) == 1 and any(looks_like_table(path) for path in others if path not in notes):
            notes = [path for path in notes if _names(lines_of_text(path), own[0])]
        found += [path for path in notes if path not in found]
    return found[:_MOST]


def lines_of_text(path: Path) -> list[str]:
    """Return the lines of a text but tables, without marks around them; none if it can't be read, or is long."""
    try:
        if path.stat().st_size > _LONGEST:
            return []
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    words = [line.strip() for line in lines if not line.lstrip().startswith("|")]
    return [plain for line in words if (plain := line.replace("\\*", "*").strip("#%/! "))]


def refuse_unit_beside(texts: Iterable[Path], columns: Iterable[Column]) -> None:
    """Refuse to assume seconds where a text beside the files names another unit of time.

    Raises
    ------
    ReadError
        With the words, and how the unit is told.
    """
    time = next((one.name for one in columns if one.role == "time" and one.why.endswith(ASSUMED)), None)
    for path in texts if time is not None else ():
        told = {unit: said for unit, said in units_in_text(lines_of_text(path), is_open=True).items() if unit != "s"}
        for unit, said in told.items():
            raise ReadError(
                path,
                f"{said!r} stands beside the files, but {time!r} would be in s: pass unit= (--unit), as --unit {unit} "
                "or --unit s",
            )


def _is_text(path: Path) -> bool:
    return path.suffix.lower() in _SUFFIXES and path.is_file()


def _names(lines: Iterable[str], path: Path) -> bool:
    return any(re.search(rf"(?<![\w.-]){re.escape(path.name)}(?!\w)", line) for line in lines)
