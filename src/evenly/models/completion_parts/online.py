"""New runs without refitting: equations of earlier runs are kept, those of new ones added, and rows solved again.

Each mode keeps the normal equations of all runs so far, made with the factors of their time (recursive least squares
for each row [Kasai, 2016]); new runs add theirs, and a few sweeps over modes settle the factors. Costs O(m d R²) for m
new runs, whatever the number of earlier ones. The trend, the grid, penalties and the noise stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models._inputs import Inputs
from evenly.models.completion_parts.factors import Blocks, Problem, equations, solve
from evenly.models.completion_parts.member import Member
from evenly.models.completion_parts.variational import Posterior, set_variances

__all__ = ["Memory"]

Floats = NDArray[np.float64]
_SWEEPS = 4


class Memory:
    """What a member keeps of the runs learned from: each mode's equations, O(sum(rows) R²) numbers."""

    def __init__(self, member: Member, kept: list[Blocks]) -> None:
        self.member, self._kept = member, kept

    @classmethod
    def of(cls, member: Member, inputs: Inputs, logs: Floats, weights: Floats) -> Memory:
        """Add up the equations of the runs learned from."""
        made = cls(member, [])
        problem = made._problem(inputs, logs, weights)
        made._kept = [made._equations(problem, j) for j in range(len(member.grid.modes))]
        return made

    def _problem(self, inputs: Inputs, logs: Floats, weights: Floats) -> Problem:
        m = self.member
        rest = logs - m.trend.predict(inputs)
        place = m.grid.place(inputs, fitting=True)
        if self._doubt:
            fitted, variance = m.posterior.factors.values(place, doubt=True)
            # Student's t with 4 degrees of freedom, as when the factors were found.
            weights = weights * 5 / (4 + m.posterior.precision * ((rest - fitted) ** 2 + variance))
        return Problem(m.grid, place, rest, weights)

    @property
    def _doubt(self) -> bool:
        return self.member.settings.optimizer == "variational"

    def _equations(self, problem: Problem, j: int) -> Blocks:
        p = self.member.posterior
        return equations(problem, p.factors, j, precision=p.precision, doubt=self._doubt)

    def learn(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        """Add runs: (m, …) inputs, logs (m,), weights (m,)."""
        if not self._kept:
            return
        m = self.member
        grid, posterior = m.grid, m.posterior
        problem = self._problem(inputs, logs, weights)
        for _ in range(_SWEEPS):
            for j in range(len(grid.modes)):
                together = self._kept[j].plus(self._equations(problem, j))
                own = solve(grid, together, posterior.factors, posterior.penalty, j)
                if self._doubt:
                    set_variances(grid, posterior.factors, j, *own)
                posterior.factors.centre(grid, j)
        self._kept = [kept.plus(self._equations(problem, j)) for j, kept in enumerate(self._kept)]
        m.widen(inputs)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads; the member's own state is stored apart."""
        if not self._kept:
            return {}
        blocks = [{"diagonal": b.diagonal, "above": b.above, "right": b.right} for b in self._kept]
        return {"blocks": blocks, "posterior": self.member.posterior.to_state()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], member: Member) -> Memory:
        """Restore what `to_state` returned, and the member's variances with it."""
        if not state:
            return cls(member, [])
        member.posterior = Posterior.from_state(state["posterior"])
        names = ("diagonal", "above", "right")
        blocks = [Blocks(*(np.asarray(b[n], dtype=np.float64) for n in names)) for b in state["blocks"]]
        return cls(member, blocks)
