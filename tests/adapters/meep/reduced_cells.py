"""Cells with symmetries and cylindrical cells, with monitors; this module runs in Meep's own Python.

``python reduced_cells.py`` has no effect; tests and ``benchmarks/meep_symmetries.py`` import it.
"""

from __future__ import annotations

from typing import Any

import meep as mp
import numpy as np

V = mp.Vector3
FREQUENCIES = [0.4, 0.5, 0.6]
METAL = mp.Medium(
    epsilon=2, E_susceptibilities=[mp.LorentzianSusceptibility(frequency=1.1, gamma=0.1, sigma=0.5)]
)  # fmt: skip
#: Symmetries and other arguments of each cell.
PLANES: dict[str, dict[str, Any]] = {
    "mirror x": {"symmetries": [mp.Mirror(mp.X)]},
    "mirror y, odd": {"symmetries": [mp.Mirror(mp.Y, phase=-1)], "component": mp.Hz},
    "mirrors x, y": {"symmetries": [mp.Mirror(mp.X), mp.Mirror(mp.Y)]},
    "mirrors x, y, off the middle": {
        "symmetries": [mp.Mirror(mp.X), mp.Mirror(mp.Y)], "geometry_center": V(0.5, -0.3), "cell_size": V(4.1, 3.9),
    },
    "mirror x, periodic": {"symmetries": [mp.Mirror(mp.X)], "k_point": V()},
    "mirror y, Bloch": {"symmetries": [mp.Mirror(mp.Y)], "k_point": V(0.2)},
    "half turn": {"symmetries": [mp.Rotate2(mp.Z)]},
    "half turn, odd": {"symmetries": [mp.Rotate2(mp.Z, phase=-1)], "component": mp.Hz},
    "quarter turn": {"symmetries": [mp.Rotate4(mp.Z)]},
    "quarter turn, phase i": {"symmetries": [mp.Rotate4(mp.Z, phase=1j)]},
}  # fmt: skip
BLOCKS: dict[str, dict[str, Any]] = {
    "mirror x, block": {"symmetries": [mp.Mirror(mp.X)]},
    "mirror y, odd, block": {"symmetries": [mp.Mirror(mp.Y, phase=-1)]},
    "mirror z, odd, block": {"symmetries": [mp.Mirror(mp.Z, phase=-1)]},
    "mirrors x, y, z, block": {"symmetries": [mp.Mirror(mp.X), mp.Mirror(mp.Y), mp.Mirror(mp.Z, phase=-1)]},
    "half turn about x, block": {"symmetries": [mp.Rotate2(mp.X, phase=-1)]},
    "quarter turn and mirror z, block": {"symmetries": [mp.Rotate4(mp.Z), mp.Mirror(mp.Z, phase=-1)]},
}
CYLINDERS: dict[str, dict[str, Any]] = {
    "cylinder, m = 0": {"m": 0},
    "cylinder, m = 1": {"m": 1},
    "cylinder, m = -3": {"m": -3},
    "cylinder, m = 0, mirror z": {"m": 0, "symmetries": [mp.Mirror(mp.Z)]},
    "cylinder, m = 1, mirror z": {"m": 1, "symmetries": [mp.Mirror(mp.Z)]},
}
LINES: dict[str, dict[str, Any]] = {"mirror z, line": {"symmetries": [mp.Mirror(mp.Z)]}}
NAMES = (*PLANES, *BLOCKS, *CYLINDERS, *LINES)


def build(name: str) -> Any:
    """Return a simulation with its monitors, before it is initialised."""
    if name in PLANES:
        return _cartesian({"cell_size": V(4, 4), **PLANES[name]}, (0, 1))
    if name in BLOCKS:
        return _cartesian({"cell_size": V(2.6, 2.6, 2.6), **BLOCKS[name]}, (0, 1, 2))
    return _cylinder(CYLINDERS[name]) if name in CYLINDERS else _line(LINES[name])


def recorded(sim: Any) -> list[Any]:
    """Run a simulation of `build`, and return all that its monitors recorded, one array each."""
    sim.run(until=12)
    found = [np.array(mp.get_fluxes(flux)) for flux in sim.fluxes]
    if sim.near is not None:
        found.append(np.array(sim.get_farfield(sim.near, V(8, 0, 6) if sim.is_cylindrical else V(8, 5))))
    found += [np.array(sim.get_dft_array(sim.inside, component, 1)).ravel() for component in sim.components]
    return [values for values in found if np.abs(values).max() > 1e-12]


def _cartesian(given: dict[str, Any], axes: tuple[int, ...]) -> Any:
    component = given.pop("component", mp.Ez)
    middle = given.get("geometry_center", V())
    thick = len(axes) == 3
    box = mp.Block(V(1.2, 1.2, 0.4 if thick else mp.inf), center=middle, material=mp.Medium(epsilon=4))
    layers = [mp.PML(0.5)] if "k_point" not in given else [mp.PML(0.5, direction=mp.Y)]
    sim = mp.Simulation(
        resolution=10,
        boundary_layers=layers,
        geometry=[box, mp.Sphere(0.5, center=middle, material=METAL)],
        sources=[mp.Source(mp.GaussianSource(0.5, fwidth=0.4), component, middle)],
        **given,
    )
    wide = [V(0, 1.5, 1.5 * thick), V(1.5, 0, 1.5 * thick), V(1.5, 1.5, 0)]
    away = [V(0.75), V(0, 0.75), V(0, 0, 0.75)]
    both = [(middle + side * away[axis], wide[axis], side) for axis in axes for side in (1, -1)]
    sim.fluxes = [sim.add_flux(FREQUENCIES, mp.FluxRegion(center=at, size=size)) for at, size, _ in both]
    sim.fluxes.append(sim.add_flux(FREQUENCIES, *(mp.FluxRegion(center=c, size=s, weight=w) for c, s, w in both)))
    aside = middle + V(0.3, 0.55)
    sim.fluxes.append(sim.add_mode_monitor(FREQUENCIES, mp.ModeRegion(center=aside, size=V(0, 0.5, 0.5 * thick))))
    near = [mp.Near2FarRegion(center=at, size=size, weight=side) for at, size, side in both]
    sim.near = None if "k_point" in given else sim.add_near2far(FREQUENCIES, *near)
    sim.components = [mp.Ex, mp.Ey, mp.Ez]
    sim.inside = sim.add_dft_fields(sim.components, FREQUENCIES, center=middle + V(0.1, 0.2), size=V(1.2, 1, thick))
    return sim


def _cylinder(given: dict[str, Any]) -> Any:
    sim = mp.Simulation(
        cell_size=V(3, 0, 4),
        resolution=10,
        dimensions=mp.CYLINDRICAL,
        boundary_layers=[mp.PML(0.5)],
        geometry=[mp.Block(V(1, mp.inf, 1), material=METAL)],
        sources=[mp.Source(mp.GaussianSource(0.5, fwidth=0.4), mp.Er, V(1.1))],
        **given,
    )
    sides = [(V(0.8, 0, 1.2), V(1.6), 1), (V(1.6), V(0, 0, 2.4), 1), (V(0.8, 0, -1.2), V(1.6), -1)]
    sim.fluxes = [sim.add_flux(FREQUENCIES, mp.FluxRegion(center=at, size=size)) for at, size, _ in sides]
    near = [mp.Near2FarRegion(center=at, size=size, weight=w) for at, size, w in sides]
    sim.near = sim.add_near2far(FREQUENCIES, *near)
    sim.components = [mp.Er, mp.Ez]
    sim.inside = sim.add_dft_fields(sim.components, FREQUENCIES, center=V(1), size=V(1.5, 0, 1.5))
    return sim


def _line(given: dict[str, Any]) -> Any:
    sim = mp.Simulation(
        cell_size=V(0, 0, 6),
        resolution=10,
        dimensions=1,
        boundary_layers=[mp.PML(0.5)],
        geometry=[mp.Block(V(mp.inf, mp.inf, 1), material=METAL)],
        sources=[mp.Source(mp.GaussianSource(0.5, fwidth=0.4), mp.Ex, V())],
        **given,
    )
    sim.fluxes = [sim.add_flux(FREQUENCIES, mp.FluxRegion(center=V(0, 0, side))) for side in (1.5, -1.5)]
    sim.near, sim.components = None, [mp.Ex]
    sim.inside = sim.add_dft_fields(sim.components, FREQUENCIES, center=V(), size=V(0, 0, 3))
    return sim
