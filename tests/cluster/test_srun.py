"""Runs as steps of one Slurm job: side by side, never more cores than the job has, and nothing kept waiting."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from evenly.campaign import Campaign, Study
from evenly.errors import InputError
from tests.chaos.amount import amount
from tests.cluster.slurm import CPUS, Cluster
from tests.cluster.test_slurm import wait_until

CODE = """
import json, os, sys, time
began = time.time()
time.sleep({pause})
if os.environ["SLURM_PROCID"] == "0":
    with open("log", "a") as log:
        log.write(json.dumps([sys.argv[1], os.environ["SLURM_STEP_NUM_TASKS"], began, time.time()]) + "\\n")
"""
PAUSE = 3.0


def write(folder: Path, *, runs: int, ranks: str) -> Path:
    (folder / "program.py").write_text(CODE.replace("{pause}", str(PAUSE)))
    study = folder / "s.toml"
    study.write_text(
        f"[program]\ncommand = ['/usr/bin/python3', 'program.py', '{{n}}']\n"
        f"[parameters]\nn = {{ low = 1, high = {runs} }}\nranks = {ranks}\n[plan]\ndesign = 'all'\nanchor_every = 0\n"
        "[launcher]\nname = 'srun'\nranks = '{ranks}'\nconcurrent = 20\n"
        "[repetitions]\nleast = 1\nmost = 1\n"
    )
    return study


def test_runs_are_packed_into_one_job(cluster: Cluster, tmp_path: Path) -> None:
    number = amount(4, of=25)
    study = write(tmp_path, runs=number, ranks="[1, 2, 3, 4]")
    words = [sys.executable, "-m", "evenly", "measure", str(study), "--quiet"]
    wrapped = " ".join(words)
    done = cluster.ask("sbatch", "--wait", f"--ntasks={CPUS}", "--output=out", f"--wrap={wrapped}")
    wait_until(lambda: not cluster.jobs())
    runs = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert Counter(int(n) for n, *_ in runs) == dict.fromkeys(range(1, number + 1), 4), done
    assert Counter(int(ranks) for _, ranks, *_ in runs) == dict.fromkeys((1, 2, 3, 4), number)
    events = sorted([(began, int(ranks)) for _, ranks, began, _ in runs] + [(end, -int(r)) for _, r, _, end in runs])
    busy, most, used = 0, 0, []
    for at, change in events:
        busy += change
        most = max(most, busy)
        used.append((at, busy))
    assert most <= CPUS
    first = sorted(runs, key=lambda run: run[2])[:2]
    assert [int(ranks) for _, ranks, *_ in first] == [4, 4], "wide runs first"
    # Starting a step takes a moment on these few real cores; alone on the machine, it is 1.1 times the least.
    took = events[-1][0] - events[0][0]
    least = sum(int(ranks) for _, ranks, *_ in runs) * PAUSE / CPUS
    assert took < 1.35 * least, (took, least)


def test_outside_of_a_job_it_says_what_to_do(cluster: Cluster, tmp_path: Path) -> None:
    with Campaign(Study.load(write(tmp_path, runs=2, ranks="[1]"))) as campaign:
        with pytest.raises(InputError, match="start evenly with sbatch"):
            campaign.run()
        assert campaign.store.count() == 0
    assert not cluster.jobs()


def test_what_does_not_fit_into_the_job_is_left_for_another(cluster: Cluster, tmp_path: Path) -> None:
    """Of a minute, half is left for runs: 60 of 4 ranks, two at once, take longer."""
    study = write(tmp_path, runs=60, ranks="[4]")
    wrapped = f"{sys.executable} -m evenly measure {study}"
    cluster.ask("sbatch", "--wait", f"--ntasks={CPUS}", "--time=1", "--output=out", f"--wrap={wrapped}")
    wait_until(lambda: not cluster.jobs())
    with Campaign(Study.load(study)) as campaign:
        records = campaign.store.records()
        assert all(record.status == "ok" for record in records)
        assert 4 <= len(records) <= 30
        left = campaign.progress.left
        assert campaign.store.left_running() == []
    told = " ".join((tmp_path / "out").read_text().split())
    assert f"about {left} runs of {left} configurations weren't started: the job would have ended before them" in told


def test_a_step_that_waits_for_cores_does_not_take_longer(cluster: Cluster, tmp_path: Path) -> None:
    """Another step holds all cores for a while, and slurmctld lets this one wait: only what the program took counts."""
    (tmp_path / "s.toml").write_text(
        "[program]\ncommand = 'sleep 0.{n}'\ntimeout_s = 20\n[launcher]\nname = 'srun'\nconcurrent = 1\nranks = 2\n"
        "[parameters]\nn = [2, 5]\n[repetitions]\nleast = 1\nmost = 1\n[plan]\ndesign = 'all'\nanchor_every = 0\n"
    )
    (tmp_path / "job.sh").write_text(
        f"#!/bin/sh\nsrun -n{CPUS} --exact --mem=0 sleep 8 &\nsleep 1\n"
        f"{sys.executable} -m evenly measure s.toml\nwait\n"
    )
    cluster.ask("sbatch", "--wait", f"--ntasks={CPUS}", "--output=out", "job.sh")
    with Campaign(Study.load(tmp_path / "s.toml")) as campaign:
        n = {number: given["n"] for number, given in campaign.store.configurations().items()}
        took = {n[record.configuration]: record.quantities["seconds"] for record in campaign.store.records()}
    assert took[2] == pytest.approx(0.2, abs=0.3), (tmp_path / "out").read_text()
    assert took[5] == pytest.approx(0.5, abs=0.3)


def test_a_step_is_ended_at_its_limit_and_its_status_is_the_programs(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "p.sh").write_text('if [ "$1" = 1 ]; then sleep 60; fi\n[ "$SLURM_PROCID" = 0 ] && exit 3\nsleep 60\n')
    (tmp_path / "s.toml").write_text(
        "[program]\ncommand = 'sh p.sh {n}'\ntimeout_s = 3\n[launcher]\nname = 'srun'\nconcurrent = 1\nranks = 2\n"
        "[parameters]\nn = [1, 2]\n[repetitions]\nleast = 1\nmost = 1\n[plan]\ndesign = 'all'\nanchor_every = 0\n"
    )
    wrapped = f"{sys.executable} -m evenly measure s.toml --keep-going"
    cluster.ask("sbatch", "--wait", f"--ntasks={CPUS}", "--output=out", f"--wrap={wrapped}")
    with Campaign(Study.load(tmp_path / "s.toml")) as campaign:
        n = {number: given["n"] for number, given in campaign.store.configurations().items()}
        found = {n[record.configuration]: record for record in campaign.store.records()}
    assert found[1].status == "timed out"
    assert found[2].status == "failed"
    assert "status 3" in found[2].message, found[2]
    assert "evenly" not in found[2].output
