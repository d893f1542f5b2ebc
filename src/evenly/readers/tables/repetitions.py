"""Numbering of steps and naming of runs: which rows of a table are the steps of one run."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["NUMBERS", "are_whole", "chosen_by", "is_running_clock", "name_runs", "number_steps"]

#: Numbers of steps and repetitions lie below; time stamps in nanoseconds may stand for them.
NUMBERS = 2**62
#: In so many steps, growing times are no chance.
_CLOCK = 4
#: Times that differ by more in the same way in so many configurations do so for a reason.
_CONFIGURATIONS, _APART = 3, 1.1
#: Where not all configurations differ, those that do must differ by more; and all by so many times as much as any
#: differs in the other direction.
_FAR, _CLEARLY = 1.2, 3.0


def are_whole(values: NDArray[np.float64], *, below: int = 2**53) -> bool:
    """Tell whether all values, shape (n,), are whole numbers; below 2^53, a float64 holds them exactly.

    Examples
    --------
    >>> are_whole(np.array([1.0, 2.0])), are_whole(np.array([0.5, np.nan])), are_whole(np.array([]))
    (True, False, False)
    """
    return bool(
        len(values)
        and np.isfinite(values).all()
        and np.all(values == np.round(values))
        and np.abs(values).max() < below
    )


def is_running_clock(frame: pd.DataFrame) -> bool:
    """Tell whether times in the steps of all runs only grow, from one step's time to that of all.

    Parameters
    ----------
    frame : DataFrame (n_rows, …)
        With ``run``, ``repetition`` and ``seconds``.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "repetition": [1, 2, 3, 4], "seconds": [3.7, 7.4, 11.1, 14.8]})
    >>> is_running_clock(frame), is_running_clock(frame.assign(seconds=3.7))
    (True, False)
    """
    for _, one in frame.groupby("run", sort=False):
        seconds = one.sort_values("repetition", kind="stable")["seconds"].to_numpy(dtype=np.float64)
        if len(seconds) < _CLOCK or not (np.diff(seconds) > 0).all() or seconds[-1] < seconds[0] * len(seconds) / 2:
            return False
    return len(frame) > 0


def chosen_by(parameters: pd.DataFrame, cells: Sequence[str], seconds: NDArray[np.float64]) -> tuple[float, int, int]:
    """Return by how much times differ with a column that is no parameter, in how many configurations, and of how many.

    Two values of the column are compared in the configurations that were run with both. Repetitions differ by chance,
    in both directions. A choice makes the times of several configurations differ clearly, in one direction, and of
    none clearly in the other: the part of a time that doesn't scale may hide it elsewhere.

    Parameters
    ----------
    parameters : DataFrame (n_rows, n_parameters)
    cells : sequence of str (n_rows,)
        The column.
    seconds : array (n_rows,)

    Returns
    -------
    ratio, differ, compared : float, int, int
        1, 0 and 0 if nothing tells of a choice.

    Examples
    --------
    >>> cores = pd.DataFrame({"cores": [8, 8, 16, 16, 32, 32]})
    >>> ratio, *counts = chosen_by(cores, ["a", "b"] * 3, np.array([10, 16.0, 5, 8, 2.5, 4]))
    >>> round(ratio, 3), counts
    (1.6, [3, 3])
    >>> chosen_by(cores, ["a", "b"] * 3, np.array([10, 10.2, 5.1, 5, 2.5, 2.5]))
    (1.0, 0, 0)
    """
    frame = parameters.assign(_value=list(cells), _seconds=seconds)
    frame = frame[np.isfinite(frame["_seconds"]) & (frame["_seconds"] > 0) & (frame["_value"] != "")]
    names = list(parameters.columns)
    medians = frame.groupby([*names, "_value"], sort=False, dropna=False)["_seconds"].median().unstack("_value")
    logs = np.log(medians.to_numpy(dtype=np.float64))
    best = (1.0, 0, 0)
    for one, other in itertools.combinations(range(logs.shape[1]), 2):
        ratios = logs[:, other] - logs[:, one]
        ratios = ratios[np.isfinite(ratios)]
        ratios *= -1.0 if len(ratios) and abs(ratios.min()) > ratios.max() else 1.0
        apart = ratios[ratios > np.log(_APART)]
        if len(apart) < _CONFIGURATIONS or -ratios.min() > np.median(apart) / _CLEARLY:
            continue
        few = len(apart) < len(ratios) and np.median(apart) < np.log(_FAR)
        if not few and (found := (float(np.exp(np.median(apart))), len(apart), len(ratios))) > best:
            best = found
    return best


def number_steps(values: NDArray[np.float64]) -> bool:
    """Tell whether an unnamed index, shape (n,), holds simulated times or steps rather than row numbers.

    Examples
    --------
    >>> number_steps(np.array([2700.0, 5400.0, 8100.0])), number_steps(np.array([0.0, 1.0, 2.0]))
    (True, False)
    """
    between = np.diff(values)
    grow = len(between) > 0 and bool(np.all(between > 0)) and not bool(np.all(between == 1))
    return grow and are_whole(values, below=NUMBERS)


def name_runs(
    stem: str, lines: Sequence[int] | NDArray[np.int64], keys: pd.DataFrame, steps: NDArray[np.int64] | None
) -> list[str]:
    """Name the run of each row by its file and first line, which makes a copy of the file tell the same runs.

    Parameters
    ----------
    stem : str
        The file's name.
    lines : sequence of int (n_rows,)
        The line of each row.
    keys : DataFrame (n_rows, …)
        What tells runs apart: solver, parameters, machine.
    steps : array (n_rows,), optional
        The number of the step: where it falls, or comes again, another run of the same keys is told. Without
        numbers, each row is a run.

    Returns
    -------
    list of str (n_rows,)

    Examples
    --------
    >>> cores = pd.DataFrame({"cores": [8, 8, 4, 8, 8, 8]})
    >>> name_runs("a", [2, 3, 4, 5, 6, 7], cores, np.array([1, 2, 1, 1, 2, 3]))
    ['a:2', 'a:2', 'a:4', 'a:5', 'a:5', 'a:5']
    """
    if steps is None:
        return [f"{stem}:{line}" for line in lines]
    columns = [keys[name].astype(str) for name in keys.columns]
    told: list[tuple[Any, ...]] = list(zip(*columns, strict=True)) if columns else [()] * len(lines)
    last: dict[Any, int] = {}
    block: Counter[Any] = Counter()
    seen: Counter[tuple[Any, int, int]] = Counter()
    first: dict[tuple[Any, int, int], int] = {}
    names = []
    for line, key, step in zip(lines, told, steps.tolist(), strict=True):
        block[key] += step < last.get(key, step)
        last[key] = step
        run = (key, block[key])
        nth = seen[*run, step]
        seen[*run, step] += 1
        names.append(f"{stem}:{first.setdefault((*run, nth), int(line))}")
    return names
