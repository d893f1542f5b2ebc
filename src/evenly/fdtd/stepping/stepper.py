"""One time step over all chunks of a rank, messages on their way while there is other work.

E's ghosts travel while the inner part of the chunks is swept; H's while Fourier transforms are added up, currents
evaluated and polarisations advanced, until the next sweep needs them. Chunks of a rank are independent between
exchanges, so threads may step them at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import thread_time
from typing import TYPE_CHECKING, Any, Protocol

from evenly.fdtd.stepping.halo import Halo, Need, face_needs, match, near_boxes
from evenly.fdtd.stepping.kernels.nonlinear import REPEATS

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.cell.cutting import ChunkBox
    from evenly.fdtd.ranks.communicators import Communicator
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.timing import PhaseTimer

__all__ = ["Patch", "Stepper"]

# Ghosts of E, of H, of E all around nonlinear points, and of the increments of E and of H.
_TAGS = {"E": 1, "H": 2, "N": 3, "G": 4, "K": 5}


class Patch(Protocol):
    """Points of a chunk whose fields are recorded after every step."""

    @property
    def average(self) -> int | None:
        """The axis along which H is averaged to the plane of the E nodes, for which its ghosts must have come."""

    def record(self, step: int, /) -> None:
        """Take the fields of `step`: E at ``step * dt``, H half a step later."""


class Stepper:
    """Steps a rank's chunks.

    Parameters
    ----------
    layout : sequence of ChunkBox
        All chunks of the cell.
    chunks : sequence of Chunk
        This rank's.
    layers : Layers
    communicator : Communicator
    timer : PhaseTimer
    threads : int
        How many chunks may be stepped at the same time.
    """

    def __init__(
        self,
        layout: Sequence[ChunkBox],
        chunks: Sequence[Chunk],
        layers: Layers,
        communicator: Communicator,
        timer: PhaseTimer,
        threads: int = 1,
    ) -> None:
        self.chunks, self.timer = list(chunks), timer
        self._fused = [c for c in self.chunks if not c.separate]
        self._separate = [c for c in self.chunks if c.separate]
        self._poled = {name: [c for c in self.chunks if c.media[name].poles] for name in "EH"}
        self._bent = [c for c in self.chunks if c.media["E"].nonlinear]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._plan(layout, layers, communicator)
        self._h_under_way = False
        self.watch(())

    def _plan(self, layout: Sequence[ChunkBox], layers: Layers, communicator: Communicator) -> None:
        grid = layers.grid
        boxes = [chunk.box for chunk in layout]
        mine = {chunk.index: chunk for chunk in self.chunks}
        extra = {name: self._extra_needs(name) for name in ("N", "G", "K")}
        everyone = communicator.allgather(extra)
        self.halos: dict[str, Halo] = {}
        for name in ("G", "K"):
            wanted = sorted(need for needs in everyone for need in needs[name])
            copies = match(wanted, boxes, layers)
            for copy in copies:
                if copy.source in mine:
                    mine[copy.source].provide_increments("E" if name == "G" else "H", copy.source_box)
            self.halos[name] = Halo(copies, layout, mine, communicator, _TAGS[name])
        near = near_boxes([chunk.box for chunk in self.chunks], boxes, layers)
        for name in ("E", "H"):
            needs = [need for index in near for need in face_needs(index, boxes[index], grid, name)]
            self.halos[name] = Halo(match(needs, boxes, layers), layout, mine, communicator, _TAGS[name])
        around = sorted(need for needs in everyone for need in needs["N"])
        self.halos["N"] = Halo(match(around, boxes, layers), layout, mine, communicator, _TAGS["N"])
        self._set_remote_faces(layout, layers, communicator)
        self._fed = {name: [c for c in self.chunks if c.keeps_increments(name)] for name in "EH"}
        self._plainly_poled = [c for c in self._poled["E"] if not c.keeps_increments("E")]

    def _extra_needs(self, name: str) -> list[Need]:
        """Return the ghosts beyond the sweep's own that this rank's chunks need."""
        if name == "N":
            return [
                Need(c.index, component, part)
                for c in self.chunks
                if any(points.shares for points in c.media["E"].nonlinear)
                for component in ("Ex", "Ey", "Ez")
                for part in c.reach.without(c.box)
            ]
        field = "E" if name == "G" else "H"
        return [need for chunk in self.chunks for need in _node_needs(chunk, field, name)]

    def _set_remote_faces(self, layout: Sequence[ChunkBox], layers: Layers, communicator: Communicator) -> None:
        """Let chunks update E first where the neighbour below is another rank's."""
        boxes = [chunk.box for chunk in layout]
        for chunk in self.chunks:
            remote = []
            for axis in range(3):
                below = chunk.box.replace(axis, chunk.box.lo[axis] - 1, chunk.box.lo[axis])
                needs = [] if layers.grid.thin[axis] else [Need(chunk.index, "Ex", below)]
                sources = match(needs, boxes, layers)
                remote.append(any(layout[copy.source].owner != communicator.rank for copy in sources))
            chunk.set_remote_faces((remote[0], remote[1], remote[2]))

    def close(self) -> None:
        """End the threads."""
        if self._pool:
            self._pool.shutdown()

    def watch(self, patches: Iterable[Patch]) -> None:
        """Record the fields of these patches after every step from now on, and of no others."""
        # Averages of H reach into ghosts, so they are taken when those have come; the others meanwhile.
        patches = list(patches)
        self._at_once = [patch for patch in patches if patch.average is None]
        self._with_ghosts = [patch for patch in patches if patch.average is not None]

    def step(self, step: int, dt: float) -> None:
        """Go from E at `step`·dt and H half a step later to the next step.

        Currents of E flow at half steps, those of H at whole ones.
        """
        timer = self.timer
        timer.start("other")
        self._before_e((step + 0.5) * dt)
        self._sweep()
        self._between()
        self._finish_h((step + 1) * dt)
        self._record(self._at_once, step + 1)
        if self._with_ghosts:
            self._receive_h()
            self._record(self._with_ghosts, step + 1)
        timer.stop()

    def _record(self, patches: list[Patch], step: int) -> None:
        if patches:
            self.timer.switch("fourier")
            for patch in patches:
                patch.record(step)

    def settle(self) -> None:
        """Wait for messages under way, so that all fields and their ghosts may be read or written."""
        with self.timer("other"):
            self._receive_h()

    def refresh(self) -> None:
        """Exchange all ghosts anew, after fields were written from outside."""
        with self.timer("other"):
            self._receive_h()
            for name in ("E", "H"):
                self._exchange(name)

    def _receive_h(self) -> None:
        if self._h_under_way:
            self._receive("H")
            self._h_under_way = False

    def _before_e(self, time: float) -> None:
        self._each("poles", self._plainly_poled, lambda c: c.advance_poles("E"))
        self._receive_h()
        fed = self._fed["E"]
        self._each("anisotropy", fed, lambda c: c.start_increments("E"))
        self._each("poles", fed, lambda c: c.advance_poles("E"))
        self._each("sources", self._driven(), lambda c: c.drive("E", time))
        self._each("sources", self._driven(), lambda c: c.feed("E", time))
        self._spread("G", "E", fed)

    def _driven(self) -> list[Chunk]:
        return [chunk for chunk in self.chunks if chunk.currents]

    def _spread(self, halo: str, field: str, chunks: Sequence[Chunk]) -> None:
        """Exchange increments and let off-diagonal elements act."""
        self._exchange(halo)
        self._each("anisotropy", chunks, lambda c: c.apply_nodes(field))

    def _sweep(self) -> None:
        self._each("electric", self._separate, lambda c: c.sweep())
        self._each("electric", self._fused, lambda c: c.early_e())
        # Nonlinear points look at E all around them before E is what it will be.
        if not self._bent:
            self._send("E")
        self._each("fused", self._fused, lambda c: c.sweep())
        self._each("nonlinear", self._bent, lambda c: c.solve_nonlinear(repeated=False))
        for repeat in range(REPEATS):
            self._exchange("N")
            self._each("nonlinear", self._bent, self._share_again if repeat else self._share)
            self._each("nonlinear", self._bent, lambda c: c.solve_nonlinear(repeated=True))
        if self._bent:
            self._send("E")

    @staticmethod
    def _share(chunk: Chunk) -> None:
        chunk.share_intensity(repeated=False)

    @staticmethod
    def _share_again(chunk: Chunk) -> None:
        chunk.share_intensity(repeated=True)

    def _between(self) -> None:
        self._copy("E")
        self._receive("E")

    def _send(self, name: str) -> None:
        halo = self.halos[name]
        if halo.has_messages:
            self.timer.switch("boundary copies")
            halo.pack()
            self.timer.switch("send/receive")
            halo.start()

    def _copy(self, name: str) -> None:
        if self.halos[name].has_copies:
            self.timer.switch("boundary copies")
            self.halos[name].copy()

    def _receive(self, name: str) -> None:
        halo = self.halos[name]
        if halo.has_messages:
            self.timer.switch("waiting")
            halo.wait()
            self.timer.switch("boundary copies")
            halo.unpack()

    def _finish_h(self, time: float) -> None:
        fed = self._fed["H"]
        self._each("anisotropy", fed, lambda c: c.start_increments("H"))
        self._each("poles", self._poled["H"], lambda c: c.advance_poles("H"))
        driven, late = self._driven(), [c for c in self._driven() if not c.drives_before("H")]
        self._each("sources", driven, lambda c: c.feed("H", time))
        self._each("sources", [c for c in driven if c.drives_before("H")], lambda c: c.drive("H", time))
        self._spread("K", "H", fed)
        self._each("magnetic", self.chunks, lambda c: c.finish_h())
        self._each("sources", late, lambda c: c.drive("H", time))
        self._send("H")
        self._h_under_way = True
        self._copy("H")

    def _exchange(self, name: str) -> None:
        self._send(name)
        self._copy(name)
        self._receive(name)

    def _each(self, phase: str, chunks: Sequence[Chunk], work: Callable[[Chunk], Any]) -> None:
        if not chunks:
            return
        self.timer.switch(phase)
        if self._pool is None or len(chunks) == 1:
            for chunk in chunks:
                work(chunk)
            return

        def timed(chunk: Chunk) -> float:
            begin = thread_time()
            work(chunk)
            return thread_time() - begin

        self.timer.add_cpu(phase, sum(self._pool.map(timed, chunks)))


def _node_needs(chunk: Chunk, field: str, name: str) -> list[Need]:
    """Return the increments that a chunk's nodes touch and it does not own."""
    medium, needs = chunk.media[field], []
    for touched in medium.nodes.touched if medium.nodes else ():
        for axis, letter in enumerate("xyz"):
            box = touched
            if not chunk.grid.thin[axis]:
                down, up = (1, 0) if field == "E" else (0, 1)
                box = box.replace(axis, box.lo[axis] - down, box.hi[axis] + up)
            box = box & chunk.reach
            needs += [Need(chunk.index, name + letter, part) for part in box.without(chunk.box)]
    return needs
