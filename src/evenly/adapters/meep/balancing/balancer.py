"""A chunk balancer that replaces Meep's own: ``from evenly.adapters.meep import ChunkBalancer``.

It is a subclass of ``meep.chunk_balancer.AbstractChunkBalancer``, with the four methods of Meep's documentation. It
differs from Meep's balancer in four ways:

* it uses CPU times, so there may be more ranks than cores;
* a cost model gives the distribution of work within a chunk;
* it changes a layout only where the change pays within the steps still to go;
* monitors are kept when the layout changes.

Costs come from ``evenly calibrate meep``. Without costs, Meep's algorithm is used with CPU times.

The first process decides, and Meep's own collectives send the decision to the others, so mpi4py is not needed. Where
Meep's processes are divided into groups, each group decides for itself.

Create the balancer before the first run, since only later runs are timed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.adapters.meep.balancing.measuring import (
    beginning_s,
    forget,
    latest_timings_of,
    timings_of_meep,
    volumes_of,
    watch,
)
from evenly.adapters.meep.collectives import of_first, slowest
from evenly.adapters.meep.grid import grid_of
from evenly.adapters.meep.layouts import from_meep, to_meep
from evenly.adapters.meep.monitor_data import watch_monitor_data
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.decomposition.rebalancing.cost_balancer import CostBalancer
    from evenly.decomposition.rebalancing.decision import Decision
    from evenly.decomposition.rebalancing.measured_times import Timings

    Base: Any = object
else:
    try:
        from meep.chunk_balancer import AbstractChunkBalancer as Base
    except ImportError:
        Base = object

__all__ = ["ChunkBalancer", "apply_layout"]


#: Least number of steps still to go that is assumed if it isn't known: that of a usual run.
USUAL_STEPS = 10_000
_ASSUMED = " ({} steps to go are assumed: `steps_left` tells how many there are)"


class ChunkBalancer(Base):  # type: ignore[misc]  # Meep's, where it can be imported
    """Adjusts the chunks of a Meep simulation to the measured times of its processes.

    Parameters
    ----------
    cost : CostModel or path, optional
        The cost model of Meep's chunks. By default, it is the one that ``evenly calibrate meep`` saved on this machine,
        or else the one that comes with evenly.
    steps_left : float, optional
        Number of remaining time steps, within which an adjustment must pay off. By default, as many steps are assumed
        as the balancer has seen, and at least `USUAL_STEPS`.

    Attributes
    ----------
    decision : Decision or None
        The last decision on an adjustment, with its reason (``balancer.decision.why``).
    """

    def __init__(self, cost: CostModel | Path | str | None = None, *, steps_left: float | None = None) -> None:
        self.cost = _cost(cost)
        self.steps_left = steps_left
        self._steps = 0
        self._told: Timings | None = None
        self.decision: Decision | None = None
        self._rebuild_s = math.nan
        self._ours: CostBalancer | None = None
        self._center = (0.0, 0.0, 0.0)
        watch()
        watch_monitor_data()

    def make_initial_chunk_layout(self, sim: Any = None) -> Any:
        """Return the best layout by the cost model.

        Without a cost model or a simulation, the result is None, and Meep makes its own layout.

        Parameters
        ----------
        sim : meep.Simulation
            The simulation with all its monitors, before it is initialised.
        """
        if sim is None or self.cost is None:
            return None
        return to_meep(BinaryPartition(of_first(lambda: self._best_cut(sim).to_list())))

    def should_adjust_chunk_layout(self, sim: Any) -> bool:
        """Return whether the gain of another layout exceeds noise and model error, and pays off in the steps left."""
        return self.decide(sim).adjust

    def decide(self, sim: Any, *, sensitivity: float | None = None) -> Decision:
        """Return the decision whether to adjust the chunks of a simulation that ran, with the layout and the reason.

        All processes must call this.

        Parameters
        ----------
        sim : meep.Simulation
        sensitivity : float, optional
            Largest fraction, 0 to 1, of the way to its best place that a cut moves. By default there is no such bound,
            and leaves and the tree may change, too.

        Raises
        ------
        InputError
            If the simulation made no step, if Meep's chunks do not come from a layout, or if `sensitivity` isn't
            between 0 and 1.
        """
        timings, layout = latest_timings_of(sim), _layout_of(sim)
        if timings is not self._told:
            self._told, self._steps = timings, self._steps + timings.steps
        if math.isnan(self._rebuild_s):
            # A restart takes as long as the start did.
            began = beginning_s(sim)
            self._rebuild_s = began if math.isnan(began) else slowest(began)
        chunks = _chunks(sim)
        told = of_first(lambda: _as_plain(self._decided(sim, timings, layout, chunks, sensitivity)))
        self.decision = _from_plain(told)
        return self.decision

    def compute_new_chunk_layout(
        self,
        timing_measurements: Any,
        old_partition: Any,
        chunk_volumes: Sequence[Any],
        chunk_owners: Any,
        **kwargs: Any,
    ) -> Any:
        """Return a layout from times and chunk volumes alone, by Meep's algorithm.

        Keyword arguments, such as `sensitivity`, are passed to this algorithm.

        Parameters
        ----------
        timing_measurements : MeepTimingMeasurements or Timings
        old_partition : meep.BinaryPartition
        chunk_volumes, chunk_owners
            The values that ``sim.structure`` returns.
        """
        timings = timings_of_meep(timing_measurements)
        return to_meep(
            _by_volumes(timings, from_meep(old_partition), volumes_of(chunk_volumes), chunk_owners, **kwargs)
        )

    def adjust_chunk_layout(self, sim: Any, *, sensitivity: float | None = None) -> None:
        """Change to a better layout if it pays off: the simulation restarts at time 0 and keeps its monitors.

        Parameters
        ----------
        sim : meep.Simulation
            A simulation that ran on its present layout.
        sensitivity : float, optional
            As for `decide`.
        """
        decision = self.decide(sim, sensitivity=sensitivity)
        if not decision.adjust or decision.layout is None:
            return
        begin = time.perf_counter()
        apply_layout(sim, decision.layout)
        self._rebuild_s = slowest(time.perf_counter() - begin)

    def _best_cut(self, sim: Any) -> BinaryPartition:
        import meep

        from evenly.adapters.meep.cell.cell import cell_of
        from evenly.decomposition.partitioning.partition import partition

        return partition(cell_of(sim), meep.count_processors(), self.cost).in_program

    def _decided(
        self, sim: Any, timings: Timings, layout: BinaryPartition, chunks: tuple[Any, Any], sensitivity: float | None
    ) -> Decision:
        """Return the decision, with layouts in Meep's coordinates; only the first process calls this."""
        from evenly.decomposition.rebalancing.decision import decide
        from evenly.decomposition.rebalancing.noise import measurement_doubt

        left = max(self._steps, USUAL_STEPS) if self.steps_left is None else self.steps_left
        move = {"rebuild_s": self._rebuild_s, "steps_left": left}
        bound = {} if sensitivity is None else {"sensitivity": sensitivity}
        ours = self._balancer(sim)
        if ours is not None:
            back = (-self._center[0], -self._center[1], -self._center[2])
            found = ours.decide(timings, moved(layout, back), **move, **bound)
            found = replace(found, layout=None if found.layout is None else moved(found.layout, self._center))
            return found if self.steps_left is not None else replace(found, why=f"{found.why}{_ASSUMED.format(left)}")
        other = _by_volumes(timings, layout, *chunks, **bound)
        now_s, mean_s = float(timings.seconds.max()), float(timings.seconds.mean())
        return decide(now_s, (now_s + mean_s) / 2, doubt_s=measurement_doubt(timings), layout=other, **move)

    def _balancer(self, sim: Any) -> CostBalancer | None:
        """Return the balancer that holds the measurements of this simulation's cell; None without a cost model."""
        if self.cost is None:
            return None
        from evenly.adapters.meep.cell.cell import cell_of
        from evenly.decomposition.rebalancing.cost_balancer import CostBalancer

        grid, center = grid_of(sim)
        if self._ours is None or (self._ours.cell.grid, self._center) != (grid, center):
            self._ours, self._center = CostBalancer(self.cost, cell_of(sim)), center
        return self._ours


def apply_layout(sim: Any, layout: BinaryPartition) -> None:
    """Give a simulation another layout; the simulation restarts at time 0 and keeps its monitors.

    Meep's `reset_meep` deletes monitors. Here the monitors are kept as the script defined them, and the next run
    creates them again. Their accumulated or loaded data are lost, and so are the fields.

    Parameters
    ----------
    sim : meep.Simulation
    layout : BinaryPartition
        The new layout, in Meep's coordinates.
    """
    monitors = list(sim.dft_objects)
    sim.reset_meep()
    for monitor in monitors:
        monitor.swigobj = None
    sim.dft_objects = monitors
    # Later resets restore the layout from the `_original` attributes, for example in each iteration of `meep.adjoint`.
    sim.chunk_layout = sim._chunk_layout_original = to_meep(layout)
    sim.num_chunks = sim._num_chunks_original = sim.chunk_layout.numchunks()
    forget(sim)
    sim.init_sim()


def _cost(given: CostModel | Path | str | None) -> CostModel | None:
    from evenly.decomposition.costs.locations import find_cost

    if isinstance(given, (str, Path)):
        given = CostModel.load(given)
    if given is None:
        try:
            return find_cost("meep").cost
        except ReadError:
            return None
    if given.program != "meep":
        raise InputError(f"The cost model must be one of meep, but it was measured with {given.program}.")
    return given


def _layout_of(sim: Any) -> BinaryPartition:
    if not hasattr(sim.chunk_layout, "split_pos"):
        raise InputError(
            f"A simulation that is balanced must have a BinaryPartition or none, but it has {sim.chunk_layout!r}."
        )
    return from_meep(sim.chunk_layout)


def _chunks(sim: Any) -> tuple[Any, Any]:
    return volumes_of(sim.structure.get_chunk_volumes()), sim.structure.get_chunk_owners()


def _by_volumes(timings: Timings, layout: BinaryPartition, volumes: Any, owners: Any, **kwargs: Any) -> BinaryPartition:
    from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer as ByVolumes

    return ByVolumes().compute_new_chunk_layout(timings, layout, volumes, owners, **kwargs)


def _as_plain(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain values, to be sent from the first process to the others."""
    layout, rank_s = decision.layout, decision.rank_s
    plain = {
        "layout": None if layout is None else layout.to_list(),
        "rank_s": None if rank_s is None else rank_s.tolist(),
    }
    return {**vars(decision), **plain}


def _from_plain(told: dict[str, Any]) -> Decision:
    from evenly.decomposition.rebalancing.decision import Decision

    layout = None if told["layout"] is None else BinaryPartition(told["layout"])
    rank_s = None if told["rank_s"] is None else np.array(told["rank_s"])
    return Decision(**{**told, "layout": layout, "rank_s": rank_s})
