"""Logs that other people's programs wrote: times and counts to the digit, and no wrong time from a damaged log."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.errors import EvenlyError, ReadError
from evenly.readers import read, scan
from evenly.readers.logs.log import LogReader
from evenly.runs.runs import Runs

CUTS = 25
LOGS = "4-logs"
GROMACS = "gromacs-archer/benchmark_{}.log"

#: The only run of each log: solver, seconds, and parameters.
ONE_RUN: dict[str, tuple[str, float, dict[str, Any]]] = {
    GROMACS.format(name): (
        "gromacs",
        seconds,
        {"nodes": nodes, "ranks": ranks, "threads": threads, "steps": 10_000, "atoms": 1_403_180},
    )
    for name, seconds, nodes, ranks, threads in [
        ("1nodes24tasks1threads_201810051323", 1647.418, 1, 24, 1),
        ("2nodes48tasks1threads_201810051323", 826.782, 2, 48, 1),
        ("4nodes96tasks1threads_201810051323", 452.641, 4, 96, 1),
        ("8nodes192tasks1threads_201809291044", 246.714, 8, 192, 1),
        ("16nodes384tasks1threads_201810051316", 169.329, 16, 384, 1),
        ("32nodes768tasks1threads_201810051316", 96.561, 32, 768, 1),
        ("64nodes1536tasks1threads_201810061946", 58.598, 64, 1536, 1),
        ("128nodes3072tasks1threads_201810081407", 72.737, 128, 3072, 1),
        ("16nodes384tasks2threads2smt_201810051656", 121.743, 16, 384, 2),
    ]
}
ONE_RUN |= {
    f"cp2k-archer2/H2O_bench-{nodes}nodes-{cores}cores-2threads-run1.out": (
        "cp2k",
        seconds,
        {"ranks": cores // 2, "threads": 2, "atoms": 192, "steps": 10},
    )
    for nodes, cores, seconds in [(1, 128, 26.040), (2, 256, 23.188), (4, 512, 23.794)]
}
ONE_RUN |= {
    f"castep-archer/TiN-mp_1nodes_{name}.castep": ("castep", seconds, {"ranks": ranks, "ions": 33})
    for name, ranks, seconds in [
        ("1ranks_202003161011", 1, 5697.09),
        ("4ranks_1threads_202003240848", 4, 1791.67),
        ("24ranks_1threads_202008120926", 24, 582.67),
    ]
}
ONE_RUN |= {
    f"lammps-bench/log.6Oct16.{name}": (
        "lammps",
        seconds,
        {"ranks": int(name[-1]), "threads": 1, "steps": 100, "atoms": atoms, "pair_style": style},
    )
    for name, seconds, atoms, style in [
        ("lj.fixed.icc.1", 2.26185, 32_000, "lj/cut"),
        ("lj.fixed.icc.4", 0.635957, 32_000, "lj/cut"),
        ("lj.scaled.icc.4", 2.55762, 128_000, "lj/cut"),
        ("rhodo.fixed.icc.1", 35.0316, 32_000, "lj/charmm/coul/long"),
        ("rhodo.fixed.icc.4", 9.39107, 32_000, "lj/charmm/coul/long"),
        ("eam.fixed.icc.1", 5.96529, 32_000, "eam"),
        ("eam.fixed.icc.4", 1.64562, 32_000, "eam"),
    ]
}
# Twelve and sixteen ranks share eight hardware threads: the clock, not the time of the processors, is the time.
ONE_RUN |= {
    f"openfoam-opencae/mpi_{ranks:05d}.log.pimpleFoam.23406": ("pimpleFoam", seconds, {"ranks": ranks, "steps": 11})
    for ranks, seconds in [(1, 318), (2, 217), (4, 209), (8, 216), (12, 1570), (16, 2847)]
}
ONE_RUN |= {
    f"hpl-lbnl/nb=192_n={n}_90pct_{p}x{q}_etna0.out": ("hpl", seconds, {"N": n, "NB": 192, "P": p, "ranks": p * q})
    for n, p, q, seconds in [
        (118848, 4, 4, 3839.37),
        (166656, 4, 8, 4867.85),
        (235776, 8, 8, 7537.68),
        (250176, 8, 9, 8100.32),
        (83904, 2, 4, 2310.54),
    ]
}
ONE_RUN |= {
    "lammps-nrel/NREL_medium_numerical_test.log": (
        "lammps",
        11243.5,
        {"ranks": 64, "threads": 1, "steps": 20_000, "atoms": 5_952_000},
    ),
    "opensbli-archer/output_1nodes_201903201338.txt": ("opensbli", 1001.384514, {"ranks": 24, "iterations": 100}),
    "qe-qef/REFERENCE_pw.out": ("qe", 2 * 3600 + 9 * 60, {"ranks": 800, "threads": 1, "atoms": 1532, "bands": 2616}),
}


def only_table(path: Path) -> tuple[str, pd.DataFrame]:
    ((solver, runs),) = LogReader().read(path).items()
    return solver, runs.to_frame()


@pytest.mark.parametrize("name", ONE_RUN)
def test_a_log_of_one_run(strangers: Path, name: str) -> None:
    solver, seconds, parameters = ONE_RUN[name]
    found, table = only_table(strangers / LOGS / name)
    assert found == solver
    assert table["seconds"].tolist() == [seconds]
    assert {key: table[key].iloc[0] for key in parameters} == parameters


def test_every_log_is_tested(strangers: Path) -> None:
    there = {str(p.relative_to(strangers / LOGS)) for p in (strangers / LOGS).rglob("*") if p.is_file()}
    assert there == {*ONE_RUN, "wrf-acm40080/rsl.out.0000"}


def test_steps_of_wrf_are_repetitions_of_one_run(strangers: Path) -> None:
    reader = LogReader()
    table = reader.read(strangers / LOGS / "wrf-acm40080" / "rsl.out.0000")["wrf"].to_frame()
    assert len(table) == 480
    assert table["repetition"].tolist() == list(range(480))
    assert table["seconds"].sum() == pytest.approx(180.413, abs=5e-4)
    assert table["seconds"].iloc[0] == 1.52669
    assert table[["ranks", "domain", "e_we", "e_sn"]].drop_duplicates().to_numpy().tolist() == [[8, 1, 74, 61]]
    assert any("180.413 s in all" in note and "--statistic mean" in note for note in reader.notes)


@pytest.mark.parametrize(
    ("name", "solver", "ranks", "seconds", "rows"),
    [
        ("n2.g4.all_reduce", "osu MPI-CUDA Allreduce Latency", 8, 43.10e-6, 28),
        ("n2.g4.alltoall", "osu MPI-CUDA All-to-All Personalized Exchange Latency", 8, 71.36e-6, 25),
        ("n8.g4.all_reduce", "osu MPI-CUDA Allreduce Latency", 32, 52.58e-6, 28),
        ("n8.g4.alltoall", "osu MPI-CUDA All-to-All Personalized Exchange Latency", 32, 207.19e-6, 23),
        ("n16.g4.all_reduce", "osu MPI-CUDA Allreduce Latency", 64, 57.68e-6, 28),
        ("n16.g4.alltoall", "osu MPI-CUDA All-to-All Personalized Exchange Latency", 64, 397.76e-6, 22),
    ],
)
def test_osu_tables(strangers: Path, name: str, solver: str, ranks: int, seconds: float, rows: int) -> None:
    found, table = only_table(strangers / "5-benchtools" / "osu-polaris" / f"{name}_output.dat.1")
    assert found == solver
    assert table.loc[table["bytes"] == 1024, "seconds"].tolist() == pytest.approx([seconds], rel=1e-12)
    assert set(table["ranks"]) == {ranks}
    assert len(table) == rows


def test_lists_of_nodes_are_no_logs(strangers: Path) -> None:
    found = scan(strangers / "5-benchtools" / "osu-polaris")
    assert {path.name for path in found.unknown} == {f"{n}.g4.nodes.dat" for n in ("n2", "n8", "n16")}
    assert not found.skipped


def test_imb_tables(strangers: Path) -> None:
    reader = LogReader()
    found = reader.read(strangers / "5-benchtools" / "imb-nrel" / "IMB_rawdat")
    table = found["imb PingPong"].to_frame()
    assert table[["ranks", "bytes"]].to_numpy().tolist() == [[2, 0], [2, 524_288]]
    assert table["seconds"].tolist() == pytest.approx([1.19e-6, 145.02e-6])
    barrier = found["imb Barrier"].to_frame()
    assert "bytes" not in barrier
    assert barrier.loc[barrier["ranks"] == 64, "seconds"].tolist() == pytest.approx([16.82e-6])
    assert barrier.loc[barrier["ranks"] == 64, "t_min"].tolist() == pytest.approx([16.81e-6])
    assert "imb Biband" not in found
    assert any("rates of messages" in skipped.reason for skipped in reader.skipped)


def test_sizes_that_grow_with_the_ranks_are_said(strangers: Path) -> None:
    notes = scan(strangers / LOGS / "hpl-lbnl").notes
    assert any("N grows with ranks in all runs" in note for note in notes)
    assert not any("weak scaling" in note for note in scan(strangers / LOGS / "gromacs-archer").notes)


SAMPLES = [
    *(f"{LOGS}/{name}" for name in ONE_RUN),
    f"{LOGS}/wrf-acm40080/rsl.out.0000",
    "5-benchtools/osu-polaris/n2.g4.all_reduce_output.dat.1",
    "5-benchtools/imb-nrel/IMB_rawdat",
]


def rows_of(found: dict[str, Runs]) -> set[tuple[Any, ...]]:
    """Return the rows of all solvers, each with its parameters and its seconds."""
    rows: set[tuple[Any, ...]] = set()
    for solver, runs in found.items():
        table = runs.to_frame()[[*runs.parameters, "seconds"]]
        rows |= {(solver, *row) for row in table.itertuples(index=False, name=None)}
    return rows


@pytest.mark.parametrize("name", SAMPLES)
def test_a_log_that_is_cut_off_gives_no_wrong_time(strangers: Path, tmp_path: Path, name: str) -> None:
    content = (strangers / name).read_bytes()
    whole = rows_of(LogReader().read(strangers / name))
    copy = tmp_path / "copy.log"
    late = [len(content) - n for n in range(1, 6)]  # within the last line, too
    for cut in [*random.Random(name).sample(range(1, len(content)), CUTS), *late]:
        copy.write_bytes(content[:cut])
        reader = LogReader()
        if not reader.recognises(copy):
            continue
        try:
            found = reader.read(copy)
        except EvenlyError:
            continue
        assert rows_of(found) <= whole, content[:cut][-80:]


def test_a_folder_of_logs_is_one_table(strangers: Path) -> None:
    runs = read(strangers / LOGS / "gromacs-archer")
    assert isinstance(runs, Runs)
    assert len(runs) == 9
    # All nodes had 24 ranks, so nodes and ranks are one parameter.
    assert runs.parameters == ["ranks", "threads", "gpus", "steps", "atoms"]
    # more cores may take longer
    table = runs.to_frame().set_index("ranks")["seconds"]
    assert table[3072] > table[1536]


def test_names_of_files_count_only_if_asked(strangers: Path) -> None:
    path = strangers / LOGS / "opensbli-archer" / "output_1nodes_201903201338.txt"
    assert "nodes" not in LogReader().read(path)["opensbli"].parameters
    table = LogReader(name="output_{nodes:int}nodes").read(path)["opensbli"].to_frame()
    assert table["nodes"].tolist() == [1]
    with pytest.raises(ReadError, match=r"as name='\{nodes:int\}knots' says"):
        LogReader(name="{nodes:int}knots").read(path)
    gromacs = strangers / LOGS / GROMACS.format("2nodes48tasks1threads_201810051323")
    assert np.all(LogReader(name="{ranks:int}tasks").read(gromacs)["gromacs"].to_frame()["ranks"] == 48)
    with pytest.raises(ReadError, match="ranks is 1 as told, but the log says 48"):
        LogReader(name="{ranks:int}threads").read(gromacs)
