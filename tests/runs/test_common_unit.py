"""One unit for a column of times and for the text beside it."""

from __future__ import annotations

import pytest

from evenly.runs.durations import common_unit


@pytest.mark.parametrize(
    ("seconds", "own", "unit"),
    [
        ([812.0, 431.0, 101.0], 113.0, "s"),  # people say 113 s, and a deadline may be 60 s
        ([812.0, 431.0, 101.0], 130.0, "min"),
        ([250_000.0, 2832.0], 2832.0, "h"),
        ([1_300_000.0, 29_000.0], 29_000.0, "h"),  # nobody says 0.335 d
        ([1_300_000.0, 190_000.0], 190_000.0, "d"),
        ([12_690.0, 113.0], 113.0, "s"),  # 0.03 h would be hard to read
        ([float("inf"), 0.004], 0.004, "ms"),
        ([float("inf")], 2.0, "s"),
    ],
)
def test_the_unit_suits_the_largest_time_unless_the_own_one_gets_too_small(
    seconds: list[float], own: float, unit: str
) -> None:
    assert common_unit(seconds, own)[1] == unit
