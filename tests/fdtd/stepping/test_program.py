"""Steps that are done at once, in compiled code, are bit for bit those that are done one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.running.callbacks import at_beginning, at_every, at_time
from evenly.fdtd.running.conditions import SourcesEnded, UntilTime, WallTime
from evenly.fdtd.running.decays import FieldsDecayed
from evenly.fdtd.stepping import chunk as chunk_module

GLASS = fdtd.Medium(epsilon=2.2)
POLE = fdtd.Medium(epsilon=2, electric_poles=[fdtd.LorentzPole(0.5, 0.05, 1.0)])
FLAT = {"cell": (2, 1.7, 0), "layout": [("x", 0.1), [("y", 0.0), 0, 0], 0]}
CELLS: dict[str, dict[str, Any]] = {
    "layers": {**FLAT, "boundaries": [fdtd.PML(0.3)]},
    "complex fields": {**FLAT, "boundaries": [fdtd.Bloch(k=(0.1, 0.2, 0))]},
    "float32": {**FLAT, "boundaries": [fdtd.Periodic()], "options": fdtd.Options(precision="float32")},
    "three dimensions": {
        "cell": (1.2, 1, 1.1),
        "boundaries": [fdtd.PML(0.2, "x"), fdtd.Periodic("y")],
        "options": fdtd.Options(subpixel=False),
    },
    "separate sweeps": {**FLAT, "options": fdtd.Options(fused=False), "boundaries": [fdtd.Absorber(0.3, "x")]},
    # Between these sweeps, there is work of Python.
    "poles": {**FLAT, "boundaries": [fdtd.PML(0.3)], "shape": POLE},
    "threads": {**FLAT, "boundaries": [fdtd.PML(0.3)], "options": fdtd.Options(threads=2)},
}


def made(shape: fdtd.Medium = GLASS, **given: Any) -> fdtd.Simulation:
    at = (0.12, 0.12, 0.12 if given["cell"][2] else 0.0)
    sources = [
        fdtd.Source(fdtd.GaussianPulse(0.5, fwidth=0.9), "Ez", center=at),
        fdtd.Source(fdtd.ContinuousWave(0.4, width=1.0, end=9.0), "Hx", center=(0, 0, 0)),
        fdtd.Source(fdtd.CustomPulse(lambda t: np.sin(3 * t), end=4.0), "Ez", center=at),
    ]
    return fdtd.Simulation(
        **{"resolution": 10, "geometry": [fdtd.Sphere(radius=0.4, material=shape)], "sources": sources, **given}
    )


def watched(sim: fdtd.Simulation) -> list[Any]:
    return [
        sim.add(fdtd.Flux(center=(0.3, 0, 0), size=(0, 0.5, 0.5 * (sim.grid.size[2] > 0)), frequencies=[0.4, 0.6])),
        sim.add(fdtd.FieldRecorder("Ez", (0.03, 0.04, 0), every=3)),
        sim.add(fdtd.FieldRecorder("Hy", (0.03, 0.04, 0))),
    ]


def state(sim: fdtd.Simulation, monitors: list[Any]) -> dict[str, Any]:
    flux, *recorders = monitors
    seen = {str(n): (recorder.times, recorder.values()) for n, recorder in enumerate(recorders)}
    return {**{name: sim.field(name) for name in COMPONENTS}, "flux": flux.flux(), **seen}


def check_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("name", CELLS)
def test_a_run_is_bit_for_bit_what_single_steps_make(name: str) -> None:
    together, one_by_one = made(**CELLS[name]), made(**CELLS[name])
    # Monitors that begin in the middle of a block, and a second run.
    together.run(until=7.5 * together.grid.dt)
    many = watched(together)
    assert together.stepper.free_steps(70) > 1
    together.run(until=150 * together.grid.dt, callbacks=[at_every(lambda _: None, steps=37)])
    for _ in range(8):
        one_by_one.step()
    few = watched(one_by_one)
    while one_by_one.step_count < 150:
        one_by_one.step()
    assert together.step_count == 150
    check_same(state(together, many), state(one_by_one, few))


def test_large_cells_take_single_steps_so_that_runs_can_be_watched() -> None:
    sim = fdtd.Simulation(cell=(30, 30, 0), resolution=10)
    assert sim.stepper.free_steps(0) == 1


@pytest.mark.parametrize("name", CELLS)
def test_compiled_ghost_copies_are_those_of_numpy(name: str) -> None:
    sim = made(**CELLS[name])
    sim.run(until=60 * sim.grid.dt)
    arrays = [array for chunk in sim.chunks for kind in "EH" for part in chunk.fields[kind] for array in part]
    before = [array.copy() for array in arrays]
    # Refreshing copies the ghosts again, without the kernel.
    sim.stepper.refresh()
    assert any(array.any() for array in arrays)
    for array, values in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, values)


def test_a_users_function_is_asked_once_per_step_in_order_and_never_ahead() -> None:
    asked: list[float] = []

    def amplitude(time: float) -> float:
        asked.append(float(time))
        return 1.0

    pulse = fdtd.CustomPulse(amplitude)
    sim = fdtd.Simulation(cell=(1, 1, 0), resolution=10, sources=[fdtd.Source(pulse, "Ez", center=(0, 0, 0))])
    for time in (3.0, 5.0):
        sim.run(until=time)
        assert asked == [(n + 0.5) * sim.grid.dt for n in range(sim.step_count)]


@pytest.mark.parametrize("sides", [[fdtd.PML(0.3, "x")], [fdtd.PML(0.3, "y")], [fdtd.PML(0.3)], [], [fdtd.Periodic()]])
@pytest.mark.parametrize("component", ["Ez", "Hz"])
def test_rows_behind_a_thin_axis_are_bit_for_bit_those_before_it(
    monkeypatch: pytest.MonkeyPatch, component: str, sides: list[Any]
) -> None:
    # Rows along x lie behind the thin axis z in memory, (y, z, x); those along y don't, (z, x, y).
    found = []
    for order in ((1, 2, 0), (2, 0, 1)):
        monkeypatch.setattr(chunk_module, "memory_order", lambda *_, order=order: order)
        source = fdtd.Source(fdtd.GaussianPulse(0.5, fwidth=0.9), component, center=(0.12, 0.1, 0))
        shape = fdtd.Cylinder(radius=0.4, height=np.inf, material=GLASS)
        sim = fdtd.Simulation(cell=(2, 1.7, 0), resolution=10, sources=[source], boundaries=sides, geometry=[shape])
        sim.run(until=4.0)
        assert {chunk.frame.order for chunk in sim.chunks} == {order}
        found.append({name: sim.field(name) for name in COMPONENTS})
    assert found[0][component].any()
    check_same(*found)


@pytest.mark.parametrize(
    "action",
    [
        at_every(print, steps=7),
        at_every(print, time=0.33),
        at_time(print, 1.01),
        at_time(print, 0),
        at_beginning(print),
    ],
)
def test_no_callback_is_due_before_its_free_steps_are_over(action: Any) -> None:
    sim = fdtd.Simulation(cell=(1, 0, 0), resolution=10)
    for first in range(60):
        sim.step_count = first
        for step in range(first + 1, first + min(action.free_steps(sim), 80)):
            sim.step_count = step
            assert not action.due(sim)


@pytest.mark.parametrize("condition", [UntilTime(1.7), SourcesEnded(0.9), WallTime(1e-9)])
def test_no_condition_is_met_before_its_free_steps_are_over(condition: Any) -> None:
    sim = fdtd.Simulation(cell=(1, 0, 0), resolution=10)
    condition.begin(sim)
    for first in range(30):
        sim.step_count = first
        free = condition.free_steps(sim)
        assert free >= 1
        if not condition.reached(sim):
            for step in range(first + 1, first + free):
                sim.step_count = step
                assert not condition.reached(sim)


def test_a_decay_sees_the_same_steps_in_a_run_as_in_single_steps() -> None:
    steps = []
    # A function that is called after every step forbids several at once.
    for callbacks in ([], [lambda _: None]):
        sim = made(**CELLS["layers"])
        sim.run(until=FieldsDecayed("Ez", (0.1, 0.1, 0), by=1e-3), callbacks=callbacks)
        steps.append((sim.step_count, sim.field("Ez")))
    assert steps[0][0] == steps[1][0]
    np.testing.assert_array_equal(steps[0][1], steps[1][1])
