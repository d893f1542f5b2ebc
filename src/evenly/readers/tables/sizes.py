"""Labels that hold a size: ``case_128``, ``run-256k`` and ``64^3`` name their rows, and tell what was varied."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.readers.tables.columns import ALIASES, measured
from evenly.readers.tables.identifiers import TITLES, identifies, without_number
from evenly.readers.tables.number_texts import is_share
from evenly.readers.tables.number_texts import number as number_in
from evenly.readers.tables.roles import are_counted, words_of
from evenly.readers.tables.states import name_key
from evenly.runs.count_names import kind_of
from evenly.runs.durations import is_duration

__all__ = ["with_sizes", "without_counts"]

_NUMBER = re.compile(r"(\d+(?:[kKMG](?![A-Za-z]))?)")
#: Sizes differ by so much, in so many rows, and nearly all of them; numbers of jobs do not.
_REACH, _FEWEST, _NEARLY_ALL = 4.0, 3, 0.9
#: Words of what is numbered, and has no size.
_NUMBERED = frozenset({
    "v", "version", "ver", "release", "rel", "rev", "revision", "r", "tag", "build", "commit", "branch", "seed",
    "random", "issue", "pr", "ticket", "attempt", "try", "trial", "rep", "repeat", "team", "group", "user", "host",
    "node", "day", "date", "fp", "float", "int", "bit", "precision",
})  # fmt: skip


def with_sizes(cells: pd.DataFrame, skipped: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with the sizes in place of labels that hold one each, and notes.

    Parameters
    ----------
    cells : DataFrame (n_rows, n_columns)
        Stripped text.
    skipped : collection of str
        Columns that stay as they are.

    Examples
    --------
    >>> cells = pd.DataFrame({"job": ["h2o-64", "h2o-128", "h2o-512"], "nodes": ["1", "2", "8"]})
    >>> found, notes = with_sizes(cells, ())
    >>> found["size"].tolist(), notes
    (['64', '128', '512'], ["'job' is read as 'size', the number in its labels: h2o-64 as 64"])
    """
    names: dict[str, str] = {}
    changed: dict[str, list[str]] = {}
    notes = []
    for name in map(str, cells.columns):
        texts = cells[name].tolist()
        is_open = name not in skipped and (not _is_identifier(name) or words_of(name) & {*TITLES, "file", "log"})
        is_open = is_open and not words_of(name) & _NUMBERED
        sizes, counted = _sizes_in(texts, _without_counts(cells, name, cells.columns)) if is_open else (None, "")
        others = [c for c in map(str, cells.columns) if c not in (name, *skipped) and measured(c) is None]
        if sizes is None or _is_told(sizes, cells[others]):
            continue
        changed[name] = [f"{size:.15g}" for size in sizes]
        new = counted or ("size" if _is_identifier(name) else name)
        if new != name and new not in cells and new not in names.values():
            names[name] = new
        what = f"{names[name]!r}, the" if name in names else "the"
        notes.append(f"{name!r} is read as {what} number in its labels: {texts[0]} as {changed[name][0]}")
    return (cells.assign(**changed).rename(columns=names) if changed else cells), notes


def without_counts(cells: pd.DataFrame, chosen: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return a table in which labels of the chosen columns lack the counts that other ones of these hold, and notes.

    They do so where a few labels are left.

    Examples
    --------
    >>> cells = pd.DataFrame({"case": ["strong_np8", "strong_np16", "weak_np8", "weak_np16"], "np": ["8", "16"] * 2})
    >>> found, notes = without_counts(cells, ["case", "np"])
    >>> found["case"].unique().tolist(), notes
    (['strong_np', 'weak_np'], ["'case' is read without the count in its labels: strong_np8 as strong_np"])
    """
    changed: dict[str, list[str]] = {}
    notes = []
    for name in (one for one in chosen if one in cells):
        texts = cells[name].tolist()
        bare = _without_counts(cells, name, [one for one in chosen if one in cells])
        if bare != texts and 1 < len(set(bare)) <= len(texts) / 2:
            changed[name] = bare
            notes.append(f"{name!r} is read without the count in its labels: {texts[0]} as {bare[0]}")
    return (cells.assign(**changed) if changed else cells), notes


def _without_counts(cells: pd.DataFrame, name: str, columns: Collection[str]) -> list[str]:
    """Return the labels of a column without the counts that others of the columns hold."""
    texts: list[str] = cells[name].tolist()
    if all(map(str.isdigit, texts)):
        return texts
    for other in map(str, columns):
        if other != name and kind_of(other):
            texts = without_number(texts, np.array([number_in(cell) for cell in cells[other]], dtype=np.float64))
    return texts


def _is_identifier(name: str) -> bool:
    return bool(ALIASES.get(name_key(name)) or identifies(name, ["1", "1"], True, False))


def _sizes_in(texts: list[str], bare: list[str]) -> tuple[NDArray[np.float64] | None, str]:
    """Return the only number in which labels differ, (n_rows,), and what it counts by the words beside it.

    `bare` are the labels without counts that other columns hold. None if they differ in more, or it is no size.
    """
    if len(texts) < _FEWEST or not re.search(r"\d", texts[0]) or not re.search(r"[^\W\d_]|\^", texts[0]):
        return None, ""
    if is_duration(texts[0]) or is_share(texts[0]) or len(set(texts)) < _NEARLY_ALL * len(texts):
        return None, ""
    parts = [_NUMBER.split(text) for text in bare]
    if len({len(one) for one in parts}) > 1:
        return None, ""
    varied = [place for place, found in enumerate(zip(*parts, strict=True)) if len(set(found)) > 1]
    if len(varied) != 1 or varied[0] % 2 == 0:
        return None, ""
    (place,) = varied
    around = ["".join(parts[0][:place]), "".join(parts[0][place + 1 :])]
    if set(re.findall(r"[a-z]+", " ".join(around).lower())) & _NUMBERED:
        return None, ""
    power = re.match(r"\^([23])$", around[1])
    if not (power or re.search(r"[^\W\d_]", "".join(around))) or re.search(r"[\d.,][.,]?$|[<>]", around[0]):
        return None, ""
    sizes = np.array([number_in(one[place]) for one in parts])
    if power:
        return np.asarray(sizes ** int(power[1])), ""
    is_size = sizes.min() > 0 and sizes.max() >= _REACH * sizes.min() and not are_counted(sizes)
    if not is_size or np.array_equal(sizes, np.arange(len(sizes)) + sizes[0]):
        return None, ""
    if bare != texts:  # the words beside it may be those of the count: 4M_np
        return (sizes if len(np.unique(sizes)) >= _FEWEST else None), ""
    counted = (word for text in reversed(around) if kind_of(word := text.strip(" _-=")))
    return sizes, next(counted, "")  # 4 nodes x 48 cores, np16


def _is_told(sizes: NDArray[np.float64], cells: pd.DataFrame) -> bool:
    """Tell whether another column holds the same numbers, or a size that rises with them."""
    for other in map(str, cells.columns):
        numbers = np.array([number_in(cell) for cell in cells[other]])
        if not np.isfinite(numbers).all():
            continue
        rises = bool((np.diff(numbers[np.argsort(sizes, kind="stable")]) > 0).all())
        if np.array_equal(numbers, sizes) or (rises and (numbers == np.round(numbers)).all() and not kind_of(other)):
            return True
    return False
