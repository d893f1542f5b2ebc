"""Trends that extrapolate beyond the learned range: power laws, parabolas in logarithms, and sums of power laws.

Run times are sums of power laws with coefficients that aren't negative (posynomials): work that grows with a product of
sizes, work that grows with a surface, and work that is always there. The exponents are halves from a grid around the
measured slopes, so that only the coefficients are learned; the active set of non-negative least squares [Lawson and
Hanson, Solving Least Squares Problems, 1974, chapter 23] keeps few of them. Far out the term with the largest exponent
dominates, and the others bend the curve on the way there. Runs near the side to which a trend extrapolates count more.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from evenly.models.inputs.coding import Coding, Inputs

__all__ = ["LAWS", "PULLS", "Places", "Trend", "TrendChoice"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: "level" stays as it is at the edge; "power" and "rounded" are power laws, the latter with exponents that are halves
#: where the runs agree; "quadratic" bends; the others are sums of power laws, whose exponents are whole numbers
#: ("ones"), halves, or halves with a logarithm of what is asked beyond its range.
LAWS = ("level", "power", "rounded", "quadratic", "ones", "halves", "logs")
#: A run at a distance from the edge, in half-ranges, counts exp(-pull · distance).
PULLS = (0.0, 2.0, 5.0)
_MOST_TERMS = 80
#: A slope this near to a multiple of one half is rounded to it.
_NEAR_HALF = 0.12
#: Gauss-Newton steps of a sum of power laws, and the ridge of least squares relative to each column's squares.
_STEPS = 4
_RIDGE = 1e-6


@dataclass(frozen=True)
class Places:
    """Configurations in the coordinates of trends.

    Attributes
    ----------
    z : array (n, d)
        Natural logarithms of the parameters that are above zero, less those of the upper edge of the learned box.
    low, high : array (d,)
        That box, in the same unit.
    spread : array (d,)
        Half-ranges of the box; 1 where a parameter has one value.
    others : array (n, n_others)
        Numbers that may be zero, and indicators of labels.
    """

    z: Floats
    low: Floats
    high: Floats
    spread: Floats
    others: Floats

    @classmethod
    def of(cls, inputs: Inputs, coding: Coding, low: Floats, high: Floats) -> Places:
        """Convert coded inputs (n, …); `low` and `high` (n_numeric,) are the coded edges of the learned box."""
        numeric = [(kind, scale) for kind, scale in zip(coding.kinds, coding.scales, strict=True) if kind != "label"]
        logs = np.array([kind == "log" for kind, _ in numeric], dtype=bool)
        scales = np.array([scale for _, scale in numeric], dtype=np.float64)[logs]
        top = high[logs]
        z, bottom, ceiling = (inputs.numbers[:, logs] - top) * scales, (low[logs] - top) * scales, np.zeros(len(top))
        spread = np.where(ceiling > bottom, (ceiling - bottom) / 2, 1.0)
        return cls(z, bottom, ceiling, spread, np.hstack([inputs.numbers[:, ~logs], inputs.one_hot]))


@dataclass(frozen=True)
class TrendChoice:
    """A law of `LAWS`, and a pull of `PULLS`: how much more runs at the edge count."""

    law: str
    pull: float


@dataclass
class Trend:
    """One law, fitted to extrapolate to one side of the range.

    Parameters
    ----------
    choice : TrendChoice
    signs : array (d,)
        The side for each parameter of `Places.z`: 1 above, -1 below, or 0 inside.
    """

    choice: TrendChoice
    signs: Ints

    def fit(self, places: Places, logs: Floats, weights: Floats) -> Trend:
        """Learn from runs (n, …), their logs (n,) and weights (n,)."""
        self._low = places.low
        self._terms: list[tuple[Floats, Ints]] = []
        law = self.choice.law
        if law == "level":
            return self
        w = weights * _edge_weights(places, self.signs, self.choice.pull)
        self._coefficients = _least_squares(self._linear(places), logs, w)
        if law == "rounded":
            # Slopes near multiples of one half become these; the constant and the other terms are fitted again.
            slopes = self._coefficients[1 : 1 + places.z.shape[1]]
            halves = np.round(2 * slopes) / 2
            slopes = np.where(np.abs(slopes - halves) < _NEAR_HALF, halves, slopes)
            rest = np.hstack([np.ones((len(logs), 1)), places.others])
            found = _least_squares(rest, logs - places.z @ slopes, w)
            self._coefficients = np.concatenate([found[:1], slopes, found[1:]])
        elif law not in ("power", "quadratic"):
            self._fit_sum(places, logs, w, weights)
        return self

    def _linear(self, places: Places, *, quadratic: bool | None = None) -> Floats:
        """Return the columns of a law that is linear in its coefficients: 1, z, others, and for a parabola z_a z_b."""
        z = places.z / places.spread
        columns = [np.ones((len(z), 1)), places.z, places.others]
        if self.choice.law == "quadratic" if quadratic is None else quadratic:
            pairs = itertools.combinations_with_replacement(range(z.shape[1]), 2)
            columns += [(z[:, a] * z[:, b])[:, None] for a, b in pairs]
        return np.hstack(columns)

    def _fit_sum(self, places: Places, logs: Floats, w: Floats, weights: Floats) -> None:
        """Fit a sum of power laws to logs (n,); `w` (n,) are `weights` (n,) pulled to the edge."""
        d = places.z.shape[1]
        # Labels, and numbers that may be zero, multiply all terms. Their factors come from a parabola, since a straight
        # law would blame them for its bend.
        bent = _least_squares(self._linear(places, quadratic=True), logs, w)
        self._factors = bent[1 + d : 1 + d + places.others.shape[1]]
        rest = logs - places.others @ self._factors
        # Slopes of power laws in all the range, towards the side, and towards each end of each parameter.
        design = np.hstack([np.ones((len(logs), 1)), places.z])
        views: list[NDArray[Any]] = [np.zeros(d), self.signs, *(s * row for row in np.eye(d) for s in (-1, 1))]
        slopes = [_least_squares(design, rest, weights * _edge_weights(places, signs, 2.0))[1:] for signs in views]
        # Exponents lie on a grid around these slopes; coefficients are found by least squares.
        self._terms = _terms(np.array(slopes).reshape(len(views), d), self.choice.law, self.signs)
        self._positive = _positive_sum(self._columns(places), rest, w)

    def _columns(self, places: Places) -> Floats:
        """Return the terms of a sum of power laws at configurations, (n, n_terms): exp(z e) log(x / x_low)^p."""
        steps = np.maximum(places.z - self._low, 0.0)
        columns = [np.exp(np.clip(places.z @ e, -200, 200)) * np.prod(steps**p, axis=1) for e, p in self._terms]
        return np.column_stack(columns)

    def predict(self, places: Places) -> Floats:
        """Return logs, (n,)."""
        if self.choice.law == "level":
            return np.zeros(len(places.z))
        if self._terms:
            total = self._columns(places) @ self._positive
            return np.asarray(np.log(np.maximum(total, 1e-250)) + places.others @ self._factors)
        return np.asarray(self._linear(places) @ self._coefficients)


def _edge_weights(places: Places, signs: NDArray[Any], pull: float) -> Floats:
    """Return weights (n,) that fall by exp(-pull) per half-range from the side that `signs` (d,) name."""
    inside = np.where(signs >= 0, places.high - places.z, places.z - places.low) / places.spread
    return np.asarray(np.exp(-pull * (inside * np.abs(signs)).sum(axis=1)))


def _least_squares(design: Floats, logs: Floats, w: Floats) -> Floats:
    """Solve weighted least squares; a small ridge keeps coefficients that the runs don't determine at zero."""
    # Columns are scaled to length 1 first, so that the ridge is the same share of each.
    gram = design.T @ (design * w[:, None])
    size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    scaled = gram / np.outer(size, size) + _RIDGE * np.eye(len(gram))
    return np.asarray(np.linalg.solve(scaled, design.T @ (w * logs) / size) / size)


def _terms(slopes: Floats, law: str, signs: Ints) -> list[tuple[Floats, Ints]]:
    """Return exponents (d,), and powers of the logarithm (d,), of the terms that a sum may have.

    Exponents of a parameter lie on a grid from the least to the largest of its `slopes` (n_views, d), 0 included.
    """
    step = 1.0 if law == "ones" else 0.5
    grids = []
    for column in slopes.T:
        least, most = (step * np.ceil(column.min() / step - 0.5), step * np.ceil((column.max() - _NEAR_HALF) / step))
        least, most = max(min(least, 0.0), -3.0), min(max(most, 0.0), 6.0)
        grids.append(np.arange(round((most - least) / step) + 1) * step + least)
    if np.prod([len(grid) for grid in grids]) <= _MOST_TERMS:
        exponents = [np.array(e) for e in itertools.product(*grids)]
    else:
        # Too many combinations: those that differ in at most two exponents from the slopes towards the side.
        main = np.array([grid[np.argmin(np.abs(grid - slope))] for grid, slope in zip(grids, slopes[1], strict=True)])
        found = {tuple(main)}
        for a, b in itertools.combinations(range(len(grids)), 2):
            for x, y in itertools.product(grids[a], grids[b]):
                other = main.copy()
                other[[a, b]] = x, y
                found.add(tuple(other))
        exponents = [np.array(e) for e in sorted(found)]
    d = slopes.shape[1]
    plain = [(e, np.zeros(d, dtype=np.int64)) for e in exponents]
    if law != "logs":
        return plain
    # A logarithm stands for growth slower than any power: beside a power of the same parameter it can't be told apart.
    rising = [row for row in np.eye(d, dtype=np.int64) if row @ signs > 0]
    return plain + [(e, row) for row in rising for e in exponents if e @ row == 0]


def _positive_sum(columns: Floats, logs: Floats, w: Floats) -> Floats:
    """Return coefficients c (n_terms,) ≥ 0 for which the logarithm of A c is closest to `logs`, by Gauss-Newton steps.

    With A the columns (n, n_terms) and t the times, each step linearises the logarithm at the last sum s = A c. It
    solves (A c) / s ≈ 1 + log(t / s) by non-negative least squares [Lawson and Hanson 1974, algorithm NNLS (23.10)].
    """
    roots = np.sqrt(w / w.sum())
    times, aim, best, least = np.exp(logs), np.ones(len(logs)), np.zeros(columns.shape[1]), np.inf
    for _ in range(_STEPS):
        design = columns * (roots / times)[:, None]
        size = np.maximum(np.linalg.norm(design, axis=0), 1e-250)
        design = np.column_stack([design / size, aim * roots])
        # R of a QR decomposition has the same least squares as the n rows, in at most n_terms + 1 rows.
        triangle = np.asarray(np.linalg.qr(design, mode="r"))
        found = nnls(triangle[:, :-1], triangle[:, -1], maxiter=50 * len(size))[0] / size
        # Where no term is left of a run, its logarithm has no bound: the sum is taken for at least e⁻²⁰ of its time.
        total = np.maximum(columns @ found, np.exp(logs - 20))
        # The best factor common to all terms is known exactly, whatever error the linearisation leaves.
        shift = float(np.sum(w * (logs - np.log(total))) / w.sum())
        found, total = found * np.exp(shift), total * np.exp(shift)
        loss = float(np.sum(w * (logs - np.log(total)) ** 2))
        if loss < least:
            least, best = loss, found
        times, aim = total, np.maximum(1 + logs - np.log(total), 0.05)
    return best
