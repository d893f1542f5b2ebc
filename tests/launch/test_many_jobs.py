"""A hundred jobs at once: the scheduler isn't overrun, and nothing is done for all of them after each."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from evenly import Integer, Space
from evenly.campaign import Campaign
from evenly.campaign.placement import Placement
from evenly.campaign.study import Plan, Program, Repetitions, Study
from evenly.launch import batch
from evenly.launch.base import Outcome, Task
from evenly.launch.slurm import Slurm

MANY = 100


class Cluster:
    """Takes the place of Slurm's commands: each job ends well at once."""

    def __init__(self) -> None:
        self.at_work = self.most = self.jobs = 0
        self._lock = threading.Lock()

    def call(self, command: Sequence[str], _: str = "") -> Any:
        if command[0] != "sbatch":
            return subprocess.CompletedProcess(command, 0, "", "")
        with self._lock:
            self.at_work += 1
            self.jobs += 1
            self.most, number = max(self.most, self.at_work), self.jobs
        time.sleep(0.002)
        folder = next(Path(word.partition("=")[2]) for word in command if word.startswith("--chdir="))
        told = vars(Outcome("ok", 0, "", "", 1.0, 1.0, time.time(), "node"))
        (folder / "outcome.json").write_text(json.dumps(told))
        with self._lock:
            self.at_work -= 1
        return subprocess.CompletedProcess(command, 0, f"{number}\n", "")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setattr(batch, "call", found.call)
    monkeypatch.setattr("evenly.launch.slurm.call", found.call)
    return found


def test_all_at_once_and_none_is_lost(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    swept: list[Collection[str]] = []
    monkeypatch.setattr(Slurm, "clean", lambda _, near, keep=(): swept.append(keep))
    study = Study(
        "many", Space(n=Integer(1, MANY)), Program("true", launcher="slurm", environment={"N": "{n}"},
        placement=Placement(concurrent=MANY)), repetitions=Repetitions(1, 1), plan=Plan(design="all", anchor_every=0),
        folder=tmp_path,
    )  # fmt: skip
    with Campaign(study) as campaign:
        campaign.run()
        assert Counter(r.configuration for r in campaign.store.records()) == dict.fromkeys(range(1, MANY + 1), 1)
        assert campaign.store.left_running() == []
    assert cluster.jobs == MANY
    assert len(swept) <= 2, "the folder of all jobs is looked at when a campaign begins and ends, not after each run"
    assert not (tmp_path / "many.jobs").exists()


def test_few_jobs_are_submitted_at_the_same_time(cluster: Cluster, tmp_path: Path) -> None:
    slurm = Slurm()

    def run(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        slurm.run(Task(("true",), f"{number}-0-plan-{32 * 'a'}", workspace=folder))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cluster.jobs == 40
    assert cluster.most <= 8
