"""Scaling laws of fixed form for one parameter that can be a core count; they are plausible without any measurement.

Each law is a sum of two or three given terms with coefficients of zero or more: perfect scaling plus a constant
(Amdahl's law), plus a logarithm (a communication tree), plus both, or plus a growing power; a logarithm plus a
constant; and a power law plus a constant. On logarithmic axes, such laws can look straight within the measured range,
like a power law. Outside this range they differ from the power law by factors. Each law is fitted to relative errors,
which is a non-negative linear least-squares problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.scaling_laws.factors import Factor
from evenly.models.scaling_laws.formula import Formula, Term

__all__ = ["Law", "fit_laws"]

_ONE: Factor = (0.0, 0.0)
_LOG: Factor = (0.0, 1.0)
_PERFECT: Factor = (-1.0, 0.0)
#: Exponents of the power law plus a constant.
_GRID = (-2.0, -1.5, -1.25, -0.75, -0.5, 0.5, 0.75, 1.0, 1.5, 2.0)

#: For each kind of law, its sets of factors. The sets of one kind share the prior weight of the kind.
_KINDS: dict[str, tuple[tuple[Factor, ...], ...]] = {
    "scaling-plus-constant": ((_PERFECT, _ONE),),
    "scaling-plus-log": ((_PERFECT, _LOG),),
    "scaling-plus-log-plus-constant": ((_PERFECT, _LOG, _ONE),),
    "scaling-plus-growth": tuple((_PERFECT, (c, 0.0)) for c in (0.25, 0.5, 1.0)),
    "scaling-plus-growth-plus-constant": tuple((_PERFECT, (c, 0.0), _ONE) for c in (0.5, 1.0)),
    "log-plus-constant": ((_LOG, _ONE),),
    "power-law-plus-constant": tuple(((i, 0.0), _ONE) for i in _GRID),
}
#: If 1 minus a run's leverage is below this, the other runs don't determine the run's prediction.
_FREE = 1e-9
#: Coefficients below this share of the largest count as zero.
_RANK = 1e-10


@dataclass(frozen=True)
class Law:
    """One fitted law.

    Attributes
    ----------
    kind : str
        Name of the law's form, a key of `_KINDS`.
    formula : Formula
        The fitted law, without terms of coefficient zero.
    loss : float
        Mean squared log error on left-out runs.
    left_out : array (n_runs,)
        Leave-one-out prediction of each run.
    coefficients : int
        Number of free coefficients, including those fitted as zero.
    share : float
        This set's share of the prior weight of its kind.
    spread : array (n_terms, n_terms)
        Inverse Gram matrix of the relative fit, for the formula's terms.
    """

    kind: str
    formula: Formula
    loss: float
    left_out: Floats
    coefficients: int
    share: float
    spread: Floats


def fit_laws(table: pd.DataFrame, values: Floats, weights: Floats) -> list[Law]:
    """Fit all laws that have fewer coefficients than there are different core counts.

    Returns no law unless there is exactly one parameter, numeric, with three or more different values from 1 on.

    Parameters
    ----------
    table : DataFrame (n_runs, 1)
        The values of the parameter.
    values, weights : array (n_runs,)
        Measured values, above zero, and weights. Runs of weight zero are ignored.

    Examples
    --------
    >>> cores = np.array([8.0, 16, 32, 64])
    >>> laws = fit_laws(pd.DataFrame({"cores": cores}), 1000 / cores + 5, np.ones(4))
    >>> print(min(laws, key=lambda law: law.loss).formula)
    1000 · cores^-1 + 5
    """
    table, values, weights = table[weights > 0], values[weights > 0], weights[weights > 0]
    if table.shape[1] != 1:
        return []
    column = table.iloc[:, 0]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return []
    x: Floats = column.to_numpy(dtype=np.float64)
    # Core counts are 1 or more. Fewer than three different ones determine no law.
    if x.min() < 1 or len(np.unique(x)) < 3:
        return []
    # Sort the runs, so that rounding errors of sums don't depend on the order passed in.
    order = np.lexsort((values, x))
    back = np.argsort(order)
    # Laws that end at the same terms are the same fit, though rounding errors of their coefficients may differ.
    found: dict[frozenset[Factor], Law] = {}
    for kind, sets in _KINDS.items():
        for factors in sets:
            # Leave-one-out errors need one configuration more than there are coefficients.
            if len(np.unique(x)) > len(factors):
                law = _fit(str(table.columns[0]), kind, factors, 1 / len(sets), x[order], values[order], weights[order])
                if law is not None:
                    law.left_out[:] = law.left_out[back]
                    found.setdefault(frozenset((t.powers[0], t.logs[0]) for t in law.formula.terms), law)
    return list(found.values())


def _fit(
    name: str, kind: str, factors: Sequence[Factor], share: float, x: Floats, values: Floats, weights: Floats
) -> Law | None:
    """Fit one set of terms f_k(x) to runs (n_runs,); return None if some leave-one-out prediction isn't above zero.

    Minimises ``Σ w (1 - Σ c_k f_k(x) / y)²`` over c >= 0.
    """
    # Relative errors: rows are scaled by sqrt(w) / y, columns to unit length.
    roots = np.sqrt(weights) / values
    terms = [Term(1.0, (i,), (j,)) for i, j in factors]
    design = np.column_stack([term.values(x[:, None]) for term in terms]) * roots[:, None]
    lengths = np.linalg.norm(design, axis=0)
    coefficients = _non_negative(design / lengths, values * roots) / lengths
    active = coefficients > _RANK * coefficients.max()
    # The solution is also the ordinary least-squares fit of the terms with coefficients above zero. So the
    # leave-one-out residual of a run is its residual divided by 1 - h, with h the leverage of the run.
    design = design[:, active]
    scaled = design / lengths[active]
    q, r = np.linalg.qr(scaled)
    free = 1.0 - np.einsum("ij,ij->i", q, q)
    with np.errstate(all="ignore"):
        left_out = values - (values * roots - design @ coefficients[active]) / free / roots
        logs = np.log(left_out / values)
    if not (free > _FREE).all() or not np.isfinite(logs).all():
        return None
    # With X = Q R the inverse Gram matrix is R^-1 R^-T.
    inverse = np.linalg.inv(r) / lengths[active][:, None]
    formula = Formula((name,), tuple(
        Term(float(c), term.powers, term.logs) for c, term, on in zip(coefficients, terms, active, strict=True) if on
    ))  # fmt: skip
    loss = float(np.average(logs**2, weights=weights))
    return Law(kind, formula, loss, left_out, len(factors), share, inverse @ inverse.T)


def _non_negative(design: Floats, target: Floats) -> Floats:
    """Return the coefficients of least squares, zero or more, of two or three columns.

    Some of the columns have coefficients above zero, and these are the columns' ordinary least squares: all sets of
    columns are tried. `scipy.optimize.nnls` needs fewer steps, but importing it takes longer than a small fit.
    """
    best, lowest = np.zeros(design.shape[1]), np.inf
    for size in range(1, design.shape[1] + 1):
        for used in map(list, itertools.combinations(range(design.shape[1]), size)):
            found = np.linalg.lstsq(design[:, used], target, rcond=None)[0]
            squares = float(np.sum((design[:, used] @ found - target) ** 2))
            if (found > 0).all() and squares < lowest:
                best, lowest = np.zeros(design.shape[1]), squares
                best[used] = found
    return best
