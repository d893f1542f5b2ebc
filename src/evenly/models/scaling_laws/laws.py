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

from evenly.models.scaling_laws.formula import Formula, Term

__all__ = ["Law", "fit_laws"]

Floats = NDArray[np.float64]
Factor = tuple[float, float]

_ONE: Factor = (0.0, 0.0)
_LOG: Factor = (0.0, 1.0)
_PERFECT: Factor = (-1.0, 0.0)
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
_FREE = 1e-9
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


def _core_counts(table: pd.DataFrame) -> Floats | None:
    """Return the only column, shape (n,), if it can be counts of cores: three or more numbers from 1 on; else None."""
    if table.shape[1] != 1:
        return None
    column = table.iloc[:, 0]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return None
    x: Floats = column.to_numpy(dtype=np.float64)
    return x if x.min() >= 1 and len(np.unique(x)) >= 3 else None


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
    x = _core_counts(table)
    if x is None:
        return []
    # Sums round alike whatever the order of the runs.
    order = np.lexsort((values, x))
    back = np.argsort(order)
    found: dict[Formula, Law] = {}
    for kind, sets in _KINDS.items():
        for factors in sets:
            if len(np.unique(x)) > len(factors):
                law = _fit(str(table.columns[0]), kind, factors, 1 / len(sets), x[order], values[order], weights[order])
                if law is not None:
                    law.left_out[:] = law.left_out[back]
                    found.setdefault(law.formula, law)
    return list(found.values())


def _fit(
    name: str, kind: str, factors: Sequence[Factor], share: float, x: Floats, values: Floats, weights: Floats
) -> Law | None:
    from scipy.optimize import nnls

    roots = np.sqrt(weights) / values
    terms = [Term(1.0, (i,), (j,)) for i, j in factors]
    design = np.column_stack([term.values(x[:, None]) for term in terms]) * roots[:, None]
    lengths = np.linalg.norm(design, axis=0)
    coefficients = nnls(design / lengths, values * roots)[0] / lengths
    active = coefficients > _RANK * coefficients.max()
    design = design[:, active]
    scaled = design / lengths[active]
    q, r = np.linalg.qr(scaled)
    free = 1.0 - np.einsum("ij,ij->i", q, q)
    with np.errstate(all="ignore"):
        left_out = values - (values * roots - design @ coefficients[active]) / free / roots
        logs = np.log(left_out / values)
    if not (free > _FREE).all() or not np.isfinite(logs).all():
        return None
    inverse = np.linalg.inv(r) / lengths[active][:, None]
    formula = Formula((name,), tuple(
        Term(float(c), term.powers, term.logs) for c, term, on in zip(coefficients, terms, active, strict=True) if on
    ))  # fmt: skip
    loss = float(np.average(logs**2, weights=weights))
    return Law(kind, formula, loss, left_out, len(factors), share, inverse @ inverse.T)
