"""How many functions of evenly four everyday calls go through: a measure of how far a reader has to walk.

    python benchmarks/hops.py            # the table
    python benchmarks/hops.py --list fit # each function of one story, in the order of the first call

A function counts once, however often it is called; comprehensions, generators and lambdas belong to the function
that they stand in. Compiled kernels count as the functions of Python that they are called from. Each story runs
once before it is counted, so that neither imports nor compilation are in the figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pandas as pd

import evenly
from evenly import fdtd

HOME = str(Path(evenly.__file__).parent)


class Walk:
    """The functions of evenly that are called while the walk is on, and how deep."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], int] = {}
        self.deepest = 0
        self._depth = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Count a call (the signature of `sys.setprofile`)."""
        code = frame.f_code
        if not code.co_filename.startswith(HOME) or is_part(code):
            return
        if event == "call":
            self._depth += 1
            self.deepest = max(self.deepest, self._depth)
            place = code.co_filename[len(HOME) + 1 :], code.co_qualname
            self.functions[place] = self.functions.get(place, 0) + 1
        elif event == "return":
            self._depth -= 1


def is_part(code: CodeType) -> bool:
    """Return whether this is a comprehension, a lambda, or the body of a module or class."""
    return code.co_name.startswith("<") or "__module__" in code.co_names


def fit() -> Callable[[], Any]:
    """Return a fit of 300 runs of five parameters."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(np.exp2(rng.uniform(0, 8, (300, 5))), columns=list("abcde"))
    table["seconds"] = 1e-3 * table["a"] * table["b"] ** 0.5 / table["c"] + 1e-2 * table["d"] + 1e-3 * table["e"]
    table["seconds"] *= np.exp(0.05 * rng.standard_normal(300))
    runs = evenly.Runs.from_frame(table, parameters=list("abcde"), time="seconds")
    return lambda: evenly.fit(runs)


def simulation() -> fdtd.Simulation:
    """Return a small cell with a slab, layers around it and a source."""
    return fdtd.Simulation(
        cell=(4, 4, 4),
        resolution=8,
        geometry=[fdtd.Block(size=(1, 4, 4), material=fdtd.Medium(epsilon=4.0))],
        boundaries=[fdtd.PML(0.5)],
        sources=[fdtd.Source(fdtd.GaussianPulse(0.6, fwidth=0.4), "Ez", center=(-1, 0, 0))],
    )


def add_flux() -> Callable[[], Any]:
    """Return the first `sim.add(Flux)`, at which chunks are made."""
    return lambda: simulation().add(fdtd.Flux(center=(1, 0, 0), size=(0, 2, 2), frequencies=[0.6]))


def partition() -> Callable[[], Any]:
    """Return a cut of that cell for four ranks."""
    return lambda: evenly.partition(simulation(), ranks=4)


def step() -> Callable[[], Any]:
    """Return one time step."""
    sim = simulation()
    sim.step()
    return sim.step


STORIES = {"fit": fit, "add flux": add_flux, "partition": partition, "step": step}


def walk(story: str) -> Walk:
    """Return what a story goes through on its second time."""
    STORIES[story]()()
    call, found = STORIES[story](), Walk()
    sys.setprofile(found)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    """Print the table, or the functions of one story."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", choices=sorted(STORIES))
    arguments = parser.parse_args()
    if arguments.list:
        for (path, name), calls in walk(arguments.list).functions.items():
            print(f"{calls:8d}  {path}: {name}")
        return
    print("story       functions  files  deep")
    for story in STORIES:
        found = walk(story)
        files = {path for path, _ in found.functions}
        print(f"{story:12s} {len(found.functions):8d}  {len(files):5d}  {found.deepest:4d}")


if __name__ == "__main__":
    main()
