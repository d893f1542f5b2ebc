"""Extra trees: a forest with random thresholds, which makes its mean smoother [Geurts et al. 2006]."""

from __future__ import annotations

from typing import ClassVar, final

from evenly.models.trees.bagged import BaggedModel

__all__ = ["ExtraTrees"]


@final
class ExtraTrees(BaggedModel):
    """A trend, and extremely randomised trees on its residuals, fitted by scikit-learn.

    Parameters
    ----------
    trees, smallest, folds : int
        Number of trees, minimum number of runs in a leaf, and number of folds (0 for no intervals from left-out runs);
        see `evenly.models.trees.forest.RandomForest`.

    Examples
    --------
    >>> n = list(range(1, 65))
    >>> model = ExtraTrees(trees=50).fit({"n": n}, [k * (1 + k / 16) for k in n])
    >>> model.predict({"n": [32]}).round()
    array([96.])
    """

    method: ClassVar[str] = "extra-trees"
    summary: ClassVar[str] = "extra trees (random thresholds) on the residuals of a log-quadratic trend"
    _kind: ClassVar[str] = "ExtraTreesRegressor"
