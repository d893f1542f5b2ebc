"""The contract of launchers, over all of them."""

from __future__ import annotations

import sys
import time
import uuid
from pathlib import Path

import pytest

from evenly.errors import InputError
from evenly.fdtd.ranks.watching import job_processes
from evenly.launch import Launcher, Task, launcher_class, launcher_names


@pytest.fixture(params=launcher_names())
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


def test_nothing_is_left_of_a_program_that_ended_well(launcher: Launcher) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)"
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
    with pytest.raises(InputError, match="must be one of local, mpi"):
        launcher_class("cloud")
