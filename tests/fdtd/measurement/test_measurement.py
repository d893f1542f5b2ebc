"""Measurements of runs: what they say, their two clocks, and their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenly.errors import InputError, ReadError
from evenly.fdtd import PML, Flux, GaussianPulse, Simulation, Source
from evenly.fdtd.measurement.measure import available_cores
from evenly.fdtd.measurement.measurement import COMMUNICATION, COMPUTATION, FORMAT, Measurement, RankRecord
from evenly.fdtd.stepping.timing import PHASES


def ran(steps: int = 5) -> Simulation:
    source = Source(GaussianPulse(1.0, fwidth=0.5), "Ez", center=(0, 0, 0))
    sim = Simulation(cell=(3, 3, 0), resolution=10, sources=[source], boundaries=[PML(0.5)])
    sim.add(Flux((0.5, 0, 0), (0, 1, 0), [0.9, 1.0, 1.1]))
    for _ in range(steps):
        sim.step()
    return sim


def test_a_run_tells_what_it_was_and_took(tmp_path: Path) -> None:
    sim = ran()
    one = sim.measurement(name="wave", parameters={"radius": 0.4, "kind": "ring"}, repetition=2)
    assert (one.name, one.steps, one.size, one.points, one.repetition) == ("wave", 5, 1, 900, 2)
    assert one.parameters == {"resolution": 10.0, "radius": 0.4, "kind": "ring"}
    (rank,) = one.ranks
    assert set(rank.wall) == set(rank.cpu) == set(PHASES)
    assert sum(rank.wall.values()) == pytest.approx(sim.timer.total("wall"))
    assert one.run_s("wall") == pytest.approx(sim.timer.total("wall"))
    assert rank.counts["volume"] == rank.points == 900
    assert rank.counts["pml_1d"] + rank.counts["pml_2d"] == 900 - 20 * 20
    # Ez and Hy (and Ey, Hz) on a line of 11 points, 3 frequencies.
    assert rank.counts["fourier_frequencies"] == 3 * rank.counts["fourier"] > 0
    assert rank.memory == sum(chunk.nbytes for chunk in sim.chunks)
    assert rank.peak_memory > rank.memory
    assert rank.bytes_sent == 0
    assert one.cores == available_cores()
    assert {"python", "evenly", "numpy"} <= set(one.versions)
    assert one.options["precision"] == "float64"
    assert Measurement.load(one.save(tmp_path / "wave")) == one


def test_only_steps_after_a_reset_count() -> None:
    sim = ran()
    whole = sim.measurement().run_s("wall")
    sim.reset_timing()
    with pytest.raises(InputError, match="none was made since the clocks were started: run first"):
        sim.measurement()
    sim.step()
    one = sim.measurement()
    assert (one.steps, sim.step_count) == (1, 6)
    assert one.run_s("wall") < whole


def test_tables_of_the_simulation_agree_with_the_measurement() -> None:
    sim = ran()
    one = sim.measurement()
    for clock in ("wall", "cpu"):
        mean = sim.mean_time_spent_on(["fused", "fourier"], clock=clock)
        assert mean == sum(getattr(one.ranks[0], clock)[phase] for phase in ("fused", "fourier")) > 0
    rows = sim.time_table()
    assert [row["phase"] for row in rows] == list(PHASES)
    assert {row["phase"]: row["cpu_s"] for row in rows} == one.ranks[0].cpu


def test_waiting_by_cpu_time_is_what_the_slowest_rank_makes_others_wait() -> None:
    spent = [{"fused": 4.0, "fourier": 1.0, "waiting": 7.0}, {"fused": 2.0, "send/receive": 0.5, "waiting": 9.0}]
    ranks = tuple(RankRecord(n, {"fused": 9.0, "waiting": n}, cpu) for n, cpu in enumerate(spent))
    crowded = Measurement(steps=10, size=2, ranks=ranks, cores=1)
    assert crowded.clock == "cpu"
    assert crowded.times(COMMUNICATION) == [0.0, 0.5 + 2.5]
    assert crowded.times(COMPUTATION) == [5.0, 2.0]
    assert crowded.run_s() == 5.0
    assert crowded.step_s() == 0.5
    assert crowded.imbalance() == 5.0 / 3.5
    assert crowded.times("waiting", "wall") == [0.0, 1.0]
    assert crowded.run_s("wall") == 10.0
    with pytest.raises(InputError, match='`clock` must be "wall" or "cpu", but got \'sun\''):
        crowded.times("waiting", "sun")  # type: ignore[arg-type]


@pytest.mark.parametrize("parameters", [{"size": (1, 2)}, {"size": float("nan")}, {"size": True}])
def test_parameters_are_numbers_or_texts(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be a finite number or a text, but 'size' is"):
        ran().measurement(parameters=parameters)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no JSON or was cut off"),
        ("[1]", "must have the format 'evenly fdtd measurement 1', but got 'list'"),
        ('{"format": "x"}', "but got 'x'"),
        (json.dumps({"format": FORMAT, "ranks": [{"rank": 0}]}), "lacks something .*missing 2 required"),
        (json.dumps({"format": FORMAT, "ranks": 3}), "holds something else in its place"),
    ],
)
def test_a_damaged_file_says_why(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.fdtd.json"
    path.write_text(content)
    with pytest.raises(ReadError, match=message):
        Measurement.load(path)
    with pytest.raises(ReadError, match="it can't be read"):
        Measurement.load(tmp_path / "none.json")


def test_a_place_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"can't be written to .*give a path"):
        Measurement().save(tmp_path / "file" / "a")
