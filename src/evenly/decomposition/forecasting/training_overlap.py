"""Whether a simulation lies among those that a model of its time was trained on, and in which input it doesn't.

A learned correction is worth something where it interpolates. `Overlap` keeps a few hundred of the simulations that
were learned from and measures how far others are from them: the logarithm of each input over its standard deviation
among the training rows, the distance to the k-th nearest row, and that over its median among the training rows
themselves, each left out. About 1 is as near as training rows are to each other. Distances to the k-th neighbour are
the outlier score of S. Ramaswamy, R. Rastogi, K. Shim, "Efficient algorithms for mining outliers from large data
sets", SIGMOD (2000).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from evenly.decomposition.forecasting.features import SHARES
from evenly.errors import InputError

__all__ = ["INPUTS", "Overlap"]

#: Inputs whose logarithms make up the distance; points per rank are points over ranks.
INPUTS = (*(f"share of {name}" for name in SHARES), "frequencies", "points", "points per rank")
#: What is compared with the training range; the logarithm of ranks is a difference of two of the inputs.
BOUNDED = (*INPUTS, "ranks")
#: How far outside the training range is still inside: of the range's length, and at least in the logarithm.
SLACK, LEAST_SLACK = 0.02, 0.01
#: Beyond this share of the training rows' own distances a row is outside though each of its inputs is inside.
FAR = 0.995
#: Quantiles between which `Overlap.coverage` counts.
COVERED = (0.01, 0.99)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Overlap:
    """A cloud of training rows, to tell what lies inside.

    Tables hold the columns ``points``, ``ranks``, ``share of …`` each of
    `evenly.decomposition.forecasting.features.SHARES` and ``frequencies``, all above 0; other columns don't matter.

    Parameters
    ----------
    rows : (kept, 8)
        Logarithms of the inputs of training rows.
    scale : (8,)
        Standard deviation of each among all training rows.
    bounds : (4, 9)
        Logarithms of the least value of each input and of ranks, their 1 % and 99 % quantiles, and the largest value.
    neighbours : int
        Which nearest row distances are to.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> def drawn(n, **changed):
    ...     table = {name: np.exp(random.uniform(-3, -1, n)) for name in INPUTS[:5]}
    ...     table |= {"frequencies": random.uniform(5, 50, n), "ranks": np.exp(random.uniform(0, 8, n))}
    ...     return pd.DataFrame({**table, "points": 1e4 * table["ranks"] ** random.uniform(0.5, 1, n), **changed})
    >>> overlap = Overlap.learn(drawn(500))
    >>> bool(np.median(overlap.distance(drawn(50))) < 1.2)
    True
    >>> overlap.outside(drawn(1, frequencies=400.0))
    [('frequencies',)]
    """

    rows: Array
    scale: Array
    bounds: Array
    neighbours: int = 5

    @classmethod
    def learn(cls, table: pd.DataFrame, *, keep: int = 400, neighbours: int = 5, seed: int = 0) -> Overlap:
        """Return the cloud of training rows.

        Parameters
        ----------
        table : DataFrame (n_rows, …)
        keep : int
            How many rows are kept at most, drawn at random; ranges and spreads are those of all rows.
        neighbours : int
            Which nearest row distances are to.
        seed : int
            Of the draw.

        Raises
        ------
        InputError
            If a column is missing, a value isn't a finite number above 0, or there are too few rows.
        """
        logs = _logs(table)
        if min(len(logs), keep) < neighbours + 2:
            got = min(len(logs), keep)
            raise InputError(
                f"at least {neighbours + 2} training rows must be kept to measure distances to the "
                f"{neighbours}. neighbour, but got {got}: give more rows or less `neighbours`"
            )
        bounds = np.quantile(logs, [0.0, *COVERED, 1.0], axis=0)
        inputs = logs[:, : len(INPUTS)]
        spread = inputs.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        chosen = np.sort(np.random.default_rng(seed).permutation(len(inputs))[:keep])
        return cls(inputs[chosen], scale, bounds, neighbours)

    def distance(self, table: pd.DataFrame) -> Array:
        """Return how far rows are from the training rows, (n,): about 1 is as near as those are to each other.

        Raises
        ------
        InputError
            As `learn`.
        """
        return self._distance(self._scaled(table)) / self._usual

    @cached_property
    def own(self) -> Array:
        """Distances of the training rows that were kept to each other, sorted, (kept,); their median is 1."""
        return self._own / self._usual

    def percentile(self, table: pd.DataFrame) -> Array:
        """Return which share of the training rows is nearer to the others than each row is, (n,), from 0 to 1.

        Raises
        ------
        InputError
            As `learn`.
        """
        return np.searchsorted(self._own, self._distance(self._scaled(table))) / len(self._own)

    def coverage(self, table: pd.DataFrame) -> pd.Series:
        """Return per input, and for ranks, the share of rows between training's 1 % and 99 % quantiles.

        Raises
        ------
        InputError
            As `learn`.
        """
        logs = _logs(table)
        _, first, last, _ = self.bounds
        # A value that is stored and one that is computed may differ in the last digit.
        inside = (logs >= first - 1e-6) & (logs <= last + 1e-6)
        return pd.Series(inside.mean(axis=0), index=list(BOUNDED), name="coverage")

    def outside(self, table: pd.DataFrame) -> list[tuple[str, ...]]:
        """Return per row the names of the inputs in which it lies outside the training rows; empty: it lies inside.

        These are the inputs (ranks among them) outside the training range, plus a slack of 2 % of its length in the
        logarithm. Where there are none but the row is further off than 99.5 % of the training rows are from each
        other, they are the two inputs in which it differs most from its nearest rows: together they are unusual.

        Raises
        ------
        InputError
            As `learn`.
        """
        logs, scaled = _logs(table), self._scaled(table)
        low, _, _, high = self.bounds
        slack = np.maximum(SLACK * (high - low), LEAST_SLACK)
        beyond = (logs < low - slack) | (logs > high + slack)
        far = self._distance(scaled) > np.quantile(self._own, FAR)
        return [
            tuple(name for name, out in zip(BOUNDED, row, strict=True) if out)
            or (self._unusual(point) if lonely else ())
            for row, lonely, point in zip(beyond, far, scaled, strict=True)
        ]

    def to_state(self) -> dict[str, Any]:
        """Return plain numbers and lists that `from_state` takes."""
        return {
            "inputs": list(INPUTS),
            "neighbours": self.neighbours,
            "rows": self.rows.round(5).tolist(),
            "scale": self.scale.tolist(),
            "bounds": self.bounds.tolist(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Overlap:
        """Return what `to_state` kept.

        Raises
        ------
        InputError
            If it is of other inputs or incomplete.
        """
        try:
            names, neighbours = tuple(state["inputs"]), int(state["neighbours"])
            rows, scale, bounds = (np.array(state[name], dtype=np.float64) for name in ("rows", "scale", "bounds"))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"no training rows can be read from what was stored: {error!r}") from error
        shapes = (rows.shape[1:], scale.shape, bounds.shape)
        if names != INPUTS or shapes != ((len(INPUTS),), (len(INPUTS),), (4, len(BOUNDED))):
            raise InputError(
                f"stored training rows must be of the inputs {', '.join(INPUTS)}, but got {names}, {shapes}"
            )
        return cls(rows, scale, bounds, neighbours)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.rows / self.scale)

    @cached_property
    def _own(self) -> Array:
        """Distances of the training rows to the others, sorted; each is its own nearest."""
        found, _ = self._tree.query(self.rows / self.scale, k=[self.neighbours + 1])
        return np.sort(np.asarray(found, dtype=np.float64)[:, 0])

    @cached_property
    def _usual(self) -> float:
        return max(float(np.median(self._own)), math.ulp(1.0))

    def _scaled(self, table: pd.DataFrame) -> Array:
        return np.asarray(_logs(table)[:, : len(INPUTS)] / self.scale)

    def _distance(self, scaled: Array) -> Array:
        found, _ = self._tree.query(scaled, k=[self.neighbours])
        return np.asarray(found, dtype=np.float64)[:, 0]

    def _unusual(self, point: Array) -> tuple[str, ...]:
        _, nearest = self._tree.query(point, k=list(range(1, self.neighbours + 1)))
        apart = ((self.rows[nearest] / self.scale - point) ** 2).mean(axis=0)
        return tuple(INPUTS[i] for i in np.argsort(-apart, kind="stable")[:2])


def _logs(table: pd.DataFrame) -> Array:
    """Return logarithms of the inputs and of ranks, (n, 9)."""
    needed = [name for name in BOUNDED if name != "points per rank"]
    if missing := [name for name in needed if name not in table.columns]:
        raise InputError(f"a table of simulations must have the columns {', '.join(needed)}, but {missing} are missing")
    try:
        values = table[needed].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"inputs of simulations must be numbers: {error}") from error
    good = (np.isfinite(values) & (values > 0)).all(axis=0)
    if not good.all():
        wrong = ", ".join(name for name, fine in zip(needed, good, strict=True) if not fine)
        raise InputError(f"inputs of simulations must be finite and above 0, but those of {wrong} aren't all")
    logs = dict(zip(needed, np.log(values).T, strict=True))
    logs["points per rank"] = logs["points"] - logs["ranks"]
    return np.column_stack([logs[name] for name in BOUNDED])
