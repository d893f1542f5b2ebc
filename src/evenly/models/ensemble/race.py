"""The race: methods are compared by cross-validation, that is, by their errors on runs they haven't learned from.

For a large table, a screening on a sample of the runs comes first: methods whose error is far above the best are
excluded. The others learn from all runs. Cheap methods are tried first. At effort "normal", the cheap methods race at
effort "quick"; a dear one enters if it can win: if, learning from all folds but one, it comes close to the best of them
on this fold. The choice of methods depends on the table and the effort only, never on measured time, so that the same
runs always give the same model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import EvenlyError, InputError
from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.base import EFFORTS, Model
from evenly.models.ensemble.steady_ratio import FEW
from evenly.models.registry import method_names, model_class
from evenly.space.parameters import Categorical
from evenly.space.space import Space

__all__ = ["OF_RATIO", "Entry", "MethodCandidate", "Table", "candidates", "left_out_logs_of", "mean_error", "race"]

#: Number of runs to learn from in the screening. A method is excluded if its error there exceeds the best by this
#: factor.
_SCREENING_RUNS, _SCREENING_FACTOR = 1_500, 1.6
#: A dear method is excluded if its error on one fold exceeds the best of the cheap ones by this factor.
_PILOT_FACTOR = 1.1
#: What the name of a method ends in that learns the ratio to expected times.
OF_RATIO = " of ratio"


@dataclass(frozen=True)
class Table:
    """Runs to learn from.

    Attributes
    ----------
    frame : DataFrame (n, d)
    logs : array (n,)
    weights : array (n,)
    space : Space
    measured : bool array (n,)
        False for bounds, whose logs are working values (`evenly.models.censoring`).
    expected : array (n,), optional
        Logs that are expected from another machine, version or resolution (`evenly.models.ensemble.prior`).
    """

    frame: pd.DataFrame
    logs: Floats
    weights: Floats
    space: Space
    measured: Flags
    expected: Floats | None = None

    def __len__(self) -> int:
        return len(self.logs)

    def rows(self, which: NDArray[Any]) -> Table:
        """Return some of the runs."""
        return Table(
            self.frame[which].reset_index(drop=True) if which.dtype == bool else self.frame.iloc[which],
            self.logs[which],
            self.weights[which],
            self.space,
            self.measured[which],
            None if self.expected is None else self.expected[which],
        )

    def seen_by(self, candidate: MethodCandidate) -> Table:
        """Return the runs as a candidate learns them: times, or their ratios to the expected ones."""
        if not candidate.ratio:
            return self
        return replace(self, logs=self.logs - self.base(candidate), expected=None)

    def base(self, candidate: MethodCandidate) -> Floats:
        """Return the logs to add to a candidate's own, (n,)."""
        return self.expected if candidate.ratio and self.expected is not None else np.zeros(len(self))

    def teach(self, model: Model) -> Model:
        """Fit a model to the runs, and return it."""
        space = Space.from_data(self.frame, like=self.space)
        return model._fit_rows(space, self.frame, np.exp(self.logs), self.weights, self.measured)


@dataclass(frozen=True)
class MethodCandidate:
    """A method that may enter the race, and the tables for which it is tried.

    Attributes
    ----------
    method : str
    effort : str
        The method is tried at this effort and at higher ones.
    fewest, most : int
        Least and largest number of runs.
    labels : bool
        Whether it supports categorical parameters.
    parameters : int
        Largest number of parameters.
    worth : int
        With more runs than this it is tried at effort "thorough" only, since it is slow and usually not the best.
    ratio : bool
        Whether it learns the ratio of the times to the expected ones.
    """

    method: str
    effort: str = "quick"
    fewest: int = 1
    most: int = 10**9
    labels: bool = True
    parameters: int = 10**9
    worth: int = 10**9
    ratio: bool = False

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.method}{OF_RATIO}" if self.ratio else self.method

    def model(self, effort: str, **more: Any) -> Model:
        """Return a new, unfitted model; keyword arguments that the method doesn't have are dropped."""
        kind = model_class(self.method)
        known = set(kind.default_arguments())
        given = {"effort": effort, **more}
        return kind(**{name: value for name, value in given.items() if name in known})


#: Cheap methods first.
CANDIDATES = (
    MethodCandidate("power-law"),
    MethodCandidate("log-quadratic"),
    MethodCandidate("pmnf", most=400, labels=False, parameters=3),
    MethodCandidate("gp", fewest=4),
    MethodCandidate("cpr", fewest=60, parameters=16),
    MethodCandidate("boosting", fewest=120),
    MethodCandidate("extra-trees", "normal", fewest=60, worth=8_000),
    MethodCandidate("mars", "normal", fewest=40, worth=8_000),
    MethodCandidate("neural-net", "normal", fewest=60),
    MethodCandidate("nearest", "thorough", fewest=10),
    MethodCandidate("svm", "thorough", fewest=30, most=5_000),
    MethodCandidate("sparse-grid", "thorough", fewest=60),
    MethodCandidate("forest", "thorough", fewest=60),
    MethodCandidate("hist-boosting", "thorough", fewest=200),
)

#: Methods for the ratio to expected times, which are simple: a constant unless runs show otherwise.
RATIOS = (MethodCandidate("gp", ratio=True), MethodCandidate("power-law", fewest=FEW, ratio=True))


@dataclass
class Entry:
    """Result of a candidate in the race.

    Attributes
    ----------
    candidate : MethodCandidate
    left_out : array (n,)
        Log time predicted for each run by models that haven't learned from it; NaN where there is no prediction.
    error : float
        MLogQ of these predictions.
    fit_seconds : float
        CPU time in seconds to fit the model and to predict left-out runs.
    model : Model or None
        Fitted to all runs; None if the candidate was excluded or failed.
    note : str
        The reason why it was excluded or failed, else empty.
    """

    candidate: MethodCandidate
    left_out: Floats
    error: float = np.inf
    fit_seconds: float = 0.0
    model: Model | None = None
    note: str = ""


def candidates(table: Table, effort: str, *, among: Sequence[str] | None = None) -> list[MethodCandidate]:
    """Return the methods to try on a table, cheap ones first; those named in `among`, where it is given.

    If times are expected, methods for the ratio come before them.
    """
    if among is not None and not among:
        raise InputError("methods must name at least one method: name some, or leave the argument out to try all")
    known = set(method_names())
    unknown = [name for name in among or () if name not in known]
    if unknown:
        raise InputError(f"methods must be among {', '.join(sorted(known))}, but got {unknown[0]!r}")
    labels = any(isinstance(kind, Categorical) and len(kind.options) > 1 for kind in table.space.parameters.values())
    found = [
        c
        for c in CANDIDATES
        if c.method in known
        and EFFORTS.index(c.effort) <= EFFORTS.index(effort)
        and c.fewest <= len(table) <= (c.most if effort == "thorough" else min(c.most, c.worth))
        and (c.labels or not labels)
        and len(table.space.parameters) <= c.parameters
    ]
    if among is not None:
        listed = {c.method: c for c in CANDIDATES}
        found = [listed.get(name, MethodCandidate(name)) for name in dict.fromkeys(among)]
    ratios = () if table.expected is None else RATIOS
    return [*(c for c in ratios if c.fewest <= len(table)), *found]


def race(
    table: Table,
    entrants: Sequence[MethodCandidate],
    folds: Ints,
    effort: str,
    progress: Callable[[str], None] | None = None,
    *,
    staged: bool = False,
) -> list[Entry]:
    """Fit each candidate to all runs, and predict each run by a model fitted without the run's fold.

    Parameters
    ----------
    table : Table
    entrants : sequence of MethodCandidate
    folds : int array (n,)
        Index of each run's fold, from 0.
    effort : str
    progress : callable, optional
        Called with the name of the step that begins, and what the steps so far have brought.
    staged : bool
        Whether cheap methods race at effort "quick", and dear ones only if they can win.

    Returns
    -------
    list of Entry
        One per candidate, in the same order.
    """
    say = progress or (lambda _: None)
    entries = []
    excluded = _excluded(table, entrants, say)
    for candidate in entrants:
        entry = Entry(candidate, np.full(len(table), np.nan), note=excluded.get(candidate.name, ""))
        seen, base = table.seen_by(candidate), table.base(candidate)
        entries.append(entry)
        if staged and candidate.effort != "quick" and not entry.note:
            say(f"whether {candidate.method} pays{_best_so_far(entries)}")
            entry.note = _pilot(candidate, table, folds, entries)
        if entry.note:
            continue
        say(f"{candidate.name}{_best_so_far(entries)}")
        given = "quick" if staged and candidate.effort == "quick" else effort
        began = time.process_time()
        try:
            entry.model = seen.teach(candidate.model(given, folds=int(folds.max()) + 1))
            if entry.model.left_out_predictions_ is not None:
                # The model has made its own left-out predictions, by the same folds or leave-one-out.
                entry.left_out = np.log(entry.model.left_out_predictions_) + base
            else:
                entry.left_out = left_out_logs_of(partial(candidate.model, given, folds=0), seen, folds) + base
                entry.left_out[~table.measured] = np.nan
        except (InputError, ImportError) as error:
            entry.note, entry.model = str(error), None
            continue
        entry.fit_seconds = time.process_time() - began
        entry.error = mean_error(entry.left_out, table)
    return entries


def _best_so_far(entries: Sequence[Entry]) -> str:
    best = min(entries, key=lambda entry: entry.error)
    return f" (best so far: {best.candidate.name}, error {best.error:.3g})" if np.isfinite(best.error) else ""


def _pilot(candidate: MethodCandidate, table: Table, folds: Ints, entries: Sequence[Entry]) -> str:
    """Let a dear method predict the first fold; return why it can't win, or nothing if it can."""
    try:
        guess = left_out_logs_of(partial(candidate.model, "quick", folds=0), table, folds, [0])
    except (EvenlyError, ImportError) as problem:
        return str(problem)
    there = np.isfinite(guess)
    error = mean_error(guess, table)
    best = min((mean_error(np.where(there, entry.left_out, np.nan), table) for entry in entries), default=np.inf)
    if error <= _PILOT_FACTOR * best:
        return ""
    return f"left out after one fold: error {error:.3f}, the best {best:.3f}"


def left_out_logs_of(
    make: Callable[[], Model], table: Table, folds: Ints, asked: Sequence[int] | None = None
) -> Floats:
    """Predict the log times of each fold by a model from ``make()`` fitted to the other folds, (n,).

    Only the folds in `asked` are predicted (by default all); runs of other folds are NaN. A run is also NaN if one of
    its labels doesn't occur in the other folds, or if a parameter isn't above zero, as it is in all of these.
    """
    found = np.full(len(table), np.nan)
    for fold in np.unique(folds) if asked is None else asked:
        there = folds == fold
        rest = table.rows(~there)
        model = rest.teach(make())
        for name, kind in model.space_.parameters.items():
            if isinstance(kind, Categorical):
                there = there & table.frame[name].isin(list(kind.options)).to_numpy()
            elif (rest.frame[name] > 0).all():
                there = there & (table.frame[name] > 0).to_numpy()
        if there.any():
            found[there] = np.log(model._predict(model.space_.frame(table.frame.iloc[np.flatnonzero(there)])))
    return found


def mean_error(left_out: Floats, table: Table) -> float:
    """Return the MLogQ of left-out predictions (n,) in logs, of measured runs; infinite if all are NaN."""
    known = np.isfinite(left_out) & table.measured
    if not known.any():
        return float("inf")
    return float(np.average(np.abs(left_out - table.logs)[known], weights=table.weights[known]))


def _excluded(table: Table, entrants: Sequence[MethodCandidate], say: Callable[[str], None]) -> dict[str, str]:
    """Screen the methods on a sample of a large table; return those to exclude, each with the reason."""
    if len(table) < 2 * _SCREENING_RUNS:
        return {}
    some = table.rows(np.sort(np.random.default_rng(0).permutation(len(table))[: 2 * _SCREENING_RUNS]))
    halves = np.arange(len(some)) % 2
    reasons: dict[str, str] = {}
    errors: dict[str, float] = {}
    for candidate in entrants:
        say(f"{candidate.name} on {_SCREENING_RUNS} runs")
        seen = some.seen_by(candidate)
        try:
            guess = left_out_logs_of(partial(candidate.model, "quick", folds=0), seen, halves, [1])
        except (EvenlyError, ImportError) as problem:
            reasons[candidate.name] = str(problem)
        else:
            errors[candidate.name] = mean_error(guess, seen)
    best = min(errors.values(), default=np.inf)
    for name, error in errors.items():
        if error > _SCREENING_FACTOR * best:
            reasons[name] = f"left out after {_SCREENING_RUNS:,} runs: error {error:.3f}, the best {best:.3f}"
    return reasons
