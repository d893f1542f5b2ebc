"""The abstract base class of chunk balancers: the interface of Meep, on plain numbers.

Source: the section "Dynamic Chunk Balancing" of Meep's documentation on parallel runs. A balancer computes a better
layout from the times that ranks worked on the present one. `ChunkBalancer` is the algorithm of Meep's documentation,
`CostBalancer` is evenly's own.
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

__all__ = ["AbstractChunkBalancer", "check_owners", "checked_sensitivity"]


class AbstractChunkBalancer(ABC):
    """A balancer: computes a new layout from the times measured on the present one.

    ``tests/decomposition/rebalancing/contract.py`` checks these laws for every balancer. The new layout fits the same
    grid, its owners are existing ranks, and no chunk is empty. The layout depends on ratios of times, not on their
    unit. If all ranks take equal times, as predicted, cuts move no further than rounding.

    The methods that take an `evenly.fdtd.Simulation` must be called by all ranks. `evenly.adapters.meep` has the same
    for simulations of Meep.
    """

    @abstractmethod
    def compute_new_chunk_layout(
        self,
        timing_measurements: Timings,
        old_chunk_layout: BinaryPartition,
        chunk_volumes: Sequence[ChunkVolume],
        chunk_owners: ArrayLike,
    ) -> BinaryPartition:
        """Return a layout on which all ranks are predicted to finish a step together.

        Parameters
        ----------
        timing_measurements : Timings
        old_chunk_layout : BinaryPartition
            The layout on which the times were measured.
        chunk_volumes : sequence of ChunkVolume
            All chunks of the cell; a leaf of the layout may consist of several.
        chunk_owners : (chunks,) of int
            The rank that owns each chunk.

        Raises
        ------
        InputError
            If the arguments don't fit each other.
        """

    def make_initial_chunk_layout(self, sim: Simulation) -> BinaryPartition:
        """Return the layout for a simulation without measurements: chunks of equal volume by default."""
        return BinaryPartition.equal(sim.grid, sim.communicator.size, sim.layers.kept)

    def should_adjust_chunk_layout(self, sim: Simulation) -> bool:  # noqa: ARG002 - part of the interface
        """Return whether changing the layout pays; always true by default."""
        return True

    def adjust_chunk_layout(self, sim: Simulation, **kwargs: Any) -> None:
        """Compute a new layout, if the present one should be adjusted, and apply it; fields are kept.

        The times used are those since this balancer's last measurement, or since the layout changed. Meep's
        documentation uses the previous iteration; a sum over all iterations would hide a rank that has become slow.
        `kwargs` are passed on to `compute_new_chunk_layout`.
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
        """Return the ranks' times since this balancer's last call; without a step since then, the last result again.

        Raises
        ------
        InputError
            If no step was made on the present layout.
        """
        from evenly.decomposition.rebalancing import simulation_interface

        heard: WeakKeyDictionary[Simulation, _Heard] = self.__dict__.setdefault("_heard", WeakKeyDictionary())
        # The step at which the clocks were last reset; every new layout resets them.
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
    """Last timings of a simulation: the step of the clocks' reset, all times since then, and the result returned."""

    start: int
    whole: Timings
    answer: Timings


def check_owners(owners: ArrayLike, chunks: int, ranks: int) -> None:
    """Check that every chunk has an owner among the measured ranks.

    Raises
    ------
    InputError
        If a chunk has no owner, or an owner isn't a measured rank.

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


def checked_sensitivity(sensitivity: float) -> float:
    """Return a sensitivity, checked.

    Raises
    ------
    InputError
        If it isn't between 0 and 1.

    Examples
    --------
    >>> checked_sensitivity(0.4)
    0.4
    """
    if not 0 <= sensitivity <= 1:
        raise InputError(
            f"`sensitivity` must be between 0 (nothing moves) and 1 (cuts move all the way), but got {sensitivity!r}."
        )
    return float(sensitivity)
