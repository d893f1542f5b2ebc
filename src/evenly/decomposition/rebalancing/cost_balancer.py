"""Our balancer: what the cost model expects, corrected by what was measured.

Each measurement improves what is known of ranks and regions (`evenly.decomposition.rebalancing.diagnosis`); the next
layout is the best for all of it. It is taken only if its gain pays for moving and is more than chance may account for,
with a probability of `noise.SURE`: the root of the sum of squares of

- by how much the slowest of P equal ranks seems too slow, at the noise of the timings (`noise.measurement_doubt`), and
- by how much the slowest rank may be slower than predicted, each rank's error being the cost model's for what changes
  hands, and at least what starting anew changes (`proposing.Proposal`).

>>> from evenly.decomposition.costs.cost_model import Coefficient
>>> from evenly.decomposition.cells.survey import Survey
>>> from evenly.fdtd.cell.grid import Grid
>>> survey = Survey.of_blocks(((0, 80), (0, 20), (0, 20)), (), np.zeros((1, 1, 1, 0)))
>>> cell = Cell("fdtd", Grid((8, 2, 2), 10), survey)
>>> balancer = CostBalancer(CostModel("fdtd", {"points": Coefficient(3e-9)}, share_error=0.03), cell)
>>> halves = BinaryPartition([("x", 0.0), 0, 1])
>>> decision = balancer.decide(Timings([3e-3, 1e-3], steps=100), halves)
>>> decision.adjust, decision.layout.position < 0
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.predict import corners
from evenly.decomposition.rebalancing.base import AbstractChunkBalancer, check_owners
from evenly.decomposition.rebalancing.decision import Decision, Price, Prospect, judged
from evenly.decomposition.rebalancing.diagnosis import Explanation, Observation, Spreads, explain
from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Timings
from evenly.decomposition.rebalancing.noise import measurement_doubt, noise_of
from evenly.decomposition.rebalancing.proposals import Known, Proposal, Way, best_proposal
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["CostBalancer"]

#: Mean error of a cost model's shares where it isn't known, and the least that is believed.
USUAL_ERROR, LEAST_ERROR = 0.15, 0.03
#: Standard error of what is normal, over its mean absolute error.
SPREAD_OF_MEAN = math.sqrt(math.pi / 2)
#: A region may be misjudged by more than the model's mean error over many cells.
LEAST_SPREAD = 0.1
_KEPT = 4
#: What was measured before on a layout counts at most so much more than the latest, as ranks may become slow later.
MEMORY = 3
#: How much ranks change in speed from one layout to the next, relative: what was measured before is known less well.
DRIFT = 0.02
WAYS: tuple[Way, ...] = ("move cuts", "hand over leaves", "new tree")


class CostBalancer(AbstractChunkBalancer):
    """Balances by cost model and measurements together.

    Parameters
    ----------
    cost : CostModel
        What points, chunks and borders should take.
    cell : Cell
        What is to be cut.
    speed_spread : float
        How much ranks usually differ in speed, relative.
    ways : tuple of "move cuts", "hand over leaves", "new tree"
        How a layout may change.

    Raises
    ------
    InputError
        If the cost model is another program's, or an option breaks a rule.
    """

    def __init__(self, cost: CostModel, cell: Cell, *, speed_spread: float = 0.1, ways: tuple[Way, ...] = WAYS) -> None:
        cost.check(cell)
        if not 0 < speed_spread < 10:
            raise InputError(
                f"`speed_spread` must be a relative spread above 0, such as 0.1, but got {speed_spread!r}."
            )
        if "move cuts" not in ways or set(ways) - set(WAYS):
            raise InputError(f'`ways` must be some of {WAYS}, "move cuts" among them, but got {ways!r}.')
        self.cost, self.cell, self.speed_spread, self.ways = cost, cell, speed_spread, ways
        self._seen: list[tuple[BinaryPartition, Timings]] = []

    @classmethod
    def of(cls, simulation: Simulation | Cell, cost: CostModel | None = None, **options: Any) -> CostBalancer:
        """Return the balancer of a simulation's cell.

        Parameters
        ----------
        simulation : Simulation or Cell
        cost : CostModel, optional
            Left out: what was calibrated on this machine, or the coefficients that are shipped.
        **options
            `speed_spread`, `ways`.
        """
        from evenly.decomposition.cells.fdtd.cell import cell_from
        from evenly.decomposition.costs.locations import find_cost

        cell = cell_from(simulation)
        return cls(find_cost(cell.program).cost if cost is None else cost, cell, **options)

    def make_initial_chunk_layout(self, sim: Simulation) -> BinaryPartition:
        """Return the best layout by the cost model alone."""
        from evenly.decomposition.partitioning.partition import partition

        return partition(self.cell, sim.communicator.size, self.cost).layout

    def should_adjust_chunk_layout(self, sim: Simulation) -> bool:
        """Whether another layout gains more than noise and error; what moving takes isn't asked for here."""
        return self.decide(self.latest_timings(sim), sim.layout).adjust

    def compute_new_chunk_layout(
        self,
        timing_measurements: Timings,
        old_chunk_layout: BinaryPartition,
        chunk_volumes: Sequence[ChunkVolume],
        chunk_owners: ArrayLike,
    ) -> BinaryPartition:
        """Return the best layout for all that was measured so far, whether or not it pays; see the base class."""
        check_owners(chunk_owners, len(chunk_volumes), timing_measurements.ranks)
        points = sum(volume.points for volume in chunk_volumes)
        if points != self.cell.grid.box.volume:
            raise InputError(
                f"The chunks hold {points} points, but the cell of this balancer {self.cell.grid.box.volume}: make a "
                "balancer for each cell."
            )
        self.observe(timing_measurements, old_chunk_layout)
        return self._proposal().layout

    def observe(self, timings: Timings, layout: BinaryPartition) -> None:
        """Take in a measurement; one of the same layout as the last is averaged with it.

        Raises
        ------
        InputError
            If the layout doesn't fit the cell.
        """
        layout.validate(self.cell.grid)
        if self._seen and self._seen[-1][1].ranks != timings.ranks:
            self._seen = []
        if self._seen and self._seen[-1][0] == layout:
            last = self._seen.pop()[1]
            timings = timings if np.array_equal(last.seconds, timings.seconds) else _mean(last, timings)
        self._seen = [*self._seen, (layout, timings)][-_KEPT:]

    def explanation(self) -> Explanation:
        """Return what the measurements so far say about ranks and costs.

        Raises
        ------
        InputError
            If there are none.
        """
        if not self._seen:
            raise InputError("Nothing was measured yet: give the balancer timings first (`observe`).")
        ages = range(len(self._seen) - 1, -1, -1)
        seen = [
            Observation(
                *corners(self.cell, layout),
                np.array(layout.owners) % t.ranks,
                t.seconds,
                math.hypot(noise_of(t), DRIFT * age),
            )
            for age, (layout, t) in zip(ages, self._seen, strict=True)
        ]
        return explain(seen, self.cell, self.cost, Spreads(self.speed_spread, max(LEAST_SPREAD, self._error)))

    def decide(
        self, timings: Timings, layout: BinaryPartition, *, steps_left: float = math.inf, rebuild_s: float = math.nan
    ) -> Decision:
        """Take in a measurement and say whether to go over to another layout, to which, and why.

        Parameters
        ----------
        timings : Timings
        layout : BinaryPartition
            On which they were measured.
        steps_left : float
            Steps still to go, where that is known.
        rebuild_s : float
            Seconds that moving takes, where that was measured.
        """
        self.observe(timings, layout)
        proposal, measured = self._proposal(), self._seen[-1][1]
        now_s = float(measured.seconds.max())
        doubt_s = math.hypot(measurement_doubt(measured), proposal.doubt_s)
        predicted_s = now_s if proposal.way == "stay" else proposal.step_s
        prospect = Prospect(now_s, predicted_s, doubt_s, proposal.layout, proposal.rank_s)
        return judged(prospect, Price(rebuild_s, steps_left))

    @property
    def _error(self) -> float:
        """Usual error of the model's shares."""
        return USUAL_ERROR if math.isnan(self.cost.share_error) else max(LEAST_ERROR, self.cost.share_error)

    def _proposal(self) -> Proposal:
        found = self.explanation()
        known = Known(self.cell, found.cost, found.speeds, SPREAD_OF_MEAN * self._error)
        return best_proposal(self._seen[-1][0], known, self.ways)


def _mean(one: Timings, other: Timings) -> Timings:
    """Return two measurements of a layout, the later one last, as one."""
    before = min(one.steps, MEMORY * other.steps)
    steps = before + other.steps
    seconds = (one.seconds * before + other.seconds * other.steps) / steps
    noise = math.hypot(noise_of(one) * before, noise_of(other) * other.steps) / steps
    return Timings(seconds, steps, noise)
