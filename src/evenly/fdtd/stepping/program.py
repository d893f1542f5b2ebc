"""What a step does, in order, written down once: compiled operations in tables, and Python between them where it must.

Sweeps, ghost copies and currents are operations of `kernels.walk`. Those that follow each other are done in one call,
so a step of a rank on its own is one call however many chunks it has, and so are several steps. Messages and the media
that need more than a sweep are Python functions in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.stepping.currents import Amplitudes
from evenly.fdtd.stepping.kernels.arguments import BLOCK
from evenly.fdtd.stepping.kernels.walk import ADD, COPY, DRIVE, MOVE, SAMPLE, SCALE, SWEEP, TURN, walk
from evenly.fdtd.stepping.timing import PHASES
from evenly.fdtd.stepping.waves import Waves, cut, turns

if TYPE_CHECKING:
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.halo import Assignment
    from evenly.fdtd.stepping.timing import PhaseTimer

__all__ = ["Patch", "Program", "in_threads"]

Array = NDArray[Any]
Stage = Literal["early", "main", "late"]


class Patch(Protocol):
    """Points of a chunk whose fields are recorded."""

    component: str
    #: Whether values are only added up, so that a component which is zero needn't be recorded.
    adds: bool

    @property
    def every(self) -> int:
        """Steps that are multiples of this number are recorded."""

    @property
    def average(self) -> int | None:
        """The axis along which H is averaged to the plane of the E nodes, for which its ghosts must have come."""

    @property
    def sign(self) -> int:
        """Factor of the second view."""

    @property
    def room(self) -> int:
        """How many more samples can be taken before `end_samples` must be called, at least 1."""

    def record(self, step: int, /) -> None:
        """Take the fields of `step`: E at ``step * dt``, H half a step later."""

    def slots(self) -> list[tuple[Array, list[Array]]]:
        """Return where samples go, (n_samples, *shape), and what they are: a view, or one plus `sign` times another."""

    def begin_samples(self, step: int, /) -> int:
        """Return the place in the slots for the sample of `step`; those of later steps follow."""

    def end_samples(self, count: int, /) -> None:
        """Take note that so many samples were put into the slots."""


class Program:
    """A list of work that is done again and again. Work on no chunks or points isn't listed.

    Parameters
    ----------
    chunks : sequence of Chunk
        This rank's. Their arrays must stay in place, and what they step must not change.
    timer : PhaseTimer
    pool : ThreadPoolExecutor, optional
        Threads that sweep chunks at the same time.
    waves : Waves, optional
        How several steps follow each other, if not as a whole.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        timer: PhaseTimer,
        pool: ThreadPoolExecutor | None = None,
        waves: Waves | None = None,
    ) -> None:
        self._timer, self._pool, self._waves = timer, pool, waves
        self._dtype = chunks[0].dtype if chunks else np.dtype(float)
        # Rows of the tables of `kernels.walk.walk`.
        self._ops: list[tuple[int, int, int, int]] = []
        self._copies: list[list[int]] = []
        self._currents: list[list[int]] = []
        self._factors: list[float] = []
        self._samples: list[list[int]] = []
        # Patches by their interval, with their numbers.
        self._patches: dict[int, list[tuple[int, Patch]]] = {}
        self._boxes: list[Array] = []
        self._parts = [chunk.swept(part) for chunk in chunks for part in range(chunk.parts)]
        self._frames = [chunk.frame for chunk in chunks for _ in range(chunk.parts)]
        counts = [chunk.parts for chunk in chunks]
        self._first_part = {chunk.index: sum(counts[:n]) for n, chunk in enumerate(chunks)}
        self._rows: dict[Amplitudes, int] = {}
        # Functions of the step, and numbers of operations done up to here: (first, one past the last).
        self._work: list[Callable[[int], Any] | tuple[int, int]] = []
        self._kept: list[Any] = []
        self._tables: tuple[Any, ...] = ()
        # Operations, the first of each slab, and tables: those of waves.
        self._cut: tuple[Array, Array, tuple[Any, ...]] | None = None
        self._turns: dict[int, Array] = {}
        # The phase of work that has only one, whose time needn't be shared out.
        self._phases: list[str | None] = []
        self._seconds = np.zeros(len(PHASES))
        self._group = -1

    @property
    def compiled(self) -> bool:
        """Whether all work is compiled, so that several steps may be done at once."""
        return all(isinstance(work, tuple) for work in self._work)

    # -- writing ------------------------------------------------------------------------------------------------------

    def call(self, work: Callable[[int], Any]) -> None:
        """Call ``work(step)``, which switches the timer itself."""
        self._work.append(work)

    def sweep(self, phase: str, chunks: Sequence[Chunk], stage: Stage) -> None:
        """Sweep chunks, each in a thread of its own if there are any (see `Chunk.boxes`)."""
        ranges = []
        for chunk in chunks:
            first = len(self._ops)
            for part in range(chunk.parts):
                for boxes in chunk.boxes(stage):
                    self._ops.append(
                        (SWEEP, PHASES.index(phase), self._first_part[chunk.index] + part, len(self._boxes))
                    )
                    self._boxes.append(boxes)
            if len(self._ops) > first:
                ranges.append((first, len(self._ops)))
        if self._pool is not None and len(ranges) > 1:
            work = [partial(self._walk_alone, which) for which in ranges]
            self.call(lambda _: in_threads(self._timer, phase, self._pool, work))
        elif ranges:
            self._extend(ranges[0][0])

    def copy(self, phase: str, assignments: Iterable[Assignment]) -> None:
        """Assign values times a factor; each comes with one array per part of the field, or pair of arrays."""
        first = len(self._copies)
        for into, source, factor in assignments:
            if len(into) == 2 and factor.imag != 0:
                self._add_copy(TURN, into, source, factor)
            else:
                for pair in zip(into, source, strict=True):
                    self._add_copy(MOVE if factor == 1 else SCALE, pair[:1], pair[1:], factor)
        self._add_op(COPY, phase, first, len(self._copies))

    def drive(self, phase: str, chunks: Iterable[Chunk], field: str) -> None:
        """Let the currents of ``"E"`` or ``"H"`` flow for one step."""
        first = len(self._currents)
        for current in (one for chunk in chunks for one in chunk.currents if one.component[0] == field):
            row = self._rows.setdefault(current.pulse, len(self._rows))
            real, imag = current.weights
            for part, view in enumerate(current.fields):
                strides = [*_strides(view), *_strides(real)]
                places = [_address(view), _address(real), _address(imag), part, row]
                self._currents.append([*view.shape, *strides, *places])
                self._kept += [view, current.weights]
        self._add_op(DRIVE, phase, first, len(self._currents))

    def sample(self, phase: str, patches: Sequence[Patch]) -> None:
        """Record the fields of patches after every step that they want."""
        first = len(self._samples)
        for n, patch in enumerate(patches):
            self._patches.setdefault(patch.every, []).append((n, patch))
            for rows, views in patch.slots():
                if not rows[0].size:
                    continue
                self._samples.append([len(self._copies), patch.every, rows.strides[0] // rows.itemsize, n])
                self._add_copy(MOVE if len(views) == 1 else ADD, [rows[0]], views, patch.sign)
        self._add_op(SAMPLE, phase, first, len(self._samples))

    def _add_copy(self, kind: int, into: Sequence[Array], source: Sequence[Array], factor: complex) -> None:
        if not into[0].size:
            return
        # The last axis is the one along which the target's points are neighbours in memory.
        order = sorted(range(3), key=lambda axis: (into[0].shape[axis] > 1, -into[0].strides[axis]))
        shape, *strides = (
            [values[axis] for axis in order] for values in (into[0].shape, _strides(into[0]), _strides(source[0]))
        )
        places = [_address(views[part % len(views)]) for views in (into, source) for part in range(2)]
        self._copies.append([kind, *shape, *strides[0], *strides[1], *places])
        self._factors += [factor.real, factor.imag]
        self._kept += [*into, *source]

    def _add_op(self, kind: int, phase: str, first: int, last: int) -> None:
        if last > first:
            self._ops.append((kind, PHASES.index(phase), first, last))
            self._extend(len(self._ops) - 1)

    def _extend(self, first: int) -> None:
        """Do the operations from `first` on, in the call of those before if there was no other work in between."""
        before = self._work[-1] if self._work else None
        if isinstance(before, tuple):
            first = before[0]
            self._work.pop()
        self._work.append((first, len(self._ops)))

    def end(self) -> None:
        """Give up all work, whose functions hold this program, and so the arrays of its chunks."""
        self._work.clear()

    # -- doing --------------------------------------------------------------------------------------------------------

    def run(self, step: int, steps: int = 1) -> None:
        """Do all work of a step, or of several if all is `compiled` and they lie in one block (see `arguments`).

        A phase of the timer must be running; it counts what no other does.
        """
        if not self._tables:
            self._make_tables()
        self._find_amplitudes(step, steps)
        taken = self._begin_samples(step, steps)
        called = False
        for work, phase in zip(self._work, self._phases, strict=True):
            if isinstance(work, tuple):
                # To read the clocks takes as long as a small sweep, so it is done no more often than needed.
                if phase is not None or called:
                    self._timer.switch(phase or "other")
                self._walk(work, step, steps, self._seconds)
                if phase is None:
                    self._timer.share(self._seconds)
                self._seconds[:] = 0.0  # the timer's own clock counted work of one phase
            else:
                work(step)
            called = not isinstance(work, tuple)
        if taken:
            self._timer.switch("fourier")
            for patch, count in taken:
                patch.end_samples(count)

    def _begin_samples(self, step: int, steps: int) -> list[tuple[Patch, int]]:
        """Return the patches that will record in these steps, and how many samples."""
        taken = []
        for every, patches in self._patches.items():
            count = (step + steps) // every - step // every
            for n, patch in patches if count else ():
                self._filled[n] = patch.begin_samples((step // every + 1) * every)
                taken.append((patch, count))
        return taken

    def _make_tables(self) -> None:
        floats = np.array([*self._factors, 0.0, 0.0], self._dtype)
        arrays = [part[0] for part in self._parts]
        addresses = np.array([[_address(array) for array in row] for row in arrays], np.int64).reshape(-1, 28)
        sizes = np.array([[array.shape[-1] for array in row] for row in arrays], np.int64).reshape(-1, 28)
        layouts = np.array([part[1] for part in self._parts], np.int64).reshape(-1, 26)
        boxes = np.array(self._boxes, np.int64).reshape(-1, 4, 3)
        copies, currents = (np.array(rows, np.int64).reshape(-1, 14) for rows in (self._copies, self._currents))
        self._amplitudes = np.zeros((len(self._rows), BLOCK, 2))
        self._filled = np.zeros(sum(map(len, self._patches.values())), np.int64)
        samples = np.array(self._samples, np.int64).reshape(-1, 4), self._filled
        self._all_ops = np.array(self._ops, np.int64).reshape(-1, 4)
        self._phases = [self._only_phase(work) if isinstance(work, tuple) else None for work in self._work]
        self._tables = (addresses, sizes, layouts), boxes, (copies, floats), currents, self._amplitudes, samples

    def _only_phase(self, which: tuple[int, int]) -> str | None:
        found = {self._ops[n][1] for n in range(*which)}
        return PHASES[found.pop()] if len(found) == 1 else None

    def _find_amplitudes(self, step: int, steps: int) -> None:
        fresh, self._group = step // BLOCK != self._group, step // BLOCK
        for row, pulse in zip(self._amplitudes, self._rows, strict=True):
            if fresh or not pulse.ahead:
                row[:] = pulse.find(step, steps)

    def _walk(self, which: tuple[int, int], step: int, steps: int, seconds: Array) -> None:
        if self._waves is None or steps == 1:
            ops, order, tables = self._all_ops, np.array([(n, *which) for n in range(steps)]), self._tables
        else:
            ops, order, tables = self._in_waves(self._waves, steps)
        chunks, boxes, copies, currents, amplitudes, samples = tables
        walk(ops, order, step, chunks, boxes, copies, currents, amplitudes, samples, seconds)

    def _in_waves(self, waves: Waves, steps: int) -> tuple[Array, Array, tuple[Any, ...]]:
        """Return operations, turns and tables of some steps that follow each other slab by slab."""
        if self._cut is None:
            self._cut = cut(waves, self._frames, self._all_ops, self._tables)
        ops, firsts, tables = self._cut
        if steps not in self._turns:
            self._turns[steps] = turns(firsts, steps)
        return ops, self._turns[steps], tables

    def _walk_alone(self, which: tuple[int, int]) -> None:
        self._walk(which, 0, 1, np.zeros(len(PHASES)))


def in_threads(
    timer: PhaseTimer, phase: str, pool: ThreadPoolExecutor | None, work: Sequence[Callable[[], Any]]
) -> None:
    """Do pieces of work that don't depend on each other, in threads if there are any, and count them for a phase."""
    timer.switch(phase)
    if pool is None or len(work) == 1:
        for piece in work:
            piece()
    else:
        timer.add_cpu(phase, sum(pool.map(_timed, work)))


def _timed(work: Callable[[], Any]) -> float:
    begin = thread_time()
    work()
    return thread_time() - begin


def _address(array: Array) -> int:
    return array.ctypes.data


def _strides(view: Array) -> list[int]:
    return [stride // view.itemsize for stride in view.strides]
