"""Repeated runs of which the first one always took longest."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import scan

TIMES = {8: 1537.7, 16: 799.8, 32: 411.0, 64: 220.3}


def _write(folder: Path, slow: int) -> Path:
    path = folder / "runs.csv"
    rows = "".join(f"{p},{n},{t * (1.8 if n == slow else 1 + 0.01 * n)}\n" for p, t in TIMES.items() for n in (1, 2, 3))
    path.write_text(f"cores,run,time_s\n{rows}")
    return path


def test_a_first_run_that_warmed_up_may_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="if the first run of each warmed up") as asked:
        scan(_write(tmp_path, slow=1))
    condition = str(asked.value).split("--where '")[1].split("'")[0]
    assert condition == "run > 1"
    assert len(scan(tmp_path / "runs.csv", where=condition).runs[""]) == 8


def test_another_slow_run_is_no_warm_up(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="'run' is left out") as asked:
        scan(_write(tmp_path, slow=3))
    assert "warmed up" not in str(asked.value)
