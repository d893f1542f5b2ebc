"""Trends that extrapolate beyond the measured range: power laws, parabolas in logarithms, and sums of power laws.

Run times are often sums of power laws with non-negative coefficients (posynomials): work proportional to a volume, work
proportional to a surface, and constant work. The exponents lie on a grid of step one half (or one) around the slopes of
the measured times in logarithms, so that only the coefficients are fitted. Non-negative least squares [Lawson and
Hanson, Solving Least Squares Problems, 1974, chapter 23] sets most of them to zero. Far from the range the term with
the largest exponent dominates; the other terms bend the curve before. Runs near the side to which a trend extrapolates
may get larger weights.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs

__all__ = ["DECAYS", "LAWS", "Places", "Trend", "TrendChoice"]

#: The laws of a trend. "level" is constant, so that only the residual at the edge is predicted. "power" is a power law;
#: "rounded" rounds its exponents to multiples of one half where they are near one. "quadratic" is a parabola in
#: logarithms. The others are sums of power laws with exponents that are whole numbers ("ones") or multiples of one half
#: ("halves"); "logs" also has terms with the logarithm of a parameter that is extrapolated upwards; "turning" also has
#: terms that are steeper by one than the times in the range, which take over only beyond it.
LAWS = ("level", "power", "rounded", "quadratic", "ones", "halves", "logs", "turning")
#: Decays: a run at distance x from the edge, in half-ranges, has the weight exp(-decay · x).
DECAYS = (0.0, 2.0, 5.0)
_MOST_TERMS = 80
#: A slope is rounded to a multiple of one half if it is closer than this.
_NEAR_HALF = 0.12
#: Number of Gauss-Newton steps for a sum of power laws; ridge of least squares, relative to each column's square sum.
_STEPS = 4
_RIDGE = 1e-6


@dataclass(frozen=True)
class Places:
    """Configurations in the coordinates of trends.

    Attributes
    ----------
    z : array (n, d)
        Natural logarithms of the positive parameters, minus the logarithms of the box's upper edge.
    low, high : array (d,)
        Bounding box of the runs that are learned from, in the same coordinates; `high` is 0.
    spread : array (d,)
        Half-ranges of the box; 1 where a parameter has a single value.
    others : array (n, n_others)
        Coded numbers that may be zero, and one-hot labels.
    """

    z: Floats
    low: Floats
    high: Floats
    spread: Floats
    others: Floats

    @classmethod
    def of(cls, inputs: Inputs, coding: Coding, low: Floats, high: Floats) -> Places:
        """Convert coded inputs (n, …); `low` and `high` (n_numeric,) are the box's edges in coded numbers."""
        numeric = [(kind, scale) for kind, scale in zip(coding.kinds, coding.scales, strict=True) if kind != "label"]
        logs = np.array([kind == "log" for kind, _ in numeric], dtype=bool)
        scales = np.array([scale for _, scale in numeric], dtype=np.float64)[logs]
        top = high[logs]
        z, bottom, ceiling = (inputs.numbers[:, logs] - top) * scales, (low[logs] - top) * scales, np.zeros(len(top))
        spread = np.where(ceiling > bottom, (ceiling - bottom) / 2, 1.0)
        return cls(z, bottom, ceiling, spread, np.hstack([inputs.numbers[:, ~logs], inputs.one_hot]))


@dataclass(frozen=True)
class TrendChoice:
    """A law of `LAWS`, and a decay of `DECAYS`: how fast weights fall with the distance from the edge."""

    law: str
    decay: float


@dataclass
class Trend:
    """A law fitted to runs, to extrapolate to one side of their range.

    Parameters
    ----------
    choice : TrendChoice
    signs : array (d,)
        Side for each parameter of `Places.z`: 1 above, -1 below, or 0 inside the range.
    """

    choice: TrendChoice
    signs: Ints

    def fit(self, places: Places, logs: Floats, weights: Floats) -> Trend:
        """Fit the law to runs at `places` (n, …) with log times (n,) and weights (n,)."""
        self._low = places.low
        self._terms: list[tuple[Floats, Ints]] = []
        law = self.choice.law
        if law == "level":
            return self
        w = weights * _edge_weights(places, self.signs, self.choice.decay)
        self._coefficients = _least_squares(self._linear(places), logs, w)
        if law == "rounded":
            # Round slopes that are near a multiple of one half, then fit the constant and the other terms again.
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
        """Return the design matrix of a law linear in its coefficients: 1, z, others, and for a parabola z_a z_b."""
        z = places.z / places.spread
        columns = [np.ones((len(z), 1)), places.z, places.others]
        if self.choice.law == "quadratic" if quadratic is None else quadratic:
            pairs = itertools.combinations_with_replacement(range(z.shape[1]), 2)
            columns += [(z[:, a] * z[:, b])[:, None] for a, b in pairs]
        return np.hstack(columns)

    def _fit_sum(self, places: Places, logs: Floats, w: Floats, weights: Floats) -> None:
        """Fit a sum of power laws to logs (n,); `w` (n,) are the `weights` (n,) times the edge weights."""
        d = places.z.shape[1]
        # Labels, and numbers that may be zero, multiply the whole sum. Their factors are taken from a fitted parabola,
        # since a power law would attribute the curvature of the times to them.
        bent = _least_squares(self._linear(places, quadratic=True), logs, w)
        self._factors = bent[1 + d : 1 + d + places.others.shape[1]]
        rest = logs - places.others @ self._factors
        # Slopes of power laws fitted to the whole range, near the side, and near each end of each parameter.
        design = np.hstack([np.ones((len(logs), 1)), places.z])
        views: list[NDArray[Any]] = [np.zeros(d), self.signs, *(s * row for row in np.eye(d) for s in (-1, 1))]
        slopes = [_least_squares(design, rest, weights * _edge_weights(places, signs, 2.0))[1:] for signs in views]
        # Exponents lie on a grid that covers these slopes; coefficients follow by non-negative least squares.
        self._terms = _terms(np.array(slopes).reshape(len(views), d), self.choice.law, self.signs)
        self._positive = _positive_sum(self._columns(places), rest, w)

    def _columns(self, places: Places) -> Floats:
        """Return the terms of a sum of power laws, (n, n_terms): exp(z e) log(x / x_low)^p for each pair (e, p)."""
        steps = np.maximum(places.z - self._low, 0.0)
        columns = [np.exp(np.clip(places.z @ e, -200, 200)) * np.prod(steps**p, axis=1) for e, p in self._terms]
        return np.column_stack(columns)

    def predict(self, places: Places) -> Floats:
        """Return predicted log times, (n,)."""
        if self.choice.law == "level":
            return np.zeros(len(places.z))
        if self._terms:
            total = self._columns(places) @ self._positive
            return np.asarray(np.log(np.maximum(total, 1e-250)) + places.others @ self._factors)
        return np.asarray(self._linear(places) @ self._coefficients)


def _edge_weights(places: Places, signs: NDArray[Any], decay: float) -> Floats:
    """Return weights (n,) that fall by exp(-decay) per half-range of distance from the side `signs` (d,)."""
    inside = np.where(signs >= 0, places.high - places.z, places.z - places.low) / places.spread
    return np.asarray(np.exp(-decay * (inside * np.abs(signs)).sum(axis=1)))


def _least_squares(design: Floats, logs: Floats, w: Floats) -> Floats:
    """Solve weighted least squares; a small ridge keeps undetermined coefficients at zero."""
    # Columns are scaled to length 1 first, so that the ridge has the same relative size for each.
    gram = design.T @ (design * w[:, None])
    size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    scaled = gram / np.outer(size, size) + _RIDGE * np.eye(len(gram))
    return np.asarray(np.linalg.solve(scaled, design.T @ (w * logs) / size) / size)


def _terms(slopes: Floats, law: str, signs: Ints) -> list[tuple[Floats, Ints]]:
    """Return the candidate terms of a sum: pairs of exponents (d,) and powers of the logarithm (d,).

    The exponents of a parameter lie on a grid from the least to the largest of its `slopes` (n_views, d), including 0.
    """
    step = 1.0 if law == "ones" else 0.5
    grids = []
    for column, sign in zip(slopes.T, signs, strict=True):
        least, most = (step * np.ceil(column.min() / step - 0.5), step * np.ceil((column.max() - _NEAR_HALF) / step))
        least, most = min(least, 0.0), max(most, 0.0)
        if law == "turning":
            least, most = least - float(sign < 0), most + float(sign > 0)
        least, most = max(least, -3.0), min(most, 6.0)
        grids.append(np.arange(round((most - least) / step) + 1) * step + least)
    if np.prod([len(grid) for grid in grids]) <= _MOST_TERMS:
        exponents = [np.array(e) for e in itertools.product(*grids)]
    else:
        # Too many combinations: keep those that differ in at most two exponents from the slopes near the side.
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
    # A logarithm only multiplies terms without a power of the same parameter; otherwise both look nearly alike.
    rising = [row for row in np.eye(d, dtype=np.int64) if row @ signs > 0]
    return plain + [(e, row) for row in rising for e in exponents if e @ row == 0]


def _positive_sum(columns: Floats, logs: Floats, w: Floats) -> Floats:
    """Return coefficients c ≥ 0, (n_terms,), that minimise the squared error of log(A c), by Gauss-Newton steps.

    A are the columns (n, n_terms), t the measured times. Each step linearises the logarithm at the last sum s = A c and
    solves (A c) / s ≈ 1 + log(t / s) by non-negative least squares [Lawson and Hanson 1974, algorithm NNLS (23.10)].
    """
    roots = np.sqrt(w / w.sum())
    times, aim, best, lowest_loss = np.exp(logs), np.ones(len(logs)), np.zeros(columns.shape[1]), np.inf
    for _ in range(_STEPS):
        design = columns * (roots / times)[:, None]
        size = np.maximum(np.linalg.norm(design, axis=0), 1e-250)
        design = np.column_stack([design / size, aim * roots])
        # The factor R of a QR decomposition gives the same least-squares problem in at most n_terms + 1 rows.
        triangle = np.asarray(np.linalg.qr(design, mode="r"))
        found = nnls(triangle[:, :-1], triangle[:, -1], maxiter=50 * len(size))[0] / size
        # Where all terms vanish the logarithm diverges, so the sum is taken to be at least e⁻²⁰ times the run's time.
        total = np.maximum(columns @ found, np.exp(logs - 20))
        # The best common factor of all terms has a closed form, which corrects part of the linearisation error.
        shift = float(np.sum(w * (logs - np.log(total))) / w.sum())
        found, total = found * np.exp(shift), total * np.exp(shift)
        loss = float(np.sum(w * (logs - np.log(total)) ** 2))
        if loss < lowest_loss:
            lowest_loss, best = loss, found
        times, aim = total, np.maximum(1 + logs - np.log(total), 0.05)
    return best
