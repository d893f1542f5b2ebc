"""Tables as people write them: commented headers, cells of several lines, units in cells, rows that sum up others."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

import evenly
from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan
from evenly.runs.cores import find_cores


def _read(folder: Path, text: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path, **options)


def _roles(found: Measurements) -> dict[str, str]:
    return {column.name: column.role for column in found.columns}


def test_a_commented_header_above_durations(tmp_path: Path) -> None:
    runs = _read(tmp_path, "#cores,runtime\n16,2.722 h\n32,1.472 h\n64,50.83 min\n").runs[""]
    assert runs.parameters == ["cores"]
    assert runs.configurations["cores"].tolist() == [16, 32, 64]


def test_numbers_and_durations_are_no_header(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="the first line must name the columns"):
        _read(tmp_path, "16,2.722 h\n32,1.472 h\n")


def test_the_time_of_a_piece_of_work_is_no_parameter(tmp_path: Path) -> None:
    text = "ranks,steps,ms/step,total_s\n16,1000,49,49\n16,5000,49,245\n32,1000,26.5,26.5\n32,5000,26.5,132.5\n"
    assert _roles(_read(tmp_path, text))["ms/step"] == "quantity"


TWO = "cores,time_s\n1,800\n2,400\n4,210\n8,108\n{between}1,610\n2,310\n4,160\n8,88\n"


@pytest.mark.parametrize("between", ["# cluster B\n", "\n", "cores,time_s\n", "\n# cluster B\ncores,time_s\n"])
def test_a_second_table_is_no_repeated_run(tmp_path: Path, between: str) -> None:
    with pytest.raises(ReadError, match=r"the configurations of the lines 2 to 5, but take 0\.76\d* times as long"):
        _read(tmp_path, TWO.format(between=between))


def test_repeated_runs_in_blocks_are_repeated_runs(tmp_path: Path) -> None:
    again = TWO.replace("610", "780").replace("310", "410").replace("160", "208").replace("88", "110")
    assert len(_read(tmp_path, again.format(between="# second day\n")).runs[""]) == 8
    lines = ["cores,time_s,solver", *(f"{p},{900 / p / k},{'ab'[k - 1]}" for k in (1, 2) for p in (1, 2, 4))]
    lines.insert(4, "# the other one")
    assert list(_read(tmp_path, "\n".join([*lines, ""])).runs) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "+-------+---------+\n| cores | seconds |\n+=======+=========+\n| 1     | 812.1   |\n| 2     | 409.2   |\n",
        "===== =======\ncores seconds\n===== =======\n1     812.1\n2     409.2\n===== =======\n",
    ],
)
def test_tables_of_restructured_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "table.txt").write_text(text)
    assert scan(tmp_path / "table.txt").runs[""].values.tolist() == [812.1, 409.2]


def test_workers_and_the_one_that_gives_them_work(tmp_path: Path) -> None:
    found = _read(tmp_path, "Procs,Workers,Time (s)\n2,1,100.2\n3,2,51.1\n5,4,26.3\n9,8,13.9\n")
    assert _roles(found) == {"Procs": "parameter", "Workers": "left out", "Time (s)": "time"}


def test_a_unit_of_time_alone_and_averages_of_others(tmp_path: Path) -> None:
    found = _read(tmp_path, "threads,kernel_us\n1,812.1\n2,409.2\n4,210.7\n8,118.3\n")
    assert found.runs[""].values[0] == pytest.approx(812.1e-6)
    found = _read(tmp_path, "threads,time_s,avg_comm\n1,812.1,10.25\n2,409.2,11.34\n4,210.7,12.87\n8,118.3,14.1\n")
    assert _roles(found) == {"threads": "parameter", "time_s": "time", "avg_comm": "outcome"}
    chosen = _read(tmp_path, "threads,time_s,mean_degree\n1,812.1,4\n2,409.2,4\n1,1610.7,8\n2,818.3,8\n")
    assert _roles(chosen)["mean_degree"] == "parameter"


def test_words_for_what_became_of_runs(tmp_path: Path) -> None:
    text = (
        "cores,outcome,wall_h\n16,finished,2.7\n32,finished,1.4\n64,hit walltime,6\n128,node failure,0.1\n"
        "64,ran into limit,6\n"
    )
    states = ["ok", "ok", "timed out", "timed out"]
    assert list(_read(tmp_path, text).runs[""].to_frame()["status"]) == states


def test_a_mark_of_outliers_in_words(tmp_path: Path) -> None:
    text = "cores,outlier,time_s\n1,no,80\n2,no,41\n4,yes,92\n8,no,12\n"
    assert list(_read(tmp_path, text).runs[""].to_frame()["status"]) == ["ok", "ok", "failed", "ok"]


def test_who_ran_it_is_no_parameter(tmp_path: Path) -> None:
    text = "cores,who,time_s\n1,anna,80\n2,bert,41\n4,anna,22\n8,carl,12\n"
    assert _roles(_read(tmp_path, text))["who"] == "identifier"


@pytest.mark.parametrize("column", ["run", "rep"])
def test_a_row_that_sums_up_others_is_no_run(tmp_path: Path, column: str) -> None:
    text = f"cores,{column},time_s\n16,1,487\n16,2,499\n16,mean,493\n32,1,250\n"
    with pytest.raises(ReadError, match=f"line 4: 'mean' in column '{column}' is no run"):
        _read(tmp_path, text)
    runs = scan(tmp_path / "runs.csv", where=f"{column} != 'mean'").runs[""]
    assert sorted(runs.values) == [250, 487, 499]


def test_header_cells_of_several_lines(tmp_path: Path) -> None:
    text = '"Number of\ncores","Wall-clock\ntime (s)"\n16,490.0\n32,265.0\n64,bad\n'
    with pytest.raises(ReadError, match="line 6: "):
        _read(tmp_path, text)
    assert _read(tmp_path, text.replace("64,bad\n", "")).runs[""].parameters == ["Number of cores"]


@pytest.mark.parametrize("space", [" ", "\u202f", "\u00a0", "\u2009"])
def test_spaces_between_thousands(tmp_path: Path, space: str) -> None:
    found = _read(tmp_path, f"cores;time (s)\n16;14{space}700,5\n32;7{space}950,0\n64;412,5\n")
    assert list(found.runs[""].values) == [14700.5, 7950, 412.5]


def test_points_in_time_with_dots(tmp_path: Path) -> None:
    text = "procs,begin,finish\n16,03.02.2026 22:10:05,04.02.2026 00:10:05\n32,4.2.2026 07:00:00,04.02.2026 08:00:00\n"
    assert list(_read(tmp_path, text).runs[""].values) == [7200, 3600]


def test_measured_amounts_with_their_units(tmp_path: Path) -> None:
    text = "cores,time,peak memory,energy\n16,8 min,3.2 GB,24 kJ\n32,4 min,6400 MB,26 kJ\n64,2 min,12.8 GB,30 kJ\n"
    runs = _read(tmp_path, text).runs[""]
    assert runs.parameters == ["cores"]
    assert {**runs.quantities, "seconds": "s"} == {"seconds": "s", "peak memory": "B", "energy": "J"}
    assert runs.to_frame()["peak memory"].tolist() == [3.2e9, 6.4e9, 12.8e9]


def test_a_size_with_its_unit_is_a_number(tmp_path: Path) -> None:
    found = _read(tmp_path, "ranks,message,time_s\n2,4 KiB,1.1\n2,64 KiB,1.9\n4,4 KiB,1.3\n4,1 MiB,9.7\n")
    assert found.runs[""].configurations["message"].tolist() == [4, 64, 4, 1024]
    assert "the numbers in 'message' are in KiB" in " ".join(found.notes)


def test_what_was_charged_is_an_outcome(tmp_path: Path) -> None:
    text = "GPUs,walltime (min),SU charged\n1,600,20\n2,310,20.7\n4,160,21.3\n"
    assert _roles(_read(tmp_path, text))["SU charged"] == "outcome"


def test_a_label_above_empty_cells_is_asked_for(tmp_path: Path) -> None:
    text = "problem,cores,time_s\nsmall,16,490\n,32,265\nlarge,16,3600\n,32,1900\n"
    with pytest.raises(ReadError, match="'small' in column 'problem' stands above empty cells"):
        _read(tmp_path, text)
    assert scan(tmp_path / "runs.csv", parameters="cores").runs[""].parameters == ["cores"]


@pytest.mark.parametrize(
    ("column", "cell", "seconds"),
    [("runtime [h:mm]", "8:10", 29400), ("Walltime(hh:mm:ss)", "2:43:20", 9800), ("Zeit in s", "12.5", 12.5)],
)
def test_names_of_times_with_their_format(tmp_path: Path, column: str, cell: str, seconds: float) -> None:
    assert _read(tmp_path, f"cores,{column}\n16,{cell}\n").runs[""].values[0] == seconds


def test_constant_counts_multiply_the_cores(tmp_path: Path) -> None:
    _read(tmp_path, "Tasks;CPUs per task;time_s\n4;4;9800\n8;4;5300\n16;4;3050\n")
    runs = scan(tmp_path / "runs.csv").runs[""]
    assert find_cores(runs.space).text == "Tasks * `CPUs per task`"
    _read(tmp_path, "node count,tasks/node,time_s\n1,16,980\n2,16,530\n4,16,305\n")
    runs = scan(tmp_path / "runs.csv").runs[""]
    assert find_cores(runs.space).text == "`node count` * `tasks/node`"


def test_versions_are_labels(tmp_path: Path) -> None:
    found = _read(tmp_path, "version,cores,time_s\n1.1,8,10\n1.10,8,5\n1.1,16,6\n1.10,16,3\n")
    assert set(found.runs[""].configurations["version"]) == {"1.1", "1.10"}


def test_millions_are_no_minutes(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,cells,time_s\n8,1M,10\n8,2M,20\n16,1M,5\n16,2M,10\n")
    assert set(found.runs[""].configurations["cells"]) == {1_000_000, 2_000_000}
    with pytest.raises(ReadError, match="'1m' in column 'cells' may be minutes or millions"):
        _read(tmp_path, "cores,cells,time_s\n8,1m,10\n8,2m,20\n")


def test_the_longest_walltime_is_a_limit(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,max_walltime_min,time_s\n4,20,1200\n8,15,700\n16,15,400\n")
    assert list(found.runs[""].to_frame()["status"]) == ["timed out", "ok", "ok"]


def test_a_result_is_no_time(tmp_path: Path) -> None:
    text = "procs,MLUPS\n8,64.5\n16,120\n"
    with pytest.raises(ReadError, match="no column's name"):
        _read(tmp_path, text)
    with pytest.raises(ReadError, match="'MLUPS' isn't a time by its name, but a result"):
        scan(tmp_path / "runs.csv", time="MLUPS")


def test_columns_named_as_the_time_are_no_parameters(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("cores,128^3,256^3,512^3\n8,1,8,70\n16,.6,4.1,36\n32,.4,2.2,19\n")
    assert scan(tmp_path / "runs.csv", time="256^3").runs[""].parameters == ["cores"]


@pytest.mark.parametrize("name", ["time (x1000 s)", "Time [10^3 s]", "relative time", "normalized runtime"])
def test_a_time_that_is_scaled_is_asked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReadError, match=r"is no unit that evenly knows|isn't a time by its name"):
        _read(tmp_path, f"cores,{name}\n16,1.867\n32,0.95\n")


def test_a_question_is_a_state(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,completed?,time_s\n16,yes,100\n32,no,3\n64,yes,30\n")
    assert list(found.runs[""].to_frame()["status"]) == ["ok", "failed", "ok"]


def test_a_setting_in_units_of_time_is_a_parameter(tmp_path: Path) -> None:
    text = "dt,cores,time_s\n10 s,8,100\n20 s,8,52\n40 s,8,27\n10 s,16,51\n20 s,16,27\n40 s,16,15\n"
    runs = _read(tmp_path, text).runs[""]
    assert runs.parameters == ["dt", "cores"]
    assert set(runs.configurations["dt"]) == {10, 20, 40}


def test_a_clock_that_runs_is_no_time_of_a_step(tmp_path: Path) -> None:
    steps = [(cores, step, 370 * step * 16 / cores) for cores in (16, 32) for step in (1, 2, 3, 4, 5)]
    text = "cores,step,elapsed_s\n" + "".join(f"{c},{s},{t}\n" for c, s, t in steps)
    with pytest.raises(ReadError, match="'elapsed_s' grows from step to step in all runs"):
        _read(tmp_path, text)
    assert sorted(scan(tmp_path / "runs.csv", where="step == 5").runs[""].values) == [925, 1850]


@pytest.mark.parametrize("name", ["Zeitlimit", "Límite de tiempo", "what we may"])
def test_a_limit_of_any_name_bounds_the_times(tmp_path: Path, name: str) -> None:
    rows = [(4, "00:20:00", "00:20:00"), (4, "00:20:00", "00:20:00"), (8, "00:20:00", "00:15:35")]
    rows += [(16, "00:10:00", "00:08:10"), (16, "00:10:00", "00:08:12"), (32, "00:10:00", "00:04:40")]
    found = _read(tmp_path, f"cores;{name};elapsed\n" + "".join(f"{';'.join(map(str, row))}\n" for row in rows))
    frame = found.runs[""].to_frame()
    assert (frame["status"] == "timed out").tolist() == [True, True, False, False, False, False]
    assert any(f"2 runs took as long as {name!r} allows" in note for note in found.notes)


def test_another_time_is_no_limit(tmp_path: Path) -> None:
    text = "cores,wait_s,time_s\n8,60,60\n16,120,52\n32,60,27\n64,180,14\n"
    assert set(_read(tmp_path, text).runs[""].to_frame()["status"]) == {"ok"}


def test_a_limit_with_units_in_its_cells_bounds_the_times(tmp_path: Path) -> None:
    rows = [(4, "20 min", 1203), (4, "20 min", 1201), (8, "20 min", 935), (16, "10 min", 490), (16, "10 min", 601)]
    found = _read(tmp_path, "cores,reserved,elapsed_s\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    assert (found.runs[""].to_frame()["status"] == "timed out").tolist() == [True, True, False, False, True]
    assert found.runs[""].parameters == ["cores"]


def test_a_table_of_partitions_and_tasks_is_no_accounting(tmp_path: Path) -> None:
    found = _read(tmp_path, "partition,ntasks,elapsed\nlong,8,00:10:00\nlong,16,00:05:20\nshort,8,00:10:10\n")
    assert found.runs[""].parameters == ["partition", "ntasks"]


@pytest.mark.parametrize(
    ("name", "versions"), [("OpenMPI", ("1.9", "1.10")), ("release", ("1.1", "2.0")), ("code", ("4.9", "4.10"))]
)
def test_versions_are_no_numbers(tmp_path: Path, name: str, versions: tuple[str, str]) -> None:
    rows = "".join(f"{cores},{one},{80 / cores:g}\n" for cores in (1, 2, 4) for one in versions)
    found = _read(tmp_path, f"cores,{name},seconds\n{rows}")
    assert set(found.runs[""].configurations[name]) == set(versions)
    assert f"'{name}' holds versions: labels, of which 1.1 and 1.10 are two" in found.notes[-1]


@pytest.mark.parametrize("values", [("0.5", "0.10"), ("1.90", "1.10"), ("2.5", "12.25")])
def test_numbers_are_no_versions(tmp_path: Path, values: tuple[str, str]) -> None:
    rows = "".join(f"{cores},{one},{80 / cores:g}\n" for cores in (1, 2, 4) for one in values)
    found = _read(tmp_path, f"cores,width,seconds\n{rows}")
    assert set(found.runs[""].configurations["width"]) == {float(one) for one in values}


@pytest.mark.parametrize("name", ["core-hours", "Node hours", "core_h", "GPU-hours"])
def test_core_hours_are_no_time_of_a_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "runs.csv").write_text(f"cores,{name}\n8,16\n16,17\n")
    with pytest.raises(ReadError, match="the time of all cores together"):
        scan(tmp_path / "runs.csv", time=name, unit="h")


CRASHED = "cores,time_s,{name}\n16,412,\n32,212,\n64,3.1,{word}\n128,62,\n256,37,new switch\n"


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("comment", "segfault"), ("note", "extrapolated from 32"), ("Bemerkung", "abgestürzt"), ("error", "segv"),
        ("remarks", "crashed (OOM)"), ("comment", "do not use: shared node"), ("outlier", "x"),
    ],
)  # fmt: skip
def test_a_remark_that_a_run_is_none_is_asked_about(tmp_path: Path, name: str, word: str) -> None:
    with pytest.raises(ReadError, match=f"line 4: .*in column '{name}' says that this is no run") as asked:
        _read(tmp_path, CRASHED.format(name=name, word=word))
    proposed = str(asked.value).split("--where '")[1].split("'")[0]
    assert len(scan(tmp_path / "runs.csv", where=proposed).runs[""]) == 4
    assert len(scan(tmp_path / "runs.csv", parameters="cores").runs[""]) == 5


@pytest.mark.parametrize("name", ["source", "kind", "how", "Quelle"])
def test_rows_that_were_not_measured_are_asked_about(tmp_path: Path, name: str) -> None:
    rows = "".join(f"{c},{400 / c},{'measured' if c < 64 else 'extrapolated'}\n" for c in (8, 16, 32, 64, 128))
    with pytest.raises(ReadError, match="'extrapolated' in column"):
        _read(tmp_path, f"cores,time_s,{name}\n{rows}")


def test_remarks_on_all_rows_alike_say_nothing(tmp_path: Path) -> None:
    text = "cores,time_s,comment\n16,412,new switch\n32,212,\n64,111,the coarse model\n"
    assert _read(tmp_path, text).runs[""].parameters == ["cores"]
    both = "cores,time_s,kind\n16,412,predicted\n32,212,predicted\n64,111,predicted\n"
    assert len(_read(tmp_path, both).runs[""]) == 3


def test_the_least_of_several_times_is_no_time_in_minutes(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="'time_min' may be minutes, or the least of several times, as 'time_avg'"):
        _read(tmp_path, "ranks,time_min,time_avg,time_max\n16,400,410,421\n32,210,217,225\n")
    assert scan(tmp_path / "runs.csv", time="time_avg", unit="s").runs[""].values.tolist() == [410, 217]
    assert _read(tmp_path, "ranks,time_min\n16,4\n32,2\n").runs[""].values.tolist() == [240, 120]


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("ranks", "threads", "cores"), ["threads", "cores"]),
        (("nodes", "gpus_per_node", "total_gpus"), ["gpus_per_node", "total_gpus"]),
        (("nodes", "ppn", "cores"), ["ppn", "cores"]),
    ],
)
def test_a_count_that_is_the_product_of_others_leaves_one_out(
    tmp_path: Path, names: tuple[str, ...], kept: list[str]
) -> None:
    rows = "".join(f"{a},{b},{a * b},{800 / a / b + b}\n" for a in (4, 8, 16) for b in (1, 2, 4))
    assert _read(tmp_path, f"{','.join(names)},time_s\n{rows}").runs[""].parameters == kept


@pytest.mark.parametrize("name", ["Lauf", "Wiederholung", "Messung Nr.", "N° essai", "Répétition"])
def test_numbers_of_runs_in_other_languages(tmp_path: Path, name: str) -> None:
    text = f"{name};Kerne;Zeit [s]\n1;16;410\n2;16;413\n1;32;212\n2;32;211\n"
    assert _read(tmp_path, text).runs[""].parameters == ["Kerne"]
    with pytest.raises(ReadError, match=r"'Mittelwert' in column '.*' is no run"):
        _read(tmp_path, text + "Mittelwert;32;211.5\n")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("Result", "pass", "fail"), ("done", "✓", "✗"), ("Fehler", "nein", "ja"), ("Erfolg", "ja", "nein"),
        ("Statut", "terminé", "échec"), ("use", "y", "n"), ("Status", "fertig", "abgebrochen"),
        ("Status", "abgeschlossen", "abgebrochen"),
    ],
)  # fmt: skip
def test_states_in_other_words(tmp_path: Path, name: str, good: str, bad: str) -> None:
    rows = [(16, 412, good), (32, 212, good), (64, 2.1, bad), (128, 62, good)]
    text = f"cores,time_s,{name}\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)
    assert _read(tmp_path, text).runs[""].to_frame()["status"].tolist() == ["ok", "ok", "failed", "ok"]


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("Wallclock (hrs)", 3600), ("Rechenzeit in Minuten", 60), ("Rechenzeit [d]", 86400), ("Laufzeit [Std]", 3600),
        ("Zeit (Tage)", 86400), ("temps (jours)", 86400), ("Dauer_s", 1), ("temps en heures (heures)", 3600),
    ],
)  # fmt: skip
def test_units_in_words(tmp_path: Path, name: str, seconds: float) -> None:
    assert _read(tmp_path, f"cores,{name}\n16,2\n32,1\n").runs[""].values.tolist() == [2 * seconds, seconds]


@pytest.mark.parametrize(
    "name",
    [
        "val_acc", "top-1", "power_W", "Kernstunden", "Kosten [EUR]", "Heures.cœur", "Speicher (GB)",
        "Maximum resident set size (kbytes)",
    ],
)  # fmt: skip
def test_results_of_other_fields_are_no_parameters(tmp_path: Path, name: str) -> None:
    measured = (71.37, 71.93, 72.41, 73.17)
    rows = "".join(f"{c},{800 / c + 3},{x}\n" for c, x in zip((8, 16, 32, 64), measured, strict=True))
    assert _read(tmp_path, f"cores,time_s,{name}\n{rows}").runs[""].parameters == ["cores"]


def test_a_column_of_units_holds_those_of_the_time(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,time,unit\n16,1.5,h\n32,45,min\n64,1400,s\n")
    assert found.runs[""].values.tolist() == [5400, 2700, 1400]
    assert "'unit' holds the unit of 'time'" in found.notes[0]


@pytest.mark.parametrize(
    ("cell", "seconds"), [("3'962.5", 3962.5), ("3'962", 3962), ('"39,830.5 s"', 39830.5), ("3’962.5", 3962.5)]
)
def test_thousands_that_are_unmistakable(tmp_path: Path, cell: str, seconds: float) -> None:
    assert _read(tmp_path, f"cores,time\n16,{cell}\n32,800 s\n").runs[""].values[0] == seconds


def test_a_title_above_a_table_from_a_spreadsheet(tmp_path: Path) -> None:
    found = _read(tmp_path, "Scaling of ALYA,,\n,,\nCores,Time (s),Efficiency\n16,410,1\n32,212,0.97\n")
    assert found.runs[""].values.tolist() == [410, 212]


@pytest.mark.parametrize(
    "text",
    [
        '[{"cores": 16, "time_s": 410}, {"cores": 32, "time_s": 212}]',
        '{"cores": [16, 32], "time_s": [410, 212]}',
        '{"cores": 16, "time_s": 410}\n{"cores": 32, "time_s": 212}\n',
        '{"machine": "m", "runs": [{"cores": 16, "time_s": 410}, {"cores": 32, "time_s": 212}]}',
    ],
)
def test_tables_in_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "runs.json").write_text(text)
    runs = scan(tmp_path / "runs.json").runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["cores"], [410, 212])


def test_start_and_end_in_other_words(tmp_path: Path) -> None:
    for names in ("start_ts,end_ts", "Beginn,Ende"):
        text = f"cores,{names}\n16,1710000000,1710000412\n32,1710005000,1710005212\n"
        assert _read(tmp_path, text).runs[""].values.tolist() == [412, 212]


@pytest.mark.parametrize(
    "remark",
    [
        "killed-cell model", "new estimate of cells", "invalid cells removed", "crash test", "Richardson extrapolation",
        "abort criterion 1e-6", "ignore I/O", "estimated residual 1e-3", "2 failed attempts before, this one is good",
        "after the bug fix (crash in v1)", "error bars from 3 runs",
    ],
)  # fmt: skip
def test_harmless_remarks_are_no_reason_to_ask(tmp_path: Path, remark: str) -> None:
    found = _read(tmp_path, CRASHED.format(name="comment", word=f'"{remark}"').replace("64,3.1", "64,111"))
    assert len(found.runs[""]) == 5


@pytest.mark.parametrize(
    "remark",
    [
        "job died after 3 s", "node down", "only half the steps", "stopped early", "exit code 139", "incomplete",
        "ne pas utiliser", "falló", "unvollständig", "(estimated)", "extrapolated by hand",
    ],
)  # fmt: skip
def test_remarks_that_a_run_is_none_in_other_words(tmp_path: Path, remark: str) -> None:
    with pytest.raises(ReadError, match=r"line 4: .* says that this is no run"):
        _read(tmp_path, CRASHED.format(name="comment", word=remark))


@pytest.mark.parametrize(("name", "constant"), [("file", 8.0), ("accuracy", 0.0), ("host", 8.0), ("user", 8.0)])
def test_a_chosen_column_whose_effect_shows_in_some_configurations_only(
    tmp_path: Path, name: str, constant: float
) -> None:
    rng = np.random.default_rng(0)
    rows = [
        (nodes, size, value, (constant + f * 20 * size / nodes) * rng.lognormal(0, 0.03))
        for nodes in (1, 2, 4, 8, 16)
        for size in (1, 2, 4)
        for value, f in (("0.1", 1.0), ("0.01", 1.8 if constant or size == 4 else 1.0))
    ]
    text = f"nodes,size,{name},time_s\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)
    with pytest.raises(ReadError, match=f"'{name}' is left out .* in \\d+ of 15 configurations alike"):
        _read(tmp_path, text)


def test_flags_that_half_of_the_runs_lack_are_asked_about(tmp_path: Path) -> None:
    rows = [(p, f, 400 / p * x) for p in (8, 16, 32, 64) for f, x in (("", 1.38), ("-xHost", 1.0))]
    text = "cores,flags,time_s\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)
    with pytest.raises(ReadError, match=r"'flags' is left out .* differ in time by 1.38 times.*fill in its empty"):
        _read(tmp_path, text)
    filled = text.replace(",,", ",none,")
    (tmp_path / "filled.csv").write_text(filled)
    assert scan(tmp_path / "filled.csv").runs[""].parameters == ["cores", "flags"]


def test_a_condition_on_one_remark_tells_nothing_of_another(tmp_path: Path) -> None:
    rows = [(p, 400 / p, "") for p in (1, 2, 4, 8, 16)] + [(32, 1.2, "segfault"), (64, 0.4, "killed out of memory")]
    text = "cores,time_s,remark\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)
    with pytest.raises(ReadError, match="'remark != \"segfault\"'"):
        _read(tmp_path, text)
    both = "(remark != 'segfault') and remark != \"killed out of memory\""
    with pytest.raises(ReadError) as asked:
        scan(tmp_path / "runs.csv", where="remark != 'segfault'")
    assert shlex.quote(both) in str(asked.value)
    assert len(scan(tmp_path / "runs.csv", where=both).runs[""]) == 5


def test_repeated_runs_on_two_days_are_no_choice(tmp_path: Path) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = [(n, d, 100 / n * rng.lognormal(0, 0.1)) for n in (1, 2, 4, 8, 16, 32) for d in ("anna", "bert")]
        _read(tmp_path, "nodes,user,time_s\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))


@pytest.mark.parametrize("name", ["n_samples", "samples", "hosts", "source", "accuracy order", "residual tolerance"])
def test_a_chosen_column_is_not_left_out_by_its_name(tmp_path: Path, name: str) -> None:
    rows = [(c, n, 800 / c * f + 1) for c in (8, 16, 32, 64) for n, f in (("10", 1.0), ("20", 1.6))]
    with pytest.raises(ReadError, match=f"'{name}' is left out .* differ in time by 1.*in all configurations alike"):
        _read(tmp_path, f"cores,{name},time_s\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    if name != "source":  # evenly's own name: it is to be renamed
        assert scan(tmp_path / "runs.csv", parameters=["cores", name]).runs[""].parameters == ["cores", name]
    assert scan(tmp_path / "runs.csv", parameters="cores").runs[""].parameters == ["cores"]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ("cores,CPU time [s]", "is CPU time by its name"),
        ("cores,compute_time_s,mpi_time_s", "may be a part of the time only"),
        ("cores,Physical time (s)", "no column's name says"),
        ("cores,flow time", "no column's name says"),
        ("cores,wall time / 1e3 s", "no unit that evenly knows"),
        ("cores,time x1000 s", "no unit that evenly knows"),
    ],
)
def test_what_may_not_be_the_time_of_the_run_is_asked_about(tmp_path: Path, names: str, reason: str) -> None:
    width = names.count(",")
    with pytest.raises(ReadError, match=reason):
        _read(tmp_path, f"{names}\n16{',4.5' * width}\n32{',2.5' * width}\n64{',1.25' * width}\n")


LAW = "".join(f"{c},{5400 / c + 7},{{{c}}}\n" for c in (12, 24, 48, 96, 192, 384))


@pytest.mark.parametrize(
    "remark", ["wrong binary", "lost a rank halfway", "nicht werten", "MPI error", "noisy neighbour"]
)
def test_a_remark_on_a_run_off_the_law_is_asked_about_whatever_its_words(tmp_path: Path, remark: str) -> None:
    cells = dict.fromkeys(("12", "24", "48", "192", "384"), "") | {"96": remark}
    text = "cores,time_s,comment\n" + LAW.replace("96,63.25", "96,3.2")
    for name, cell in cells.items():
        text = text.replace(f"{{{name}}}", cell)
    with pytest.raises(
        ReadError, match=f"line 5: '{remark}' in column 'comment' stands at a time that is 19 times off"
    ):
        _read(tmp_path, text)


@pytest.mark.parametrize(
    "remark",
    ["with crash barrier mesh", "failed-cell repair on", "killed two particles", "new switch", "wrong name"],
)
def test_a_remark_on_a_run_on_the_law_is_no_reason_to_ask(tmp_path: Path, remark: str) -> None:
    text = "cores,time_s,comment\n" + LAW.replace("{96}", remark)
    for cores in (12, 24, 48, 192, 384):
        text = text.replace(f"{{{cores}}}", "")
    assert len(_read(tmp_path, text).runs[""]) == 6


@pytest.mark.parametrize(("name", "word"), [("source", "model"), ("Quelle", "berechnet"), ("origin", "vendor")])
def test_rows_from_a_model_are_asked_about(tmp_path: Path, name: str, word: str) -> None:
    text = f"cores,time_s,{name}\n" + "".join(f"{c},{400 / c},{'run' if c < 64 else word}\n" for c in (8, 16, 32, 64))
    with pytest.raises(ReadError, match=f"'{word}' in column '{name}' says that this is no run"):
        _read(tmp_path, text)


@pytest.mark.parametrize("name", ["memory_GB", "cache memory [GiB]", "requested power [W]"])
def test_a_chosen_amount_is_not_taken_as_measured(tmp_path: Path, name: str) -> None:
    rows = "".join(f"{c},{n},{5400 / c * f:g}\n" for c in (12, 24, 48, 96) for n, f in ((250, 1.0), (400, 1.5)))
    with pytest.raises(ReadError, match=r"is left out .* differ in time by 1\.5 times"):
        _read(tmp_path, f"cores,{name},time_s\n{rows}")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ("cores,Physikalische Zeit [s]", "no column's name says"),
        ("cores,problem time", "no column's name says"),
        ("cores,total CPU time (min)", "is CPU time by its name"),
        ("cores,user time [s]", "is CPU time by its name"),
        ("cores,time / 10^3 s", "no unit that evenly knows"),
        ("cores,runtime in 10^3 s", "no unit that evenly knows"),
        ("cores,Rechenzeit [s],Wartezeit [s]", "may be a part of the time only"),
        ("cores,temps calcul [s],temps attente [s]", "no column's name says"),
    ],
)
def test_more_that_may_not_be_the_time_of_the_run(tmp_path: Path, names: str, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        _read(tmp_path, "\n".join([names, *(f"{c}{f',{90 / c}' * names.count(',')}" for c in (16, 32, 64)), ""]))


def test_cpu_time_beside_the_wall_time_is_no_parameter(tmp_path: Path) -> None:
    rows = "".join(f"{c},{5400 / c + 7},{5400 + 7 * c}\n" for c in (12, 24, 48, 96))
    assert _read(tmp_path, f"cores,wall_s,cpu_s\n{rows}").runs[""].parameters == ["cores"]


@pytest.mark.parametrize("table", [
    "cores,t_sim [s],core-h\n8,10,2.5\n16,10,2.6\n32,10,2.8\n64,10,3.1\n",
    "cœurs,temps simulé (s),accélération\n8,5,1\n16,5,1.9\n32,5,3.7\n",
])  # fmt: skip
def test_one_time_on_all_numbers_of_cores_is_asked_about(tmp_path: Path, table: str) -> None:
    with pytest.raises(ReadError, match="on all numbers of cores: it may be a simulated time"):
        _read(tmp_path, table)


def test_one_time_on_all_numbers_of_cores_is_taken_if_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,t_sim [s]\n8,10\n16,10\n32,10\n")
    assert scan(path, time="t_sim [s]").runs[""].values.tolist() == [10.0, 10.0, 10.0]


@pytest.mark.parametrize("name", ["mesher time of Jo [s]", "ParticleTime", "assembly time"])
def test_a_time_with_unusual_words_is_said_to_be_assumed(tmp_path: Path, name: str) -> None:
    found = _read(tmp_path, f"cores,{name}\n8,9.1\n16,5.2\n32,2.8\n")
    assert "whole run on the wall" in found.notes[0]


@pytest.mark.parametrize(
    "name", ["time_s", "Wall clock time [s]", "Laufzeit (s)", "meanTime_ms", "total run time (min)"]
)
def test_usual_names_of_times_assume_nothing_but_a_unit(tmp_path: Path, name: str) -> None:
    found = _read(tmp_path, f"cores,{name}\n8,9.1\n16,5.2\n32,2.8\n")
    assert not any("on the wall" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("aggregate time [s]", "time of all cores together"), ("thread time [s]", "time of all cores together"),
        ("runtime in 1000 s", "no unit that evenly knows"), ("time / 60 s", "no unit that evenly knows"),
        ("log time [s]", "no unit that evenly knows"), ("time [cs]", "no unit that evenly knows"),
        ("time (quarter hours)", "no unit that evenly knows"), ("time [1e3 s]", "no unit that evenly knows"),
    ],
)  # fmt: skip
def test_scaled_and_summed_times_are_asked_about(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        _read(tmp_path, f"cores,{name}\n8,9.1\n16,5.2\n32,2.8\n")


@pytest.mark.parametrize(
    "rows", ["8,1009,\n16,509,\n32,12,typo?\n64,134,\n128,71,", "8,1009,\n16,509,\n32,12,?!\n64,134,"]
)
def test_few_runs_tell_a_remark_far_off_a_straight_line(tmp_path: Path, rows: str) -> None:
    with pytest.raises(ReadError, match=r"line 4: .* (21|15) times off"):
        _read(tmp_path, f"cores,time_s,remark\n{rows}\n")


def test_few_runs_and_a_remark_where_the_law_bends(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,time_s,remark\n8,1009,\n16,509,\n32,262,\n64,160,two nodes\n")
    assert len(found.runs[""]) == 4


@pytest.mark.parametrize("remark", ["ideal", "ideal scaling assumed", "from the paper", "vendor number", "by formula"])
def test_what_nobody_ran_in_more_words(tmp_path: Path, remark: str) -> None:
    with pytest.raises(ReadError, match="says that this is no run"):
        _read(tmp_path, f"cores,time_s,remark\n8,1009,\n16,509,\n32,259,\n64,134,\n128,67,{remark}\n")


def test_rows_of_another_origin_are_asked_about(tmp_path: Path) -> None:
    with pytest.raises(
        ReadError, match="line 4: 'brochure' in column 'source' may be no run as those of other origins"
    ):
        _read(tmp_path, "cores,time_s,source\n8,90,cluster\n16,46,cluster\n32,20,brochure\n64,10,brochure\n")
    assert (
        len(_read(tmp_path, "cores,time_s,source\n8,90,job-11\n16,46,job-11\n32,26,job-12\n64,15,job-12\n").runs[""])
        == 4
    )


def test_a_line_of_a_label_is_no_text_beside_the_table(tmp_path: Path) -> None:
    found = _read(tmp_path, 'label,cores,seconds\n"line\nbreak",1,4.0\nplain,1,5.0\n"line\nbreak",2,2.0\nplain,2,2.5\n')
    assert len(found.runs[""]) == 4
    assert not any("beside the table" in note for note in found.notes)


def test_a_failed_row_is_of_no_other_origin(tmp_path: Path) -> None:
    rows = "1,0.7,ok,tl (tl.db)\n5,2.3,ok,tl (tl.db)\n20,5.0,timed out,tl (tl.db)\n1,0.7,ok,tl (tl.db)\n"
    assert len(_read(tmp_path, f"n,seconds,status,source\n{rows}").runs[""]) == 4


def test_a_remark_on_a_run_known_as_failed_needs_no_question(tmp_path: Path) -> None:
    rows = "8,700,ok,\n16,355,ok,\n32,180,ok,\n64,95,ok,\n128,3,failed,segfault\n"
    runs = _read(tmp_path, f"cores,time_s,status,note\n{rows}").runs[""]
    assert runs.to_frame()["status"].tolist() == ["ok"] * 4 + ["failed"]


def test_remarks_on_some_rows_are_left_out_whatever_their_column_is_called(tmp_path: Path) -> None:
    rows = "4,2300,reference run\n8,1150,\n16,570,HT aus\n32,292,neuer Knoten\n64,150,\n128,81,max\n"
    for name in ("Kommentar", "see also"):
        assert _read(tmp_path, f"cores,time_s,{name}\n{rows}").runs[""].parameters == ["cores"]


@pytest.mark.parametrize("name", ["bandwidth limit [Gb/s]", "frequency_limit_GHz", "power limit"])
def test_a_limit_of_something_else_bounds_no_time(tmp_path: Path, name: str) -> None:
    rows = "8,10,9\n8,100,7\n16,10,4.7\n16,100,3.5\n32,10,25\n32,100,18\n64,10,14\n64,100,9.5\n"
    runs = _read(tmp_path, f"cores,{name},time_s\n{rows}").runs[""]
    assert runs.parameters == ["cores", name]
    assert set(runs.to_frame()["status"]) == {"ok"}


def test_two_releases_told_by_dates_are_asked_about(tmp_path: Path) -> None:
    rows = "".join(f"{p},{8000 / p + 9},2024-05-01\n{p},{5300 / p + 6},2025-05-01\n" for p in (8, 16, 32, 64))
    with pytest.raises(ReadError, match=r"'release' is left out .* differ in time by 1\.5"):
        _read(tmp_path, f"cores,time_s,release\n{rows}")


def test_power_that_runs_draw_and_parts_of_cpu_time_are_results(tmp_path: Path) -> None:
    roles = _roles(_read(tmp_path, "cores,time_s,power [W]\n8,700,410\n16,355,455\n32,180,540\n64,95,720\n"))
    assert roles["power [W]"] == "outcome"
    text = "cores,real [s],user [s]\n8,700,5600\n16,355,5680\n32,180,5790\n64,95,6080\n"
    assert _roles(_read(tmp_path, text))["user [s]"] == "outcome"


@pytest.mark.parametrize("names", ["h,min,s", "hours,minutes,seconds", "time_h,time_min,time_s", "h,m,s"])
def test_hours_minutes_and_seconds_side_by_side_are_one_time(tmp_path: Path, names: str) -> None:
    found = _read(tmp_path, f"cores,{names}\n8,1,20,5\n16,0,42,10.5\n32,0,22,30\n")
    assert found.runs[""].values.tolist() == [4805.0, 2530.5, 1350.0]
    assert "are the parts of one time" in found.notes[0]


@pytest.mark.parametrize("table", [
    "cores,hours,minutes\n8,1.5,90\n16,0.75,45\n", "cores,mean,min,s\n8,14,12,0.4\n16,8,7,0.3\n", "m,s\n10,4.5\n20,9\n",
])  # fmt: skip
def test_what_is_no_part_of_a_time_is_not_added(tmp_path: Path, table: str) -> None:
    try:
        notes = _read(tmp_path, table).notes
    except ReadError:
        return
    assert not any("parts of one time" in note for note in notes)


def test_a_drawn_table_and_seconds_with_a_plural_in_brackets(tmp_path: Path) -> None:
    path = tmp_path / "runs.txt"
    path.write_text("+----+---------------+\n| np | time          |\n+----+---------------+\n"
                    "|  2 | 409 second(s) |\n|  4 | 211 second(s) |\n+----+---------------+\n")  # fmt: skip
    assert scan(path).runs[""].values.tolist() == [409.0, 211.0]


def test_states_of_lsf(tmp_path: Path) -> None:
    rows = "900,DONE,16,409 second(s)\n901,DONE,32,208 second(s)\n902,EXIT,64,3 second(s)\n903,DONE,128,57 second(s)\n"
    found = _read(tmp_path, f"JOBID,STAT,SLOTS,RUN_TIME\n{rows}")
    assert found.runs[""].parameters == ["SLOTS"]
    assert found.runs[""].to_frame()["status"].tolist() == ["ok", "ok", "failed", "ok"]


def test_a_document_is_read_where_it_is_named_and_not_in_a_folder(tmp_path: Path) -> None:
    document, table = tmp_path / "README.md", tmp_path / "runs.csv"
    document.write_text(
        "# Scaling\n\n| Cores | Runtime |\n|--|--|\n| 128 | 429.6 s |\n| 256 | 217.3 s |\n\nAs measured.\n"
    )
    table.write_text("cores,time_s\n8,9\n16,5\n")
    assert scan(document).runs[""].values.tolist() == [429.6, 217.3]
    assert len(scan(tmp_path).runs["runs"] if "runs" in scan(tmp_path).runs else scan(tmp_path).runs[""]) == 2
    document.write_text("# Scaling\n\nNothing yet.\n")
    with pytest.raises(ReadError, match="the text holds no table"):
        scan(document)


def test_products_of_ranks_and_threads_are_two_parameters(tmp_path: Path) -> None:
    found = _read(
        tmp_path, "MPI x OMP,wall/s,CV/%\n8x1,1250,1.0\n16x1,674,1.1\n8x2,660,1.0\n16x2,354,1.2\n8 x 4,367,1.1\n"
    )
    assert found.runs[""].parameters == ["MPI", "OMP"]
    assert found.runs[""].configurations["OMP"].tolist() == [1, 1, 2, 2, 4]
    assert "'MPI x OMP' is read as 'MPI' and 'OMP'" in found.notes[0]
    found = _read(tmp_path, "Layout (nodes x tasks),Cores,time_s\n1x8,8,90\n2x8,16,46\n2x16,32,25\n4x16,64,14\n")
    assert set(found.runs[""].parameters) == {"tasks", "Cores"}
    assert "nodes is Cores / tasks in all runs, so it is left out (--parameters names both)" in found.notes


def test_deviations_in_brackets_and_runs_that_did_not_finish(tmp_path: Path) -> None:
    found = _read(tmp_path, "procs,time[s]\n12,461.8 (9.2)\n24,235.5 (4.7)\n48,121.4 (2.4)\n")
    assert found.runs[""].values.tolist() == [461.8, 235.5, 121.4]
    assert "in brackets behind its numbers" in found.notes[0]
    found = _read(tmp_path, "procs,time[s]\n12,DNF\n24,235.5\n48,121.4\n")
    assert found.runs[""].to_frame()["status"].tolist() == ["failed", "ok", "ok"]


LATEX = r"""
\begin{tabular}{rS[table-format=3.1]r}
\toprule
{Cores} & \textbf{Time (s)} & Eff.\,(\%) \\
\midrule
8 & 653.8 & 100 \\ % the usual
16 & \num{317.9} & 103 \\
32 & $169.7$ & 96 \\ \bottomrule
\end{tabular}
"""
ORG = """* Benchmarks
#+CAPTION: strong scaling
| Cores | Time (s) | eff. (%) |
|-------+----------+----------|
| 8 | 653.8 | 100 |
| 16 | 317.9 | 103 |
| 32 | 169.7 | 96 |

More text.
"""


@pytest.mark.parametrize(("name", "text"), [("paper.tex", LATEX), ("notes.org", ORG)])
def test_tables_of_latex_and_org(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    runs = scan(tmp_path / name).runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["Cores"], [653.8, 317.9, 169.7])


def test_records_in_records_of_json(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text('[{"config": {"cores": 8, "mesh": "a"}, "result": {"time_s": 90}}, '
                    '{"config": {"cores": 16, "mesh": "b"}, "result": {"time_s": 46}}]')  # fmt: skip
    runs = scan(path).runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["cores", "mesh"], [90, 46])


def test_a_mean_counts_beside_its_least_and_longest_time(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        "threads,avg_time,std_dev,min_time,max_time\n1,9.2,0.1,9.0,9.4\n2,5.1,0.1,5.0,5.4\n4,3.1,0.1,3.0,3.2\n",
    )
    assert found.runs[""].values.tolist() == [9.2, 5.1, 3.1]


def test_repeated_times_in_lists_of_json(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text('{"cores": [12, 24], "times": [[4.5, 4.6], [2.3, 2.4, 2.5]]}')
    assert scan(path).runs[""].values.tolist() == [4.5, 4.6, 2.3, 2.4, 2.5]


@pytest.mark.parametrize("name", ["Núcleos", "Procesos", "Processi", "Nombre de cœurs"])
def test_names_of_cores_in_more_languages(tmp_path: Path, name: str) -> None:
    runs = _read(tmp_path, f"{name},tiempo_medio\n12,457\n24,234\n48,121\n").runs[""]
    assert find_cores(runs.space).names == (name,)


def test_a_column_called_seconds_never_replaces_the_chosen_time(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,wall_min,seconds\n12,9.7,3.1\n24,4.9,3.6\n48,2.5,4.4\n")
    runs = scan(path, time="wall_min").runs[""]
    assert runs.values.tolist() == pytest.approx([582, 294, 150])
    assert "seconds_" in runs.quantities
    found = scan(path, time="wall_min", quantities={"seconds": "s"}).runs[""]
    assert found.values.tolist() == pytest.approx([582, 294, 150])


def test_five_times_side_by_side_without_a_unit(tmp_path: Path) -> None:
    found = _read(tmp_path, "CORES,SIZE,T1,T2,T3\n2,10,9.1,9.2,9.0\n4,10,5.0,5.1,5.2\n8,20,6.1,6.0,6.2\n")
    assert len(found.runs[""]) == 9
    assert found.runs[""].parameters == ["CORES", "SIZE"]


def test_a_table_on_its_side_and_products_as_labels_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="stands on its side: write a row for each run"):
        _read(tmp_path, "N,12,24,48\ntime,9.1,5.2,3.1\n")
    notes = _read(tmp_path, "layout,time_s\n2x48,63.9\n4x24,63.1\n8x12,62.9\n").notes
    assert "'layout' holds products" in notes[0]


def test_ranks_called_mpi_that_follow_from_the_cores_are_no_parameter(tmp_path: Path) -> None:
    runs = _read(tmp_path, "MPI,OMP,cores,time_s\n3,4,12,458\n6,4,24,232\n12,4,48,120\n24,4,96,63\n").runs[""]
    assert find_cores(runs.space, measured=runs.configurations).names == ("cores",)
    labels = _read(tmp_path, "MPI,cores,time_s\nopenmpi,12,458\nmpich,12,460\nopenmpi,24,232\nmpich,24,241\n").runs[""]
    assert find_cores(labels.space).names == ("cores",)


@pytest.mark.parametrize("stem", ["time ({})", "wall [{}]", "Laufzeit ({})", "time_{}"])
def test_a_least_time_beside_a_longest_one_is_no_time_in_minutes(tmp_path: Path, stem: str) -> None:
    names = ",".join(stem.format(word) for word in ("min", "max"))
    with pytest.raises(
        ReadError, match=r"may be minutes, or the least of several times|may each be the time|no column"
    ):
        _read(tmp_path, f"cores,{names}\n8,9.1,9.4\n16,5.2,5.6\n32,2.8,3.1\n")


@pytest.mark.parametrize(
    ("name", "words"), [("estado", ("completado", "fallido")), ("stato", ("completato", "fallito"))]
)
def test_states_in_spanish_and_italian(tmp_path: Path, name: str, words: tuple[str, str]) -> None:
    good, bad = words
    runs = _read(tmp_path, f"cores,time_s,{name}\n8,90,{good}\n16,46,{good}\n32,1,{bad}\n64,14,{good}\n").runs[""]
    assert runs.parameters == ["cores"]
    assert runs.to_frame()["status"].tolist() == ["ok", "ok", "failed", "ok"]


def test_memory_with_units_and_hours_with_minutes(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,walltime,MAX_MEM\n8,3h40,12 Gbytes\n16,2h05,13 Gbytes\n32,1h10,15 Gbytes\n")
    assert found.runs[""].parameters == ["cores"]
    assert found.runs[""].values.tolist() == [13200.0, 7500.0, 4200.0]


def test_cores_of_pbs_are_a_parameter_and_cpu_time_has_no_limit(tmp_path: Path) -> None:
    runs = _read(tmp_path, "Resource_List.ncpus,walltime_s\n8,90\n16,46\n32,25\n").runs[""]
    assert runs.parameters == ["Resource_List.ncpus"]
    path = tmp_path / "cpu.csv"
    path.write_text("cores,cpu_time_s,wall_s,limit_s\n8,800,100,600\n16,820,52,600\n32,300,28,600\n")
    assert set(scan(path, time="cpu_time_s").runs[""].to_frame()["status"]) == {"ok"}


def test_repeated_runs_with_decimal_commas_stand_side_by_side(tmp_path: Path) -> None:
    rows = "1;641,2;643,8\n2;324,4;319,5\n4;162,3;165,9\n8;84,5;85,0\n"
    found = _read(tmp_path, f"ranks;run1_s;run2_s\n{rows}").runs[""]
    assert sorted(found.values) == [84.5, 85.0, 162.3, 165.9, 319.5, 324.4, 641.2, 643.8]
    found = _read(tmp_path, f"ranks;Lauf 1 [s];Lauf 2 [s]\n{rows}", time="Lauf * [s]").runs[""]
    assert len(found.values) == 8


def test_the_proposed_condition_leaves_out_a_word_among_counts(tmp_path: Path) -> None:
    text = "Cores,Runtime (s)\n16,2560\n32,1310\n64,685\n128,372\nTotal,4927\n"
    with pytest.raises(ReadError, match=r"""--where 'Cores != "Total"'"""):
        _read(tmp_path, text)
    assert len(_read(tmp_path, text, where='Cores != "Total"').runs[""].values) == 4


def test_units_in_a_row_tell_other_timings(tmp_path: Path) -> None:
    text = "cores,setup,solve,total\n-,s,s,min\n12,19.93,246.44,4.44\n24,19.67,126.3,2.44\n48,20.12,60.93,1.35\n"
    found = _read(tmp_path, text).runs[""]
    assert (found.parameters, sorted(found.quantities)) == (["cores"], ["seconds", "setup", "solve"])


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("CPUh", ("11.4", "11.6", "12.2", "13.2")),
        ("Perf_PerRank", ("70900000", "71100000", "70400000", "69800000")),
        ("lfd. Nr.", ("1", "2", "3", "4")),
        ("job_no", ("0", "1", "2", "3")),
    ],
)
def test_what_is_no_parameter_by_its_name(tmp_path: Path, column: str, cells: tuple[str, ...]) -> None:
    times = ("2560", "1310", "685", "372")
    rows = "\n".join(f"{16 * 2**n},{cells[n]},{times[n]}" for n in range(4))
    assert _read(tmp_path, f"Cores,{column},Runtime (s)\n{rows}\n").runs[""].parameters == ["Cores"]


def test_labels_of_which_most_stand_above_empty_cells_are_asked_about(tmp_path: Path) -> None:
    rows = "A,8,90\n,16,46\n,32,24\nB,8,70\n,16,36\n,32,20\nC,64,7\n"
    with pytest.raises(ReadError, match="'A' in column 'Machine' stands above empty cells"):
        _read(tmp_path, f"Machine,cores,time_s\n{rows}")


@pytest.mark.parametrize("cells", [("12,477 s", "6,245 s", "3,180 s"), ("1.204 s", "610 s", "318 s")])
def test_a_mark_within_a_duration_is_asked_about(tmp_path: Path, cells: tuple[str, ...]) -> None:
    text = "ranks;Wall time\n" + "\n".join(f"{2**n};{cell}" for n, cell in enumerate(cells)) + "\n"
    mark = "," if "," in cells[0] else "."
    with pytest.raises(ReadError, match="may be a thousand or a decimal"):
        _read(tmp_path, text)
    whole = _read(tmp_path, text, decimal="." if mark == "," else ",").runs[""].values
    assert whole.max() > 1000
    assert whole[0] == float(cells[0].removesuffix(" s").replace(mark, ""))
    plain = _read(tmp_path, text, decimal=mark).runs[""].values
    assert plain[0] == float(cells[0].removesuffix(" s").replace(",", "."))


def test_a_verdict_in_words_is_no_parameter(tmp_path: Path) -> None:
    text = "ranks,seconds,Observations\n1,9.0,Baseline\n2,5.0,1.8x faster\n4,3.0,3x faster\n"
    assert _read(tmp_path, text).runs[""].parameters == ["ranks"]


def test_groups_of_digits_within_durations(tmp_path: Path) -> None:
    found = _read(tmp_path, "ranks;Zeit\n1;252\u202f806,4 ms\n2;125\u00a0330,3 ms\n4;65 684,7 ms\n").runs[""]
    assert found.values.tolist() == pytest.approx([252.8064, 125.3303, 65.6847])
    found = _read(tmp_path, "ranks;Zeit\n1;1 026 ms\n2;524,6 ms\n4;272,3 ms\n").runs[""]
    assert found.values.tolist() == pytest.approx([1.026, 0.5246, 0.2723])
    found = _read(tmp_path, 'ranks,time\n1,"1,012.5 s"\n2,512.5 s\n4,270.25 s\n').runs[""]
    assert found.values.tolist() == [1012.5, 512.5, 270.25]


def test_a_share_of_each_rank_is_no_parameter(tmp_path: Path) -> None:
    rows = "\n".join(f"{p},{4515840 // p},{16000 / p + 1}" for p in (96, 384, 1536, 6144))
    found = _read(tmp_path, f"nproc,elem_per_slice,total_time\n{rows}\n")
    assert found.runs[""].parameters == ["nproc"]
    # Rounded shares are shares; sizes that merely fall are none.
    rows = "\n".join(f"{p},{round(100_000 / p)},{160 / p + 1}" for p in (3, 7, 11, 13))
    assert _read(tmp_path, f"ranks,cells_per_rank,seconds\n{rows}\n").runs[""].parameters == ["ranks"]
    rows = "\n".join(f"{p},{n},{160 / p + n}" for p, n in ((4, 100), (8, 70), (16, 40)))
    assert _read(tmp_path, f"ranks,level_cells,seconds\n{rows}\n").runs[""].parameters == ["ranks", "level_cells"]


def test_empty_cells_at_both_ends_of_a_row(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"
    path.write_text("| note | cores | time (s) | who |\n|---|---|---|---|\n| a | 1 | 9.1 | x |\n| | 2 | 5.0 | |\n")
    assert scan(path, parameters="cores").runs[""].values.tolist() == [9.1, 5.0]


def test_columns_of_several_counts_are_proposed_as_times(tmp_path: Path) -> None:
    text = "mesh,16 cores,32 cores,64 cores,128 cores\n1M,33.42,17.64,9.78,5.91\n2M,65.18,33.19,17.49,9.72\n"
    with pytest.raises(ReadError, match=r"say so with --time '\* cores'"):
        _read(tmp_path, text)
    assert _read(tmp_path, text, time="* cores").runs[""].parameters == ["mesh", "cores"]


def test_text_beside_a_table_is_quoted_where_it_was_not_used(tmp_path: Path) -> None:
    title, telling = "# Strong scaling of wing", "# 64: ran on 32 physical cores with hyperthreading"
    found = _read(tmp_path, f"{title}\n{telling}\ncores,time_s\n16,412\n32,212\n64,131\n")
    quoted = "'64: ran on 32 physical cores with hyperthreading', 'Strong scaling of wing'"
    assert f"text beside the table, which was not used: {quoted}" in " ".join(found.notes)


def test_an_empty_last_cell_between_blanks(tmp_path: Path) -> None:
    rows = "4       634,0          \n8       339,5          ok so\n16      198,2\n"
    (tmp_path / "a.txt").write_text(f"Kerne   Laufzeit [s]   Bemerkung\n{rows}")
    assert scan(tmp_path / "a.txt", format="table").runs[""].values.tolist() == [634.0, 339.5, 198.2]


def test_a_total_that_is_the_sum_is_told(tmp_path: Path) -> None:
    rows = "".join(f"{p},{p},{60 / p},{90 / p},{150 / p}\n" for p in (8, 16, 32))
    found = _read(tmp_path, f"gas_cores,dust_cores,gas_s,dust_s,total_s\n{rows}")
    assert any("--layout 'sum(gas, dust)'" in note for note in found.notes)


@pytest.mark.parametrize("rule", ["|:-:|:-:|", "|-|-|", "|:-|-:|", "| - | - |"])
def test_rules_of_markdown_may_have_one_dash(tmp_path: Path, rule: str) -> None:
    (tmp_path / "runs.md").write_text(f"| cores | time (s) |\n{rule}\n| 8 | 100 |\n| 16 | 52 |\n| 32 | 27 |\n")
    assert [*scan(tmp_path / "runs.md").runs[""].values] == [100, 52, 27]


@pytest.mark.parametrize("where", ['mesh == "80M"', 'mesh in ["80M"]', 'mesh != "10M" and cores > 1', "mesh == 80e6"])
def test_a_condition_takes_a_label_with_a_suffix_as_it_is_written(tmp_path: Path, where: str) -> None:
    text = "mesh,cores,time_s\n10M,16,10\n10M,32,6\n80M,16,80\n80M,32,42\n"
    assert _read(tmp_path, text, where=where).runs[""].values.tolist() == [80, 42]


def test_a_text_that_is_not_in_the_column_is_not_compared_with_its_numbers(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="compares or combines text with numbers"):
        _read(tmp_path, "cores,time_s\n16,10\n32,6\n", where='cores != "16.0"')


@pytest.mark.parametrize("mark", [" ", "    ", ","])
def test_a_greeting_below_a_table_is_left_out_and_quoted(tmp_path: Path, mark: str) -> None:
    rows = "".join(f"{cores}{mark}{seconds}\n" for cores, seconds in ((16, 443.3), (32, 230.5), (64, 122.6)))
    found = _read(tmp_path, f"cores{mark}time_s\n{rows}\nBest regards,\nAnna\n")
    assert found.runs[""].values.tolist() == [443.3, 230.5, 122.6]
    said = " ".join(found.notes)
    assert "Best regards" in said
    assert "words below the table, left out: 'Anna'" in said


def test_a_signal_that_ended_a_run_marks_it_as_failed(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,time_s,state,signal\n16,40,COMPLETED,0\n32,22,COMPLETED,0\n64,4,COMPLETED,11\n")
    assert "failed, so not learned from: 1 × 11 ('signal')" in " ".join(found.notes)
    found = _read(tmp_path, "cores,time_s,signal\n16,40,5\n32,22,10\n64,12,20\n16,44,10\n")
    assert _roles(found)["signal"] == "parameter"


def test_values_with_their_units_in_json(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(
        '{"machine": "J", "runs": [{"cores": 8, "time": {"value": 1500, "unit": "ms"}},'
        ' {"cores": 16, "time": {"value": 0.8, "unit": "s"}}]}'
    )
    assert scan(path).runs[""].values.tolist() == [1.5, 0.8]
    path.write_text(path.read_text().replace('"s"', '"furlongs"'))
    with pytest.raises(ReadError, match=r"'time' must be a number above 0, but got '0\.8 furlongs'"):
        scan(path)


def test_a_unit_that_start_and_end_leave_open_is_asked_about(tmp_path: Path) -> None:
    """The runs began later than 'start' tells, so that minutes fit as well as seconds."""
    rows = "16,09:00:00,11:05:48,109.2\n32,09:00:00,11:13:00,55.3\n64,09:00:00,10:31:11,29.0\n"
    with pytest.raises(ReadError, match=r"'runtime' may be in s or min, .* from 'start' to 'end': .*--unit min"):
        _read(tmp_path, f"cores,start,end,runtime\n{rows}")
    found = _read(tmp_path, f"cores,start,end,runtime\n{rows}", unit="min")
    assert found.runs[""].values[0] == pytest.approx(109.2 * 60)
    assert list(found.runs[""].quantities) == ["seconds"]
    assert len(_read(tmp_path, f"cores,start,end,runtime_s\n{rows}").runs[""]) == 3


def test_a_time_without_a_unit_that_only_seconds_fit_is_in_seconds(tmp_path: Path) -> None:
    rows = "16,09:00:00,09:10:48,600\n32,09:00:00,09:05:30,310\n64,09:00:00,09:03:11,170\n"
    assert _read(tmp_path, f"cores,start,end,runtime\n{rows}").runs[""].values.tolist() == [600, 310, 170]


def test_cores_that_were_asked_for_may_be_those_of_the_runs(tmp_path: Path) -> None:
    rows = [(p, mesh, 100 * n / p) for p in (4, 8, 16) for n, mesh in ((1, "coarse"), (4, "fine"))]
    table = "number_of_cores_that_were_requested,mesh,wall_s\n" + "".join(f"{p},{m},{s}\n" for p, m, s in rows)
    with pytest.raises(ReadError, match="tells what was asked for, and no other column how many cores runs had"):
        _read(tmp_path, table)
    chosen = evenly.read(tmp_path / "runs.csv", parameters=["mesh", "number_of_cores_that_were_requested"])
    assert isinstance(chosen, evenly.Runs)
    assert len(chosen) == 6
    both = table.replace("mesh,", "ranks,").replace("coarse", "4").replace("fine", "8")
    assert _read(tmp_path, both).runs[""].parameters == ["ranks"]


@pytest.mark.parametrize(
    ("wish", "had"),
    [("ReqCPUS", "AllocCPUS"), ("requested_cores", "used_cores"), ("cores_requested", "cores_actually_used")],
)
def test_what_runs_had_are_the_cores_and_what_was_asked_for_is_left_out(tmp_path: Path, wish: str, had: str) -> None:
    found = _read(tmp_path, f"{wish},{had},wall_s\n16,48,138.8\n64,96,77.8\n150,192,53.6\n300,336,48.2\n")
    assert find_cores(found.runs[""].space).names == (had,)
    assert f"left out: {wish}, which tells what was asked for, not what runs had" in " ".join(found.notes)


def test_which_of_two_counts_that_differ_runs_had_is_asked_and_one_option_settles_it(tmp_path: Path) -> None:
    rows = "16,12,1,499.3\n32,24,2,262.2\n64,48,1,144.1\n128,120,2,67.9\n"
    with pytest.raises(ReadError, match=r"differ, .*--parameters used_cores,mesh, or --parameters cores,mesh"):
        _read(tmp_path, f"cores,used_cores,mesh,wall_s\n{rows}")
    for name in ("used_cores", "cores"):
        runs = evenly.read(tmp_path / "runs.csv", parameters=[name, "mesh"])
        assert isinstance(runs, evenly.Runs)
        assert find_cores(runs.space).text == name
    same = rows.replace("16,12", "12,12").replace("32,24", "24,24").replace("64,48", "48,48").replace("128,", "120,")
    assert len(_read(tmp_path, f"cores,used_cores,mesh,wall_s\n{same}").runs[""].parameters) == 2


def test_parts_of_cores_that_were_used_are_results(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,cpus_used,wall_s\n1,0.98,499\n2,1.94,262\n4,3.7,144\n8,7.1,68\n")
    assert found.runs[""].parameters == ["cores"]


@pytest.mark.parametrize(("wish", "more"), [("cores_requested", ""), ("nodes_requested", "'nodes_requested [*] 48'")])
def test_a_wish_that_is_the_only_count_is_one_question(tmp_path: Path, wish: str, more: str) -> None:
    table = f"job,{wish},elapsed_s\n" + "".join(f"{1000 + i},{p},{320 / p}\n" for i, p in enumerate((4, 8, 16, 32)))
    with pytest.raises(ReadError, match=rf"it is a parameter \(--parameters {wish}.*{more}.*\)\. If not, add a co"):
        _read(tmp_path, table)
    runs = evenly.read(tmp_path / "runs.csv", parameters=[wish])
    assert isinstance(runs, evenly.Runs)
    if not more:
        assert find_cores(runs.space).text == wish
        assert find_cores(runs.space).said.startswith(f"cores: one for each of {wish}")
