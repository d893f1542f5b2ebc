"""Base classes of models that regress log times on coded inputs: neighbours, trees, kernel methods, nets, tensors.

A `Regressor` predicts logarithms of times from coded inputs. A `RegressionModel` codes the table, centres the
logarithms and fits its regressor. Its prediction intervals come from k-fold cross-validation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats, Ints
from evenly.models.base import Model
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.uncertainty.local_conformal import LocalConformal

__all__ = ["RegressionModel", "Regressor", "canonical_order", "fold_numbers", "left_out_logs"]

#: Logarithms are rounded to this many decimals. Otherwise the unit of time, by rounding errors, could decide which of
#: two equally good splits a regressor takes.
_DECIMALS = 11
#: Predicted logarithms are clipped this far outside the range of the training logarithms, a factor e^5 in time.
_BEYOND = 5.0
#: Number of cross-validation folds of methods without a ``folds`` argument.
_FOLDS = 5


class Regressor(ABC):
    """Predicts log times from coded inputs.

    Seeds are fixed: the same rows in the same order give the same regressor.
    """

    @abstractmethod
    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        """Fit to n inputs, logs (n,) of median about 0, and weights (n,) above 0 of mean 1; n may be 1."""

    @abstractmethod
    def predict(self, inputs: Inputs) -> Floats:
        """Return predicted logs, (n,), finite for all inputs."""

    @abstractmethod
    def get_state(self) -> dict[str, Any]:
        """Return the fitted state as a dict of numbers, strings, lists, dicts and numeric arrays."""

    @abstractmethod
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state from the result of `get_state`."""

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        """Return the k-fold predictions of all runs, (n,), or None if the method needs one refit per fold.

        Methods with a shortcut, such as Gaussian processes and neighbours, override this method.
        """
        del inputs, logs, weights, folds
        return None

    @property
    def coefficients(self) -> float:
        """Effective number of fitted coefficients; it widens intervals where runs are very few."""
        return 1.0


#: The regressor of a `RegressionModel`.
AnyRegressor = TypeVar("AnyRegressor", bound=Regressor)


class RegressionModel(Model, Generic[AnyRegressor]):
    """Base class of models that fit a `Regressor` to coded inputs.

    Subclasses implement `regressor`. They may have an argument ``folds``: the number of cross-validation folds that
    intervals are computed from. With 0 there is no cross-validation, and intervals have a default width.
    """

    _coding: Coding
    _conformal: LocalConformal
    _fitted: AnyRegressor

    @abstractmethod
    def regressor(self, coding: Coding) -> AnyRegressor:
        """Check the model's arguments and return an unfitted regressor for inputs of any coding."""

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        counted = weights > 0
        measured = self._is_measured[counted]
        table, values, weights = table[counted].reset_index(drop=True), values[counted], weights[counted]
        self._coding = Coding.learn(table, self.space_)
        inputs, logs = self._coding.inputs(table), np.log(values)
        # Sort the rows and centre the logs, so that neither the order of the rows nor the unit changes the fit.
        order = canonical_order(inputs, logs)
        inputs, logs, weights = inputs.rows(order), logs[order], weights[order]
        self._centre = float(np.median(logs))
        logs = np.round(logs - self._centre, _DECIMALS)
        weights = weights / weights.mean()
        # Predictions far outside the range of the training logs are clipped.
        self._limits = float(logs.min()) - _BEYOND, float(logs.max()) + _BEYOND
        self._fitted = self.regressor(self._coding)
        self._fitted.fit(inputs, logs, weights)
        # Cross-validation: by a shortcut of the method, or by one refit per fold.
        guess = np.full(len(logs), np.nan)
        folds = fold_numbers(inputs, getattr(self, "folds", _FOLDS))
        if folds is not None:
            known = self._fitted.left_out(inputs, logs, weights, folds)
            if known is None:
                known = left_out_logs(lambda: self.regressor(self._coding), inputs, logs, weights, folds)
            guess = np.clip(known, *self._limits)
        freedom = max(measured.sum() - self._fitted.coefficients, 0.0)
        errors = np.where(measured[order], logs - guess, np.nan)
        self._conformal = LocalConformal.learn(inputs, errors, freedom=freedom)
        # Restore the order and the unit of the rows passed in.
        left_out = np.full(len(counted), np.nan)
        left_out[np.flatnonzero(counted)[order]] = np.exp(guess + self._centre)
        self.left_out_predictions_ = left_out if np.isfinite(left_out).any() else None

    def _logs(self, table: pd.DataFrame, coding: Coding, inputs: Inputs) -> Floats:
        """Return predicted logs, (n,), for a table and its inputs by `coding`.

        The table is coded again only if `coding` differs from this model's.
        """
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
        # Members of a blend that was loaded have no intervals of their own.
        own = {"conformal": self._conformal.to_state()} if hasattr(self, "_conformal") else {}
        return {
            "coding": self._coding.to_state(),
            "centre": self._centre,
            "limits": list(self._limits),
            **own,
            "regressor": self._fitted.get_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._coding = Coding.from_state(state["coding"])
        self._centre = float(state["centre"])
        self._limits = float(state["limits"][0]), float(state["limits"][1])
        if "conformal" in state:
            self._conformal = LocalConformal.from_state(state["conformal"])
        self._fitted = self.regressor(self._coding)
        self._fitted.set_state(state["regressor"])


def canonical_order(inputs: Inputs, logs: Floats) -> Ints:
    """Return indices that sort the rows by inputs, then by logs, (n,): equal runs in any order sort alike."""
    return np.lexsort((logs, *inputs.labels.T, *inputs.numbers.T))


def fold_numbers(inputs: Inputs, folds: int, *, seed: int = 0) -> Ints | None:
    """Return the fold number of each run, (n,), or None if fewer than 2 folds are possible.

    All runs of a configuration are in the same fold.
    """
    # Otherwise a run would be predicted from repeated runs of its own configuration.
    _, group = np.unique(np.hstack([inputs.numbers, inputs.labels]), axis=0, return_inverse=True)
    group = np.ravel(group)
    groups = int(group.max()) + 1
    if folds < 2 or groups < 2:
        return None
    # Up to 40 configurations get at least 10 folds (at most one fold per configuration). With 5 folds, each fit would
    # lack a fifth of the few configurations and be much worse than the fit to all.
    count = min(groups, max(folds, 10 if groups <= 40 else folds))
    return np.asarray((np.random.default_rng(seed).permutation(groups) % count)[group], dtype=np.int64)


def left_out_logs(make: Callable[[], Regressor], inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats:
    """Return k-fold predictions, (n,): a regressor from ``make()`` predicts each fold from the other folds."""
    found = np.full(len(logs), np.nan)
    for fold in np.unique(folds):
        there = folds == fold
        one = make()
        one.fit(inputs.rows(~there), logs[~there], weights[~there] / weights[~there].mean())
        found[there] = one.predict(inputs.rows(there))
    return found
