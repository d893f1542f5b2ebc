"""A scaling study: run time, communication and rates of a simulation against the number of ranks.

`evenly.fdtd.scaling.runs.run_study` measures a named structure, or a user's own, on several numbers of ranks. This
module holds the measurements and computes the numbers for the usual figures:

- the run time against the number of ranks;
- the ratio of communication to computation, and the number of ranks where this ratio reaches 1;
- the time of each rank in each phase;
- rates (mean inverse times), which grow linearly with the number of ranks if the scaling is ideal.

Communication is boundary copies, sending and receiving, and waiting. Computation is stepping and Fourier transforms.
If ranks outnumber the cores in any run, all times are CPU times (see `evenly.fdtd.measurement.measurement`), and
`ScalingStudy.clock_label` says so.

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
    """The mean and the standard deviation of several values.

    Parameters
    ----------
    mean : float
    deviation : float
        Sample standard deviation of the values; 0 for a single value.
    count : int
        Number of values.

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
        """Return the statistic of `values`; mean and deviation are nan if there are no values."""
        given = list(values)
        if not given:
            return cls(math.nan, math.nan, 0)
        return cls(statistics.fmean(given), statistics.stdev(given) if len(given) > 1 else 0.0, len(given))


@dataclass(frozen=True)
class RankTimes:
    """Seconds of one rank in each group of phases, for all steps of a run; statistics over the repeats.

    Parameters
    ----------
    rank : int
    stepping, fourier, copies, sending, waiting, other : Statistic
        ``copies`` are boundary copies, ``sending`` is the posting of messages, ``other`` is output and all the rest.
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
    """The results of a study for one number of ranks.

    Parameters
    ----------
    ranks : int
    run_s : Statistic
        Seconds of all steps on the slowest rank; statistic over the repeats.
    step_s : Statistic
        Seconds per step on the slowest rank; statistic over the repeats.
    communication_s, computation_s : Statistic
        Seconds for all steps, averaged over the ranks; statistic over the repeats.
    ratio : Statistic
        Communication divided by computation; statistic over the repeats.
    stepping_rate : Statistic
        Inverse of a rank's seconds of stepping (1/s); statistic over ranks and repeats.
    fourier_rate : Statistic
        Inverse of a rank's seconds of Fourier transforms (1/s); statistic over ranks and repeats. Ranks without
        transformed points are left out; if all are, the count is 0.
    imbalance : Statistic
        Largest over mean computation time of the ranks; statistic over the repeats.
    speedup, efficiency : float
        Relative to the smallest number of ranks of the study. The speedup on that number is the number itself, and the
        efficiency is the speedup divided by the number of ranks.
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
        Failed runs may be among them. They are listed in `failed`, and their times are not used.

    Raises
    ------
    InputError
        If no run succeeded, or the runs differ in name, parameters, number of steps or number of points.
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
        """Name of the simulated structure."""
        return self._good[0].name

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Parameters of the simulated structure."""
        return self._good[0].parameters

    @property
    def steps(self) -> int:
        """Number of measured time steps of each run."""
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
        """Text for axis labels: wall time, or CPU time with the numbers of ranks (or threads) and cores."""
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
        """Results for each number of ranks, ascending."""
        fewest = self.ranks[0]
        base = Statistic.of(one.run_s(self.clock) for one in self.at(fewest)).mean
        return tuple(self._point(ranks, base * fewest) for ranks in self.ranks)

    @property
    def fastest(self) -> ScalingPoint:
        """The point with the shortest mean run time."""
        return min(self.points, key=lambda point: point.run_s.mean)

    @property
    def crossover(self) -> float | None:
        """The smallest number of ranks where communication takes as long as computation; None if it never does.

        Between two measured numbers of ranks, log(ratio) is interpolated linearly in log(ranks).
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
        """Return the successful runs on `ranks` ranks.

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
        """Return the seconds of each rank in the runs on `ranks` ranks, in the order of the ranks.

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
        """Return one dict of numbers per number of ranks, for tables."""
        return [_row(point) for point in self.points]

    def save(self, folder: Path | str) -> list[Path]:
        """Write one measurement file per run into `folder`, for `load`, `evenly read` and `evenly fit`.

        Raises
        ------
        InputError
            If a file can't be written.

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
            If there are no such files, one is damaged, or they don't belong to one study.
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
    """Return the file name of a measurement in a study, made of its name, number of ranks and repetition.

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
