"""The cells of `fdtd_mirrors.py` in Meep; this module runs in Meep's own Python, started by that script.

A line on standard input is the number of a case, its mirrors as ``x-1,y1``, and a number of steps; the answer is the
CPU seconds of a step.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import meep as mp

RESOLUTION = 20


def simulation(case: int, mirrors: str) -> Any:
    """Return the simulation of a case."""
    metal = mp.Medium(epsilon=2, E_susceptibilities=[mp.DrudeSusceptibility(frequency=1.5, gamma=0.05, sigma=1)])
    glass = mp.Medium(index=1.5)
    pulse = mp.GaussianSource(1.0, fwidth=0.5)
    cube = mp.Vector3(4.8, 4.8, 4.8)
    given: list[dict[str, Any]] = [
        {
            "cell_size": cube,
            "geometry": [mp.Sphere(radius=0.8, material=metal)],
            "sources": [mp.Source(pulse, mp.Ex, mp.Vector3())],
            "boundary_layers": [mp.PML(0.6)],
        },
        {
            "cell_size": cube,
            "geometry": [mp.Sphere(radius=1.6, material=glass)],
            "sources": [mp.Source(pulse, mp.Ex, mp.Vector3(z=-1.7), size=mp.Vector3(4.8, 4.8))],
            "boundary_layers": [mp.PML(0.6, direction=mp.Z)],
            "k_point": mp.Vector3(),
        },
        {
            "cell_size": mp.Vector3(20, 20),
            "geometry": [mp.Cylinder(radius=4, material=glass)],
            "sources": [mp.Source(pulse, mp.Ez, mp.Vector3())],
            "boundary_layers": [mp.PML(1)],
        },
    ]
    axes = {"x": mp.X, "y": mp.Y, "z": mp.Z}
    planes = [mp.Mirror(axes[one[0]], phase=int(one[1:])) for one in mirrors.split(",") if one]
    sim = mp.Simulation(resolution=RESOLUTION, symmetries=planes, **given[case])
    sizes = sim.cell_size
    box = mp.FluxRegion(mp.Vector3(x=0.175 * sizes.x), size=mp.Vector3(0, 0.35 * sizes.y, 0.35 * sizes.z))
    sim.add_flux([0.8, 1.0, 1.2], box)
    sim.init_sim()
    return sim


def main() -> None:
    mp.verbosity(0)
    made: dict[tuple[str, str], Any] = {}
    for line in sys.stdin:
        case, mirrors, steps = line.rstrip("\n").split(":")
        if (case, mirrors) not in made:
            made[case, mirrors] = simulation(int(case), mirrors)
        sim = made[case, mirrors]
        begin = time.process_time()
        for _ in range(int(steps)):
            sim.fields.step()
        print("seconds", (time.process_time() - begin) / int(steps), flush=True)


if __name__ == "__main__":
    main()
