"""Tables: the role of each column, and that outcomes and identifiers are no parameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import ReadError, option_text
from evenly.readers.scanning import scan
from evenly.readers.tables.identifiers import identifies
from evenly.readers.tables.roles import is_outcome
from evenly.readers.tables.table import TableReader
from evenly.readers.tables.time_relations import follows_response


@pytest.fixture
def strangers(samples: Path) -> Path:
    """Real files of other people, beside the samples."""
    folder = samples.parent / "strangers"
    if not folder.is_dir():
        pytest.fail(f"the folder {folder} is missing", pytrace=False)
    return folder


def write(folder: Path, content: str, name: str = "runs.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def roles(path: Path, **options: object) -> dict[str, str]:
    reader = TableReader(**options)  # type: ignore[arg-type]
    reader.read(path)
    return {column.name: column.role for column in reader.columns}


# ---- strangers --------------------------------------------------------------------------------------------------


def test_coupled_runs_are_not_learned_from_their_own_outcomes(strangers: Path) -> None:
    path = strangers / "ec-earth" / "ifs_nemo_coupled_runs.csv"
    found = roles(path, time="coupled_s")
    assert {name for name, role in found.items() if role == "parameter"} == {"ifs_nproc", "nemo_nproc", "n_ts"}
    assert {name for name, role in found.items() if role == "outcome"} == {"SYPD", "CHPSY", "cpl_cost"}
    assert found["ifs_wait_s"] == "quantity"
    assert found["run"] == "identifier"
    assert TableReader().read(path)[""].parameters == ["ifs_nproc", "nemo_nproc", "n_ts"]


def test_a_median_without_a_unit_is_not_taken_for_seconds(strangers: Path) -> None:
    path = strangers / "3-profiles" / "extrap-tests" / "mpi_data.csv"
    with pytest.raises(ReadError, match=r"'median' doesn't say in which unit it is: pass unit= \(--unit\)"):
        TableReader().read(path)
    runs = TableReader(unit="us", parameters="mpi,variable,Ranks").read(path)[""]
    values = runs.repetitions({"mpi": "IntelMPI", "variable": "MPI_Barrier", "Ranks": 32})
    np.testing.assert_allclose(values, [11.21505e-6])
    assert set(runs.quantities) == {"seconds"}


def test_curves_of_others_need_no_option(strangers: Path) -> None:
    for name in ("comp1.csv", "comp2.csv"):
        assert roles(strangers / "2-coupled" / "bsc-auto-lb" / name) == {"nproc": "parameter", "SYPD": "time"}


# ---- outcomes ---------------------------------------------------------------------------------------------------


def test_results_by_name_are_no_parameters_unless_named(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "Cores,Time (s),Speedup,Efficiency (%)\n1,1024.3,1.00,100.0\n2,518.7,1.97,98.7\n4,265.1,3.86,96.6\n",
    )
    reader = TableReader()
    assert reader.read(path)[""].parameters == ["Cores"]
    hint = "left out: Speedup, Efficiency (%) (outcomes; if they were chosen before the runs, name them: parameters="
    assert hint in " ".join(reader.notes)
    assert TableReader(parameters="Cores,Speedup").read(path)[""].parameters == ["Cores", "Speedup"]


def test_a_function_of_the_time_is_an_outcome_but_perfect_scaling_is_not(tmp_path: Path) -> None:
    cores = [1, 2, 3, 4, 6, 8, 12]
    rows = [f"{c},{97.3 / c + 1.27},{5421.7 / (97.3 / c + 1.27)}" for c in cores]
    path = write(tmp_path, "\n".join(["width,seconds,figure", *rows]) + "\n")
    assert roles(path) == {"width": "parameter", "seconds": "time", "figure": "outcome"}
    perfect = write(tmp_path, "\n".join(["width,seconds", *(f"{c},{96 / c}" for c in cores)]) + "\n")
    assert roles(perfect)["width"] == "parameter"


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], False),  # round: chosen
        ([10.123, 20.246, 30.369, 40.492, 50.615, 60.738, 70.861], True),
        ([10.123, 20.246, 30.369, 40.492, 50.615], False),  # too few to tell
    ],
)
def test_what_follows_the_time(values: list[float], outcome: bool) -> None:
    v = np.array(values)
    assert bool(follows_response("x", v, 3.7 * v, {})) is outcome
    assert not follows_response("mesh size", v, 3.7 * v, {})


def test_names_that_results_and_parameters_share() -> None:
    chosen, measured = np.array([10.0, 10, 25, 25]), np.array([1.314, 2.771, 5.123])
    assert not is_outcome("bandwidth", chosen)
    assert is_outcome("bandwidth", measured)
    assert not is_outcome("energy cutoff", measured)
    assert not is_outcome("power limit", measured)


def test_rates_are_no_times(tmp_path: Path) -> None:
    path = write(tmp_path, "size,time_us,GB/s,Images/sec\n1,512.2,49.1,3.75\n2,97.1,259.1,4.25\n3,33.2,757.9,9.5\n")
    assert roles(path) == {"size": "parameter", "time_us": "time", "GB/s": "outcome", "Images/sec": "outcome"}
    alone = write(tmp_path, "cores,ns/day\n16,12.3\n32,22.9\n")
    with pytest.raises(ReadError, match="no column's name says that it is a time"):
        TableReader().read(alone)
    with pytest.raises(ReadError, match=r"'ns/day' is a rate by its name: pass unit= \(--unit\), as --unit 1/d"):
        TableReader(time="ns/day").read(alone)
    np.testing.assert_allclose(
        TableReader(time="ns/day", unit="1/d").read(alone)[""].values, [86_400 / 12.3, 86_400 / 22.9]
    )


def test_a_limit_beside_the_time_is_no_second_time(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "ncpus,resources_used.walltime,Resource_List.walltime,Exit_status\n36,02:10:33,04:00:00,0\n72,01:08:20,04:00:00,0\n",
    )
    assert list(roles(path).values()) == ["parameter", "time", "left out", "state"]


@pytest.mark.parametrize(
    "content",
    [
        "#procs,T_total [s],Eff.,Speedup\n1,100.12,100%,1.00x\n2,51.23,97.7%,1.95x\n4,26.91,93.0%,3.72x\n",
        "| procs | Time (s) | Eff. |\n|-------|---------:|------|\n| 1 | 100.12 | 1.00 |\n| 2 | 51.23 | 0.97 |\n",
    ],
)
def test_tables_of_papers_and_pages(tmp_path: Path, content: str) -> None:
    runs = TableReader().read(write(tmp_path, content))[""]
    assert runs.parameters == ["procs"]
    assert runs.values[:2].tolist() == [100.12, 51.23]


def test_a_time_and_its_rate_are_no_question(tmp_path: Path) -> None:
    path = write(tmp_path, "nproc,seconds,SYPD\n4,100.5,3.2\n8,55.1,6.1\n")
    assert roles(path) == {"nproc": "parameter", "seconds": "time", "SYPD": "outcome"}


# ---- identifiers and constants ----------------------------------------------------------------------------------


def test_a_job_table_gives_parameters_only(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "JobID,User,State,Partition,NNodes,Elapsed,Timelimit,NodeList,Submit\n"
        "1,ann,COMPLETED,batch,1,01:00:00,02:00:00,n001,2026-11-20\n"
        "2,bob,COMPLETED,batch,2,00:31:00,02:00:00,n[1-2],2026-11-21\n",
    )
    found = roles(path)
    assert [name for name, role in found.items() if role == "parameter"] == ["NNodes"]
    assert [name for name, role in found.items() if role == "identifier"] == ["JobID", "User", "NodeList", "Submit"]
    assert (found["State"], found["Partition"], found["Timelimit"]) == ("state", "constant", "left out")


def test_labels_that_only_name_the_row(tmp_path: Path) -> None:
    rows = "".join(f"case-{c}x{m},{c},{m},{100 * m / c}\n" for c in (1, 2, 4) for m in (1, 3))
    assert roles(write(tmp_path, f"name,cores,mesh,seconds\n{rows}"))["name"] == "identifier"
    # Where nothing else varies, the label is what was chosen.
    assert not identifies("mesh", [f"m{i}" for i in range(8)], False, False)


def test_one_value_is_no_parameter_unless_named_or_nothing_varies(tmp_path: Path) -> None:
    path = write(tmp_path, "cores,mesh,seconds\n1,fine,8\n2,fine,4\n")
    found = scan(path)
    assert found.runs[""].parameters == ["cores"]
    assert {c.name: c.role for c in found.columns} == {"cores": "parameter", "mesh": "constant", "seconds": "time"}
    assert scan(path, parameters="cores,mesh").runs[""].parameters == ["cores", "mesh"]
    alone = write(tmp_path, "cores,mesh,seconds\n4,fine,8\n4,fine,8.1\n", "alone.csv")
    assert scan(alone).runs[""].parameters == ["cores", "mesh"]


def test_a_value_that_differs_between_files_is_a_parameter(tmp_path: Path) -> None:
    for cores in (1, 2, 4):
        write(
            tmp_path, f"cores,mesh,seconds\n{cores},fine,{8 / cores}\n{cores},fine,{8.1 / cores}\n", f"run-{cores}.csv"
        )
    found = scan(tmp_path)
    assert [one.parameters for one in found.runs.values()] == [["cores"]]
    assert {c.name: c.role for c in found.columns}["cores"] == "parameter"


def test_a_remark_and_an_empty_column_are_left_out(tmp_path: Path) -> None:
    found = roles(write(tmp_path, "cores,remark to it,nothing,seconds\n1,first,,8\n2,,,4\n4,,,2\n"))
    assert (found["remark to it"], found["nothing"]) == ("left out", "left out")


def test_a_second_label_beside_solver_says_what_solver_is(tmp_path: Path) -> None:
    content = "solver,user,cores,seconds\na,ann,1,8\nb,ann,1,4\na,ann,2,4\nb,ann,2,2\n"
    assert list(TableReader().read(write(tmp_path, content))) == ["a", "b"]  # a user is no second choice
    reader = TableReader()
    runs = reader.read(
        write(tmp_path, content.replace("user", "precond").replace("2,ann", "2,bob").replace("b,ann", "b,x"))
    )
    assert runs[""].parameters == ["solver", "precond", "cores"]
    assert any("pass solver='solver' (--solver solver) if it names the parts" in note for note in reader.notes)


RESULTS = """\
cores,grid,seed,wall (s),setup (s),user,sys,CPU %,comm %,MPI time %,load,iterations,fill %
4,100,1,100.5,3.1,380.1,2.2,99,5.2,4.9,1.31,37,10
8,100,2,52.3,3.2,390.2,2.5,97,9.8,9.1,2.21,38,10
16,100,1,28.9,3.3,402.0,3.2,91,17.1,15.5,1.71,39,20
8,200,2,205.1,12.1,1588.0,3.1,98,7.1,6.6,1.92,71,20
16,200,1,110.4,12.3,1612.2,4.4,96,12.0,11.1,1.44,72,40
32,200,2,60.2,12.6,1703.3,6.2,89,21.3,20.1,0.93,73,40
"""


def test_what_came_out_of_a_run_is_no_parameter(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(RESULTS)
    found = scan(path)
    assert found.runs[""].parameters == ["cores", "grid", "fill %"]
    roles = {column.name: column.role for column in found.columns}
    assert {roles[name] for name in ("sys", "CPU %", "comm %", "MPI time %", "load", "iterations")} == {"outcome"}
    assert (roles["seed"], roles["user"], roles["setup (s)"]) == ("identifier", "identifier", "quantity")
    named = scan(path, parameters=["cores", "iterations", "load"])
    assert named.runs[""].parameters == ["cores", "iterations", "load"]


def test_numbers_of_iterations_that_were_chosen_are_a_parameter(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,iterations,load,seconds\n1,100,1,9.1\n2,100,2,4.6\n2,200,1,9.3\n4,400,2,9.2\n")
    assert scan(path).runs[""].parameters == ["cores", "iterations", "load"]


def test_outcomes_in_other_languages(tmp_path: Path) -> None:
    for name in ("Effizienz", "Efficacité", "eficiencia", "Beschleunigung"):
        path = write(tmp_path, f"cores;time (s);{name}\n1;812,5;100\n2;418,3;97\n4;219,7;92\n8;121,9;83\n16;74,2;68\n")
        assert roles(path)[name] == "outcome"


def test_a_part_of_the_time_named_is_no_parameter(tmp_path: Path) -> None:
    """With --time t_total, t_comm is measured, too: nobody knows it before a run. t_end is chosen."""
    rows = "".join(f"{n},{100 / n + 1},{0.37 * n + 0.1113},{10 * (n % 3)}\n" for n in (1, 2, 4, 8, 16))
    path = write(tmp_path, "ranks,t_total,t_comm,t_end\n" + rows)
    assert roles(path, time="t_total") == {
        "ranks": "parameter", "t_total": "time", "t_comm": "quantity", "t_end": "parameter",
    }  # fmt: skip


def test_marks_of_markdown_are_no_part_of_cells(tmp_path: Path) -> None:
    table = "| # | Cores | Time (ms) | Efficiency |\n|--:|---|---|---|\n"
    rows = "".join(f"| {n} | {c} | **{t} ms** | \\~{e}% |\n" for n, c, t, e in ((1, 1, 818, 100), (2, 2, 410, 99)))
    path = write(tmp_path, f"Some text.\n\n{table}{rows}| 3 | 8 | 137 ms | bad |\n", "scaling.md")
    assert roles(path) == {"nr": "identifier", "Cores": "parameter", "Time (ms)": "time", "Efficiency": "outcome"}


def test_sizes_that_are_counts_and_results_that_are_named_otherwise(tmp_path: Path) -> None:
    """Columns of strangers: a number of objects is a size, memory that nobody would choose is none."""
    rows = "".join(
        f"{n},{p},{8.123 * n / p},{2.7131 / p + 0.01 * n:.4f},{1234567.1 / p:.1f},{18221 + 317 * n // p}\n"
        for n in (1000, 5000, 50000) for p in (1, 2, 4)
    )  # fmt: skip
    path = write(tmp_path, "object_count,ranks,time_ms,mpi_times,zone-cycles/cpu_second,actual memory\n" + rows)
    assert roles(path) == {
        "object_count": "parameter", "ranks": "parameter", "time_ms": "time", "mpi_times": "quantity",
        "zone-cycles/cpu_second": "outcome", "actual memory": "outcome",
    }  # fmt: skip


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_phases_without_a_unit_are_parts_of_the_time(tmp_path: Path, unit: str) -> None:
    rows = [
        (n, d, 100.3 / n + d, (40.12 + d) / n, 50.33 / n + 0.3 * d, (9.1 - d) / n)
        for n in (1, 2, 4, 8, 16)
        for d in (0.25, 0.5)
    ]
    table = pd.DataFrame(rows, columns=["cores", "density", "total", "fft", "forces", "kick"])
    table.to_csv(tmp_path / "a.csv", index=False)
    runs = evenly.read(tmp_path / "a.csv", time="total", unit=unit)
    assert isinstance(runs, evenly.Runs)
    assert runs.parameters == ["cores", "density"]


def test_runs_that_took_their_limit_were_stopped_there(tmp_path: Path) -> None:
    rows = [(2, 3600.4, 3600), (4, 3600, 3600), (8, 2550, 3600), (16, 1300, 3600), (32, 675, 3600)]
    pd.DataFrame(rows, columns=["cores", "time_s", "time_limit_s"]).to_csv(tmp_path / "a.csv", index=False)
    found = scan(tmp_path / "a.csv")
    assert any("2 runs took as long as 'time_limit_s' allows: taken as stopped there" in note for note in found.notes)
    (runs,) = found.runs.values()
    assert runs.to_frame()["status"].tolist() == ["timed out"] * 2 + ["ok"] * 3
    assert runs.bounds[:2].tolist() == [3600.4, 3600]


def test_a_column_of_results_tells_states(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("cores,result,time_s\n1,ok,100\n2,ok,52\n4,timeout,60\n8,oom,3\n16,diverged,7\n")
    found = scan(path).runs[""]
    assert found.parameters == ["cores"]
    assert list(found.to_frame()["status"]) == ["ok", "ok", "timed out", "failed", "failed"]
    path.write_text("cores,result,time_s\n1,ok,100\n2,ok,52\n4,ok,26\n8,broken mesh,3\n")
    with pytest.raises(ReadError, match="line 5: the status in column 'result' must be ok"):
        scan(path)


def test_a_time_per_piece_of_work_may_be_a_time(tmp_path: Path) -> None:
    path = write(tmp_path, "cores,minutes_per_day\n16,12.3\n32,7.9\n")
    with pytest.raises(ReadError, match=r"'minutes_per_day' may be a time or a rate: pass unit=min"):
        scan(path, time="minutes_per_day")
    assert list(scan(path, time="minutes_per_day", unit="s").runs[""].values) == [12.3, 7.9]


@pytest.mark.parametrize(
    ("name", "unit"),
    [("ns/day", "1/d"), ("sim. days/wallclock hour", "1/h"), ("tok/s", "1/s"), ("Rate (it/min)", "1/min")],
)
def test_of_the_only_rate_column_and_unit_are_asked_at_once(tmp_path: Path, name: str, unit: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"cores,{name}\n1,10.1\n2,19.5\n4,36.8\n")
    with pytest.raises(ReadError, match=f"{re.escape(option_text('--time', name))} --unit {unit}"):
        scan(path)
    assert scan(path, time=name, unit=unit).runs[""].parameters == ["cores"]


def test_costs_are_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,Runtime (hrs),Cost ($),core-h/SY\n4,12.5,$2.13,714\n8,6.61,$2.25,823\n16,3.62,$2.46,2133\n")
    assert roles(path)["Cost ($)"] == roles(path)["core-h/SY"] == "outcome"


def test_speed_up_and_efficiency_as_teachers_write_them_are_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("p,T(p),S(p),E(p)\n1,100,1,1\n2,52,1.92,0.96\n4,27,3.70,0.93\n8,15,6.67,0.83\n")
    assert scan(path, time="T(p)").runs[""].parameters == ["p"]


def test_rates_of_each_device_iterations_and_second_times_are_no_parameters(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("nodes,Images/s/GPU,Epoch (s)\n1,310,1020\n2,305,518\n4,297,266\n")
    assert scan(path).runs[""].parameters == ["nodes"]
    path.write_text("precon,cores,iterations,time_s\nJ,16,210,12.1\nAMG,16,31,6.2\nILU,16,180,14.0\nGS,32,28,7.3\n")
    assert scan(path).runs[""].parameters == ["precon", "cores"]
    path.write_text("cores,wall(s),wall(s) HT\n12,100,92\n24,52,49\n48,27,25\n")
    assert scan(path).runs[""].parameters == ["cores"]


def test_labels_that_differ_in_more_than_a_count_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = "".join(f"{kind}-{p},{p},{t / p}\n" for kind, t in (("old", 1600), ("new", 1200)) for p in (16, 32, 64))
    path.write_text(f"experiment,ranks,seconds\n{rows}")
    with pytest.raises(ReadError, match=r"'experiment' is left out .* --parameters ranks,experiment"):
        scan(path)
    assert scan(path, parameters="ranks").runs[""].parameters == ["ranks"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("parallel efficiency [%]", r"an efficiency .* t \* n / \(nodes \* efficiency\)"),
        ("strong scaling efficiency", "neither a time nor a rate"),
        ("Effizienz", "neither a time nor a rate"),
        ("E(p)", "neither a time nor a rate"),
        ("speedup", "a speed-up .* divided by the speed-up"),
        ("S(p)", "divided by the speed-up"),
    ],
)
@pytest.mark.parametrize("typed", [{}, {"time": ...}, {"time": ..., "unit": "1/s"}, {"time": ..., "unit": "s"}])
@pytest.mark.parametrize("size", ["", "cells"])
def test_a_ratio_of_times_is_no_rate(tmp_path: Path, column: str, said: str, typed: dict[str, Any], size: str) -> None:
    """1/(efficiency * nodes) is the relative time of one size; 1/efficiency, as of a rate, rises with the nodes."""
    rows = [f"{n},{e}" + (f",{k}" if size else "") for k, (n, e) in enumerate(((1, 99.1), (2, 97.3), (4, 71.9)))]
    path = write(tmp_path, ",".join(filter(None, ["nodes", column, size])) + "\n" + "\n".join(rows) + "\n")
    options: dict[str, Any] = {name: column if value is ... else value for name, value in typed.items()}
    if not options and size:
        said = "pass time= .* with one of the columns 'cells'"
    with pytest.raises(ReadError, match=said):
        TableReader(**options, parameters="nodes" if options else None).read(path)


def test_an_empty_column_of_remarks_has_none_to_tell(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,time_s,remarks\n8,100,\n16,52,\n32,30,\n")
    assert not any("remarks that were not used" in note for note in scan(path).notes)


@pytest.mark.parametrize("name", ["Model", "code", "what"])
def test_a_column_of_components_names_the_solvers(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, f"{name},cores,time_s\natm,16,40\natm,32,21\nSea-Ice,16,9\nSea-Ice,32,5\n")
    assert sorted(scan(path).runs) == ["Sea-Ice", "atm"]
    path.write_text(path.read_text().replace("Sea-Ice", "variant b"))
    assert list(scan(path).runs) == [""]
