"""Times and the speed-ups beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan

ROWS = "8,1516.2,1.00\n16,770.6,1.97\n32,412.2,3.68\n64,{},6.78\n128,134.2,11.30\n256,91.3,{}\n"


def _read(folder: Path, text: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path, **options)


@pytest.mark.parametrize("name", ["speedup", "Speed-up"])
def test_a_time_that_its_speed_up_contradicts_is_asked_about(tmp_path: Path, name: str) -> None:
    text = f"cores,time_s,{name}\n{ROWS.format('301.9', '16.60')}"
    with pytest.raises(ReadError, match=rf"line 5: the time '301.9' and its {name} '6.78' contradict .*--time time_s"):
        _read(tmp_path, text)
    assert len(_read(tmp_path, text, time="time_s").runs[""]) == 6


def test_speed_ups_that_are_rounded_or_relative_to_several_runs_are_left_alone(tmp_path: Path) -> None:
    for ends in (("223.6", "16.60"), ("236", "16.60"), ("301.9", "20")):
        assert len(_read(tmp_path, f"cores,time_s,speedup\n{ROWS.format(*ends)}").runs[""]) == 6
