"""Several steps in one pass through the memory beside one step at a time: CPU time of the same cells, in turns.

Each row is a cell: seconds of a step are medians, and the ratio is that of passes taken in turns in one process.

usage: python benchmarks/fdtd_waves.py [--size 160] [--repeats 5]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from evenly import fdtd

RESOLUTION = 20
STEPS = 12
GLASS = fdtd.Medium(epsilon=4)
LORENTZ = fdtd.Medium(epsilon=2, electric_poles=[fdtd.LorentzPole(1.1, 0.01, 0.5)])


def cells(size: int) -> dict[str, dict[str, Any]]:
    """Return the cells by name."""
    edge, layer = size / RESOLUTION, fdtd.PML(10 / RESOLUTION)
    film = fdtd.Block(size=(2 * edge, 2 * edge, edge / 2), material=GLASS)
    box = fdtd.Block(size=(edge / 2,) * 3, material=GLASS)
    resonant, layered = (fdtd.Block(size=one.size, material=LORENTZ) for one in (box, film))
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
        "mix: layers, Lorentz, flux": {"boundaries": [layer], "geometry": [resonant], "monitored": True},
        "stack, Lorentz, flux": {"boundaries": stack, "geometry": [layered], "monitored": True},
        "stack, periodic, flux": {"boundaries": stack, "geometry": [film], "monitored": True},
        "stack, Bloch": {"boundaries": [stack[0], fdtd.Bloch(k=(0.1, 0.2, 0), axes="xy")], "geometry": [film]},
    }


def simulate(size: int, *, monitored: bool = False, **given: Any) -> fdtd.Simulation:
    edge = size / RESOLUTION
    source = fdtd.Source(
        fdtd.GaussianPulse(1.0, fwidth=0.5), "Ez", center=(0, 0, edge / 8), size=(edge / 2, edge / 2, 0)
    )
    sim = fdtd.Simulation(cell=(edge,) * 3, resolution=RESOLUTION, sources=[source], **given)
    if monitored:
        sim.add(fdtd.Flux(center=(0, 0, 0), size=(edge * 0.6,) * 3, frequencies=np.linspace(0.8, 1.2, 5)))
    return sim


def seconds(sim: fdtd.Simulation, *, at_once: bool) -> float:
    """Do `STEPS` steps and return the CPU time of one."""
    begin, end = time.process_time(), sim.step_count + STEPS
    while sim.step_count < end:
        sim.advance(min(sim.stepper.free_steps(sim.step_count), end - sim.step_count) if at_once else 1)
    return (time.process_time() - begin) / STEPS


def compare(sim: fdtd.Simulation, repeats: int) -> tuple[float, float]:
    """Return the seconds of a step, one by one and at once."""
    seconds(sim, at_once=True)
    taken = [[seconds(sim, at_once=many) for many in (False, True)] for _ in range(repeats)]
    alone, together = np.median(taken, axis=0)
    return float(alone), float(together)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=160)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    name = f"cell of {arguments.size}³"
    print(f"{name:<32}steps at once  ns/point, one by one  at once  ratio")
    for name, given in cells(arguments.size).items():
        sim = simulate(arguments.size, **given)
        many = sim.stepper.free_steps(0)
        alone, together = compare(sim, arguments.repeats)
        points = sim.grid.box.volume / 1e9
        print(
            f"  {name:<30}{many:13d}{alone / points:22.2f}{together / points:9.2f}{alone / together:7.2f}", flush=True
        )
        sim.stepper.close()


if __name__ == "__main__":
    main()
