"""Runs within a job that ends: the long ones go first, and none is started that the job's end would cut."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from evenly.campaign import Campaign, Study
from evenly.campaign.lent import Lent
from evenly.campaign.record import Record
from evenly.launch.local import Local
from evenly.launch.srun import Srun
from tests.campaign.test_campaign import log, study


def test_what_would_be_cut_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Study.load(study(tmp_path, values="[1, 2, 3]"))
    with Campaign(loaded) as campaign:
        numbers = {one["n"]: number for number, one in campaign.configurations.items()}
        for n, took in ((1, 0.1), (2, 100.0), (3, 0.2)):
            campaign.store.add(Record(numbers[n], 0, "ok", {"seconds": took}, took=took))
    monkeypatch.setattr(Local, "ends_at", lambda _: time.time() + 90)
    with Campaign(loaded) as campaign:
        campaign.run()
        # Of n = 2, another run takes 150 s at most, and 60 s are left.
        assert log(tmp_path, "end") == {1: 1, 3: 1}
        assert campaign.held_back == 1
        assert campaign.progress.left == 1
    order = [line for line in (tmp_path / "log.txt").read_text().splitlines() if line.startswith("begin")]
    assert order == ["begin 3", "begin 1"]
    monkeypatch.setattr(Local, "ends_at", lambda _: time.time() + 900)
    with Campaign(loaded) as campaign:
        campaign.run()
        assert campaign.held_back == 0
        assert log(tmp_path, "end") == {1: 1, 2: 1, 3: 1}


def test_when_a_job_of_slurm_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_END_TIME", "1800000000")
    assert Srun().ends_at() == 1_800_000_000
    monkeypatch.delenv("SLURM_JOB_END_TIME")
    squeue = tmp_path / "squeue"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for said, left in (("1-00:10:00", 87_000), ("59:30", 3570), ("0:30", 30), ("UNLIMITED", math.inf), ("", None)):
        squeue.write_text(f"#!/bin/sh\necho '{said}'\n")
        squeue.chmod(0o755)
        found = Srun().ends_at()
        assert found is None if left is None else found == pytest.approx(time.time() + left, abs=5)


def test_of_a_new_configuration_the_usual_time_tells_whether_it_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Study.load(study(tmp_path, values="[1, 2]"))
    with Campaign(loaded) as campaign:
        numbers = {one["n"]: number for number, one in campaign.configurations.items()}
        campaign.store.add(Record(numbers[1], 0, "ok", {"seconds": 50.0}, took=50.0))
    monkeypatch.setattr(Local, "ends_at", lambda _: time.time() + 90)
    with Campaign(loaded) as campaign:
        campaign.run()
        assert campaign.store.count() == 1
        assert campaign.held_back == 2


def test_wide_runs_before_narrow_ones_that_take_alike(tmp_path: Path) -> None:
    loaded = Study.load(study(tmp_path, values="[1, 2, 3, 4, 5]"))
    with Campaign(loaded) as campaign:
        numbers = {one["n"]: number for number, one in campaign.configurations.items()}
        for n, took in ((1, 1.0), (2, 1.1), (3, 1.2), (4, 9.0)):
            campaign.store.add(Record(numbers[n], 0, "ok", {"seconds": took}, took=took))
    with Campaign(loaded) as campaign:
        schedule, limits = campaign._schedule, campaign._limits
        cores = {numbers[n]: n if n < 4 else 1 for n in numbers}
        Lent(math.inf, limits, cores.__getitem__).order(schedule, campaign.store)
        asked = []
        while (turn := schedule.next()) is not None:
            schedule.start(turn)
            asked.append(turn.configuration)
    assert asked[0] == numbers[5], "nothing is known of it, and it is made for the first time"
    assert asked.index(numbers[4]) < asked.index(numbers[3]) < asked.index(numbers[2]) < asked.index(numbers[1])


def test_a_search_starts_no_run_at_the_end_of_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Study.load(study(tmp_path, values="{ low = 1, high = 40 }"))
    searched = replace(loaded, plan=replace(loaded.plan, design="tune", runs=6))
    monkeypatch.setattr(Local, "ends_at", lambda _: time.time() + 20)
    proposals = pd.DataFrame({"n": [3]})
    with Campaign(searched, tmp_path / "s.db", advisor=lambda *_: proposals) as campaign:
        campaign.run()
        assert campaign.store.count() == 0
        assert campaign.held_back == 1
