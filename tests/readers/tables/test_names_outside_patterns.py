"""The part of a name outside a pattern's ``*`` tells units, rates and works as the name of a single column does."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers import scan

#: The seconds of a simulated day on 8 and on 16 cores.
_SECONDS = (40.0, 20.0)


def _wide(path: Path, name: str, values: tuple[float, float]) -> Path:
    rows = "".join(f"{cores},{value!r},{value!r}\n" for cores, value in zip((8, 16), values, strict=True))
    path.write_text(f"cores,{name.replace('*', 'atm')},{name.replace('*', 'ocn')}\n{rows}")
    return path


@pytest.mark.parametrize(
    ("pattern", "days", "factor", "power"),
    [
        ("SYPD *", 365.0, 86_400 / 365, -1),
        ("*_SYPD", 365.0, 86_400 / 365, -1),
        ("SDPD (*)", 1.0, 86_400, -1),
        ("*_min_per_month", 365 / 12, 365 / 12 / 60, 1),
        ("* h/year", 365.0, 365 / 3600, 1),
        ("* s/day", 1.0, 1.0, 1),
        ("s per simulated day *", 1.0, 1.0, 1),
        ("* [s/day]", 1.0, 1.0, 1),
    ],
)
def test_the_unit_and_the_work_outside_the_star_hold(
    tmp_path: Path, pattern: str, days: float, factor: float, power: int
) -> None:
    values = (factor * _SECONDS[0] ** power, factor * _SECONDS[1] ** power)
    found = scan(_wide(tmp_path / "a.csv", pattern, values), time=pattern, solver="*").runs
    assert [*found] == ["atm", "ocn"]
    assert [one.days for one in found.values()] == pytest.approx([days, days])
    assert (found["atm"].values / days).tolist() == pytest.approx([*_SECONDS])


def test_core_hours_of_solvers_are_divided_by_the_cores_beside_them(tmp_path: Path) -> None:
    chsy = (8 * 365 * 40 / 3600, 16 * 365 * 20 / 3600)
    found = scan(_wide(tmp_path / "a.csv", "*_CHSY", chsy), time="*_CHSY", solver="*").runs
    assert (found["ocn"].values / 365).tolist() == pytest.approx([*_SECONDS])


def test_a_rate_at_counts_side_by_side_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mesh,SYPD 8 cores,SYPD 16 cores\nfine,1,2\ncoarse,4,8\n")
    assert scan(path, time="SYPD * cores").runs[""].values.max() == pytest.approx(86_400)


@pytest.mark.parametrize("name", ["SYPD *", "* [min]"])
def test_a_unit_in_what_names_the_solvers_is_asked_about(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReadError, match="is a unit: write --time"):
        scan(_wide(tmp_path / "a.csv", name, (40.0, 20.0)), time="*", solver="*")


def test_a_rate_that_needs_a_unit_asks_for_it_beside_others(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="is a rate by its name"):
        scan(_wide(tmp_path / "a.csv", "steps/s *", (40.0, 20.0)), time="steps/s *", solver="*")
