"""Another layout in the middle of a run: everything that a simulation remembers moves to new chunks and ranks.

>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(2, 2, 0), resolution=10)
>>> sim.run(until=1.0)
>>> seconds = sim.relayout([("x", 0.0), 0, 0])
>>> sim.run(until=2.0)
>>> len(sim.chunks), sim.step_count
(2, 40)

Fields, what layers, polarisations and nonlinear media remember, sums and buffers of Fourier monitors, samples of
recorders and of conditions go over to the ranks that own their points from now on; a run goes on as if nothing had
happened, to the last bit wherever chunks step alike. Old chunks are given up one after the other while their state is
packed, before any new one is built, so that a rank never holds both, and no rank ever holds the whole cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import thread_time
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evenly.errors import RunFailed
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.stepping.chunk_state import dense_arrays, meeting, packed_arrays, place_box
from evenly.fdtd.stepping.packed_arrays import Buffer, deliver, pack, unpack

if TYPE_CHECKING:
    from evenly.fdtd.cell.cutting import ChunkBox
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.monitors.fourier import FourierPatch
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["Placed", "relayout"]

Array = NDArray[Any]
Parcels = dict[int, list[Buffer]]


@runtime_checkable
class Placed(Protocol):
    """A recorder or condition that reads single points of chunks."""

    def detach(self) -> dict[str, Any]:
        """Let go of all chunks and return what was seen so far, the same on all ranks, which must all call."""

    def attach(self, sim: Fields, state: dict[str, Any]) -> None:
        """Find the points again and go on from what `detach` returned."""


def relayout(sim: Fields, layout: BinaryPartition | Sequence[Any]) -> float:
    """Go on with another layout (all ranks must call; the first rank's layout counts).

    The clocks start anew, since a measurement is one of a single layout.

    Parameters
    ----------
    sim : Fields
    layout : BinaryPartition or nested lists

    Returns
    -------
    float
        CPU seconds that it took the slowest rank.

    Raises
    ------
    InputError
        The layout doesn't fit the cell; the simulation is left as it was.
    RunFailed
        Something got lost on the way.
    """
    given = layout if isinstance(layout, BinaryPartition) else BinaryPartition(layout)
    new = BinaryPartition(sim.communicator.bcast(given.to_list()))
    new.validate(sim.grid)
    begin = thread_time()
    if not sim.communicator.allreduce("chunks" in sim.__dict__, "max"):
        sim.__dict__.pop("chunk_boxes", None)
        sim.layout = new
        return 0.0
    sim.stepper.settle()
    with sim.timer("other"):
        placed = [each for each in (*sim.monitors, *sim.conditions) if isinstance(each, Placed)]
        states = [each.detach() for each in placed]
        arrived = deliver(_packed_up(sim, new), sim.communicator)
        _build(sim, arrived)
        for each, state in zip(placed, states, strict=True):
            each.attach(sim, state)
    sim.stepper.refresh()
    seconds = float(sim.communicator.allreduce(thread_time() - begin, "max"))
    sim.reset_timing()
    return seconds


def _packed_up(sim: Fields, layout: BinaryPartition) -> Parcels:
    """Pack the state of this rank's chunks for those of another layout, and give the old ones up."""
    sim.stepper.close()
    chunks: list[Chunk] = sim.__dict__.pop("chunks")
    del sim.__dict__["stepper"], sim.__dict__["chunk_boxes"]
    sim.layout = layout
    targets = _Targets(sim.chunk_boxes)
    parcels: Parcels = {}
    for number, monitor in enumerate(sim.monitors):
        for local in monitor.parts() if isinstance(monitor, FourierMonitor) else ():
            state = local.patch.state()
            for _, owner, inside in targets.meeting(local.patch.box):
                note = ["patch", number, local.region.key, inside.lo, inside.hi]
                parcels.setdefault(owner, []).append(pack(note, _patch_part(local.patch, state, inside)))
            local.patch.release()
    while chunks:
        chunk = chunks.pop()
        for index, owner, inside in targets.meeting(chunk.box):
            note = ["chunk", index, inside.lo, inside.hi]
            parcels.setdefault(owner, []).append(pack(note, dict(_chunk_part(chunk, inside))))
    return parcels


class _Targets:
    """All chunks of the new layout, to find those that meet a box."""

    def __init__(self, boxes: Sequence[ChunkBox]) -> None:
        self._boxes = boxes
        self._low = np.array([chunk.box.lo for chunk in boxes])
        self._high = np.array([chunk.box.hi for chunk in boxes])

    def meeting(self, box: Box) -> Iterator[tuple[int, int, Box]]:
        """Yield number and owner of each chunk that meets a box, and what they share."""
        there = np.all((self._low < box.hi) & (self._high > box.lo), axis=1)
        for index in map(int, np.flatnonzero(there)):
            yield index, self._boxes[index].owner, self._boxes[index].box & box


def _patch_part(patch: FourierPatch, state: dict[str, Array], inside: Box) -> dict[str, Array]:
    rows = (slice(None), slice(None), *inside.slices(patch.box.lo))
    return {name: values if name == "first" else values[rows] for name, values in state.items()}


def _chunk_part(chunk: Chunk, inside: Box) -> Iterator[tuple[str, Array]]:
    """Yield the chunk's arrays on a box: dense ones by name, packed ones as "number name" beside "number"."""
    for name, values in dense_arrays(chunk).items():
        yield name, values[inside.slices(chunk.box.lo)]
    for n, group in enumerate(packed_arrays(chunk)):
        box = place_box(group.arrays, inside)
        here = np.flatnonzero(np.all((group.points >= box.lo) & (group.points < box.hi), axis=1))
        if len(here):
            yield str(n), np.ravel_multi_index(tuple((group.points[here] - box.lo).T), box.shape)
            for name, values in group.arrays.items():
                yield f"{n} {name}", values[here]


def _build(sim: Fields, arrived: list[Buffer]) -> None:
    """Make the new chunks, monitors' patches and stepper, and fill in what has arrived."""
    chunks = {chunk.index: _Filling(chunk) for chunk in sim.chunks}
    for monitor in sim.monitors:
        if isinstance(monitor, FourierMonitor):
            monitor.bind(sim)
    while arrived:
        note, arrays = unpack(arrived.pop())
        if note[0] == "chunk":
            chunks[note[1]].take(Box(tuple(note[2]), tuple(note[3])), arrays)
        else:
            _fill_patch(sim.monitors[note[1]], note[2], Box(tuple(note[3]), tuple(note[4])), arrays)
    missing = sum(chunk.missing for chunk in chunks.values())
    if sim.communicator.allreduce(missing, "max"):
        raise RunFailed(f"{missing} values of fields and media got lost while chunks moved to another layout.")


class _Filling:
    """A new chunk that waits for its state."""

    def __init__(self, chunk: Chunk) -> None:
        self._box, self._dense, self._packed = chunk.box, dense_arrays(chunk), packed_arrays(chunk)
        self._waiting = sum(values.size for values in self._dense.values())

    @property
    def missing(self) -> int:
        """How many values haven't arrived."""
        return self._waiting + sum(sum(group.missing.values()) for group in self._packed)

    def take(self, box: Box, arrays: dict[str, Array]) -> None:
        """Fill in what was packed of a box inside the chunk."""
        for name, values in arrays.items():
            number, _, quantity = name.partition(" ")
            if name in self._dense:
                self._dense[name][box.slices(self._box.lo)] = values
                self._waiting -= values.size
            elif number.isdigit() and not quantity:
                start = f"{name} "
                self._take_packed(box, values, {k[len(start) :]: v for k, v in arrays.items() if k.startswith(start)})

    def _take_packed(self, box: Box, points: Array, arrays: dict[str, Array]) -> None:
        box = place_box(arrays, box)
        # Where in the packed arrays each point of the box is, from 1; 0 where it isn't.
        where = np.zeros(box.volume, np.int64)
        where[points] = np.arange(1, len(points) + 1)
        for group in self._packed:
            shared = [name for name in arrays if name in group.arrays]
            own, there = meeting(group, box, where) if shared else (points[:0], points[:0])
            for name in shared:
                group.fill(name, own, arrays[name][there])


def _fill_patch(monitor: Any, key: str, box: Box, arrays: dict[str, Array]) -> None:
    for local in monitor.parts():
        if local.region.key == key and not (local.patch.box & box).empty:
            local.patch.restore(box, arrays)
