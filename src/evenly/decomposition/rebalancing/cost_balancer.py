"""evenly's own balancer: a cost model that is corrected by measurements.

Each measurement improves the estimates of the ranks' speeds and the regions' costs
(`evenly.decomposition.rebalancing.diagnosis`). The proposed layout is the best one for these estimates. It is chosen
only if its gain pays for the move and exceeds the doubt, an error bound with probability `noise.SURE`. The doubt is the
root of the sum of squares of two terms:

- how much too slow the slowest of P equal ranks seems by the noise of the timings (`noise.measurement_doubt`), and
- how much slower than predicted the slowest rank may be (`proposals.Proposal`). Each rank's error is the cost model's
  error for the points that change owner, plus the variation from one start to the next.

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
from evenly.decomposition.rebalancing.base import AbstractChunkBalancer, check_owners, checked_sensitivity
from evenly.decomposition.rebalancing.decision import Decision, decide
from evenly.decomposition.rebalancing.diagnosis import Explanation, Observation, Spreads, explain
from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Timings
from evenly.decomposition.rebalancing.noise import measurement_doubt, noise_of
from evenly.decomposition.rebalancing.proposals import Known, Proposal, Way, best_proposal
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["CostBalancer"]

#: Mean error of a cost model's shares if it isn't known, and a lower bound for known ones.
USUAL_ERROR, LEAST_ERROR = 0.15, 0.03
#: Standard deviation of a normal error over its mean absolute value.
SPREAD_OF_MEAN = math.sqrt(math.pi / 2)
#: Smallest relative spread assumed for terms and regions: one region may be off by more than the model's mean error.
LEAST_SPREAD = 0.1
_KEPT = 4
#: Earlier measurements of a layout weigh at most this factor times the latest one, as ranks may become slow later.
MEMORY = 3
#: Relative drift of the ranks' speeds from one layout to the next; it makes older measurements less certain.
DRIFT = 0.02
WAYS: tuple[Way, ...] = ("move cuts", "hand over leaves", "new tree")


class CostBalancer(AbstractChunkBalancer):
    """A balancer that combines a cost model with measurements.

    Parameters
    ----------
    cost : CostModel
        Expected seconds per point, chunk and border.
    cell : Cell
        The cell to cut.
    speed_spread : float
        Usual relative spread of the ranks' speeds.
    ways : tuple of "move cuts", "hand over leaves", "new tree"
        Allowed kinds of change of a layout.

    Raises
    ------
    InputError
        If the cost model is for another program, or an option is invalid.
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
        """Return the balancer for a simulation's cell.

        Parameters
        ----------
        simulation : Simulation or Cell
        cost : CostModel, optional
            The default is the model calibrated on this machine; without one, the model that comes with evenly.
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
        """Return whether another layout gains more than noise and model error; the time of the move isn't counted."""
        return self.decide(self.latest_timings(sim), sim.layout).adjust

    def compute_new_chunk_layout(
        self,
        timing_measurements: Timings,
        old_chunk_layout: BinaryPartition,
        chunk_volumes: Sequence[ChunkVolume],
        chunk_owners: ArrayLike,
    ) -> BinaryPartition:
        """Return the best layout by all measurements so far, whether or not a change pays; see the base class."""
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
        """Add a measurement; if the last one was made on the same layout, the two are averaged.

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
        """Return the ranks' speeds and the corrected costs that best explain the measurements so far.

        Raises
        ------
        InputError
            If there are no measurements.
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
        self,
        timings: Timings,
        layout: BinaryPartition,
        *,
        steps_left: float = math.inf,
        rebuild_s: float = math.nan,
        sensitivity: float = 1.0,
    ) -> Decision:
        """Add a measurement and return whether to change the layout, to which one, and why.

        Parameters
        ----------
        timings : Timings
        layout : BinaryPartition
            The layout on which the times were measured.
        steps_left : float
            Remaining steps; infinite where not known.
        rebuild_s : float
            Seconds that a change of layout takes; nan where not measured.
        sensitivity : float
            Largest fraction, 0 to 1, of the way to its best place that a cut moves. Below 1, only cuts move.

        Raises
        ------
        InputError
            If `sensitivity` isn't between 0 and 1.
        """
        checked_sensitivity(sensitivity)
        self.observe(timings, layout)
        proposal, measured = self._proposal(sensitivity), self._seen[-1][1]
        now_s = float(measured.seconds.max())
        doubt_s = math.hypot(measurement_doubt(measured), proposal.doubt_s)
        predicted_s = now_s if proposal.way == "stay" else proposal.step_s
        return decide(
            now_s,
            predicted_s,
            doubt_s=doubt_s,
            layout=proposal.layout,
            rank_s=proposal.rank_s,
            rebuild_s=rebuild_s,
            steps_left=steps_left,
        )

    @property
    def _error(self) -> float:
        """Mean relative error of the model's shares of ranks."""
        return USUAL_ERROR if math.isnan(self.cost.share_error) else max(LEAST_ERROR, self.cost.share_error)

    def _proposal(self, sensitivity: float = 1.0) -> Proposal:
        found = self.explanation()
        known = Known(self.cell, found.cost, found.speeds, SPREAD_OF_MEAN * self._error)
        return best_proposal(self._seen[-1][0], known, self.ways, sensitivity)


def _mean(one: Timings, other: Timings) -> Timings:
    """Return the mean of two measurements of a layout, weighted by steps; `other` is the later one."""
    before = min(one.steps, MEMORY * other.steps)
    steps = before + other.steps
    seconds = (one.seconds * before + other.seconds * other.steps) / steps
    noise = math.hypot(noise_of(one) * before, noise_of(other) * other.steps) / steps
    return Timings(seconds, steps, noise)
