"""Ctrl-C while a package is imported, or in code that C calls, is heeded a moment later and without a traceback."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenly.cli.app import app
from evenly.cli.interruptions import heeded

SLOW = """
import os, signal, time
class Name:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
        # Python code must run for the handler to be called.
        for _ in range(1000): pass
class Owner:
    name = Name()
try:
    time.sleep(0.05)
except BaseException as error:
    raise ImportError("initialization failed") from error
done = True
"""


def wait() -> None:
    time.sleep(30)


def test_an_import_is_finished_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)

    def work() -> None:
        import slow_to_import  # type: ignore[import-not-found]

        assert slow_to_import.done
        wait()

    with pytest.raises(KeyboardInterrupt), heeded():
        work()
    assert "slow_to_import" in sys.modules
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_import_without_end_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hanging_import.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("evenly.cli.interruptions._PATIENCE_S", 0.1)
    with pytest.raises(KeyboardInterrupt), heeded():
        import hanging_import  # type: ignore[import-not-found]  # noqa: F401


def test_what_c_swallows_comes_again(capfd: pytest.CaptureFixture[str]) -> None:
    def press() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return sum(range(1000))

    def work() -> None:
        ctypes.CFUNCTYPE(ctypes.c_int)(press)()
        wait()

    with pytest.raises(KeyboardInterrupt), heeded():
        work()
    assert capfd.readouterr().err == ""


def test_ctrl_c_while_the_command_line_is_parsed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("typer.core.TyperGroup.make_context", press)
    with pytest.raises(SystemExit) as end:
        app(["doctor"])
    assert (end.value.code, capsys.readouterr().err) == (130, "interrupted\n")


@pytest.mark.parametrize("package", ["typer", "pandas", "numba"])
def test_the_program_ends_with_one_line(package: str, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("cores,seconds\n" + "".join(f"{n},{100 / n}\n" for n in (8, 16, 32, 64, 128)))
    # Pressed as soon as the package is looked for: within its import.
    code = f"""
import os, signal, sys
class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r} and Press in map(type, sys.meta_path):
            sys.meta_path.remove(press)
            os.kill(os.getpid(), signal.SIGINT)
press = Press()
sys.meta_path.insert(0, press)
sys.argv = ["evenly", "predict", "runs.csv", "--method", "gp", "--at", "cores=20"]
from evenly.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith("note: ")] == ["interrupted"]
