"""An ensemble of nets on what the trend leaves, each validated on runs that others learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.base import Effort
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.inputs.derived import GROUPS, Derived
from evenly.models.neural_net.columns import Columns
from evenly.models.neural_net.members import Member, predict_each
from evenly.models.neural_net.training import Hyper, Schedule, Trained, train
from evenly.models.regression_model import Regressor, fold_numbers
from evenly.models.trees.trend import Trend

__all__ = ["Budget", "Nets"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_FOLDS = 5
#: Fewer runs train no nets: the trend is all they tell.
_RUNS = 20
_NOTHING = 1e-9
#: Compared with each other, as many at once as members are trained; the first are the safest.
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
    """How much is tried.

    Attributes
    ----------
    kinds : int
        Candidates that the ensemble is made of.
    pilot, full : int
        Steps of the comparison, and of the training.
    """

    kinds: int
    pilot: int
    full: int

    @classmethod
    def of(cls, effort: Effort) -> Budget:
        """Return that of an effort."""
        return {"quick": cls(1, 0, 1500), "normal": cls(2, 800, 4000), "thorough": cls(3, 2000, 10000)}[effort]


class Nets(Regressor):
    """Multilayer perceptrons; every run is left out by some of them, which tell how well they predict."""

    def __init__(self, coding: Coding, budget: Budget, folds: int = 5) -> None:
        self._coding, self._budget, self._count = coding, budget, folds if folds > 1 else _FOLDS

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self._trend, trend = Trend.learn(inputs, logs, weights)
        left = logs - trend
        self._scale = 1.4826 * float(np.median(np.abs(left - np.median(left))))
        self._columns = Columns.learn(inputs, Derived.learn(self._coding, inputs, ()))
        self._folds = fold_numbers(inputs, self._count)
        self._members: list[Member] = []
        self._hypers: list[Hyper] = []
        self._known = np.full(len(logs), np.nan)
        if self._folds is not None and len(logs) >= _RUNS and self._scale > _NOTHING:
            self._train(inputs, left / self._scale, weights, self._folds)
            self._known = trend + self._scale * self._unseen(inputs, self._folds)

    def _train(self, inputs: Inputs, y: Floats, weights: Floats, folds: Ints) -> None:
        kinds = self._compare(inputs, y, weights, folds)
        # Inputs that no member sees aren't stored.
        groups = [group for group in GROUPS if any(group in hyper.groups for hyper in kinds)]
        self._columns = Columns.learn(inputs, Derived.learn(self._coding, inputs, groups))
        count = int(folds.max()) + 1
        self._hypers = [hyper for hyper in kinds for _ in range(count)]
        held = np.array([folds == fold for _ in kinds for fold in range(count)])
        self._members = self._trained(self._columns, inputs, y, weights, held, self._hypers, self._budget.full).members

    def _compare(self, inputs: Inputs, y: Floats, weights: Floats, folds: Ints) -> list[Hyper]:
        """Return the candidates that predict a fold best, after a short training of all."""
        kinds = self._budget.kinds
        if not self._budget.pilot:
            return list(_CANDIDATES[:kinds])
        columns = Columns.learn(inputs, Derived.learn(self._coding, inputs))
        candidates = _CANDIDATES[: kinds * _FOLDS]
        held = np.tile(folds % _FOLDS == 0, (len(candidates), 1))
        errors = self._trained(columns, inputs, y, weights, held, candidates, self._budget.pilot).errors
        return [candidates[k] for k in np.argsort(errors, kind="stable")[:kinds]]

    @staticmethod
    def _trained(
        columns: Columns,
        inputs: Inputs,
        y: Floats,
        weights: Floats,
        held: NDArray[np.bool_],
        hypers: Sequence[Hyper],
        steps: int,
    ) -> Trained:
        seen = np.array([columns.seen(hyper.groups) for hyper in hypers])
        return train(columns.matrix(inputs), y, weights, held, seen, hypers, _schedule(len(y), steps), seed=1)

    def _unseen(self, inputs: Inputs, folds: Ints) -> Floats:
        made = predict_each(self._members, self._columns.matrix(inputs)).astype(np.float64)
        count = int(folds.max()) + 1
        held = np.array([folds == k % count for k in range(len(made))])
        return np.asarray(np.sum(held * made, axis=0) / held.sum(axis=0))

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
            "hypers": [asdict(hyper) | {"groups": list(hyper.groups)} for hyper in self._hypers],
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._trend, self._columns = Trend.from_state(state["trend"]), Columns.from_state(state["columns"])
        self._scale = float(state["scale"])
        self._members = [Member.from_state(one) for one in state["members"]]
        self._hypers = [Hyper(**{**one, "groups": tuple(one["groups"])}) for one in state["hypers"]]


def _schedule(n: int, steps: int) -> Schedule:
    """Batches grow with the runs, so that the number of steps needn't."""
    batch = int(np.clip(2 ** np.round(np.log2(max(n, 1) / 24)), 16, 256))
    return Schedule(steps, batch)
