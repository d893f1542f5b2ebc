"""Factor matrices of a CP decomposition, their penalised least squares, and the exact solution for one mode.

The value of a configuration is the sum over r of the product over modes j of ``phi_j' U_j[:, r]``. The vector phi_j
holds the weights of the rows of mode j: a single 1 for labels and cells, two weights for hat functions. The objective
is (equation 3 of the paper, with roughness)

    sum_s w_s (t_s - value_s)² + sum_jr (ridge_jr |u_jr|² + roughness_jr |D_j u_jr|²)

with D u the differences between neighbouring rows for numbers, and the differences from the mode's mean for labels. So
a row without runs is interpolated between its neighbours, or is pulled to the mean of the other labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from evenly.models.array_types import Floats
from evenly.models.completion.grid import Grid, Placement
from evenly.models.completion.kernels import banded, normal_equations, values
from evenly.models.stored_dataclass import Stored

__all__ = [
    "Blocks", "Factors", "Penalty", "Problem", "balance", "equations", "objective", "solve", "sweep_until_converged",
]  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """A least-squares problem: the grid, the placement of runs on it, targets (n,) and weights (n,)."""

    grid: Grid
    place: Placement
    targets: Floats
    weights: Floats


@dataclass
class Penalty:
    """Ridge and roughness of each mode's columns, (d, R) each, in units of squared targets."""

    ridge: Floats
    roughness: Floats


@dataclass
class Factors:
    """Factor matrices of all modes in one array, with the variances of their elements.

    Attributes
    ----------
    mean : array (d, rows + 1, R)
        The factors. Rows after a mode's last one are zero.
    variance, covariance : arrays (d, rows + 1, R)
        Variance of each element, and its covariance with the element in the next row; zero for exact factors.
    centres : array (d, R)
        Means over the rows of labels; the roughness penalty pulls rows to them.
    """

    mean: Floats
    variance: Floats
    covariance: Floats
    centres: Floats

    @classmethod
    def random(cls, grid: Grid, rank: int, scale: float, seed: int, amplitude: float = 0.5) -> Factors:
        """Return smooth random factors around 1, scaled so that the tensor's values are about as large as `scale`."""
        rng = np.random.default_rng(seed)
        d, rows = len(grid.modes), max(grid.sizes)
        mean = np.zeros((d, rows + 1, rank))
        for j, mode in enumerate(grid.modes):
            if mode.ordered:
                # A straight line and two waves along the mode, with random amplitudes.
                u = np.linspace(0, 1, mode.size)[:, None]
                waves = np.hstack([2 * u - 1, np.cos(2 * np.pi * u), 0.5 * np.cos(3 * np.pi * u)])
                mean[j, : mode.size] = 1 + amplitude * waves @ rng.normal(size=(3, rank))
            else:
                mean[j, : mode.size] = 1 + amplitude * rng.normal(size=(mode.size, rank))
        mean *= max(scale / np.sqrt(rank), 1e-12) ** (1 / d)
        made = cls(mean, np.zeros_like(mean), np.zeros_like(mean), np.zeros((d, rank)))
        for j in range(d):
            made.centre(grid, j)
        return made

    @property
    def rank(self) -> int:
        """Number of components, R."""
        return int(self.mean.shape[2])

    def centre(self, grid: Grid, j: int) -> None:
        """Update the mean to which the rows of mode j are pulled, if they are labels."""
        if not grid.modes[j].ordered:
            self.centres[j] = self.mean[j, : grid.modes[j].size].mean(axis=0)

    def values(self, place: Placement, *, with_variance: bool = False) -> tuple[Floats, Floats]:
        """Return the tensor's values at configurations, and their variances (0 unless `with_variance`), (n,) each."""
        made = values(place.rows, place.shares, self.mean, self.variance, self.covariance, with_variance)
        return np.asarray(made[0]), np.asarray(made[1])


@dataclass(frozen=True)
class Blocks(Stored):
    """Block-tridiagonal normal equations of one mode.

    Attributes
    ----------
    diagonal, above : arrays (rows, R, R)
        Blocks of each row, and of each row with the next one; only lower triangles are filled.
    right : array (rows, R)
        Right-hand side.
    """

    diagonal: Floats
    above: Floats
    right: Floats

    def plus(self, other: Blocks) -> Blocks:
        """Return the equations of both sets of runs."""
        return Blocks(self.diagonal + other.diagonal, self.above + other.above, self.right + other.right)

    def times(self, factor: float) -> Blocks:
        """Return the equations with all weights multiplied by `factor`."""
        return Blocks(self.diagonal * factor, self.above * factor, self.right * factor)


def equations(
    problem: Problem, factors: Factors, j: int, *, precision: float = 1.0, with_variance: bool = False
) -> Blocks:
    """Return the normal equations of mode j without penalties, in O(n R (R + d)) operations.

    With `with_variance`, expected squares of the other modes' factors replace the squares of their means.
    """
    rows, rank = problem.grid.modes[j].size + 1, factors.rank
    made = Blocks(np.zeros((rows, rank, rank)), np.zeros((rows, rank, rank)), np.zeros((rows, rank)))
    normal_equations(
        j, problem.place.rows, problem.place.shares, problem.targets, problem.weights * precision,
        factors.mean, factors.variance, factors.covariance, with_variance, made.diagonal, made.above, made.right,
    )  # fmt: skip
    return Blocks(made.diagonal[:-1], made.above[:-1], made.right[:-1])


def solve(grid: Grid, blocks: Blocks, factors: Factors, penalty: Penalty, j: int) -> tuple[Floats, Floats]:
    """Set mode j to the minimiser of its penalised least squares; return the tridiagonal matrix of each column.

    Variances follow from these matrices: diagonals (rows, R) and off-diagonals (rows - 1, R).
    """
    diagonal, above, right = blocks.diagonal.copy(), blocks.above.copy(), blocks.right.copy()
    rows, rank = right.shape
    # Add the penalties: ridge on every row, roughness on differences of neighbours or on differences from the mean.
    component = np.arange(rank)
    ridge, roughness = penalty.ridge[j], penalty.roughness[j]
    ordered = grid.modes[j].ordered
    diagonal[:, component, component] += ridge
    if ordered:
        diagonal[:-1, component, component] += roughness
        diagonal[1:, component, component] += roughness
        above[: rows - 1, component, component] -= roughness
    else:
        diagonal[:, component, component] += roughness
        right += roughness * factors.centres[j]
    # Solve for all rows at once by a banded Cholesky factorisation; the matrix is block-tridiagonal (labels: diagonal).
    band = np.zeros(((2 if ordered and rows > 1 else 1) * rank, rows * rank))
    banded(diagonal, above, band)
    # A tiny ridge: with nearly dependent components, rounding errors may make the matrix indefinite.
    band[0] += 1e-13 * band[0].max() + 1e-300
    found = solveh_banded(band, right.ravel(), lower=True, check_finite=False)
    factors.mean[j, :rows] = found.reshape(rows, rank)
    return diagonal[:, component, component], above[: rows - 1, component, component]


def objective(problem: Problem, factors: Factors, penalty: Penalty) -> float:
    """Return the penalised sum of squared residuals: equation 3 with roughness."""
    fitted, _ = factors.values(problem.place)
    squares = float(np.sum(problem.weights * (problem.targets - fitted) ** 2))
    return squares + float(_penalties(problem.grid, factors, penalty).sum())


def sweep_until_converged(
    problem: Problem, factors: Factors, penalty: Penalty, sweep: Callable[[], None], *, tolerance: float, sweeps: int
) -> list[float]:
    """Call `sweep` at most `sweeps` times, until it lowers the objective by no more than the share `tolerance`.

    Return the objective before the first sweep and after each.
    """
    history = [objective(problem, factors, penalty)]
    for _ in range(sweeps):
        sweep()
        balance(problem.grid, factors, penalty)
        history.append(objective(problem, factors, penalty))
        if history[-2] - history[-1] <= tolerance * history[-1]:
            break
    return history


def balance(grid: Grid, factors: Factors, penalty: Penalty) -> None:
    """Rescale the columns of each component to minimise the penalty; the tensor's values stay the same.

    With scales a_j whose product is 1, the penalty of mode j is multiplied by a_j². At the minimum all modes have the
    same penalty. Sweeps over modes alone would need hundreds of steps to reach it.
    """
    paid = _penalties(grid, factors, penalty)
    for r in np.flatnonzero(np.all(paid > 0, axis=0)):
        logs = 0.5 * np.log(paid[:, r])
        scales = np.exp(logs.mean() - logs)
        factors.mean[:, :, r] *= scales[:, None]
        factors.centres[:, r] *= scales


def _penalties(grid: Grid, factors: Factors, penalty: Penalty) -> Floats:
    """Return the penalty of each mode's columns, (d, R)."""
    rough = []
    for j, mode in enumerate(grid.modes):
        u = factors.mean[j, : mode.size]
        differences = np.diff(u, axis=0) if mode.ordered else u - u.mean(axis=0)
        rough.append(np.sum(differences**2, axis=0))
    return np.asarray(penalty.ridge * np.sum(factors.mean**2, axis=1) + penalty.roughness * np.array(rough))
