"""Compiled depth-first search over the counts that bounds have left, for `branch_and_bound`.

The step's time and the cores used are postfix programs, so that any layout runs in compiled code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Program", "depth_first", "evaluate", "program"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SOLVER, _MAX, _ADD, _TIMES = 0, 1, 2, 3
_CODES = {"solver": _SOLVER, "max": _MAX, "add": _ADD, "times": _TIMES}


class Program(NamedTuple):
    """A postfix program: operations (n,) and their arguments (n,), a solver's position or a factor."""

    operations: Ints
    arguments: Floats


def program(steps: list[tuple[str, float]]) -> Program:
    """Encode steps ("solver", position), ("max", 0), ("add", 0), ("times", factor).

    Examples
    --------
    >>> float(evaluate(*program([("solver", 0), ("solver", 1), ("add", 0), ("times", 2)]), np.array([3.0, 4.0])))
    14.0
    """
    codes = np.array([_CODES[name] for name, _ in steps], dtype=np.int64)
    return Program(codes, np.array([argument for _, argument in steps], dtype=np.float64))


@njit(cache=True)
def evaluate(operations: Ints, arguments: Floats, values: Floats) -> float:
    """Run a program on one value per solver."""
    stack = np.empty(len(operations), np.float64)
    top = 0
    for k in range(len(operations)):
        if operations[k] == _SOLVER:
            stack[top] = values[int(arguments[k])]
            top += 1
        elif operations[k] == _TIMES:
            stack[top - 1] = arguments[k] * stack[top - 1]
        else:
            top -= 1
            if operations[k] == _MAX:
                stack[top - 1] = max(stack[top - 1], stack[top])
            else:
                stack[top - 1] = stack[top - 1] + stack[top]
    return float(stack[0])


@njit(cache=True)
def depth_first(
    ends: Ints,
    cores: Floats,
    times: Floats,
    over: Floats,
    order: Ints,
    time_operations: Ints,
    time_arguments: Floats,
    core_operations: Ints,
    core_arguments: Floats,
    limit: float,
    room: float,
    best_time: float,
    best_cores: float,
) -> Any:
    """Return the best candidate (n_solvers,) of each solver, or -1 if none is better than the best known.

    Candidates of solver i are ``ends[i]`` … ``ends[i + 1]`` in `cores` (increasing), `times` (decreasing) and `over`
    (by how much they exceed the bound, whose sum must stay within `room`). Undecided solvers count with their fastest
    time and fewest cores, which bounds both from below. Equally fast assignments are better with fewer cores.
    """
    n = len(order)
    best = np.full(n, -1, np.int64)
    now_cores = cores[ends[:-1]]
    now_times = times[ends[1:] - 1]
    at = np.full(n, -1, np.int64)
    spent = np.zeros(n + 1, np.float64)
    depth = 0
    while depth >= 0:
        i = order[depth]
        at[depth] += 1
        k = ends[i] + at[depth]
        done = k >= ends[i + 1]
        if not done:
            now_cores[i] = cores[k]
            used = evaluate(core_operations, core_arguments, now_cores)
            done = used > limit
        if not done and depth + 1 == n:
            k, time, used = _finished(
                ends[i], ends[i + 1], cores, times, i, now_cores, now_times,
                time_operations, time_arguments, core_operations, core_arguments, limit,
            )  # fmt: skip
            if time < best_time or (time == best_time and used < best_cores):
                best_time, best_cores = time, used
                at[depth] = k - ends[i]
                best[order] = at
            done = True
        if done:
            now_cores[i] = cores[ends[i]]
            now_times[i] = times[ends[i + 1] - 1]
            at[depth] = -1
            depth -= 1
            continue
        spent[depth + 1] = spent[depth] + over[k]
        if spent[depth + 1] > room:
            continue
        now_times[i] = times[k]
        time = evaluate(time_operations, time_arguments, now_times)
        if time < best_time or (time == best_time and used < best_cores):
            depth += 1
    return best


@njit(cache=True)
def _finished(
    first: int,
    end: int,
    cores: Floats,
    times: Floats,
    i: int,
    now_cores: Floats,
    now_times: Floats,
    time_operations: Ints,
    time_arguments: Floats,
    core_operations: Ints,
    core_arguments: Floats,
    limit: float,
) -> Any:
    """Give the last undecided solver i its best candidate; return it, and the step's time and the cores used."""
    k = _last_fitting(first, end, cores, i, now_cores, core_operations, core_arguments, limit)
    k = _fewest_as_fast(first, k, times, i, now_times, time_operations, time_arguments)
    now_cores[i] = cores[k]
    now_times[i] = times[k]
    time = evaluate(time_operations, time_arguments, now_times)
    return k, time, evaluate(core_operations, core_arguments, now_cores)


@njit(cache=True)
def _last_fitting(
    first: int, end: int, cores: Floats, i: int, now: Floats, operations: Ints, arguments: Floats, limit: float
) -> int:
    """Return the last candidate of solver i with which the cores used stay within the limit; the first one does."""
    low = first
    high = end - 1
    while low < high:
        middle = (low + high + 1) // 2
        now[i] = cores[middle]
        if evaluate(operations, arguments, now) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True)
def _fewest_as_fast(
    first: int, last: int, times: Floats, i: int, now: Floats, operations: Ints, arguments: Floats
) -> int:
    """Return the first candidate of solver i up to `last` that makes the step as fast as `last` does."""
    now[i] = times[last]
    fastest = evaluate(operations, arguments, now)
    low = first
    high = last
    while low < high:
        middle = (low + high) // 2
        now[i] = times[middle]
        if evaluate(operations, arguments, now) <= fastest:
            high = middle
        else:
            low = middle + 1
    return low
