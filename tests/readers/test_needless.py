"""Parameters that others tell in all runs are left out, so that nobody is asked for values that can't go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.readers.needless import without_needless
from evenly.readers.scanning import Measurements, scan
from evenly.readers.tables.roles import Column
from evenly.runs.cores import find_cores
from evenly.runs.runs import Runs
from evenly.space.parameters import Integer, Ordinal


def kept(table: Mapping[str, Sequence[object]]) -> tuple[list[str], str]:
    """Return the parameters that are kept, and the notes."""
    frame = pd.DataFrame(table)
    names = list(table)
    runs = Runs.from_frame(frame.assign(seconds=1.0), names)
    found, _, notes = without_needless({"": runs}, [Column(name, "parameter", "") for name in names])
    return found[""].parameters, "; ".join(notes)


def test_nodes_and_tasks_as_qstat_calls_them_are_counts() -> None:
    assert kept({"NDS": [1, 2, 4], "TSK": [32, 64, 128]})[0] == ["TSK"]


def test_a_product_of_two_counts_is_told_by_them() -> None:
    table = {"p": [1, 2, 4, 5, 25], "pr": [1, 2, 2, 5, 5], "pc": [1, 1, 2, 1, 5]}
    assert kept(table) == (["pr", "pc"], "p is pr * pc in all runs, so it is left out (--parameters names both)")
    named, notes = kept({"mpi_procs": table["p"], "tiles_x": table["pr"], "tiles_y": table["pc"]})
    assert named == ["tiles_x", "tiles_y"]
    assert "(--cores-are 'tiles_x * tiles_y')" in notes


def test_of_ranks_cells_and_cells_of_each_rank_the_last_goes() -> None:
    table: dict[str, list[Any]] = {"ranks": [1, 2, 2, 4], "n": [8, 8, 16, 4], "N": [8, 16, 32, 16]}
    assert kept(table)[0] == ["ranks", "N"]


def test_a_name_of_a_mesh_goes_with_its_points() -> None:
    table: dict[str, list[Any]] = {
        "mesh": ["coarse", "coarse", "fine", "fine"], "dofs": [1000, 1000, 8000, 8000], "procs": [4, 8, 4, 8],
    }  # fmt: skip
    assert kept(table)[0] == ["dofs", "procs"]
    # Here, 8000 points were computed with both.
    assert kept(table | {"mesh": ["coarse", "coarse", "fine", "coarse"]})[0] == ["mesh", "dofs", "procs"]


def test_a_level_goes_with_the_points_that_span_more() -> None:
    table: dict[str, list[Any]] = {"level": [3, 3, 4, 4], "points": [512, 512, 4096, 4096], "procs": [4, 8, 4, 8]}
    assert kept(table)[0] == ["points", "procs"]


def test_cells_are_told_by_three_axes() -> None:
    sizes = [(128, 64, 64), (128, 128, 64), (256, 128, 64), (256, 256, 128)]
    rows = [(x, y, z, x * y * z, p) for x, y, z in sizes for p in (8, 16)]
    table = {name: [row[at] for row in rows] for at, name in enumerate(("nx", "ny", "nz", "cells", "ranks"))}
    names, notes = kept(table)
    assert names == ["nx", "ny", "nz", "ranks"]
    assert "cells is nx * ny * nz in all runs" in notes


def test_unknowns_are_told_by_order_and_elements() -> None:
    rows = [(d, n, (n * d + 1) ** 2, p) for d in (1, 2, 3) for n in (16, 32, 64) for p in (1, 4)]
    table = {name: [row[at] for row in rows] for at, name in enumerate(("degree", "n", "dofs", "ranks"))}
    names, notes = kept(table)
    assert names == ["degree", "n", "ranks"]
    assert "dofs is told by degree and n in all runs" in notes


def test_atoms_are_a_factor_times_three_sizes() -> None:
    rows = [(a, b, c, 304 * a * b * c, p) for a in (1, 2) for b in (1, 2, 4) for c in (1, 3) for p in (1, 8)]
    table = {name: [row[at] for row in rows] for at, name in enumerate(("x", "y", "z", "atoms", "np"))}
    assert kept(table)[0] == ["x", "y", "z", "np"]


def test_samples_are_not_tied_to_each_other() -> None:
    """In a design of which each value occurs once, all columns go with all others one by one."""
    table: dict[str, list[Any]] = {"nx": [10, 20, 30, 40], "ny": [15, 25, 35, 55], "tol": ["a", "b", "c", "d"]}
    assert kept(table)[0] == ["nx", "ny", "tol"]


def test_weak_scaling_is_not_left_out() -> None:
    for sizes in ([10, 20, 40, 80], [1, 2, 3, 4]):
        assert kept({"ranks": [1, 2, 4, 8], "level": sizes})[0] == ["ranks", "level"]


def test_a_logarithm_of_a_count_that_says_so() -> None:
    assert kept({"nprocs": [1, 2, 4, 12], "log_p": [0, 1, 2, 3.5]})[0] == ["nprocs"]


def test_processes_of_each_axis_are_proposed_as_cores() -> None:
    frame = pd.DataFrame({"pr": [1, 2, 4], "pc": [1, 1, 2], "seconds": [4.0, 2.0, 1.0]})
    with pytest.raises(InputError, match=r"--cores-are 'pr \* pc'"):
        find_cores(Runs.from_frame(frame, ["pr", "pc"]).space)
    frame = pd.DataFrame({"nx": [1, 2, 4], "ny": [1, 1, 2], "seconds": [4.0, 2.0, 1.0]})
    with pytest.raises(InputError, match=r"--cores-are nx "):
        find_cores(Runs.from_frame(frame, ["nx", "ny"]).space)


def test_gpus_are_proposed_and_what_fills_a_node_is_multiplied() -> None:
    frame = pd.DataFrame({"L": [24, 24, 32], "GPUs": [4, 8, 8], "seconds": [4.0, 2.0, 1.0]})
    with pytest.raises(InputError, match="--cores-are GPUs "):
        find_cores(Runs.from_frame(frame, ["L", "GPUs"]).space)
    table = {"nodes": [1, 1, 2, 2], "MPI": [64, 32, 64, 32], "OMP": [1, 2, 1, 2], "seconds": [4.0, 3.9, 2.0, 2.1]}
    runs = Runs.from_frame(pd.DataFrame(table), ["nodes", "MPI", "OMP"])
    with pytest.raises(InputError, match=r"--cores-are 'nodes \* MPI \* OMP'"):
        find_cores(runs.space, measured=runs.configurations)


def read(folder: Path, text: str, name: str = "runs.csv") -> Measurements:
    path = folder / name
    path.write_text(text)
    return scan(path)


def test_2d_and_3d_are_no_durations(tmp_path: Path) -> None:
    rows = "".join(f"{d},{n},{p},{n * n / p}\n" for d, n in (("2D", 512), ("3D", 64)) for p in (4, 8))
    assert read(tmp_path, f"dim,nx,cores,time_s\n{rows}").runs[""].parameters[0] in ("dim", "nx")
    found = read(tmp_path, f"dim,nx,cores,time_s\n{rows}2D,1024,4,300\n3D,128,8,400\n")
    assert found.runs[""].parameters == ["dim", "nx", "cores"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Cores   Wall time (s)   Nodes\n8        412.1     1\n16       214.0     1\n32       118.7     1\n", "t.txt"),
        ("cores    wall_s\n-----    ------\n8        412.1\n16       214.0\n32       118.7\n", "t.dat"),
        ("| cores | time [s] |\n|---|---|\n| 8 | 412.1 |\n|   |    |\n| 16 | 214.0 |\n| 32 | 118.7 |\n", "t.md"),
    ],
)
def test_tables_as_people_align_them(tmp_path: Path, text: str, name: str) -> None:
    assert read(tmp_path, text, name).runs[""].values.tolist() == [412.1, 214.0, 118.7]


def test_a_table_of_latex_that_ends_in_one_line(tmp_path: Path) -> None:
    rows = r"8 & 412.1 \\ 16 & 214.0 \\ 32 & 118.7 \\".replace(r"\\ ", "\\\\\n").replace(r"\\", "\\\\")
    text = rf"\begin{{tabular}}{{rr}}\hline|Cores & Time [s]\\ \hline|{rows}|\hline\end{{tabular}}\end{{table}}"
    assert read(tmp_path, text.replace("|", "\n") + "\n", "t.tex").runs[""].values.tolist() == [412.1, 214.0, 118.7]


def test_results_of_physics_and_of_the_run(tmp_path: Path) -> None:
    header = "nx,ranks,time_s,l2_error,plaquette,comm_fraction,avg_comm_per_step\n"
    rows = [
        f"{n},{p},{n * n / p / 1000:.3f},{e},{0.587 + n / 1e7 + p / 1e6:.6f},{0.1 + p / 97:.3f},{p / 1e4:.4f}\n"
        for n, e in ((256, 1.373e-4), (512, 8.581e-6))
        for p in (16, 32, 64)
    ]
    assert read(tmp_path, header + "".join(rows)).runs[""].parameters == ["nx", "ranks"]


def test_hours_for_each_simulated_nanosecond_are_hours(tmp_path: Path) -> None:
    path = tmp_path / "md.csv"
    path.write_text("cores,hour/ns\n32,1.3432\n64,0.6906\n128,0.3584\n")
    assert scan(path, time="hour/ns").runs[""].values[0] == pytest.approx(1.3432 * 3600)


def test_one_core_beside_several(tmp_path: Path) -> None:
    path = tmp_path / "breit.csv"
    path.write_text("Zellen;1 Kern;2 Kerne;4 Kerne\n1000;0,383;0,205;0,106\n2000;0,811;0,412;0,217\n")
    runs = scan(path, time="* Kerne").runs[""]
    assert runs.parameters == ["Zellen", "Kerne"]
    assert sorted(set(runs.configurations["Kerne"])) == [1, 2, 4]


def test_ranks_that_cores_tell_of_each_solver_in_its_own_way_are_left_out(tmp_path: Path) -> None:
    rows = [
        f"{name},{p},{t},{p * t},{w / (p * t)}"
        for name, t, w in (("ice", 2, 450), ("ocn", 1, 900))
        for p in (8, 16, 32)
    ]
    path = tmp_path / "a.csv"
    path.write_text("component,tasks,threads,cores,seconds\n" + "\n".join(rows) + "\n")
    found = scan(path)
    assert all("tasks" not in runs.parameters for runs in found.runs.values())
    assert any("tasks is" in note and "left out" in note for note in found.notes), found.notes


def test_of_ranks_threads_and_all_threads_the_last_go() -> None:
    table = {"ranks": [1, 2, 4, 4, 8], "threads": [8, 8, 8, 4, 4], "total threads": [8, 16, 32, 16, 32]}
    named, notes = kept(table)
    assert named == ["ranks", "threads"]
    assert "(--cores-are 'ranks * threads')" in notes
    assert kept({"ranks": [1, 2, 4], "total threads": [8, 16, 32]})[0] == ["total threads"]


@pytest.mark.parametrize("workers", ["cores", "total cores", "nodes"])
def test_threads_that_are_a_part_of_the_cores_go(tmp_path: Path, workers: str) -> None:
    """One rank on each 16 cores had more threads on more cores: both were asked for, and 16 cores got 32 threads."""
    path = tmp_path / "t.csv"
    path.write_text(f"{workers},threads,time_s\n16,1,52.8\n32,2,28.0\n64,4,16.2\n256,16,7.4\n512,32,5.9\n")
    found = scan(path)
    assert found.runs[""].parameters == [workers]
    assert any(f"threads is {workers} / 16 in all runs, so it is left out" in note for note in found.notes)


def test_nodes_that_gpus_need_go(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("GPUs,nodes,time_s\n1,1,54.0\n2,1,28.8\n4,1,16.2\n8,2,9.8\n32,8,5.8\n")
    found = scan(path)
    assert found.runs[""].parameters == ["GPUs"]
    assert any("nodes is GPUs / 4, rounded up in all runs" in note for note in found.notes)


@pytest.mark.parametrize(("cores", "left"), [([40, 90, 140, 190, 250], True), ([40, 90, 140, 290, 250], False)])
def test_nodes_that_hold_the_cores_but_are_never_full_go(tmp_path: Path, cores: list[int], left: bool) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{n},{p},{1e4 / p}\n" for n, p in zip((1, 2, 3, 4, 6), cores, strict=True)]
    path.write_text("".join(["nodes,cores,time_s\n", *rows]))
    found = scan(path)
    assert any("nodes is just enough for cores in all runs" in note for note in found.notes) == left
    assert ("nodes" in found.runs[""].parameters) == (not left)


def test_nodes_of_partitions_with_nodes_of_their_own_are_told_by_the_cores() -> None:
    table: dict[str, list[Any]] = {
        "cores": [36, 72, 144, 128, 256], "nodes": [1, 2, 4, 1, 2], "partition": ["sky", "sky", "sky", "rome", "rome"],
    }  # fmt: skip
    names, notes = kept(table)
    assert names == ["cores", "partition"]
    assert "nodes is cores / 128 (rome) and cores / 36 (sky) in all runs" in notes
    assert kept(table | {"nodes": [1, 2, 2, 1, 2]})[0] == ["cores", "nodes", "partition"]


def test_a_column_that_names_layouts_of_several_solvers_is_left_out() -> None:
    """Land has the same cores in two layouts, so the layout doesn't follow from its cores."""
    cores = {"atm": [64, 128, 256], "lnd": [8, 8, 16]}
    runs = {
        name: Runs.from_frame(
            pd.DataFrame({"layout": ["XS", "S", "M"], "cores": counts, "seconds": [9.0, 5.0, 3.0]}), ["layout", "cores"]
        )
        for name, counts in cores.items()
    }
    columns = [Column("layout", "parameter", ""), Column("cores", "parameter", "")]
    found, told, notes = without_needless(runs, columns)
    assert {name: one.parameters for name, one in found.items()} == {"atm": ["cores"], "lnd": ["cores"]}
    assert told[0].role == "left out"
    assert notes == [
        "layout names layouts, with one run of every solver each, so it is left out (--parameters names it)"
    ]
    again = Runs.concat([runs["lnd"], Runs.from_frame(runs["lnd"].to_frame().assign(cores=32), ["layout", "cores"])])
    assert without_needless({**runs, "lnd": again}, columns)[0]["lnd"].parameters == ["layout", "cores"]
    assert without_needless({"atm": runs["atm"]}, columns)[0]["atm"].parameters == ["layout", "cores"]


def test_two_sizes_with_names_are_a_choice() -> None:
    """Between a coarse and a fine mesh, no other has a name: nothing is proposed or shown there."""
    rows = [(mesh, days, p, days * 100 / p) for mesh, days in (("coarse", 20), ("fine", 10)) for p in (8, 16, 32)]
    frame = pd.DataFrame(rows, columns=["mesh", "days", "cores", "seconds"])
    told = [Column(name, "parameter", "") for name in ("mesh", "days", "cores")]
    given = Runs.from_frame(frame, ["mesh", "days", "cores"]).of_days(30.0)
    runs = without_needless({"": given}, told)[0][""]
    assert runs.days == 30.0
    assert runs.space.parameters["days"] == Ordinal(10, 20, scale="log")
    assert isinstance(runs.space.parameters["cores"], Integer)
