"""Neural nets: an ensemble of multilayer perceptrons on the residuals of a log-quadratic trend.

All members, and all candidates for hyper-parameters, are trained at once, vectorised over members, with JAX and optax
(``pip install 'evenly[nn]'``). The loss is the absolute log error, as in MLogQ, smoothed near zero. Each member stops
early at its least error on its own validation set. Predictions use numpy only, so a stored net doesn't need JAX.
Outside the measured range inputs of nets are clipped, and the trend extrapolates as a power law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from evenly.models.base import Effort, check_effort
from evenly.models.inputs.coding import Coding
from evenly.models.neural_net.nets import BUDGETS, Nets
from evenly.models.regression_model import RegressionModel

__all__ = ["NeuralNet"]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class NeuralNet(RegressionModel[Nets]):
    """A trend plus the mean of multilayer perceptrons on its residuals.

    Parameters
    ----------
    effort : {"quick", "normal", "thorough"}
        Number of candidates to compare, number of members, and length of the training.
    folds : int
        0 for no intervals from left-out runs. Predictions of members that haven't seen a run give them without
        refitting.

    Examples
    --------
    >>> import numpy as np
    >>> n = np.arange(1, 129)
    >>> model = NeuralNet(effort="quick").fit({"n": n}, 2 + np.sin(np.log(n)))
    >>> model.predict({"n": [20]}).round(1)
    array([2.1])
    """

    method: ClassVar[str] = "neural-net"
    summary: ClassVar[str] = "ensemble of neural nets on the residuals of a log-quadratic trend"

    effort: Effort = "normal"
    folds: int = 5

    def regressor(self, coding: Coding) -> Nets:
        check_effort(self.effort)
        return Nets(coding, BUDGETS[self.effort], self.folds)
