"""Runs as jobs of a real Slurm: the contract of launchers, what goes wrong on clusters, nothing lost or made twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evenly.campaign import Campaign, Study
from evenly.campaign.record import Record
from evenly.errors import EvenlyWarning, InputError
from evenly.launch import Resources, Task
from evenly.launch.slurm import Slurm
from tests.chaos.amount import amount
from tests.cluster.slurm import Cluster

JOBS = "s.jobs"
#: Programs of the node get no place on its cores, so a run may need a while.
WAIT_S = 90.0


def task(code: str, *words: str, folder: Path, **options: object) -> Task:
    return Task((sys.executable, "-c", code, *words), uuid.uuid4().hex, workspace=folder, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["100%", "pct %j", "pct %% d", "back\\slash", "a%j\\b"])
def test_folders_whose_names_slurm_would_fill(cluster: Cluster, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    outcome = Slurm().run(task("print('here')", folder=folder))
    assert (outcome.status, outcome.output) == ("ok", "here\n")
    assert (folder / "1" / "job.out").exists()


def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return folder


def test_output_status_folder_and_environment(cluster: Cluster, tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), os.environ['COLOUR']); print('err', file=sys.stderr); sys.exit(3)"
    one = task(code, folder=workspace(tmp_path), environment={"COLOUR": "red"})
    outcome = Slurm().run(Task(**{**vars(one), "folder": tmp_path}))
    assert (outcome.status, outcome.exit_code) == ("failed", 3)
    assert outcome.output.split() == [str(tmp_path), "red"]
    assert "err" in outcome.errors
    assert outcome.host
    assert abs(outcome.began - time.time()) < WAIT_S
    wait_until(lambda: not cluster.jobs())


def test_each_argument_reaches_the_program_as_it_is(cluster: Cluster, tmp_path: Path) -> None:
    words = [
        "a b",
        "",
        "'",
        '"',
        "$(touch x)",
        "`touch x`",
        "; touch x",
        "a\nb",
        "\\",
        "*",
        "$HOME",
        "-",
        "é",
        "#",
        "&",
    ]
    random = np.random.default_rng(0)
    words += ["".join(chr(c) for c in random.integers(1, 0xD7FF, size=8)) for _ in range(20)]
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    outcome = Slurm().run(task(code, *words, folder=workspace(tmp_path)))
    assert json.loads(outcome.output) == words
    assert not list(tmp_path.rglob("x"))


def test_a_program_that_is_not_there(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        Slurm().run(Task(("no-such-program",), uuid.uuid4().hex, workspace=workspace(tmp_path)))
    assert caught.value.filename == "no-such-program"


def test_a_cluster_that_is_not_there_is_told(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_CONF")
    with pytest.raises(InputError, match=r"can't be reached from here.*login node"):
        Slurm().run(task("", folder=workspace(tmp_path)))


def test_what_slurm_does_not_take_is_told(cluster: Cluster, tmp_path: Path) -> None:
    one = task("", folder=workspace(tmp_path), resources=Resources(partition="nowhere"))
    with pytest.raises(InputError, match=r"invalid partition.*--partition=nowhere"):
        Slurm().run(one)


def test_what_slurm_remarks_and_why_jobs_may_never_start_is_said(cluster: Cluster, tmp_path: Path) -> None:
    one = task("print(1)", folder=workspace(tmp_path), ranks=1, resources=Resources(nodes=5))
    with pytest.warns(EvenlyWarning, match="can't run 1 processes on 5 nodes"):
        assert Slurm().run(one).output == "1\n"
    other = tmp_path / "other"
    other.mkdir()
    wide = task("", folder=other, resources=Resources(cores_per_rank=900))
    slurm = Slurm()

    def cancel() -> None:
        time.sleep(6)
        slurm.end(wide.mark)

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.warns(EvenlyWarning, match=r"Slurm says of job \d+: PartitionConfig. It may never start"):
        assert slurm.run(wide).reason == "its job was cancelled"
    thread.join()
    assert not cluster.jobs()


def test_setup_runs_before_and_its_failure_is_told(cluster: Cluster, tmp_path: Path) -> None:
    lines = ("export COLOUR='dark red'",)
    code = "import os; print(os.environ['COLOUR'])"
    assert Slurm().run(task(code, folder=workspace(tmp_path), resources=Resources(setup=lines))).output == "dark red\n"
    other = tmp_path / "other"
    other.mkdir()
    failed = Slurm().run(task(code, folder=other, resources=Resources(setup=("module-load nothing",))))
    assert failed.status == "failed"
    assert "setup failed: module-load nothing" in failed.errors


def test_time_limits(cluster: Cluster, tmp_path: Path) -> None:
    sleep = "import time; time.sleep(600)"
    own = Slurm().run(task(sleep, folder=workspace(tmp_path), timeout_s=1.0))
    assert own.status == "timed out"
    assert 1 <= own.seconds < 20


def test_a_job_that_is_cancelled_from_outside(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1]", code="import time; time.sleep(600)", least=1)
    driver = start(study)
    wait_until(lambda: (tmp_path / JOBS).exists() and cluster.jobs())
    wait_until(lambda: list((tmp_path / JOBS).rglob("began.json")))
    cluster.ask("scancel", *cluster.jobs())
    driver.wait(WAIT_S)
    (record,) = records(study)
    assert (record.status, record.message) == ("failed", "its job was cancelled")


def test_too_much_memory(cluster: Cluster, tmp_path: Path) -> None:
    code = "import time; x = bytearray(600 << 20); time.sleep(60)"
    one = task(code, folder=workspace(tmp_path), resources=Resources(memory="100M"))
    outcome = Slurm().run(one)
    assert (outcome.status, outcome.reason) == ("failed", "it ran out of memory")


def test_ranks_are_started_within_the_job(cluster: Cluster, tmp_path: Path) -> None:
    code = "import os; print(' ' + os.environ['PMI_RANK'] + ' ' + os.environ['PMI_SIZE'] + ' ', end='')"
    outcome = Slurm().run(task(code, folder=workspace(tmp_path), ranks=3))
    assert Counter(outcome.output.split()) == {"0": 1, "1": 1, "2": 1, "3": 3}


# ---- campaigns ----------------------------------------------------------------------------------------------

CODE = """
import sys, time
with open("log.txt", "a") as log:
    print("begin", sys.argv[1], file=log, flush=True)
time.sleep(0.3)
if sys.argv[1] == "3":
    sys.exit("no licence")
with open("log.txt", "a") as log:
    print("end", sys.argv[1], file=log, flush=True)
"""


def write(study: Path, *, values: str = "[1, 2, 3, 4, 5, 6]", code: str = CODE, least: int = 2) -> None:
    (study.parent / "program.py").write_text(code)
    study.write_text(
        f"[program]\ncommand = ['{sys.executable}', 'program.py', '{{n}}']\n[parameters]\nn = {values}\n"
        f"[launcher]\nname = 'slurm'\nconcurrent = 4\n[repetitions]\nleast = {least}\nmost = {least}\n"
    )


def start(study: Path, *more: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "evenly", "measure", str(study), "--quiet", *more]
    return subprocess.Popen(words, cwd=study.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_until(condition: object, seconds: float = WAIT_S) -> None:
    until = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until, "waited for too long"
        time.sleep(0.05)


def records(study: Path) -> list[Record]:
    with Campaign(Study.load(study)) as campaign:
        assert not campaign.store.left_running()
        return campaign.store.records()


def begun(folder: Path) -> Counter[str]:
    path = folder / "log.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter(line.split()[1] for line in lines if line.startswith("begin"))


def check_all_made(study: Path, cluster: Cluster) -> None:
    """Each configuration was measured as often as asked, the failing one once, and nothing is left."""
    found = records(study)
    assert Counter(r.status for r in found) == {"ok": 10, "failed": 1}
    assert begun(study.parent) == {"1": 2, "2": 2, "3": 1, "4": 2, "5": 2, "6": 2}
    assert cluster.jobs() == []
    assert not (study.parent / JOBS).exists()


def test_a_campaign(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study)
    assert start(study).wait(WAIT_S) == 0
    # The failing configuration may have been started twice at once.
    found = records(study)
    assert Counter(r.status for r in found)["ok"] == 10
    assert {r.configuration for r in found if r.status == "failed"} <= {1, 2, 3, 4, 5, 6}
    assert all("no licence" in r.output for r in found if r.status == "failed")
    assert all(r.machine for r in found)
    assert cluster.jobs() == []
    assert not (tmp_path / JOBS).exists()


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(amount(3, of=20)))
def test_a_killed_driver_loses_nothing_and_makes_nothing_twice(cluster: Cluster, tmp_path: Path, seed: int) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1, 2, 4, 5, 6]")
    random = np.random.default_rng(seed)
    for _ in range(3):
        driver = start(study)
        time.sleep(random.uniform(0.3, 3.0))
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert start(study).wait(WAIT_S) == 0
    assert Counter(r.status for r in records(study)) == {"ok": 10}
    assert begun(tmp_path) == {"1": 2, "2": 2, "4": 2, "5": 2, "6": 2}
    assert cluster.jobs() == []
    assert not (tmp_path / JOBS).exists()


def test_limits_from_a_model(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1, 2, 4, 5, 6, 7, 8, 9, 10, 11]", least=1)
    text = study.read_text().replace("[program]", "[program]\ntimeout_s = 1200")
    study.write_text(text.replace("concurrent = 4", "concurrent = 1\ntime_limit = 'model'"))
    words = [sys.executable, "-m", "evenly", "measure", str(study)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "time limits by the model: 10 jobs asked for" in done.stderr
    with Campaign(Study.load(study), times=lambda *_: None) as campaign:
        limits = [record.details.get("limit_s") for record in campaign.store.records()]
        found = campaign.store.records()
    assert limits[:6] == [None] * 6
    assert any(limit == 120.0 for limit in limits[6:])
    assert all({"job", "queued_s", "peak_memory", "cpu"} <= record.details.keys() for record in found)


def test_a_search(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    code = "import sys, time; n = int(sys.argv[1]); time.sleep(0.2 + 0.1 * abs(n - 5)); print('took', 1 + abs(n - 5))"
    write(study, values="{ low = 1, high = 9 }", code=code, least=1)
    study.write_text(study.read_text() + "[time]\npattern = 'took (.*)'\nunit = 's'\n")
    words = [sys.executable, "-m", "evenly", "tune", str(study), "--runs", "9", "--json", "--quiet"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["best"] == {"n": 5}, done.stdout
    assert cluster.jobs() == []


def test_a_controller_that_restarts(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1, 2, 4, 5]")
    driver = start(study)
    wait_until(lambda: begun(tmp_path))
    cluster.stop_controller()
    time.sleep(2)
    cluster.start_controller()
    assert driver.wait(WAIT_S) == 0
    assert Counter(r.status for r in records(study)) == {"ok": 8}
    assert set(begun(tmp_path).values()) == {2}


def test_a_drained_node_that_comes_back(cluster: Cluster, tmp_path: Path) -> None:
    (host,) = set(cluster.ask("sinfo", "--noheader", "--format=%n").split())
    cluster.ask("scontrol", "update", f"nodename={host}", "state=drain", "reason=test")
    study = tmp_path / "s.toml"
    write(study, values="[1, 2]")
    driver = start(study)
    wait_until(lambda: len(cluster.jobs()) == 4)
    time.sleep(3)
    assert not begun(tmp_path)
    cluster.ask("scontrol", "update", f"nodename={host}", "state=resume")
    assert driver.wait(WAIT_S) == 0
    assert Counter(r.status for r in records(study)) == {"ok": 4}


def test_ctrl_c_waits_for_jobs_and_twice_cancels_them(cluster: Cluster, tmp_path: Path) -> None:
    once = tmp_path / "once" / "s.toml"
    once.parent.mkdir()
    write(once, code=CODE.replace("0.3", "4"))
    driver = start(once)
    wait_until(lambda: sum(begun(once.parent).values()) == 4)
    driver.send_signal(signal.SIGINT)
    assert driver.wait(WAIT_S) == 130
    assert sum(begun(once.parent).values()) == 4
    assert len(records(once)) == 4
    twice = tmp_path / "twice" / "s.toml"
    twice.parent.mkdir()
    write(twice, code=CODE.replace("0.3", "600"))
    driver = start(twice)
    wait_until(lambda: sum(begun(twice.parent).values()) == 4)
    driver.send_signal(signal.SIGINT)
    time.sleep(3)
    assert driver.poll() is None
    driver.send_signal(signal.SIGINT)
    assert driver.wait(WAIT_S) == 130
    assert records(twice) == []
    assert cluster.jobs() == []


def test_jobs_under_way_are_not_taken_for_those_of_another_study(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1, 2]", code=CODE.replace("0.3", "6"), least=1)
    driver = start(study)
    wait_until(lambda: sum(begun(tmp_path).values()) == 2)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    text = study.read_text()
    study.write_text(text.replace("name = 'slurm'", "name = 'local'"))
    refused = subprocess.run(
        [sys.executable, "-m", "evenly", "measure", str(study)], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "holds 2 jobs under way of another study: launcher was slurm, now it is local" in refused.stderr
    assert len(cluster.jobs()) == 2
    study.write_text(text)
    assert start(study).wait(WAIT_S) == 0
    assert Counter(r.status for r in records(study)) == {"ok": 2}
    assert set(begun(tmp_path).values()) == {1}


def test_an_outcome_that_was_not_stored_is_stored_by_the_next(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1]", least=1)
    driver = start(study)
    wait_until(lambda: begun(tmp_path))
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    wait_until(lambda: not cluster.jobs())
    assert list((tmp_path / JOBS).rglob("outcome.json"))
    other = tmp_path / JOBS / "notes"
    other.mkdir()
    assert start(study).wait(WAIT_S) == 0
    assert begun(tmp_path) == {"1": 1}
    assert [path.name for path in (tmp_path / JOBS).iterdir()] == ["notes"]


def test_a_driver_that_is_asked_to_end_leaves_its_jobs(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1, 2]", code=CODE.replace("0.3", "5"), least=1)
    driver = start(study)
    wait_until(lambda: sum(begun(tmp_path).values()) == 2)
    driver.send_signal(signal.SIGTERM)
    assert driver.wait(WAIT_S) in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert len(cluster.jobs()) == 2
    assert start(study).wait(WAIT_S) == 0
    assert Counter(r.status for r in records(study)) == {"ok": 2}
    assert set(begun(tmp_path).values()) == {1}


def test_jobs_of_a_store_that_was_deleted_go_on_in_another(cluster: Cluster, tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    write(study, values="[1, 2, 4, 5]", code=CODE.replace("0.3", "2 if sys.argv[1] == '1' else 6"), least=1)
    driver = start(study)
    wait_until(lambda: sum(begun(tmp_path).values()) == 4)
    (tmp_path / "s.db").unlink()
    assert driver.wait(WAIT_S) == 2
    assert len(cluster.jobs()) == 3
    (rescued,) = tmp_path.glob("s.rescued-*.db")
    assert start(study, "--store", str(rescued)).wait(WAIT_S) == 0
    assert set(begun(tmp_path).values()) == {1}
    with Campaign(Study.load(study), rescued) as campaign:
        assert Counter(r.status for r in campaign.store.records()) == {"ok": 4}
    assert not list(tmp_path.glob("s.rescued-*.jobs"))
    # The links to them disappear with the next campaign of the old name.
    assert start(study).wait(WAIT_S) == 0
    assert not (tmp_path / JOBS).exists()
