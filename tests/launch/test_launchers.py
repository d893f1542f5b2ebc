"""The contract of launchers, over those that start programs on this machine; tests/cluster has those of Slurm."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from evenly.errors import InputError
from evenly.fdtd.ranks.watching import job_processes
from evenly.launch import Launcher, Task, launcher_class, launcher_names
from evenly.launch.local import Local
from evenly.launch.mpi import MPI

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a process of one's choice")


@pytest.fixture(params=[name for name in launcher_names() if launcher_class(name).pins])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return launcher_class(request.param)()


def python(code: str, mark: str = "", **options: object) -> Task:
    # Tests of another process must not share a mark: what carries it is ended.
    return Task((sys.executable, "-c", code), mark or uuid.uuid4().hex, **options)  # type: ignore[arg-type]


def test_what_a_program_prints_and_how_it_ends_is_told(launcher: Launcher) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    outcome = launcher.run(python(code))
    assert (outcome.status, outcome.exit_code) == ("failed", 3)
    assert "out" in outcome.output
    assert "err" in outcome.errors


def test_folder_and_environment(launcher: Launcher, tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['COLOUR'])"
    outcome = launcher.run(python(code, folder=tmp_path, environment={"COLOUR": "red"}))
    assert outcome.output.split() == [str(tmp_path.resolve()), "red"]


def test_cpu_time_is_that_of_all_processes(launcher: Launcher) -> None:
    burn = "import time\nwhile time.process_time() < 0.4: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    outcome = launcher.run(python(code))
    assert outcome.status == "ok"
    # At least what the child burned, and of its parents no more than a few starts of Python.
    assert 0.4 <= outcome.cpu_seconds < 3
    assert outcome.seconds >= 0.4


def test_a_time_out_ends_all_that_a_program_started(launcher: Launcher, tmp_path: Path) -> None:
    # A grandchild in a session of its own, deaf to SIGTERM: a process group wouldn't find it.
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {deaf!r}], start_new_session=True)\n"
        "time.sleep(60)"
    )
    began = time.monotonic()
    mark = uuid.uuid4().hex
    outcome = launcher.run(python(code, mark=mark, timeout_s=1.0))
    assert outcome.status == "timed out"
    assert time.monotonic() - began < 20
    assert job_processes(mark) == []


@on_linux
@pytest.mark.parametrize("left", ["sleep 60 &", "sleep 0.3 &", "sleep 0.3 >/dev/null 2>&1 &"])
def test_a_run_whose_command_left_work_behind_has_failed(left: str) -> None:
    outcome = Local().run(Task(("sh", "-c", f"{left} echo started"), uuid.uuid4().hex))
    assert (outcome.status, outcome.output) == ("failed", "started\n")
    assert "still at work after its command had ended (sleep)" in outcome.reason


@pytest.mark.parametrize("left", ["sleep 0.1 &", "setsid sleep 60 &"], ids=["ends soon", "daemon"])
def test_what_ends_soon_and_daemons_are_no_work(left: str) -> None:
    outcome = Local().run(Task(("sh", "-c", f"{left} sleep 0.1"), uuid.uuid4().hex))
    assert (outcome.status, outcome.reason) == ("ok", "")
    assert outcome.details.get("daemons") == ("sleep" if "setsid" in left else None)


def test_nothing_is_left_of_a_program_that_ended_well(launcher: Launcher) -> None:
    code = "import subprocess as s; s.Popen(['sleep', '60'], stdout=-3, stderr=-3, start_new_session=True)"
    mark = uuid.uuid4().hex
    assert launcher.run(python(code, mark=mark)).status == "ok"
    assert job_processes(mark) == []


def test_a_missing_program_is_named(launcher: Launcher) -> None:
    for name in ("no-such-program", "./no-such-program"):
        with pytest.raises(OSError, match=r"[Nn]o such"):
            launcher.run(Task((name,), uuid.uuid4().hex))


def test_ranks() -> None:
    outcome = launcher_class("mpi")().run(python("print('rank')", ranks=3))
    assert outcome.output.count("rank") == 3


def test_unknown_launchers_are_refused() -> None:
    with pytest.raises(InputError, match="must be one of flux, local, lsf, mpi"):
        launcher_class("cloud")


# Each is what a program does to lose its parent, its session and its environment.
ESCAPES = {
    "another session, no environment": "subprocess.Popen(child, env={}, start_new_session=True)",
    "two forks": "os.fork() or (os.setsid(), os.fork() or os.execve(child[0], child, {}), os._exit(0))",
    "deaf": "subprocess.Popen(['setsid', '/bin/sh', '-c', \"trap '' TERM HUP INT; \" + ' '.join(child)], env={})",
}
ESCAPE = "import os, subprocess, sys, time\nchild = ['/bin/sleep', {seconds!r}]\n{how}\n{then}"


def sleepers(seconds: str) -> list[str]:
    """The processes that sleep so long; zombies have no command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if seconds.encode() in words:
                found.append(entry.name)
    return found


def wait_for(condition: Callable[[], object]) -> None:
    limit = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < limit, "waited for too long"
        time.sleep(0.02)


def unique() -> str:
    """Seconds to sleep that no other process sleeps."""
    return f"1000.{uuid.uuid4().int % 10**12:012}"


@on_linux
@pytest.mark.parametrize("how", ESCAPES.values(), ids=ESCAPES)
@pytest.mark.parametrize(
    ("then", "status"), [("time.sleep(1000)", "timed out"), ("print('done')", "ok"), ("sys.exit(3)", "failed")]
)
def test_nothing_escapes(how: str, then: str, status: str) -> None:
    seconds = unique()
    code = ESCAPE.format(seconds=seconds, how=how, then=f"time.sleep(0.2); {then}")
    assert Local().run(python(code, timeout_s=1.0)).status == status
    assert sleepers(seconds) == []


@on_linux
def test_nothing_escapes_from_ranks() -> None:
    seconds = unique()
    code = ESCAPE.format(seconds=seconds, how=ESCAPES["two forks"], then="time.sleep(1000)")
    assert MPI().run(python(code, timeout_s=1.0, ranks=2)).status == "timed out"
    assert sleepers(seconds) == []


DRIVER = """
import sys
from evenly.launch import Task, launcher_class
launcher_class(sys.argv[1])().run(Task((sys.executable, "-c", sys.argv[2]), "mark", timeout_s=1000.0))
"""


@on_linux
@pytest.mark.parametrize("how", ESCAPES.values(), ids=ESCAPES)
def test_nothing_is_left_of_a_killed_driver(launcher: Launcher, how: str) -> None:
    seconds = unique()
    code = ESCAPE.format(seconds=seconds, how=how, then="time.sleep(1000)")
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, launcher.name, code])
    wait_for(lambda: sleepers(seconds))
    driver.kill()
    driver.wait()
    wait_for(lambda: not sleepers(seconds))


@on_linux
def test_a_killed_supervisor_fails_the_run_and_leaves_nothing_marked() -> None:
    # The run's parent is its supervisor.
    code = (
        f"import os, signal, subprocess, time\nsubprocess.Popen(['sleep', '{unique()}'])\n"
        "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(1000)"
    )
    mark = uuid.uuid4().hex
    outcome = Local().run(python(code, mark=mark))
    assert (outcome.status, outcome.exit_code) == ("failed", 128 + signal.SIGKILL)
    assert job_processes(mark) == []


def test_a_time_out_ends_a_program_that_has_closed_its_output(launcher: Launcher) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(1000)"
    assert launcher.run(python(code, timeout_s=0.5)).status == "timed out"


def test_who_ended_in_time_did_not_time_out_by_what_it_left() -> None:
    # The child holds the output open for longer than the time-out.
    code = "import subprocess; subprocess.Popen(['setsid', 'sh', '-c', 'while :; do echo on; sleep 0.1; done'])"
    outcome = Local().run(python(code, timeout_s=1.0))
    assert outcome.status == "ok"
    assert outcome.seconds < 1.0


def test_a_program_gets_no_input_no_foreign_files_and_usual_signals() -> None:
    code = (
        "import os, signal, sys\n"
        "print(sys.stdin.read() == '', sorted(int(n) for n in os.listdir('/dev/fd')), os.getsid(0) == os.getpid())"
    )
    shown = Local().run(python(code)).output
    # 3 is the listed folder itself.
    assert shown == "True [0, 1, 2, 3] True\n"
    if sys.platform == "linux":
        told = Local().run(Task(("grep", "-E", "SigBlk|SigIgn", "/proc/self/status"), uuid.uuid4().hex)).output
        # What this process ignores because of the shell that started it stays ignored, but not what Python ignores.
        own = Path("/proc/self/status").read_text().partition("SigIgn:")[2].split()[0]
        python_s = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
        assert [int(line.split()[1], 16) for line in told.splitlines()] == [0, int(own, 16) & ~python_s]


def test_what_cannot_be_started_is_refused_as_by_the_system(tmp_path: Path) -> None:
    def refused(*command: str, **options: object) -> OSError:
        with pytest.raises(OSError) as raised:
            Local().run(Task(command, uuid.uuid4().hex, **options))  # type: ignore[arg-type]
        return raised.value

    (tmp_path / "closed").write_text("")
    error = refused(str(tmp_path / "closed"))
    assert (error.errno, error.filename) == (errno.EACCES, str(tmp_path / "closed"))
    error = refused("echo", folder=tmp_path / "none")
    assert (error.errno, error.filename) == (errno.ENOENT, str(tmp_path / "none"))
    assert refused("echo", "x" * 10_000_000).errno == errno.E2BIG
    with pytest.raises(ValueError, match="null"):
        Local().run(Task(("echo", "a\0b"), uuid.uuid4().hex))


def test_names_that_are_no_text_reach_the_program(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\xc3\xa4 \n'")
    folder = tmp_path / odd
    folder.mkdir()
    code = "import os, sys; print(ascii(sys.argv[1]), ascii(os.environ['A']), ascii(os.path.basename(os.getcwd())))"
    task = Task((sys.executable, "-c", code, odd), uuid.uuid4().hex, folder=folder, environment={"A": odd})
    assert Local().run(task).output == f"{odd!a} {odd!a} {odd!a}\n"
