"""Several steps in one pass through the memory: each step follows the one before it by a slab.

A step of a large cell reads and writes all fields once, and the memory is the limit. But E at plane i needs H of the
step before only at planes i-1 and i. So the next step may begin where the last one has just been, while these values
are still in the cache (wavefronts: M. Wolfe, Int. J. Parallel Program. 15, 279 (1986)). The operations of a step are
cut into slabs of planes, H one plane lower than E. Slab n of a step is done after slab n+1 of the step before:

    slab   0 1 2 3 4 …
    step 0 1 2 4 6 8
    step 1   3 5 7 9     (in this order)

So every point gets the same numbers in the same order as with whole steps, bit for bit. The tables of `kernels.walk`
say all that is needed: where a view lies in the cell follows from its address.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.stepping.kernels.walk import COPY, DRIVE, SAMPLE, SWEEP

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.frame import Frame

__all__ = ["Waves", "cut", "plan", "turns"]

Array = NDArray[Any]
#: The arguments of `kernels.walk.walk` from `chunks` to `samples`.
Tables = tuple[Any, ...]
#: Bytes of a cell that is larger than the last cache, and bytes that a pass may hold in it.
_LARGE, _CACHE = 24 << 20, 12 << 20
#: Steps of a pass, at most: more gain little.
_MOST = 6
#: Points of a slab, at least: to start its sweeps takes as long as some hundred points.
_SLAB = 20_000
#: What slabs cost a point more than the whole step does, in ns, if they are planes in memory, rows of each plane, or
#: points of each row (a sweep resets the ghosts at the ends of its rows, so rows can't be cut); and the largest mean.
_COSTS, _WORTH = (0.0, 10.0, math.inf), 0.3


@dataclass(frozen=True)
class Waves:
    """How steps follow each other.

    Attributes
    ----------
    axis : int
        Slabs are normal to it (0, 1, 2: x, y, z).
    borders : (n_slabs + 1,) ints
        The slabs of E: planes ``borders[n]`` to ``borders[n + 1] - 1``. Those of H are one plane lower.
    most : int
        Steps in one pass.
    """

    axis: int
    borders: Array
    most: int


def plan(chunks: Sequence[Chunk], layers: Layers) -> Waves | None:
    """Return how the steps of a rank's chunks, which are all of the cell, follow each other; None if it doesn't pay."""
    # Around a periodic cell, the last plane is the first one's neighbour. A mirror's images are further than a plane.
    axes = [a for a in range(3) if not (layers.grid.thin[a] or layers.mirrors[a] or layers.kinds[a] == "periodic")]
    size, points = sum(chunk.nbytes for chunk in chunks), sum(chunk.box.volume for chunk in chunks)
    if not axes or size < _LARGE:
        return None
    costs = [sum(chunk.box.volume * _cost(chunk.frame, axis) for chunk in chunks) for axis in axes]
    cost, axis = min(zip(costs, axes, strict=True))
    planes = layers.grid.shape[axis]
    thickness = max(1, _SLAB * planes // points)
    # A pass holds a slab of each step, and one plane below and above.
    most = min(_MOST, int((_CACHE * planes / size - 2) / thickness))
    if most < 2 or cost > _WORTH * points:
        return None
    # The last plane of H belongs to a slab above that of E.
    return Waves(axis, np.arange(0, planes + thickness + 1, thickness), most)


def _cost(frame: Frame, axis: int) -> float:
    """Return the entry of `_COSTS` for a chunk; behind a thin axis, rows are as good as planes."""
    place = frame.order.index(axis)
    return _COSTS[0 if place == 1 and not frame.ghosts[0] else place]


def turns(firsts: Array, steps: int) -> Array:
    """Return what is done one after the other in a pass: step, first operation and one past the last, (n, 3) ints.

    Examples
    --------
    >>> turns(np.array([0, 5, 7]), 2).tolist()
    [[0, 0, 5], [0, 5, 7], [1, 0, 5], [1, 5, 7]]
    """
    front, step = np.divmod(np.arange((len(firsts) - 2 + steps) * steps), steps)
    slab = front - step
    there = (slab >= 0) & (slab < len(firsts) - 1)
    return np.column_stack([step[there], firsts[slab[there]], firsts[slab[there] + 1]])


def cut(waves: Waves, frames: Sequence[Frame], ops: Array, tables: Tables) -> tuple[Array, Array, Tables]:
    """Cut the operations of a step into slabs.

    Parameters
    ----------
    waves : Waves
    frames : sequence of Frame
        Of the chunk of each part, (n_parts,).
    ops : (n, 4) ints
    tables : tuple
        See `Tables`.

    Returns
    -------
    ops : (m, 4) ints
        Slab after slab, in each in the order of the whole step.
    firsts : (n_slabs + 1,) ints
        The first operation of each slab, and their number.
    tables : tuple
        Those that go with them.
    """
    arrays, boxes, (copies, factors), currents, amplitudes, (samples, filled) = tables
    planes = _Planes(waves, frames, arrays[0], factors.itemsize)
    of_boxes, boxes = planes.cut_boxes(ops[ops[:, 0] == SWEEP, 2], boxes)
    of_copies, copies = planes.cut_rows(copies, shape=1, moved=(_Moved(7, (12, 13)), _Moved(4, (10, 11))))
    weights = _Moved(6, (10, 11), amplitudes.itemsize)
    of_currents, currents = planes.cut_rows(currents, shape=0, moved=(_Moved(3, (9,)), weights))
    factors = np.append(factors[:-2].reshape(-1, 2)[of_copies.old], factors[-2:])
    of_samples, samples = _cut_samples(of_copies, samples)
    cuts = {SWEEP: of_boxes, COPY: of_copies, DRIVE: of_currents, SAMPLE: of_samples}
    ops, firsts = _cut_ops(cuts, ops, len(waves.borders) - 1)
    return ops, firsts, (arrays, boxes, (copies, factors), currents, amplitudes, (samples, filled))


@dataclass(frozen=True)
class _Cut:
    """Which rows of a table are in which slabs: row n of the new table is row ``old[n]`` in slab ``slabs[n]``."""

    slabs: Array
    old: Array
    rows: int

    def find(self, slab: Array, row: Array) -> Array:
        """Return the number of new rows before an old row in a slab."""
        return np.searchsorted(self.slabs * self.rows + self.old, slab * self.rows + row)


@dataclass(frozen=True)
class _Moved:
    """Columns of a table: the first of three strides, and addresses of arrays with these strides; bytes of a number."""

    strides: int
    addresses: tuple[int, ...]
    itemsize: int = 0


class _Planes:
    """Where the arrays of chunks lie along the axis of waves.

    Parameters
    ----------
    waves : Waves
    frames : sequence of Frame
        As in `cut`.
    addresses : (n_parts, 28) ints
        Of the parts' arrays, those of E and H first.
    itemsize : int
        Bytes of a number.
    """

    def __init__(self, waves: Waves, frames: Sequence[Frame], addresses: Array, itemsize: int) -> None:
        self._borders, self._itemsize = waves.borders[:, None], itemsize
        self._starts = addresses[:, :6].ravel()
        # Per part: the axis in memory, the plane of index 0, the number of planes, and the distance between them.
        self._along = along = np.array([frame.order.index(waves.axis) for frame in frames])
        both = list(zip(frames, along, strict=True))
        self._shifts = np.array([frame.box.lo[waves.axis] - frame.ghosts[a] for frame, a in both])
        self._counts = np.array([frame.shape[a] for frame, a in both])
        self._strides = np.array([math.prod(frame.shape[a + 1 :]) for frame, a in both])

    def cut_boxes(self, parts: Array, boxes: Array) -> tuple[_Cut, Array]:
        """Cut what is swept, (n, 4, 3), of the parts that each box belongs to."""
        rows, along, shifts = np.arange(len(boxes)), self._along[parts], self._shifts[parts]
        found = np.repeat(boxes[None], len(self._borders) - 1, axis=0)
        for first, lag in ((0, 0), (2, 1)):
            at = shifts + lag
            low, high = self._meet(boxes[rows, first, along] + at, boxes[rows, first + 1, along] + at)
            found[:, rows, first, along], found[:, rows, first + 1, along] = low - at, high - at
            found[:, :, first : first + 2][low >= high] = 0
        slabs, old = np.nonzero(found.any(axis=(2, 3)))
        return _Cut(slabs, old, len(boxes)), found[slabs, old]

    def cut_rows(self, table: Array, shape: int, moved: tuple[_Moved, ...]) -> tuple[_Cut, Array]:
        """Cut the views of a table's rows.

        Parameters
        ----------
        table : (n, n_columns) ints
        shape : int
            First of the three columns of the views' shapes.
        moved : tuple of _Moved
            All addresses; first those of chunks' own arrays.
        """
        shapes, strides = table[:, shape : shape + 3], table[:, moved[0].strides : moved[0].strides + 3]
        axis, first = self._place(table[:, moved[0].addresses[0]], shapes, strides)
        low, high = self._meet(first, first + shapes[np.arange(len(table)), axis])
        slabs, old = np.nonzero(low < high)
        low, high, axis, found, rows = low[slabs, old], high[slabs, old], axis[old], table[old], np.arange(len(old))
        found[rows, shape + axis] = high - low
        for each in moved:
            distance = found[rows, each.strides + axis] * (each.itemsize or self._itemsize)
            for column in each.addresses:
                found[:, column] += (low - first[old]) * distance
        return _Cut(slabs, old, len(table)), found

    def _meet(self, first: Array, last: Array) -> tuple[Array, Array]:
        """Return where ranges of planes begin and end in each slab, (n_slabs, n) each."""
        return np.maximum(first, self._borders[:-1]), np.minimum(last, self._borders[1:])

    def _place(self, addresses: Array, shapes: Array, strides: Array) -> tuple[Array, Array]:
        """Return which axis of views is that of the waves, and their first planes; those of H are one higher."""
        order = np.argsort(self._starts)
        part, component = np.divmod(order[np.searchsorted(self._starts[order], addresses, side="right") - 1], 6)
        index = (addresses - self._starts[6 * part + component]) // self._itemsize
        plane = index // self._strides[part] % self._counts[part] + self._shifts[part] + (component >= 3)
        # A view that is one plane thick may be cut along any axis with a single point.
        there = (strides == self._strides[part][:, None]) & (shapes > 1)
        return np.where(there.any(axis=1), there.argmax(axis=1), (shapes == 1).argmax(axis=1)), plane


def _cut_samples(of_copies: _Cut, samples: Array) -> tuple[_Cut, Array]:
    """Cut the table of samples, whose copies were cut."""
    row = np.full(of_copies.rows, -1)
    row[samples[:, 0]] = np.arange(len(samples))
    new = np.flatnonzero(row[of_copies.old] >= 0)
    cut = _Cut(of_copies.slabs[new], row[of_copies.old[new]], len(samples))
    found = samples[cut.old]
    found[:, 0] = new
    return cut, found


def _cut_ops(cuts: dict[int, _Cut], ops: Array, n_slabs: int) -> tuple[Array, Array]:
    """Return the operations of all slabs, and the first of each slab."""
    slabs = np.arange(n_slabs)[:, None]
    first, last = np.zeros((2, n_slabs, len(ops)), np.int64)
    for kind, cut in cuts.items():
        mine = ops[:, 0] == kind
        begin, end = (ops[mine, 3], ops[mine, 3] + 1) if kind == SWEEP else (ops[mine, 2], ops[mine, 3])
        first[:, mine], last[:, mine] = cut.find(slabs, begin), cut.find(slabs, end)
    slab, op = np.nonzero(first < last)
    found, swept = ops[op], ops[op, 0] == SWEEP
    found[:, 2] = np.where(swept, found[:, 2], first[slab, op])
    found[:, 3] = np.where(swept, first[slab, op], last[slab, op])
    return found, np.searchsorted(slab, np.arange(n_slabs + 1))
