"""How campaigns scale: a store of many runs, a round of scheduling, and jobs of Slurm beside a plain loop of sbatch.

Usage::

    .venv/bin/python benchmarks/campaigns.py [--runs 100000] [--jobs 0] [--at-once 50] [--packed 0] [--cpus 8]

The store: seconds to open it, to list its runs, runs appended per second (each durable before it counts), seconds of
a decision what to run next among all configurations, where all fit and where most wait for cores, and the process's
largest memory. With --jobs N, N jobs of
``true`` are made by a loop of sbatch and by a campaign, so many at once: CPU time of the driver per run, without and
with the commands of Slurm that it calls, and the wall time of the campaign over that of the loop. They go to the
cluster at hand; where there is none, root starts a Slurm on this machine, of one node that says it has so many CPUs.
With --packed N, N runs of each of 1 to 4 ranks, which sleep for three seconds, are packed into one job of all CPUs: the
makespan over its lower bound, all work on all cores, and over the same bound where each run takes as much longer as one
alone takes with ``srun``.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--packed", type=int, default=0)
    parser.add_argument("--cpus", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.runs:
            store_of_many(Path(folder), arguments.runs)
        if arguments.jobs or arguments.packed:
            with slurm(Path(folder), arguments.cpus):
                if arguments.jobs:
                    jobs(Path(folder), arguments.jobs, arguments.at_once)
                if arguments.packed:
                    packed(Path(folder), arguments.packed, arguments.cpus)


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
    began, cpu = time.perf_counter(), time.process_time()
    with Campaign(study, path) as campaign:
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        print(f"{runs:,} runs: opened in {took:.2f} s, {cpu:.2f} s of CPU time")
        began = time.perf_counter()
        found = campaign.store.records()
        print(f"listed {len(found):,} in {time.perf_counter() - began:.2f} s")
        schedule, began = campaign._schedule, time.perf_counter()
        schedule.share_cores(lambda _: 0)
        print(f"put in order in {time.perf_counter() - began:.2f} s")
        began, rounds = time.perf_counter(), 20
        for _ in range(rounds):
            campaign._next()
        print(f"a decision what to run next: {1e3 * (time.perf_counter() - began) / rounds:.1f} ms")
        # As in a job that makes wide runs first: one core is free, and all but a quarter of the runs need more.
        schedule.share_cores(lambda number: 1 + number % 4)
        schedule.put_first({number: (-1.0 - number % 4,) for number in numbers})
        began = time.perf_counter()
        for _ in range(rounds):
            schedule.next(free=1)
        print(f"where three quarters wait for cores: {1e3 * (time.perf_counter() - began) / rounds:.3f} ms")
        began, count = time.perf_counter(), 200
        for number in numbers[:count]:
            campaign.store.begin(f"{number}", "local", number)
            campaign.store.add(Record(number, 1, "ok", {"seconds": 1.0}, took=1.0), f"{number}")
        print(f"appended: {count / (time.perf_counter() - began):.0f} runs per second")
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


@contextmanager
def slurm(folder: Path, cpus: int) -> Iterator[None]:
    """The cluster at hand, else one that is started here, as for the tests."""
    if shutil.which("sinfo") and subprocess.run(["sinfo"], capture_output=True, check=False).returncode == 0:
        yield
        return
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.cluster.slurm import Cluster

    cluster = Cluster(folder / "slurm", cpus=cpus)
    os.environ |= cluster.environment
    cluster.start()
    try:
        yield
    finally:
        cluster.stop()


def jobs(folder: Path, count: int, at_once: int) -> None:
    began = time.perf_counter()
    for _ in range(count):
        subprocess.run(["sbatch", "--wrap", "true"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    submitted = time.perf_counter() - began
    while subprocess.run(["squeue", "--me", "-h"], capture_output=True, check=True).stdout:
        time.sleep(0.2)
    loop = time.perf_counter() - began
    print(f"{count} jobs by a loop of sbatch: {loop:.1f} s, {submitted:.1f} s of them to submit them")
    study = Study(
        "jobs", Space(n=Integer(1, count)), Program("true", launcher="slurm", environment={"N": "{n}"},
        placement=Placement(concurrent=at_once)), repetitions=Repetitions(1, 1),
        plan=Plan(design="all", anchor_every=0), folder=folder,
    )  # fmt: skip
    began, before = time.perf_counter(), os.times()
    with Campaign(study) as campaign:
        campaign.run()
        good = sum(record.status == "ok" for record in campaign.store.records())
    took = time.perf_counter() - began
    user, system, user_of_children, system_of_children, _ = (a - b for a, b in zip(os.times(), before, strict=True))
    own, called = user + system, user_of_children + system_of_children
    print(f"by a campaign, {at_once} at once: {took:.1f} s, {good} good; that is {took / loop:.2f} times the loop")
    print(
        f"CPU of the driver per run: {1e3 * own / count:.1f} ms, and {1e3 * called / count:.1f} ms of Slurm's commands"
    )


def packed(folder: Path, runs: int, cpus: int) -> None:
    pause, study = 3.0, folder / "packed.toml"
    study.write_text(
        f"[program]\ncommand = 'sleep {pause}'\nenvironment = {{ N = '{{n}}' }}\n"
        f"[parameters]\nn = {{ low = 1, high = {runs} }}\nranks = [1, 2, 3, 4]\n"
        "[plan]\ndesign = 'all'\nanchor_every = 0\n[repetitions]\nleast = 1\nmost = 1\n"
        f"[launcher]\nname = 'srun'\nranks = '{{ranks}}'\nconcurrent = {cpus}\n"
    )
    script = folder / "packed.sh"
    alone = "srun --exact --mem=0 --ntasks=2 true"
    script.write_text(
        f"#!/bin/bash\nTIMEFORMAT=%R\nfor i in $(seq 10); do {{ time {alone}; }} 2>> alone; done\n"
        f"{sys.executable} -m evenly measure {study} --quiet\n"
    )
    subprocess.run(["sbatch", "--wait", f"--ntasks={cpus}", str(script)], cwd=folder, capture_output=True, check=True)
    price = statistics.median(map(float, (folder / "alone").read_text().split()))
    with Store(folder / "packed.db") as store:
        known, made = store.configurations(), store.records()
    assert all(record.status == "ok" for record in made)
    ranks = sum(known[record.configuration]["ranks"] for record in made)
    took = max(one.started + one.took for one in made) - min(one.started for one in made)
    own = statistics.median(one.took for one in made)
    print(f"{len(made)} runs of {pause:g} s, on 1 to 4 cores, as steps of one job of {cpus} CPUs: {took:.1f} s")
    for what, each in (
        ("work", pause),
        (f"work and {price:.2f} s of srun alone", pause + price),
        ("runs as timed", own),
    ):
        print(f"over the lower bound of all {what}: {took * cpus / (ranks * each):.2f}")


if __name__ == "__main__":
    main()
