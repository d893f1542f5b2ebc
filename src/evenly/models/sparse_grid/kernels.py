"""Compiled evaluation of a sparse grid's basis functions, and matrix-vector products with them.

A subspace has one level per parameter, and its functions have disjoint supports. So at each row at most one function of
a subspace is above zero. The cost of a row grows with the number of subspaces, not with the number of points. The
one-dimensional functions are evaluated once per row, parameter and level; a basis function is a product of a few.
"""

from __future__ import annotations

import math

import numpy as np

from evenly.compiling import njit

__all__ = ["coverage", "entries", "times", "values"]


@njit(cache=True)
def _look(x, levels, positions, heights):  # type: ignore[no-untyped-def]
    """Evaluate the one-dimensional functions at one row x (d,), for each parameter and level.

    For each, the position of the function whose support contains x, and its value, are written to `positions` and
    `heights` (d, levels + 1). This is the modified linear basis [Pflüger 2010]. Level 0 is for labels: x is the
    position of the label, and the function its indicator. Level l >= 2 has 2^(l-1) cells with a hat function each; the
    outermost two are ramps, which continue outside the range.
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
    """Return number and value of the basis function of subspace s at a row.

    The number is -1 if the grid has no function there. The value is the product of the one-dimensional values.
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
    """Return the matrix B of basis values at x (n, d) in CSR format: row starts (n + 1,), column numbers, values."""
    n, d = x.shape
    positions = np.zeros((d, levels.max() + 1), np.int64)
    heights = np.zeros((d, levels.max() + 1))
    # First pass: count the entries of each row.
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
    """Return B times coefficients (N,) at x (n, d), (n,), without storing B."""
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
    """Return four sums over rows for each of `count` basis functions φ, each (count,).

    With residuals r and weights w: Σ w φ r, Σ w φ², Σ w (φ r)², and the number of rows in the support of φ.
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
    """Write B^T W B times a direction (N,) to `result` (N,), in one pass over the rows of B in CSR format."""
    result[:] = 0.0
    for row in range(len(starts) - 1):
        # total = (W B d)_row; then add total times row of B to the result.
        total = 0.0
        for e in range(starts[row], starts[row + 1]):
            total += heights[e] * direction[numbers[e]]
        total *= weights[row]
        for e in range(starts[row], starts[row + 1]):
            result[numbers[e]] += heights[e] * total
