"""Durations: the forms that people, schedulers and programs write."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.runs.durations import format_hms, has_two_fields, is_duration, parse, two_fields_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("01:23:45", 5025), ("1:23:45.5", 5025.5), ("100:00:00", 360_000), ("5-00:00:26", 432_026),
        ("7-20:39:39", 679_179), ("1-02:30", 95_400), ("03:04.5", 184.5), ("2 days, 1:00:00", 176_400),
        ("PT1H2M3.5S", 3723.5), ("P1DT12H", 129_600), ("PT0S", 0), ("1h 2m 3s", 3723), ("1h2m3s", 3723),
        ("0m35.010s", 35.01), ("12.5 ms", 0.0125), ("640 s", 640), ("3.5e2 us", 3.5e-4), ("2 hours 5 minutes", 7500),
    ],
)  # fmt: skip
def test_a_duration_is_read_as_seconds(text: str, seconds: float) -> None:
    assert parse(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "640", "1e3", "abc", "12:75", "P", "PT", "3s 2h", "3 GiB", "n001", "-5 s", "1:2:3:4"]
)
def test_other_text_is_no_duration(text: str) -> None:
    assert math.isnan(parse(text))
    assert not is_duration(text)


def test_two_fields_are_a_question_that_others_may_answer() -> None:
    assert math.isnan(parse("12:30"))
    assert has_two_fields("12:30")
    assert two_fields_of(["12:30", "59:10"]) is None
    assert two_fields_of(["12:30", "1:02:10"]) == "mm:ss"
    assert two_fields_of(["12:30", "1-02:10", "1:00:10"]) is None  # they contradict each other


@given(st.integers(0, 10**7))
def test_what_is_written_is_read_again(seconds: int) -> None:
    assert parse(format_hms(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "00:00:00.000"),
        (599.6, "00:10:00"),
        (59.9999, "00:01:00"),
        (86_399.6, "1-00:00:00"),
        (-5, "-00:00:05.000"),
    ],
)
def test_seconds_are_rounded_before_they_are_split(seconds: float, text: str) -> None:
    assert format_hms(seconds) == text
