"""Runs the command line in this process, so that it is measured, and catches what it prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evenly import cli, examples
from evenly.cli import console


@dataclass(frozen=True)
class Printed:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Evenly = Callable[..., Printed]


@pytest.fixture
def evenly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Evenly:
    """Return a function that runs ``evenly ARGUMENTS`` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    # The console may have been made, and measured, by an earlier test.
    monkeypatch.setattr(console.out, "width", 100)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str | Path) -> Printed:
        monkeypatch.setattr(sys, "argv", ["evenly", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        printed = capsys.readouterr()
        code = exit_.value.code
        return Printed(0 if code is None else int(code), printed.out, printed.err)

    return run


@pytest.fixture
def pulse(tmp_path: Path) -> Path:
    """The shipped example: two solvers, seven core counts each."""
    return examples.copy("gaussian-pulse", tmp_path)
