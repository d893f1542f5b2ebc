"""Timing files of CESM and E3SM (``cesm_timing.*``, ``e3sm_timing.*``): seconds per component, of one run or more.

A file of several runs was put together from others. A component's cores are its ``comp_pes`` (tasks times threads, all
instances). The response is its seconds for one simulated day. Components that did not run (0.000 seconds) are left out,
with a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pandas as pd

from evenly.errors import ReadError
from evenly.readers.base import Reader
from evenly.readers.cesm_layout import Placed, layout_of, placement_of, widths
from evenly.readers.files import head, lines, number
from evenly.readers.registry import Skipped, name_list
from evenly.runs.runs import Runs
from evenly.runs.units import YEAR_DAYS

__all__ = ["CesmTimingReader"]

_MARK = "TIMING PROFILE"
_FIELD = re.compile(r"\s*(?P<key>Case|LID|Machine|Curr Date|grid|compset|stop[_ ]option)\s*:\s*(?P<value>.*\S)\s*$")
_LENGTH = re.compile(r"\s*run[_ ]length\s*:\s*(?P<days>[\d.]+)\s+days")
_COST = re.compile(r"\s*pe count for cost estimate\s*:\s*(?P<cores>\d+)")
_COMPONENT = re.compile(
    r"\s*(?P<name>[a-z]\w*)\s*=\s*\S+\s+(?P<pes>\d+)\s+(?P<root>\d+)\s+(?P<tasks>\d+)\s*x\s*(?P<threads>\d+)"
    r"(?:\s+\d+\s*\(\s*(?P<stride>\d+)\s*\))?"
)
_TIME = re.compile(
    r"\s*(?P<name>[A-Z]\w*) Run Time:\s+(?P<total>\S+)\s+seconds\s+(?P<each>\S+)\s+seconds/"
    r"(?P<unit>mday|day|myear|year)"
)
_DATE = re.compile(r"\w{3}\s+(?P<month>\w{3})\s+(?P<day>\d{1,2})\s+(?P<clock>[\d:]{8})\s+(?P<year>\d{4})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: Seconds per simulated day are printed with three digits behind the point.
_ROUNDING_S = 0.00051
_DISAGREEMENT = 0.002
#: The rule in messages on a value that is no number.
_NUMBER = "a number, zero or more, was expected,"


@dataclass(frozen=True)
class _Component:
    cores: int
    tasks: int
    threads: int
    root: int = 0
    stride: int = 1

    @property
    def span(self) -> range:
        """Its MPI tasks among those of the whole run."""
        return range(self.root, self.root + (self.tasks - 1) * self.stride + 1, self.stride)


@dataclass(frozen=True)
class _Time:
    total: float
    printed: float  # seconds per simulated day
    line: int = field(compare=False)


@dataclass
class _Profile:
    """What the lines of one run say; `first` is the number of the first of them."""

    first: int = field(default=1, compare=False)
    fields: dict[str, str] = field(default_factory=dict)
    days: float | None = None
    cost_cores: int | None = None
    components: dict[str, _Component] = field(default_factory=dict)
    times: dict[str, _Time] = field(default_factory=dict)


class CesmTimingReader(Reader):
    r"""Reads timing files of CESM and E3SM, compressed or not.

    Quantities in seconds: ``seconds`` for one simulated day, ``run_seconds`` for the whole run. The case, its date and
    its machine are kept in the bookkeeping columns.

    Parameters
    ----------
    total : bool
        Whether the whole model is given too, as the solver ``total``.
    threads : bool
        Whether ``tasks`` and ``threads`` are parameters beside ``cores``.
    fields : sequence of str or str
        Entries of the file's head that are parameters too, where files differ in them: ``"grid"``, ``"compset"``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cesm_timing.case"
    >>> _ = path.write_text(
    ...     "---------------- TIMING PROFILE ---------------------\n  run_length  : 10 days (9 for ocean)\n"
    ...     "  ice = cice  2  0  2  x 1  1  (1  )\n"
    ...     "  ICE Run Time:      45.316 seconds        4.532 seconds/mday        52.24 myears/wday\n")
    >>> CesmTimingReader().read(path)["ice"].to_frame()[["cores", "seconds", "run_seconds"]]
       cores  seconds  run_seconds
    0      2   4.5316       45.316
    """

    name: ClassVar[str] = "cesm-timing"
    summary: ClassVar[str] = "timing files of CESM and E3SM"

    def __init__(self, *, total: bool = False, threads: bool = False, fields: Sequence[str] | str = ()) -> None:
        self.total = total
        self.threads = threads
        self.fields = name_list(fields)
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []
        self.placed: list[Placed] = []
        self._machines: dict[str, Path] = {}
        self._settings: dict[tuple[str, str], Path] = {}  # of all files that this reader has read

    def recognises(self, path: Path) -> bool:
        return _MARK in head(path)[:500]

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped, self.placed = [], [], []
        found: dict[str, list[Runs]] = {}
        profiles: list[_Profile] = []
        refused: list[ReadError] = []
        for first, content in _runs_of(lines(path)):
            try:
                profile = _parse(path, content, first)
                if profile in profiles:
                    self.skipped.append(Skipped(path, "the same run as above", line=first, benign=True))
                    continue
                for name, runs in self._read_run(path, profile).items():
                    found.setdefault(name, []).append(runs)
                profiles.append(profile)
            except ReadError as error:
                refused.append(ReadError(path, error.reason, line=error.line or first if first > 1 else error.line))
        if not found:
            raise refused[0]
        self.skipped.extend(Skipped.of(error, path) for error in refused)
        self.notes = list(dict.fromkeys(self.notes))
        return {name: Runs.concat(runs) for name, runs in found.items()}

    def _read_run(self, path: Path, profile: _Profile) -> dict[str, Runs]:
        """Return the times of each component in one run."""
        days = _check(path, profile)
        self._compare_settings(path, profile)
        if untimed := [name.upper() for name in profile.components if name not in profile.times]:
            reason = f"{', '.join(untimed)} has cores (comp_pes) but no 'Run Time' line: the file seems to be cut off"
            self.skipped.append(Skipped(path, reason, line=profile.first if profile.first > 1 else None))
        idle = [name for name, time in profile.times.items() if time.total == 0]
        if idle:
            self.notes.append(f"components that did not run are left out: {', '.join(idle)}")
        whole = profile.times.get("tot")
        found = {
            name: self._runs(path, profile, name, profile.components[name], time.total / days, time.total)
            for name, time in profile.times.items()
            if time.total > 0 and name != "tot"
        }
        if self.total and whole is not None:
            cores = profile.cost_cores or max(c.cores for c in profile.components.values())
            component = _Component(cores, cores, 1)
            found["total"] = self._runs(path, profile, "total", component, whole.total / days, whole.total)
        if not found:
            raise ReadError(path, "no component has a run time above zero")
        if not untimed:
            fields = {name: profile.fields.get(name, "") for name in self.fields}
            placed = _placed(path, profile, whole, days, fields)
            machine = profile.fields.get("Machine", "")
            self.placed.append(replace(placed, setting=_setting(profile), machine=machine))
        return found

    def _compare_settings(self, path: Path, profile: _Profile) -> None:
        """Note a file of another grid or compset than those before: its times are no repetition of theirs."""
        machine = profile.fields.get("Machine", "")
        if self._machines and machine not in self._machines:
            first, where = next(iter(self._machines.items()))
            self.notes.append(f"it is of the machine {machine}, and {where} of {first}: their times differ")
        self._machines.setdefault(machine, path)
        setting = profile.fields.get("grid", ""), profile.fields.get("compset", "")
        if self._settings and setting not in self._settings and not {"grid", "compset"} & set(self.fields):
            other = next(iter(self._settings.values()))
            told = (
                "the grids or compsets of its runs differ"
                if other == path
                else f"its grid or compset is not that of {other}"
            )
            self.notes.append(f"{told}: pass fields='grid,compset' (-O fields=grid,compset) to tell them apart")
        self._settings.setdefault(setting, path)

    def _runs(
        self, path: Path, profile: _Profile, solver: str, component: _Component, each: float, whole: float
    ) -> Runs:
        row: dict[str, object] = {"cores": component.cores}
        if self.threads and solver != "total":
            row |= {"tasks": component.tasks, "threads": component.threads}
        row |= {name: profile.fields.get(name, "") for name in self.fields}
        parameters = list(row)
        unnamed = path.name if profile.first == 1 else f"{path.name}:{profile.first}"
        row |= {
            "seconds": each,
            "run_seconds": whole,
            "run": " ".join(profile.fields.get(name, "") for name in ("Case", "LID")).strip() or unnamed,
            "machine": profile.fields.get("Machine", ""),
            "when": _when(profile.fields.get("Curr Date", "")),
            "source": str(path),
        }
        return Runs.from_frame(pd.DataFrame([row]), parameters, "seconds", quantities={"run_seconds": "s"})


def _placed(path: Path, profile: _Profile, whole: _Time | None, days: float, fields: Mapping[str, str]) -> Placed:
    """Return who shares cores with whom, of the components that ran."""
    ran = {name: time.total for name, time in profile.times.items() if name != "tot" and time.total > 0}
    components = {name: profile.components[name] for name in ran}
    found = layout_of({name: component.span for name, component in components.items()}, ran)
    share = None if found is None or whole is None or not whole.total else found[1] / whole.total
    threads = {name: component.threads for name, component in components.items()}
    cores = {name: component.cores for name, component in components.items()}
    strided = tuple(name for name, one in components.items() if one.stride > 1 and one.tasks > 1)
    seconds = None if whole is None or not whole.total else whole.total / days
    everywhere = {name: component.threads for name, component in profile.components.items()}
    return Placed(
        path,
        None if found is None else found[0],
        share,
        threads,
        widths({name: component.span for name, component in components.items()}, threads),
        max(everywhere.values()),
        placement_of({name: one.span for name, one in profile.components.items()}, everywhere, profile.cost_cores),
        cores,
        seconds,
        fields,
        strided,
    )


def _runs_of(content: Sequence[str]) -> list[tuple[int, Sequence[str]]]:
    """Return the lines of each run in a file, with the number of the first of them, counted from 1."""
    starts = [0, *[at for at, line in enumerate(content) if _MARK in line][1:]]
    return [(first + 1, content[first:last]) for first, last in pairwise([*starts, len(content)])]


def _setting(profile: _Profile) -> dict[str, str]:
    return {name: profile.fields.get(name, "") for name in ("grid", "compset")}


def _parse(path: Path, content: Sequence[str], first: int) -> _Profile:
    profile = _Profile(first)
    for at, line in enumerate(content, start=first):
        if "DRIVER TIMING FLOWCHART" in line:
            break
        if (match := _FIELD.match(line)) is not None:
            profile.fields.setdefault(match["key"].replace("p o", "p_o"), match["value"])  # E3SM writes "stop option"
        elif (match := _LENGTH.match(line)) is not None:
            profile.days = number(path, _NUMBER, match["days"], at)
        elif (match := _COST.match(line)) is not None:
            profile.cost_cores = int(match["cores"])
        elif (match := _COMPONENT.match(line)) is not None:
            profile.components[match["name"]] = _component(path, match, at)
        elif (match := _TIME.match(line)) is not None:
            profile.times[match["name"].lower()] = _time(path, match, at)
    return profile


def _component(path: Path, match: re.Match[str], line: int) -> _Component:
    cores, tasks, threads = (int(match[name][:12]) for name in ("pes", "tasks", "threads"))
    if min(cores, tasks, threads) < 1:
        raise ReadError(path, f"component {match['name']!r} must have at least one core", line=line)
    if cores != tasks * threads:
        raise ReadError(
            path,
            f"component {match['name']!r} has {cores} comp_pes, but {tasks} tasks x {threads} threads are "
            f"{tasks * threads}: the file is damaged",
            line=line,
        )
    return _Component(cores, tasks, threads, int(match["root"]), int(match["stride"] or 1))


def _time(path: Path, match: re.Match[str], line: int) -> _Time:
    days = YEAR_DAYS if "year" in match["unit"] else 1.0
    return _Time(number(path, _NUMBER, match["total"], line), number(path, _NUMBER, match["each"], line) / days, line)


def _check(path: Path, profile: _Profile) -> float:
    """Refuse a file that lacks a part or contradicts itself; return the simulated days."""
    if not profile.components:
        raise ReadError(path, "there is no table of components and their comp_pes: the file was cut off")
    if not profile.times:
        raise ReadError(path, "there are no 'Run Time' lines: the run did not end, or the file was cut off")
    if not profile.days:
        raise ReadError(path, "run_length (the simulated days) is missing or zero")
    for name, time in profile.times.items():
        if name != "tot" and name not in profile.components:
            raise ReadError(path, f"{name.upper()} has a run time but no comp_pes", line=time.line)
        if abs(time.total / profile.days - time.printed) > _ROUNDING_S + _DISAGREEMENT * time.printed:
            raise ReadError(
                path,
                f"{name.upper()} took {time.total:g} s for {profile.days:g} days, "
                f"which is not the {time.printed:g} s for a day that the line says: the file is damaged",
                line=time.line,
            )
    return profile.days


def _when(text: str) -> str:
    """Return a C date as ISO 8601, whatever the locale; unchanged where it is something else."""
    match = _DATE.match(text)
    if match is None or match["month"] not in _MONTHS:
        return text
    month = _MONTHS.index(match["month"]) + 1
    return f"{match['year']}-{month:02d}-{int(match['day']):02d}T{match['clock']}"
