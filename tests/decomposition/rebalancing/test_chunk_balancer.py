"""The document's algorithm: laws, hand-worked cases, and how fast it converges on fake timings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer
from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Lattice, Timings
from evenly.decomposition.rebalancing.trees import CutTree
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from tests.decomposition.rebalancing.contract import laws
from tests.decomposition.rebalancing.planted import Truth, plain_cell, plain_cost, rounds, volumes
from tests.parallel.everything import random_layout

test_laws_whole_way = laws(lambda cell: ChunkBalancer(sensitivity=1.0))
test_laws_half_way = laws(lambda cell: ChunkBalancer())


def document(tree: Any, points: dict[int, float], times: dict[int, float], sides: list[tuple[float, float]]) -> Any:
    """The document's pseudo code, word by word, for trees in which each rank has one leaf, sensitivity 1."""
    if isinstance(tree, int):
        return tree
    (axis, _), left, right = tree

    def leaves(node: Any) -> list[int]:
        return [node] if isinstance(node, int) else [*leaves(node[1]), *leaves(node[2])]

    wanted = []
    for subtree in (left, right):
        ids = leaves(subtree)
        volume, time = sum(points[i] for i in ids), sum(times[i] for i in ids)
        wanted.append(volume / (time / len(ids)))
    a = "xyz".index(axis)
    low, high = sides[a]
    at = low + (high - low) * wanted[0] / (wanted[0] + wanted[1])
    below, above = list(sides), list(sides)
    below[a], above[a] = (low, at), (at, high)
    return [(axis, at), document(left, points, times, below), document(right, points, times, above)]


def test_it_is_the_documents_pseudo_code() -> None:
    cell = plain_cell((8, 6, 5), 200)
    tree = [("x", 0.0), [("y", -1.0), 0, [("z", 0.5), 1, 2]], [("y", 0.0), 3, 4]]
    old = BinaryPartition(tree)
    times = [1.0, 2.0, 0.7, 1.5, 0.4]
    points = {i: float(v.points) for i, v in enumerate(volumes(cell, old))}
    wanted = document(tree, points, dict(enumerate(times)), [(-4, 4), (-3, 3), (-2.5, 2.5)])
    found = ChunkBalancer(sensitivity=1.0).compute_new_chunk_layout(Timings(times), old, volumes(cell, old), range(5))
    for (_, node), (_, exact) in zip(found.walk(), BinaryPartition(wanted).walk(), strict=True):
        # Parents' borders are rounded to the grid before children are cut.
        assert (node.axis, node.owner) == (exact.axis, exact.owner)
        assert node.position == pytest.approx(exact.position, abs=1 / 200)


def test_times_in_proportion_to_volume_make_volumes_equal() -> None:
    cell = plain_cell((6, 4, 5), 20)
    layout = BinaryPartition([("x", -2.0), 0, [("y", 1.5), [("x", 1.0), 1, [("z", -0.5), 4, 3]], 2]])
    for _ in range(12):
        points = np.array([v.points for v in volumes(cell, layout)])
        times = np.zeros(5)
        times[layout.owners] = 1e-8 * points
        layout = ChunkBalancer(sensitivity=1.0).compute_new_chunk_layout(
            Timings(times), layout, volumes(cell, layout), layout.owners
        )
    points = np.array([v.points for v in volumes(cell, layout)])
    # Each of up to three cuts above a leaf is rounded by half a layer: of 100 or so along an axis, cut in two or three.
    assert points / points.mean() == pytest.approx(np.ones(5), abs=0.06)


def test_a_rank_twice_as_slow_gets_half() -> None:
    cell = plain_cell((8, 4, 4), 25)
    truth = Truth(cell, plain_cost(), np.array([1.0, 0.5, 1.0, 1.0]))
    found = rounds(ChunkBalancer(sensitivity=1.0), truth, BinaryPartition.equal(cell.grid, 4), 6)
    assert found[0] > 1.5
    assert found[-1] < 1.03


@pytest.mark.parametrize("sensitivity", [0.0, 0.4, 1.0])
def test_sensitivity_is_the_part_of_the_way(sensitivity: float) -> None:
    volume = [ChunkVolume((-4, 0, 0), (0, 0, 0), (400, 1, 1)), ChunkVolume((0, 0, 0), (4, 0, 0), (400, 1, 1))]
    old = BinaryPartition([("x", 0.0), 0, 1])
    balancer = ChunkBalancer(sensitivity=1.0)
    found = balancer.compute_new_chunk_layout(Timings([3.0, 1.0]), old, volume, [0, 1], sensitivity=sensitivity)
    assert found.position == pytest.approx(-2.0 * sensitivity)


def test_ranks_of_several_leaves_count_by_their_share() -> None:
    # Rank 0 owns a quarter on either side; it takes twice as long as its half of the points should.
    volume = [ChunkVolume((x, 0, 0), (x + 2, 0, 0), (100, 1, 1)) for x in (-4.0, -2.0, 0.0, 2.0)]
    old = BinaryPartition([("x", 0.0), [("x", -2.0), 0, 1], [("x", 2.0), 0, 2]])
    found = ChunkBalancer(sensitivity=1.0).compute_new_chunk_layout(Timings([4.0, 1.0, 1.0]), old, volume, [0, 1, 0, 2])
    tree = found.to_list()
    # Symmetric: the middle stays. Within a side rank 0 has load 4 per rank, rank 1 has 1: a fifth against four.
    assert tree[0][1] == pytest.approx(0.0)
    assert tree[1][0][1] == pytest.approx(-4 + 4 / 5)
    assert tree[2][0][1] == pytest.approx(0 + 4 / 5)


def test_a_side_without_time_leaves_the_other_its_points() -> None:
    volume = [ChunkVolume((-4, 0, 0), (0, 0, 0), (40, 1, 1)), ChunkVolume((0, 0, 0), (4, 0, 0), (40, 1, 1))]
    old = BinaryPartition([("x", 0.0), 0, [("x", 2.0), 1, 1]])
    found = ChunkBalancer(sensitivity=1.0).compute_new_chunk_layout(Timings([1.0, 0.0]), old, volume, [0, 1])
    assert [box.shape[0] for box in found.boxes(Grid((8, 0, 0), 10))] == [1, 78, 1]


def test_chunks_of_a_leaf_are_found_by_place() -> None:
    layout = random_layout((3, 2, 1.2), 9, 5)
    cell = plain_cell((3, 2, 1.2), 10)
    found = CutTree.of(layout).points_of_leaves(volumes(cell, layout))
    assert found.tolist() == [box.volume for box in layout.boxes(cell.grid)]
    assert Lattice.of(volumes(cell, layout)).shape == cell.grid.shape


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"timings": Timings([1.0])}, "among the 1 measured ranks"),
        ({"owners": [0]}, "Every chunk must have an owner"),
        ({"volumes": []}, "volumes of the cell's chunks are needed"),
        ({"volumes": [ChunkVolume((-4, 0, 0), (0, 0, 0), (40, 1, 1))] * 2}, "must fill the cell"),
    ],
)
def test_what_does_not_belong_together_is_refused(change: Any, message: str) -> None:
    volume = [ChunkVolume((-4, 0, 0), (0, 0, 0), (40, 1, 1)), ChunkVolume((0, 0, 0), (4, 0, 0), (40, 1, 1))]
    given = {"timings": Timings([1.0, 2.0]), "volumes": volume, "owners": [0, 1], **change}
    old = BinaryPartition([("x", 0.0), 0, 1])
    with pytest.raises(InputError, match=message):
        ChunkBalancer().compute_new_chunk_layout(given["timings"], old, given["volumes"], given["owners"])


@pytest.mark.parametrize("bad", [[], [-1.0], [0.0, 0.0], [np.nan, 1.0], [[1.0]]])
def test_times_that_are_none_are_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="one time per rank"):
        Timings(bad)
    with pytest.raises(InputError, match="`sensitivity`"):
        ChunkBalancer(sensitivity=1.5)
