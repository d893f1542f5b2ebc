"""Stochastic gradient descent with Adam steps [Kingma and Ba, 2015] on gradients over small batches of runs.

The step length is halved when the objective stagnates. A pass over all runs costs O(n d R), less than a sweep of the
other optimizers, but many passes are needed. The factors with the least evaluated objective are kept.
"""

from __future__ import annotations

import numpy as np

from evenly.models.array_types import Floats, Ints
from evenly.models.completion.factors import Factors, Penalty, Problem, balance, objective
from evenly.models.completion.kernels import batch_gradient

__all__ = ["stochastic_gradient_descent"]

_MEMORY, _SQUARE_MEMORY = 0.9, 0.99
#: Number of runs per step (at least).
_BATCH = 64
#: Number of passes between two evaluations of the objective.
_LOOK = 10


def stochastic_gradient_descent(
    problem: Problem, factors: Factors, penalty: Penalty, *, tolerance: float, sweeps: int, seed: int = 0
) -> list[float]:
    """Improve `factors` in place in at most ``20 * sweeps`` passes; return the objective at each evaluation.

    If ten passes lower the objective by at most ten times `tolerance`, relative to it, the step length is halved. The
    descent ends when steps get much shorter than the factors' elements.
    """
    rng = np.random.default_rng(seed)
    history = [objective(problem, factors, penalty)]
    best, lowest = factors.mean.copy(), history[0]
    first, second = np.zeros_like(factors.mean), np.zeros_like(factors.mean)
    length = 0.1 * float(np.abs(factors.mean).mean())
    count, n = 0, len(problem.targets)
    for number in range(20 * sweeps):
        for chosen in np.array_split(rng.permutation(n), max(1, n // _BATCH)):
            # Adam, algorithm 1: running means of the gradient and of its square, corrected for their start at zero.
            gradient = _gradient(problem, factors, penalty, chosen)
            count += 1
            first += (1 - _MEMORY) * (gradient - first)
            second += (1 - _SQUARE_MEMORY) * (gradient**2 - second)
            root = np.sqrt(second / (1 - _SQUARE_MEMORY**count)) + 1e-12
            factors.mean -= length * first / (1 - _MEMORY**count) / root
        if number % _LOOK == _LOOK - 1:
            history.append(objective(problem, factors, penalty))
            if history[-1] < lowest:
                best, lowest = factors.mean.copy(), history[-1]
            if history[-2] - history[-1] <= tolerance * _LOOK * abs(history[-1]):
                length *= 0.5
                if length < 1e-5 * float(np.abs(factors.mean).mean()):
                    break
    factors.mean[:] = best
    balance(problem.grid, factors, penalty)
    for j in range(len(problem.grid.modes)):
        factors.centre(problem.grid, j)
    return history


def _gradient(problem: Problem, factors: Factors, penalty: Penalty, chosen: Ints) -> Floats:
    """Return half the objective's gradient, (d, rows + 1, R), with the data term estimated from the `chosen` runs."""
    gradient = np.zeros_like(factors.mean)
    place = problem.place
    batch_gradient(chosen, place.rows, place.shares, problem.targets, problem.weights, factors.mean, gradient)
    gradient *= len(problem.targets) / len(chosen)
    for j, mode in enumerate(problem.grid.modes):
        u = factors.mean[j, : mode.size]
        gradient[j, : mode.size] += penalty.ridge[j] * u
        if mode.ordered:
            step = penalty.roughness[j] * np.diff(u, axis=0)
            gradient[j, : mode.size - 1] -= step
            gradient[j, 1 : mode.size] += step
        else:
            gradient[j, : mode.size] += penalty.roughness[j] * (u - u.mean(axis=0))
    return gradient
