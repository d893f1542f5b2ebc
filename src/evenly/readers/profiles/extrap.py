"""What the input formats of Extra-P have in common: metrics without units, of which one is the time.

The formats: https://github.com/extra-p/extrap/blob/master/docs/file-formats.md
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly.errors import ReadError
from evenly.readers.base import Reader
from evenly.readers.files import UNENDED
from evenly.readers.profiles.regions import Profile, is_time
from evenly.runs.runs import Runs

__all__ = ["ExtrapReader", "Series", "pick", "value_of"]


@dataclass(frozen=True)
class Series:
    """Repeated measurements of one metric of one region at one point."""

    region: str
    metric: str
    point: Mapping[str, float]
    values: Sequence[float]


class ExtrapReader(Reader):
    """Abstract base of the readers of Extra-P's formats.

    Parameters
    ----------
    time : str, optional
        The metric that is the time; by default the only one whose name says so.
    unit : str, optional
        The unit of the time. The files name none; seconds are assumed, and that is said.
    """

    def __init__(self, *, time: str | None = None, unit: str | None = None) -> None:
        self.time = time
        self.unit = unit
        self.notes: list[str] = []

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes = []
        series = list(self._series(path))
        if not series:
            raise ReadError(path, "there is no measured value: the file seems to be cut off")
        metrics = list(dict.fromkeys(one.metric for one in series))
        time = self._time_of(path, metrics)
        units = {name: "B" if "byte" in name.lower() else "1" for name in metrics}
        if time is not None:
            units[time] = self.unit or "s"
        profile = Profile(path, units, time=time, notes=self.notes)
        counted: dict[tuple[str, str, tuple[tuple[str, float], ...]], int] = {}
        for one in series:  # repetitions of one point may be spread over a file
            key = (one.region, one.metric, tuple(sorted(one.point.items())))
            first = counted.get(key, 0)
            counted[key] = first + len(one.values)
            for k, value in enumerate(one.values, first):
                profile.add(one.region, one.point, {one.metric: value}, run=f"repetition {k}", repetition=k)
        return {"": profile.runs()}

    @abstractmethod
    def _series(self, path: Path) -> Iterator[Series]:
        """Read the measured values of a file."""

    def _time_of(self, path: Path, metrics: list[str]) -> str | None:
        """Return which metric is the time, and say what was assumed."""
        if self.time is not None and self.time not in metrics:
            raise ReadError(path, f"there is no metric {self.time!r}: the file has {', '.join(map(repr, metrics))}")
        times = [self.time] if self.time is not None else [name for name in metrics if is_time(name)]
        if len(times) > 1:
            raise ReadError(path, f"there are several times ({', '.join(times)}): say which one with --time")
        if not times:
            named = ", ".join(repr(name) for name in metrics)
            self.notes.append(
                f"no metric's name says that it is a time, so {named} stays a number without unit "
                f"(a time: --time {metrics[0] or repr('')} --unit s)"
            )
            return None
        if self.unit is None:
            self.notes.append(f"the file names no unit: {times[0]!r} is taken as seconds (--unit us, ms, …)")
        return times[0]

    def _say_unended(self, unended: bool) -> None:
        if unended:
            self.notes.append(UNENDED)


def pick(path: Path, data: Any, key: str, line: int | None = None) -> Any:
    """Return an entry of a JSON object.

    Raises
    ------
    ReadError
        If there is none.
    """
    if not isinstance(data, Mapping) or key not in data:
        raise ReadError(path, f"an object with the entry {key!r} was expected", line=line)
    return data[key]


def value_of(path: Path, value: Any, line: int | None = None) -> float:
    """Return a JSON number or the text of one as a float.

    Raises
    ------
    ReadError
        If it is none.
    """
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError):
        raise ReadError(path, f"a number was expected, but got {value!r}", line=line) from None
