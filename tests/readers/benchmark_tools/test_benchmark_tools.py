"""Files of benchmark tools: what is a run, what is a parameter, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evenly
from evenly.errors import ReadError
from evenly.readers.benchmark_tools.google_benchmark import GoogleBenchmarkReader
from evenly.readers.benchmark_tools.hyperfine import HyperfineReader
from evenly.readers.benchmark_tools.jmh import JmhReader
from evenly.readers.benchmark_tools.pytest_benchmark import PytestBenchmarkReader
from evenly.readers.benchmark_tools.reframe import ReframeReader
from evenly.readers.scanning import scan


def _file(folder: Path, content: Any, name: str = "out.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_hyperfine_times_of_failed_runs_are_failed_runs(tmp_path: Path) -> None:
    scan_of_n = [
        {"command": f"solve {n}", "mean": 1.0, "times": [8 / n, 9 / n, 0.001], "exit_codes": [0, 0, 1],
         "parameters": {"n": str(n)}}
        for n in (1, 2)
    ]  # fmt: skip
    reader = HyperfineReader()
    runs = reader.read(_file(tmp_path, {"results": scan_of_n}))["hyperfine"]
    assert runs.parameters == ["n"]  # "solve 1" and "solve 2" are one benchmark
    table = runs.to_frame()
    assert table["n"].tolist() == [1, 1, 1, 2, 2, 2]
    assert table["status"].tolist() == ["ok", "ok", "failed"] * 2
    assert runs.ok.values.tolist() == [8, 9, 4, 4.5]
    assert "1 of 3 runs are left out as failed" in reader.notes[0]


def test_hyperfine_commands_without_parameters_are_labels(tmp_path: Path) -> None:
    results = [{"command": name, "mean": 2.0, "times": [1.5, 2.5]} for name in ("a", "b")]
    runs = HyperfineReader().read(_file(tmp_path, {"results": results}))["hyperfine"]
    assert runs.parameters == ["benchmark"]
    assert len(runs) == 4


@pytest.mark.parametrize("command", ["solve --mpi 4 -n {n}", "make -j{n}", "{n} {n} 2>log", "4 1 4 {n}"])
def test_a_scan_of_hyperfine_is_one_benchmark(tmp_path: Path, command: str) -> None:
    results = [
        {"command": command.replace("{n}", str(n)), "mean": n, "times": [n], "parameters": {"n": str(n)}}
        for n in (1, 2, 4)
    ]
    assert HyperfineReader().read(_file(tmp_path, {"results": results}))["hyperfine"].parameters == ["n"]


def test_scans_of_two_commands_are_two_benchmarks(tmp_path: Path) -> None:
    results = [
        {"command": f"{name} {n}", "mean": n, "times": [n], "parameters": {"n": str(n)}}
        for name in ("old", "new")
        for n in (1, 2)
    ]
    table = HyperfineReader().read(_file(tmp_path, {"results": results}))["hyperfine"].to_frame()
    assert table["benchmark"].unique().tolist() == ["old {n}", "new {n}"]


def test_hyperfine_with_errors_only_is_refused(tmp_path: Path) -> None:
    one = {"command": "a [ERROR]", "mean": 3e-6, "times": [9e-6, 0.0, 0.0]}
    with pytest.raises(ReadError, match="measured without an error"):
        HyperfineReader().read(_file(tmp_path, {"results": [one]}))


@pytest.mark.parametrize(("unit", "seconds"), [("ns", 5e-9), ("us", 5e-6), ("ms", 5e-3), ("s", 5.0)])
def test_google_benchmark_has_its_own_unit(tmp_path: Path, unit: str, seconds: float) -> None:
    one = {"name": "BM_a/8/threads:2/real_time", "iterations": 3, "real_time": 5, "cpu_time": 4, "time_unit": unit}
    content = {"context": {"num_cpus": 4, "date": "2024"}, "benchmarks": [one]}
    runs = GoogleBenchmarkReader().read(_file(tmp_path, content))["google-benchmark"]
    assert runs.values.tolist() == [pytest.approx(seconds)]
    assert runs.to_frame()[["arg1", "threads"]].to_numpy().tolist() == [[8, 2]]


def test_google_benchmark_statistics_and_complexities_are_no_runs(tmp_path: Path) -> None:
    run = {"name": "BM_a/8", "run_type": "iteration", "iterations": 3, "real_time": 5, "time_unit": "us"}
    others = [
        {**run, "run_type": "aggregate", "name": "BM_a/8_mean"},
        {"name": "BM_a_BigO", "cpu_coefficient": 1.0, "real_coefficient": 1.0, "big_o": "N", "time_unit": "ns"},
        {"name": "BM_a_RMS", "rms": 0.1},
        {**run, "error_occurred": True, "error_message": "no memory"},
    ]
    content = {"context": {"num_cpus": 4}, "benchmarks": [run, {**run, "real_time": 6}, *others]}
    reader = GoogleBenchmarkReader()
    runs = reader.read(_file(tmp_path, content))["google-benchmark"]
    assert runs.ok.values.tolist() == pytest.approx([5e-6, 6e-6])
    assert runs.to_frame()["status"].tolist() == ["ok", "ok", "failed"]
    assert any("no memory" in note for note in reader.notes)


@pytest.mark.parametrize("old", [False, True])
def test_google_benchmark_that_kept_only_statistics(tmp_path: Path, *, old: bool) -> None:
    kept = [
        {"name": f"BM_a/{n}_{word}", "real_time": n if word == "mean" else 0.1, "time_unit": "us"}
        | ({} if old else {"run_name": f"BM_a/{n}", "run_type": "aggregate", "aggregate_name": word})
        for n in (8, 9)
        for word in ("mean", "median", "stddev")
    ]
    reader = GoogleBenchmarkReader()
    runs = reader.read(_file(tmp_path, {"context": {"num_cpus": 4}, "benchmarks": kept}))["google-benchmark"]
    assert runs.parameters == ["arg1"]
    assert runs.values.tolist() == pytest.approx([8e-6, 9e-6])
    assert "2 benchmarks kept only statistics" in reader.notes[0]


def test_a_google_benchmark_that_is_called_mean(tmp_path: Path) -> None:
    one = {"name": "BM_mean", "real_time": 5, "time_unit": "us"}
    runs = GoogleBenchmarkReader().read(_file(tmp_path, {"context": {}, "benchmarks": [one]}))["google-benchmark"]
    assert len(runs) == 1


def test_google_benchmark_saved_again_in_another_order(tmp_path: Path) -> None:
    runs = [{"cpu_time": 1, "name": f"BM_a/{n}", "real_time": 5, "time_unit": "us"} for n in range(200)]
    path = _file(tmp_path, {"benchmarks": runs, "context": {"num_cpus": 4}})
    assert len(scan(path).runs["google-benchmark"]) == 200


def test_benchmarks_of_different_parameters_are_tables_of_their_own(tmp_path: Path) -> None:
    names = ["BM_a/8", "BM_a/9", "BM_b/1/2", "BM_b/1/3"]
    runs = [{"name": name, "iterations": 1, "real_time": 5, "time_unit": "us"} for name in names]
    found = GoogleBenchmarkReader().read(_file(tmp_path, {"context": {"num_cpus": 4}, "benchmarks": runs}))
    assert {name: one.parameters for name, one in found.items()} == {"BM_a": ["arg1"], "BM_b": ["arg1", "arg2"]}


def test_pytest_benchmark_rounds_are_repetitions_and_means_are_said(tmp_path: Path) -> None:
    saved = {"name": "test_a[8]", "params": {"n": 8}, "stats": {"mean": 2.0, "data": [1.0, 3.0]}}
    reader = PytestBenchmarkReader()
    path = _file(tmp_path, {"benchmarks": [saved], "machine_info": {"node": "pc"}})
    assert reader.read(path)["pytest-benchmark"].values.tolist() == [1, 3]
    assert reader.notes == []
    averaged = {"name": "test_a[8]", "params": {"n": 8}, "stats": {"mean": 2.0}}
    runs = reader.read(_file(tmp_path, {"benchmarks": [averaged], "machine_info": {}}))["pytest-benchmark"]
    assert runs.values.tolist() == [2]
    assert "mean over them counts as one run" in reader.notes[0]


@pytest.mark.parametrize(
    ("unit", "score", "seconds"),
    [("ms/op", 4.0, 4e-3), ("ns/op", 4.0, 4e-9), ("ops/s", 4.0, 0.25), ("ops/ms", 4.0, 2.5e-4)],
)
def test_jmh_units(tmp_path: Path, unit: str, score: float, seconds: float) -> None:
    metric = {"score": score, "scoreUnit": unit}
    one = {"jmhVersion": "1.36", "benchmark": "a.B.c", "mode": "avgt", "threads": 4, "primaryMetric": metric}
    runs = JmhReader().read(_file(tmp_path, [one]))["jmh"]
    assert runs.values.tolist() == [pytest.approx(seconds)]
    assert runs.to_frame()["threads"].tolist() == [4]


def test_modes_of_jmh_are_no_repetitions_of_each_other(tmp_path: Path) -> None:
    modes = [
        ("avgt", "s/op", 0.04),
        ("thrpt", "ops/s", 100.0),
    ]  # on four threads: each takes 40 ms, all make 100 a second
    results = [
        {"benchmark": "a.B.c", "mode": mode, "threads": 4, "primaryMetric": {"score": score, "scoreUnit": unit}}
        for mode, unit, score in modes
    ]
    reader = JmhReader()
    table = reader.read(_file(tmp_path, results))["jmh"].to_frame()
    assert dict(zip(table["benchmark"], table["seconds"], strict=True)) == {"a.B.c (avgt)": 0.04, "a.B.c (thrpt)": 0.01}
    assert "1 / score" in reader.notes[0]


def test_jmh_unit_that_is_no_time(tmp_path: Path) -> None:
    one = {"benchmark": "a", "mode": "thrpt", "primaryMetric": {"score": 1, "scoreUnit": "B/op2"}}
    with pytest.raises(ReadError, match="the score's unit"):
        JmhReader().read(_file(tmp_path, [one]))


REFRAME = "job_completion_time|version|display_name|num_tasks|num_cpus_per_task|{0}_value|{0}_unit|result"


def test_reframe_with_a_time(tmp_path: Path) -> None:
    rows = [
        f"2024-01-01|reframe 4.3|Solve %n={n} @a:b|{n}|1|{8000 / n}|ms|{'pass' if n < 4 else 'fail'}" for n in (1, 2, 4)
    ]
    path = _file(tmp_path, "\n".join([REFRAME.format("run"), *rows, ""]), "Solve.log")
    runs = ReframeReader().read(path)["Solve"]
    assert runs.to_frame()[["ranks", "threads", "n"]].to_numpy().tolist() == [[1, 1, 1], [2, 1, 2], [4, 1, 4]]
    assert runs.ok.values.tolist() == [8, 4]


def test_reframe_failed_without_a_value(tmp_path: Path) -> None:
    rows = ["2024|reframe 4.3|Solve|1|1|null|null|fail", "2024|reframe 4.3|Solve|2|1|4|s|pass"]
    runs = ReframeReader().read(_file(tmp_path, "\n".join([REFRAME.format("run"), *rows, ""]), "S.log"))["Solve"]
    assert runs.to_frame()["status"].tolist() == ["failed", "ok"]
    assert runs.ok.values.tolist() == [4]


def test_reframe_3_has_a_line_for_each_value(tmp_path: Path) -> None:
    row = "2021-06-11T14:45:58|reframe 3.7.0|Solve on daint:gpu using gnu|jobid=7|num_tasks={}|{}|ref=0 (l=-1, u=1)|{}"
    rows = [
        text for n in (1, 2, 4) for text in (row.format(n, f"elapsed={8 / n}", "s"), row.format(n, f"rate={n}", "GB/s"))
    ]
    path = _file(tmp_path, "\n".join([*rows, ""]), "Solve.log")
    found = scan(path)
    assert found.runs["Solve"].to_frame()[["ranks", "seconds"]].to_numpy().tolist() == [[1, 8], [2, 4], [4, 2]]
    assert any("'elapsed_value' is the time" in note for note in found.notes)
    with pytest.raises(ReadError, match="line 6: a row as in ReFrame 3 was expected"):
        ReframeReader().read(_file(tmp_path, "\n".join(rows)[:-20], "Solve.log"))
    with pytest.raises(ReadError, match="no times"):
        ReframeReader().read(_file(tmp_path, rows[1], "Solve.log"))


def test_reframe_3_with_tags_and_several_times(tmp_path: Path) -> None:
    """Sites choose the order of what is logged: the unit before the reference, and tags in any order behind it."""
    row = "2020-08-19T17:30:22|reframe 3.0-dev6 (rev: 3f0)|Md_4 on a:b using md|jobid=5|{}|ref=0 (l=None, u=None)|{}"
    tags = "num_procs=128,num_nodes=4,3000k-atoms", "3000k-atoms,num_nodes=4,num_procs=128"
    values = ("rate=2.6|ns/day", "core_t=168446.8|s", "wall_t=657.9|s")
    path = _file(tmp_path, "\n".join(row.format(value, tag) for tag in tags for value in values) + "\n", "Md.log")
    with pytest.raises(ReadError, match=r"several performance values are times \((core_t|wall_t), (core_t|wall_t)\)"):
        ReframeReader().read(path)
    with pytest.raises(ReadError, match="'rate' is no performance value that is a time"):
        ReframeReader(time="rate").read(path)
    table = scan(path, time="wall_t").runs["Md_4"].to_frame()
    assert table[["ranks", "nodes", "seconds"]].to_numpy().tolist() == [[128, 4, 657.9]] * 2


def test_reframe_rates_are_no_times(tmp_path: Path) -> None:
    path = _file(tmp_path, REFRAME.format("flops") + "\n2024|reframe 4.3|Solve|1|1|0.6|Gflops/seconds|pass\n", "S.log")
    with pytest.raises(ReadError, match="no times"):
        ReframeReader().read(path)


def test_tables_of_jube_are_tables(tmp_path: Path) -> None:
    table = "result:\n| nodes | runtime[s] |\n|-------|------------|\n|     1 |        8.5 |\n|     2 |        4.4 |\n"
    runs = evenly.read(_file(tmp_path, table, "result.dat"))
    assert isinstance(runs, evenly.Runs)
    assert runs.parameters == ["nodes"]
    assert runs.values.tolist() == [8.5, 4.4]


@pytest.mark.parametrize(
    "content",
    [
        {"results": [{"command": "solve 1", "mean": 1.0, "times": [1.0, 2.0], "parameters": {"n": "1"}}]},
        {"context": {"num_cpus": 4}, "benchmarks": [{"name": "BM_a/8", "real_time": 5, "time_unit": "us"}]},
        {"benchmarks": [{"name": "test_a[8]", "params": {"n": 8}, "stats": {"mean": 2.0}}], "machine_info": {}},
        [{"benchmark": "a.B.c", "mode": "avgt", "primaryMetric": {"score": 1, "scoreUnit": "s/op"}}],
    ],
    ids=["hyperfine", "google-benchmark", "pytest-benchmark", "jmh"],
)
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, content: Any) -> None:
    whole = json.dumps(content)
    for end in range(len(whole) // 2, len(whole)):
        with pytest.raises(ReadError):
            scan(_file(tmp_path, whole[:end]))


def test_a_benchmark_with_several_sets_of_parameters_gets_a_table_of_each(tmp_path: Path) -> None:
    runs = [("BM_a", 3.0), *((f"BM_a/{n}", 2.0 * n) for n in (8, 16)), ("BM_a/8/2", 1.6), ("BM_a/8/4", 3.2)]
    entries = [{"name": name, "iterations": 9, "real_time": t, "time_unit": "us"} for name, t in runs]
    (tmp_path / "a.json").write_text(json.dumps({"context": {"num_cpus": 4}, "benchmarks": entries}))
    found = GoogleBenchmarkReader().read(tmp_path / "a.json")
    assert {name: len(one) for name, one in found.items()} == {"BM_a": 1, "BM_a/arg1": 2, "BM_a/arg1/arg2": 2}
    assert found["BM_a/arg1/arg2"].values.tolist() == pytest.approx([1.6e-6, 3.2e-6])
