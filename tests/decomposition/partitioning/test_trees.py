import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.partitioning.cut_adjustment import recut
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.kernels import find_cuts
from evenly.decomposition.partitioning.leaf_owners import grouped_owners
from evenly.decomposition.partitioning.multisection import Tree, grow, prime_factors
from evenly.decomposition.partitioning.predict import corners, predict
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from tests.decomposition.planted import cell, cost

GRID = Grid((12, 9, 7), 1)


def test_tree_of_a_layout_is_that_layout() -> None:
    layout = BinaryPartition([("x", -2.0), 3, [("y", 0.5), [("z", 0.5), 1, 0], 2]])
    tree = Tree.of(layout, GRID)
    assert tree.partition(GRID, layout.owners) == layout
    boxes = layout.boxes(GRID)
    assert tree.low[tree.leaves].tolist() == [list(b.lo) for b in boxes]
    assert tree.high[tree.leaves].tolist() == [list(b.hi) for b in boxes]


def test_sums_over_subtrees() -> None:
    tree = Tree.of(BinaryPartition([("x", -2.0), 0, [("y", 0.5), 1, 2]]), GRID)
    sums = tree.sums(np.array([1.0, 10.0, 100.0]))
    assert sums[0] == 111
    assert sorted(sums.tolist()) == [1, 10, 100, 110, 111]


def test_rows_of_slabs_follow_the_prime_factors() -> None:
    density = Density(Survey.of_blocks(([0, 12], [0, 9], [0, 7]), ("seconds",), np.ones((1, 1, 1, 1))))
    tree = grow(Tree.root(GRID, 6), density, 3, "x")
    widths = (tree.high - tree.low)[np.flatnonzero(tree.left < 0), 0]
    assert sorted(widths.tolist()) == [4, 4, 4]
    assert set(tree.ranks[tree.open].tolist()) == {2}


def test_shorter_axis_is_cut_when_it_balances_better() -> None:
    # All work in two layers next to each other along y: across x (the longest) it can't be halved.
    blocks = np.zeros((12, 9, 7, 1))
    blocks[5, 3:5, 3, 0] = 1
    edges = [np.arange(n + 1) for n in (12, 9, 7)]
    tree = grow(Tree.root(GRID, 2), Density(Survey.of_blocks(edges, ("seconds",), blocks)), 2)
    assert int(tree.axis[0]) == 1
    assert int(tree.at[0]) == 4


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_cuts_are_the_nearest_to_the_share_of_all_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = tuple(np.unique(np.concatenate([[0, n], rng.integers(1, n, 4)])) for n in (15, 11, 9))
    blocks = rng.exponential(size=(*(len(e) - 1 for e in edges), 1)) * (rng.random() < 0.9)
    survey = Survey.of_blocks(edges, ("seconds",), blocks)
    low = rng.integers(0, 5, (6, 3))
    high = low + rng.integers(2, 5, (6, 3))
    axes, shares = rng.integers(0, 3, 6), rng.uniform(0.1, 0.9, 6)
    at, below, whole = find_cuts(survey.table[..., 0], survey.edges, low, high, axes, shares)
    for i in range(6):
        total = survey.counts(low[i : i + 1], high[i : i + 1])[0, 0]
        part = {}
        for place in range(low[i, axes[i]] + 1, high[i, axes[i]]):
            end = high[i].copy()
            end[axes[i]] = place
            part[place] = survey.counts(low[i : i + 1], end[None])[0, 0]
        best = min(abs(p - shares[i] * total) for p in part.values())
        assert whole[i] == pytest.approx(total, abs=1e-9)
        assert below[i] == pytest.approx(part[int(at[i])], abs=1e-9)
        assert abs(part[int(at[i])] - shares[i] * total) == pytest.approx(best, abs=1e-9)


def test_compiled_and_plain_cuts_agree() -> None:
    rng = np.random.default_rng(1)
    edges = tuple(np.array([0, 3, 4, 9]) for _ in range(3))
    survey = Survey.of_blocks(edges, ("seconds",), rng.random((3, 3, 3, 1)))
    low, high = np.zeros((3, 3), dtype=np.int64), np.full((3, 3), 9)
    arguments = survey.table[..., 0], survey.edges, low, high, np.arange(3), np.array([0.2, 0.5, 0.7])
    plain = getattr(find_cuts, "py_func", find_cuts)
    for compiled, other in zip(find_cuts(*arguments), plain(*arguments), strict=True):
        assert compiled == pytest.approx(other, rel=1e-12)


@given(
    st.lists(st.floats(0.01, 10), min_size=3, max_size=9),
    st.lists(st.floats(0.5, 2), min_size=1, max_size=3),
)
@settings(max_examples=80, deadline=None)
def test_grouping_is_as_good_as_trying_all(work: list[float], speed: list[float]) -> None:
    from itertools import combinations

    owners = grouped_owners(np.array(work), np.array(speed))
    assert sorted(set(owners.tolist())) == list(range(len(speed)))
    assert owners.tolist() == sorted(owners.tolist())

    def slowest(stops: tuple[int, ...]) -> float:
        ends = [0, *stops, len(work)]
        return max(sum(work[a:b]) / s for a, b, s in zip(ends, ends[1:], speed, strict=False))

    best = min(slowest(stops) for stops in combinations(range(1, len(work)), len(speed) - 1))
    stops = tuple(int(np.flatnonzero(owners == r)[0]) for r in range(1, len(speed)))
    assert slowest(stops) <= best * (1 + 1e-6)


def test_prime_factors_multiply_to_the_number() -> None:
    for n in range(1, 300):
        assert int(np.prod(prime_factors(n))) == n


@pytest.mark.usefixtures("planted_program")
def test_recut_keeps_the_tree_and_balances_it() -> None:
    planted = cell((40, 40, 8), [((0, 0, 0), (20, 10, 8))])
    model = cost(points=1e-9, heavy=9e-9, faces_sent=1e-9)
    even = BinaryPartition.equal(planted.grid, 8)
    found = recut(even, planted, model, 8)
    assert [node.axis for _, node in found.layout.walk()] == [node.axis for _, node in even.walk()]
    # Chunks are 7 layers wide where the work is, and each of three cuts on the way to a leaf may be half a layer off.
    assert found.imbalance < (1 + 0.5 / 7) ** 3
    assert predict(planted, even, 8, model).imbalance > 1.5


@pytest.mark.usefixtures("planted_program")
def test_recut_with_a_slow_rank_and_what_was_measured() -> None:
    planted = cell((90, 9, 9))
    thirds = BinaryPartition.equal(planted.grid, 3)
    # Leaf 0 takes twice what is predicted; rank 2 is half as fast.
    found = recut(
        thirds, planted, cost(points=1e-9), 3, speeds=np.array([1, 1, 0.5]), corrections=np.array([2, 1, 1.0])
    )
    low, high = corners(planted, found.layout)
    # x/1 * 2 = y = 2 z with x + y + z = 90 where the first 30 layers cost double: 22.5, 45 and 22.5 layers.
    assert (high - low)[:, 0].tolist() == pytest.approx([22, 45, 23], abs=1)


@pytest.mark.usefixtures("planted_program")
def test_recut_never_loses() -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        corner = rng.integers(0, 10, 3)
        planted = cell((16, 14, 12), [((*map(int, corner),), (*map(int, corner + 3),))], pml=2)  # type: ignore[list-item]
        model = cost(points=1e-9, present=4e-9, layer=3e-9, chunks=1e-7)
        layout = BinaryPartition.equal(planted.grid, int(rng.integers(2, 9)))
        ranks = len(layout.owners)
        assert recut(layout, planted, model, ranks).step_s <= predict(planted, layout, ranks, model).step_s


@pytest.mark.usefixtures("planted_program")
def test_owners_beyond_the_ranks_wrap_around() -> None:
    planted = cell((20, 5, 5))
    found = predict(planted, BinaryPartition([("x", 0.0), 5, 7]), 2, cost(points=1e-9))
    assert found.work_s.tolist() == pytest.approx([0, 500e-9])
