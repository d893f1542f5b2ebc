"""What stands in a table and isn't seen at once: marks, totals, thousands, hidden rows, units in captions, factors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

import evenly
from evenly.errors import InputError, ReadError
from evenly.readers.scanning import Measurements, scan
from evenly.runs.cores import find_cores

CORES = (1, 2, 4, 8, 16, 32)
LAW = {p: 10 + 1000 / p for p in CORES}
ROWS = "".join(f"{p},{LAW[p]}\n" for p in CORES)


def _read(folder: Path, text: str, name: str = "runs.csv", **options: str) -> Measurements:
    path = folder / name
    path.write_text(text)
    return scan(path, **options)


@pytest.mark.parametrize("mark", ["1e+30", "1e20", "9999999", "0.00001"])
def test_a_time_far_from_all_others_is_asked_about(tmp_path: Path, mark: str) -> None:
    rows = "".join(f"{p},{n},{n * LAW[p]}\n" for p in CORES for n in (1, 2)).replace(f"4,1,{LAW[4]}", f"4,1,{mark}")
    with pytest.raises(ReadError, match="may mark a run that failed") as caught:
        _read(tmp_path, f"cores,mesh,time_s\n{rows}")
    condition = str(caught.value).split("--where '")[1].split("'")[0]
    assert len(_read(tmp_path, f"cores,mesh,time_s\n{rows}", where=condition).runs[""]) == 11
    assert len(_read(tmp_path, f"cores,mesh,time_s\n{rows}", time="time_s").runs[""]) == 12


def test_times_that_grow_without_a_gap_are_no_marks(tmp_path: Path) -> None:
    rows = "".join(f"{n},{1e-6 * n**2}\n" for n in (10, 100, 1000, 10_000, 100_000))
    assert len(_read(tmp_path, f"n,time_s\n{rows}").runs[""]) == 5


@pytest.mark.parametrize("last", [f"63,{sum(LAW.values())}", f"{63 / 6},{sum(LAW.values()) / 6}"])
def test_a_total_without_a_word_is_asked_about(tmp_path: Path, last: str) -> None:
    with pytest.raises(ReadError, match=r"the (sum|mean) of the others"):
        _read(tmp_path, f"cores,time_s\n{ROWS}{last}\n")


def test_thousands_with_points_between_semicolons_are_asked_about(tmp_path: Path) -> None:
    text = "Kerne;Laufzeit (s)\n1;30.300\n2;15.300\n4;7.800\n8;4.050\n"
    with pytest.raises(ReadError, match=r"'30.300' .* may be a thousand or a decimal point"):
        _read(tmp_path, text)
    assert _read(tmp_path, text, decimal=",").runs[""].values.max() == 30_300
    assert _read(tmp_path, f"{text}16;0.512\n").runs[""].values.max() == 30.3  # a decimal point, surely
    assert _read(tmp_path, text.replace(";", ",")).runs[""].values.max() == 30.3


@pytest.mark.parametrize("name", ["cores [10^3]", "cores (k)", "kcores", "cores x1000"])
def test_a_factor_in_the_name_of_the_cores_is_asked_about(tmp_path: Path, name: str) -> None:
    space = _read(tmp_path, f"{name},time_s\n{ROWS}").runs[""].space
    with pytest.raises(InputError, match=r"1000 \* "):
        find_cores(space, None)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (f"# times in ms\ncores,time\n{ROWS}", "a.csv"),
        (f"cores time_s\n{ROWS.replace(',', ' ')}# run times in ms!\n", "a.dat"),
        ("Table 1: Run times in ms.\n\n| cores | time |\n|---|---|\n| 1 | 90 |\n| 2 | 50 |\n", "a.md"),
    ],
)
def test_a_unit_beside_the_table_is_asked_about(tmp_path: Path, text: str, file: str) -> None:
    with pytest.raises(ReadError, match=r"times in ms' stands beside the table, .* --unit ms"):
        _read(tmp_path, text, name=file)
    assert _read(tmp_path, text, name=file, unit="ms").runs[""].values.max() < 1.1


def test_a_unit_beside_the_table_that_agrees_is_no_question(tmp_path: Path) -> None:
    assert len(_read(tmp_path, f"# times in s, on nodes of 48 cores\ncores,time\n{ROWS}").runs[""]) == 6


def test_rows_of_excel_that_are_hidden_or_struck_out(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["cores", "time_s"])
    for p in CORES:
        sheet.append([p, LAW[p]])
    sheet.row_dimensions[4].hidden = True
    book.save(tmp_path / "a.xlsx")
    assert "rows that the sheet hides are read as the others: 4" in " ".join(scan(tmp_path / "a.xlsx").notes)
    for cell in sheet[4]:
        cell.font = Font(strike=True)
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(ReadError, match="line 4: this row is struck out"):
        scan(tmp_path / "b.xlsx")


def test_a_remark_that_a_run_was_stopped(tmp_path: Path) -> None:
    rows = "".join(f"{p},{LAW[p]},\n" for p in CORES).replace(f"4,{LAW[4]},", "4,150,stopped after half the steps")
    with pytest.raises(ReadError, match="says that this is no run to learn from"):
        _read(tmp_path, f"cores,time_s,note\n{rows}")


def test_runs_that_did_not_converge_failed(tmp_path: Path) -> None:
    rows = "".join(f"{p},{LAW[p]},{'no' if p == 4 else 'yes'}\n" for p in CORES)
    assert len(_read(tmp_path, f"cores,time_s,converged\n{rows}").runs[""].failed) == 1


def test_a_symbol_over_its_unit_may_be_a_time_or_a_rate(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="--unit s"):
        _read(tmp_path, f"cores,T/s\n{ROWS}", time="T/s")
    assert _read(tmp_path, f"cores,T/s\n{ROWS}", time="T/s", unit="s").runs[""].values.max() == 1010


def test_the_end_of_a_run_is_not_how_long_it_took(tmp_path: Path) -> None:
    text = "cores,start,end\n1,08:00:00,10:48:20\n2,08:00:00,09:24:10\n"
    with pytest.raises(ReadError, match="'end' tells when runs began or ended"):
        _read(tmp_path, text, time="end")


def test_second_headers(tmp_path: Path) -> None:
    found = _read(tmp_path, f"cores,time_s\n{ROWS}cores,time_s\n{ROWS}")
    assert (len(found.runs[""]), "1 row with the names of the columns again" in " ".join(found.notes)) == (12, True)
    with pytest.raises(ReadError, match="line 8: a second table begins here"):
        _read(tmp_path, f"cores,time_s\n{ROWS}cores,time_ms\n{ROWS}")


def test_parts_that_sum_to_the_time_and_costs_are_outcomes(tmp_path: Path) -> None:
    rows = "".join(f"{p},5.0,{1000 / p},5.0,{LAW[p]}\n" for p in CORES)
    assert _read(tmp_path, f"cores,setup,solve,output,total_s\n{rows}", time="total_s").runs[""].parameters == ["cores"]
    rows = "".join(f"{p},{LAW[p]},{LAW[p] * p * 8e-6:.4f}\n" for p in CORES)
    assert _read(tmp_path, f"cores,time_s,cost\n{rows}").runs[""].parameters == ["cores"]


def test_a_cost_that_was_chosen_is_a_parameter(tmp_path: Path) -> None:
    rows = "".join(f"{p},{c},{LAW[p] * c}\n" for p in CORES for c in (1, 2, 5))
    assert _read(tmp_path, f"cores,cost,time_s\n{rows}").runs[""].parameters == ["cores", "cost"]


def test_numbers_with_k_in_the_names_of_times(tmp_path: Path) -> None:
    rows = "".join(f"{p},{LAW[p]},{2 * LAW[p]}\n" for p in CORES)
    runs = _read(tmp_path, f"cores,t(N=1k),t(N=2k)\n{rows}", time="t(N=*)").runs[""]
    assert sorted(set(runs.configurations["N"])) == [1000, 2000]


def test_json_as_pandas_writes_it_and_with_a_unit_for_all(tmp_path: Path) -> None:
    columns = '{"cores": {"0": 8, "1": 16}, "time_s": {"0": 90, "1": 50}}'
    split = '{"columns": ["cores", "time_s"], "index": [0, 1], "data": [[8, 90], [16, 50]]}'
    for text in (columns, split):
        assert _read(tmp_path, text, name="a.json").runs[""].values.tolist() == [90, 50]
    shared = '{"unit": "ms", "results": [{"cores": 8, "time": 90}, {"cores": 16, "time": 50}]}'
    assert _read(tmp_path, shared, name="b.json").runs[""].values.max() == pytest.approx(0.09)


@pytest.mark.parametrize("first", ["OpenMP,1,6.861", "a,1,8m58.078s", "x,2,9755472ns", "0,5115,a-4"])
def test_a_row_of_values_is_no_header(tmp_path: Path, first: str) -> None:
    with pytest.raises(ReadError, match=r"line 1: the first line must name the columns, but '.*' is a value"):
        _read(tmp_path, f"{first}\n{first}\n{first}\n", time=first.split(",")[-1])


def test_one_thread_stands_beside_two_threads(tmp_path: Path) -> None:
    text = "code,1 Thread,2 Threads,4 Threads\na,40,21,11\nb,44,23,12\n"
    assert sorted(set(_read(tmp_path, text, time="* Threads").runs[""].configurations["Threads"])) == [1, 2, 4]


def test_ranks_and_threads_that_fill_a_node_tell_nothing_of_more_cores(tmp_path: Path) -> None:
    text = "ranks,threads,time_s\n32,3,19.7\n16,6,20.4\n8,12,22.9\n4,24,31.1\n"
    found = _read(tmp_path, text)
    assert "threads falls where ranks grows in all runs" in " ".join(found.notes)
    model = evenly.fit(found.runs[""], method="log-quadratic")
    with pytest.raises(InputError, match=r"ranks \* threads = 96, so other numbers of cores can't be compared"):
        evenly.recommend(model, cores=[96, 192], cores_are="ranks * threads")
    assert model.extrapolates({"ranks": [16, 16], "threads": [6, 12]}).tolist() == [False, True]


def test_the_unit_of_a_time_of_simulated_time_stands_first(tmp_path: Path) -> None:
    text = "cores,Days per nanosecond of simulation\n8,2\n16,1\n"
    assert _read(tmp_path, text).runs[""].values.tolist() == [172_800, 86_400]


def test_a_figure_of_merit_is_an_outcome(tmp_path: Path) -> None:
    rows = "".join(f"{p},{LAW[p]},{round(3e4 / LAW[p])}\n" for p in CORES)
    assert _read(tmp_path, f"cores,time_s,FOM\n{rows}").runs[""].parameters == ["cores"]


def test_other_times_beside_the_one_that_is_named_are_asked_about(tmp_path: Path) -> None:
    rows = "".join(f"{n},{n**1.1 * 1.37e-4:.5g},{n**1.2 * 2.31e-4:.5g}\n" for n in (1000, 2000, 4000, 8000, 16_000))
    with pytest.raises(ReadError, match=r"'Sort' may be another time, beside 'Histogram': .*--parameters Stars"):
        _read(tmp_path, f"Stars,Sort,Histogram\n{rows}", time="Histogram")
    found = _read(tmp_path, f"Stars,Sort,Histogram\n{rows}", time="Histogram", parameters="Stars")
    assert found.runs[""].parameters == ["Stars"]


def test_a_phase_that_grows_is_no_parameter_beside_one_that_falls(tmp_path: Path) -> None:
    text = "cores,fluid,solid,coupling\n1,60.1,30.2,3.2\n2,31.2,15.9,3.4\n4,16.2,8.3,3.9\n8,8.8,4.5,4.2\n"
    with pytest.raises(ReadError, match=r"'fluid', 'coupling' may be other times, .*--parameters cores\)"):
        _read(tmp_path, text, time="solid")


def test_a_continuous_parameter_is_no_other_time(tmp_path: Path) -> None:
    sizes = (1.37, 8.11, 2.92, 5.53, 3.71, 6.67)
    rows = "".join(f"{p},{x},{(10 + 1000 / p) * x**0.3:.5g}\n" for p, x in zip(CORES, sizes, strict=True))
    assert _read(tmp_path, f"cores,x,T\n{rows}", time="T").runs[""].parameters == ["cores", "x"]


def test_parts_of_the_time_are_found_beside_a_small_parameter(tmp_path: Path) -> None:
    rows = "".join(
        f"{q},{p},{900 * q},{int(64_000 * q / p)},{900 * q + int(64_000 * q / p)}\n" for p in CORES for q in (1, 2)
    )
    found = _read(tmp_path, f"queries,threads,loading,matcher,total time\n{rows}", time="total time")
    assert found.runs[""].parameters == ["queries", "threads"]


def test_durations_side_by_side_are_repeated_runs(tmp_path: Path) -> None:
    text = "Chr,threads,Time1,Time2\n1,1,21:28:31,18:15:17\n1,2,10:23:52,9:40:41\n1,4,7:12:52,7:53:36\n"
    assert _read(tmp_path, text, time="Time*").runs[""].values[:2].tolist() == [77_311, 65_717]


def _rows(law: Callable[..., float], *values: Sequence[float]) -> str:
    return "".join(",".join(map(str, (*row, law(*row)))) + "\n" for row in itertools.product(*values))


@pytest.mark.parametrize("name", ["samples", "n_samples", "count"])
def test_numbers_of_samples_that_were_varied_are_a_parameter(tmp_path: Path, name: str) -> None:
    rows = _rows(lambda d, n: 1e-5 * n * d, (2, 4), (1000, 5000, 20_000))
    own = "count_" if name == "count" else name  # evenly uses that name itself
    assert _read(tmp_path, f"dimension,{name},seconds\n{rows}").runs[""].parameters == ["dimension", own]
    repeated = "".join(f"{p},{LAW[p]},{LAW[p] / 50},5\n" for p in CORES)
    assert _read(tmp_path, f"cores,time_s,std,{name}\n{repeated}").runs[""].parameters == ["cores"]


def test_the_mean_of_a_distribution_is_no_mean_of_times(tmp_path: Path) -> None:
    means, rows = (1.267, 0.113, 2.951, 0.702, 1.894, 0.338), ""
    for p, mean in zip(CORES, means, strict=True):
        rows += f"{p},{mean},{LAW[p] * mean**0.2:.5g}\n"
    assert _read(tmp_path, f"cores,mean,time_s\n{rows}").runs[""].parameters == ["cores", "mean"]


def test_parts_with_a_few_digits_and_names_of_phases(tmp_path: Path) -> None:
    rows = "".join(f"{p},{1000 / p:.4f},{0.3 * p:.4f},2.0,{1000 / p + 0.3 * p + 2:.4f}\n" for p in CORES)
    assert _read(tmp_path, f"procs,compute,comm,io,total_s\n{rows}", time="total_s").runs[""].parameters == ["procs"]


def test_units_per_row_of_a_benchmark_and_of_other_quantities(tmp_path: Path) -> None:
    found = _read(tmp_path, "threads,value,unit\n1,802,us/op\n2,402,us/op\n4,202,us/op\n", time="value")
    assert found.runs[""].values.max() == pytest.approx(802e-6)
    mixed = "quantity,unit,1 core,2 cores\nwall time,min,13.4,6.7\nmemory,GB,1.2,1.3\n"
    with pytest.raises(ReadError, match=r"1\.2 GB"):
        _read(tmp_path, mixed, time="* cores")
    chosen = _read(tmp_path, mixed, time="* cores", where="unit == 'min'").runs[""]
    assert chosen.values.tolist() == pytest.approx([804, 402])
    once = _read(tmp_path, "cores,time,unit\n1,13,min\n2,7,\n4,4,\n")
    assert once.runs[""].values.tolist() == [780, 420, 240]


def test_a_row_of_units_in_brackets_may_hold_any_words(tmp_path: Path) -> None:
    found = _read(tmp_path, "Kerne;Gitter;Laufzeit\n[-];[Zellen];[min]\n1;500;6,7\n2;500;3,4\n")
    assert found.runs[""].values.tolist() == pytest.approx([402, 204])


def test_seconds_of_a_phase_are_a_time_and_those_of_an_interval_are_not(tmp_path: Path) -> None:
    assert _read(tmp_path, "n,train_seconds\n1000,3.2\n2000,6.1\n").runs[""].parameters == ["n"]
    found = _read(tmp_path, "cores,interval_seconds,wall_s\n8,10,90\n16,20,50\n32,10,31\n")
    assert found.runs[""].parameters == ["cores", "interval_seconds"]
