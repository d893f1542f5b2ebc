"""A campaign makes the runs of a study, one after the other or several at once, and stores each as soon as it ends.

An interrupted campaign continues from the stored runs, so no run is made twice. Jobs of a scheduler go on without it:
the next campaign waits for those that are left, and collects those that ended meanwhile.
"""

from __future__ import annotations

import platform
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd

from evenly.arguments import explained
from evenly.campaign.counts import Counts, Tally
from evenly.campaign.interruptions import interruptions
from evenly.campaign.lent import Lent
from evenly.campaign.limits import Learn, Limits, Saved, saved
from evenly.campaign.making import Making, Run
from evenly.campaign.noise import Drift, drift_of
from evenly.campaign.one_run import Runner
from evenly.campaign.planning import (
    Advisor,
    NextRun,
    Progress,
    Schedule,
    first_configurations,
    removed,
    rows_of,
)
from evenly.campaign.record import Record
from evenly.campaign.same_study import check_same, note_place, tell_changed, tell_place
from evenly.campaign.store import Store, inside
from evenly.campaign.study import Study
from evenly.errors import EvenlyWarning, InputError
from evenly.launch import launcher_class
from evenly.launch.base import SETUP_FAILED
from evenly.log import log
from evenly.memory import many_objects
from evenly.runs.columns import bounds_as_seconds
from evenly.runs.runs import Runs
from evenly.showing import NotebookBar, notebook_bar

__all__ = ["Campaign", "measure", "place_of"]

#: Runs that fail alike within so many seconds, before any went well, fail for a reason that all runs share.
_AT_ONCE_S = 5.0
#: A configuration during whose run evenly was killed so often may be the reason.
_INTERRUPTIONS = 3


@explained
def measure(
    study: Study | Path | str,
    store: Path | str | None = None,
    *,
    advisor: Advisor | None = None,
    progress: Callable[[Record, Progress], None] | None = None,
    keep_going: bool = False,
    times: Learn | None = None,
) -> Runs:
    """Make the runs of a study that are still missing, and return all its runs.

    Parameters
    ----------
    study : Study or path
        The study, or its file; `evenly.campaign.study` describes the file.
    store : path, optional
        File in which runs are stored; by default a file beside the study with the suffix ``.db``.
    advisor : callable, optional
        Function that proposes configurations; needed where the study's design is "advisor" or "tune". It takes the
        `Runs` so far and the number of proposals.
    progress : callable, optional
        Called after each run, with the run's record and the campaign's progress.
    keep_going : bool
        Whether to make the other runs too if two in a row fail at once and alike before any succeeds.
    times : callable, optional
        Learns how long runs take (`evenly.time_limits.by_model.learn_times`); needed where jobs ask for limits from a
        model.

    Returns
    -------
    Runs
        All runs of the study, failed runs included.

    Raises
    ------
    InputError
        If the study is invalid, its program can't be started, no run was successful, or two in a row failed at once
        and in the same way.
    """
    loaded = study if isinstance(study, Study) else Study.load(study)
    bar = notebook_bar("measuring") if progress is None else None
    with Campaign(loaded, store, advisor=advisor, keep_going=keep_going, times=times) as campaign:
        try:
            campaign.run(progress if bar is None else _shown_in(bar))
        finally:
            if bar is not None:
                bar.close()
        return campaign.runs()


def _shown_in(bar: NotebookBar) -> Callable[[Record, Progress], None]:
    """Return what shows the progress of a campaign in a bar."""

    def show(_: Record, now: Progress) -> None:
        bar.show(now.done / max(now.done + now.left, 1), f"{now.done} of about {now.done + now.left} runs")

    return show


def _in_setup(record: Record) -> bool:
    """Tell whether a line of the launcher's setup failed, so that the program wasn't started: no time tells of it."""
    return record.message == SETUP_FAILED


def _fails_all(record: Record) -> bool:
    """Tell whether all runs may fail as one did: it failed at once, or ended well and tells no time."""
    return _in_setup(record) or record.exit_code == 0 or 0 < record.took < _AT_ONCE_S


def _said_of_all(record: Record) -> str:
    """Return why a run failed, without the numbers that differ from run to run where a program ended well."""
    return record.message if record.exit_code else re.sub(r"\d[\d.,:]*", "…", record.message)


def _said_alike(record: Record) -> str:
    """Return what runs print that fail in the same way."""
    if _in_setup(record):  # shells name the job's own script before what they say
        return next((line for line in record.output.splitlines() if line.startswith("setup failed:")), "")
    # Where a program ends well, but its time isn't found, what it prints differs from run to run.
    return record.output if record.exit_code else ""


def place_of(study: Study) -> Path:
    """Return the path at which a study's runs are stored by default."""
    return study.folder / f"{study.name}.db"


class Campaign:
    """A study, with the schedule and the store of its runs.

    Parameters
    ----------
    study : Study
    store : path, optional
        See `measure`.
    advisor : callable, optional
        See `measure`.
    keep_going : bool
        See `measure`.
    times : callable, optional
        See `measure`.

    Raises
    ------
    InputError
        If the file holds runs of another study, or another campaign is writing to it.

    Examples
    --------
    >>> from evenly.campaign.study import Plan, Program, Repetitions
    >>> from evenly import Ordinal, Space
    >>> study = Study("sleep", Space(s=Ordinal(0.01, 0.02)), Program("sleep {s}"), repetitions=Repetitions(1, 1))
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Campaign(study, Path(folder, "sleep.db")) as campaign:
    ...     campaign.run()
    ...     campaign.runs().aggregate()[["s", "count"]]
          s  count
    0  0.01      1
    1  0.02      1
    """

    @many_objects()
    def __init__(
        self,
        study: Study,
        store: Path | str | None = None,
        *,
        advisor: Advisor | None = None,
        keep_going: bool = False,
        times: Learn | None = None,
    ) -> None:
        if study.plan.is_advised and advisor is None:
            remedy = "`evenly tune` does that" if study.plan.design == "tune" else "evenly.tuning.advisor has one"
            raise InputError(f"the study asks for an advisor, but none is given: {remedy}")
        self.study, self._advisor, self._keep_going = study, advisor, keep_going
        self._runner = Runner(study)
        self._waiting: Run | None = None
        self.store = Store(place_of(study) if store is None else Path(store))
        try:
            self._limits = Limits(study, self.store, times)
        except BaseException:
            self.store.close()
            raise
        self._lent: Lent | None = None
        self._making = Making(study, self.store, self._runner, self._limits)
        self._tally = Tally(study, self.store, self._runner)
        if (attach := getattr(advisor, "attach", None)) is not None:
            attach(self.store)
        try:
            check_same(study, self.store)
            self._schedule = self._resumed()
        except BaseException:
            self.store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def _warn(self, said: str) -> None:
        warnings.warn(EvenlyWarning(f"{self.store.path} {said}"), stacklevel=5)

    def _resumed(self) -> Schedule:
        own = self.study.program.launcher if self._runner.launcher.outlives else None
        left = {Run.of(mark): launcher for mark, launcher in self.store.left_running()}
        self._is_placed = False
        self._left = [run for run, launcher in left.items() if launcher == own]
        gone = {run.mark: launcher for run, launcher in left.items() if launcher != own}
        for launcher in set(gone.values()):
            launcher_class(launcher)().end(*(mark for mark, its in gone.items() if its == launcher))
        self.store.count_interrupted(gone)
        last = self._dangerous()
        known = self.store.configurations() if self.study.plan.is_advised else {}
        planned = self.store.add_configurations(first_configurations(self.study))
        self._first = len(planned)
        # Configurations proposed by an advisor follow the first ones, in the order of the proposals.
        first = set(planned)
        advised = [number for number in known if number not in first]
        if self.study.plan.design == "tune":
            # Runs of values that the study hasn't any more are kept, and don't count.
            there = inside(self.study.space, known)
            advised = [number for number in advised if number in there]
        made = [] if advised else self.store.measured
        if not first.issuperset(made) and (said := removed(made, planned, self.store.configurations())):
            self._warn(f"holds {said}")
        schedule = Schedule(self.study, [*planned, *advised], self.store.each(), self.store.about("anchor"), last)
        for run in self._left:
            schedule.start(run.next)
        self._making.clean()
        return schedule

    def _dangerous(self) -> list[int]:
        """Return the configurations that are run last, since evenly was killed several times while they ran.

        Such a run may end its whole machine. If it does so once more when all others are made, it counts as failed.
        """
        if not (counts := self.store.interrupted()):
            return []
        # Repetitions of a salvaged file have gaps.
        following = {record.configuration: record.repetition + 1 for record in self.store.records()}
        failed = {record.configuration for record in self.store.records() if record.status != "ok"}
        found = [number for number, count in counts.items() if count >= _INTERRUPTIONS and number not in failed]
        for number in found:
            what = ", ".join(f"{name} = {value}" for name, value in self.store.configuration(number).items())
            if counts[number] > _INTERRUPTIONS:
                said = f"evenly was killed {counts[number]} times while runs of this configuration were under way"
                self.store.add(
                    Record(number, following.get(number, 0), "failed", {}, message=said, machine=platform.node())
                )
                left = "counts as failed; --retry runs it again"
            else:
                left = "is run after all others"
            warnings.warn(
                EvenlyWarning(
                    f"evenly was killed {counts[number]} times while runs with {what} were under way: it {left}"
                ),
                stacklevel=5,
            )
        return found

    def run(self, progress: Callable[[Record, Progress], None] | None = None) -> None:
        """Make all runs that the study still needs.

        Raises
        ------
        InputError
            If the program can't be started, or two runs in a row failed at once and in the same way.
        StoreFullError
            If the disk is too full to store a run.
        KeyboardInterrupt
            If the campaign is interrupted; all finished runs stay stored.
        """
        tell_place(self.study, self.store)
        # Which runs a search still makes isn't known before. It also tells its answer where none is left.
        if self.study.plan.design == "tune" or any(self.missing.values()):
            tell_changed(self.study, self.store)
        self._making.check_cores(number for number, runs in self.missing.items() if runs)
        self._schedule.share_cores(self._making.cores_for)
        self._lent = Lent.of(
            self._runner.launcher, self._limits, self._making.cores_for, self._schedule, self.store
        )  # fmt: skip
        with interruptions() as check_interrupted:
            try:
                for run in self._left:
                    self._making.start(run)
                self._left = []
                while self._fill() or self._making.under_way:
                    self._keep(self._making.wait(), progress)
                    check_interrupted()
            except KeyboardInterrupt:
                self._wait_or_end(progress)
                raise
            except InputError:
                if not (self.store.is_rescued and self._runner.launcher.outlives):
                    self._making.end()
                raise

    def _fill(self) -> bool:
        """Start runs while there is room; return whether any was started."""
        started = False
        while self._making.has_room and (run := self._waiting or self._new_run()) is not None:
            if not self._making.start(run):
                self._waiting = run  # for cores that others have now
                break
            self._waiting, started = None, True
        return started

    def _new_run(self) -> Run | None:
        next_run = self._next()
        if next_run is None:
            return None
        self._schedule.start(next_run)
        return Run.new(next_run)

    def _keep(self, record: Record, progress: Callable[[Record, Progress], None] | None) -> None:
        """Note a run that has ended and is stored."""
        if record.status == "ok" and not self._is_placed:
            note_place(self.study, self.store)
            self._is_placed = True
        self._schedule.add(record)
        if self._lent is not None:
            self._lent.order(self._schedule, self.store)
        log.info("configuration %d: %s in %.4g s %s", record.configuration, record.status, record.took, record.message)
        if progress is not None:
            progress(record, self._schedule.progress)
        if record.status == "failed" and not self._keep_going:
            self._check_worth_it()

    def _wait_or_end(self, progress: Callable[[Record, Progress], None] | None) -> None:
        """After Ctrl-C, wait for jobs that would go on; end them after another Ctrl-C, and other runs at once."""
        try:
            if self._runner.launcher.outlives and self._making.under_way:
                jobs = len(self._making.under_way)
                said = f"no further runs are started; {jobs} jobs are waited for: Ctrl-C again cancels them"
                warnings.warn(EvenlyWarning(said), stacklevel=4)
                while self._making.under_way:
                    self._keep(self._making.wait(), progress)
        except KeyboardInterrupt:
            pass
        finally:
            self._making.end()

    def _check_worth_it(self) -> None:
        """Raise `InputError` if no run went well and the last two failed in the same way, and at once or by no time."""
        records = self.store.records()
        last = [r for r in records[-2:] if r.status == "failed" and _fails_all(r)]
        ways = {(r.exit_code, _said_of_all(r), _said_alike(r)) for r in last}
        if len(last) < 2 or len(ways) > 1 or any(r.status == "ok" for r in records) or not self.progress.left:
            return
        # A program says what is wrong at the end, an MPI launcher at the beginning.
        words = [line.strip() for line in last[-1].output.splitlines() if any(map(str.isalnum, line))]
        ends = dict.fromkeys([*words[:1], *words[-1:]])
        told = ": ".join([last[-1].message, " … ".join(ends)] if ends else [last[-1].message])
        how = "at once and in the same way" if last[-1].exit_code else "in the same way"
        raise InputError(
            f"{len(records)} runs failed and none went well; the last two failed {how} ({told}): "
            "correct the program, or how it is started, and start again with --retry, which makes failed runs again; or"
            " run the others too with --keep-going"
        )

    def retry(self) -> int:
        """Delete failed and timed-out runs, so that they are made again; return their number."""
        dropped = self.store.drop_failed()
        self._tally.reset()
        self._schedule = self._resumed()
        return dropped

    def outlook(self, *, retry: bool = False) -> Schedule:
        """Return the schedule of the runs that are left; with `retry`, of those that would be left after `retry`."""
        if not retry:
            return self._schedule
        good = [record for record in self.store.records() if record.status == "ok"]
        schedule = Schedule(self.study, self._schedule.order, good, self._schedule.anchor)
        for run in self._left:
            schedule.start(run.next)
        return schedule

    @property
    def progress(self) -> Progress:
        """Number of runs made, number of runs left, and the expected time of the runs left."""
        return self._schedule.progress

    @property
    def configurations(self) -> dict[int, dict[str, Any]]:
        """All configurations by their number, parameters in the study's order."""
        return {number: self._ordered(one) for number, one in self.store.configurations().items()}

    def configuration(self, number: int) -> dict[str, Any]:
        """One configuration by its number."""
        return self._ordered(self.store.configuration(number))

    def _ordered(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        return {name: configuration[name] for name in self.study.space.names}

    @property
    def missing(self) -> dict[int, int]:
        """Number of runs that each configuration still needs, as far as is known, by configuration number."""
        return self._schedule.missing

    def _next(self) -> NextRun | None:
        anchor = self._schedule.anchor
        next_run = self._schedule.next(self._may_start, self._making.free_cores) or self._advised()
        if self._schedule.anchor != anchor:
            self.store.note("anchor", self._schedule.anchor)
        return next_run

    def _may_start(self, number: int) -> bool:
        return self._lent is None or self._lent.has_time_for(number, self._schedule, self.store)

    @property
    def held_back(self) -> int:
        """How many configurations weren't started, since the job in which they run would have ended before them."""
        return 0 if self._lent is None else len(self._lent.held_back)

    def _advised(self) -> NextRun | None:
        """Ask the advisor for another configuration, where the plan has room for one."""
        plan, schedule = self.study.plan, self._schedule
        many = schedule.runs if plan.design == "tune" else len(schedule.order)
        if self._advisor is None or not plan.is_advised or schedule.is_spent or many >= (plan.runs or 0):
            return None
        under_way = len(self._making.under_way)
        if schedule.has_missing or (under_way and self.store.count() < self._first):
            return None  # others come first
        # An advisor without the store doesn't know the runs under way: of its next proposals, the first that isn't one
        # of them is taken.
        knows = hasattr(self._advisor, "attach")
        proposed = self._advisor(self._so_far(), 1 if knows else 1 + under_way)
        for proposal, why in zip(rows_of(proposed), proposed.attrs.get("why") or [""] * len(proposed), strict=True):
            (number,) = self.store.add_configurations([proposal])
            if knows or number not in schedule.order:
                return self._taken(number, why)
        return None

    def _taken(self, number: int, why: str) -> NextRun | None:
        """Return the run of a configuration that the advisor proposed, and keep the reason."""
        if number in self._schedule.order:
            chosen: NextRun | None = self._schedule.again(number)
        else:
            self._making.check_cores([number])
            self._schedule.append(number)
            if self._lent is not None and not self._lent.has_time_for(number, self._schedule, self.store):
                return None  # it is the first of another job
            chosen = self._schedule.next()
        if why and chosen is not None:
            self.store.note_why(chosen.configuration, chosen.repetition, why)
        return chosen

    @property
    def counts(self) -> Counts:
        """How many runs are queued, under way, done and failed, and the core-hours spent and left."""
        return self._tally.counts(self._making, self.progress.seconds_left)

    def times(self, configurations: Sequence[Mapping[str, Any]]) -> list[tuple[float, float] | None]:
        """Return the expected wall seconds and the upper bound of a run of each configuration; None if not known."""
        return self._limits.times(configurations)

    def saved(self) -> Saved | None:
        """Return what limits from a model saved against a fixed one; None if there are no such limits."""
        return saved(self.study, self._runner, self.store.configurations(), self.store.records())

    # ---- results ----------------------------------------------------------------------------------------------

    def runs(self) -> Runs:
        """Return all runs so far, failed ones included.

        Raises
        ------
        InputError
            If there are no runs, or none was successful.
        """
        records = self.store.records()
        well = [r for r in records if r.status == "ok"]
        if not well:
            last = f"; the last said: {records[-1].message}\n{records[-1].output}".rstrip() if records else ""
            kept = f" (they are kept in {self.store.path})" if records else ""
            raise InputError(f"none of {len(records)} runs went well{kept}, so there is nothing to learn from{last}")
        return self._so_far()

    def _so_far(self) -> Runs:
        well = [r for r in self.store.records() if r.status == "ok"]
        found = dict.fromkeys((name for r in well for name in r.quantities), "1")
        units = found | {"cpu_seconds": "s"} | self.study.timing.quantities
        table = self.store.table(f"{self.study.name} ({self.store.path.name})")
        known = dict.fromkeys([*self.study.space.names, "seconds", *units])
        table = table.reindex(columns=[*table.columns, *(name for name in known if name not in table.columns)])
        bounds_as_seconds(table)
        table["cpu_seconds"] = table["cpu_seconds"].where(table["cpu_seconds"] > 0)
        extra = {name: unit for name, unit in units.items() if name != "seconds"}
        return Runs.from_frame(table, self.study.space.names, quantities=extra, space=self.study.space)

    def table(self) -> pd.DataFrame:
        """Return a table of all runs: parameters, status, times, and the output of failed runs."""
        known = self.configurations
        return pd.DataFrame([{**known[r.configuration], **r._asdict()} for r in self.store.records()])

    def drift(self) -> Drift:
        """Return the drift of the machine, estimated from the runs of the anchor configuration."""
        anchor = self._schedule.anchor
        its = [r for r in self.store.records() if r.configuration == anchor and r.status == "ok"]
        return drift_of([r.started for r in its], [r.quantities["seconds"] for r in its])

    def other_load(self) -> float | None:
        """Return the mean number of cores that other processes kept busy; None where the system doesn't report it."""
        loads = [(r.other_load, r.took) for r in self.store.records() if r.other_load is not None]
        total = sum(took for _, took in loads)
        return sum(load * took for load, took in loads) / total if total > 0 else None
