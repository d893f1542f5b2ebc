"""Tensor completion: a canonical polyadic (CP) decomposition of log times on a grid of all parameters.

The tensor has one dimension (mode) per parameter, and few of its elements are measured. It is modelled as a sum of few
products. Each product has one factor per parameter: a piecewise linear function of a number, or one value per label. A
polynomial trend of degree 2 is added. The number of coefficients grows only linearly with the number of parameters, and
predictions are fast. The method suits a hundred runs and more [Hutter and Solomonik, Application performance modeling
via tensor completion, sections 5.1 and 5.2].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.base import checked_runs
from evenly.models.completion.candidate_fit import OPTIMIZERS, Member, Optimizer, Settings
from evenly.models.completion.grid import BASES, Basis, GridSpec, parse_grid
from evenly.models.completion.online import StoredEquations
from evenly.models.completion.selection import FreeSettings, choose, usual_count, usual_rank
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor
from evenly.models.uncertainty.local_conformal import LocalConformal
from evenly.space.configurations import as_table
from evenly.space.space import Configurations

__all__ = ["CPR"]

#: Members whose noise exceeds the least one by more than this factor are dropped.
_WORSE = 1.2


@dataclass(eq=False, repr=False)
class _Completion(Regressor):
    """The mean of tensors fitted from several random starts."""

    settings: Settings
    free: FreeSettings
    coding: Coding
    starts: int | None
    online: bool
    stored_equations: list[StoredEquations] = field(default_factory=list, init=False)

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        n, settings = len(logs), self.settings
        if self.free.rank:
            settings = replace(settings, rank=usual_rank(n))
        if self.free.count:
            settings = replace(settings, count=usual_count(n))
        self.settings = choose(settings, self.free, inputs, logs, weights, self.coding)
        starts = self.starts or (4 if n < 64 else 8 if n < 1000 else 4 if n < 8000 else 3)
        self.members = [Member(self.settings) for _ in range(starts)]
        for seed, member in enumerate(self.members):
            member.fit(inputs, logs, weights, self.coding, seed)
        if self.settings.optimizer == "variational" and self.members[0].grid.modes:
            # Members with clearly more noise than the best one have stopped at a bad local minimum.
            noise = [member.posterior.precision**-0.5 for member in self.members]
            self.members = [m for m, one in zip(self.members, noise, strict=True) if one <= _WORSE * min(noise)]
        if self.online:
            self.stored_equations = [StoredEquations.of(member, inputs, logs, weights) for member in self.members]

    def predict(self, inputs: Inputs) -> Floats:
        return np.asarray(self._each(inputs).mean(axis=0))

    def _each(self, inputs: Inputs) -> Floats:
        """Return the log times that each member predicts, (n_members, n); all members have the same grid."""
        first = self.members[0]
        place, design = first.grid.place(inputs), first.trend.design(inputs)
        return np.array([member.predict_at(place, design) for member in self.members])

    def spread(self, inputs: Inputs) -> Floats:
        """Return the standard deviation of the members' predicted log times, (n,)."""
        return np.asarray(self._each(inputs).std(axis=0, ddof=int(len(self.members) > 1)))

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats:
        """Predict each fold by members that are refitted without it, starting at the factors of all runs, (n,)."""
        found = np.zeros(len(logs))
        for fold in np.unique(folds):
            out = folds == fold
            rest = inputs.rows(~out), logs[~out], weights[~out]
            made = [member.without(*rest).predict(inputs.rows(out)) for member in self.members]
            found[out] = np.mean(made, axis=0)
        return found

    @property
    def coefficients(self) -> float:
        one = self.members[0]
        tensor = sum(one.grid.sizes) * one.posterior.factors.rank if one.grid.modes else 0
        return float(tensor + len(one.trend.coefficients))

    def get_state(self) -> dict[str, Any]:
        s = self.settings
        return {
            "rank": s.rank, "count": s.count, "penalty": list(s.penalty),
            "members": [member.to_state() for member in self.members],
            "memories": [equations.to_state() for equations in self.stored_equations],
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        penalty = float(state["penalty"][0]), float(state["penalty"][1])
        self.settings = replace(self.settings, rank=int(state["rank"]), count=int(state["count"]), penalty=penalty)
        self.members = [Member.from_state(one, self.settings) for one in state["members"]]
        self.stored_equations = [
            StoredEquations.from_state(one, member)
            for one, member in zip(state["memories"], self.members, strict=False)
        ]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class CPR(RegressionModel[_Completion]):
    """Canonical polyadic (CP) regression: completion of a tensor of log times.

    Rank, grid and penalty are chosen by cross-validation if they aren't given.

    Parameters
    ----------
    rank : int, optional
        Number of products in the sum.
    grid : optional
        Grid of the numeric parameters: ``"log"``, ``"uniform"``, a number of grid points (cells with
        ``basis="cells"``), or a pair such as ``("uniform", 16)``. A dict gives one of these for each parameter, or a
        rising sequence of grid points (edges of cells) in the parameter's unit. Other numeric parameters get a number
        of points that depends on the number of runs, or their distinct values if these are few. A categorical parameter
        has one row per label.
    basis : {"hat", "cells"}
        "hat": piecewise linear factors, fitted to each run at its own place. "cells": the paper's method, which
        averages the runs in each cell.
    optimizer : {"variational", "als", "ccd", "sgd"}
        ``"variational"`` is alternating least squares that also learns penalties and noise. The others are alternating
        least squares, cyclic coordinate descent and stochastic gradient descent with given penalties.
    penalty : float or (float, float), optional
        Ridge and roughness, or one value for both, in units of the squared log error of one run. Not with
        ``"variational"``.
    degree : {0, 1, 2}
        Degree of the polynomial trend.
    starts : int, optional
        Number of members: tensors fitted from different random starts, whose mean is predicted. By default 4 below 64
        runs, 8 below 1,000, 4 below 8,000, else 3. Members with clearly more noise than the best one are dropped.
    tolerance : float
        Relative change of the squared error below which sweeps end.
    folds : int
        Number of folds for the left-out residuals from which intervals are learned.
    online : bool
        Whether to keep the normal equations of the runs, which `update` needs. They make the model larger.

    Examples
    --------
    >>> m, n = (a.ravel() for a in np.meshgrid(2.0 ** np.arange(5, 12), 2.0 ** np.arange(5, 12)))
    >>> model = CPR(starts=1, rank=2).fit({"m": m, "n": n}, 1e-9 * m * n + 1e-6 * m)
    >>> bool(abs(model.predict({"m": [512], "n": [64]})[0] / (1e-9 * 512 * 64 + 1e-6 * 512) - 1) < 0.01)
    True
    """

    method: ClassVar[str] = "cpr"
    summary: ClassVar[str] = "tensor completion: few products of one piecewise linear factor per parameter, and a trend"

    rank: int | None = None
    grid: Any = None
    basis: Basis = "hat"
    optimizer: Optimizer = "variational"
    penalty: float | tuple[float, float] | None = None
    degree: int = 2
    starts: int | None = None
    tolerance: float = 3e-3
    folds: int = 5
    online: bool = False

    def regressor(self, coding: Coding) -> _Completion:
        penalty = self._checked_penalty()
        grid_specs = parse_grid(self.grid, coding)
        free = [
            n
            for n in coding.numeric
            if n not in grid_specs or (grid_specs[n].count is None and grid_specs[n].points is None)
        ]
        # An ordinal parameter with at most 64 values has one row per value. Before `fit`, none is known to be ordinal.
        known = self.space_.parameters if hasattr(self, "space_") else {}
        for name in coding.numeric:
            values = known[name].values() if name in known and known[name].kind == "ordinal" else None
            if name not in grid_specs and values is not None and 2 <= len(values) <= 64:
                grid_specs[name] = GridSpec(points=tuple(float(v) for v in values))
        settings = Settings(
            rank=self.rank or Settings.rank, grid_specs=grid_specs, basis=self.basis, optimizer=self.optimizer,
            penalty=penalty, degree=self.degree, tolerance=self.tolerance,
        )  # fmt: skip
        free_settings = FreeSettings(
            rank=self.rank is None,
            count=bool(free),
            penalty=self.optimizer != "variational" and self.penalty is None,
        )
        return _Completion(settings, free_settings, coding, self.starts, online=self.online)

    def _checked_penalty(self) -> tuple[float, float]:
        """Check the model's arguments and return (ridge, roughness)."""
        for name, allowed in (("basis", BASES), ("optimizer", OPTIMIZERS), ("degree", (0, 1, 2))):
            value = getattr(self, name)
            if value not in allowed or isinstance(value, bool):
                raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}, but got {value!r}")
        for name in ("rank", "starts"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InputError(f"{name} must be a whole number of at least 1, but got {value!r}")
        if not 0 < self.tolerance < 1:
            raise InputError(f"tolerance must lie between 0 and 1, but got {self.tolerance!r}")
        if self.penalty is not None and self.optimizer == "variational":
            raise InputError(
                "optimizer='variational' learns its penalties, but got penalty: leave it out, or take optimizer='als'"
            )
        if self.penalty is None:
            return Settings.penalty
        given: Any = self.penalty
        pair = given if isinstance(given, tuple | list) else (given, given)
        if len(pair) != 2 or not all(np.isfinite(p) and p > 0 for p in pair):
            raise InputError(f"penalty must be a number above 0, or two (ridge, roughness), but got {self.penalty!r}")
        return float(pair[0]), float(pair[1])

    @property
    def rank_(self) -> int:
        """The rank that was given or chosen, including components that were dropped in the fit."""
        return self._fitted.settings.rank

    @property
    def grid_(self) -> dict[str, Floats]:
        """Grid points (edges with cells) of each numeric parameter with more than one value, in its unit."""
        found = {}
        grid = self._fitted.members[0].grid
        for mode in grid.modes:
            if mode.ordered:
                n = self._coding.names.index(self._coding.numeric[mode.column])
                coded = self._coding.centres[n] + self._coding.scales[n] * mode.knots
                logs = self._coding.kinds[n] == "log" and mode.exponent is None
                found[self._coding.names[n]] = np.exp(coded) if logs else mode.knots if mode.exponent else coded
        return found

    def spread(self, X: Configurations) -> Floats:
        """Return the standard deviation of the log times predicted by members of different random starts, (n,)."""
        return self._fitted.spread(self._coding.inputs(self._asked(X)))

    def update(self, X: Configurations, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from new runs, without access to the earlier runs.

        Grid, rank and trend stay the same. Intervals are updated by the errors of predictions for the new runs, made
        before the model learns from these. The cost doesn't depend on the number of earlier runs. Since the rank can't
        grow, fit a new model once there are several times as many runs.

        Parameters
        ----------
        X : DataFrame, dict of columns or array (m, n_parameters)
            New configurations, inside the range of the earlier runs.
        y : array_like (m,)
            Measured values, above zero.
        sample_weight : array_like (m,), optional
            Weights of the new runs, relative to an earlier run.

        Raises
        ------
        InputError
            If the model has no stored equations, a value isn't above zero, or a configuration lies outside the range.

        Examples
        --------
        >>> cores = np.array([1, 2, 4, 8, 16, 32])
        >>> model = CPR(online=True).fit({"cores": cores}, 1 / cores)
        >>> model.update({"cores": [2, 8]}, [0.5, 0.125]).n_runs_
        8
        """
        if not hasattr(self, "space_"):
            raise InputError("this CPR has not learned anything yet: call fit first")
        if not self._fitted.stored_equations:
            raise InputError("update needs the equations of the runs learned from: fit with online=True")
        table = self.space_.frame(as_table(X))
        outside = self.space_.outside(table)
        if outside:
            raise InputError(
                f"update must stay within the range learned on, but {', '.join(outside)} lies outside: fit anew with "
                "all runs"
            )
        values, weights = checked_runs(y, sample_weight, len(table))
        self._take(self._coding.inputs(table), np.log(values) - self._centre, weights)
        return self

    def _take(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        """Learn from checked runs (m, …), and update the intervals by the errors of their predictions before."""
        errors = logs - np.clip(self._fitted.predict(inputs), *self._limits)
        for equations in self._fitted.stored_equations:
            equations.learn(inputs, logs, weights)
        self._limits = min(self._limits[0], float(logs.min())), max(self._limits[1], float(logs.max()))
        self.n_runs_ += len(logs)
        self.left_out_predictions_ = None
        known = self._conformal
        if len(known.places):
            places = np.vstack([known.places, inputs.matrix])
            residuals = np.concatenate([known.residuals, errors])
            freedom = max(self.n_runs_ - self._fitted.coefficients, 0.0)
            self._conformal = LocalConformal.learn(
                self._coding.inputs_of(places), residuals, freedom=freedom, growth=known.growth
            )
