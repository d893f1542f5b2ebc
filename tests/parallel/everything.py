"""Cells with all physics at once, cut in many ways; run as a script on several ranks it compares with a reference.

usage: everything.py REFERENCE.npz SCENE [SCENE ...]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly import fdtd
from evenly.fdtd.cell.grid import COMPONENTS

STEPS_UNTIL = 2.5


def media() -> list[Any]:
    """Return objects that overlap and bring every kind of physics but nonlinearity."""
    dispersive = fdtd.Medium(
        epsilon=2, electric_poles=(fdtd.LorentzPole(1.1, 0.1, (0.7, 0.2, 0.4)), fdtd.DrudePole(0.6, 0.05))
    )
    crystal = fdtd.Medium(epsilon=(3, 4, 5), epsilon_off_diagonal=(0.3, 0.2, 0.1))
    magnetic = fdtd.Medium(
        epsilon=2,
        mu=3,
        mu_off_diagonal=(0.3, 0.2, 0.1),
        electric_conductivity=0.4,
        magnetic_conductivity=0.1,
        magnetic_poles=(fdtd.LorentzPole(1.1, 0.1, 0.7),),
    )
    return [
        fdtd.Sphere(radius=0.6, center=(0.2, 0, 0), material=dispersive),
        fdtd.Block(size=(1, 0.5, 1), center=(-0.2, 0.1, 0.3), material=crystal),
        fdtd.Cylinder(radius=0.3, height=1.0, center=(0, -0.3, 0), axis=(1, 0.3, 0.2), material=magnetic),
    ]


def nonlinear() -> list[Any]:
    medium = fdtd.Medium(epsilon=2, chi2=0.1, chi3=0.2)
    return [fdtd.Block(size=(0.6, 0.6, 0.6), center=(-0.3, -0.3, -0.3), material=medium)]


SCENES: dict[str, dict[str, Any]] = {
    "real": {
        "cell": (2, 1.6, 1.8),
        "geometry": media() + nonlinear(),
        "boundaries": [fdtd.PML(0.3, "x"), fdtd.Absorber(0.3, "y"), fdtd.Periodic("z")],
    },
    "bloch": {
        "cell": (2, 1.6, 1.8),
        "geometry": media(),
        "boundaries": [fdtd.PML(0.3, "x"), fdtd.PML(0.2, "y"), fdtd.Bloch("z", k=(0, 0, 0.2))],
    },
    "corners": {"cell": (1.6, 1.6, 1.8), "geometry": media()[:2], "boundaries": [fdtd.PML(0.4, kappa=2, alpha=0.1)]},
    "walls": {"cell": (1.6, 1.7, 1.8), "geometry": media()},
    "periodic": {"cell": (1.6, 1.7, 1.2), "geometry": media() + nonlinear(), "boundaries": [fdtd.Periodic()]},
    "flat": {"cell": (2, 0, 1.8), "geometry": media() + nonlinear(), "boundaries": [fdtd.PML(0.3, "z")]},
    "line": {"cell": (0, 0, 4), "geometry": media() + nonlinear(), "boundaries": [fdtd.PML(0.5, "z", "low")]},
}


def random_layout(cell: tuple[float, ...], leaves: int, seed: int) -> fdtd.BinaryPartition:
    """Return a tree of random cuts, owners in no order."""
    rng = np.random.default_rng(seed)

    def grow(low: list[float], high: list[float], count: int) -> Any:
        wide = [a for a in range(3) if high[a] - low[a] > 0.5]
        if count == 1 or not wide:
            return int(rng.integers(0, 8))
        axis = int(rng.choice(wide))
        at = round(float(rng.uniform(low[axis] + 0.2, high[axis] - 0.2)), 1)
        middle = [at if a == axis else v for a, v in enumerate(high)]
        start = [at if a == axis else v for a, v in enumerate(low)]
        first = int(rng.integers(1, count))
        return [("xyz"[axis], at), grow(low, middle, first), grow(start, high, count - first)]

    half = [*cell, 0.0, 0.0][:3]
    return fdtd.BinaryPartition(grow([-v / 2 for v in half], [v / 2 for v in half], leaves))


def layouts(cell: tuple[float, ...]) -> list[fdtd.BinaryPartition | None]:
    """Return the default, a random and a hand-made layout; the last leaves ranks idle and has ids modulo ranks."""
    hand = fdtd.BinaryPartition([("z", -0.3), 9, [("z", 0.4), 1, 0]])
    return [None, random_layout(cell, 6, 1), random_layout(cell, 9, 2), hand]


def run(scene: str, layout: Any = None, **options: Any) -> dict[str, NDArray[Any]]:
    """Return all fields and some monitors' results after a run."""
    setup = SCENES[scene]
    pulse = fdtd.GaussianPulse(frequency=1.0, fwidth=0.8)
    wide = [float(size > 0) for size in setup["cell"]]
    sources = [
        fdtd.Source(pulse, "Ex", center=(0.13 * wide[0], 0, -0.11), size=(0.5 * wide[0], 0, 0)),
        fdtd.Source(pulse, "Hy", center=(0.13 * wide[0], 0, -0.31), amplitude=0.3 - 0.4j),
        fdtd.Source(pulse, "Ez", center=(0.33 * wide[0], 0, 0.31)),
    ]
    sim = fdtd.Simulation(
        **setup, resolution=10, sources=sources, layout=layout, options=fdtd.Options(courant=0.45, **options)
    )
    plane = (0.8 * wide[0], 0.8 * wide[1], 0)
    flux = sim.add(fdtd.Flux(center=(0, 0, 0.05), size=plane, frequencies=[0.8, 1.1], direction="+z"))
    sim.run(until=STEPS_UNTIL)
    result = {component: sim.field(component) for component in COMPONENTS}
    return result | {"flux": flux.flux()}


def worst(result: dict[str, NDArray[Any]], reference: dict[str, NDArray[Any]]) -> float:
    """Return the largest difference relative to the largest value of each quantity (of E or H together)."""
    wrong = 0.0
    for name, value in result.items():
        group = [k for k in reference if k[0] == name[0]]
        scale = max(float(np.abs(reference[k]).max()) for k in group)
        wrong = max(wrong, float(np.abs(value - reference[name]).max()) / scale)
    return wrong


def main(path: str, *scenes: str) -> None:
    with np.load(path) as file:
        stored = {key: file[key] for key in file.files}
    for scene in scenes:
        reference = {key.split(".")[1]: value for key, value in stored.items() if key.startswith(scene + ".")}
        for number, layout in enumerate(layouts(SCENES[scene]["cell"])):
            difference = worst(run(scene, layout), reference)
            fdtd.master_print(f"{scene} {number} {difference:.3e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
