"""Meep simulations from the plain settings of a design; it runs in Meep's own Python.

Lengths are in grid points: the resolution is 10, and the middle of the cell is the origin.

``points``
    Three numbers of points; 1 along z makes a cell of two dimensions.
``cuts``
    Number of equal chunks along each axis, all of one process. For anything else, `layout` has nested lists.
``medium``
    The medium of the cell: ``epsilon``, ``mu``, ``coupled`` (off-diagonal elements), ``conductivity``,
    ``magnetic_conductivity``, ``chi2``, ``chi3``, numbers of ``poles`` and ``magnetic_poles``, and the number of its
    ``first_pole``. Media have the same poles if the numbers of these poles are equal.
``objects``
    Blocks of such media: ``medium``, ``size``, ``center``.
``layers``
    ``kind`` ("pml" or "absorber"), ``axis``, ``points``, ``side`` ("low" or "high").
``periodic``, ``complex``
    Periodic sides, complex fields.
``around``
    ``m`` of a cylindrical cell, whose x is r, from 0 to as many points as it has.
``monitors``
    ``kind`` ("flux" across z, or "fields" of one component), ``size``, ``frequencies``, ``center``, and ``every``, the
    number of steps from one transform to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["RESOLUTION", "boxes", "medium_of", "simulation"]

RESOLUTION = 10.0
Settings = Mapping[str, Any]
AXES = "xyz"


def simulation(settings: Settings, **more: Any) -> Any:
    """Return the simulation of a design, with its monitors, before any step. Further arguments go to Meep."""
    import meep as mp

    points = settings["points"]
    asked = [make for name, make in OPTIONS.items() if settings.get(name) or name == "sources"]
    given = {keyword: value for make in asked for keyword, value in make(settings).items()}
    size = mp.Vector3(*(n / RESOLUTION if n > 1 else 0 for n in points))
    sim = mp.Simulation(cell_size=size, resolution=RESOLUTION, eps_averaging=False, Courant=0.35, **given, **more)
    for monitor in settings.get("monitors", ()):
        _watch(sim, monitor)
    return sim


def boxes(settings: Settings) -> tuple[Any, Any]:
    """Return the corners of a design's chunks in grid points, (n, 3) each, before PMLs become chunks of their own."""
    edges = [_edges(n, parts) for n, parts in zip(settings["points"], settings.get("cuts", (1, 1, 1)), strict=True)]
    low = np.stack([g.ravel() for g in np.meshgrid(*(e[:-1] for e in edges), indexing="ij")], axis=1)
    high = np.stack([g.ravel() for g in np.meshgrid(*(e[1:] for e in edges), indexing="ij")], axis=1)
    return low, high


def medium_of(given: Settings) -> Any:
    """Return a medium of Meep from its settings."""
    import meep as mp

    first = given.get("first_pole", 0)
    poles, magnetic = (_poles(first, given.get(name, 0)) for name in ("poles", "magnetic_poles"))
    off = mp.Vector3(*given.get("coupled", (0, 0, 0)))
    return mp.Medium(
        epsilon_diag=mp.Vector3(*(given.get("epsilon", 1.0) * np.ones(3))),
        epsilon_offdiag=off,
        mu=given.get("mu", 1.0),
        D_conductivity=given.get("conductivity", 0.0),
        B_conductivity=given.get("magnetic_conductivity", 0.0),
        chi2=given.get("chi2", 0.0),
        chi3=given.get("chi3", 0.0),
        E_susceptibilities=poles,
        H_susceptibilities=magnetic,
    )


def _poles(first: int, count: int) -> list[Any]:
    import meep as mp

    numbers = range(first, first + count)
    return [mp.LorentzianSusceptibility(frequency=1.1 + 0.1 * i, gamma=0.01, sigma=0.1) for i in numbers]


def _edges(points: int, parts: int) -> list[int]:
    return [round(points * i / parts) for i in range(parts + 1)]


def _sources(settings: Settings) -> Settings:
    """Return a point source for each component, away from the middle and from layers."""
    import meep as mp

    pulse, place = mp.GaussianSource(1.0, fwidth=0.5), mp.Vector3(*settings.get("source", (-0.05, -0.05, -0.05)))
    components = [getattr(mp, name) for name in settings.get("sources", ("Ex", "Ey", "Ez"))]
    return {"sources": [mp.Source(pulse, component, place) for component in components]}


def _layout(settings: Settings) -> Settings:
    import meep as mp

    edges = [_edges(n, parts) for n, parts in zip(settings["points"], settings["cuts"], strict=True)]
    at = [[e / RESOLUTION - n / RESOLUTION / 2 for e in row] for row, n in zip(edges, settings["points"], strict=True)]
    tree = _tree(at, 0)
    return {} if tree == 0 else {"chunk_layout": mp.BinaryPartition(data=tree)}


def _tree(edges: Sequence[Sequence[float]], axis: int) -> Any:
    """Return nested lists that cut at all inner edges, first along x. Every leaf belongs to process 0."""
    import meep as mp

    if axis == 3:
        return 0
    inner = edges[axis][1:-1]
    if not inner:
        return _tree(edges, axis + 1)
    middle = len(inner) // 2
    below, above = (list(edges) for _ in range(2))
    below[axis], above[axis] = edges[axis][: middle + 2], edges[axis][middle + 1 :]
    return [((mp.X, mp.Y, mp.Z)[axis], inner[middle]), _tree(below, axis), _tree(above, axis)]


def _layers(settings: Settings) -> Settings:
    import meep as mp

    kinds, sides = {"pml": mp.PML, "absorber": mp.Absorber}, {"low": mp.Low, "high": mp.High}
    made = [
        kinds[one["kind"]](
            one["points"] / RESOLUTION,
            direction=getattr(mp, "R" if "around" in settings and one["axis"] == "x" else one["axis"].upper()),
            side=sides[one["side"]],
        )
        for one in settings["layers"]
    ]
    return {"boundary_layers": made}


def _objects(settings: Settings) -> Settings:
    import meep as mp

    made = []
    for one in settings["objects"]:
        size, center = (mp.Vector3(*(v / RESOLUTION for v in one[name])) for name in ("size", "center"))
        made.append(mp.Block(size, center=center, material=medium_of(one["medium"])))
    return {"geometry": made}


def _medium(settings: Settings) -> Settings:
    return {"default_material": medium_of(settings["medium"])}


def _periodic(_: Settings) -> Settings:
    import meep as mp

    return {"k_point": mp.Vector3()}


def _complex(_: Settings) -> Settings:
    return {"force_complex_fields": True}


def _around(settings: Settings) -> Settings:
    import meep as mp

    # A source at the axis would excite some m alone.
    place = mp.Vector3(settings["points"][0] / RESOLUTION / 4, 0, 0.05)
    pulse = mp.GaussianSource(1.0, fwidth=0.5)
    sources = [mp.Source(pulse, component, place) for component in (mp.Er, mp.Ep, mp.Ez)]
    return {"dimensions": mp.CYLINDRICAL, **settings["around"], "sources": sources}


def _watch(sim: Any, monitor: Settings) -> None:
    import meep as mp

    size, center = (mp.Vector3(*(v / RESOLUTION for v in monitor.get(name, (0, 0, 0)))) for name in ("size", "center"))
    frequencies, every = np.linspace(0.9, 1.1, monitor["frequencies"]), monitor.get("every", 1)
    if monitor["kind"] == "flux":
        region = mp.FluxRegion(center=center, size=size, direction=getattr(mp, monitor.get("across", "Z")))
        sim.add_flux(frequencies, region, decimation_factor=every)
    else:
        where = mp.Volume(center=center, size=size)
        sim.add_dft_fields([mp.Ez], frequencies, where=where, yee_grid=True, decimation_factor=every)


OPTIONS = {
    "sources": _sources,
    "cuts": _layout,
    "layers": _layers,
    "objects": _objects,
    "medium": _medium,
    "periodic": _periodic,
    "complex": _complex,
    "around": _around,
}
