import itertools

import numpy as np
import pytest

import evenly
from evenly.decomposition.partitioning.cut_adjustment import recut
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.local_search import search_locally
from evenly.decomposition.partitioning.multisection import Tree
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.decomposition.partitioning.predict import predict
from evenly.decomposition.partitioning.problem import CutProblem
from evenly.decomposition.partitioning.slow_rank_relief import relieve_slow_ranks
from evenly.errors import InputError
from evenly.fdtd import Simulation
from evenly.fdtd.cell.partition import BinaryPartition
from tests.decomposition.planted import brute_force_work, cell, cost

pytestmark = pytest.mark.usefixtures("planted_program")


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 30])
def test_chunks_tile_the_cell_and_every_rank_owns_one(ranks: int) -> None:
    planted = cell((24, 17, 9), [((0, 0, 0), (12, 9, 9))], pml=2)
    plan = evenly.partition(planted, ranks, cost(points=1e-9, heavy=4e-9))
    boxes = plan.balanced.layout.boxes(planted.grid)
    assert sum(box.volume for box in boxes) == 24 * 17 * 9
    assert all((a & b).empty for a, b in itertools.combinations(boxes, 2))
    assert plan.balanced.layout.owners == list(range(ranks))


@pytest.mark.parametrize("ranks", [2, 3, 4, 6, 8, 16])
def test_predicted_work_is_that_of_each_box_counted_point_by_point(ranks: int) -> None:
    planted = cell((16, 16, 16), [((3, 2, 1), (9, 16, 7))])
    plan = evenly.partition(planted, ranks, cost(points=1e-9, heavy=5e-9))
    for prediction in (plan.balanced, plan.even):
        boxes = prediction.layout.boxes(planted.grid)
        counted = [brute_force_work(planted, np.array(b.lo), np.array(b.hi)) for b in boxes]
        assert prediction.chunk_s == pytest.approx([1e-9 * points + 5e-9 * heavy for points, heavy in counted])


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 12, 16])
def test_work_in_a_corner_is_divided_to_a_layer_of_points(ranks: int) -> None:
    # All the cost is in 1/8 of the cell: chunks of equal volume leave most ranks idle.
    planted = cell((48, 48, 48), [((0, 0, 0), (24, 24, 24))])
    plan = evenly.partition(planted, ranks, cost(heavy=1e-8, points=1e-12))
    # A chunk is at least 24 / ranks^(1/3) ~ 9 layers wide there; a cut is off by half a layer at most, and cuts follow
    # each other along three axes.
    width = 24 / ranks ** (1 / 3)
    assert plan.chosen == "balanced"
    assert plan.imbalance <= (1 + 0.5 / width) ** 3
    serial = predict(planted, BinaryPartition(0), 1, cost(heavy=1e-8, points=1e-12)).step_s
    assert serial / plan.prediction.step_s >= 0.8 * ranks


def test_beats_a_scan_of_all_single_cuts() -> None:
    planted = cell((20, 15, 10), [((2, 1, 0), (9, 11, 4)), ((14, 0, 0), (20, 4, 10))], pml=2)
    model = cost(points=1e-9, heavy=3e-9, layer=2e-9, faces_sent=2e-9)
    best = min(
        predict(planted, BinaryPartition([(axis, at - n / 2), 0, 1]), 2, model).step_s
        for axis, n in enumerate((20, 15, 10))
        for at in range(1, n)
    )
    assert evenly.partition(planted, 2, model).balanced.step_s <= best * (1 + 1e-12)


def test_presence_makes_cumulative_cost_jump_and_is_still_balanced() -> None:
    # One heavy point makes a whole chunk pay: the best cut leaves it in a small chunk.
    planted = cell((40, 8, 8), [((3, 3, 3), (4, 4, 4))])
    model = cost(points=1e-9, present=3e-9)
    best = min(
        predict(planted, BinaryPartition([(axis, at - n / 2), 0, 1]), 2, model).step_s
        for axis, n in enumerate((40, 8, 8))
        for at in range(1, n)
    )
    assert evenly.partition(planted, 2, model).balanced.step_s == pytest.approx(best, rel=0.03)


def test_even_cell_is_cut_evenly_and_says_so() -> None:
    plan = evenly.partition(cell((32, 32, 32)), 8, cost(points=1e-9, faces_sent=1e-9))
    assert plan.chosen == "even"
    assert plan.layout == BinaryPartition.equal(plan.cell.grid, 8)
    assert plan.why == "no cut is predicted to be faster"


def test_less_even_ranks_that_are_faster_are_explained_by_less_work() -> None:
    # Even halves along x both have heavy points: 2 · 2000 · 2. A cut at their face: 1600 · 2 and 2400, 30 % less.
    planted = cell((40, 10, 10), [((0, 0, 0), (40, 4, 10))])
    plan = evenly.partition(planted, 2, cost(points=1e-9, present=1e-9))
    assert plan.gain == pytest.approx(4 / 3.2)
    assert "Its ranks are less even, but all together have 30 % less work" in plan.why


def test_gain_within_the_models_error_is_not_taken() -> None:
    planted = cell((40, 10, 10), [((0, 0, 0), (20, 10, 10))])
    # Even halves take 1.05 and 1.00: the balanced cut gains 2.4 %.
    sure, unsure = cost(points=1e-9, heavy=5e-11), cost(share_error=0.05, points=1e-9, heavy=5e-11)
    assert evenly.partition(planted, 2, unsure).chosen == "even"
    why = "the best other cut is predicted to be 2.4 % faster, which is less than the error of the cost model (5.0 %)"
    assert evenly.partition(planted, 2, unsure).why == why
    assert evenly.partition(planted, 2, sure).balanced.step_s < evenly.partition(planted, 2, sure).even.step_s


def test_is_never_predicted_slower_than_even() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        low = rng.integers(0, 12, (3, 3))
        boxes = [((*map(int, a),), (*map(int, a + rng.integers(1, 8, 3)),)) for a in low]
        planted = cell((20, 18, 16), boxes, pml=int(rng.integers(0, 4)))  # type: ignore[arg-type]
        model = cost(points=1e-9, heavy=rng.uniform(0, 5e-9), layer=rng.uniform(0, 3e-9), faces_sent=2e-9, chunks=1e-7)
        plan = evenly.partition(planted, int(rng.integers(2, 17)), model)
        assert plan.prediction.step_s <= plan.even.step_s


def test_borders_count_in_the_objective() -> None:
    # Without borders any split is as good as another; with dear ones no slabs of the long axis may be better.
    planted, model = cell((64, 8, 8), [((0, 0, 0), (8, 8, 8))]), cost(points=1e-9, heavy=3e-9, faces_sent=1e-7)
    plan = evenly.partition(planted, 4, model)
    slabs = (
        [("x", b - 32.0), [("x", a - 32.0), 0, 1], [("x", c - 32.0), 2, 3]]
        for a, b, c in itertools.combinations(range(4, 40, 4), 3)
    )
    assert plan.balanced.step_s <= min(predict(planted, BinaryPartition(one), 4, model).step_s for one in slabs)


def test_slow_rank_gets_less() -> None:
    planted = cell((60, 10, 10))
    plan = evenly.partition(planted, 3, cost(points=1e-9), speeds=[1.0, 0.5, 1.0])
    points = np.array([box.volume for box in plan.layout.boxes(planted.grid)])
    assert points / points.sum() == pytest.approx([0.4, 0.2, 0.4], abs=0.5 / 60)


def test_times_of_the_answer_are_those_at_the_ranks_speeds() -> None:
    # Of 6000 points of 1 ns, the slow rank of the even cut takes 2000 / 0.5 and that of the best one 1200 / 0.5.
    plan = evenly.partition(cell((60, 10, 10)), 3, cost(points=1e-9), speeds=[1.0, 0.5, 1.0])
    assert plan.even.rank_s == pytest.approx([2e-6, 4e-6, 2e-6])
    assert plan.seconds == pytest.approx([2.4e-6] * 3)
    assert plan.prediction.chunk_s == pytest.approx([2.4e-6] * 3)
    assert plan.imbalance == pytest.approx(1)
    assert plan.gain == pytest.approx(4 / 2.4)
    assert "predicted to be 1.67 times as fast" in plan.why


def test_several_leaves_per_rank_are_neighbours_in_the_tree() -> None:
    planted = cell((24, 24, 1), [((0, 0, 0), (12, 6, 1))])
    plan = evenly.partition(planted, 3, cost(points=1e-9, heavy=9e-9), leaves_per_rank=4)
    owners = plan.balanced.layout.owners
    assert owners == sorted(owners)
    assert set(owners) == {0, 1, 2}


def test_more_leaves_are_never_slower_than_fewer_and_are_compared() -> None:
    planted = cell((6, 10, 1), [((0, 0, 0), (2, 4, 1)), ((4, 7, 0), (6, 10, 1))])
    # A chunk that costs as much as a tenth of the cell makes more of them dearer.
    for chunk_s in (0.0, 2e-8):
        model = cost(points=1e-9, heavy=9e-9, faces_sent=1e-10, chunks=chunk_s)
        plans = [evenly.partition(planted, 2, model, leaves_per_rank=n) for n in (1, 2, 3)]
        steps = [plan.balanced.step_s for plan in plans]
        assert steps == sorted(steps, reverse=True)
        assert "per rank" not in plans[0].why
        assert "chunk" in plans[2].why.partition(";")[2]
    assert len(plans[2].layout.owners) == 2
    assert "1 chunk per rank, as 3 are predicted to be no faster" in plans[2].why


def test_branches_of_unequal_numbers_of_ranks_are_tried_for_few_chunks() -> None:
    # Five layers across y, so that halves of four ranks don't come out even.
    planted = cell((16, 5, 1), [((0, 0, 0), (8, 2, 1))])
    model = cost(points=1e-9, heavy=8e-9, faces_sent=1e-12)
    plan = evenly.partition(planted, 4, model)
    root = plan.balanced.layout
    assert root.left is not None
    assert root.right is not None
    assert sorted([len(root.left.leaves), len(root.right.leaves)]) == [1, 3]
    assert plan.balanced.step_s < 0.9 * evenly.partition(planted, 4, model, method="multisection").balanced.step_s


@pytest.mark.parametrize("speeds", [[1.0, 0.4, 1.0, 0.7], [0.5, 1.0, 1.0, 1.0]])
def test_jumps_of_cost_are_seen_at_unequal_speeds_too(speeds: list[float]) -> None:
    planted = cell((40, 12, 1), [((11, 2, 0), (13, 9, 1)), ((30, 0, 0), (31, 12, 1))], pml=3)
    model = cost(points=1e-9, present=1e-9, layer=2e-9, faces_sent=1e-9, chunks=1e-8)
    plan = evenly.partition(planted, 4, model, speeds=speeds)
    tree, owners = Tree.of(plan.balanced.layout, planted.grid), np.array(plan.balanced.layout.owners)
    problem = CutProblem(planted, model, Density.of(planted, model, 4), np.array(speeds))
    again = search_locally(problem, problem.candidate(tree, owners), 1)
    assert (again.times.rank_s / speeds).max() >= plan.balanced.step_s * (1 - 1e-3)
    cut_alone = recut(plan.even.layout, planted, model, 4, speeds=np.array(speeds))
    assert plan.balanced.step_s <= (cut_alone.rank_s / speeds).max()
    assert again.tree.partition(planted.grid, owners).owners == [0, 1, 2, 3]


def test_slow_ranks_are_relieved_where_a_few_points_make_a_whole_chunk_pay() -> None:
    rng = np.random.default_rng(3)
    corners = rng.integers(2, 60, (40, 3))
    boxes = [((*map(int, low),), (*map(int, low + 2),)) for low in corners]
    planted = cell((64, 64, 64), boxes)  # type: ignore[arg-type]
    model = cost(points=1e-9, present=2e-9, faces_sent=1e-9)
    tree, owners = Tree.of(BinaryPartition.equal(planted.grid, 64), planted.grid), np.arange(64)
    problem = CutProblem(planted, model, Density.of(planted, model, 64), np.ones(64))
    start = problem.candidate(tree, owners)
    before, start_s = start.times, start.times.chunk_s.copy()
    after = relieve_slow_ranks(problem, start)
    found = after.times
    # Half of the chunks pay threefold at first; of these many hold one object at their edge.
    assert found.step_s < 0.9 * before.step_s
    assert np.array_equal(before.chunk_s, start_s)
    told = predict(planted, after.tree.partition(planted.grid, owners), 64, model)
    assert told.rank_s == pytest.approx(found.rank_s)


def test_relief_at_unequal_speeds_and_with_several_chunks_per_rank_is_what_it_says() -> None:
    planted = cell((32, 24, 8), [((3, 2, 1), (9, 16, 7)), ((20, 20, 0), (22, 24, 8))], pml=2)
    model = cost(points=1e-9, heavy=4e-9, present=1e-9, layer=2e-9, faces_sent=1e-9)
    speeds = np.array([1.0, 0.5, 0.8, 1.0])
    tree, owners = Tree.of(BinaryPartition.equal(planted.grid, 12), planted.grid), np.repeat(np.arange(4), 3)
    problem = CutProblem(planted, model, Density.of(planted, model, 12), speeds)
    start = problem.candidate(tree, owners)
    after = relieve_slow_ranks(problem, start)
    before, found = start.times, after.times
    assert (found.rank_s / speeds).max() < 0.95 * (before.rank_s / speeds).max()
    told = predict(planted, after.tree.partition(planted.grid, owners), 4, model)
    assert told.rank_s == pytest.approx(found.rank_s)


def test_bisection_of_an_odd_number_of_ranks() -> None:
    planted = cell((35, 7, 7))
    plan = evenly.partition(planted, 5, cost(points=1e-9), method="bisection")
    root = plan.balanced.layout
    assert root.left is not None
    assert root.right is not None
    assert sorted([len(root.left.leaves), len(root.right.leaves)]) == [2, 3]


def test_plan_is_a_layout() -> None:
    plan = evenly.partition(cell((16, 8, 8), [((0, 0, 0), (4, 8, 8))]), 2, cost(points=1e-9, heavy=9e-9))
    sim = Simulation(cell=(16, 8, 8), resolution=1, layout=plan)  # type: ignore[arg-type]
    assert sim.layout == plan.layout


def test_one_rank_gets_everything() -> None:
    plan = evenly.partition(cell((8, 8, 8)), 1, cost(points=1e-9))
    assert isinstance(plan, CutPlan)
    assert plan.layout == BinaryPartition(0)
    assert plan.gain == 1


def test_two_dimensional_and_thin_cells() -> None:
    for shape in ((30, 20, 1), (40, 1, 1), (1, 1, 25)):
        plan = evenly.partition(cell(shape, [((0, 0, 0), (min(shape[0], 9), 1, 1))]), 4, cost(points=1e-9, heavy=5e-9))
        plan.layout.validate(plan.cell.grid)
        assert len(plan.seconds) == 4


def test_as_many_ranks_as_points() -> None:
    plan = evenly.partition(cell((4, 3, 2), [((0, 0, 0), (1, 1, 1))]), 24, cost(points=1e-9, heavy=1e-9))
    assert all(box.volume == 1 for box in plan.balanced.layout.boxes(plan.cell.grid))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"ranks": 0}, "`ranks` must be a whole number of at least 1, but got 0"),
        ({"ranks": 2.0}, "`ranks` must be a whole number"),
        ({"ranks": True}, "`ranks` must be a whole number"),
        ({"ranks": 1000}, "1000 ranks with 1 chunks each are more than the 512 points"),
        ({"ranks": 2, "leaves_per_rank": 0}, "`leaves_per_rank` must be"),
        ({"ranks": 2, "method": "metis"}, '`method` must be "auto", "multisection" or "bisection"'),
        ({"ranks": 2, "speeds": [1.0]}, "`speeds` must be 2 numbers above 0"),
        ({"ranks": 2, "speeds": [1.0, 0.0]}, "`speeds` must be 2 numbers above 0"),
    ],
)
def test_mistakes(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        evenly.partition(cell((8, 8, 8)), **arguments, cost=cost(points=1e-9))  # type: ignore[arg-type]


def test_cost_of_another_program() -> None:
    with pytest.raises(InputError, match="the cell is one of planted, but the cost model was measured with meep"):
        evenly.partition(cell((8, 8, 8)), 2, evenly.CostModel("meep", {}))


def test_something_that_is_no_cell() -> None:
    with pytest.raises(InputError, match="`cell` must be a Cell or a simulation"):
        evenly.partition("oled", 2)  # type: ignore[arg-type]


def test_something_that_is_no_cost_model() -> None:
    with pytest.raises(InputError, match=r"^partition: cost must be CostModel \| None, but got 'costs.json' \(str\)"):
        evenly.partition(cell((8, 8, 8)), 2, cost="costs.json")  # type: ignore[arg-type]


@pytest.mark.parametrize("ranks", [6, 12])
def test_auto_is_as_good_as_either_method(ranks: int) -> None:
    planted = cell((24, 18, 14), [((0, 0, 0), (9, 18, 5)), ((15, 2, 6), (20, 9, 14))], pml=2)
    model = cost(points=1e-9, heavy=3e-9, present=1e-9, layer=2e-9, faces_sent=3e-9, chunks=1e-7)
    methods = ("auto", "multisection", "bisection")
    auto, *others = (evenly.partition(planted, ranks, model, method=m).balanced.step_s for m in methods)  # type: ignore[arg-type]
    assert auto <= min(others) * (1 + 1e-12)


def test_plan_is_told_in_a_line() -> None:
    plan = evenly.partition(cell((16, 8, 8), [((0, 0, 0), (4, 8, 8))]), 2, cost(points=1e-9, heavy=9e-9))
    assert repr(plan).startswith("<CutPlan of cell: balanced cut for 2 ranks, ")
    assert "times as fast as equal volumes>" in repr(plan)
