"""Subpixel averaging: the effective medium in the box around a grid point where an interface passes through the box.

At an interface, the normal part of D and the tangential part of E are continuous. So 1/ε is averaged for the normal
direction and ε for the tangential directions (A. Farjadpour et al., Opt. Lett. 31, 2972 (2006)). For matrices ε, the
average uses the transform τ of C. Kottke, A. Farjadpour, S. G. Johnson, Phys. Rev. E 77, 036611 (2008). This keeps the
scheme of second order in the grid spacing, for media without poles.

At edges between faces that are normal to the grid's axes, the averaged matrix is diagonal. For the component along an
axis, ε is averaged in each slice normal to the axis, and 1/ε over the slices.

Strengths of poles, conductivities and nonlinear terms are averaged over the box for components parallel to the surface.
For the component normal to it, the value of the medium at the grid point is used. Slanted surfaces of dispersive media
are treated in `sites` instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.media.faces import dot
from evenly.fdtd.media.fractions import Mixture, total
from evenly.fdtd.media.palette import Palette

__all__ = ["inverse_diagonal", "inverse_off_diagonal", "limited", "mean_strength", "surface_frame"]

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]
# Symmetric 3 x 3 matrices at n points (and s segments): each element is an array over the points.
Matrix = list[list[Array]]
# Lower limit of the eigenvalues of the operator's 3 x 3 blocks, relative to their diagonal part (see `limited`).
MARGIN = 0.02


@dataclass(frozen=True)
class _Segments:
    """The media of a mixture's segments (n, s), their scalar ε, and how each row is averaged.

    By slices, by a flat surface's two means, or (the `rest`) by Kottke's τ.
    """

    medium: NDArray[np.intp]
    scalar: Array
    sliced: Rows
    flat: Rows
    rest: Rows


def _segments(tables: Palette, mixture: Mixture, points: Array) -> _Segments:
    medium = tables.medium[mixture.owner]
    scalar = tables.matrix[medium, 0, 0]
    filled = mixture.share > 0
    for row, custom in enumerate(tables.custom):
        if custom is not None:
            rows = np.flatnonzero(np.any((medium == row) & filled, axis=1))
            values = np.ones(len(medium))
            values[rows] = custom.epsilon(*points[mixture.rows[rows]].T)
            scalar = np.where(medium == row, values[:, None], scalar)
    isotropic, diagonal = (np.all(of[medium] | ~filled, axis=1) for of in (tables.isotropic, tables.diagonal))
    sliced = diagonal & (mixture.lattice is not None)
    return _Segments(medium, scalar, sliced, isotropic & ~sliced, ~isotropic & ~sliced)


def inverse_diagonal(tables: Palette, mixture: Mixture, points: Array, axis: int) -> Array:
    """Return element (axis, axis) of the averaged ε^-1, shape (n,).

    Parameters
    ----------
    tables : Palette
        The media.
    mixture : Mixture
        The contents of n boxes.
    points : (m, 3)
        Centres of all boxes; ``mixture.rows`` are indices into them.
    axis : int
        0, 1 or 2.
    """
    parts = _segments(tables, mixture, points)
    sliced, flat, rest = parts.sliced, parts.flat, parts.rest
    result = np.empty(len(mixture.rows))
    if sliced.any():
        medium = parts.medium[sliced]
        values = np.where(tables.isotropic[medium], parts.scalar[sliced], tables.matrix[medium, axis, axis])
        result[sliced] = _slices(values, mixture.lattice, axis)
    if flat.any():
        scalar, share = parts.scalar[flat], mixture.share[flat]
        mean, inverse = total(share * scalar), total(share / scalar)
        square = mixture.normal[flat, axis] ** 2
        result[flat] = (1 - square) / mean + square * inverse
    if rest.any():
        result[rest] = _tensor(tables, parts, mixture, rest)[axis][axis]
    return result


def inverse_off_diagonal(tables: Palette, mixture: Mixture, points: Array) -> Array:
    """Return elements yz, zx, xy of the averaged ε^-1, shape (3, n)."""
    parts = _segments(tables, mixture, points)
    flat, rest = parts.flat, parts.rest
    result = np.zeros((3, len(mixture.rows)))
    pairs = ((1, 2), (2, 0), (0, 1))
    if flat.any():
        scalar, share = parts.scalar[flat], mixture.share[flat]
        mean, inverse = total(share * scalar), total(share / scalar)
        for k, (i, j) in enumerate(pairs):
            result[k, flat] = (inverse - 1 / mean) * mixture.normal[flat, i] * mixture.normal[flat, j]
    if rest.any():
        matrix = _tensor(tables, parts, mixture, rest)
        for k, (i, j) in enumerate(pairs):
            result[k, rest] = matrix[i][j]
    return result


def mean_strength(
    tables: Palette, mixture: Mixture, strengths: Array, at_point: Array, axis: int, *, weigh: bool = False
) -> Array:
    """Return the average of a strength (of a pole, conductivity or nonlinear term) in each box, shape (n,).

    Parameters
    ----------
    tables, mixture, axis
        As in `inverse_diagonal`.
    strengths : (media,)
        The strength along the axis in each medium.
    at_point : (n,)
        The strength at the box's centre.
    weigh : bool
        Whether the strength is weighted with ε (for a conductivity, which multiplies ε).
    """
    medium = tables.medium[mixture.owner]
    share = mixture.share * tables.matrix[medium, axis, axis] if weigh else mixture.share
    mean = total(share * strengths[medium]) / total(share)
    square = mixture.normal[:, axis] ** 2
    return np.asarray((1 - square) * mean + square * at_point)


def limited(off: Array, around: Array) -> Array:
    """Return off-diagonal elements reduced where necessary to keep the whole operator ε^-1 positive definite.

    The diagonal of ε^-1 is on the edges and the rest on the nodes, so D·ε^-1·D is a sum over nodes. A node's term
    contains half of each of its six edges. By Cauchy-Schwarz it is at least ¼ S·(diag(h) + off)·S, where S_c is the sum
    of D_c on the two edges along c, and h_c is the harmonic mean of ε^-1 on these edges. So it is enough that
    diag(h) + off is positive definite at each node.

    Parameters
    ----------
    off : (3, n)
        Elements yz, zx, xy at n nodes.
    around : (3, 2, n)
        Diagonal elements x, y, z of ε^-1 on the edges below and above the nodes.

    Examples
    --------
    >>> limited(np.array([[0.0], [0.0], [0.5]]), np.ones((3, 2, 1)))[2].tolist()
    [0.5]
    >>> limited(np.array([[0.0], [0.0], [2.0]]), np.ones((3, 2, 1)))[2].tolist()
    [0.98]
    """
    root = np.sqrt(2 / (1 / around[:, 0] + 1 / around[:, 1]))
    yz, zx, xy = off[0] / (root[1] * root[2]), off[1] / (root[2] * root[0]), off[2] / (root[0] * root[1])
    smallest = _smallest_eigenvalue(yz, zx, xy)
    allowed = 1 - MARGIN
    scale = np.where(-smallest > allowed, allowed / np.maximum(-smallest, allowed), 1.0)
    return np.asarray(off * scale)


def _smallest_eigenvalue(yz: Array, zx: Array, xy: Array) -> Array:
    """Return the smallest eigenvalue of symmetric matrices with zero diagonal, or a slightly lower value.

    It is the smallest root of λ³ - p λ - q. Newton's method starts from the lowest possible value, -2 √(p/3), and rises
    to the root without passing it. Unlike the cosine formula, it uses no function whose rounding may depend on the
    array's shape.
    """
    p = yz * yz + zx * zx + xy * xy
    q = 2 * yz * zx * xy
    root = -2 * np.sqrt(p / 3)
    for _ in range(25):
        slope = 3 * root * root - p
        step = (root * root * root - p * root - q) / np.where(slope > 0, slope, 1.0)
        root = root - np.minimum(step, 0.0)
    return np.asarray(root)


def _slices(values: Array, lattice: tuple[int, int, int] | None, axis: int) -> Array:
    """Return the mean of 1/ε_s over the slices s normal to `axis`, where ε_s is the mean ε in a slice."""
    cells = np.moveaxis(values.reshape(len(values), *(lattice or ())), axis + 1, 1)
    slices = total(np.ascontiguousarray(cells).reshape(len(values), cells.shape[1], -1))
    return np.asarray(total(1 / slices) * (values.shape[1] / cells.shape[1] ** 2))


def _tensor(tables: Palette, parts: _Segments, mixture: Mixture, rows: NDArray[np.bool_]) -> Matrix:
    """Return the inverse of Kottke's average, in grid axes."""
    medium, share, normal = parts.medium[rows], mixture.share[rows], mixture.normal[rows]
    scalar, isotropic = parts.scalar[rows], tables.isotropic[medium]
    epsilon = [
        [np.where(isotropic, scalar if i == j else 0.0, tables.matrix[medium, i, j]) for j in range(3)]
        for i in range(3)
    ]
    frame = surface_frame(normal)
    # In the frame (normal, tangents) of each row; a row without a normal gets the plain average.
    turned = _turn(epsilon, [[e[:, None] for e in row] for row in frame])
    plain = [[total(share * turned[i][j]) for j in range(3)] for i in range(3)]
    kottke = _kottke(turned, share)
    known = np.any(normal, axis=1)
    mean = [[np.where(known, kottke[i][j], plain[i][j]) for j in range(3)] for i in range(3)]
    back = [[frame[j][i] for j in range(3)] for i in range(3)]
    return _turn(_inverted(mean), back)


def _kottke(e: Matrix, share: Array) -> Matrix:
    """Return τ^-1 of the mean of τ(ε), with ε in the frame (normal, tangents) of the surface."""
    # τ(ε) of Kottke, Farjadpour and Johnson relates the parts of D and E that are continuous at a flat surface (normal
    # D, tangential E) to the discontinuous parts. So τ(ε) may be averaged where ε may not.
    t00 = total(share * (-1 / e[0][0]))
    t0 = [total(share * (e[0][i] / e[0][0])) for i in (1, 2)]
    t = [[total(share * (e[i][j] - e[i][0] * e[0][j] / e[0][0])) for j in (1, 2)] for i in (1, 2)]
    # Back from the mean of τ to ε.
    side = [-v / t00 for v in t0]
    block = [[t[i][j] - t0[i] * t0[j] / t00 for j in range(2)] for i in range(2)]
    return [[-1 / t00, side[0], side[1]], [side[0], block[0][0], block[0][1]], [side[1], block[1][0], block[1][1]]]


def surface_frame(normal: Array) -> Matrix:
    """Return unit vectors (normal, tangent, tangent) of each row; exact if the normal is along a grid axis."""
    n = np.where(np.any(normal, axis=1)[:, None], normal, np.array([1.0, 0.0, 0.0]))
    x, y, z = n.T
    # The first tangent is the cross product with the grid axis least parallel to the normal: it is never near 0.
    least = np.argmin(np.abs(n), axis=1)
    a, b, c = (np.where(least == axis, 1.0, 0.0) for axis in range(3))
    t = [y * c - z * b, z * a - x * c, x * b - y * a]
    length = np.sqrt(dot(t, t))
    t = [v / length for v in t]
    return [[x, y, z], t, [y * t[2] - z * t[1], z * t[0] - x * t[2], x * t[1] - y * t[0]]]


def _turn(matrix: Matrix, frame: Matrix) -> Matrix:
    """Return frame · matrix · frameᵀ, written out so that the rounding of a row doesn't depend on other rows."""
    r = range(3)
    half = [[dot(frame[i], [matrix[k][j] for k in r]) for j in r] for i in r]
    return [[dot(half[i], frame[j]) for j in r] for i in r]


def _inverted(m: Matrix) -> Matrix:
    # By Cramer's rule: cofactors over the determinant, with the same rounding in every row.
    c: Matrix = [
        [
            m[(i + 1) % 3][(j + 1) % 3] * m[(i + 2) % 3][(j + 2) % 3]
            - m[(i + 1) % 3][(j + 2) % 3] * m[(i + 2) % 3][(j + 1) % 3]
            for j in range(3)
        ]
        for i in range(3)
    ]
    determinant = dot(m[0], c[0])
    return [[c[j][i] / determinant for j in range(3)] for i in range(3)]
