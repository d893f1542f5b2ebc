"""A balancer that takes the place of Meep's own: ``from evenly.adapters.meep import ChunkBalancer``.

It is a subclass of ``meep.chunk_balancer.AbstractChunkBalancer``, with the four methods of Meep's document. What
differs: times are CPU times, so that ranks may be more than cores; the cost model says where in a chunk the work is; a
layout is changed only where that pays; and monitors survive the change. Costs come from ``evenly calibrate meep``;
where there are none, Meep's algorithm is used, on CPU times.

Make it before the first run, which it then times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenly.adapters.meep.layouts import from_meep, to_meep
from evenly.adapters.meep.measuring import forget, latest_timings_of, timings_of, timings_of_meep, volumes_of, watch
from evenly.balance.cost.model import CostModel
from evenly.balance.cutting.moved import moved
from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.balance.rebalancing.cost_balancer import CostBalancer
    from evenly.balance.rebalancing.decision import Decision
    from evenly.balance.rebalancing.measured import Timings

    Base: Any = object
else:
    try:
        from meep.chunk_balancer import AbstractChunkBalancer as Base
    except ImportError:
        Base = object

__all__ = ["ChunkBalancer", "apply_layout"]


class ChunkBalancer(Base):  # type: ignore[misc]  # Meep's, where it can be imported
    """Adjusts the chunks of a Meep simulation by what its processes took.

    Parameters
    ----------
    cost : CostModel or path, optional
        What Meep's chunks cost; by default what ``evenly calibrate meep`` saved on this machine, or what comes with
        evenly.
    steps_left : float
        Time steps still to be made, where that is known: an adjustment must pay within them.

    Attributes
    ----------
    decision : Decision or None
        Whether the last adjustment was made, and why or why not (``balancer.decision.why``).
    """

    def __init__(self, cost: CostModel | Path | str | None = None, *, steps_left: float = math.inf) -> None:
        self.cost = _cost(cost)
        self.steps_left = steps_left
        self.decision: Decision | None = None
        self._rebuild_s = math.nan
        self._ours: CostBalancer | None = None
        self._center = (0.0, 0.0, 0.0)
        watch()

    def make_initial_chunk_layout(self, sim: Any = None) -> Any:
        """Return the layout that the cost model finds best, or None (Meep's own) where it has none or no simulation.

        Parameters
        ----------
        sim : meep.Simulation
            With all of its monitors, before it is initialised.
        """
        if sim is None or self.cost is None:
            return None
        import meep

        from evenly.adapters.meep.cells import cell_of
        from evenly.balance.cutting.partition import partition

        plan = partition(cell_of(sim), meep.count_processors(), self.cost)
        return to_meep(_shared(plan.in_program))

    def should_adjust_chunk_layout(self, sim: Any) -> bool:
        """Whether another layout gains more than noise and error, and pays within the steps that are left."""
        return self.decide(sim).adjust

    def decide(self, sim: Any) -> Decision:
        """Return whether to adjust the chunks of a simulation that ran, to which layout, and why; all processes ask.

        Raises
        ------
        InputError
            If it made no step, or Meep's chunks aren't those of a layout.
        """
        from evenly.balance.rebalancing.decision import Price, Prospect, judged

        timings, layout = latest_timings_of(sim), _layout_of(sim)
        ours = self._balancer(sim)
        if ours is not None:
            back = (-self._center[0], -self._center[1], -self._center[2])
            self.decision = ours.decide(
                timings, moved(layout, back), steps_left=self.steps_left, rebuild_s=self._rebuild_s
            )
            return self.decision
        other = self._by_volumes(timings, layout, *_chunks(sim))
        promised = float(timings.seconds.mean() + (timings.seconds.max() - timings.seconds.mean()) / 2)
        prospect = Prospect(float(timings.seconds.max()), promised, 0.02 * promised, other)
        self.decision = judged(prospect, Price(self._rebuild_s, self.steps_left))
        return self.decision

    def compute_new_chunk_layout(
        self,
        timing_measurements: Any,
        old_partition: Any,
        chunk_volumes: Sequence[Any],
        chunk_owners: Any,
        **kwargs: Any,
    ) -> Any:
        """Return a layout by Meep's algorithm, from times and volumes alone; `sensitivity` is passed on.

        Parameters
        ----------
        timing_measurements : MeepTimingMeasurements or Timings
        old_partition : meep.BinaryPartition
        chunk_volumes, chunk_owners
            As ``sim.structure`` gives them.
        """
        timings = timings_of_meep(timing_measurements)
        return to_meep(
            self._by_volumes(timings, from_meep(old_partition), volumes_of(chunk_volumes), chunk_owners, **kwargs)
        )

    def adjust_chunk_layout(self, sim: Any, **kwargs: Any) -> None:
        """Go over to a better layout, if that pays: the simulation begins anew, with its monitors.

        Parameters
        ----------
        sim : meep.Simulation
            That ran on the layout to be judged.
        **kwargs
            ``sensitivity``, 0 to 1: move cuts so far by Meep's algorithm, whether or not it pays.
        """
        if kwargs:
            layout = self._by_volumes(timings_of(sim), _layout_of(sim), *_chunks(sim), **kwargs)
        else:
            decision = self.decide(sim)
            if not _agreed(decision.adjust) or decision.layout is None:
                return
            layout = decision.layout if self._ours is None else moved(decision.layout, self._center)
        begin = time.perf_counter()
        apply_layout(sim, _shared(layout))
        self._rebuild_s = _slowest(time.perf_counter() - begin)

    def _by_volumes(
        self, timings: Timings, layout: BinaryPartition, volumes: Any, owners: Any, **kwargs: Any
    ) -> BinaryPartition:
        from evenly.balance.rebalancing.chunk_balancer import ChunkBalancer as ByVolumes

        return ByVolumes().compute_new_chunk_layout(timings, layout, volumes, owners, **kwargs)

    def _balancer(self, sim: Any) -> CostBalancer | None:
        """Return the balancer that remembers what was measured of this simulation's cell."""
        if self.cost is None:
            return None
        from evenly.adapters.meep.cells import cell_of, grid_of
        from evenly.balance.rebalancing.cost_balancer import CostBalancer

        grid, center = grid_of(sim)
        if self._ours is None or (self._ours.cell.grid, self._center) != (grid, center):
            self._ours, self._center = CostBalancer(self.cost, cell_of(sim)), center
        return self._ours


def apply_layout(sim: Any, layout: BinaryPartition) -> None:
    """Give a simulation another layout; it begins anew, at time 0, and keeps its monitors.

    Meep's `reset_meep` drops monitors. Here they are kept as the script made them and are evaluated again by the next
    run; what was accumulated or loaded before is gone, as the fields are.

    Parameters
    ----------
    sim : meep.Simulation
    layout : BinaryPartition
        In Meep's coordinates.
    """
    monitors = list(sim.dft_objects)
    sim.reset_meep()
    for monitor in monitors:
        monitor.swigobj = None
    sim.dft_objects = monitors
    sim.chunk_layout = to_meep(layout)
    sim.num_chunks = sim.chunk_layout.numchunks()
    forget(sim)
    sim.init_sim()


def _cost(given: CostModel | Path | str | None) -> CostModel | None:
    from evenly.balance.cost.places import load_cost

    if isinstance(given, (str, Path)):
        given = CostModel.load(given)
    if given is None:
        try:
            return load_cost("meep")
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


def _shared(layout: BinaryPartition) -> BinaryPartition:
    """Return the first process's layout: processes of different kinds may round differently."""
    world = _world()
    return layout if world is None else BinaryPartition(world.bcast(layout.to_list()))


def _agreed(answer: bool) -> bool:
    world = _world()
    return answer if world is None else bool(world.bcast(answer))


def _slowest(seconds: float) -> float:
    world = _world()
    return seconds if world is None else float(max(world.allgather(seconds)))


def _world() -> Any:
    """Return Meep's processes; None where there is one."""
    import meep

    if meep.count_processors() == 1:
        return None
    try:
        from mpi4py import MPI
    except ImportError:
        return None
    return MPI.COMM_WORLD
