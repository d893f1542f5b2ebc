"""The answer to "how should the domain be cut": a layout, its predicted times, and how an even cut compares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.fdtd.cell.layout_target import MadeFor
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["CutPlan", "Prediction", "Times"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Times:
    """What chunks and ranks are predicted to take per step.

    Parameters
    ----------
    chunk_s : (leaves,)
        Seconds of the work in each leaf, depth first.
    border_s : (ranks,)
        Seconds that each rank spends on borders with other ranks.
    work_s : (ranks,)
        Seconds of the work in each rank's leaves.
    faces : (ranks,)
        Faces of points that each rank shares with others.
    neighbours : (ranks,)
        Other ranks that share a face.
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
        """Seconds per step: those of the slowest rank."""
        return float(self.rank_s.max())

    @property
    def imbalance(self) -> float:
        """Slowest rank over the mean."""
        return float(self.rank_s.max() / self.rank_s.mean())


@dataclass(frozen=True)
class Prediction(Times):
    """What a layout is predicted to take per step.

    Parameters
    ----------
    layout : BinaryPartition
    chunk_s, border_s, work_s, faces, neighbours
        As for `Times`.
    """

    layout: BinaryPartition

    @classmethod
    def of(cls, times: Times, layout: BinaryPartition) -> Prediction:
        """Return times with the layout that they are of."""
        return cls(times.chunk_s, times.border_s, times.work_s, times.faces, times.neighbours, layout)

    def at(self, speeds: Array) -> Prediction:
        """Return the same on ranks of these speeds, (ranks,), as factors: one of speed 0.5 takes twice as long."""
        owners = np.asarray(self.layout.owners, dtype=np.int64) % len(speeds)
        return replace(
            self,
            chunk_s=self.chunk_s / speeds[owners],
            border_s=self.border_s / speeds,
            work_s=self.work_s / speeds,
        )


@dataclass(frozen=True, repr=False)
class CutPlan:
    """How to cut a cell, for as many ranks as were asked for.

    It can be given wherever a layout is: ``Simulation(layout=plan)``.

    Parameters
    ----------
    cell : Cell
    chosen : "balanced" or "even"
        Which of the two is the answer: the even one where the other isn't faster beyond the cost model's error.
    balanced, even : Prediction
        Of the best layout that was found, and of chunks of equal volume.
    why : str
        Why this one was chosen, one sentence.
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
        """Of the layout that was chosen."""
        return self.balanced if self.chosen == "balanced" else self.even

    @property
    def layout(self) -> BinaryPartition:
        """The answer."""
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
        """How many times faster than the even cut a step is predicted to be; 1 where that was chosen."""
        return self.even.step_s / self.prediction.step_s

    @property
    def in_program(self) -> BinaryPartition:
        """The answer with cuts in the program's own coordinates, whose origin may be elsewhere (`Cell.center`).

        It knows the cell and the ranks that it is for.
        """
        made_for = MadeFor.of(self.cell.grid, self.prediction.ranks, program=self.cell.program)
        return moved(BinaryPartition(self.layout, made_for), self.cell.center)

    def to_list(self) -> Any:
        """Return the layout as nested lists, in the program's own coordinates."""
        return self.in_program.to_list()

    def save(self, path: Path | str) -> Path:
        """Write the layout, in the program's own coordinates, to a JSON file; see `BinaryPartition.save`."""
        return self.in_program.save(path)
