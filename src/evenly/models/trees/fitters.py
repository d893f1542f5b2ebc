"""Libraries that fit boosted trees: LightGBM, or scikit-learn if LightGBM isn't installed."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import final

import numpy as np

from evenly.errors import MissingExtraError
from evenly.models.array_types import Floats, Singles
from evenly.models.trees.ensemble import TreeEnsemble
from evenly.models.trees.lightgbm_trees import trees_of
from evenly.models.trees.sklearn_trees import boosted_trees
from evenly.threads import without_openmp

__all__ = ["Fitter", "HistFitter", "LightGBMFitter", "Settings", "usual_fitter"]


@dataclass(frozen=True)
class Settings:
    """Hyper-parameters of boosted trees.

    Attributes
    ----------
    rate : float
        Learning rate, the factor of each tree's prediction.
    leaves : int
        Maximum number of leaves; up to 32, prediction is fastest.
    smallest : int
        Minimum number of runs in a leaf.
    splits : {"best", "random"}
        "best": the best threshold of each input; "random": one random threshold per input, so that the sum of many
        trees is smoother.
    leaf : {"constant", "linear"}
        Whether a leaf predicts a constant or a linear function.
    """

    rate: float = 0.05
    leaves: int = 31
    smallest: int = 5
    splits: str = "best"
    leaf: str = "constant"


class Fitter(ABC):
    """Fits boosted trees. The result is deterministic."""

    #: Settings to compare, the most robust first.
    candidates: tuple[Settings, ...]
    #: Learning rates are multiplied and numbers of rounds divided by this, where a tree takes long to fit.
    pace = 1

    @abstractmethod
    def grow(self, x: Singles, y: Floats, weights: Floats, settings: Settings, rounds: int) -> TreeEnsemble:
        """Fit up to `rounds` boosted trees to rows x (n, k) and targets y (n,) of scale about 1."""


@final
class LightGBMFitter(Fitter):
    """LightGBM with the Huber loss, since times have outliers; the loss is linear above half the scale of targets.

    Raises
    ------
    MissingExtraError
        If LightGBM isn't installed.
    """

    candidates = (
        Settings(),
        Settings(splits="random"),
        Settings(leaf="linear", smallest=20),
    )
    _BEND = 0.5

    def __init__(self) -> None:
        if find_spec("lightgbm") is None:
            raise MissingExtraError("boosting with LightGBM", extra="boost")

    def grow(self, x: Singles, y: Floats, weights: Floats, settings: Settings, rounds: int) -> TreeEnsemble:
        import lightgbm

        # Gradient tree boosting with the Huber loss [Friedman 2001, algorithm 4]. Each tree sees a random subset of the
        # runs [Friedman 2002] and of the columns. Leaves may be linear [Shi, Li and Li 2019].
        linear = settings.leaf == "linear"
        data = {
            "max_bin": 255, "min_data_in_bin": 1 if len(y) < 1000 else 3, "linear_tree": linear, "verbosity": -1,
            "feature_pre_filter": False, "num_threads": 1,
        }  # fmt: skip
        options = data | {
            "objective": "huber", "alpha": self._BEND, "learning_rate": settings.rate, "num_leaves": settings.leaves,
            "min_data_in_leaf": settings.smallest, "lambda_l2": 1.0, "linear_lambda": 1.0, "feature_fraction": 0.7,
            "bagging_fraction": 0.8, "bagging_freq": 1, "extra_trees": settings.splits == "random", "seed": 1,
            "deterministic": True, "force_row_wise": True,
        }  # fmt: skip
        rows = lightgbm.Dataset(x.astype(np.float64), y, weight=weights, params=data)
        return TreeEnsemble.of(trees_of(lightgbm.train(options, rows, num_boost_round=rounds)))


@final
class HistFitter(Fitter):
    """Scikit-learn's HistGradientBoostingRegressor, by least squares."""

    candidates = (Settings(smallest=8), Settings(leaves=15, smallest=5))
    pace = 2

    def grow(self, x: Singles, y: Floats, weights: Floats, settings: Settings, rounds: int) -> TreeEnsemble:
        from sklearn.ensemble import HistGradientBoostingRegressor

        # Gradient boosting by least squares [Friedman 2001, algorithm 2], on binned columns.
        booster = HistGradientBoostingRegressor(
            learning_rate=settings.rate, max_iter=rounds, max_leaf_nodes=settings.leaves, l2_regularization=1.0,
            min_samples_leaf=settings.smallest, early_stopping=False, random_state=1,
        )  # fmt: skip
        with warnings.catch_warnings(), without_openmp():
            # Scikit-learn warns if few runs give fewer bins than requested.
            warnings.simplefilter("ignore", UserWarning)
            booster.fit(x.astype(np.float64), y, sample_weight=weights)
        trees, start = boosted_trees(booster)
        return TreeEnsemble.of(trees, start=start)


def usual_fitter() -> type[Fitter]:
    """Return LightGBM where it is installed, else scikit-learn."""
    return LightGBMFitter if find_spec("lightgbm") else HistFitter
