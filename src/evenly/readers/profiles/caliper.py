"""Caliper profiles (``.cali``): one run per file, with parameters among the globals that Adiak writes.

Caliper names its metrics by how they were made, read from the right: ``max#inclusive#sum#time.duration`` is the largest
value over all ranks of the inclusive time, summed over the calls of a region.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from evenly.errors import EvenlyError, MissingExtraError, ReadError
from evenly.memory import check_file
from evenly.readers.base import Reader
from evenly.readers.files import head, is_unended, lines
from evenly.readers.profiles.regions import PATH, Profile
from evenly.readers.registry import name_list
from evenly.runs.runs import Runs

__all__ = ["CaliperReader"]

#: Values by rank of each region's path.
_Values = dict[tuple[str, ...], dict[int, float]]

_BASES = re.compile(r"(total\.)?time(\.inclusive)?\.duration(\.ns)?")
_OUTSIDE = "(outside regions)"
_CROSS = ("max", "avg", "sum", "min")
_UNIT = {"sec": "s", "s": "s", "usec": "us", "us": "us", "msec": "ms", "nsec": "ns", "ns": "ns"}
#: Globals that identify a run, or are its outcome.
_NO_PARAMETER = re.compile(
    r"(cali|spot|mpi|topdown|profile)\..*|.*(date|day|time|fom|merit|version|id|uid|pid|rate|seconds|speed|hosts?|nodelist)$"
    r"|(jobsize|numhosts|user|cluster|elapsed.*|launch.*|job.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Metric:
    """A metric of time: aggregated over ranks by `cross` ("" if it is each rank's own), inclusive or exclusive."""

    name: str
    cross: str
    inclusive: bool
    unit: str


class CaliperReader(Reader):
    """Reads Caliper profiles. Needs the package caliper-reader: ``pip install 'evenly[profiles]'``.

    Quantities: ``seconds``, exclusive of called regions, and ``inclusive`` seconds; of the slowest rank where the file
    can tell.

    Parameters
    ----------
    parameters : sequence of str or str, optional
        The parameters: globals of the file, and ``ranks``. By default ranks and all globals that are numbers and
        neither name the run nor measure it.
    unit : str, optional
        The unit of the times, for files that don't say it.

    Examples
    --------
    >>> CaliperReader().recognises(Path("no/such/profile.cali"))
    False
    """

    name: ClassVar[str] = "caliper"
    summary: ClassVar[str] = "Caliper profiles (.cali)"

    def __init__(self, *, parameters: Sequence[str] | str | None = None, unit: str | None = None) -> None:
        self.parameters = name_list(parameters)
        self.unit = unit
        self.notes: list[str] = []

    def recognises(self, path: Path) -> bool:
        return head(path).startswith("__rec=")

    def read(self, path: Path) -> dict[str, Runs]:
        try:
            import caliperreader
        except ImportError:
            raise MissingExtraError("reading Caliper profiles", extra="profiles") from None
        self.notes = []
        check_file(path)
        content = lines(path)
        if is_unended(content) or not any(line.startswith("__rec=globals") for line in content):
            raise ReadError(path, "the file is cut off: the globals should follow, on whole lines")
        found = caliperreader.CaliperReader()
        try:
            found.read(str(path))
            return self._read(path, found)
        except EvenlyError:
            raise
        except Exception as error:  # the parser checks little of what it reads
            raise ReadError(path, f"the file is broken: {type(error).__name__}: {error}") from None

    def _read(self, path: Path, found: Any) -> dict[str, Runs]:
        metrics = self._metrics(path, found)
        ranks_seen = {int(record["mpi.rank"]) for record in found.records if "mpi.rank" in record}
        point = self._point(path, found.globals, len(ranks_seen))
        values = {metric: _values(found.records, metric.name) for metric in metrics}
        exclusive, inclusive = self._times(path, values, point)
        profile = Profile(path, {"time": "s", "inclusive": "s"}, time="time", notes=self.notes)
        run = f"{path.name} {found.globals.get('launchdate', '')}".strip()
        for region in dict.fromkeys([*exclusive, *inclusive]):
            row = {"time": exclusive, "inclusive": inclusive}
            times = {name: times[region] for name, times in row.items() if region in times}
            profile.add(PATH.join(region) or _OUTSIDE, point, times, run=run)
        program = Path(str(found.globals.get("executablepath") or found.globals.get("executable") or "")).name
        return {program or "program": profile.runs()}

    def _metrics(self, path: Path, found: Any) -> list[_Metric]:
        there = dict.fromkeys(name for record in found.records for name in record)
        made = [metric for name in there if (metric := self._metric(path, found, name)) is not None]
        if not made:
            raise ReadError(path, "there is no time of regions (time.duration) among its metrics")
        return made

    def _metric(self, path: Path, found: Any, name: str) -> _Metric | None:
        *made_by, base = name.split("#")
        if not (known := _BASES.fullmatch(base)) or "scale" in made_by:
            return None
        inclusive = "inclusive" in made_by or bool(known[2])
        how = [word for word in made_by if word != "inclusive"]
        if how[-1:] not in (["sum"], []):
            return None  # a mean or extreme over calls
        cross = how[0] if len(how) > 1 else ""
        if cross not in ("", *_CROSS):
            return None
        said = _UNIT.get(str(found.attribute(name).get("attribute.unit") or ""))
        unit = "ns" if known[3] else said or self.unit
        if unit is None:
            raise ReadError(path, f"the unit of {name!r} is not in the file: say it with --unit us or --unit s")
        return _Metric(name, cross, inclusive, unit)

    def _point(self, path: Path, known: Mapping[str, Any], ranks_seen: int) -> dict[str, float]:
        numbers = {str(name): number for name, value in known.items() if (number := _number(value)) is not None}
        ranks = numbers.get("mpi.world.size", numbers.get("jobsize", float(ranks_seen)))
        if "jobsize" in numbers and numbers["jobsize"] != ranks:
            self.notes.append(
                f"mpi.world.size is {ranks:g}, jobsize is {numbers['jobsize']:g}: the first is taken as ranks"
            )
        numbers = ({"ranks": ranks} if ranks else {}) | numbers
        if self.parameters:
            if lost := [name for name in self.parameters if name not in numbers]:
                raise ReadError(path, f"no global {lost[0]!r} is a number: there are {', '.join(numbers)}")
            return {name: numbers[name] for name in self.parameters}
        point = {name: x for name, x in numbers.items() if name == "ranks" or not _NO_PARAMETER.fullmatch(name)}
        if not point:
            raise ReadError(path, "its globals tell neither the ranks (mpi.world.size, jobsize) nor another parameter")
        self.notes.append(f"parameters are numbers among the globals: {', '.join(point)} (--parameters chooses)")
        return point

    def _times(
        self, path: Path, values: Mapping[_Metric, _Values], point: Mapping[str, float]
    ) -> tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]]:
        """Return the exclusive and the inclusive seconds of each region."""
        from evenly.runs.units import to_base

        def seconds(cross: str, inclusive: bool) -> _Values | None:
            for metric, found in values.items():
                if (metric.cross, metric.inclusive) == (cross, inclusive) and found:
                    return {
                        r: {k: float(to_base([x], metric.unit)[0]) for k, x in by.items()} for r, by in found.items()
                    }
            return None

        own, below = seconds("", False), seconds("", True)
        if own is not None or below is not None:  # of each rank
            own = own if own is not None else _without_children(below or {})
            below = below if below is not None else _with_children(own)
            return _largest(own), _largest(below)
        most, most_below = seconds("max", False), seconds("max", True)
        if most is None and (total := seconds("sum", True)) is not None and point.get("ranks"):
            mean = {r: {k: x / point["ranks"] for k, x in by.items()} for r, by in _without_children(total).items()}
            self.notes.append(
                "exclusive times are means over the ranks: the file holds no rank's own, only inclusive sums"
            )
            most = mean
        if most is None:
            raise ReadError(
                path, "its metrics tell no exclusive time: neither of each rank, nor the sum or maximum over ranks"
            )
        return _largest(most), {} if most_below is None else _largest(most_below)


def _number(value: Any) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if abs(number) < 1e15 else None


def _values(records: Sequence[Mapping[str, Any]], name: str) -> _Values:
    found: _Values = defaultdict(lambda: defaultdict(float))
    for record in records:
        if name in record:
            path = record.get("path", record.get("region", ()))
            region = (path,) if isinstance(path, str) else tuple(path)
            found[region][int(record.get("mpi.rank", 0))] += float(record[name])
    return found


def _without_children(inclusive: _Values) -> _Values:
    own = {region: dict(by) for region, by in inclusive.items()}
    for region, by in inclusive.items():
        if len(region) > 1 and region[:-1] in own:
            above = own[region[:-1]]
            for rank, value in by.items():
                above[rank] = above.get(rank, 0.0) - value
    # Rounded values may leave a little less than nothing.
    return {region: {rank: max(value, 0.0) for rank, value in by.items()} for region, by in own.items()}


def _with_children(own: _Values) -> _Values:
    total: _Values = defaultdict(lambda: defaultdict(float))
    for region, by in own.items():
        for length in range(len(region), 0, -1) if region else (0,):
            for rank, value in by.items():
                total[region[:length]][rank] += value
    return total


def _largest(values: _Values) -> dict[tuple[str, ...], float]:
    return {region: max(by.values()) for region, by in values.items() if by}
