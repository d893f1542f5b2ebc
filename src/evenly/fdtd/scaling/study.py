"""How a simulation scales: run time, communication and rates against the number of ranks.

`evenly.fdtd.scaling.runs.run_study` measures a named structure or a user's own on several numbers of ranks. This module
holds what came out and the numbers behind the usual figures: run time against ranks, the ratio of communication to
computation and where it crosses one, the time of each rank, and mean inverse times (rates), which scale linearly where
all is well.

Communication is boundary copies, sending and receiving, and waiting; computation is stepping and Fourier transforms.
Where ranks outnumber the cores in any of the runs, all times are CPU times (see `evenly.fdtd.measurement.measurement`),
and `ScalingStudy.clock_label` says so.

>>> from evenly.fdtd.measurement.measurement import RankRecord
>>> def run(ranks):
...     share = {"fused": 8 / ranks, "waiting": 0.5 * ranks}
...     records = tuple(RankRecord(r, share, share) for r in range(ranks))
...     return Measurement("box", steps=10, size=ranks, ranks=records, cores=64)
>>> study = ScalingStudy((run(1), run(2), run(4), run(8)))
>>> [round(p.ratio.mean, 3) for p in study.points], study.crossover, study.fastest.ranks
([0.062, 0.25, 1.0, 4.0], 4.0, 4)
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evenly.errors import InputError, ReadError
from evenly.fdtd.measurement.measurement import (
    COMMUNICATION,
    COMPUTATION,
    FOURIER,
    STEPPING,
    SUFFIX,
    WAITING,
    Clock,
    Measurement,
    Parameter,
)

__all__ = ["RankTimes", "ScalingPoint", "ScalingStudy", "Statistic"]


@dataclass(frozen=True)
class Statistic:
    """A mean and how far single values are from it.

    Parameters
    ----------
    mean : float
    deviation : float
        Standard deviation of single values; 0 where there is one.
    count : int

    Examples
    --------
    >>> Statistic.of([1.0, 3.0])
    Statistic(mean=2.0, deviation=1.4142135623730951, count=2)
    """

    mean: float
    deviation: float
    count: int

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.deviation / math.sqrt(self.count) if self.count else math.nan

    @classmethod
    def of(cls, values: Iterable[float]) -> Statistic:
        """Return the statistic of `values`; the mean is nan where there are none."""
        given = list(values)
        if not given:
            return cls(math.nan, math.nan, 0)
        return cls(statistics.fmean(given), statistics.stdev(given) if len(given) > 1 else 0.0, len(given))


@dataclass(frozen=True)
class RankTimes:
    """Seconds of one rank for all steps of a run, over repeats.

    Parameters
    ----------
    rank : int
    stepping, fourier, copies, sending, waiting, other : Statistic
        ``copies`` are boundary copies, ``sending`` is the posting of messages; ``other`` is output and the rest.
    """

    rank: int
    stepping: Statistic
    fourier: Statistic
    copies: Statistic
    sending: Statistic
    waiting: Statistic
    other: Statistic


@dataclass(frozen=True)
class ScalingPoint:
    """Everything about one number of ranks.

    Parameters
    ----------
    ranks : int
    run_s : Statistic
        Seconds of all steps, over repeats.
    step_s : Statistic
        Seconds of one step.
    communication_s, computation_s : Statistic
        Mean over ranks, for all steps; over repeats.
    ratio : Statistic
        Communication over computation; over repeats.
    stepping_rate : Statistic
        Inverse seconds that ranks spent on stepping; over ranks and repeats.
    fourier_rate : Statistic
        The same of Fourier transforms, without ranks that have no points of any; count 0 where none has.
    imbalance : Statistic
        Largest over mean computation of the ranks; over repeats.
    speedup, efficiency : float
        Against the smallest number of ranks of the study.
    """

    ranks: int
    run_s: Statistic
    step_s: Statistic
    communication_s: Statistic
    computation_s: Statistic
    ratio: Statistic
    stepping_rate: Statistic
    fourier_rate: Statistic
    imbalance: Statistic
    speedup: float
    efficiency: float


@dataclass(frozen=True)
class ScalingStudy:
    """Runs of one simulation on several numbers of ranks, each repeated or not.

    Parameters
    ----------
    measurements : sequence of Measurement
        Failed ones may be among them; they are in `failed`, and no time is taken from them.

    Raises
    ------
    InputError
        If there are none that went well, or not all are of the same simulation and number of steps.
    """

    measurements: tuple[Measurement, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "measurements", tuple(self.measurements))
        if not self._good:
            reasons = "; ".join(dict.fromkeys(one.message for one in self.failed if one.message))
            raise InputError(
                f"A scaling study needs a run that went well, but got none{': ' if reasons else '.'}{reasons}"
            )
        first = self._good[0]
        for other in self._good[1:]:
            for what in ("name", "parameters", "steps", "points"):
                mine, its = getattr(first, what), getattr(other, what)
                if mine != its:
                    raise InputError(
                        f"All runs of a scaling study must have the same {what}, but got {mine!r} (on {first.size} "
                        f"ranks) and {its!r} (on {other.size}): study them apart."
                    )

    @property
    def name(self) -> str:
        """What was simulated."""
        return self._good[0].name

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """What made it."""
        return self._good[0].parameters

    @property
    def steps(self) -> int:
        """Time steps of each run."""
        return self._good[0].steps

    @property
    def failed(self) -> tuple[Measurement, ...]:
        """Runs that failed."""
        return tuple(one for one in self.measurements if one.status != "ok")

    @property
    def clock(self) -> Clock:
        """``"cpu"`` if ranks outnumber the cores in any run, else ``"wall"``."""
        return "cpu" if any(one.clock == "cpu" for one in self._good) else "wall"

    @property
    def clock_label(self) -> str:
        """What the times are, for the labels of axes."""
        crowded = [one for one in self._good if one.clock == "cpu"]
        if not crowded:
            return "wall time"
        worst = max(crowded, key=lambda one: one.size * one.threads)
        unit = "ranks" if worst.threads == 1 else "threads"
        return f"CPU time (up to {worst.size * worst.threads} {unit} on {_cores(worst.cores)})"

    @property
    def ranks(self) -> list[int]:
        """Numbers of ranks, ascending."""
        return sorted({one.size for one in self._good})

    @cached_property
    def points(self) -> tuple[ScalingPoint, ...]:
        """One for each number of ranks, ascending."""
        fewest = self.ranks[0]
        base = Statistic.of(one.run_s(self.clock) for one in self.at(fewest)).mean
        return tuple(self._point(ranks, base * fewest) for ranks in self.ranks)

    @property
    def fastest(self) -> ScalingPoint:
        """The point of the shortest run."""
        return min(self.points, key=lambda point: point.run_s.mean)

    @property
    def crossover(self) -> float | None:
        """The number of ranks where communication first takes as long as computation; None where it never does.

        Between two measured numbers it is interpolated, both on logarithmic scales.
        """
        ratios = [(point.ranks, point.ratio.mean) for point in self.points]
        if ratios[0][1] >= 1:
            return float(ratios[0][0])
        for (below, low), (above, high) in itertools.pairwise(ratios):
            if low < 1 <= high:
                share = 1.0 if low <= 0 else -math.log(low) / (math.log(high) - math.log(low))
                return float(round(math.exp(math.log(below) + share * math.log(above / below)), 9))
        return None

    def at(self, ranks: int) -> list[Measurement]:
        """Return the runs on so many ranks that went well.

        Raises
        ------
        InputError
            If there are none.
        """
        found = [one for one in self._good if one.size == ranks]
        if not found:
            raise InputError(f"The study has runs on {', '.join(map(str, self.ranks))} ranks, but got {ranks!r}.")
        return found

    def per_rank(self, ranks: int) -> list[RankTimes]:
        """Return the seconds of each rank of the runs on `ranks` ranks.

        Raises
        ------
        InputError
            If the study has no such run.

        Examples
        --------
        >>> from evenly.fdtd.measurement.measurement import RankRecord
        >>> one = Measurement(steps=1, ranks=(RankRecord(0, {"fused": 2.0, "output": 0.5}, {}),))
        >>> times = ScalingStudy((one,)).per_rank(1)[0]
        >>> times.stepping.mean, times.other.mean
        (2.0, 0.5)
        """
        runs = self.at(ranks)
        groups = (STEPPING, FOURIER, ("boundary copies",), ("send/receive",), (WAITING,), ("output", "other"))
        times = [[one.times(group, self.clock) for one in runs] for group in groups]
        return [RankTimes(r, *(Statistic.of(one[r] for one in group) for group in times)) for r in range(ranks)]

    def rows(self) -> list[dict[str, float]]:
        """Return one dict per number of ranks, for tables."""
        return [_row(point) for point in self.points]

    def save(self, folder: Path | str) -> list[Path]:
        """Write one measurement file per run into `folder`, which `load`, `evenly read` and `evenly fit` read.

        Raises
        ------
        InputError
            If it can't be written.

        Examples
        --------
        >>> import tempfile
        >>> from evenly.fdtd.measurement.measurement import RankRecord
        >>> study = ScalingStudy((Measurement("box", steps=1, ranks=(RankRecord(0, {"fused": 2.0}, {}),)),))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in study.save(folder)], ScalingStudy.load(folder).fastest.run_s.mean
        (['box-r0001-0.fdtd.json'], 2.0)
        """
        return [one.save(Path(folder, file_name(one))) for one in self.measurements]

    @classmethod
    def load(cls, folder: Path | str) -> ScalingStudy:
        """Read all measurement files of a folder.

        Raises
        ------
        ReadError
            If there are none, one is damaged, or they are not of one study.
        """
        folder = Path(folder)
        paths = sorted(folder.glob(f"*{SUFFIX}"))
        if not paths:
            raise ReadError(folder, f"there are no measurement files (*{SUFFIX}) in it: check the path")
        try:
            return cls(tuple(Measurement.load(path) for path in paths))
        except ReadError:
            raise
        except InputError as error:
            raise ReadError(folder, str(error)) from None

    @cached_property
    def _good(self) -> list[Measurement]:
        return [one for one in self.measurements if one.status == "ok" and one.ranks]

    def _point(self, ranks: int, work: float) -> ScalingPoint:
        clock, runs = self.clock, self.at(ranks)
        communication = [statistics.fmean(one.times(COMMUNICATION, clock)) for one in runs]
        computation = [statistics.fmean(one.times(COMPUTATION, clock)) for one in runs]
        run_s = Statistic.of(one.run_s(clock) for one in runs)
        speedup = work / run_s.mean if run_s.mean > 0 else math.nan
        return ScalingPoint(
            ranks,
            run_s,
            Statistic.of(one.step_s(clock) for one in runs),
            Statistic.of(communication),
            Statistic.of(computation),
            Statistic.of(a / b for a, b in zip(communication, computation, strict=True) if b > 0),
            _rate(runs, STEPPING, clock),
            _rate(runs, FOURIER, clock, only_with="fourier"),
            Statistic.of(one.imbalance(clock) for one in runs),
            speedup,
            speedup / ranks,
        )


def file_name(measurement: Measurement) -> str:
    """Return the name of a measurement's file in a study: what, ranks, repetition.

    Examples
    --------
    >>> file_name(Measurement("my oled", size=4, repetition=2))
    'my-oled-r0004-2.fdtd.json'
    """
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in measurement.name) or "run"
    return f"{plain}-r{measurement.size:04d}-{measurement.repetition}{SUFFIX}"


def _rate(
    runs: Sequence[Measurement], phases: Sequence[str], clock: Clock, *, only_with: str | None = None
) -> Statistic:
    values = []
    for one in runs:
        for rank, seconds in zip(one.ranks, one.times(phases, clock), strict=True):
            if seconds > 0 and (only_with is None or rank.counts.get(only_with, 0)):
                values.append(1 / seconds)
    return Statistic.of(values)


def _row(point: ScalingPoint) -> dict[str, float]:
    row: dict[str, float] = {"ranks": point.ranks, "speedup": point.speedup, "efficiency": point.efficiency}
    for name, value in vars(point).items():
        if isinstance(value, Statistic):
            row |= {name: value.mean, f"{name}_deviation": value.deviation}
    return row


def _cores(n: int) -> str:
    return f"{n} core{'' if n == 1 else 's'}"
