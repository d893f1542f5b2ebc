"""Units in a row or a column of their own, dates and times of day, tables of Org, and times side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan
from evenly.readers.tables.columns import measured, time_candidates
from evenly.readers.tables.table import TableReader
from evenly.runs.cores import find_cores
from evenly.runs.units import SECONDS_PER
from tests.readers.tables.test_excel import book
from tests.readers.tables.test_table import read_one, write


def _read(folder: Path, text: str, name: str = "runs.csv", **options: str) -> Measurements:
    path = folder / name
    path.write_text(text)
    return scan(path, **options)


@pytest.mark.parametrize("options", [{}, {"time": "try *"}])
def test_a_row_of_units_holds_for_times_side_by_side(tmp_path: Path, options: dict[str, str]) -> None:
    text = "cores,try 1,try 2\n-,ms,ms\n16,102,101\n32,52,53\n64,27,28\n"
    assert _read(tmp_path, text, **options).runs[""].values.max() == pytest.approx(0.102)


@pytest.mark.parametrize("units", ["-,Mcells,h", "#,M,h", "[-],[10^6 cells],[h]"])
def test_a_row_of_units_may_look_like_a_comment_and_hold_any_count(tmp_path: Path, units: str) -> None:
    found = _read(tmp_path, f"cores,grid,time\n{units}\n8,1,2.0\n16,2,2.1\n16,1,1.1\n")
    assert found.runs[""].values.tolist() == pytest.approx([7200, 7560, 3960])


def test_a_comment_below_the_header_that_may_be_units_isnt_left_out_in_silence(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="line 2"):
        _read(tmp_path, "cores,grid,time\n#,kpoints²,h\n8,1,2.0\n16,2,2.1\n16,1,1.1\n")


def test_units_side_by_side_that_differ_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="several units, ms, s"):
        _read(tmp_path, "cores,try 1,try 2\n-,ms,s\n16,102,101\n32,52,53\n64,27,28\n", time="try *")


def test_a_row_of_units_holds_for_the_time_that_is_named(tmp_path: Path) -> None:
    text = "cores,value,comm\n-,ms,ms\n16,102,10\n32,52,9\n64,27,8\n"
    assert _read(tmp_path, text, time="value").runs[""].values.tolist() == pytest.approx([0.102, 0.052, 0.027])
    with pytest.raises(ReadError, match="'comm \\[ms\\]' and 'value' may each be the time"):
        _read(tmp_path, text)
    named = "cores,time,comm time\n-,ms,ms\n16,102,10\n32,52,9\n64,27,8\n"
    assert _read(tmp_path, named, time="time").runs[""].values.tolist() == pytest.approx([0.102, 0.052, 0.027])


def test_a_column_of_units_holds_for_times_side_by_side_and_for_the_named_time(tmp_path: Path) -> None:
    assert _read(tmp_path, "cores,unit,try 1,try 2\n16,ms,9,8\n32,ms,5,6\n64,ms,3,4\n").runs[
        ""
    ].values.max() == pytest.approx(0.009)
    found = _read(tmp_path, "cores,unit,X\n16,ms,9\n32,ms,5\n64,ms,3\n", time="X")
    assert found.runs[""].values.max() == pytest.approx(0.009)


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [
        ("03/14/2026 11:50:00 AM", "03/14/2026 12:08:00 PM", 1080),
        ("14/03/2026 23:50", "15/03/2026 00:10", 1200),
        ("14.3.2026 9:50", "14.3.2026 10:10", 1200),
        ("03/04/2026 09:00", "03/04/2026 09:10", 600),  # the day, whichever it is, is the same
        ("2026-03-14 8:50", "2026-03-14 10:10", 4800),
        ("2026-03-14T8:50:00", "2026-03-14T9:00:00", 600),
        ("14 Mar 2026 09:00:00", "14 Mar 2026 09:10:00", 600),
        ("Sat Mar 14 09:00:00 2026", "Sat Mar 14 09:10:00 2026", 600),
        ("23:57:00", "00:03:00", 360),
        ("9:50 AM", "1:10 PM", 12_000),
    ],
)
def test_dates_and_times_as_people_write_them(tmp_path: Path, start: str, end: str, seconds: float) -> None:
    found = _read(tmp_path, f"cores,start,end\n8,{start},{end}\n16,{start},{end}\n", parameters="cores")
    assert found.runs[""].values.tolist() == [seconds, seconds]
    assert any("would be missed" in note for note in found.notes)


def test_a_date_that_may_have_the_day_or_the_month_first_is_asked_about(tmp_path: Path) -> None:
    text = "cores,start,end\n8,03/04/2026 23:50,04/04/2026 00:10\n16,03/05/2026 08:00,03/05/2026 08:10\n"
    with pytest.raises(ReadError, match="the day or the month first"):
        _read(tmp_path, text)
    settled = text + "32,13/05/2026 08:00,13/05/2026 08:05\n"  # no month is the 13th
    assert _read(tmp_path, settled).runs[""].values.tolist() == [1200, 600, 300]


def test_dates_are_no_parameters(tmp_path: Path) -> None:
    text = "date,cores,time_s\n11/25/2026,8,90\n11/26/2026,16,50\n11/27/2026,32,30\n"
    assert _read(tmp_path, text).runs[""].parameters == ["cores"]


def test_benchmarks_of_snakemake_hold_seconds(tmp_path: Path) -> None:
    head = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\tthreads\n"
    rows = "".join(f"{1600 / p}\t0:01:00\t{p}\t{p}\t{p}\t{p}\t1.{p}\t2.{p}\t97.{p}\t{p}\t{p}\n" for p in (16, 32, 64))
    runs = _read(tmp_path, head + rows, name="runs.tsv").runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["threads"], [100, 50, 25])


def test_minutes_and_seconds_by_their_marks(tmp_path: Path) -> None:
    assert _read(tmp_path, "cores,time\n16,4'44\"\n32,2'24\"\n64,1h01'14\"\n").runs[""].values.tolist() == [
        284, 144, 3674,
    ]  # fmt: skip


def test_a_quoted_cell_over_two_lines_is_one(tmp_path: Path) -> None:
    text = 'cores,note,time_s\n16,"first\nrun",90\n32,"second\nrun",50\n'
    assert _read(tmp_path, text, parameters="cores").runs[""].values.tolist() == [90, 50]


def test_rows_that_speak_to_org(tmp_path: Path) -> None:
    marked = "|---+---+---|\n|   | <r> | <r> |\n|---+---+---|\n| ! | ranks | time (s) |\n|---+---+---|\n"
    rows = "| # | 16 | 102.1 |\n| # | 32 | 52.2 |\n|---+---+---|\n"
    assert _read(tmp_path, marked + rows, name="a.org").runs[""].values.tolist() == [102.1, 52.2]
    plain = "| ranks | time (s) |\n| <r> | <r> |\n| / | <> |\n|---+---|\n| 16 | 102.1 |\n|---+---|\n| 32 | 52.2 |\n"
    assert _read(tmp_path, plain, name="b.org").runs[""].values.tolist() == [102.1, 52.2]


def test_an_upper_header_of_one_merged_cell_is_no_title(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["", "time [min]", "", ""],
        ["cores", "run 1", "run 2", "run 3"],
        [16, 10, 11, 10],
        [32, 6, 5, 6],
    ]
    assert scan(book(tmp_path / "a.xlsx", Runs=rows)).runs[""].values.max() == 660
    titled: list[list[Any]] = [["", "Results of the cluster"], ["", "cores", "time [min]"], ["", 16, 10], ["", 32, 6]]
    assert scan(book(tmp_path / "b.xlsx", Runs=titled)).runs[""].values.tolist() == [600, 360]


def test_the_word_before_a_number_names_a_parameter(tmp_path: Path) -> None:
    text = "núcleos,malla 1000,malla 2000\n16,10.1,40.3\n32,5.2,20.4\n64,2.7,10.4\n"
    found = _read(tmp_path, text, time="malla *").runs[""]
    assert found.parameters == ["núcleos", "malla"]
    with pytest.raises(ReadError, match="differ by more than repeated runs do"):
        _read(tmp_path, text.replace("malla", "run"), time="run *")


@pytest.mark.parametrize("month", ["Okt", "octubre", "Oct.", "oktober", "out"])
def test_months_in_other_languages(tmp_path: Path, month: str) -> None:
    day = f"{month} 2026 10"
    text = f"cores,start,end\n8,14 {day}:00,14 {day}:30\n16,15 {day}:00,15 {day}:20\n"
    assert _read(tmp_path, text).runs[""].values.tolist() == [1800, 1200]


@pytest.mark.parametrize("date", ["14 Xyz 2026 10:00", "31/02/2026 10:00"])
def test_a_date_that_is_none_is_refused_by_name(tmp_path: Path, date: str) -> None:
    text = f"cores,start,end\n8,14/01/2026 10:00,14/01/2026 10:30\n16,{date},{date}\n"
    with pytest.raises(ReadError, match=f"'{date}' is no date"):
        _read(tmp_path, text)


@pytest.mark.parametrize("text", ['{"columns": ["time"], "data": null}', '{"columns": [{"t": 1}], "data": [[8]]}'])
def test_json_that_only_looks_as_pandas_writes_it(tmp_path: Path, text: str) -> None:
    with pytest.raises(ReadError):
        _read(tmp_path, text, name="a.json", format="table")


def test_a_simulated_time_in_a_caption_is_no_unit(tmp_path: Path) -> None:
    assert (
        len(_read(tmp_path, "# simulated time in h: 3, queue times in min\ncores,time_s\n8,90\n16,50\n").runs[""]) == 2
    )


@pytest.mark.parametrize("time", ["time_s", "took"])
def test_dates_that_are_open_ask_nothing_where_the_time_is_there(tmp_path: Path, time: str) -> None:
    own = "600" if time == "time_s" else "10m00s"
    rows = "".join(f"{p},03/0{k}/2026 23:50,04/0{k}/2026 00:00,{own}\n" for k, p in enumerate((8, 16), 4))
    assert _read(tmp_path, f"cores,start,end,{time}\n{rows}", parameters="cores").runs[""].values.tolist() == [600, 600]


def test_a_title_of_a_sheet_that_tells_another_unit_is_asked_about(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["Scaling of the mill, run times in minutes"],
        ["cores", "time"],
        [8, 10.2],
        [16, 5.4],
        [32, 3.0],
    ]
    path = book(tmp_path / "runs.xlsx", Runs=rows)
    with pytest.raises(ReadError, match=r"'times in minutes' stands beside the table.*--unit min"):
        scan(path)
    assert scan(path, unit="min").runs[""].values.tolist() == pytest.approx([612, 324, 180])


def test_a_caption_of_org_may_tell_the_unit_without_in(tmp_path: Path) -> None:
    text = "#+CAPTION: runs of FDS, wall clock hours\n| ranks | wall clock |\n|-+-|\n| 4 | 10.2 |\n| 8 | 5.4 |\n"
    with pytest.raises(ReadError, match="--unit h"):
        _read(tmp_path, text, "runs.org")


def test_a_short_unit_may_end_with_a_point(tmp_path: Path) -> None:
    found = _read(tmp_path, "Kerne;Laufzeit in Min.\n1;241,24\n2;120,57\n8;31,97\n")
    assert found.runs[""].values.tolist() == pytest.approx([14474.4, 7234.2, 1918.2])


def test_a_symbol_of_time_over_its_unit_is_asked_with_the_unit(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="--unit s"):
        _read(tmp_path, "Ranks,T_gesamt/s\n24,212.52\n48,105.87\n96,59.48\n", time="T_gesamt/s")


def test_counts_and_times_with_their_words_in_cells(tmp_path: Path) -> None:
    found = _read(
        tmp_path, "Number of Processes,Zeit\n1 process,15:23 min\n2 processes,7:05 min\n4 processes,4:06 min\n"
    )
    assert found.runs[""].configurations["Number of Processes"].tolist() == [1, 2, 4]
    assert found.runs[""].values.tolist() == [923, 425, 246]


def test_a_unit_in_brackets_in_each_cell(tmp_path: Path) -> None:
    found = _read(tmp_path, "n_ranks,elapsed\n1,64.5 (min)\n2,33.1 (min)\n4,16.9 (min)\n")
    assert found.runs[""].values.tolist() == pytest.approx([3870, 1986, 1014])


@pytest.mark.parametrize(
    ("beside", "unit"),
    [
        ("Elapsed time (in hours) of the mill", "h"),
        ("all values are hours of wall clock.", "h"),
        ("Temps d'exécution en millisecondes", "ms"),
        ("units: time=ms", "ms"),
        ("Run times (ms per time step)", "ms"),
    ],
)
def test_a_unit_in_other_words_beside_the_table_is_asked_about(tmp_path: Path, beside: str, unit: str) -> None:
    with pytest.raises(ReadError, match=f"stands beside the table.*--unit {unit}"):
        _read(tmp_path, f"# {beside}\ncores,time\n8,10.2\n16,5.4\n32,3.0\n")


def test_times_of_solvers_without_a_word_of_time_are_told_how_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="columns of each solver are told apart by names"):
        _read(tmp_path, "Cores,Fluid,Solid\n1,40.8,9.9\n2,19.9,5.0\n4,9.9,2.6\n8,5.1,1.3\n")


@pytest.mark.parametrize(
    "head", ["cores time\n# [-] [min]", "# cores time\n# - min", "# cores time\n# [-] [min]", "%cores time\n% # min"]
)
def test_a_commented_row_of_units_between_spaces(tmp_path: Path, head: str) -> None:
    found = _read(tmp_path, f"{head}\n8 10.0\n16 5.5\n32 3.0\n", "runs.dat")
    assert found.runs[""].parameters == ["cores"]
    assert found.runs[""].values.tolist() == pytest.approx([600, 330, 180])


def test_a_comment_above_a_commented_header_is_no_header(tmp_path: Path) -> None:
    found = _read(tmp_path, "# my runs\n# cores time\n8 10.0\n16 5.5\n32 3.0\n", "runs.dat")
    assert found.runs[""].values.tolist() == [10.0, 5.5, 3.0]


def test_a_row_of_units_with_clocks_and_millions(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("Knoten;Prozesse/Knoten;Gitterpunkte;Wandzeit\n-;-;Mio.;mm:ss\n1;76;2,1;40:10\n2;76;2,1;21:02\n")
    runs = scan(path).runs[""]
    assert runs.values.tolist() == [2410, 1262]
    assert find_cores(runs.space, measured=runs.configurations).text == "Knoten * `Prozesse/Knoten`"


def test_epochs_with_their_unit_in_the_name_tell_the_time(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,start_ms,end_ms\n1,1711111111000,1711111211000\n2,1711111300000,1711111352000\n")
    assert scan(path).runs[""].values.tolist() == [100, 52]


@pytest.mark.parametrize("name", ["Время, с", "Czas (s)", "Wandzeit [s]", "Elapsed time, s"])
def test_names_of_times_with_their_unit_behind_a_comma(tmp_path: Path, name: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f'p,"{name}"\n1,100.5\n2,52.1\n4,n.a.\n')
    found = scan(path)
    assert found.runs[""].values.tolist()[:2] == [100.5, 52.1]
    assert not any("assumed" in note for note in found.notes)


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("time (h/year)", "h"), ("temps (h/an)", "h"), ("Zeit (h/Jahr)", "h"), ("time [s/step]", "s"),
        ("time (s/simulated day)", "s"), ("time (min/day)", "min"), ("hours/ns", "h"), ("s/model day", "s"),
    ],
)  # fmt: skip
def test_times_of_a_unit_of_work_have_their_unit(column: str, unit: str) -> None:
    (found,) = time_candidates(["cores", column])
    assert (found.column, found.unit) == (column, unit)


@pytest.mark.parametrize("column", ["ns/day", "perf (ns/day)", "cost (core-h/year)", "h/core", "hours/day"])
def test_rates_and_costs_are_no_times_of_work(column: str) -> None:
    assert measured(column) is None


@pytest.mark.parametrize(
    ("column", "unit"),
    [("wallclock hours per simulated year", "h"), ("wall minutes per step", "min"), ("wall-clock ms per step", "ms")],
)
def test_words_of_the_wall_before_a_unit_make_no_other_time(tmp_path: Path, column: str, unit: str) -> None:
    runs = read_one(write(tmp_path, f"cores,{column}\n8,13.5\n16,7.5\n"))
    assert runs.values.tolist() == [t * SECONDS_PER[unit] for t in (13.5, 7.5)]


@pytest.mark.parametrize(("column", "unit"), [("run hours per year", "h"), ("hours per core", "h")])
def test_another_unit_in_a_name_is_asked_about(tmp_path: Path, column: str, unit: str) -> None:
    path = write(tmp_path, f"cores,{column}\n8,13.5\n16,7.5\n")
    with pytest.raises(ReadError, match=f"pass unit= .* --unit {unit}"):
        TableReader(time=column).read(path)
    assert TableReader(time=column, unit=unit).read(path)[""].values.tolist() == [48600.0, 27000.0]


def test_the_time_of_all_cores_is_not_proposed(tmp_path: Path) -> None:
    path = write(tmp_path, "cores,core-hours per simulated day\n8,13.5\n16,17.5\n")
    with pytest.raises(ReadError, match="the time of all cores together by its name"):
        TableReader().read(path)


@pytest.mark.parametrize(("unit", "value"), [("SYPD", 3600.0), ("h/year", 86_400.0), ("CHSY", 10_800.0)])
def test_a_column_of_units_may_name_the_work(tmp_path: Path, unit: str, value: float) -> None:
    """24 SYPD, hours for a simulated year, and core-hours for one on 8 cores."""
    found = _read(tmp_path, f"cores,time,unit\n8,24,{unit}\n16,48,{unit}\n")
    assert found.runs[""].to_frame().query("cores == 8")["seconds"].iloc[0] == pytest.approx(value)


@pytest.mark.parametrize("units", [("s/day", "h/year"), ("SYPD", "CHSY"), ("s/day", "s")])
def test_a_column_of_units_of_different_work_is_refused(tmp_path: Path, units: tuple[str, str]) -> None:
    with pytest.raises(ReadError, match="aren't of the same work"):
        _read(tmp_path, f"component,cores,time,unit\na,8,24,{units[0]}\nb,8,12,{units[1]}\n")


def test_units_of_one_work_are_converted(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,time,unit\n8,2,s/step\n16,1100,ms/step\n").runs[""]
    assert sorted(found.values) == [1.1, 2.0]


def test_times_of_a_simulated_day_side_by_side_are_asked_about(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"'atm \(s/day\)', 'ocn \(min/month\)'"):
        _read(tmp_path, "cores,atm (s/day),ocn (min/month)\n8,24,5\n16,13,2.6\n32,7,1.4\n")
    with pytest.raises(ReadError, match="of different work, a simulated day, a simulated month"):
        _read(tmp_path, "cores,atm (s/day),ocn (min/month)\n8,24,5\n16,13,2.6\n", time="*", solver="*")


@pytest.mark.parametrize("name", ["s/day", "sec/day", "s_per_day"])
def test_seconds_for_a_day_are_those_of_a_simulated_day(tmp_path: Path, name: str) -> None:
    found = _read(tmp_path, f"cores,{name}\n8,24\n16,13\n32,7\n")
    assert any("is the time in s of a simulated day" in note for note in found.notes)
    with pytest.raises(ReadError, match=r"rename it to 'time \(h/day\)'"):  # on the wall, perhaps
        _read(tmp_path, "cores,h/day\n8,24\n16,13\n32,7\n")


def test_a_simulated_month_and_a_week_are_works(tmp_path: Path) -> None:
    found = _read(tmp_path, "component,cores,wall time [min per simulated month]\na,8,24\na,16,13\nb,8,12\nb,16,7\n")
    assert found.runs["a"].values.tolist() == [1440.0, 780.0]
    assert any("in min of a simulated month (1/12 of a year)" in note for note in found.notes)


def test_the_times_of_a_unit_of_work_of_each_solver_stand_beside_its_cores(tmp_path: Path) -> None:
    found = _read(tmp_path, "atm_cores,ocn_cores,atm_h/year,ocn_h/year,total SYPD\n8,4,2,3,8\n16,8,1.1,1.6,15\n")
    assert found.runs["atm"].values == pytest.approx([7200, 3960])
    assert found.runs["ocn"].values == pytest.approx([10800, 5760])
    assert any("h of a simulated year" in note for note in found.notes)


def test_rates_and_core_hours_of_solvers_are_not_mixed(tmp_path: Path) -> None:
    text = "cores,atm SYPD,ocn CHSY\n8,2,300\n16,3.6,320\n32,7,350\n"
    with pytest.raises(ReadError, match=r"'atm SYPD' and 'ocn CHSY' may be of different solvers"):
        _read(tmp_path, text)
    with pytest.raises(ReadError, match="aren't all times, or all rates in one unit"):
        _read(tmp_path, text, time="*", solver="*")


def test_minutes_for_a_day_are_not_proposed_as_a_rate(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"rename it to 'time \(min/day\)'$"):
        _read(tmp_path, "cores,min/day\n8,215\n16,120\n32,80\n")


@pytest.mark.parametrize(
    ("name", "count", "unit"),
    [
        ("time per 1000 steps (s)", 1000, 1.0), ("Zeit für 100 Schritte [s]", 100, 1.0),
        ("wall time for 1,000 iterations [min]", 1000, 60.0), ("temps pour 10 pas (ms)", 10, 1e-3),
        ("Laufzeit je 1.000 Zeitschritte (s)", 1000, 1.0), ("Temps pour 50 pas de temps (s)", 50, 1.0),
        ("tiempo por cada 10 iteraciones (ms)", 10, 1e-3), ("time per 10k steps (s)", 10_000, 1.0),
    ],
)  # fmt: skip
def test_the_time_of_several_steps_is_divided_by_them(tmp_path: Path, name: str, count: int, unit: float) -> None:
    found = _read(tmp_path, f"cores;{name}\n8;413\n16;206\n32;107\n")
    assert found.runs[""].values == pytest.approx([413 * unit / count, 206 * unit / count, 107 * unit / count])
    assert any(f"is divided by {count}" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("Time is per 10 time steps.", True), ("All timings are for 500 time steps.", True),
        ("Alle Zeiten sind für 500 Zeitschritte", True), ("time per simulated day", True),
        ("Zeit pro simuliertem Jahr", True),
        ("time per step in seconds", False), ("wall time per core", False),
    ],
)  # fmt: skip
def test_a_text_that_tells_of_which_work_times_are_is_asked_about(tmp_path: Path, text: str, is_asked: bool) -> None:
    table = f"# {text}\ncores,time_s\n8,413\n16,206\n32,107\n"
    if is_asked:
        with pytest.raises(ReadError, match=r"--time time_s says so"):
            _read(tmp_path, table)
        assert len(_read(tmp_path, table, time="time_s").runs[""]) == 3
    else:
        assert len(_read(tmp_path, table).runs[""]) == 3


@pytest.mark.parametrize("cell", ["{} US$", "US${}", "{} USD", "CHF {}"])
def test_costs_with_a_currency_are_outcomes(tmp_path: Path, cell: str) -> None:
    rows = "".join(f"{n},{90 / n + 1},{cell.format(0.1 + n / 1000)}\n" for n in (4, 8, 16, 32, 64))
    found = _read(tmp_path, f"cores,time_s,Cost (USD)\n{rows}")
    assert found.runs[""].parameters == ["cores"]


@pytest.mark.parametrize(
    "name", ["s per 5 simulated days", "time per 5 simulated days (s)", "time per simulated day (s)"]
)
def test_the_time_of_simulated_days_needs_no_option(tmp_path: Path, name: str) -> None:
    found = _read(tmp_path, f"cores,{name}\n8,24\n16,13\n32,7\n")
    assert found.runs[""].values.tolist() == [seconds / (5 if "5" in name else 1) for seconds in (24, 13, 7)]
    assert "time (s/day)" in [column.name for column in found.columns] or "of a simulated day" in found.notes[0]
    assert "assumed" not in found.notes[0]


ENDS = [("11:17:01", "11:19:01", 36), ("12:00:00", "12:01:05", 72), ("13:00:00", "13:00:35", 144)]


@pytest.mark.parametrize(("factor", "name"), [(36, "WallTime(sec)"), (1000, "time")])
def test_a_time_longer_than_from_start_to_end_is_none_of_a_run(tmp_path: Path, factor: int, name: str) -> None:
    took = (120 * factor, 65 * factor, 35 * factor)
    rows = [f"{n},{t},2026-01-09 {one},2026-01-09 {two}" for (one, two, n), t in zip(ENDS, took, strict=True)]
    found = _read(tmp_path, "\n".join([f"cores,{name},start,end", *rows]))
    assert found.runs[""].values.tolist() == [120, 65, 35]
    assert f"the time is that from 'start' to 'end': {name!r} is longer" in " ".join(found.notes)


@pytest.mark.parametrize("took", [(100, 50, 20), (121, 66, 36)])
def test_a_time_within_start_and_end_is_that_of_the_run(tmp_path: Path, took: tuple[int, ...]) -> None:
    rows = [f"{n},{t},2026-01-09 {one},2026-01-09 {two}" for (one, two, n), t in zip(ENDS, took, strict=True)]
    assert _read(tmp_path, "\n".join(["cores,time_s,start,end", *rows])).runs[""].values.tolist() == list(took)


def test_days_of_start_and_end_tell_nothing_of_a_time(tmp_path: Path) -> None:
    rows = ["8,100,2026-01-09,2026-01-09", "16,50,2026-01-09,2026-01-09", "32,25,2026-01-10,2026-01-10"]
    assert _read(tmp_path, "\n".join(["cores,time_s,start,end", *rows])).runs[""].values.tolist() == [100, 50, 25]


@pytest.mark.parametrize(
    "date", ["02/0{}/2024 07:51:00", "Thu Feb  {} 07:51:00 2024", "2024-02-0{} 07:51:00.123", "-/-"]
)
def test_dates_of_grid_engine_are_no_times_and_what_jobs_used_no_parameters(tmp_path: Path, date: str) -> None:
    rows = [
        f"{7 + n},{8 << n},{date.format(n + 1)},{date.format(n + 2)},{3000 / 2**n:.0f},{30000 + 7 * n},2.{n}G,0.{n},0"
        for n in range(5)
    ]
    text = "\n".join(["job_number,slots,qsub_time,end_time,ru_wallclock,cpu,maxvmem,ru_stime,failed", *rows])
    found = _read(tmp_path, text)
    assert found.runs[""].parameters == ["slots"]
    assert found.runs[""].values.max() == 3000
    roles = {column.name: column.role for column in found.columns}
    assert {roles[name] for name in ("cpu", "maxvmem", "ru_stime")} == {"outcome"}
    assert not any("qsub_time' is" in note or "assumed" in note for note in found.notes)


@pytest.mark.parametrize("date", ["Feb-0{}-08:00", "Feb  {} 08:00"])
def test_dates_without_a_year_are_no_quantity(tmp_path: Path, date: str) -> None:
    rows = [f"{8 * 2**n},{3000 / 2**n:.0f},{date.format(n + 1)}" for n in range(4)]
    found = _read(tmp_path, "\n".join(["SLOTS,RUN_TIME(s),SUBMIT_TIME", *rows]))
    assert list(found.runs[""].quantities) == ["seconds"]


def _with_ends(values: list[str], name: str = "time") -> str:
    ends = ["09:08:22", "08:33:19", "08:17:24"]
    rows = [f"{16 << n};2024-02-01 08:00:00;2024-02-01 {end};{values[n]}" for n, end in enumerate(ends)]
    return "\n".join([f"cores;start;end;{name}", *rows])


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        (["68.37", "33.32", "17.41"], "min"),
        (["1.139", "0.555", "0.290"], "h"),
        (["4102", "1999", "1044"], "s"),
    ],
)
def test_start_and_end_tell_the_unit_of_the_time(tmp_path: Path, values: list[str], unit: str) -> None:
    found = _read(tmp_path, _with_ends(values))
    assert found.runs[""].values.tolist() == pytest.approx([4102, 1999, 1044], rel=2e-3)
    assert any(f"in {unit} (as the times from start to end" in note for note in found.notes)


def test_start_and_end_that_hold_more_than_the_time_tell_no_unit(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"'time' may be in s or min, .*--unit min"):
        _read(tmp_path, _with_ends(["60.0", "30.0", "15.0"]))


@pytest.mark.parametrize("name", ["turnaround", "Time"])
def test_a_time_that_holds_the_waiting_is_none_of_a_run(tmp_path: Path, name: str) -> None:
    found = _read(tmp_path, _with_ends(["02:08:22", "01:33:19", "03:17:24"], name))
    assert found.runs[""].values.tolist() == [4102, 1999, 1044]
    assert any(f"{name!r} is longer" in note for note in found.notes)


_TIMES = "16,6.585\n32,3.465\n64,1.753\n128,0.902\n"


def test_a_unit_below_the_table_is_asked_about_if_that_of_the_time_is_open(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"'in minutes' stands beside the table.*--unit min"):
        _read(tmp_path, f"cores,time\n{_TIMES}(all in minutes)\n")
    for name, text, options in (
        ("time_s", "(all in minutes)", {}),
        ("time", "(all in minutes)", {"unit": "s"}),
        ("time", "(all in seconds)", {}),
        ("time", "simulated in minutes", {}),
    ):
        assert _read(tmp_path, f"cores,{name}\n{_TIMES}{text}\n", **options).runs[""].values.max() == 6.585


def test_a_unit_in_json_beside_the_rows_is_asked_about(tmp_path: Path) -> None:
    rows = [dict(zip(("cores", "time"), map(float, row.split(",")), strict=True)) for row in _TIMES.split()]
    with pytest.raises(ReadError, match="'unit: min' stands beside the table"):
        _read(tmp_path, json.dumps({"meta": {"unit": "min"}, "results": rows}), "runs.json")


def test_a_unit_in_a_readme_is_asked_about_if_that_of_the_time_is_open(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Times are in minutes.\n")
    with pytest.raises(ReadError, match=r"README.*--unit min"):
        _read(tmp_path, f"cores,time\n{_TIMES}")
    assert _read(tmp_path, f"cores,time_s\n{_TIMES}").runs[""].values.max() == 6.585
    assert _read(tmp_path, f"cores,time\n{_TIMES}", unit="min").runs[""].values.max() == pytest.approx(395.1)


@pytest.mark.parametrize("name", ["time of day", "Uhrzeit", "start time", "begun at"])
def test_times_of_day_are_no_parameter_and_no_time(tmp_path: Path, name: str) -> None:
    path = tmp_path / "runs.csv"
    rows = [f"{solver},{p},{900 / p + 2:.3f},{8 + k}:15" for solver in ("a", "b") for k, p in enumerate((8, 16, 32))]
    path.write_text("\n".join([f"component,cores,s/day,{name}", *rows, ""]))
    found = scan(path)
    assert found.runs["a"].parameters == ["cores"]
    assert [one.role for one in found.columns if one.name == name] == ["identifier"]
    assert any(f"left out: {name}" in said for said in found.notes), found.notes
