"""Times side by side become one row for each: ``run1_s, run2_s`` of one configuration, ``8 cores, 16 cores`` of two.

Repeated runs are found where their names and values are plain; a pattern of the user names any others.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables.chsy_names import is_chsy
from evenly.readers.tables.columns import ALIASES, is_rate, measured, unit_of_time
from evenly.readers.tables.number_texts import has_decimal_commas
from evenly.readers.tables.number_texts import number as number_in
from evenly.readers.tables.per_work import time_of_work
from evenly.readers.tables.wide import Narrowed
from evenly.runs.count_names import kind_of
from evenly.runs.durations import parse as duration
from evenly.runs.units import SECONDS_PER

__all__ = ["pattern_in", "refuse_units_in_solvers", "shared_pattern", "stacked", "stacked_by"]

#: What people call a run that they repeat.
_RUNS = frozenset({
    "run", "runs", "rep", "repeat", "repetition", "trial", "try", "sample", "measurement", "meas", "attempt",
    "lauf", "durchlauf", "messung", "wiederholung", "versuch", "essai", "mesure", "passage", "répétition",
    "prueba", "ensayo", "corrida", "medición", "medida", "ejecución", "repetición", "prova", "misura", "esecuzione",
    "ripetizione", "execução", "medição", "teste", "meting", "proef", "próba", "pomiar",
})  # fmt: skip
#: Words beside a value that don't name it, and a unit behind it.
_BETWEEN = frozenset({
    "", "t", "for", "at", "on", "with", "in", "bei", "für", "mit", "pour", "avec", "à", "con", "para", "per",
})  # fmt: skip
_BRACKETED = re.compile(r"\s*[\[(][^\])]*[\])]\s*$")
#: What stands behind the number of an ordinal: 1st, 2nd, 1era, 2nda, 3., 1er.
_ORDINAL = r"(?:st|nd|rd|th|er|era|ra|ro|da|do|nda|ndo|ta|to|re|e|ère|ème|ª|º|°|\.)(?=\s|$)"
_NUMBERED = re.compile(
    rf"(?P<before>(?:.*?[A-Za-z])?)[\s_\-.#]*(?P<number>\d{{1,3}})(?:{_ORDINAL})?(?P<after>(?:[\s_\-.\[(/][^\d]*)?)"
)
_WORD = re.compile(r"[^\W\d_]{2}")
#: Times of one configuration differ by less than this factor; those of two parts of a run may not.
_ALIKE = 1.5
#: A mean is rounded by less than this share, a deviation by less than the second; in so many rows, none by chance.
_ROUNDING, _COARSE, _FEWEST_ROWS = 0.01, 0.05, 2
#: What stands behind a decimal mark.
_DECIMALS = re.compile(r"[.,](\d+)$")
#: What people compute of repeated runs; a deviation is that of a sample, or of all.
_COMPUTED: tuple[tuple[str, dict[str, int]], ...] = (
    ("mean", {}), ("median", {}), ("min", {}), ("max", {}), ("std", {}), ("std", {"ddof": 0}),
)  # fmt: skip


def stacked(cells: pd.DataFrame, lines: NDArray[np.int64]) -> Narrowed | None:
    """Return a table whose repeated runs stand side by side with one row for each; None if they plainly don't.

    Examples
    --------
    >>> cells = pd.DataFrame({"cores": ["2", "4"], "run1_s": ["9.1", "5.0"], "run2_s": ["9.0", ""]})
    >>> stacked(cells, np.array([2, 3])).cells.to_dict("list")
    {'cores': ['2', '2', '4'], 'run_s': ['9.1', '9.0', '5.0']}
    >>> stacked(cells[["cores", "run1_s"]], np.array([2, 3])) is None
    True
    """
    groups: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for column in map(str, cells.columns):
        match = _NUMBERED.fullmatch(column.strip())
        if match and f"{match['before']}{match['after']}".strip():
            groups[match["before"], match["after"]][int(match["number"])] = column
    found = [(name, by_number) for name, by_number in groups.items() if _are_runs(cells, name, by_number)]
    if len(found) != 1:
        return None
    (before, after), by_number = found[0]
    columns = [by_number[number] for number in sorted(by_number)]
    time = f"{before}{after}"
    computed = _statistics_of(cells, columns)
    others = [column for column in map(str, cells.columns) if column not in (*columns, *computed)]
    if time in others or any((told := measured(column)) and told.certainty == 2 for column in others):
        return None
    unit = next(filter(None, map(unit_of_time, computed)), "")
    time = f"{time} [{unit}]" if unit and not unit_of_time(time) else time  # Run 1, Run 2, Avg (s)
    return _stack(cells, lines, dict.fromkeys(columns, ""), time, "")


def stacked_by(
    path: Path, cells: pd.DataFrame, lines: NDArray[np.int64], pattern: str, *, solvers: bool = False
) -> Narrowed:
    """Return a table with one row for each of the times in columns that a pattern names, as ``"* cores"``.

    If `solvers`, what stands for the ``*`` is the name of a solver. Else the pattern may say what it counts: cores,
    nodes, … or what stands before an equals sign, as in ``"N=*"``. It may also name a parameter, as in ``"mesh *"`` and
    ``"* K ligands"``, if the times differ by more than those of repeated runs, or letters stand there, as ``A`` and
    ``B``. Otherwise the times are repeated runs.

    Parameters
    ----------
    path : Path
        For messages.
    cells : DataFrame (n_rows, n_columns)
        Text.
    lines : array (n_rows,)
        The line of each row.
    pattern : str
        With one ``*``.
    solvers : bool
        Whether the ``*`` stands for the names of solvers.

    Raises
    ------
    ReadError
        If fewer than two columns fit, or a number or word in their names may be anything.

    Examples
    --------
    >>> cells = pd.DataFrame({"mesh": ["fine"], "8 cores": ["9.1"], "16 cores": ["5.0"]})
    >>> stacked_by(Path("a.csv"), cells, np.array([2]), "* cores").cells.to_dict("list")
    {'mesh': ['fine', 'fine'], 'cores': ['8', '16'], 'time': ['9.1', '5.0']}
    """
    before, _, after = pattern.partition("*")
    one = re.search(r"(?<=\w{3})(?:en|s|e|n|i)$", after)  # 1 thread beside 2 threads, 1 Kern beside 2 Kerne
    singular = f"|{re.escape(before)}(1){re.escape(after[: one.start()])}" if one else ""
    fits = re.compile(f"{re.escape(before)}(.+?){re.escape(after)}{singular}")
    names = [name for name in map(str, cells.columns) if not (solvers and _is_no_time(name))]
    matches = {name: fits.fullmatch(name) for name in names}
    found = {name: next(filter(None, match.groups())).strip() for name, match in matches.items() if match}
    if len(found) < 2 or "*" in after:
        said = f"{len(found)} of the columns {', '.join(map(repr, cells.columns))}"
        raise ReadError(path, f"time= (--time) with one * must fit several columns, but {pattern!r} fits {said}")
    if solvers:
        return _stack_solvers(path, cells, lines, found, pattern)
    numbers = all(re.fullmatch(r"[1-9]\d*[kKMG]?", part) for part in found.values())
    in_order = numbers and sorted(map(number_in, found.values())) == list(range(1, len(found) + 1))
    count, alike = _named_by(before, after), _alike(cells[list(found)])
    spoken = {word.lower() for word in re.findall(r"[^\W\d_]+", f"{before} {after}")}
    if not (numbers or count or spoken & _RUNS) and (not alike or any(map(_WORD.search, found.values()))):
        raise ReadError(
            path,
            f"whether {', '.join(found.values())} (time={pattern!r}, --time) are solvers or repeated runs is open: if "
            "solvers, pass solver='*' (--solver '*'); if runs, name them so, as in run1_s, run2_s",
        )
    is_sure = bool(kind_of(count)) or before.rstrip().endswith("=")
    if not count and not alike and any(part[-1:] in "kKMG" for part in found.values()) and numbers:
        count = "size"  # Time 4M, Time 16M
    if alike and (in_order or not count or (numbers and not is_sure)):
        count = ""  # runs 1, 2 and 3, whatever was counted in them
    elif not count:
        raise ReadError(
            path,
            f"the times in the columns {', '.join(map(repr, found))} differ by more than repeated runs do: say in "
            "their names what their numbers are, as in '16 cores', or write one row for each time",
        )
    time = _name_of_counted(pattern, count) if count else _name_outside(pattern)
    others = {str(column) for column in cells.columns} - found.keys()
    if taken := sorted(others & {time, count}):
        raise ReadError(path, f"{taken[0]!r} is a column of its own beside {', '.join(map(repr, found))}: rename it")
    return _stack(cells, lines, found, time, count)


def _named_by(before: str, after: str) -> str:
    """Return the parameter whose value stands between two texts, but for words of times and runs; "" if none is named.

    Examples
    --------
    >>> _named_by("", " cores"), _named_by("t(N=", ") [s]"), _named_by("time for ", " K ligands"), _named_by("Try ", "")
    ('cores', 'N', 'K ligands', '')
    """
    if named := re.findall(r"(\w+)\s*=\s*$", before):  # t(N=1000) [s]
        return str(named[0])
    beside = [*re.findall(r"([^\W\d_]+)[\W\d_]*$", before), *re.findall(r"^[\W\d_]*([^\W\d_]+)", after)]
    if counted := [word for word in beside if kind_of(word)]:
        return str(counted[0])
    if not after.strip() and measured(before.strip(" _-=:.,;/(")) is not None:  # Wall Clock 4M
        return ""
    for side in (_BRACKETED.sub("", after), before):
        words = re.split(r"[\s_]+", side.strip(" _-=:.,;/("))
        if name := [*itertools.dropwhile(_names_nothing, words)]:
            return " ".join(name) if re.search(r"[^\W\d_]", "".join(name)) else "size"
    return ""


def _names_nothing(word: str) -> bool:
    """Tell whether a word is that of a run, a time, its unit, or what stands between them."""
    return word.lower() in _RUNS | _BETWEEN or measured(word) is not None or unit_of_time(f"t [{word}]") != ""


def _name_outside(pattern: str) -> str:
    """Return what a column of times is called by the part of a pattern outside its ``*``, so that its rules hold.

    Examples
    --------
    >>> [_name_outside(pattern) for pattern in ("SYPD *", "SDPD (*)", "*_min_per_month", "* [s]", "*_s", "t_*_ms", "*")]
    ['SYPD', 'SDPD', 'min_per_month', 'time [s]', 'time [s]', 't_ms', 'time']
    """
    outside = re.sub(r"[\[(]\s*\*\s*[\])]", "*", pattern).replace("*", "")
    outside = re.sub(r"(?<=[\s_\-./])[\s_\-./]+", "", outside).strip(" _-.:,;/")
    if outside[:1] in {"[", "("}:
        return f"time {outside}"
    unit = "" if measured(outside) or unit_of_time(outside) else unit_of_time(f"time_{outside}")
    return f"time [{unit}]" if unit else outside or "time"


def _name_of_counted(pattern: str, count: str) -> str:
    """Return what a column of times is called by a pattern whose ``*`` is a count: by its rate or work, or its unit.

    Examples
    --------
    >>> _name_of_counted("SYPD * cores", "cores"), _name_of_counted("time at * cores [ms]", "cores")
    ('SYPD', 'time [ms]')
    """
    outside = _name_outside(re.sub(rf"(?<!\w){re.escape(count)}(?!\w)\s*=?", "", pattern))
    told = measured(outside)
    are_rates = is_rate(outside) or (told is not None and told.unit not in {"", *SECONDS_PER})
    if are_rates or is_chsy(outside) or time_of_work(outside) is not None:
        return outside
    unit = unit_of_time(pattern)
    return f"time [{unit}]" if unit else "time"


def _is_no_time(name: str) -> bool:
    """Tell whether a column counts something, or keeps the books, by its name."""
    return bool(kind_of(name)) or name.strip().lower() in ALIASES


def _stack_solvers(
    path: Path, cells: pd.DataFrame, lines: NDArray[np.int64], found: dict[str, str], pattern: str
) -> Narrowed:
    """Return a row for each solver and configuration; `found` tells the solver of each column of times."""
    time, solver = _name_outside(pattern), "solver"
    others = [name for name in map(str, cells.columns) if name not in found]
    if taken := sorted({time, solver} & set(others)):
        raise ReadError(path, f"{taken[0]!r} is a column of its own beside {', '.join(map(repr, found))}: rename it")
    parts = [cells[others].assign(**{solver: name}).assign(**{time: cells[column]}) for column, name in found.items()]
    whole = pd.concat(parts)
    whole = whole[(whole[time].str.strip() != "").to_numpy()]
    order = whole.index.to_numpy(dtype=np.int64)
    told = f"each solver has a column of times ({', '.join(f'{name}: {column!r}' for column, name in found.items())})"
    return Narrowed(whole.reset_index(drop=True), lines[order], solver, time, (told,))


def refuse_units_in_solvers(path: Path, solvers: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse a unit in what a pattern's ``*`` stands for, as ``SYPD atm``, which would be lost.

    Parameters
    ----------
    path : Path
        For messages.
    solvers : iterable of str
        What the ``*`` stands for.
    columns : sequence of str
        The columns of times.

    Raises
    ------
    ReadError
        With the pattern that leaves the unit outside.
    """
    pattern = shared_pattern(columns)
    for solver in solvers:
        words = re.findall(r"[^\s_\[\]()]+", solver)
        unit = next((word for word in words if unit_of_time(f"time_{word}") or is_chsy(word)), "")
        if len(words) > 1 and unit:
            how = f"write {option_text('--time', pattern)}" if pattern else "give all times in one unit, and name it so"
            raise ReadError(path, f"time= (--time): the * stands for {solver!r}, of which {unit!r} is a unit: {how}")


def shared_pattern(columns: Sequence[str]) -> str:
    """Return what columns share at their front or end, with a ``*`` for the rest; "" if they share nothing.

    Examples
    --------
    >>> shared_pattern(["atm_time_s", "ocn_time_s"]), shared_pattern(["t atm [s]", "t ocn [s]"])
    ('*_time_s', 't * [s]')
    >>> shared_pattern(["atm", "ocn"]), shared_pattern(["atm_s"])
    ('', '')
    """
    if any("*" in name for name in columns):
        return ""
    words = [re.findall(r"[\s_\-./]*[^\s_\-./]+", name) for name in columns]
    most = min(map(len, words), default=1) - 1
    if len(words) < 2 or most < 1:
        return ""
    front = next((n for n in range(most + 1) if n == most or len({tuple(one[: n + 1]) for one in words}) > 1), 0)
    ends = [tuple(one[front:]) for one in words]
    most = min(map(len, ends)) - 1
    end = next((n for n in range(most + 1) if n == most or len({one[len(one) - n - 1 :] for one in ends}) > 1), 0)
    before, after = "".join(words[0][:front]), "".join(words[0][len(words[0]) - end :]) if end else ""
    gap = re.match(r"[\s_\-./]*", words[0][front])
    return f"{before}{gap[0] if gap and before else ''}*{after}" if before or after else ""


def pattern_in(columns: Iterable[str]) -> str:
    """Return the pattern of most columns whose names differ only in a number or a last letter; "" if there is none.

    Examples
    --------
    >>> [pattern_in(names) for names in (["mesh", "8 cores", "16 cores"], ["Try A", "Try B"], ["8^3", "16^3"], ["a"])]
    ['* cores', 'Try *', '*^3', '']
    >>> pattern_in(["1st run", "2nd run"]), pattern_in(["time 4M", "time 16M"])
    ('* run', 'time *')
    """
    found = Counter(
        f"{name[: part.start()]}*{name[part.end() :]}"
        for name in columns
        for part in re.finditer(rf"\d+(?:{_ORDINAL}|[kKMG](?=$|[\s_]))?|(?<=[\s_-])[A-Z]$", name)
        if "*" not in name and part[0] != name
    ).most_common(1)
    return found[0][0] if found and found[0][1] > 1 else ""


def _stack(cells: pd.DataFrame, lines: NDArray[np.int64], columns: dict[str, str], time: str, count: str) -> Narrowed:
    """Return a row for each time in some columns, with the number in its column's name if that is a count."""
    computed = [] if count else _statistics_of(cells, list(columns))
    others = [column for column in cells.columns if column not in columns and column not in computed]
    parts = []
    for column, number in columns.items():
        part = cells[others].assign(**({count: number} if count else {}))
        parts.append(part.assign(**{time: cells[column]}))
    whole = pd.concat(parts).sort_index(kind="stable")
    whole = whole[(whole[time].str.strip() != "").to_numpy()]
    names = list(columns)
    told = f"{names[0]!r} to {names[-1]!r}" if len(names) > 2 else " and ".join(map(repr, names))
    what = (
        f"the times at the values of {count!r} in their names" if count else "repeated runs of each row's configuration"
    )
    order = whole.index.to_numpy(dtype=np.int64)
    notes = [f"{told} are taken for {what}"]
    if computed:
        notes.append(f"left out: {', '.join(map(repr, computed))} (computed from them)")
    return Narrowed(whole.reset_index(drop=True), lines[order], None, time, tuple(notes))


def _statistics_of(cells: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the columns whose values are the means, medians, … of repeated runs in all rows, but for rounding."""
    runs = _times(cells[list(columns)])
    spread = (runs.max(axis=1) > runs.min(axis=1)).to_numpy()
    if spread.sum() < _FEWEST_ROWS:  # a parameter may be equal to one time by chance
        return []
    found = []
    for column in map(str, cells.columns):
        if column in columns:
            continue
        values = _times(cells[[column]])[column].to_numpy(dtype=np.float64)[spread]
        places = int(np.nan_to_num(cells[column].str.extract(_DECIMALS)[0].str.len().max()))
        half = 0.5001 * 10.0**-places if places else 0.0  # whole numbers may be anything
        for statistic, options in _COMPUTED:
            expected = getattr(runs, statistic)(axis=1, **options).to_numpy(dtype=np.float64)[spread]
            near = _ROUNDING if statistic != "std" else _COARSE
            if (abs(values - expected) < np.maximum(near * abs(expected), half)).all():
                found.append(column)
                break
    return found


def _times(cells: pd.DataFrame) -> pd.DataFrame:
    """Return numbers, of durations in seconds; NaN where there is none."""
    values = _numbers(cells)
    if not values.isna().all(axis=None):
        return values
    seconds: pd.DataFrame = cells.apply(lambda column: column.map(lambda cell: duration(str(cell), "mm:ss")))
    return seconds


def _are_runs(cells: pd.DataFrame, name: tuple[str, str], by_number: dict[int, str]) -> bool:
    """Tell whether numbered columns are runs: by their names, or because they are times and alike in each row."""
    numbers = sorted(by_number)
    if len(numbers) < 2 or numbers[0] > 1 or numbers != list(range(numbers[0], numbers[-1] + 1)):
        return False
    values = _times(cells[list(by_number.values())])
    if (values.isna() & (cells[values.columns] != "")).any(axis=None) or values.isna().all(axis=None):
        return False
    before, after = name
    plain = re.sub(r"[\s\-.]+", "_", before.strip()).lower()
    timed = measured(f"time{after}")
    if plain in _RUNS:
        return timed is not None and timed.certainty > 0
    told = measured(f"{before}{after}") or measured(_without_runs(f"{before}{after}"))
    alone = plain == "t" and timed is not None and (bool(timed.unit) or len(numbers) > 2)
    if not alone and (told is None or told.certainty == 0):
        return False
    return _alike(values)


def _without_runs(name: str) -> str:
    """Return a name without words of runs, as time of the execution.

    Examples
    --------
    >>> _without_runs("Tiempo Ejecución"), _without_runs("time")
    ('Tiempo', 'time')
    """
    return " ".join(word for word in name.split() if word.lower() not in _RUNS)


def _numbers(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers in some columns, NaN where there is none; commas are decimal marks where they must be."""
    if all(map(pd.api.types.is_numeric_dtype, cells.dtypes)):
        return cells
    grouping = "." if has_decimal_commas(cells) else ","
    found: pd.DataFrame = cells.apply(lambda column: column.map(lambda cell: number_in(str(cell).strip(), grouping)))
    return found


def _alike(cells: pd.DataFrame) -> bool:
    """Tell whether the numbers or durations in each row differ no more than the times of repeated runs do."""
    values = _times(cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        return bool((values.max(axis=1) / values.min(axis=1) < _ALIKE).all())
