"""What is asked about a table before it is learned from: rows that are no runs, columns that may have been chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables import columns as words
from evenly.readers.tables.identifiers import is_of_remarks, without_number
from evenly.readers.tables.remarks import (
    first_to_say,
    is_mark,
    is_wrong,
    not_measured,
    not_used,
    off_the_law,
    tells_another,
)
from evenly.readers.tables.repetitions import chosen_by
from evenly.readers.tables.roles import A_WISH, Column, is_count, look_measured
from evenly.readers.tables.states import name_key
from evenly.readers.tables.values import Values
from evenly.readers.tables.warm_up import warmed_up
from evenly.readers.tables.works import works_in
from evenly.runs.count_names import kind_of
from evenly.space.expressions import quoted, unlike

__all__ = [
    "refuse_choices", "refuse_few_cores", "refuse_marks", "refuse_other_timings", "refuse_remarks", "refuse_summaries",
    "refuse_totals",
]  # fmt: skip

#: What a row is called that sums up others, or that warmed up.
_SUMMARIES = frozenset({
    "mean", "avg", "average", "median", "min", "max", "sum", "total", "all", "std", "stdev", "best", "mittelwert",
    "mittel", "summe", "gesamt", "standardabweichung", "moyenne", "somme", "écart-type", "ecart-type", "warm-up",
    "warmup", "warm up",
})  # fmt: skip
#: A choice has at most so many values.
_MOST_CHOSEN = 12
#: Columns that may say where a row comes from.
_ORIGINS = frozenset({"source", "origin", "origine", "quelle", "herkunft", "provenance", "fuente"})
#: The column of origins, beside the parameters.
_ORIGIN = "\x00origin"
#: A run is off the law of the others if its time is half or twice as long, and on it within a tenth.
_OFF, _ON = np.log(1.5), np.log(1.1)
#: A mark of nines is so many times as long as the longest time; any other mark so many times above or below all others.
_FAR_ABOVE = 3.0
_NO_TIME = 1e4
#: So many runs tell that a column goes with the time, if their logarithms are correlated so closely.
_FEWEST_ALIKE, _ALIKE, _NEARLY_ALL = 3, 0.95, 0.7
#: More nodes than any machine has: those of a mesh.
_MOST_NODES = 20_000
_NINES = re.compile(r"9{4,}(?:[.,]9*0*)?")


def refuse_summaries(values: Values, column: str) -> None:
    """Refuse a row that holds the mean of others, which a word in the column of their numbers tells.

    Raises
    ------
    ReadError
        With the line, and the condition that leaves such rows out.
    """
    texts = values.texts(column)
    summaries = [row for row, cell in enumerate(texts) if cell.lower() in _SUMMARIES]
    if summaries and len(summaries) < len(texts):
        word = texts[summaries[0]]
        raise values.at(
            summaries[0],
            f"{word!r} in column {column!r} is no run like the others: leave such rows out with where= "
            f"({values.options.with_where(unlike(column, word))})",
        )


def refuse_marks(values: Values, time: str, seconds: NDArray[np.float64], failed: NDArray[np.bool_]) -> None:
    """Refuse a time that is far from all others: so people and programs mark a run that failed, as 9999 or 1e30.

    Nothing is asked of rows whose state tells that they `failed`, (n_rows,).
    """
    if values.options.time is not None:
        return
    texts = values.texts(time)
    nines = np.array([cell.startswith("9999") and _NINES.fullmatch(cell) is not None for cell in texts], dtype=np.bool_)
    measured = ~failed & np.isfinite(seconds) & (seconds > 0)
    others = seconds[~nines & measured]
    marks = nines & ~failed & (seconds > _FAR_ABOVE * others.max(initial=0.0)) & (len(others) > 0)
    marks |= measured & _apart(seconds, measured)
    for row in np.flatnonzero(marks):
        where = "above" if seconds[row] > np.median(seconds[measured]) else "below"
        condition = f"{quoted(time)} != {float(values.numbers(time)[row])!r}"
        way = "" if values.are_durations(time) else f" with where= ({values.options.with_where(condition)})"
        raise values.at(
            int(row),
            f"{texts[row]!r} in column {time!r} may mark a run that failed, far {where} all others: leave it out{way}, "
            f"or pass time={time!r} (--time) if it is a time",
        )


def _apart(seconds: NDArray[np.float64], measured: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of the few largest or smallest times nothing connects with the others, (n_rows,)."""
    ordered = np.unique(seconds[measured])
    gaps = np.flatnonzero(ordered[1:] > _NO_TIME * ordered[:-1])
    if not len(gaps):
        return np.zeros(len(seconds), dtype=np.bool_)
    above, below = seconds > ordered[gaps[0]], seconds < ordered[gaps[-1] + 1]
    few = above if (above & measured).sum() < (below & measured).sum() else below
    return few if 4 * (few & measured).sum() <= measured.sum() else np.zeros(len(seconds), dtype=np.bool_)


def refuse_totals(values: Values) -> None:
    """Refuse a last row that holds the sums or the means of the others in all columns of numbers.

    Raises
    ------
    ReadError
        With its line.
    """
    numeric = [c for c in map(str, values.cells.columns) if values.is_numeric(c) and values.cells[c].nunique() > 1]
    table = np.array([values.numbers(c) for c in numeric])
    if len(numeric) < 2 or table.shape[1] < 4 or not np.isfinite(table[:, -1]).all():
        return
    others = table[:, :-1]
    for name, statistic in (("sum", np.nansum(others, axis=1)), ("mean", np.nanmean(others, axis=1))):
        if np.allclose(table[:, -1], statistic, rtol=1e-6):
            raise values.at(
                table.shape[1] - 1,
                f"the last row holds the {name} of the others in all columns of numbers: leave it out",
            )


def refuse_remarks(
    values: Values,
    roles: Mapping[str, Column],
    parameters: Sequence[str],
    seconds: NDArray[np.float64],
    failed: NDArray[np.bool_],
) -> None:
    """Refuse rows of which a remark says that they are no runs, unless the user chose rows by an origin or a parameter.

    Rows that a condition leaves out by one remark tell nothing of another remark.

    Parameters
    ----------
    values : Values
    roles : mapping of str to Column
        Those of all columns.
    parameters : sequence of str
        The columns of the parameters.
    seconds : array (n_rows,)
        The times.
    failed : bool array (n_rows,)
        The runs that aren't learned from as they are, since their state tells of it: a remark may say so, too.

    Raises
    ------
    ReadError
        With the line, and the condition that leaves such rows out.
    """
    for column in values.cells.columns:
        role = roles[column].role if column in roles else "left out"
        is_remark = role in ("identifier", "left out", "outcome") and not values.is_numeric(column)
        if not (column in parameters or is_remark):
            continue
        origin, where = _is_origin(column), values.options.where or ""
        if column in where and (column in parameters or origin or is_mark(name_key(column))):
            continue
        cells = ["" if bad else cell for cell, bad in zip(values.texts(column), failed, strict=True)]
        why = "says that this is no run to learn from"
        if column in parameters or origin:
            row = not_measured(cells, origin=origin)
            if row is None and origin and column not in parameters:
                good = np.flatnonzero(~failed)
                row = _other_origin(values.cells.iloc[good], parameters, [cells[at] for at in good])
                row, why = None if row is None else int(good[row]), "may be no run as those of other origins"
        else:
            row = not_used(name_key(column), cells)
            if row is None:
                row, why = _other_work(cells, _solvers_of(values, roles)), "tells another amount of work than others do"
            if row is None:
                row, why = _wrong(values, parameters, seconds, cells, _solvers_of(values, roles))
            if row is None:
                row, why = _another(values, parameters, cells, roles, of_all=is_of_remarks(column) and all(cells))
        if row is not None:
            raise values.at(
                row,
                f"{cells[row]!r} in column {column!r} {why}: leave such rows out with where= "
                f"({values.options.with_where(unlike(column, cells[row]))}), or learn from all, with the columns "
                f"that were varied named in parameters= ({option_text('--parameters', ','.join(parameters))})",
            )


def _solvers_of(values: Values, roles: Mapping[str, Column]) -> list[str]:
    """Return the solver of each row, (n_rows,); "" where no column names any."""
    column = next((name for name, one in roles.items() if one.role == "solver" and name in values.cells.columns), None)
    return values.texts(column) if column is not None else [""] * len(values.cells)


def _other_work(cells: Sequence[str], solvers: Sequence[str]) -> int | None:
    """Return the first row of which a remark tells another amount of work than those of the same solver do.

    Remarks of a few rows tell that of the others by saying nothing.

    Examples
    --------
    >>> _other_work(["", "only 100 steps", ""], [""] * 3), _other_work(["5 days", "5 days"], [""] * 2)
    (1, None)
    """
    by_text = {cell: tuple(sorted(works_in(cell, is_line=True))) for cell in set(cells)}
    if not any(by_text.values()):
        return None
    works = [by_text[cell] for cell in cells]
    for solver in dict.fromkeys(solvers):
        own = [row for row, name in enumerate(solvers) if name == solver]
        if len({works[row] for row in own}) > 1:
            usual = Counter(works[row] for row in own).most_common(1)[0][0]
            other = [row for row in own if works[row] != usual]
            return next((row for row in other if works[row]), other[0])
    return None


def _another(
    values: Values, parameters: Sequence[str], cells: Sequence[str], roles: Mapping[str, Column], *, of_all: bool
) -> tuple[int | None, str]:
    """Return the first row of a solver whose remark tells of another machine, mesh or version than its other rows.

    Where remarks are `of_all` rows, a few of them that share no configuration may be names of such.
    """
    solvers = np.array(_solvers_of(values, roles))
    for solver in dict.fromkeys(solvers.tolist()):
        rows = np.flatnonzero(solvers == solver)
        own = [cells[int(row)] for row in rows]
        row = first_to_say(own, tells_another)
        if row is None and of_all and min(Counter(own).values()) > 1:
            row = _other_origin(values.cells.iloc[rows], parameters, own)
        if row is not None:
            return int(rows[row]), "may tell that this run isn't as the others are"
    return None, ""


def _is_origin(column: str) -> bool:
    """Tell whether a column says where its rows come from, as ``source`` and ``data source``."""
    return not _ORIGINS.isdisjoint(name_key(column).split("_"))


def _other_origin(table: pd.DataFrame, parameters: Sequence[str], cells: Sequence[str]) -> int | None:
    """Return the first row of another origin, if no configuration has two: nothing tells then that they are alike."""
    if not parameters or not 1 < len(set(cells)) <= len(cells) / 2:  # else the log of each run, say
        return None
    kinds = [re.sub(r"\d+", "", cell) for cell in cells]  # logs of jobs differ in their numbers
    if len(set(kinds)) == 1:
        return None
    shared = table[list(parameters)].assign(**{_ORIGIN: kinds}).groupby(list(parameters))[_ORIGIN].nunique().max() > 1
    return None if shared else next(row for row, kind in enumerate(kinds) if kind != kinds[0])


def _wrong(
    values: Values,
    parameters: Sequence[str],
    seconds: NDArray[np.float64],
    cells: Sequence[str],
    solvers: Sequence[str],
) -> tuple[int | None, str]:
    """Return the first row with a remark of its own whose run went wrong, by its words or its time, and what tells."""
    counts = Counter(cells)
    rare = [row for row, cell in enumerate(cells) if cell and 4 * counts[cell] <= len(cells)]
    if not rare or len(rare) > len(cells) / 2:
        rare = [row for row, cell in enumerate(cells) if is_wrong(cell)]
    if not rare or len({cells[row] for row in rare}) == len(counts):
        return None, ""
    remarked = np.isin(np.arange(len(cells)), rare)
    varied = pd.DataFrame({name: values.parameter(name) for name in parameters})
    apart = np.full(len(cells), np.nan)
    for solver in dict.fromkeys(solvers):
        own = np.array([name == solver for name in solvers])
        apart[own] = off_the_law(varied[own].reset_index(drop=True), seconds[own], remarked[own])
    for row in rare:
        # Where the law isn't known, apart is NaN, and words alone tell.
        if is_wrong(cells[row]) and not apart[row] < _ON:
            return row, "says that this is no run to learn from"
        if apart[row] > _OFF:
            return row, f"stands at a time that is {np.exp(apart[row]):.2g} times off what the other rows tell"
    return None, ""


def refuse_other_timings(values: Values, parameters: Sequence[str], seconds: NDArray[np.float64]) -> None:
    """Refuse parameters that look measured if one changes as the time does, as times of other parts of a program do.

    Only where the user names the time: then no name tells what the others are.

    Raises
    ------
    ReadError
        With the columns that may have been varied.
    """
    known = np.isfinite(seconds) & (seconds > 0)
    if values.options.time is None or known.sum() < _FEWEST_ALIKE:
        return
    alike = [
        name
        for name in parameters
        if values.is_numeric(name) and not is_count(name) and _differ(values.numbers(name)[known])
    ]
    if not any(_goes_with(values.numbers(name)[known], seconds[known]) for name in alike):
        return
    others = [name for name in parameters if name not in alike and values.cells[name].nunique() > 1]
    if others:
        raise ReadError(
            values.path,
            f"{', '.join(map(repr, alike))} may be {'other times' if len(alike) > 1 else 'another time'}, beside "
            f"{values.options.time!r}: pass parameters= with the columns that were varied "
            f"({option_text('--parameters', ','.join(others))})",
        )


def _differ(numbers: NDArray[np.float64]) -> bool:
    """Tell whether nearly all numbers differ, and not all are whole."""
    return bool(len(np.unique(numbers)) >= _NEARLY_ALL * len(numbers) and (numbers != np.round(numbers)).any())


def _goes_with(numbers: NDArray[np.float64], seconds: NDArray[np.float64]) -> bool:
    """Tell whether numbers look measured, and grow and fall as the time does."""
    if not (np.isfinite(numbers).all() and (numbers > 0).all() and look_measured(numbers)):
        return False
    return bool(np.corrcoef(np.log(numbers), np.log(seconds))[0, 1] > _ALIKE)


def refuse_few_cores(values: Values, parameters: Sequence[str]) -> None:
    """Ask whether counts are those of each node, where there are fewer of them than nodes.

    Raises
    ------
    ReadError
        With the line of the first such row.
    """
    of_nodes = [name for name in parameters if kind_of(name) == "nodes" and values.is_numeric(name)]
    counts = [name for name in parameters if kind_of(name) in ("cores", "ranks") and values.is_numeric(name)]
    for nodes in of_nodes:
        for name in counts:
            few = np.flatnonzero(
                (values.numbers(name) < values.numbers(nodes)) & (values.numbers(nodes) <= _MOST_NODES)
            )
            if len(few):
                many, all_of = values.texts(name)[few[0]], values.texts(nodes)[few[0]]
                others = ",".join(one for one in parameters if one != nodes)
                raise values.at(
                    int(few[0]),
                    f"{many} {name} can't fill {all_of} {nodes}: if {name!r} counts those of each node, call it "
                    f"{f'{name}_per_node'!r}; if not, name the parameters ({option_text('--parameters', others)})",
                )


def refuse_choices(
    values: Values, roles: Mapping[str, Column], parameters: Sequence[str], seconds: NDArray[np.float64]
) -> None:
    """Refuse to leave out by its name a column that was chosen: the time follows it in several configurations alike.

    Raises
    ------
    ReadError
        With what names it a parameter, or leaves it out.
    """
    for column, told in roles.items() if parameters else ():
        by_name = any(word in told.why for word in ("name", "statistic", A_WISH, "dates"))
        each = told.why.startswith("a different label")
        left = told.role in ("identifier", "outcome", "left out", "quantity")
        half_blank = told.why.startswith("no value in")  # flags, of which none may be the usual one
        if not (left and (by_name or half_blank or each)) or column not in values.cells.columns:
            continue
        if column in values.options.quantities:
            continue
        cells = [cell or "(none)" for cell in values.texts(column)] if half_blank else values.texts(column)
        if each:
            cells = _without_numbers(values, cells, parameters)
        if len(set(cells)) > (len(cells) / 2 if each else _MOST_CHOSEN):
            continue
        solvers = [name for name, one in roles.items() if one.role == "solver" and name in values.cells.columns]
        ratio, differ, compared = chosen_by(values.cells[[*parameters, *solvers]], cells, seconds)
        if ratio > 1:
            named = f"name the parameters, as {option_text('--parameters', ','.join([*parameters, column]))}"
            own = words.ALIASES.get(column.strip().lower(), "machine") != "machine"  # a name that evenly uses itself
            chosen = "give it another name" if own else named
            if half_blank:
                chosen = f"fill in its empty cells, as 'none', and {named}"
            warm = None
            if values.is_numeric(column):
                warm = warmed_up(values.cells[[*parameters, *solvers]], values.numbers(column), seconds)
            way = (
                ""
                if warm is None
                else (
                    "; if the first run of each warmed up, leave these out with where= "
                    f"({values.options.with_where(f'{quoted(column)} > {warm:g}')})"
                )
            )
            where = "in all" if differ == compared else f"in {differ} of {compared}"
            raise ReadError(
                values.path,
                f"{column!r} is left out ({told.why}), but runs that only differ in it differ in time by "
                f"{ratio:.3g} times, {where} configurations alike: if it was chosen, {chosen}; if not, "
                f"{option_text('--parameters', ','.join(parameters))}{way}",
            )


def _without_numbers(values: Values, cells: list[str], parameters: Sequence[str]) -> list[str]:
    """Return labels without counts of their rows (mesh2 of mesh2_np16), else without numbers (strong of strong-16)."""
    bare = cells
    for name in parameters:
        if kind_of(name) and values.is_numeric(name):
            bare = without_number(bare, values.numbers(name))
    few = bare != cells and 1 < len(set(bare)) <= len(cells) / 2
    return bare if few else [re.sub(r"\d+", "", cell) for cell in cells]
