"""Numbers that programs print, and their units."""

from __future__ import annotations

import pytest

from evenly.campaign.pattern import Pattern
from evenly.errors import EvenlyWarning, RunFailed

quiet = pytest.mark.filterwarnings("ignore::evenly.errors.EvenlyWarning")


@pytest.mark.parametrize(
    ("printed", "seconds"),
    [("400.0 ms", 0.4), ("400ms", 0.4), ("1.5 min", 90.0), ("2 s", 2.0), ("2", 2.0), ("2 min: 3", 2.0),
     ("2 s/step", 2.0), ("2 [ms]", 0.002), ("2 (total)", 2.0), ("2 s (45 %)", 2.0), ("2.", 2.0), ("2, done", 2.0),
     ("2 on 4 ranks", 2.0), ("2 for all of it", 2.0), ("2 loss 1.5", 2.0), ("2 cells=8", 2.0), ("2 sec.", 2.0)],
)  # fmt: skip
@quiet
def test_a_unit_right_behind_the_number_counts(printed: str, seconds: float) -> None:
    assert Pattern(r"time: ([\d.]+)").find(f"time: {printed}\n") == pytest.approx(seconds)


def test_a_unit_behind_the_number_is_said_or_contradicts() -> None:
    with pytest.warns(EvenlyWarning, match=r"are in ms: ms stands behind them"):
        Pattern(r"ticks: (\S+)").find("ticks: 400 ms")
    with pytest.raises(RunFailed, match=r'ms stands behind .* but the study says unit = "s"'):
        Pattern(r"time: (\S+)", "s").find("time: 400 ms")
    with pytest.raises(RunFailed, match=r"ns/ stands behind .* a time or a rate"):
        Pattern(r"speed: (\S+)").find("speed: 4 ns/day")
    assert Pattern(r"time: (\S+)", "ms").find("time: 4 ms/step") == 0.004


@pytest.mark.parametrize(
    ("pattern", "printed", "seconds"),
    [(r"([\d.]+)", "1.5e+01 msec", 0.015), (r"(\d+)", "1.9 s", 1.9), (r"([\d.]+)", ".1e-01 s", 0.01),
     (r".*(\d+)", "0.45 ms", 0.00045), (r"(\d+)", "0,450 s", 0.45), (r"(\d+)", "2 h 5 min", 7500.0),
     (r"([\d.]+)", "0m0.05s", 0.05), (r"(\d+)", "1:02:03", 3723.0), (r"(\d+)", "1,234,567 us", 1.234567)],
)  # fmt: skip
@quiet
def test_a_number_of_which_a_pattern_holds_a_part_is_taken_as_a_whole(
    pattern: str, printed: str, seconds: float
) -> None:
    assert Pattern(f"took {pattern}").find(f"took {printed}\n") == pytest.approx(seconds)


def test_that_a_pattern_holds_only_a_part_is_said() -> None:
    with pytest.warns(EvenlyWarning, match="holds only a part of a number: all of it is taken"):
        Pattern(r"elapsed ([\d.]+)").find("elapsed 1.5e+01 s")


@pytest.mark.parametrize(
    ("pattern", "printed", "told"),
    [(r"took (\d+)", "took 1,234 us", "only a part .* 1 of 1,234: let the brackets"),
     (r"took (\d+)", "took 1.2.3", "only a part"), (r"took (\d+)", "took 2:30", "only a part"),
     (r"took \d+:(\S+)", "took 1:12.5", "only a part .* 12.5 of 1:12.5")],
)  # fmt: skip
def test_a_part_of_what_may_mean_several_things_is_refused(pattern: str, printed: str, told: str) -> None:
    with pytest.raises(RunFailed, match=told):
        Pattern(pattern).find(printed)


@pytest.mark.parametrize(
    ("pattern", "printed", "seconds"),
    [(r"^100,(\S+)", "n,s\n100,0.45", 0.45), (r"took \d+:(\S+)", "took 0:12.5", 12.5), (r"(\d+),\d+", "5,250", 5.0),
     (r"\.(\d\S+)", "time....0.45", 0.45), (r"rank \d+:(\S+)", "rank 3:0.45", 0.45),
     (r"took \d+:\d+:(\S+)", "took 00:00:00.45 (h:m:s)", 0.45)],
)  # fmt: skip
@quiet
def test_marks_between_numbers_are_no_part_of_them(pattern: str, printed: str, seconds: float) -> None:
    assert Pattern(pattern).find(printed) == seconds


@pytest.mark.parametrize(
    ("pattern", "printed", "seconds"),
    [(r"Time \[ms\]: (\S+)", "Time [ms]: 0.45", 0.00045), (r"Time \(us\) = (\S+)", "Time (us) = 0.45", 0.45e-6),
     (r'"time_ms": ([\d.]+)', '{"n": 3, "time_ms": 0.45}', 0.00045),
     (r"wall_ms=(\S+)", "4 ranks wall_ms=0.45", 0.00045), (r"Minutes: (\S+)", "Minutes: 0.005", 0.3),
     (r"100\s+(\S+)", "   cells   time/ms\n   50  0.2\n   100   0.45", 0.00045),
     (r"Time \[s\]: (\S+)", "Time [s]: 0.45", 0.45), (r"took 3 ms, total (\S+)", "took 3 ms, total 0.45 s", 0.45)],
)  # fmt: skip
@quiet
def test_a_unit_before_the_number_counts(pattern: str, printed: str, seconds: float) -> None:
    assert Pattern(pattern).find(printed) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("pattern", "unit", "printed", "told"),
    [(r"Time \[ms\]: (\S+)", "s", "Time [ms]: 0.45", r"'Time \[ms\]' stands before .* the study says unit = \"s\""),
     (r"time_ms: (\S+)", "", "time_ms: 0.45 s", "another unit"),
     (r"SYPD: (\S+)", "", "SYPD: 4", r"'SYPD' stands before .* unit = \"SYPD\""),
     (r"ns/day: (\S+)", "", "ns/day: 4", r"unit = \"1/d\""), (r"mem \[GiB\]: (\S+)", "", "peak mem [GiB]: 4", "GiB"),
     (r"time min: (\S+)", "", "step time min: 0.45 max: 0.5", r"unit = \"min\""),
     (r"avg (\S+)", "", "avg 0.45 min 0.1 max 0.5", "min stands behind"),
     (r"took (\S+)", "", "took 0.45 Gcycles", "Gcycles stands behind .* may be a unit"),
     (r"took (\S+)", "", "took 0.005 m", "m stands behind"), (r"took (\S+)", "", "took 0.005 M", "M stands behind"),
     (r"took (\S+)", "", "took 0.1 kms\n", "kms stands behind"), (r"took (\S+)", "", "took 45 %", "% stands behind"),
     (r"took (\S+)", "", "took 45 it/s", r"it/s stands behind .* a rate, of which more is better: .* unit = \"1/s\""),
     (r"took (\S+)", "", "took 4 steps per minute", r"a rate, .* unit = \"1/min\""),
     (r"took (\S+)", "", "took 4 GFLOPS", r"unit = \"s\" if it is a time, or \"1/s\" if it is a rate"),
     (r"took (\S+)", "", "took 4 m^2", "m stands behind"),
     (r"took (\S+)", "", "took 45 cycles per step", "cycles stands behind"),
     (r"took (\S+)", "", "took 2 steps", "steps stands behind")],
)  # fmt: skip
def test_an_open_unit_is_asked_about(pattern: str, unit: str, printed: str, told: str) -> None:
    with pytest.raises(RunFailed, match=told):
        Pattern(pattern, unit).find(printed)


def test_a_unit_of_the_study_settles_what_is_open() -> None:
    assert Pattern(r"took (\S+)", "s").find("took 0.45 Gcycles") == 0.45
    assert Pattern(r"SYPD: (\S+)", "SYPD").find("SYPD: 86400") == 1.0
    assert Pattern(r"time min: (\S+)", "s").find("step time min: 0.45 max: 0.5") == 0.45


@quiet
@pytest.mark.parametrize(
    ("printed", "seconds"),
    [("0:00:05.2", 5.2), ("0m0.05s", 0.05), ("0,050", 0.05), ("1:30.5", 90.5), ("1.5D+00", 1.5), ("400ms", 0.4)],
)
def test_durations_are_read(printed: str, seconds: float) -> None:
    assert Pattern(r"took (\S+)").find(f"took {printed}\n") == pytest.approx(seconds)


def test_what_may_be_two_durations_is_refused() -> None:
    with pytest.raises(RunFailed, match=r"'12:30', which may be minutes and seconds, or hours and minutes"):
        Pattern(r"took (\S+)").find("took 12:30")
    with pytest.raises(RunFailed, match=r"'50,000', which may be a thousand or have a decimal comma"):
        Pattern(r"took (\S+)", "us").find("took 50,000 us")
    with pytest.raises(RunFailed, match=r"isn't in ms: leave unit out"):
        Pattern(r"took (\S+)", "ms").find("took 0:01:30")


def test_what_is_assumed_is_said() -> None:
    with pytest.warns(EvenlyWarning, match="have no unit and are taken as seconds"):
        Pattern(r"bare: (\S+)").find("bare: 4")
    with pytest.warns(EvenlyWarning, match="matches several numbers in the output of a run: the last one counts"):
        assert Pattern(r"many: (\S+) s").find("many: 4 s\nmany: 5 s") == 5
    with pytest.warns(EvenlyWarning, match=r"are in us: 'wall \[us\]' stands before them"):
        Pattern(r"\[us\]: (\S+)").find("wall [us]: 4")


@pytest.mark.parametrize("text", ["1_000", "١٢", "1e61", "1e-61", "nan", "inf"])
def test_what_is_no_plain_number_of_usual_size_is_no_time(text: str) -> None:
    with pytest.raises(RunFailed):
        Pattern(r"took (\S+)", "s").find(f"took {text}")
