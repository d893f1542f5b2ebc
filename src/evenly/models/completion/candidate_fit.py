"""One member of a completion: a tensor fitted from one random start, with grid, trend, factors and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.completion.coordinate_descent import coordinate_descent
from evenly.models.completion.factors import Factors, Penalty, Problem
from evenly.models.completion.gradient_descent import stochastic_gradient_descent
from evenly.models.completion.grid import Basis, Grid, GridSpec, Placement
from evenly.models.completion.least_squares import alternating_least_squares
from evenly.models.completion.trend import BayesianTrend
from evenly.models.completion.variational import Posterior, VariationalFit
from evenly.models.inputs.coding import Coding, Inputs

__all__ = ["OPTIMIZERS", "Member", "Optimizer", "Settings"]

Optimizer = Literal["variational", "als", "ccd", "sgd"]
OPTIMIZERS = get_args(Optimizer)
_METHODS = {"als": alternating_least_squares, "ccd": coordinate_descent, "sgd": stochastic_gradient_descent}
#: Margin by which predicted tensor values may exceed the range of those at the runs, relative to that range.
_MARGIN = 0.5
#: Number of sweeps of a refit without a fold, which starts at the factors fitted to all runs.
_AGAIN = 10


@dataclass(frozen=True)
class Settings:
    """Settings of a fit.

    Attributes
    ----------
    rank : int
        Number of products in the sum.
    count : int
        Number of grid points of numbers for which `grid_specs` has none.
    grid_specs : mapping of str to GridSpec
        The user's grid settings by parameter.
    basis, optimizer
        As in `evenly.models.completion.cpr.CPR`.
    penalty : (ridge, roughness)
        For the optimizers that don't learn penalties.
    degree : {0, 1, 2}
        Degree of the trend.
    tolerance : float
        Relative change of the squared error below which sweeps end.
    sweeps : int
        Maximum number of sweeps.
    """

    rank: int = 2
    count: int = 4
    grid_specs: Mapping[str, GridSpec] = field(default_factory=dict)
    basis: Basis = "hat"
    optimizer: Optimizer = "variational"
    penalty: tuple[float, float] = (0.1, 0.1)
    degree: int = 2
    tolerance: float = 1e-4
    sweeps: int = 50


class Member:
    """A trend of log times plus a tensor of its residuals, fitted from one random start."""

    grid: Grid
    trend: BayesianTrend
    posterior: Posterior
    bounds: tuple[float, float] = (0.0, 0.0)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats, coding: Coding, seed: int) -> None:
        """Fit to inputs (n, …), log times (n,) and weights (n,)."""
        s = self.settings
        self.grid = Grid.lay(inputs, coding, s.grid_specs, s.count, s.basis)
        self._learn(inputs, logs, weights, s.sweeps, 0, seed=seed)
        if self.grid.modes and s.optimizer == "variational":
            self.posterior.prune()

    def without(self, inputs: Inputs, logs: Floats, weights: Floats) -> Member:
        """Return a refit to some of the runs, which starts at the factors fitted to all runs."""
        other = Member(self.settings)
        other.grid = self.grid
        if self.grid.modes:
            other.posterior = deepcopy(self.posterior)
        other._learn(inputs, logs, weights, _AGAIN, 5)
        return other

    def _learn(
        self, inputs: Inputs, logs: Floats, weights: Floats, sweeps: int, done: int, *, seed: int | None = None
    ) -> None:
        """Fit trend and tensor, from a random start if `seed` is given, else from the current factors."""
        s = self.settings
        # The variational fit learns trend and tensor together. For other optimizers the trend is fitted first.
        together = s.optimizer == "variational" and s.basis == "hat" and len(self.grid.modes) > 0
        self.trend = BayesianTrend(s.degree)
        self.trend.start(inputs, logs, weights)
        if not together:
            floor = 1e-10 * float(np.var(logs)) + 1e-16
            for _ in range(10):
                self.trend.update(logs, weights, 1 / (float(np.mean((logs - self.trend.fitted) ** 2)) + floor))
        rest = logs - self.trend.fitted
        if self.grid.modes:
            if seed is not None:
                # Random factors, scaled so that tensor values are about as large as the trend's residuals.
                rank, spread = s.rank if len(self.grid.modes) > 1 else 1, float(np.std(rest))
                ridge, roughness = (1.0, 1.0) if s.optimizer == "variational" else s.penalty
                self.posterior = Posterior(
                    Factors.random(self.grid, rank, spread, seed),
                    Penalty(*(np.full((len(self.grid.modes), rank), one) for one in (ridge, roughness))),
                    1 / (0.1 * spread**2 + 1e-12),
                )
            problem = Problem(self.grid, self.grid.place(inputs, fitting=True), logs if together else rest, weights)
            if s.basis == "cells":
                problem = _cell_means(problem)
            p = self.posterior
            if s.optimizer == "variational":
                fit = VariationalFit(problem, self.trend if together else None, p)
                fit.run(tolerance=s.tolerance, sweeps=sweeps, done=done)
            else:
                p.precision = 1.0
                many = 10 if s.optimizer == "ccd" else 1
                tolerance, most = s.tolerance / many, sweeps * many
                _METHODS[s.optimizer](problem, p.factors, p.penalty, tolerance=tolerance, sweeps=most)
            made = self.tensor(inputs)
            low, high = float(made.min()), float(made.max())
            room = _MARGIN * (high - low)
            self.bounds = low - room, high + room
        self.trend.forget_runs()

    def widen(self, inputs: Inputs) -> None:
        """Widen the bounds to include the tensor's values at new runs."""
        made = self.tensor(inputs)
        self.bounds = min(self.bounds[0], float(made.min())), max(self.bounds[1], float(made.max()))

    def tensor(self, inputs: Inputs) -> Floats:
        """Return the tensor's values before they are clipped to the bounds, (n,)."""
        return self.posterior.factors.values(self.grid.place(inputs))[0]

    def predict(self, inputs: Inputs) -> Floats:
        """Return predicted log times, (n,): the trend plus the tensor's values, clipped to the bounds."""
        return self.predict_at(self.grid.place(inputs), self.trend.design(inputs))

    def predict_at(self, place: Placement, design: Floats) -> Floats:
        """Return predicted log times, (n,), given the placement on the grid and the trend's design matrix (n, p)."""
        made = np.asarray(design @ self.trend.coefficients)
        return made + np.clip(self.posterior.factors.values(place)[0], *self.bounds) if self.grid.modes else made

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads: all that predictions need."""
        state = {"grid": self.grid.to_state(), "trend": self.trend.to_state(), "bounds": list(self.bounds)}
        if self.grid.modes:
            mean = self.posterior.factors.mean
            state["factors"] = np.vstack([mean[j, :size] for j, size in enumerate(self.grid.sizes)])
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any], settings: Settings) -> Member:
        """Restore what `to_state` returned."""
        made = cls(settings)
        made.grid, made.trend = Grid.from_state(state["grid"]), BayesianTrend.from_state(state["trend"])
        made.bounds = float(state["bounds"][0]), float(state["bounds"][1])
        if made.grid.modes:
            stacked = np.asarray(state["factors"], dtype=np.float64)
            sizes, rank = made.grid.sizes, stacked.shape[1]
            mean = np.zeros((len(sizes), max(sizes) + 1, rank))
            for j, part in enumerate(np.split(stacked, np.cumsum(sizes)[:-1])):
                mean[j, : len(part)] = part
            flat = np.zeros((len(sizes), rank))
            factors = Factors(mean, np.zeros_like(mean), np.zeros_like(mean), flat)
            made.posterior = Posterior(factors, Penalty(flat, flat), 1.0)
        return made


def _cell_means(problem: Problem) -> Problem:
    """Return one observation per measured cell: the weighted mean of its targets, and the sum of its weights."""
    # Section 5.1: the tensor element of a cell is the mean of its runs; here the mean of their logs, as in section 5.2.
    _, first, cell = np.unique(problem.place.rows.T, axis=0, return_index=True, return_inverse=True)
    cell = np.ravel(cell)
    weights = np.bincount(cell, problem.weights)
    targets = np.bincount(cell, problem.weights * problem.targets) / weights
    rows, shares = problem.place.rows, problem.place.shares
    place = Placement(np.ascontiguousarray(rows[:, first]), np.ascontiguousarray(shares[:, first]))
    return Problem(problem.grid, place, np.asarray(targets, dtype=np.float64), np.asarray(weights, dtype=np.float64))
