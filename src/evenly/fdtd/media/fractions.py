"""Volume fractions: which share of the box around a grid point each object fills, at interfaces.

If all surfaces in a box are flat and parallel (also several thin films), the shares are exact. At edges, corners
and junctions, the box is sampled at a lattice of points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.grid import Vector
from evenly.fdtd.media.faces import dot, unit_vectors
from evenly.fdtd.media.solids import GeometricObject

__all__ = ["Mixture", "mixtures", "share_below", "total"]

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
# Smaller shares are round-off of a surface that only touches a box; they are set to 0.
NEGLIGIBLE = 1e-9
# Boxes with edges and junctions that are sampled at a time.
BATCH = 20_000


@dataclass(frozen=True)
class Mixture:
    """The contents of the boxes around n grid points: s segments per box, each within one object.

    Attributes
    ----------
    rows : (n,)
        Indices of the points.
    owner : (n, s)
        Index of the object in each segment.
    share : (n, s)
        Each segment's share of the box; rows add up to 1.
    normal : (n, 3)
        Unit normal of the surface; 0 where it has none.
    lattice : tuple of three ints, or None
        Number of segments along x, y, z, if they are equal cells (in C order) and all faces are normal to grid axes.
    """

    rows: Ints
    owner: Ints
    share: Array
    normal: Array
    lattice: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class _Records:
    """Surfaces in boxes: one record per box and object, sorted by box, then by object."""

    box: Ints
    owner: Ints
    normal: Array
    low: Array
    high: Array
    flat: Bools
    aligned: Bools


def total(terms: Array) -> Array:
    """Return the sum over the last axis, term by term, so that the rounding doesn't depend on the array's shape.

    Examples
    --------
    >>> total(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    result = np.array(terms[..., 0])
    for i in range(1, terms.shape[-1]):
        result += terms[..., i]
    return result


def share_below(position: Array, normal: Array, half: Vector) -> Array:
    """Return the exact share of a box below planes (R. Scardovelli, S. Zaleski, J. Comput. Phys. 164, 228, 2000).

    Parameters
    ----------
    position : (n, s)
        Distance of the planes from the box's centre along `normal`.
    normal : (n, 3)
        Unit normals.
    half : three floats
        Half edges of the box; 0 along thin axes.

    Examples
    --------
    >>> share_below(np.array([[0.25]]), np.array([[1.0, 0.0, 0.0]]), (0.5, 0.5, 0.5)).tolist()
    [[0.75]]
    """
    widths = np.abs(normal) * np.asarray(half)
    reach = total(widths)
    m = np.sort(widths / np.where(reach > 0, reach, 1.0)[:, None], axis=1)
    # Directions with a tiny weight m_i are ignored, because the formula divides by m_i.
    m = np.where(m < 1e-6, 0.0, m)
    m1, m2, m3 = (m[:, i, None] / total(m)[:, None] for i in range(3))
    level = np.clip((position / np.where(reach > 0, reach, 1.0)[:, None] + 1) / 2, 0.0, 1.0)
    small = np.minimum(level, 1 - level)
    below = _small_share(small, m1, m2, m3)
    return np.asarray(np.where(level <= 0.5, below, 1 - below))


def _small_share(a: Array, m1: Array, m2: Array, m3: Array) -> Array:
    """Return the volume below a plane m·x = a, a <= ½, of the unit cube, with m1 <= m2 <= m3 of sum 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        all_three = 6 * m1 * m2 * m3
        # One formula for each range of a: up to m1, up to m2, up to min(m3, m1 + m2), and above.
        corner = a**3 / all_three
        first = np.where(m2 > 0, m1 * m1 / (6 * m2 * m3), 0.0)
        two = np.where(m2 > 0, a * (a - m1) / (2 * m2 * m3) + first, a / m3)
        cut = a * a * (3 * (m1 + m2) - a) + m1 * m1 * (m1 - 3 * a) + m2 * m2 * (m2 - 3 * a)
        beyond = a * a * (3 - 2 * a) + m1**2 * (m1 - 3 * a) + m2**2 * (m2 - 3 * a) + m3**2 * (m3 - 3 * a)
        three = np.where(a < m3, cut, beyond) / all_three
        # The plane meets only edges along x3: the volume is linear in a.
        flat = (2 * a - m1 - m2) / (2 * m3)
    result = np.where(a < m1, corner, np.where(a < m2, two, three))
    return np.asarray(np.where((a >= m1 + m2) & (m1 + m2 <= m3), flat, result))


def mixtures(
    objects: Sequence[GeometricObject], medium: Ints, label: Array, points: Array, half: Vector
) -> Iterator[Mixture]:
    """Yield the mixtures of those boxes that hold more than one medium.

    Parameters
    ----------
    objects : sequence
        In the order of painting; the first fills the whole cell.
    medium : (objects,)
        Row of each object's medium in the palette's tables.
    label : (media,)
        A number per medium (see `Palette.label`). At edges and junctions, the normal points along its gradient.
    points : (n, 3)
        Centres of the boxes.
    half : three floats
        Half the edge lengths of the boxes.
    """
    base, records = _surfaces(objects, points, half)
    if records is None or not records.box.size:
        return
    starts = np.flatnonzero(np.r_[True, np.diff(records.box) > 0])
    counts = np.diff(np.r_[starts, len(records.box)])
    first = np.repeat(starts, counts)
    along = dot(records.normal.T, records.normal[first].T)
    simple = records.flat & (np.abs(along) > 1 - 1e-12)
    all_simple = np.logical_and.reduceat(simple, starts)
    flipped = along < 0
    low, high = np.where(flipped, -records.high, records.low), np.where(flipped, -records.low, records.high)
    for count in np.unique(counts[all_simple]):
        at = starts[all_simple & (counts == count)]
        mixture = _films(base, records, at[:, None] + np.arange(count), low, high, half)
        yield from _pieces(mixture, medium)
    if not all_simple.all():
        aligned = np.logical_and.reduceat(records.aligned, starts)
        for flat_faces in (True, False):
            chosen = np.flatnonzero(~all_simple & (aligned == flat_faces))
            for part in (chosen[start : start + BATCH] for start in range(0, len(chosen), BATCH)):
                mixture = _junctions(objects, base, records, starts[part], counts[part], points, half, flat_faces)
                for piece in _pieces(mixture, medium):
                    yield _with_normal(piece, label[medium], half)


def _surfaces(objects: Sequence[GeometricObject], points: Array, half: Vector) -> tuple[Ints, _Records | None]:
    """Return the last object that fills each box completely, and the surfaces of later objects in the box."""
    base = np.zeros(len(points), dtype=np.intp)
    found: list[tuple[NDArray[Any], ...]] = []
    for k, thing in enumerate(objects[1:], 1):
        lo, hi = thing.bounds()
        near = np.ones(len(points), dtype=bool)
        for axis in range(3):
            # A surface that only touches a box is not in it, whichever way the sums are rounded.
            reach = half[axis] * (1 - NEGLIGIBLE)
            near &= (points[:, axis] > lo[axis] - reach) & (points[:, axis] < hi[axis] + reach)
        rows = np.flatnonzero(near)
        if not rows.size:
            continue
        faces = thing.faces(points[rows], half)
        normal, low, high = _in_plane(faces.normal, faces.low, faces.high, half)
        present = low < high
        whole = present & faces.flat & np.isneginf(low) & np.isposinf(high)
        base[rows[whole]] = k
        cut = present & ~whole
        box = rows[cut]
        owner = np.full(len(box), k, dtype=np.intp)
        found.append((box, owner, normal[cut], low[cut], high[cut], faces.flat[cut], faces.aligned[cut]))
    if not found:
        return base, None
    joined = [np.concatenate(column) for column in zip(*found, strict=True)]
    keep = joined[1] > base[joined[0]]
    order = np.argsort(joined[0][keep], kind="stable")
    return base, _Records(*(column[keep][order] for column in joined))


def _in_plane(normal: Array, low: Array, high: Array, half: Vector) -> tuple[Array, Array, Array]:
    """Return the faces projected onto the axes that aren't thin."""
    if min(half) > 0:
        return normal, low, high
    inside = normal * (np.asarray(half) > 0)
    direction, length = unit_vectors(inside)
    scale = np.where(length > 0, length, 1.0)
    return direction, low / scale, high / scale


def _films(base: Ints, records: _Records, at: Ints, low: Array, high: Array, half: Vector) -> Mixture:
    """Return the shares of parallel films, painted one over the other; `at` (n, count) holds their record numbers."""
    rows, normal = records.box[at[:, 0]], records.normal[at[:, 0]]
    reach = total(np.abs(normal) * np.asarray(half))[:, None]
    ends = np.clip(np.concatenate([low[at], high[at]], axis=1), -reach, reach)
    breaks = np.sort(np.concatenate([-reach, ends, reach], axis=1), axis=1)
    middle = (breaks[:, 1:] + breaks[:, :-1]) / 2
    owner = np.repeat(base[rows][:, None], middle.shape[1], axis=1)
    for i in range(at.shape[1]):
        inside = (middle > low[at[:, i], None]) & (middle < high[at[:, i], None])
        owner = np.where(inside, records.owner[at[:, i], None], owner)
    share = np.diff(share_below(breaks, normal, half), axis=1)
    share = np.where(share < NEGLIGIBLE, 0.0, share)
    return Mixture(rows, owner, share / total(share)[:, None], normal)


def _junctions(
    objects: Sequence[GeometricObject],
    base: Ints,
    records: _Records,
    starts: Ints,
    counts: Ints,
    points: Array,
    half: Vector,
    aligned: bool,
) -> Mixture:
    """Return the shares in boxes with edges or several surfaces, from a lattice of points."""
    rows = records.box[starts]
    offsets, lattice = _lattice(half)
    spots = points[rows][:, None, :] + offsets
    owner = np.repeat(base[rows][:, None], len(offsets), axis=1)
    of_record = np.repeat(np.arange(len(rows)), counts)
    which = np.repeat(starts, counts) + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    for k in np.unique(records.owner[which]):
        mine = of_record[records.owner[which] == k]
        inside = objects[k].contains(*np.moveaxis(spots[mine], 2, 0))
        owner[mine] = np.where(inside, k, owner[mine])
    share = np.full(owner.shape, 1 / len(offsets))
    return Mixture(rows, owner, share, np.zeros((len(rows), 3)), lattice if aligned else None)


def _lattice(half: Vector) -> tuple[Array, tuple[int, int, int]]:
    """Return the centres (s, 3) of equal cells of a box, relative to its centre, and their number along x, y, z."""
    each = 4 if min(half) > 0 else 8
    x, y, z = (each if h > 0 else 1 for h in half)
    along = [(2 * np.arange(n) + 1 - n) / n * h for n, h in zip((x, y, z), half, strict=True)]
    return np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, 3), (x, y, z)


def _pieces(mixture: Mixture, medium: Ints) -> Iterator[Mixture]:
    """Yield the mixture without the boxes that hold a single medium; nothing if none is left."""
    row = np.where(mixture.share > 0, medium[mixture.owner], -1)
    largest = row.max(axis=1)
    mixed = np.any((row >= 0) & (row != largest[:, None]), axis=1)
    if mixed.any():
        m = mixture
        yield Mixture(m.rows[mixed], m.owner[mixed], m.share[mixed], m.normal[mixed], m.lattice)


def _with_normal(mixture: Mixture, label: Array, half: Vector) -> Mixture:
    """Return the mixture with its normals: the direction of the first moment of the media's labels in each box."""
    offsets, _ = _lattice(half)
    value = label[mixture.owner]
    value = value - total(value)[:, None] / value.shape[1]
    moment = np.stack([total(value * offsets[:, axis]) for axis in range(3)], axis=1)
    direction, length = unit_vectors(moment)
    clear = length > 1e-9 * (np.abs(value).max(axis=1) * max(half) * value.shape[1])
    normal = np.where(clear[:, None], direction, 0.0)
    return Mixture(mixture.rows, mixture.owner, mixture.share, normal, mixture.lattice)
