"""The trials of a search: the configurations in the order in which they were chosen, with times and status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.space.space import Space

__all__ = ["Key", "Status", "Trial", "Trials", "key_of"]

Status = Literal["pending", "ok", "failed", "timed out"]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Trial:
    """A configuration that was chosen or told, and its runs.

    Attributes
    ----------
    configuration : dict
    why : str
        The reason why it was chosen, in words.
    status : {"pending", "ok", "failed", "timed out"}
    seconds : tuple of float
        Measured times, one per repetition.
    at_least : float
        If the run was ended early: a lower bound of its time in seconds; else nan.
    """

    configuration: dict[str, Any]
    why: str = ""
    status: Status = "pending"
    seconds: tuple[float, ...] = ()
    at_least: float = float("nan")

    @property
    def mean_s(self) -> float:
        """Geometric mean of `seconds`; nan if there are none."""
        return float(np.exp(np.mean(np.log(self.seconds)))) if self.seconds else float("nan")


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

    def __init__(self, space: Space, tasks: Sequence[str] = ()) -> None:
        self.space, self.tasks = space, tuple(tasks)
        #: Known runs of tasks outside the space: parameters and ``seconds``.
        self.others: pd.DataFrame | None = None
        self._trials: dict[Key, Trial] = {}

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials.values())

    def __len__(self) -> int:
        return len(self._trials)

    @property
    def keys(self) -> set[Key]:
        """The keys of all configurations in the trials, see `key_of`."""
        return set(self._trials)

    def of(self, *statuses: Status) -> list[Trial]:
        """Return the trials that have one of the given statuses."""
        return [trial for trial in self if trial.status in statuses]

    def ask(self, configuration: Mapping[str, Any], why: str) -> None:
        """Add a configuration that will be run, or mark one that will be run again."""
        key = key_of(self.space.names, configuration)
        known = self._trials.get(key, Trial(dict(configuration)))
        # A configuration that is repeated keeps its status and its times until the new run ends.
        self._trials[key] = replace(known, status="ok" if known.seconds else "pending", why=why)

    def forget(self, configuration: Mapping[str, Any]) -> None:
        """Remove a configuration that was chosen but won't be run."""
        del self._trials[key_of(self.space.names, configuration)]

    def trial(self, configuration: Mapping[str, Any]) -> Trial:
        """Return the trial of a configuration that was chosen or told."""
        return self._trials[key_of(self.space.names, configuration)]

    def tell(self, configuration: Mapping[str, Any], seconds: float | None, *, at_least: float | None = None) -> None:
        """Record a run: its seconds, or None with `at_least` if it was ended early, or None alone if it failed.

        Raises
        ------
        InputError
            If the configuration isn't feasible, or a time isn't a finite number above zero.
        """
        table = self.space.check(configuration)
        plain = {name: table[name].tolist()[0] for name in self.space.names}
        key = key_of(self.space.names, plain)
        known = self._trials.get(key, Trial(plain, "told"))
        for name, given in (("seconds", seconds), ("at_least", at_least)):
            if given is not None and not 0 < given < np.inf:
                raise InputError(f"{name} must be a finite number above 0, but got {given!r}")
        if seconds is not None and at_least is not None:
            raise InputError(f"a run that took {seconds!r} seconds wasn't ended early: leave out seconds or at_least")
        if seconds is not None:
            self._trials[key] = replace(known, status="ok", seconds=(*known.seconds, float(seconds)))
        elif at_least is not None:
            self._trials[key] = replace(known, status="timed out", at_least=float(at_least))
        else:
            # A configuration that succeeded before and fails now counts as failed, since it isn't reliable.
            self._trials[key] = replace(known, status="failed")

    def table(self, trials: Sequence[Trial]) -> pd.DataFrame:
        """Return the configurations of trials as a table, (n, n_parameters)."""
        return self.space.frame({name: [t.configuration[name] for t in trials] for name in self.space.names})

    @property
    def best(self) -> Trial | None:
        """The fastest trial by the geometric mean of its repetitions; None if none has succeeded."""
        return min(self.of("ok"), key=lambda trial: trial.mean_s, default=None)

    @property
    def bests(self) -> dict[Key, Trial]:
        """The fastest trial of each task that has a successful run, by the task's key; without tasks, the key is ()."""
        found: dict[Key, Trial] = {}
        for trial in sorted(self.of("ok"), key=lambda trial: trial.mean_s):
            found.setdefault(self.task_of(trial.configuration), trial)
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
