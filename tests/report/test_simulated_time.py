"""Times of a step in the units of climate models, by their definitions."""

from __future__ import annotations

import pytest

from evenly.errors import InputError
from evenly.report.simulated_time import Written, written


@pytest.mark.parametrize(
    ("unit", "days", "seconds", "cores", "value"),
    [
        ("SYPD", 365.0, 8640.0, 10, 10.0),  # a year in a tenth of a day
        ("SYPD", 1.0, 86_400 / 365, 10, 1.0),  # 365 days in a day
        ("CHSY", 365.0, 7200.0, 10, 20.0),  # two hours on ten cores
        ("CHSY", 1.0, 3600.0, 2, 730.0),
        ("s/day", 365.0, 3650.0, 1, 10.0),
        ("s/day", 0.5, 5.0, 1, 10.0),
    ],
)
def test_units_follow_their_definitions(unit: str, days: float, seconds: float, cores: int, value: float) -> None:
    assert Written(unit, days).value(seconds, cores) == pytest.approx(value)  # type: ignore[arg-type]


def test_a_rate_turns_its_interval_round() -> None:
    assert Written("SYPD", 365.0).between((8640.0, 86_400.0), 1) == "1 … 10 SYPD"
    assert Written("s/day", 1.0).between((2.0, 4.0), 1) == "2 … 4 s per simulated day"


def test_a_unit_of_simulated_time_needs_the_days_of_a_step() -> None:
    with pytest.raises(InputError, match=r"how many days a step simulates: give step_days \(--step-days\)"):
        written("CHSY", None, [1.0])
    with pytest.raises(InputError, match="must be one of SYPD, CHSY, s/day"):
        written("years", 1.0, [1.0])  # type: ignore[arg-type]
