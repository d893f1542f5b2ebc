import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.decomposition.partitioning.kernels import touching_boxes
from evenly.decomposition.partitioning.neighbours import owners_borders, touching
from evenly.fdtd.cell.boundaries import Periodic, resolve
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.counting.counts import shared_faces


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Grid, BinaryPartition, str]:
    shape = draw(st.tuples(*[st.integers(2, 7)] * 3))
    grid = Grid((float(shape[0]), float(shape[1]), float(shape[2])), 1)
    n = draw(st.integers(1, 12))
    layout = BinaryPartition.equal(grid, min(n, grid.box.volume))
    return grid, layout, draw(st.sampled_from(["", "x", "yz", "xyz"]))


@given(layouts())
@settings(max_examples=60, deadline=None)
def test_faces_are_those_counted_pair_by_pair(case: tuple[Grid, BinaryPartition, str]) -> None:
    grid, layout, axes = case
    layers = resolve([Periodic(axes)] if axes else [], grid)
    boxes = layout.boxes(grid)
    expected = {
        (i, j): shared_faces(a, b, layers)
        for (i, a), (j, b) in itertools.combinations(enumerate(boxes), 2)
        if shared_faces(a, b, layers)
    }
    periodic = ("x" in axes, "y" in axes, "z" in axes)
    low, high = (np.array([getattr(b, end) for b in boxes]) for end in ("lo", "hi"))
    found: dict[tuple[int, int], int] = {}
    for i, j, n in zip(*touching(low, high, grid.shape, periodic), strict=True):
        key = (min(int(i), int(j)), max(int(i), int(j)))
        found[key] = found.get(key, 0) + int(n)
    assert found == expected


def test_compiled_and_plain_loops_agree() -> None:
    grid = Grid((9, 8, 7), 1)
    boxes = BinaryPartition.equal(grid, 20).boxes(grid)
    low, high = (np.array([getattr(b, end) for b in boxes]) for end in ("lo", "hi"))
    arguments = low, high, np.array(grid.shape), np.array([True, False, True]), np.argsort(low[:, 0], kind="stable")
    plain = getattr(touching_boxes, "py_func", touching_boxes)
    for compiled, other in zip(touching_boxes(*arguments), plain(*arguments), strict=True):
        assert compiled.tolist() == other.tolist()


def test_faces_within_a_rank_are_not_sent() -> None:
    low = np.array([[0, 0, 0], [2, 0, 0], [4, 0, 0]])
    high = np.array([[2, 3, 1], [4, 3, 1], [6, 3, 1]])
    pairs = touching(low, high, (6, 3, 1), (False, False, False))
    faces, neighbours = owners_borders(pairs, np.array([0, 0, 1]), 2)
    assert faces.tolist() == [3, 3]
    assert neighbours.tolist() == [1, 1]


@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_without_chunks_have_no_borders(ranks: int) -> None:
    pairs = touching(np.array([[0, 0, 0]]), np.array([[4, 4, 4]]), (4, 4, 4), (True, True, True))
    faces, neighbours = owners_borders(pairs, np.array([0]), ranks)
    assert faces.tolist() == neighbours.tolist() == [0] * ranks
