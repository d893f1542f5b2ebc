"""One run of a study's program: fill in the command, run it, and read the run's time and other quantities."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from evenly.campaign.planning import NextRun
from evenly.campaign.record import Record
from evenly.campaign.study import Study
from evenly.campaign.templates import Template
from evenly.campaign.timing import Before
from evenly.errors import EvenlyWarning, InputError, RunFailed
from evenly.launch import Outcome, Task, launcher_class
from evenly.launch.call import CONFIGURATION, RESULT
from evenly.launch.job_folders import AGAIN
from evenly.runs.columns import Status
from evenly.writing import replacing

__all__ = ["Runner"]

#: Characters of a failed run's output that are stored, from its end.
_KEPT = 4000


class Runner:
    """Makes runs of a study.

    Parameters
    ----------
    study : Study

    Examples
    --------
    >>> from evenly import Integer, Space
    >>> from evenly.campaign.study import Program
    >>> runner = Runner(Study("echo", Space(n=Integer(1, 9)), Program("echo {n}")))
    >>> runner.run(NextRun(1, 0, "plan"), {"n": 3}, "mark").status
    'ok'
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self.launcher = launcher_class(study.program.launcher)()
        study.program.placement.check(type(self.launcher))
        self._cores: dict[tuple[str, ...], int] = {}
        self._daemons: set[str] = set()

    def command(self, configuration: Mapping[str, Any]) -> str:
        """Return the command of a configuration's first run, as a user would type it."""
        program, values = self._study.program, self._values(NextRun(1, 0, "plan"), configuration)
        given = {name: Template(str(text)).fill(values) for name, text in program.environment.items()}
        before = [f"{name}={shlex.quote(text)}" for name, text in given.items()]
        resources = program.placement.resources(values)
        task = Task((), "", self._ranks(values), timeout_s=program.timeout_s, resources=resources)
        started = shlex.join(self.launcher.shown(task))
        ranks = [f"({task.ranks} ranks)"] if task.ranks is not None and not started else []
        what = f"{program.callable}(…)" if program.callable else shlex.join(self._words(values))
        return " ".join([*before, *([started] if started else []), *ranks, what])

    def cut_after_s(self, configuration: Mapping[str, Any]) -> float | None:
        """Return after how many seconds the limit of its job ends a run; None if the study's time-out comes before."""
        values, timeout_s = self._values(NextRun(1, 0, "plan"), configuration), self._study.program.timeout_s
        resources = self._study.program.placement.resources(values)
        ends_s = self.launcher.ends_after_s(Task((), "", timeout_s=timeout_s, resources=resources))
        return None if ends_s is None or ends_s >= (timeout_s or math.inf) else ends_s

    def run(
        self,
        next_run: NextRun,
        configuration: Mapping[str, Any],
        mark: str,
        limit_s: float | None = None,
        cores: tuple[int, ...] = (),
        near: Path | None = None,
        job_limit_s: float | None = None,
    ) -> Record:
        """Run a configuration once. Of one that timed out, the seconds are when it was told to end.

        Parameters
        ----------
        next_run : NextRun
        configuration : mapping
            Values of all parameters.
        mark : str
            Identifier of the run, by which its processes can be found.
        limit_s : float, optional
            Wall seconds after which the run is ended; the study's own time-out may end it earlier.
        cores : tuple of int
            The cores of this machine that the run may use; all if there are none.
        near : Path, optional
            The folder for files of runs that go on without this process; by default that of the study.
        job_limit_s : float, optional
            What the run's job asks for, if that is less than the study's fixed limit. A run that reaches it is made
            once more with the fixed one.

        Raises
        ------
        OSError
            If the program can't be started; ``filename`` names it.
        """
        values = self._values(next_run, configuration)
        folder = self._study.folder / Template(self._study.program.folder).fill(values)
        folder.mkdir(parents=True, exist_ok=True)
        until_s = min((s for s in (limit_s, self._study.program.timeout_s) if s is not None), default=None)
        with self.launcher.workspace(mark, near or self._study.folder) as scratch:
            result = scratch / "result.json"
            task = Task(
                self._words(values), mark, self._ranks(values), folder,
                self._environment(values, configuration, result), until_s, scratch, cores,
                self._study.program.placement.resources(values),
            )  # fmt: skip
            before = self._files_before(folder, scratch)
            limit_s = _kept(scratch / "limit.json", job_limit_s)
            outcome = self._outcome(_limited(task, limit_s))
            more = {} if limit_s is None else {"limit_s": limit_s}
            if limit_s is not None and outcome.status == "timed out" and outcome.seconds < (until_s or math.inf):
                more["cut_s"] = outcome.seconds
                again = scratch / AGAIN
                again.mkdir(exist_ok=True)
                before = self._files_before(folder, again)
                outcome = self._outcome(replace(task, workspace=again))
            ends_s = self.launcher.ends_after_s(task)
            status, quantities, message = self._measured(outcome, folder, result, before, _told_end(until_s, ends_s))
            if status == "timed out":  # not the time that it took to end
                quantities = {"seconds": min(s for s in (outcome.seconds, until_s, ends_s) if s is not None)}
        printed = "" if status == "ok" else (outcome.output + outcome.errors)[-_KEPT:]
        return Record(
            next_run.configuration, next_run.repetition, status, quantities, next_run.purpose, outcome.exit_code,
            message, printed, outcome.began, outcome.seconds, outcome.other_load, outcome.host,
            {**self._without_daemons(outcome.details), **more},
        )  # fmt: skip

    def _without_daemons(self, details: Mapping[str, str | float]) -> dict[str, str | float]:
        """Return the details to store, and say once which daemons were ended: whether they did the work is open."""
        names = str(details.get("daemons", ""))
        if names and names not in self._daemons:
            self._daemons.add(names)
            warnings.warn(EvenlyWarning(
                f"a run left processes that are no part of its session, and they were ended ({names}). If they did the "
                "work, its time doesn't have it: let the command wait for them"
            ), stacklevel=2)  # fmt: skip
        return {name: told for name, told in details.items() if name != "daemons"}

    def _files_before(self, folder: Path, scratch: Path) -> Before:
        """Return what tells the files of earlier runs; that of a run which an earlier process started was kept."""
        found = self._study.timing.files_before(folder)
        kept = _kept(scratch / "before.json", [[str(path), told] for path, told in found.items()])
        return {Path(path): tuple(told) for path, told in kept}

    @property
    def asks_for_cores(self) -> bool:
        """Whether runs may need more than one core."""
        return self._study.program.ranks is not None or self._study.program.placement.cores_per_rank is not None

    def cores_needed(self, configuration: Mapping[str, Any]) -> int:
        """Return how many cores a run of a configuration is given, where several are made at once."""
        # Of many configurations, few differ in what this depends on.
        told = tuple(repr(configuration[name]) for name in self._placed_by if name in configuration)
        if told not in self._cores:
            values = self._values(NextRun(1, 0, "plan"), configuration)
            each = self._study.program.placement.resources(values).cores_per_rank or 1
            self._cores[told] = (self._ranks(values) or 1) * each
        return self._cores[told]

    @cached_property
    def _placed_by(self) -> list[str]:
        """Names of the values on which it depends where a run goes."""
        program = self._study.program
        templates = [*program.placement.templates(), Template(str(program.ranks))]
        return sorted({name for template in templates for name in template.names})

    def _values(self, next_run: NextRun, configuration: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **configuration,
            "run": next_run.configuration,
            "repetition": next_run.repetition,
            "study": self._study.name,
        }

    def _words(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        program = self._study.program
        if program.callable:
            return sys.executable, "-m", "evenly.launch.call", program.callable
        return tuple(word.fill(values) for word in program.words)

    def _ranks(self, values: Mapping[str, Any]) -> int | None:
        asked = self._study.program.ranks
        if asked is None:
            return None
        number = Template(str(asked)).fill(values)
        if not number.isdecimal() or int(number) < 1:
            raise InputError(f"ranks must be a whole number above zero, but {asked!r} gives {number}")
        return int(number)

    def _environment(self, values: Mapping[str, Any], configuration: Mapping[str, Any], result: Path) -> dict[str, str]:
        program = self._study.program
        given = {name: Template(str(text)).fill(values) for name, text in program.environment.items()}
        if not program.callable:
            return given
        search = os.pathsep.join(p for p in (str(self._study.folder), os.environ.get("PYTHONPATH", "")) if p)
        return {"PYTHONPATH": search, **given, CONFIGURATION: json.dumps(dict(configuration)), RESULT: str(result)}

    def _outcome(self, task: Task) -> Outcome:
        try:
            return self.launcher.run(task)
        except OSError as error:
            error.filename = error.filename or task.command[0]
            raise

    def _measured(
        self, outcome: Outcome, folder: Path, result: Path, before: Before, ended: str
    ) -> tuple[Status, dict[str, float], str]:
        if outcome.status == "timed out":
            return "timed out", {}, outcome.reason or ended
        if outcome.status != "ok":
            return "failed", {}, outcome.reason or _reason(result) or _ended(outcome.exit_code)
        if self._study.program.callable and not result.exists():
            return "failed", {}, "the function ended its process instead of returning"
        returned = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
        try:
            found = self._study.timing.of(outcome, folder, returned, before=before)
        except RunFailed as error:
            return "failed", {}, str(error)
        return "ok", {**returned, **found, "cpu_seconds": outcome.cpu_seconds}, ""


def _told_end(until_s: float | None, ends_s: float | None) -> str:
    """Say after how long a run was ended: by the study's time-out, or before that by the limit of its job.

    Examples
    --------
    >>> _told_end(200.0, 60.0), _told_end(200.0, 200.0)
    ('it was ended after 60 s, before the time limit of its job', 'it was ended after 200 s')
    """
    if ends_s is not None and ends_s < (until_s or math.inf):
        return f"it was ended after {ends_s:.4g} s, before the time limit of its job"
    return "" if until_s is None else f"it was ended after {until_s:.4g} s"


def _kept(path: Path, value: Any) -> Any:
    """Return what an earlier process wrote to a file; it is written if there is none."""
    if not path.exists():
        with replacing(path) as new:
            new.write_text(json.dumps(value), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def _limited(task: Task, limit_s: float | None) -> Task:
    return task if limit_s is None else replace(task, resources=replace(task.resources, time_limit_s=limit_s))


def _reason(result: Path) -> str:
    """Return the error message that a callable wrote to its result file; "" if there is none."""
    return str(json.loads(result.read_text(encoding="utf-8")).get("failed", "")) if result.exists() else ""


def _ended(status: int) -> str:
    try:
        return f"it was ended by {signal.Signals(status - 128).name}"
    except ValueError:
        return f"it ended with status {status}"
