"""Boosted trees on the residuals of the trend; inputs, settings and rounds are chosen on left-out runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.inputs.derived import Derived, choose
from evenly.models.regression_model import Regressor, fold_numbers
from evenly.models.trees.columns import TreeColumns
from evenly.models.trees.ensemble import TreeEnsemble
from evenly.models.trees.fitters import Fitter, Settings

__all__ = ["BUDGETS", "Boosted", "Budget"]

_FOLDS = 5
#: Least number of runs for trees; with fewer runs only the trend is fitted.
_RUNS = 12
#: Number of stages (numbers of rounds) at which errors are compared; learning rate of the pilot fits that choose inputs
#: and settings.
_STAGES = 25
_PILOT = 0.1
#: Residuals of this scale are rounding errors, so no trees are fitted.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Budget:
    """Numbers of settings to compare and of trees to fit.

    Attributes
    ----------
    pilot_rounds : int
        Number of trees of the pilot fits that compare inputs and settings.
    candidates : int
        Number of settings to compare.
    rate : float
        Learning rate of the final fit.
    rounds : int
        Maximum number of trees of the final fit.
    """

    pilot_rounds: int
    candidates: int
    rate: float
    rounds: int


BUDGETS = {
    "quick": Budget(60, 1, 0.2, 240), "normal": Budget(200, 3, 0.05, 1200), "thorough": Budget(400, 3, 0.025, 3000),
}  # fmt: skip


@dataclass(frozen=True)
class _Grown:
    """A trend and trees on its residuals: F_0 and the sum of the h_m in Friedman's algorithm 1."""

    columns: TreeColumns
    trees: TreeEnsemble

    @classmethod
    def on(cls, runs: _Runs, derived: Derived, fitter: Fitter, settings: Settings, rounds: int) -> _Grown:
        """Fit a trend, then `rounds` trees to its leave-one-out residuals."""
        columns, trend = TreeColumns.learn(runs.inputs, runs.logs, runs.weights, derived)
        left = runs.logs - trend
        # 1.4826 times the median absolute deviation is a robust estimate of the standard deviation.
        scale = 1.4826 * float(np.median(np.abs(left - np.median(left))))
        if scale < _NOTHING or len(left) < _RUNS or not rounds:
            return cls(columns, TreeEnsemble.of([]))
        x = columns.matrix(runs.inputs, trend)
        return cls(columns, fitter.grow(x, left / scale, runs.weights, settings, rounds).scaled(scale))

    def stages(self, inputs: Inputs, rounds: int) -> Floats:
        """Return the predicted log times after each number of rounds in `_stages`, (n_stages, n)."""
        trend = self.columns.trend.predict(inputs)
        x = self.columns.matrix(inputs, trend)
        # F_m = F_(m-1) + h_m: the trees between two stages are added to the predictions of the earlier stage.
        ends = np.minimum(_stages(rounds), len(self.trees))
        begins = np.concatenate([[0], ends[:-1]])
        parts = [self.trees.part(int(a), int(b)).predict(x) for a, b in zip(begins, ends, strict=True)]
        return np.asarray(trend + self.trees.start + np.cumsum(parts, axis=0))

    def predict(self, inputs: Inputs) -> Floats:
        trend = self.columns.trend.predict(inputs)
        return np.asarray(trend + self.trees.predict(self.columns.matrix(inputs, trend)))


@dataclass(frozen=True)
class _Runs:
    inputs: Inputs
    logs: Floats
    weights: Floats

    def rows(self, which: Any) -> _Runs:
        """Return some of the runs, with weights rescaled to mean 1."""
        weights = self.weights[which]
        return _Runs(self.inputs.rows(which), self.logs[which], weights / weights.mean())


def _stages(rounds: int) -> Ints:
    """Return the numbers of rounds, from 0 to `rounds`, at which errors are compared."""
    return np.unique(np.round(np.linspace(0, rounds, _STAGES + 1)).astype(np.int64))


class Boosted(Regressor):
    """Boosted trees; derived inputs, settings and number of rounds are those with the least error on left-out runs."""

    def __init__(self, coding: Coding, fitter: type[Fitter], budget: Budget, folds: int = 5) -> None:
        self._coding, self._kind = coding, fitter
        pace = fitter.pace
        self._budget = replace(
            budget, pilot_rounds=budget.pilot_rounds // pace, rate=budget.rate * pace, rounds=budget.rounds // pace
        )
        self._count = folds if folds > 1 else _FOLDS

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        # Created here, since a stored model predicts without a fitter.
        self._fitter = self._kind()
        runs = _Runs(inputs, logs, weights)
        self._folds = fold_numbers(inputs, self._count)
        self._derived, self._settings, self._rounds = Derived.learn(self._coding, inputs, ()), Settings(), 0
        self._known = np.full(len(logs), np.nan)
        if self._folds is not None and len(logs) >= _RUNS:
            self._choose(runs, self._folds)
        self._grown = _Grown.on(runs, self._derived, self._fitter, self._settings, self._rounds)

    def _choose(self, runs: _Runs, folds: Ints) -> None:
        """Choose derived inputs, then settings, then the number of rounds, by errors on left-out runs."""
        candidates = self._fitter.candidates[: self._budget.candidates]
        self._derived = choose(
            Derived.learn(self._coding, runs.inputs),
            lambda derived: self._pilot(runs, folds, derived, self._fitter.candidates[0]),
        )
        errors = [self._pilot(runs, folds, self._derived, one) for one in candidates] if len(candidates) > 1 else [0.0]
        self._settings = replace(candidates[int(np.argmin(errors))], rate=self._budget.rate)
        # Early stopping by cross-validation: the number of rounds with the least error over all folds.
        ends = _stages(self._budget.rounds)
        made = np.zeros((len(ends), len(folds)))
        for fold in np.unique(folds):
            there = folds == fold
            grown = _Grown.on(runs.rows(~there), self._derived, self._fitter, self._settings, self._budget.rounds)
            made[:, there] = grown.stages(runs.inputs.rows(there), self._budget.rounds)
        best = int(np.argmin(np.abs(made - runs.logs) @ runs.weights))
        self._known, self._rounds = made[best], int(ends[best])

    def _pilot(self, runs: _Runs, folds: Ints, derived: Derived, settings: Settings) -> float:
        """Return the least error, over stages, on left-out folds: fold 0 of large tables, else folds of even number."""
        there = folds == 0 if len(folds) >= _FOLDS * 200 else folds % 2 == 0
        rounds = self._budget.pilot_rounds
        grown = _Grown.on(runs.rows(~there), derived, self._fitter, replace(settings, rate=_PILOT), rounds)
        missed = grown.stages(runs.inputs.rows(there), rounds) - runs.logs[there]
        return float(np.min(np.abs(missed) @ runs.weights[there])) / float(np.sum(runs.weights[there]))

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        if self._folds is not None and np.array_equal(folds, self._folds) and np.isfinite(self._known).all():
            return self._known
        runs, found = _Runs(inputs, logs, weights), np.full(len(logs), np.nan)
        for fold in np.unique(folds):
            there = folds == fold
            grown = _Grown.on(runs.rows(~there), self._derived, self._fitter, self._settings, self._rounds)
            found[there] = grown.predict(inputs.rows(there))
        return found

    def predict(self, inputs: Inputs) -> Floats:
        return self._grown.predict(inputs)

    @property
    def coefficients(self) -> float:
        return 1.0 + len(self._grown.columns.trend.linear)

    def get_state(self) -> dict[str, Any]:
        return {
            "columns": self._grown.columns.to_state(),
            "trees": self._grown.trees.to_state(),
            "settings": asdict(self._settings),
            "rounds": self._rounds,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._grown = _Grown(TreeColumns.from_state(state["columns"]), TreeEnsemble.from_state(state["trees"]))
        self._settings, self._rounds = Settings(**state["settings"]), int(state["rounds"])
