"""Numbers in the cells of a table: with decimal commas, groups of digits, suffixes, per cent, or as Fortran writes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError

__all__ = [
    "Decimal",
    "are_speed_ups",
    "exact",
    "has_decimal_commas",
    "has_decimal_points",
    "has_suffix",
    "is_share",
    "may_be_grouped",
    "number",
    "numbers",
]

Decimal = Literal["auto", ".", ","]

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
#: Groups of three digits, with the mark between them and the other one before decimals; in India, of two: 1,23,456.
_GROUPED = {
    ",": re.compile(r"[+-]?[1-9](\d{0,2}(,\d{3})+|\d?(,\d{2})+,\d{3})(\.\d+)?"),
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?"),
}
#: As Fortran writes numbers of double precision.
_FORTRAN = re.compile(r"[+-]?\d*\.?\d+[dD][+-]?\d+")
_ONE_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_SUFFIXED = re.compile(r"(?P<number>[+-]?\d+(?:\.\d+)?) ?(?P<suffix>[kKMG]|(?:Tsd|Mio|Mrd)\.?|[mb]illions?)")
#: ``97.7%``, and a speed-up of ``1.93x``.
_SHARE = re.compile(r"[+-]?\d+(\.\d+)? ?[%x×]")
_POWER = re.compile(r"(?P<base>\d+)(?:\^|\*\*)(?P<exponent>\d\d?)")
#: ``$2.13``, ``2.13 €``, ``2.13 US$``
_CURRENCY = re.compile(
    r"(?:(?:[A-Z]{2})?[$€£¥]|USD|EUR|CHF|GBP)\s?(?=\d)|(?<=\d)\s?(?:(?:[A-Z]{2})?[$€£¥]|USD|EUR|CHF|GBP)$"
)
_SUFFIXES = {
    "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "Tsd": 1e3, "Mio": 1e6, "Mrd": 1e9, "million": 1e6, "billion": 1e9,
}  # fmt: skip
#: ``256³``
_RAISED = re.compile(r"(?<=\d)[⁰¹²³⁴-⁹]+$")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
#: A decimal point, perhaps with a unit behind the number.
_POINT = re.compile(r"(?P<number>[+-]?\d*\.\d+)(?:[eE][+-]?\d+)?(?: ?[a-zA-Zµ%×][^\d]*)?")


def numbers(
    path: Path,
    name: str,
    cells: pd.Series[str],
    lines: NDArray[np.int64],
    *,
    decimal: Decimal = "auto",
    whole: bool = False,
    commas: bool = False,
) -> NDArray[np.float64]:
    """Convert one column of text to numbers; NaN where a cell isn't a number.

    Parameters
    ----------
    path, name : Path and str
        The file and the column, for messages.
    cells : Series (n_rows,)
        Stripped text.
    lines : array (n_rows,)
        Line of each row.
    decimal : {"auto", ".", ","}
        The decimal mark; ``"auto"`` takes a comma where cells can't be read otherwise. The other mark may stand between
        groups of three digits.
    whole : bool
        Whether only whole numbers make sense, as of cores: ``1,024`` is a thousand then.
    commas : bool
        Whether other columns of the file have decimal commas, so that ``50.020`` may be fifty thousand.

    Returns
    -------
    array (n_rows,)

    Raises
    ------
    ReadError
        If ``1,024`` or ``50.020`` might be thousands or decimals.

    Examples
    --------
    >>> cells, lines = pd.Series(["1,024", "2,048.5"]), np.array([2, 3])
    >>> numbers(Path("runs.csv"), "n", cells, lines), numbers(Path("runs.csv"), "n", pd.Series(["12k", "1e3"]), lines)
    (array([1024. , 2048.5]), array([12000.,  1000.]))
    """
    texts = cells.tolist()
    plain = _floats(texts)
    if (decimal == "." or (decimal == "auto" and not commas)) and not np.isnan(plain).any():
        return plain
    grouping = _grouping_mark(texts, decimal, whole=whole, commas=commas)
    if grouping == "?":
        first = next(row for row, cell in enumerate(texts) if _ONE_GROUP.fullmatch(cell))
        mark = "decimal comma" if "," in texts[first] else "decimal point"
        raise ReadError(
            path,
            f"{texts[first]!r} in column {name!r} may be a thousand or a {mark}: say which mark is the decimal one, "
            "decimal=',' or decimal='.' (-O decimal=, or -O decimal=.)",
            line=int(lines[first]),
        )
    return np.array([number(cell, grouping) for cell in texts], dtype=np.float64)


def exact(value: float) -> str:
    """Return the text of a number that a file holds as such: no mark in it may be read as one between groups of digits.

    Examples
    --------
    >>> exact(0.5), exact(10.559)
    ('0.5', '10.5590')
    """
    text = repr(value)
    return f"{text}0" if may_be_grouped(text) else text


def may_be_grouped(cell: str) -> bool:
    """Tell whether a mark in a cell may be a decimal one, or stand between groups of three digits.

    Examples
    --------
    >>> may_be_grouped("10.559"), may_be_grouped("0.559"), may_be_grouped("10.5590")
    (True, False, False)
    """
    return _ONE_GROUP.fullmatch(cell) is not None


def has_suffix(cells: Sequence[str]) -> str:
    """Return the first cell like ``12k``, if there is one.

    Examples
    --------
    >>> has_suffix(["8", "12k"]), has_suffix(["fork", "8"])
    ('12k', '')
    """
    return next((cell for cell in cells if cell[-1:] in "kKMG" and _SUFFIXED.fullmatch(cell)), "")


def has_decimal_commas(frame: pd.DataFrame) -> bool:
    """Tell whether a column of text surely has decimal commas, as ``0,75``.

    Examples
    --------
    >>> has_decimal_commas(pd.DataFrame({"a": ["0,75"]})), has_decimal_commas(pd.DataFrame({"a": ["1,024"]}))
    (True, False)
    """
    return any(
        _DECIMAL_COMMA.fullmatch(cell) and not _GROUPED[","].fullmatch(cell)
        for name in frame.columns
        for cell in frame[name]
        if "," in cell
    )


def has_decimal_points(frame: pd.DataFrame) -> bool:
    """Tell whether a column of text surely has decimal points, as ``0.75`` and ``0.75 s``.

    Examples
    --------
    >>> has_decimal_points(pd.DataFrame({"a": ["0.75"]})), has_decimal_points(pd.DataFrame({"a": ["1.024"]}))
    (True, False)
    """
    return any(
        (found := _POINT.fullmatch(cell)) is not None and not _GROUPED["."].fullmatch(found["number"])
        for name in frame.columns
        for cell in frame[name]
        if "." in cell
    )


def _grouping_mark(texts: Sequence[str], decimal: Decimal, *, whole: bool, commas: bool) -> str:
    """Return the mark between groups of three digits, ``","`` or ``"."``; ``"?"`` if it can't be told."""
    if decimal != "auto":
        return "," if decimal == "." else "."
    if any(_DECIMAL_COMMA.fullmatch(cell) and not _ONE_GROUP.fullmatch(cell) for cell in texts):
        return "."
    maybe = [cell for cell in texts if _ONE_GROUP.fullmatch(cell)]
    sure = {
        mark for mark, pattern in _GROUPED.items()
        for cell in texts if pattern.fullmatch(cell) and not _ONE_GROUP.fullmatch(cell)
    }  # fmt: skip
    if len(sure) == 1:
        return sure.pop()
    if any("," in cell for cell in maybe):
        return "," if whole else "?"
    if commas and maybe and all(_ONE_GROUP.fullmatch(cell) for cell in texts if "." in cell):
        return "." if whole else "?"
    return ","


def number(cell: str, grouping: str = ",") -> float:
    """Return the number in a cell, NaN if there is none; `grouping` may stand between groups of three digits.

    Examples
    --------
    >>> number("4M"), number("1,024"), number("97%"), number("$2.13"), number("2^10"), number("fine")
    (4000000.0, 1024.0, 97.0, 2.13, 1024.0, nan)
    >>> number("256³"), number("16 Mio")
    (16777216.0, 16000000.0)
    """
    cell = _CURRENCY.sub("", cell, count=1)
    cell = _RAISED.sub(lambda power: f"^{power[0].translate(_LOWERED)}", cell)
    if _GROUPED[grouping].fullmatch(cell):
        cell = cell.replace(grouping, "")
    if grouping == ".":
        cell = cell.replace(",", ".")
    if is_share(cell):
        cell = cell[:-1]
    if match := _POWER.fullmatch(cell):
        return float(match["base"]) ** int(match["exponent"])
    if match := _SUFFIXED.fullmatch(cell):
        return float(match["number"]) * _SUFFIXES[match["suffix"].rstrip(".s")]
    return _float(cell)


def is_share(cell: str) -> bool:
    """Tell whether a cell is a number with a per cent sign, or a speed-up with a cross.

    Examples
    --------
    >>> is_share("97.7%"), is_share("1.93x"), is_share("97.7")
    (True, True, False)
    """
    return _SHARE.fullmatch(cell) is not None


def are_speed_ups(cells: Sequence[str]) -> bool:
    """Tell whether cells are measured numbers with a cross behind each: people choose 2x, 0.5x and 1.25x.

    Examples
    --------
    >>> are_speed_ups(["1.00x", "1.93x"]), are_speed_ups(["1x", "1.25x", "2x"])
    (True, False)
    """
    crossed = bool(cells) and all(is_share(cell) and cell[-1] != "%" for cell in cells)
    return crossed and any(not (20 * float(cell[:-1])).is_integer() for cell in cells)


def _floats(cells: list[str]) -> NDArray[np.float64]:
    """Convert text to the nearest numbers (older pandas rounds the last digit differently); NaN for other text."""
    try:
        if not any("_" in cell for cell in cells):
            return np.array(cells, dtype=np.str_).astype(np.float64)
    except ValueError:
        pass
    return np.array([_float(cell) for cell in cells], dtype=np.float64)


def _float(cell: str) -> float:
    try:
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return float(cell.upper().replace("D", "E")) if _FORTRAN.fullmatch(cell) else math.nan
