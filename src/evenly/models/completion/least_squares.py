"""Alternating least squares: each mode's factor is set to the exact minimiser given the others [Tomasi and Bro, 2005].

A sweep costs O(n d R² + sum(rows) R³), and the objective never rises. See section 4.2.1 of the paper.
"""

from __future__ import annotations

from evenly.models.completion.factors import Factors, Penalty, Problem, equations, solve, sweep_until_converged

__all__ = ["alternating_least_squares"]


def alternating_least_squares(
    problem: Problem, factors: Factors, penalty: Penalty, *, tolerance: float, sweeps: int
) -> list[float]:
    """Improve `factors` in place until the objective's relative decrease in a sweep is at most `tolerance`.

    Returns the objective at the start and after each sweep.
    """

    def sweep() -> None:
        for j in range(len(problem.grid.modes)):
            # Minimisation of g(u_i), in section 4.2.1 row by row. Roughness couples neighbouring rows, so all rows are
            # solved together.
            solve(problem.grid, equations(problem, factors, j), factors, penalty, j)
            factors.centre(problem.grid, j)

    return sweep_until_converged(problem, factors, penalty, sweep, tolerance=tolerance, sweeps=sweeps)
