"""Results of the demo, stage by stage; a stage that failed leaves its reason instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, exp, log, sqrt
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from evenly.allocation.plan import Plan
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.forecasting.features import LayoutWorkload
from evenly.decomposition.forecasting.forecast import Forecast
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.demo.extent import Extent
from evenly.fdtd.measurement.measurement import Clock, Measurement
from evenly.machine.machine import Machine

__all__ = ["BALANCED", "EVEN", "ONE", "SHARED", "Compared", "Findings", "Speedup", "wall_over_cpu"]

Array = NDArray[np.float64]
#: Names of the layouts that run.
ONE, EVEN, BALANCED = "one rank", "equal volumes", "balanced"

#: Least ratio that is reported as a slowdown: wall over CPU time, or a fixed piece of work now over its time before.
SHARED = 1.1


def wall_over_cpu(run: Measurement) -> float:
    """Return how many times longer the ranks' own work took by the wall clock than by CPU time: 1 on quiet cores."""
    cpu = sum(rank.busy("cpu") for rank in run.ranks)
    return sum(rank.busy("wall") for rank in run.ranks) / cpu if cpu > 0 else 1.0


class Speedup(NamedTuple):
    """How many times as fast as another layout one ran, the ends of the 90 % interval, and what it was learned from.

    `spread` is the standard deviation of the logarithms of the pairs' ratios.
    """

    ratio: float
    low: float
    high: float
    pairs: int
    spread: float

    def pairs_for(self, ratio: float) -> int:
        """Return about how many pairs of runs it takes to tell such a ratio from 1.

        Examples
        --------
        >>> Speedup(1.1, 0.9, 1.3, 3, 0.1).pairs_for(1.05)
        12
        """
        return ceil((1.645 * self.spread / log(ratio)) ** 2)


@dataclass(frozen=True)
class Compared:
    """The prediction and the measurements of one layout.

    The measurements are judged at the machine's pace while costs were measured, and without what other processes took
    of the ranks' cores (`paced_s`).

    Parameters
    ----------
    seen : LayoutWorkload
        The layout's chunks, and the predicted work of each rank.
    predicted : mapping of str to float
        ``step_s``, ``lower_s``, ``upper_s`` and the other values of `forecast_step`.
    runs : tuple of Measurement
        The layout's runs, without failed ones.
    paces : tuple of float
        For each run, the CPU time of a fixed piece of work around it over that while costs were measured; without any,
        1 is taken.
    """

    seen: LayoutWorkload
    predicted: Mapping[str, float]
    runs: tuple[Measurement, ...] = ()
    paces: tuple[float, ...] = ()

    @property
    def steps_s(self) -> list[float]:
        """Measured wall seconds per step, one for each run."""
        return [run.step_s("wall") for run in self.runs]

    @property
    def measured_s(self) -> float:
        """Median of the measured wall seconds per step; nan without runs."""
        return median(self.steps_s) if self.runs else float("nan")

    @property
    def paced_s(self) -> list[float]:
        """What each run's step would have taken on cores of its own, at the pace of the calibration: seconds."""
        paces = self.paces or (1.0,) * len(self.runs)
        return [
            run.step_s("wall") / max(1.0, wall_over_cpu(run)) / pace for run, pace in zip(self.runs, paces, strict=True)
        ]

    @property
    def ratio(self) -> float:
        """Median of `paced_s` over the prediction."""
        return median(self.paced_s) / self.predicted["step_s"]

    @property
    def side(self) -> str:
        """Whether the runs agree with the prediction: "inside", "above" or "below" its interval; "" without runs.

        The median of n runs lies between the fastest and the slowest with a probability of 1 - 2^(1-n) [David and
        Nagaraja, Order Statistics, 2003, section 7.1]. The two intervals agree if they have a point in common.
        """
        if not self.runs:
            return ""
        if min(self.paced_s) > self.predicted["upper_s"]:
            return "above"
        return "below" if max(self.paced_s) < self.predicted["lower_s"] else "inside"

    def speedup_over(self, other: Compared) -> Speedup:
        """Return how many times as fast as another layout it ran.

        The layouts ran in turns, so that each pair of runs saw the same machine. The interval is Student's of the mean
        logarithm of the pairs' ratios; of a single pair, it has no end.
        """
        logs = np.log([theirs / own for theirs, own in zip(other.paced_s, self.paced_s, strict=False)])
        ratio, pairs = float(np.exp(logs.mean())), len(logs)
        if pairs < 2:
            return Speedup(ratio, 0.0, float("inf"), pairs, float("nan"))
        spread = float(logs.std(ddof=1))
        half = float(student.ppf(0.95, pairs - 1)) * spread / sqrt(pairs)
        return Speedup(ratio, ratio * exp(-half), ratio * exp(half), pairs, spread)

    def busy_s(self, clock: Clock) -> Array:
        """Return the seconds per step of each rank's own work, (ranks,): medians over runs."""
        return np.median([[rank.busy(clock) / run.steps for rank in run.ranks] for run in self.runs], axis=0)

    def whole_s(self) -> Array:
        """Return the wall seconds per step of each rank with its waiting, (ranks,): medians over runs."""
        return np.median([[sum(rank.wall.values()) / run.steps for rank in run.ranks] for run in self.runs], axis=0)


@dataclass
class Findings:
    """Results of all stages so far.

    Parameters
    ----------
    folder : Path
    extent : Extent
    ranks : int
        Number of ranks, and of parts into which the structure is cut.
    mpi : str
        The reason why several ranks can't be started here; "" where they can.
    """

    folder: Path
    extent: Extent
    ranks: int
    mpi: str = ""
    failures: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    coupled: Plan | None = None
    cost: CostModel | None = None
    machine: Machine | None = None
    plan: CutPlan | None = None
    serial_s: float = float("nan")
    here: Forecast | None = None
    cloud: Forecast | None = None
    compared: dict[str, Compared] = field(default_factory=dict)
    failed_runs: list[Measurement] = field(default_factory=list)
    disturbed_runs: list[Measurement] = field(default_factory=list)
    paces: list[float] = field(default_factory=list)

    def note(self, stage: str, text: str) -> None:
        """Add a remark on a stage; the page shows it."""
        self.notes.setdefault(stage, []).append(text)

    def rows(self) -> list[dict[str, Any]]:
        """Return each layout's prediction and measurements as plain values."""
        return [
            {
                "layout": name,
                "ranks": one.seen.ranks,
                **one.predicted,
                "measured_s": one.steps_s,
                "paced_s": one.paced_s,
                "lies": one.side,
            }
            for name, one in self.compared.items()
        ]

    @property
    def home(self) -> Path:
        """Folder for the files that evenly otherwise keeps in the user's data folder."""
        return self.folder / "evenly-home"

    @property
    def cost_path(self) -> Path:
        """File of the measured cost model."""
        from evenly.decomposition.costs.locations import cost_file

        return self.home / "costs" / cost_file("fdtd").name

    @property
    def machine_path(self) -> Path:
        """File of the measured machine."""
        return self.folder / "machine.toml"

    @property
    def layout_path(self) -> Path:
        """File of the balanced layout."""
        return self.folder / f"{self.extent.structure}-{self.ranks}.json"

    def pace(self, seconds: float) -> float:
        """Return a fixed piece of work's CPU time over that during calibration; 1 if that isn't known."""
        known = self.cost is not None and np.isfinite(self.cost.pace_s)
        return seconds / self.cost.pace_s if known and self.cost is not None else 1.0

    @property
    def slowdown(self) -> float:
        """Ratio of a fixed piece of work's CPU time between the runs to that during calibration; nan if not known."""
        known = self.cost is not None and np.isfinite(self.cost.pace_s) and self.paces
        return median(self.paces) / self.cost.pace_s if known and self.cost is not None else float("nan")
