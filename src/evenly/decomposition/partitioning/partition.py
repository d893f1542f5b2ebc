"""How should the domain be cut? The door to cutting: `evenly.partition`.

>>> import evenly
>>> from evenly.fdtd import PML, Simulation
>>> sim = Simulation(cell=(8, 2, 2), resolution=10, boundaries=[PML(1.0, "x")])
>>> plan = evenly.partition(sim, ranks=4)
>>> plan.layout.owners, plan.seconds.shape
([0, 1, 2, 3], (4,))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.opening import cell_from
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.beam_search import beam, effort_for
from evenly.decomposition.partitioning.cut_adjustment import recut_tree, tree_times
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.leaf_owners import grouped_owners
from evenly.decomposition.partitioning.local_search import refined
from evenly.decomposition.partitioning.multisection import Method, Tree
from evenly.decomposition.partitioning.plan import CutPlan, Prediction, Times
from evenly.decomposition.partitioning.predict import predict
from evenly.decomposition.partitioning.slow_rank_relief import relieved
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["partition"]

#: Gain that must be predicted where the cost model's error isn't known.
UNKNOWN_ERROR = 0.02
#: Most chunks for which trees of unequal branches are tried.
FEW = 8
#: A tree, the owners of its leaves, and its predicted times.
_Owned = tuple[Tree, Any, Times]


def partition(
    cell: Cell | Simulation,
    ranks: int,
    cost: CostModel | None = None,
    *,
    leaves_per_rank: int = 1,
    method: Literal["auto", "multisection", "bisection"] = "auto",
    speeds: Sequence[float] | None = None,
) -> CutPlan:
    """Return how to cut a cell so that all ranks finish a step together.

    The cell is cut recursively by the prime factors of `ranks` (or in halves) at positions that balance the predicted
    work; the order of factors and the axes are searched, then all cuts are moved until the predicted times of the
    ranks, borders included, agree. Where nothing beats chunks of equal volume by more than the cost model's error, the
    answer is those.

    Parameters
    ----------
    cell : Cell or evenly.fdtd.Simulation
        What is to be cut; nothing of it is allocated. Of one of Meep: ``evenly.adapters.meep.cell_of(sim)``.
    ranks : int
    cost : CostModel, optional
        What points, chunks and borders take. Left out: what `evenly calibrate` measured on this machine for the cell's
        program, or the coefficients that are shipped.
    leaves_per_rank : int
        Most chunks of each rank; more than one helps where few layers of points leave no fine cuts. All numbers up to
        it are tried, so the answer is never slower than that with fewer, and says how they compare.
    method : "auto", "multisection" or "bisection"
        Multisection cuts into prime factors of `ranks`, bisection into n/2 and n - n/2; "auto" tries both where they
        differ, and for few chunks all other divisions, such as 1 and n - 1.
    speeds : sequence of `ranks` floats, optional
        How fast each rank is, as a factor; all alike when left out. The answer's times are those at these speeds.

    Returns
    -------
    CutPlan
        The layout with the predicted seconds per step of each rank and the comparison with the even cut. It can be
        given to a simulation as its `layout`.

    Raises
    ------
    InputError
        If a number breaks a rule, there are fewer grid points than chunks, or the cost model is another program's.

    References
    ----------
    A. Oskooi et al., arXiv:2003.04287, section 3.
    """
    cell = cell_from(cell)
    cost = _cost(cell) if cost is None else cost
    if not isinstance(cost, CostModel):
        raise InputError(f"`cost` must be a CostModel, such as evenly.CostModel.load(file), but got {cost!r}.")
    cost.check(cell)
    speed = _checked(cell, ranks, leaves_per_rank, method, speeds)
    even = predict(cell, BinaryPartition.equal(cell.grid, ranks), ranks, cost)
    if ranks == 1:
        even = even.at(speed)
        return CutPlan(cell, "even", even, even, "there is one rank, which gets everything")
    found = {n: _best(cell, cost, ranks, n, _methods(ranks * n, method), speed) for n in range(1, leaves_per_rank + 1)}
    fewest = min(found, key=lambda n: _slowest(found[n], speed))
    return _decided(cell, cost, found[fewest], even, speed, _compared(found, fewest, speed))


def _compared(found: dict[int, Prediction], best: int, speed: Any) -> str:
    """Return how cuts with fewer and more chunks per rank compare; empty where only one number was tried."""
    if len(found) == 1:
        return ""
    most = max(found)
    if best == most:
        behind = min(_slowest(one, speed) for n, one in found.items() if n != best) / _slowest(found[best], speed) - 1
        return f"; {best} chunks per rank, as fewer are predicted to be {behind:.1%} slower"
    ahead = _slowest(found[most], speed) / _slowest(found[best], speed) - 1
    chunks = "1 chunk" if best == 1 else f"{best} chunks"
    return f"; {chunks} per rank, as {most} are predicted to be no faster ({ahead:+.1%})"


def _best(
    cell: Cell, cost: CostModel, ranks: int, leaves_per_rank: int, methods: Sequence[Method], speed: Any
) -> Prediction:
    chunks = ranks * leaves_per_rank
    effort = effort_for(chunks)
    density = Density.of(cell, cost, chunks)
    even = Tree.of(BinaryPartition.equal(cell.grid, chunks), cell.grid)
    finalists = [_owned(even, density, speed, cell, cost)]
    for method in methods:
        found = [_owned(tree, density, speed, cell, cost) for tree in beam(cell, cost, density, chunks, method, effort)]
        finalists += sorted(found, key=lambda one: _slowest(one[2], speed))[: effort.finalists]

    def recut(one: _Owned) -> _Owned:
        tree, owners, _ = one
        again = recut_tree(tree, owners, density, cell, cost, ranks, speeds=speed, rounds=effort.rounds)
        return again[0], owners, again[1]

    def relieve(one: _Owned) -> _Owned:
        tree, owners, times = one
        again = relieved(tree, owners, times, cell, cost, speeds=speed, boxes=effort.boxes)
        return again[0], owners, again[1]

    def refine(one: _Owned) -> _Owned:
        tree, owners, times = one
        again = refined(tree, owners, times, cell, cost, effort.moves, speeds=speed)
        return again[0], owners, again[1]

    done = sorted(map(recut, finalists), key=lambda one: _slowest(one[2], speed))
    for step, most in ((relieve, effort.relieved), (refine, effort.refined)):
        done = sorted([*map(step, done[:most]), *done[most:]], key=lambda one: _slowest(one[2], speed))
    tree, owners, times = done[0]
    return Prediction.of(times, tree.partition(cell.grid, owners))


def _owned(tree: Tree, density: Density, speed: Any, cell: Cell, cost: CostModel) -> _Owned:
    """Return a tree with the owners of its leaves and its predicted times."""
    owners = grouped_owners(density.work(tree.low[tree.leaves], tree.high[tree.leaves]), speed)
    return tree, owners, tree_times(tree, owners, cell, cost, len(speed))


def _slowest(found: Times, speed: Any) -> float:
    return float((found.rank_s / speed).max())


def _decided(cell: Cell, cost: CostModel, balanced: Prediction, even: Prediction, speed: Any, compared: str) -> CutPlan:
    balanced, even = balanced.at(speed), even.at(speed)
    gain = even.step_s / balanced.step_s - 1
    error = UNKNOWN_ERROR if np.isnan(cost.share_error) else cost.share_error
    if gain > error:
        why = f"a step is predicted to be {1 + gain:.2f} times as fast as with chunks of equal volume{compared}"
        return CutPlan(cell, "balanced", balanced, even, why)
    known = "the least that is trusted" if np.isnan(cost.share_error) else "the error of the cost model"
    found = f"gain {gain:.1%}" if gain >= 0 else f"lose {-gain:.1%}"
    why = f"the best cut found is predicted to {found}, not to gain more than {known} ({error:.1%})"
    return CutPlan(cell, "even", balanced, even, why)


def _methods(chunks: int, method: str) -> list[Method]:
    if method == "multisection":
        return ["multisection"]
    if method == "bisection":
        return ["bisection"]
    # For powers of two they are the same.
    usual: list[Method] = ["multisection"] if chunks & (chunks - 1) == 0 else ["multisection", "bisection"]
    return [*usual, "unequal"] if 3 < chunks <= FEW else usual


def _cost(cell: Cell) -> CostModel:
    from evenly.decomposition.costs.locations import load_cost

    return load_cost(cell.program)


def _checked(cell: Cell, ranks: int, leaves_per_rank: int, method: str, speeds: Sequence[float] | None) -> Any:
    _check_whole("ranks", ranks)
    _check_whole("leaves_per_rank", leaves_per_rank)
    if method not in ("auto", "multisection", "bisection"):
        raise InputError(f'`method` must be "auto", "multisection" or "bisection", but got {method!r}.')
    points = cell.grid.box.volume
    if ranks * leaves_per_rank > points:
        raise InputError(
            f"there must be a grid point for each chunk, but {ranks} ranks with {leaves_per_rank} chunks each are more "
            f"than the {points} points of the cell: use fewer ranks."
        )
    speed = np.ones(ranks) if speeds is None else np.asarray(speeds, dtype=np.float64)
    if speed.shape != (ranks,) or not np.all(np.isfinite(speed) & (speed > 0)):
        raise InputError(f"`speeds` must be {ranks} numbers above 0, one per rank, but got {speeds!r}.")
    return speed


def _check_whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"`{name}` must be a whole number of at least 1, but got {value!r}.")
