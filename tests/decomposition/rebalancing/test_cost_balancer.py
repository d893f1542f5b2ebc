"""Ours: laws, planted truths that the cost model misjudges, noise, and decisions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evenly.decomposition.partitioning.predict import corners, predict
from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer
from evenly.decomposition.rebalancing.cost_balancer import CostBalancer
from evenly.decomposition.rebalancing.diagnosis import Observation, Spreads, explain
from evenly.decomposition.rebalancing.measured_times import Timings
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from tests.decomposition.rebalancing.contract import laws
from tests.decomposition.rebalancing.planted import Density, Truth, plain_cell, plain_cost, rounds, volumes

test_laws = laws(lambda cell: CostBalancer(plain_cost(), cell, ways=("move cuts",)))

LAYERS = {"pml": ((12, 12), (12, 12), (12, 12))}
CELL = plain_cell((6, 4, 5), 24, **LAYERS)
# The cost model misjudges regions by up to 60 %, or its terms by as much.
DENSITIES: dict[str, Density | None] = {
    "nothing": None,
    "slope": lambda x, y, z: 0.6 + 0.9 * x + 0.2 * z,
    "bumps": lambda x, y, z: 1 + 0.5 * np.sin(5 * x + 2) * np.sin(7 * y) * np.cos(4 * z),
    "wedge": lambda x, y, z: 1 + 0.6 * ((x + y) < 0.7),
    "octant": lambda x, y, z: 1 + 0.6 * ((x > 0.5) & (y > 0.5) & (z > 0.5)),
}
TERMS = {"none": {}, "layers": {"PML 1d points": 0.4, "PML 2d points": 0.5}}


@pytest.mark.parametrize("ranks", [2, 4, 16])
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize(("terms", "slow"), [("none", 0.5), ("layers", 1.0), ("layers", 0.5)])
def test_two_adjustments_are_enough(ranks: int, density: str, terms: str, slow: float) -> None:
    speeds = np.ones(ranks)
    speeds[ranks // 2] = slow
    truth = Truth(CELL, plain_cost(), speeds, DENSITIES[density], TERMS[terms], noise=0.01)
    balancer = CostBalancer(truth.cost, CELL, ways=("move cuts",))
    found = rounds(balancer, truth, BinaryPartition.equal(CELL.grid, ranks), 2)
    # One layer of points is 1.5 % of a chunk for 16 ranks, noise of 1 % is at most 2.5 % among 16 of them.
    assert found[2] <= 1.05, found


def test_it_needs_fewer_adjustments_than_the_documents() -> None:
    wins, rivals = 0, 0
    for name, density in DENSITIES.items():
        speeds = np.ones(8)
        speeds[3] = 0.6
        needed = []
        for make in (lambda: CostBalancer(plain_cost(), CELL, ways=("move cuts",)), lambda: ChunkBalancer()):
            truth = Truth(CELL, plain_cost(), speeds, density, noise=0.01)
            found = rounds(make(), truth, BinaryPartition.equal(CELL.grid, 8), 6)
            needed.append(next((n for n, value in enumerate(found) if value <= 1.05), 7))
        assert needed[0] <= 2, name
        wins, rivals = wins + needed[0], rivals + needed[1]
    assert wins < 0.6 * rivals


def test_a_slow_rank_gets_half_of_the_cost() -> None:
    speeds = np.array([1.0, 1.0, 0.5, 1.0])
    truth = Truth(CELL, plain_cost(), speeds)
    balancer = CostBalancer(truth.cost, CELL)
    layout = BinaryPartition.equal(CELL.grid, 4)
    for _ in range(3):
        layout = balancer.compute_new_chunk_layout(truth.timings(layout), layout, volumes(CELL, layout), layout.owners)
    cost = predict(CELL, layout, 4, truth.cost).rank_s
    others = np.array([cost[r] for r in range(4) if r != 2])
    assert cost[2] / others.mean() == pytest.approx(0.5, abs=0.03)


def test_two_layouts_tell_a_slow_rank_from_a_costly_region() -> None:
    # Slabs along x, whose owners change places, so that every rank has points of others.
    cuts = [
        BinaryPartition([("x", 0.0), [("x", -1.5), a, b], [("x", 1.5), c, d]])
        for a, b, c, d in ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1))
    ]

    def found(count: int, **more: Any) -> Any:
        truth = Truth(CELL, plain_cost(), more.pop("speeds", np.ones(4)), **more)
        seen = [Observation(*corners(CELL, cut), np.array(cut.owners), truth.seconds(cut), 1e-3) for cut in cuts]
        return explain(seen[:count], CELL, truth.cost, Spreads(0.1, 0.1))

    # Of one measurement half (of the logarithm) is put down to the rank: both are as likely.
    slow = [found(count, speeds=np.array([0.6, 1.0, 1.0, 1.0])).speeds for count in (1, 3)]
    ratios = [float(speeds[0] / speeds[1:].mean()) for speeds in slow]
    assert ratios[0] == pytest.approx(0.6**0.5, abs=0.03)
    assert ratios[1] == pytest.approx(0.6, abs=0.03)
    costly = found(3, density=lambda x, y, z: 1 + 0.6 * (x < 0.5)).speeds
    assert costly.min() / costly.max() > 0.95


def test_noise_moves_nothing() -> None:
    truth = Truth(CELL, plain_cost(), np.ones(8), noise=0.03)
    balancer = CostBalancer(truth.cost, CELL, ways=("move cuts",))
    # By the cost model the best there is, so that whatever is seen is noise.
    layout = balancer.decide(truth.timings(BinaryPartition.equal(CELL.grid, 8)), BinaryPartition.equal(CELL.grid, 8))
    start = layout.layout if layout.adjust else BinaryPartition.equal(CELL.grid, 8)
    assert start is not None
    moves = 0
    for seed in range(20):
        noisy = Truth(CELL, plain_cost(), np.ones(8), noise=0.03, seed=seed)
        decision = CostBalancer(noisy.cost, CELL, ways=("move cuts",)).decide(noisy.timings(start), start)
        moves += decision.adjust
    # The slowest of eight is 1.4 standard deviations above the mean, a move needs 2 and the model's doubt.
    assert moves <= 1


def test_a_layout_that_is_measured_again_and_again_settles() -> None:
    speeds = np.array([1.0, 0.7, 1.0, 1.0, 1.2, 1.0, 1.0, 1.0])
    truth = Truth(CELL, plain_cost(), speeds, DENSITIES["wedge"], noise=0.02)
    balancer, layout = CostBalancer(truth.cost, CELL), BinaryPartition.equal(CELL.grid, 8)
    adjusted = []
    for _ in range(12):
        decision = balancer.decide(truth.timings(layout), layout)
        adjusted.append(decision.adjust)
        layout = decision.layout if decision.adjust and decision.layout is not None else layout
    assert adjusted[0]
    assert sum(adjusted) <= 3
    assert not any(adjusted[-6:])
    assert truth.imbalance(layout) < 1.06


def test_a_rank_that_becomes_slow_late_is_noticed_as_soon() -> None:
    truth = Truth(CELL, plain_cost(), np.ones(2), noise=0.01)
    halves = BinaryPartition.equal(CELL.grid, 2)
    balancer = CostBalancer(truth.cost, CELL)
    assert not any(balancer.decide(truth.timings(halves), halves).adjust for _ in range(40))
    slow = Truth(CELL, plain_cost(), np.array([1.0, 0.5]), noise=0.01)
    decisions = [balancer.decide(slow.timings(halves), halves) for _ in range(5)]
    # The latest counts a quarter at least: after five, a rank that takes 2 is seen at 2 - (3/4)^5 = 1.76 or more.
    assert decisions[-1].now_s > 1.7 * truth.timings(halves).seconds.max()
    assert any(decision.adjust for decision in decisions[:3])


def test_leaves_are_handed_over_where_ranks_have_several() -> None:
    columns = [("x", -1.5), [("y", 0.0), 0, 0], [("x", 1.5), [("y", 0.0), 0, 1], [("y", 0.0), 1, 1]]]
    layout = BinaryPartition(columns)
    truth = Truth(plain_cell((6, 4, 5), 24), plain_cost(), np.array([1.0, 0.5]))
    balancer = CostBalancer(truth.cost, truth.cell, ways=("move cuts", "hand over leaves"))
    found = rounds(balancer, truth, layout, 2)
    assert found[0] > 1.3
    assert found[2] < 1.05


def test_decisions_weigh_gain_against_price() -> None:
    truth = Truth(CELL, plain_cost(share_error=0.03), np.array([1.0, 0.5]))
    halves = BinaryPartition.equal(CELL.grid, 2)
    timings = truth.timings(halves)

    def decided(**price: float) -> Any:
        return CostBalancer(truth.cost, CELL).decide(timings, halves, **price)

    free = decided()
    assert free.adjust
    assert free.why.startswith("worth it: a step of the slowest rank takes")
    assert free.now_s == pytest.approx(timings.seconds.max())
    assert 0 < free.predicted_s < 0.8 * free.now_s
    assert (free.pays_after_steps, math.isnan(free.rebuild_s)) == (0.0, True)
    price = 100 * free.gain_s
    assert decided(rebuild_s=price, steps_left=101).adjust
    late = decided(rebuild_s=price, steps_left=99)
    assert not late.adjust
    assert late.pays_after_steps == pytest.approx(100)
    assert "99 steps still to go" in late.why
    balanced = CostBalancer(truth.cost, CELL).decide(Timings([1.0, 1.0]), halves)
    assert not balanced.adjust
    assert balanced.why.startswith(("nothing better", "too close"))


@pytest.mark.parametrize("ranks", [2, 5, 16])
def test_a_sensitivity_bounds_how_far_each_cut_moves(ranks: int) -> None:
    speeds = np.linspace(0.4, 1.0, ranks)
    truth = Truth(CELL, plain_cost(), speeds, DENSITIES["octant"])
    layout = BinaryPartition.equal(CELL.grid, ranks)

    def cuts(sensitivity: float) -> list[float]:
        balancer = CostBalancer(truth.cost, CELL, ways=("move cuts",))
        found = balancer.decide(truth.timings(layout), layout, sensitivity=sensitivity).layout
        assert found is not None
        found.validate(CELL.grid)
        return [node.position for _, node in found.walk() if node.position is not None]

    start, part, whole = (np.array(cuts(fraction)) for fraction in (0.0, 0.4, 1.0))
    assert start.tolist() == pytest.approx([n.position for _, n in layout.walk() if n.position is not None])
    assert np.abs(whole - start).max() > 5 * CELL.grid.dx
    np.testing.assert_allclose(part, start + 0.4 * (whole - start), atol=0.51 * CELL.grid.dx)


def test_with_a_bound_only_cuts_move() -> None:
    truth = Truth(CELL, plain_cost(), np.array([1.0, 0.2, 1.0]))
    layout = BinaryPartition([("x", 0.0), [("y", 0.0), 0, 1], [("y", 0.0), 2, 1]])
    decision = CostBalancer(truth.cost, CELL).decide(truth.timings(layout), layout, sensitivity=0.9)
    assert decision.layout is not None
    assert (decision.layout.owners, decision.adjust) == ([0, 1, 2, 1], True)
    with pytest.raises(InputError, match="`sensitivity` must be between 0"):
        CostBalancer(truth.cost, CELL).decide(truth.timings(layout), layout, sensitivity=-0.1)


def test_what_does_not_belong_together_is_refused() -> None:
    balancer = CostBalancer(plain_cost(), CELL)
    halves = BinaryPartition([("x", 0.0), 0, 1])
    other = plain_cell((6, 4, 5), 12)
    with pytest.raises(InputError, match="Nothing was measured"):
        balancer.explanation()
    with pytest.raises(InputError, match="make a balancer for each cell"):
        balancer.compute_new_chunk_layout(Timings([1.0, 1.0]), halves, volumes(other, halves), [0, 1])
    with pytest.raises(InputError, match="`speed_spread`"):
        CostBalancer(plain_cost(), CELL, speed_spread=0.0)
    with pytest.raises(InputError, match="`ways`"):
        CostBalancer(plain_cost(), CELL, ways=("new tree",))
    with pytest.raises(InputError, match="must be inside its parent"):
        balancer.decide(Timings([1.0, 1.0]), BinaryPartition([("x", 9.0), 0, 1]))


def test_many_ranks_are_balanced_by_their_speed() -> None:
    from evenly.decomposition.rebalancing.diagnosis import MOST_EQUATIONS

    ranks = MOST_EQUATIONS + 1
    cell = plain_cell((12, 12, 12), 12)
    speeds = np.ones(ranks)
    speeds[::5] = 0.5
    truth = Truth(cell, plain_cost(), speeds)
    even = BinaryPartition.equal(cell.grid, ranks)
    balancer = CostBalancer(truth.cost, cell, ways=("move cuts",))
    balancer.observe(truth.timings(even), even)
    known = balancer.explanation().speeds
    assert known[::5].max() < 0.6 * known[1::5].min()
    found = rounds(CostBalancer(truth.cost, cell, ways=("move cuts",)), truth, even, 1)
    # Chunks are 14 points wide or less, so a layer is 7 % or more.
    assert found[1] < 0.75 * found[0]
