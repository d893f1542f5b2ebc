"""Flux of plane waves: exact in the discrete sense, on planes and boxes, whole and in parts; files and subtraction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.boundaries import Periodic
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.sources.pulses import GaussianPulse
from evenly.fdtd.sources.source import Source
from tests.fdtd.fake_fields import Amplitude, FakeSimulation, Team, cut, on_ranks

GRID = Grid((1.2, 1.0, 1.4), 10)
FLAT = Grid((1.2, 1.0, 0.0), 10)
LINE = Grid((1.2, 0.0, 0.0), 10)
TONE = 0.25  # 80 steps of 0.05 a/c are one period
PERIOD = 80
E0 = np.array([0.3 + 0.1j, -0.7, 0.4j])
H0 = np.array([0.2, 0.5 - 0.3j, 0.9])
K = np.array([1.1, -0.7, 1.9])


def wave(component: str, x: Any, y: Any, z: Any) -> Any:
    amplitude = (E0 if component[0] == "E" else H0)["xyz".index(component[1])]
    return amplitude * np.exp(1j * (K[0] * x + K[1] * y + K[2] * z))


def simulation(
    grid: Grid = GRID, boxes: list[Box] | None = None, field: Amplitude = wave, **options: Any
) -> FakeSimulation:
    return FakeSimulation(grid, boxes or [grid.box], field, TONE, **options)


def density(axis: int, grid: Grid = GRID) -> float:
    """Flux of the wave per area after one period: half an amplitude each, H averaged over two planes."""
    scale = (PERIOD * grid.dt / 2) ** 2 / (2 * np.pi)
    averaged = 1.0 if grid.thin[axis] else np.cos(K[axis] * grid.dx / 2)
    return float(scale * averaged * np.cross(E0.conj(), H0)[axis].real)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("whole", [True, False])
def test_flux_of_a_wave_through_a_plane_is_exact(axis: int, whole: bool) -> None:
    size = [1.2, 1.0, 1.4] if whole else [0.33, 0.47, 0.256]
    center = [0.0, 0.0, 0.0] if whole else [0.11, -0.07, 0.031]
    size[axis] = 0
    found = simulation()
    monitor = found.add(Flux(center, size, [TONE]))
    found.run(PERIOD)
    area = np.prod([s for s in size if s])
    np.testing.assert_allclose(monitor.flux(), area * density(axis), rtol=1e-12)


@pytest.mark.parametrize(
    ("grid", "size", "axis", "area"),
    [
        (FLAT, (0, 0.47), 0, 0.47),
        (FLAT, (0.3, 0), 1, 0.3),
        (FLAT, (0.3, 0.4, 0), 2, 0.12),
        (LINE, (0,), 0, 1.0),
    ],
)
def test_thin_axes_count_as_one_unit(grid: Grid, size: Any, axis: int, area: float) -> None:
    found = simulation(grid)
    monitor = found.add(Flux((0, 0, 0), size, [TONE], direction="-xyz"[axis + 1]))
    found.run(PERIOD)
    np.testing.assert_allclose(monitor.flux(), area * density(axis, grid), rtol=1e-12)


def test_direction_and_weight_are_factors() -> None:
    found = simulation()
    plain, turned = (
        found.add(Flux((0, 0, 0.3), (1, 1, 0), [TONE], direction=d, weight=w)) for d, w in (("z", 1), ("-z", 3))
    )
    found.run(PERIOD)
    np.testing.assert_allclose(turned.flux(), -3 * plain.flux(), rtol=1e-14)


def test_a_wave_leaves_a_box_as_it_came_and_each_face_counts_outwards() -> None:
    found = simulation()
    box = found.add(Flux((0.02, 0.01, 0), (0.5, 0.4, 0.6), [TONE]))
    found.run(PERIOD)
    faces = box.by_face()
    # The box is moved to E nodes: 0.5 x 0.4 x 0.6.
    areas = {"x": 0.4 * 0.6, "y": 0.5 * 0.6, "z": 0.5 * 0.4}
    for axis, letter in enumerate("xyz"):
        np.testing.assert_allclose(faces[f"+{letter}"], areas[letter] * density(axis), rtol=1e-12)
        np.testing.assert_allclose(faces[f"-{letter}"], -faces[f"+{letter}"], rtol=1e-12)
    assert abs(box.flux()[0]) < 1e-12 * np.abs(list(faces.values())).max()


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_any_layout_gives_the_same_flux(parts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frequencies = [TONE, 0.3]
    fluxes = []
    for boxes in ([GRID.box], cut(GRID.box, rng, 7)):
        found = simulation(boxes=boxes, parts=parts, order=(2, 0, 1))
        monitor = found.add(Flux((0, 0, 0), (0.55, 0.52, 0.61), frequencies))
        found.run(33)
        fluxes.append(monitor.by_face())
    for name, flux in fluxes[0].items():
        np.testing.assert_allclose(fluxes[1][name], flux, rtol=1e-12)


def test_ranks_add_up_and_files_fit_any_number_of_them(tmp_path: Path) -> None:
    boxes = cut(GRID.box, np.random.default_rng(3), 5)
    alone = simulation()
    reference = alone.add(Flux((0, 0, 0), (0.55, 0.52, 0.61), [TONE, 0.3]))
    alone.run(40)
    reference.save(tmp_path / "one.npz")

    def work(team: Team) -> Any:
        mine = [box for n, box in enumerate(boxes) if n % 3 == team.rank]
        found = simulation(boxes=mine, communicator=team)
        first = found.add(Flux((0, 0, 0), (0.55, 0.52, 0.61), [TONE, 0.3]))
        loaded = Flux((0, 0, 0), (0.55, 0.52, 0.61), [TONE, 0.3])
        loaded.load(tmp_path / "one.npz")
        found.add(loaded)
        found.run(40)
        first.save(tmp_path / "three.npz")
        return first.flux(), loaded.data()

    results = on_ranks(3, work)
    for flux, data in results:
        np.testing.assert_allclose(flux, reference.flux(), rtol=0, atol=1e-14)
        for key, values in reference.data().arrays.items():
            np.testing.assert_allclose(data.arrays[key], 2 * values, rtol=0, atol=1e-13)
    again = simulation().add(Flux((0, 0, 0), (0.55, 0.52, 0.61), [TONE, 0.3]))
    again.load(tmp_path / "three.npz")
    np.testing.assert_allclose(again.flux(), reference.flux(), rtol=0, atol=1e-14)


def test_the_incident_field_is_subtracted_before_and_after_a_run(tmp_path: Path) -> None:
    incident = simulation()
    first = incident.add(Flux((0, 0, 0.3), (1, 1, 0), [TONE]))
    incident.run(PERIOD)
    first.save(tmp_path / "incident.npz")

    def both(component: str, x: Any, y: Any, z: Any) -> Any:
        return wave(component, x, y, z) + (1 if component[0] == "E" else -1) * wave(component, x, y, -z) / 2

    scattered = simulation(field=lambda c, x, y, z: both(c, x, y, z) - wave(c, x, y, z))
    wanted = scattered.add(Flux((0, 0, 0.3), (1, 1, 0), [TONE]))
    scattered.run(PERIOD)
    total = simulation(field=both)
    before, after = (Flux((0, 0, 0.3), (1, 1, 0), [TONE]) for _ in range(2))
    before.load_minus(tmp_path / "incident.npz")
    total.add(before)
    total.add(after)
    total.run(PERIOD)
    after.load_minus(tmp_path / "incident.npz")
    np.testing.assert_allclose(before.flux(), wanted.flux(), rtol=1e-10)
    np.testing.assert_allclose(after.flux(), wanted.flux(), rtol=1e-10)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    found = simulation()
    monitor = found.add(Flux((0, 0, 0.3), (1, 1, 0), [TONE]))
    path = tmp_path / "a.npz"
    monitor.save(path)
    others: list[tuple[FourierMonitor, str]] = [
        (Flux((0, 0, 0.3), (1, 1, 0), [TONE, 1.0]), "2 frequencies from 0.25 to 1"),
        (Flux((0, 0, 0.5), (1, 1, 0), [TONE]), "has no Ex on grid points"),
    ]
    for other, message in others:
        found.add(other)
        with pytest.raises(ReadError, match=message):
            other.load(path)
    (tmp_path / "b.npz").write_bytes(path.read_bytes()[:200])
    np.savez(tmp_path / "c.npz", format="something else")
    np.savez(tmp_path / "d.npz", numbers=1)
    for name in ("b.npz", "c.npz", "d.npz", "missing.npz"):
        with pytest.raises(ReadError, match=name):
            monitor.load(tmp_path / name)
    with pytest.raises(InputError, match="can't be written"):
        monitor.save(tmp_path / "no" / "such" / "folder.npz")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "b.npz", "c.npz", "d.npz"]


def test_steps_are_left_out_where_the_sources_allow_it() -> None:
    source = Source(GaussianPulse(TONE, fwidth=0.05), "Ez", (0, 0, 0))
    found = simulation(sources=[source])
    sparse = found.add(Flux((0, 0, 0.3), (1, 1, 0), [TONE]))
    every = sparse.patches[0].phases.every
    assert every == int(1 / (GRID.dt * (source.pulse.band()[1] + TONE)))
    assert found.add(Flux((0, 0, 0.3), (1, 1, 0), [TONE], every=2)).patches[0].phases.every == 2
    assert simulation().add(Flux((0, 0, 0.3), (1, 1, 0), [TONE])).patches[0].phases.every == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Flux((0, 0, 0), (1, 0, 0), [1.0]), "size is 0 along y and z"),
        (lambda: Flux((0, 0, 0), (1, 1, 0), [1.0], direction="x"), "A plane across x"),
        (lambda: Flux((0, 0, 0), (1, 1, 1), [1.0], direction="x"), "A plane across x"),
        (lambda: Flux((0, 0, 0), (1, 1, 0), [1.0], direction="w"), "An axis is one of"),
        (lambda: Flux((0, 0, 2), (1, 1, 0), [1.0], name="top"), "flux monitor 'top' must lie inside the cell"),
        (lambda: Flux((0, 0, 0), (1, 1, -1), [1.0]), "must not be negative"),
        (lambda: Flux((0.02, 0, 0), (0.02, 0.5, 0.5), [1.0]), "at least one grid spacing"),
        (lambda: Flux((0, 0, 0), (1, 1, 0), [1.0], every=0), "at least 1"),
    ],
)
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulation().add(make())


def test_a_monitor_without_a_simulation_has_no_data() -> None:
    with pytest.raises(InputError, match="add it to a simulation"):
        Flux((0, 0, 0), (1, 1, 0), [1.0]).flux()


def test_both_sides_of_a_periodic_cell_are_one_plane() -> None:
    source = Source(GaussianPulse(1.0, fwidth=0.5), "Ez", center=(0.2, 0, 0))
    sim = Simulation(cell=(1.6, 0.8, 0), resolution=10, sources=[source], boundaries=[Periodic()])
    planes = [sim.add(Flux((x, 0, 0), (0, 0.8, 0), [0.9, 1.1], direction="+x")) for x in (-0.8, 0.8)]
    sim.run(until=3.0, progress="off")
    low, high = (plane.flux() for plane in planes)
    assert np.abs(low).min() > 0
    assert high.tolist() == low.tolist()
