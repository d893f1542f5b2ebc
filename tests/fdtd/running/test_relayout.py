"""A run that changes its layout on the way is the run that doesn't; nothing is lost, nothing is kept alive.

Every point's update is the same expression on any layout up to the order of the layers' terms, so 1e-13 of the largest
value is generous (see `tests.parallel.test_same_fields`). What is moved there and back is the same to the last bit.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.errors import InputError
from evenly.fdtd.stepping import chunk as chunk_module
from tests.fdtd.storage.test_checkpoint import everything
from tests.parallel.checkpoints import HALF, WHOLE, results, simulation, steps
from tests.parallel.everything import SCENES, layouts, worst
from tests.parallel.relayouts import run

ROUND_OFF = 1e-13


@pytest.mark.parametrize("scene", SCENES)
def test_results_are_those_of_a_run_that_never_changed(scene: str) -> None:
    wanted = run(scene, ())
    assert worst(run(scene), wanted) < ROUND_OFF
    if scene in ("real", "flat"):
        assert worst(run(scene, threads=3), wanted) < ROUND_OFF
    # All that is compared holds something.
    assert all(np.any(values) for name, values in wanted.items() if name[0] in "012")


@pytest.mark.parametrize("scene", ["real", "bloch", "periodic", "flat"])
def test_state_comes_back_from_another_layout_to_the_last_bit(scene: str) -> None:
    cuts = layouts(SCENES[scene]["cell"])
    sim = simulation(scene, cuts[2])
    steps(sim, HALF)
    before = everything(sim)
    sim.relayout(cuts[1])  # type: ignore[arg-type]  # the first one alone is None
    boxes = [chunk.box for chunk in sim.chunks]
    sim.relayout(cuts[2])  # type: ignore[arg-type]
    assert boxes != [chunk.box for chunk in sim.chunks]
    after = everything(sim)
    assert before.keys() == after.keys()
    assert [name for name, values in before.items() if not np.array_equal(values, after[name])] == []
    assert np.any(before["monitor0.0.kept"])
    steps(sim, WHOLE)
    other = simulation(scene, cuts[2])
    steps(other, WHOLE)
    wanted, found = results(other), results(sim)
    assert [name for name in wanted if not np.array_equal(wanted[name], found[name])] == []


@pytest.mark.slow  # compiles kernels of its own
def test_single_precision_moves_too() -> None:
    wanted = run("flat", (), precision="float32")
    assert worst(run("flat", precision="float32"), wanted) < 1e-13 * 2**29


def test_complex_amplitudes_and_separate_sweeps_move_too() -> None:
    assert worst(run("bloch", fused=False), run("bloch", (), fused=False)) < ROUND_OFF


def ringing(**changes: Any) -> fdtd.Simulation:
    """Return a damped cavity."""
    source = fdtd.Source(fdtd.GaussianPulse(1.0, width=0.3), "Ez", center=(0.1, 0, 0))
    setup: dict[str, Any] = {
        "cell": (4, 0, 0), "resolution": 20, "sources": [source], "boundaries": [fdtd.PML(0.5, "x", "low")],
        "geometry": [fdtd.Block(size=(1, 1, 1), center=(1.5, 0, 0), material=fdtd.Medium(epsilon=4))], **changes,
    }  # fmt: skip
    return fdtd.Simulation(**setup)


@pytest.mark.parametrize("every", [90, 150])
def test_conditions_of_a_run_in_progress_go_on(every: int) -> None:
    cuts: list[Any] = [[("x", 0.4), 0, [("x", 1.3), 0, 0]], [("x", -0.55), 0, 0]]

    def move(sim: fdtd.Simulation) -> None:
        sim.relayout(cuts[sim.step_count // every % 2])

    def ends(callbacks: Any) -> tuple[int, str]:
        sim = ringing()
        sim.add(fdtd.Flux(center=(1.2, 0, 0), size=(0, 0, 0), frequencies=[1.0], direction="+x"))
        conditions: list[Any] = [
            fdtd.FieldsDecayed("Ez", (0.4, 0, 0), by=1e-4, window=9.0), fdtd.EnergyDecayed(by=1e-7),
            fdtd.DftDecayed(1e-9), 500.0,
        ]  # fmt: skip
        sim.run(until=conditions, callbacks=callbacks, progress="off")
        assert sim.outcome is not None
        return sim.step_count, sim.outcome.reason

    wanted = ends([])
    assert wanted[1].startswith("FieldsDecayed")
    assert wanted[0] > 3 * every
    assert ends([fdtd.at_every(move, steps=every)]) == wanted


@pytest.mark.parametrize(("scene", "threads"), [("real", 1), ("real", 2)])
def test_old_chunks_are_given_up_before_new_ones_are_made(
    scene: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = simulation(scene, layouts(SCENES[scene]["cell"])[1], threads=threads)
    steps(sim, 3)
    old = [weakref.ref(chunk) for chunk in sim.chunks]
    arrays = [weakref.ref(values) for chunk in sim.chunks for values in chunk.arrays().values()]
    alive: list[int] = []
    build = chunk_module.Chunk._build

    def watched(self: Any, structure: Any) -> None:
        alive.append(sum(ref() is not None for ref in old + arrays))
        build(self, structure)

    monkeypatch.setattr(chunk_module.Chunk, "_build", watched)
    sim.relayout([("x", 0.1), 0, 0])
    assert len(alive) == len(sim.chunks)
    assert max(alive) == 0


def test_clocks_start_anew_and_seconds_are_told() -> None:
    sim = ringing()
    steps(sim, 10)
    assert sim.relayout([("x", 0.5), 0, 0]) > 0
    assert (sim.timed_steps, sim.step_count, sim.timer.seconds("fused", "cpu")) == (0, 10, 0.0)
    steps(sim, 15)
    measured = sim.measurement()
    assert (measured.steps, measured.layout) == (5, [("x", 0.5), 0, 0])


def test_before_the_first_step_nothing_is_built() -> None:
    sim = ringing()
    assert sim.relayout([("x", 0.5), 0, 0]) == 0.0
    assert "chunks" not in sim.__dict__
    assert len(sim.chunks) == 3


def test_a_layout_that_does_not_fit_changes_nothing() -> None:
    sim, other = ringing(), ringing()
    steps(sim, 12)
    with pytest.raises(InputError, match="must be inside its parent"):
        sim.relayout([("x", 7.0), 0, 0])
    for each in (sim, other):
        steps(each, 30)
    assert np.array_equal(sim.field("Ez"), other.field("Ez"))
    assert sim.timed_steps == 30
