"""What a step does, in order, written down once: compiled operations in tables, and Python between them where it must.

Sweeps, ghost copies, currents, samples and messages are operations of `kernels.walk`. So a step of a rank is one call
however many chunks it has, and on a rank of its own, so are several steps. Media that need more than a sweep are Python
functions in between, and so is a wait that becomes long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.stepping.currents import Amplitudes
from evenly.fdtd.stepping.kernels.arguments import BLOCK
from evenly.fdtd.stepping.kernels.sweep import room_for
from evenly.fdtd.stepping.kernels.walk import (
    ADD,
    CALL,
    COPY,
    DRIVE,
    MOVE,
    SAMPLE,
    SCALE,
    SEND,
    SKIP,
    SWEEP,
    TURN,
    WAIT,
    walk,
)
from evenly.fdtd.stepping.timing import PHASES
from evenly.fdtd.stepping.waves import Waves, cut, turns

if TYPE_CHECKING:
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.halo import Assignment, Halo
    from evenly.fdtd.stepping.timing import PhaseTimer

__all__ = ["Patch", "Program", "in_threads"]

Array = NDArray[Any]
Stage = Literal["early", "main", "late"]
Operation = tuple[int, int, int, int]


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
        # Rows of the tables of `kernels.walk.walk`; operations that threads do come behind all others.
        self._ops: list[Operation] = []
        self._threaded: list[Operation] = []
        self._copies: list[list[int]] = []
        self._currents: list[list[int]] = []
        self._factors: list[float] = []
        self._samples: list[list[int]] = []
        self._messages: list[Array] = []
        self._boxes: list[Array] = []
        # Patches by their interval, with their numbers.
        self._patches: dict[int, list[tuple[int, Patch]]] = {}
        self._parts = [chunk.swept(part) for chunk in chunks for part in range(chunk.parts)]
        self._frames = [chunk.frame for chunk in chunks for _ in range(chunk.parts)]
        counts = [chunk.parts for chunk in chunks]
        self._first_part = {chunk.index: sum(counts[:n]) for n, chunk in enumerate(chunks)}
        self._rows: dict[Amplitudes, int] = {}
        # What Python does where compiled code can't go on, by the number of the operation: functions of the step.
        self._calls: dict[int, Callable[[int], Any]] = {}
        self._kept: list[Any] = []
        # The first arguments of `walk`, by the number of steps, and what they point to.
        self._arguments: dict[int, tuple[Array, Array, Array]] = {}
        self._tables: tuple[Any, ...] = ()
        # Operations, the first of each slab, and tables: those of waves.
        self._cut: tuple[Array, Array, tuple[Any, ...]] | None = None
        self._seconds = np.zeros(len(PHASES))
        self._group = -1

    @property
    def compiled(self) -> bool:
        """Whether all work is compiled, so that several steps may be done at once."""
        return not self._calls

    # -- writing ------------------------------------------------------------------------------------------------------

    def call(self, phase: str, work: Callable[[int], Any]) -> None:
        """Call ``work(step)``."""
        self._add_call(CALL, phase, 0, work)

    def send(self, phase: str, halo: Halo) -> None:
        """Send what was packed, and begin to receive."""
        self._add_call(SEND, phase, len(self._messages), lambda _: halo.start())
        self._messages.append(halo.messages)

    def wait(self, phase: str, halo: Halo) -> None:
        """Wait until all has arrived and been sent; if nothing is under way, don't."""
        self._add_call(WAIT, phase, len(self._messages), lambda _: halo.wait())
        self._messages.append(halo.messages)

    @contextmanager
    def after_every(self, phase: str, steps: int) -> Iterator[None]:
        """Do what is listed within only after steps that are multiples of this number."""
        at = len(self._ops)
        self._ops.append((SKIP, PHASES.index(phase), steps, 0))
        yield
        self._ops[at] = (*self._ops[at][:3], len(self._ops))

    def sweep(self, phase: str, chunks: Sequence[Chunk], stage: Stage) -> None:
        """Sweep chunks, each in a thread of its own if there are any (see `Chunk.boxes`)."""
        found = [[*self._sweeps(phase, chunk, stage)] for chunk in chunks if chunk.boxes(stage)]
        if self._pool is None or len(found) < 2:
            self._ops += [op for ops in found for op in ops]
            return
        work = []
        for ops in found:
            first = len(self._threaded)
            self._threaded += ops
            work.append(partial(self._walk_alone, first, len(self._threaded)))
        self.call(phase, lambda _: in_threads(self._timer, phase, self._pool, work))

    def _sweeps(self, phase: str, chunk: Chunk, stage: Stage) -> Iterator[Operation]:
        for part in range(chunk.parts):
            for boxes in chunk.boxes(stage):
                yield SWEEP, PHASES.index(phase), self._first_part[chunk.index] + part, len(self._boxes)
                self._boxes.append(boxes)

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
        for n, patch in enumerate(patches, sum(map(len, self._patches.values()))):
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

    def _add_call(self, kind: int, phase: str, row: int, work: Callable[[int], Any]) -> None:
        self._calls[len(self._ops)] = work
        self._ops.append((kind, PHASES.index(phase), row, 0))

    def end(self) -> None:
        """Give up all work, whose functions hold this program, and so the arrays of its chunks."""
        self._calls.clear()

    # -- doing --------------------------------------------------------------------------------------------------------

    def run(self, step: int, steps: int = 1) -> None:
        """Do all work of a step, or of several that lie in one block (see `arguments`).

        A phase of the timer must be running, and ends; it counts what no other does.
        """
        if not self._tables:
            self._make_tables()
        if self._rows:
            self._find_amplitudes(step, steps)
        taken = self._begin_samples(step, steps) if self._patches else ()
        timer, seconds, at = self._timer, self._seconds, 0
        tables, factors, turns = self._arguments.get(steps) or self._find_arguments(steps)
        while self._ops and (at := walk(tables, factors, turns, step, at, seconds, self._room[1])) >= 0:
            timer.share(seconds)
            turn, op = divmod(at, len(self._all_ops))
            timer.switch(PHASES[self._ops[op][1]])
            self._calls[op](step + turn)
            timer.switch("other")
            at += 1
        if taken:
            timer.share(seconds)
            timer.switch("fourier")
        for patch, count in taken:
            patch.end_samples(count)
        timer.stop(seconds)

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
        self._sent = np.array(self._messages, np.int64).reshape(-1, 6)
        self._amplitudes = np.zeros((len(self._rows), BLOCK, 2))
        self._filled = np.zeros(sum(map(len, self._patches.values())), np.int64)
        samples = np.array(self._samples, np.int64).reshape(-1, 4), self._filled
        self._all_ops = np.array([*self._ops, *self._threaded], np.int64).reshape(-1, 4)
        self._room = self._new_room()
        self._tables = (addresses, sizes, layouts), boxes, (copies, floats), currents, self._amplitudes, samples

    def _new_room(self) -> tuple[Array, int]:
        """Return room for `walk` to work in, and its address."""
        most = max((room_for(frame.shape, self._dtype.itemsize) for frame in self._frames), default=0)
        room = np.empty(16 // self._dtype.itemsize + most, self._dtype)
        return room, _address(room)

    def _find_amplitudes(self, step: int, steps: int) -> None:
        fresh, self._group = step // BLOCK != self._group, step // BLOCK
        for row, pulse in zip(self._amplitudes, self._rows, strict=True):
            if fresh or not pulse.ahead:
                row[:] = pulse.find(step, steps)

    def _find_arguments(self, steps: int) -> tuple[Array, Array, Array]:
        """Return tables, factors and turns of some steps."""
        if self._waves is None or steps == 1 or not self.compiled:
            ops, tables, order = self._all_ops, self._tables, np.array([(n, 0, len(self._ops)) for n in range(steps)])
        else:
            ops, firsts, tables = self._in_waves(self._waves)
            order = turns(firsts, steps)
        chunks, boxes, (copies, factors), currents, amplitudes, samples = tables
        arrays = (ops, *chunks, boxes, copies, currents, amplitudes, *samples, self._sent, self._room[0][2:])
        self._kept.append(arrays)
        places = np.array([(_address(array), len(array)) for array in arrays])
        return self._arguments.setdefault(steps, (places, factors, order))

    def _in_waves(self, waves: Waves) -> tuple[Array, Array, tuple[Any, ...]]:
        """Return operations, the first of each slab, and tables of steps that follow each other slab by slab."""
        if self._cut is None:
            self._cut = cut(waves, self._frames, self._all_ops, self._tables)
        return self._cut

    def _walk_alone(self, first: int, last: int) -> None:
        tables, factors, _ = self._arguments.get(1) or self._find_arguments(1)
        turn = np.array([(0, len(self._ops) + first, len(self._ops) + last)])
        _, room = self._new_room()
        walk(tables, factors, turn, 0, 0, np.zeros(len(PHASES)), room)


def in_threads(
    timer: PhaseTimer, phase: str, pool: ThreadPoolExecutor | None, work: Sequence[Callable[[], Any]]
) -> None:
    """Do pieces of work that don't depend on each other, in threads if there are any, and count them for a phase."""
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
