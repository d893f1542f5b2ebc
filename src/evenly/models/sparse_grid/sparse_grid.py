"""Sparse-grid regression: piecewise-linear functions on a grid that is refined only where this lowers the error.

The size of a full grid grows exponentially with the number of parameters. A sparse grid keeps only those functions of
the hierarchical basis that have large supports, and is refined where this helps. Coefficients are found by ridge
regression. The method is best for many runs and for times that bend locally in a few parameters.

Source: Pflüger, *Spatially Adaptive Sparse Grids for High-Dimensional Problems*, 2010 (modified linear basis,
regression, refinement); Neumann, *Sparse grid regression for performance prediction using high-dimensional run time
data*, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, final

import numpy as np

from evenly.errors import InputError
from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor, fold_numbers
from evenly.models.sparse_grid.least_squares import Equations
from evenly.models.sparse_grid.points import Basis, Shape, coordinates
from evenly.models.sparse_grid.refinement import Refinement

__all__ = ["SparseGrid"]

#: Ridge weights that are tried, starting from `_FIRST_RIDGE`.
_RIDGES = tuple(10.0**-k for k in range(2, 8))
_FIRST_RIDGE = 1e-4
_MOST_POINTS = 4000
#: With at least this many runs, the plan is chosen by the error on one of five folds; with fewer, on each in turn.
_ENOUGH_TO_JUDGE = 2000
#: Refinement ends after this many rounds without a smaller error.
_PATIENCE = 3
#: The search moves to another plan only if its error is below this share of the present error.
_BETTER = 0.995


@dataclass(frozen=True)
class _Plan:
    """Hyperparameters of a grid: the level of the regular grid at the start, the ridge, and the refinement rounds."""

    level: int
    ridge: float
    rounds: int


@dataclass(frozen=True)
class _Rows:
    x: Floats
    y: Floats
    weights: Floats

    def take(self, which: Flags) -> _Rows:
        return _Rows(self.x[which], self.y[which], self.weights[which])


class _SparseGrid(Regressor):
    def __init__(self, shape: Shape, plan: Mapping[str, float | None], points: int | None) -> None:
        self._shape, self._asked, self._cap = shape, plan, points
        # Grids on different folds need the same children, so they are cached.
        self._relatives = cache(shape.relatives)

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        rows = _Rows(coordinates(inputs), logs, weights)
        self.plan = self._choose(rows, fold_numbers(inputs, 5, seed=1))
        *_, (self._basis, self._coefficients) = self._grown(rows, self.plan)

    def _grown(self, rows: _Rows, plan: _Plan) -> Iterator[tuple[Basis, Floats]]:
        """Yield the basis and its coefficients at the start and after each round of refinement."""
        n = len(rows.y)
        cap = self._cap or min(_MOST_POINTS, max(n, 10))
        refinement = Refinement(
            self._shape, self._shape.regular(plan.level), fewest=min(5, max(1, n // 10)), relatives=self._relatives
        )
        coefficients = np.zeros(0)
        for round_ in range(plan.rounds + 1):
            basis = Basis(self._shape, refinement.points)
            equations = Equations(basis, rows.x, rows.weights)
            # The points of the last round come first, so the solver can start from their coefficients.
            start = np.concatenate([coefficients, np.zeros(len(basis) - len(coefficients))])
            coefficients = equations.solve(rows.y, plan.ridge, start, tolerance=1e-4)
            yield basis, coefficients
            # A round adds at most 60 % of the present number of points (100 % with 6,000 runs or more), up to the cap.
            count = min(math.ceil((0.6 if n < 6000 else 1.0) * len(basis)), cap - len(basis))
            residuals = rows.y - equations.fitted(coefficients)
            if round_ == plan.rounds or count <= 0:
                return
            if not refinement.grow(count, rows.x, residuals, rows.weights, plan.ridge):
                return

    def _choose(self, rows: _Rows, folds: Ints | None) -> _Plan:
        """Choose level, ridge and rounds of refinement by cross-validation."""
        level, ridge, rounds = (self._asked[name] for name in ("level", "ridge", "refinements"))
        if folds is None or len(rows.y) < 4:
            return _Plan(int(level or 1), ridge or _FIRST_RIDGE, int(rounds or 0))
        if len(rows.y) >= _ENOUGH_TO_JUDGE:
            folds = np.minimum(folds, 1)

        @cache
        def judged(level: int, ridge: float) -> tuple[float, int]:
            return self._judge(rows, folds, _Plan(level, ridge, 30 if rounds is None else int(rounds)))

        # Coordinate search: first the level with a medium ridge, then the ridge.
        levels = [int(level)] if level else []
        if not levels:
            sizes = ((level, len(self._shape.regular(level))) for level in range(1, 7))
            most = min(self._cap or _MOST_POINTS, len(rows.y))
            levels = [level for level, size in sizes if size <= most / 2] or [1]
        best, _ = _climbed(judged, [(level, ridge or _FIRST_RIDGE) for level in levels], 0)
        ridges = [ridge] if ridge else list(_RIDGES)
        at = 0 if ridge else _RIDGES.index(_FIRST_RIDGE)
        chosen = _climbed(judged, [(best, ridge) for ridge in ridges], at)
        return _Plan(*chosen, judged(*chosen)[1] if rounds is None else int(rounds))

    def _judge(self, rows: _Rows, folds: Ints, plan: _Plan) -> tuple[float, int]:
        """Return the smallest cross-validated error over the rounds of refinement, and the round that reaches it."""
        left_out = [0] if folds.max() == 1 else range(int(folds.max()) + 1)
        # The error after each round of refinement, summed over the folds left out.
        courses = [self._course(rows.take(folds != fold), rows.take(folds == fold), plan) for fold in left_out]
        # Where refinement ended early, its last error counts for all later rounds.
        length = max(map(len, courses))
        errors = np.sum([course + [course[-1]] * (length - len(course)) for course in courses], axis=0)
        return float(errors.min()), int(np.argmin(errors))

    def _course(self, known: _Rows, unknown: _Rows, plan: _Plan) -> list[float]:
        """Return the error on `unknown` rows after each round; stop after `_PATIENCE` rounds without improvement."""
        errors: list[float] = []
        for basis, coefficients in self._grown(known, plan):
            off = np.abs(basis.evaluate(unknown.x, coefficients) - unknown.y)
            errors.append(float(off @ unknown.weights))
            if len(errors) - 1 - int(np.argmin(errors)) >= _PATIENCE:
                break
        return errors

    def predict(self, inputs: Inputs) -> Floats:
        return self._basis.evaluate(coordinates(inputs), self._coefficients)

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        """Return k-fold predictions, (n,): one grid is built without each fold, by the chosen plan."""
        rows, found = _Rows(coordinates(inputs), logs, weights), np.empty(len(logs))
        for fold in np.unique(folds):
            *_, (basis, coefficients) = self._grown(rows.take(folds != fold), self.plan)
            found[folds == fold] = basis.evaluate(rows.x[folds == fold], coefficients)
        self._relatives = cache(self._shape.relatives)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache, which can't be pickled."""
        return {**self.__dict__, "_relatives": self._shape.relatives}

    def get_state(self) -> dict[str, Any]:
        return {
            "points": self._basis.to_state(),
            "coefficients": self._coefficients,
            "level": self.plan.level,
            "ridge": self.plan.ridge,
            "rounds": self.plan.rounds,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.plan = _Plan(int(state["level"]), float(state["ridge"]), int(state["rounds"]))
        self._basis = Basis.from_state(self._shape, state["points"])
        self._coefficients = np.asarray(state["coefficients"], dtype=np.float64)

    @property
    def coefficients(self) -> float:
        return float(len(self._basis))


def _climbed(
    judged: Callable[[int, float], tuple[float, int]], choices: list[tuple[int, float]], at: int
) -> tuple[int, float]:
    """Return a local minimum of the error over a list of (level, ridge), by hill climbing from number `at`."""
    best = at
    for step in (1, -1):
        while 0 <= best + step < len(choices) and (
            judged(*choices[best + step])[0] < _BETTER * judged(*choices[best])[0]
        ):
            best += step
        if best != at:
            break
    return choices[best]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGrid(RegressionModel[_SparseGrid]):
    """Ridge regression on a spatially adaptive sparse grid.

    The basis is piecewise linear and hierarchical, in logarithms scaled to the measured range. Ramps at the ends
    extrapolate linearly. A categorical parameter has an indicator of each label. Level, ridge and refinements are
    chosen by cross-validation within the training data, unless they are given.

    Parameters
    ----------
    level : int, optional
        Level of the regular grid at the start: 1 is a constant, 2 has two ramps per parameter.
    ridge : float, optional
        Weight of the penalty, relative to the mean squared residual. The penalty is the sum of squared coefficients,
        each multiplied by 4 to the sum of its levels above the first.
    refinements : int, optional
        Number of rounds of refinement.
    interactions : int
        Largest number of parameters in which one basis function varies.
    points : int, optional
        Largest number of grid points; by default the number of runs (at least 10), but not more than 4,000.
    folds : int
        Number of cross-validation folds that intervals are computed from.

    Attributes
    ----------
    points_ : int
        Number of grid points.
    plan_ : dict
        The level, ridge and rounds of refinement that were chosen.

    Examples
    --------
    >>> n = [10, 20, 50, 100, 200, 500, 1000, 2000]
    >>> model = SparseGrid(level=2, ridge=1e-9).fit({"n": n}, [0.1 * v for v in n])
    >>> model.predict({"n": [300]}).round(3)
    array([30.])
    """

    method: ClassVar[str] = "sparse-grid"
    summary: ClassVar[str] = "regression on a sparse grid that is refined where runs ask for it"

    level: int | None = None
    ridge: float | None = None
    refinements: int | None = None
    interactions: int = 3
    points: int | None = None
    folds: int = 5

    @property
    def points_(self) -> int:
        """Number of grid points."""
        return len(self._fitted._basis)

    @property
    def plan_(self) -> dict[str, float]:
        """The chosen level, ridge and rounds of refinement."""
        return dict(vars(self._fitted.plan))

    def regressor(self, coding: Coding) -> _SparseGrid:
        for name, least in (("level", 1), ("interactions", 1), ("points", 1), ("refinements", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} must be at least {least}, but got {value}")
        if self.ridge is not None and not 0 < self.ridge < math.inf:
            raise InputError(f"ridge must be above zero and finite, but got {self.ridge}: 1e-9 is next to none")
        if self.level is not None and self.level > 7:
            raise InputError(f"level must be at most 7, but got {self.level}: finer points come by refinements")
        shape = Shape(len(coding.numeric), coding.sizes, self.interactions)
        plan = {"level": self.level, "ridge": self.ridge, "refinements": self.refinements}
        return _SparseGrid(shape, plan, self.points)
