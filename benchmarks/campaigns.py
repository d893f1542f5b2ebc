"""How campaigns scale: a store of many runs, a round of scheduling, and jobs of Slurm beside a plain loop of sbatch.

Usage::

    .venv/bin/python benchmarks/campaigns.py [--runs 100000] [--jobs 0]

The store: seconds to open it, to list its runs, runs appended per second (each durable before it counts), seconds of
a decision what to run next among all configurations, and the process's largest memory. With --jobs N, where a Slurm
answers, N jobs of ``true`` are made by a campaign, 50 at once, and by a loop of sbatch: CPU seconds of the driver per
run, and the wall time of the campaign over that of the loop.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evenly import Integer, Space
from evenly.campaign import Campaign
from evenly.campaign.placement import Placement
from evenly.campaign.record import Record, row_of
from evenly.campaign.store import Store
from evenly.campaign.study import Plan, Program, Repetitions, Study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store_of_many(Path(folder), arguments.runs)
        if arguments.jobs:
            jobs(Path(folder), arguments.jobs)


def store_of_many(folder: Path, runs: int) -> None:
    study = Study(
        "many", Space(n=Integer(1, runs)), Program("echo {n}"), repetitions=Repetitions(2, 2),
        plan=Plan(design="all", anchor_every=0), folder=folder,
    )  # fmt: skip
    path = folder / "many.db"
    with Campaign(study, path) as campaign:
        numbers = list(campaign.store.configurations())
    with Store(path) as store, store._changed() as rows:
        for number in numbers:
            values = row_of(Record(number, 0, "ok", {"seconds": 1.0}, took=1.0))
            rows["records"][values[:2]] = values
    began = time.perf_counter()
    with Campaign(study, path) as campaign:
        print(f"{runs:,} runs: opened in {time.perf_counter() - began:.2f} s")
        began = time.perf_counter()
        found = campaign.store.records()
        print(f"listed {len(found):,} in {time.perf_counter() - began:.2f} s")
        began, rounds = time.perf_counter(), 20
        for _ in range(rounds):
            campaign._next()
        print(f"a decision what to run next: {1e3 * (time.perf_counter() - began) / rounds:.1f} ms")
        began, count = time.perf_counter(), 200
        for number in numbers[:count]:
            campaign.store.begin(f"{number}", "local", number)
            campaign.store.add(Record(number, 1, "ok", {"seconds": 1.0}, took=1.0), f"{number}")
        print(f"appended: {count / (time.perf_counter() - began):.0f} runs per second")
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def jobs(folder: Path, count: int) -> None:
    study = Study(
        "jobs", Space(n=Integer(1, count)), Program("true", launcher="slurm", environment={"N": "{n}"},
        placement=Placement(concurrent=50)), repetitions=Repetitions(1, 1),
        plan=Plan(design="all", anchor_every=0), folder=folder,
    )  # fmt: skip
    began, cpu = time.perf_counter(), time.process_time()
    with Campaign(study) as campaign:
        campaign.run()
        good = sum(record.status == "ok" for record in campaign.store.records())
    took, spent = time.perf_counter() - began, time.process_time() - cpu
    program = [sys.executable, "-c", "pass"]
    began = time.perf_counter()
    for _ in range(count):
        subprocess.run(["sbatch", "--wrap", " ".join(program)], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    while subprocess.run(["squeue", "--me", "-h"], capture_output=True, check=True).stdout:
        time.sleep(0.2)
    loop = time.perf_counter() - began
    print(f"{count} jobs, {good} good: {1e3 * spent / count:.1f} ms of the driver's CPU per run")
    print(f"wall time over that of a loop of sbatch: {took / loop:.2f}")


if __name__ == "__main__":
    main()
