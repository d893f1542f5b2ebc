"""Results of a domain decomposition: the layout, its predicted times, and the comparison with equal volumes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.fdtd.cell.layout_target import LayoutTarget
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.showing import Shown

__all__ = ["CutPlan", "Prediction", "Times"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Times:
    """Predicted seconds per step of chunks and ranks.

    Parameters
    ----------
    chunk_s : (leaves,)
        Seconds of the work in each leaf, depth first.
    border_s : (ranks,)
        Seconds that each rank spends on borders with other ranks.
    work_s : (ranks,)
        Seconds of the work in each rank's leaves.
    faces : (ranks,)
        Number of faces of points that each rank shares with other ranks.
    neighbours : (ranks,)
        Number of other ranks with which each rank shares a face.
    """

    chunk_s: Array
    border_s: Array
    work_s: Array
    faces: Array
    neighbours: Array

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.work_s)

    @property
    def rank_s(self) -> Array:
        """Seconds per step of each rank, (ranks,)."""
        return np.asarray(self.work_s + self.border_s)

    @property
    def step_s(self) -> float:
        """Seconds per step of the slowest rank (the makespan of a step)."""
        return float(self.rank_s.max())

    @property
    def imbalance(self) -> float:
        """Imbalance: seconds of the slowest rank over the mean of all ranks."""
        return float(self.rank_s.max() / self.rank_s.mean())


@dataclass(frozen=True)
class Prediction(Times):
    """Predicted times per step together with the layout for which they hold.

    Parameters
    ----------
    layout : BinaryPartition
    chunk_s, border_s, work_s, faces, neighbours
        As for `Times`.
    """

    layout: BinaryPartition

    @classmethod
    def of(cls, times: Times, layout: BinaryPartition) -> Prediction:
        """Return the prediction made of times and the layout for which they hold."""
        return cls(times.chunk_s, times.border_s, times.work_s, times.faces, times.neighbours, layout)

    def at(self, speeds: Array) -> Prediction:
        """Return the prediction for ranks of relative speeds (ranks,): a rank of speed 0.5 takes twice as long."""
        owners = np.asarray(self.layout.owners, dtype=np.int64) % len(speeds)
        return replace(
            self,
            chunk_s=self.chunk_s / speeds[owners],
            border_s=self.border_s / speeds,
            work_s=self.work_s / speeds,
        )


@dataclass(frozen=True, repr=False)
class CutPlan(Shown):
    """The chosen decomposition of a cell for a number of ranks, as `evenly.partition` returns it.

    It can be used in place of a layout: ``Simulation(layout=plan)``.

    Parameters
    ----------
    cell : Cell
    chosen : "balanced" or "even"
        The chosen cut: the balanced one if it is faster than the even one by more than the cost model's error.
    balanced, even : Prediction
        Predictions for the best layout found and for chunks of equal volume.
    why : str
        The reason for the choice, in one sentence.
    """

    cell: Cell
    chosen: Literal["balanced", "even"]
    balanced: Prediction
    even: Prediction
    why: str

    def __repr__(self) -> str:
        found = self.prediction
        return (
            f"<CutPlan of {self.cell.name}: {self.chosen} cut for {found.ranks} ranks, {found.step_s:.3g} s per step, "
            f"slowest rank {found.imbalance:.3f} of the mean, {self.gain:.2f} times as fast as equal volumes>"
        )

    @property
    def prediction(self) -> Prediction:
        """The prediction for the chosen layout."""
        return self.balanced if self.chosen == "balanced" else self.even

    @property
    def layout(self) -> BinaryPartition:
        """The chosen layout."""
        return self.prediction.layout

    @property
    def seconds(self) -> Array:
        """Predicted seconds per step of each rank, (ranks,)."""
        return self.prediction.rank_s

    @property
    def imbalance(self) -> float:
        """Predicted time of the slowest rank over the mean."""
        return self.prediction.imbalance

    @property
    def gain(self) -> float:
        """Predicted speed-up of a step over the even cut; 1 if the even cut was chosen."""
        return self.even.step_s / self.prediction.step_s

    @property
    def in_program(self) -> BinaryPartition:
        """The chosen layout with cuts in the program's own coordinates, whose origin may differ (`Cell.center`).

        The layout also records the cell and the number of ranks for which it was made.
        """
        made_for = LayoutTarget.of(self.cell.grid, self.prediction.ranks, program=self.cell.program)
        return moved(BinaryPartition(self.layout, made_for), self.cell.center)

    def to_list(self) -> Any:
        """Return the layout as nested lists, in the program's own coordinates."""
        return self.in_program.to_list()

    def save(self, path: Path | str) -> Path:
        """Write the layout, in the program's own coordinates, to a JSON file; see `BinaryPartition.save`."""
        return self.in_program.save(path)
