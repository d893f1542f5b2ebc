"""What the benchmarks of cutting share: costs, and cells whose work is uneven in different ways."""

from __future__ import annotations

from pathlib import Path

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import Coefficient, CostModel, program_named
from evenly.decomposition.costs.locations import find_cost
from evenly.errors import ReadError
from evenly.fdtd import Block, Medium, Simulation
from evenly.fdtd.media.library import medium
from evenly.fdtd.structures.programs import load

#: Seconds of one of each kind where there is no calibration: round numbers, so the cuts are cuts of a made-up machine.
ROUND = {
    "point": 2e-9, "value": 2e-9, "value and frequency": 1e-9, "node": 5e-9, "face": 5e-9, "row": 1e-8, "run": 1e-8,
    "chunk": 2e-6, "rank": 2e-6, "call": 3e-7, "side": 2e-7, "patch": 5e-7,
}  # fmt: skip


def costs(path: Path | None = None) -> tuple[CostModel, str]:
    """Return the costs of evenly.fdtd in a file or on this machine, else round ones, and which they are."""
    try:
        found = find_cost("fdtd", path)
    except ReadError:
        if path is not None:
            raise
        terms = program_named("fdtd").all_terms
        made = {term.name: Coefficient(ROUND[term.per]) for term in terms if term.per in ROUND}
        return CostModel("fdtd", made, share_error=0.03), "round numbers, as nothing was calibrated"
    return found.cost, found.note


def structure(name: str, **parameters: float) -> Cell:
    """Return the cell of a shipped structure with its monitors."""
    program = load(name, parameters)
    return cell_of(program.simulation, program.monitors.values(), name=name)


def corner(edge: int = 96) -> Cell:
    """Return a cube of vacuum with a dispersive metal in one corner, a quarter of the edge long."""
    size = edge / 10
    metal = Block(size=(size / 4,) * 3, center=(-3 * size / 8,) * 3, material=medium("silver"))
    return cell_of(Simulation(cell=(size,) * 3, resolution=10, geometry=[metal]), name="corner")


def objects(edge: int, count: int, seed: int = 0) -> Simulation:
    """Return a cube of `edge`^3 points with random blocks, spheres and rods of six media between absorbing layers."""
    import numpy as np

    from evenly.fdtd import PML, Cylinder, Sphere

    rng = np.random.default_rng(seed)
    media = [Medium(index=1.5), Medium(index=3.5), *(medium(m) for m in ("silver", "aluminium", "gold", "copper"))]
    size = edge / 10
    geometry = []
    for _ in range(count):
        center, extent = rng.uniform(-0.45, 0.45, 3) * size, rng.uniform(0.01, 0.06) * size
        solid = media[rng.integers(len(media))]
        kind = rng.integers(3)
        if kind == 0:
            geometry.append(Block(size=tuple(extent * rng.uniform(0.3, 2, 3)), center=tuple(center), material=solid))
        elif kind == 1:
            geometry.append(Sphere(radius=extent / 2, center=tuple(center), material=solid))
        else:
            geometry.append(Cylinder(radius=extent / 3, height=2 * extent, center=tuple(center), material=solid))
    return Simulation(cell=(size,) * 3, resolution=10, geometry=geometry, boundaries=[PML(size / 50)])
