"""Compiled loops that find the cuts of many boxes and the pairs of boxes that share faces."""

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
    """Return where to cut boxes so that a given share of the summed amount lies below each cut, by bisection.

    Parameters
    ----------
    table : (x edges, y edges, z edges)
        Summed-area table: the amount below each block corner.
    edges : three arrays of int
        Grid indices of the block corners along x, y, z.
    low, high : (n, 3)
        First grid index of each box and one past the last; a box has at least two layers along its cut axis.
    axes : (n,)
        The axis across which each box is cut.
    shares : (n,)
        Wanted share of the amount below the cut.

    Returns
    -------
    at : (n,)
        The grid index, strictly inside the box, for which the amount below is nearest to the wanted one.
    below, whole : (n,)
        Amount below the cut, and of the whole box.
    """
    n = len(low)
    at = np.empty(n, np.int64)
    below = np.empty(n)
    whole = np.empty(n)
    weights = np.empty((3, 4))
    places = np.empty((3, 4), np.int64)
    for i in range(n):
        axis = axes[i]
        # Cumulative amount at each block corner along the axis, interpolated linearly between corners.
        profile = _profile(table, edges, low[i], high[i], axis, places, weights)
        along = edges[axis]
        start = _value(profile, along, low[i, axis])
        total = _value(profile, along, high[i, axis]) - start
        wanted = shares[i] * total
        # Bisection for the first index at which the cumulative amount reaches the wanted one; it never falls.
        first, last = low[i, axis] + 1, high[i, axis] - 1
        a, b = first, last
        while a < b:
            middle = (a + b) // 2
            if _value(profile, along, middle) - start < wanted:
                a = middle + 1
            else:
                b = middle
        # Take this index or the one before it, whichever is nearer to the wanted amount.
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
    """Return the cumulative amount within the box's cross-section at each block corner along `axis`, (edges,)."""
    # Corners and weights of the cross-section, as in `survey_kernel.add_corners`: two at the low end and two at the
    # high end of each of the two other axes.
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
    # For each block corner along the axis within the box's range: sum over the corners of the cross-section.
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
    """Return the block that contains a grid index; the last block for the end of the cell."""
    return min(max(np.searchsorted(edges, value, side="right") - 1, 0), len(edges) - 2)


@compiled
def _value(profile: Array, edges: Ints, at: int) -> Any:
    """Return the amount below a grid index, interpolated between the corners of its block."""
    block = _block(edges, at)
    share = (at - edges[block]) / (edges[block + 1] - edges[block])
    return (1 - share) * profile[block] + share * profile[block + 1]


@compiled
def touching_boxes(low: Ints, high: Ints, shape: Ints, periodic: NDArray[np.bool_], order: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of boxes that share faces, (pairs, 2), and their numbers of shared faces, (pairs,).

    Parameters
    ----------
    low, high : (n, 3)
        Disjoint boxes: first grid index and one past the last.
    shape : (3,)
        Grid points of the cell along x, y, z.
    periodic : (3,) of bool
        Whether opposite sides of the cell are neighbours.
    order : (n,)
        Indices that sort the boxes by `low` along x.
    """
    # A dummy first entry fixes the lists' types for numba; the result omits it.
    pairs = [(0, 0)]
    faces = [0]
    n = len(order)
    # Sweep and prune: box i is compared with the boxes after it in the order, until one begins beyond its end.
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
    # Over a periodic side, boxes at the end of the cell touch boxes at its beginning.
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
    """Return the number of faces of points in the overlap of two boxes' cross-sections across an axis."""
    faces = 1
    for other in range(3):
        if other != axis:
            faces *= max(0, min(high[i, other], high[j, other]) - max(low[i, other], low[j, other]))
    return faces
