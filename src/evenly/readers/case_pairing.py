"""Which logs belong to one measurement of coupled solvers.

Logs do if their names match (``inner_run3.log`` and ``outer_run3.log``), else if they are in one folder, else if they
name the same run. Those of preCICE do also if a folder around them holds one of each and no other, as in its
tutorials, or if they began together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from evenly.readers.precice.paired_runs import together
from evenly.readers.registry import Skipped

__all__ = ["MeasuredLog", "Measurement", "paired"]

#: So many parts at the end of a path may be named after the solver.
_NAMED_PARTS = 3
#: The participants of one run of preCICE begin within so many seconds, and those of others don't.
_TOGETHER_S = 60.0


@dataclass(frozen=True)
class MeasuredLog:
    """The log of one solver in one measurement, its cores, the names of its runs, and when these began (s, or None)."""

    path: Path
    format: str
    solver: str
    cores: int
    runs: frozenset[str]
    start_s: float | None = None


#: A log of each solver.
Measurement = dict[str, MeasuredLog]


def paired(logs: Sequence[MeasuredLog], order: Sequence[str]) -> tuple[list[Measurement], list[Skipped], list[str]]:
    """Return the measurements by core counts, the logs that belong to none, and notes on how they were told.

    Examples
    --------
    >>> logs = [MeasuredLog(Path(f"{name}_7.log"), "table", name, 2, frozenset()) for name in ("in", "out")]
    >>> [sorted(measurement) for measurement in paired(logs, ["in", "out"])[0]]
    [['in', 'out']]
    """
    left = [log for log in logs if log.solver in order]
    found: list[Measurement] = []
    ways: dict[str, int] = {}
    for way in (_by_name, _by_folder, _by_run, _in_one_folder, _by_start):
        complete = way(left, order)
        ways[way.__name__] = len(complete)
        found.extend(complete)
        placed = {log.path for measurement in complete for log in measurement.values()}
        left = [log for log in left if log.path not in placed]
    found.sort(key=lambda m: ([m[solver].cores for solver in order], str(m[order[0]].path)))
    notes = []
    if ways["_in_one_folder"] == len(found) > 0 and not left:
        notes.append("evenly reads these folders as they are, too: they needn't be sorted")
    if count := ways["_by_start"]:
        notes.append(
            f"the logs of {count} measurement{'s' * (count != 1)} are told by their start times: those of the "
            f"participants lie within {_TOGETHER_S:g} s, and no others do"
        )
    return found, [Skipped(log.path, _alone(log, order)) for log in left], notes


def _alone(log: MeasuredLog, order: Sequence[str]) -> str:
    others = ", ".join(solver for solver in order if solver != log.solver)
    if not others:
        return f"several logs of {log.solver} lie there, and no name tells them apart: put each run into its own folder"
    return (
        f"no one log of {others} belongs to this one of {log.solver}: put the logs of a run in one folder, and sort "
        "runs of other solvers apart"
    )


def _complete(
    logs: Sequence[MeasuredLog], order: Sequence[str], key: Callable[[MeasuredLog], tuple[object, ...] | None]
) -> list[Measurement]:
    """Return the groups of equal key that have exactly one log of each solver."""
    groups: dict[tuple[object, ...], list[MeasuredLog]] = defaultdict(list)
    for log in logs:
        value = key(log)
        if value is not None:
            groups[value].append(log)
    return [
        {log.solver: log for log in group}
        for group in groups.values()
        if len(group) == len(order) == len({log.solver for log in group})
    ]


def _by_name(logs: Sequence[MeasuredLog], order: Sequence[str]) -> list[Measurement]:
    """Pair logs by the end of their paths without the solver: ``run3/Inner/profiling``, ``run3/Outer/profiling``."""

    def rest_of(log: MeasuredLog) -> tuple[str, ...] | None:
        end = "/".join(log.path.parts[-_NAMED_PARTS:])
        rest = re.sub(rf"(?<![a-z]){re.escape(log.solver)}(?![a-z])", "", end, flags=re.IGNORECASE)
        return (*log.path.parts[:-_NAMED_PARTS], rest) if rest != end else None

    return _complete(logs, order, rest_of)


def _by_folder(logs: Sequence[MeasuredLog], order: Sequence[str]) -> list[Measurement]:
    return _complete(logs, order, lambda log: (log.path.parent,))


def _by_run(logs: Sequence[MeasuredLog], order: Sequence[str]) -> list[Measurement]:
    def runs_of(log: MeasuredLog) -> tuple[str, ...]:
        # A run's name may hold its solver and cores, which differ between the logs of one run.
        own = rf"{re.escape(log.solver)}-{log.cores}-"
        return tuple(sorted(re.sub(own, "", run, flags=re.IGNORECASE) for run in log.runs))

    return _complete(logs, order, runs_of)


def _in_one_folder(logs: Sequence[MeasuredLog], order: Sequence[str]) -> list[Measurement]:
    """Pair logs that lie below a folder with one of each: ``8_4/fluid-openfoam/…`` and ``8_4/solid-calculix/…``."""
    by_path = {log.path.resolve(): log for log in logs if _is_of_precice(log)}
    folders = together({name: [(path, 1.0) for path, log in by_path.items() if log.solver == name] for name in order})
    around = {path: folder for folder in folders for path in by_path if folder in path.parents}
    return _complete(logs, order, lambda log: (around[at],) if (at := log.path.resolve()) in around else None)


def _is_of_precice(log: MeasuredLog) -> bool:
    return log.format.startswith("precice")


def _by_start(logs: Sequence[MeasuredLog], order: Sequence[str]) -> list[Measurement]:
    known = [(log.start_s, log.path) for log in logs if log.start_s is not None and _is_of_precice(log)]
    known.sort()
    group = dict.fromkeys((path for _, path in known[:1]), 0)
    for (before, last), (start, path) in pairwise(known):
        group[path] = group[last] + (start - before > _TOGETHER_S)
    return _complete(logs, order, lambda log: (group[log.path],) if log.path in group else None)
