"""Measurements of evenly's own FDTD simulation: what becomes a parameter, which clock counts, and damage."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import evenly
from evenly.errors import ExtrapolationWarning, InputError, ReadError
from evenly.fdtd.measurement.measurement import COMMUNICATION, FOURIER, STEPPING, Measurement, RankRecord
from evenly.readers import read, scan
from evenly.readers.fdtd_measurement import FdtdMeasurementReader
from tests.readers.damage import check_reads_or_refuses, damaged


def measurement(ranks: int, repetition: int = 0, cores: int = 64, **keywords: Any) -> Measurement:
    """A run whose time of a step is 1/ranks + 0.1 on the slowest rank, over 10 steps."""
    records = []
    for rank in range(ranks):
        busy, wait = (10 / ranks, 1.0) if rank == 0 else (8 / ranks, 1.0 + 2 / ranks)
        wall = {"fused": 0.75 * busy, "fourier": 0.25 * busy, "waiting": wait}
        counts = {"volume": 1600 // ranks, "pml_1d": 160 // ranks, "fourier": 50 if rank == 0 else 0}
        cpu = {**wall, "fused": 0.7 * busy}
        records.append(
            RankRecord(
                rank, wall, cpu, 1000 // ranks, 1, counts, bytes_sent=80, peak_memory=5000, host="n1", cores=(0,)
            )
        )
    given = {"parameters": {"resolution": 20.0}, "points": 1600, "when": f"2024-01-01T00:00:0{repetition}+00:00"}
    return Measurement(
        **{"name": "oled", "steps": 10, "size": ranks, "ranks": tuple(records), "cores": cores, **given, **keywords},
        repetition=repetition,
    )


def study(folder: Path, *measurements: Measurement) -> Path:
    for one in measurements:
        one.save(folder / f"{one.name}-r{one.size}-{one.repetition}-{zlib.crc32(str(one.parameters).encode())}")
    return folder


def test_a_folder_becomes_one_table_ready_to_fit(tmp_path: Path) -> None:
    study(tmp_path, *(measurement(n, k) for n in (1, 2, 4, 8) for k in (0, 1)))
    (tmp_path / "oled-spectrum.csv").write_text("frequency,time\n1,2\n")
    runs = read(tmp_path)
    assert isinstance(runs, evenly.Runs)
    assert runs.parameters == ["ranks"]
    table = runs.to_frame()
    assert len(table) == 8
    np.testing.assert_allclose(table["seconds"], 1 / table["ranks"] + 0.1)
    assert set(table["repetition"]) == {0, 1}
    assert set(table["machine"]) == {"n1"}
    model = evenly.fit(runs)
    with pytest.warns(ExtrapolationWarning, match="ranks = 16"):
        predicted = model.predict({"ranks": [16]})[0]
    assert predicted == pytest.approx(1 / 16 + 0.1, rel=0.05)


@pytest.mark.parametrize("cores", [64, 2])
def test_times_are_those_of_the_simulation_itself(tmp_path: Path, cores: int) -> None:
    one = measurement(4, cores=cores)
    found = FdtdMeasurementReader().read(one.save(tmp_path / "a"))["oled"].to_frame().iloc[0]
    assert one.clock == ("wall" if cores == 64 else "cpu")
    assert found["seconds"] == pytest.approx(one.step_s())
    assert found["run_seconds"] == pytest.approx(one.run_s())
    assert found["imbalance"] == pytest.approx(one.imbalance())
    for name, phases in (("stepping", STEPPING), ("fourier", FOURIER), ("waiting", ("waiting",))):
        assert found[name] == pytest.approx(np.mean(one.times(phases)) / one.steps)
    communication = np.mean(one.times(COMMUNICATION)) / one.steps
    assert found["copying"] + found["waiting"] == pytest.approx(communication)
    assert found["bytes_sent"] == 320
    assert found["peak_memory"] == 5000


def test_cpu_time_counts_for_all_where_ranks_outnumber_cores_anywhere(tmp_path: Path) -> None:
    study(tmp_path, measurement(1, cores=2), measurement(4, cores=2))
    reader = FdtdMeasurementReader()
    runs = reader.read(tmp_path)["oled"].to_frame()
    np.testing.assert_allclose(sorted(runs["seconds"]), [0.95 / 4, 0.95])
    assert reader.notes[0].startswith("times are CPU times, as ranks outnumber the cores (4 on 2)")
    wall = FdtdMeasurementReader(clock="wall").read(tmp_path)["oled"].to_frame()
    np.testing.assert_allclose(sorted(wall["seconds"]), [0.35, 1.1])


def test_what_differs_is_a_parameter(tmp_path: Path) -> None:
    study(tmp_path, *(measurement(n, parameters={"resolution": r, "pml": 1.0}) for n in (1, 2) for r in (20, 40)))
    assert FdtdMeasurementReader().read(tmp_path)["oled"].parameters == ["ranks", "resolution"]
    chosen = FdtdMeasurementReader(parameters="ranks,pml,pml_1d").read(tmp_path)["oled"]
    assert chosen.configurations.iloc[0].tolist() == [1, 1.0, 0.1]


def test_random_cells_are_told_by_their_points(tmp_path: Path) -> None:
    def cell(seed: int, points: int) -> Measurement:
        return measurement(1, parameters={"seed": seed}, points=points, options={"threads": 1})

    study(tmp_path, cell(1, 1600), cell(2, 3200), cell(3, 6400))
    runs = FdtdMeasurementReader().read(tmp_path)["oled"]
    assert runs.parameters == ["ranks", "points", "pml_1d", "fourier_points"]
    assert sorted(runs.configurations["pml_1d"]) == [0.025, 0.05, 0.1]


def test_studies_of_different_settings_are_not_taken_for_repetitions(tmp_path: Path) -> None:
    study(tmp_path / "coarse", measurement(1), measurement(2))
    study(tmp_path / "fine", *(measurement(n, parameters={"resolution": 40.0}) for n in (1, 2)))
    study(tmp_path / "again", *(measurement(n, 3) for n in (1, 2)))
    found = scan(tmp_path)
    assert {name: len(runs) for name, runs in found.runs.items()} == {"oled": 4, "oled (resolution=40.0)": 2}
    assert any("parameters=ranks,resolution" in note for note in found.notes)
    joined = read(tmp_path, parameters="ranks,resolution")
    assert isinstance(joined, evenly.Runs)
    assert len(joined) == 6


def test_files_one_by_one_are_the_same_table(tmp_path: Path) -> None:
    study(tmp_path, *(measurement(n, k) for n in (1, 2, 4) for k in (0, 1)))
    by_folder, by_file = read(tmp_path), read(str(tmp_path / "*.json"))
    assert isinstance(by_folder, evenly.Runs)
    assert by_folder == by_file


def test_a_run_that_failed_stays_with_its_status(tmp_path: Path) -> None:
    lost = Measurement("oled", {"resolution": 20.0}, size=8, status="timed out", message="too slow")
    study(tmp_path, measurement(1), measurement(2), lost)
    with pytest.raises(ReadError, match="no parameter 'pml_1d'"):
        FdtdMeasurementReader(parameters="pml_1d").read(lost.save(tmp_path / "elsewhere" / "lost"))
    runs = read(tmp_path)
    assert isinstance(runs, evenly.Runs)
    assert len(runs.failed) == 1
    assert runs.failed.configurations["ranks"].tolist() == [8]
    assert runs.failed.to_frame()["status"].tolist() == ["timed out"]


def test_one_damaged_file_is_left_out(tmp_path: Path) -> None:
    study(tmp_path, measurement(1), measurement(2))
    (tmp_path / "broken.fdtd.json").write_text('{"format": "evenly fdtd measurement 1", "size"')
    found = scan(tmp_path)
    assert len(found.runs["oled"]) == 2
    assert [entry.path.name for entry in found.lost] == ["broken.fdtd.json"]


def test_only_its_own_format_is_recognised(tmp_path: Path) -> None:
    path = measurement(1).save(tmp_path / "a" / "run.json")
    assert FdtdMeasurementReader().recognises(path)
    assert not FdtdMeasurementReader().recognises(tmp_path / "a")
    (tmp_path / "other.json").write_text('{"format": "another"}')
    assert not FdtdMeasurementReader().recognises(tmp_path / "other.json")
    assert not FdtdMeasurementReader().recognises(tmp_path / "none.fdtd.json")


def spoiled(**changes: Any) -> str:
    data = json.loads(json.dumps(measurement(2).to_dict()))
    return json.dumps({**data, **changes})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("[]", 'the entry "format" must be "evenly fdtd measurement 1"'),
        (spoiled(format="evenly fdtd measurement 2"), "it has version 2 of the format, but only 1 is known: update"),
        (spoiled(size=3), "the run had 3 ranks, but the file has times of 2: it is damaged"),
        (spoiled(steps=0), "\"steps\" must be a whole number of at least 1, but is '0'"),
        (spoiled(status="lost"), '"status" must be "ok", "failed" or "timed out", but is \'lost\''),
        (
            spoiled(ranks=[{"wall": {"fused": -1}, "cpu": {}}] * 2),
            "wall 'fused' of rank 0 must be a number",
        ),
        (spoiled(ranks=[{"wall": {}, "cpu": {}}] * 2), "no rank spent any time on the run"),
        (spoiled(parameters={"resolution": [1]}), r"parameters must be finite numbers and texts, but 'resolution' is"),
    ],
)
def test_a_broken_file_says_why(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.fdtd.json"
    path.write_text(content)
    with pytest.raises(ReadError, match=message):
        FdtdMeasurementReader().read(path)


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="clock must be one of auto, wall, cpu, but got 'sun'"):
        FdtdMeasurementReader(clock="sun")  # type: ignore[arg-type]
    with pytest.raises(ReadError, match=r"it has no parameter 'colour', only .*, ranks, resolution"):
        FdtdMeasurementReader(parameters=["colour"]).read(measurement(1).save(tmp_path / "a"))


def test_a_parameter_that_is_called_like_a_column(tmp_path: Path) -> None:
    study(tmp_path, measurement(1, parameters={"run": 1}), measurement(1, parameters={"run": 2}))
    assert FdtdMeasurementReader().read(tmp_path)["oled"].parameters == ["ranks", "run_parameter"]


ORIGINAL = spoiled().encode()


@settings(max_examples=300, deadline=None)
@given(content=damaged(ORIGINAL, '0123456789.:,{}[]"e- '))
def test_damage_gives_runs_or_a_read_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(
        FdtdMeasurementReader(), tmp_path_factory.getbasetemp() / "damaged_measurement.fdtd.json", content
    )
