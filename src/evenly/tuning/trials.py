"""The trials of a search: the configurations in the order in which they were chosen, with times and status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from evenly.campaign.noise import Noise, drift_per_run, noise_of, resolution
from evenly.errors import InputError
from evenly.space.space import Space

__all__ = ["Key", "Made", "Status", "Trial", "Trials", "key_of"]

Status = Literal["pending", "ok", "failed", "timed out", "left out"]
Outcome = Literal["ok", "failed", "timed out"]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Made:
    """One run that has ended.

    Attributes
    ----------
    configuration : dict
    why : str
        The reason why it was made, in words.
    status : {"ok", "failed", "timed out"}
    seconds : float
        Its time; if it was ended early, a lower bound of it; nan if it failed.
    """

    configuration: dict[str, Any]
    why: str
    status: Outcome
    seconds: float


@dataclass(frozen=True)
class Trial:
    """A configuration that was chosen or told, and its runs.

    Attributes
    ----------
    configuration : dict
    why : str
        The reason why it was chosen, in words.
    seconds : tuple of float
        Measured times, one per repetition.
    turns : tuple of int
        The place of each of them in the order of all runs.
    drifts : tuple of float
        By how much each log time lies above what it would have been at the end of the search, see `drift_per_run`.
    bounds : tuple of float
        Lower bounds of the times of runs that were ended early.
    failures : int
        Number of runs that failed.
    waiting : int
        Number of runs under way.
    again : str
        The reason of its last run, if it was run before.
    last_ok : bool
        Whether its last run went well.
    is_left_out : bool
        Whether it has runs that are marked as bad.
    """

    configuration: dict[str, Any]
    why: str = ""
    seconds: tuple[float, ...] = ()
    turns: tuple[int, ...] = ()
    drifts: tuple[float, ...] = ()
    bounds: tuple[float, ...] = ()
    failures: int = 0
    waiting: int = 0
    again: str = ""
    last_ok: bool = True
    is_left_out: bool = False

    @property
    def status(self) -> Status:
        """What is known of it.

        A run that failed, or was ended early, doesn't count where as many others went well and the last of them did:
        one retry may make it good. A configuration of which more runs fail than go well isn't reliable.
        """
        well, bad = len(self.seconds), self.failures + len(self.bounds)
        if well and (well > bad or (well == bad and self.last_ok)):
            return "ok"
        if bad:
            return "failed" if self.failures else "timed out"
        if self.waiting:
            return "pending"
        return "left out" if self.is_left_out else "pending"

    @property
    def at_least(self) -> float:
        """The lower bound of its time if its runs were ended early, else nan: of several bounds, the least."""
        return min(self.bounds) if self.status == "timed out" else float("nan")

    @property
    def logs(self) -> tuple[float, ...]:
        """Log seconds of its repetitions, without the machine's drift."""
        return tuple(np.log(self.seconds) - np.array(self.drifts))

    @property
    def mean_s(self) -> float:
        """Geometric mean of `seconds`, without the machine's drift; nan if there are none."""
        return float(np.exp(np.mean(self.logs))) if self.seconds else float("nan")


def key_of(names: Iterable[str], configuration: Mapping[Any, Any]) -> Key:
    """Return the tuple of a configuration's values, which identifies it; numbers of different types are equal."""
    return tuple(configuration[name] for name in names)


class Trials:
    """All trials of a search.

    Parameters
    ----------
    space : Space
    tasks : sequence of str
        Names of the parameters that define the tasks; each task has its own fastest configuration.
    reference : dict, optional
        A configuration whose repetitions show the drift of the machine, since it wasn't chosen by its time.

    Examples
    --------
    >>> from evenly.space.parameters import Integer
    >>> trials = Trials(Space(n=Integer(1, 9)))
    >>> trials.ask({"n": 3}, "first")
    >>> trials.tell({"n": 3}, 2.5)
    >>> trials.tell({"n": 3}, 2.7)
    >>> [(trial.status, trial.seconds) for trial in trials]
    [('ok', (2.5, 2.7))]
    """

    def __init__(self, space: Space, tasks: Sequence[str] = (), reference: Mapping[str, Any] | None = None) -> None:
        self.space, self.tasks = space, tuple(tasks)
        self.reference = None if reference is None else dict(reference)
        #: Known runs of tasks outside the space: parameters and ``seconds``.
        self.others: pd.DataFrame | None = None
        #: All runs in the order in which they ended.
        self.made: list[Made] = []
        self._trials: dict[Key, Trial] = {}
        self._drift = 0.0

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials.values())

    def __len__(self) -> int:
        return len(self._trials)

    @property
    def keys(self) -> set[Key]:
        """The keys of all configurations in the trials, see `key_of`."""
        return set(self._trials)

    @property
    def waiting(self) -> int:
        """Number of runs under way."""
        return sum(trial.waiting for trial in self)

    def of(self, *statuses: Status) -> list[Trial]:
        """Return the trials that have one of the given statuses."""
        return [trial for trial in self if trial.status in statuses]

    def ask(self, configuration: Mapping[str, Any], why: str) -> None:
        """Add a configuration that will be run, or mark one that will be run again."""
        key = key_of(self.space.names, configuration)
        known = self._trials.get(key)
        if known is None:
            self._trials[key] = Trial(dict(configuration), why, waiting=1)
        else:
            # A configuration that is repeated keeps its status and its times until the new run ends.
            self._trials[key] = replace(known, waiting=known.waiting + 1, again=why)

    def forget(self, configuration: Mapping[str, Any]) -> None:
        """Take back a run that was chosen but won't be made."""
        key = key_of(self.space.names, configuration)
        known = replace(self._trials[key], waiting=self._trials[key].waiting - 1)
        if known.waiting or known.seconds or known.bounds or known.failures:
            self._trials[key] = known
        else:
            del self._trials[key]

    def trial(self, configuration: Mapping[str, Any]) -> Trial | None:
        """Return the trial of a configuration; None if it was neither chosen nor told."""
        return self._trials.get(key_of(self.space.names, configuration))

    def tell(
        self,
        configuration: Mapping[str, Any],
        seconds: float | None,
        *,
        at_least: float | None = None,
        why: str = "told",
    ) -> None:
        """Record a run: its seconds, or None with `at_least` if it was ended early, or None alone if it failed.

        `why` is the reason of a run that was not asked for here.

        Raises
        ------
        InputError
            If the configuration isn't feasible, or a time isn't a finite number above zero.
        """
        for name, given in (("seconds", seconds), ("at_least", at_least)):
            if given is not None and not 0 < given < np.inf:
                raise InputError(f"{name} must be a finite number above 0, but got {given!r}")
        if seconds is not None and at_least is not None:
            raise InputError(f"a run that took {seconds!r} seconds wasn't ended early: leave out seconds or at_least")
        key, known = self._known(configuration, why)
        why = (known.again or known.why) if known.waiting else why
        known = replace(known, waiting=max(0, known.waiting - 1), last_ok=seconds is not None)
        if seconds is not None:
            turn, took = len(self.made), float(seconds)
            known = replace(known, seconds=(*known.seconds, took), turns=(*known.turns, turn))
        elif at_least is not None:
            took = float(at_least)
            known = replace(known, bounds=(*known.bounds, took))
        else:
            took = float("nan")
            known = replace(known, failures=known.failures + 1)
        status: Outcome = "ok" if seconds is not None else "failed" if at_least is None else "timed out"
        self.made.append(Made(known.configuration, why, status, took))
        self._trials[key] = known
        self._take_out_drift(key)

    def leave_out(self, configuration: Mapping[str, Any]) -> None:
        """Note a run of which nothing may be learned; its configuration isn't proposed as a new one."""
        key, known = self._known(configuration, "told")
        self._trials[key] = replace(known, is_left_out=True)

    def _known(self, configuration: Mapping[str, Any], why: str) -> tuple[Key, Trial]:
        table = self.space.check(configuration)
        plain = {name: table[name].tolist()[0] for name in self.space.names}
        key = key_of(self.space.names, plain)
        return key, self._trials.get(key, Trial(plain, why))

    def _take_out_drift(self, changed: Key) -> None:
        """Bring the drifts up to date: of all trials if it is known anew, else of the one that has another run."""
        reference = None if self.reference is None else self.trial(self.reference)
        drift = 0.0 if reference is None else drift_per_run(reference.turns, reference.seconds)
        keys = [changed] if drift == self._drift == 0.0 else list(self._trials)
        self._drift = drift
        for key in keys:
            trial = self._trials[key]
            late = tuple(drift * (turn - len(self.made) + 1) for turn in trial.turns)
            self._trials[key] = replace(trial, drifts=late)

    @property
    def drift(self) -> float:
        """By how much log times grew over the search, from the first run to the last; 0 where that isn't known."""
        return self._drift * max(0, len(self.made) - 1)

    @property
    def resolution_s(self) -> float:
        """To how many seconds the times were rounded; 0 where that is too little to matter."""
        return resolution(took for trial in self for took in trial.seconds)

    @property
    def noise(self) -> Noise:
        """The scatter of repetitions, pooled over all configurations; that of rounding is the least."""
        return noise_of((trial.logs for trial in self.of("ok")), self.resolution_s)

    def table(self, trials: Sequence[Trial]) -> pd.DataFrame:
        """Return the configurations of trials as a table, (n, n_parameters)."""
        return self.space.frame({name: [t.configuration[name] for t in trials] for name in self.space.names})

    @property
    def best(self) -> Trial | None:
        """The fastest trial; None if none has succeeded. See `fastest`."""
        return fastest(self.of("ok"), self.noise)

    @property
    def bests(self) -> dict[Key, Trial]:
        """The fastest trial of each task that has a successful run, by the task's key; without tasks, the key is ()."""
        found = self.well_by_task()
        noise = self.noise
        return {task: best for task, trials in found.items() if (best := fastest(trials, noise)) is not None}

    def well_by_task(self) -> dict[Key, list[Trial]]:
        """Return the trials that succeeded, by the keys of their tasks, the fastest task first."""
        found: dict[Key, list[Trial]] = {}
        for trial in sorted(self.of("ok"), key=lambda trial: trial.mean_s):
            found.setdefault(self.task_of(trial.configuration), []).append(trial)
        return found

    def task_of(self, configuration: Mapping[str, Any]) -> Key:
        """Return the key of a configuration's task: the values of the task parameters."""
        return key_of(self.tasks, configuration)

    def best_like(self, configuration: Mapping[str, Any]) -> Trial | None:
        """Return the fastest trial of a configuration's task; None if none has succeeded."""
        return self.bests.get(self.task_of(configuration))

    def history(self) -> pd.DataFrame:
        """Return one row per trial: parameters, seconds, repetitions, status, at_least, why, best seconds so far."""
        rows = [
            {**t.configuration, "seconds": t.mean_s, "repetitions": len(t.seconds), "status": t.status,
             "at_least": t.at_least, "why": t.why}
            for t in self
        ]  # fmt: skip
        columns = [*self.space.names, "seconds", "repetitions", "status", "at_least", "why"]
        table = pd.DataFrame(rows, columns=columns)
        table["best"] = table["seconds"].where(table["status"] == "ok").cummin().ffill()
        return table


def fastest(trials: Sequence[Trial], noise: Noise) -> Trial | None:
    """Return the trial with the least mean log time plus standard error; None if there is none.

    Of many configurations that were run once, the one with the least time was lucky. So one that was repeated, and
    stayed almost as fast, is preferred. Where nothing was repeated, it is the one with the least time.
    """
    deviation = noise.likely if noise.is_known else 0.0
    return min(trials, key=lambda one: np.log(one.mean_s) + deviation / np.sqrt(len(one.seconds)), default=None)
