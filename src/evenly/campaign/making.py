"""The runs of a campaign that are under way: each is started, and stored as soon as it ends."""

from __future__ import annotations

import dataclasses
import errno
import math
import platform
import time
import uuid
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Self

from evenly.campaign.crew import Cores, Crew
from evenly.campaign.fastest import Fastest
from evenly.campaign.limits import Limits
from evenly.campaign.one_run import Runner
from evenly.campaign.planning import NextRun
from evenly.campaign.record import Record
from evenly.campaign.store import Store, jobs_beside
from evenly.campaign.study import Study
from evenly.errors import EvenlyError, EvenlyWarning, InputError
from evenly.launch import check_mark
from evenly.launch.base import UnansweredError
from evenly.launch.job_folders import is_queued

__all__ = ["Making", "Run"]

#: Seconds that runs which were ended have to remove their temporary files.
_CLEANING_S = 5.0


@dataclass(frozen=True)
class Run:
    """A run, with the token that tells it from all others, and the cores that it has for itself.

    Examples
    --------
    >>> Run.of("3-0-plan-" + 32 * "5").next
    NextRun(configuration=3, repetition=0, purpose='plan')
    """

    next: NextRun
    token: str
    cores: tuple[int, ...] = ()

    @property
    def mark(self) -> str:
        """The text by which the run's processes and files are known."""
        return f"{self.next.configuration}-{self.next.repetition}-{self.next.purpose}-{self.token}"

    @classmethod
    def new(cls, next_run: NextRun) -> Self:
        """Return a run with a token of its own."""
        return cls(next_run, uuid.uuid4().hex)

    @classmethod
    def of(cls, mark: str) -> Self:
        """Return the run with a mark; raise `InputError` if evenly would not write such a mark."""
        check_mark(mark)
        configuration, repetition, purpose, token = mark.split("-")
        return cls(NextRun(int(configuration), int(repetition), purpose), token)


class Making:
    """Makes the runs of a campaign, several at once if the study says so.

    Parameters
    ----------
    study : Study
    store : Store
    runner : Runner
    limits : Limits
    """

    def __init__(self, study: Study, store: Store, runner: Runner, limits: Limits) -> None:
        self._study, self._store, self._runner, self._limits = study, store, runner, limits
        self._crew = Crew[Run](study.program.placement.concurrent)
        self._checked: set[int] = set()
        self._crowded = False  # whether it was said that fewer runs are made at once than asked for
        self._needed: dict[int, int] = {}

    @cached_property
    def _cores(self) -> Cores | None:
        """The cores that runs are given; None if one run is alone, or runs elsewhere."""
        cores = self._runner.launcher.cores() if self._several else None
        return None if cores is None else Cores(cores)

    @property
    def _several(self) -> bool:
        return self._study.program.placement.concurrent > 1

    @property
    def _near(self) -> Path:
        """The folder for files of runs that go on without this process: beside the store, whose lock is held."""
        return jobs_beside(self._store.path)

    def clean(self) -> None:
        """Remove the files of all runs that have ended."""
        self._runner.launcher.clean(self._near, [mark for mark, _ in self._store.left_running()])

    @property
    def under_way(self) -> list[Run]:
        """The runs that were started and aren't stored yet."""
        return self._crew.under_way

    @property
    def queued(self) -> int:
        """How many of the runs under way are jobs that have not begun."""
        if not self._runner.launcher.outlives:
            return 0
        return sum(is_queued(self._near / run.mark) for run in self.under_way)

    @property
    def has_room(self) -> bool:
        """Whether another run may be started."""
        return self._crew.has_room and self.free_cores > 0

    def start(self, run: Run) -> bool:
        """Start a run, or go on with one that an earlier process started; return False if there are no cores for it."""
        configuration = self._configuration(run)
        cores = self._cores.take(self.cores_for(run.next.configuration)) if self._cores else ()
        if cores is None:
            return False
        run = dataclasses.replace(run, cores=cores)
        pinned = cores if self._runner.launcher.pins else ()
        limit_s = self._limit_s(run, configuration)
        job_s = self._limits.limit_s(configuration)
        self._store.begin(run.mark, self._study.program.launcher, run.next.configuration)
        self._crew.start(
            run, lambda: self._runner.run(run.next, configuration, run.mark, limit_s, pinned, self._near, job_s)
        )
        return True

    def cores_for(self, number: int) -> int:
        """Return how many cores a run of a configuration gets for itself; 0 if it is alone, or runs elsewhere.

        Raises
        ------
        InputError
            If there aren't so many.
        """
        if self._cores is None:
            return 0
        if not self._runner.asks_for_cores:
            return 1
        if number not in self._needed:
            self.check_cores([number])
            self._needed[number] = self._runner.cores_needed(self._store.configuration(number))
        return self._needed[number]

    def check_cores(self, numbers: Iterable[int]) -> None:
        """Refuse configurations that need more cores than there are; of runs that share cores, only tell that they do.

        Raises
        ------
        InputError
            If such a run can't be started.
        """
        launcher = self._runner.launcher
        known = {number: self._store.configuration(number) for number in numbers if number not in self._checked}
        if not known or not self._runner.asks_for_cores or (launcher.uses_other_machines() and not self._several):
            return
        self._checked.update(known)
        there = launcher.cores()
        needed = {number: self._runner.cores_needed(configuration) for number, configuration in known.items()}
        self._needed |= needed
        at_once = self._study.program.placement.concurrent
        if there is not None and (least := min(needed.values())) * at_once > len(there) >= least and not self._crowded:
            self._crowded = True
            told = (
                f"at most {len(there) // least} of {at_once} runs are made at once: evenly may use {len(there)} cores"
            )
            warnings.warn(EvenlyWarning(told), stacklevel=4)
        over = [number for number, cores in needed.items() if there is not None and cores > len(there)]
        if there is None or not over:
            return
        most = max(over, key=needed.__getitem__)
        told = ", ".join(f"{name} = {value}" for name, value in known[most].items())
        said = f"a run with {told} needs {needed[most]} cores, but evenly may use {len(there)}"
        if len(over) > 1:
            said = f"{len(over)} of {len(known)} configurations need more cores than there are: {said}"
        if launcher.pins and not self._several:
            told = f"{said}: such runs share cores, so they take longer than on cores of their own"
            warnings.warn(EvenlyWarning(told), stacklevel=4)
            return
        raise InputError(f"{said}, and runs get cores of their own here: rule such runs out by a constraint")

    @property
    def free_cores(self) -> float:
        """How many cores runs may be given now; infinitely many where they get none of their own."""
        return math.inf if self._cores is None else self._cores.free

    def _configuration(self, run: Run) -> dict[str, Any]:
        """Return a run's configuration, parameters in the study's order."""
        found = self._store.configuration(run.next.configuration)
        return {name: found[name] for name in self._study.space.names}

    def wait(self) -> Record:
        """Wait until a run ends, store it, and return its record. A run that couldn't be made raises its error."""
        run, found = self._crew.wait()
        if self._cores is not None:
            self._cores.give_back(run.cores)
        task = self._task(self._configuration(run))
        try:
            if isinstance(found, BaseException):
                raise found
            record = self._bounded(found, task)
            self._store.add(record, run.mark)
            self._fastest.add(task, record)
        except OSError as error:
            self._store.forget_running(run.mark)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._store.full() from None
            if error.errno == errno.E2BIG:
                return self._unstarted(run.next, "its command is longer than the system allows")
            raise InputError(
                f"{error.filename!r} can't be started: {error.strerror or error}{self._from_where(error)}; "
                f"{self._store.count()} runs are kept in {self._store.path}: correct that and start again, it "
                "continues from there"
            ) from None
        except ValueError as error:
            # Python's own check of a command; InputError, another ValueError, concerns the whole study.
            self._store.forget_running(run.mark)
            if isinstance(error, InputError) or "null" not in str(error):
                raise
            return self._unstarted(run.next, "its command contains a null character, which no command can")
        except BaseException:
            # Only a run whose driver was killed keeps its mark.
            with suppress(EvenlyError):
                self._store.forget_running(run.mark)
            raise
        finally:
            # One that is still marked belongs to the next process.
            if not self._store.is_running(run.mark):
                self._runner.launcher.forget(self._near, run.mark)
        return record

    def end(self) -> None:
        """End all runs under way, keep those that went well before, and forget the others."""
        runs = self.under_way
        try:
            self._runner.launcher.end(*(run.mark for run in runs))
        except UnansweredError as error:
            said = f"{error}; the same command waits for them, and collects those that have ended"
            warnings.warn(EvenlyWarning(said), stacklevel=4)
            return  # their marks and files are kept for it
        self._crew.join(_CLEANING_S)
        with suppress(EvenlyError):
            for run, found in self._crew.ended():
                if isinstance(found, Record) and found.status == "ok":
                    self._store.add(found, run.mark)
            # Only runs whose driver was killed keep their marks. An interruption may come when a run's mark is written,
            # but the run isn't under way yet, or no more.
            marks = {run.mark: None for run in runs}
            if not self._runner.launcher.outlives:
                marks |= dict.fromkeys(mark for mark, _ in self._store.left_running())
            for mark in marks:
                self._store.forget_running(mark)
        if runs:
            self.clean()

    def _unstarted(self, next_run: NextRun, message: str) -> Record:
        """Store a failed run whose command can't be started. The other configurations are still run."""
        record = Record(
            next_run.configuration, next_run.repetition, "failed", {}, next_run.purpose, message=message,
            started=time.time(), machine=platform.node(),
        )  # fmt: skip
        self._store.add(record)
        return record

    def _from_where(self, error: OSError) -> str:
        """Say from which folder a relative path of a program is looked for, if that isn't the study's."""
        folder, path = self._study.program.folder, PurePath(str(error.filename))
        if folder == "." or path.is_absolute() or (len(path.parts) < 2 and not str(error.filename).startswith(".")):
            return ""
        return f" (from the run's folder, {folder!r}: give its path from there, as '../{path}', or all of it)"

    @cached_property
    def _fastest(self) -> Fastest:
        """The fastest runs of each task so far."""
        known, found = self._store.configurations(), Fastest()
        for record in self._store.records():
            found.add(self._task(known[record.configuration]), record)
        return found

    def _limit_s(self, run: Run, configuration: Mapping[str, Any]) -> float | None:
        """Return after how many seconds a run can't be the fastest any more; repetitions have no such limit."""
        many, task = self._study.plan.limit, self._task(configuration)
        if many is None or self._fastest.has(task, run.next.configuration):
            return None
        return self._fastest.limit_s(task, many)

    def _task(self, configuration: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(configuration[name] for name in self._study.plan.tasks)

    def _bounded(self, record: Record, task: tuple[Any, ...]) -> Record:
        """Let a run that timed out have a lower bound of the seconds, where one is known, and else none.

        The study may time only a part of a run. In a search, all runs of a task solve the same problem, so the fastest
        ones tell a bound of this part. Runs of other plans may solve different problems, so nothing is known of theirs.
        """
        if record.status != "timed out":
            return record
        if self._study.timing.is_wall:
            return record
        ended_s = record.quantities.get("seconds", record.took)
        bound = self._fastest.bound(task, ended_s) if self._study.plan.design == "tune" else None
        return record._replace(quantities={} if bound is None else {"seconds": bound})
