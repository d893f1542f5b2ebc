"""Cells whose steps `fdtd_meep.py` times, each described once and built by evenly or by Meep.

Each Python imports only its own package, so this module runs where only one of the two is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

RESOLUTION, DEPTH = 10, 10
FREQUENCIES = (0.8, 1.2, 20)
SIZE, SMALLER = 128, 100
Runner = Callable[[int], None]


@dataclass(frozen=True)
class Matter:
    """A medium; all poles are Lorentz poles of different frequencies."""

    epsilon: float = 1.0
    off_diagonal: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mu: float = 1.0
    conductivity: float = 0.0
    poles: int = 0
    chi2: float = 0.0
    chi3: float = 0.0


@dataclass(frozen=True)
class Cell:
    """A cell, in points.

    Parameters
    ----------
    shape : edges in points, 0 where nothing varies
    steps : steps of a batch; those of large cells are a multiple of what evenly does in one pass
    matter : what fills the cell, or a block in its middle
    block : edges of that block, over those of the cell; None where all is filled
    layers : axes with a PML of ten points on both sides; the others are periodic
    depth : points of each layer
    flux : whether a box of six planes records the flux at 20 frequencies
    source : the component of the source
    k : Bloch's wave vector
    lasting : whether the source never ends, for many steps of small cells; else it is a pulse
    goal : at least this ratio of Meep's time to evenly's is wanted
    """

    shape: tuple[int, int, int]
    steps: int = 12
    matter: Matter = Matter()
    block: tuple[float, float, float] | None = None
    layers: str = ""
    depth: int = DEPTH
    flux: bool = False
    source: str = "Ez"
    k: tuple[float, float, float] = (0.0, 0.0, 0.0)
    lasting: bool = False
    goal: float | None = None

    @property
    def edges(self) -> tuple[float, ...]:
        return tuple(n / RESOLUTION for n in self.shape)

    @property
    def points(self) -> int:
        x, y, z = (max(n, 1) for n in self.shape)
        return x * y * z

    @property
    def axes(self) -> str:
        return "".join(axis for axis, n in zip("xyz", self.shape, strict=True) if n)

    @property
    def at(self) -> tuple[float, ...]:
        """The place of the source: off the middle."""
        return tuple(0.05 if n else 0.0 for n in self.shape)


def speed(size: int) -> dict[str, Cell]:
    """Return large cells."""
    cube, square, film = (size,) * 3, (1000, 1000, 0), (2.0, 2.0, 0.5)
    glass, resonant, half = Matter(epsilon=4), Matter(epsilon=2, poles=1), (0.5, 0.5, 0.5)
    return {
        f"vacuum, {size}³": Cell(cube),
        f"film, {size}³": Cell(cube, matter=glass, block=film),
        f"Lorentz volume, {size}³": Cell(cube, matter=resonant, block=half),
        f"PML box, {size}³": Cell(cube, layers="xyz"),
        f"flux box, {size}³": Cell(cube, flux=True),
        f"mix (PML, Lorentz, flux), {size}³": Cell(cube, matter=resonant, block=half, layers="xyz", flux=True),
        "2D 1000², Ez": Cell(square, goal=2.0),
        "2D 1000², Hz": Cell(square, source="Hz", goal=2.0),
        "2D 1000², Ez, PML": Cell(square, layers="xy"),
    }


def media(size: int) -> dict[str, Cell]:
    """Return cells that are filled with one kind of point."""
    cube = (size,) * 3

    def whole(**given: Any) -> Cell:
        return Cell(cube, matter=Matter(**{"epsilon": 2.0, **given}))

    return {
        "epsilon": whole(),
        "epsilon, off-diagonal": whole(off_diagonal=(0.1, 0.2, 0.3)),
        "mu": whole(mu=2.0),
        "conductivity": whole(conductivity=0.1),
        "1 Lorentz pole": whole(poles=1),
        "2 Lorentz poles": whole(poles=2),
        "5 Lorentz poles": whole(poles=5),
        "chi2": whole(chi2=1e-3),
        "chi3": whole(chi3=1e-3),
        # Layers that nearly meet: Meep asks for points between them.
        **{f"PML along {axes}": Cell(cube, layers=axes, depth=size // 2 - 2) for axes in ("x", "xy", "xyz")},
        "Bloch, complex fields": Cell(cube, k=(0.1, 0.2, 0.3)),
    }


def small() -> dict[str, Cell]:
    """Return cells in which a step's fixed price counts."""
    return {
        "20², periodic": Cell((20, 20, 0), 4000, lasting=True, goal=1 / 1.2),
        "40², PML": Cell((40, 40, 0), 1500, layers="xy", lasting=True, goal=1.0),
        "160², PML": Cell((160, 160, 0), 400, layers="xy", lasting=True, goal=1.0),
        "40³, PML": Cell((40, 40, 40), 30, layers="xyz", lasting=True, goal=1 / 0.7),
    }


def by_evenly(cell: Cell) -> Runner:
    """Return what does so many steps: a run, with all that it does beside stepping."""
    import numpy as np

    from evenly import fdtd

    matter = cell.matter
    medium = fdtd.Medium(
        epsilon=matter.epsilon,
        epsilon_off_diagonal=matter.off_diagonal,
        mu=matter.mu,
        electric_conductivity=matter.conductivity,
        electric_poles=[fdtd.LorentzPole(1.1 + 0.1 * i, 0.01, 0.5) for i in range(matter.poles)],
        chi2=matter.chi2,
        chi3=matter.chi3,
    )
    filled = (
        {"material": medium} if cell.block is None else {"geometry": [fdtd.Block(size=_sizes(cell), material=medium)]}
    )
    layers = [fdtd.PML(cell.depth / RESOLUTION, axis) for axis in cell.layers]
    rest = "".join(axis for axis in cell.axes if axis not in cell.layers)
    around = [fdtd.Bloch(axes=rest, k=cell.k) if any(cell.k) else fdtd.Periodic(rest)] if rest else []
    pulse = fdtd.ContinuousWave(frequency=1.0) if cell.lasting else fdtd.GaussianPulse(1.0, fwidth=0.5)
    sim = fdtd.Simulation(
        cell=cell.edges,
        resolution=RESOLUTION,
        sources=[fdtd.Source(pulse, cell.source, center=cell.at)],
        boundaries=[*layers, *around],
        **filled,
    )
    if cell.flux:
        sim.add(fdtd.Flux((0, 0, 0), tuple(0.6 * edge for edge in cell.edges), np.linspace(*FREQUENCIES)))
    return lambda steps: sim.run(until=(sim.step_count + steps) * sim.grid.dt, progress="off")


def by_meep(cell: Cell) -> Runner:
    """Return what does so many steps, the bare ones."""
    import meep as mp

    mp.verbosity(0)
    matter, edges = cell.matter, mp.Vector3(*cell.edges)
    medium = mp.Medium(
        epsilon=matter.epsilon,
        epsilon_offdiag=mp.Vector3(*matter.off_diagonal),
        mu=matter.mu,
        D_conductivity=matter.conductivity,
        E_susceptibilities=[
            mp.LorentzianSusceptibility(frequency=1.1 + 0.1 * i, gamma=0.01, sigma=0.5) for i in range(matter.poles)
        ],
        chi2=matter.chi2,
        chi3=matter.chi3,
    )
    inside = mp.Block(mp.Vector3(*_sizes(cell)), material=medium)
    filled = {"default_material": medium} if cell.block is None else {"geometry": [inside]}
    periodic = cell.layers != cell.axes
    pulse = mp.ContinuousSource(frequency=1.0) if cell.lasting else mp.GaussianSource(1.0, fwidth=0.5)
    sim = mp.Simulation(
        cell_size=edges,
        resolution=RESOLUTION,
        sources=[mp.Source(pulse, getattr(mp, cell.source), mp.Vector3(*cell.at))],
        boundary_layers=[mp.PML(cell.depth / RESOLUTION, direction=getattr(mp, a.upper())) for a in cell.layers],
        k_point=mp.Vector3(*cell.k) if periodic else False,
        **filled,
    )
    if cell.flux:
        sim.add_flux((FREQUENCIES[0] + FREQUENCIES[1]) / 2, FREQUENCIES[1] - FREQUENCIES[0], FREQUENCIES[2], *_box(sim))
    sim.init_sim()
    # Transforms are made when the first run begins.
    sim.run(until=sim.Courant / RESOLUTION)

    def run(steps: int) -> None:
        for _ in range(steps):
            sim.fields.step()

    return run


def _sizes(cell: Cell) -> tuple[float, ...]:
    return tuple(share * edge for share, edge in zip(cell.block or (1.0,) * 3, cell.edges, strict=True))


def _box(sim: Any) -> list[Any]:
    """Return the six faces of a box."""
    import meep as mp

    faces, edges = [], [0.6 * edge for edge in sim.cell_size]
    for axis in range(3):
        for sign in (-1, 1):
            center, size = [0.0] * 3, list(edges)
            center[axis], size[axis] = sign * edges[axis] / 2, 0.0
            faces.append(mp.FluxRegion(mp.Vector3(*center), size=mp.Vector3(*size), weight=sign))
    return faces
