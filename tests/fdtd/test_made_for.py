"""What a layout was made for goes through files, and another cell or number of ranks is told."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.errors import InputError, ReadError
from evenly.fdtd import Simulation
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition

GRID = Grid((4.0, 2.0, 0.0), 10)
HALVES = BinaryPartition([("x", 0.5), 0, 1])


def test_what_it_was_made_for_comes_back_from_a_file_and_is_no_part_of_the_layout(tmp_path: Path) -> None:
    layout = HALVES.for_cell(GRID)
    read = BinaryPartition.load(layout.save(tmp_path / "layout.json"))
    assert read == HALVES == layout
    assert read.made_for is not None
    assert (read.made_for.size, read.made_for.points, read.made_for.ranks) == ((4.0, 2.0, 0.0), (40, 20, 1), 2)
    assert read.made_for.resolution == 10
    assert copy.deepcopy(read).made_for == read.made_for
    assert json.loads((tmp_path / "layout.json").read_text())["made_for"]["dimensions"] == 2


def test_files_that_dont_say_what_they_were_made_for_are_read(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(
        '{"format": "evenly binary partition", "version": 1, "partition": [["x", 0.5], 0, 1]}'
    )
    read = BinaryPartition.load(tmp_path / "old.json")
    assert (read, read.made_for, read.ranks) == (HALVES, None, 2)
    read.validate(Grid((4.0, 9.0, 1.0), 7))


@pytest.mark.parametrize("grid", [Grid((4.0, 2.0, 0.0), 15), Grid((4.03, 2.0, 0.0), 30), GRID])
def test_the_same_cell_at_another_resolution_is_cut(grid: Grid) -> None:
    HALVES.for_cell(GRID).validate(grid)


@pytest.mark.parametrize("size", [(4.0, 2.2, 0.0), (4.0, 2.0, 0.1), (3.9, 2.0, 0.0), (4.0, 0.0, 2.0)])
def test_another_cell_is_refused_although_the_cut_would_fit(size: tuple[float, float, float]) -> None:
    HALVES.validate(Grid(size, 10))
    with pytest.raises(InputError, match=r"made for a cell of 4 × 2 × 0 .*, but this cell is"):
        HALVES.for_cell(GRID).validate(Grid(size, 10))
    with pytest.raises(InputError, match="evenly partition"):
        Simulation(cell=size, resolution=10, layout=HALVES.for_cell(GRID))


def test_another_origin_is_refused() -> None:
    there = moved(HALVES.for_cell(GRID), (1.0, 0.0, 0.0))
    with pytest.raises(InputError, match=r"middle is at \(1, 0, 0\)"):
        there.validate(GRID)
    moved(there, (-1.0, 0.0, 0.0)).validate(GRID)


@pytest.mark.parametrize(
    ("owners", "ranks", "told"),
    [
        ((0, 1, 2, 3), 4, ""),
        ((0, 0, 1, 1), 2, ""),
        ((0, 1, 2, 3), 2, "made for 4 ranks: on 2, ranks take up to 2"),
        ((0, 1, 2, 3), 3, "on 3, ranks take up to 2"),
        ((0, 1, 2, 3), 1, "takes all the chunks"),
        ((0, 1, 2, 3), 6, "on 6, 2 of them have nothing"),
        ((0, 2, 2, 4), 2, "on 2, 1 of them has nothing"),
    ],
)
def test_another_number_of_ranks_is_told(owners: tuple[int, ...], ranks: int, told: str) -> None:
    a, b, c, d = owners
    misfit = BinaryPartition([("x", 0.0), [("x", -1.0), a, b], [("x", 1.0), c, d]]).misfit(ranks)
    assert told in misfit
    assert bool(misfit) == bool(told)


@pytest.mark.parametrize("made_for", [3, {}, {"size": [1, 2]}, {"size": "abc"}, None])
def test_damage_is_told_by_the_files_name(tmp_path: Path, made_for: object) -> None:
    stored = json.loads(HALVES.for_cell(GRID).to_json())
    broken = {**stored, "made_for": {**stored["made_for"], "ranks": 0} if made_for is None else made_for}
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    with pytest.raises(ReadError, match=r"broken\.json"):
        BinaryPartition.load(tmp_path / "broken.json")
