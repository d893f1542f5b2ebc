"""Gradient boosting on the residuals of a log-quadratic trend [Friedman 2001].

Derived inputs (`evenly.models.inputs.derived`), the settings of trees and their number are chosen by errors on left-out
runs. Trees can't extrapolate beyond the measured range; there the trend extrapolates as a power law. A fitted model
predicts without LightGBM and scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, final

from evenly.errors import InputError
from evenly.models.base import Effort, check_effort
from evenly.models.inputs.coding import Coding
from evenly.models.regression_model import RegressionModel
from evenly.models.trees.boosted import BUDGETS, Boosted
from evenly.models.trees.fitters import Fitter, HistFitter, LightGBMFitter, usual_fitter

__all__ = ["Boosting", "HistBoosting"]

_FITTERS: dict[str, type[Fitter]] = {"lightgbm": LightGBMFitter, "scikit-learn": HistFitter}


@final
@dataclass(kw_only=True, eq=False, repr=False)
class Boosting(RegressionModel[Boosted]):
    """A trend and boosted trees, fitted by LightGBM where it is installed, else by scikit-learn.

    Parameters
    ----------
    fitter : {"lightgbm", "scikit-learn"}, optional
        Library that fits the trees; LightGBM comes with ``pip install 'evenly[boost]'``.
    effort : {"quick", "normal", "thorough"}
        Number of settings to compare, and maximum number of trees.
    folds : int
        Number of folds for left-out errors; 0 for no intervals from left-out runs.

    Examples
    --------
    >>> table = {"n": list(range(1, 65)) * 2, "solver": ["cg"] * 64 + ["lu"] * 64}
    >>> seconds = [n * (1.0 if s == "cg" else 1 + n / 16) for n, s in zip(table["n"], table["solver"])]
    >>> model = Boosting(effort="quick").fit(table, seconds)
    >>> model.predict({"n": [32, 32], "solver": ["cg", "lu"]}).round()
    array([32., 96.])
    """

    method: ClassVar[str] = "boosting"
    summary: ClassVar[str] = "boosted trees on the residuals of a log-quadratic trend"

    fitter: Literal["lightgbm", "scikit-learn"] | None = None
    effort: Effort = "normal"
    folds: int = 5

    def regressor(self, coding: Coding) -> Boosted:
        check_effort(self.effort)
        if self.fitter is not None and self.fitter not in _FITTERS:
            raise InputError(f"fitter must be one of {', '.join(_FITTERS)}, but got {self.fitter!r}")
        fitter = _FITTERS[self.fitter] if self.fitter else usual_fitter()
        return Boosted(coding, fitter, BUDGETS[self.effort], self.folds)


@final
@dataclass(kw_only=True, eq=False, repr=False)
class HistBoosting(RegressionModel[Boosted]):
    """A trend and boosted trees, fitted by scikit-learn's HistGradientBoostingRegressor.

    Parameters
    ----------
    effort : {"quick", "normal", "thorough"}
        Number of settings to compare, and maximum number of trees.
    folds : int
        Number of folds for left-out errors; 0 for no intervals from left-out runs.

    Examples
    --------
    >>> n = list(range(1, 65))
    >>> model = HistBoosting(effort="quick").fit({"n": n}, [10.0 if k < 32 else 20.0 for k in n])
    >>> model.predict({"n": [16, 50]}).round()
    array([10., 20.])
    """

    method: ClassVar[str] = "hist-boosting"
    summary: ClassVar[str] = "boosted trees of scikit-learn on the residuals of a log-quadratic trend"

    effort: Effort = "normal"
    folds: int = 5

    def regressor(self, coding: Coding) -> Boosted:
        check_effort(self.effort)
        return Boosted(coding, HistFitter, BUDGETS[self.effort], self.folds)
