"""``evenly doctor``."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Evenly


def test_it_fails_where_something_is_bad(evenly: Evenly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EVENLY_MPIEXEC", str(launcher))
    done = evenly("doctor", "--json")
    assert done.code == 1
    assert {one["name"]: one["verdict"] for one in done.json["findings"]}["two ranks"] == "bad"
    assert [path.name for path in tmp_path.iterdir()] == ["mpiexec"]
    assert evenly("doctor", "none").code == 2
