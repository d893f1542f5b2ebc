"""Several steps in one pass through the memory beside one step at a time: CPU time of the same cells, in turns.

Each row is a cell: seconds of a step are medians, and the ratio is that of passes taken in turns in one process.

usage: python benchmarks/fdtd_waves.py [--size 160] [--repeats 7] [--most 6]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from evenly import fdtd

RESOLUTION = 20
GLASS = fdtd.Medium(epsilon=4)


def cells(size: int) -> dict[str, dict[str, Any]]:
    """Return the cells by name."""
    edge, layer = size / RESOLUTION, fdtd.PML(10 / RESOLUTION)
    film = fdtd.Block(size=(2 * edge, 2 * edge, edge / 2), material=GLASS)
    box = fdtd.Block(size=(edge / 2,) * 3, material=GLASS)
    single = fdtd.Options(precision="float32")
    stack = [fdtd.PML(10 / RESOLUTION, "z"), fdtd.Periodic("xy")]
    lossy = fdtd.Medium(epsilon=3, electric_conductivity=0.4)
    return {
        "vacuum": {},
        "vacuum, float32": {"options": single},
        "a film": {"geometry": [film]},
        "conductivity": {"material": lossy},
        "layers": {"boundaries": [layer]},
        "layers, float32": {"boundaries": [layer], "options": single},
        "layers, box, flux": {"boundaries": [layer], "geometry": [box], "monitored": True},
        "layers, box, flux, float32": {"boundaries": [layer], "geometry": [box], "monitored": True, "options": single},
        "stack, periodic, flux": {"boundaries": stack, "geometry": [film], "monitored": True},
        "stack, Bloch": {"boundaries": [stack[0], fdtd.Bloch(k=(0.1, 0.2), axis="xy")], "geometry": [film]},
    }


def simulate(size: int, *, monitored: bool = False, **given: Any) -> fdtd.Simulation:
    edge = size / RESOLUTION
    source = fdtd.Source(fdtd.GaussianPulse(1.0, fwidth=0.5), "Ez", center=(0, 0, edge / 8), size=(edge / 2, edge / 2, 0))
    sim = fdtd.Simulation(cell=(edge,) * 3, resolution=RESOLUTION, sources=[source], **given)
    if monitored:
        sim.add(fdtd.Flux(center=(0, 0, 0), size=(edge * 0.6,) * 3, frequencies=np.linspace(0.8, 1.2, 5)))
    return sim


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compare(sim: fdtd.Simulation, repeats: int) -> tuple[int, float, float]:
    """Return steps at once, and seconds of a step one by one and at once."""
    together = sim.stepper.free_steps(0)
    taken = []
    for _ in range(repeats + 1):
        sim.advance(-sim.step_count % 64 if 64 - sim.step_count % 64 < together else 0) if False else None
        alone = seconds(lambda: [sim.advance(1) for _ in range(together)])
        many = seconds(lambda: sim.advance(together))
        taken.append((alone / together, many / together))
    alone, many = np.median(taken[1:], axis=0)
    return together, float(alone), float(many)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=160)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    print(f"{'cell of ' + str(arguments.size) + '³':<32}steps at once  ns/point, one by one  at once  ratio")
    for name, given in cells(arguments.size).items():
        sim = simulate(arguments.size, **given)
        many, alone, together = compare(sim, arguments.repeats)
        points = sim.grid.box.volume / 1e9
        print(f"  {name:<30}{many:13d}{alone / points:22.2f}{together / points:9.2f}{alone / together:7.2f}", flush=True)
        sim.stepper.close()


if __name__ == "__main__":
    main()
