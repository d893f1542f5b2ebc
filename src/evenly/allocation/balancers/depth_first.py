"""Compiled depth-first branch and bound over the remaining candidates, for `branch_and_bound`.

Postfix programs compute the step's time and the cores in use, so compiled code can evaluate any layout.

Source: A. H. Land and A. G. Doig, "An automatic method of solving discrete programming problems", Econometrica 28
(1960) 497-520.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenly.compiling import njit

__all__ = ["Candidates", "Program", "depth_first", "evaluate", "program"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SOLVER, _MAX, _ADD, _TIMES = 0, 1, 2, 3
_CODES = {"solver": _SOLVER, "max": _MAX, "add": _ADD, "times": _TIMES}


class Program(NamedTuple):
    """A postfix program: operations (n,) and their arguments (n,), each a solver's index or a factor."""

    operations: Ints
    arguments: Floats


class Candidates(NamedTuple):
    """Counts that solvers may still get, of all solvers in one array each.

    Solver i has the entries from ``ends[i]`` up to, but without, ``ends[i + 1]``; `ends` has shape (n_solvers + 1,).
    Within a solver, `cores` (n,) increases and `seconds` (n,) decreases. `over` (n,) is the number of seconds by which
    a candidate alone raises the Lagrangian bound.
    """

    ends: Ints
    cores: Floats
    seconds: Floats
    over: Floats


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
    candidates: Candidates,
    order: Ints,
    time: Program,
    used: Program,
    limit: float,
    room: float,
    best_time: float,
    best_cores: float,
) -> Any:
    """Return the index of each solver's candidate (n_solvers,) in the best assignment found; -1 if none is better.

    The search must improve on an assignment with `best_time` seconds and `best_cores` cores. Solvers are decided in the
    given order (n_solvers,). The cores in use must not exceed `limit`, and the sum of `over` must not exceed `room`
    seconds. Of equally fast assignments, the one with fewer cores is better.
    """
    ends, n = candidates.ends, len(order)
    best = np.full(n, -1, np.int64)
    # Undecided solvers enter with their fewest cores and their shortest time: lower bounds of total cores and time.
    now_cores = candidates.cores[ends[:-1]]
    now_times = candidates.seconds[ends[1:] - 1]
    at = np.full(n, -1, np.int64)
    spent = np.zeros(n + 1, np.float64)
    depth = 0
    while depth >= 0:
        # Branch: the next candidate of this depth's solver. If it doesn't fit, larger ones can't fit either.
        i = order[depth]
        at[depth] += 1
        k = ends[i] + at[depth]
        done = k >= ends[i + 1]
        cores = 0.0
        if not done:
            now_cores[i] = candidates.cores[k]
            cores = evaluate(used.operations, used.arguments, now_cores)
            done = cores > limit
        # Leaf: the last solver's best candidate follows by bisection, since time falls and cores rise along its row.
        if not done and depth + 1 == n:
            k, seconds, cores = _finished(candidates, i, now_cores, now_times, time, used, limit)
            if seconds < best_time or (seconds == best_time and cores < best_cores):
                best_time, best_cores = seconds, cores
                at[depth] = k - ends[i]
                best[order] = at
            done = True
        # Backtrack: this solver is undecided again.
        if done:
            now_cores[i] = candidates.cores[ends[i]]
            now_times[i] = candidates.seconds[ends[i + 1] - 1]
            at[depth] = -1
            depth -= 1
            continue
        # Lagrangian bound: the decided solvers together may raise the bound by at most `room`.
        spent[depth + 1] = spent[depth] + candidates.over[k]
        if spent[depth + 1] > room:
            continue
        # Bound by relaxation: all undecided solvers take their shortest time.
        now_times[i] = candidates.seconds[k]
        seconds = evaluate(time.operations, time.arguments, now_times)
        if seconds < best_time or (seconds == best_time and cores < best_cores):
            depth += 1
    return best


@njit(cache=True)
def _finished(
    candidates: Candidates, i: int, now_cores: Floats, now_times: Floats, time: Program, used: Program, limit: float
) -> Any:
    """Choose the best candidate of the last undecided solver i; return it, the step's time and the cores in use."""
    first, end = candidates.ends[i], candidates.ends[i + 1]
    k = _last_fitting(first, end, candidates.cores, i, now_cores, used, limit)
    k = _fewest_as_fast(first, k, candidates.seconds, i, now_times, time)
    now_cores[i] = candidates.cores[k]
    now_times[i] = candidates.seconds[k]
    seconds = evaluate(time.operations, time.arguments, now_times)
    return k, seconds, evaluate(used.operations, used.arguments, now_cores)


@njit(cache=True)
def _last_fitting(first: int, end: int, cores: Floats, i: int, now: Floats, used: Program, limit: float) -> int:
    """Return the last candidate of solver i with which the cores in use stay within the limit; the first one does."""
    low = first
    high = end - 1
    while low < high:
        middle = (low + high + 1) // 2
        now[i] = cores[middle]
        if evaluate(used.operations, used.arguments, now) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True)
def _fewest_as_fast(first: int, last: int, times: Floats, i: int, now: Floats, time: Program) -> int:
    """Return the first candidate of solver i up to `last` that makes the step as fast as `last` does."""
    now[i] = times[last]
    fastest = evaluate(time.operations, time.arguments, now)
    low = first
    high = last
    while low < high:
        middle = (low + high) // 2
        now[i] = times[middle]
        if evaluate(time.operations, time.arguments, now) <= fastest:
            high = middle
        else:
            low = middle + 1
    return low
