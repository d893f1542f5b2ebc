"""Marginal likelihood of a Gaussian process, its gradient, and the search for the best hyper-parameters.

The log likelihood is equation 2.30 of Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, computed
by their algorithm 2.1. With ``W = K⁻¹ - αα'`` and α = K⁻¹y, the derivative of its negative is ``½ Σ W ∂K`` (equation
5.9). For covariances that depend on distances between mapped points, derivatives with respect to the points are
computed first. The gradient for all length-scales then costs little more than for one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from evenly.models.array_types import Floats
from evenly.models.gaussian_process.hyperparameters import Component, Shape
from evenly.models.gaussian_process.kernels import add_covariance, mirror
from evenly.models.inputs.coding import Inputs

__all__ = [
    "LEAST_NOISE",
    "QUICK",
    "Found",
    "SearchBudget",
    "cost",
    "covariance_matrix",
    "learn",
    "minimised",
    "objective",
    "relearned",
]

#: Least noise variance of each run, relative to the variance of all values: keeps matrices with repeated runs regular.
LEAST_NOISE = 1e-8
#: Value of the objective where the covariance can't be factored.
_UNSOLVABLE = 1e12


@dataclass(frozen=True)
class SearchBudget:
    """Effort of the search for hyper-parameters, in numbers of runs and of optimisation steps.

    Attributes
    ----------
    starts : int
        Number of starts to compare.
    first_rows, first_steps : int
        For the first search from each start.
    rows, steps : int
        For improving all results on more runs.
    last_rows, last_steps : int
        For improving the best result on most runs.
    again_rows, again_steps : int
        For searches without a fold.
    """

    starts: int = 2
    first_rows: int = 400
    first_steps: int = 60
    rows: int = 1200
    steps: int = 25
    last_rows: int = 4096
    last_steps: int = 8
    again_rows: int = 800
    again_steps: int = 10


#: The search of a quick fit; for all other efforts, the defaults.
QUICK = SearchBudget(1, 400, 50, 1000, 15, 0, 0, 400, 8)


def objective(theta: Floats, shape: Shape, inputs: Inputs, values: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return minus the log of likelihood times prior, up to a constant, and its gradient (len(shape),).

    Parameters
    ----------
    theta : array (len(shape),)
        Hyper-parameters.
    inputs, values, weights
        The runs: inputs (n, …), standardised values (n,), and weights (n,), by which the noise variance is divided.
    """
    # The covariance K (n, n): trend, distance-dependent parts, and noise on the diagonal.
    features = shape.trend(theta).features(inputs)
    parts = [(component, *_component_matrices(component, inputs)) for component in shape.components(theta)]
    noise = shape.noise(theta) / weights
    matrix = features @ features.T
    for _, _, covariance, _ in parts:
        matrix += covariance
    matrix.flat[:: len(values) + 1] += noise + LEAST_NOISE
    # Rasmussen and Williams, algorithm 2.1: K = L L', α = L'⁻¹ L⁻¹ y, and log |K| = 2 Σ log L_ii.
    factor, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        return _UNSOLVABLE, np.zeros(len(shape))
    solution = lapack.dpotrs(factor, values, lower=1)[0]
    gap = (theta - shape.means) / shape.spreads
    value = 0.5 * values @ solution + np.sum(np.log(np.diag(factor))) + 0.5 * gap @ gap
    # W = K⁻¹ - αα', and ½ Σ W ∂K for each hyper-parameter (equation 5.9).
    gradient = gap / shape.spreads
    residual = lapack.dpotri(factor, lower=1, overwrite_c=1)[0].T
    mirror(residual)
    residual -= np.outer(solution, solution)
    gradient[0] += 0.5 * np.diag(residual) @ noise
    shape.trend(theta).add_gradient(shape, 0.5 * np.sum(features * (residual @ features), axis=0), gradient)
    for part, (component, coordinates, covariance, slope) in zip(shape.parts, parts, strict=True):
        gradient[shape.slices[f"{part}.variance"]] += 0.5 * np.vdot(residual, covariance)
        # W ∂K/∂r² of each pair, summed to derivatives by the points: r² = |a - b|² has the derivative 2 (a - b) by a.
        slope *= residual
        by_coordinate = 2 * (slope.sum(axis=1)[:, None] * coordinates - slope @ coordinates)
        component.add_gradient(shape, part, inputs, coordinates, by_coordinate, gradient)
    return float(value), gradient


def cost(theta: Floats, shape: Shape, inputs: Inputs, values: Floats, weights: Floats) -> float:
    """Return the value of `objective` without the gradient, which would take most of the time."""
    factor, failed = lapack.dpotrf(covariance_matrix(theta, shape, inputs, weights).T, lower=1, overwrite_a=1, clean=0)
    if failed:
        return _UNSOLVABLE
    half = lapack.dtrtrs(factor, values, lower=1)[0]
    gap = (theta - shape.means) / shape.spreads
    return float(0.5 * half @ half + np.sum(np.log(np.diag(factor))) + 0.5 * gap @ gap)


def _component_matrices(component: Component, inputs: Inputs) -> tuple[Floats, Floats, Floats]:
    """Return a component's coordinates (n, q), covariance (n, n), and derivative by squared distances (n, n)."""
    coordinates = component.coordinates(inputs)
    covariance, slope = np.empty((len(inputs),) * 2), np.empty((len(inputs),) * 2)
    norms = np.sum(coordinates**2, axis=1)
    add_covariance(coordinates @ coordinates.T, norms, component.variance, *component.kind, covariance, slope)
    return coordinates, covariance, slope


def covariance_matrix(theta: Floats, shape: Shape, inputs: Inputs, weights: Floats) -> Floats:
    """Return the prior covariance matrix of n runs with noise, (n, n)."""
    features = shape.trend(theta).features(inputs)
    matrix = np.asarray(features @ features.T)
    for component in shape.components(theta):
        matrix += _component_matrices(component, inputs)[1]
    matrix.flat[:: len(inputs) + 1] += shape.noise(theta) / weights + LEAST_NOISE
    return matrix


def learn(
    shape: Shape, inputs: Inputs, values: Floats, weights: Floats, search: SearchBudget = SearchBudget()
) -> tuple[Shape, Floats]:
    """Return the shape and the hyper-parameters with the largest likelihood times prior.

    The shape is the given one, or the same with smoothness 3/2. With many runs the search uses a random sample of them,
    which is larger in the last steps than in the first ones.
    """
    order = np.random.default_rng(0).permutation(len(values))
    first, more = np.sort(order[: search.first_rows]), np.sort(order[: search.rows])
    few = inputs.rows(first), values[first], weights[first]
    # First on few runs from several starts; then from the best result with smoothness 3/2.
    starts = shape.starts(few[0], few[1])[: search.starts]
    found = [minimised(shape, start, *few, search.first_steps) for start in starts]
    best = min(found, key=lambda one: one.cost)
    found.append(minimised(replace(shape, smoothness=1.5), best.theta, *few, search.steps))
    # Then all results are improved on more runs, and at last the best one on most runs.
    if len(values) > search.first_rows:
        many = inputs.rows(more), values[more], weights[more]
        found = [minimised(one.shape, one.theta, *many, search.steps) for one in found]
    best = min(found, key=lambda one: one.cost)
    if len(values) > search.rows < search.last_rows:
        last = np.sort(order[: search.last_rows])
        best = minimised(best.shape, best.theta, inputs.rows(last), values[last], weights[last], search.last_steps)
    return best.shape, best.theta


def relearned(
    shape: Shape, theta: Floats, inputs: Inputs, values: Floats, weights: Floats, search: SearchBudget = SearchBudget()
) -> Floats:
    """Return hyper-parameters learned from runs without a fold, given `theta` learned from all runs.

    With few runs the search starts at the priors' means. With more runs it makes a few steps from half-way between the
    priors' means and `theta`, so that the result depends little on the fold's runs.
    """
    if len(values) <= search.first_rows:
        return minimised(shape, shape.starts(inputs, values)[0], inputs, values, weights, search.steps).theta
    rows = np.sort(np.random.default_rng(0).permutation(len(values))[: search.again_rows])
    half = (shape.means + theta) / 2
    return minimised(shape, half, inputs.rows(rows), values[rows], weights[rows], search.again_steps).theta


@dataclass(frozen=True)
class Found:
    """Hyper-parameters with their shape, and minus the log of likelihood times prior there, up to a constant."""

    cost: float
    shape: Shape
    theta: Floats


def minimised(shape: Shape, start: Floats, inputs: Inputs, values: Floats, weights: Floats, steps: int) -> Found:
    """Minimise `objective` by at most `steps` iterations of L-BFGS-B from a start."""
    found = minimize(
        objective, start, args=(shape, inputs, values, weights), jac=True, method="L-BFGS-B",
        options={"maxiter": steps, "ftol": 1e-6},
    )  # fmt: skip
    return Found(float(found.fun), shape, np.asarray(found.x, dtype=np.float64))
