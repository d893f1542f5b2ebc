"""The history of a search: configurations in the order they were asked for, and how each went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.space.space import Space

__all__ = ["Key", "Status", "Trial", "Trials", "key_of"]

Floats = NDArray[np.float64]
Status = Literal["pending", "ok", "failed", "timed out"]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Trial:
    """A configuration that was asked for.

    Attributes
    ----------
    configuration : dict
    why : str
        Why it was asked for, in words.
    status : {"pending", "ok", "failed", "timed out"}
    seconds : tuple of float
        What it took, one entry for each repetition.
    at_least : float
        Where it was ended early: that it takes longer than this.
    """

    configuration: dict[str, Any]
    why: str = ""
    status: Status = "pending"
    seconds: tuple[float, ...] = ()
    at_least: float = float("nan")

    @property
    def mean_s(self) -> float:
        """Geometric mean of its seconds; nan where there are none."""
        return float(np.exp(np.mean(np.log(self.seconds)))) if self.seconds else float("nan")


def key_of(names: Iterable[str], configuration: Mapping[Any, Any]) -> Key:
    """Return what tells a configuration from others, whatever types its numbers have."""
    return tuple(configuration[name] for name in names)


class Trials:
    """All trials of a search.

    Parameters
    ----------
    space : Space
    tasks : sequence of str
        Parameters that tell tasks apart, each of which has a fastest configuration of its own.

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
        #: Runs of other tasks: parameters and seconds.
        self.others: pd.DataFrame | None = None
        self._trials: dict[Key, Trial] = {}

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials.values())

    def __len__(self) -> int:
        return len(self._trials)

    @property
    def keys(self) -> set[Key]:
        """What tells the configurations that were tried from others."""
        return set(self._trials)

    def of(self, *statuses: Status) -> list[Trial]:
        """Return the trials that went so."""
        return [trial for trial in self if trial.status in statuses]

    def ask(self, configuration: Mapping[str, Any], why: str) -> None:
        """Add a configuration that is to be run; one that was run is run again."""
        key = key_of(self.space.names, configuration)
        known = self._trials.get(key, Trial(dict(configuration)))
        # What is run again isn't unknown meanwhile.
        self._trials[key] = replace(known, status="ok" if known.seconds else "pending", why=why)

    def forget(self, configuration: Mapping[str, Any]) -> None:
        """Take back a configuration that was asked for and isn't run."""
        del self._trials[key_of(self.space.names, configuration)]

    def trial(self, configuration: Mapping[str, Any]) -> Trial:
        """Return what is known of a configuration that was asked for or told."""
        return self._trials[key_of(self.space.names, configuration)]

    def tell(self, configuration: Mapping[str, Any], seconds: float | None, *, at_least: float | None = None) -> None:
        """Take note of how a run went: its seconds, None for a failed one; or that it takes longer than `at_least`.

        Raises
        ------
        InputError
            If the configuration isn't feasible, or seconds aren't a finite number above zero.
        """
        table = self.space.check(configuration)
        plain = {name: table[name].tolist()[0] for name in self.space.names}
        key = key_of(self.space.names, plain)
        known = self._trials.get(key, Trial(plain, "told"))
        for name, given in (("seconds", seconds), ("at_least", at_least)):
            if given is not None and not (np.isfinite(given) and given > 0):
                raise InputError(f"{name} must be a finite number above 0, but got {given!r}")
        if seconds is not None:
            self._trials[key] = replace(known, status="ok", seconds=(*known.seconds, float(seconds)))
        elif at_least is not None:
            self._trials[key] = replace(known, status="timed out", at_least=float(at_least))
        else:
            # One that went well before may have been unlucky, but can't be relied on.
            self._trials[key] = replace(known, status="failed")

    def table(self, trials: Sequence[Trial]) -> pd.DataFrame:
        """Return configurations of some trials, (n, n_parameters)."""
        return self.space.frame({name: [t.configuration[name] for t in trials] for name in self.space.names})

    @property
    def best(self) -> Trial | None:
        """The fastest, by the mean of its repetitions."""
        return min(self.of("ok"), key=lambda trial: trial.mean_s, default=None)

    @property
    def bests(self) -> dict[Key, Trial]:
        """The fastest of each task of which a run went well, by the task's values; without tasks, of all."""
        found: dict[Key, Trial] = {}
        for trial in sorted(self.of("ok"), key=lambda trial: trial.mean_s):
            found.setdefault(self.task_of(trial.configuration), trial)
        return found

    def task_of(self, configuration: Mapping[str, Any]) -> Key:
        """Return what tells the task of a configuration from others."""
        return key_of(self.tasks, configuration)

    def best_like(self, configuration: Mapping[str, Any]) -> Trial | None:
        """Return the fastest of a configuration's task."""
        return self.bests.get(self.task_of(configuration))

    def history(self) -> pd.DataFrame:
        """Return a row for each trial: configuration, seconds, repetitions, status, why, and the best so far."""
        rows = [
            {**t.configuration, "seconds": t.mean_s, "repetitions": len(t.seconds), "status": t.status,
             "at_least": t.at_least, "why": t.why}
            for t in self
        ]  # fmt: skip
        columns = [*self.space.names, "seconds", "repetitions", "status", "at_least", "why"]
        table = pd.DataFrame(rows, columns=columns)
        table["best"] = table["seconds"].where(table["status"] == "ok").cummin().ffill()
        return table
