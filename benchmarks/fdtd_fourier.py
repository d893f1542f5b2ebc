"""Cost of running Fourier transforms per component·point and sample, beside adding each sample as it comes.

Usage::

    .venv/bin/python benchmarks/fdtd_fourier.py

CPU time (median of repetitions) of patches that take the values of one component out of a chunk: with 1 and 50
frequencies, the difference for each one more, and what is left without any: taking the values. The plain way multiplies
each sample with each frequency's phase in a compiled loop as soon as it comes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from evenly.fdtd.cell.box import Box
from evenly.fdtd.monitors.fourier import FourierPatch, Phases
from evenly.fdtd.stepping.kernels.fourier import SAMPLES

POINTS = 160
FREQUENCIES = (1, 50)
BOXES = {
    "plane across x": Box((80, 0, 0), (81, POINTS, POINTS)),
    "plane across y": Box((0, 80, 0), (POINTS, 81, POINTS)),
    "plane across z": Box((0, 0, 80), (POINTS, POINTS, 81)),
    "volume 30³": Box((60, 60, 60), (90, 90, 90)),
    "plane 20²": Box((80, 60, 60), (81, 80, 80)),
}


class Held:
    """A chunk of random fields with one ghost layer, z contiguous."""

    box, parts = Box((0, 0, 0), (POINTS, POINTS, POINTS)), 1

    def __init__(self, dtype: Any) -> None:
        self.field = np.random.default_rng(0).random((POINTS + 2,) * 3).astype(dtype)

    def view(self, component: str, part: int, box: Box) -> Any:  # noqa: ARG002 - as chunks have it
        return self.field[box.slices((-1, -1, -1))]


@njit(cache=True)
def add_sample(view: Any, cosines: Any, sines: Any, real: Any, imag: Any) -> None:
    for f in range(len(cosines)):
        c, s, n = cosines[f], sines[f], 0
        for i in range(view.shape[0]):
            for j in range(view.shape[1]):
                for k in range(view.shape[2]):
                    value = view[i, j, k]
                    real[f, n] += c * value
                    imag[f, n] += s * value
                    n += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=7)
    repetitions = parser.parse_args().repetitions
    heads = ("copy", "frequency", "1 in all", "50 in all", "plain 50", "ratio")
    print(f"{'ns per value and sample':32}" + "".join(f"{head:>11}" for head in heads))
    for dtype in (np.float64, np.float32):
        chunk = Held(dtype)
        for name, box in BOXES.items():
            for component, average in (("Ez", None), ("Hz", int(np.argmin(box.shape)))):
                one, many = (cost(blocked(chunk, component, box, average, n), box, repetitions) for n in FREQUENCIES)
                theirs = cost(plain(chunk, box, FREQUENCIES[1]), box, max(2, repetitions // 3))
                each = (many - one) / (FREQUENCIES[1] - FREQUENCIES[0])
                label = component if average is None else "H avg."
                row = (one - each * FREQUENCIES[0], each, one, many, theirs, theirs / many)
                print(f"{np.dtype(dtype).name:8} {name:16}{label:>7}" + "".join(f"{v:11.2f}" for v in row), flush=True)


def blocked(chunk: Any, component: str, box: Box, average: int | None, n: int) -> Callable[[int], None]:
    patch = FourierPatch(chunk, component, box, Phases(np.linspace(0.5, 1.5, n), 0.01), average=average)
    return patch.record


def plain(chunk: Any, box: Box, n: int) -> Callable[[int], None]:
    view, phases = chunk.view("Ez", 0, box), 2 * np.pi * np.linspace(0.5, 1.5, n) * 0.01
    real, imag = np.zeros((2, n, box.volume))

    def record(step: int) -> None:
        add_sample(view, np.cos(phases * step), np.sin(phases * step), real, imag)

    return record


def cost(record: Callable[[int], None], box: Box, repetitions: int) -> float:
    """Nanoseconds of CPU per value and sample."""
    rounds = max(1, int(2e6 / box.volume / SAMPLES)) * SAMPLES
    seconds, step = [], 0
    for _ in range(repetitions + 1):
        start = time.process_time()
        for _ in range(rounds):
            record(step)
            step += 1
        seconds.append(time.process_time() - start)
    return float(np.median(seconds[1:])) / rounds / box.volume * 1e9


if __name__ == "__main__":
    main()
