"""One tensor fitted from one start: its grid, its trend, its factors, and bounds that it doesn't leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evenly.models.completion.cells import cell_means
from evenly.models.completion.coordinate_descent import coordinate_descent
from evenly.models.completion.factors import Factors, Penalty, Problem
from evenly.models.completion.gradient_descent import stochastic_gradient_descent
from evenly.models.completion.grid import Basis, Grid, Placement, Wish
from evenly.models.completion.least_squares import alternating_least_squares
from evenly.models.completion.trend import Trend
from evenly.models.completion.variational import Posterior, VariationalFit
from evenly.models.inputs.coding import Coding, Inputs

__all__ = ["OPTIMIZERS", "Member", "Optimizer", "Settings"]

Floats = NDArray[np.float64]
Optimizer = Literal["variational", "als", "ccd", "sgd"]
OPTIMIZERS = get_args(Optimizer)
#: How far beyond the tensor's values at measured runs it may go, in parts of their range.
_MARGIN = 0.5
#: Sweeps that a fit without some of its runs makes, from the factors found with them.
_AGAIN = 10


@dataclass(frozen=True)
class Settings:
    """How a tensor is fitted.

    Attributes
    ----------
    rank : int
    count : int
        Grid points of numbers of which `wanted` says nothing else.
    degree : {0, 1, 2}
        Of the trend.
    penalty : (ridge, roughness)
        Of the optimizers that don't learn them.
    """

    rank: int
    count: int
    wanted: Mapping[str, Wish] = field(default_factory=dict)
    basis: Basis = "hat"
    optimizer: Optimizer = "variational"
    penalty: tuple[float, float] = (0.1, 0.1)
    degree: int = 2
    tolerance: float = 1e-4
    sweeps: int = 50


class Member:
    """A tensor of log times on top of a trend."""

    grid: Grid
    trend: Trend
    posterior: Posterior
    bounds: tuple[float, float] = (0.0, 0.0)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats, coding: Coding, seed: int) -> None:
        """Learn from (n, …) inputs, logs (n,) and weights (n,)."""
        s = self.settings
        self.grid = Grid.lay(inputs, coding, s.wanted, s.count, s.basis)
        self._learn(inputs, logs, weights, s.sweeps, 0, seed=seed)
        if self.grid.modes and s.optimizer == "variational":
            self.posterior.prune()

    def _start(self, rest: Floats, seed: int) -> None:
        """Set out from random factors as large as what the trend leaves."""
        s = self.settings
        rank = s.rank if len(self.grid.modes) > 1 else 1
        spread = float(np.std(rest))
        ridge, roughness = (1.0, 1.0) if s.optimizer == "variational" else s.penalty
        self.posterior = Posterior(
            Factors.random(self.grid, rank, spread, seed),
            Penalty.even(self.grid, rank, ridge, roughness),
            1 / (0.1 * spread**2 + 1e-12),
        )

    def without(self, inputs: Inputs, logs: Floats, weights: Floats) -> Member:
        """Return what is learned from fewer runs, starting from what was learned from all."""
        other = Member(self.settings)
        other.grid = self.grid
        if self.grid.modes:
            other.posterior = self.posterior.copy()
        other._learn(inputs, logs, weights, _AGAIN, 5)
        return other

    def _learn(
        self, inputs: Inputs, logs: Floats, weights: Floats, sweeps: int, done: int, *, seed: int | None = None
    ) -> None:
        """Learn trend and tensor; with a seed from a random start, else from the factors there are."""
        s = self.settings
        together = s.optimizer == "variational" and s.basis == "hat" and len(self.grid.modes) > 0
        self.trend = Trend(s.degree)
        self.trend.start(inputs, logs, weights)
        if not together:
            self._settle_trend(logs, weights)
        rest = logs - self.trend.fitted
        if self.grid.modes:
            if seed is not None:
                self._start(rest, seed)
            problem = Problem(self.grid, self.grid.place(inputs, fitting=True), logs if together else rest, weights)
            if s.basis == "cells":
                problem = cell_means(problem)
            self._optimise(problem, self.trend if together else None, sweeps, done)
            self._bound(inputs)
        self.trend.forget_runs()

    def _settle_trend(self, logs: Floats, weights: Floats) -> None:
        floor = 1e-10 * float(np.var(logs)) + 1e-16
        for _ in range(10):
            self.trend.update(logs, weights, 1 / (float(np.mean((logs - self.trend.fitted) ** 2)) + floor))

    def _optimise(self, problem: Problem, trend: Trend | None, sweeps: int, done: int) -> None:
        s, p = self.settings, self.posterior
        if s.optimizer == "variational":
            VariationalFit(problem, trend, p).run(tolerance=s.tolerance, sweeps=sweeps, done=done)
            return
        p.precision = 1.0
        method = {
            "als": alternating_least_squares, "ccd": coordinate_descent, "sgd": stochastic_gradient_descent
        }[s.optimizer]  # fmt: skip
        many = 10 if s.optimizer == "ccd" else 1
        method(problem, p.factors, p.penalty, tolerance=s.tolerance / many, sweeps=sweeps * many)

    def _bound(self, inputs: Inputs) -> None:
        made = self.tensor(inputs)
        low, high = float(made.min()), float(made.max())
        room = _MARGIN * (high - low)
        self.bounds = low - room, high + room

    def widen(self, inputs: Inputs) -> None:
        """Let the tensor go as far as its values at some more runs."""
        made = self.tensor(inputs)
        self.bounds = min(self.bounds[0], float(made.min())), max(self.bounds[1], float(made.max()))

    def tensor(self, inputs: Inputs) -> Floats:
        """Return the tensor's values as they are, (n,)."""
        return self.posterior.factors.values(self.grid.place(inputs))[0]

    def predict(self, inputs: Inputs) -> Floats:
        """Return logs, (n,), the tensor's part within bounds."""
        return self.predict_at(self.grid.place(inputs), self.trend.design(inputs))

    def predict_at(self, place: Placement, design: Floats) -> Floats:
        """Return logs, (n,), of configurations found on the grid, given their trend's design (n, p)."""
        made = np.asarray(design @ self.trend.coefficients)
        return made + np.clip(self.posterior.factors.values(place)[0], *self.bounds) if self.grid.modes else made

    @property
    def numbers(self) -> int:
        """How many numbers predictions are made of."""
        factors = sum(self.grid.sizes) * self.posterior.factors.rank if self.grid.modes else 0
        return factors + len(self.trend.coefficients)

    def to_state(self) -> dict[str, Any]:
        """Return what predictions need."""
        state = {"grid": self.grid.to_state(), "trend": self.trend.to_state(), "bounds": list(self.bounds)}
        if self.grid.modes:
            mean = self.posterior.factors.mean
            state["factors"] = np.vstack([mean[j, :size] for j, size in enumerate(self.grid.sizes)])
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any], settings: Settings) -> Member:
        """Restore what `to_state` returned."""
        made = cls(settings)
        made.grid, made.trend = Grid.from_state(state["grid"]), Trend.from_state(state["trend"])
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
