"""Scaling laws that are plausible before anything is measured, for one parameter that behaves as a core count.

Perfect scaling with a part that stays (Amdahl's law), with the logarithm of a communication tree, with both; a power
law with a part that stays; and their growing analogues: sums of few given terms with coefficients of zero or more. They
are what curves that look straight on logarithmic axes turn into beyond the measured range, where a power law and the
law that it stands for part by factors. Each is fitted to relative errors: a non-negative linear least-squares problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.scaling_laws.factors import Factor
from evenly.models.scaling_laws.formula import Formula, Term

__all__ = ["Law", "fit_laws"]

Floats = NDArray[np.float64]
_ONE: Factor = (0.0, 0.0)
_LOG: Factor = (0.0, 1.0)
_PERFECT: Factor = (-1.0, 0.0)
#: Exponents that a power law with a constant may have.
_GRID = (-2.0, -1.5, -1.25, -0.75, -0.5, 0.5, 0.75, 1.0, 1.5, 2.0)

#: Kinds, and their sets of factors; the sets of one kind share its prior weight.
_KINDS: dict[str, tuple[tuple[Factor, ...], ...]] = {
    "scaling-plus-constant": ((_PERFECT, _ONE),),
    "scaling-plus-log": ((_PERFECT, _LOG),),
    "scaling-plus-log-plus-constant": ((_PERFECT, _LOG, _ONE),),
    "scaling-plus-growth": tuple((_PERFECT, (c, 0.0)) for c in (0.25, 0.5, 1.0)),
    "scaling-plus-growth-plus-constant": tuple((_PERFECT, (c, 0.0), _ONE) for c in (0.5, 1.0)),
    "log-plus-constant": ((_LOG, _ONE),),
    "power-law-plus-constant": tuple(((i, 0.0), _ONE) for i in _GRID),
}
#: Where 1 minus the leverage is below this, the other runs don't determine the run's prediction.
_FREE = 1e-9
#: Coefficients below this share of the largest count as zero.
_RANK = 1e-10


@dataclass(frozen=True)
class Law:
    """One law, fitted.

    Attributes
    ----------
    kind : str
    formula : Formula
        Terms of coefficient zero left out.
    loss : float
        Mean squared log error on left-out runs.
    left_out : array (n_runs,)
        Prediction of each run by the fit without it.
    coefficients : int
        Free coefficients, those that came out as zero included.
    share : float
        Part of the kind's prior weight that this set of factors has.
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
    """Fit every law that the runs determine with one to spare; none where the parameter is no count of cores.

    Parameters
    ----------
    table : DataFrame (n_runs, 1)
    values, weights : array (n_runs,)
        Values above zero; weights of zero leave runs out.

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
    # Core counts are three or more different numbers from 1 on.
    if x.min() < 1 or len(np.unique(x)) < 3:
        return []
    # Sums round alike whatever the order of the runs.
    order = np.lexsort((values, x))
    back = np.argsort(order)
    found: dict[Formula, Law] = {}
    for kind, sets in _KINDS.items():
        for factors in sets:
            # One configuration more than coefficients, so that runs left out can be judged.
            if len(np.unique(x)) > len(factors):
                law = _fit(str(table.columns[0]), kind, factors, 1 / len(sets), x[order], values[order], weights[order])
                if law is not None:
                    law.left_out[:] = law.left_out[back]
                    found.setdefault(law.formula, law)
    return list(found.values())


def _fit(
    name: str, kind: str, factors: Sequence[Factor], share: float, x: Floats, values: Floats, weights: Floats
) -> Law | None:
    """Fit one set of terms f_k(x) to runs (n_runs,), or return None where left-out runs can't be predicted.

    Minimises ``Σ w (1 - Σ c_k f_k(x) / y)²`` over c >= 0 [active-set method, Lawson and Hanson, 1974,
    chapter 23].
    """
    from scipy.optimize import nnls

    # Relative errors: rows are scaled by sqrt(w) / y, columns to unit length.
    roots = np.sqrt(weights) / values
    terms = [Term(1.0, (i,), (j,)) for i, j in factors]
    design = np.column_stack([term.values(x[:, None]) for term in terms]) * roots[:, None]
    lengths = np.linalg.norm(design, axis=0)
    coefficients = nnls(design / lengths, values * roots)[0] / lengths
    active = coefficients > _RANK * coefficients.max()
    # On the terms above zero the fit is an ordinary one, so left-out residuals are residuals over 1 - h.
    design = design[:, active]
    scaled = design / lengths[active]
    q, r = np.linalg.qr(scaled)
    free = 1.0 - np.einsum("ij,ij->i", q, q)
    with np.errstate(all="ignore"):
        left_out = values - (values * roots - design @ coefficients[active]) / free / roots
        logs = np.log(left_out / values)
    if not (free > _FREE).all() or not np.isfinite(logs).all():
        return None
    # X = Q R makes the inverse Gram matrix R^-1 R^-T.
    inverse = np.linalg.inv(r) / lengths[active][:, None]
    formula = Formula((name,), tuple(
        Term(float(c), term.powers, term.logs) for c, term, on in zip(coefficients, terms, active, strict=True) if on
    ))  # fmt: skip
    loss = float(np.average(logs**2, weights=weights))
    return Law(kind, formula, loss, left_out, len(factors), share, inverse @ inverse.T)
