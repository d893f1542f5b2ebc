"""Compiled loops over Pareto fronts of time against cores.

A front is two arrays of one length: `cores` (K,) strictly increasing and `seconds` (K,) strictly decreasing. With at
least ``cores[k]`` cores, the part takes ``seconds[k]``; with fewer than ``cores[0]`` it can't run.

Import this module only where a loop is needed: importing numba takes longer than solving a small problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.compiling import njit

__all__ = ["hull_values", "merge_convex", "merge_max", "merge_plus", "minima_monotone", "sum_pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def merge_max(ca: Ints, ta: Floats, cb: Ints, tb: Floats, limit: int) -> Any:
    """Return the front (cores, seconds) of two parts side by side: for each time T, the sum of the parts' cores."""
    cores = np.empty(len(ca) + len(cb), np.int64)
    seconds = np.empty(len(ca) + len(cb), np.float64)
    i = 0
    j = 0
    n = 0
    # From the longest time down: the slower part moves to its next point; both parts do where their times are equal.
    while ca[i] + cb[j] <= limit:
        cores[n] = ca[i] + cb[j]
        seconds[n] = max(ta[i], tb[j])
        n += 1
        step_a = ta[i] >= tb[j]
        step_b = tb[j] >= ta[i]
        if (step_a and i + 1 == len(ca)) or (step_b and j + 1 == len(cb)):
            break
        i += step_a
        j += step_b
    return cores[:n].copy(), seconds[:n].copy()


@njit(cache=True)
def merge_plus(ca: Ints, ta: Floats, cb: Ints, tb: Floats) -> Any:
    """Return the front (cores, seconds) of two parts one after the other on the same cores: times are added."""
    cores = np.empty(len(ca) + len(cb), np.int64)
    seconds = np.empty(len(ca) + len(cb), np.float64)
    # The fewest cores on which both parts can run, and the index in each front for these cores.
    first = max(ca[0], cb[0])
    i = 0
    j = 0
    while i + 1 < len(ca) and ca[i + 1] <= first:
        i += 1
    while j + 1 < len(cb) and cb[j + 1] <= first:
        j += 1
    at = first
    n = 0
    while True:
        value = ta[i] + tb[j]
        # Where rounding cancels a gain, the point with fewer cores stays the front's last point.
        if n == 0 or value < seconds[n - 1]:
            cores[n] = at
            seconds[n] = value
            n += 1
        # On to the next count of either front.
        next_a = ca[i + 1] if i + 1 < len(ca) else np.iinfo(np.int64).max
        next_b = cb[j + 1] if j + 1 < len(cb) else np.iinfo(np.int64).max
        at = min(next_a, next_b)
        if at == np.iinfo(np.int64).max:
            break
        i += next_a == at
        j += next_b == at
    return cores[:n].copy(), seconds[:n].copy()


@njit(cache=True)
def hull_values(x: Ints, y: Floats) -> Floats:
    """Return the lower convex hull (n,) of points x, y (n,), x increasing, at each x, by Andrew's monotone chain.

    Source: A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions", Information Processing
    Letters 9 (1979) 216-219.
    """
    n = len(x)
    stack = np.empty(n, np.int64)
    top = 0
    for k in range(n):
        # Remove corners on or above the line from the corner before them to the new point.
        while top >= 2:
            a = stack[top - 2]
            b = stack[top - 1]
            if (y[b] - y[a]) * (x[k] - x[b]) < (y[k] - y[b]) * (x[b] - x[a]):
                break
            top -= 1
        stack[top] = k
        top += 1
    # Straight lines between the corners.
    hull = np.empty(n, np.float64)
    for s in range(top - 1):
        a = stack[s]
        b = stack[s + 1]
        slope = (y[b] - y[a]) / (x[b] - x[a])
        for k in range(a, b):
            hull[k] = y[a] + slope * (x[k] - x[a])
    hull[n - 1] = y[n - 1]
    return hull


@njit(cache=True)
def merge_convex(ta: Floats, ha: Floats, tb: Floats, hb: Floats, limit: int) -> Floats:
    """Return the (min,+) convolution of two convex curves on one grid, by always taking the steeper next step.

    The exactly convex hulls `ha`, `hb` determine the steps; the values `ta`, `tb` are added. The result has values for
    grid points 0 … limit, at most.
    """
    n = min(limit + 1, len(ta) + len(tb) - 1)
    out = np.empty(n, np.float64)
    i = 0
    j = 0
    for k in range(n):
        out[k] = ta[i] + tb[j]
        # The next grid point goes to the part that gains more seconds from it.
        gain_a = ha[i] - ha[i + 1] if i + 1 < len(ha) else -1.0
        gain_b = hb[j] - hb[j + 1] if j + 1 < len(hb) else -1.0
        if i + 1 < len(ha) and (gain_a >= gain_b or j + 1 == len(hb)):
            i += 1
        elif j + 1 < len(hb):
            j += 1
    return out


@njit(cache=True)
def minima_monotone(tx: Floats, hx: Floats, at_x: int, cy: Ints, ty: Floats, out: Floats) -> None:
    """Lower `out` to the (min,+) convolution of a convex curve with any other.

    The convex curve has values `tx` (hull `hx`) on grid points `at_x`, `at_x` + 1, … and stays at its last value
    beyond; the other has values `ty` at grid points `cy`. A row of the matrix of sums is a total, a column a point of
    the other curve. The best column is monotone in the row, since the matrix is totally monotone. So divide and conquer
    over the rows takes O((P + K) log P).
    """
    rows = len(out)
    last = len(hx) - 1
    stack = np.empty((128, 4), np.int64)
    # Stack of subproblems: rows `low` … `high`, whose best columns lie within `left` … `right`.
    stack[0] = (at_x + cy[0], rows - 1, 0, len(cy) - 1)
    top = 1
    while top > 0:
        top -= 1
        low, high, left, right = stack[top]
        if low > high:
            continue
        # The best column of the middle row. It is found with the hull, as rounding may make the values not convex.
        row = (low + high) // 2
        best = np.inf
        arg = left
        for j in range(left, right + 1):
            k = row - at_x - cy[j]
            if k < 0:
                break
            value = hx[min(k, last)] + ty[j]
            if value < best:
                best = value
                arg = j
        exact = tx[min(row - at_x - cy[arg], last)] + ty[arg]
        if exact < out[row]:
            out[row] = exact
        # Smaller rows have their best column at or left of this one, larger rows at or right of it.
        stack[top] = (low, row - 1, left, arg)
        stack[top + 1] = (row + 1, high, arg, right)
        top += 2


@njit(cache=True)
def sum_pairs(ca: Ints, ta: Floats, cb: Ints, tb: Floats, out: Floats) -> None:
    """Lower `out` (n_grid,) to the (min,+) convolution of any two fronts given on grid points, pair by pair."""
    for i in range(len(ca)):
        room = len(out) - 1 - ca[i]
        for j in range(len(cb)):
            if cb[j] > room:
                break
            value = ta[i] + tb[j]
            if value < out[ca[i] + cb[j]]:
                out[ca[i] + cb[j]] = value
