"""Local experts: one Gaussian process per region of the runs, all with the same covariance function.

With few runs there is a single region, and the process is exact. Otherwise the runs are halved repeatedly along the
coordinate with the largest spread, as in a k-d tree, in the coordinates of the covariance. Each region also learns from
the runs around it, so that predictions are good up to its boundary. A configuration is predicted by the nearest region.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve, solve_triangular

from evenly.models.array_types import Floats, Ints
from evenly.models.gaussian_process.hyperparameters import Component, Shape
from evenly.models.gaussian_process.kernels import (
    cross_covariance,
    mirror,
    nearest_boxes,
    weighted_sums_32,
    weighted_sums_64,
)
from evenly.models.gaussian_process.likelihood import covariance_matrix
from evenly.models.inputs.coding import Inputs

__all__ = ["Experts", "Regions"]

#: Maximum number of runs for a single exact process. With more: maximum number of runs that lie in a region, and number
#: of runs from which a region learns.
EXACT, _REGION_RUNS, _LEARNED = 4096, 1024, 2048
#: With more runs than this, single precision is used if it changes predictions by less than this fraction of the
#: noise's standard deviation.
_SINGLE_ROWS, _SINGLE_ERROR = 1536, 0.05


@dataclass(frozen=True)
class Regions:
    """Boxes in the coordinates of a covariance, given by their lower and upper corners, (n_regions, q) each."""

    lower: Floats
    upper: Floats

    @classmethod
    def split(cls, points: Floats, most: int) -> Regions:
        """Halve points (n, q) until each region has at most `most` points, or its points are too similar to split."""
        boxes, waiting = [], [np.arange(len(points))]
        while waiting:
            rows = waiting.pop()
            here = points[rows]
            # The widest coordinate whose median leaves at least a quarter of the points on each side.
            for column in np.argsort(-here.std(axis=0), kind="stable") if len(rows) > most else ():
                below = here[:, column] <= np.median(here[:, column])
                if 0.25 <= below.mean() <= 0.75:
                    waiting += [rows[below], rows[~below]]
                    break
            else:
                boxes.append((here.min(axis=0), here.max(axis=0)))
        return cls(*(np.array(ends) for ends in zip(*boxes, strict=True)))

    def __len__(self) -> int:
        return len(self.lower)

    def distances(self, points: Floats, region: int) -> Floats:
        """Return the squared distances of points (n, q) from a region, (n,)."""
        outside = np.maximum(np.maximum(self.lower[region] - points, points - self.upper[region]), 0)
        return np.asarray(np.einsum("ij,ij->i", outside, outside))

    def of(self, points: Floats) -> Ints:
        """Return the index of the nearest region of each point (n, q), (n,)."""
        found = np.zeros(len(points), dtype=np.int64)
        nearest_boxes(points, self.lower, self.upper, found)
        return found


@dataclass
class Experts:
    """The fitted processes of all regions, by algorithm 2.1 of Rasmussen and Williams.

    Attributes
    ----------
    shape, theta
        The covariance function and its hyper-parameters.
    inputs, weights
        The runs, (n, …) and (n,).
    regions : Regions
    members : list of int arrays
        Indices of the runs from which each region learns.
    solutions : list of arrays
        α = K⁻¹y of each region's runs.
    single : bool
        Whether predictions are computed in single precision.
    """

    shape: Shape
    theta: Floats
    inputs: Inputs
    weights: Floats
    regions: Regions
    members: list[Ints]
    solutions: list[Floats]
    single: bool = False
    _factors: dict[int, Floats] = field(default_factory=dict, repr=False)
    _knots: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def learn(cls, shape: Shape, theta: Floats, inputs: Inputs, values: Floats, weights: Floats) -> Experts:
        """Fit all regions for given hyper-parameters to standardised `values` (n,)."""
        points = shape.components(theta)[0].coordinates(inputs)
        n = len(values)
        regions = Regions.split(points, _REGION_RUNS if n > EXACT else n)
        members = [np.arange(n)]
        if len(regions) > 1:
            near = (np.argsort(regions.distances(points, r), kind="stable") for r in range(len(regions)))
            members = [np.sort(order[: min(n, _LEARNED)]) for order in near]
        self = cls(shape, theta, inputs, weights, regions, members, [])
        for rows in members:
            # α = L'⁻¹ L⁻¹ y (algorithm 2.1, line 3).
            self.solutions.append(lapack.dpotrs(self._factor(rows), values[rows], lower=1)[0])
        if n > _SINGLE_ROWS:
            # Use single precision if it changes the predictions for a sample of runs much less than the noise does.
            some = inputs.rows(np.linspace(0, n - 1, min(n, 200)).astype(np.int64))
            double = self.predict(some)
            self.single = True
            self.single = bool(np.std(self.predict(some) - double) < _SINGLE_ERROR * np.sqrt(shape.noise(theta)))
            if self.single:  # what is stored, in half the bytes
                self.solutions = [solution.astype(np.float32).astype(np.float64) for solution in self.solutions]
                self._knots.clear()
        return self

    def with_runs(self, inputs: Inputs, values: Floats) -> Experts:
        """Return a process of a single region fitted to more runs of weight 1, with standardised `values` (m,)."""
        # The values of the earlier runs are recovered as K α.
        matrix = covariance_matrix(self.theta, self.shape, self.inputs, self.weights)
        known = np.concatenate([matrix @ self.solutions[0], values])
        both = Inputs(
            np.vstack([self.inputs.numbers, inputs.numbers]), np.vstack([self.inputs.labels, inputs.labels]),
            self.inputs.sizes,
        )  # fmt: skip
        return Experts.learn(self.shape, self.theta, both, known, np.concatenate([self.weights, np.ones(len(values))]))

    def _factor(self, rows: Ints) -> Floats:
        """Return L of the covariance K = L L' of some runs (algorithm 2.1, line 2), with jitter where K is singular."""
        matrix = covariance_matrix(self.theta, self.shape, self.inputs.rows(rows), self.weights[rows])
        for jitter in (0.0, 1e-7, 1e-5, 1e-3):
            tried = matrix + jitter * np.eye(len(rows)) if jitter else matrix
            factor, failed = lapack.dpotrf(tried.T, lower=1, clean=1)
            if not failed:
                return np.asarray(factor)
        raise ArithmeticError("the covariance of the runs can't be factored")

    def predict(self, inputs: Inputs) -> Floats:
        """Return the predicted mean k' α of each configuration by its nearest region (algorithm 2.1, line 4), (n,)."""
        precision, sums = (np.float32, weighted_sums_32) if self.single else (np.float64, weighted_sums_64)
        found = np.zeros(len(inputs))
        owners = self._owners(inputs)
        for region in np.unique(owners):
            here = np.flatnonzero(owners == region)
            asked = inputs.rows(here)
            slopes, knots, coefficients = self._prepared(int(region), precision)
            total = np.zeros(len(asked))
            labels = asked.labels.astype(precision)
            # Covariances with the region's runs times α, without storing the matrix; then the trend.
            for component, (places, marks), scaled in zip(
                self.shape.components(self.theta), knots, coefficients, strict=True
            ):
                at, steps = component.places(asked).astype(precision), component.steps.astype(precision)
                sums(at, labels, places, marks, steps, component.kind, scaled, total)
            found[here] = total + self.shape.trend(self.theta).features(asked) @ slopes
        return found

    def _owners(self, inputs: Inputs) -> Ints:
        """Return the index of the nearest region of each configuration, (n,)."""
        if len(self.regions) == 1:
            return np.zeros(len(inputs), dtype=np.int64)
        return self.regions.of(self.shape.components(self.theta)[0].coordinates(inputs))

    def _prepared(self, region: int, precision: Any) -> Any:
        """Return the trend's slopes, and each component's knots and coefficients, for predictions by a region."""
        if (region, precision) not in self._knots:
            runs, solution = self.inputs.rows(self.members[region]), self.solutions[region]
            parts = self.shape.components(self.theta)
            self._knots[region, precision] = (
                self.shape.trend(self.theta).features(runs).T @ solution,
                [_knots(component, runs, precision) for component in parts],
                [(component.variance * solution).astype(precision) for component in parts],
            )
        return self._knots[region, precision]

    def deviation(self, inputs: Inputs) -> Floats:
        """Return the posterior standard deviation without noise, (n,): √(k(x, x) - v'v), algorithm 2.1, line 6."""
        found = np.zeros(len(inputs))
        owners = self._owners(inputs)
        for region in np.unique(owners):
            rows = np.flatnonzero(owners == region)
            for block in np.array_split(rows, max(1, len(rows) // 1000)):
                asked = inputs.rows(block)
                prior = np.sum(self.shape.trend(self.theta).features(asked) ** 2, axis=1)
                prior += sum(component.variance for component in self.shape.components(self.theta))
                explained = np.sum(self._known(asked, int(region)) ** 2, axis=0)
                found[block] = np.sqrt(np.maximum(prior - explained, 0.0))
        return found

    def _known(self, inputs: Inputs, region: int) -> Floats:
        """Return v = L⁻¹k between a region's runs and configurations, (n_runs, n) (algorithm 2.1, line 5)."""
        if region not in self._factors:
            self._factors[region] = self._factor(self.members[region])
        covariance = self._prior(inputs, self.inputs.rows(self.members[region]))
        return np.asarray(solve_triangular(self._factors[region], covariance.T, lower=True, check_finite=False))

    def _prior(self, inputs: Inputs, others: Inputs) -> Floats:
        """Return the prior covariance without noise between two sets of configurations, (n, m)."""
        trend = self.shape.trend(self.theta)
        covariance = trend.features(inputs) @ trend.features(others).T
        labels = inputs.labels.astype(np.float64)
        for component in self.shape.components(self.theta):
            places, marks = _knots(component, others, np.float64)
            asked = component.places(inputs)
            cross_covariance(
                asked, labels, places, marks, component.steps, component.kind, component.variance, covariance
            )
        return np.asarray(covariance)

    def covariance(self, inputs: Inputs, others: Inputs) -> Floats:
        """Return the posterior covariance without noise between two sets of configurations, (n, m).

        This is equation 2.24 of Rasmussen and Williams. With several regions, it conditions on the first one's runs
        only.
        """
        return self._prior(inputs, others) - self._known(inputs, 0).T @ self._known(others, 0)

    def left_out(self, values: Floats, folds: Ints) -> Floats:
        """Return the left-out prediction of each run, (n,), from blocks of the inverse of K.

        For the runs I of a fold it is ``y_I - [(K⁻¹)_II]⁻¹ α_I``. Equation 5.12 of Rasmussen and Williams is the case
        of a single run.
        """
        found = np.array(values)
        owners = self._owners(self.inputs)
        for region, (rows, solution) in enumerate(zip(self.members, self.solutions, strict=True)):
            inverse = lapack.dpotri(self._factor(rows), lower=1, overwrite_c=1)[0].T
            mirror(inverse)
            for fold in np.unique(folds[rows[owners[rows] == region]]):
                there = np.flatnonzero(folds[rows] == fold)
                errors = solve(inverse[np.ix_(there, there)], solution[there], assume_a="pos", check_finite=False)
                nearest = owners[rows[there]] == region
                found[rows[there[nearest]]] -= errors[nearest]
        return found

    def get_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "theta": self.theta, "sizes": list(self.shape.sizes), "placed": self.shape.placed,
            "smoothness": self.shape.smoothness, "parts": list(self.shape.parts),
            "numbers": self.inputs.numbers, "labels": self.inputs.labels.astype(np.int32), "weights": self.weights,
            "lower": self.regions.lower, "upper": self.regions.upper, "single": self.single,
            "ends": np.cumsum([len(rows) for rows in self.members]),
            "members": np.concatenate(self.members).astype(np.int32),
            "solutions": np.concatenate(self.solutions).astype(np.float32 if self.single else np.float64),
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Experts:
        """Restore what `get_state` returned."""
        arrays = {name: np.asarray(state[name]) for name in ("theta", "numbers", "weights", "lower", "upper")}
        sizes = tuple(int(k) for k in state["sizes"])
        inputs = Inputs(arrays["numbers"], np.asarray(state["labels"], dtype=np.int64), sizes)
        cuts = np.asarray(state["ends"])[:-1]
        return cls(
            Shape(
                inputs.numbers.shape[1], sizes, int(state["placed"]), float(state["smoothness"]), tuple(state["parts"])
            ),
            arrays["theta"],
            inputs,
            arrays["weights"],
            Regions(arrays["lower"], arrays["upper"]),
            np.split(np.asarray(state["members"], dtype=np.int64), cuts),
            np.split(np.asarray(state["solutions"], dtype=np.float64), cuts),
            bool(state["single"]),
        )


def _knots(component: Component, runs: Inputs, precision: Any) -> tuple[Any, Any]:
    """Return the places (q, n) and the labels (n_categorical, n) of runs in the layout that the kernels expect."""
    return np.ascontiguousarray(component.places(runs).T, precision), np.ascontiguousarray(runs.labels.T, precision)
