"""`kill -9` at random moments, of campaigns, runs, FDTD jobs and ranks: no result is lost, nothing keeps running."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from evenly.campaign import Campaign, Study
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from tests.chaos.amount import amount
from tests.chaos.conftest import MakeTally
from tests.parallel.ranks import QUIET

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(
        sys.platform != "linux", reason="processes are found in /proc, which only Linux has in this form"
    ),
]


def pids(folder: Path) -> dict[int, str]:
    """Return the processes that work in a folder, with their commands."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").readlink() == folder:
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited for too long"
        time.sleep(0.002)


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# ---- campaigns ----------------------------------------------------------------------------------------------

PROGRAM = """
import subprocess, sys, time
n = int(sys.argv[1])
with open("log.txt", "a") as log:
    print("begin", n, file=log, flush=True)
    # Neither its session nor its environment tells whose it is.
    subprocess.Popen(["sleep", "1000"], env={"PATH": "/usr/bin:/bin"}, start_new_session=True)
    time.sleep(0.05)
    print("end", n, file=log, flush=True)
print("took", n, "ms")
"""
STUDY = f"""
[program]
command = ['{sys.executable}', 'solve.py', '{{n}}']
timeout_s = 100
[parameters]
n = [1, 2, 3]
[time]
pattern = 'took (\\d+) ms'
unit = 'ms'
[repetitions]
least = 2
most = 2
[launcher]
concurrent = 1
"""


def campaign(folder: Path, at_once: int = 1) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "solve.py").write_text(PROGRAM)
    (folder / "study.toml").write_text(STUDY.replace("concurrent = 1", f"concurrent = {at_once}"))
    return folder / "study.toml"


def lines(folder: Path, word: str) -> Counter[int]:
    text = (folder / "log.txt").read_text() if (folder / "log.txt").exists() else ""
    return Counter(int(line.split()[1]) for line in text.splitlines() if line.startswith(word))


def stored(folder: Path) -> dict[tuple[int, int], Record]:
    """Return the stored runs; nothing is changed."""
    if not (folder / "study.db").exists():
        return {}
    for _ in range(100):
        # The driver may be making the tables.
        with (
            contextlib.suppress(sqlite3.OperationalError),
            contextlib.closing(sqlite3.connect(folder / "study.db")) as database,
        ):
            rows = database.execute("SELECT configuration, repetition, status, started, took FROM records").fetchall()
            return {(n, k): Record(n, k, status, {}, started=at, took=s) for n, k, status, at, s in rows}
        time.sleep(0.01)
    return {}


def measure(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "evenly", "measure", "study.toml", "--quiet", *more]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def killed_once(folder: Path, random: np.random.Generator) -> str:
    """Start or continue the campaign and kill its driver or its run at a random moment; return what was killed."""
    before = sum(lines(folder, "begin").values())
    driver = measure(folder)
    victim = str(random.choice(["driver", "run"]))
    match random.integers(3):
        case 0:
            time.sleep(random.uniform(0, 1.0))
        case 1:
            wait_for(lambda: sum(lines(folder, "begin").values()) > before or driver.poll() is not None)
            time.sleep(random.uniform(0, 0.3))
        case _:
            ended = sum(lines(folder, "end").values())
            wait_for(lambda: sum(lines(folder, "end").values()) > ended or driver.poll() is not None)
            time.sleep(random.uniform(0, 0.03))
    if victim == "run":
        for pid in [pid for pid, words in pids(folder).items() if "solve.py" in words]:
            kill(pid)
        assert driver.communicate(timeout=60)[1].count(b"Traceback") == 0
    else:
        kill(driver.pid)
        driver.communicate()
    return victim


@pytest.mark.parametrize("seed", range(amount(4, of=24)))
@pytest.mark.parametrize("at_once", range(1, min(2, len(os.sched_getaffinity(0))) + 1))
def test_a_campaign_loses_no_run_and_counts_none_twice(
    seed: int, at_once: int, tmp_path: Path, tally: MakeTally
) -> None:
    tried = tally("kill -9 of campaigns and runs")
    random = np.random.default_rng(seed)
    campaign(tmp_path, at_once)
    kills: Counter[str] = Counter()
    reported: dict[tuple[int, int], Record] = {}
    for _ in range(2):
        tried.try_one()
        kills[killed_once(tmp_path, random)] += 1
        wait_for(lambda: not pids(tmp_path), 10)
        now = stored(tmp_path)
        assert {key: now[key] for key in reported} == reported
        # Of the runs that ended, only those that were under way when the driver was killed may be unknown.
        assert sum(lines(tmp_path, "end").values()) - len(now) <= at_once * kills["driver"]
        reported = now
    done = measure(tmp_path, "--retry")
    assert (done.communicate(timeout=100)[1].count(b"Traceback"), done.returncode) == (0, 0)
    assert pids(tmp_path) == {}
    last = stored(tmp_path)
    well = {key: record for key, record in reported.items() if record.status == "ok"}
    assert {key: last[key] for key in well} == well
    # A run that was killed after its last line is made again, too.
    assert sum(lines(tmp_path, "end").values()) - len(last) <= at_once * kills.total()
    with Campaign(Study.load(tmp_path / "study.toml")) as opened:
        table = opened.runs().to_frame()[["n", "seconds"]].sort_values(["n", "seconds"])
    assert table["n"].tolist() == [1, 1, 2, 2, 3, 3]
    assert table["seconds"].tolist() == pytest.approx([0.001, 0.001, 0.002, 0.002, 0.003, 0.003])
    with Store(tmp_path / "study.db") as store:
        assert store.left_running() == []
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"solve.py", "study.toml", "log.txt", "study.db", "study.runs.csv"}


# ---- FDTD jobs ----------------------------------------------------------------------------------------------

JOB = """
import sys
from pathlib import Path
import numpy as np
from evenly import fdtd
from evenly.fdtd.ranks.parallel import am_master
STEPS = 150
source = fdtd.Source(fdtd.GaussianPulse(frequency=1.0, fwidth=0.8), "Ez", center=(0.1, 0.0, 0.0))
glass = fdtd.Block(size=(0.8, 0.63, 1), center=(0.2, 0.1, 0), material=fdtd.Medium(epsilon=(2, 3, 4)))
sim = fdtd.Simulation(cell=(2, 1.6, 1.2), resolution=10, geometry=[glass], sources=[source])
sim.add(fdtd.Flux(center=(0, 0, 0.2), size=(0.8, 0.8, 0), frequencies=[0.8, 1.1]))
if Path("state/manifest.json").exists():
    sim.load("state")
if am_master():
    print("begin", sim.step_count, flush=True)
    with open("log.txt", "a") as log:
        print("begin", sim.step_count, file=log)
output = fdtd.at_every(lambda sim: sim.write("fields.h5", ["Ez"]), steps=7)
sim.run(until=STEPS * sim.grid.dt, callbacks=[fdtd.Checkpoints("state", steps=10), output], progress="off")
found = {name: sim.field(name) for name in ("Ez", "Hx")} | sim.monitors[0].data().arrays
if am_master():
    np.savez("new.npz", **found)
    Path("new.npz").replace("result.npz")
"""
LAUNCH = """
import sys
from evenly.fdtd.ranks.launching import launch_python
sys.exit(launch_python(["job.py"], 2, echo=False).status)
"""
#: What the field is at each step, to compare outputs with.
STEPPED = (
    JOB[: JOB.index("if Path")]
    + """
fields = {}
while sim.step_count < STEPS:
    sim.step()
    if sim.step_count % 7 == 0:
        fields[f"step{sim.step_count}"] = sim.field("Ez")
np.savez("fields.npz", **fields)
"""
)


def job(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCH], cwd=folder, env={**os.environ, **QUIET}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "job.py").write_text(JOB)
    assert job(folder).wait(300) == 0
    subprocess.run([sys.executable, "-c", STEPPED], cwd=folder, check=True)
    return folder


def check_output(folder: Path, undisturbed: Path) -> None:
    """Check that the file of fields, if there is one, holds one step, whole."""
    if not (folder / "fields.h5").exists():
        return
    with h5py.File(folder / "fields.h5") as file, np.load(undisturbed / "fields.npz") as fields:
        np.testing.assert_array_equal(file["Ez"][:], fields[f"step{file.attrs['step']}"])


def begins(folder: Path) -> list[str]:
    return (folder / "log.txt").read_text().splitlines() if (folder / "log.txt").exists() else []


def killed_job(folder: Path, random: np.random.Generator) -> None:
    """Start or continue the job and kill it, or one of its ranks, at a random moment."""
    before, driver = len(begins(folder)), job(folder)
    if random.integers(4):
        wait_for(lambda: len(begins(folder)) > before or driver.poll() is not None)
    time.sleep(random.uniform(0, 0.6))
    ranks = [pid for pid, words in pids(folder).items() if "job.py" in words and "mpiexec" not in words]
    kill(driver.pid if random.integers(2) or not ranks else int(random.choice(ranks)))
    driver.wait(60)


@pytest.mark.parametrize("seed", range(amount(2, of=16)))
def test_a_job_resumes_to_the_same_result(seed: int, tmp_path: Path, undisturbed: Path, tally: MakeTally) -> None:
    tried = tally("kill -9 of FDTD jobs and ranks")
    random = np.random.default_rng(seed)
    (tmp_path / "job.py").write_text(JOB)
    for _ in range(2):
        tried.try_one()
        killed_job(tmp_path, random)
        wait_for(lambda: not pids(tmp_path), 20)
        check_output(tmp_path, undisturbed)
        # A checkpoint that was there is never lost.
        begun = [int(line.split()[1]) for line in begins(tmp_path)]
        assert begun == sorted(begun)
    assert job(tmp_path).wait(300) == 0
    assert pids(tmp_path) == {}
    check_output(tmp_path, undisturbed)
    with np.load(tmp_path / "result.npz") as found, np.load(undisturbed / "result.npz") as wanted:
        assert sorted(found) == sorted(wanted)
        for name in wanted:
            np.testing.assert_array_equal(found[name], wanted[name])
    assert len(list((tmp_path / "state").iterdir())) == 2
    kept = {"job.py", "log.txt", "state", "fields.h5", "fields.rank0000.h5", "fields.rank0001.h5", "result.npz"}
    assert {path.name for path in tmp_path.iterdir()} == kept
