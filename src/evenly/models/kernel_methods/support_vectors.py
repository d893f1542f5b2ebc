"""Support-vector regression with radial basis functions around the support vectors.

Runs whose error is below the tube's half-width epsilon are no support vectors. [Smola and Schölkopf, A tutorial on
support vector regression, 2004; solved by LIBSVM through scikit-learn.]
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.gaussian_process.kernels import radial_sums_32, radial_sums_64
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor

__all__ = ["SupportVectors"]

#: Values of the hyperparameters that are tried, for standardised logarithms and inputs in [-1, 1]. The search starts
#: from the first of each.
_C = (30.0, 3.0, 300.0, 3000.0)
_GAMMA = (0.3, 0.03, 0.1, 1.0, 3.0)
_EPSILON = (0.03, 0.01, 0.1, 0.003)
#: Largest number of runs for the choice of hyperparameters, largest number of runs for the fit, and number of support
#: vectors above which predictions use single precision.
_CHOICE_ROWS, _ROWS, _SINGLE_ROWS = 512, 8192, 1024
#: Largest number of solver iterations per run.
_STEPS_PER_RUN = 100


class _SupportVectors(Regressor):
    """Support-vector regressor; hyperparameters that aren't given are chosen by 3-fold cross-validation."""

    def __init__(self, asked: Mapping[str, float | None]) -> None:
        self._asked = asked

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self._centre, self._scale = float(np.mean(logs)), float(np.std(logs)) or 1.0
        values = (logs - self._centre) / self._scale
        order = np.random.default_rng(0).permutation(len(values))
        some = np.sort(order[:_CHOICE_ROWS])
        self.arguments = self._chosen(inputs.matrix[some], values[some], weights[some])
        # The solver's time grows with the square of the number of runs, so it gets a sample if there are many.
        used = np.sort(order[:_ROWS])
        solved = _solved(self.arguments, inputs.matrix[used], values[used], weights[used])
        self._places = np.asarray(solved.support_vectors_, dtype=np.float64)
        self._coefficients = np.asarray(solved.dual_coef_, dtype=np.float64).ravel()
        self._offset = float(solved.intercept_[0])

    def _chosen(self, places: Floats, values: Floats, weights: Floats) -> dict[str, float]:
        """Return C, gamma and epsilon of least cross-validated error, by coordinate search from the first of each."""
        candidates = {
            name: (float(asked),) if (asked := self._asked[name]) is not None else tried
            for name, tried in (("C", _C), ("gamma", _GAMMA), ("epsilon", _EPSILON))
        }
        best = {name: tried[0] for name, tried in candidates.items()}
        if len(values) < 6:
            return best
        errors = {tuple(best.values()): _error(best, places, values, weights)}
        for _ in range(3):
            before = dict(best)
            # Try all values of each hyperparameter, with the others at their best values at the start of the round.
            for one in [best | {name: value} for name, tried in candidates.items() for value in tried]:
                if tuple(one.values()) not in errors:
                    errors[tuple(one.values())] = _error(one, places, values, weights)
                if errors[tuple(one.values())] < errors[tuple(best.values())]:
                    best = one
            if best == before:
                break
        return best

    def predict(self, inputs: Inputs) -> Floats:
        single = len(self._places) > _SINGLE_ROWS
        precision: Any = np.float32 if single else np.float64
        root = np.sqrt(self.arguments["gamma"])
        asked = np.ascontiguousarray(inputs.matrix * root, dtype=precision)
        knots = np.ascontiguousarray((self._places * root).T, dtype=precision)
        # Σ a_k exp(-gamma |x - x_k|²) over the support vectors x_k; places are multiplied by sqrt(gamma).
        sums = np.zeros(len(inputs))
        (radial_sums_32 if single else radial_sums_64)(asked, knots, self._coefficients.astype(precision), sums)
        return np.asarray(self._centre + self._scale * (sums + self._offset))

    def get_state(self) -> dict[str, Any]:
        return {
            "places": self._places, "coefficients": self._coefficients, "offset": self._offset,
            "centre": self._centre, "scale": self._scale, "arguments": dict(self.arguments),
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._places, self._coefficients = (np.asarray(state[name]) for name in ("places", "coefficients"))
        self._offset, self._centre, self._scale = (float(state[name]) for name in ("offset", "centre", "scale"))
        self.arguments = {name: float(value) for name, value in state["arguments"].items()}


def _solved(arguments: Mapping[str, float], places: Floats, values: Floats, weights: Floats) -> SVR:
    one = SVR(
        C=arguments["C"], gamma=arguments["gamma"], epsilon=arguments["epsilon"], cache_size=500,
        max_iter=_STEPS_PER_RUN * len(values),
    )  # fmt: skip
    with warnings.catch_warnings():
        # If the solver reaches its largest number of iterations, its unfinished solution is used.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return one.fit(places, values, sample_weight=weights)


def _error(arguments: Mapping[str, float], places: Floats, values: Floats, weights: Floats) -> float:
    """Return the weighted mean absolute error of 3-fold cross-validation."""
    fold = np.random.default_rng(0).permutation(len(values)) % 3
    total = 0.0
    for k in range(3):
        there = fold == k
        one = _solved(arguments, places[~there], values[~there], weights[~there])
        total += float(weights[there] @ np.abs(one.predict(places[there]) - values[there]))
    return total / float(weights.sum())


@final
@dataclass(kw_only=True, eq=False, repr=False)
class SupportVectors(RegressionModel[_SupportVectors]):
    """Support-vector regression with radial functions on logarithms scaled to the measured range.

    With more than 8,192 runs, a random sample of 8,192 (fixed seed) is used for the fit.

    Parameters
    ----------
    C, gamma, epsilon : float, optional
        Cost of deviations, inverse squared width of the radial functions (inputs lie in [-1, 1]) and half-width of the
        tube, for log times scaled to standard deviation 1. Those not given are chosen by 3-fold cross-validation.
    folds : int
        Number of cross-validation folds that intervals are computed from.

    Examples
    --------
    >>> model = SupportVectors(C=1000.0, gamma=0.1).fit({"n": [10, 30, 100, 300, 1000]}, [1.0, 3.0, 10.0, 30.0, 100.0])
    >>> model.predict({"n": [50]}).round(0)
    array([5.])
    """

    method: ClassVar[str] = "svm"
    summary: ClassVar[str] = "support-vector regression with radial functions"

    C: float | None = None
    gamma: float | None = None
    epsilon: float | None = None
    folds: int = 5

    def regressor(self, coding: Coding) -> _SupportVectors:
        del coding
        asked = {"C": self.C, "gamma": self.gamma, "epsilon": self.epsilon}
        for name, value in asked.items():
            if value is not None and not (np.isfinite(value) and (value > 0 or (name == "epsilon" and value == 0))):
                least = "at least 0" if name == "epsilon" else "above 0"
                raise InputError(f"{name} must be a number {least}, but got {value}: leave it out to have it chosen")
        return _SupportVectors(asked)
