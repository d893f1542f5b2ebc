"""Compiled products with a sparse grid's basis.

Functions of one subspace (one level per parameter) have disjoint supports, so a row meets at most one function of each
subspace, and a row costs as many steps as there are subspaces, however many points these hold. Values in one parameter
are computed once per row and level; a function's value is the product of at most a few of them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["coverage", "entries", "times", "values"]


@njit(cache=True)
def _look(x, levels, positions, heights):  # type: ignore[no-untyped-def]
    """Find the function of each level met by one row x (d,), and its value there; put both in arrays (d, levels + 1).

    The modified linear basis [Pflüger 2010], with ``2^(l-1)`` functions of disjoint supports at level l.
    Level 0 marks labels: x is a position, the function an indicator. Level l >= 2 has 2^(l-1) cells, each with a hat;
    the outermost two are ramps that go on beyond the range.
    """
    for k in range(len(levels)):
        if levels[k] == 0:
            positions[k, 0] = int(x[k])
            heights[k, 0] = 1.0
            continue
        for level in range(2, levels[k] + 1):
            cells = 1 << (level - 1)
            scaled = x[k] * cells
            cell = min(max(math.floor(scaled), 0), cells - 1)
            inside = scaled - cell
            positions[k, level] = cell
            # Ramps at the ends are twice as high as hats: they extrapolate in straight lines.
            if cell == 0:
                heights[k, level] = 2.0 - 2.0 * inside
            elif cell == cells - 1:
                heights[k, level] = 2.0 * inside
            else:
                heights[k, level] = 1.0 - abs(2.0 * inside - 1.0)


@njit(cache=True)
def _meet(s, subspaces, positions, heights):  # type: ignore[no-untyped-def]
    """Return number and value of the function of subspace s that a row meets; number -1 where the grid has none.

    The value is the tensor product of those in each parameter.
    """
    dims, levels, strides, orders, offsets, table = subspaces
    place = offsets[s]
    height = 1.0
    for a in range(orders[s]):
        place += positions[dims[s, a], levels[s, a]] * strides[s, a]
        height *= heights[dims[s, a], levels[s, a]]
    return table[place], height


@njit(cache=True)
def entries(x, levels, subspaces):  # type: ignore[no-untyped-def]
    """Return the matrix B of function values at x (n, d) as compressed rows: starts (n + 1,), numbers, values."""
    n, d = x.shape
    positions = np.zeros((d, levels.max() + 1), np.int64)
    heights = np.zeros((d, levels.max() + 1))
    # First pass: count the functions that each row meets.
    starts = np.zeros(n + 1, np.int64)
    for row in range(n):
        _look(x[row], levels, positions, heights)
        starts[row + 1] = starts[row]
        for s in range(len(subspaces[3])):
            number, _ = _meet(s, subspaces, positions, heights)
            starts[row + 1] += number >= 0
    # Second pass: their numbers and values.
    numbers = np.empty(starts[-1], np.int32)
    found = np.empty(starts[-1])
    for row in range(n):
        _look(x[row], levels, positions, heights)
        at = starts[row]
        for s in range(len(subspaces[3])):
            number, height = _meet(s, subspaces, positions, heights)
            if number >= 0:
                numbers[at] = number
                found[at] = height
                at += 1
    return starts, numbers, found


@njit(cache=True)
def values(x, levels, subspaces, coefficients):  # type: ignore[no-untyped-def]
    """Evaluate the function with these coefficients at x, (n,), storing nothing in between."""
    n, d = x.shape
    total = np.zeros(n)
    positions = np.zeros((d, levels.max() + 1), np.int64)
    heights = np.zeros((d, levels.max() + 1))
    for row in range(n):
        _look(x[row], levels, positions, heights)
        for s in range(len(subspaces[3])):
            number, height = _meet(s, subspaces, positions, heights)
            if number >= 0:
                total[row] += coefficients[number] * height
    return total


@njit(cache=True)
def coverage(x, levels, subspaces, residuals, weights, count):  # type: ignore[no-untyped-def]
    """Return what each of `count` functions has to do with residuals: four sums over rows, each (count,).

    Products with the weighted residuals, weighted squares, squares times squared residuals, and how many rows lie in
    the support.
    """
    n, d = x.shape
    products, squares, errors, rows = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, np.int64)
    positions = np.zeros((d, levels.max() + 1), np.int64)
    heights = np.zeros((d, levels.max() + 1))
    for row in range(n):
        _look(x[row], levels, positions, heights)
        for s in range(len(subspaces[3])):
            number, height = _meet(s, subspaces, positions, heights)
            if number >= 0 and height > 0.0:
                products[number] += weights[row] * height * residuals[row]
                squares[number] += weights[row] * height * height
                errors[number] += weights[row] * (height * residuals[row]) ** 2
                rows[number] += 1
    return products, squares, errors, rows


@njit(cache=True)
def times(starts, numbers, heights, direction, weights, result):  # type: ignore[no-untyped-def]
    """Put B^T W B times a direction (N,) into `result` (N,), in one pass over the compressed rows of B."""
    result[:] = 0.0
    for row in range(len(starts) - 1):
        # (B d)_row, times its weight, is added up to B^T at once.
        total = 0.0
        for e in range(starts[row], starts[row + 1]):
            total += heights[e] * direction[numbers[e]]
        total *= weights[row]
        for e in range(starts[row], starts[row + 1]):
            result[numbers[e]] += heights[e] * total
