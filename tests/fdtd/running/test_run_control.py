"""Runs end when they should, call what they are told to, and say when something is wrong."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.errors import InputError, RunFailed
from evenly.fdtd.running.decays import FEWEST_STEPS
from evenly.fdtd.running.progress import Progress, _lines, progress
from evenly.fdtd.running.run_control import CHECK_STEPS, check_finite

PULSE = fdtd.GaussianPulse(1.0, width=0.5, cutoff=4)


def line(**changes: Any) -> fdtd.Simulation:
    """Return an open line with a pulse that ends at time 4."""
    setup: dict[str, Any] = {
        "cell": (0, 0, 4), "resolution": 20, "boundaries": [fdtd.PML(1, "z")],
        "sources": [fdtd.Source(PULSE, "Ex", center=(0, 0, 0))], **changes,
    }  # fmt: skip
    return fdtd.Simulation(**setup)


def cavity(conductivity: float = 0.0, **changes: Any) -> fdtd.Simulation:
    """Return a closed line of 1 a, whose lowest mode has frequency 1/2."""
    filling = fdtd.Medium(electric_conductivity=conductivity)
    sources = [fdtd.Source(fdtd.GaussianPulse(0.5, width=1.5, cutoff=4), "Ex", center=(0, 0, 0.03))]
    return fdtd.Simulation(cell=(0, 0, 1), resolution=20, sources=sources, material=filling, **changes)


def test_the_first_condition_met_ends_the_run() -> None:
    sim = line()
    sim.run(until=[3.0, fdtd.UntilTime(2.0)], after_sources=1.0)
    assert sim.outcome is not None
    assert sim.outcome.reason == "UntilTime(2.0)"
    assert (sim.step_count, sim.outcome.steps) == (80, 80)
    sim.run(until=2.0)
    assert sim.outcome.steps == 0
    sim.run(after_sources=0.51)
    assert sim.outcome.reason == "SourcesEnded(0.51)"
    # The first step at or after 4.51.
    assert sim.step_count == 181


def test_fields_have_decayed_when_a_whole_window_after_the_sources_was_quiet() -> None:
    sim = line()
    seen: list[complex] = []
    sim.run(
        until=fdtd.FieldsDecayed("Ex", (0, 0, 0.5), by=1e-4, window=5.0),
        callbacks=[lambda sim: seen.append(sim.get_field_point("Ex", (0, 0, 0.5)))],
    )
    squares = np.real(seen) ** 2
    assert squares[-FEWEST_STEPS:].max() <= 1e-4 * squares.max()
    # Windows of 200 steps; sources end at step 160, so the first to lie behind them ends at 400.
    assert sim.step_count == 400


@pytest.mark.parametrize("by", [1e-2, 1e-3])
def test_energy_decays_at_the_rate_of_the_loss(by: float) -> None:
    # Half of the energy is electric: dW/dt = -∫ σ E² = -σ W on average, so W falls to `by` within ln(1/by)/σ.
    sigma = 0.4
    sim = cavity(sigma)
    end = sim.sources[0].pulse.last_time
    sim.run(until=fdtd.EnergyDecayed(by=by, window=5.0))
    peak = sim.conditions[0].state()["peak"]
    expected = math.log(1 / by) / sigma
    # The peak comes while the pulse lasts (12 a/c). Looking once per 500 steps (12.5 a/c), and only at windows that
    # begin after the pulse, notices the fall later by up to two of them.
    assert end - 12 < sim.time - expected < end + 25
    assert sim.stored_energy().total <= 1.01 * by * peak


def test_a_closed_cavity_never_decays_but_the_time_ends_it() -> None:
    sim = cavity()
    sim.run(until=[fdtd.EnergyDecayed(by=0.5), fdtd.FieldsDecayed("Ex", (0, 0, 0.1), by=0.5), 60.0])
    assert sim.outcome is not None
    assert sim.outcome.reason == "UntilTime(60.0)"


def test_transforms_have_settled_to_their_final_value() -> None:
    # Ends smoothly: what a cut pulse leaves standing, exp(-cutoff²/2), would go on turning in the transforms.
    pulse = fdtd.Source(fdtd.GaussianPulse(1.0, width=0.5, cutoff=6), "Ex", center=(0, 0, 0))
    sim, long = (line(sources=[pulse]) for _ in range(2))
    both = [each.add(fdtd.Flux((0, 0, 0.8), (0, 0, 0), frequencies=[0.8, 1.0, 1.2])) for each in (sim, long)]
    sim.run(until=fdtd.DftDecayed(tolerance=1e-6))
    long.run(until=3 * sim.time)
    np.testing.assert_allclose(both[0].flux(), both[1].flux(), rtol=1e-5)
    # Two quiet windows of ten periods (of the band's centre, 1.37) after the sources' end.
    assert 6 + 2 * 7.3 <= sim.time <= 6 + 3 * 7.3


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lambda: fdtd.DftDecayed(), "needs monitors"),
        (lambda: fdtd.FieldsDecayed("Ex", (0, 0, 9)), "must lie inside the cell"),
        (lambda: fdtd.FieldsDecayed("Dx", (0, 0, 0)), "must be one of Ex"),
        (lambda: fdtd.FieldsDecayed("Ex", (0, 0, 0), by=2), "between 0 and 1"),
        (lambda: fdtd.EnergyDecayed(window=-1), "positive"),
        (lambda: fdtd.DftDecayed(tolerance=0), "between 0 and 1"),
        (lambda: fdtd.WallTime(0), "positive"),
        (lambda: math.inf, "finite"),
        (lambda: "soon", "must be a time"),
        (lambda: None, "needs an end"),
    ],
)
def test_ends_that_make_no_sense_are_refused(condition: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        line().run(until=condition())


def test_a_source_without_end_is_told_by_name() -> None:
    endless = fdtd.Source(fdtd.ContinuousWave(1.0), "Ex", center=(0, 0, 0), name="laser")
    for arguments in ({"until": fdtd.EnergyDecayed()}, {"after_sources": 1.0}):
        with pytest.raises(InputError, match="the source 'laser' never ends"):
            line(sources=[endless]).run(**arguments)


def test_a_point_where_nothing_ever_is_is_not_waited_for_forever() -> None:
    with pytest.raises(InputError, match="never been anything"):
        line().run(until=fdtd.FieldsDecayed("Ey", (0, 0, 0), window=1.0))


def test_wall_time_ends_a_run() -> None:
    sim = line()
    sim.run(until=[fdtd.WallTime(0.2), 1e9])
    assert sim.outcome is not None
    assert sim.outcome.reason == "WallTime(0.2)"
    assert 0.2 <= sim.outcome.seconds < 10


def test_callbacks_come_when_they_are_due() -> None:
    log: list[tuple[str, int]] = []

    def note(name: str) -> Any:
        return lambda sim: log.append((name, sim.step_count))

    sim = line()
    callbacks = [
        fdtd.at_beginning(note("beginning")),
        fdtd.at_every(note("steps"), steps=4),
        fdtd.at_every(note("time"), time=0.06),
        fdtd.at_time(note("once"), 0.2),
        fdtd.at_end(note("end")),
    ]
    sim.run(until=0.125, callbacks=callbacks)
    sim.run(until=0.25, callbacks=callbacks)
    # dt = 0.025: 0.06, 0.12, 0.18, 0.24 are passed at steps 3, 5, 8, 10.
    assert [n for name, n in log if name == "time"] == [3, 5, 8, 10]
    assert [n for name, n in log if name == "steps"] == [4, 8]
    assert [n for name, n in log if name == "once"] == [8]
    assert [entry for entry in log if entry[0] in ("beginning", "end")] == [
        ("beginning", 0), ("end", 5), ("beginning", 5), ("end", 10),
    ]  # fmt: skip
    for wrong in ({}, {"steps": 1, "time": 1.0}, {"steps": 0}, {"time": -1.0}):
        with pytest.raises(InputError):
            fdtd.at_every(print, **wrong)


@pytest.mark.parametrize(("component", "value"), [("Ey", math.nan), ("Hx", math.inf), ("Hy", -math.inf)])
def test_fields_without_bound_end_the_run_with_a_reason(component: str, value: float) -> None:
    sim = line()

    def spoil(sim: fdtd.Simulation) -> None:
        chunk = sim.chunks[1]
        chunk.view(component, 0, chunk.box)[0, 0, 3] = value

    with pytest.raises(RunFailed, match=r"infinite or NaN by step \d+ .* around \(0, 0, .*Lower `courant`"):
        sim.run(until=50.0, callbacks=[fdtd.at_time(spoil, 1.0)])
    # Soon: within a round over the six components.
    assert sim.step_count <= 40 + 7 * CHECK_STEPS


def test_what_goes_wrong_at_the_end_is_seen_too() -> None:
    sim = line()
    sim.run(until=0.5)
    check_finite(sim)
    sim.chunks[0].view("Hy", 0, sim.chunks[0].box)[...] = np.nan
    with pytest.raises(RunFailed):
        sim.run(until=0.6)


def test_conditions_go_on_after_a_restart(tmp_path: Path) -> None:
    def condition() -> list[Any]:
        return [fdtd.FieldsDecayed("Ex", (0, 0, 0.5), by=1e-4, window=5.0), fdtd.EnergyDecayed(by=1e-9)]

    whole, first, second = line(), line(), line()
    whole.run(until=condition())
    first.run(until=[*condition(), 6.0])
    assert whole.step_count > first.step_count
    first.save(tmp_path / "state")
    second.load(tmp_path / "state")
    second.run(until=condition())
    assert second.step_count == whole.step_count
    assert second.outcome is not None
    assert whole.outcome is not None
    assert second.outcome.reason == whole.outcome.reason


class Shown:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...


def test_lines_tell_share_speed_and_time_left() -> None:
    stream = Shown()
    lines: Progress = _lines(1_000_000, stream, pause_s=0.0)  # type: ignore[arg-type]
    assert lines.tick(50)
    lines._begin -= 10.0
    lines.show(0.25, 1.5)
    assert "25 %, t = 1.5, 5 steps/s, 5 Mpoints/s, 30 s left" in stream.text
    lines.show(None, 2.0)
    assert "left" not in stream.text.splitlines()[1]


def test_a_bar_appears_on_demand_and_leaves(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenly.fdtd.running.progress.PATIENCE_S", 0.0)
    monkeypatch.setattr("evenly.fdtd.running.progress.REFRESH_S", 0.0)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    line().run(until=1.0, progress="bar")
    shown = capfd.readouterr().err
    assert "steps/s" in shown
    assert "100%" in shown or "98%" in shown
    line().run(until=1.0, progress="off")
    line().run(until=1.0)
    assert capfd.readouterr().err == ""
    with pytest.raises(InputError, match="`progress` must be"):
        progress("loud", 1)  # type: ignore[arg-type]


def test_a_run_needs_no_rich() -> None:
    code = (
        "import sys; sys.modules['rich'] = None\n"
        "from evenly import fdtd\n"
        "sim = fdtd.Simulation(cell=(0, 0, 1), resolution=10)\n"
        "sim.run(until=1.0)\n"
        "assert not [name for name in sys.modules if name.startswith('rich.')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
