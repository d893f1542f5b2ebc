"""Neural nets: an ensemble of multilayer perceptrons on the residuals that a log-quadratic trend has of the log times.

All members and hyper-parameter candidates are trained at once, vectorised over members, with JAX and optax
(``pip install 'evenly[nn]'``). The loss is magnitudes of log errors, as MLogQ's, rounded off near zero; each member
stops at its best on a validation set of its own. Predictions are plain numpy, so that a stored net needs no JAX.
Outside the measured range nets see the nearest configuration in it, and the trend is extrapolated as a power law.
"""

from __future__ import annotations

from typing import ClassVar, final

from evenly.models.base import Effort
from evenly.models.inputs.coding import Coding
from evenly.models.neural_net.nets import Budget, Nets
from evenly.models.regression_model import RegressionModel, Regressor

__all__ = ["NeuralNet"]


@final
class NeuralNet(RegressionModel):
    """A trend and the mean of multilayer perceptrons.

    Parameters
    ----------
    effort : {"quick", "normal", "thorough"}
        How many candidates are compared, how many members there are, and how long they are trained.
    folds : int
        0 for no intervals from runs left out. Members that haven't seen a run tell them without refitting.

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

    def __init__(self, *, effort: Effort = "normal", folds: int = 5) -> None:
        self.effort = effort
        self.folds = folds

    def _regressor(self, coding: Coding, n_runs: int) -> Regressor:
        del n_runs
        return Nets(coding, Budget.of(self.effort), self.folds)
