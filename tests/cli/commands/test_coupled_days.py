"""``evenly allocate``: of how many simulated days the times of solvers and of coupled runs are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands.test_allocate_coupled import COUNTS, LAW, SHARES, WORKS, table
from tests.cli.conftest import Evenly

CURVES = ("allocate", "runs.csv", "--cores", "600", *LAW)
BOTH = (*CURVES, "--coupled", "coupled.csv")
SYPD = 86400 / 365 / (8400 / 600)


def coupled(header: str, cells: str, days: tuple[int, ...]) -> None:
    """Write coupled runs of so many days each, whose times are those of the curves; `cells` has {s}, {d} and {sypd}."""
    each = [(a, o, max(6000 / a, 2400 / o), days[row % len(days)]) for row, (a, o) in enumerate(SHARES)]
    rows = [f"{a},{o},{cells.format(s=f'{d * s:.3f}', d=d, sypd=f'{86400 / 365 / s:.4f}')}" for a, o, s, d in each]
    table("coupled.csv", f"atm_cores,ocn_cores,{header}", rows)


def test_days_of_coupled_runs_alone_are_asked_about_beside_curves_that_tell_none(evenly: Evenly) -> None:
    rows = [f"{name},{p},{10 * work / p:.4f}" for name, work in WORKS for p in COUNTS]
    table("runs.csv", "component,cores,wall_s", rows)
    coupled("ndays,wall_s", "{d},{s}", (15,))
    asked = evenly(*BOTH)
    assert (asked.code, "'ndays' of --coupled tells that 'wall_s' is of 15 simulated days" in asked.err) == (2, True)
    found = evenly(*BOTH, "--step-days", "10", "--json")
    assert found.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)
    assert evenly(*BOTH, "--coupled-steps", "1.5").code == 0


def test_dates_of_the_simulation_are_asked_about(evenly: Evenly) -> None:
    rows = [f"{name},{p},{10 * work / p:.4f}" for name, work in WORKS for p in COUNTS]
    table("runs.csv", "component,cores,wall_s", rows)
    coupled("start_date,end_date,wall_s", "1990-01-01,1990-01-16,{s}", (15,))
    asked = evenly(*BOTH, "--step-days", "10")
    assert (asked.code, "lie 15 days apart, and 'wall_s' is far less" in " ".join(asked.err.split())) == (2, True)
    coupled("start_date,end_date,wall_s", "2026-01-01,2026-01-02,{s}", (10,))
    assert evenly(*BOTH, "--step-days", "10").code == 0


def test_simulated_years_per_day_count_where_coupled_runs_have_several_lengths(evenly: Evenly) -> None:
    coupled("wall_s,SYPD", "{s},{sypd}", (10, 20, 40))
    alone = evenly("allocate", "--coupled", "coupled.csv", "--layout", "max(atm, ocn)", "--cores", "600", "--json")
    assert alone.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.1)
    rows = [f"{name},{p},{10 * work / p:.4f}" for name, work in WORKS for p in COUNTS]
    table("runs.csv", "component,cores,wall_s", rows)
    asked = evenly(*BOTH)
    assert (asked.code, "--coupled-time SYPD" in asked.err) == (2, True)
    found = evenly(*BOTH, "--step-days", "10", "--json")
    assert found.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)


def test_the_unit_of_the_answer_needs_no_number_of_days_where_all_times_tell_theirs(evenly: Evenly) -> None:
    rows = [f"{name},{p},{days},{days * work / p:.4f}" for (name, work), days in zip(WORKS, (10, 30), strict=True)
            for p in COUNTS]  # fmt: skip
    table("runs.csv", "component,cores,days,wall_s", rows)
    found = evenly(*CURVES, "--in", "SYPD")
    assert found.code == 0, found.err
    assert "ocn: times of 30 simulated days are made those of 1" in found.err
    assert "all times are taken" not in found.err
    assert evenly(*CURVES, "--max-seconds", "100").code == 2  # of how many days?
    table("runs.csv", "component,cores,months,wall_s", rows)
    assert (
        "months is 10 for atm, 30 for ocn: their times are taken to be of 304.167 and 912.5 simulated days"
        in " ".join(evenly(*CURVES, "--in", "SYPD").err.split())
    )


def test_names_that_tell_the_days_that_a_column_tells_contradict_no_step(evenly: Evenly) -> None:
    table("a/atm.csv", "cores,SYPD", [f"{p},{86400 / 365 / 6000 * p:.5f}" for p in COUNTS])
    table("a/ocn_10d.csv", "cores,days,wall_s", [f"{p},10,{24000 / p:.4f}" for p in COUNTS])
    found = evenly("allocate", "a/atm.csv", "a/ocn_10d.csv", *CURVES[2:], "--step-days", "1", "--json")
    assert found.code == 0, found.err
    assert found.json["seconds"] == pytest.approx(8400 / 600, rel=0.05)


def test_a_rate_beside_the_times_of_solvers_tells_their_days(evenly: Evenly) -> None:
    rows = [f"{name},{p},{10 * work / p:.4f},{86400 / 365 * p / work:.4f}" for name, work in WORKS for p in COUNTS]
    table("runs.csv", "component,cores,wall_s,SYPD", rows)
    assert evenly(*CURVES, "--json").json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)
    assert evenly(*CURVES, "--in", "SYPD").code == 0
    assert evenly(*CURVES, "--step-days", "1").code == 2  # the times are of ten


def test_the_same_column_of_days_in_both_tables_divides_the_times(evenly: Evenly) -> None:
    rows = [f"{name},{p},5,{5 * work / p:.4f}" for name, work in WORKS for p in COUNTS]
    table("runs.csv", "component,cores,days,wall_s", rows)
    for days in ((5, 10, 20), (10, 30)):  # of as many as the solvers' times, or not
        coupled("days,wall_s", "{d},{s}", days)
        found = evenly(*BOTH, "--json")
        assert found.code == 0, found.err
        assert found.json["inside_coupled_runs"]["runs"] == len(SHARES)
        assert found.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)


def test_coupled_runs_whose_rate_contradicts_their_days_are_refused(evenly: Evenly) -> None:
    table("runs.csv", "component,cores,s/day", [f"{name},{p},{work / p:.4f}" for name, work in WORKS for p in COUNTS])
    coupled("simulated_days,wall_s,SYPD", "{d},{s},{sypd}", (10, 20))
    assert evenly(*BOTH).code == 0
    rows = Path("coupled.csv").read_text().replace(",10,", ",5,", 1)
    Path("coupled.csv").write_text(rows)
    asked = evenly(*BOTH)
    assert (asked.code, "makes 10 simulated days, but 'simulated_days' is 5" in asked.err) == (2, True)
    assert evenly(*BOTH, "--coupled-time", "SYPD").code == 0


def test_solvers_of_different_days_are_planned_for_one_day(evenly: Evenly) -> None:
    rows = [f"{name},{p},{days},{days * work / p:.4f},{86400 / 365 * p / work:.4f}"
            for (name, work), days in zip(WORKS, (5, 30), strict=True) for p in COUNTS]  # fmt: skip
    table("runs.csv", "component,cores,simulated_days,wall_s,SYPD", rows)
    found = evenly(*CURVES, "--json")
    assert "ocn: times of 30 simulated days are made those of 1" in " ".join(found.err.split())
    assert found.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)
    assert evenly(*CURVES, "--time", "SYPD").code == 0  # SYPD tells its own work
    assert evenly(*CURVES, "--max-seconds", "100").code == 2  # of how many days?


def test_times_of_rows_of_different_days_are_to_be_divided(evenly: Evenly) -> None:
    rows = [f"{name},{p},{days},{days * work / p:.4f}" for name, work in WORKS for p, days in
            zip(COUNTS, (5, 5, 20, 20), strict=True)]  # fmt: skip
    table("runs.csv", "component,cores,simulated_days,wall_s", rows)
    asked = evenly(*CURVES)
    assert (asked.code, "divide each time by simulated_days, and call the column 's/day'" in asked.err) == (2, True)


def test_cores_of_whole_runs_are_multiples_of_their_threads(evenly: Evenly) -> None:
    rows = [f"{a // 2},2,0,{o // 2},2,{a // 2},{max(6000 / a, 2400 / o):.3f}" for a, o in SHARES]
    table("tasks.csv", "ntasks_atm,nthrds_atm,rootpe_atm,ntasks_ocn,nthrds_ocn,rootpe_ocn,s_per_step", rows)
    found = evenly("allocate", "--coupled", "tasks.csv", "--cores", "599", "--json")
    assert "cores are multiples of the threads of a task: atm 2, ocn 2" in " ".join(found.err.split())
    assert [count % 2 for count in found.json["cores"].values()] == [0, 0]


def test_a_rate_of_few_digits_counts_less_than_the_time_beside_it(evenly: Evenly) -> None:
    table("runs.csv", "component,cores,s/day", [f"{name},{p},{work / p:.4f}" for name, work in WORKS for p in COUNTS])
    each = [(a, o, max(6000 / a, 2400 / o)) for a, o in SHARES]
    rows = [f"{a},{o},10,{10 * s:.3f},{86400 / 365 / s:.0f}" for a, o, s in each]
    table("coupled.csv", "atm_cores,ocn_cores,simulated_days,wall_s,SYPD", rows)
    found = evenly(*BOTH, "--json")
    assert found.code == 0, found.err
    assert "'wall_s' of --coupled is taken to be of as many simulated days" in " ".join(found.err.split())
    assert found.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)


def test_a_rate_of_coupled_runs_that_is_a_bit_off_is_told(evenly: Evenly) -> None:
    table("runs.csv", "component,cores,s/day", [f"{name},{p},{work / p:.4f}" for name, work in WORKS for p in COUNTS])
    each = [(a, o, max(6000 / a, 2400 / o)) for a, o in SHARES]
    rows = [f"{a},{o},10,{10 * s:.3f},{1.09 * 86400 / 365 / s:.4f}" for a, o, s in each]
    table("coupled.csv", "atm_cores,ocn_cores,simulated_days,wall_s,SYPD", rows)
    found = evenly(*BOTH)
    assert "'wall_s' times 'SYPD' makes up to 9 % more than the days in 'simulated_days': 'SYPD' counts" in " ".join(
        found.err.split()
    )
    rows = rows[:1] + [f"{a},{o},10,{10 * s:.3f},{86400 / 365 / s:.4f}" for a, o, s in each[1:]]
    table("coupled.csv", "atm_cores,ocn_cores,simulated_days,wall_s,SYPD", rows)
    asked = evenly(*BOTH)
    assert (asked.code, "but 'simulated_days' is 10" in " ".join(asked.err.split())) == (2, True)


def test_a_number_of_coupled_steps_that_fits_no_run_is_doubted(evenly: Evenly) -> None:
    table("runs.csv", "component,cores,wall_s", [f"{name},{p},{work / p:.4f}" for name, work in WORKS for p in COUNTS])
    coupled("wall_s", "{s}", (100,))
    right, wrong = (evenly(*BOTH, "--coupled-steps", steps) for steps in ("100", "10"))
    assert (right.code, "is it right?" in right.err) == (0, False)
    assert "take about 10 times (10 … 10) as long as a step of their solvers, by the number of steps" in wrong.err


def test_a_coupled_run_of_another_length_than_the_others_is_told(evenly: Evenly) -> None:
    each = [(a, o, max(6000 / a, 2400 / o)) for a, o in SHARES]
    rows = [
        f"{a},{o},{10 * s:.3f},{(1.6 if row == 1 else 1) * 86400 / 365 / s:.4f}" for row, (a, o, s) in enumerate(each)
    ]
    table("coupled.csv", "atm_cores,ocn_cores,wall_s,SYPD", rows)
    found = evenly("allocate", "--coupled", "coupled.csv", "--layout", "max(atm, ocn)", "--cores", "600")
    assert "makes 10 simulated days, but 16 in line 3" in " ".join(found.err.split())


def test_what_the_time_of_coupled_runs_is_of_is_said_or_asked(evenly: Evenly) -> None:
    table("runs.csv", "component,cores,wall_s", [f"{name},{p},{work / p:.4f}" for name, work in WORKS for p in COUNTS])
    coupled("wall_s", "{s}", (1,))
    told = "'wall_s' of --coupled is taken to be of 10 simulated days, as the times of the solvers are"
    assert told in " ".join(evenly(*BOTH, "--step-days", "10").err.split())
    assert told not in " ".join(evenly(*BOTH).err.split())
    text = Path("coupled.csv").read_text()
    Path("coupled_15days.csv").write_text(text)
    Path("remark.csv").write_text(f"# runs of 15 days\n{text}")
    for name in ("coupled_15days.csv", "remark.csv"):
        asked = evenly(*CURVES, "--coupled", name, "--step-days", "10")
        assert (asked.code, "is of 15 simulated days, and the times of the solvers are of 10" in asked.err) == (2, True)
        assert "--coupled-steps 1.5" in asked.err
        assert evenly(*CURVES, "--coupled", name, "--step-days", "10", "--coupled-steps", "1").code == 0
        assert evenly(*CURVES, "--coupled", name, "--step-days", "15").code == 0


def test_step_days_leads_on_where_one_solver_tells_its_days(evenly: Evenly) -> None:
    table("a/atm.csv", "cores,simulated_days,wall_s", [f"{p},10,{10 * 6000 / p:.4f}" for p in COUNTS])
    table("a/ocn.csv", "cores,wall_s", [f"{p},{30 * 2400 / p:.4f}" for p in COUNTS])
    files = ("a/atm.csv", "a/ocn.csv", *CURVES[2:])
    asked = evenly("allocate", *files)
    assert (asked.code, "how many days each time of ocn simulates" in asked.err) == (2, True)
    found = evenly("allocate", *files, "--step-days", "30", "--json")
    assert found.code == 0, found.err
    assert found.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)


def test_step_days_says_what_a_factor_of_the_layout_is(evenly: Evenly) -> None:
    table("runs.csv", "component,cores,days,wall_s", [f"{n},{p},10,{10 * w / p:.4f}" for n, w in WORKS for p in COUNTS])
    layout = ("--layout", "3 * max(atm, ocn)")
    assert evenly(*CURVES, *layout).code == 2
    found = evenly(*CURVES, *layout, "--step-days", "30", "--json")
    assert found.code == 0, found.err
    assert found.json["simulated_years_per_day"] == pytest.approx(SYPD, rel=0.05)
    assert evenly(*CURVES, "--step-days", "30").code == 2  # they are of ten
