"""Models made of a regression on coded inputs: what neighbours, trees, kernels, nets and tensors share.

A `Regressor` turns inputs into logarithms. A `RegressionModel` codes the table, centres the logarithms, fits its
regressor, and gets intervals from cross-validation: runs are left out fold by fold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.base import Model
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.uncertainty.local_conformal import LocalConformal

__all__ = ["RegressionModel", "Regressor", "canonical_order", "fold_numbers", "left_out_logs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Logarithms are rounded to so many decimals, so that the unit of time decides no comparison of two splits.
_DECIMALS = 11
#: Predicted logarithms stay so close to the range of those learned from: times beyond e^±5 of it are no predictions.
_BEYOND = 5.0
_FOLDS = 5


class Regressor(ABC):
    """Learns logarithms from inputs. Seeds are fixed: the same rows in the same order give the same regressor."""

    @abstractmethod
    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        """Learn from (n, …) inputs, logs (n,) of median about 0 and weights (n,) > 0 of mean 1; n may be 1."""

    @abstractmethod
    def predict(self, inputs: Inputs) -> Floats:
        """Return logs, (n,), finite everywhere."""

    @abstractmethod
    def get_state(self) -> dict[str, Any]:
        """Return all that was learned: numbers, strings, lists, dicts, and numeric arrays."""

    @abstractmethod
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned."""

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        """Predict each run as if its fold hadn't been learned from, (n,); None where only refitting tells.

        Methods that know this from what they have learned (a Gaussian process, neighbours) override it.
        """
        del inputs, logs, weights, folds
        return None

    @property
    def coefficients(self) -> float:
        """Numbers of effect learned from runs; for intervals from very few runs."""
        return 1.0


class RegressionModel(Model):
    """A model that is a `Regressor` on coded inputs.

    Subclasses fill in `_regressor`. A parameter ``folds`` of theirs, if they have one, says how many folds intervals
    are learned from; with 0 nothing is left out, and intervals are as wide as for runs that tell nothing.
    """

    _coding: Coding
    _conformal: LocalConformal

    @abstractmethod
    def _regressor(self, coding: Coding, n_runs: int) -> Regressor:
        """Return a regressor that has learned nothing yet, for a table of `n_runs` rows; check arguments here."""

    def regressor(self, coding: Coding, n_runs: int) -> Regressor:
        """Return the method's regressor, which has learned nothing yet, for inputs that another coding makes."""
        return self._regressor(coding, n_runs)

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        counted = weights > 0
        table, values, weights = table[counted].reset_index(drop=True), values[counted], weights[counted]
        self._coding = Coding.learn(table, self.space_)
        inputs, logs = self._coding.inputs(table), np.log(values)
        # One order and one scale for equal runs, so that neither the rows' order nor the unit changes the fit.
        order = canonical_order(inputs, logs)
        inputs, logs, weights = inputs.rows(order), logs[order], weights[order]
        self._centre = float(np.median(logs))
        logs = np.round(logs - self._centre, _DECIMALS)
        weights = weights / weights.mean()
        # No regressor is followed far beyond the logarithms it has seen.
        self._limits = float(logs.min()) - _BEYOND, float(logs.max()) + _BEYOND
        self._fitted = self._regressor(self._coding, len(logs))
        self._fitted.fit(inputs, logs, weights)
        # Each run as predicted without its fold: by a formula of the method's own, or by fitting once per fold.
        guess = np.full(len(logs), np.nan)
        folds = fold_numbers(inputs, getattr(self, "folds", _FOLDS))
        if folds is not None:
            known = self._fitted.left_out(inputs, logs, weights, folds)
            if known is None:
                known = left_out_logs(lambda n: self._regressor(self._coding, n), inputs, logs, weights, folds)
            guess = np.clip(known, *self._limits)
        freedom = max(len(logs) - self._fitted.coefficients, 0.0)
        self._conformal = LocalConformal.learn(inputs, logs - guess, freedom=freedom)
        # Back in the order of the rows given, and in their unit.
        left_out = np.full(len(counted), np.nan)
        left_out[np.flatnonzero(counted)[order]] = np.exp(guess + self._centre)
        self.left_out_ = left_out if np.isfinite(left_out).any() else None

    def _logs(self, table: pd.DataFrame, coding: Coding, inputs: Inputs) -> Floats:
        """Return the logarithms predicted for a table that another model has coded; its coding is mostly this one's."""
        return self._coded_logs(inputs if coding == self._coding else self._coding.inputs(table))

    def _coded_logs(self, inputs: Inputs) -> Floats:
        return np.asarray(np.clip(self._fitted.predict(inputs), *self._limits) + self._centre)

    def _predict(self, table: pd.DataFrame) -> Floats:
        return np.asarray(np.exp(self._coded_logs(self._coding.inputs(table))), dtype=np.float64)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        inputs = self._coding.inputs(table)
        logs, half = self._coded_logs(inputs), self._conformal.half_width(inputs, level)
        return np.exp(logs - half), np.exp(logs + half)

    def _get_state(self) -> dict[str, Any]:
        return {
            "coding": self._coding.to_state(),
            "centre": self._centre,
            "limits": list(self._limits),
            "conformal": self._conformal.to_state(),
            "regressor": self._fitted.get_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._coding = Coding.from_state(state["coding"])
        self._centre = float(state["centre"])
        self._limits = float(state["limits"][0]), float(state["limits"][1])
        self._conformal = LocalConformal.from_state(state["conformal"])
        self._fitted = self._regressor(self._coding, self.n_runs_)
        self._fitted.set_state(state["regressor"])


def canonical_order(inputs: Inputs, logs: Floats) -> Ints:
    """Return an order of the rows that doesn't depend on the order in which they came, (n,)."""
    return np.lexsort((logs, *inputs.labels.T, *inputs.numbers.T))


def fold_numbers(inputs: Inputs, folds: int, *, seed: int = 0) -> Ints | None:
    """Give each run a fold, (n,); runs of one configuration share theirs. None where there are fewer than 2 to make."""
    # Repeated runs of a configuration must not stand on both sides of a fold.
    _, group = np.unique(np.hstack([inputs.numbers, inputs.labels]), axis=0, return_inverse=True)
    group = np.ravel(group)
    groups = int(group.max()) + 1
    if folds < 2 or groups < 2:
        return None
    # Few configurations are left out one by one: folds of a tenth cost them too much of what they know.
    count = min(groups, max(folds, 10 if groups <= 40 else folds))
    return np.asarray((np.random.default_rng(seed).permutation(groups) % count)[group], dtype=np.int64)


def left_out_logs(make: Any, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats:
    """Predict each fold by what a regressor of ``make(n_runs)`` learned from the others, (n,)."""
    found = np.full(len(logs), np.nan)
    for fold in np.unique(folds):
        there = folds == fold
        one: Regressor = make(int(np.sum(~there)))
        one.fit(inputs.rows(~there), logs[~there], weights[~there] / weights[~there].mean())
        found[there] = one.predict(inputs.rows(there))
    return found
