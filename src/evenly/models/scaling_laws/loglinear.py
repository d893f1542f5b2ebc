"""Least squares on the logarithm of the response: what the power law and the log-quadratic model share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["Coordinates", "LogLinear"]

Floats = NDArray[np.float64]
_RANK = 1e-9
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
            if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
                found._add("label", 0.0, 1.0, sorted(pd.unique(column).tolist(), key=str))
                continue
            x = column.to_numpy(dtype=np.float64)
            kind = "log" if x.min() > 0 else "linear"
            z = np.log(x) if kind == "log" else x
            # Medians and ranges do not depend on the order of the rows, unlike sums.
            spread = float(z.max() - z.min())
            found._add(kind, float((z.max() + z.min()) / 2), spread / 2 if spread > 0 else 1.0, [])
        return found

    def _add(self, kind: str, centre: float, scale: float, labels: list[Any]) -> None:
        self.kinds.append(kind)
        self.centres.append(centre)
        self.scales.append(scale)
        self.labels.append(labels)

    def numeric(self, table: pd.DataFrame) -> Floats:
        """Return the coordinates of the numeric parameters, (n, n_numeric)."""
        columns = []
        for name, kind, centre, scale in zip(self.names, self.kinds, self.centres, self.scales, strict=True):
            if kind == "label":
                continue
            x = table[name].to_numpy(dtype=np.float64)
            if kind == "log" and x.size and x.min() <= 0:
                raise InputError(f"{name!r} was above zero in all measured runs and must stay so, but got {x.min()}")
            columns.append(((np.log(x) if kind == "log" else x) - centre) / scale)
        return np.column_stack(columns) if columns else np.zeros((len(table), 0))

    def one_hot(self, table: pd.DataFrame) -> Floats:
        """Return indicators of all labels but each parameter's first, (n, n_labels)."""
        columns = []
        for name, kind, labels in zip(self.names, self.kinds, self.labels, strict=True):
            if kind != "label":
                continue
            strange = ~table[name].isin(labels)
            if strange.any():
                raise InputError(
                    f"{name!r} must be one of {', '.join(map(str, labels))}, which were measured, "
                    f"but got {table[name][strange].iloc[0]!r}"
                )
            columns += [(table[name] == label).to_numpy(dtype=np.float64) for label in labels[1:]]
        return np.column_stack(columns) if columns else np.zeros((len(table), 0))

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "names": self.names, "kinds": self.kinds, "centres": self.centres, "scales": self.scales,
            "labels": self.labels,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Coordinates:
        """Restore what `to_state` returned."""
        return cls(**{name: list(state[name]) for name in ("names", "kinds", "centres", "scales", "labels")})


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
        """Fit; where columns are dependent, the shortest solution is taken."""
        order = np.lexsort((logs, *design.T))
        roots = np.sqrt(weights[order])
        u, s, vt = np.linalg.svd(design[order] * roots[:, None], full_matrices=False)
        rank = int(np.sum(s > _RANK * s[0]))
        u, s, vt = u[:, :rank], s[:rank], vt[:rank]
        coefficients = vt.T @ ((u.T @ (logs[order] * roots)) / s)
        free = 1.0 - np.sum(u**2, axis=1)
        with np.errstate(all="ignore"):
            residuals = np.where(free > _FREE, (logs[order] - design[order] @ coefficients) / free, np.nan)
            # Leverage of the row itself (not of its weighted version) on the fit without it.
            leverages = np.where(free > _FREE, (1.0 - free) / free / np.maximum(roots**2, 1e-300), np.nan)
        back = np.argsort(order)
        return cls(coefficients, (vt.T / s**2) @ vt, residuals[back], leverages[back], rank)

    def logs(self, design: Floats) -> Floats:
        """Predict logarithms for rows of a design, (n,)."""
        return design @ self.coefficients

    def leverage(self, design: Floats) -> Floats:
        """Return the leverage of rows of a design, (n,)."""
        return np.asarray(np.einsum("ij,jk,ik->i", design, self.spread, design), dtype=np.float64)

    def conformal(self) -> LogConformal:
        """Return the intervals that the left-out runs support."""
        return LogConformal.from_residuals(self.left_out, self.leverages, coefficients=self.rank)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "coefficients": self.coefficients, "spread": self.spread, "left_out": self.left_out,
            "leverages": self.leverages, "rank": self.rank,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> LogLinear:
        """Restore what `to_state` returned."""
        arrays = {
            name: np.asarray(state[name], dtype=np.float64)
            for name in ("coefficients", "spread", "left_out", "leverages")
        }
        return cls(**arrays, rank=int(state["rank"]))
