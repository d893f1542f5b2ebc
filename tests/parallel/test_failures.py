"""A rank that fails, in any way, ends the whole job: its own text, a status, no processes left."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenly.errors import InputError, MissingExtraError
from evenly.fdtd.ranks.launch_output import MARK
from evenly.fdtd.ranks.launching import Launcher, find_launcher, launch, launch_python
from evenly.fdtd.ranks.watching import follow, job_processes
from tests.parallel.ranks import QUIET, start_ranks

FAILING = """
    import os, signal, sys, threading, time
    from evenly.errors import InputError
    from evenly.fdtd.ranks import parallel

    world = parallel.world()
    world.barrier()
    if world.rank == int(sys.argv[1]):
        {action}
    world.barrier()
    time.sleep(100)
"""
HANGING = """
    import os, sys, time
    import numpy as np
    from mpi4py import MPI
    from evenly.fdtd.ranks import parallel

    world = parallel.world()
    world.barrier()
    if world.rank == 0:
        open(sys.argv[1], "w").write(os.environ["EVENLY_JOB"])
    if sys.argv[2] == "python":
        time.sleep(100 if world.rank == 0 else 0)
        world.barrier()
    else:
        MPI.COMM_WORLD.Recv(np.zeros(1), source=(world.rank + 1) % world.size)
"""
LAUNCH = """
import sys
from evenly.fdtd.ranks import launching, watching
watching.GRACE_S = float(sys.argv[1])
sys.exit(launching.launch_python(sys.argv[3:], int(sys.argv[2])).status)
"""


@pytest.mark.parametrize(
    ("action", "status", "text"),
    [
        ("raise InputError('the rule was broken')", 2, "rank 1 of 4: the rule was broken\n"),
        ("raise KeyboardInterrupt", 130, "rank 1 of 4: interrupted\n"),
        ("os.kill(os.getpid(), signal.SIGTERM)", 143, "rank 1 of 4: ended by SIGTERM\n"),
        ("sys.exit(3)", 3, ""),
        ("raise SystemExit(4)", 4, ""),
        ("sys.exit('no such thing')", 1, "no such thing\n"),
    ],
)
def test_one_failing_rank_ends_the_job_with_its_text_once(action: str, status: int, text: str) -> None:
    job = start_ranks(4, FAILING.format(action=action), "1")
    assert (job.status, job.errors) == (status, text)
    assert job.seconds < 10


def test_a_killed_rank_is_named_with_its_host_and_what_was_saved(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from evenly import fdtd

        sim = fdtd.Simulation(cell=(2, 2, 0), resolution=10)
        kill = fdtd.at_every(lambda sim: fdtd.my_rank() and os.kill(os.getpid(), signal.SIGKILL), steps=25)
        saving = [fdtd.Checkpoints(sys.argv[1], steps=10)] if len(sys.argv) > 1 else []
        sim.run(until=9.0, callbacks=[*saving, kill], progress="off")
    """
    unsaved, saved = start_ranks(2, script), start_ranks(2, script, str(tmp_path / "state"))
    assert (unsaved.status, saved.status) == (9, 9)
    for job in (unsaved, saved):
        assert job.errors.splitlines()[-1].startswith(
            f"rank 1 on host {platform.node()} was killed: Killed (signal 9). "
        )
        assert "supervisor" not in job.errors
    assert "No checkpoint was saved: start the job again" in unsaved.errors
    assert f"The last checkpoint is {tmp_path / 'state'}, of step 20: " in saved.errors
    assert f"`sim.load('{tmp_path / 'state'}')` before `sim.run`" in saved.errors


@pytest.mark.parametrize(
    "action", ["os._exit(0)", "os.execv('/bin/true', ['true'])", "sys.stderr.write('no end of line'); os._exit(0)"]
)
def test_a_rank_that_leaves_before_its_end_without_an_error_fails_the_job(action: str) -> None:
    job = start_ranks(3, FAILING.format(action=action), "1")
    reason = job.errors.splitlines()[-1]
    # A launcher may see first that it killed another rank itself.
    if job.status != 9:
        assert job.status == 1
        named = reason.partition(f"rank 1 on host {platform.node()}")[0]
        assert named in ("", f"rank 0 on host {platform.node()}, or ")
        assert "ended before its script did, without an error" in reason
    assert "supervisor" not in job.errors
    assert job.seconds < 10


def test_a_rank_that_its_launcher_misses_ends_the_job() -> None:
    rank = """
import os, platform
from evenly.fdtd.ranks.launch_output import process_space, tell_supervisor
tell_supervisor(rank={rank}, host=platform.node(), pid=os.getpid(), space=process_space())
import time; time.sleep({seconds})
"""
    launcher = """
import subprocess, sys
ranks = [subprocess.Popen([sys.executable, "-c", text]) for text in sys.argv[1:]]
for each in ranks:
    each.wait()
"""
    texts = [rank.format(rank=0, seconds=100), rank.format(rank=1, seconds=0)]
    job = follow([sys.executable, "-c", launcher, *texts], echo=False, timeout_s=60)
    assert job.status == 1
    assert job.errors.startswith(f"rank 1 on host {platform.node()} ended before its script did, without an error")
    assert job.seconds < 15


def test_ranks_that_all_leave_before_their_end_are_named() -> None:
    job = start_ranks(2, "import os; from evenly.fdtd import all_wait; all_wait(); os._exit(0)")
    assert job.status == 1
    assert "ended before" in job.errors


@pytest.mark.parametrize(
    "ending",
    [
        "sys.exit(0)",
        "sys.stderr.write('no end of line')",
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 2)",
        "sys.stderr.close()",
        "sys.stderr.write('x' * 300_000)",
        "os.fork() or os._exit(0)",
    ],
)
def test_ranks_that_end_their_scripts_succeed(ending: str) -> None:
    job = start_ranks(3, f"import os, sys; from evenly.fdtd import all_wait; all_wait(); {ending}")
    assert job.status == 0, job.errors
    assert "supervisor" not in job.errors
    assert "ended before" not in job.errors


@pytest.mark.parametrize("action", ["1 / 0", "threading.Thread(target=lambda: 1 / 0).start()"])
def test_any_other_error_is_shown_with_its_traceback(action: str) -> None:
    job = start_ranks(2, FAILING.format(action=action), "1")
    assert job.status == 1
    assert job.seconds < 10
    assert job.errors.startswith("rank 1 of 2: Traceback")
    assert job.errors.endswith("ZeroDivisionError: division by zero\n")
    assert job.errors.count("Traceback") == 1
    assert "runpy" not in job.errors


def test_more_ranks_than_the_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"10,000,000 ranks on this machine would take .* start fewer, or set"):
        launch_python(["script.py"], 10_000_000)
    monkeypatch.setenv("EVENLY_MOST_RANKS", "2")
    with pytest.raises(InputError, match="EVENLY_MOST_RANKS=10000000"):
        launch_python(["script.py"], 10_000_000)
    monkeypatch.setenv("EVENLY_MOST_RANKS", "many")
    with pytest.raises(InputError, match="must be a number of ranks, got 'many'"):
        launch_python(["script.py"], 3)


def test_ranks_are_started_whatever_is_free_if_the_user_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenly.memory.free_bytes", lambda: 1.0)
    for name, value in (("EVENLY_MOST_RANKS", "5"), ("SLURM_JOB_ID", "7")):
        with pytest.raises(InputError, match="5 ranks on this machine"):
            launch([sys.executable, "-c", ""], 5, echo=False)
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert launch([sys.executable, "-c", "print(1)"], 5, echo=False).output.count("1") == 5


@pytest.mark.parametrize("first", [0, 1])
def test_a_mistake_of_all_ranks_is_reported_by_one(first: int) -> None:
    script = f"""
        from evenly.errors import InputError
        from evenly.fdtd.ranks import parallel
        if parallel.my_rank() >= {first}:
            raise InputError("all alike")
        parallel.all_wait()
    """
    job = start_ranks(8, script)
    assert (job.status, job.errors) == (2, f"rank {first} of 8: all alike\n")


def test_a_failure_before_anything_parallel_ends_the_job_too() -> None:
    script = """
        import os, time
        if os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")) == "2":
            import no_such_module
        from evenly.fdtd.ranks import parallel
        parallel.all_wait()
    """
    job = start_ranks(4, script)
    assert job.status == 1
    assert job.seconds < 10
    assert job.errors.startswith("rank 2 of 4: Traceback")
    assert "No module named 'no_such_module'" in job.errors


def test_a_script_that_can_not_be_compiled_is_reported_once() -> None:
    job = start_ranks(4, "x = (\n")
    assert job.errors.count("SyntaxError: '(' was never closed") == 1
    assert "Traceback" not in job.errors


def test_a_caught_exit_is_no_failure() -> None:
    script = """
        import sys
        from evenly.fdtd.ranks import parallel
        parallel.all_wait()
        try:
            sys.exit(3)
        except SystemExit:
            print("caught")
    """
    job = start_ranks(2, script)
    assert (job.status, job.output.split()) == (0, ["caught", "caught"])


@pytest.mark.parametrize("where", ["parallel.all_wait()", "parallel.merge_subgroup_data([1.0])"])
def test_a_rank_that_exits_with_a_failure_ends_ranks_that_wait_for_it(where: str) -> None:
    script = f"""
        import sys
        from evenly.fdtd.ranks import parallel
        parallel.all_wait()
        if parallel.my_rank() == 1:
            sys.exit(3)
        {where}
    """
    job = start_ranks(2, script)
    assert job.status == 3


def _wait_for_mark(path: Path) -> str:
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        if path.exists() and len(path.read_text()) == 32:
            return path.read_text()
        time.sleep(0.02)
    pytest.fail("the ranks did not start")


@pytest.mark.skipif(
    sys.platform != "linux", reason="the processes of a job are found in /proc, which only Linux has in this form"
)
@pytest.mark.parametrize("where", ["python", "mpi"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_job_leaves_no_process_behind(
    tmp_path: Path, where: str, number: signal.Signals, status: int
) -> None:
    (tmp_path / "hanging.py").write_text("\n".join(line[4:] for line in HANGING.splitlines()))
    mark_file = tmp_path / "mark"
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, "2", "3", str(tmp_path / "hanging.py"), str(mark_file), where],
        env={**os.environ, **QUIET},
        stderr=subprocess.PIPE,
        text=True,
    )
    mark = _wait_for_mark(mark_file)
    assert len(job_processes(mark)) >= 3
    begin = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == status
    assert time.monotonic() - begin < 10
    assert job_processes(mark) == []
    said = {130: "interrupted", 143: "ended by SIGTERM"}[status]
    if where == "python":
        assert errors == f"rank 0 of 3: {said}\n"
    else:
        # Ranks that are stuck inside MPI can't say anything; one that wasn't there yet can.
        assert set(errors.splitlines()) <= {f"rank {rank} of 3: {said}" for rank in range(3)}


def test_a_second_signal_kills_at_once(tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text("\n".join(line[4:] for line in HANGING.splitlines()))
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, "20", "2", str(tmp_path / "hanging.py"), str(tmp_path / "mark"), "mpi"],
        env={**os.environ, **QUIET},
    )
    mark = _wait_for_mark(tmp_path / "mark")
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert time.monotonic() - begin < 10
    assert job_processes(mark) == []


def test_a_job_ends_when_its_time_is_up() -> None:
    job = start_ranks(2, "import time; time.sleep(100)", timeout_s=2)
    assert (job.status, job.timed_out) == (124, True)
    assert job.seconds < 10


def test_ranks_get_arguments_folder_and_variables(tmp_path: Path) -> None:
    (tmp_path / "show.py").write_text("import os, sys; print(sys.argv[1:], os.getcwd(), os.environ['MINE'])")
    job = launch_python(["show.py", "a b"], 1, environment={"MINE": "yes"}, folder=tmp_path, echo=False, timeout_s=60)
    assert job.output == f"['a b'] {tmp_path} yes\n"


def test_output_is_passed_on_as_it_comes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "show.py").write_text("import sys; print('für', end=''); print('=' * 100); sys.stderr.write('e\\rf')")
    job = launch_python([str(tmp_path / "show.py")], 1, timeout_s=60)
    assert (job.output, job.errors) == ("für" + "=" * 100 + "\n", "e\rf")


def test_a_missing_launcher_names_the_command_that_installs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evenly\[mpi\]'"):
        find_launcher()


def test_a_launcher_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "mpirun"
    fake.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("EVENLY_MPIEXEC", str(fake))
    assert find_launcher() == Launcher(str(fake), "openmpi")
    monkeypatch.setenv("EVENLY_MPIEXEC", str(tmp_path / "none"))
    with pytest.raises(InputError, match="EVENLY_MPIEXEC must name a launcher that exists"):
        find_launcher()


@pytest.mark.parametrize("ranks", [0, -1, 2.0, True])
def test_a_number_of_ranks_must_be_whole_and_positive(ranks: int) -> None:
    with pytest.raises(InputError, match="`ranks` must be an integer of at least 1"):
        launch_python(["x.py"], ranks)


@pytest.mark.parametrize(
    ("kind", "ranks", "options"),
    [("openmpi", 4, ["--oversubscribe"]), ("openmpi", 2, []), ("hydra", 4, []), ("srun", 4, [])],
)
def test_only_open_mpi_must_be_told_to_crowd_the_cores(kind: str, ranks: int, options: list[str]) -> None:
    assert Launcher("run", kind).command(ranks, ["x"], cores=2) == ["run", *options, "-n", str(ranks), "x"]


def test_a_missing_mpi4py_is_named_on_ranks(tmp_path: Path) -> None:
    # A package of that name that can't be imported stands for a missing one.
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").write_text("raise ImportError('not here')")
    script = "from evenly.fdtd.ranks import parallel\nparallel.world()"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PMI_RANK": "0", "PMI_SIZE": "3", MARK: ""}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "Running on 3 MPI ranks needs packages that are not installed: pip install 'evenly[mpi]'" in run.stderr


def test_a_launcher_of_another_mpi_is_noticed() -> None:
    environment = {**os.environ, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}
    script = "from evenly.fdtd.ranks import parallel; print(parallel.world().size)"
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "The launcher started 4 ranks, but mpi4py's MPI library sees only this one" in run.stderr
    environment["EVENLY_MPI"] = "0"
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == "1\n"


def test_mpi_is_loaded_only_under_a_launcher() -> None:
    script = "import sys; from evenly.fdtd.ranks import parallel; print(parallel.world().size, 'mpi4py' in sys.modules)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EVENLY_MPI")}
    for forced, answer in (("", "1 False\n"), ("1", "1 True\n")):
        run = subprocess.run(
            [sys.executable, "-c", script], env={**environment, "EVENLY_MPI": forced}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert run.stdout == answer
