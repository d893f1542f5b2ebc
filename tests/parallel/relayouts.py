"""Runs that change their layout on the way; run as a script on several ranks it compares with a reference.

usage: relayouts.py REFERENCE.npz SCENE [SCENE ...]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly import fdtd
from tests.parallel.checkpoints import WHOLE, results, simulation, steps
from tests.parallel.everything import SCENES, layouts, worst

# In the middle of pulses, of transforms' buffers (16 steps) and between a recorder's and a transform's samples.
CHANGES = (7, 21, 22, 38)


def run(scene: str, changes: Sequence[int] = CHANGES, **options: Any) -> dict[str, NDArray[Any]]:
    """Return the results of a run that takes another layout after each of these steps."""
    cuts = layouts(SCENES[scene]["cell"])
    sim = simulation(scene, **options)
    even = sim.layout
    for number, step in enumerate(changes, 1):
        steps(sim, step)
        sim.relayout(cuts[number % len(cuts)] or even)
    steps(sim, WHOLE)
    return results(sim)


def main(path: str, *scenes: str) -> None:
    with np.load(Path(path)) as file:
        stored = {key: file[key] for key in file.files}
    for scene in scenes:
        reference = {k.removeprefix(f"{scene}/"): v for k, v in stored.items() if k.startswith(f"{scene}/")}
        fdtd.master_print(f"{scene} {worst(run(scene), reference):.3e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
