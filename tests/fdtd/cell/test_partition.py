"""Partitions tile the cell, keep their form through files, and say what is wrong with them."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly import fdtd
from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.cutting import ChunkBox, divide, split_for_threads
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition

DOCUMENTED = [("x", -2.0), 0, [("y", 1.5), [("x", 3.0), 1, [("y", -0.5), 4, 3]], 2]]
CELL = Grid((10.0, 5.0, 0.0), 10)


def tiles(boxes: list[Box], cell: Box) -> bool:
    """Whether every point of the cell is in exactly one box."""
    count = np.zeros(cell.shape, dtype=int)
    for box in boxes:
        count[box.slices(cell.lo)] += 1
    return bool((count == 1).all()) and sum(box.volume for box in boxes) == cell.volume


def test_the_documented_five_chunks() -> None:
    layout = BinaryPartition(DOCUMENTED)
    assert layout.boxes(CELL) == [
        Box((0, 0, 0), (30, 50, 1)),
        Box((30, 0, 0), (80, 40, 1)),
        Box((80, 0, 0), (100, 20, 1)),
        Box((80, 20, 0), (100, 40, 1)),
        Box((30, 40, 0), (100, 50, 1)),
    ]
    assert layout.owners == [0, 1, 4, 3, 2]
    assert layout.leaves[3] == ("right.left.right.right", 3)
    assert layout.depth == 4
    assert layout.to_list() == DOCUMENTED


@pytest.mark.parametrize(
    "data",
    [
        [(0, -2.0), 0, [(1, 1.5), [(0, 3.0), 1, [(1, -0.5), 4, 3]], 2]],
        [["X", -2], 0, [["Y", 1.5], [["X", 3], 1, [["Y", -0.5], 4, 3]], 2]],
        [(np.int64(0), np.float32(-2)), np.int32(0), BinaryPartition(DOCUMENTED[2])],
    ],
)
def test_other_ways_to_write_it_mean_the_same(data: Any) -> None:
    assert BinaryPartition(data) == BinaryPartition(DOCUMENTED)
    assert hash(BinaryPartition(data)) == hash(BinaryPartition(DOCUMENTED))


def test_owners_are_taken_modulo_the_ranks_and_ranks_may_be_idle() -> None:
    layout = BinaryPartition(DOCUMENTED)
    assert [chunk.owner for chunk in layout.chunks(CELL, ranks=3)] == [0, 1, 1, 0, 2]
    assert {chunk.owner for chunk in layout.chunks(CELL, ranks=8)} == {0, 1, 2, 3, 4}


def test_a_partition_does_not_change() -> None:
    layout = BinaryPartition(DOCUMENTED)
    with pytest.raises(AttributeError, match="can't be changed"):
        layout.left = BinaryPartition(0)
    assert repr(BinaryPartition([(1, 2), 0, 1])) == "BinaryPartition([('y', 2.0), 0, 1])"
    assert copy.deepcopy(layout) == layout == pickle.loads(pickle.dumps(layout))  # noqa: S301 - just pickled
    assert layout != BinaryPartition(0)
    assert layout != DOCUMENTED


@st.composite
def trees(draw: st.DrawFn) -> tuple[Grid, Any]:
    """A cell and nested lists that cut it anywhere between two points."""
    shape = draw(st.tuples(*[st.integers(0, 12)] * 3).filter(any))
    resolution = draw(st.sampled_from([1.0, 3.0, 7.3, 20.0]))
    grid = Grid((shape[0] / resolution, shape[1] / resolution, shape[2] / resolution), resolution, 0.3)
    owners = st.integers(0, 5)

    def grow(box: Box, budget: int) -> Any:
        axes = [a for a in range(3) if box.shape[a] > 1]
        if budget == 0 or not axes or draw(st.booleans()):
            return draw(owners)
        axis = draw(st.sampled_from(axes))
        at = draw(st.integers(box.lo[axis] + 1, box.hi[axis] - 1))
        lower, upper = box.split(axis, at)
        position = grid.origin[axis] + (at + draw(st.sampled_from([0.0, 0.4, -0.4]))) * grid.dx
        return [("xyz"[axis], position), grow(lower, budget - 1), grow(upper, budget - 1)]

    return grid, grow(grid.box, 5)


@given(trees())
@settings(max_examples=100, deadline=None)
def test_random_trees_tile_the_cell_and_survive_files(tree: tuple[Grid, Any]) -> None:
    grid, data = tree
    layout = BinaryPartition(data)
    layout.validate(grid)
    boxes = layout.boxes(grid)
    assert tiles(boxes, grid.box)
    assert len(boxes) == len(layout.owners)
    assert BinaryPartition(json.loads(layout.to_json())["partition"]) == layout
    assert BinaryPartition(layout.to_list()) == layout


@st.composite
def layers(draw: st.DrawFn, grid: Grid) -> Any:
    def depths() -> list[tuple[int, int]]:
        pairs = []
        for n, thin in zip(grid.shape, grid.thin, strict=True):
            low = 0 if thin else draw(st.integers(0, n))
            pairs.append((low, 0 if thin else draw(st.integers(0, n - low))))
        return pairs

    return SimpleNamespace(pml=depths(), absorber=depths())


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_layers_are_split_off_wholly_and_keep_their_owner(data: st.DataObject) -> None:
    grid, tree = data.draw(trees())
    around = data.draw(layers(grid))
    layout = BinaryPartition(tree)
    chunks = layout.chunks(grid, around, ranks=3)
    assert tiles([chunk.box for chunk in chunks], grid.box)
    leaves = layout.boxes(grid)
    for chunk in chunks:
        assert leaves[chunk.leaf].covers(chunk.box)
        assert chunk.owner == layout.owners[chunk.leaf] % 3
        for kind in ("pml", "absorber"):
            for axis, (low, high) in enumerate(getattr(around, kind)):
                inside = {
                    i < low or i >= grid.shape[axis] - high for i in range(chunk.box.lo[axis], chunk.box.hi[axis])
                }
                assert inside == {getattr(chunk, kind)[axis]}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 64])
def test_equal_parts_differ_by_the_layers_that_do_not_divide(n: int) -> None:
    grid = Grid((6.0, 4.0, 2.0), 16)
    layout = BinaryPartition.equal(grid, n)
    boxes = layout.boxes(grid)
    assert tiles(boxes, grid.box)
    assert layout.owners == list(range(n))
    # Each axis of L points cut into p parts gives floor(L/p) or one more; L/p stays above 8 here, twice cut at most.
    volumes = [box.volume for box in boxes]
    assert max(volumes) / min(volumes) < (9 / 8) ** 2
    if grid.box.volume % n == 0 and n in (1, 2, 3, 4, 6, 8, 12, 16, 64):
        assert len(set(volumes)) == 1


def test_equal_parts_are_cut_across_the_longest_axis_first() -> None:
    assert BinaryPartition.equal(Grid((4.0, 6.0, 0.0), 10), 6).to_list() == [
        ("y", -1.0),
        [("x", 0.0), 0, 1],
        [("y", 1.0), [("x", 0.0), 2, 3], [("x", 0.0), 4, 5]],
    ]


@given(st.tuples(*[st.integers(1, 5)] * 3), st.data())
@settings(max_examples=100, deadline=None)
def test_any_number_of_parts_up_to_the_points_is_possible(shape: tuple[int, int, int], data: st.DataObject) -> None:
    grid = Grid((float(shape[0]), float(shape[1]), float(shape[2])), 1)
    n = data.draw(st.integers(1, grid.box.volume))
    layout = BinaryPartition.equal(grid, n)
    assert tiles(layout.boxes(grid), grid.box)
    assert layout.owners == list(range(n))


def test_more_parts_than_points_are_refused() -> None:
    with pytest.raises(InputError, match=r"at most the number of grid points of the cell \(4\), but got 5"):
        BinaryPartition.equal(Grid((4.0, 0.0, 0.0), 1), 5)


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_numbers_of_parts_and_ranks_must_be_whole_and_positive(n: Any) -> None:
    with pytest.raises(InputError, match="`n`, the number of chunks, must be an integer of at least 1"):
        BinaryPartition.equal(CELL, n)
    with pytest.raises(InputError, match="`ranks`, the number of ranks, must be an integer of at least 1"):
        BinaryPartition(0).chunks(CELL, ranks=n)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (-1, "Node root of the partition: an owner must be an integer of at least 0, but got -1"),
        ([("x", 0.0), 0, 1.5], "Node right of the partition: an owner must be an integer of at least 0, but got 1.5"),
        ([("x", 0.0), True, 1], "Node left of the partition: an owner must be an integer"),
        ([("x", 0.0), "0", 1], "Node left of the partition: an owner must be an integer"),
        ([("x", 0.0), None, 1], "Node left of the partition: an owner must be an integer"),
        ([("x", 0.0), 0], "Node root of the partition: a cut has three entries, .* but got 2"),
        ([("x", 0.0), 0, [("x", 0.1), 1]], "Node right of the partition: a cut has three entries"),
        ([("w", 0.0), 0, 1], "Node root of the partition: An axis is one of x, y, z .* 'w'"),
        ([(3, 0.0), 0, 1], "Node root of the partition: An axis is one of"),
        (
            [("x", np.nan), 0, 1],
            "Node root of the partition: the position of a cut must be a finite number, but got nan",
        ),
        ([("x", "1"), 0, 1], "the position of a cut must be a finite number, but got '1'"),
        ([("x", None), 0, 1], "the position of a cut must be a finite number, but got None"),
        ([0, 1, 2], r"a cut starts with \(axis, position\), such as .* but got 0"),
        ([("x",), 1, 2], r"a cut starts with \(axis, position\)"),
        (["x0", 1, 2], r"a cut starts with \(axis, position\)"),
    ],
)
def test_malformed_trees_are_refused_by_node_and_rule(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BinaryPartition(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([("x", 5.0), 0, 1], "Node root of the partition cuts x at 5.0: a cut must be inside its parent, .* -5 to 5 "),
        ([("x", 0.0), 0, [("x", -1.0), 1, 2]], "Node right of the partition cuts x at -1.0: .* from 0 to 5 along x"),
        ([("x", 0.0), [("y", 1.0), 0, [("y", 0.5), 1, 2]], 3], "Node left.right .* from 1 to 2.5 along y"),
        ([("x", 4.98), 0, 1], "a cut must leave grid points on both sides, .* from -5 to 5: move it by at least 0.1"),
        ([("z", 0.0), 0, 1], "cuts z at 0.0: a cut can't be across an axis along which the cell has no size"),
    ],
)
def test_cuts_outside_their_parent_are_refused_by_node_and_rule(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BinaryPartition(data).validate(CELL)


def test_layers_thicker_than_the_cell_are_refused() -> None:
    thick = SimpleNamespace(pml=[(60, 50), (0, 0), (0, 0)], absorber=[(0, 0)] * 3)
    with pytest.raises(InputError, match="The layers along x must fit into the cell, but 60 and 50 points"):
        BinaryPartition(0).chunks(CELL, thick)


def row(n: int) -> Any:
    data: Any = n
    for owner in reversed(range(n)):
        data = [("x", float(owner)), owner, data]
    return data


def test_a_long_row_of_slabs_is_fine_and_a_longer_one_is_refused(tmp_path: Path) -> None:
    layout = BinaryPartition(row(400))
    assert layout.depth == 400
    assert BinaryPartition.load(layout.save(tmp_path / "row.json")) == layout
    with pytest.raises(InputError, match="may be 400 cuts deep, but a branch is deeper: balance the tree"):
        BinaryPartition(row(401))


def test_files_keep_every_digit(tmp_path: Path) -> None:
    layout = BinaryPartition([("x", 1 / 3), 0, [("z", -1e-17), 2, 10**12]])
    assert BinaryPartition.load(layout.save(tmp_path / "layout.json")) == layout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a partition saved by evenly"),
        ("[1, 2", "not a partition saved by evenly"),
        ("[" * 100_000, "not a partition saved by evenly"),
        ("[1, 2, 3]", '"format" must be "evenly binary partition"'),
        ('{"format": "other", "version": 1, "partition": 0}', '"format" must be'),
        ('{"format": "evenly binary partition", "version": 2, "partition": 0}', "format version 2 is not known"),
        ('{"format": "evenly binary partition", "version": 1, "partition": [["x", 0], 0, -1]}', "Node right of the"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "layout.json"
    path.write_text(text)
    with pytest.raises(ReadError, match=message):
        BinaryPartition.load(path)


@pytest.mark.parametrize("act", [BinaryPartition.load, BinaryPartition(0).save])
def test_files_that_can_not_be_read_or_written_are_named(tmp_path: Path, act: Callable[[Path], object]) -> None:
    with pytest.raises(InputError, match="no_folder"):
        act(tmp_path / "no_folder" / "layout.json")
    (tmp_path / "no_folder").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="no_folder"):
        act(tmp_path / "no_folder" / "layout.json" if act != BinaryPartition.load else tmp_path / "no_folder")


@given(st.tuples(*[st.integers(0, 9)] * 3), st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_divided_boxes_tile_along_the_longest_axis(shape: tuple[int, int, int], parts: int) -> None:
    box = Box((0, 0, 0), shape)
    divided = divide(box, parts)
    assert tiles(divided, box)
    assert len(divided) == (0 if box.empty else min(parts, max(shape)))
    volumes = [part.volume for part in divided]
    assert not volumes or max(volumes) - min(volumes) <= box.volume // max(shape)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_threads_get_parts_that_none_of_them_waits_long_for(threads: int) -> None:
    grid = Grid((10.0, 5.0, 5.0), 10)
    around = SimpleNamespace(pml=[(10, 10), (0, 10), (0, 0)], absorber=[(0, 0)] * 3)
    chunks = BinaryPartition([("x", -2.0), 0, 1]).chunks(grid, around, ranks=2)
    parts = split_for_threads(chunks, threads)
    assert tiles([part.box for part in parts], grid.box)
    for owner in (0, 1):
        own = [part.box.volume for part in parts if part.owner == owner]
        # A part is cut at whole layers of its longest axis, which are at least 18 deep here.
        assert max(own) <= sum(own) / threads * (1 + 1 / 18)
    assert {(part.owner, part.leaf, part.pml) for part in parts} == {(c.owner, c.leaf, c.pml) for c in chunks}


def test_parts_and_threads_must_be_positive() -> None:
    with pytest.raises(InputError, match="`parts` must be at least 1, but got 0"):
        divide(Box((0, 0, 0), (1, 1, 1)), 0)
    with pytest.raises(InputError, match="`threads` must be at least 1, but got 0"):
        split_for_threads([ChunkBox(Box((0, 0, 0), (1, 1, 1)), 0, 0)], 0)


def test_a_simulation_is_cut_into_as_many_chunks_as_asked_for() -> None:
    given: dict[str, Any] = {"cell": (4.0, 2.0, 0.0), "resolution": 10}
    sim = fdtd.Simulation(**given, num_chunks=4)
    assert sim.layout.owners == [0, 0, 0, 0]
    assert [chunk["volume"] for chunk in sim.chunk_counts()] == [200] * 4
    # Successive chunks are a rank's, and every rank has one.
    assert BinaryPartition.equal(CELL, 7, ranks=3).owners == [0, 0, 0, 1, 1, 2, 2]
    unsound: list[Any] = [0, -1, True, 1.5, "2"]
    for wrong in unsound:
        with pytest.raises(InputError, match="`num_chunks` must be a whole number of at least 1"):
            fdtd.Simulation(**given, num_chunks=wrong)
    with pytest.raises(InputError, match="`num_chunks` is for a cell without a `layout`"):
        fdtd.Simulation(**given, num_chunks=2, layout=[("x", 0.0), 0, 1])
    # A cell of ten points can't have more chunks.
    with pytest.raises(InputError, match="at most the number of grid points of the cell"):
        fdtd.Simulation(cell=(1, 0, 0), resolution=10, num_chunks=11)
