"""Cells with all kinds of physics."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evenly import fdtd
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.fdtd.simulation import Simulation

__all__ = ["everything", "some_cells"]


def everything() -> Simulation:
    """Return a cell with poles, films, a sphere, layers and a periodic axis."""
    metal = fdtd.Medium(epsilon=2.0, electric_poles=[fdtd.LorentzPole(0.02, 0.001, 0.4), fdtd.DrudePole(0.02, 0.001)])
    objects = [
        fdtd.Block(size=(np.inf, np.inf, 3.02), center=(0, 0, 4.0), material=metal),
        fdtd.Sphere(radius=4.0, center=(1.0, 0.5, -3.0), material=fdtd.Medium(epsilon=3.0)),
        fdtd.Block(size=(5.02, 4.02, 3.02), center=(-4.0, 2.0, -2.0), material=fdtd.Medium(epsilon=2.0, chi3=1e-3)),
    ]
    return Simulation(
        cell=(20, 14, 22),
        resolution=1,
        geometry=objects,
        boundaries=[fdtd.PML(3.0, "z"), fdtd.Absorber(4.0, "x"), fdtd.Periodic("y")],
        options=fdtd.Options(courant=0.25),
    )


@lru_cache(maxsize=1)
def some_cells() -> dict[str, Cell]:
    """Return cells by name."""
    flux = fdtd.Flux((0, 0, 0), (8, 6, 4), [0.02, 0.03])
    sims = {
        "everything": (everything(), [flux]),
        "vacuum": (Simulation(cell=(9, 7, 5), resolution=1), []),
        "flat": (Simulation(cell=(12, 9, 0), resolution=1, boundaries=[fdtd.PML(2.0, "x")]), []),
        "Bloch": (Simulation(cell=(8, 8, 8), resolution=1, boundaries=[fdtd.Bloch("xyz", (0.01, 0.0, 0.02))]), []),
    }
    return {name: cell_of(sim, monitors) for name, (sim, monitors) in sims.items()}
