"""One time step over all chunks of a rank, messages on their way while there is other work.

E's ghosts travel while the inner part of the chunks is swept; H's while Fourier transforms are added up, currents
evaluated and polarisations advanced, until the next sweep needs them. Chunks of a rank are independent between
exchanges, so threads may step them at the same time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.stepping.chunk import INCREMENTS, Chunk
from evenly.fdtd.stepping.chunk_state import nonzero_components
from evenly.fdtd.stepping.components import reached
from evenly.fdtd.stepping.halo import Halo, Need, face_needs, match, near_boxes
from evenly.fdtd.stepping.kernels.arguments import BLOCK
from evenly.fdtd.stepping.kernels.nonlinear import REPEATS
from evenly.fdtd.stepping.program import Patch, Program, in_threads
from evenly.fdtd.stepping.waves import plan

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.cell.cutting import ChunkBox
    from evenly.fdtd.ranks.communicators import Communicator
    from evenly.fdtd.stepping.timing import PhaseTimer

__all__ = ["Stepper"]

# Ghosts of E, of H, of E all around nonlinear points, and of the increments of E and of H.
_TAGS = {"E": 1, "H": 2, "N": 3, "G": 4, "K": 5}
# Points times steps that are done at once: below a millisecond, beside which what a call costs is nothing.
_POINTS_AT_ONCE = 50_000


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
        self._watched: list[Patch] = []
        self._ask_around()
        points = Counter[int]()
        for chunk in layout:
            points[chunk.owner] += chunk.box.volume
        self._points = max(points.values())
        self._waves = plan(self.chunks, layers) if communicator.size == 1 else None
        # The chunks that each kind of work concerns.
        self._fused = [c for c in self.chunks if not c.separate]
        self._separate = [c for c in self.chunks if c.separate]
        self._bent = [c for c in self.chunks if c.media["E"].nonlinear]
        self._choose(reached(driven, layers.grid.thin, self._pairs))

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

    def watch(self, patches: Iterable[Patch]) -> None:
        """Record the fields of these patches from now on, and of no others."""
        self._watched = list(patches)
        self._recorded = [patch for patch in self._watched if patch.component in self.stepped or not patch.adds]
        # Written anew when it is needed, since arrays may still be replaced until then.
        self._written: Program | None = None

    def close(self) -> None:
        """End the threads, and give up the arrays of the chunks, which functions of a program hold in a circle."""
        if self._written is not None:
            self._written.end()
        self._written = None
        if self._pool:
            self._pool.shutdown()

    def free_steps(self, step: int) -> int:
        """Return how many steps from `step` on may be done at once, the same on all ranks.

        Large cells do few, so that a run can be watched and interrupted.
        """
        few = self._waves.most if self._waves and self._program.compiled else 1
        return min(BLOCK - step % BLOCK, max(few, _POINTS_AT_ONCE // self._points))

    def step(self, step: int, steps: int = 1) -> None:
        """Go from E at `step`·dt and H half a step later to the next step, or by several `free_steps`.

        Currents of E flow at half steps, those of H at whole ones.
        """
        end = step + steps
        while step < end:
            # As many as this rank's monitors have room for.
            rooms = [(step // patch.every + patch.room) * patch.every - step for patch in self._recorded]
            many = min([end - step, *rooms])
            self.timer.start("other")
            self._program.run(step, many)
            step += many

    def settle(self) -> None:
        """Wait for messages under way, so that all fields and their ghosts may be read or written."""
        with self.timer("waiting"):
            self.halos["H"].wait()
        with self.timer("boundary copies"):
            self.halos["H"].unpack()

    def refresh(self) -> None:
        """Exchange all ghosts anew, after fields were written from outside, and step what was written from now on."""
        self.settle()
        with self.timer("other"):
            self._look_for_more()
            for name in ("E", "H"):
                self.halos[name].exchange()

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

    # -- what a step does ---------------------------------------------------------------------------------------------

    @property
    def _program(self) -> Program:
        if self._written is None:
            self._written = Program(self.chunks, self.timer, self._pool, self._waves)
            self._update_e(self._written)
            self._update_h(self._written)
            self._record(self._written)
        return self._written

    def _update_e(self, do: Program) -> None:
        """Ampère's law, E(n) → E(n+1), and as much of Faraday's law as the same sweep can do."""
        # Increments: the dispersive medium's -ΔP/ε, which needs no ghosts unless off-diagonal elements see it, …
        self._each(do, "poles", self._plainly_poled, lambda c, _: c.advance_poles("E"))
        # … from here on H's ghosts of the last step are needed …
        self._receive(do, "H")
        fed = self._fed["E"]
        self._each(do, "anisotropy", fed, lambda c, _: c.start_increments("E"))
        self._each(do, "poles", [c for c in fed if c in self._poled["E"]], lambda c, _: c.advance_poles("E"))
        # … the currents' -J/ε, at n + ½ …
        do.drive("sources", self.chunks, "E")
        self._each(do, "sources", [c for c in fed if c.currents], lambda c, step: c.feed("E", step))
        # … and what off-diagonal elements of 1/ε make of all increments around each node.
        self._exchange(do, "G")
        self._each(do, "anisotropy", fed, lambda c, _: c.couple("E"))
        # E ← a E + c curl H; fused chunks take H along, once the faces that other ranks wait for are on their way.
        do.sweep("electric", self._separate, "main")
        do.sweep("electric", self._fused, "early")
        # Nonlinear points look at E all around them before E is what it will be.
        if not self._bent:
            self._send(do, "E")
        do.sweep("fused", self._fused, "main")
        # D(E) = D at nonlinear points, where |E|² of the other components comes from a first solution.
        self._each(do, "nonlinear", self._bent, lambda c, _: c.solve_nonlinear(repeated=False))
        for repeat in range(REPEATS):
            self._exchange(do, "N")
            self._each(do, "nonlinear", self._bent, partial(_share_intensity, repeat=repeat))
            self._each(do, "nonlinear", self._bent, lambda c, _: c.solve_nonlinear(repeated=True))
        if self._bent:
            self._send(do, "E")
        do.copy("boundary copies", self.halos["E"].local)
        self._receive(do, "E")

    def _update_h(self, do: Program) -> None:
        """Faraday's law, H(n+½) → H(n+3/2), where it had to wait for E."""
        fed = self._fed["H"]
        self._each(do, "anisotropy", fed, lambda c, _: c.start_increments("H"))
        self._each(do, "poles", self._poled["H"], lambda c, _: c.advance_poles("H"))
        self._each(do, "sources", [c for c in fed if c.currents], lambda c, step: c.feed("H", step))
        # Currents act before the sweep, or after it where most of it is done already.
        do.drive("sources", self._separate, "H")
        self._exchange(do, "K")
        self._each(do, "anisotropy", fed, lambda c, _: c.couple("H"))
        # H ← a H - c curl E on what is left.
        do.sweep("magnetic", self.chunks, "late")
        do.drive("sources", self._fused, "H")
        # H's ghosts travel until the next step, or a monitor, needs them.
        self._send(do, "H")
        do.copy("boundary copies", self.halos["H"].local)

    def _record(self, do: Program) -> None:
        """Take the samples of monitors, if need be once H's ghosts have come; the next step finds them there, too."""
        # Averages of H reach into ghosts.
        late = [patch for patch in self._recorded if patch.average is not None and self.halos["H"].has_messages]
        do.sample("fourier", [patch for patch in self._recorded if patch not in late])
        for every in sorted({patch.every for patch in late}):
            with do.after_every("fourier", every):
                self._receive(do, "H")
                do.sample("fourier", [patch for patch in late if patch.every == every])

    def _send(self, do: Program, name: str) -> None:
        if self.halos[name].has_messages:
            do.copy("boundary copies", self.halos[name].packing)
            do.send("send/receive", self.halos[name])

    def _receive(self, do: Program, name: str) -> None:
        if self.halos[name].has_messages:
            do.wait("waiting", self.halos[name])
            do.copy("boundary copies", self.halos[name].unpacking)

    def _exchange(self, do: Program, name: str) -> None:
        self._send(do, name)
        do.copy("boundary copies", self.halos[name].local)
        self._receive(do, name)

    def _each(self, do: Program, phase: str, chunks: Sequence[Chunk], work: Callable[[Chunk, int], Any]) -> None:
        """Do one kind of work on chunks, in threads if there are any, and count its time for a phase."""
        if chunks:
            together = partial(in_threads, self.timer, phase, self._pool)
            do.call(phase, lambda step: together([partial(work, c, step) for c in chunks]))


def _share_intensity(chunk: Chunk, _: int, *, repeat: int) -> None:
    chunk.share_intensity(repeated=repeat > 0)


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
    for touched in medium.touched:
        for axis, letter in enumerate("xyz"):
            box = touched
            if not chunk.grid.thin[axis]:
                down, up = (1, 0) if field == "E" else (0, 1)
                box = box.replace(axis, box.lo[axis] - down, box.hi[axis] + up)
            box = box & chunk.reach
            needs += [Need(chunk.index, name + letter, part) for part in box.without(chunk.box)]
    return needs
