"""How long it takes to find out what is where in a cell, how exact that is, and what a look at a box takes.

Usage::

    .venv/bin/python benchmarks/cut_survey.py [--objects 1000] [--edge 1000] [--no-accuracy]

Prints, in CPU time: the survey of a cell of 10^9 points with 1,000 objects (films, blocks, spheres, cylinders, prisms)
and its largest memory; ns per box; and for cells of 2 to 8 million points the difference between a survey object by
object and one point by point, over 300 boxes of 1/8 to 1/1000 of the cell, as a share of a box's points.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.fdtd import (
    PML,
    Block,
    Cylinder,
    DrudePole,
    LorentzPole,
    Medium,
    Options,
    Periodic,
    Prism,
    Simulation,
    Sphere,
)
from evenly.fdtd.structures import build

METAL = Medium(electric_poles=[DrudePole(1.0, 0.1), LorentzPole(0.5, 0.1, 0.5)])
GLASS, DENSE = Medium(index=1.5), Medium(epsilon=9, electric_poles=[LorentzPole(1.2, 0.05, 0.3)])
MEDIA = (METAL, GLASS, DENSE, Medium(epsilon=4, chi3=0.01), Medium(epsilon=3, electric_conductivity=0.1))
RESOLUTION = 20
CASES: dict[str, list[dict[str, Any]]] = {
    "oled": [{"resolution": 80, "size": 1.5}],
    "cmos": [{"resolution": 90}],
    "tandem": [{"resolution": 160}],
    "random": [{"points": 4e6, "seed": seed} for seed in range(3)],
}


def crowd(edge: int, objects: int) -> Simulation:
    """Return a cell of edge³ points with objects of all kinds, 16 of them films."""
    random, size = np.random.default_rng(0), edge / RESOLUTION
    made: list[Any] = [
        Block(size=(np.inf, np.inf, random.uniform(0.1, 1)), center=(0, 0, z), material=MEDIA[i % 5])
        for i, z in enumerate(random.uniform(-0.45, 0.45, min(16, objects)) * size)
    ]
    for i in range(len(made), objects):
        center, r = random.uniform(-0.45, 0.45, 3) * size, float(random.uniform(0.01, 0.05) * size)
        x, y, z = (float(c) for c in center)
        medium = MEDIA[int(random.integers(5))]
        corners = [(x + r * np.cos(a), y + r * np.sin(a)) for a in np.arange(6) * np.pi / 3]
        if i % 4 == 0:
            made.append(Block(size=random.uniform(0.5, 2, 3) * r, center=center, material=medium))
        elif i % 4 == 1:
            made.append(Sphere(radius=r, center=center, material=medium))
        elif i % 4 == 2:
            made.append(Cylinder(radius=r, height=2 * r, center=center, material=medium))
        else:
            made.append(Prism(vertices=corners, height=2 * r, base=z - r, material=medium))
    return Simulation(
        cell=(size,) * 3,
        resolution=RESOLUTION,
        geometry=made,
        boundaries=[Periodic("xy"), PML(1, "z")],
        options=Options(courant=0.3),
    )


def boxes(shape: Any, number: int, seed: int = 0) -> tuple[Any, Any]:
    """Return boxes of 1/8 to 1/1000 of a cell."""
    random = np.random.default_rng(seed)
    edges = np.exp(random.normal(0, 0.5, (number, 3)))
    points = np.prod(shape) * np.exp(random.uniform(np.log(1e-3), np.log(1 / 8), number))
    edges *= ((points / edges.prod(axis=1)) ** (1 / 3))[:, None]
    edges = np.clip(np.round(edges), 1, shape).astype(int)
    low = (random.random((number, 3)) * (np.array(shape) - edges + 1)).astype(int)
    return low, low + edges


def per_box(cell: Cell, number: int = 100_000) -> float:
    low, high = boxes(cell.grid.shape, number)
    times = []
    for _ in range(5):
        start = time.process_time()
        cell.survey.counts(low, high)
        times.append(time.process_time() - start)
    return min(times) / number * 1e9


def accuracy(name: str, given: dict[str, Any]) -> None:
    example = build(name, **given)
    sim = Simulation(**example.simulation)
    times, cells = [], []
    for points in (10**9, 0):
        start = time.process_time()
        cells.append(cell_of(sim, points=points))
        times.append(time.process_time() - start)
    low, high = boxes(sim.grid.shape, 300)
    volume = np.prod(high - low, axis=1)
    print(
        f"{name} {given}: {sim.grid.box.volume / 1e6:.1f} M points; point by point {times[0]:.1f} s, "
        f"{per_box(cells[0]):.0f} ns per box; object by object {times[1]:.2f} s, {per_box(cells[1]):.0f} ns per box"
    )
    exact, found = (cell.survey.counts(low, high) for cell in cells)
    for kind in sorted({*cells[0].survey.kinds, *cells[1].survey.kinds}):
        if "label" not in kind:
            off = np.abs(cells[1].column(found, kind) - cells[0].column(exact, kind)) / volume
            print(f"  {kind:36s} mean {100 * off.mean():.3f} %, 95 % {100 * np.quantile(off, 0.95):.3f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=1000)
    parser.add_argument("--edge", type=int, default=1000)
    parser.add_argument("--no-accuracy", action="store_true")
    given = parser.parse_args()
    start = time.process_time()
    sim = crowd(given.edge, given.objects)
    described = time.process_time() - start
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    cell = cell_of(sim)
    taken = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    survey = cell.survey
    print(
        f"{sim.grid.box.volume:.3g} points, {given.objects} objects: described in {described:.2f} s, surveyed in "
        f"{taken:.2f} s; largest memory {after:.0f} MiB, {before:.0f} MiB before; "
        f"{len(survey.kinds)} kinds in {np.prod([len(e) - 1 for e in survey.edges]):.3g} blocks, "
        f"{survey.table.nbytes / 2**20:.0f} MiB; {per_box(cell):.0f} ns per box"
    )
    for name, cases in CASES.items() if not given.no_accuracy else ():
        for case in cases:
            accuracy(name, case)


if __name__ == "__main__":
    main()
