"""Compiled loops: where to cut each of many boxes, and which boxes share faces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.optional_numba import compiled

__all__ = ["find_cuts", "touching_boxes"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def find_cuts(
    table: Array, edges: tuple[Ints, Ints, Ints], low: Ints, high: Ints, axes: Ints, shares: Array
) -> tuple[Ints, Array, Array]:
    """Return where to cut boxes so that a share of the table's amount is below.

    Parameters
    ----------
    table : (x edges, y edges, z edges)
        Amount below each block corner.
    edges : three arrays of int
        The corners.
    low, high : (n, 3)
        The boxes; each has at least two layers along its own axis.
    axes : (n,)
        Across which axis each is cut.
    shares : (n,)
        Which part of the amount is to be below.

    Returns
    -------
    at : (n,)
        The index whose amount below is nearest to the share, from the first inner one to the last.
    below, whole : (n,)
        Amount below the cut and of the whole box.
    """
    n = len(low)
    at = np.empty(n, np.int64)
    below = np.empty(n)
    whole = np.empty(n)
    weights = np.empty((3, 4))
    places = np.empty((3, 4), np.int64)
    for i in range(n):
        axis = axes[i]
        # The amount below each block corner along the axis; between corners it is interpolated.
        profile = _profile(table, edges, low[i], high[i], axis, places, weights)
        along = edges[axis]
        start = _value(profile, along, low[i, axis])
        total = _value(profile, along, high[i, axis]) - start
        wanted = shares[i] * total
        # Bisection for the first index below which the wanted amount lies: amounts never fall along the axis.
        first, last = low[i, axis] + 1, high[i, axis] - 1
        a, b = first, last
        while a < b:
            middle = (a + b) // 2
            if _value(profile, along, middle) - start < wanted:
                a = middle + 1
            else:
                b = middle
        # Of this index and the one before, the nearer one.
        here = _value(profile, along, a) - start
        if a > first:
            before = _value(profile, along, a - 1) - start
            if abs(before - wanted) < abs(here - wanted):
                a, here = a - 1, before
        at[i], below[i], whole[i] = a, here, total
    return at, below, whole


@compiled
def _profile(
    table: Array, edges: tuple[Ints, Ints, Ints], low: Ints, high: Ints, axis: int, places: Ints, weights: Array
) -> Array:
    """Return the amount below each corner along `axis`, of the box's cross-section."""
    # Corners and weights of the cross-section, as in `survey_kernel.add_corners`: two at the low end, two at the high.
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for other in (u, v):
        for side in range(2):
            value = low[other] if side == 0 else high[other]
            block = _block(edges[other], value)
            share = (value - edges[other][block]) / (edges[other][block + 1] - edges[other][block])
            sign = -1.0 if side == 0 else 1.0
            places[other, 2 * side] = block
            places[other, 2 * side + 1] = block + 1
            weights[other, 2 * side] = sign * (1 - share)
            weights[other, 2 * side + 1] = sign * share
    result = np.zeros(len(edges[axis]))
    first, last = _block(edges[axis], low[axis]), _block(edges[axis], high[axis]) + 1
    index = np.zeros(3, np.int64)
    # The sum over the corners of the cross-section, for every block corner along the axis that the box reaches.
    for p in range(4):
        for q in range(4):
            weight = weights[u, p] * weights[v, q]
            if weight != 0.0:
                index[u], index[v] = places[u, p], places[v, q]
                for k in range(first, last + 1):
                    index[axis] = k
                    result[k] += weight * table[index[0], index[1], index[2]]
    return result


@compiled
def _block(edges: Ints, value: int) -> Any:
    """Return the block that begins at or below a grid index; the last one for the end of the cell."""
    return min(max(np.searchsorted(edges, value, side="right") - 1, 0), len(edges) - 2)


@compiled
def _value(profile: Array, edges: Ints, at: int) -> Any:
    """Return the amount below a grid index, interpolated between the corners of its block."""
    block = _block(edges, at)
    share = (at - edges[block]) / (edges[block + 1] - edges[block])
    return (1 - share) * profile[block] + share * profile[block + 1]


@compiled
def touching_boxes(low: Ints, high: Ints, shape: Ints, periodic: NDArray[np.bool_], order: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of boxes that share faces, (pairs, 2), and how many faces, (pairs,).

    Parameters
    ----------
    low, high : (n, 3)
        Disjoint boxes.
    shape : (3,)
        Points of the cell.
    periodic : (3,) of bool
        Whether opposite sides are neighbours.
    order : (n,)
        The boxes sorted by `low` along x.
    """
    # A first entry tells numba the types; it is left out of the result.
    pairs = [(0, 0)]
    faces = [0]
    n = len(order)
    # Sweep and prune: boxes sorted by their low end along x are compared until one begins beyond this one's end.
    for a in range(n):
        i = order[a]
        for b in range(a + 1, n):
            j = order[b]
            if low[j, 0] > high[i, 0]:
                break
            for axis in range(3):
                shared = _shared(low, high, i, j, axis)
                if shared and (low[j, axis] == high[i, axis] or low[i, axis] == high[j, axis]):
                    pairs.append((i, j))
                    faces.append(shared)
    # Boxes that end where the cell ends touch those that begin where it begins.
    for axis in range(3):
        if periodic[axis]:
            for i in range(n):
                if high[i, axis] == shape[axis]:
                    for j in range(n):
                        if low[j, axis] == 0 and i != j:
                            shared = _shared(low, high, i, j, axis)
                            if shared:
                                pairs.append((i, j))
                                faces.append(shared)
    return np.array(pairs, dtype=np.int64)[1:], np.array(faces, dtype=np.int64)[1:]


@compiled
def _shared(low: Ints, high: Ints, i: int, j: int, axis: int) -> Any:
    """Return the points of the common cross-section of two boxes across an axis."""
    faces = 1
    for other in range(3):
        if other != axis:
            faces *= max(0, min(high[i, other], high[j, other]) - max(low[i, other], low[j, other]))
    return faces
