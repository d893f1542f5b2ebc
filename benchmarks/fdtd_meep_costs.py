"""What a grid point costs Meep for each kind of physics, in CPU time: the yardstick of `evenly.fdtd`.

Runs under the Python that has Meep, without evenly:

    OMP_NUM_THREADS=1 /usr/bin/python3 benchmarks/fdtd_meep_costs.py

Every case fills a whole cell with one kind of point. Times are those of the whole process (user and system), the least
of a few batches, per point and step; the ratios are to vacuum of the same size.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import meep as mp

PULSE = mp.GaussianSource(1.0, fwidth=0.5)
RESOLUTION = 10
GAP = 4


def lorentz(count: int) -> mp.Medium:
    """Return a medium with `count` different poles."""
    poles = [mp.LorentzianSusceptibility(frequency=1.1 + 0.1 * i, gamma=0.01, sigma=0.5) for i in range(count)]
    return mp.Medium(epsilon=2, E_susceptibilities=poles)


def layers(size: float, axes: str) -> list[mp.PML]:
    """Return layers that nearly meet in the middle of the cell: Meep asks for points between them."""
    return [mp.PML(size / 2 - GAP / 2 / RESOLUTION, direction=getattr(mp, axis)) for axis in axes]


def fourier(frequencies: int) -> Callable[[mp.Simulation, float], int]:
    """Return a function that adds transforms of Ez on half the cell and says on how many points."""

    def add(sim: mp.Simulation, size: float) -> int:
        region = mp.Volume(center=mp.Vector3(), size=mp.Vector3(size, size, size / 2))
        sim.add_dft_fields([mp.Ez], 0.9, 1.1, frequencies, where=region, yee_grid=True, decimation_factor=1)
        return round(size * RESOLUTION) ** 3 // 2

    return add


def cases(size: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and arguments of a simulation."""
    tilted = mp.Medium(epsilon_diag=(2, 2.5, 3), epsilon_offdiag=(0.1, 0.2, 0.3))
    yield "vacuum", {}
    yield "epsilon", {"default_material": mp.Medium(epsilon=2)}
    yield "off-diagonal epsilon", {"default_material": tilted}
    yield "mu", {"default_material": mp.Medium(epsilon=2, mu=2)}
    yield "D conductivity", {"default_material": mp.Medium(epsilon=2, D_conductivity=0.1)}
    for count in (1, 2, 5):
        yield f"Lorentz x {count}", {"default_material": lorentz(count)}
    yield "chi2", {"default_material": mp.Medium(epsilon=2, chi2=1e-3)}
    yield "chi3", {"default_material": mp.Medium(epsilon=2, chi3=1e-3)}
    for axes in ("X", "XY", "XYZ"):
        yield f"PML {len(axes)}d", {"boundary_layers": layers(size, axes)}
    yield "Bloch", {"k_point": mp.Vector3(0.1, 0.2, 0.3)}


def seconds_per_step(
    points: int,
    batches: int,
    steps: int,
    monitor: Callable[[mp.Simulation, float], int] | None = None,
    **arguments: Any,
) -> tuple[float, int]:
    """Return CPU seconds of a step and the number of points that `monitor` says."""
    size = points / RESOLUTION
    sources = [mp.Source(PULSE, component, mp.Vector3(0.05, 0.05, 0.05)) for component in (mp.Ex, mp.Ey, mp.Ez)]
    sim = mp.Simulation(
        cell_size=mp.Vector3(size, size, size), resolution=RESOLUTION, sources=sources, eps_averaging=False, **arguments
    )
    sim.init_sim()
    watched = monitor(sim, size) if monitor else 0
    # Transforms are made when the first run begins.
    sim.run(until=sim.Courant / RESOLUTION)
    best = math.inf
    for batch in range(batches + 1):
        begin = time.process_time()
        for _ in range(steps):
            sim.fields.step()
        # The first batch allocates what the physics needs.
        best = min(best, (time.process_time() - begin) / steps) if batch else best
    sim.reset_meep()
    return best, watched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vacuum", type=int, default=200, help="points along an edge of the vacuum cell")
    parser.add_argument("--points", type=int, default=100, help="points along an edge of the other cells")
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--json", default="", help="where to write the figures")
    options = parser.parse_args()
    mp.verbosity(0)
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("Set OMP_NUM_THREADS=1: CPU time of several threads is no measure of one.")
    found = {"version": mp.__version__, "vacuum": options.vacuum, "points": options.points}
    found |= {"costs": table(options), "fourier": transforms(options)}
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:  # noqa: PTH123 - one line
            json.dump(found, file, indent=1)


def table(options: argparse.Namespace) -> dict[str, float]:
    """Print and return nanoseconds per point and step."""
    large, _ = seconds_per_step(options.vacuum, options.batches, options.steps)
    speed = options.vacuum**3 / large / 1e6
    print(f"Meep {mp.__version__}: vacuum {options.vacuum}^3, {speed:.1f} Mpoints per CPU second")
    print(f"\n{options.points}^3 points            ns/point  x vacuum")
    costs: dict[str, float] = {}
    for name, arguments in cases(options.points / RESOLUTION):
        step, _ = seconds_per_step(options.points, options.batches, options.steps, **arguments)
        costs[name] = 1e9 * step / options.points**3
        if name.startswith("PML"):
            share = (1 - GAP / options.points) ** int(name[-2])
            costs[name] = (costs[name] - (1 - share) * costs["vacuum"]) / share
        print(f"{name:24s} {costs[name]:8.2f}  {costs[name] / costs['vacuum']:8.2f}", flush=True)
    return costs | {"large vacuum": 1e9 * large / options.vacuum**3}


def transforms(options: argparse.Namespace) -> dict[int, float]:
    """Print and return nanoseconds per component and point of Fourier transforms for numbers of frequencies."""
    plain, _ = seconds_per_step(options.points, options.batches, options.steps)
    costs = {}
    print("\nFourier transforms, each step     ns per component and point")
    for frequencies in (1, 10, 50):
        step, watched = seconds_per_step(options.points, options.batches, options.steps, fourier(frequencies))
        costs[frequencies] = 1e9 * (step - plain) / watched
        print(f"{frequencies:3d} frequencies {costs[frequencies]:8.2f}", flush=True)
    return costs


if __name__ == "__main__":
    main()
