"""Chunks that hold analytic fields, and ranks that are threads: what monitors see of a simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import COMPONENTS, Grid
from evenly.fdtd.sources.source import Source

Amplitude = Callable[[str, Any, Any, Any], Any]


class FakeChunk:
    """Fields Re(A exp(-iωt)), or all of it with two parts, sampled on the Yee grid of a box and its ghosts."""

    def __init__(
        self, grid: Grid, box: Box, amplitude: Amplitude, frequency: float, parts: int, order: tuple[int, int, int]
    ) -> None:
        self.grid, self.box, self.parts, self.frequency = grid, box, parts, frequency
        thin = grid.thin
        self.reach = box.grow((int(not thin[0]), int(not thin[1]), int(not thin[2])))
        self.amplitudes, self.arrays = {}, {}
        for name in COMPONENTS:
            points = grid.points(name, self.reach)
            values = np.broadcast_to(np.asarray(amplitude(name, *points), dtype=complex), self.reach.shape)
            self.amplitudes[name] = values
            memory = np.zeros((parts, *(self.reach.shape[a] for a in order)))
            self.arrays[name] = memory.transpose(0, *(1 + np.argsort(order)))

    def advance(self, step: int) -> None:
        for name, values in self.amplitudes.items():
            time = (step + (0.5 if name[0] == "H" else 0.0)) * self.grid.dt
            now = values * np.exp(-2j * np.pi * self.frequency * time)
            self.arrays[name][0] = now.real
            if self.parts == 2:
                self.arrays[name][1] = now.imag

    def view(self, component: str, part: int, box: Box) -> NDArray[Any]:
        assert self.reach.covers(box)
        view: NDArray[Any] = self.arrays[component][part][box.slices(self.reach.lo)]
        return view


class Alone:
    rank, size = 0, 1

    def allreduce(self, value: Any, /) -> Any:
        return np.array(value)

    def allgather(self, value: Any, /) -> list[Any]:
        return [value]


class Team:
    """One of several ranks, each a thread."""

    def __init__(self, rank: int, shared: dict[int, Any], barrier: threading.Barrier) -> None:
        self.rank, self._shared, self._barrier = rank, shared, barrier

    def allgather(self, value: Any, /) -> list[Any]:
        self._shared[self.rank] = value
        self._barrier.wait(10)
        found = [self._shared[n] for n in range(self._barrier.parties)]
        self._barrier.wait(10)
        return found

    def allreduce(self, value: Any, /) -> Any:
        return sum(self.allgather(np.array(value)))


class FakeSimulation:
    decimation: int | None = None

    def __init__(
        self,
        grid: Grid,
        boxes: Sequence[Box],
        amplitude: Amplitude,
        frequency: float,
        *,
        parts: int = 1,
        sources: Sequence[Source] = (),
        communicator: Any = None,
        order: tuple[int, int, int] = (0, 1, 2),
        structure: Any = None,
    ) -> None:
        self.grid, self.sources, self.structure = grid, sources, structure
        self.communicator = communicator or Alone()
        self.chunks = [FakeChunk(grid, box, amplitude, frequency, parts, order) for box in boxes]
        self.monitors: list[Any] = []

    def add(self, monitor: Any) -> Any:
        monitor.bind(self)
        self.monitors.append(monitor)
        return monitor

    def run(self, steps: int, start: int = 0) -> None:
        for step in range(start, start + steps):
            for chunk in self.chunks:
                chunk.advance(step)
            for monitor in self.monitors:
                monitor.record(step)


def cut(box: Box, rng: np.random.Generator, chunks: int) -> list[Box]:
    """Cut a box into `chunks` boxes at random places."""
    parts = [box]
    while len(parts) < chunks:
        largest = max(parts, key=lambda part: part.volume)
        parts.remove(largest)
        axis = int(rng.choice([a for a in range(3) if largest.shape[a] > 1]))
        parts += largest.split(axis, int(rng.integers(largest.lo[axis] + 1, largest.hi[axis])))
    return parts


def on_ranks(count: int, work: Callable[[Team], Any]) -> list[Any]:
    """Run `work` on `count` ranks at once and return what each gives."""
    shared: dict[int, Any] = {}
    barrier = threading.Barrier(count)
    results: dict[int, Any] = {}

    def one(rank: int) -> None:
        try:
            results[rank] = work(Team(rank, shared, barrier))
        except BaseException as error:
            results[rank] = error
            barrier.abort()

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results.values():
        if isinstance(result, BaseException):
            raise result
    return [results[rank] for rank in range(count)]
