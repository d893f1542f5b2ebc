"""Several runs at once: cores of their own, no run twice, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

from evenly.campaign import Campaign, Study
from evenly.campaign.planning import Schedule
from evenly.campaign.study import Repetitions
from evenly.errors import EvenlyWarning, InputError
from evenly.fdtd.ranks.watching import job_processes

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="several runs at once need several cores")

TELL = """
import json, os, sys, time
began = time.time()
time.sleep({pause})
cores = sorted(os.sched_getaffinity(0))
with open("log", "a") as log:
    log.write(json.dumps([sys.argv[1], cores, began, time.time()]) + "\\n")
"""


def study(folder: Path, *, launcher: str = "concurrent = 2", values: str = "[1, 2, 3, 4]", pause: float = 0.1) -> Path:
    path = folder / "study.toml"
    code = TELL.replace("{pause}", str(pause))
    path.write_text(
        f"[program]\ncommand = [{json.dumps(sys.executable)}, '-c', {json.dumps(code)}, '{{n}}']\n"
        f"[launcher]\n{launcher}\n[parameters]\nn = {values}\n[repetitions]\nleast = 2\nmost = 2\n"
    )
    return path


def told(folder: Path) -> list[tuple[str, list[int], float, float]]:
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def test_each_is_made_as_often_as_asked_on_a_core_of_its_own(tmp_path: Path) -> None:
    with Campaign(Study.load(study(tmp_path))) as campaign:
        campaign.run()
        records = campaign.store.records()
    assert Counter(r.configuration for r in records) == {1: 2, 2: 2, 3: 2, 4: 2}
    assert all(r.status == "ok" and r.other_load is None for r in records)
    runs = told(tmp_path)
    assert Counter(n for n, *_ in runs) == dict.fromkeys("1234", 2)
    assert all(len(cores) == 1 for _, cores, *_ in runs)
    at_once = [(a, b) for a in runs for b in runs if a < b and a[2] < b[3] and b[2] < a[3]]
    assert at_once, "some runs were made at the same time"
    assert all(a[1] != b[1] for a, b in at_once)


def test_one_alone_may_use_all_cores(tmp_path: Path) -> None:
    with Campaign(Study.load(study(tmp_path, launcher="concurrent = 1", values="[1]"))) as campaign:
        campaign.run()
    assert all(set(cores) == os.sched_getaffinity(0) for _, cores, *_ in told(tmp_path))


def test_no_run_gets_cores_that_others_have(tmp_path: Path) -> None:
    every = len(os.sched_getaffinity(0))
    launcher = f"concurrent = {2 * every}\ncores_per_rank = '{{min(n, {every})}}'"
    with (
        Campaign(Study.load(study(tmp_path, launcher=launcher, values=f"[1, {every}]"))) as campaign,
        pytest.warns(
            EvenlyWarning, match=rf"at most {every} of {2 * every} runs are made at once: evenly may use"
        ) as said,
    ):
        campaign.run()
    assert len([one for one in said if "at once" in str(one.message)]) == 1
    runs = told(tmp_path)
    assert {n: len(cores) for n, cores, *_ in runs} == {"1": 1, str(every): every}
    for a in runs:
        assert all(not set(a[1]) & set(b[1]) for b in runs if a is not b and a[2] < b[3] and b[2] < a[3])


def test_more_cores_than_there_are_is_refused(tmp_path: Path) -> None:
    launcher = "concurrent = 2\ncores_per_rank = 4000"
    with Campaign(Study.load(study(tmp_path, launcher=launcher))) as campaign, pytest.raises(InputError) as caught:
        campaign.run()
    assert "n = " in str(caught.value)
    assert "needs 4000 cores" in str(caught.value)


def test_what_two_failing_runs_have_in_common_ends_the_others(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        f"[program]\ncommand = ['{sys.executable}', '-c', 'import sys; sys.exit(\"no licence\")', '{{n}}']\n"
        "[launcher]\nconcurrent = 2\n[parameters]\nn = { low = 1, high = 50 }\n[plan]\nruns = 20\n"
    )
    with Campaign(Study.load(path)) as campaign, pytest.raises(InputError, match="no licence"):
        campaign.run()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_after_an_interruption_nothing_is_left_and_the_same_command_goes_on(tmp_path: Path, number: int) -> None:
    path = study(tmp_path, pause=1.0)
    words = [sys.executable, "-m", "evenly", "measure", str(path), "--quiet"]
    driver = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not (tmp_path / "log").exists() or len(told(tmp_path)) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    driver.send_signal(number)
    driver.wait(30)
    time.sleep(0.2)
    left = [pid for pid in Path("/proc").glob("[0-9]*") if _works_in(pid, tmp_path)]
    assert not left
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.returncode == 0
    with Campaign(Study.load(path)) as campaign:
        assert Counter(r.configuration for r in campaign.store.records()) == {1: 2, 2: 2, 3: 2, 4: 2}
        assert not campaign.store.left_running()


def _works_in(entry: Path, folder: Path) -> bool:
    try:
        return (entry / "cwd").readlink() == folder
    except OSError:
        return False


def test_runs_under_way_count_as_started(tmp_path: Path) -> None:
    small = Study.load(study(tmp_path))
    schedule = Schedule(small, [1, 2])
    started = []
    while (run := schedule.next()) is not None:
        schedule.start(run)
        started.append((run.configuration, run.repetition))
    assert started == [(1, 0), (2, 0), (1, 1), (2, 1)]
    assert schedule.progress.left == 4
    assert small.repetitions == Repetitions(2, 2)
    assert job_processes("1-0-plan-0") == []


def test_a_search_proposes_while_runs_are_under_way(tmp_path: Path) -> None:
    path = study(tmp_path, values="{ low = 1, high = 40 }", pause=0.3)
    words = [sys.executable, "-m", "evenly", "tune", str(path), "--runs", "8", "--quiet", "--concurrent", "2"]
    text = path.read_text()
    path.write_text(text[: text.index("[repetitions]")])
    subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    runs = told(tmp_path)
    assert len(runs) == 8
    # The last one confirms the fastest.
    assert len({n for n, *_ in runs}) == 7
    assert any(a[2] < b[3] and b[2] < a[3] for a in runs for b in runs if a is not b)


def test_an_adviser_waits_for_its_first_runs(tmp_path: Path) -> None:
    path = study(tmp_path, values="{ low = 1, high = 40 }")
    text = path.read_text()
    path.write_text(
        text[: text.index("[repetitions]")]
        + "[repetitions]\nleast = 1\nmost = 1\n[plan]\nruns = 7\ndesign = 'advisor'\nfirst = 4\n"
    )
    words = [sys.executable, "-m", "evenly", "measure", str(path), "--quiet"]
    subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len({n for n, *_ in told(tmp_path)}) == len(told(tmp_path)) == 7


def test_runs_that_share_cores_are_said(tmp_path: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    path = study(tmp_path, launcher="cores_per_rank = '{n}'", values=f"[1, {cores + 1}]")
    said = rf"n = {cores + 1} needs {cores + 1} cores, but evenly may use {cores}: such runs share cores"
    with Campaign(Study.load(path)) as campaign, pytest.warns(EvenlyWarning, match=said):
        campaign.run()


def test_in_a_job_of_several_nodes_ranks_may_have_other_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cores = len(os.sched_getaffinity(0))
    path = study(tmp_path, launcher="name = 'mpi'\nranks = '{n}'", values=f"[1, {cores + 1}]")
    with Campaign(Study.load(path)) as campaign, pytest.warns(EvenlyWarning, match="share cores"):
        campaign._making.check_cores([1, 2])
    monkeypatch.setenv("PBS_NODEFILE", "nodes")
    with Campaign(Study.load(path)) as campaign, warnings.catch_warnings():
        warnings.simplefilter("error")
        campaign._making.check_cores([1, 2])


def test_too_many_cores_are_found_before_the_first_run(tmp_path: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    path = study(tmp_path, launcher="concurrent = 2\ncores_per_rank = '{n}'", values=f"[1, {cores + 1}, {cores + 2}]")
    with Campaign(Study.load(path)) as campaign, pytest.raises(InputError, match=r"2 of 3 configurations need more"):
        campaign.run()
    assert not (tmp_path / "log").exists()


def test_an_interruption_keeps_runs_that_had_ended(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        until = time.monotonic() + 60
        while len(told(tmp_path)) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(2)  # the other run's process ends, too
        raise KeyboardInterrupt

    with Campaign(Study.load(study(tmp_path, values="[1, 2]", pause=0.0))) as campaign:
        with pytest.raises(KeyboardInterrupt):
            campaign.run(interrupt)
        assert [record.status for record in campaign.store.records()] == ["ok", "ok"]
        assert not campaign.store.left_running()
