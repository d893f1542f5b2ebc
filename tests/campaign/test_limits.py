"""Time limits of jobs from a model: what is asked for, what happens at the limit, and what that saved."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly import Integer, Space
from evenly.campaign import Campaign, Study
from evenly.campaign.limits import Limits, Times, saved
from evenly.campaign.one_run import Runner
from evenly.campaign.placement import Placement
from evenly.campaign.planning import NextRun, Schedule
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from evenly.campaign.study import Plan, Program
from evenly.errors import EvenlyWarning, InputError
from evenly.launch import Outcome, Task
from evenly.launch.slurm import Slurm

TIMEOUT_S = 3600.0


def study(folder: Path, limit: object = "model", **options: Any) -> Study:
    program = Program(
        "solve {n}", launcher="slurm", timeout_s=TIMEOUT_S, ranks="{n}",
        placement=Placement(time_limit=limit, **options),  # type: ignore[arg-type]
    )  # fmt: skip
    return Study("s", Space(n=Integer(1, 9)), program, folder=folder)


class Stub:
    """A launcher whose runs need so many seconds, and are ended at their limit as a job's program is."""

    outlives = True

    def __init__(self, needs_s: float, folder: Path) -> None:
        self.needs_s, self.folder = needs_s, folder
        self.asked: list[float | None] = []

    def workspace(self, mark: str, near: Path) -> Any:
        assert (mark, near) == ("mark", self.folder)
        return nullcontext(self.folder)

    def ends_after_s(self, task: Task) -> float | None:
        return task.timeout_s

    def run(self, task: Task) -> Outcome:
        limit = task.resources.time_limit_s
        self.asked.append(limit)
        assert task.timeout_s is not None
        until = min(task.timeout_s, math.inf if limit is None else limit - 60)
        status, seconds = ("timed out", until) if self.needs_s > until else ("ok", self.needs_s)
        return Outcome(status, 0 if status == "ok" else 124, "", "", seconds, 1.0)  # type: ignore[arg-type]


def made(folder: Path, needs_s: float, limit_s: float | None) -> tuple[Record, list[float | None]]:
    runner, stub = Runner(study(folder)), Stub(needs_s, folder)
    runner.launcher = stub  # type: ignore[assignment]
    return runner.run(NextRun(1, 0, "plan"), {"n": 2}, "mark", job_limit_s=limit_s), stub.asked


def test_a_run_that_reaches_its_limit_is_made_once_more_with_the_fixed_one(tmp_path: Path) -> None:
    record, asked = made(tmp_path, 200.0, 120.0)
    assert asked == [120.0, None]
    assert (record.status, record.took, record.quantities["seconds"]) == ("ok", 200.0, 200.0)
    assert (record.details["limit_s"], record.details["cut_s"]) == (120.0, 60.0)


def test_a_run_within_its_limit_is_made_once(tmp_path: Path) -> None:
    record, asked = made(tmp_path, 50.0, 120.0)
    assert asked == [120.0]
    assert record.details["limit_s"] == 120.0
    assert "cut_s" not in record.details


def test_a_run_that_takes_longer_than_the_study_allows_timed_out_as_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "fixed").mkdir()
    assert made(tmp_path / "fixed", 2 * TIMEOUT_S, None)[1] == [None]
    record, asked = made(tmp_path, 2 * TIMEOUT_S, 120.0)
    assert asked == [120.0, None]
    assert (record.status, record.took) == ("timed out", TIMEOUT_S)


def test_a_job_that_an_earlier_process_submitted_keeps_its_limit(tmp_path: Path) -> None:
    (tmp_path / "limit.json").write_text(json.dumps(180.0))
    record, asked = made(tmp_path, 200.0, 600.0)
    assert asked == [180.0, None]
    assert record.details["limit_s"] == 180.0


def planted(upper_s: float | None, calls: list[int] | None = None) -> Callable[[pd.DataFrame, Space], Times]:
    def learn(table: pd.DataFrame, space: Space) -> Times:
        assert space.names == ["n"]
        if calls is not None:
            calls.append(len(table))

        def times(asked: Sequence[Mapping[str, Any]]) -> list[tuple[float, float] | None]:
            return [None if upper_s is None else (upper_s / 2, upper_s) for _ in asked]

        return times

    return learn


@pytest.mark.parametrize(
    ("limit", "upper_s", "minutes"),
    [
        ("model", 100.0, 4),  # 150 s, and a minute for evenly
        ("model", 1.0, 2),
        ({"factor": 3}, 100.0, 6),
        ({"floor": "10min"}, 1.0, 11),
        ("model", 1e5, None),  # not below the fixed one
        ("model", None, None),
        ("1:00:00", 100.0, None),
    ],
)
def test_what_a_job_asks_for(tmp_path: Path, limit: object, upper_s: float | None, minutes: int | None) -> None:
    with Store(tmp_path / "s.db") as store:
        store.add(Record(store.add_configurations([{"n": 2}])[0], 0, "ok", {"seconds": 1.0}, took=1.0))
        found = Limits(study(tmp_path, limit), store, planted(upper_s)).limit_s({"n": 2})
    assert found == (None if minutes is None else 60.0 * minutes)


@pytest.mark.parametrize("error", [np.linalg.LinAlgError("singular"), ZeroDivisionError(), InputError("none")])
@pytest.mark.parametrize("late", [True, False])
def test_a_model_that_fails_ends_no_campaign(tmp_path: Path, error: Exception, late: bool) -> None:
    def fail(*_: Any) -> Any:
        raise error

    with Store(tmp_path / "s.db") as store:
        store.add(Record(store.add_configurations([{"n": 2}])[0], 0, "ok", {"seconds": 1.0}, took=1.0))
        limits = Limits(study(tmp_path), store, (lambda *_: fail) if late else fail)
        with pytest.warns(EvenlyWarning, match=f"{type(error).__name__}.*jobs ask for the fixed limit"):
            assert limits.limit_s({"n": 2}) is None
        assert limits.limit_s({"n": 2}) is None  # and it isn't said again


def test_what_a_cut_run_took_counts_in_the_budget(tmp_path: Path) -> None:
    limited = dataclasses.replace(study(tmp_path), plan=Plan(budget_s=100.0))
    whole = Record(1, 0, "ok", {"seconds": 50.0}, took=50.0)
    cut = whole._replace(details={"limit_s": 120.0, "cut_s": 60.0})
    assert not Schedule(limited, [1], [whole]).is_spent
    assert Schedule(limited, [1], [cut]).is_spent


def test_it_is_learned_anew_as_runs_come_but_not_after_each(tmp_path: Path) -> None:
    calls: list[int] = []
    with Store(tmp_path / "s.db") as store:
        limits = Limits(study(tmp_path), store, planted(10.0, calls))
        assert limits.limit_s({"n": 1}) is None
        (number,) = store.add_configurations([{"n": 1}])
        for repetition in range(20):
            store.add(Record(number, repetition, "ok", {"seconds": 1.0}, took=1.0))
            assert limits.limit_s({"n": 1}) == 120.0
    assert calls == [1, 2, 3, 5, 8, 12, 18]


def test_where_cores_wait_meanwhile_it_is_learned_in_little_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    now = 0.0
    monkeypatch.setattr("evenly.campaign.limits.time.monotonic", lambda: now)
    known = planted(10.0, calls)

    def slow(table: pd.DataFrame, space: Space) -> Times | None:
        nonlocal now
        now += 20.0
        return known(table, space)

    with Store(tmp_path / "s.db") as store:
        limits = Limits(study(tmp_path), store, slow)
        limits.keeps_waiting = True
        (number,) = store.add_configurations([{"n": 1}])
        for repetition in range(100):
            store.add(Record(number, repetition, "ok", {"seconds": 1.0}, took=1.0))
            now += 50.0
            limits.times([{"n": 1}])
    # At first it is taken to need 10 s, a fiftieth of 500 s. Then it is known to need 20 s.
    assert calls == [11, 20, 30, 45, 68]


def test_what_was_saved(tmp_path: Path) -> None:
    one = study(tmp_path)
    records = [
        Record(1, 0, "ok", {"seconds": 9.0}, took=9.0),
        Record(1, 1, "ok", {"seconds": 9.0}, took=9.0, details={"limit_s": 120.0}),
        Record(2, 0, "ok", {"seconds": 200.0}, took=200.0, details={"limit_s": 240.0, "cut_s": 180.0}),
    ]
    found = saved(one, Runner(one), {1: {"n": 1}, 2: {"n": 4}}, records)
    assert found is not None
    fixed_s = 3660.0
    assert (found.runs, found.shorter, found.cut, found.median_s, found.fixed_s) == (3, 2, 1, 240.0, fixed_s)
    assert found.asked == pytest.approx((fixed_s + 120 + 4 * (240 + fixed_s)) / 3600)
    assert found.fixed == pytest.approx(6 * fixed_s / 3600)
    assert found.lost == pytest.approx(4 * 180 / 3600)
    assert "made again, which took 0.2 core-hours (in the same folder" in str(found)
    assert "same folder" not in str(dataclasses.replace(found, cut=0))
    assert saved(study(tmp_path, None), Runner(one), {}, records) is None


def test_what_is_lacking_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"needs timeout_s in \[program\]"):
        dataclasses.replace(study(tmp_path).program, timeout_s=None)
    with pytest.raises(InputError, match="but there is no model: `evenly measure` has one"):
        Campaign(study(tmp_path))
    assert not (tmp_path / "s.db.lock").exists()
    with pytest.raises(InputError, match=r"factor must be a number of at least 1, but got 0\.5"):
        Placement(time_limit={"factor": 0.5})
    with pytest.raises(InputError, match="time_limit"):
        Placement(time_limit={"faktor": 2})


def test_the_fixed_limit_of_a_task_is_the_study_s(tmp_path: Path) -> None:
    resources = study(tmp_path).program.placement.resources({"n": 2})
    assert "--time=61" in Slurm().shown(Task((), "m", timeout_s=TIMEOUT_S, resources=resources))
