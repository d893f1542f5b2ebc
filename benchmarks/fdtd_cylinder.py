"""The FDTD simulation against Mie's series: what a metal cylinder absorbs and scatters, by points per radius.

A plane wave falls on a Drude cylinder in two dimensions. In TM, E is along the cylinder. In TE it is across, and the
charges on the surface make the case hard. The table shows the largest errors over several radii, which differ by
fractions of a grid spacing, because the surface then lies differently on the grid.

    python benchmarks/fdtd_cylinder.py --points 8,16,32
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly import fdtd
from fdtd_meep_physics import BOX, CELL, CENTRE, LAYER, LOSS, METAL_FREQUENCIES, PLASMA, RADIUS, RINGING, WIDTH

Array = NDArray[np.float64]
METAL = fdtd.Medium(electric_poles=[fdtd.DrudePole(PLASMA, LOSS)])
PULSE = fdtd.GaussianPulse(CENTRE, fwidth=WIDTH)


def theory(radius: float, polarisation: str) -> Array:
    """Return the absorption and scattering cross-sections over the diameter, (2, n_frequencies), as for the tests."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.fdtd.physics.mie import cylinder

    indices = [complex(METAL.index_at(float(f))) for f in METAL_FREQUENCIES]
    pairs = zip(indices, METAL_FREQUENCIES, strict=True)
    return np.transpose([cylinder(m, 2 * np.pi * f * radius, along=polarisation == "TM") for m, f in pairs])


def fluxes(points: int, radius: float | None, polarisation: str) -> tuple[fdtd.Flux, fdtd.Flux]:
    """Return the flux out of a box around the cylinder, and that through a plane at its place."""
    rod = fdtd.Cylinder(radius=radius or 1.0, height=np.inf, material=METAL)
    source = fdtd.Source(PULSE, "Ez" if polarisation == "TM" else "Ey", (LAYER + 0.05 - CELL / 2, 0, 0), (0, CELL, 0))
    sim = fdtd.Simulation(
        cell=(CELL, CELL, 0),
        resolution=points / RADIUS,
        geometry=[rod] if radius else [],
        sources=[source],
        # Nothing varies along y in the incident wave, so it does not see the layers there.
        boundaries=[fdtd.PML(LAYER), fdtd.Periodic("y")],
    )
    around = sim.add(fdtd.Flux((0, 0, 0), (BOX, BOX, 0), METAL_FREQUENCIES))
    plane = sim.add(fdtd.Flux((0, 0, 0), (0, 0.25, 0), METAL_FREQUENCIES))
    sim.run(until=PULSE.last_time + (RINGING if radius else 10), progress="off")
    return around, plane


def errors(points: int, polarisation: str, radii: Array) -> Array:
    """Return the relative errors of the absorption and scattering, (n_radii, 2, n_frequencies)."""
    empty, plane = fluxes(points, None, polarisation)
    intensity, found = plane.flux() / 0.25, []
    for radius in radii:
        around, _ = fluxes(points, radius, polarisation)
        absorbed = -around.flux()
        around.add(empty.data(), -1.0)
        found.append(np.stack([absorbed, around.flux()]) / (intensity * 2 * radius) / theory(radius, polarisation) - 1)
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", default="8,16,32", help="points per radius")
    parser.add_argument("--polarisations", default="TM,TE")
    parser.add_argument("--radii", type=int, default=4, help="how many radii")
    options = parser.parse_args()
    print(f"{'errors in %':14}" + "".join(f"{f'absorbed, ε = {e}':>21}" for e in (-2, -4, -10)) + f"{'scattered':>12}")
    steps = [int(points) for points in options.points.split(",")]
    for polarisation in options.polarisations.split(","):
        means = []
        for points in steps:
            radii = RADIUS * (1 + np.arange(options.radii) / options.radii / points)
            absorbed, scattered = 100 * np.abs(errors(points, polarisation, radii)).transpose(1, 0, 2)
            means.append([*absorbed.mean(0), scattered.mean()])
            cells = [
                f"{mean:8.1f} (≤ {most:6.1f})" for mean, most in zip(absorbed.mean(0), absorbed.max(0), strict=True)
            ]
            print(
                f"{polarisation} {points:3} points " + "".join(f"{c:>21}" for c in cells) + f"{scattered.max():12.1f}",
                flush=True,
            )
        if len(steps) > 1:
            # The error of order p goes as points^-p; mean errors count.
            orders = -np.polyfit(np.log(steps), np.log(means), 1)[0]
            print(
                f"{polarisation} order      " + "".join(f"{p:10.1f}{'':11}" for p in orders[:3]) + f"{orders[3]:12.1f}"
            )


if __name__ == "__main__":
    main()
