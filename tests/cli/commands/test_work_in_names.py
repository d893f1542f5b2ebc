"""Names of files may say that their times are of different work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Evenly


def _written(first: str, second: str, time: str = "wall_s") -> None:
    Path("runs").mkdir()
    for name, work in ((first, 6000), (second, 2400)):
        rows = "".join(f"{cores},{work / cores + 1:.4f}\n" for cores in (48, 96, 192, 384))
        Path("runs", f"{name}.csv").write_text(f"cores,{time}\n{rows}")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("atm_1month", "ocn_1year"),
        ("atm_10days", "ocn_30d"),
        ("5y_atm", "1y_ocn"),
        ("atm-6mon", "ocn-1yr"),
        ("atm_100steps", "ocn_1000steps"),
        ("atm_5d", "ocn_1d"),
        ("atm_month", "ocn_year"),
        ("atm_ndays5", "ocn_ndays30"),
        ("atm_5tage", "ozean_30tage"),
    ],
)
def test_names_of_different_work_are_asked_about(evenly: Evenly, first: str, second: str) -> None:
    # A month of one solver beside a year of the other gave 181 cores to the one that needs 783.
    _written(first, second)
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "different work" in shown.err
    assert first in shown.err
    assert evenly("allocate", "runs", "--cores", "1000", "--parameters", "cores").code == 0


@pytest.mark.parametrize(
    ("first", "second", "time"),
    [
        ("atm_30d", "ocn_1month", "wall_s"),
        ("atm_1year", "ocn_1year", "wall_s"),
        ("atm_1year", "ocn", "wall_s"),
        ("atm_2d", "ocn_3d", "wall_s"),
        ("atm_d3", "ocn_y2", "wall_s"),
        ("atm_1month", "ocn_1year", "time (h/year)"),
        ("atm_1month", "ocn_1year", "SYPD"),
    ],
)
def test_other_names_are_not(evenly: Evenly, first: str, second: str, time: str) -> None:
    _written(first, second, time)
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert "different work" not in shown.err
    assert shown.code == 0
