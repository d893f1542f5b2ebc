"""An ensemble of nets on the residuals of a trend; each net is validated on one fold and learns from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.inputs.derived import GROUPS, Derived
from evenly.models.neural_net.columns import NetColumns
from evenly.models.neural_net.members import Member, predict_each
from evenly.models.neural_net.training import Hyper, Schedule, Trained, train
from evenly.models.regression_model import Regressor, fold_numbers
from evenly.models.trees.trend import QuadraticTrend

__all__ = ["BUDGETS", "Budget", "Nets"]

_FOLDS = 5
#: Least number of runs for nets; with fewer runs only the trend is fitted.
_RUNS = 20
_NOTHING = 1e-9
#: Candidates for hyper-parameters, the most robust first. All are trained at once.
_CANDIDATES = (
    Hyper(groups=("products",)),
    Hyper(),
    Hyper(activation="tanh"),
    Hyper(activation="tanh", groups=("products",)),
    Hyper(rate=2e-2, groups=("products",)),
    Hyper(rate=2e-2),
    Hyper(activation="leaky-relu", groups=("products",)),
    Hyper(decay=0.1, groups=("products",)),
    Hyper(groups=("products", "powers")),
    Hyper(bend=1.0, groups=("products",)),
    Hyper(activation="leaky-relu"),
    Hyper(activation="tanh", rate=2e-2),
    Hyper(groups=("products", "remainders", "powers")),
    Hyper(dropout=0.05, groups=("products",)),
    Hyper(depth=2, rate=2e-2, groups=("products",)),
)


@dataclass(frozen=True)
class Budget:
    """Number of chosen candidates, and numbers of training steps.

    Attributes
    ----------
    kinds : int
        Number of candidates in the ensemble; five times as many are compared.
    pilot, full : int
        Number of steps to compare candidates (0: the first ones are taken), and of the final training.
    """

    kinds: int
    pilot: int
    full: int


BUDGETS = {"quick": Budget(1, 0, 1500), "normal": Budget(2, 800, 4000), "thorough": Budget(3, 2000, 10000)}


class Nets(Regressor):
    """Multilayer perceptrons. Each run is left out by some of them, whose predictions give the intervals."""

    def __init__(self, coding: Coding, budget: Budget, folds: int = 5) -> None:
        self._coding, self._budget, self._count = coding, budget, folds if folds > 1 else _FOLDS

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        # Nets learn the trend's leave-one-out residuals, scaled by their median absolute deviation.
        self._trend, trend = QuadraticTrend.learn(inputs, logs, weights)
        left = logs - trend
        self._scale = 1.4826 * float(np.median(np.abs(left - np.median(left))))
        self._columns = NetColumns.learn(inputs, Derived.learn(self._coding, inputs, ()))
        self._folds = fold_numbers(inputs, self._count)
        self._members: list[Member] = []
        self._hypers: list[Hyper] = []
        self._known = np.full(len(logs), np.nan)
        if self._folds is not None and len(logs) >= _RUNS and self._scale > _NOTHING:
            self._train(inputs, left / self._scale, weights, self._folds)
            # A run is predicted by the mean of the members that were validated on its fold.
            made = predict_each(self._members, self._columns.matrix(inputs)).astype(np.float64)
            count = int(self._folds.max()) + 1
            validation = np.array([self._folds == k % count for k in range(len(made))])
            self._known = trend + self._scale * (np.sum(validation * made, axis=0) / validation.sum(axis=0))

    def _train(self, inputs: Inputs, y: Floats, weights: Floats, folds: Ints) -> None:
        """Choose candidates by a short training, then train each chosen one once per fold, validated on that fold."""
        # The batch size grows with the number of runs, so that the number of steps can stay the same.
        batch = int(np.clip(2 ** np.round(np.log2(max(len(y), 1) / 24)), 16, 256))

        def trained(validation: Flags, hypers: Sequence[Hyper], steps: int) -> Trained:
            seen = np.array([self._columns.seen(hyper.groups) for hyper in hypers])
            x = self._columns.matrix(inputs)
            return train(x, y, weights, validation, seen, hypers, Schedule(steps, batch), seed=1)

        chosen = list(_CANDIDATES[: self._budget.kinds])
        if self._budget.pilot:
            self._columns = NetColumns.learn(inputs, Derived.learn(self._coding, inputs))
            candidates = _CANDIDATES[: self._budget.kinds * _FOLDS]
            validation = np.tile(folds % _FOLDS == 0, (len(candidates), 1))
            errors = trained(validation, candidates, self._budget.pilot).errors
            chosen = [candidates[k] for k in np.argsort(errors, kind="stable")[: self._budget.kinds]]
        # Derived inputs that no member uses are dropped.
        groups = [group for group in GROUPS if any(group in hyper.groups for hyper in chosen)]
        self._columns = NetColumns.learn(inputs, Derived.learn(self._coding, inputs, groups))
        count = int(folds.max()) + 1
        self._hypers = [hyper for hyper in chosen for _ in range(count)]
        validation = np.array([folds == fold for _ in chosen for fold in range(count)])
        self._members = trained(validation, self._hypers, self._budget.full).members

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        del inputs, logs, weights
        same = self._folds is not None and np.array_equal(folds, self._folds)
        return self._known if same and np.isfinite(self._known).all() else None

    def predict(self, inputs: Inputs) -> Floats:
        made = self._trend.predict(inputs)
        if self._members:
            nets = predict_each(self._members, self._columns.matrix(inputs))
            made = made + self._scale * nets.mean(axis=0, dtype=np.float64)
        return np.asarray(made)

    @property
    def coefficients(self) -> float:
        return 1.0 + len(self._trend.linear)

    def get_state(self) -> dict[str, Any]:
        return {
            "trend": self._trend.to_state(),
            "columns": self._columns.to_state(),
            "scale": self._scale,
            "members": [member.to_state() for member in self._members],
            "hypers": [hyper.to_state() for hyper in self._hypers],
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._trend, self._columns = QuadraticTrend.from_state(state["trend"]), NetColumns.from_state(state["columns"])
        self._scale = float(state["scale"])
        self._members = [Member.from_state(one) for one in state["members"]]
        self._hypers = [Hyper.from_state(one) for one in state["hypers"]]
