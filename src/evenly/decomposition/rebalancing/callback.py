"""Rebalancing during a run of `evenly.fdtd`, as a callback.

>>> from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer
>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(2, 2, 0), resolution=10)
>>> rebalance = Rebalance(ChunkBalancer(), every=20)
>>> sim.run(until=3.0, callbacks=[rebalance])
>>> len(rebalance.decisions), sim.step_count
(3, 60)

After every `every` steps the ranks' CPU times are gathered, and the balancer decides whether another layout pays. If it
does, the fields move to the new layout, and the run continues. The next decision takes into account how long the move
took and how many steps remain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from evenly.decomposition.rebalancing import simulation_interface
from evenly.decomposition.rebalancing.base import AbstractChunkBalancer
from evenly.decomposition.rebalancing.decision import Decision
from evenly.decomposition.rebalancing.measured_times import Timings
from evenly.decomposition.rebalancing.noise import standard_error
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.running.callbacks import Callback

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["Decides", "Rebalance"]

#: Number of time windows per decision; their spread gives the noise.
WINDOWS = 5


@runtime_checkable
class Decides(Protocol):
    """A balancer that itself decides whether another layout pays, such as `CostBalancer`."""

    def decide(
        self, timings: Timings, layout: BinaryPartition, *, steps_left: float = ..., rebuild_s: float = ...
    ) -> Decision:
        """Return the decision, which holds the proposed layout."""


class Rebalance(Callback):
    """A callback that lets a balancer adjust the layout during a run.

    Parameters
    ----------
    balancer : AbstractChunkBalancer
        If it has a method `decide`, this decides whether another layout pays. Otherwise
        `should_adjust_chunk_layout` decides whether its new layout is used.
    every : int
        Steps between decisions, at least 10.
    tell : callable, optional
        Called with each decision on the first rank: ``tell=lambda decision: print(decision.why)``.

    Attributes
    ----------
    decisions : list of Decision
        All decisions so far.

    Raises
    ------
    InputError
        If `every` is too small for meaningful times.
    """

    def __init__(
        self, balancer: AbstractChunkBalancer, *, every: int = 200, tell: Callable[[Decision], Any] | None = None
    ) -> None:
        if isinstance(every, bool) or every != every // 1 or every < 2 * WINDOWS:
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
        # Other code may have reset the clocks; then the window is the time since the reset.
        self._windows.append(now - self._mark if now >= self._mark else now)
        self._mark = now
        return sim.step_count - self._since >= self.every

    def act(self, sim: Simulation) -> None:
        timings = self._timings(sim)
        decision = self._decided(sim, timings)
        layout = decision.layout.to_list() if decision.adjust and decision.layout is not None else None
        # All ranks compute the same layout, but processors of different kinds may round differently.
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
        """Return the mean times over the windows and their noise; the first window, which warms caches, is left out."""
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
        return Decision(adjust, why, now_s, now_s, layout=layout, rebuild_s=self._rebuild_s, steps_left=left)

    def _steps_left(self, sim: Simulation) -> float:
        """Return how many steps remain by the run's stop conditions; infinite where none gives its progress."""
        done = sim.step_count - self._first
        shares = [share for share in (condition.progress(sim) for condition in sim.conditions) if share]
        left = done * (1 / max(shares) - 1) if shares else math.inf
        return float(sim.communicator.bcast(left))
