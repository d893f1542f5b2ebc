"""Domain decomposition of a cell into chunks for ranks: the public function `evenly.partition`.

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
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_from
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.partitioning.beam_search import beam, effort_for
from evenly.decomposition.partitioning.cut_adjustment import adjust_cuts
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.local_search import search_locally
from evenly.decomposition.partitioning.multisection import Method, Tree
from evenly.decomposition.partitioning.plan import CutPlan, Prediction
from evenly.decomposition.partitioning.predict import predict
from evenly.decomposition.partitioning.problem import CutProblem
from evenly.decomposition.partitioning.slow_rank_relief import relieve_slow_ranks
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["partition"]

Array = NDArray[np.float64]
#: Smallest predicted gain for which the balanced cut is chosen if the cost model's error isn't known.
UNKNOWN_ERROR = 0.02
#: Largest number of chunks for which the method "unequal" is tried too.
FEW = 8


@explained
def partition(
    cell: Cell | Simulation,
    ranks: int,
    cost: CostModel | None = None,
    *,
    leaves_per_rank: int = 1,
    method: Literal["auto", "multisection", "bisection"] = "auto",
    speeds: Sequence[float] | None = None,
) -> CutPlan:
    """Return the decomposition of a cell into chunks for which the slowest rank is predicted to be fastest.

    The cell is cut recursively, by the prime factors of `ranks` or in halves, at positions that balance the predicted
    work. The order of the factors and the axes are searched. Then all cuts are moved until the predicted times of the
    ranks, borders included, agree. Chunks of equal volume are chosen if no other cut is faster by more than the cost
    model's error.

    Parameters
    ----------
    cell : Cell or evenly.fdtd.Simulation
        The cell to cut; its fields aren't allocated. For a simulation of Meep: ``evenly.adapters.meep.cell_of(sim)``.
    ranks : int
        Number of ranks.
    cost : CostModel, optional
        Seconds per point, chunk and border. The default is the model that `evenly calibrate` measured on this machine
        for the cell's program; without one, the model that comes with evenly.
    leaves_per_rank : int
        Largest number of chunks per rank. More than one helps if a cell has too few layers of points for fine cuts.
        All numbers from 1 up to it are tried, and the fastest is chosen; `CutPlan.why` compares them.
    method : "auto", "multisection" or "bisection"
        Multisection cuts by the prime factors of `ranks`, bisection into n // 2 and n - n // 2 ranks. "auto" tries both
        if they differ, and for few chunks also all other divisions, such as 1 and n - 1.
    speeds : sequence of `ranks` floats, optional
        Relative speed of each rank; 1 for all ranks by default. The predicted times are those at these speeds.

    Returns
    -------
    CutPlan
        The layout, the predicted seconds per step of each rank, and the comparison with chunks of equal volume. It can
        be passed to a simulation as its `layout`.

    Raises
    ------
    InputError
        If an argument is invalid, there are fewer grid points than chunks, or the cost model is for another program.

    References
    ----------
    A. Oskooi et al., arXiv:2003.04287, section 3.
    """
    cell = cell_from(cell)
    cost = find_cost(cell.program).cost if cost is None else cost
    cost.check(cell)
    speed = _checked(cell, ranks, leaves_per_rank, method, speeds)
    even = predict(cell, BinaryPartition.equal(cell.grid, ranks), ranks, cost)
    if ranks == 1:
        even = even.at(speed)
        return CutPlan(cell, "even", even, even, "there is one rank, which gets everything")
    found = {n: _best(cell, cost, speed, n, method) for n in range(1, leaves_per_rank + 1)}
    return _decided(cell, cost, even, found, speed)


def _best(cell: Cell, cost: CostModel, speed: Array, leaves_per_rank: int, method: str) -> Prediction:
    """Return the best cut with `leaves_per_rank` chunks per rank: a beam search, improved in three stages."""
    chunks = len(speed) * leaves_per_rank
    effort = effort_for(chunks)
    problem = CutProblem(cell, cost, Density.of(cell, cost, chunks), speed)
    # Candidates: chunks of equal volume, and the best trees that the beam search finds by each method.
    finalists = [problem.candidate(Tree.of(BinaryPartition.equal(cell.grid, chunks), cell.grid))]
    for one in _methods(chunks, method):
        found = [problem.candidate(tree) for tree in beam(problem, chunks, one, effort)]
        finalists += sorted(found, key=problem.slowest)[: effort.finalists]
    # Three stages: the cuts of all candidates are adjusted, then the slow ranks of the best are relieved, and the best
    # of all are improved by local search.
    done = sorted((adjust_cuts(problem, one, effort.rounds) for one in finalists), key=problem.slowest)
    for improve, most, budget in (
        (relieve_slow_ranks, effort.relief_candidates, effort.boxes),
        (search_locally, effort.search_candidates, effort.moves),
    ):
        better = [improve(problem, one, budget) for one in done[:most]]
        done = sorted([*better, *done[most:]], key=problem.slowest)
    return Prediction.of(done[0].times, done[0].tree.partition(cell.grid, done[0].owners))


def _methods(chunks: int, method: str) -> list[Method]:
    """Return the methods of cutting to try for a number of chunks."""
    if method == "multisection":
        return ["multisection"]
    if method == "bisection":
        return ["bisection"]
    # For powers of two, multisection and bisection are the same.
    usual: list[Method] = ["multisection"] if chunks & (chunks - 1) == 0 else ["multisection", "bisection"]
    return [*usual, "unequal"] if 3 < chunks <= FEW else usual


def _decided(cell: Cell, cost: CostModel, even: Prediction, found: dict[int, Prediction], speed: Array) -> CutPlan:
    """Return the plan: the best cut among 1, 2, … chunks per rank, or equal volumes if it doesn't beat them."""
    slowest = {n: float((one.rank_s / speed).max()) for n, one in found.items()}
    best, most = min(slowest, key=lambda n: slowest[n]), max(found)
    compared = ""
    if len(found) > 1 and best == most:
        behind = min(seconds for n, seconds in slowest.items() if n != best) / slowest[best] - 1
        compared = f"; {best} chunks per rank, as fewer are predicted to be {100 * behind:.1f} % slower"
    elif len(found) > 1:
        ahead = slowest[most] / slowest[best] - 1
        chunks = "1 chunk" if best == 1 else f"{best} chunks"
        compared = f"; {chunks} per rank, as {most} are predicted to be no faster ({100 * ahead:+.1f} %)"
    balanced, even = found[best].at(speed), even.at(speed)
    gain = even.step_s / balanced.step_s - 1
    error = UNKNOWN_ERROR if np.isnan(cost.share_error) else cost.share_error
    if gain > error:
        why = f"a step is predicted to be {1 + gain:.2f} times as fast as with chunks of equal volume{compared}"
        if balanced.imbalance > even.imbalance:
            less = 1 - balanced.rank_s.sum() / even.rank_s.sum()
            why += (
                f". Its ranks are less even, but all together have {100 * less:.0f} % less work: it depends on where "
                "cuts lie, for example at the face of a metal"
            )
        return CutPlan(cell, "balanced", balanced, even, why)
    known = "the least that is trusted" if np.isnan(cost.share_error) else "the error of the cost model"
    if round(gain, 3) <= 0:
        return CutPlan(cell, "even", balanced, even, "no cut is predicted to be faster")
    faster, off = f"{100 * gain:.1f} %", f"{100 * error:.1f} %"
    why = f"the best other cut is predicted to be {faster} faster, which is less than {known} ({off})"
    return CutPlan(cell, "even", balanced, even, why)


def _checked(cell: Cell, ranks: int, leaves_per_rank: int, method: str, speeds: Sequence[float] | None) -> Array:
    """Return the speeds as an array (ranks,) after checking all arguments."""
    numbers: dict[str, Any] = {"ranks": ranks, "leaves_per_rank": leaves_per_rank}
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"`{name}` must be a whole number of at least 1, but got {value!r}.")
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
