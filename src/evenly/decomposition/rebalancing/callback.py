"""Rebalancing while a simulation of `evenly.fdtd` runs.

>>> from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer
>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(2, 2, 0), resolution=10)
>>> rebalance = Rebalance(ChunkBalancer(), every=20)
>>> sim.run(until=3.0, callbacks=[rebalance])
>>> len(rebalance.decisions), sim.step_count
(3, 60)

Every so many steps the ranks' CPU times are gathered, and the balancer says whether another layout pays; if it does,
fields move there and the run continues. What moving took, and how long the run still is, count in the next decision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from evenly.decomposition.rebalancing import simulation_interface
from evenly.decomposition.rebalancing.base import AbstractChunkBalancer
from evenly.decomposition.rebalancing.decision import Decision, Price, Prospect
from evenly.decomposition.rebalancing.measured_times import Timings
from evenly.decomposition.rebalancing.noise import standard_error
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.running.callbacks import Callback

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["Decides", "Rebalance"]

#: Times are taken so often per decision, so that their noise is known.
WINDOWS = 5


@runtime_checkable
class Decides(Protocol):
    """A balancer that says whether another layout pays, such as `CostBalancer`."""

    def decide(
        self, timings: Timings, layout: BinaryPartition, *, steps_left: float = ..., rebuild_s: float = ...
    ) -> Decision:
        """Return the decision and the layout that it is about."""


class Rebalance(Callback):
    """Lets a balancer adjust the layout during a run.

    Parameters
    ----------
    balancer : AbstractChunkBalancer
        One that decides is asked whether another layout pays; of any other the layout is taken if
        `should_adjust_chunk_layout` says so.
    every : int
        Steps between decisions, at least 10.
    tell : callable, optional
        Given each decision on the first rank: ``tell=lambda decision: print(decision.why)``.

    Attributes
    ----------
    decisions : list of Decision
        All so far.

    Raises
    ------
    InputError
        If `every` is too small for times to mean anything.
    """

    def __init__(
        self, balancer: AbstractChunkBalancer, *, every: int = 200, tell: Callable[[Decision], Any] | None = None
    ) -> None:
        if isinstance(every, bool) or every != int(every) or every < 2 * WINDOWS:
            raise InputError(f"`every` must be a whole number of at least {2 * WINDOWS} steps, but got {every!r}.")
        self.balancer, self.every, self.tell = balancer, int(every), tell
        self.decisions: list[Decision] = []
        self._window = self.every // WINDOWS
        self._rebuild_s, self._first = math.nan, 0
        self._since, self._mark = 0, 0.0
        self._windows: list[float] = []

    def begin(self, sim: Simulation) -> None:
        self._first = sim.step_count
        self._restart(sim.step_count, simulation_interface.work_seconds(sim))

    def due(self, sim: Simulation) -> bool:
        if (sim.step_count - self._since) % self._window:
            return False
        now = simulation_interface.work_seconds(sim)
        # The clocks may have been started anew by somebody else; such a window is the time since then.
        self._windows.append(now - self._mark if now >= self._mark else now)
        self._mark = now
        return sim.step_count - self._since >= self.every

    def act(self, sim: Simulation) -> None:
        timings = self._timings(sim)
        decision = self._decided(sim, timings)
        layout = decision.layout.to_list() if decision.adjust and decision.layout is not None else None
        # All ranks compute the same, but processors of different kinds may round differently.
        layout = sim.communicator.bcast(layout)
        self.decisions.append(decision)
        if self.tell is not None and sim.communicator.rank == 0:
            self.tell(decision)
        if layout is not None:
            self._rebuild_s = sim.relayout(layout)
        self._restart(sim.step_count, simulation_interface.work_seconds(sim))

    def end(self, sim: Simulation) -> None:
        """Nothing has to be done."""

    def _restart(self, step: int, mark: float) -> None:
        self._since, self._mark = step, mark
        self._windows = []

    def _timings(self, sim: Simulation) -> Timings:
        """Return the mean over windows, the first of which warms caches, and its noise from their spread."""
        rates = np.array(sim.communicator.allgather(self._windows[1:])) / self._window
        return Timings(rates.mean(axis=1), rates.shape[1] * self._window, standard_error(rates))

    def _decided(self, sim: Simulation, timings: Timings) -> Decision:
        left = self._steps_left(sim)
        if isinstance(self.balancer, Decides):
            return self.balancer.decide(timings, sim.layout, steps_left=left, rebuild_s=self._rebuild_s)
        layout = self.balancer.compute_new_chunk_layout(
            timings, sim.layout, simulation_interface.volumes(sim), simulation_interface.owners(sim)
        )
        adjust = self.balancer.should_adjust_chunk_layout(sim)
        why = "this balancer adjusts by its own rule, without a prediction"
        now_s = float(timings.seconds.max())
        return Decision(adjust, why, Prospect(now_s, now_s, layout=layout), Price(self._rebuild_s, left))

    def _steps_left(self, sim: Simulation) -> float:
        """Return how many steps the run's conditions expect still, infinite where none says."""
        done = sim.step_count - self._first
        shares = [share for share in (condition.progress(sim) for condition in sim.conditions) if share]
        left = done * (1 / max(shares) - 1) if shares else math.inf
        return float(sim.communicator.bcast(left))
