"""Cube and Caliper profiles: right answers from real files, parameters, units, and damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.profiles.caliper import CaliperReader
from evenly.readers.profiles.cube import CubeReader
from evenly.readers.profiles.regions import from_folder_name

X = [1, 10, 25, 50, 100, 250, 500, 1000, 2000]


def cubes(strangers: Path) -> Path:
    return strangers / "3-profiles" / "extrap-tests" / "cubeset_single_parameter"


def calis(strangers: Path) -> Path:
    return strangers / "3-profiles" / "thicket-mpi-scaling"


def test_cube_parameters_are_those_of_the_folders(strangers: Path) -> None:
    found = scan(cubes(strangers))
    runs = found.runs["mm"]
    assert runs.parameters == ["region", "x", "y", "z"]
    table = runs.to_frame()
    assert sorted(table["x"].unique()) == X
    assert table["region"].unique().tolist() == ["main", "main->init_mat", "main->zero_mat", "main->mat_mul"]
    # Exclusive times add up to the inclusive one of the root.
    for _, one in table.groupby("x"):
        np.testing.assert_allclose(one["seconds"].sum(), one["inclusive"].max(), rtol=1e-9)
    assert runs.quantities == {"seconds": "s", "inclusive": "s", "visits": "1"}
    assert any("parameters are from the folder's name: x, y, z" in note for note in found.notes)


def test_cube_without_a_name_takes_the_processes_and_says_so(strangers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scorep-20240101_1200_4711"
    folder.mkdir()
    shutil.copy(cubes(strangers) / "mm.x10y1z1.r1" / "profile.cubex", folder)
    found = scan(tmp_path)
    (runs,) = found.runs.values()
    assert runs.parameters == ["region", "ranks"]
    assert any("the folder's name has no parameters" in note for note in found.notes)


def test_a_cut_cube_is_refused(strangers: Path, tmp_path: Path) -> None:
    whole = (cubes(strangers) / "mm.x10y1z1.r1" / "profile.cubex").read_bytes()
    for length in (0, 100, 3000, 9000):
        path = tmp_path / "profile.cubex"
        path.write_bytes(whole[:length])
        with pytest.raises(ReadError):
            CubeReader().read(path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mm.x1000y1z1.r1", ("mm", {"x": 1000, "y": 1, "z": 1}, 1)),
        ("kripke.d10.g8.p64.r3", ("kripke", {"d": 10, "g": 8, "p": 64}, 3)),
        ("bench.p10_n0,5.r2", ("bench", {"p": 10, "n": 0.5}, 2)),
        ("bench.p64", ("bench", {"p": 64}, 0)),
        ("scorep-20240101_1200_4711", ("", {}, 0)),
        ("results", ("", {}, 0)),
        ("mm.p4p8.r1", ("", {}, 0)),
    ],
)
def test_names_of_folders(name: str, expected: tuple[str, dict[str, float], int]) -> None:
    assert from_folder_name(name) == expected


@pytest.mark.parametrize(
    ("ranks", "main"), [(27, 47.248547), (64, 55.128451), (125, 56.252457), (216, 42.846789), (343, 52.608731)]
)
def test_caliper_ranks_and_inclusive_time(strangers: Path, ranks: int, main: float) -> None:
    runs = CaliperReader().read(calis(strangers) / f"{ranks}_cores.cali")["lulesh2.0"]
    row = runs.to_frame().set_index("region").loc["main"]
    assert (row["ranks"], row["problem_size"]) == (ranks, 30)
    assert row["inclusive"] == main


def test_caliper_files_are_runs_of_one_program_and_times_add_up(strangers: Path) -> None:
    found = scan(calis(strangers))
    assert list(found.runs) == ["lulesh2.0"]
    table = found.runs["lulesh2.0"].to_frame()
    assert sorted(table["ranks"].unique()) == [27, 64, 125, 216, 343]
    assert "elapsed_time" not in table
    assert "figure_of_merit" not in table
    assert any("exclusive times are means over the ranks" in note for note in found.notes)
    # The mean inclusive time of main is the sum of the mean exclusive times within it.
    one = table[(table["ranks"] == 125) & table["region"].str.startswith("main")]
    np.testing.assert_allclose(one["seconds"].sum(), 56.238243, rtol=1e-5)


def test_caliper_parameters_can_be_chosen(strangers: Path) -> None:
    runs = scan(calis(strangers), parameters="ranks,problem_size").runs["lulesh2.0"]
    assert runs.parameters == ["region", "ranks", "problem_size"]
    with pytest.raises(ReadError, match="no global 'atoms' is a number"):
        CaliperReader(parameters="atoms").read(calis(strangers) / "27_cores.cali")


def test_a_cut_caliper_file_is_refused(strangers: Path, tmp_path: Path) -> None:
    whole = (calis(strangers) / "27_cores.cali").read_bytes()
    path = tmp_path / "cut.cali"
    for length in (20, 5000, len(whole) - 20, len(whole) - 3):
        path.write_bytes(whole[:length])
        with pytest.raises(ReadError, match="cut off"):
            CaliperReader().read(path)
