"""A time beside simulated years per day tells how long each run was."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly import Runs
from evenly.errors import ReadError
from evenly.readers import scan

COUNTS = (16, 32, 64, 128)


def read(path: Path, **options: str) -> dict[str, Runs]:
    return dict(scan(path, **options).runs)


def table(path: Path, rows: list[str], header: str = "component,cores,wall_s,SYPD") -> Path:
    path.write_text("\n".join([header, *rows, ""]))
    return path


def row(name: str, cores: int, days: float, more: str = "", *, told: float | None = None) -> str:
    """Return a run of so many days, on a program whose day takes 2000 core-seconds; `told` days are those by SYPD."""
    seconds = days * 2000 / cores
    return f"{name},{cores},{more}{seconds:.3f},{(told or days) * 86400 / 365 / seconds:.3f}"


def test_times_of_runs_of_other_lengths_are_refused(tmp_path: Path) -> None:
    rows = [row("atm", p, 10) for p in COUNTS] + [row("ocn", p, 30) for p in COUNTS]
    path = table(tmp_path / "a.csv", rows)
    with pytest.raises(ReadError, match=r"makes 10 simulated days in some rows and 30 in others.*--time SYPD"):
        read(path)
    assert read(path, time="SYPD")["ocn"].values[0] == pytest.approx(365 * 2000 / 16, rel=1e-3)
    assert read(path, time="wall_s")["ocn"].values[0] == pytest.approx(30 * 2000 / 16)
    wide = [f"{row('', p, 10)[1:]},{row('', p, 30)[1:]}" for p in COUNTS]
    header = "atm_cores,atm_wall_s,atm_SYPD,ocn_cores,ocn_wall_s,ocn_SYPD"
    with pytest.raises(ReadError, match=r"take the columns of 'wall_s' out"):
        read(table(path, wide, header))


def test_times_of_runs_of_one_length_are_read(tmp_path: Path) -> None:
    rows = [row(name, p, 10) for name in ("atm", "ocn") for p in COUNTS]
    found = scan(table(tmp_path / "a.csv", rows))
    assert (found.runs["ocn"].values[0], found.runs["ocn"].days) == (pytest.approx(1250.0), 10.0)
    (said,) = (note for note in found.notes if "times 'SYPD'" in note)
    assert "makes 10 simulated days in all rows: each time is taken to be of 10" in said
    assert scan(tmp_path / "a.csv", parameters=["cores"]).runs["ocn"].days is None  # whoever names them knows better


def test_a_rate_tells_parts_of_a_day(tmp_path: Path) -> None:
    rows = [row("atm", p, 1 / 96) for p in COUNTS]
    assert read(table(tmp_path / "a.csv", rows))["atm"].days == pytest.approx(1 / 96)


def test_times_of_several_lengths_that_are_asked_for_are_told(tmp_path: Path) -> None:
    rows = [row("atm", p, 10) for p in COUNTS] + [row("ocn", p, 30) for p in COUNTS]
    found = scan(table(tmp_path / "a.csv", rows), time="wall_s")
    assert any("makes 10 simulated days in some rows and 30 in others: their times are" in note for note in found.notes)


def test_days_that_contradict_the_rate_are_asked_about(tmp_path: Path) -> None:
    header = "component,cores,days,wall_s,SYPD"
    rows = [row("atm", p, 10, "10,") for p in COUNTS] + [row("ocn", p, 30, "30,") for p in COUNTS]
    assert len(read(table(tmp_path / "a.csv", rows, header))) == 2
    rows = [row("atm", p, 10, "10,") for p in COUNTS] + [row("ocn", p, 10, "10,", told=3.3) for p in COUNTS]
    with pytest.raises(ReadError, match=r"line 9: 'wall_s' times 'SYPD' makes 3.3 simulated days, but 'days' is 10"):
        read(table(tmp_path / "a.csv", rows, header))


@pytest.mark.parametrize(
    "name", ["Durchsatz (SJ/Tag)", "années simulées par jour", "Simulierte Jahre pro Tag", "años simulados por día"]
)
def test_simulated_years_per_day_in_other_languages(tmp_path: Path, name: str) -> None:
    path = table(tmp_path / "a.csv", [f"{p},{p / 40:.2f}" for p in COUNTS], f"cores,{name}")
    (runs,) = read(path).values()
    assert runs.days == 365.0
    assert runs.values[0] == pytest.approx(86400 / 0.4)


@pytest.mark.parametrize("name", ["simulierte Tage", "jours simulés", "días simulados", "giorni simulati"])
def test_simulated_days_in_other_languages(tmp_path: Path, name: str) -> None:
    rows = [f"{solver},{p},{days},{days * 2000 / p:.3f}" for solver, days in (("atm", 10), ("ocn", 5)) for p in COUNTS]
    found = read(table(tmp_path / "a.csv", rows, f"component,cores,{name},wall_s"))
    assert [runs.days for runs in found.values()] == [10.0, 5.0]


@pytest.mark.parametrize(("one", "other"), [(31, 30), (5, 5.5), (28, 31)])
def test_lengths_that_differ_by_a_day_are_told_apart(tmp_path: Path, one: float, other: float) -> None:
    rows = [row("atm", p, one) for p in COUNTS] + [row("ocn", p, other) for p in COUNTS]
    with pytest.raises(ReadError, match=rf"{min(one, other):g} simulated days in some rows and {max(one, other):g} in"):
        read(table(tmp_path / "a.csv", rows))


def test_times_with_the_start_of_each_run_are_of_one_length(tmp_path: Path) -> None:
    rows = [f"atm,{p},{20000 / p + 5:.3f},{86400 / 365 * 10 / (20000 / p):.4f}" for p in COUNTS]
    assert read(table(tmp_path / "a.csv", rows))["atm"].days is not None


def test_a_rate_of_whole_numbers_tells_no_days(tmp_path: Path) -> None:
    rows = [f"atm,{p},{400000 / p:.3f},{86400 / 365 * 10 / (400000 / p):.0f}" for p in (256, 512, 1024)]
    found = scan(table(tmp_path / "a.csv", rows))
    assert found.runs["atm"].days is None
    assert any("'SYPD' is rounded too much to tell how many days the times are of" in note for note in found.notes)


def test_days_that_are_a_bit_more_than_those_of_a_rate_are_told(tmp_path: Path) -> None:
    header = "component,cores,days,wall_s,SYPD"
    rows = [row("atm", p, 10, "10,", told=10.5) for p in COUNTS]
    (said,) = (note for note in scan(table(tmp_path / "a.csv", rows, header)).notes if "makes up to" in note)
    assert said.endswith("'wall_s' times 'SYPD' makes up to 5 % more than the days in 'days': 'days' counts")
    steps = table(tmp_path / "b.csv", [line.replace(",10,", ",480,") for line in rows], header.replace("days", "steps"))
    assert not any("makes up to" in note for note in scan(steps).notes)
    rows[2] = row("atm", COUNTS[2], 10, "10,")
    assert read(table(tmp_path / "a.csv", rows, header))
    rows = [row("atm", p, 10, "10,", told=10.5 if p == 64 else 10) for p in COUNTS]
    with pytest.raises(ReadError, match=r"line 4: 'wall_s' times 'SYPD' makes 10.5 simulated days, but 'days' is 10"):
        read(table(tmp_path / "a.csv", rows, header))


def test_one_row_of_another_length_is_asked_about(tmp_path: Path) -> None:
    rows = [row("atm", p, 10, told=10.5 if p == 64 else 10) for p in COUNTS]
    with pytest.raises(ReadError, match=r"makes 10 simulated days in some rows and 10.5 in others"):
        read(table(tmp_path / "a.csv", rows))


def test_a_time_of_a_day_that_contradicts_the_rate_is_refused(tmp_path: Path) -> None:
    rows = [f"{name},{p},{2000 / p:.4f},{off * 86400 / 365 * p / 2000:.4f}" for name, off in (("atm", 1), ("ocn", 1.4))
            for p in COUNTS]  # fmt: skip
    with pytest.raises(ReadError, match=r"'s/day' times 'SYPD' makes 1.4 simulated days, but its name says 1"):
        read(table(tmp_path / "a.csv", rows, "component,cores,s/day,SYPD"))
    right = [f"{p},{2000 / p:.4f},{86400 / 365 * p / 2000:.4f}" for p in COUNTS]
    (runs,) = read(table(tmp_path / "b.csv", right, "cores,s/day,SYPD")).values()
    assert runs.values[0] in (pytest.approx(125.0), pytest.approx(365 * 125, rel=1e-3))


def test_core_hours_of_a_year_tell_that_runs_are_of_other_lengths(tmp_path: Path) -> None:
    rows = [f"{name},{p},{days * 2000 / p:.3f},{365 * 2000 / 3600:.2f}" for name, days in (("atm", 10), ("ocn", 30))
            for p in COUNTS]  # fmt: skip
    with pytest.raises(ReadError, match=r"'wall_s' and 'CHSY' make 10 simulated days in some rows and 30 in others"):
        read(table(tmp_path / "a.csv", rows, "component,cores,wall_s,CHSY"))
    alike = [text for text in rows if text.startswith("atm")]
    assert read(table(tmp_path / "a.csv", alike, "component,cores,wall_s,CHSY"))["atm"].days is None


def test_repeated_runs_that_include_their_start_are_of_one_length(tmp_path: Path) -> None:
    rows = [f"atm,{p},{s + 8 + more:.3f},{30 * 86400 / 365 / s:.4f}" for p, s in ((16, 1200), (32, 600), (64, 300))
            for more in (0.0, 0.05)]  # fmt: skip
    assert read(table(tmp_path / "a.csv", rows))["atm"].days is not None


def test_core_hours_of_whole_nodes_tell_no_lengths(tmp_path: Path) -> None:
    rows = [
        f"{p},{10 * 2000 / p:.3f},{365 * 2000 / p / 3600 * -(-p // 128) * 128:.2f}" for p in (64, 96, 128, 192, 256)
    ]
    assert read(table(tmp_path / "a.csv", rows, "cores,wall_s,CHSY"))
    both = [f"{p},{s:.3f},{p * 365 * s / 3600:.2f}" for p, s in ((64, 31.25), (128, 15.625), (256, 7.8125))]
    assert read(table(tmp_path / "b.csv", both, "cores,s/day,CHSY"))


def test_times_of_a_day_beside_wall_times_tell_the_lengths_of_runs(tmp_path: Path) -> None:
    both = (("atm", 10), ("ocn", 30))
    rows = [f"{name},{p},{days * 2000 / p:.3f},{2000 / p:.4f}" for name, days in both for p in COUNTS]
    with pytest.raises(ReadError, match=r"'wall_s' and 's/day' make 10 simulated days in some rows and 30 in others"):
        read(table(tmp_path / "a.csv", rows, "component,cores,wall_s,s/day"))


def test_a_start_that_makes_the_shortest_runs_longer_is_no_other_length(tmp_path: Path) -> None:
    each = {16: 625, 32: 320, 64: 165, 128: 85, 256: 40}
    rows = [f"{p},{5 * s + 10:.3f},{86400 / 365 / s:.4f}" for p, s in each.items()]
    assert read(table(tmp_path / "a.csv", rows, "cores,wall_s,SYPD"))
