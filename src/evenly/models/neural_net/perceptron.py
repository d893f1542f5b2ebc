"""One densely connected network of times, whose layers, activation, optimiser, loss, batch and epochs are chosen.

Source: sections 3 and 5.2 of the thesis "Optimal core assignment for coupled simulations". The defaults are those of
its networks: two hidden layers of 30 rectified linear units, a dropout of 0.3 between them, Adam with all runs in one
batch, 8000 epochs, inputs scaled to [0, 1], and MAPE, which was better than MSE. With MAPE, the thesis takes 300 units.
Use `NeuralNet` where nothing is to be chosen by hand. Training needs ``pip install 'evenly[nn]'``; predictions use
numpy only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final, get_args

import numpy as np

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints, Singles
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.neural_net.members import Member
from evenly.models.neural_net.perceptron_training import (
    RATES,
    Activation,
    Architecture,
    Loss,
    Optimiser,
    Passes,
    train,
)
from evenly.models.regression_model import RegressionModel, Regressor, fold_numbers

__all__ = ["MultilayerPerceptron"]

#: The least output, as a share of the median time: a network may tell times below zero.
_LEAST = 1e-9


class _Perceptron(Regressor):
    """One network; those that lack a fold of the runs are trained beside it and give the intervals."""

    def __init__(
        self, coding: Coding, built: Architecture, epochs: int, batch: int | None, *, logs: bool, folds: int
    ) -> None:
        self._coding, self._built, self._epochs, self._batch = coding, built, epochs, batch
        self._logs, self._count = logs, folds

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self._folds = fold_numbers(inputs, self._count)
        left = [] if self._folds is None else [self._folds == fold for fold in range(int(self._folds.max()) + 1)]
        each = np.array([weights, *(np.where(there, 0.0, weights) for there in left)])
        x, y = self._rows(inputs), logs / math.log(2) if self._logs else np.exp(logs)
        passes = Passes(self._epochs, min(self._batch or len(y), len(y)))
        # Times that are all equal leave nothing to learn.
        nets = [_constant(x, y[0])] * len(each) if np.ptp(y) == 0 else train(x, y, each, self._built, passes, seed=1)
        self._net, *others = nets
        self._known = np.full(len(y), np.nan)
        for there, net in zip(left, others, strict=True):
            self._known[there] = self._of(net, x[there])

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        del inputs, logs, weights
        return self._known if self._folds is not None and np.array_equal(folds, self._folds) else None

    def predict(self, inputs: Inputs) -> Floats:
        return self._of(self._net, self._rows(inputs))

    def _of(self, net: Member, x: Singles) -> Floats:
        made = net.predict(x).astype(np.float64)
        return np.asarray(made * math.log(2) if self._logs else np.log(np.maximum(made, _LEAST)))

    def _rows(self, inputs: Inputs) -> Singles:
        """Return the values of numbers, scaled to [0, 1] over the measured range, and one-hot labels."""
        columns = []
        kinds = zip(self._coding.kinds, self._coding.centres, self._coding.scales, strict=True)
        numeric = [(kind, centre, scale) for kind, centre, scale in kinds if kind != "label"]
        for coded, (kind, centre, scale) in zip(inputs.numbers.T, numeric, strict=True):
            value = coded * scale + centre
            low, high = centre - scale, centre + scale
            if kind == "log":
                value, low, high = np.exp(value), math.exp(low), math.exp(high)
            columns.append((value - low) / (high - low))
        numbers = np.stack(columns, axis=1) if columns else np.zeros((len(inputs), 0))
        return np.hstack([numbers, inputs.one_hot]).astype(np.float32)

    @property
    def coefficients(self) -> float:
        return 1.0 + len(self._coding.names)

    def get_state(self) -> dict[str, Any]:
        return {"net": self._net.to_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._net = Member.from_state(state["net"])


def _constant(x: Singles, value: float) -> Member:
    """Return a network of the same output everywhere."""
    return Member("relu", [np.zeros((x.shape[1], 1), np.float32)], [np.array([value], np.float32)])


@final
@dataclass(kw_only=True, eq=False, repr=False)
class MultilayerPerceptron(RegressionModel[_Perceptron]):
    """A densely connected network with one output, the time.

    Parameters
    ----------
    layers : tuple of int
        Units of each hidden layer.
    activation : {"relu", "leaky-relu", "sigmoid", "tanh"}
    dropout : float
        Share of units that are dropped in training, after each hidden layer but the last; at least 0, below 1.
    optimiser : {"adam", "adagrad", "adadelta", "gradient-descent"}
    rate : float, optional
        Learning rate: 0.001 for Adam, 0.01 for Adagrad and gradient descent, 1 for Adadelta by default.
    loss : {"mape", "smape", "mse", "mae"}
        What is minimised. For logarithms, "mse" (the default there) or "mae": a share of a logarithm would depend on
        the unit of time.
    residuals : {"absolute", "log"}
        Whether the network learns times, or their logarithms.
    batch : int, optional
        Runs of one step; all by default.
    epochs : int
        Passes over the runs.
    folds : int
        Number of cross-validation folds that intervals are computed from; a network is trained for each. 0 for none.

    Examples
    --------
    >>> import numpy as np
    >>> cores = np.arange(1, 33)
    >>> model = MultilayerPerceptron(layers=(20,), activation="tanh", residuals="log", epochs=3000, rate=0.01, folds=0)
    >>> bool(abs(model.fit({"cores": cores}, 64 / cores).predict({"cores": [8]})[0] / 8 - 1) < 0.1)
    True
    """

    method: ClassVar[str] = "mlp"
    summary: ClassVar[str] = "one network: layers, activation, optimiser, loss, batch and epochs are yours"

    layers: tuple[int, ...] = (30, 30)
    activation: Activation = "relu"
    dropout: float = 0.3
    optimiser: Optimiser = "adam"
    rate: float | None = None
    loss: Loss | None = None
    residuals: Literal["absolute", "log"] = "absolute"
    batch: int | None = None
    epochs: int = 8000
    folds: int = 5

    def regressor(self, coding: Coding) -> _Perceptron:
        self._check()
        logs = self.residuals == "log"
        layers = tuple(int(units) for units in self.layers)
        rate = RATES[self.optimiser] if self.rate is None else float(self.rate)
        loss: Loss = self.loss or ("mse" if logs else "mape")
        built = Architecture(layers, self.activation, float(self.dropout), self.optimiser, rate, loss)
        return _Perceptron(coding, built, self.epochs, self.batch, logs=logs, folds=self.folds)

    def _check(self) -> None:
        one_of = {
            "activation": (self.activation, get_args(Activation)), "optimiser": (self.optimiser, get_args(Optimiser)),
            "loss": (self.loss, (*get_args(Loss), None)), "residuals": (self.residuals, ("absolute", "log")),
        }  # fmt: skip
        for name, (value, allowed) in one_of.items():
            if value not in allowed:
                listed = ", ".join(one for one in allowed if one is not None)
                raise InputError(f"{name} must be one of {listed}, but got {value!r}")
        counts = {"epochs": self.epochs, "batch": 1 if self.batch is None else self.batch}
        counts |= {f"layers[{k}]": units for k, units in enumerate(self.layers)}
        for name, count in counts.items():
            if not (float(count).is_integer() and count >= 1):
                raise InputError(f"{name} must be a whole number of at least 1, but got {count}")
        if not self.layers:
            raise InputError("layers must name the units of at least one hidden layer, as (30, 30), but got none")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be a share from 0 to below 1, but got {self.dropout}")
        if self.rate is not None and not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError(
                f"rate must be a number above 0, but got {self.rate}: leave it out for the optimiser's own"
            )
        if self.residuals == "log" and self.loss in ("mape", "smape"):
            raise InputError(
                f"{self.loss} of logarithms would depend on the unit of time: take mse or mae as loss, or learn times"
            )
