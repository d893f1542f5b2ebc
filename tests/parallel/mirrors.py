"""Symmetric cells with all that is read off them; run as a script on several ranks it compares with a reference.

usage: mirrors.py REFERENCE.npz SCENE [SCENE ...]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly import fdtd
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.monitors.stored_energy import rough_energy
from evenly.fdtd.running.decays import _norms

PULSE = fdtd.GaussianPulse(1.0, fwidth=0.8)
POLES = fdtd.Medium(epsilon=2, electric_poles=[fdtd.LorentzPole(1.1, 0.2), fdtd.DrudePole(0.9, 0.1)])
CRYSTAL = fdtd.Medium(epsilon=(2, 3, 4), epsilon_off_diagonal=(0, 0, 0.5))
MAGNET = fdtd.Medium(epsilon=2, mu=1.5, magnetic_poles=[fdtd.LorentzPole(1.1, 0.2)], magnetic_conductivity=0.1)
TURNED_MAGNET = fdtd.Medium(epsilon=2, mu=(1.5, 2, 1.2), mu_off_diagonal=(0, 0, 0.3))
KERR = fdtd.Medium(epsilon=2, chi3=0.1)
# χ2 along z only, which an even mirror across x and y leaves alone.
SECOND_ORDER = fdtd.Medium(epsilon=2, chi2=(0, 0, 0.2))


def _x(phase: Any = 1) -> fdtd.Mirror:
    return fdtd.Mirror("x", phase)


def _y(phase: Any = 1) -> fdtd.Mirror:
    return fdtd.Mirror("y", phase)


def _z(phase: Any = 1) -> fdtd.Mirror:
    return fdtd.Mirror("z", phase)


def _source(component: str, *center: float, **more: Any) -> fdtd.Source:
    return fdtd.Source(PULSE, component, center=(center[0], center[1], center[2]), **more)


def _ball(medium: Any, radius: float = 0.66) -> list[Any]:
    return [fdtd.Sphere(radius=radius, material=medium)]


ROD = [fdtd.Cylinder(radius=0.6, height=np.inf, material=POLES)]
PML = fdtd.PML(0.4)
FLAT, CUBE = (3, 2.4, 0), (2, 2.4, 2)
#: Symmetries, and the other arguments of a simulation.
SCENES: dict[str, tuple[list[fdtd.Mirror], dict[str, Any]]] = {
    "walls": ([_x()], {"cell": FLAT, "sources": [_source("Ez", 0, 0.3, 0)]}),
    "electric in 2D": ([_x(-1), _y()], {"cell": FLAT, "boundaries": [PML], "sources": [_source("Ex", 0, 0, 0)]}),
    "magnetic in 2D": ([_x(-1), _y(-1)], {"cell": FLAT, "boundaries": [PML], "sources": [_source("Hz", 0, 0, 0)]}),
    "lattice": (
        [_x(), _y()],
        {"cell": FLAT, "boundaries": [fdtd.Periodic()], "sources": [_source("Ez", 0, 0, 0)], "geometry": ROD},
    ),
    "odd pair": (
        [_y(-1)],
        {
            "cell": FLAT,
            "boundaries": [fdtd.Periodic("y"), fdtd.PML(0.5, "x")],
            "sources": [_source("Ez", -1, 0.72, 0), _source("Ez", -1, -0.72, 0, amplitude=-1)],
            "geometry": ROD,
        },
    ),
    "sheet": (
        [_y()],
        {
            "cell": FLAT,
            "boundaries": [fdtd.Periodic("y"), fdtd.Absorber(0.5, "x")],
            "sources": [_source("Ez", -0.8, 0, 0, size=(0, 2.4, 0))],
            "geometry": ROD,
        },
    ),
    # The phase over the cell is -1 along y, where a plane of the other parity is at its side.
    "bloch": (
        [_y()],
        {
            "cell": FLAT,
            "boundaries": [fdtd.Bloch("xy", k=(0.1, 1 / 4.8, 0))],
            "sources": [_source("Ez", 0.2, 0, 0)],
            "geometry": ROD,
        },
    ),
    "line": (
        [_z()],
        {
            "cell": (0, 0, 4),
            "boundaries": [fdtd.PML(0.5)],
            "sources": [_source("Ex", 0, 0, 0)],
            "geometry": [fdtd.Block(size=(9, 9, 1.03), material=POLES)],
        },
    ),
    "eighth": (
        [_x(-1), _y(), _z()],
        {"cell": CUBE, "boundaries": [PML], "sources": [_source("Ex", 0, 0, 0)], "geometry": _ball(POLES)},
    ),
    "crystal": (
        [_x()],
        {
            "cell": CUBE,
            "boundaries": [fdtd.PML(0.4, "z"), fdtd.Periodic("xy")],
            "sources": [_source("Ez", 0, 0, 0.2)],
            "geometry": _ball(CRYSTAL, 0.9),
        },
    ),
    "magnet": ([_x(), _z(-1)], {"cell": CUBE, "sources": [_source("Ez", 0, 0.1, 0)], "geometry": _ball(MAGNET)}),
    "turned magnet": (
        [_x()],
        {
            "cell": CUBE,
            "boundaries": [fdtd.Periodic("x"), fdtd.PML(0.4, "z")],
            "sources": [_source("Ez", 0, 0.1, 0)],
            "geometry": _ball(TURNED_MAGNET),
        },
    ),
    "nonlinear": (
        [_x(), _y(), _z(-1)],
        {
            "cell": CUBE,
            "boundaries": [fdtd.Periodic()],
            "sources": [_source("Ez", 0, 0, 0, amplitude=5)],
            "geometry": _ball(KERR),
        },
    ),
    "second order": (
        [_x(), _y()],
        {"cell": CUBE, "sources": [_source("Ez", 0, 0, 0.3, amplitude=5)], "geometry": _ball(SECOND_ORDER)},
    ),
}


def simulation(scene: str, *, symmetric: bool = True, layout: Any = None, **options: Any) -> fdtd.Simulation:
    """Return the simulation of a scene, of the kept part or of the whole cell."""
    mirrors, rest = SCENES[scene]
    symmetries = mirrors if symmetric else []
    return fdtd.Simulation(
        **rest, resolution=10, symmetries=symmetries, layout=layout, options=fdtd.Options(courant=0.45, **options)
    )


def layouts(scene: str) -> list[Any]:
    """Return layouts of the kept part: cuts at a third of it, close to a plane, and owners that leave ranks idle."""
    kept, grid = simulation(scene).layers.kept, simulation(scene).grid
    long = [axis for axis in range(3) if kept.shape[axis] > 4]

    def at(axis: int, index: int) -> tuple[str, float]:
        return "xyz"[axis], grid.origin[axis] + (kept.lo[axis] + index) * grid.dx

    first, last = long[0], long[-1]
    thirds = [at(last, kept.shape[last] // 3), 0, [at(first, max(2, kept.shape[first] - 2)), 1, 2]]
    return [None, thirds, [at(first, 1), 9, [at(first, 3), 1, 0]]]


def results(sim: fdtd.Simulation, steps: int = 50) -> dict[str, Any]:
    """Run for some steps, and return all that can be read: fields, monitors, energies, values at points, integrals."""
    size, frequencies = np.array(sim.grid.size), [0.8, 1.1]
    aside, half = tuple(0.13 * size), tuple(0.5 * size)
    normal = 2 if sim.grid.thin[0] else 0
    plane = tuple(0.0 if a == normal else 0.9 * s for a, s in enumerate(size))
    at = tuple(0.3 * s if a == normal else 0.0 for a, s in enumerate(size))
    across = "xyz"[normal]
    box = sim.add(fdtd.Flux((0, 0, 0), half, frequencies))
    above = sim.add(fdtd.Flux(at, plane, frequencies))
    below = sim.add(fdtd.Flux([-x for x in at], plane, frequencies, direction=f"-{across}"))
    part = sim.add(fdtd.Flux(aside, half, frequencies))
    far = sim.add(fdtd.NearToFar((0, 0, 0), half, frequencies))
    everywhere = sim.add(fdtd.DftFields(COMPONENTS, (0, 0, 0), tuple(size), frequencies))
    somewhere = sim.add(fdtd.DftFields(["Ey", "Hz"], aside, tuple(0.4 * size), frequencies))
    energy = sim.add(fdtd.Energy(aside, half, frequencies))
    absorbed = sim.add(fdtd.Absorption((0, 0, 0), half, frequencies, magnetic=True))
    recorder = sim.add(fdtd.FieldRecorder("Ez", tuple(-0.21 * size)))
    sim.run(until=steps * sim.grid.dt, progress="off")
    wide = np.array([not thin for thin in sim.grid.thin])
    stored = [sim.stored_energy(), sim.stored_energy(aside, half)]
    found = {f"field {name}": sim.field(name) for name in COMPONENTS}
    found |= {f"transform {name}": everywhere.field(name).values for name in COMPONENTS}
    found |= {f"part {name}": somewhere.field(name).values for name in ("Ey", "Hz")}
    found |= {f"flux {name}": value for name, value in box.by_face().items()}
    return found | {
        "flux": np.array([one.flux() for one in (box, above, below, part)]),
        "far": far.far_amplitudes(np.array([[1, 0.2, 0.3], [-1, 0.5, 0.1], [0.1, -1, -0.4]]) * wide),
        "near": far.fields(np.array([[3, 3.2, 3.3], [-4, 3.5, 3.1]]) * wide),
        "energy": energy.total(),
        "absorbed": absorbed.power(),
        "recorded": recorder.values(),
        "stored": np.array([[one.electric, one.magnetic] for one in stored]),
        "rough energy": rough_energy(sim),
        "norms": np.array([value for norms in _norms(sim) for value in norms]),
        "largest": np.array([sim.max_abs_field("Ey"), sim.max_abs_field("Hz", aside, half)]),
        "points": np.array([sim.get_field_point(name, tuple(-0.37 * size)) for name in COMPONENTS]),
        "integral": sim.integrate(_weighed, ["Ex", "Hy", "Ez"]),
        "integral of a part": sim.integrate(_weighed, ["Ey", "Hz", "Hx"], aside, half),
    }


def written(sim: fdtd.Simulation, path: Path, steps: int = 20) -> dict[str, Any]:
    """Run for some steps, and return what files of all fields and of media hold, at their places and at nodes."""
    import h5py

    found: dict[str, Any] = {}
    sim.run(until=steps * sim.grid.dt, progress="off")
    names = (*COMPONENTS, "epsilon", "mu_x")
    for where, average in (("place", None), ("nodes", "nodes")):
        sim.write(path, names, average=average)
        with h5py.File(path) as file:
            found |= {f"{where} {name}": file[name][...] for name in names}
        fdtd.all_wait()
    return found


def _weighed(x: Any, y: Any, z: Any, a: Any, b: Any, c: Any) -> NDArray[Any]:
    return np.asarray((2 + x + y) * abs(a) ** 2 + (2 + z) * abs(b - c) ** 2 + (2 + y) * abs(c + a) ** 2)


def worst(found: dict[str, Any], expected: dict[str, Any]) -> float:
    """Return the largest difference relative to the largest value of each quantity (of E or H together)."""
    wrong = 0.0
    for name, value in expected.items():
        alike = [k for k in expected if k[:-1] == name[:-1] and name[-1] in "xyz"] or [name]
        scale = max(float(np.abs(expected[k]).max()) for k in alike)
        difference = float(np.abs(np.asarray(found[name]) - value).max())
        wrong = max(wrong, difference / scale if scale else difference)
    return wrong


def main(path: str, *scenes: str) -> None:
    with np.load(path) as file:
        stored = {key: file[key] for key in file.files}
    for scene in scenes:
        expected = {key.removeprefix(f"{scene}:"): v for key, v in stored.items() if key.startswith(f"{scene}:")}
        for number, layout in enumerate(layouts(scene)):
            difference = worst(results(simulation(scene, layout=layout)), expected)
            fdtd.master_print(f"{scene.replace(' ', '_')} {number} {difference:.3e}")
        whole, part = (simulation(scene, symmetric=symmetric) for symmetric in (False, True))
        files = [written(sim, Path(path).with_name(f"fields{n}.h5")) for n, sim in enumerate((whole, part))]
        fdtd.master_print(f"{scene.replace(' ', '_')} files {worst(files[1], files[0]):.3e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
