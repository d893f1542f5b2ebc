"""TAU profiles: a folder with one file ``profile.RANK.CONTEXT.THREAD`` per thread, times in microseconds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from evenly.errors import ReadError
from evenly.readers.base import Reader
from evenly.readers.files import head, lines, number
from evenly.readers.profiles.regions import Profile, from_folder_name
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = ["TauReader"]

_NAME = re.compile(r"profile\.(?P<rank>\d+)\.(?P<context>\d+)\.(?P<thread>\d+)")
_FIRST = re.compile(r"(?P<count>\d+) templated_functions(_MULTI_(?P<metric>\w+))?\s*$")
_ROW = re.compile(
    r'"(?P<name>.*)" (?P<calls>\S+) (?P<subrs>\S+) (?P<own>\S+) (?P<all>\S+) \S+ GROUP="(?P<group>[^"]*)"'
)
_CLOCKS = ("TIME", "GET_TIME_OF_DAY", "LINUX_TIMERS", "P_WALL_CLOCK_TIME", "WALL_CLOCK_TIME", "CPU_TIME")
_COMMAND = re.compile(r"<name>Command Line</name><value>(.*?)</value>")
#: Groups of rows that repeat the time of other rows.
_REPEATED = ("TAU_CALLPATH", "TAU_SAMPLE", "TAU_SAMPLE_CONTEXT", "TAU_UNWIND", "TAU_PARAM")


@dataclass(frozen=True)
class _File:
    times: Mapping[str, tuple[float, float]]  # exclusive and inclusive microseconds by region
    calls: Mapping[str, float]
    command: str


class TauReader(Reader):
    """Reads TAU's profiles: all files ``profile.N.C.T`` of a folder as one run.

    Quantities: ``seconds``, exclusive of called regions, ``inclusive`` seconds, and ``calls`` in total. Parameters are
    those in the folder's name, by the rule of Extra-P (``PROGRAM.p64n1000.r1``), otherwise ``ranks``, the number of
    first numbers in the files' names.

    Parameters
    ----------
    over : {"max", "mean"}
        The time of a region is that of the slowest rank, or the mean over the ranks.

    Examples
    --------
    >>> TauReader().recognises(Path("no/such/folder"))
    False
    """

    name: ClassVar[str] = "tau"
    summary: ClassVar[str] = "TAU profiles (folders of profile.0.0.0, profile.1.0.0, …)"

    def __init__(self, *, over: Literal["max", "mean"] = "max") -> None:
        self.over = over
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []
        self._commands: dict[tuple[str, tuple[tuple[str, float], ...]], tuple[str, Path]] = {}

    def recognises(self, path: Path) -> bool:
        if path.is_dir():
            return any(self._is_profile(one) for one in sorted(path.glob("profile.*"))[:1])
        return self._is_profile(path)

    def _is_profile(self, path: Path) -> bool:
        return _FIRST.match(head(path).partition("\n")[0].strip()) is not None

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped = [], []
        files = _alone(path) if path.is_file() else _files(path)
        if not files:
            raise ReadError(path, "there is no file profile.N.0.0")
        ranks = self._ranks(path, files)
        profiles = {file: _parse(file) for file in files}
        folder = (path if path.is_dir() else path.parent).resolve().name
        name, point, repetition = from_folder_name(folder) if path.is_dir() else ("", {}, 0)
        threads = max(thread for _, _, thread in files.values()) + 1
        if not point:
            point = {"ranks": float(ranks)} | ({"threads": float(threads)} if threads > 1 else {})
            self.notes.append(f"ranks = {ranks}: the number of files profile.N.0.0; nothing in a file says it")
        command = next(iter(profiles.values())).command
        program = name or Path(command.split()[0]).name if command.strip() else name
        self._check_command(path, program, point, command)
        made = Profile(path, {"time": "us", "inclusive": "us", "calls": "1"}, time="time", notes=self.notes)
        for region, row in self._merged(profiles).items():
            made.add(region, point, row, run=str(path), repetition=repetition)
        return {program or "program": made.runs()}

    def _ranks(self, path: Path, files: Mapping[Path, tuple[int, int, int]]) -> int:
        there = {rank for rank, _, _ in files.values()}
        missing = sorted(set(range(max(there) + 1)) - there)
        if missing:
            raise ReadError(path, f"profile.{missing[0]}.0.0 is missing, so the set of files is not whole")
        return len(there)

    def _check_command(self, path: Path, program: str, point: Mapping[str, float], command: str) -> None:
        """Refuse runs that would count as repetitions of others but have other arguments."""
        key = (program, tuple(sorted(point.items())))
        earlier, where = self._commands.setdefault(key, (command, path))
        if earlier != command:
            raise ReadError(
                path,
                f"its command is {command!r}, but that of {where} is {earlier!r}, with the same parameters "
                f"({', '.join(f'{name}={x:g}' for name, x in point.items())}): name what was varied in the folders, "
                "as lbm.n128.r1",
            )

    def _merged(self, profiles: Mapping[Path, _File]) -> dict[str, dict[str, float]]:
        own: dict[str, list[float]] = defaultdict(list)
        below: dict[str, list[float]] = defaultdict(list)
        calls: dict[str, float] = defaultdict(float)
        for one in profiles.values():
            for region, (exclusive, inclusive) in one.times.items():
                own[region].append(exclusive)
                below[region].append(inclusive)
                calls[region] += one.calls[region]

        def over(values: list[float]) -> float:
            return max(values) if self.over == "max" else sum(values) / len(profiles)

        return {r: {"time": over(own[r]), "inclusive": over(below[r]), "calls": calls[r]} for r in own}


def _files(folder: Path) -> dict[Path, tuple[int, int, int]]:
    found = {}
    for path in sorted(folder.iterdir()):
        if (known := _NAME.fullmatch(path.name)) and path.is_file():
            found[path] = (int(known["rank"]), int(known["context"]), int(known["thread"]))
    return found


def _alone(path: Path) -> dict[Path, tuple[int, int, int]]:
    """Return the only file of a run; refuse one of several, since the others count as well."""
    known = _NAME.fullmatch(path.name)
    if known is not None and (set(known.groups()) != {"0"} or len(_files(path.parent)) > 1):
        raise ReadError(path, "it is the profile of one rank or thread of several: give the folder with all of them")
    return {path: (0, 0, 0)}


def _parse(path: Path) -> _File:
    content = lines(path)
    first = _FIRST.match(content[0].strip())
    if first is None:
        raise ReadError(path, "the first line should be as '27 templated_functions_MULTI_TIME'", line=1)
    if (metric := first["metric"] or "TIME") not in _CLOCKS:
        raise ReadError(path, f"its metric is {metric}, which is not a time", line=1)
    rows = content[2 : 2 + int(first["count"])]
    times: dict[str, tuple[float, float]] = {}
    calls: dict[str, float] = {}
    for k, line in enumerate(rows, 3):
        row = _ROW.match(line)
        if row is None:
            raise ReadError(path, "a row of a region was expected: the file is broken or cut off", line=k)
        name = " ".join(row["name"].split())
        if set(row["group"].split(" | ")) & set(_REPEATED) or " => " in name:
            continue
        own, everything = (number(path, "a time in microseconds was expected,", row[x], k) for x in ("own", "all"))
        before = times.get(name, (0.0, 0.0))
        times[name] = (before[0] + own, before[1] + everything)
        calls[name] = calls.get(name, 0.0) + number(path, "a number of calls was expected,", row["calls"], k)
    if len(rows) < int(first["count"]) or not any(line.endswith(" aggregates") for line in content[2 + len(rows) :]):
        raise ReadError(path, f"the file is cut off: {first['count']} regions and 'N aggregates' should follow")
    command = _COMMAND.search(content[1])
    return _File(times, calls, command[1] if command else "")
