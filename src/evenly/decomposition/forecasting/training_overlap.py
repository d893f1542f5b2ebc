"""Overlap with the training data: tells whether a simulation lies among those that a model was trained on.

A learned correction is reliable where it interpolates. `Overlap` keeps a few hundred training simulations (rows) and
measures the distance of other simulations from them. The coordinates are the logarithms of the inputs over their
standard deviations among the training rows. The distance is that to the k-th nearest training row, the outlier score of
S. Ramaswamy, R. Rastogi, K. Shim, "Efficient algorithms for mining outliers from large data sets", SIGMOD (2000). It is
divided by its median among the training rows (leave-one-out). So a distance of about 1 is as near as training rows are
to each other.
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
#: Quantities compared with the training range. The log of ranks is a difference of two inputs, so it isn't one itself.
BOUNDED = (*INPUTS, "ranks")
#: Tolerance around the training range in the logarithm: a fraction of the range's length, and at least this value.
SLACK, LEAST_SLACK = 0.02, 0.01
#: A row farther away than this quantile of the training rows' own distances is outside, even if each input is inside.
FAR = 0.995
#: Quantiles between which `Overlap.coverage` counts.
COVERED = (0.01, 0.99)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Overlap:
    """Training rows, to test whether other rows lie among them.

    All tables have the columns ``points``, ``ranks``, ``share of …`` each of
    `evenly.decomposition.forecasting.features.SHARES`, and ``frequencies``, all above 0; other columns are ignored.

    Parameters
    ----------
    rows : (kept, 8)
        Logarithms of the inputs of the kept training rows.
    scale : (8,)
        Standard deviation of each logarithm among all training rows.
    bounds : (4, 9)
        For the logarithms of the inputs and of ranks: minimum, 1 % quantile, 99 % quantile, and maximum.
    neighbours : int
        k: distances are those to the k-th nearest row.

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
        """Return the overlap of a table of training rows.

        Parameters
        ----------
        table : DataFrame (n_rows, …)
        keep : int
            Most rows kept, drawn at random; `bounds` and `scale` are those of all rows.
        neighbours : int
            k: distances are those to the k-th nearest row.
        seed : int
            Seed of the draw.

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
        """Return the relative distance of each row from the training rows, (n,); theirs among each other is about 1.

        Raises
        ------
        InputError
            As `learn`.
        """
        return self._distance(self._scaled(table)) / self._usual

    @cached_property
    def own(self) -> Array:
        """Leave-one-out distances of the kept training rows, sorted, (kept,); their median is 1."""
        return self._own / self._usual

    def percentile(self, table: pd.DataFrame) -> Array:
        """Return for each row the share of training rows with a smaller distance to the others, (n,), from 0 to 1.

        Raises
        ------
        InputError
            As `learn`.
        """
        return np.searchsorted(self._own, self._distance(self._scaled(table))) / len(self._own)

    def coverage(self, table: pd.DataFrame) -> pd.Series:
        """Return for each input and for ranks the share of rows between the 1 % and 99 % quantiles of the training.

        Raises
        ------
        InputError
            As `learn`.
        """
        logs = _logs(table)
        _, first, last, _ = self.bounds
        # A stored value and a computed one may differ in the last digits.
        inside = (logs >= first - 1e-6) & (logs <= last + 1e-6)
        return pd.Series(inside.mean(axis=0), index=list(BOUNDED), name="coverage")

    def outside(self, table: pd.DataFrame) -> list[tuple[str, ...]]:
        """Return for each row the names of the inputs in which it lies outside the training rows; empty if inside.

        These are the inputs (ranks included) outside the training range, which is widened by 2 % of its length in the
        logarithm. If there are none, but the row's distance exceeds the 99.5 % quantile of the training rows' own, the
        combination of inputs is unusual. Then they are the two inputs in which the row differs most from its nearest
        rows.

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
        """Return the overlap as plain numbers and lists, for `from_state`."""
        return {
            "inputs": list(INPUTS),
            "neighbours": self.neighbours,
            "rows": self.rows.round(5).tolist(),
            "scale": self.scale.tolist(),
            "bounds": self.bounds.tolist(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Overlap:
        """Return the overlap from the result of `to_state`.

        Raises
        ------
        InputError
            If the state has other inputs or is incomplete.
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
        """Leave-one-out distances of the kept rows, sorted, (kept,): the (k+1)-th nearest, as the first is itself."""
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
    """Return the logarithms of the inputs and of ranks of a table's rows, (n, 9)."""
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
