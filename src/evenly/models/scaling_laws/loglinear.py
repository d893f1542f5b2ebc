"""Least squares on the logarithm of the response: what the power law and the log-quadratic model share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError

__all__ = ["Coordinates", "LogLinear"]

Floats = NDArray[np.float64]
#: Singular values below this share of the largest count as zero.
_RANK = 1e-9
#: Where 1 minus the leverage is below this, the other runs don't determine the run's prediction.
_FREE = 1e-9


@dataclass(frozen=True)
class Coordinates:
    """Numbers that a log-linear model works on: log of what is above zero, the value itself elsewhere, labels one-hot.

    Attributes
    ----------
    names : list of str
    kinds : list of {"log", "linear", "label"}
    centres, scales : lists of float
        Coordinates are ``(log x - centre) / scale``.
    labels : list of lists
    """

    names: list[str]
    kinds: list[str]
    centres: list[float]
    scales: list[float]
    labels: list[list[Any]]

    @classmethod
    def learn(cls, table: pd.DataFrame) -> Coordinates:
        """Choose coordinates by the measured values."""
        found = cls([str(name) for name in table.columns], [], [], [], [])
        for name in table.columns:
            column = table[name]
            kind, centre, scale, labels = "label", 0.0, 1.0, []
            if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
                labels = sorted(pd.unique(column).tolist(), key=str)
            else:
                x = column.to_numpy(dtype=np.float64)
                kind = "log" if x.min() > 0 else "linear"
                z = np.log(x) if kind == "log" else x
                # Unlike sums, the ends of the range do not depend on the order of the rows.
                low, high = float(z.min()), float(z.max())
                centre, scale = (high + low) / 2, (high - low) / 2 or 1.0
            found.kinds.append(kind)
            found.centres.append(centre)
            found.scales.append(scale)
            found.labels.append(labels)
        return found

    def columns(self, table: pd.DataFrame) -> tuple[Floats, Floats]:
        """Return coordinates of the numeric parameters (n, n_numeric), and indicators of labels (n, n_indicators).

        Each parameter's first label has no indicator: a row of zeros stands for it.

        Raises
        ------
        InputError
            If a label wasn't measured, or a number isn't above zero where all measured ones were.
        """
        numbers: list[Floats] = []
        indicators: list[Floats] = []
        for name, kind, centre, scale, labels in zip(
            self.names, self.kinds, self.centres, self.scales, self.labels, strict=True
        ):
            if kind == "label":
                strange = ~table[name].isin(labels)
                if strange.any():
                    raise InputError(
                        f"{name!r} must be one of {', '.join(map(str, labels))}, which were measured, "
                        f"but got {table[name][strange].iloc[0]!r}"
                    )
                indicators += [(table[name] == label).to_numpy(dtype=np.float64) for label in labels[1:]]
                continue
            x = table[name].to_numpy(dtype=np.float64)
            if kind == "log" and x.size and x.min() <= 0:
                raise InputError(f"{name!r} was above zero in all measured runs and must stay so, but got {x.min()}")
            numbers.append(((np.log(x) if kind == "log" else x) - centre) / scale)
        none = np.zeros((len(table), 0))
        return np.column_stack(numbers or [none]), np.column_stack(indicators or [none])

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Coordinates:
        """Restore what `vars` returned."""
        return cls(**{field.name: list(state[field.name]) for field in fields(cls)})


@dataclass(frozen=True)
class LogLinear:
    """Weighted least squares of ``log(values)`` on the columns of a design.

    Attributes
    ----------
    coefficients : array (n_columns,)
    spread : array (n_columns, n_columns)
        Pseudo-inverse of the weighted Gram matrix: ``x' spread x`` is the leverage of a new row x.
    left_out : array (n_runs,)
        Log residuals of left-out runs; not finite for runs that the others don't determine.
    leverages : array (n_runs,)
        Leverage of each run on the fit without it.
    rank : int
    """

    coefficients: Floats
    spread: Floats
    left_out: Floats
    leverages: Floats
    rank: int

    @classmethod
    def learn(cls, design: Floats, logs: Floats, weights: Floats) -> LogLinear:
        """Fit to a design (n_runs, n_columns), logs and weights (n_runs,); the shortest solution if columns depend.

        With W = diag(weights) and the singular value decomposition ``sqrt(W) X = U S V'``, the coefficients are
        ``V S^-1 U' sqrt(W) y``. Left-out residuals need no refit: the i-th is the residual over 1 - h_i, with h_i the
        squared length of the i-th row of U [PRESS residuals; Cook and Weisberg, Residuals and Influence, 1982].
        """
        # Sums round alike whatever the order of the runs.
        order = np.lexsort((logs, *design.T))
        roots = np.sqrt(weights[order])
        u, s, vt = np.linalg.svd(design[order] * roots[:, None], full_matrices=False)
        rank = int(np.sum(s > _RANK * s[0]))
        u, s, vt = u[:, :rank], s[:rank], vt[:rank]
        coefficients = vt.T @ ((u.T @ (logs[order] * roots)) / s)
        free = 1.0 - np.sum(u**2, axis=1)
        with np.errstate(all="ignore"):
            residuals = np.where(free > _FREE, (logs[order] - design[order] @ coefficients) / free, np.nan)
            # Leverage of the row itself (not of its weighted version) on the fit without it: h / (1 - h) / w.
            leverages = np.where(free > _FREE, (1.0 - free) / free / np.maximum(roots**2, 1e-300), np.nan)
        back = np.argsort(order)
        return cls(coefficients, (vt.T / s**2) @ vt, residuals[back], leverages[back], rank)

    def leverage(self, design: Floats) -> Floats:
        """Return the leverage of rows of a design, (n,)."""
        return np.asarray(np.einsum("ij,jk,ik->i", design, self.spread, design), dtype=np.float64)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> LogLinear:
        """Restore what `vars` returned."""
        arrays = {
            name: np.asarray(state[name], dtype=np.float64)
            for name in ("coefficients", "spread", "left_out", "leverages")
        }
        return cls(**arrays, rank=int(state["rank"]))
