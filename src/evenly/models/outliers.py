"""Outliers: rows that are far off what all that is near them tells, such as a mistyped unit or a run that hung.

A row is one if all of these hold:

* It was at least three times as long, or as short, as a model predicts that was learned without it.
* That is more than six standard deviations: of left-out errors in the whole table, and of those near it. They are
  estimated from quantiles, which outliers hardly move [Rousseeuw and Croux, Alternatives to the median absolute
  deviation, 1993].
* Of the eight nearest rows, at most one is as far off, in the same direction. A cliff at a cache size and a slow
  algorithm of one label are no outliers, since neighbours agree. They are compared with a parabola in the inputs, which
  outliers don't attract (iteratively reweighted, for the least sum of absolute residuals). It is half as far off what
  they tell, too: a method that fits few rows exactly may be far off at one that is right.
* It wasn't measured twice alike. Of several runs of one configuration, only those that are far off count.

Where all near rows lie on one side, at a corner of what was measured, nothing tells what is usual there: the largest
run may have swapped memory. Such a row is named, but kept, unless it is off by a factor of 30: by minutes taken for
seconds, say.

Outliers mask each other, and spoil what is predicted of their neighbours. So the model is learned again without them,
and all rows, theirs too, are compared with what it predicts, up to three times. In small tables an outlier moves all,
so there the first comparison asks for half as much. The model without them is kept if it predicts the other rows
better.

The steps of a run, as of preCICE, are one measurement. In runs of one parameter with fewer rows, a row that lies far
off the curve of the others is named, and kept (`evenly.models.lone_rows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.base import Model
from evenly.models.hung_runs import FACTOR, MULTIPLE
from evenly.models.inputs.coding import Coding
from evenly.models.learned import Learned
from evenly.models.lone_rows import lone_rows, rows_at_leaps
from evenly.runs.count_names import kind_of
from evenly.space.parameters import Categorical
from evenly.space.space import Space

__all__ = ["Outliers", "check_outliers", "outliers_told", "unlike_neighbours", "without_outliers"]

#: What becomes of outliers.
Outliers = Literal["drop", "keep"]
#: With fewer rows, or fewer for each column of the parabola, none can be told from a law that isn't known yet.
_FEWEST, _EACH = 13, 4
#: In tables of at most so many rows, one outlier moves the predictions of all others.
_SMALL, _FIRST_MULTIPLE = 60, 3.0
#: Numbers of nearest rows: for the local error, and which may agree. As many as may agree by chance.
_NEAR, _WITNESSES, _BY_CHANCE = 20, 8, 1
#: At a corner, the mean of the steps to the nearest rows is longer than this share of their mean length. There, nothing
#: below this factor, in logs, is left out.
_ONE_SIDED, _FACTOR_AT_EDGE = 0.75, np.log(30.0)
#: Quantiles of absolute errors, and those of a standard normal distribution.
_OF_ALL, _OF_NEAR = (0.9, 1.645), (0.8, 1.2816)
#: A usual error is at least this, in logs.
_LEAST = 0.01
_ROUNDS, _REWEIGHTED = 3, 15
#: So many rows of one run, or more, are its steps; fewer may be its repetitions.
_STEPS = 5
#: So many outliers are named.
_NAMED = 5


def check_outliers(outliers: str) -> None:
    """Raise `InputError` unless `outliers` is "drop" or "keep".

    Examples
    --------
    >>> check_outliers("hide")
    Traceback (most recent call last):
    evenly.errors.InputError: outliers must be one of drop, keep, but got 'hide'
    """
    if outliers not in get_args(Outliers):
        raise InputError(f"outliers must be one of {', '.join(get_args(Outliers))}, but got {outliers!r}")


def without_outliers(learned: Learned) -> Learned:
    """Return a model that was learned without outliers, if it predicts the other rows better; else the one given.

    What was found is kept in ``model.training_["outliers"]``; `outliers_told` makes sentences of it.

    Parameters
    ----------
    learned : Learned
        A model of all runs, and these.
    """
    off, edge, expected, last = _found(learned)
    if not off.any():
        _name_lone_rows(learned)
        return learned
    dropped, robust, left_out = off & ~edge, learned, learned.left_out
    if dropped.any():
        robust = last if np.array_equal(dropped, off) else learned.again(learned.runs.where(~dropped))
        left_out = _expected(learned, robust)
    untouched = ~_configurations_of(learned, off) & np.isfinite(learned.left_out) & np.isfinite(left_out)
    errors = [_error(learned, known, untouched) for known in (learned.left_out, left_out)]
    if errors[1] > errors[0]:
        dropped, robust = np.zeros(len(off), dtype=np.bool_), learned
    if dropped.any():
        # Left-out predictions of all rows that were passed in, NaN where outliers were.
        robust.model.training_digest_ = learned.model.training_digest_
        robust.model.left_out_predictions_ = np.where(_configurations_of(learned, dropped), np.nan, left_out)
    robust.model.training_["outliers"] = {
        "of": len(learned.runs),
        "error_with": errors[0],
        "error_without": errors[1],
        "rows": _listed(learned, off, edge, dropped, expected),
    }
    return robust


def _name_lone_rows(learned: Learned) -> None:
    """Keep, with the model, which runs lie far off the curve of few others, in one parameter."""
    table, nowhere = learned.evidence, np.zeros(len(learned.runs), dtype=np.bool_)
    varied = [name for name in learned.space.names if table[name].nunique() > 1]
    if len(varied) != 1 or isinstance(learned.space.parameters[varied[0]], Categorical):
        return
    values = table[varied[0]].to_numpy(dtype=np.float64)
    measured = np.isfinite(learned.values) & (learned.values > 0) & ~table["censored"].to_numpy(dtype=np.bool_)
    known = np.flatnonzero(measured)
    if (values <= 0).any():
        return
    expected, off = np.full(len(table), np.nan), nowhere.copy()
    lone = lone_rows(values[known], learned.values[known])
    if not lone and kind_of(varied[0]):
        lone = rows_at_leaps(values[known], learned.values[known])
    for row, told in lone:
        expected[known[row]] = told
        its = _its_runs_off(learned, int(known[row]), np.log(told))
        middle = its[np.argsort(learned.runs.values[its])[len(its) // 2 :][:1]]
        off[middle] = _executions(learned, its) == 1  # several that are far off are a scatter, no mistake of typing
    if off.any():
        rows = _listed(learned, off, nowhere, nowhere, expected)
        of = _executions(learned, np.arange(len(learned.runs)))
        learned.model.training_["outliers"] = {"of": of, "few": True, "rows": rows}


def _found(learned: Learned) -> tuple[Flags, Flags, Floats, Learned]:
    """Search for outliers, and compare all rows with a model that was learned without them.

    Returns
    -------
    off, edge : bool array (n_rows,)
        Which rows are far off, and which of these lie at an edge of what was measured.
    expected : array (n_configurations,)
        What the model without them predicts.
    last : Learned
        That model.
    """
    last = learned
    off = edge = np.zeros(len(learned.runs), dtype=np.bool_)
    expected = learned.left_out
    multiple = _FIRST_MULTIPLE if len(learned.evidence) <= _SMALL else MULTIPLE
    for _ in range(_ROUNDS):
        now, edge = _runs_off(learned, expected, multiple)
        if np.array_equal(now, off):
            break
        off, multiple = now, MULTIPLE
        if not off.any():
            break
        try:
            last = learned.again(learned.runs.where(~off))
        except InputError:  # the other rows are too few to learn from
            return np.zeros_like(off), edge, learned.left_out, learned
        expected = _expected(learned, last)
    return off, edge & off, expected, last


def outliers_told(model: Model) -> str:
    """Return sentences about the outliers that a model's ``training_["outliers"]`` names."""
    found, unit = model.training_["outliers"], str(model.response_["unit"])
    rows: Sequence[dict[str, Any]] = found["rows"]
    if found.get("few"):
        which = f"one of {len(rows)} rows" if len(rows) > 1 else "a row"
        return (
            f"{which} is far off the curve of the others, out of {found['of']}: {_named(rows, unit)}. The rows are too "
            "few to leave any out, so it spoils what is predicted: correct it, or leave it out; if it is right, say so "
            'with --outliers keep (outliers="keep")'
        )
    dropped = [row for row in rows if row["dropped"]]
    edge = [row for row in rows if row["at_edge"]]
    kept = [row for row in rows if not (row["dropped"] or row["at_edge"])]
    said = []
    if dropped:
        said.append(
            f"far off all that is near and left out, {_of(dropped, found)}: {_named(dropped, unit)}. Without "
            f"{_them(dropped)}, the error at the others falls from {found['error_with']:.3g} to "
            f"{found['error_without']:.3g}. Correct {_these(dropped)}, or learn from {_them(dropped)} by "
            '--outliers keep (outliers="keep")'
        )
    if kept:
        said.append(
            f"far off all that is near, {_of(kept, found)}: {_named(kept, unit)}. Without {_them(kept)}, the others "
            f"aren't predicted better, so nothing is left out. Check {_these(kept)}"
        )
    if edge:
        said.append(
            f"far off what the others tell, but at the edge of what was measured, so kept, {_of(edge, found)}: "
            f"{_named(edge, unit)}. Measure {_these(edge)} again"
        )
    return "; ".join(said)


def _of(rows: Sequence[Any], found: Mapping[str, Any]) -> str:
    return f"{len(rows)} of {found['of']} rows"


def _them(rows: Sequence[Any]) -> str:
    return "them" if len(rows) > 1 else "it"


def _these(rows: Sequence[Any]) -> str:
    return "these rows" if len(rows) > 1 else "this row"


def _named(rows: Sequence[dict[str, Any]], unit: str) -> str:
    more = f"; and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return "; ".join(_one(row, unit) for row in rows[:_NAMED]) + more


def unlike_neighbours(
    places: Floats, logs: Floats, expected: Floats, *, multiple: float = MULTIPLE
) -> tuple[Flags, Flags]:
    """Tell which rows are far off what is expected of them while their neighbours aren't, (n,).

    Parameters
    ----------
    places : array (n, k)
        Coded configurations, `Inputs.matrix`.
    logs, expected : array (n,)
        Logarithms of what was measured, and of what is predicted without the row; NaN where that isn't known.
    multiple : float
        How many standard deviations are far.

    Returns
    -------
    unlike, edge : bool array (n,)
        Which rows are, and which of them aren't sure to be wrong, since their neighbours are on one side.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 30)[:, None]
    >>> logs = 0.01 * np.random.default_rng(0).normal(size=30)
    >>> logs[10] = 4.6
    >>> unlike, edge = unlike_neighbours(x, logs, np.zeros(30))
    >>> np.flatnonzero(unlike), np.flatnonzero(edge)
    (array([10]), array([], dtype=int64))
    """
    found, edge = np.zeros((2, len(logs)), dtype=np.bool_)
    known = np.flatnonzero(np.isfinite(expected) & np.isfinite(logs))
    if len(known) < max(_FEWEST, _EACH * _parabola(places[known]).shape[1]):
        return found, edge
    places, logs, errors = places[known], logs[known], (logs - expected)[known]
    errors, trusted = _with_ends(places, logs, errors, multiple)
    sizes = np.abs(errors)
    usual = max(float(np.quantile(sizes, _OF_ALL[0])) / _OF_ALL[1], _LEAST)
    far = np.flatnonzero((sizes > FACTOR) & (sizes > multiple * usual))
    if not len(far):
        return found, edge
    near = _nearest(places, far, min(_NEAR, len(known) - 1))
    local = np.quantile(sizes[near], _OF_NEAR[0], axis=1) / _OF_NEAR[1]
    # The neighbours, too, are compared with what is expected at the row: both relative to one smooth law.
    law = _least_absolute(_parabola(places)[trusted], logs[trusted])[0]
    off_law, witnesses, signs = logs - _parabola(places) @ law, near[:, :_WITNESSES], np.sign(errors[far])
    here = (off_law - errors)[far][:, None]
    agree = signs[:, None] * (off_law[witnesses] - here) > sizes[far][:, None] / 2
    unlike = signs * (off_law[far] - np.median(off_law[witnesses], axis=1)) > sizes[far] / 2
    steps = places[near[:, : 2 * places.shape[1] + 2]] - places[far][:, None, :]
    length = np.linalg.norm(steps, axis=2).mean(axis=1)
    one_sided = np.linalg.norm(steps.mean(axis=1), axis=1) > _ONE_SIDED * length
    alone = (sizes[far] > multiple * local) & (agree.sum(axis=1) <= _BY_CHANCE) & unlike
    found[known[far[alone]]] = True
    edge[known[far[alone & one_sided & (sizes[far] < _FACTOR_AT_EDGE)]]] = True
    return found, edge


def _nearest(places: Floats, rows: Ints, count: int) -> Ints:
    """Return the nearest other rows of some rows, the nearest first, (n_rows, count)."""
    from scipy.spatial import KDTree

    found = np.asarray(KDTree(places).query(places[rows], count + 1)[1])
    # A row is among its own nearest, unless others at the same place displaced it: then the last goes.
    itself = found == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(found[~itself].reshape(len(rows), count), dtype=np.int64)


def _least_absolute(design: Floats, logs: Floats) -> tuple[Floats, Floats]:
    """Return coefficients with the least sum of absolute residuals, and these, (n,)."""
    roots = np.ones(len(logs))
    for _ in range(_REWEIGHTED):
        fitted = np.linalg.lstsq(design * roots[:, None], logs * roots, rcond=None)[0]
        off = logs - design @ fitted
        size = np.abs(off)
        roots = 1 / np.sqrt(np.maximum(size, max(float(np.median(size)), 1e-9)))
    return np.asarray(fitted), np.asarray(off)


def _with_ends(places: Floats, logs: Floats, errors: Floats, multiple: float) -> tuple[Floats, Flags]:
    """Return errors (n,) with those of the first and last row of one parameter from a parabola without that row.

    The second result tells of which rows the error stays, (n,).

    A law can take such a row exactly, as ``n^-a log2(n)`` does at one core, and then no left-out error tells of it.
    """
    varied = np.flatnonzero((places != places[:1]).any(axis=0))
    trusted = np.ones(len(logs), dtype=np.bool_)
    if len(varied) != 1:
        return errors, trusted
    errors, x = errors.copy(), places[:, varied[0]]
    for end in (int(x.argmin()), int(x.argmax())):
        if (x == x[end]).sum() > 1:
            continue  # measured with another label, say
        others = np.arange(len(x)) != end
        fitted, off = _least_absolute(_parabola(places)[others], logs[others])
        usual = max(float(np.quantile(np.abs(off), _OF_ALL[0])) / _OF_ALL[1], _LEAST)
        error = float(logs[end] - _parabola(places)[end] @ fitted)
        if abs(error) > max(FACTOR, multiple * usual):
            errors[end], trusted[end] = max(error, errors[end], key=abs), False
    return errors, trusted


def _parabola(places: Floats) -> Floats:
    """Return a one, the places, and squares of those with more than two values, as columns (n, n_columns)."""
    varied = places[:, (places != places[:1]).any(axis=0)]
    squares = [column**2 for column in varied.T if len(np.unique(column)) > 2]
    return np.column_stack([np.ones(len(places)), varied, *squares])


def _runs_off(learned: Learned, expected: Floats, multiple: float) -> tuple[Flags, Flags]:
    """Return which runs are far off, and which of them lie at an edge of what was measured, (n_rows,)."""
    off, edge = np.zeros((2, len(learned.runs)), dtype=np.bool_)
    table = learned.evidence[learned.space.names]
    coding = Coding.learn(table, Space.from_data(table, like=learned.runs.space))
    with np.errstate(all="ignore"):
        logs, predicted = np.log(learned.values), np.log(expected)
    unlike, at_edge = unlike_neighbours(coding.inputs(table).matrix, logs, predicted, multiple=multiple)
    rows = np.flatnonzero(unlike)
    if not len(rows):
        return off, edge
    for row in rows:
        its = _its_runs_off(learned, int(row), float(predicted[row]))
        off[its], edge[its] = True, at_edge[row]
    return off, edge


def _its_runs_off(learned: Learned, row: int, expected: float) -> Ints:
    """Return the runs of a configuration that are far off the logarithm that is expected, unless they are alike."""
    with np.errstate(all="ignore"):
        values = np.log(learned.runs.values)
    its: Ints = np.flatnonzero((_configuration_numbers(learned) == row) & np.isfinite(values))
    limit = abs(np.log(learned.values[row]) - expected) / 2
    far = np.abs(values[its] - expected) > limit
    if far.all() and _executions(learned, its) > 1 and np.ptp(values[its]) < limit:
        return its[:0]  # measured more than once alike
    return np.asarray(its[far])


def _executions(learned: Learned, rows: Ints) -> int:
    """Return how many runs some rows are of: many that share a run, and when it began, are its steps."""
    table = learned.runs.to_frame().iloc[rows]
    known = table[table["when"].fillna("").astype(str) != ""]
    steps = [count for count in known.groupby(["run", "when"]).size() if count >= _STEPS]
    return len(table) - sum(steps) + len(steps)


def _configuration_numbers(learned: Learned) -> Ints:
    """Return the row of the evidence that each run belongs to, -1 where there is none, (n_rows,)."""
    names = learned.runs.parameters
    known = pd.MultiIndex.from_frame(learned.evidence[names].astype(object))
    return np.asarray(known.get_indexer(pd.MultiIndex.from_frame(learned.runs.configurations.astype(object))))


def _configurations_of(learned: Learned, off: Flags) -> Flags:
    """Return which configurations some runs belong to, (n_configurations,)."""
    touched = np.zeros(len(learned.evidence), dtype=np.bool_)
    touched[_configuration_numbers(learned)[off]] = True
    return touched


def _expected(learned: Learned, robust: Learned) -> Floats:
    """Return what a model of some of the runs predicts of each configuration that all have, (n_configurations,).

    Of configurations that it learned from, its left-out predictions count.
    """
    names = learned.runs.parameters
    model, asked = robust.model, learned.evidence[names]
    has = pd.MultiIndex.from_frame(robust.evidence[names].astype(object))
    place = np.asarray(has.get_indexer(pd.MultiIndex.from_frame(asked.astype(object))))
    expected = np.where(place >= 0, robust.left_out[place], np.nan)
    unseen = np.flatnonzero(place < 0)
    for row in unseen:
        try:
            expected[row] = model._predict(model.space_.frame(asked.iloc[[int(row)]]))[0]
        except InputError:  # the only rows with a label, say
            continue
    return expected


def _error(learned: Learned, expected: Floats, rows: Flags) -> float:
    """Return the MLogQ of what is expected at some configurations (n_configurations,)."""
    with np.errstate(all="ignore"):
        errors = np.abs(np.log(learned.values) - np.log(expected))[rows]
    errors = errors[np.isfinite(errors)]
    return float(errors.mean()) if len(errors) else float("inf")


def _listed(learned: Learned, off: Flags, edge: Flags, dropped: Flags, expected: Floats) -> list[dict[str, Any]]:
    """Return what is told of each outlier, the farthest first."""
    own, values = _configuration_numbers(learned), learned.runs.values
    table, names = learned.runs.space.frame(learned.runs.configurations), learned.runs.to_frame()["run"].tolist()
    found: list[int] = np.flatnonzero(off).tolist()
    rows = sorted(found, key=lambda row: -abs(np.log(values[row] / expected[own[row]])))
    return [
        {
            "row": row + 1,
            "run": str(names[row]),
            "configuration": {str(name): _plain(value) for name, value in table.iloc[row].items()},
            "measured": float(values[row]),
            "expected": float(expected[own[row]]),
            "factor": float(values[row] / expected[own[row]]),
            "at_edge": bool(edge[row]),
            "dropped": bool(dropped[row]),
        }
        for row in rows
    ]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _one(row: dict[str, Any], unit: str) -> str:
    where = ", ".join(f"{name} = {value}" for name, value in row["configuration"].items())
    factor = row["factor"]
    times = f"{factor:.3g} × as much" if factor > 1 else f"{1 / factor:.3g} × less"
    return f"run {row['run']} ({where}) measured {row['measured']:.4g} {unit}, expected {row['expected']:.3g} ({times})"
