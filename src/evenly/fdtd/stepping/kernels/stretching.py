"""Differences of a field, with the coordinate stretching of perfectly matched layers.

The layers are convolutional (J. A. Roden and S. D. Gedney, Microw. Opt. Technol. Lett. 27, 334 (2000)): a derivative ∂
becomes ∂/κ + ψ, with the recursive convolution ψ ← b ψ + a ∂. b, a and 1/κ depend on the point's depth in the layer
(`cell.boundaries`). Each of the six differences in a curl has its own ψ.
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit_leaf

__all__ = ["difference", "find_places", "flat_difference", "lay_out", "stretched"]

# Columns of `where`: start of ψ for a component's first and second derivative, start of b for the first and second
# derivative, and the distance from b to a and from a to 1/κ.
_PSI_1, _PSI_2, _ROW_1, _ROW_2, _APART = 0, 1, 2, 3, 4


@njit_leaf(cache=True, nogil=True)
def find_places(offsets, layers, length, turned):
    """Return where ψ and the coefficients of each component's two derivatives begin, and which cross a layer.

    Parameters
    ----------
    offsets : (6,) ints
        As in `arguments.Medium`.
    layers : (3,) ints
        Whether each axis crosses a layer.
    length : int
        Number of points for which `lay_out` has room.
    turned : bool
        Whether `lay_out` is told axis 1 for the coefficients of axis 0, and the reverse.

    Returns
    -------
    where : three times five ints
        Per component; for the columns see `_PSI_1` … `_APART`.
    inside : three times two bools
        Per component and derivative: whether its axis crosses a layer.
    """
    # Tuples, since arrays would have to be allocated, which takes as long as to sweep some ten points.
    x, y, z = (3 * length if turned else 0), (0 if turned else 3 * length), 6 * length
    in_x, in_y, in_z = layers[0] != 0, layers[1] != 0, layers[2] != 0
    where = (
        (offsets[3], offsets[4], y, z, length),
        (offsets[5], offsets[0], z, x, length),
        (offsets[1], offsets[2], x, y, length),
    )
    return where, ((in_y, in_z), (in_z, in_x), (in_x, in_y))


@njit_leaf(cache=True, nogil=True)
def lay_out(K, profile, axis, first, rows, k0, sy):
    """Copy b, a, 1/κ of one axis to every point of a run of rows, so that the loops over the points read them in order.

    Parameters
    ----------
    K : flat array
        Receives b, a, 1/κ of axes 0, 1, 2, one behind the other, all of the same length.
    profile : (3, n_points along the axis)
        b, a, 1/κ along the axis.
    axis, first : int
        `first` is the index of the plane (axis 0) or of the first row (axis 1).
    rows, k0, sy : int
        Number of rows; column where the run starts; number of points of a row with its ghosts.
    """
    length = K.size // 9
    for entry in range(3):
        start = (3 * axis + entry) * length
        if axis == 0:
            _fill(K, start, start + rows * sy, profile[entry, first])
            continue
        for r in range(rows):
            # The run starts at column k0, so row r begins k0 places before r * sy.
            begin, end = max(0, r * sy - k0), (r + 1) * sy - k0
            if axis == 1:
                _fill(K, start + begin, start + end, profile[entry, first + r])
            else:
                to, source = np.uint64(start + begin), np.uint64(sy - (end - begin))
                for k in range(np.uint64(0), np.uint64(end - begin)):
                    K[to + k] = profile[entry, source + k]


@njit_leaf(cache=True, nogil=True)
def _fill(K, begin, end, value):
    for k in range(np.uint64(begin), np.uint64(end)):
        K[k] = value


@njit_leaf(cache=True, nogil=True)
def difference(T, P, Q, psi, K, where, inside, run, steps, keep):
    """Compute T = ∂1 P - ∂2 Q, one component of a curl times -dx, with stretching inside layers.

    Parameters
    ----------
    T, P, Q : flat arrays
        T begins at the run's first point, P and Q at the chunk's first point.
    psi, K : flat arrays
        Convolutions ψ, and coefficients from `lay_out`.
    where, inside : five ints, two bools
        Those of the component from `find_places`.
    run : two ints
        Flat index of the first point, and number of points.
    steps : two ints
        Flat distance from a point to its neighbour in P and in Q.
    keep : bool
        Whether ψ is advanced; if False, only T changes.
    """
    # Unsigned indices and no slices: rows are short, and creating slices for each of them takes time.
    zero, o, n = np.uint64(0), np.uint64(run[0]), np.uint64(run[1])
    p1, q2 = np.uint64(run[0] + steps[0]), np.uint64(run[0] + steps[1])
    x1, x2 = np.uint64(where[_PSI_1] + run[0]), np.uint64(where[_PSI_2] + run[0])
    b1, b2, apart = np.uint64(where[_ROW_1]), np.uint64(where[_ROW_2]), np.uint64(where[_APART])
    a1, a2, v1, v2 = b1 + apart, b2 + apart, b1 + apart + apart, b2 + apart + apart
    # One loop per case, because a branch inside the loop would prevent vectorisation.
    if inside[0] and inside[1]:
        for k in range(zero, n):
            d1, d2 = P[o + k] - P[p1 + k], Q[o + k] - Q[q2 + k]
            new1 = K[b1 + k] * psi[x1 + k] + K[a1 + k] * d1
            new2 = K[b2 + k] * psi[x2 + k] + K[a2 + k] * d2
            T[k] = (K[v1 + k] * d1 + new1) - (K[v2 + k] * d2 + new2)
            if keep:
                psi[x1 + k] = new1
                psi[x2 + k] = new2
    elif inside[0]:
        for k in range(zero, n):
            d1 = P[o + k] - P[p1 + k]
            new1 = K[b1 + k] * psi[x1 + k] + K[a1 + k] * d1
            T[k] = (K[v1 + k] * d1 + new1) - (Q[o + k] - Q[q2 + k])
            if keep:
                psi[x1 + k] = new1
    elif inside[1]:
        for k in range(zero, n):
            d2 = Q[o + k] - Q[q2 + k]
            new2 = K[b2 + k] * psi[x2 + k] + K[a2 + k] * d2
            T[k] = (P[o + k] - P[p1 + k]) - (K[v2 + k] * d2 + new2)
            if keep:
                psi[x2 + k] = new2
    else:
        for k in range(zero, n):
            T[k] = (P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k])


@njit_leaf(cache=True, nogil=True)
def flat_difference(T, P, Q, psi, K, where, inside, run, steps, keep):
    """As `difference`; along a thin axis (stride 0), nothing varies, and the other derivative is the whole curl."""
    o, n, apart = np.uint64(run[0]), np.uint64(run[1]), np.uint64(where[_APART])
    if steps[0] == 0:
        ends, places = (
            (o, np.uint64(run[0] + steps[1]), n),
            (np.uint64(where[_PSI_2] + run[0]), np.uint64(where[_ROW_2])),
        )
        _slope(T, Q, psi, K, ends, (*places, apart), inside[1], T.dtype.type(-1), keep)
    elif steps[1] == 0:
        ends, places = (
            (o, np.uint64(run[0] + steps[0]), n),
            (np.uint64(where[_PSI_1] + run[0]), np.uint64(where[_ROW_1])),
        )
        _slope(T, P, psi, K, ends, (*places, apart), inside[0], T.dtype.type(1), keep)
    else:
        difference(T, P, Q, psi, K, where, inside, run, steps, keep)


@njit_leaf(cache=True, nogil=True)
def _slope(T, P, psi, K, ends, places, inside, sign, keep):
    """Compute one difference instead of two, T = ±∂P, where nothing varies along the other axis.

    `ends` are the run's first point, that of its neighbours, and the number of points; `places` the start of ψ, that of
    b in K, and the distance from b to a.
    """
    zero = np.uint64(0)
    (o, q, n), (x, b, apart) = ends, places
    a, v = b + apart, b + apart + apart
    if inside:
        for k in range(zero, n):
            d = P[o + k] - P[q + k]
            new = K[b + k] * psi[x + k] + K[a + k] * d
            T[k] = sign * (K[v + k] * d + new)
            if keep:
                psi[x + k] = new
    else:
        for k in range(zero, n):
            T[k] = sign * (P[o + k] - P[q + k])


@njit_leaf(cache=True, nogil=True)
def stretched(change, psi, profile, p, at, inside):
    """Return one difference stretched by coefficients profile[:, at] and ψ = psi[p], and advance this ψ."""
    if not inside:
        return change
    new = profile[0, at] * psi[p] + profile[1, at] * change
    psi[p] = new
    return profile[2, at] * change + new
