"""Steps that follow each other slab by slab are bit for bit those that are done one by one."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly import fdtd
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.stepping import waves
from evenly.fdtd.stepping.chunk_state import dense_arrays

GLASS = fdtd.Medium(epsilon=2.2)
CELL = (1.3, 1.7, 1.1)
STACK = [fdtd.PML(0.3, "z"), fdtd.Periodic("xy")]
FILM = fdtd.Block(size=(np.inf, np.inf, 0.5), material=GLASS)
BRICK = fdtd.Block(size=(0.6, 0.5, 0.7), material=GLASS)
CELLS: dict[str, dict[str, Any]] = {
    "metal": {},
    "float32": {"options": fdtd.Options(precision="float32")},
    "a stack": {"boundaries": STACK, "geometry": [FILM]},
    "a stack along x": {"boundaries": [fdtd.PML(0.2, "x"), fdtd.Periodic("yz")], "geometry": [BRICK]},
    "a stack along y": {"boundaries": [fdtd.PML(0.2, "y"), fdtd.Periodic("xz")]},
    "layers along two axes": {
        "boundaries": [fdtd.PML(0.2, "x"), fdtd.PML(0.2, "z"), fdtd.Periodic("y")],
        "geometry": [FILM],
    },
    "complex fields": {"boundaries": [fdtd.PML(0.3, "z"), fdtd.Bloch(k=(0.1, 0.2, 0), axes="xy")], "geometry": [FILM]},
    "an absorber": {"boundaries": [fdtd.Absorber(0.3, "z"), fdtd.Metal("xy")]},
    "magnetic, lossy": {"material": fdtd.Medium(epsilon=2, mu=1.5, electric_conductivity=0.3)},
    "separate sweeps": {"boundaries": STACK, "options": fdtd.Options(fused=False)},
    "chunks": {"layout": [("x", 0.1), [("y", 0.0), 0, [("z", -0.2), 0, 0]], 0], "geometry": [BRICK]},
    "mirrors": {
        "cell": (1.6, 1.2, 1.3), "boundaries": [fdtd.PML(0.3, "z"), fdtd.Periodic("x")], "mirrored": True,
        "geometry": [FILM],
    },
    "two dimensions": {"cell": (2.1, 1.7, 0), "boundaries": [fdtd.PML(0.3, "x")], "geometry": [BRICK]},
    "two dimensions, rows behind a thin axis": {
        "cell": (0, 1.7, 2.1), "boundaries": [fdtd.PML(0.3, "y"), fdtd.Periodic("z")],
    },
    "two dimensions, thin y": {"cell": (1.7, 0, 2.1), "boundaries": [fdtd.PML(0.3, "z"), fdtd.Periodic("x")]},
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_cells_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waves, "_LARGE", 0)
    monkeypatch.setattr(waves, "_CACHE", 1 << 40)
    monkeypatch.setattr(waves, "_WORTH", 1e9)


def made(*, mirrored: bool = False, **given: Any) -> tuple[fdtd.Simulation, list[Any]]:
    cell = given.setdefault("cell", CELL)
    x, y, z = cell
    at = (0.07 * x, 0.07 * y, 0.07 * z)
    pulse, sine = fdtd.GaussianPulse(0.5, fwidth=0.9), fdtd.CustomPulse(lambda t: np.sin(3 * t), end=4.0)
    sources = [
        fdtd.Source(pulse, "Ez", center=at),
        fdtd.Source(sine, "Hx", center=(0, 0, 0), size=(x / 3, y / 3, z / 3)),
        fdtd.Source(pulse, "Ex", center=at, size=(x / 3, 0, 0)),
        fdtd.Source(pulse, "Hy", center=(0, 0, at[2]), size=(0, 0, z / 3)),
    ]
    if mirrored:
        sources = [fdtd.Source(pulse, "Ez", center=(0, 0, at[2]))]
        given["symmetries"] = [fdtd.Mirror("x"), fdtd.Mirror("y")]
    sim = fdtd.Simulation(**{"resolution": 10, "sources": sources, **given})
    point = (0.02 * x, 0.02 * y, 0.02 * z)
    monitors = [
        sim.add(fdtd.Flux(center=(0, 0, 0), size=(0.6 * x, 0.6 * y, 0.6 * z), frequencies=[0.4, 0.6])),
        sim.add(fdtd.FieldRecorder("Ez", point, every=3)),
        sim.add(fdtd.FieldRecorder("Hy", point)),
    ]
    return sim, monitors


def state(sim: fdtd.Simulation, monitors: list[Any]) -> dict[str, Any]:
    flux, *recorders = monitors
    found = {name: sim.field(name) for name in COMPONENTS} | {"flux": flux.flux()}
    found |= {str(n): (recorder.times, recorder.values()) for n, recorder in enumerate(recorders)}
    return found | {f"{chunk.index}.{name}": v for chunk in sim.chunks for name, v in dense_arrays(chunk).items()}


def check_same(together: fdtd.Simulation, many: list[Any], given: dict[str, Any]) -> None:
    one_by_one, few = made(**given)
    while one_by_one.step_count < together.step_count:
        one_by_one.step()
    found, wanted = state(together, many), state(one_by_one, few)
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("points", [1, 700])
@pytest.mark.parametrize("name", CELLS)
def test_steps_in_waves_are_bit_for_bit_single_steps(monkeypatch: pytest.MonkeyPatch, name: str, points: int) -> None:
    monkeypatch.setattr(waves, "_SLAB", points)
    monkeypatch.setattr("evenly.fdtd.stepping.stepper._POINTS_AT_ONCE", 0)
    sim, monitors = made(**CELLS[name])
    assert sim.stepper.free_steps(0) == 6
    # 74 steps: past the end of a block, and a last pass of fewer.
    sim.run(until=74 * sim.grid.dt)
    assert np.abs(sim.field("Ez")).max() > 1e-3
    check_same(sim, monitors, CELLS[name])


@settings(max_examples=25, deadline=None)
@given(
    shape=st.tuples(*[st.integers(4, 23)] * 3),
    points=st.integers(1, 2000),
    steps=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    sides=st.sampled_from(["", "x", "y", "z", "xy", "xz", "yz"]),
    thin=st.sampled_from(["", "", "x", "y", "z"]),
    precision=st.sampled_from(["float32", "float64"]),
)
def test_any_shape_and_number_of_steps(
    shape: tuple[int, int, int],
    points: int,
    steps: list[int],
    sides: str,
    thin: str,
    precision: Literal["float64", "float32"],
) -> None:
    cell = [0.0 if axis in thin else n / 10 for axis, n in zip("xyz", shape, strict=True)]
    given: dict[str, Any] = {"cell": cell, "options": fdtd.Options(precision=precision), "geometry": [BRICK]}
    if sides:
        given["boundaries"] = [fdtd.Periodic(sides)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waves, "_SLAB", points)
        patch.setattr(waves, "_MOST", max(2, *steps))
        sim, monitors = made(**given)
        for count in steps:
            sim.advance(min(count, sim.stepper.free_steps(sim.step_count)))
        check_same(sim, monitors, given)


@pytest.mark.parametrize(
    "given",
    [
        {"boundaries": [fdtd.Periodic()]},
        {"boundaries": [fdtd.PML(0.2)]},
        {"symmetries": [fdtd.Mirror(a) for a in "xyz"], "sources": []},
        {"material": fdtd.Medium(epsilon=2, electric_poles=[fdtd.LorentzPole(0.5, 0.05, 1.0)])},
        {"options": fdtd.Options(threads=2), "num_chunks": 2},
    ],
)
def test_other_cells_take_single_steps(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    monkeypatch.setattr("evenly.fdtd.stepping.stepper._POINTS_AT_ONCE", 0)
    assert fdtd.Simulation(cell=(1.2, 1.2, 1.2), resolution=10, **given).stepper.free_steps(0) == 1


def test_only_large_cells_whose_slabs_fit_into_the_cache_take_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = fdtd.Simulation(cell=(2, 2, 3), resolution=10)
    size = sum(chunk.nbytes for chunk in sim.chunks)
    monkeypatch.setattr(waves, "_SLAB", 1)
    monkeypatch.setattr(waves, "_CACHE", size * 5 // 20 + 1)
    found = waves.plan(sim.chunks, sim.layers)
    assert found is not None
    assert (found.axis, found.most, len(found.borders)) == (0, 3, 22)
    monkeypatch.setattr(waves, "_CACHE", size * 3 // 20)
    assert waves.plan(sim.chunks, sim.layers) is None
    monkeypatch.undo()
    assert waves.plan(sim.chunks, sim.layers) is None
