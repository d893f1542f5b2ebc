"""Launchers of PBS, LSF and Flux: the contract, against commands that behave as the manuals say (no real scheduler)."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evenly.campaign import Campaign, Study
from evenly.campaign.one_run import Runner
from evenly.campaign.placement import Placement
from evenly.errors import EvenlyWarning, InputError
from evenly.launch import Launcher, Resources, Task, launcher_class
from evenly.launch.batch import BatchLauncher, Waiting, _Queue
from tests.launch.fake_schedulers import install


@pytest.fixture(params=["pbs", "lsf", "flux"])
def launcher(request: pytest.FixtureRequest, place: Path) -> Launcher:
    return launcher_class(request.param)()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the schedulers' jobs; their commands are found first."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "jobs").mkdir()
    install(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("FAKE_SCHEDULER", str(tmp_path / "jobs"))
    return tmp_path / "jobs"


def task(base: Path, code: str, *words: str, **options: object) -> Task:
    work = base / "work"
    work.mkdir(exist_ok=True)
    return Task((sys.executable, "-c", code, *words), uuid.uuid4().hex, workspace=work, **options)  # type: ignore[arg-type]


def wait_for(condition: object) -> None:
    until = time.monotonic() + 60
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until, "waited for too long"
        time.sleep(0.02)


def test_output_status_folder_environment_and_what_else_is_known(launcher: Launcher, tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), os.environ['COLOUR']); print('err', file=sys.stderr); sys.exit(3)"
    outcome = launcher.run(task(tmp_path, code, folder=tmp_path, environment={"COLOUR": "red"}))
    assert (outcome.status, outcome.exit_code) == ("failed", 3)
    assert outcome.output.split() == [str(tmp_path), "red"]
    assert "err" in outcome.errors
    assert {"job", "queued_s", "peak_memory"} <= outcome.details.keys()
    assert 0 <= float(outcome.details["queued_s"]) < 60


def test_each_argument_reaches_the_program_as_it_is(launcher: Launcher, tmp_path: Path) -> None:
    words = ["a b", "", "'", '"', "$(touch x)", "`touch x`", "; touch x", "a\nb", "\\", "*", "$HOME", "-", "é", "#"]
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    assert json.loads(launcher.run(task(tmp_path, code, *words)).output) == words
    assert not list(tmp_path.rglob("x"))


def test_setup_runs_before_and_its_failure_is_told(launcher: Launcher, tmp_path: Path) -> None:
    code = "import os; print(os.environ['COLOUR'])"
    good = task(tmp_path, code, resources=Resources(setup=("export COLOUR='dark red'",)))
    assert launcher.run(good).output == "dark red\n"
    bad = task(tmp_path / "bin", code, resources=Resources(setup=("module-load nothing",)))
    failed = launcher.run(bad)
    assert failed.status == "failed"
    assert "setup failed: module-load nothing" in failed.errors


def test_a_setup_that_fails_is_told_where_the_scheduler_keeps_no_history(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PBS forgets a job when it ends, unless its server has job_history_enable."""
    (place / "no-history").touch()
    monkeypatch.setattr("evenly.launch.batch._SEEN_S", 0.5)
    failed = launcher_class("pbs")().run(task(tmp_path, "", resources=Resources(setup=("module-load nothing",))))
    assert (failed.status, failed.exit_code, failed.reason) == ("failed", 97, "its setup failed")
    assert len([job for job in place.iterdir() if job.is_dir()]) == 1  # it isn't submitted again


def test_time_out(launcher: Launcher, tmp_path: Path) -> None:
    assert launcher.run(task(tmp_path, "import time; time.sleep(600)", timeout_s=1.0)).status == "timed out"


@pytest.mark.parametrize("began", [True, False])
def test_a_job_that_is_cancelled(launcher: Launcher, tmp_path: Path, place: Path, began: bool) -> None:
    if not began:
        (place / "hold").touch()
    one = task(tmp_path, "import time; time.sleep(600)")
    work = tmp_path / "work" / "1"

    def cancel() -> None:
        wait_for((work / ("began.json" if began else "job-id")).exists)
        launcher.end(one.mark)

    thread = threading.Thread(target=cancel)
    thread.start()
    outcome = launcher.run(one)
    thread.join()
    assert (outcome.status, outcome.reason) == ("failed", "its job was cancelled")


@pytest.mark.parametrize(("why", "reason"), [("time", "ended at its time limit"), ("memory", "ran out of memory")])
def test_limits_that_the_scheduler_enforces(
    launcher: Launcher, tmp_path: Path, place: Path, why: str, reason: str
) -> None:
    if launcher.name == "flux" and why == "memory":
        pytest.skip("Flux has no limits of memory")
    # The program ends its whole job, as the scheduler would.
    code = (
        "import os, pathlib, signal, sys\nfolder = pathlib.Path(sys.argv[1])\n"
        "(job,) = [p for p in folder.iterdir() if (p / 'pid').exists()]\n"
        f"(job / 'why').write_text({why!r})\n"
        "os.killpg(int((job / 'pid').read_text()), signal.SIGKILL)"
    )
    outcome = launcher.run(task(tmp_path, code, str(place)))
    assert outcome.status == ("timed out" if why == "time" else "failed")
    assert reason in outcome.reason


def test_a_job_whose_node_failed_is_submitted_again(place: Path, tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal, sys\nfolder = pathlib.Path(sys.argv[1])\njobs = sorted(folder.iterdir())\n"
        "if len(jobs) == 1:\n    (jobs[0] / 'why').write_text('node')\n"
        "    os.killpg(int((jobs[0] / 'pid').read_text()), signal.SIGKILL)\nprint('done')"
    )
    outcome = launcher_class("lsf")().run(task(tmp_path, code, str(place)))
    assert outcome.output == "done\n"
    assert len(list(place.iterdir())) == 2


def test_what_the_scheduler_does_not_take_is_told(launcher: Launcher, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"doesn't take the job.*nowhere"):
        launcher.run(task(tmp_path, "", resources=Resources(partition="nowhere")))


def test_a_job_that_was_submitted_and_not_noted_is_found_by_its_name(
    launcher: Launcher, tmp_path: Path, place: Path
) -> None:
    one = task(tmp_path, "import time; time.sleep(2); print('once')")
    first = threading.Thread(target=launcher.run, args=(one,), daemon=True)
    first.start()
    noted = tmp_path / "work" / "1" / "job-id"
    wait_for(lambda: (tmp_path / "work" / "1" / "began.json").exists())
    noted.unlink()
    assert type(launcher)().run(one).output == "once\n"
    first.join()
    assert len(list(place.iterdir())) == 1


def asked(place: Path) -> list[str]:
    (job,) = place.iterdir()
    found: list[str] = json.loads((job / "asked").read_text())[1:]
    return found


ASKED = Resources(
    nodes=2, ranks_per_node=4, cores_per_rank=2, memory="4gb", time_limit_s=5400, partition="fast", account="physics",
    exclusive=True,
)  # fmt: skip
COMMANDS = {
    "pbs": "-r n -V -l select=2:ncpus=8:mpiprocs=4:mem=4gb -l walltime=01:30:00 -l place=scatter:excl "
    "-q fast -A physics",
    "lsf": "-rn -n 16 -R span[ptile=8] -W 90 -M 4gb -R rusage[mem=4gb] -q fast -P physics -x",
    "flux": "batch --nslots=8 --cores-per-slot=2 --nodes=2 --time-limit=90m --queue=fast --bank=physics --exclusive",
}


def test_what_a_job_asks_for(launcher: Launcher, tmp_path: Path) -> None:
    shown = launcher.shown(Task(("solve",), "m", ranks=8, resources=ASKED))
    assert shown[1:] == COMMANDS[launcher.name].split()


def test_options_pass_through_and_those_with_a_setting_are_refused(launcher: Launcher) -> None:
    own, setting = {"pbs": ("W", "q"), "lsf": ("R", "W"), "flux": ("setattr", "queue")}[launcher.name]
    Placement(options={own: "x"}).check(type(launcher))
    with pytest.raises(InputError, match="has a setting of its own"):
        Placement(options={setting: "x"}).check(type(launcher))


def test_a_campaign_whose_driver_is_killed(launcher: Launcher, tmp_path: Path, place: Path) -> None:
    study = tmp_path / "s.toml"
    code = "import sys, time; open('log', 'a').write(sys.argv[1] + ' '); time.sleep(1)"
    (tmp_path / "program.py").write_text(code)
    study.write_text(
        f"[program]\ncommand = ['{sys.executable}', 'program.py', '{{n}}']\n[parameters]\nn = [1, 2, 3, 4]\n"
        f"[launcher]\nname = '{launcher.name}'\nconcurrent = 2\n[repetitions]\nleast = 1\nmost = 1\n"
    )
    words = [sys.executable, "-m", "evenly", "measure", str(study), "--quiet"]
    driver = subprocess.Popen(words, cwd=tmp_path)
    wait_for(lambda: (tmp_path / "log").exists())
    driver.kill()
    driver.wait()
    subprocess.run(words, cwd=tmp_path, check=True, timeout=120)
    assert Counter((tmp_path / "log").read_text().split()) == dict.fromkeys("1234", 1)
    with Campaign(Study.load(study)) as campaign:
        assert Counter(r.status for r in campaign.store.records()) == {"ok": 4}
    assert len(list(place.iterdir())) == 4
    assert not (tmp_path / "s.jobs").exists()


def _batch(name: str) -> BatchLauncher:
    launcher = launcher_class(name)()
    assert isinstance(launcher, BatchLauncher)
    return launcher


@pytest.mark.parametrize("outer", ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"])
def test_jobs_within_an_allocation_of_another_scheduler_have_their_own_number(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outer: str
) -> None:
    monkeypatch.setenv(outer, "4711")
    for name in {"pbs", "lsf", "flux"} - {{"PBS_JOBID": "pbs", "LSB_JOBID": "lsf"}.get(outer, "")}:
        (tmp_path / name).mkdir()
        outcome = launcher_class(name)().run(task(tmp_path / name, "print(1)"))
        assert outcome.status == "ok"
        assert outcome.details["job"] != "4711"


def test_a_limit_of_days_is_asked_of_pbs_in_hours() -> None:
    made = Task(("solve",), "m", resources=Resources(time_limit_s=90_000))
    assert "walltime=25:00:00" in _batch("pbs").submission(made)


@pytest.mark.parametrize("name", ["pbs", "lsf"])
def test_nodes_that_ranks_do_not_fill_are_refused(name: str) -> None:
    launcher = _batch(name)
    for ranks in (9,) if name == "lsf" else (2,):
        with pytest.raises(InputError, match="nodes"):
            launcher.submission(Task(("solve",), "m", ranks=ranks, resources=Resources(nodes=4)))
    own = launcher.submission(Task(("mpirun", "solve"), "m", resources=Resources(nodes=2)))
    assert "select=2:ncpus=1:mpiprocs=1" in own or own[own.index("-n") + 1] == "2"


@pytest.mark.parametrize("option", [{"l": "walltime=1:00:00"}, {"l": "select=4"}, {"W": "block=true"}])
def test_options_of_pbs_that_undo_settings_are_refused(option: dict[str, str]) -> None:
    with pytest.raises(InputError, match="may not hold"):
        _batch("pbs").submission(Task(("solve",), "m", resources=Resources(options=option)))
    site = Resources(options={"l": "filesystems=home"})
    assert "filesystems=home" in _batch("pbs").submission(Task(("solve",), "m", resources=site))


def test_a_scheduler_that_answered_before_is_waited_for(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "second", tmp_path / "third"]
    for folder in folders:
        folder.mkdir()
    launcher = launcher_class("pbs")()
    assert launcher.run(task(tmp_path, "print(1)")).status == "ok"
    qsub, down = tmp_path / "bin" / "qsub", tmp_path / "down"
    qsub.rename(tmp_path / "bin" / "qsub.real")
    qsub.write_text(
        f'#!/bin/sh\n[ -e {down} ] || {{ touch {down}; echo "qsub: cannot connect to server x" >&2; exit 1; }}\n'
        f'exec {tmp_path}/bin/qsub.real "$@"\n'
    )
    qsub.chmod(0o755)
    monkeypatch.setattr("evenly.launch.batch._AGAIN_S", 0.1)
    with pytest.warns(EvenlyWarning, match="takes no job now"):
        assert launcher.run(task(folders[0], "print(2)")).status == "ok"
    down.unlink()
    with pytest.raises(InputError, match="can't be reached"):
        launcher_class("pbs")().run(task(folders[1], "print(3)"))


def _study(folder: Path, launcher: str, values: str = "[1, 2, 3, 4, 5, 6]", program: str = "print(1)") -> Study:
    path = folder / "study.toml"
    path.write_text(
        f'[program]\ncommand = """{sys.executable} -c "{program}" {{n}}"""\ntimeout_s = 200\n[launcher]\nname = "pbs"\n'
        f"{launcher}\n[parameters]\nn = {values}\n[repetitions]\nleast = 1\nmost = 1\n"
    )
    return Study.load(path)


def test_a_setup_that_fails_in_two_jobs_ends_the_campaign(tmp_path: Path, place: Path) -> None:
    """The shell names each job's own script in what it says, and no scheduler tells how long the setup took."""
    found = _study(tmp_path, 'setup = ["echo $RANDOM", "module-load nothing"]\nconcurrent = 2')
    told = r"failed at once and in the same way \(its setup failed: .*setup failed: module-load nothing\)"
    with Campaign(found) as campaign, pytest.raises(InputError, match=told):
        campaign.run()
    assert len([job for job in place.iterdir() if job.is_dir()]) <= 4


def test_a_run_that_its_jobs_limit_ends_says_so(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps = _study(tmp_path, 'time_limit = "2min"', "[1, 60]", "import sys, time; time.sleep(int(sys.argv[1]))")
    monkeypatch.setattr("evenly.launch.batch._within_limit", lambda task: dataclasses.replace(task, timeout_s=3.0))
    with Campaign(sleeps) as campaign:
        campaign.run()
        records = campaign.store.records()
    assert place.exists()
    assert [(r.status, r.message) for r in records] == [
        ("ok", ""), ("timed out", "it was ended after 3 s, before the time limit of its job")
    ]  # fmt: skip


def test_what_a_jobs_limit_leaves_to_the_program(tmp_path: Path, place: Path) -> None:
    assert place.exists()
    assert Runner(_study(tmp_path, 'time_limit = "2min"')).cut_after_s({"n": 1}) == 60.0
    assert Runner(_study(tmp_path, 'time_limit = "{n + 1}min"')).cut_after_s({"n": 1}) == 60.0
    assert Runner(_study(tmp_path, 'time_limit = "1h"')).cut_after_s({"n": 1}) is None
    assert Runner(_study(tmp_path, "")).cut_after_s({"n": 1}) is None


@pytest.mark.parametrize(
    ("asked", "slurm", "lsf", "pbs"),
    [
        ({"nodes": 4}, ["--ntasks=4", "--nodes=4"], "4", "select=4:ncpus=1:mpiprocs=1"),
        ({"ranks_per_node": 4}, ["--ntasks=4", "--ntasks-per-node=4"], "4", "select=1:ncpus=4:mpiprocs=4"),
        ({"nodes": 2, "ranks_per_node": 4}, ["--ntasks=8", "--nodes=2", "--ntasks-per-node=4"], "8",
         "select=2:ncpus=4:mpiprocs=4"),
    ],
)  # fmt: skip
def test_a_program_that_starts_its_own_ranks_gets_room_for_them(
    asked: dict[str, Any], slurm: list[str], lsf: str, pbs: str
) -> None:
    made = Task(("srun", "solve"), "m", resources=Resources(**asked))
    assert [one for one in _batch("slurm").submission(made) if "ntasks" in one or "nodes" in one] == slurm
    given = _batch("lsf").submission(made)
    assert given[given.index("-n") + 1] == lsf
    assert pbs in _batch("pbs").submission(made)
    if "ranks_per_node" not in asked:
        assert "--nslots=4" in _batch("flux").submission(made)


def test_only_jobs_of_this_campaign_are_said_to_be_stuck() -> None:
    queue = _Queue(lambda: [Waiting("231", "PartitionConfig"), Waiting("232", "QOSLimit")], "Slurm")
    with pytest.warns(EvenlyWarning, match="QOSLimit") as told:
        lacking = [queue.lacks("232", 0.0) for _ in range(2)]
    assert lacking == [False, False]
    assert len(told) == 1
    with pytest.warns(EvenlyWarning, match="Slurm says of job 231: PartitionConfig"):
        queue.lacks("231", 0.0)
