"""The model that picks itself: methods raced on left-out runs, blended by what they showed there.

Within the learned range it is a weighted mean of log predictions (`stacking`); beyond it hands over, over a tenth of a
half-range, to a method that extrapolates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.base import Model, check_effort
from evenly.models.ensemble.learning_curves import learning_curve
from evenly.models.ensemble.race import Entry, Table, candidates, race
from evenly.models.ensemble.residual_correction import Correction
from evenly.models.ensemble.stacking import blend_weights, cross_fitted
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.registry import method_names, model_class
from evenly.models.regression_model import RegressionModel, canonical_order, fold_numbers
from evenly.models.uncertainty.local_conformal import LocalConformal
from evenly.space.expressions import Expression
from evenly.space.space import Space

__all__ = ["Automatic"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Methods that may go on beyond the learned range, the best first.
_EXTRAPOLATES = ("beyond", "pmnf", "log-quadratic", "power-law")
#: Half-ranges over which predictions go over from the blend to the method that extrapolates.
_HANDOVER = 0.1
#: Trends for what lies beyond are learned from so many runs at most.
_TRENDS = 2_048
#: How many folds, up to so many runs: large parts can be left out where many runs remain.
_FOLDS = ((40, 10), (2_000, 5), (10**12, 3))
#: An error so many times the best earns no share.
_HOPELESS = 3.0


@final
class Automatic(Model):
    """Races the methods that suit the runs and blends the best.

    Parameters
    ----------
    effort : {"quick", "normal", "thorough"}
        Which methods are tried, and how hard: seconds, a minute, many minutes for a thousand runs.
    methods : sequence of str, optional
        Only these.
    offset : str, optional
        What is known about the time, up to a factor: an expression of the parameters such as ``"m * n * k / cores"``.
        What is learned is the time over it, so that predictions follow it where no runs tell otherwise.
    progress : callable, optional
        Told what is being learned.

    Attributes
    ----------
    choice_ : DataFrame
        One row per method tried: ``method``, ``error`` (MLogQ on left-out runs), ``fit_seconds`` (CPU), ``bytes``
        (learned numbers), ``weight``, ``note``.
    error_ : float
        MLogQ of the blend on left-out runs, its weights taken from other runs; NaN where nothing could be left out.
    correction_ : float
        By which share trees on the blend's errors lower it; 0 where they don't, and aren't used.
    beyond_ : str
        The method that predicts beyond the learned range.
    learning_curve_ : DataFrame
        ``runs``, ``error`` and ``measured``: how errors fell with the number of runs, and would go on
        (`evenly.models.ensemble.learning_curves`).

    Examples
    --------
    >>> cores, size = np.meshgrid([1, 2, 4, 8, 16], [100, 200, 400])
    >>> table = {"cores": cores.ravel(), "size": size.ravel()}
    >>> model = Automatic(effort="quick").fit(table, (size / cores).ravel())
    >>> model.predict({"cores": [4], "size": [300]}).round(1)
    array([75.])
    """

    method: ClassVar[str] = "auto"
    summary: ClassVar[str] = "the methods that suit the runs, raced on left-out runs and blended"

    def __init__(
        self,
        *,
        effort: str = "normal",
        methods: Sequence[str] | None = None,
        offset: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.effort = effort
        self.methods = methods
        self.offset = offset
        self.progress = progress

    # ---- learning -------------------------------------------------------------------------------------------

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        check_effort(self.effort)
        counted = np.flatnonzero(weights > 0)
        rows = len(weights)
        table, values, weights = table.iloc[counted].reset_index(drop=True), values[counted], weights[counted]
        self._offset = None if self.offset is None else Expression(self.offset)
        self._coding = Coding.learn(table, self.space_)
        inputs, logs = self._coding.inputs(table), np.log(values) - self._known(table)
        order = canonical_order(inputs, logs)
        table, weights = table.iloc[order].reset_index(drop=True), weights[order] / weights.mean()
        runs = Table(table, logs[order], weights, self.space_)
        without = self._learn_runs(runs, inputs.rows(order))
        if without is not None:
            self.left_out_ = np.full(rows, np.nan)
            self.left_out_[counted[order]] = np.exp(without + self._known(table))

    def _learn_runs(self, runs: Table, inputs: Inputs) -> Floats | None:
        """Race and blend; return the logs that runs were predicted to have while they were left out."""
        count = next(count for most, count in _FOLDS if len(runs) <= most)
        folds = fold_numbers(inputs, count)
        entrants = candidates(runs, self.effort, among=self.methods)
        if folds is None:
            self._learn_one(runs, inputs)
            return None
        entries = race(runs, entrants, folds, self.effort, self.progress)
        return self._blend(runs, inputs, folds, entries)

    def _learn_one(self, runs: Table, inputs: Inputs) -> None:
        """Learn from runs of a single configuration."""
        only = model_class("power-law")().fit(runs.frame, np.exp(runs.logs), runs.weights, space=runs.space)
        self._members, self._shares, self.error_ = [only], np.ones(1), float("nan")
        self._correction = Correction()
        self._beyond, self.beyond_ = only, only.method
        self._conformal = LocalConformal.learn(inputs, np.full(len(runs), np.nan), freedom=float(len(runs) - 1))
        self.choice_, self.learning_curve_ = _choice([], []), pd.DataFrame({"runs": [], "error": [], "measured": []})

    def _blend(self, runs: Table, inputs: Inputs, folds: Ints, entries: list[Entry]) -> Floats:
        able = [e for e in entries if e.model is not None and np.isfinite(e.error)]
        if not able:
            reasons = "; ".join(f"{e.candidate.method}: {e.note}" for e in entries)
            raise InputError(f"no method could learn from these runs ({reasons})")
        best = min(e.error for e in able)
        able = [e for e in able if e.error <= _HOPELESS * best + 1e-9]
        predicted = np.column_stack([e.left_out for e in able])
        known = np.flatnonzero(np.isfinite(predicted).all(axis=1))
        logs, weights = runs.logs[known], runs.weights[known]
        shares = blend_weights(predicted[known], logs, weights)
        honest = cross_fitted(predicted[known], logs, weights, folds[known])
        say = self.progress or (lambda _: None)
        say("what is left")
        self._correction, added = self._corrected(inputs.rows(known), logs - honest, weights, folds[known])
        honest = honest + added
        self.error_ = float(np.average(np.abs(honest - logs), weights=weights))
        self._conformal = LocalConformal.learn(
            inputs.rows(known), logs - honest, freedom=max(float(len(runs) - len(shares)), 0.0)
        )
        members = [(e.model, s) for e, s in zip(able, shares, strict=True) if s > 0 and e.model is not None]
        self._members, self._shares = [m for m, _ in members], np.array([s for _, s in members])
        say("beyond the range")
        self._beyond = self._extrapolating(runs, able)
        self.beyond_ = self._beyond.method
        self.choice_ = _choice(entries, [(e, float(s)) for e, s in zip(able, shares, strict=True)])
        say("what more runs would bring")
        self.learning_curve_ = self._curve(runs, able[int(np.argmax(shares))], folds)
        without = np.full(len(runs), np.nan)
        without[known] = honest
        return without

    def _corrected(self, inputs: Inputs, errors: Floats, weights: Floats, folds: Ints) -> tuple[Correction, Floats]:
        if self.methods is not None or self.effort == "quick":
            return Correction(), np.zeros(len(errors))
        return Correction.learn(self._coding, inputs, errors, weights, folds)

    def _curve(self, runs: Table, first: Entry, folds: Ints) -> pd.DataFrame:
        """Follow the method of the largest share, and say what the blend would make of it."""
        count = int(folds.max()) + 1
        make = partial(first.candidate.model, "quick", folds=0)
        learned_from = round(len(runs) * (count - 1) / count)
        curve = learning_curve(runs, make, first.error, learned_from, quick=self.effort == "quick")
        return curve.assign(error=curve["error"] * (self.error_ / max(first.error, 1e-300)))

    def _extrapolating(self, runs: Table, able: list[Entry]) -> Model:
        learned = {e.candidate.method: e.model for e in able if e.model is not None}
        for name in _EXTRAPOLATES:
            if name in learned:
                return learned[name]
            if name == "beyond" and self.methods is None and self.effort != "quick" and name in method_names():
                kind = model_class(name)
                given = {"effort": self.effort} if "effort" in kind.default_arguments() else {}
                if len(runs) > _TRENDS:
                    runs = runs.rows(np.sort(np.random.default_rng(0).permutation(len(runs))[:_TRENDS]))
                return kind(**given).fit(runs.frame, np.exp(runs.logs), runs.weights, space=runs.space)
        return model_class("power-law")().fit(runs.frame, np.exp(runs.logs), runs.weights, space=runs.space)

    @property
    def correction_(self) -> float:
        return self._correction.gain

    # ---- asking ---------------------------------------------------------------------------------------------

    def _known(self, table: pd.DataFrame) -> Floats:
        """Return the logarithm of the offset, (n,)."""
        if self._offset is None:
            return np.zeros(len(table))
        values = np.asarray(self._offset(table), dtype=np.float64)
        if not np.all(np.isfinite(values) & (values > 0)):
            row = int(np.flatnonzero(~(np.isfinite(values) & (values > 0)))[0])
            raise InputError(f"the offset {self.offset!r} must be above zero, but row {row} gives {values[row]}")
        return np.log(values)

    def _handed_over(self, inputs: Inputs) -> Floats:
        return np.clip(inputs.beyond / _HANDOVER, 0.0, 1.0)

    def _logs(self, table: pd.DataFrame, inputs: Inputs) -> Floats:
        logs = self._correction.predict(inputs)
        for member, share in zip(self._members, self._shares, strict=True):
            logs += share * self._logs_of(member, table, inputs)
        outside = self._handed_over(inputs)
        far = np.flatnonzero(outside > 0)
        if len(far):
            there = np.log(self._beyond._predict(table.iloc[far]))
            logs[far] += outside[far] * (there - logs[far])
        return logs

    def _logs_of(self, member: Model, table: pd.DataFrame, inputs: Inputs) -> Floats:
        if isinstance(member, RegressionModel):
            return member._logs(table, self._coding, inputs)
        return np.log(member._predict(table))

    def _predict(self, table: pd.DataFrame) -> Floats:
        logs = self._logs(table, self._coding.inputs(table)) + self._known(table)
        return np.asarray(np.exp(np.clip(logs, -700, 700)), dtype=np.float64)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        inputs = self._coding.inputs(table)
        logs, half = self._logs(table, inputs), self._conformal.half_width(inputs, level)
        low, high = logs - half, logs + half
        outside = self._handed_over(inputs)
        far = np.flatnonzero(outside > 0)
        if len(far):
            bounds = self._beyond._interval(table.iloc[far], level)
            low[far] = np.minimum(low[far], logs[far] + outside[far] * (np.log(bounds[0]) - logs[far]))
            high[far] = np.maximum(high[far], logs[far] + outside[far] * (np.log(bounds[1]) - logs[far]))
        known = self._known(table)
        return np.exp(np.clip(low + known, -700, 700)), np.exp(np.clip(high + known, -700, 700))

    # ---- storing --------------------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        choice = self.choice_.to_dict(orient="list")
        return {
            "coding": self._coding.to_state(),
            "shares": self._shares,
            "members": [_member_state(m) for m in self._members],
            "beyond": _member_state(self._beyond),
            "correction": self._correction.to_state(),
            "conformal": self._conformal.to_state(),
            "error": self.error_,
            "choice": {str(name): list(values) for name, values in choice.items()},
            "learning_curve": {str(k): list(v) for k, v in self.learning_curve_.to_dict(orient="list").items()},
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._offset = None if self.offset is None else Expression(self.offset)
        self._coding = Coding.from_state(state["coding"])
        self._shares = np.asarray(state["shares"], dtype=np.float64)
        self._members = [self._member(s) for s in state["members"]]
        self._beyond = self._member(state["beyond"])
        self.beyond_ = self._beyond.method
        self._correction = Correction.from_state(state.get("correction"), self._coding)
        self._conformal = LocalConformal.from_state(state["conformal"])
        self.error_ = float(state["error"])
        self.choice_ = pd.DataFrame(state["choice"])
        self.learning_curve_ = pd.DataFrame(state["learning_curve"])

    def _member(self, state: Mapping[str, Any]) -> Model:
        model = model_class(state["method"])(**state["arguments"])
        model.space_ = Space.from_dict(self.space_.to_dict())
        model.feature_names_in_, model.n_features_in_ = self.feature_names_in_, self.n_features_in_
        model.n_runs_, model.response_, model.training_ = int(state["n_runs"]), dict(self.response_), {}
        model._warned, model.left_out_, model.learned_ = True, None, ""
        model._set_state(state["state"])
        return model


def _member_state(model: Model) -> dict[str, Any]:
    arguments = {name: value for name, value in model.get_params(deep=False).items() if name != "progress"}
    return {
        "method": model.method,
        "arguments": arguments,
        "n_runs": model.n_runs_,
        "state": model._get_state(),
    }


def state_bytes(state: Any) -> int:
    """Return how many bytes the numbers of a state take."""
    if isinstance(state, np.ndarray):
        return int(state.nbytes)
    if isinstance(state, Mapping):
        return sum(state_bytes(value) for value in state.values())
    if isinstance(state, list | tuple):
        return sum(state_bytes(value) for value in state)
    return len(state) if isinstance(state, str) else 8


def _choice(entries: list[Entry], shares: list[tuple[Entry, float]]) -> pd.DataFrame:
    """Return what was tried as a table, the largest weight first."""
    weight = {e.candidate.method: s for e, s in shares}
    rows = [
        {
            "method": e.candidate.method,
            "error": e.error,
            "fit_seconds": e.fit_seconds,
            "bytes": 0 if e.model is None else state_bytes(e.model._get_state()),
            "weight": weight.get(e.candidate.method, 0.0),
            "note": e.note,
        }
        for e in entries
    ]
    columns = ["method", "error", "fit_seconds", "bytes", "weight", "note"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["weight", "error"], ascending=[False, True], ignore_index=True)
