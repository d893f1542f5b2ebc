"""Steps of coupled solvers from preCICE's events, one row per step; shared by the readers of preCICE's files.

preCICE measures two things on every rank of a solver: the solver's own work between two coupling calls
(``solver.advance``), and the coupling call (``advance``), which includes waiting for the partner. Work and calls
alternate strictly. In the call, preCICE maps data, sends and receives them, tests for convergence: part of it is
waiting for the partner, the rest is work, too. The partner waits for the slowest rank, so the time of a step is the
maximum over the ranks of the solver's work and preCICE's. Mean and minimum of the solver's work over the ranks are also
kept, because max/mean is the solver's own imbalance. The coupling time is the minimum over the ranks, because all other
ranks also wait there for the slow ranks of their own solver; so is preCICE's own work, but each rank's mapping is its
own.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError
from evenly.memory import check_file, check_room
from evenly.readers.base import Reader
from evenly.readers.files import TEXT_TO_TABLE
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = [
    "Execution",
    "Interval",
    "RankSteps",
    "StepReader",
    "identity",
    "json_of",
    "rank_steps",
    "reading",
    "text_of",
    "ticks",
]

Ticks = NDArray[np.int64]

#: If the mean step is shorter than this many ticks of the clock, several steps are averaged to one row.
RESOLUTION = 10
#: So many steps tell a run from others.
_TELLING = 2
#: Tolerance in ticks: the clock is read separately for each event, so adjacent events may overlap by a tick or two.
_SLACK = 2


@dataclass(frozen=True)
class Interval:
    """One event: its begin and its duration, both in ticks of the rank's clock."""

    begin: int
    duration: int


@dataclass(frozen=True)
class RankSteps:
    """The time that one rank spent in each phase of each step.

    Parameters
    ----------
    work : array (n_steps,) of int
        Ticks of the solver's own work.
    phases : mapping of str to array (n_steps,) of int
        Ticks of each measured phase after the work: ``"coupling"``, ``"waiting"``, ``"mapping"``; and ``"own"``, the
        coupling without the waiting, where all waiting is known.
    """

    work: Ticks
    phases: Mapping[str, Ticks] = field(default_factory=dict)


@dataclass(frozen=True)
class Execution:
    """One run of one solver.

    Parameters
    ----------
    solver : str
        The participant's name.
    cores : int
        The number of ranks of the run.
    run : str
        A unique name of the run, equal in all files that hold it; see `identity`.
    when, ended : str
        The start and the end of the run, ISO 8601.
    source : str
        The file.
    tick : float
        Seconds per tick of the clock.
    ranks : sequence of RankSteps
        The steps of each recorded rank.
    """

    solver: str
    cores: int
    run: str
    when: str
    ended: str
    source: str
    tick: float
    ranks: Sequence[RankSteps]

    @property
    def n_steps(self) -> int:
        """The number of steps that all ranks completed; after a killed run, the files of ranks differ in length."""
        return min(len(rank.work) for rank in self.ranks)


def identity(solver: str, cores: int, ranks: Sequence[RankSteps]) -> str:
    """Return a name of a run from a hash of its first steps: conversions of files keep their ticks, but shift stamps.

    Two steps, since a file that was cut off holds the first steps of the run only, and it is the same run. They tell
    runs apart: the first step of a run is seldom like another, and calls wait for the partner.

    Examples
    --------
    >>> identity("Fluid", 1, [RankSteps(np.array([45459, 45459]))])
    'Fluid-1-4ad11dcc91'
    """
    first = [ticks[:_TELLING] for rank in ranks for ticks in (rank.work, rank.phases.get("coupling", rank.work[:0]))]
    digest = hashlib.sha256(b"".join(ticks.astype("<i8").tobytes() for ticks in first))
    return f"{solver}-{cores}-{digest.hexdigest()[:10]}"


def _pair_steps(work: Sequence[Interval], calls: Sequence[Interval]) -> tuple[list[Interval], list[Interval]]:
    """Pair each piece of work with the coupling call that ended it.

    Work that no call follows is the shutdown after the last step and is left out.

    Parameters
    ----------
    work : sequence of Interval (n_work,)
        The solver's pieces of work, in order.
    calls : sequence of Interval (n_calls,)
        The coupling calls, in order.

    Returns
    -------
    work, calls : list of Interval (n_steps,)
        The pieces of work and the coupling calls that follow them, in pairs.

    Raises
    ------
    InputError
        If work and calls don't alternate.

    Examples
    --------
    >>> work, calls = _pair_steps([Interval(0, 5), Interval(6, 5), Interval(12, 1)], [Interval(5, 1), Interval(11, 1)])
    >>> ticks(work), ticks(calls)
    (array([5, 5]), array([1, 1]))
    """
    if work and calls and calls[0].begin < work[0].begin:
        calls = calls[1:]  # the work before the first call was not recorded
    n_steps = min(len(work), len(calls))
    pairs = list(zip(work[:n_steps], calls[:n_steps], strict=True))
    begins = [interval.begin for pair in pairs for interval in pair]
    for earlier, later in pairwise(begins):
        if later < earlier - _SLACK:
            raise InputError("work and coupling calls must alternate, but they overlap: events are missing or damaged")
    for interval in (interval for pair in pairs for interval in pair):
        if interval.duration < 0:
            raise InputError(f"an event must not end before it begins, but one lasts {interval.duration} ticks")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def ticks(intervals: Sequence[Interval]) -> Ticks:
    """Return the durations of `intervals` in ticks, shape (n_intervals,)."""
    return np.array([interval.duration for interval in intervals], dtype=np.int64)


def rank_steps(
    work: Sequence[Interval], calls: Sequence[Interval], inside: Mapping[str, Sequence[Interval]]
) -> RankSteps:
    """Return the steps of one rank from its events.

    Parameters
    ----------
    work, calls : sequence of Interval
        See `_pair_steps`.
    inside : mapping of str to sequence of Interval
        The events of each phase, such as ``"waiting"``. An event belongs to the coupling call in which it begins.
    """
    work, calls = _pair_steps(work, calls)
    phases = {"coupling": ticks(calls)}
    begins = np.array([call.begin for call in calls], dtype=np.int64)
    ends = begins + phases["coupling"]
    for name, events in inside.items():
        total = np.zeros(len(calls), dtype=np.int64)
        at = np.array([event.begin for event in events], dtype=np.int64)
        owner = np.searchsorted(begins, at, side="right") - 1
        held = (owner >= 0) & (at <= ends[owner]) if len(calls) else np.zeros(len(at), dtype=np.bool_)
        np.add.at(total, owner[held], ticks(events)[held])
        phases[name] = total
    return RankSteps(ticks(work), phases)


class StepReader(Reader):
    """Base class of readers that read one row per step from files of preCICE.

    Parameters
    ----------
    warm_up : int
        The number of steps to drop at the start of each run.
    """

    def __init__(self, *, warm_up: int = 1) -> None:
        if warm_up < 0 or int(warm_up) != warm_up:
            raise InputError(f"warm_up must be a number of steps, 0 or more, but got {warm_up!r}")
        self.warm_up = warm_up
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []
        #: When each solver's run of the file that was read last ended, ISO 8601.
        self.ended: dict[tuple[str, str], str] = {}

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped, self.ended = [], [], {}
        with reading(path):
            return self._read(path)

    @abstractmethod
    def _read(self, path: Path) -> dict[str, Runs]:
        """Read a file or folder; any error of parsing becomes a `ReadError`."""

    def _runs(self, executions: Iterable[Execution]) -> dict[str, Runs]:
        found = list(executions)
        self.ended |= {(execution.solver, execution.run): execution.ended for execution in found}
        return _runs_of(found, warm_up=self.warm_up, notes=self.notes, skipped=self.skipped)


def text_of(path: Path) -> str:
    """Return the text of a file; an empty file is a `ReadError`."""
    check_room(f"reading {path}", TEXT_TO_TABLE * path.stat().st_size, "give a smaller part of it")
    text = path.read_text(encoding="utf-8")
    if not text.strip():
        raise ReadError(path, "the file is empty")
    return text


def json_of(path: Path, remedy: str = "") -> Any:
    """Return the parsed content of a JSON file; the message of an error names the line and ends with `remedy`."""
    text = text_of(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ReadError(path, f"damaged JSON ({error.msg}){remedy}", line=error.lineno) from None


def _runs_of(
    executions: Iterable[Execution], *, warm_up: int, notes: list[str], skipped: list[Skipped]
) -> dict[str, Runs]:
    """Turn executions into runs per solver, one row per step.

    Parameters
    ----------
    executions : iterable of Execution
        Runs of one or more solvers.
    warm_up : int
        The number of steps to drop at the start of each run.
    notes : list of str
        Receives remarks for the user on how the rows were computed.
    skipped : list of Skipped
        Receives the runs without a step after the warm-up; earlier entries are kept.

    Returns
    -------
    dict of str to Runs
        Parameter ``cores``; quantities ``seconds`` (maximum over ranks), ``solving`` (of it, the solver's work, where
        preCICE's is known), ``rank_mean``, ``rank_min``, and the phases that were measured.

    Raises
    ------
    ReadError
        If no run remains; the reason is that of the first skipped run.
    """
    parts: dict[str, list[Runs]] = {}
    for execution in executions:
        try:
            parts.setdefault(execution.solver, []).append(_runs_of_one(execution, warm_up, notes))
        except ReadError as error:
            skipped.append(Skipped.of(error, Path(execution.source)))
    if skipped and not any(parts.values()):
        raise ReadError(skipped[0].path, skipped[0].reason, line=skipped[0].line)
    parts = {solver: runs for solver, runs in parts.items() if runs}
    return {solver: Runs.concat(runs) for solver, runs in sorted(parts.items())}


def _runs_of_one(execution: Execution, warm_up: int, notes: list[str]) -> Runs:
    n_steps = execution.n_steps
    if n_steps <= warm_up:
        rest = f", and the first {warm_up} are warm-up: nothing is left (warm_up=0 keeps them)" if n_steps else ""
        raise ReadError(execution.source, f"{execution.solver} completed {n_steps} steps{rest}")
    work = np.stack([rank.work[warm_up:n_steps] for rank in execution.ranks])
    blocks = _blocks(work, execution)
    _note_oddities(execution, len(blocks) < work.shape[1], notes)
    solving = _average(work, blocks) * execution.tick
    columns = {"seconds": solving.max(axis=0), "rank_mean": solving.mean(axis=0), "rank_min": solving.min(axis=0)}
    nothing = np.zeros(n_steps, dtype=np.int64)
    phases = {
        name: _average(np.stack([rank.phases.get(name, nothing)[warm_up:n_steps] for rank in execution.ranks]), blocks)
        * execution.tick
        for name in sorted({name for rank in execution.ranks for name in rank.phases})
    }
    known = all("own" in rank.phases for rank in execution.ranks)
    if known or "mapping" in phases:
        least = phases["own"].min(axis=0) if known else np.zeros(len(blocks))
        columns |= {
            "solving": columns["seconds"],
            "seconds": (solving + np.maximum(least, phases.get("mapping", 0))).max(axis=0),
        }
    for name, phase in phases.items():
        if name != "own":
            columns[name] = (phase.max if name == "mapping" else phase.min)(axis=0)
    frame = pd.DataFrame(columns).assign(
        cores=execution.cores, run=execution.run, when=execution.when, source=execution.source
    )
    frame["repetition"] = blocks + warm_up
    quantities = {name: "s" for name in columns if name != "seconds"}
    return Runs.from_frame(frame, ["cores"], quantities=quantities)


def _note_oddities(execution: Execution, is_averaged: bool, notes: list[str]) -> None:
    if is_averaged:
        note = (
            f"steps of {execution.solver} are too short for a clock of {execution.tick:g} s, "
            "so neighbouring steps are averaged"
        )
        notes.extend([] if note in notes else [note])
    longest = max(len(rank.work) for rank in execution.ranks)
    if longest > execution.n_steps:
        notes.append(
            f"ranks of {execution.solver} recorded {execution.n_steps} to {longest} steps, "
            "so only those that all ranks completed are kept"
        )


def _blocks(work: Ticks, execution: Execution) -> NDArray[np.int64]:
    """Return the first step of each block, shape (n_blocks,): one step per block, or more if the clock is too coarse.

    The clock shows 0, 1 or 2 ticks for a step of about one tick. The median of such values is meaningless, and a time
    of 0 is impossible; but their sum over a block is right on average.
    """
    n_steps = work.shape[1]
    mean = float(work.mean())
    if mean == 0:
        raise ReadError(execution.source, f"all steps of {execution.solver} are shorter than the clock's tick")
    size = max(1, ceil(RESOLUTION / mean))
    while True:
        count = max(1, n_steps // size)
        starts: NDArray[np.int64] = np.arange(count, dtype=np.int64) * n_steps // count
        if (np.add.reduceat(work.max(axis=0), starts) > 0).all():
            return starts
        size *= 2


def _average(durations: Ticks, starts: NDArray[np.int64]) -> NDArray[np.float64]:
    lengths = np.diff(starts, append=durations.shape[1])
    means: NDArray[np.float64] = np.add.reduceat(durations, starts, axis=1) / lengths
    return means


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert every error that a damaged file causes in the parser to a `ReadError` that names the file."""
    check_file(path)
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        raise ReadError(path, f"can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ReadError(path, "not a text file, or damaged") from None
    except InputError as error:
        raise ReadError(path, str(error)) from None
    except KeyError as error:
        raise ReadError(path, f"the field {error} is missing: the file is damaged or in another format") from None
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError) as error:
        raise ReadError(path, f"damaged, or in another format ({error})") from None
