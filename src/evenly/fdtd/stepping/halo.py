"""Ghost points: who needs what from whom, copied between chunks of one rank and sent between ranks.

Chunks say what they need, box by box; every rank works out the same plan. Messages between two ranks travel in one
buffer each way, over persistent requests. Beyond a periodic side the neighbour is the chunk on the other side,
with the Bloch phase; beyond a plane of symmetry it is the mirror image, with the component's parity; beyond a wall
there is nothing, and ghosts stay zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import OFFSETS, Grid
from evenly.fdtd.cell.mirrors import parity

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.cell.cutting import ChunkBox
    from evenly.fdtd.ranks.communicators import Communicator
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["Assignment", "Copy", "Halo", "Need", "face_needs", "match", "near_boxes"]

Array = NDArray[Any]
#: Arrays that get the values of others times a factor; one or two of each, a field's real and imaginary part.
Assignment = tuple[list[Array], list[Array], complex]


@dataclass(frozen=True, order=True)
class Need:
    """Ghost points that a chunk needs: a component on a global box, which may lie beyond the cell's sides."""

    chunk: int
    component: str
    box: Box


@dataclass(frozen=True)
class Copy:
    """Points of one chunk that become ghost points of another, times a phase."""

    source: int
    target: int
    component: str
    source_box: Box
    target_box: Box
    phase: complex


def face_needs(index: int, box: Box, grid: Grid, field: str) -> list[Need]:
    """Return what the sweep needs: tangential E above the box's upper faces, tangential H below the lower ones.

    Examples
    --------
    >>> grid = Grid((0, 0, 1), 10)
    >>> [(need.component, need.box.lo) for need in face_needs(0, grid.box, grid, "E")]
    [('Ex', (0, 0, 10)), ('Ey', (0, 0, 10))]
    """
    needs = []
    for axis in (a for a in range(3) if not grid.thin[a]):
        start = box.hi[axis] if field == "E" else box.lo[axis] - 1
        ghost = box.replace(axis, start, start + 1)
        needs += [Need(index, field + letter, ghost) for a, letter in enumerate("xyz") if a != axis]
    return needs


def match(needs: Sequence[Need], boxes: Sequence[Box], layers: Layers) -> list[Copy]:
    """Return which chunk provides what of the needs, in the order of the needs.

    Parameters
    ----------
    needs : sequence of Need
    boxes : sequence of Box
        All chunks of the cell.
    layers : Layers
        Which sides are periodic, and their phases.
    """
    # First indices and one past the last of all chunks, (n_chunks, 3).
    low = np.array([box.lo for box in boxes])
    high = np.array([box.hi for box in boxes])
    copies = []
    for need in needs:
        # A ghost lies in the cell, or beyond a side: then its image in the cell is copied, times a phase or parity.
        for images in _images(need.box, layers, need.component):
            wanted = images.wanted
            there = np.all((low < wanted.hi) & (high > wanted.lo), axis=1)
            for source in map(int, np.flatnonzero(there)):
                part = wanted & boxes[source]
                ghosts = images.ghosts(part)
                copies.append(Copy(source, need.chunk, need.component, part, ghosts, images.factor))
    return copies


def near_boxes(mine: Sequence[Box], boxes: Sequence[Box], layers: Layers) -> list[int]:
    """Return which boxes are some of `mine` or touch one, over periodic sides too, in order.

    What others need concerns a rank only there, and of thousands of boxes that is a few.

    Examples
    --------
    >>> from evenly.fdtd.cell.boundaries import resolve
    >>> layers = resolve([], Grid((9, 1, 1), 1))
    >>> boxes = [Box((x, 0, 0), (x + 1, 1, 1)) for x in range(9)]
    >>> near_boxes(boxes[4:5], boxes, layers)
    [3, 4, 5]
    """
    low = np.array([box.lo for box in boxes])
    high = np.array([box.hi for box in boxes])
    there = np.zeros(len(boxes), dtype=bool)
    for box in mine:
        around = box.grow(1)
        for images in _images(around, layers, "Ex"):
            wanted = images.wanted
            there |= np.all((low < wanted.hi) & (high > wanted.lo), axis=1)
    return [int(index) for index in np.flatnonzero(there)]


@dataclass(frozen=True)
class _Along:
    """Where ghost points come from along one axis.

    Attributes
    ----------
    ghosts : two ints
        First index and one past the last of the ghost points; a single one if they are mirrored.
    shift : int
        Index i becomes i + shift, or shift - i where it is mirrored.
    mirrored : bool
    factor : complex
        What the fields there have to be multiplied with.
    """

    ghosts: tuple[int, int]
    shift: int
    mirrored: bool = False
    factor: complex = 1

    def there(self, low: int, high: int) -> tuple[int, int]:
        return (self.shift - high + 1, self.shift - low + 1) if self.mirrored else (low + self.shift, high + self.shift)

    def back(self, low: int, high: int) -> tuple[int, int]:
        return self.there(low, high) if self.mirrored else (low - self.shift, high - self.shift)


@dataclass(frozen=True)
class _Images:
    """Where a box of ghost points, or a part of one, comes from along x, y, z."""

    along: tuple[_Along, _Along, _Along]

    @property
    def wanted(self) -> Box:
        """The points whose fields are wanted."""
        return _box([one.there(*one.ghosts) for one in self.along])

    @property
    def factor(self) -> complex:
        """What they have to be multiplied with."""
        x, y, z = self.along
        return x.factor * y.factor * z.factor

    def ghosts(self, part: Box) -> Box:
        """Return the ghosts that a part of the wanted points is for."""
        return _box([one.back(a, b) for one, a, b in zip(self.along, part.lo, part.hi, strict=True)])


def _box(ends: Sequence[tuple[int, int]]) -> Box:
    x, y, z = ends
    return Box((x[0], y[0], z[0]), (x[1], y[1], z[1]))


def _images(box: Box, layers: Layers, component: str) -> list[_Images]:
    """Return where all points of a box come from, those left out that have no fields."""
    choices = [
        _mirrored(box, layers, component, axis) if layers.mirrors[axis] else _shifted(box, layers, axis)
        for axis in range(3)
    ]
    return [_Images((x, y, z)) for x, y, z in itertools.product(*choices)]


def _shifted(box: Box, layers: Layers, axis: int) -> list[_Along]:
    """Return where points come from along an axis without a mirror: the cell, or another period."""
    n, phase, ends = layers.grid.shape[axis], layers.phases[axis], (box.lo[axis], box.hi[axis])
    found = []
    if ends[1] > 0 and ends[0] < n:
        found.append(_Along(ends, 0))
    if phase is not None and not layers.grid.thin[axis]:
        # Bloch's theorem: F(r + L) = exp(i k L) F(r), so what lies beyond the upper side is the lower side's
        # field times the phase, and the other way round with the conjugate.
        if ends[1] > n:
            found.append(_Along(ends, -n, factor=phase))
        if ends[0] < 0:
            found.append(_Along(ends, n, factor=phase.conjugate()))
    return found


def _mirrored(box: Box, layers: Layers, component: str, axis: int) -> list[_Along]:
    """Return where points come from along an axis with a mirror: the kept part, or one layer of images beyond it."""
    n, phase, low, high = layers.grid.shape[axis], layers.phases[axis], box.lo[axis], box.hi[axis]
    first, end = layers.kept.lo[axis], layers.kept.hi[axis]
    field = {"G": "E", "K": "H"}.get(component[0], component[0]) + component[1:]
    total = n - 1 if OFFSETS[field][axis] == 0.5 else n
    sign = parity(component, axis, layers.mirrors[axis])
    found = []
    if high > first and low < end:
        found.append(_Along((max(low, first), min(high, end)), 0))
    if low < first and phase is None:
        found.append(_Along((first - 1, first), total, mirrored=True, factor=sign))
    if low < first and phase is not None:
        # Node 0 of a periodic axis is on a plane, too. Point i is that at i + n times the conjugate phase.
        found.append(_Along((first - 1, first), total - n, mirrored=True, factor=sign * phase.conjugate()))
    if high > end and phase is not None:
        found.append(_Along((end, end + 1), total, mirrored=True, factor=sign))
    return found


class Halo:
    """The ghost points of one kind (of E, of H, or of their increments): copied, or sent and received.

    Parameters
    ----------
    copies : sequence of Copy
        The same on all ranks, in the same order.
    layout : sequence of ChunkBox
        All chunks; their owners decide what is a message.
    chunks : mapping of index to Chunk
        This rank's.
    communicator : Communicator
    tag : int
        Tells this halo's messages from others'.
    """

    def __init__(
        self,
        copies: Sequence[Copy],
        layout: Sequence[ChunkBox],
        chunks: dict[int, Chunk],
        communicator: Communicator,
        tag: int,
    ) -> None:
        me = communicator.rank
        # What is copied without a message; into messages; and out of them.
        self.local: list[Assignment] = []
        self.packing: list[Assignment] = []
        self.unpacking: list[Assignment] = []
        sends: dict[int, list[Copy]] = {}
        receives: dict[int, list[Copy]] = {}
        for copy in copies:
            source, target = layout[copy.source].owner, layout[copy.target].owner
            if source == target == me:
                into = _views(chunks[copy.target], copy.component, copy.target_box)
                self.local.append((into, _views(chunks[copy.source], copy.component, copy.source_box), copy.phase))
            elif source == me:
                sends.setdefault(target, []).append(copy)
            elif target == me:
                receives.setdefault(source, []).append(copy)
        # One buffer per other rank and direction; both sides go through the copies in the same order.
        outgoing = [(rank, tag, self._outgoing(group, chunks)) for rank, group in sorted(sends.items())]
        incoming = [(rank, tag, self._incoming(group, chunks)) for rank, group in sorted(receives.items())]
        self.bytes_sent = sum(buffer.nbytes for _, _, buffer in outgoing)
        self.neighbours = len(set(sends) | set(receives))
        # Whether other ranks take part, and whether chunks of this rank are neighbours of each other, or of themselves
        # around a periodic cell.
        self.has_messages, self.has_copies = self.neighbours > 0, bool(self.local)
        self._exchange = communicator.exchange(outgoing, incoming)

    def _outgoing(self, group: list[Copy], chunks: dict[int, Chunk]) -> Array:
        views = [_views(chunks[copy.source], copy.component, copy.source_box) for copy in group]
        buffer, places = _buffer(views)
        self.packing += [(place, parts, 1) for place, parts in zip(places, views, strict=True)]
        return buffer

    def _incoming(self, group: list[Copy], chunks: dict[int, Chunk]) -> Array:
        views = [_views(chunks[copy.target], copy.component, copy.target_box) for copy in group]
        buffer, places = _buffer(views)
        self.unpacking += [(v, p, copy.phase) for v, p, copy in zip(views, places, group, strict=True)]
        return buffer

    @property
    def messages(self) -> NDArray[np.int64]:
        """What compiled code needs to `start` and `wait`: see `kernels.messages`."""
        return self._exchange.row

    def start(self) -> None:
        """Begin to send and receive what was packed."""
        self._exchange.start()

    def wait(self) -> None:
        """Return when all has arrived and been sent."""
        self._exchange.wait()

    def unpack(self) -> None:
        """Put what has arrived into the ghosts."""
        _assign(self.unpacking)

    def exchange(self) -> None:
        """Fill all ghosts at once; what this rank owns is copied while messages travel."""
        _assign(self.packing)
        self.start()
        _assign(self.local)
        self.wait()
        self.unpack()


def _views(chunk: Chunk, component: str, box: Box) -> list[Array]:
    return [chunk.view(component, part, box) for part in range(chunk.parts)]


def _buffer(views: list[list[Array]]) -> tuple[Array, list[list[Array]]]:
    """Return one flat buffer for all views, (n_copies) lists of parts, and where in it each of them goes."""
    total = sum(view.size for parts in views for view in parts)
    buffer = np.zeros(total, views[0][0].dtype)
    places, start = [], 0
    for parts in views:
        row = []
        for view in parts:
            row.append(buffer[start : start + view.size].reshape(view.shape))
            start += view.size
        places.append(row)
    return buffer, places


def _assign(assignments: Sequence[Assignment]) -> None:
    """Do what `kernels.walk` does, for a single time."""
    for into, source, phase in assignments:
        if len(into) == 1 or phase.imag == 0:
            for target, values in zip(into, source, strict=True):
                target[...] = values if phase == 1 else phase.real * values
        else:
            # (p + iq)(a + ib) = (pa - qb) + i(pb + qa), parts kept apart.
            real, imag = source
            into[0][...] = phase.real * real - phase.imag * imag
            into[1][...] = phase.real * imag + phase.imag * real
