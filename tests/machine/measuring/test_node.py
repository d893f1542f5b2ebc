"""Which cores are busy with other things."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evenly.machine.measuring import node


def test_what_was_computed_before_does_not_count_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The load average does count it."""
    used = iter([100.0, 101.0])
    clock = iter([0.0, 0.5, 0.5])
    monkeypatch.setattr(node, "_used_s", lambda: next(used))
    monkeypatch.setattr(node, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(node, "sleep", lambda _seconds: None)
    monkeypatch.setattr(os, "getloadavg", lambda: (7.0, 7.0, 7.0))
    assert node.busy_cores() == 2.0
    monkeypatch.setattr(node, "_used_s", lambda: None)
    assert node.busy_cores() == 7.0


def test_idle_and_waiting_cores_do_not_work(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 20 30 9999 888 4 5 6 70 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n", encoding="ascii")
    assert node._used_s(stat) == pytest.approx(165 / os.sysconf("SC_CLK_TCK"))
    assert node._used_s(tmp_path / "none") is None
