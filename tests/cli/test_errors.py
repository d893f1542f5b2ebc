"""What the commands say when a user errs: one sentence, no traceback, the right exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenly.cli import app
from tests.cli.conftest import Evenly

BAD_INPUT = [
    ["read"],
    ["read", "nothing-here"],
    ["read", "empty"],
    ["read", "pulse", "--format", "nonsense"],
    ["read", "broken.csv"],
    ["fit", "pulse", "--method", "nonsense"],
    ["fit", "pulse", "--method", "power-law", "--terms", "2"],
    ["fit", "pulse", "--train", "colour == 3"],
    ["fit", "pulse", "--train", "import os"],
    ["fit", "pulse", "--exponents", "1:0"],
    ["fit", "pulse", "--effort", "none"],
    ["predict", "pulse"],
    ["predict", "pulse", "--at", "cores"],
    ["predict", "pulse", "--at", "level=3"],
    ["predict", "missing.evenly", "--at", "cores=3"],
    ["predict", "pulse/inner.csv", "--file", "missing.csv"],
    ["allocate", "pulse"],
    ["allocate", "pulse", "--cores", "many"],
    ["allocate", "pulse", "--cores", "10", "--layout", "max(inner, outer"],
    ["allocate", "pulse", "--cores", "10", "--layout", "max(inner, other)"],
    ["allocate", "pulse", "--cores", "10", "--min", "other=3"],
    ["allocate", "pulse", "--cores", "10", "--min", "inner=x"],
    ["allocate", "pulse", "--cores", "10", "--within", "much"],
    ["allocate", "pulse", "--cores", "10", "--memory", "96"],
    ["allocate", "pulse", "--cores", "10", "--memory", "96 apples"],
    ["allocate", "pulse", "--cores", "10", "--jitter"],
    ["allocate", "pulse", "--cores", "10", "--machine", "missing.toml"],
    ["allocate", "pulse", "--cores", "10,20", "--minimise", "cost"],
    ["plot", "pulse", "--surface", "cores"],
    ["plot", "pulse", "--plot-format", "docx"],
    ["plot", "pulse", "--into", "broken.csv/plots"],
    ["example", "nothing"],
    ["sort", "nothing-here", "--into", "case"],
    ["nonsense"],
    ["read", "pulse", "--nonsense"],
]


@pytest.mark.parametrize("arguments", BAD_INPUT, ids=" ".join)
def test_bad_input_exits_with_2_and_one_message(evenly: Evenly, pulse: Path, arguments: list[str]) -> None:
    pulse.rename("pulse")
    Path("empty").mkdir()
    Path("broken.csv").write_text("cores,seconds\n1,2\n2,abc\n")
    shown = evenly(*arguments)
    assert shown.code == 2, shown.out + shown.err
    assert "Traceback" not in shown.err
    assert shown.err.strip()
    assert not shown.out.strip()


NO_ANSWER = [
    (["--cores", "1"], "cores"),
    (["--cores", "10", "--min", "inner=11"], "inner"),
    (["--cores", "10", "--allowed", "outer=480,960"], "outer"),
    (["--cores", "560", "--max-seconds", "0.001"], "0.001"),
]


@pytest.mark.parametrize(("arguments", "named"), NO_ANSWER)
def test_no_answer_exits_with_1_and_names_the_constraint(
    evenly: Evenly, pulse: Path, arguments: list[str], named: str
) -> None:
    shown = evenly("allocate", pulse, "--method", "power-law", *arguments)
    assert shown.code == 1, shown.out + shown.err
    assert named in shown.err


def test_a_bad_file_does_not_stop_the_others(evenly: Evenly, pulse: Path) -> None:
    (pulse / "third.csv").write_text("cores,seconds\n1,2\n2,abc\n")
    shown = evenly("read", pulse)
    assert shown.code == 0
    assert "third.csv, line 3" in shown.err
    assert "inner" in shown.out


def test_quiet_leaves_only_the_result(evenly: Evenly, pulse: Path) -> None:
    shown = evenly("--quiet", "allocate", pulse, "--method", "power-law", "--cores", "560")
    assert shown.code == 0
    assert shown.err == ""


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m evenly --help | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [one for one in BAD_INPUT if one[0] not in ("plot", "sort")], ids=" ".join)
def test_an_error_is_json_where_json_was_asked_for(evenly: Evenly, pulse: Path, arguments: list[str]) -> None:
    pulse.rename("pulse")
    Path("empty").mkdir()
    Path("broken.csv").write_text("cores,seconds\n1,2\n2,abc\n")
    shown = evenly(*arguments, "--json")
    assert shown.code == 2, shown.out + shown.err
    told = shown.json["error"]
    assert told["exit_status"] == 2
    assert told["kind"]
    assert told["message"].split("\n")[0] in shown.err


@pytest.mark.parametrize("command", [*app._COMMANDS, *(f"{group} nonsense" for group in app._GROUPS)])
def test_a_usage_error_of_each_command_is_json(evenly: Evenly, command: str) -> None:
    shown = evenly(*command.split(), "--json", "--nonsense")
    assert shown.code == 2
    assert "nonsense" in shown.json["error"]["message"]


def test_an_answer_that_does_not_exist_is_json_too(evenly: Evenly, pulse: Path) -> None:
    shown = evenly("allocate", pulse, "--cores", "560", "--max-seconds", "1e-9", "--json")
    assert shown.code == 1
    assert shown.json["error"]["kind"] == "InfeasibleError"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_output_without_unicode_is_plain_text(pulse: Path, encoding: str) -> None:
    command = [sys.executable, "-m", "evenly", "allocate", str(pulse), "--cores", "560"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    shown = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "Traceback" not in shown.stderr.decode(encoding)
    assert "175" in shown.stdout.decode(encoding)
    if encoding == "ascii":
        assert b"..." in shown.stdout
