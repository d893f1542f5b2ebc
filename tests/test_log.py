"""The logger `evenly`: what is assumed and done, for programs that ask for it."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import evenly
from evenly import Integer, Space


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text("cores,wall_s\n8,1.2\n16,0.64\n")
    return path


def test_what_was_assumed_of_a_table_is_logged(table: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="evenly"):
        evenly.read(table)
    assert [record.name for record in caplog.records] == ["evenly"] * len(caplog.records)
    assert any("'wall_s' is the time in s" in record.getMessage() for record in caplog.records)


def test_each_run_of_a_search_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="evenly"):
        evenly.tune(Space(n=Integer(1, 4)), lambda one: float(one["n"]), budget=3, seed=0)
    assert [r.getMessage().split(":")[0] for r in caplog.records] == [f"run {n} of 3" for n in (1, 2, 3)]


def test_nothing_is_shown_unless_the_program_asks(table: Path) -> None:
    """Neither by default, nor twice by a command, which prints its notes itself."""
    script = f"import evenly; evenly.read({str(table)!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    shown = subprocess.run(
        [sys.executable, "-m", "evenly", "read", str(table)], capture_output=True, text=True, check=True
    )
    assert (shown.stdout + shown.stderr).count("'wall_s' is the time in s") <= 1
