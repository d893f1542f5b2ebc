"""Cells that say how sure their number is: ``812 ± 12``, ``812 (12)``, ``~2400 s``. That the number is read is said."""

from __future__ import annotations

import re
from typing import Final

import pandas as pd

__all__ = ["without_doubts"]

#: A number, perhaps with a unit; ± and its deviation; the unit of both, or of the deviation alone.
_DEVIATION: Final = re.compile(
    r"(?P<value>(?:~|≈|ca\.\s|approx\.\s)?\s*[-+]?\d[\d.,' ]*(?:[eE][+-]?\d+)?)\s*(?P<own>[^\d\s±+]*)"
    r"\s*(?:±|\+/-|\+-)\s*\d[\d.,]*(?:[eE][+-]?\d+)?\s*(?P<unit>[^\d\s%]*)%?",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"(?P<value>\d[\d.,]*(?:[eE][+-]?\d+)?)\s*\(\s*\d[\d.,]*(?:[eE][+-]?\d+)?\s*\)")
_ABOUT: Final = re.compile(r"(?:~|≈|ca\.\s|approx\.\s)\s*(?P<value>\d.*)", re.IGNORECASE)


def without_doubts(cells: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the cells with their numbers alone, and a note on each column that said how sure they are.

    Parameters
    ----------
    cells : DataFrame (n_rows, n_columns)
        Stripped text.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": ["1", "2"], "time": ["812 ± 12 s", "~400 s"]}, dtype=object)
    >>> plain, notes = without_doubts(table)
    >>> plain["time"].tolist()
    ['812 s', '400 s']
    >>> notes
    ("'time': what follows ± isn't used", "'time': numbers with ~ (about) are taken as they stand")
    """
    notes: list[str] = []
    changed = {}
    for name, column in cells.items():
        plain = [_without_deviation(cell) for cell in column]
        if plain != column.tolist():
            notes.append(f"{str(name)!r}: what follows ± isn't used")
        elif all(map(_BRACKETED.fullmatch, filter(None, plain))) and any(plain):
            plain = [found["value"] if (found := _BRACKETED.fullmatch(cell)) else cell for cell in plain]
            notes.append(f"{str(name)!r}: what stands in brackets behind its numbers isn't used")
        exact = [found["value"] if (found := _ABOUT.fullmatch(cell)) else cell for cell in plain]
        if exact != plain:
            notes.append(f"{str(name)!r}: numbers with ~ (about) are taken as they stand")
        if exact != column.tolist():
            changed[str(name)] = pd.Series(exact, index=cells.index, dtype=object)
    return (cells.assign(**changed) if changed else cells), tuple(notes)


def _without_deviation(cell: str) -> str:
    found = _DEVIATION.fullmatch(cell)
    return cell if found is None else f"{found['value'].strip()} {found['own'] or found['unit']}".strip()
