"""Alternating least squares: each mode's factor is the exact minimiser given the others [Tomasi and Bro, 2005].

A sweep costs O(n d R² + sum(rows) R³); the objective never rises. Section 4.2.1 of the paper.
"""

from __future__ import annotations

from evenly.models.completion.factors import Factors, Penalty, Problem, balance, equations, objective, solve

__all__ = ["alternating_least_squares"]


def alternating_least_squares(
    problem: Problem, factors: Factors, penalty: Penalty, *, tolerance: float, sweeps: int
) -> list[float]:
    """Improve `factors` until a sweep lowers the objective by less than `tolerance` of it; return it after each."""
    history = [objective(problem, factors, penalty)]
    for _ in range(sweeps):
        for j in range(len(problem.grid.modes)):
            # Row by row minimisation of g(u_i), section 4.2.1; roughness ties neighbouring rows, so they are solved at
            # once.
            solve(problem.grid, equations(problem, factors, j), factors, penalty, j)
            factors.centre(problem.grid, j)
        balance(problem.grid, factors, penalty)
        history.append(objective(problem, factors, penalty))
        if history[-2] - history[-1] <= tolerance * history[-1]:
            break
    return history
