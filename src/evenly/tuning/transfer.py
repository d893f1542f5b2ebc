"""Transfer learning: a model of runs of the same program with other numbers of cores, other sizes or other inputs.

One Gaussian process is fitted to the runs of all other tasks, with the task parameters as inputs. It predicts the task
that is searched, and the search learns the residuals. The weight of this prediction depends on the evidence (marginal
likelihood) of this task's runs with and without it
[Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, section 5.2].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.gaussian_process.gaussian_process import GaussianProcess
from evenly.models.inputs.coding import Coding
from evenly.models.regression_model import Regressor
from evenly.space.space import Space

__all__ = ["Transfer"]

#: Maximum number of runs of other tasks to learn from.
_MOST = 1500


@dataclass(frozen=True)
class Transfer:
    """A Gaussian process fitted to runs of other tasks.

    Attributes
    ----------
    coding : Coding
    regressor : Regressor
        Predicts log seconds minus `centre`.
    centre : float
        Median log seconds of the runs.
    """

    coding: Coding
    regressor: Regressor
    centre: float

    @classmethod
    def learn(cls, others: pd.DataFrame, logs: Floats, candidates: pd.DataFrame, space: Space) -> Self:
        """Learn from runs of other tasks.

        Parameters
        ----------
        others : DataFrame (m, n_parameters)
        logs : array (m,)
            Log seconds.
        candidates : DataFrame (n, n_parameters)
            Configurations whose values and labels predictions must cover.
        space : Space
            Gives the types of the parameters.
        """
        rows = np.random.default_rng(0).permutation(len(others))[:_MOST]
        table = pd.concat([others, candidates], ignore_index=True)
        coding = Coding.learn(table, Space.from_data(table, like=space))
        regressor = GaussianProcess(effort="quick").regressor(coding)
        centre = float(np.median(logs))
        regressor.fit(coding.inputs(others.iloc[rows]), logs[rows] - centre, np.ones(len(rows)))
        return cls(coding, regressor, centre)

    def expected(self, table: pd.DataFrame) -> Floats:
        """Return the predicted log seconds of configurations of the task that is searched, (n,)."""
        return np.asarray(self.regressor.predict(self.coding.inputs(table)) + self.centre)
