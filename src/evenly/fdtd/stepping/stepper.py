"""One time step over all chunks of a rank, messages on their way while there is other work.

E's ghosts travel while the inner part of the chunks is swept; H's while Fourier transforms are added up, currents
evaluated and polarisations advanced, until the next sweep needs them. Chunks of a rank are independent between
exchanges, so threads may step them at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Any, Protocol

from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.stepping.chunk import INCREMENTS, Chunk
from evenly.fdtd.stepping.chunk_state import nonzero_components
from evenly.fdtd.stepping.components import reached
from evenly.fdtd.stepping.halo import Halo, Need, face_needs, match, near_boxes
from evenly.fdtd.stepping.kernels.nonlinear import REPEATS

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.cell.cutting import ChunkBox
    from evenly.fdtd.ranks.communicators import Communicator
    from evenly.fdtd.stepping.timing import PhaseTimer

__all__ = ["Patch", "Stepper"]

# Ghosts of E, of H, of E all around nonlinear points, and of the increments of E and of H.
_TAGS = {"E": 1, "H": 2, "N": 3, "G": 4, "K": 5}


class Patch(Protocol):
    """Points of a chunk whose fields are recorded after every step."""

    component: str
    #: Whether values are only added up, so that a component which is zero needn't be recorded.
    adds: bool

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
        This rank's, with their currents.
    layers : Layers
    communicator : Communicator
    timer : PhaseTimer
    threads : int
        How many chunks may be stepped at the same time.
    driven : iterable of str
        Components that the cell's sources drive, the same on all ranks. They and what they drive in turn are stepped;
        all components, if there are no sources.

    Attributes
    ----------
    stepped : frozenset of str
        Components that are stepped, the same on all ranks. The others are zero.
    """

    def __init__(
        self,
        layout: Sequence[ChunkBox],
        chunks: Sequence[Chunk],
        layers: Layers,
        communicator: Communicator,
        timer: PhaseTimer,
        threads: int = 1,
        driven: Iterable[str] = (),
    ) -> None:
        self.chunks, self.timer = list(chunks), timer
        self._layout, self._layers, self._communicator = layout, layers, communicator
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._h_under_way = False
        self._watched: list[Patch] = []
        self._ask_around()
        self._choose(reached(driven, layers.grid.thin, self._pairs))
        # The chunks that each kind of work concerns, so that a step doesn't look at the others.
        self._fused = [c for c in self.chunks if not c.separate]
        self._separate = [c for c in self.chunks if c.separate]
        self._bent = [c for c in self.chunks if c.media["E"].nonlinear]
        self._driven = [c for c in self.chunks if c.currents]

    def _ask_around(self) -> None:
        """Learn what only the ranks that hold media know: the ghosts and the components that media need."""
        extra: dict[str, list[Any]] = {"N": [need for c in self.chunks for need in _nonlinear_needs(c)]}
        extra |= {name: [need for c in self.chunks for need in _node_needs(c, name)] for name in INCREMENTS.values()}
        extra["pairs"] = sorted({pair for c in self.chunks for pair in c.couplings})
        everyone = self._communicator.allgather(extra)
        found = {name: sorted(one for each in everyone for one in each[name]) for name in extra}
        self._pairs = found.pop("pairs")
        self._asked: dict[str, list[Need]] = found
        self._set_remote_faces()

    def _choose(self, stepped: frozenset[str]) -> None:
        """Step these components from now on, the same on all ranks, and exchange the ghosts of no others."""
        self.stepped = stepped
        # Off-diagonal elements matter if they couple components that are stepped.
        mixed = {a[0] for a, _ in self._pairs if a in stepped}
        for chunk in self.chunks:
            chunk.choose(stepped, mixed)
        self._make_halos(mixed)
        self._fed = {name: [c for c in self.chunks if c.fed(name)] for name in "EH"}
        self._poled = {name: [c for c in self.chunks if c.media[name].poles] for name in "EH"}
        self._plainly_poled = [c for c in self._poled["E"] if not c.fed("E")]
        self.watch(self._watched)

    def _make_halos(self, mixed: Collection[str]) -> None:
        """Find out who needs which ghosts from whom: `halos`, by the names of `_TAGS`."""
        layers, boxes = self._layers, [chunk.box for chunk in self._layout]
        mine = {chunk.index: chunk for chunk in self.chunks}
        wanted = dict(self._asked)
        # What the curl needs follows from the boxes alone, and only boxes nearby concern this rank.
        near = near_boxes([chunk.box for chunk in self.chunks], boxes, layers)
        for field, name in INCREMENTS.items():
            wanted[field] = [need for index in near for need in face_needs(index, boxes[index], layers.grid, field)]
            wanted[name] = wanted[name] if field in mixed else []
        copies = {
            name: match([need for need in needs if self._is_stepped(need.component)], boxes, layers)
            for name, needs in wanted.items()
        }
        for field, name in INCREMENTS.items():
            for copy in copies[name]:
                if copy.source in mine:
                    mine[copy.source].provide_increments(field, copy.source_box)
        self.halos = {name: Halo(copies[name], self._layout, mine, self._communicator, _TAGS[name]) for name in _TAGS}

    def _is_stepped(self, component: str) -> bool:
        """Return whether a component is stepped, or the one whose increments ("Gx" …) are meant."""
        field = {"G": "E", "K": "H"}.get(component[0], component[0])
        return field + component[1] in self.stepped

    def _set_remote_faces(self) -> None:
        """Tell the chunks where the neighbour below is another rank's, whose H waits for E there."""
        layers, boxes = self._layers, [chunk.box for chunk in self._layout]
        for chunk in self.chunks:
            remote = [False] * 3
            for axis in (a for a in range(3) if not layers.grid.thin[a]):
                below = chunk.box.replace(axis, chunk.box.lo[axis] - 1, chunk.box.lo[axis])
                sources = match([Need(chunk.index, "Ex", below)], boxes, layers)
                remote[axis] = any(self._layout[copy.source].owner != self._communicator.rank for copy in sources)
            chunk.remote_faces = (remote[0], remote[1], remote[2])

    def close(self) -> None:
        """End the threads."""
        if self._pool:
            self._pool.shutdown()

    def watch(self, patches: Iterable[Patch]) -> None:
        """Record the fields of these patches after every step from now on, and of no others."""
        self._watched = list(patches)
        # Averages of H reach into ghosts, so they are taken when those have come; the others meanwhile.
        live = [patch for patch in self._watched if patch.component in self.stepped or not patch.adds]
        self._at_once = [patch for patch in live if patch.average is None]
        self._with_ghosts = [patch for patch in live if patch.average is not None]

    def step(self, step: int, dt: float) -> None:
        """Go from E at `step`·dt and H half a step later to the next step.

        Currents of E flow at half steps, those of H at whole ones.
        """
        self.timer.start("other")
        self._update_e((step + 0.5) * dt)
        self._update_h((step + 1) * dt)
        for patches in (self._at_once, self._with_ghosts):
            if patches:
                if patches is self._with_ghosts:
                    self._receive_h()
                self.timer.switch("fourier")
                for patch in patches:
                    patch.record(step + 1)
        self.timer.stop()

    def settle(self) -> None:
        """Wait for messages under way, so that all fields and their ghosts may be read or written."""
        with self.timer("other"):
            self._receive_h()

    def refresh(self) -> None:
        """Exchange all ghosts anew, after fields were written from outside, and step what was written from now on."""
        with self.timer("other"):
            self._receive_h()
            self._look_for_more()
            for name in ("E", "H"):
                self._exchange(name)

    def _look_for_more(self) -> None:
        """Step the components, too, that were zero and aren't any more on some rank."""
        if len(self.stepped) == len(COMPONENTS):
            return
        written = {name for chunk in self.chunks for name in nonzero_components(chunk)}
        flags = self._communicator.allreduce([float(name in written) for name in COMPONENTS], "max")
        driven = self.stepped | {name for name, flag in zip(COMPONENTS, flags, strict=True) if flag}
        everything = reached(driven, self._layers.grid.thin, self._pairs)
        if everything != self.stepped:
            self._choose(everything)

    def _receive_h(self) -> None:
        if self._h_under_way:
            self._receive("H")
            self._h_under_way = False

    def _update_e(self, time: float) -> None:
        """Ampère's law, E(n) → E(n+1), and as much of Faraday's law as the same sweep can do."""
        # Increments: the dispersive medium's -ΔP/ε, which needs no ghosts unless off-diagonal elements see it, …
        self._each("poles", self._plainly_poled, lambda c: c.advance_poles("E"))
        # … from here on H's ghosts of the last step are needed …
        self._receive_h()
        fed = self._fed["E"]
        self._each("anisotropy", fed, lambda c: c.start_increments("E"))
        self._each("poles", fed, lambda c: c.advance_poles("E"))
        # … the currents' -J/ε, at n + ½ …
        self._each("sources", self._driven, lambda c: c.drive("E", time))
        self._each("sources", self._driven, lambda c: c.feed("E", time))
        # … and what off-diagonal elements of 1/ε make of all increments around each node.
        self._exchange("G")
        self._each("anisotropy", fed, lambda c: c.apply_nodes("E"))
        # E ← a E + c curl H; fused chunks take H along, once the faces that other ranks wait for are on their way.
        self._each("electric", self._separate, lambda c: c.sweep("main"))
        self._each("electric", self._fused, lambda c: c.sweep("early"))
        # Nonlinear points look at E all around them before E is what it will be.
        if not self._bent:
            self._send("E")
        self._each("fused", self._fused, lambda c: c.sweep("main"))
        # D(E) = D at nonlinear points, where |E|² of the other components comes from a first solution.
        self._each("nonlinear", self._bent, lambda c: c.solve_nonlinear(repeated=False))
        for repeat in range(REPEATS):
            self._exchange("N")
            self._each("nonlinear", self._bent, partial(Chunk.share_intensity, repeated=repeat > 0))
            self._each("nonlinear", self._bent, lambda c: c.solve_nonlinear(repeated=True))
        if self._bent:
            self._send("E")
        self._copy("E")
        self._receive("E")

    def _update_h(self, time: float) -> None:
        """Faraday's law, H(n+½) → H(n+3/2), where it had to wait for E."""
        fed, driven = self._fed["H"], self._driven
        self._each("anisotropy", fed, lambda c: c.start_increments("H"))
        self._each("poles", self._poled["H"], lambda c: c.advance_poles("H"))
        self._each("sources", driven, lambda c: c.feed("H", time))
        # Currents act before the sweep, or after it where most of it is done already.
        self._each("sources", [c for c in driven if c.separate], lambda c: c.drive("H", time))
        self._exchange("K")
        self._each("anisotropy", fed, lambda c: c.apply_nodes("H"))
        # H ← a H - c curl E on what is left.
        self._each("magnetic", self.chunks, lambda c: c.sweep("late"))
        self._each("sources", [c for c in driven if not c.separate], lambda c: c.drive("H", time))
        # H's ghosts travel until the next step, or a monitor, needs them.
        self._send("H")
        self._h_under_way = True
        self._copy("H")

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

    def _exchange(self, name: str) -> None:
        self._send(name)
        self._copy(name)
        self._receive(name)

    def _each(self, phase: str, chunks: Sequence[Chunk], work: Callable[[Chunk], Any]) -> None:
        """Do one kind of work on chunks, in threads if there are any, and count its time for a phase."""
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


def _nonlinear_needs(chunk: Chunk) -> list[Need]:
    """Return the ghosts of E all around a chunk whose nonlinear points average |E|² of the other components."""
    if not any(points.shares for points in chunk.media["E"].nonlinear):
        return []
    around = chunk.reach.without(chunk.box)
    return [Need(chunk.index, component, part) for component in ("Ex", "Ey", "Ez") for part in around]


def _node_needs(chunk: Chunk, name: str) -> list[Need]:
    """Return the increments ("G" of E, "K" of H) that a chunk's nodes touch and it does not own."""
    field = "E" if name == "G" else "H"
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
