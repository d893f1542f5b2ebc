"""Gaussian process: log times vary smoothly around a trend, each input on its own scale; best at few runs.

The covariance is described in `evenly.models.process_parts.hyperparameters`. Up to 4,096 runs are solved exactly, more
by overlapping regions of 2,048. [Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2
and 5.]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from evenly.models._inputs import Coding, Inputs
from evenly.models._regression import RegressionModel, Regressor
from evenly.models.process_parts.experts import Experts
from evenly.models.process_parts.hyperparameters import Shape
from evenly.models.process_parts.likelihood import learn
from evenly.space import Configurations

__all__ = ["GaussianProcess"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Up to so many runs, hyper-parameters learned with a run tell too much about it: each fold is then learned anew.
_REFITTED = 12


class _Process(Regressor):
    """Standardises logarithms, learns hyper-parameters, solves."""

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self._centre, self._scale = float(np.mean(logs)), float(np.std(logs)) or 1.0
        shape = Shape(inputs.numbers.shape[1], inputs.sizes)
        values = self._standardised(logs)
        self.solve(learn(shape, inputs, values, weights), inputs, logs, weights)

    def solve(self, theta: Floats, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        """Learn with hyper-parameters that are known."""
        shape = Shape(inputs.numbers.shape[1], inputs.sizes)
        self._experts = Experts.learn(shape, theta, inputs, self._standardised(logs), weights)

    def _standardised(self, logs: Floats) -> Floats:
        return (logs - self._centre) / self._scale

    def predict(self, inputs: Inputs) -> Floats:
        return self._centre + self._scale * self._experts.predict(inputs)

    def deviation(self, inputs: Inputs) -> Floats:
        """Return the standard deviation of the logarithms, without noise, (n,)."""
        return self._scale * self._experts.deviation(inputs)

    @property
    def noise(self) -> float:
        """Standard deviation of a run's logarithm around what is predicted from endless repetitions."""
        return self._scale * float(np.sqrt(self._experts.shape.noise(self._experts.theta)))

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        del inputs, weights
        if len(logs) <= _REFITTED:
            return None
        return self._centre + self._scale * self._experts.left_out(self._standardised(logs), folds)

    def get_state(self) -> dict[str, Any]:
        return {"centre": self._centre, "scale": self._scale, "experts": self._experts.get_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._centre, self._scale = float(state["centre"]), float(state["scale"])
        self._experts = Experts.from_state(state["experts"])


@final
class GaussianProcess(RegressionModel):
    """Gaussian process on logarithms, with a length-scale for each input.

    A trend (constant, linear, quadratic, effects of labels), wide and local Matérn variation and noise; how much of
    each there is, is decided by the marginal likelihood.

    Parameters
    ----------
    folds : int
        How many folds intervals are learned from.

    Examples
    --------
    >>> model = GaussianProcess().fit({"n": [10, 30, 100, 300, 1000]}, [1.0, 3.0, 10.0, 30.0, 100.0])
    >>> model.predict({"n": [50]}).round(1)
    array([5.])
    """

    method: ClassVar[str] = "gp"
    summary: ClassVar[str] = "Gaussian process: smooth variation around a trend, each input on its own scale"

    def __init__(self, *, folds: int = 5) -> None:
        self.folds = folds

    def _regressor(self, coding: Coding, n_runs: int) -> Regressor:
        del coding, n_runs
        return _Process()

    def deviation(self, X: Configurations) -> Floats:
        """Return how uncertain the logarithm of the time without noise is, (n,): one standard deviation.

        Unlike `interval`, this says what more runs nearby would bring.

        Examples
        --------
        >>> model = GaussianProcess().fit({"n": [10, 20, 40, 80]}, [1.0, 2.2, 3.9, 8.1])
        >>> near, far = model.deviation({"n": [20, 79.0]})
        >>> bool(near >= 0 and far >= 0)
        True
        """
        inputs = self._coding.inputs(self._asked(X))
        process = self._fitted
        assert isinstance(process, _Process)  # noqa: S101
        return process.deviation(inputs)
