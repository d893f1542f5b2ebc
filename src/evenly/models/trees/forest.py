"""Random forest: the mean of many deep trees, each grown on its own sample of the runs [Breiman 2001]."""

from __future__ import annotations

from typing import ClassVar, final

from evenly.models.trees.bagged import BaggedModel

__all__ = ["RandomForest"]


@final
class RandomForest(BaggedModel):
    """A trend, and a random forest on its residuals, fitted by scikit-learn.

    Parameters
    ----------
    trees : int
        Number of trees.
    smallest : int
        Minimum number of runs in a leaf.
    folds : int
        0 for no intervals from left-out runs. Out-of-bag predictions give them without refitting where possible.

    Examples
    --------
    >>> table = {"n": list(range(1, 65)) * 2, "solver": ["cg"] * 64 + ["lu"] * 64}
    >>> seconds = [n * (1.0 if s == "cg" else 1 + n / 16) for n, s in zip(table["n"], table["solver"])]
    >>> model = RandomForest(trees=50).fit(table, seconds)
    >>> model.predict({"n": [32, 32], "solver": ["cg", "lu"]}).round()
    array([32., 96.])
    """

    method: ClassVar[str] = "forest"
    summary: ClassVar[str] = "random forest on the residuals of a log-quadratic trend"
    _kind: ClassVar[str] = "RandomForestRegressor"
