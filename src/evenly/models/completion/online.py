"""Online learning: the equations of new runs are added to the stored ones of earlier runs, and solved again.

Each mode stores the sum of the normal equations of all runs so far. Those of earlier runs were computed with the
factors at that time (recursive least squares for each row [Kasai, 2016]). For new runs, a few sweeps over modes update
factors, penalties and noise. The cost is O(m d R²) for m new runs, independent of the number of earlier runs. The grid
and the trend stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.completion.candidate_fit import Member
from evenly.models.completion.factors import Blocks, Problem, equations, solve
from evenly.models.completion.variational import TAILS, Posterior, learn_penalties, update_mode
from evenly.models.inputs.coding import Inputs

__all__ = ["StoredEquations"]

_SWEEPS = 6


class StoredEquations:
    """The normal equations of each mode for the runs that a member learned from: O(sum(rows) R²) numbers.

    Attributes
    ----------
    weight, square : float
        Sums over all runs of the weights, and of the weighted expected squared residuals.
    """

    def __init__(self, member: Member, kept: list[Blocks], weight: float, square: float) -> None:
        self.member, self._kept = member, kept
        self.weight, self.square = weight, square

    @classmethod
    def of(cls, member: Member, inputs: Inputs, logs: Floats, weights: Floats) -> StoredEquations:
        """Compute the equations of the runs that the member learned from."""
        made = cls(member, [], 0.0, 0.0)
        if member.grid.modes:
            problem = made._problem(inputs, logs)
            made._keep(*made._weighted(problem, weights), weights)
        return made

    def _problem(self, inputs: Inputs, logs: Floats) -> Problem:
        m = self.member
        return Problem(m.grid, m.grid.place(inputs, fitting=True), logs - m.trend.predict(inputs), np.ones(len(logs)))

    @property
    def _with_variance(self) -> bool:
        return self.member.settings.optimizer == "variational"

    def _weighted(self, problem: Problem, weights: Floats) -> tuple[Problem, Floats]:
        """Return the runs with the weights of Student's t distribution, and their expected squared residuals (m,)."""
        posterior = self.member.posterior
        fitted, variance = posterior.factors.values(problem.place, with_variance=self._with_variance)
        squares = (problem.targets - fitted) ** 2 + variance
        if self._with_variance:
            weights = weights * (TAILS + 1) / (TAILS + posterior.precision * squares)
        return Problem(problem.grid, problem.place, problem.targets, weights), squares

    def _keep(self, problem: Problem, squares: Floats, weights: Floats) -> None:
        factors = self.member.posterior.factors
        made = [
            equations(problem, factors, j, with_variance=self._with_variance) for j in range(len(problem.grid.modes))
        ]
        self._kept = [kept.plus(new) for kept, new in zip(self._kept, made, strict=True)] if self._kept else made
        self.weight += float(weights.sum())
        self.square += float(problem.weights @ squares)

    def learn(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        """Learn from new runs with inputs (m, …), log times (m,) and weights (m,)."""
        if not self._kept:
            return
        problem, posterior = self._problem(inputs, logs), self.member.posterior
        for _ in range(_SWEEPS):
            now, squares = self._weighted(problem, weights)
            if self._with_variance:
                square = self.square + float(now.weights @ squares)
                posterior.precision = (self.weight + float(weights.sum())) / (square + 1e-300)
            # Each mode's equations are the stored ones plus those of the new runs with the current factors.
            for j in range(len(problem.grid.modes)):
                new = equations(now, posterior.factors, j, with_variance=self._with_variance)
                blocks = self._kept[j].plus(new).times(posterior.precision)
                if self._with_variance:
                    update_mode(problem.grid, blocks, posterior, j)
                    learn_penalties(problem.grid, posterior, j)
                else:
                    solve(problem.grid, blocks, posterior.factors, posterior.penalty, j)
                posterior.factors.centre(problem.grid, j)
        self._keep(*self._weighted(problem, weights), weights)
        self.member.widen(inputs)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads; the member's own state is stored separately."""
        if not self._kept:
            return {}
        blocks = [one.to_state() for one in self._kept]
        posterior = self.member.posterior.to_state()
        return {"blocks": blocks, "weight": self.weight, "square": self.square, "posterior": posterior}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], member: Member) -> StoredEquations:
        """Restore what `to_state` returned, and set the member's posterior with its variances."""
        if not state:
            return cls(member, [], 0.0, 0.0)
        member.posterior = Posterior.from_state(state["posterior"])
        blocks = [Blocks.from_state(one) for one in state["blocks"]]
        return cls(member, blocks, float(state["weight"]), float(state["square"]))
