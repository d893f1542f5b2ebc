"""Names of columns: headers of two rows, names that evenly uses itself, products that are sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan
from evenly.runs.cores import find_cores
from tests.readers.tables.test_excel import book

TWO_ROWS: list[list[Any]] = [
    ["", "time", "", "memory"], ["cores", "total [s]", "MPI [s]", "[GB]"], [8, 90.1, 4.1, 3.2], [16, 46.2, 4.4, 3.1],
    [32, 25.0, 4.9, 3.3],
]  # fmt: skip


def _read(folder: Path, text: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path, **options)


def test_a_header_of_two_rows_is_joined(tmp_path: Path) -> None:
    text = "\n".join(",".join(map(str, row)) for row in TWO_ROWS)
    for runs in (_read(tmp_path, text).runs[""], scan(book(tmp_path / "runs.xlsx", Runs=TWO_ROWS)).runs[""]):
        assert runs.parameters == ["cores"]
        assert runs.values.tolist() == [90.1, 46.2, 25.0]
        assert set(runs.quantities) == {"seconds", "time MPI", "memory"}


def test_rows_of_units_and_of_data_are_no_second_header(tmp_path: Path) -> None:
    assert len(_read(tmp_path, "cores,time\n-,ms\n8,900\n16,500\n").runs[""]) == 2
    with pytest.raises(ReadError, match="column names must differ"):
        _read(tmp_path, "cores,time,time\n8,90,91\n16,50,51\n32,28,29\n")


def test_a_name_that_evenly_uses_itself_may_be_a_parameter(tmp_path: Path) -> None:
    text = "machine,cores,time_s\nHawk,16,220.1\nHawk,32,120.5\nJuwels,16,260.2\nJuwels,32,140\n"
    found = _read(tmp_path, text, parameters="machine,cores")
    assert found.runs[""].parameters == ["machine_", "cores"]
    assert any("'machine' is the parameter 'machine_' here" in note for note in found.notes)
    assert [column.name for column in found.columns] == ["machine_", "cores", "time_s"]


def test_products_of_sizes_are_numbers_of_points(tmp_path: Path) -> None:
    text = "cores,grid,time_s\n1,256x256x256,100\n2,512x256x256,103\n4,512x512x256,107\n8,512x512x512,112\n"
    found = _read(tmp_path, text)
    assert found.runs[""].configurations["grid"].tolist() == [2**24, 2**25, 2**26, 2**27]
    assert "256x256x256 as 16,777,216" in found.notes[0]
    assert _read(tmp_path, text, categories="grid").runs[""].configurations["grid"].dtype == object
    shapes = "cores,grid,time_s\n8,64x16,100\n8,32x32,90\n16,64x16,51\n16,32x32,46\n"  # two of as many points
    assert _read(tmp_path, shapes).runs[""].configurations["grid"].tolist() == ["64x16", "32x32"] * 2


def test_no_gpu_is_a_count_of_gpus_and_no_core_is_none(tmp_path: Path) -> None:
    text = "cores,gpus,time_s\n16,0,100\n32,0,52\n64,0,27\n16,1,40\n32,2,21\n64,4,11\n"
    found = _read(tmp_path, text)
    runs = found.runs[""]
    assert runs.configurations["gpus"].tolist() == ["0", "0", "0", "1", "2", "4"]  # as numbers, one law had to fit both
    assert any("'gpus' is 0 in some runs" in note for note in found.notes)
    text += "64,1,12\n64,2,11.5\n"
    assert _read(tmp_path, text, where="gpus > 0").runs[""].configurations["gpus"].tolist() == [1, 2, 4, 1, 2]
    assert find_cores(runs.space, measured=runs.configurations).names == ("cores",)
    with pytest.raises(ReadError, match="whole number above zero"):
        _read(tmp_path, "cores,time_s\n0,100\n32,52\n64,27\n")


def test_phases_with_round_times_are_measured(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,setup_s,solve_s,total_s\n16,4,201,205\n32,4,103,107\n64,4,52,56\n128,5,27,32\n")
    assert found.runs[""].parameters == ["cores"]
    assert [column.role for column in found.columns] == ["parameter", "quantity", "quantity", "time"]


def test_solvers_side_by_side_with_bare_units(tmp_path: Path) -> None:
    found = _read(tmp_path, "atm_cores,atm_s,ocn_cores,ocn_s\n16,100,8,50\n32,52,16,27\n")
    assert {name: runs.values.tolist() for name, runs in found.runs.items()} == {"atm": [100, 52], "ocn": [50, 27]}


def test_three_decimals_behind_a_comma_beside_decimal_commas(tmp_path: Path) -> None:
    found = _read(tmp_path, "Kerne;Laufzeit [s];Speedup\n12;455,83;1,000\n24;231,10;1,972\n48;118,30;3,853\n")
    np.testing.assert_allclose(found.runs[""].values, [455.83, 231.1, 118.3])


PRINTED = """     mesh  cores  time_s
0  coarse      8   30.66
1  coarse     16   16.78
2    fine      8   61.28
3    fine     16   33.42
"""
OF_R = '"cores" "time"\n"1" 8 397.96\n"2" 16 201.31\n"3" 32 111.31\n'


def test_numbers_of_rows_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "printed.txt"
    path.write_text(PRINTED)
    runs = scan(path).runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["mesh", "cores"], [30.66, 16.78, 61.28, 33.42])
    path.write_text(OF_R)
    assert scan(path).runs[""].configurations["cores"].tolist() == [8, 16, 32]


def test_a_pattern_with_the_name_of_a_parameter(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    path.write_text("threads\tt(N=1000) [s]\tt(N=2000) [s]\n1\t16\t33\n2\t9.6\t17\n4\t5\t9\n")
    found = scan(path, time="t(N=*) [s]").runs[""]
    assert found.configurations["N"].tolist() == [1000, 2000] * 3
    assert found.values.tolist() == [16, 33, 9.6, 17, 5, 9]


def test_runs_that_are_numbered_by_labels_and_results_in_more_languages(tmp_path: Path) -> None:
    found = _read(tmp_path, "Case,cores,Energie,ideal,time_s\nrun1,8,12.1,1,90\nrun2,16,12.9,2,46\nrun3,32,14.8,4,25\n")
    assert found.runs[""].parameters == ["cores"]


def test_energy_with_a_unit_in_more_languages(tmp_path: Path) -> None:
    found = _read(tmp_path, "Kerne;Laufzeit;Energie (kJ)\n48;131,0 s;65\n96;70,2 s;71\n192;41,1 s;90\n384;27,0 s;109\n")
    assert (found.runs[""].parameters, found.runs[""].quantities["Energie"]) == (["Kerne"], "J")


def test_a_deviation_stands_beside_its_mean(tmp_path: Path) -> None:
    found = _read(tmp_path, "nodes,runtime_avg[s],runtime_std[s]\n1,72.5,1.4\n2,40.4,0.8\n4,22.5,0.5\n")
    assert found.runs[""].values.tolist() == [72.5, 40.4, 22.5]


@pytest.mark.parametrize("name", ["Resource_List.ncpus", "SLOTS", "Nb de cœurs", "rdzenie", "aantal cores"])
def test_cores_by_more_names(tmp_path: Path, name: str) -> None:
    runs = _read(tmp_path, f"{name},time_s\n8,90\n16,46\n32,25\n").runs[""]
    assert find_cores(runs.space).names == (name,)


def test_the_three_rows_of_names_that_pandas_writes(tmp_path: Path) -> None:
    found = _read(tmp_path, ",time,time,time\n,mean,std,count\ncores,,,\n8,812,20,4\n16,416,9,4\n32,215,4,4\n")
    assert (found.runs[""].parameters, found.runs[""].values.tolist()) == (["cores"], [812, 416, 215])
    assert [column.role for column in found.columns] == ["parameter", "time", "outcome", "outcome"]


def test_units_in_the_second_row_of_a_header(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,time,,memory\n,total [s],MPI [s],[GB]\n16,812,81,82\n32,431,43,84\n64,236,24,88\n")
    assert found.runs[""].values.tolist() == [812, 431, 236]
    assert found.runs[""].quantities["memory"] == "B"


def test_names_of_runs_that_tell_their_cores(tmp_path: Path) -> None:
    text = "name,cores,time_s\nbench_016,16,812\nbench_032,32,431\nbench_064,64,236\nbench_016,16,815\n"
    assert _read(tmp_path, text).runs[""].parameters == ["cores"]
    assert _read(tmp_path, text.replace("name", "mesh")).runs[""].parameters == ["mesh", "cores"]


def test_a_mark_at_the_ends_of_rows_is_no_number_of_the_row(tmp_path: Path) -> None:
    runs = _read(tmp_path, "level,time_s,nx\n1,90.1,100,\n2,46.2,200,\n3,25.0,400,\n").runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["level", "nx"], [90.1, 46.2, 25.0])


def test_cases_that_tell_more_than_their_cores_are_parameters(tmp_path: Path) -> None:
    text = "case,cores,time_s\ncavity_8,8,90\nchannel_8,8,135\ncavity_16,16,46\nchannel_16,16,70\n"
    assert _read(tmp_path, text).runs[""].parameters == ["case", "cores"]


@pytest.mark.parametrize("name", ["linear_tol", "linear tolerance", "ideal gas"])
def test_a_linear_tolerance_is_a_parameter(tmp_path: Path, name: str) -> None:
    runs = _read(tmp_path, f"cores,{name},time_s\n8,1e-4,90\n8,1e-6,135\n16,1e-4,46\n16,1e-6,70\n").runs[""]
    assert runs.parameters == ["cores", name]


@pytest.mark.parametrize("name", ["process block", "block size", "mesh tile"])
def test_products_of_what_a_domain_is_cut_into_are_labels(tmp_path: Path, name: str) -> None:
    runs = _read(tmp_path, f"{name},time_s\n16x8,90\n8x32,46\n64x8,25\n").runs[""]
    assert runs.configurations[name].tolist() == ["16x8", "8x32", "64x8"]


def test_numbered_runs_of_an_mpi_time_and_a_column_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("size,mpi time 1,mpi time 2\n100,9.0,9.1\n200,18.2,18.0\n")
    assert scan(path, time="mpi time *").runs[""].parameters == ["size"]
    path.write_text("size,time,time 1,time 2\n100,8.9,9.0,9.1\n200,18.1,18.2,18.0\n")
    with pytest.raises(ReadError, match="'time' is a column of its own"):
        scan(path, time="time *")


def test_records_in_records_have_one_name_in_all(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text('[{"a": {"cores": 8}, "b": {"cores": 1}, "time_s": 9}, {"a": {"cores": 16}, "time_s": 5}]')
    runs = scan(path, parameters="a.cores").runs[""]
    assert runs.configurations["a.cores"].tolist() == [8, 16]


def test_tables_of_latex_with_rules_around_and_two_header_rows(tmp_path: Path) -> None:
    path = tmp_path / "paper.tex"
    row = chr(92) * 2
    rule = chr(92) + "hline"
    begin, end = chr(92) + "begin{tabular}{rrr}", chr(92) + "end{tabular}"
    body = f"8 & 90.1 & 3.2 {row}\n16 & 46.2 & 3.1 {row}\n32 & 25.0 & 3.3 {row}"
    path.write_text(f"{begin}\n{rule}\nCores & Time (s) & Memory [GB] {row}\n{rule}\n{body}\n{rule}\n{end}\n")
    assert scan(path).runs[""].values.tolist() == [90.1, 46.2, 25.0]
    two = f"Cores & Time & & {row}\n & total [s] & MPI [s] {row}"
    path.write_text(f"{begin}\n{rule}\n{two}\n{rule}\n{body}\n{rule}\n{end}\n".replace("Time & & ", "Time & "))
    found = scan(path)
    assert [column.name for column in found.columns] == ["Cores", "Time total [s]", "Time MPI [s]"]


@pytest.mark.parametrize("nines", ["99999", "9999.9", "999999"])
def test_nines_in_place_of_a_time_are_asked_about(tmp_path: Path, nines: str) -> None:
    text = f"cores,time_s\n8,90\n16,46\n32,{nines}\n64,14\n"
    with pytest.raises(ReadError, match="may mark a run that failed, far above all others"):
        _read(tmp_path, text)
    assert len(_read(tmp_path, text, where=f"time_s != {float(nines):g}").runs[""]) == 3
    assert len(_read(tmp_path, text, time="time_s").runs[""]) == 4
    assert len(_read(tmp_path, "n,time_s\n8,90\n16,460\n32,999\n64,1800\n").runs[""]) == 4


def test_cells_of_latex_over_several_columns(tmp_path: Path) -> None:
    path, back = tmp_path / "paper.tex", chr(92)
    over = back + "multicolumn"
    path.write_text(
        back + "begin{tabular}{r|rr|rr}\n"
        f" & {over}{{2}}{{c|}}{{Time (s)}} & {over}{{2}}{{c}}{{Energy (kJ)}} {back * 2}\n"
        f"Nodes & MPI & total & CPU & DRAM {back * 2}\n{back}hline\n"
        f"1 & 12.2 & 250.1 & 35.1 & 3.4 {back * 2}\n2 & 10.1 & 131.9 & 36.9 & 3.6 {back * 2}\n"
        f"4 & 9.0 & 68.8 & 38.9 & 3.7 {back * 2}\n{back}end{{tabular}}\n"
    )
    found = scan(path, time="Time total (s)")
    assert found.runs[""].values.tolist() == [250.1, 131.9, 68.8]
    assert [column.name for column in found.columns][:3] == ["Nodes", "Time MPI (s)", "Time total (s)"]


def test_the_unit_of_an_upper_header_holds_below_it(tmp_path: Path) -> None:
    found = _read(tmp_path, "cores,Time (min),\n,total,MPI\n8,90.1,4.1\n16,46.2,4.4\n32,25.0,4.9\n")
    assert found.runs[""].values[0] == pytest.approx(90.1 * 60)


@pytest.mark.parametrize(("name", "times"), [("Tiempo (horas)", 3600), ("Laufzeit (Min.)", 60), ("tijd (uur)", 3600)])
def test_units_of_time_in_more_languages(tmp_path: Path, name: str, times: int) -> None:
    runs = _read(tmp_path, f"cores;{name}\n8;9,5\n16;4,8\n32;2,6\n").runs[""]
    assert runs.values == pytest.approx(np.array([9.5, 4.8, 2.6]) * times)


@pytest.mark.parametrize("name", ["time (m)", "time [fortnights]"])
def test_other_units_are_asked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReadError, match="is no unit that evenly knows"):
        _read(tmp_path, f"cores,{name}\n8,9.5\n16,4.8\n32,2.6\n")


def test_empty_columns_and_numbers_of_fortran(tmp_path: Path) -> None:
    runs = _read(tmp_path, "cores,,time_s,,size\n8,,9.5D+01,,1\n16,,4.8D+01,,2\n32,,2.6d1,,1\n").runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["cores", "size"], [95, 48, 26])


def test_numbers_of_runs_in_more_languages(tmp_path: Path) -> None:
    assert _read(tmp_path, "Prova,cores,time_s\n1,8,90\n2,16,46\n3,32,25\n").runs[""].parameters == ["cores"]


def test_two_tables_in_a_paper_are_asked_about(tmp_path: Path) -> None:
    path, back = tmp_path / "paper.tex", chr(92)
    rows = (
        f"Cores & Time (s) {back * 2}\n{back}hline\n8 & 90.1 {back * 2}\n16 & 46.2 {back * 2}\n32 & 25.0 {back * 2}\n"
    )
    one = f"{back}begin{{tabular}}{{rr}}\n{rows}{back}end{{tabular}}\n"
    path.write_text(f"{one}Text.\n{one}")
    with pytest.raises(ReadError, match="holds 2 tables"):
        scan(path)


@pytest.mark.parametrize("nines", ["9999999", "99999,9"])
def test_the_condition_that_leaves_nines_out_works(tmp_path: Path, nines: str) -> None:
    text = f"cores;wall time [s];status\n8;90,5;ok\n16;46,5;ok\n32;{nines};ok\n64;14,5;ok\n"
    with pytest.raises(ReadError, match="may mark a run that failed") as told:
        _read(tmp_path, text)
    condition = str(told.value).split("--where '")[1].split("'")[0]
    assert len(_read(tmp_path, text, where=condition).runs[""]) == 3
    failed = _read(tmp_path, text.replace(f"{nines};ok", f"{nines};failed")).runs[""]
    assert failed.to_frame()["status"].tolist() == ["ok", "ok", "failed", "ok"]


@pytest.mark.parametrize(
    "text",
    [
        "# threads,time (s),speedup\n1,392.65,-\n2,225.06,1.74\n4,120.1,3.27\n",
        "# case,mesh,runtime\nc1,coarse,00:10:20\nc2,medium,00:20:11\nc3,fine,00:40:59\n",
        "nodes, as asked for   wall time, mean (s)\n1   90.1\n2   46.2\n4   25.3\n",
    ],
)
def test_a_header_behind_a_mark_or_with_commas_names_the_columns(tmp_path: Path, text: str) -> None:
    """Rows of words, or without all numbers, made it a remark; a comma in it parted no cells of the rows."""
    path = tmp_path / "runs.txt"
    path.write_text(text)
    (runs,) = scan(path).runs.values()
    assert len(runs) == 3
    assert runs.values.min() > 20


def test_a_rule_without_gaps_stands_below_names(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(
        "Results\n\nCores   Wall time (s)\n---------------------\n1       903.1\n2       451.0\n4       230.2\n"
    )
    assert scan(path).runs[""].values.tolist() == [903.1, 451.0, 230.2]


def test_wide_blanks_part_columns_where_cells_hold_single_ones(tmp_path: Path) -> None:
    path = tmp_path / "runs.txt"
    path.write_text("cores           time\n8  1.068 s\n16  0.715 s\n32  567 ms\n")
    assert scan(path, format="table").runs[""].values.tolist() == pytest.approx([1.068, 0.715, 0.567])


def test_columns_of_durations_are_those_that_may_be_the_time(tmp_path: Path) -> None:
    text = "tier,MPI,OpenMP\n2,24 min 38 s,7 min 5 s\n4,13 min 1 s,4 min 17 s\n8,7 min 16 s,2 min 48 s\n"
    with pytest.raises(
        ReadError, match=r"'MPI' and 'OpenMP' may each be the time.*one of the columns 'MPI', 'OpenMP',"
    ):
        _read(tmp_path, text)


def test_numbers_with_crosses_are_speed_ups_if_they_look_measured(tmp_path: Path) -> None:
    rows = "8,90,1.00x,1x\n16,46,1.96x,2x\n32,25,3.60x,4x\n64,14,6.43x,8x\n"
    runs = _read(tmp_path, f"cores,time_s,versus one node,refined\n{rows}").runs[""]
    assert runs.parameters == ["cores", "refined"]


@pytest.mark.parametrize(
    "rule", ["\\cline{2-3}", "\\cmidrule{2-3}", "\\cmidrule(lr){2-3}", "\\hline", "\\midrule[1pt]"]
)
def test_rules_of_latex_and_cells_over_several_rows(tmp_path: Path, rule: str) -> None:
    path, rows = tmp_path / "paper.tex", ("16 & 1.5", "64 & 0.4", "256 & 0.2")
    body = [
        f"\\multirow{{3}}{{*}}{{{mesh}}} & {rows[0]} \\\\ {rule}\n & {rows[1]} \\\\ {rule}\n & {rows[2]} \\\\ \\hline"
        for mesh in ("fine", "coarse")
    ]
    head = "\\begin{tabular}{ccc}\n\\hline\nMesh & Procs & Time (\\si{\\hour}) \\\\ \\hline"
    path.write_text("\n".join([head, *body, "\\end{tabular}"]))
    runs = scan(path).runs[""]
    assert runs.configurations["Mesh"].tolist() == ["fine"] * 3 + ["coarse"] * 3
    assert runs.values[0] == 1.5 * 3600


@pytest.mark.parametrize("top", ["Nodes,Wall Clock,Wall Clock,Wall Clock", "Nodes,Wall Clock,,"])
def test_a_second_row_of_sizes_is_part_of_the_header(tmp_path: Path, top: str) -> None:
    text = f"{top}\n,4M,16M,64M\n1,54.12,202.14,804.15\n2,28.92,103.92,404.85\n4,16.54,52.66,203.99\n"
    with pytest.raises(ReadError, match=r"--time 'Wall Clock \*'"):
        _read(tmp_path, text)
    runs = _read(tmp_path, text, time="Wall Clock *").runs[""]
    assert runs.parameters == ["Nodes", "size"]
    assert runs.configurations["size"].tolist()[:3] == [4e6, 16e6, 64e6]


def test_a_row_of_data_below_equal_names_is_none_of_the_header(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="column names must differ"):
        _read(tmp_path, "cores,time,time\n,90,91\n16,50,51\n,28,29\n")


def test_units_and_words_below_some_names_only(tmp_path: Path) -> None:
    runs = _read(tmp_path, "cores,mesh,time\n,Mcells,total [s]\n16,4,52.1\n32,8,49.0\n64,8,26.4\n").runs[""]
    assert runs.parameters == ["cores", "mesh Mcells"]


def test_names_with_values_that_blanks_part(tmp_path: Path) -> None:
    text = "        p = 1   p = 2   p = 4\n\nn=100   1.49   1.05    1.06\n\nn=1000  163.12  81.44   88.38\n"
    with pytest.raises(ReadError, match=r"--time 'p = \*'"):
        _read(tmp_path, text)
    runs = _read(tmp_path, text, time="p = *").runs[""]
    assert set(runs.parameters) == {"n", "p"}
    assert runs.configurations["n"].tolist() == [100] * 3 + [1000] * 3


def test_breaks_in_names_of_markdown_are_blanks(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("|Thread<br>Count|Wall<br>Time (s)|\n|--|--|\n|1|16.8|\n|2|7.7|\n|4|3.9|\n")
    assert scan(path).runs[""].parameters == ["Thread Count"]


def test_a_mark_for_a_failed_run_may_be_left_out(tmp_path: Path) -> None:
    text = "cores,time_s\n16,52.1\n32,-1\n64,16.4\n"
    with pytest.raises(ReadError, match=r"--where 'time_s > 0'"):
        _read(tmp_path, text)
    assert len(_read(tmp_path, text, where="time_s > 0").runs[""]) == 2
