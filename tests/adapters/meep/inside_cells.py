"""What tests of cells and layouts ask Meep itself; these functions run in its Python and return plain values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import meep as mp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import reduced_cells  # type: ignore[import-not-found]
import structures  # type: ignore[import-not-found]

from evenly.adapters.meep.cell.cell import cell_of
from evenly.adapters.meep.cell.geometry import structure_of
from evenly.adapters.meep.cell.monitors import period_of
from evenly.adapters.meep.cell.solids import solid_of
from evenly.adapters.meep.grid import grid_of, volumes_of
from evenly.adapters.meep.layouts import from_meep, to_meep
from evenly.decomposition.cells.cell import NO_LAYERS
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.meep import _Chunks
from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.fdtd.cell.boundaries import Layers
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.media.materials import vacuum

V = mp.Vector3


def _vector(rng: Any, scale: float = 1.0) -> Any:
    return V(*rng.normal(0, scale, 3))


def _thing(kind: str, rng: Any) -> Any:
    size, at = V(*rng.uniform(0.4, 2, 3)), _vector(rng, 0.3)
    axes = {f"e{n}": _vector(rng) for n in (1, 2, 3)}
    rod = {"height": 1.5, "axis": _vector(rng), "center": at}
    corners = [V(*v) for v in ((-1, -1), (1, -0.8), (0.9, 1), (-0.5, 0.7))]
    arrow = [V(*v) for v in ((-1, -1), (1, -1), (1, 1), (0, 0), (-1, 1))]
    made = {
        "block": lambda: mp.Block(size, center=at),
        "skew block": lambda: mp.Block(size, center=at, **axes),
        "ellipsoid": lambda: mp.Ellipsoid(size=size, center=at),
        "skew ellipsoid": lambda: mp.Ellipsoid(size=size, center=at, **axes),
        "sphere": lambda: mp.Sphere(rng.uniform(0.3, 1), center=at),
        "cylinder": lambda: mp.Cylinder(0.7, **rod),
        "cone": lambda: mp.Cone(0.7, radius2=rng.uniform(0, 1), **rod),
        "wedge": lambda: mp.Wedge(1.2, wedge_angle=rng.uniform(-6, 6), wedge_start=_vector(rng), **rod),
        "prism": lambda: mp.Prism(corners, height=1.2),
        "prism of center": lambda: mp.Prism(corners, height=1.2, center=V(0.2, 0.1, 0.3)),
        "prism across x": lambda: mp.Prism([V(0, v.x, v.y) for v in corners], height=1, axis=V(1, 0, 0)),
        "dented prism": lambda: mp.Prism(arrow, height=1.2),
        "endless prism": lambda: mp.Prism(corners, height=mp.inf),
        "leaning prism": lambda: mp.Prism(corners, height=0.6, sidewall_angle=rng.uniform(-0.4, 0.4)),
        "leaning prism down": lambda: mp.Prism(corners, height=0.6, axis=V(0, 0, -1), sidewall_angle=0.3),
    }
    return made[kind]()


def solids(kind: str, seed: int) -> dict[str, Any]:
    """Return where evenly's solid and Meep's object differ, and by how much distances break their law."""
    rng = np.random.default_rng(seed)
    wrong = points = inside = outside_bounds = 0
    steepest, origin = 0.0, np.array([0.1, -0.05, 0.2])
    for _ in range(6):
        thing = _thing(kind, rng)
        solid = solid_of(thing, vacuum, tuple(origin))
        places = rng.uniform(-2, 2, (1500, 3))
        ours = solid.contains(*(places - origin).T)
        theirs = np.array([mp.is_point_in_object(V(*p), thing) for p in places])
        low, high = solid.bounds()
        here = (places - origin)[ours]
        outside_bounds += int(np.any((here < np.array(low) - 1e-9) | (here > np.array(high) + 1e-9)))
        wrong, points, inside = wrong + int((ours != theirs).sum()), points + len(places), inside + int(theirs.sum())
        near = places + rng.normal(0, 0.1, places.shape)
        change = np.abs(solid.distance(*places.T) - solid.distance(*near.T))
        steepest = max(steepest, float((change / np.linalg.norm(places - near, axis=1)).max()))
    return {"wrong": wrong, "points": points, "inside": inside, "bounds": outside_bounds, "steepest": steepest}


def _random_layout(rng: Any, grid: Any, dims: int) -> Any:
    owners = iter(range(1000))

    def build(low: Any, high: Any, depth: int) -> Any:
        axis = int(rng.integers(dims))
        if depth == 0 or high[axis] - low[axis] < 4:
            return next(owners)
        index = int(rng.integers(low[axis] + 1, high[axis]))
        off = [0.0, rng.uniform(-0.49, 0.49), 0.499999, -0.499999][int(rng.integers(4))]
        below, above = list(high), list(low)
        below[axis] = above[axis] = index
        position = grid.origin[axis] + (index + off) * grid.dx
        return [(axis, position), build(low, below, depth - 1), build(above, high, depth - 1)]

    return BinaryPartition(build([0, 0, 0], list(grid.shape), 3))


def _chunk_boxes(sim: Any, grid: Any, origin: Any) -> list[list[list[int]]]:
    found = []
    for volume in volumes_of(sim.structure.get_chunk_volumes()):
        starts = zip(volume.low, origin, grid.origin, grid.thin, strict=True)
        low = [0 if thin else round((at - o - g) * grid.resolution) for at, o, g, thin in starts]
        found.append([low, [first + n for first, n in zip(low, volume.shape, strict=True)]])
    return found


def cuts(seed: int, rounds: int) -> list[Any]:
    """Return layouts for which Meep's chunks aren't those that evenly expects, or that change on their way."""
    rng, wrong = np.random.default_rng(seed), []
    for round_ in range(rounds):
        dims = int(rng.choice([2, 3]))
        size, center = rng.uniform(1.5, 4, 3), np.round(rng.uniform(-1, 1, 3), 1) * (round_ % 3 == 0)
        size[dims:], center[dims:] = 0, 0
        about = {
            "cell_size": V(*size),
            "resolution": float(rng.choice([5, 7, 10, 12.5])),
            "geometry_center": V(*center),
        }
        grid, origin = grid_of(mp.Simulation(**about))
        plan = _random_layout(rng, grid, dims)
        sim = mp.Simulation(**about, chunk_layout=to_meep(moved(plan, origin)))
        sim.init_sim()
        expected = [[list(box.lo), list(box.hi)] for box in plan.boxes(grid)]
        if _chunk_boxes(sim, grid, origin) != expected or from_meep(sim.chunk_layout) != moved(plan, origin):
            wrong.append([str(about), plan.to_list()])
    return wrong


def _simulation(name: str) -> Any:
    if name in structures.NAMES:
        return structures.build(name)
    kinds = {
        "all sides": {
            "cell_size": V(3, 2.5, 2),
            "boundary_layers": [
                mp.PML(0.33),
            ],
        },
        "mixed sides": {
            "cell_size": V(3, 2.5, 2),
            "boundary_layers": [mp.PML(0.4, direction=mp.X), mp.PML(0.3, direction=mp.Y, side=mp.High)],
        },
        "plane": {"cell_size": V(3.16, 2.34), "boundary_layers": [mp.PML(0.5)], "geometry_center": V(0.5, -0.2)},
        "line": {"cell_size": V(0, 0, 4), "dimensions": 1, "boundary_layers": [mp.PML(0.5)]},
        "wire": {"cell_size": V(0, 0, 4), "boundary_layers": [mp.PML(0.5)]},
        "sheet": {"cell_size": V(0, 2.5, 2), "boundary_layers": [mp.PML(0.4)]},
        "strip": {"cell_size": V(0, 4), "boundary_layers": [mp.PML(0.5)]},
        "ring": {"cell_size": V(2, 0, 0), "dimensions": mp.CYLINDRICAL, "m": 1},
        "periodic": {"cell_size": V(2, 2.1), "k_point": V(0.1), "boundary_layers": [mp.PML(0.5, direction=mp.Y)]},
        "one layer": {
            "cell_size": V(3, 2.5),
            "k_point": V(0, 0.1, 0.3),
            "kz_2d": "3d",
            "boundary_layers": [mp.PML(0.4, direction=mp.X)],
            "geometry": [mp.Sphere(0.5, material=mp.Medium(epsilon=4))],
        },
    }
    if name in reduced_cells.NAMES:
        return reduced_cells.build(name)
    return mp.Simulation(resolution=10, **kinds[name])


def pieces(name: str, layout_list: Any) -> dict[str, Any]:
    """Return the chunks that evenly expects and those that Meep makes, each sorted, with what it knows of the cell."""
    sim = _simulation(name)
    before = (sim.dimensions, sim.is_cylindrical, sim.structure, sim.fields)
    cell = cell_of(sim)
    untouched = before == (sim.dimensions, sim.is_cylindrical, sim.structure, sim.fields)
    plan = BinaryPartition(layout_list)
    boxes = plan.boxes(cell.grid)
    expected = pieces_of(cell, [b.lo for b in boxes], [b.hi for b in boxes])
    sim.chunk_layout = to_meep(moved(plan, cell.center))
    sim.num_chunks = sim.chunk_layout.numchunks()
    sim.init_sim()
    ours = sorted(
        [[int(v) for v in low], [int(v) for v in high]] for low, high in zip(expected.low, expected.high, strict=True)
    )
    return {
        "ours": ours,
        "meep": sorted(_chunk_boxes(sim, cell.grid, cell.center)),
        "untouched": untouched,
        "periodic": cell.periodic,
        "dimensions": [cell.grid.dimensions, {mp.D1: 1, mp.D2: 2, mp.D3: 3}.get(sim.fields.gv.dim, 2)],
        "complex": [cell.complex_fields, not sim.fields.is_real],
    }


def _dft_chunks(first: Any) -> Iterator[Any]:
    while first is not None:
        yield first
        first = first.next_in_dft


def _heads(monitor: Any) -> list[Any]:
    names = ("E", "H", "D", "B", "F", "diag", "offdiag1", "offdiag2", "chunks")
    return [getattr(monitor.swigobj, name) for name in names if hasattr(monitor.swigobj, name)]


def transforms(name: str, layout_list: Any) -> dict[str, Any]:
    """Return per process the values per step, and values times frequencies, expected and in Meep's own lists."""
    sim = _monitored() if name == "monitors" else _simulation(name)
    cell, plan = cell_of(sim), BinaryPartition(layout_list)
    boxes = plan.boxes(cell.grid)
    values, products = pieces_of(cell, [b.lo for b in boxes], [b.hi for b in boxes]).transforms
    owner = np.array(plan.owners)[pieces_of(cell, [b.lo for b in boxes], [b.hi for b in boxes]).box]
    sim.chunk_layout = to_meep(moved(plan, cell.center))
    sim.num_chunks = sim.chunk_layout.numchunks()
    sim.init_sim()
    sim._evaluate_dft_objects()
    found = [0.0, 0.0]
    for monitor in sim.dft_objects:
        for head in _heads(monitor):
            for chunk in _dft_chunks(head):
                share = chunk.N / chunk.get_decimation_factor()
                found = [found[0] + share, found[1] + share * chunk.omega.size()]
    from mpi4py import MPI

    everyone = MPI.COMM_WORLD.allgather(found)
    ranks = mp.count_processors()
    ours = [[float(v[owner % ranks == r].sum()) * 1.0 for v in (values, products)] for r in range(ranks)]
    return {"ours": ours, "meep": everyone}


def _monitored() -> Any:
    pulse = mp.Source(mp.GaussianSource(1, fwidth=0.4), mp.Ez, V(0.1, 0))
    sim = mp.Simulation(V(2, 2.2, 2), 10, sources=[pulse], boundary_layers=[mp.PML(0.3)])
    across, box = {"size": V(0, 1, 1)}, {"size": V(0.6, 0.6, 0.63)}
    for x in (0.5, 0.55, 0.53):
        sim.add_flux(1, 0.2, 3, mp.FluxRegion(V(x), **across))
    sim.add_flux(1, 0.2, 5, mp.FluxRegion(V(0, 0.3), V(1, 0, 1)), decimation_factor=3)
    sim.add_energy(1, 0.2, 3, mp.EnergyRegion(V(), direction=mp.X, **box))
    sim.add_force(1, 0.2, 3, mp.ForceRegion(V(0.5), direction=mp.X, **across))
    sim.add_force(1, 0.2, 3, mp.ForceRegion(V(0.5), direction=mp.Y, **across))
    sim.add_near2far(1, 0.2, 3, mp.Near2FarRegion(V(0.5), **across))
    sim.add_mode_monitor(1, 0.2, 3, mp.ModeRegion(V(0.5), **across))
    sim.add_dft_fields([mp.Ex, mp.Hz], 1, 0.2, 3, center=V(), **box)
    sim.add_dft_fields([mp.Ex, mp.Hz], 1, 0.2, 3, center=V(), yee_grid=True, **box)
    return sim


def _geometry(name: str) -> Any:
    glass, thing = mp.Medium(epsilon=4), V(0.8, 0.8, 0.8)
    twisted = mp.Medium(epsilon_diag=V(2, 2, 2), epsilon_offdiag=V(0.1, 0, 0))
    kinds: dict[str, dict[str, Any]] = {
        "ball": {"geometry": [mp.Sphere(0.6, material=glass)]},
        "hidden": {"geometry": [mp.Sphere(0.6, material=glass), mp.Block(V(2, 2, 2), material=mp.Medium(epsilon=2))]},
        "off the middle": {
            "geometry": [mp.Block(thing, center=V(0.3), material=glass)],
            "geometry_center": V(0.3, 0, 0.2),
        },
        "past a period": {"geometry": [mp.Block(thing, center=V(0.8), material=glass)], "k_point": V()},
        "coupled": {"geometry": [mp.Block(thing, material=twisted)]},
        "function": {"material_function": lambda p: glass if p.x > 0.31 else mp.Medium()},
        "epsilon function": {"epsilon_func": lambda p: 3.0 if p.norm() < 0.55 else 1.0},
        "grid": {
            "geometry": [
                mp.Block(
                    V(1, 1, 2),
                    material=mp.MaterialGrid(
                        V(5, 5), mp.Medium(), glass, weights=np.repeat([0.0, 0, 1, 1, 1], 5), do_averaging=False
                    ),
                )
            ]
        },
    }
    return mp.Simulation(cell_size=V(2, 2, 2), resolution=10, **kinds[name])


def permittivity(name: str) -> dict[str, Any]:
    """Return how many points have ε ≠ 1, and coupled axes, by evenly and by Meep."""
    sim = structures.build(name, resolution=16) if name in structures.NAMES else _geometry(name)
    grid, origin = grid_of(sim)
    kinds = ["periodic" if sim.k_point or thin else "metal" for thin in grid.thin]
    made = structure_of(sim, grid, origin, Layers(grid, (kinds[0], kinds[1], kinds[2]), NO_LAYERS, NO_LAYERS))
    sample, cell = made.sample(grid.box), cell_of(sim)
    sim.init_sim()
    dense, coupled = 0, np.zeros(3, int)
    inverse = np.broadcast_to(sample.electric.inverse[0], grid.shape)
    apart = 0
    pairs = ((mp.Ey, mp.Z), (mp.Ex, mp.Z), (mp.Ex, mp.Y))
    for index in np.ndindex(*grid.shape):
        node = np.array(index) * grid.dx + np.array(grid.origin) + np.array(origin)
        for n, (component, direction) in enumerate(pairs):
            at = node.copy()
            at[1 if component == mp.Ey else 0] += grid.dx / 2
            coupled[n] += abs(sim.structure.get_chi1inv(component, direction, mp.vec(*at))) > 1e-9
        if min(index[1:]) > 0:
            node[0] += grid.dx / 2
            value = float(np.real(sim.structure.get_chi1inv(mp.Ex, mp.X, mp.vec(*node))))
            dense += abs(value - 1) > 1e-9
            apart += (abs(value - 1) > 1e-9) != (abs(inverse[index] - 1) > 1e-9)
    kinds_of = cell.survey.totals
    names = ("off-diagonal yz", "off-diagonal xz", "off-diagonal xy")
    return {
        "apart": int(apart),
        "dense": int(dense),
        "coupled": {"ours": [kinds_of.get(k, 0.0) for k in names], "meep": coupled.tolist()},
        "totals": kinds_of,
    }


def survey(name: str) -> dict[str, float]:
    """Return what a simulation's survey holds, with its traits."""
    cell = cell_of(_poled(name))
    return {**cell.survey.totals, **cell.traits}


def _mode(parity: int) -> Any:
    return mp.EigenModeSource(mp.GaussianSource(1, fwidth=0.1), V(), size=V(0, 1), eig_parity=parity)


def _beam(direction: Any) -> Any:
    """Return a beam along y whose E has this direction."""
    pulse = mp.GaussianSource(1, fwidth=0.1)
    return mp.GaussianBeamSource(pulse, V(), size=V(1), beam_kdir=V(0, 1), beam_w0=0.5, beam_E0=direction)


def _poled(name: str) -> Any:
    drude, lorentz = mp.DrudeSusceptibility(1.0, 0.1, sigma=1.0), mp.LorentzianSusceptibility(2.0, 0.1, sigma=0.5)
    metal = mp.Medium(epsilon=1.5, E_susceptibilities=[drude, lorentz])
    film = mp.Block(V(2, 2, 0.5), material=metal)
    kinds: dict[str, dict[str, Any]] = {
        "film": {"geometry": [film]},
        "extra": {"geometry": [mp.Sphere(0.5, material=mp.Medium(index=2))], "extra_materials": [metal]},
        "buried": {"geometry": [film, mp.Block(V(2, 2, 1), material=mp.Medium(index=2))]},
        "loss": {"geometry": [mp.Block(V(1, 1, 1), material=mp.Medium(D_conductivity=1, chi3=0.1, mu=2))]},
        "conductor": {"geometry": [mp.Block(V(1, 1, 1), material=mp.perfect_electric_conductor)]},
        "graded": {"material_function": lambda p: metal if p.z > 0 else mp.Medium(), "extra_materials": [metal]},
        "across": {
            "cell_size": V(2, 2),
            "sources": [mp.Source(mp.GaussianSource(1, fwidth=0.1), mp.Ez, V())],
        },
        "within": {
            "cell_size": V(2, 2),
            "sources": [mp.Source(mp.GaussianSource(1, fwidth=0.1), mp.Hz, V())],
        },
        "mode across": {"cell_size": V(2, 2), "sources": [_mode(mp.ODD_Z + mp.EVEN_Y)]},
        "mode within": {"cell_size": V(2, 2), "sources": [_mode(mp.EVEN_Z)]},
        "around": {"cell_size": V(2, 0, 2), "dimensions": mp.CYLINDRICAL, "m": 0},
        "turning": {"cell_size": V(2, 0, 2), "dimensions": mp.CYLINDRICAL, "m": -2},
        "any mode": {"cell_size": V(2, 2), "sources": [_mode(mp.EVEN_Y)]},
        "beam across": {"cell_size": V(2, 2), "sources": [_beam(V(0, 0, 1))]},
        "beam within": {"cell_size": V(2, 2), "sources": [_beam(V(1, 0, 0))]},
    }
    return mp.Simulation(**{"cell_size": V(2, 2, 2), "resolution": 10, "eps_averaging": False, **kinds[name]})


_TILT = V(0.3, 0, 1)
_CORNERS = [V(-0.5, -0.5), V(0.6, -0.4), V(0.1, 0.7)]
_GLASS = mp.Medium(epsilon=4)
_OF_GLASS = {"material": _GLASS}
#: Objects of planes, by what they are; light of Ez alone excites them.
_IN_PLANES: dict[str, list[Any]] = {
    "none": [],
    "ball": [mp.Sphere(0.6, **_OF_GLASS)],
    "ball off the plane": [mp.Sphere(0.6, center=V(0.1, 0, 0.2), **_OF_GLASS)],
    "ball beside the plane": [mp.Sphere(0.6, center=V(0.1, 0, 0.7), **_OF_GLASS)],
    "hidden ball": [
        mp.Sphere(0.6, center=V(0, 0, 0.2), **_OF_GLASS),
        mp.Block(V(1.5, 1.5, 1), material=mp.Medium(epsilon=2)),
    ],
    "ball of air": [mp.Sphere(0.6, center=V(0, 0, 0.2), material=mp.Medium())],
    "ball of metal": [mp.Sphere(0.6, center=V(0, 0, 0.2), material=mp.metal)],
    "ball of a function": [mp.Sphere(0.6, center=V(0, 0, 0.2), material=lambda _p: _GLASS)],
    "ball in a function": [
        mp.Block(V(mp.inf, mp.inf, mp.inf), material=lambda _p: mp.Medium(epsilon=2)),
        mp.Sphere(0.6, center=V(0, 0, 0.2), **_OF_GLASS),
    ],
    "ellipsoid": [mp.Ellipsoid(size=V(1, 1.3, 0.8), **_OF_GLASS)],
    "ellipsoid off the plane": [mp.Ellipsoid(size=V(1, 1.3, 0.8), center=V(0, 0, 0.1), **_OF_GLASS)],
    "block": [mp.Block(V(1, 1.1, 0.3), center=V(0, 0, 0.1), e1=V(1, 0.5), e2=V(-0.5, 1), **_OF_GLASS)],
    "thin block": [mp.Block(V(1, 1.1, 0.01), **_OF_GLASS)],
    "block on the plane": [mp.Block(V(1, 1.1, 0.5), center=V(0, 0, 0.25), **_OF_GLASS)],
    "tilted block": [mp.Block(V(1, 1.1, 0.8), e1=V(1, 0, -0.3), e3=_TILT, **_OF_GLASS)],
    "rod": [mp.Cylinder(0.5, height=1, **_OF_GLASS)],
    "rod along x": [mp.Cylinder(0.5, height=1.2, axis=V(1), **_OF_GLASS)],
    "rod along x off the plane": [mp.Cylinder(0.5, height=1.2, axis=V(1), center=V(0, 0, 0.1), **_OF_GLASS)],
    "tilted rod": [mp.Cylinder(0.5, height=1.2, axis=_TILT, **_OF_GLASS)],
    "cone": [mp.Cone(0.6, radius2=0.1, height=1, **_OF_GLASS)],
    "cone along x": [mp.Cone(0.6, radius2=0.1, height=1, axis=V(1), **_OF_GLASS)],
    "wedge": [mp.Wedge(0.6, wedge_angle=2, height=1, **_OF_GLASS)],
    "prism": [mp.Prism(_CORNERS, height=1, **_OF_GLASS)],
    "endless prism": [mp.Prism(_CORNERS, height=mp.inf, **_OF_GLASS)],
    "leaning prism": [mp.Prism(_CORNERS, height=1, sidewall_angle=0.2, center=V(), **_OF_GLASS)],
    "coupling rod": [mp.Cylinder(0.5, material=mp.Medium(epsilon_diag=V(2, 3, 4), epsilon_offdiag=V(0, 0.5)))],
    "coupling pole": [
        mp.Cylinder(
            0.5,
            material=mp.Medium(
                E_susceptibilities=[mp.LorentzianSusceptibility(1, 0.1, sigma_diag=V(1, 1, 1), sigma_offdiag=V(0, 0.1))]
            ),
        )
    ],
    "turning pole": [
        mp.Cylinder(
            0.5,
            material=mp.Medium(
                E_susceptibilities=[mp.GyrotropicLorentzianSusceptibility(bias=V(0.1), frequency=1, sigma=1)]
            ),
        )
    ],
}


def stepped_in_planes() -> dict[str, Any]:
    """Return for some objects in a plane the components that Meep steps, by evenly before, by Meep, and by evenly then.

    Names that end in "sharp" are those of simulations without averaging.
    """
    found = {}
    for name, things in [*_IN_PLANES.items(), ("ball off the plane, sharp", _IN_PLANES["ball off the plane"])]:
        sim = mp.Simulation(
            V(2, 2), 15, sources=[mp.Source(mp.GaussianSource(1, fwidth=0.1), mp.Ez, V(0.8, 0.8))],
            geometry=things, eps_averaging="sharp" not in name,
        )  # fmt: skip
        before = _stepped(sim)
        sim.init_sim()
        found[name] = [before, "".join(n for n in _NAMES if sim.fields.have_component(getattr(mp, n))), _stepped(sim)]
    return found


_NAMES = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")


def _stepped(sim: Any) -> str:
    traits = cell_of(sim).traits
    return "".join(name for name in _NAMES if traits[name])


def held_over_sides(axis: int, side: str) -> dict[str, Any]:
    """Return for both halves of a cell in which components' arrays a film at a periodic side is, by evenly and Meep.

    Meep itself is asked at each point of the arrays whether it lies in the film or in one of its periodic copies.
    """
    size, thick, at = [2.0, 2.4, 2.8], [100.0] * 3, [0.0] * 3
    thick[axis] = (0.5, 0.4, 0.6)[axis]
    at[axis] = (-1 if side == "low" else 1) * (size[axis] / 2 - thick[axis] / 2)
    metal = mp.Medium(E_susceptibilities=[mp.DrudeSusceptibility(1.0, 0.1, sigma=1.0)])
    film = mp.Block(V(*thick), center=V(*at), material=metal)
    cell = cell_of(mp.Simulation(V(*size), 10, geometry=[film], k_point=V(), eps_averaging=False))
    n = cell.grid.shape[axis]
    low, high = np.zeros((2, 3), int), np.array([cell.grid.shape] * 2)
    high[0, axis] = low[1, axis] = n // 2
    chunks = _Chunks(pieces_of(cell, low, high))
    halves = ("own", "other") if side == "low" else ("other", "own")
    ours = np.array([chunks.present(f"polarised E{c}") for c in "xyz"]).T.tolist()
    theirs = []
    for start, stop in ((0, n // 2), (n // 2, n)):
        places = [np.arange(start, stop + 1) + (0.5 if component == axis else 0.0) for component in range(3)]
        theirs.append([any(_in_copies(film, axis, size[axis], (one - n / 2) * (1 / 10)) for one in p) for p in places])
    return {"ours": dict(zip(halves, ours, strict=True)), "meep": dict(zip(halves, theirs, strict=True))}


def _in_copies(film: Any, axis: int, period: float, place: float) -> bool:
    shifted = (place + n * period for n in (-1, 0, 1))
    return any(mp.is_point_in_object(V(*(p if a == axis else 0.0 for a in range(3))), film) for p in shifted)


def reduced(layouts: dict[str, Any]) -> dict[str, Any]:
    """Return for cells of `reduced_cells` what `pieces` and `transforms` return for layouts, and what layouts change.

    The latter is the largest difference, with a layout and without, of all that the monitors recorded, over its size.
    """
    found = {}
    for name, layout_list in layouts.items():
        usual = reduced_cells.recorded(reduced_cells.build(name))
        sim = reduced_cells.build(name)
        sim.chunk_layout = to_meep(moved(BinaryPartition(layout_list), cell_of(sim).center))
        sim.num_chunks = sim.chunk_layout.numchunks()
        ours = reduced_cells.recorded(sim)
        apart = max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in zip(usual, ours, strict=True))
        found[name] = {
            "pieces": pieces(name, layout_list), "transforms": transforms(name, layout_list), "apart": apart
        }  # fmt: skip
    return found


def periods(groups: list[list[int]]) -> list[int]:
    """Return after how many steps monitors that transform once in so many are back in step, for each group of them."""
    found = []
    for group in groups:
        sim = mp.Simulation(V(1, 1, 1), 10)
        for every in group:
            sim.add_flux(1.0, 0.1, 2, mp.FluxRegion(V(), size=V(1, 1, 0)), decimation_factor=every)
        found.append(period_of(sim, 0.05))
    return found
