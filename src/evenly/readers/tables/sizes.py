"""Labels that hold a size: ``case_128``, ``run-256k`` and ``64^3`` name their rows, and tell what was varied."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.readers.tables.columns import ALIASES, measured
from evenly.readers.tables.identifiers import TITLES, identifies, without_number
from evenly.readers.tables.number_texts import is_share
from evenly.readers.tables.number_texts import number as number_in
from evenly.readers.tables.roles import are_counted, words_of
from evenly.readers.tables.states import name_key
from evenly.readers.tables.unit_row import plural_of_count
from evenly.runs.count_names import kind_of
from evenly.runs.durations import is_duration

__all__ = ["with_sizes", "without_counts"]

#: Words of numbers of runs.
_NUMBERS_OF_RUNS = frozenset({"run", "job", "case", "test", "exp", "experiment", "sample", "id", "no", "nr", "lauf"})
#: Columns whose labels may tell what was varied, though they only name rows.
_NAMES_OF_RUNS = {*TITLES, "file", "log", "logfile", "filename"}
#: Marks between words and numbers, and letters that stand for a count of cores, ranks or threads.
_MARKS, _COUNTING = " _-=().,", ("n", "p", "t", "c", "r")
_NUMBER = re.compile(r"(\d+(?:[kKMG](?![A-Za-z]))?)")
#: A number and the word behind it: 1 node, 4 node(s).
_COUNTED = re.compile(r"(?P<n>\d+\s?)(?P<word>[^\W\d_]+)(?:\((?:s|e|n|en|es)\))?")
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
    notes = []
    for name in map(str, cells.columns):
        if name in skipped or (_is_identifier(name) and not words_of(name) & _NAMES_OF_RUNS):
            continue
        texts = cells[name].tolist()
        sizes, rest = _sizes_in(texts, _without_counts(cells, name, cells.columns))
        others = [c for c in map(str, cells.columns) if c not in (name, *skipped) and measured(c) is None]
        several = len(sizes) + bool(rest) > 1
        sizes = [size for size in sizes if not _is_told(size.values, cells[others])]
        if not sizes or (several and not any(size.is_count for size in sizes)) or words_of(name) & _NUMBERED:
            continue
        plain = "size" if _is_identifier(name) else name
        new = [size.word or plain for size in sizes]
        if len(sizes) == 1 and not rest and new[0] != name and new[0] in cells:
            new = [name]
        if len(set(new)) < len(new) or any(one != name and one in cells for one in new):
            continue
        columns = {one: [f"{value:.15g}" for value in size.values] for one, size in zip(new, sizes, strict=True)}
        if rest and name not in columns:
            columns = {name: rest, **columns}
        notes.append(_said(name, texts[0], columns))
        there: dict[str, Any] = {}
        for other in cells:
            there |= columns if other == name else {str(other): cells[other]}
        cells = pd.DataFrame(there, index=cells.index)
    return cells, notes


def _said(name: str, label: str, columns: Mapping[str, Sequence[str]]) -> str:
    """Return a note on the columns that take the place of one with labels."""
    values = " and ".join(column[0] for column in columns.values())
    if len(columns) > 1:
        what = "what its labels hold" if name in columns else "the numbers in its labels"
        return f"{name!r} is read as {' and '.join(map(repr, columns))}, {what}: {label} as {values}"
    what = "the" if name in columns else f"{next(iter(columns))!r}, the"
    return f"{name!r} is read as {what} number in its labels: {label} as {values}"


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


class _Size(NamedTuple):
    """A number in which labels differ, (n_rows,), the word that names it, and whether it may count ranks or cores."""

    values: NDArray[np.float64]
    word: str = ""
    is_count: bool = False


def _sizes_in(texts: list[str], bare: list[str]) -> tuple[list[_Size], list[str]]:
    """Return the sizes in labels that differ in nothing else, and no rest.

    Where they differ in a count and in something that is no size, return the counts, and what is left of the labels.
    `bare` are the labels without counts that other columns hold.
    """
    texts, bare = ([_with_plurals(text) for text in each] for each in (texts, bare))
    if len(texts) < _FEWEST or not re.search(r"\d", texts[0]) or not re.search(r"[^\W\d_]|\^", texts[0]):
        return [], []
    if is_duration(texts[0]) or is_share(texts[0]) or len(set(texts)) < _NEARLY_ALL * len(texts):
        return [], []
    parts = [_NUMBER.split(text) for text in bare]
    if len({len(one) for one in parts}) > 1:
        return [], []
    varied = [place for place, found in enumerate(zip(*parts, strict=True)) if len(set(found)) > 1]
    numbers = [place for place in varied if place % 2]
    is_only = len(varied) == 1
    found = {place: _size_at(parts, place, is_cut=bare != texts, is_only=is_only) for place in numbers}
    for place, size in found.items():  # 2 cores beside 2 nodes
        if (
            size
            and size.word
            and any(beside in varied and size.word in parts[0][beside] for beside in (place - 1, place + 1))
        ):
            found[place] = None
    words = set(re.findall(r"[a-z]+", " ".join(parts[0][::2]).lower()))
    sizes = [size for size in found.values() if size]
    are_told_apart = len({size.word for size in sizes}) == len(sizes) == len(varied)
    if are_told_apart and not words & _NUMBERED:
        return sizes, []
    kept = {
        place: size for place, size in found.items() if size and (size.is_count or _is_named(size, parts[0][place]))
    }
    if is_only or bare != texts or not any(size.is_count for size in kept.values()):
        return [], []
    if len({size.word for size in kept.values()}) < len(kept):
        kept = {place: size for place, size in kept.items() if size.is_count}
    rest = [_without(one, {place: size.word for place, size in kept.items()}) for one in parts]
    if len(set(rest)) >= _NEARLY_ALL * len(rest):  # numbers of runs, or dates
        return ([], []) if any(size and place not in kept for place, size in found.items()) else ([*kept.values()], [])
    return [*kept.values()], rest if len(set(rest)) > 1 else []


def _with_plurals(text: str) -> str:
    """Return a label with the words of counts as many write them: 2 nodes of 1 node, 4 node(s)."""

    def plural(found: re.Match[str]) -> str:
        many = plural_of_count(found["word"])
        return found["n"] + many if many else found[0]

    return _COUNTED.sub(plural, text)


def _is_named(size: _Size, text: str) -> bool:
    """Tell whether a number is a size by the word beside it, or by its end: 4M."""
    word = size.word.lower()
    return text[-1:].isalpha() or (len(word) > 0 and word not in _NUMBERED | _NUMBERS_OF_RUNS)


def _without(parts: Sequence[str], words: Mapping[int, str]) -> str:
    """Return a label without some of its numbers and the words beside them."""
    left = list(parts)
    for place, word in words.items():
        left[place] = ""
        for beside in (place - 1, place + 1):
            if left[beside].strip(_MARKS) == word:
                left[beside] = "_"
    return re.sub(r"_{2,}", "_", "".join(left)).strip(_MARKS)


def _size_at(parts: list[list[str]], place: int, *, is_cut: bool, is_only: bool) -> _Size | None:
    """Return the size at a place of labels that are cut into words and numbers; None if it is no size.

    Where a count is cut off from the labels, the words may be those of the count: 4M_np.
    """
    around = ["".join(parts[0][:place]), "".join(parts[0][place + 1 :])]
    power = re.match(r"\^([23])$", around[1])
    if not (power or re.search(r"[^\W\d_]", "".join(around))) or re.search(r"[\d.,][.,]?$|[<>]", around[0]):
        return None
    sizes = np.array([number_in(one[place]) for one in parts])
    if power and is_only:
        return _Size(np.asarray(sizes ** int(power[1])))
    words = [text.strip(_MARKS) for text in reversed(around)] if is_only else _own_words(parts[0], place)
    counted = next((word for word in words if kind_of(word)), "")  # 4 nodes x 48 cores, np16
    distinct = np.unique(sizes)
    is_size = distinct[0] > 0 and distinct[-1] >= (_REACH if is_only else 2) * distinct[0] and not are_counted(sizes)
    if not (is_size or (counted and not is_only)) or np.array_equal(sizes, np.arange(len(sizes)) + sizes[0]):
        return None
    if is_cut:
        return _Size(sizes) if len(distinct) >= _FEWEST else None
    letter = next((word for word in words if word in _COUNTING), "")  # n16
    word = counted or letter or ("" if is_only else words[1] or words[0].removeprefix("x"))  # 512x512
    return _Size(sizes, word, bool(counted or letter))


def _own_words(parts: Sequence[str], place: int) -> list[str]:
    """Return the words after and before a number: in 2M-np16, 16cores_2M and N2M_p16, those between are of the 16."""
    before, after = parts[place - 1], parts[place + 1].lstrip()
    is_led = parts[0][:1].isalpha()  # words stand before their numbers
    if place > 1 and before[:1].isalpha() and not is_led:
        before = ""
    if place + 2 < len(parts) and (not after[:1].isalpha() or (is_led and re.search(r"[^\W\d_]", before))):
        after = ""
    return [(re.findall(r"[^\W\d_]+", after) or [""])[0], (re.findall(r"[^\W\d_]+", before) or [""])[-1]]


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
