"""Trends that go on beyond the range learned on: power laws, parabolas, and sums of power laws.

A sum of power laws with coefficients that aren't negative (a posynomial) is what run times are made of: work that
grows with a product of sizes, work that grows with a surface, and work that is always there. Its exponents are halves,
chosen from a grid around the slopes that were measured, so that only the coefficients are learned; the active set of
non-negative least squares [Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23] keeps few. Far out the
steepest term rules, with its exact exponent, and the others bend the way there. Runs near the edge towards which a
trend will be asked count more.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

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
#: How much more runs at the edge count, per half-range: exp(-pull · distance).
PULLS = (0.0, 2.0, 5.0)
_MOST_TERMS = 80
#: A slope this near to a half is that half.
_NEAR_HALF = 0.12
_STEPS = 4
_RIDGE = 1e-6


@dataclass(frozen=True)
class Places:
    """Configurations as trends see them.

    Attributes
    ----------
    z : array (n, d)
        Natural logarithms of the parameters that are above zero, from the edge of the box that is learned from.
    low, high : array (d,)
        That box, in the same unit.
    others : array (n, n_others)
        Numbers that may be zero, and indicators of labels.
    """

    z: Floats
    low: Floats
    high: Floats
    others: Floats

    @classmethod
    def of(cls, inputs: Inputs, coding: Coding, low: Floats, high: Floats) -> Places:
        """Take apart coded inputs (n, …); `low` and `high` are the coded box (n_numeric,) that is learned from."""
        numeric = [(kind, scale) for kind, scale in zip(coding.kinds, coding.scales, strict=True) if kind != "label"]
        logs = np.array([kind == "log" for kind, _ in numeric], dtype=bool)
        scales = np.array([scale for _, scale in numeric], dtype=np.float64)[logs]
        top = high[logs]
        z = (inputs.numbers[:, logs] - top) * scales
        return cls(
            z, (low[logs] - top) * scales, np.zeros(len(top)), np.hstack([inputs.numbers[:, ~logs], inputs.one_hot])
        )

    @cached_property
    def spread(self) -> Floats:
        """Half-ranges of the box, (d,)."""
        return np.where(self.high > self.low, (self.high - self.low) / 2, 1.0)


@dataclass(frozen=True)
class TrendChoice:
    """Which law, and how much more runs at the edge count."""

    law: str
    pull: float


class Trend:
    """One law, fitted towards one side of the range.

    Parameters
    ----------
    choice : TrendChoice
    signs : array (d,)
        On which side of the parameters of `Places.z` it will be asked: 1, -1, or 0 for inside.
    """

    def __init__(self, choice: TrendChoice, signs: Ints) -> None:
        self.choice, self.signs = choice, signs

    def fit(self, places: Places, logs: Floats, weights: Floats) -> Trend:
        """Learn from runs (n, …), their logs (n,) and weights (n,)."""
        self._spread, self._low = places.spread, places.low
        w = weights * self._pulled(places, self.choice.pull)
        self._terms: list[tuple[Floats, Ints]] = []
        if self.choice.law == "level":
            self._coefficients = np.zeros(0)
            return self
        law = "quadratic" if self.choice.law == "quadratic" else "power"
        design = self._linear(places, law)
        self._coefficients = _least_squares(design, logs, w)
        if self.choice.law == "rounded":
            self._round(places, logs, w)
        elif self.choice.law not in ("power", "quadratic"):
            self._fit_sum(places, logs, w, weights)
        return self

    def _pulled(self, places: Places, pull: float) -> Floats:
        inside = np.where(self.signs >= 0, places.high - places.z, places.z - places.low) / places.spread
        return np.asarray(np.exp(-pull * (inside * np.abs(self.signs)).sum(axis=1)))

    @staticmethod
    def _linear(places: Places, law: str) -> Floats:
        z = places.z / places.spread
        columns = [np.ones((len(z), 1)), places.z, places.others]
        if law == "quadratic":
            pairs = itertools.combinations_with_replacement(range(z.shape[1]), 2)
            columns += [(z[:, a] * z[:, b])[:, None] for a, b in pairs]
        return np.hstack(columns)

    def _round(self, places: Places, logs: Floats, w: Floats) -> None:
        d = places.z.shape[1]
        slopes = self._coefficients[1 : 1 + d]
        halves = np.round(2 * slopes) / 2
        slopes = np.where(np.abs(slopes - halves) < _NEAR_HALF, halves, slopes)
        rest = np.hstack([np.ones((len(logs), 1)), places.others])
        found = _least_squares(rest, logs - places.z @ slopes, w)
        self._coefficients = np.concatenate([found[:1], slopes, found[1:]])

    def _fit_sum(self, places: Places, logs: Floats, w: Floats, weights: Floats) -> None:
        d = places.z.shape[1]
        # What labels and numbers that may be zero change is a factor on all terms, told beside a law that may bend.
        bent = _least_squares(self._linear(places, "quadratic"), logs, w)
        self._factors = bent[1 + d : 1 + d + places.others.shape[1]]
        rest = logs - places.others @ self._factors
        self._terms = _terms(self._slopes(places, rest, weights), self.choice.law, self.signs)
        self._positive = _positive_sum(self._columns(places), rest, w)

    def _slopes(self, places: Places, logs: Floats, weights: Floats) -> Floats:
        """Slopes of power laws in all the range and towards each end of each parameter, (1 + 2 d + 1, d)."""
        d = places.z.shape[1]
        design = np.hstack([np.ones((len(logs), 1)), places.z])
        views = [np.zeros(d), self.signs, *(s * row for row in np.eye(d) for s in (-1, 1))]
        found = []
        for signs in views:
            inside = np.where(signs >= 0, places.high - places.z, places.z - places.low) / places.spread
            w = weights * np.exp(-2.0 * (inside * np.abs(signs)).sum(axis=1))
            found.append(_least_squares(design, logs, w)[1:])
        return np.array(found).reshape(len(views), d)

    def _columns(self, places: Places) -> Floats:
        """Terms at configurations, (n, n_terms)."""
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
        law = "quadratic" if self.choice.law == "quadratic" else "power"
        return np.asarray(self._linear(places, law) @ self._coefficients)


def _least_squares(design: Floats, logs: Floats, w: Floats) -> Floats:
    """Weighted least squares; a trace of ridge keeps what the runs don't tell at zero."""
    gram = design.T @ (design * w[:, None])
    size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    scaled = gram / np.outer(size, size) + _RIDGE * np.eye(len(gram))
    return np.asarray(np.linalg.solve(scaled, design.T @ (w * logs) / size) / size)


def _terms(slopes: Floats, law: str, signs: Ints) -> list[tuple[Floats, Ints]]:
    """Return exponents, and powers of the logarithm, of candidate terms."""
    step = 1.0 if law == "ones" else 0.5
    grids = []
    for column in slopes.T:
        least, most = (step * np.ceil(column.min() / step - 0.5), step * np.ceil((column.max() - _NEAR_HALF) / step))
        least, most = max(min(least, 0.0), -3.0), min(max(most, 0.0), 6.0)
        grids.append(np.arange(round((most - least) / step) + 1) * step + least)
    exponents = _combined(grids, slopes[1])
    d = slopes.shape[1]
    plain = [(e, np.zeros(d, dtype=np.int64)) for e in exponents]
    if law != "logs":
        return plain
    # A logarithm stands for growth slower than any power: beside a power of the same parameter it can't be told apart.
    rising = [row for row in np.eye(d, dtype=np.int64) if row @ signs > 0]
    return plain + [(e, row) for row in rising for e in exponents if e @ row == 0]


def _combined(grids: list[Floats], slopes: Floats) -> list[Floats]:
    """Return all combinations of exponents; where they are too many, those that differ in two from the main ones."""
    if np.prod([len(grid) for grid in grids]) <= _MOST_TERMS:
        return [np.array(e) for e in itertools.product(*grids)]
    main = np.array([grid[np.argmin(np.abs(grid - slope))] for grid, slope in zip(grids, slopes, strict=True)])
    found = {tuple(main)}
    for a, b in itertools.combinations(range(len(grids)), 2):
        for x, y in itertools.product(grids[a], grids[b]):
            other = main.copy()
            other[[a, b]] = x, y
            found.add(tuple(other))
    return [np.array(e) for e in sorted(found)]


def _positive_sum(columns: Floats, logs: Floats, w: Floats) -> Floats:
    """Return coefficients (n_terms,) ≥ 0 that make the sum's logarithm close to `logs`, by Gauss-Newton steps.

    Each step linearises the logarithm at the last sum s: (A c)/s is to be 1 + log(t/s).
    """
    roots = np.sqrt(w / w.sum())
    times, aim, best, least = np.exp(logs), np.ones(len(logs)), np.zeros(columns.shape[1]), np.inf
    for _ in range(_STEPS):
        design = columns * (roots / times)[:, None]
        size = np.maximum(np.linalg.norm(design, axis=0), 1e-250)
        design = np.column_stack([design / size, aim * roots])
        triangle = np.asarray(np.linalg.qr(design, mode="r"))
        found = nnls(triangle[:, :-1], triangle[:, -1], maxiter=50 * len(size))[0] / size
        # A run of which no term is left says nothing but that: its step is bounded.
        total = np.maximum(columns @ found, np.exp(logs - 20))
        # A factor common to all terms is free, whatever the linearisation left.
        shift = float(np.sum(w * (logs - np.log(total))) / w.sum())
        found, total = found * np.exp(shift), total * np.exp(shift)
        loss = float(np.sum(w * (logs - np.log(total)) ** 2))
        if loss < least:
            least, best = loss, found
        times, aim = total, np.maximum(1 + logs - np.log(total), 0.05)
    return best
