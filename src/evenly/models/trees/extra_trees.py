"""Extra trees: a forest whose thresholds are drawn at random, which makes their mean smoother [Geurts et al. 2006].

Trees predict what a log-quadratic trend leaves of the log times, from coded parameters and derived inputs
(`evenly.models.inputs.derived`) where these help. Trees can't go on beyond the measured range; the trend does, as a
power law.
"""

from __future__ import annotations

from typing import ClassVar, final

from evenly.errors import InputError
from evenly.models.inputs.coding import Coding
from evenly.models.regression_model import RegressionModel, Regressor
from evenly.models.trees.bagged import Bagged

__all__ = ["ExtraTrees"]


@final
class ExtraTrees(RegressionModel):
    """A trend and the mean of trees with the best of random splits, fitted by scikit-learn.

    Parameters
    ----------
    trees : int
        How many.
    smallest : int
        Runs in a leaf at least.
    folds : int
        0 for no intervals from runs left out. Runs outside of a tree's sample tell them without refitting.

    Examples
    --------
    >>> table = {"n": list(range(1, 65)) * 2, "solver": ["cg"] * 64 + ["lu"] * 64}
    >>> seconds = [n * (1.0 if s == "cg" else 1 + n / 16) for n, s in zip(table["n"], table["solver"])]
    >>> model = ExtraTrees(trees=50).fit(table, seconds)
    >>> model.predict({"n": [32, 32], "solver": ["cg", "lu"]}).round()
    array([32., 96.])
    """

    method: ClassVar[str] = "extra-trees"
    summary: ClassVar[str] = "extra trees (random thresholds) on the residuals of a log-quadratic trend"

    def __init__(self, *, trees: int = 100, smallest: int = 2, folds: int = 5) -> None:
        self.trees = trees
        self.smallest = smallest
        self.folds = folds

    def _regressor(self, coding: Coding, n_runs: int) -> Regressor:
        from sklearn.ensemble import ExtraTreesRegressor

        del n_runs
        for name, value in (("trees", self.trees), ("smallest", self.smallest)):
            if value < 1:
                raise InputError(f"{name} must be at least 1, but got {value}")
        return Bagged(coding, ExtraTreesRegressor, self.trees, self.smallest)
