"""Weighted linear least squares on the logarithm of the response, with leverages and leave-one-out residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Coding
from evenly.models.stored_dataclass import Stored

__all__ = ["Coordinates", "LogLinear"]

#: Singular values below this share of the largest count as zero.
_RANK = 1e-9
#: If 1 minus a run's leverage is below this, the other runs don't determine the run's prediction.
_FREE = 1e-9


@dataclass(frozen=True)
class Coordinates(Coding):
    """The coordinates of a log-linear model: scaled logarithms, or scaled values of parameters that aren't above zero.

    Attributes
    ----------
    names : list of str
        Names of the parameters.
    kinds : list of {"log", "linear", "label"}
        Whether a parameter's coordinate is its logarithm or its value, or whether it has indicators of its labels.
    centres, scales : lists of float
        A coordinate is ``(log x - centre) / scale``, or ``(x - centre) / scale`` if it is linear.
    labels : list of lists
        Measured labels of each categorical parameter; an empty list for a numeric one.
    """

    @classmethod
    def from_table(cls, table: pd.DataFrame) -> Coordinates:
        """Choose the kind, centre and scale of each parameter's coordinate from the measured values.

        Unlike `Coding.learn` it needs no space, since rivals of other models are fitted to a table alone; and it keeps
        the order of the columns, which is the order of the factors in formulas.
        """
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
                # Unlike a mean, the middle of the range has no rounding errors that depend on the order of the rows.
                low, high = float(z.min()), float(z.max())
                centre, scale = (high + low) / 2, (high - low) / 2 or 1.0
            found.kinds.append(kind)
            found.centres.append(centre)
            found.scales.append(scale)
            found.labels.append(labels)
        return found

    def columns(self, table: pd.DataFrame) -> tuple[Floats, Floats]:
        """Return coordinates of the numeric parameters (n, n_numeric), and indicators of labels (n, n_indicators).

        The first label of each parameter has no indicator; for it, all indicators of the parameter are zero.

        Raises
        ------
        InputError
            If a label wasn't measured, or if a value isn't above zero although all measured values were.
        """
        inputs = self.inputs(table)
        indicators = [inputs.labels[:, [k]] == np.arange(1, size) for k, size in enumerate(inputs.sizes)]
        return inputs.numbers, np.hstack([np.zeros((len(table), 0)), *indicators])


@dataclass(frozen=True)
class LogLinear(Stored):
    """Result of weighted least squares of ``log(values)`` on the columns of a design matrix.

    Attributes
    ----------
    coefficients : array (n_columns,)
        Solution of the least-squares problem.
    spread : array (n_columns, n_columns)
        Pseudo-inverse of the weighted Gram matrix: ``x' spread x`` is the leverage of a new row x.
    left_out : array (n_runs,)
        Leave-one-out log residuals; NaN for runs whose prediction the other runs don't determine.
    leverages : array (n_runs,)
        Leverage of each run on the fit without it.
    rank : int
        Rank of the design matrix.
    """

    coefficients: Floats
    spread: Floats
    left_out: Floats
    leverages: Floats
    rank: int

    @classmethod
    def learn(cls, design: Floats, logs: Floats, weights: Floats) -> LogLinear:
        """Fit logs (n_runs,) by a design matrix (n_runs, n_columns) with weights (n_runs,).

        With W = diag(weights) and the singular value decomposition ``sqrt(W) X = U S V'``, the coefficients are
        ``V S^-1 U' sqrt(W) y``. If columns are linearly dependent, this is the solution of least norm. Leave-one-out
        residuals need no refit: the i-th is the residual divided by 1 - h_i, with h_i the squared length of the i-th
        row of U [PRESS residuals; Cook and Weisberg, Residuals and Influence, 1982].
        """
        # Sort the runs, so that rounding errors of sums don't depend on the order passed in.
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
        """Return the leverages of the rows of a design matrix (n, n_columns), (n,)."""
        return np.asarray(np.einsum("ij,jk,ik->i", design, self.spread, design), dtype=np.float64)
