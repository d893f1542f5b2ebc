"""What stands in and around the tables of solvers may say that their times are of different work."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

import evenly as store
from tests.cli.commands.test_allocate_coupled import LAW
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


def _nemo(work: float, days: float = 1.0) -> None:
    """Write NEMO's timing files of runs of so many days, and a table of simulated years per day of IFS."""
    for ranks in (36, 72, 144, 288):
        Path(f"nemo/{ranks}").mkdir(parents=True)
        rows = "".join(f"    {rank} |  {days * work / ranks:.3f} |  1.000 |  0.9\n" for rank in range(ranks))
        Path(f"nemo/{ranks}/timing.output").write_text(
            f" Total timing (sum) :\n --------------------\n{rows} Maximum | {days * work / ranks:.3f} | 1.0 | 0.9\n"
            " ---|---\n Average | 1.000 | 1.0 | 0.9\n"
        )


@pytest.mark.parametrize(("unit", "days"), [("SYPD", 365), ("s/day", 1), ("time_s", 31)])
def test_logs_beside_simulated_years_are_asked_how_many_days_they_are_of(evenly: Evenly, unit: str, days: int) -> None:
    # A month of NEMO beside a year of IFS gave 34 of 720 cores to the one that needs 296.
    _nemo(work=20_000, days=31)
    rows = "".join(
        f"{p},{86_400 * p / (40_000 * days) if unit == 'SYPD' else 40_000 * days / p}\n" for p in (72, 144, 288)
    )
    Path("ifs.csv").write_text(f"nproc,{unit}\n{rows}")
    asked = ("allocate", "nemo", "ifs.csv", "--cores", "720", *LAW)
    shown = evenly(*asked)
    if days != 31:
        assert shown.code == 2
        assert f"{days} simulated day{'s' * (days != 1)} for ifs, and nothing tells it for nemo" in " ".join(
            shown.err.split()
        )
    told = evenly(*asked, "--step-days", "31", "--json").json
    assert told["cores"] == {"nemo": 240, "ifs": 480}
    assert told["simulated_years_per_day"] == pytest.approx(86_400 * 240 / 20_000 / 365, rel=1e-3)
    assert "from its solvers alone by 7 %" in " ".join(evenly(*asked, "--step-days", "31", "--in", "SYPD").out.split())


def test_a_time_that_tells_no_work_beside_years_is_of_the_days_of_a_step(evenly: Evenly) -> None:
    for name, time, values in (("ifs", "SYPD", [1, 2, 4]), ("nemo", "time_s", [64_800, 32_400, 16_200])):
        Path(f"{name}.csv").write_text(f"nproc,{time}\n" + "".join(f"{72 * 2**k},{v}\n" for k, v in enumerate(values)))
    asked = ("allocate", "ifs.csv", "nemo.csv", "--cores", "720", *LAW)
    shown = evenly(*asked)
    assert (shown.code, "say with --step-days how many days such a time simulates" in shown.err) == (2, True)
    assert evenly(*asked, "--step-days", "182.5", "--json").json["cores"] == {"ifs": 288, "nemo": 432}


def test_saved_models_of_different_days_are_asked_about_or_made_alike(evenly: Evenly) -> None:
    for name, time, values in (("ifs", "SYPD", [1, 2, 4]), ("nemo", "s/day", [118, 59, 29.5])):
        Path(f"{name}.csv").write_text(f"nproc,{time}\n" + "".join(f"{72 * 2**k},{v}\n" for k, v in enumerate(values)))
        assert evenly("fit", f"{name}.csv", "--save", f"{name}.evenly", *LAW).code == 0
    store.save({name: store.load(f"{name}.evenly") for name in ("ifs", "nemo")}, "both.evenly")  # type: ignore[misc]
    asked = ("allocate", "both.evenly", "--cores", "720")
    shown = evenly(*asked)
    assert (shown.code, "365 simulated days for ifs, 1 simulated day for nemo" in " ".join(shown.err.split())) == (
        2,
        True,
    )
    told = evenly(*asked, "--step-days", "1", "--json")
    assert "ifs: times of 365 simulated days are made those of 1" in " ".join(told.err.split())
    assert told.json["cores"]["ifs"] == pytest.approx(480, abs=2)


SOLVERS = {"atm": (8, 5), "ocn": (5, 30), "ice": (1, 5)}
CORES = (48, 96, 192, 384, 768)


def _times(solver: str) -> list[float]:
    size, work = SOLVERS[solver]
    return [work * (1 + 1000 * size / cores**0.9) for cores in CORES]


def _table(solver: str, *, column: str = "", value: str = "") -> str:
    head = f"{column}," if column else ""
    return f"{head}cores,time_s\n" + "".join(
        f"{value + ',' if column else ''}{cores},{seconds:.6g}\n"
        for cores, seconds in zip(CORES, _times(solver), strict=True)
    )


def _files(text: Callable[[str, int], str], path: str = "runs/{solver}.csv") -> None:
    for solver, (_, days) in SOLVERS.items():
        file = Path(path.format(solver=solver, days=days))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text(solver, days))


@pytest.mark.parametrize(
    "line",
    [
        "# {days}-day run",
        "# run length: {days} d",
        "# Läufe über {days} Tage",
        "# measured over {days} coupling intervals",
        "# steps: {days}",
    ],
)
def test_lines_that_tell_other_work_are_asked_about(evenly: Evenly, line: str) -> None:
    _files(lambda solver, days: line.format(days=days) + "\n" + _table(solver))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "different work" in shown.err
    assert line.format(days=30).strip("# ") in " ".join(shown.err.split())
    assert evenly("allocate", "runs", "--cores", "1000", "--parameters", "cores").code == 0


def test_a_line_above_one_table_alone_is_asked_about(evenly: Evenly) -> None:
    _files(lambda solver, days: ("# 5-day run\n" if solver == "atm" else "") + _table(solver))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "nothing for ice, ocn" in " ".join(shown.err.split())


def test_a_title_above_a_table_of_all_solvers_is_about_all(evenly: Evenly) -> None:
    rule = "|---|---|---|\n"
    parts = [
        "".join(f"| {solver} | {cores} | {work / cores + 1:.3f} |\n" for cores in (48, 96, 192, 384))
        for solver, work in (("atm", 6000), ("ocn", 2400))
    ]
    Path("runs.md").write_text(
        f"# Times of 5 simulated days\n\n| component | cores | time_s |\n{rule}{rule.join(parts)}"
    )
    shown = evenly("allocate", "runs.md", "--cores", "480")
    assert (shown.code, "different work" in shown.err, "|---" in shown.err) == (0, False, False)


@pytest.mark.parametrize("path", ["runs/{solver}_{days}d/times.csv", "runs/{days}days/{solver}.csv"])
def test_folders_that_tell_other_work_are_asked_about(evenly: Evenly, path: str) -> None:
    # Three files of one name were taken as one solver.
    _files(lambda solver, days: _table(solver), path)
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "different work" in shown.err


@pytest.mark.parametrize(("column", "value"), [("case", "f2000_{days}d"), ("run_length", "{days}")])
def test_settings_that_tell_other_work_are_asked_about(evenly: Evenly, column: str, value: str) -> None:
    _files(lambda solver, days: _table(solver, column=column, value=value.format(days=days)))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "different work" in shown.err


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ("{table}", "runs/{solver}.csv", "same step of the coupled run\n"),
        ("# of May to {days} July\n{table}", "runs/{solver}.csv", "lines or cells differ: 'of May to 5 July'"),
        ("{table}", "runs/{solver}_x{days}.csv", "although only some names have x5, x30"),
        ("# git tag v1.2, an 8-core node\n{table}", "runs/{solver}.csv", "same step of the coupled run\n"),
        ("# a 5-day run\n{table}", "runs/{solver}.csv", "with 5 simulated days (a 5-day run)\n"),
    ],
)
def test_what_is_assumed_is_said(evenly: Evenly, text: str, path: str, said: str) -> None:
    _files(lambda solver, days: text.format(days=days, table=_table(solver)), path)
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 0
    assert said.strip() in " ".join(shown.err.split())
    if said.endswith("\n"):
        assert "although" not in shown.err


def test_days_of_a_column_contradict_other_days_of_a_step(evenly: Evenly) -> None:
    rows = [line for solver in SOLVERS for line in _table(solver, column="s", value=f"{solver},5").splitlines()[1:]]
    Path("t.csv").write_text("solver,days,cores,time_s\n" + "\n".join(rows) + "\n")
    shown = evenly("allocate", "t.csv", "--cores", "1000", "--step-days", "1")
    assert shown.code == 2
    assert "contradicts the measurements, whose times are of 5 simulated days" in " ".join(shown.err.split())
    assert evenly("allocate", "t.csv", "--cores", "1000", "--step-days", "5").code == 0


def test_sums_of_the_others_are_no_solver(evenly: Evenly) -> None:
    times = {solver: _times(solver) for solver in SOLVERS}
    times["gesamt"] = [sum(one) for one in zip(*times.values(), strict=True)]
    rows = [f"{name},{cores},{t:.6g}" for name, its in times.items() for cores, t in zip(CORES, its, strict=True)]
    Path("t.csv").write_text("solver,cores,time_s\n" + "\n".join(rows) + "\n")
    shown = evenly("allocate", "t.csv", "--cores", "1000")
    assert shown.code == 2
    assert "--without gesamt" in shown.err
    assert evenly("allocate", "t.csv", "--cores", "1000", "--without", "gesamt").code == 0


def _book(titles: dict[str, str]) -> None:
    book = openpyxl.Workbook(write_only=True)
    for solver in SOLVERS:
        sheet = book.create_sheet(solver)
        rows = [line.split(",") for line in _table(solver).splitlines()]
        for row in [*([[titles[solver]]] if solver in titles else []), rows[0], *(map(float, row) for row in rows[1:])]:
            sheet.append(list(row))
    book.save("runs.xlsx")


def test_each_sheet_may_be_a_solver(evenly: Evenly) -> None:
    _book({})
    shown = evenly("allocate", "runs.xlsx", "--cores", "1000")
    assert shown.code == 2
    assert "-O 'sheet=*'" in shown.err
    in_sheets = evenly("allocate", "runs.xlsx", "--cores", "1000", "-O", "sheet=*", "--json")
    _files(lambda solver, days: _table(solver))
    in_files = evenly("allocate", "runs", "--cores", "1000", "--json")
    assert json.loads(in_sheets.out)["cores"] == json.loads(in_files.out)["cores"]


def test_titles_of_sheets_that_tell_other_work_are_asked_about(evenly: Evenly) -> None:
    _book({solver: f"{days}-day run" for solver, (_, days) in SOLVERS.items()})
    shown = evenly("allocate", "runs.xlsx", "--cores", "1000", "-O", "sheet=*")
    assert shown.code == 2
    assert "different work" in shown.err


def _long(column: str = "", values: dict[str, str] | None = None, *, blocks: dict[str, str] | None = None) -> str:
    rows = []
    for solver in SOLVERS:
        rows += [blocks[solver]] if blocks else []
        value = f"{values[solver]}," if values else ""
        rows += [f"{solver},{value}{line}" for line in _table(solver).splitlines()[1:]]
    return "\n".join([f"component,{column + ',' if column else ''}cores,time_s", *rows]) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "# atm: 5 days; ocn: 30 days; ice: 5 days\n" + _long(),
        _long() + "# the atm and ice runs simulate 5 days, the ocn runs 30 days\n",
        _long(blocks={"atm": "# 100 steps", "ocn": "# 600 steps", "ice": "# 100 steps"}),
        _long("run", {"atm": "5 days", "ocn": "30 days", "ice": "5 days"}),
        _long("comment", {"atm": "5 days each", "ocn": "30 days each", "ice": "5 days each"}),
        _long("length", {"atm": "5 days", "ocn": "30 days", "ice": "5 days"}),
        "# times of atm in s, of ocn in min\n" + _long().replace("time_s", "time"),
        _long().replace("ocn,", "ocn*,") + "# * for 30 days\n",
    ],
)
def test_one_table_that_tells_other_work_is_asked_about(evenly: Evenly, text: str) -> None:
    Path("t.csv").write_text(text)
    shown = evenly("allocate", "t.csv", "--cores", "1000")
    assert shown.code == 2
    assert re.search(r"different work|unit of 'time' is open", " ".join(shown.err.split()))


def test_notes_beside_the_tables_count(evenly: Evenly) -> None:
    _files(lambda solver, days: _table(solver))
    Path("runs/README.txt").write_text("The ocean was run for 30 days: ocn 30 days, atm and ice 5 days.\n")
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "several amounts of work" in " ".join(shown.err.split())


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("# includes waiting for atm\n", "runs/{solver}.csv"),
        ("", "with_waiting/{solver}.csv"),
        ("# mit Wartezeit\n", "runs/{solver}.csv"),
        ("# includes idling until atm is done\n", "runs/{solver}.csv"),
    ],
)
def test_waiting_in_words_is_asked_about(evenly: Evenly, line: str, path: str) -> None:
    _files(
        lambda solver, days: (line if solver == "ocn" else "") + _table(solver), path if line else "runs/{solver}.csv"
    )
    if not line:
        Path("runs/with_waiting").mkdir()
        Path("runs/ocn.csv").rename("runs/with_waiting/ocn.csv")
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "contain the waiting" in " ".join(shown.err.split())
    assert evenly("allocate", "runs", "--cores", "1000", "--no-waiting").code == 0


def test_times_without_waiting_are_those_that_are_wanted(evenly: Evenly) -> None:
    _files(lambda solver, days: "# without waiting for others\n" + _table(solver))
    assert evenly("allocate", "runs", "--cores", "1000").code == 0


@pytest.mark.parametrize(("first", "second", "out"), [("atm", "atm (copy)", "atm (copy)"), ("ocn", "nemo", "ocn")])
def test_one_solver_under_two_names_is_asked_about(evenly: Evenly, first: str, second: str, out: str) -> None:
    _files(lambda solver, days: _table(solver))
    Path("runs", f"{second}.csv").write_text(_table(first))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert f"--without {shlex.quote(out)}" in " ".join(shown.err.split())
    assert evenly("allocate", "runs", "--cores", "1000", "--without", out).code == 0


def test_versions_of_one_solver_are_asked_about(evenly: Evenly) -> None:
    _files(lambda solver, days: _table(solver))
    Path("runs/atm.csv").rename("runs/atm_old.csv")
    Path("runs/atm_new.csv").write_text(_table("atm").replace("1", "2"))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert shown.code == 2
    assert "--without atm_old" in shown.err


def test_counts_of_steps_do_not_matter_to_times_of_a_step(evenly: Evenly) -> None:
    text = _long("n_steps", {"atm": "100", "ocn": "500", "ice": "100"}).replace("time_s", "s_per_step")
    Path("t.csv").write_text(text)
    assert evenly("allocate", "t.csv", "--cores", "1000").code == 0


def test_each_table_of_a_text_may_be_a_solver(evenly: Evenly) -> None:
    text = ""
    for solver in SOLVERS:
        cells = [line.replace(",", " | ") for line in _table(solver).splitlines()]
        text += f"## {solver}\n\n| {cells[0]} |\n|---|---|\n" + "".join(f"| {row} |\n" for row in cells[1:]) + "\n"
    Path("README.md").write_text(text)
    asked = evenly("allocate", "README.md", "--cores", "1000")
    assert (asked.code, "-O 'table=*'" in asked.err) == (2, True)
    _files(lambda solver, days: _table(solver))
    in_files = evenly("allocate", "runs", "--cores", "1000", "--json")
    in_tables = evenly("allocate", "README.md", "--cores", "1000", "--json", "-O", "table=*")
    assert in_tables.json["cores"] == in_files.json["cores"]


@pytest.mark.parametrize("time", ["step_s", "Zeit_pro_Schritt_s"])
def test_the_only_time_of_coupled_runs_needs_no_usual_name(evenly: Evenly, time: str) -> None:
    Path("t.csv").write_text(_long())
    whole = [max(its) for its in zip(*(_times(solver) for solver in SOLVERS), strict=True)]
    rows = [f"{p},{p},{p},{t:.6g}" for p, t in zip(CORES, whole, strict=True)]
    Path("c.csv").write_text(f"atm_cores,ocn_cores,ice_cores,{time}\n" + "\n".join(rows) + "\n")
    shown = evenly("allocate", "t.csv", "--cores", "1000", "--coupled", "c.csv")
    assert shown.code == 0


def test_repeated_runs_beside_a_named_solver(evenly: Evenly) -> None:
    rows = [line.replace(",", ";").replace("time_s", "Lauf 1 [s];Lauf 2 [s]") for line in _long().splitlines()]
    twice = [rows[0].replace("component", "Modell"), *(f"{row};{row.rpartition(';')[2]}" for row in rows[1:])]
    Path("t.csv").write_text("\n".join(twice) + "\n")
    shown = evenly("allocate", "t.csv", "--cores", "1000", "--solver", "Modell")
    assert shown.code == 0


def test_a_title_above_the_only_sheet_counts(evenly: Evenly) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Runs")
    sheet.append(["atm and ice: 5 days, ocn: 30 days"])
    for line in _long().splitlines():
        sheet.append([float(cell) if cell[0].isdigit() else cell for cell in line.split(",")])
    book.save("runs.xlsx")
    shown = evenly("allocate", "runs.xlsx", "--cores", "1000")
    assert (shown.code, "several amounts of work" in " ".join(shown.err.split())) == (2, True)


def test_a_part_of_a_solver_is_asked_about(evenly: Evenly) -> None:
    _files(lambda solver, days: _table(solver))
    Path("runs/radiation (in atm).csv").write_text(_table("ice").replace("7", "8"))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert (shown.code, "--without 'radiation (in atm)'" in " ".join(shown.err.split())) == (2, True)


def test_times_that_rise_with_the_cores_are_told(evenly: Evenly) -> None:
    _files(lambda solver, days: _table(solver))
    Path("runs/ocn.csv").write_text("cores,time_s\n" + "".join(f"{p},{100 + p}\n" for p in CORES))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert "the times of ocn rise with each number of cores" in " ".join(shown.err.split())


@pytest.mark.parametrize("name", ["atm (incl. ocn)", "atm: of which ocn", "ocn bgc"])
def test_a_name_with_that_of_another_solver_is_asked_about(evenly: Evenly, name: str) -> None:
    _files(lambda solver, days: _table(solver))
    Path("runs", f"{name}.csv").write_text(_table("ice").replace("7", "8"))
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert (shown.code, f"'{name}' may contain " in " ".join(shown.err.split())) == (2, True)
    assert evenly("allocate", "runs", "--cores", "1000", "--parameters", "cores").code == 0


@pytest.mark.parametrize(
    "heading",
    [
        "step time [ms] dt={}min",
        "time per step [ms] (dt = {} min)",
        "ms/step (dt {}min)",
        "time_ms_dt{}min",
        "time [ms] of a {}-min step",
        "ms per step (dt = {} min)",
    ],
)
def test_steps_of_different_lengths_are_asked_about(evenly: Evenly, heading: str) -> None:
    _files(lambda solver, days: _table(solver).replace("time_s", heading.format(10 if solver == "atm" else 60)))
    shown = evenly("allocate", "runs", "--cores", "1000", "--without", "ice")
    assert (shown.code, "--layout 'max(6 * atm, ocn)'" in " ".join(shown.err.split())) == (2, True)
    named = ("--parameters", "cores", "--without", "ice")
    found = evenly("allocate", "runs", "--cores", "1000", *named, "--layout", "max(6 * atm, ocn)")
    assert "is the time in ms" in found.err
    assert (found.code, " ms" in found.out) == (0, True)
    _files(lambda solver, days: _table(solver).replace("time_s", heading.format(10)))
    assert evenly("allocate", "runs", "--cores", "1000").code == 0


def test_a_line_about_some_runs_is_asked_about(evenly: Evenly) -> None:
    _files(lambda solver, days: _table(solver))
    line = f"ocn on {CORES[-2]} and {CORES[-1]} cores was measured on the old machine, all others on the new one"
    Path("runs/README.txt").write_text(f"{line}\n")
    shown = evenly("allocate", "runs", "--cores", "1000")
    assert (shown.code, "some runs of ocn aren't as the others are" in " ".join(shown.err.split())) == (2, True)
    Path("runs/README.txt").write_text("All were measured on the old machine.\n")
    assert evenly("allocate", "runs", "--cores", "1000").code == 0


@pytest.mark.parametrize("remark", ["coarse mesh instead of the fine one", "measured on the old cluster"])
def test_a_remark_on_some_runs_is_asked_about(evenly: Evenly, remark: str) -> None:
    rows = [line.split(",") for line in _long().splitlines()]
    told = [[*rows[0], "remark"], *([*row, remark if row[1] == str(CORES[-1]) else ""] for row in rows[1:])]
    Path("runs.csv").write_text("\n".join(map(",".join, told)))
    shown = evenly("allocate", "runs.csv", "--cores", "1000")
    assert (shown.code, "--where" in shown.err, remark in " ".join(shown.err.split())) == (2, True, True)
    Path("runs.csv").write_text("\n".join(map(",".join, told)).replace(remark, "ran again"))
    shown = evenly("allocate", "runs.csv", "--cores", "1000")
    assert (shown.code, "remarks that were not used: 'ran again'" in " ".join(shown.err.split())) == (0, True)


def test_names_of_machines_in_remarks_are_asked_about(evenly: Evenly) -> None:
    rows = [line.split(",") for line in _long().splitlines()]
    told = [[*rows[0], "remark"], *([*row, "Mistral" if int(row[1]) > CORES[1] else "Levante"] for row in rows[1:])]
    Path("runs.csv").write_text("\n".join(map(",".join, told)))
    shown = evenly("allocate", "runs.csv", "--cores", "1000")
    assert (shown.code, """--where 'remark != "Mistral"'""" in " ".join(shown.err.split())) == (2, True)


def test_runs_in_folders_of_another_kind_are_asked_about(evenly: Evenly, samples: Path) -> None:
    source = samples / "precice-v3" / "parallel-explicit"
    folders = sorted(path for path in source.iterdir() if path.is_dir())[:3]
    for number, folder in enumerate(folders):
        shutil.copytree(folder, Path("case", folder.name + ("_fine" if number == 2 else "")))
    shown = evenly("allocate", "case", "--cores", "8", *LAW)
    said = " ".join(shown.err.split())
    assert (shown.code, "have 'fine' in their names" in said, "as case/*" in said) == (2, True, True)
    shown = evenly("allocate", *sorted(Path("case").iterdir()), "--cores", "8", *LAW)
    assert (shown.code, "all runs are taken as alike" in " ".join(shown.err.split())) == (0, True)


def test_folders_that_all_have_words_of_their_own_are_of_no_kind(evenly: Evenly, samples: Path) -> None:
    """Who names folders monday, try2 and x was asked which of them are meant."""
    source = samples / "precice-v3" / "parallel-explicit"
    folders = sorted(path for path in source.iterdir() if path.is_dir())[:3]
    for name, folder in zip(("monday", "try2", "x"), folders, strict=True):
        shutil.copytree(folder, Path("case", name))
    shown = evenly("allocate", "case", "--cores", "8", *LAW)
    said = " ".join(shown.err.split())
    assert (shown.code, "differ by 'monday', 'try', 'x' in their names" in said) == (0, True)
    assert "cores: one for each rank, as preCICE's files tell no threads" in said
    told = evenly("allocate", "case", "--cores", "16", "--cores-are", "cores * 2", *LAW)
    assert (told.code, "threads" in told.err) == (0, False)


@pytest.mark.parametrize("column", ["seconds", "time per step [s]"])
def test_steps_of_different_lengths_are_asked_about_unless_the_layout_counts_them(evenly: Evenly, column: str) -> None:
    """A plan was made of steps of 0.01 s and of 0.0025 s, as if one of each made the coupled step."""
    rows = [f"a,0.01,{n},{12 / n}\nb,0.0025,{n},{0.75 / n}\n" for n in (4, 8, 16, 32)]
    Path("runs.csv").write_text(f"solver,dt,ranks,{column}\n" + "".join(rows))
    shown = evenly("allocate", "runs.csv", "--cores", "48")
    said = " ".join(shown.err.split())
    assert (shown.code, "dt is 0.01 for a, 0.0025 for b" in said, "'max(a, 4 * b)'" in said) == (2, True, True)
    told = evenly("allocate", "runs.csv", "--cores", "48", "--layout", "max(a, 4 * b)", "--json", *LAW)
    assert (told.code, told.json["cores"]) == (0, {"a": 38, "b": 10})
    assert evenly("allocate", "runs.csv", "--cores", "48", "--parameters", "ranks", *LAW).code == 0


@pytest.mark.parametrize(("second", "code"), [("nemo_30d_{}", 2), ("nemo_10d_{}", 0), ("nemo_{}", 0)])
def test_what_labels_of_runs_have_in_common_may_tell_other_work(evenly: Evenly, second: str, code: int) -> None:
    """Runs of 10 and of 30 days were taken as the same step, since their labels were left out unread."""
    first = "ifs_10d_{}" if "d" in second else "ifs_{}"
    rows = [f"{label.format(n)},{label[:3]},{n},{w / n}" for label, w in ((first, 9), (second, 7)) for n in (4, 8, 16)]
    Path("runs.csv").write_text("\n".join(["run,component,cores,wall_s", *rows, ""]))
    shown = evenly("allocate", "runs.csv", "--cores", "24", *LAW)
    told = "the lines or cells tell that the times of the solvers are of different work ('ifs 10d' for ifs, 'nemo 30d'"
    assert (shown.code, told in " ".join(shown.err.split())) == (code, code == 2)


@pytest.mark.parametrize(("steps", "code"), [((960, 720), 0), ((960, 960), 2)])
def test_lengths_and_numbers_of_steps_that_make_the_same_time_are_of_the_same_work(
    evenly: Evenly, steps: tuple[int, int], code: int
) -> None:
    """10 days of both solvers were called different work, with a layout that was wrong for whole runs."""
    rows = [f"{s},{n},{dt},{k},{dt / n}" for s, dt, k in zip("ab", (900, 1200), steps, strict=True) for n in (4, 8, 16)]
    Path("runs.csv").write_text("\n".join(["component,cores,dt_s,nsteps,wall_s", *rows]))
    shown = evenly("allocate", "runs.csv", "--cores", "24", *LAW)
    said = "all times are taken as those of whole runs: dt_s * nsteps is the same for all"
    assert (shown.code, said in " ".join(shown.err.split())) == (code, code == 0)


@pytest.mark.parametrize("lengths", ["300 1200", "300.5 1202"])
@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("max(a, b)", "max(4 * a, b)"),
        ("max(2 * a, b)", "max(4 * a, b)"),
        ("max(8 * a, b)", "max(4 * a, b)"),
        ("max(4 * b, a)", "max(4 * b, 16 * a)"),
        ("3 * sum(2 * a, b)", "3 * sum(4 * a, b)"),
    ],
)
def test_counts_of_steps_in_a_layout_agree_with_their_lengths(
    evenly: Evenly, typed: str, right: str, lengths: str
) -> None:
    """2 * a passed beside columns that tell 4, and max(a, b) was answered by itself, where lengths are integers."""
    rows = [f"{name},{dt},{n},{12 / n}\n" for n in (4, 8, 16) for name, dt in zip("ab", lengths.split(), strict=True)]
    Path("runs.csv").write_text("solver,dt,ranks,s/step\n" + "".join(rows))
    shown = evenly("allocate", "runs.csv", "--cores", "48", "--layout", typed, "--no-waiting")
    assert (shown.code, f"--layout '{right}'" in " ".join(shown.err.split())) == (2, True)
    named = ("--layout", typed, "--parameters", "ranks")
    for settled in (named, ("--layout", right)):
        assert evenly("allocate", "runs.csv", "--cores", "48", *settled, "--no-waiting", *LAW).code == 0


def test_counts_of_steps_in_a_layout_agree_with_headings(evenly: Evenly) -> None:
    heading = "ms per step (dt = {} min)"
    _files(lambda solver, days: _table(solver).replace("time_s", heading.format(10 if solver == "atm" else 60)))
    typed = ("allocate", "runs", "--cores", "1000", "--without", "ice", "--layout")
    shown = evenly(*typed, "max(2 * atm, ocn)")
    assert (shown.code, "--layout 'max(6 * atm, ocn)'" in " ".join(shown.err.split())) == (2, True)
    assert evenly(*typed, "max(6 * atm, ocn)").code == 0


def test_a_remark_on_steps_is_answered_by_a_layout_that_counts_them(evenly: Evenly) -> None:
    rows = [f"a,{n},{12 / n}\nb,{n},{0.75 / n}\n" for n in (4, 8, 16, 32)]
    Path("runs.csv").write_text("# b makes 4 steps per time window\nsolver,ranks,seconds\n" + "".join(rows))
    assert evenly("allocate", "runs.csv", "--cores", "48").code == 2
    assert evenly("allocate", "runs.csv", "--cores", "48", "--layout", "3 * max(a, b)").code == 2
    shown = evenly("allocate", "runs.csv", "--cores", "48", "--layout", "max(a, 4 * b)", *LAW)
    assert (shown.code, "of a step of each solver, which the layout counts" in " ".join(shown.err.split())) == (0, True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ice runs inside ocn: its time is contained in that of ocn", "contain those of another"),
        ("ice is called by ocn, its time is contained", "contain those of another"),
        ("atm in s, ocn in ms, ice in s", "may be in different units"),
        ("ocn times in ms", "may be in different units"),
        ("ocn: number of nodes (16 cores each)", "counts of the solvers may be in different units"),
        ("atm: one day, ocn: five days, ice: one day", "of different work"),
        ("ocn on 96 and 192 cores: 1 degree grid, the others 0.5 degree", "some runs of ocn aren't as the others are"),
    ],
)
def test_a_line_about_several_solvers_is_understood(evenly: Evenly, line: str, said: str) -> None:
    Path("runs.csv").write_text(f"# {line}\n" + _long().replace("time_s", "time"))
    shown = evenly("allocate", "runs.csv", "--cores", "1000", "--unit", "s")
    assert (shown.code, said in " ".join(shown.err.split())) == (2, True)
    named = ("--parameters", "cores", "--unit", "s")
    assert evenly("allocate", "runs.csv", "--cores", "1000", *named).code == 0


@pytest.mark.parametrize("line", ["Scaling of atm, ocn and ice on Levante", "atm, ocn and ice: alone"])
def test_a_title_that_names_all_solvers_is_not_asked_about(evenly: Evenly, line: str) -> None:
    Path("runs.csv").write_text(f"# {line}\n" + _long())
    shown = evenly("allocate", "runs.csv", "--cores", "1000")
    assert (shown.code, "although" in shown.err) == (0, False)


def test_what_a_line_says_of_machines_is_told(evenly: Evenly) -> None:
    Path("runs.csv").write_text("# atm was run on Levante, ocn on Mistral, ice on Levante\n" + _long())
    shown = evenly("allocate", "runs.csv", "--cores", "1000")
    assert (shown.code, "on one machine, although lines or cells differ" in " ".join(shown.err.split())) == (0, True)


def test_files_of_one_name_in_folders_are_solvers(evenly: Evenly) -> None:
    for solver in ("atm", "ocn"):
        rows = zip(CORES, _times(solver), strict=True)
        text = "ntasks,nodes,time_s\n" + "".join(f"{p},{p // 70 + 1},{seconds:.6g}\n" for p, seconds in rows)
        Path("runs", solver).mkdir(parents=True)
        Path("runs", solver, "times.csv").write_text(text)
    found = evenly("allocate", "runs", "--cores", "1000", "--cores-are", "ntasks", "--json")
    assert "nodes is just enough for ntasks in all runs, so it is left out" in " ".join(found.err.split())
    assert sorted(json.loads(found.out)["cores"]) == ["atm", "ocn"]


def test_a_unit_beside_runs_of_a_program_is_no_question(evenly: Evenly, samples: Path) -> None:
    shutil.copytree(samples / "precice-v3" / "parallel-explicit", "case")
    Path("case", "README.txt").write_text("Inner: all times in ms\n")
    shown = evenly("allocate", "case", "--cores", "8", *LAW)
    assert (shown.code, "text beside the files, which was not used: 'Inner: all times in ms'" in shown.err) == (0, True)
