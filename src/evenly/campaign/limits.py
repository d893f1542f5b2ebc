"""Time limits of jobs from a model: each asks for what its run is predicted to take at most, not for one fixed limit.

A job asks for the upper bound of its predicted interval times a factor, at least for a floor, and never for more than
the study's `timeout_s` and a minute, the fixed limit. Where nothing is known it asks for that. A job that reaches a
smaller limit is made once more with the fixed one, in the same folder: so limits don't change what is measured, unless
the program goes on from files that the first run left. Short limits let schedulers start jobs sooner, in gaps that
others leave.
"""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evenly.campaign.one_run import Runner
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from evenly.campaign.study import Study
from evenly.errors import EvenlyError, EvenlyWarning, InputError
from evenly.space.space import Space

__all__ = ["Learn", "Limits", "Saved", "Times", "saved"]

#: For each configuration: the seconds that a run is expected to take, and the upper bound; None where it isn't known.
Times = Callable[[Sequence[Mapping[str, Any]]], list[tuple[float, float] | None]]
#: Learns from a table of runs, parameters with the wall ``seconds`` of the whole run and its ``status``; None if there
#: are too few. `evenly.time_limits.by_model.learn_times` is one.
Learn = Callable[[pd.DataFrame, Space], Times | None]
#: It is learned anew once there are so many times more runs.
_MORE = 1.5
#: Where cores are idle meanwhile, learning takes at most this share of all the time; it may take so many seconds.
_SHARE, _LEARNING_S = 0.02, 10.0
#: What a model may fail with; a limit is a convenience, so no campaign ends by it.
_FAILURES = (EvenlyError, ArithmeticError, ValueError)  # numpy's LinAlgError is a ValueError
#: Seconds of a job's limit that evenly itself needs.
_SPARE_S = 60.0


class Limits:
    """What runs of a study are predicted to take, learned from its stored runs as they come.

    Parameters
    ----------
    study : Study
    store : Store
    learn : callable, optional
        Needed if the study's limits are those of a model.

    Raises
    ------
    InputError
        If it is needed, but not given.
    """

    def __init__(self, study: Study, store: Store, learn: Learn | None) -> None:
        if study.program.placement.by_model is not None and learn is None:
            raise InputError(
                'the study asks for time_limit = "model", but there is no model: `evenly measure` has one, and '
                "evenly.time_limits.by_model.learn_times is it (times=)"
            )
        self._study, self._store, self._learn = study, store, learn
        self._learned_from = 0
        self._times: Times | None = None
        self._began, self._took_s = time.monotonic(), _LEARNING_S
        #: Whether cores are idle while times are learned.
        self.keeps_waiting = False

    def times(self, configurations: Sequence[Mapping[str, Any]]) -> list[tuple[float, float] | None]:
        """Return the expected seconds and the upper bound of a run of each configuration; None where not known."""
        try:
            known = self._known()
            return [None] * len(configurations) if known is None else known(configurations)
        except _FAILURES as error:
            self._times = None  # until there are more runs
            self._warn(error)
            return [None] * len(configurations)

    def _warn(self, error: Exception) -> None:
        said = f"how long runs take can't be learned or predicted now ({type(error).__name__}: {error})"
        if self._study.program.placement.by_model is not None:
            said += ": jobs ask for the fixed limit"
        warnings.warn(EvenlyWarning(said), stacklevel=4)

    def _known(self) -> Times | None:
        count = self._store.count()
        if self._learn is not None and count >= max(1.0, _MORE * self._learned_from) and self._is_affordable:
            self._learned_from, began = count, time.monotonic()
            self._times = self._learn(_table(self._store), self._study.space)
            self._took_s = max(_LEARNING_S, time.monotonic() - began)
        return self._times

    @property
    def _is_affordable(self) -> bool:
        return not self.keeps_waiting or self._took_s < _SHARE * (time.monotonic() - self._began)

    def limit_s(self, configuration: Mapping[str, Any]) -> float | None:
        """Return the limit of a run's job, in whole minutes as seconds; None for the fixed one."""
        wanted = self._study.program.placement.by_model
        (found,) = [None] if wanted is None else self.times([configuration])
        if wanted is None or found is None:
            return None
        seconds = 60.0 * math.ceil((max(wanted.floor_s, wanted.factor * found[1]) + _SPARE_S) / 60)
        return seconds if seconds < fixed_limit_s(self._study) else None


def fixed_limit_s(study: Study) -> float:
    """Return the limit of jobs without a model, in whole minutes as seconds."""
    return 60.0 * math.ceil(((study.program.timeout_s or math.inf) + _SPARE_S) / 60)


def _table(store: Store) -> pd.DataFrame:
    known = store.configurations()
    rows = [
        {**known[record.configuration], "seconds": record.took, "status": record.status}
        for record in store.records()
        if record.status in ("ok", "timed out") and record.took > 0
    ]
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Saved:
    """What limits from a model saved against one fixed limit.

    Parameters
    ----------
    runs, shorter : int
        Runs, and those of them whose jobs asked for less than the fixed limit.
    cut : int
        Runs that reached their limit and were made again.
    asked, fixed : float
        Core-hours of all limits that were asked for, those of runs made again included; and of as many fixed limits.
    lost : float
        Core-hours of the runs that were cut.
    median_s, fixed_s : float
        The median of the limits and the fixed one, in seconds.
    """

    runs: int
    shorter: int
    cut: int
    asked: float
    fixed: float
    lost: float
    median_s: float
    fixed_s: float

    def __str__(self) -> str:
        if not self.shorter:
            return f"time limits: all {self.runs} jobs asked for the fixed one, since too little was known"
        told = (
            f"time limits by the model: {self.runs} jobs asked for {self.asked:.3g} core-hours in place of "
            f"{self.fixed:.3g}; the median limit was {self.median_s / 60:.0f} min in place of {self.fixed_s / 60:.0f} "
            f"min; {self.cut} reached theirs and were made again, which took {self.lost:.2g} core-hours"
        )
        if self.cut:
            told += " (in the same folder: a program that goes on from its own checkpoints took less the second time)"
        return told


def saved(
    study: Study, runner: Runner, known: Mapping[int, Mapping[str, Any]], records: Sequence[Record]
) -> Saved | None:
    """Return what limits from a model saved; None if the study has none, or nothing was run."""
    if study.program.placement.by_model is None or not records:
        return None
    fixed, each = fixed_limit_s(study), []
    asked = lost = all_fixed = 0.0
    for record in records:
        hours = runner.cores_needed(known[record.configuration]) / 3600
        limit, cut = (float(record.details.get(name, 0.0)) for name in ("limit_s", "cut_s"))
        each.append(limit or fixed)
        asked += hours * (each[-1] + (fixed if cut else 0.0))
        all_fixed += hours * fixed
        lost += hours * cut
    cuts = sum("cut_s" in record.details for record in records)
    shorter = sum(limit < fixed for limit in each)
    return Saved(len(records), shorter, cuts, asked, all_fixed, lost, statistics.median(each), fixed)
