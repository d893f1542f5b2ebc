"""Problems that `fdtd_meep.py` lets both packages solve, and what theory says.

- Ring: the modes of a dielectric ring, whose frequencies and qualities follow from Bessel functions.
- Bend: what a waveguide's sharp bend transmits and reflects. There is no formula; both go to the same limit.
- Rods: the lowest bands of a square lattice of rods, beside an expansion in plane waves.
- Cylinder: what a metal cylinder absorbs, with E across it, beside Mie's series; `fdtd_cylinder.py` looks closer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Found = dict[str, float]

# A ring of width 1 about a hole of radius 1, with layers of 2 around a margin of 4.
RING_INDEX, HOLE, RIM, RING_CELL = 3.4, 1.0, 2.0, 16.0
# Modes with m wave lengths around the ring: guesses of frequency and quality.
RING_MODES = {3: (0.118, 80), 4: (0.147, 320), 5: (0.175, 1700)}
# A waveguide of width 1 along y = -11.5, which turns up at x = 3.5.
GUIDE_EPSILON, GUIDE_CELL, GUIDE_AT, GUIDE_TURN = 12.0, (16.0, 32.0), -11.5, 3.5
GUIDE_FREQUENCIES = (0.12, 0.14, 0.16, 0.18)
# Rods of a square lattice.
ROD_RADIUS, ROD_EPSILON, ROD_AT = 0.2, 8.9, (0.1234, 0.21)
ROD_PULSE = (0.4, 0.7)
# About the lowest bands at Bloch's k along x, to find them among the modes.
BANDS = {0.1: (0.0705, 0.565), 0.3: (0.202, 0.495), 0.5: (0.275, 0.4425)}
# A cylinder of a Drude metal. ε is -2, -4 and -10 at these frequencies, with a loss of 0.1, 0.2 and 0.7.
RADIUS, CELL, LAYER, BOX = 0.5, 2.8, 0.6, 1.3
# Of the cylinder that both packages simulate: no whole number of points.
TRIED = 0.52
PLASMA, LOSS = 1.0, 0.02
METAL_FREQUENCIES = (1 / np.sqrt(3), 1 / np.sqrt(5), 1 / np.sqrt(11))
CENTRE, WIDTH = 0.45, 0.4
# Charges ring as exp(-π γ t).
RINGING = 120.0
PULSE_END = 2 * 5.0 / WIDTH


@dataclass(frozen=True)
class Problem:
    """What both packages solve, at several finenesses (points per a, or per radius)."""

    about: str
    unit: str
    fineness: tuple[int, ...]
    evenly: Callable[[int], Found]
    meep: Callable[[int], Found]
    theory: Callable[[], Found] = dict

    def solve(self, package: str, fineness: int) -> Found:
        return (self.evenly if package == "evenly" else self.meep)(fineness)

    def exact(self, quantity: str) -> float | None:
        return self.theory().get(quantity)


def named(modes: list[tuple[float, float]]) -> Found:
    """Name the modes (frequency, quality) next to the expected ones."""
    found = {}
    for m, (guess, _) in RING_MODES.items():
        frequency, quality = min(modes, key=lambda mode: abs(mode[0] - guess))
        found |= {f"frequency m={m}": frequency, f"quality m={m}": quality}
    return found


def ring_by_evenly(resolution: int) -> Found:
    from evenly import fdtd

    ring = fdtd.Cylinder(radius=RIM, height=np.inf, material=fdtd.Medium(index=RING_INDEX))
    hole = fdtd.Cylinder(radius=HOLE, height=np.inf, material=fdtd.Medium())
    sim = fdtd.Simulation(
        cell=(RING_CELL, RING_CELL, 0),
        resolution=resolution,
        geometry=[ring, hole],
        sources=[fdtd.Source(fdtd.GaussianPulse(0.15, fwidth=0.1), "Ez", (HOLE + 0.1, 0, 0))],
        boundaries=[fdtd.PML(2)],
    )
    recorder = sim.add(fdtd.FieldRecorder("Ez", (HOLE + 0.1, 0, 0)))
    sim.run(until=100.0, progress="off")
    sim.run(until=400.0, progress="off")
    return named([(mode.frequency, mode.quality) for mode in recorder.resonances((0.1, 0.2), after=100.0)])


def ring_by_meep(resolution: int) -> Found:
    import meep as mp

    at = mp.Vector3(HOLE + 0.1)
    sim = mp.Simulation(
        cell_size=mp.Vector3(RING_CELL, RING_CELL),
        resolution=resolution,
        geometry=[mp.Cylinder(RIM, material=mp.Medium(index=RING_INDEX)), mp.Cylinder(HOLE)],
        sources=[mp.Source(mp.GaussianSource(0.15, fwidth=0.1), mp.Ez, at)],
        boundary_layers=[mp.PML(2)],
    )
    found = mp.Harminv(mp.Ez, at, 0.15, 0.1)
    sim.run(until=100.0)
    sim.run(found, until=300.0)
    return named([(mode.freq, mode.Q) for mode in found.modes])


@cache
def ring_theory() -> Found:
    """Match J inside, J and Y in the ring, and outgoing waves outside; E and its slope are continuous."""
    from scipy.optimize import newton
    from scipy.special import h1vp, hankel1, jv, jvp, yv, yvp

    def mismatch(f: complex, m: int) -> complex:
        k, n = 2 * np.pi * f, RING_INDEX
        a, na, nb, b = k * HOLE, n * k * HOLE, n * k * RIM, k * RIM
        return complex(
            np.linalg.det(
                [
                    [jv(m, a), -jv(m, na), -yv(m, na), 0],
                    [jvp(m, a), -n * jvp(m, na), -n * yvp(m, na), 0],
                    [0, jv(m, nb), yv(m, nb), -hankel1(m, b)],
                    [0, n * jvp(m, nb), n * yvp(m, nb), -h1vp(m, b)],
                ]
            )
        )

    found = {}
    for m, (guess, quality) in RING_MODES.items():
        f = newton(mismatch, guess * (1 - 0.5j / quality), args=(m,), tol=1e-13, maxiter=200)
        found |= {f"frequency m={m}": f.real, f"quality m={m}": -f.real / (2 * f.imag)}
    return found


def bend_by_evenly(resolution: int) -> Found:
    from evenly import fdtd

    glass, (sx, sy) = fdtd.Medium(epsilon=GUIDE_EPSILON), GUIDE_CELL
    straight = [fdtd.Block(size=(np.inf, 1, np.inf), center=(0, GUIDE_AT, 0), material=glass)]
    bend = [
        fdtd.Block(size=(sx - 4, 1, np.inf), center=(-2, GUIDE_AT, 0), material=glass),
        fdtd.Block(size=(1, sy - 4, np.inf), center=(GUIDE_TURN, 2, 0), material=glass),
    ]
    planes = [((1.5 - sx / 2, GUIDE_AT, 0), (0, 2, 0)), ((sx / 2 - 1.5, GUIDE_AT, 0), (0, 2, 0))]
    behind = ((GUIDE_TURN, sy / 2 - 1.5, 0), (2, 0, 0))
    seen = []
    for geometry, (before, after) in ((straight, planes), (bend, (planes[0], behind))):
        sim = fdtd.Simulation(
            cell=(sx, sy, 0),
            resolution=resolution,
            geometry=geometry,
            sources=[
                fdtd.Source(fdtd.GaussianPulse(0.15, fwidth=0.1), "Ez", (1 - sx / 2, GUIDE_AT, 0), size=(0, 1, 0))
            ],
            boundaries=[fdtd.PML(1)],
        )
        seen.append([sim.add(fdtd.Flux(*plane, GUIDE_FREQUENCIES)) for plane in (before, after)])
        sim.run(until=300.0, progress="off")
    (incident, passed), (back, through) = seen
    back.add(incident.data(), -1.0)
    return shares(passed.flux(), through.flux(), back.flux())


def bend_by_meep(resolution: int) -> Found:
    import meep as mp

    glass, (sx, sy), at = mp.Medium(epsilon=GUIDE_EPSILON), GUIDE_CELL, GUIDE_AT
    straight = [mp.Block(mp.Vector3(mp.inf, 1, mp.inf), center=mp.Vector3(0, at), material=glass)]
    bend = [
        mp.Block(mp.Vector3(sx - 4, 1, mp.inf), center=mp.Vector3(-2, at), material=glass),
        mp.Block(mp.Vector3(1, sy - 4, mp.inf), center=mp.Vector3(GUIDE_TURN, 2), material=glass),
    ]
    before = mp.FluxRegion(mp.Vector3(1.5 - sx / 2, at), size=mp.Vector3(0, 2))
    after = mp.FluxRegion(mp.Vector3(sx / 2 - 1.5, at), size=mp.Vector3(0, 2))
    behind = mp.FluxRegion(mp.Vector3(GUIDE_TURN, sy / 2 - 1.5), size=mp.Vector3(2, 0))
    seen: list[list[Any]] = []
    incident = None
    for geometry, last in ((straight, after), (bend, behind)):
        sim = mp.Simulation(
            cell_size=mp.Vector3(sx, sy),
            resolution=resolution,
            geometry=geometry,
            sources=[
                mp.Source(mp.GaussianSource(0.15, fwidth=0.1), mp.Ez, mp.Vector3(1 - sx / 2, at), size=mp.Vector3(0, 1))
            ],
            boundary_layers=[mp.PML(1)],
        )
        planes = [sim.add_flux(list(GUIDE_FREQUENCIES), region) for region in (before, last)]
        if incident is not None:
            sim.load_minus_flux_data(planes[0], incident)
        sim.run(until=300.0)
        incident = sim.get_flux_data(planes[0])
        seen.append([np.array(mp.get_fluxes(plane)) for plane in planes])
    (_, passed), (back, through) = seen
    return shares(passed, through, back)


def shares(passed: Any, through: Any, back: Any) -> Found:
    found = {}
    for f, t, r in zip(GUIDE_FREQUENCIES, through / passed, -back / passed, strict=True):
        found |= {f"transmitted at {f}": float(t), f"reflected at {f}": float(r)}
    return found


def bands(rows: list[list[float]]) -> Found:
    """Name the modes of each k that are nearest to the bands."""
    found = {}
    for (k, guesses), row in zip(BANDS.items(), rows, strict=True):
        for n, guess in enumerate(guesses):
            found[f"band {n + 1} at k={k}"] = float(min(row, key=lambda f: abs(f - guess)))
    return found


def rods_by_evenly(resolution: int) -> Found:
    from evenly import fdtd

    rod = fdtd.Cylinder(radius=ROD_RADIUS, height=np.inf, material=fdtd.Medium(epsilon=ROD_EPSILON))
    found = []
    for k in BANDS:
        source = fdtd.Source(fdtd.GaussianPulse(ROD_PULSE[0], fwidth=ROD_PULSE[1]), "Ez", center=(*ROD_AT, 0))
        sim = fdtd.Simulation(
            cell=(1, 1, 0),
            resolution=resolution,
            geometry=[rod],
            sources=[source],
            boundaries=[fdtd.Bloch(k=(k, 0, 0))],
        )
        recorder = sim.add(fdtd.FieldRecorder("Ez", (*ROD_AT, 0)))
        sim.run(after_sources=300, progress="off")
        found.append([mode.frequency for mode in recorder.resonances((0.05, 0.75))])
    return bands(found)


def rods_by_meep(resolution: int) -> Found:
    import meep as mp

    rod = mp.Cylinder(radius=ROD_RADIUS, material=mp.Medium(epsilon=ROD_EPSILON))
    source = mp.Source(mp.GaussianSource(ROD_PULSE[0], fwidth=ROD_PULSE[1]), mp.Ez, mp.Vector3(*ROD_AT))
    sim = mp.Simulation(cell_size=mp.Vector3(1, 1), resolution=resolution, geometry=[rod], sources=[source])
    rows = sim.run_k_points(300, [mp.Vector3(k) for k in BANDS])
    return bands([[f.real for f in row] for row in rows])


@cache
def rods_theory(most: int = 14) -> Found:
    """Solve |k + G|² e = (2πf)² ε e for Ez in plane waves; ε of a rod is a Bessel function of G."""
    from scipy.linalg import eigh
    from scipy.special import j1

    m = np.arange(-most, most + 1)
    waves = 2 * np.pi * np.stack(np.meshgrid(m, m, indexing="ij"), -1).reshape(-1, 2)
    apart = np.hypot(*(waves[:, None] - waves).transpose(2, 0, 1)) * ROD_RADIUS
    with np.errstate(invalid="ignore"):
        share = np.pi * ROD_RADIUS**2 * np.where(apart == 0, 1.0, 2 * j1(apart) / apart)
    epsilon = (ROD_EPSILON - 1) * share + np.eye(len(waves))
    rows = []
    for k in BANDS:
        squares = np.sum((waves + 2 * np.pi * np.array((k, 0.0))) ** 2, axis=1)
        rows.append(list(np.sqrt(eigh(np.diag(squares), epsilon, eigvals_only=True)[:4]) / (2 * np.pi)))
    return bands(rows)


def cylinder_by_evenly(points: int) -> Found:
    import fdtd_cylinder

    _, plane = fdtd_cylinder.fluxes(points, None, "TE")
    around, _ = fdtd_cylinder.fluxes(points, TRIED, "TE")
    return absorbed(-around.flux(), plane.flux())


def cylinder_by_meep(points: int) -> Found:
    import meep as mp

    metal = mp.Medium(E_susceptibilities=[mp.DrudeSusceptibility(frequency=PLASMA, gamma=LOSS, sigma=1.0)])
    seen = []
    for geometry, until in (([], 10.0), ([mp.Cylinder(TRIED, material=metal)], RINGING)):
        sim = mp.Simulation(
            cell_size=mp.Vector3(CELL, CELL),
            resolution=points / RADIUS,
            geometry=geometry,
            sources=[
                mp.Source(
                    mp.GaussianSource(CENTRE, fwidth=WIDTH), mp.Ey, mp.Vector3(LAYER + 0.05 - CELL / 2),
                    size=mp.Vector3(0, CELL),
                )
            ],
            boundary_layers=[mp.PML(LAYER)],
            k_point=mp.Vector3(),
        )  # fmt: skip
        faces = [
            mp.FluxRegion(mp.Vector3(sign * BOX / 2), size=mp.Vector3(0, BOX), weight=sign) for sign in (-1, 1)
        ] + [mp.FluxRegion(mp.Vector3(0, sign * BOX / 2), size=mp.Vector3(BOX, 0), weight=sign) for sign in (-1, 1)]
        around = sim.add_flux(list(METAL_FREQUENCIES), *faces)
        plane = sim.add_flux(list(METAL_FREQUENCIES), mp.FluxRegion(mp.Vector3(), size=mp.Vector3(0, 0.25)))
        sim.run(until=PULSE_END + until)
        seen.append((np.array(mp.get_fluxes(around)), np.array(mp.get_fluxes(plane))))
    return absorbed(-seen[1][0], seen[0][1])


def absorbed(lost: Any, passed: Any) -> Found:
    """Return absorption cross-sections over the diameter."""
    sections = lost / (passed / 0.25 * 2 * TRIED)
    return {f"absorbed ε={e}": float(value) for e, value in zip((-2, -4, -10), sections, strict=True)}


@cache
def cylinder_theory() -> Found:
    import fdtd_cylinder

    sections = fdtd_cylinder.theory(TRIED, "TE")[0]
    return {f"absorbed ε={e}": float(value) for e, value in zip((-2, -4, -10), sections, strict=True)}


PROBLEMS = {
    "ring": Problem("Ring resonator, index 3.4", "{}/a", (10, 20), ring_by_evenly, ring_by_meep, ring_theory),
    "bend": Problem("Bend of a waveguide, ε = 12", "{}/a", (10, 20), bend_by_evenly, bend_by_meep),
    "rods": Problem("Square lattice of rods, ε = 8.9", "{}/a", (10, 20), rods_by_evenly, rods_by_meep, rods_theory),
    "cylinder": Problem(
        "Metal cylinder, E across", "{}/radius", (8, 16), cylinder_by_evenly, cylinder_by_meep, cylinder_theory
    ),
}
