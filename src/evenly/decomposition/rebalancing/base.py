"""What a chunk balancer is: the interface of Meep's document, on plain numbers.

Source: the section "Dynamic Chunk Balancing" of Meep's documentation on parallel runs. A balancer looks at how long
ranks worked on a layout and gives a better one. `ChunkBalancer` is the document's algorithm, `CostBalancer` ours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Timings
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["AbstractChunkBalancer", "check_owners"]


class AbstractChunkBalancer(ABC):
    """Adjusts a layout by what was measured on it.

    Laws, checked for every balancer by ``tests/decomposition/rebalancing/contract.py``: the new layout fits the same
    grid and is owned by ranks that exist; no chunk of it is empty; the answer depends on ratios of times, not on their
    unit; of times that are equal and explained nothing moves beyond rounding.

    The last three methods take an `evenly.fdtd.Simulation`, and all ranks must call them; for Meep's there is
    `evenly.adapters.meep`.
    """

    @abstractmethod
    def compute_new_chunk_layout(
        self,
        timing_measurements: Timings,
        old_chunk_layout: BinaryPartition,
        chunk_volumes: Sequence[ChunkVolume],
        chunk_owners: ArrayLike,
    ) -> BinaryPartition:
        """Return a layout on which ranks are predicted to finish together.

        Parameters
        ----------
        timing_measurements : Timings
        old_chunk_layout : BinaryPartition
            On which they were measured.
        chunk_volumes : sequence of ChunkVolume
            All chunks of the cell; a leaf of the layout may be several.
        chunk_owners : (chunks,) of int
            The rank of each.

        Raises
        ------
        InputError
            If they don't belong together.
        """

    def make_initial_chunk_layout(self, sim: Simulation) -> BinaryPartition:
        """Return a layout for a simulation that was not measured yet: chunks of equal volume by default."""
        return BinaryPartition.equal(sim.grid, sim.communicator.size)

    def should_adjust_chunk_layout(self, sim: Simulation) -> bool:  # noqa: ARG002 - part of the interface
        """Whether the layout is bad enough to pay for another one; always by default."""
        return True

    def adjust_chunk_layout(self, sim: Simulation, **kwargs: Any) -> None:
        """Compute a new layout, if the present one should be adjusted, and move to it; fields are kept.

        It goes by the steps since this balancer last looked, or since the layout changed: Meep's document speaks of the
        previous iteration, and a sum over all of them would hide a rank that became slow. `kwargs` are passed on to
        `compute_new_chunk_layout`.
        """
        from evenly.decomposition.rebalancing import simulation_interface

        timings = self.latest_timings(sim)
        if not self.should_adjust_chunk_layout(sim):
            return
        layout = self.compute_new_chunk_layout(
            timings, sim.layout, simulation_interface.volumes(sim), simulation_interface.owners(sim), **kwargs
        )
        sim.relayout(BinaryPartition(sim.communicator.bcast(layout.to_list())))

    def latest_timings(self, sim: Simulation) -> Timings:
        """Return what ranks took since this balancer last asked; if no step was made since, the last answer.

        Raises
        ------
        InputError
            If no step was made on the present layout.
        """
        from evenly.decomposition.rebalancing import simulation_interface

        heard: WeakKeyDictionary[Simulation, _Heard] = self.__dict__.setdefault("_heard", WeakKeyDictionary())
        # The step at which the clocks were last started anew, as they are for every layout.
        start, whole = sim.step_count - sim.timed_steps, simulation_interface.timings(sim)
        last = heard.get(sim)
        if last is None or last.start != start:
            answer = whole
        elif whole.steps == last.whole.steps:
            answer = last.answer
        else:
            answer = whole.since(last.whole)
        heard[sim] = _Heard(start, whole, answer)
        return answer


@dataclass(frozen=True)
class _Heard:
    """What a balancer was told of a simulation: the step at which clocks were started, all since then, its answer."""

    start: int
    whole: Timings
    answer: Timings


def check_owners(owners: ArrayLike, chunks: int, ranks: int) -> None:
    """Check that every chunk has an owner that was measured.

    Raises
    ------
    InputError
        If not.

    Examples
    --------
    >>> check_owners([0, 1, 1], chunks=3, ranks=2)
    """
    given = np.asarray(owners)
    if given.shape != (chunks,) or (chunks and not 0 <= given.min() <= given.max() < ranks):
        raise InputError(
            f"Every chunk must have an owner among the {ranks} measured ranks, but {chunks} chunks have owners "
            f"{np.array2string(given, threshold=8)}."
        )
