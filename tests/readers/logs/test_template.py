"""Templates of lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.errors import InputError
from evenly.readers.logs.template import Template
from evenly.runs.durations import parse


@pytest.mark.parametrize(
    ("template", "line", "values"),
    [
        ("Total time = {seconds} s", "  Total   time\t=   5697.09 s \n", {"seconds": 5697.09}),
        ("Total time = {seconds} s", "Total time = 5697.09 s and more", None),
        ("Total time = {seconds} s ...", "Total time = 5697.09 s and more", {"seconds": 5697.09}),
        ("Total time = {seconds} s ...", "Total time = 5697.09 s", {"seconds": 5697.09}),
        ("Total time = {seconds} s ...", "Total time = 5697.09 sheep", None),
        ("... Total time {seconds}", "rank 0: Total time 1", {"seconds": 1.0}),
        ("... Total time {seconds}", "Total time 1", {"seconds": 1.0}),
        ("a ... b {x:int}", "a b 3", {"x": 3}),
        ("a ... b {x:int}", "a lot of b 3", {"x": 3}),
        ("{x} {:number}", "1.5D+02 .5", {"x": 150.0}),
        ("{x:int}", "1.5", None),
        ("{x}", "nan", None),
        ("{x}", "****", None),
        ("{name:text} Test v{:word}", "MPI-CUDA All-to-All Test v5.3", {"name": "MPI-CUDA All-to-All"}),
        ("Serial{ranks=1}{mode=none}", "Serial", {"ranks": 1, "mode": "none"}),
        ("(a|b) [x] {n:int}", "(a|b) [x] 7", {"n": 7}),
        ("took {s:duration}", "took 2h 9m", {"s": 7740.0}),
        ("took {s:duration} wall", "took 1-00:00:01 wall", {"s": 86401.0}),
    ],
)
def test_match(template: str, line: str, values: dict[str, object] | None) -> None:
    assert Template(template).match(line) == values


def test_a_name_of_a_file_holds_a_template_anywhere() -> None:
    name = Template("{nodes:int}nodes{ranks:int}tasks", within=True)
    assert name.match("benchmark_128nodes3072tasks1threads_201810081407.log") == {"nodes": 128, "ranks": 3072}
    assert name.match("benchmark.log") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{seconds:float}", "must be one of number, int, word, text, path, duration"),
        ("{seconds:nmber}", "did you mean 'number'"),
        ("{n:int:middle}", "first, last, most"),
        ("{1st}", "is no place for a value"),
        ("{=1}", "is no place for a value"),
        ("{a} {a}", "stands twice"),
        ("", "must be text"),
    ],
)
def test_what_is_no_template_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Template(text)


@given(st.integers(0, 50), st.integers(0, 23), st.integers(0, 59), st.integers(0, 5999))
def test_durations(days: int, hours: int, minutes: int, hundredths: int) -> None:
    exact = (((days * 24 + hours) * 60 + minutes) * 6000 + hundredths) / 100
    seconds = f"{hundredths // 100:02d}.{hundredths % 100:02d}"
    assert parse(f"{days}-{hours:02d}:{minutes:02d}:{seconds}") == exact
    assert parse(f"{days}d {hours}h{minutes}m {seconds}s") == exact


@given(st.floats(0, 1e12, allow_nan=False), st.text(st.characters(codec="ascii"), max_size=20))
def test_a_number_is_read_to_the_digit(value: float, around: str) -> None:
    line = f"{around} took {value!r} s"
    found = Template("... took {seconds} s").match(line)
    if "\n" not in around and "\r" not in around:
        assert found == {"seconds": value}
