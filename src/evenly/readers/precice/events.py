"""Events of preCICE up to 2.x, shared by the readers of its JSON, CSV and summary files.

Up to 2.x, preCICE records when each event starts (1), pauses (2) and stops (0), in whole milliseconds. It also records
count, sum, minimum and maximum of the durations. ``solver.advance`` starts only after the first coupling call. So the
work of the first step is the last part of ``solver.initialize``: from the end of preCICE's own initialisation to the
first coupling call. The last ``solver.advance`` is the shutdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd

from evenly.errors import InputError, ReadError
from evenly.readers.precice.steps import Interval, RankSteps, rank_steps
from evenly.runs.runs import Runs

__all__ = ["TICK_S", "Summary", "Totals", "head_of", "phase_of", "runs_of_summary", "solver_of", "start_of", "steps_of"]

#: Seconds per tick of the clock.
TICK_S = 1e-3

#: State (0 stopped, 1 started, 2 paused) and time in ticks.
Change = tuple[int, int]

_SOLVER = re.compile(
    r"(?:precice-)?(?P<a>.+)-(?:events-summary\.log|events\.json|events\.log|eventTimings\.log)"
    r"|(?:Events|EventTimings)-(?:precice-)?(?P<b>.+)\.log"
)
_MAPPING = re.compile(r"advance/map\.[^.]+\.(?:mapData|computeMapping)\.(?!.*\.getIndexOnVertices$)")


def head_of(path: Path, size: int = 4096) -> bytes:
    """Return the first bytes of a file, none if it can't be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(size)
    except OSError:
        return b""


def solver_of(path: Path) -> str:
    """Take the participant's name from the file's name.

    Examples
    --------
    >>> solver_of(Path("precice-Fluid-events.json")), solver_of(Path("EventTimings-Solid.log"))
    ('Fluid', 'Solid')
    """
    match = _SOLVER.fullmatch(path.name)
    return path.stem if match is None else str(match["a"] or match["b"])


def start_of(finished: datetime, ticks: int) -> str:
    """Return when a run began that finished at `finished` after so many ticks, ISO 8601."""
    return (finished - timedelta(seconds=ticks * TICK_S)).isoformat(timespec="milliseconds")


def phase_of(name: str) -> str | None:
    """Return the phase of a coupling call to which an event belongs; None if it belongs to none.

    Examples
    --------
    >>> phase_of("advance/m2n.receiveData"), phase_of("advance/map.nn.mapData.FromAToB"), phase_of("initialize")
    ('waiting', 'mapping', None)
    """
    if name == "advance/m2n.receiveData":
        return "waiting"
    return "mapping" if _MAPPING.match(name) else None


# ---- files with every event ---------------------------------------------------------------------------------------


def steps_of(changes: Mapping[str, Sequence[Change]]) -> RankSteps:
    """Return the steps of one rank from the state changes of its events.

    Parameters
    ----------
    changes : mapping of str to sequence of (int, int)
        State changes per event, in order.

    Examples
    --------
    >>> changes = {
    ...     "initialize": [(1, 10), (0, 30)],
    ...     "solver.initialize": [(1, 0), (2, 10), (1, 30), (0, 80)],
    ...     "advance": [(1, 80), (0, 90), (1, 130), (0, 150)],
    ...     "solver.advance": [(1, 90), (0, 130), (1, 150), (0, 151)],
    ... }
    >>> steps_of(changes).work
    array([50, 40])
    """
    calls = list(_intervals(changes.get("advance", ())))
    work = [*_first_step(changes), *_intervals(changes.get("solver.advance", ()))]
    inside: dict[str, list[Interval]] = {}
    for name, its_changes in changes.items():
        phase = phase_of(name)
        if phase is not None:
            inside.setdefault(phase, []).extend(_intervals(its_changes))
    return rank_steps(work, calls, inside)


def _first_step(changes: Mapping[str, Sequence[Change]]) -> list[Interval]:
    parts = list(_running(changes.get("solver.initialize", ())))
    ended = [time for state, time in changes.get("initialize", ()) if state == 0]
    return parts[-1:] if parts and ended and parts[-1].begin >= ended[-1] else []


def _running(changes: Sequence[Change]) -> Iterator[Interval]:
    """Yield the intervals between each start and the next pause or stop."""
    begin = None
    for state, time in changes:
        if state == 1:
            begin = time if begin is None else begin
        elif begin is not None:
            yield Interval(begin, time - begin)
            begin = None


def _intervals(changes: Sequence[Change]) -> Iterator[Interval]:
    """Yield each event: its begin is the first start, its duration excludes pauses."""
    parts: list[Change] = []
    for state, time in changes:
        if state not in (0, 1, 2):
            raise InputError(f"the state of an event must be 0, 1 or 2, but got {state}")
        parts.append((state, time))
        if state == 0:
            running = list(_running(parts))
            if running:
                yield Interval(running[0].begin, sum(part.duration for part in running))
            parts = []


# ---- files with sums only -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Totals:
    """Sums over the occurrences of one event on one rank, in ticks."""

    count: int
    total: int
    least: int


@dataclass(frozen=True)
class Summary:
    """The data of one run in a file that holds only sums.

    Parameters
    ----------
    solver : str
        The participant's name.
    cores : int
        The number of ranks of the run.
    run, when, source : str
        As in `evenly.runs.runs.Runs`.
    ended : str
        When the run ended, ISO 8601.
    ranks : sequence of mapping of str to Totals
        Events of the ranks that the file lists.
    """

    solver: str
    cores: int
    run: str
    when: str
    ended: str
    source: Path
    ranks: Sequence[Mapping[str, Totals]]


def runs_of_summary(summary: Summary) -> Runs:
    """Give the one row that sums allow: the mean step, and how many steps there were, one for each coupling call.

    ``solver.advance`` counts every step but the first (which is part of ``solver.initialize``) and the shutdown. The
    shutdown's time is not known; the shortest ``solver.advance`` is taken for it, so that the mean step is (total -
    shortest) / (count - 1). Where the shutdown wasn't the shortest, the mean is too large by (shutdown - shortest) /
    (count - 1).

    Raises
    ------
    ReadError
        If there are no steps.
    """
    means = [_mean_step(rank.get("solver.advance"), summary) for rank in summary.ranks]
    columns = {"seconds": max(means)}
    if len(means) == summary.cores:
        columns |= {"rank_mean": sum(means) / len(means), "rank_min": min(means)}
    columns["coupling"] = min(_per_call(rank, "advance") for rank in summary.ranks)
    for phase, over_ranks in (("waiting", min), ("mapping", max)):
        if any(phase_of(name) == phase for rank in summary.ranks for name in rank):
            columns[phase] = over_ranks(_per_call(rank, phase) for rank in summary.ranks)
    if calls := [rank["advance"].count for rank in summary.ranks if "advance" in rank]:
        columns["steps"] = min(calls)
    if "mapping" in columns:
        mapped = (mean + _per_call(rank, "mapping") for mean, rank in zip(means, summary.ranks, strict=True))
        columns |= {"solving": columns["seconds"], "seconds": max(mapped)}
    row = columns | {"cores": summary.cores, "run": summary.run, "when": summary.when, "source": str(summary.source)}
    quantities = {name: "1" if name == "steps" else "s" for name in columns if name != "seconds"}
    return Runs.from_frame(pd.DataFrame([row]), ["cores"], quantities=quantities)


def _mean_step(work: Totals | None, summary: Summary) -> float:
    if work is None:
        raise ReadError(summary.source, f"there is no solver.advance on every rank of {summary.solver}")
    if work.count < 2:
        raise ReadError(summary.source, f"{summary.solver} completed no step beyond the first, which is not listed")
    mean = (work.total - work.least) / (work.count - 1) * TICK_S
    if mean <= 0 or work.least < 0:
        raise ReadError(summary.source, f"all steps of {summary.solver} are shorter than the clock's tick, or damaged")
    return mean


def _per_call(rank: Mapping[str, Totals], phase: str) -> float:
    """Seconds per coupling call."""
    calls = rank.get("advance")
    if calls is None or calls.count < 1:
        return 0.0
    total = sum(totals.total for name, totals in rank.items() if phase in (name, phase_of(name)))
    return max(total, 0) / calls.count * TICK_S
