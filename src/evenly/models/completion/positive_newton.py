"""Alternating minimisation by Newton's method (AMN) for a canonical polyadic decomposition with positive factors.

Minimises, with weights w of mean 1 and t̂ = Σ_r Π_j U_j[i_j, r] and all U_j > 0,

    Σ over cells of w (log t̂ - log t)²  +  λ Σ U²  -  η Σ log U

row by row [Hutter and Solomonik, section 4.2.2, equation 4], for η = 10, 10/8, … down to 1e-11, with at most 40 Newton
steps per row and visit. Where the loss isn't convex (t̂ > e t), its curvature is bounded from below. Steps stay inside
the positive orthant. Each step is halved until the objective falls, so that it never rises.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenly.compiling import njit
from evenly.models.array_types import Floats, Ints
from evenly.models.completion.positive_grid import Cells

__all__ = ["barriers", "complete", "objective", "start", "values"]

#: Maximum number of Newton steps per row in a sweep, of sweeps per η, and the relative decrease at which sweeps end.
_STEPS = 40
_SWEEPS = 20
_TOLERANCE = 1e-3


def barriers(first: float = 10.0, factor: float = 8.0, last: float = 1e-11) -> Iterator[float]:
    """Yield η from `first` down to `last` or just below.

    Examples
    --------
    >>> len(list(barriers()))
    15
    """
    eta = first
    while eta > last:
        yield eta
        eta /= factor
    yield eta


def start(shape: tuple[int, ...], rank: int, seed: int = 0) -> list[Floats]:
    """Return random positive factors, (n_j, rank) per mode, for which tensor elements are about 1."""
    rng = np.random.default_rng(seed)
    level = rank ** (-1 / len(shape))
    return [level * np.exp(rng.uniform(-0.5, 0.5, (n, rank))) for n in shape]


def values(factors: list[Floats], index: Ints) -> Floats:
    """Return t̂ at cells (n, n_modes), (n,)."""
    return np.asarray(_others(factors, index, -1).sum(axis=1))


def objective(factors: list[Floats], cells: Cells, ridge: float, eta: float) -> float:
    """Return the objective: equation 3 with the loss (log t - log t̂)² and barriers (section 4.2.2)."""
    error = np.log(values(factors, cells.index)) - cells.logs
    loss = float(np.sum(_shares(cells) * error**2))
    return loss + sum(ridge * float(np.sum(u**2)) - eta * float(np.sum(np.log(u))) for u in factors)


def complete(cells: Cells, shape: tuple[int, ...], rank: int, *, numeric: int, ridge: float = 1e-5) -> list[Floats]:
    """Return positive factors, (n_j, rank) per mode, fitted to the measured cells of a tensor.

    Rows without measured cells are filled at the end. Along numbers (the first `numeric` modes) they are interpolated
    geometrically between their neighbours; for labels they get the geometric mean of the mode.
    """
    factors = start(shape, rank)
    shares = _shares(cells)
    orders = [np.argsort(i, kind="stable") for i in cells.index.T]
    # Scale the first mode so that the means of log t̂ and log t agree at the start.
    factors[0] *= np.exp(float(np.average(cells.logs - np.log(values(factors, cells.index)), weights=shares)))
    # Interior-point method: the barrier weight η falls geometrically, and each η starts at the last one's solution.
    for eta in barriers():
        last = np.inf
        for _ in range(_SWEEPS):
            # AMN: update all rows of one mode by Newton's method; `others` are the products of the other modes.
            for mode, order in enumerate(orders):
                rows = cells.index[order, mode]
                starts = np.searchsorted(rows, np.arange(shape[mode] + 1))
                others = _others(factors, cells.index[order], mode)
                _update_rows(factors[mode], others, cells.logs[order], shares[order], starts, ridge, eta)
            now = _balance(factors, cells, ridge, eta)
            if last - now < _TOLERANCE * (abs(now) + 1e-6 * len(shares)):
                break
            last = now
    for mode, factor in enumerate(factors):
        _fill(factor, np.unique(cells.index[:, mode]), along=mode < numeric)
    return factors


def _balance(factors: list[Floats], cells: Cells, ridge: float, eta: float) -> float:
    """Rescale each component to the same norm in all modes, which doesn't change t̂, and return the objective.

    This can only lower the ridge term, but it may raise the barrier term. If their sum doesn't fall, nothing is
    changed.
    """
    before = objective(factors, cells, ridge, eta)
    sizes = np.array([np.linalg.norm(u, axis=0) for u in factors])
    common = np.exp(np.mean(np.log(sizes), axis=0))
    balanced = [u * (common / size) for u, size in zip(factors, sizes, strict=True)]
    after = objective(balanced, cells, ridge, eta)
    if after >= before:
        return before
    for u, other in zip(factors, balanced, strict=True):
        u[:] = other
    return after


def _shares(cells: Cells) -> Floats:
    """Return the weights of cells, scaled to mean 1."""
    return np.asarray(cells.weights / cells.weights.mean())


def _fill(factor: Floats, measured: Ints, *, along: bool) -> None:
    """Fill rows without measured cells: interpolate logs between neighbours (`along` numbers), or take their mean."""
    missing = np.setdiff1d(np.arange(len(factor)), measured)
    logs = np.log(factor[measured])
    for column, known in zip(factor.T, logs.T, strict=True):
        column[missing] = np.exp(np.interp(missing, measured, known) if along else known.mean())


def _others(factors: list[Floats], index: Ints, mode: int) -> Floats:
    """Return the products over all modes but one of the factors' rows at cells (n, n_modes), (n, rank)."""
    product = np.ones((len(index), factors[0].shape[1]))
    for m, (factor, i) in enumerate(zip(factors, index.T, strict=True)):
        if m != mode:
            product = product * factor[i]
    return product


@njit(cache=True)
def _value(others, logs, shares, u, ridge, eta):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the part of the objective that depends on one row u (rank,), given `others` (n, rank) at its cells."""
    total = 0.0
    for n in range(len(logs)):
        t = 0.0
        for r in range(len(u)):
            t += others[n, r] * u[r]
        error = np.log(t) - logs[n]
        total += shares[n] * error * error
    for r in range(len(u)):
        total += ridge * u[r] * u[r] - eta * np.log(u[r])
    return total


@njit(cache=True)
def _derivatives(others, logs, shares, u, ridge, eta):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return `_value`, its gradient (rank,), and its Hessian (rank, rank), made positive: g and H of equation 4."""
    rank = len(u)
    slope, curvature, value = np.zeros(rank), np.zeros((rank, rank)), 0.0
    for n in range(len(logs)):
        t = 0.0
        for r in range(rank):
            t += others[n, r] * u[r]
        error = np.log(t) - logs[n]
        value += shares[n] * error * error
        first = 2.0 * shares[n] * error / t
        # (1 - error) is the curvature of the squared logarithm; where it isn't positive, a tenth of Gauss-Newton's.
        second = 2.0 * shares[n] * max(1.0 - error, 0.1) / (t * t)
        for r in range(rank):
            slope[r] += first * others[n, r]
            for q in range(r + 1):
                curvature[r, q] += second * others[n, r] * others[n, q]
    for r in range(rank):
        value += ridge * u[r] * u[r] - eta * np.log(u[r])
        slope[r] += 2.0 * ridge * u[r] - eta / u[r]
        curvature[r, r] += 2.0 * ridge + eta / (u[r] * u[r])
        for q in range(r):
            curvature[q, r] = curvature[r, q]
    return value, slope, curvature


@njit(cache=True)
def _update_rows(factor, others, logs, shares, starts, ridge, eta):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Minimise each row of a factor (rows, rank) by Newton's method, equation 4.

    The cells of row i are starts[i] … starts[i + 1] (excluded), of `others` (n, rank), `logs` and `shares` (n,).
    """
    for row in range(len(factor)):
        a, b = starts[row], starts[row + 1]
        u = factor[row].copy()
        if a == b:
            continue
        for _ in range(_STEPS):
            value, slope, curvature = _derivatives(others[a:b], logs[a:b], shares[a:b], u, ridge, eta)
            # Rescaled to relative steps, for which the barrier's curvature is η: well scaled even for tiny elements.
            for r in range(len(u)):
                for q in range(len(u)):
                    curvature[r, q] *= u[r] * u[q]
            scaled = slope * u
            for r in range(len(u)):
                curvature[r, r] += 1e-14
            step = -np.linalg.solve(curvature, scaled)
            # First-order decrease of the objective by a full step; iterations end where it is small.
            falls = -np.sum(step * scaled)
            if falls < 1e-12:
                break
            # At most 95 % of the way to the boundary u = 0, then halved until Armijo's condition holds.
            length = 1.0
            deepest = np.min(step)
            if deepest < 0.0:
                length = min(1.0, -0.95 / deepest)
            moved = False
            for _ in range(30):
                tried = u * (1.0 + length * step)
                if _value(others[a:b], logs[a:b], shares[a:b], tried, ridge, eta) < value - 1e-4 * length * falls:
                    u = tried
                    moved = True
                    break
                length *= 0.5
            if not moved:
                break
        factor[row] = u
