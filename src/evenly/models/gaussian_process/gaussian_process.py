"""Gaussian-process regression of log times: smooth variation around a trend, with a length-scale for each input.

The method is best with few runs. The covariance is described in `evenly.models.gaussian_process.hyperparameters`. Up to
4,096 runs are solved exactly; with more, each of several overlapping regions has an exact process of 2,048 runs
[Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, final

import numpy as np

from evenly.models.array_types import Floats, Ints
from evenly.models.base import check_effort
from evenly.models.gaussian_process.experts import Experts
from evenly.models.gaussian_process.few_valued import Levels
from evenly.models.gaussian_process.hyperparameters import Shape
from evenly.models.gaussian_process.likelihood import QUICK, SearchBudget, learn, relearned
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor
from evenly.space.space import Configurations

__all__ = ["GaussianProcess"]

#: Up to this number of runs, hyper-parameters are learned again without each fold. With more runs a single one hardly
#: influences them.
_RELEARNED = 1500


@dataclass
class _Process(Regressor):
    """Gaussian-process regression of standardised log times: learns hyper-parameters, then solves for all runs."""

    search: SearchBudget = field(default_factory=SearchBudget)

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self._centre, self._scale = float(np.mean(logs)), float(np.std(logs)) or 1.0
        self._levels = Levels.learn(inputs)
        coded, values = self._levels.added(inputs), (logs - self._centre) / self._scale
        shape = Shape(inputs.numbers.shape[1], coded.sizes, placed=len(inputs.sizes))
        self._experts = Experts.learn(*learn(shape, coded, values, weights, self.search), coded, values, weights)

    def predict(self, inputs: Inputs) -> Floats:
        return self._centre + self._scale * self._experts.predict(self._levels.added(inputs))

    def deviation(self, inputs: Inputs) -> Floats:
        """Return the posterior standard deviation of the log times without noise, (n,)."""
        return self._scale * self._experts.deviation(self._levels.added(inputs))

    def covariance(self, inputs: Inputs, others: Inputs) -> Floats:
        """Return the posterior covariance of the log times without noise, (n, m)."""
        return self._scale**2 * self._experts.covariance(self._levels.added(inputs), self._levels.added(others))

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of a single run's log time."""
        return self._scale * float(np.sqrt(self._experts.shape.noise(self._experts.theta)))

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        values, shape, theta = (logs - self._centre) / self._scale, self._experts.shape, self._experts.theta
        if len(logs) > _RELEARNED:
            return self._centre + self._scale * self._experts.left_out(values, folds)
        coded = self._levels.added(inputs)
        found = np.empty(len(logs))
        for fold in np.unique(folds):
            kept = folds != fold
            others = coded.rows(kept), values[kept], weights[kept]
            found[~kept] = Experts.learn(shape, relearned(shape, theta, *others, self.search), *others).predict(
                coded.rows(~kept)
            )
        return self._centre + self._scale * found

    def get_state(self) -> dict[str, Any]:
        return {
            "centre": self._centre, "scale": self._scale, "levels": self._levels.to_state(),
            "experts": self._experts.get_state(),
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._centre, self._scale = float(state["centre"]), float(state["scale"])
        self._levels, self._experts = Levels.from_state(state["levels"]), Experts.from_state(state["experts"])


@final
@dataclass(kw_only=True, eq=False, repr=False)
class GaussianProcess(RegressionModel[_Process]):
    """Gaussian-process regression of log times, with a length-scale for each input.

    The process is a sum of a trend (constant, linear, quadratic, effects of labels), wide and local variation with
    Matérn covariances, and noise. The hyper-parameters maximise the marginal likelihood times their prior.

    Parameters
    ----------
    effort : {"quick", "normal", "thorough"}
        Effort of the search for hyper-parameters; "normal" and "thorough" are the same.
    folds : int
        Number of folds for the left-out residuals from which intervals are learned.

    Examples
    --------
    >>> model = GaussianProcess().fit({"n": [10, 30, 100, 300, 1000]}, [1.0, 3.0, 10.0, 30.0, 100.0])
    >>> model.predict({"n": [50]}).round(1)
    array([5.])
    """

    method: ClassVar[str] = "gp"
    summary: ClassVar[str] = "Gaussian process: smooth variation around a trend, each input on its own scale"

    effort: Literal["quick", "normal", "thorough"] = "normal"
    folds: int = 5

    def regressor(self, coding: Coding) -> _Process:
        del coding
        check_effort(self.effort)
        return _Process(QUICK if self.effort == "quick" else SearchBudget())

    def deviation(self, X: Configurations) -> Floats:
        """Return the posterior standard deviation of the log time without noise, (n,).

        It is large where few runs are near. Unlike `interval`, it doesn't include the noise of a run.

        Examples
        --------
        >>> model = GaussianProcess().fit({"n": [10, 20, 40, 80]}, [1.0, 2.2, 3.9, 8.1])
        >>> near, far = model.deviation({"n": [20, 79.0]})
        >>> bool(near >= 0 and far >= 0)
        True
        """
        return self._fitted.deviation(self._coding.inputs(self._asked(X)))

    def lessons(self, X: Configurations, asked: Configurations) -> Floats:
        """Return by how much a run at each configuration of X would lower the mean variance of log times, (n,).

        This is Cohn's criterion of active learning [Seo et al., Gaussian process regression: active data selection and
        test point rejection, 2000]. With more than 4,096 runs, covariances use the runs of the first region only.

        Parameters
        ----------
        X : configurations (n,)
            Candidates for the next run.
        asked : configurations (m,)
            Configurations over which the variance is averaged.

        Examples
        --------
        >>> model = GaussianProcess().fit({"n": [10, 20, 40, 80]}, [1.0, 2.2, 3.9, 8.1])
        >>> bool(np.all(model.lessons({"n": [10, 30]}, {"n": [10, 20, 30]}) >= 0))
        True
        """
        coded, there = (self._coding.inputs(self._asked(one)) for one in (X, asked))
        process = self._fitted
        shared = process.covariance(coded, there)
        noise = process.noise**2
        return np.asarray(np.mean(shared**2, axis=1) / (process.deviation(coded) ** 2 + noise + 1e-300))
