"""Scaling laws of fixed form in a parameter that can be a core count; they are plausible without any measurement.

Each law is a sum of two or three given terms with coefficients of zero or more: perfect scaling plus a constant
(Amdahl's law), plus a logarithm (a communication tree), plus both, or plus a growing power; a logarithm plus a
constant; and a power law plus a constant, with exponents of a grid or any. On logarithmic axes, such laws can look
straight within the measured range, like a power law. Outside this range they differ from the power law by factors. Each
law is fitted to relative errors, which is a non-negative linear least-squares problem. Other parameters, as a size of
the problem, multiply the whole law by a power of each.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.models.array_types import Flags, Floats
from evenly.models.scaling_laws.factors import Factor
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.runs.count_names import kind_of

__all__ = ["Law", "fit_laws"]

_ONE: Factor = (0.0, 0.0)
_LOG: Factor = (0.0, 1.0)
_PERFECT: Factor = (-1.0, 0.0)
#: Exponents of the power law plus a constant.
_GRID = (
    *(-2.0, -1.5, -1.25, -1.1, -1.05, -0.95, -0.9, -0.85, -0.8, -0.75, -0.7, -2 / 3, -0.6, -0.5, -1 / 3),
    *(0.5, 2 / 3, 0.75, 1.0, 1.5, 2.0),
)

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
#: The kind whose exponent is fitted too, from the best one of the grid: of times that hardly scatter, each exponent of
#: the grid is off by more than they do.
_ANY = "any-power-law-plus-constant"
#: If 1 minus a run's leverage is below this, the other runs don't determine the run's prediction.
_FREE = 1e-9
#: Terms whose part is below this share of the largest part count as zero.
_RANK = 1e-10
#: With more parameters, or more runs of several, laws of one and powers of the others say little: a search finds more.
_MOST_PARAMETERS, _MOST_RUNS = 3, 64
#: Most steps for the exponents, the longest, and the least gain of a step as a share of the squared residuals.
_STEPS, _LONGEST, _SMALL = 20, 0.5, 1e-9


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
    spread : array (n_terms, n_terms) or (n_terms + d, n_terms + d)
        Inverse Gram matrix of the relative fit, for the formula's terms, and with several parameters for the exponent
        of each (zeros for the law's own).
    """

    kind: str
    formula: Formula
    loss: float
    left_out: Floats
    coefficients: int
    share: float
    spread: Floats


def fit_laws(table: pd.DataFrame, values: Floats, weights: Floats) -> list[Law]:
    """Fit all laws that have fewer coefficients than there are different configurations.

    With two or three parameters, each in turn is the one of the law. Powers of the others multiply all its terms,
    ``a n^e / p + b n^e``, or the first, ``a n^e / p + b``. The parameter of a law has three or more values from 1 on.
    Among several, it has the name of a count of cores, nodes, or the like. There are no more than 64 runs then.

    Parameters
    ----------
    table : DataFrame (n_runs, d)
        The values of the parameters. Each varies.
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
    if not 1 <= table.shape[1] <= _MOST_PARAMETERS:
        return []
    if not all(pd.api.types.is_numeric_dtype(t) and not pd.api.types.is_bool_dtype(t) for t in table.dtypes):
        return []
    points: Floats = table.to_numpy(dtype=np.float64)
    # Core counts are 1 or more, powers need more than 0. Fewer than three different counts determine no law.
    if points.min() <= 0:
        return []
    counts = [k for k in range(points.shape[1]) if points[:, k].min() >= 1 and len(np.unique(points[:, k])) >= 3]
    if points.shape[1] > 1:  # sizes of messages follow other laws, and only names tell
        counts = [k for k in counts if kind_of(str(table.columns[k]))] if len(points) <= _MOST_RUNS else []
    # Sort the runs, so that rounding errors of sums don't depend on the order passed in.
    order = np.lexsort((values, *points.T[::-1]))
    runs = _Runs(tuple(map(str, table.columns)), points[order], values[order], weights[order])
    back = np.argsort(order)
    # Laws that end at the same terms are the same fit, though rounding errors of their coefficients may differ.
    found: dict[tuple[int, bool, frozenset[Factor]], Law] = {}
    configurations = len(np.unique(points, axis=0))
    forms = 2 if points.shape[1] > 1 else 1
    for k, (kind, sets), all_grow in itertools.product(counts, _KINDS.items(), (True, False)[:forms]):
        for factors in sets:
            # Leave-one-out errors need one configuration more than there are coefficients.
            left = configurations - (len(factors) + points.shape[1] - 1)
            if left > 0 and len(np.unique(points[:, k])) >= len(factors):
                growing = len(factors) if all_grow else 1
                law = _fit(runs, k, kind, factors, growing, 1 / len(sets) / len(counts) / forms)
                if law is not None:
                    terms = frozenset((t.powers[k], t.logs[k]) for t in law.formula.terms)
                    found.setdefault((k, all_grow or len(terms) == 1, terms), law)
    laws = [*found.values(), *(law for k in counts if (law := _of_any_exponent(runs, k, list(found.values()), counts)))]
    for law in laws:
        law.left_out[:] = law.left_out[back]
    return laws


def _of_any_exponent(runs: _Runs, k: int, fitted: Sequence[Law], counts: Sequence[int]) -> Law | None:
    """Return a power law of parameter k plus a constant, from the best one of the grid; None if that is none."""
    d = runs.points.shape[1]
    grid = [
        law for law in fitted
        if law.kind == "power-law-plus-constant" and [t.powers[k] != 0 for t in law.formula.terms] == [True, False]
    ]  # fmt: skip
    if not grid or len(np.unique(runs.points, axis=0)) <= d + 2 or len(np.unique(runs.points[:, k])) <= 2:
        return None
    start = min(grid, key=lambda law: law.loss).formula.terms[0].powers[k]
    law = _fit(runs, k, _ANY, (_ONE, _ONE), 1, 1 / len(counts), start)
    known = {tuple((term.powers, term.logs) for term in one.formula.terms) for one in fitted}
    found = () if law is None else tuple((term.powers, term.logs) for term in law.formula.terms)
    return law if len(found) == 2 and found not in known else None  # without the constant, it is the power law


@dataclass(frozen=True)
class _Runs:
    """Runs (n_runs, d), their times and their weights, (n_runs,), in an order of their own."""

    names: tuple[str, ...]
    points: Floats
    values: Floats
    weights: Floats


def _fit(
    runs: _Runs, k: int, kind: str, factors: Sequence[Factor], growing: int, share: float, start: float | None = None
) -> Law | None:
    """Fit one set of terms f_j(x), x parameter k; return None if some leave-one-out prediction isn't above zero.

    Minimises ``Σ w (1 - Σ c_j f_j(x) Π_o p_o^e_o / y)²`` over c >= 0 and the exponents e of the others. It is the
    Gauss-Newton method in e, from the exponents of a power law on; each step solves for c. The first `growing` terms
    have the powers. With a `start`, these are of x too, and its exponent is fitted from there.
    """
    others = [o for o in range(runs.points.shape[1]) if o != k or start is not None]
    logs = np.log(runs.points[:, others])
    roots = np.sqrt(runs.weights)
    terms = [Term(1.0, (i,), (j,)) for i, j in factors]
    plain = np.column_stack([term.values(runs.points[:, [k]]) for term in terms])

    def solved(exponents: Floats) -> _Solution:
        # Relative errors: rows are scaled by sqrt(w) / y, columns to unit length.
        design = plain * (roots / runs.values)[:, None]
        design[:, :growing] *= np.exp(logs @ exponents)[:, None]
        lengths = np.linalg.norm(design, axis=0)
        coefficients = _non_negative(design / lengths, roots) / lengths
        powers = design[:, :growing] @ coefficients[:growing]
        return coefficients, np.column_stack([design, powers[:, None] * logs]), roots - design @ coefficients

    first = _exponents_of_others(runs, others)
    if start is not None:
        first[others.index(k)] = start
    exponents, (coefficients, design, residuals) = _gauss_newton(solved, first)
    active = _is_active(coefficients, len(others))
    # The solution is also the ordinary least-squares fit of the terms with coefficients above zero. So the
    # leave-one-out residual of a run is its residual divided by 1 - h, with h the leverage of the run.
    design = design[:, active]
    lengths = np.linalg.norm(design, axis=0)
    if not lengths.min() > 0:  # no term with the powers is left
        return None
    q, r = np.linalg.qr(design / lengths)
    free = 1.0 - np.einsum("ij,ij->i", q, q)
    with np.errstate(all="ignore"):
        left_out = runs.values - residuals / free / roots * runs.values
        errors = np.log(left_out / runs.values)
    if not ((free > _FREE).all() and np.isfinite(errors).all() and np.abs(np.diag(r)).min() > _FREE):
        return None
    # With X = Q R the inverse Gram matrix is R^-1 R^-T.
    inverse = np.linalg.inv(r) / lengths[:, None]
    powers, exponents_of_logs = np.zeros((2, len(terms), runs.points.shape[1]))
    powers[:growing, others] = np.round(exponents, 9)  # as for 1, where rounding leaves 0.9999999999
    own, exponents_of_logs[:, k] = zip(*factors, strict=True)
    powers[:, k] += own
    formula = Formula(runs.names, tuple(
        Term(float(coefficients[j]), tuple(powers[j].tolist()), tuple(exponents_of_logs[j].tolist()))
        for j in np.flatnonzero(active[: len(terms)])
    ))  # fmt: skip
    loss = float(np.average(errors**2, weights=runs.weights))
    spread = inverse @ inverse.T
    if others:
        at = [*range(len(formula.terms)), *(len(formula.terms) + o for o in others)]
        small, spread = spread, np.zeros((len(formula.terms) + runs.points.shape[1],) * 2)
        spread[np.ix_(at, at)] = small
    return Law(kind, formula, loss, left_out, len(factors) + len(others), share, spread)


#: Coefficients, rows of terms and exponents, and weighted relative residuals.
_Solution = tuple[Floats, Floats, Floats]


def _gauss_newton(solved: Callable[[Floats], _Solution], exponents: Floats) -> tuple[Floats, _Solution]:
    """Return the exponents of the smallest residuals, and what `solved` returns for them."""
    n = len(exponents)
    with np.errstate(all="ignore"):
        best = solved(exponents)
        for _ in range(_STEPS if n else 0):
            coefficients, design, residuals = best
            free = design[:, _is_active(coefficients, n)]
            lengths = np.maximum(np.linalg.norm(free, axis=0), np.finfo(np.float64).tiny)
            step = np.linalg.lstsq(free / lengths, residuals, rcond=None)[0][-n:] / lengths[-n:]
            step = np.clip(step, -_LONGEST, _LONGEST)
            tried = solved(exponents + step)
            if not tried[2] @ tried[2] < residuals @ residuals * (1 - _SMALL):
                break
            exponents, best = exponents + step, tried
    return exponents, best


def _is_active(coefficients: Floats, exponents: int) -> Flags:
    """Mark the terms with coefficients above zero, and all exponents."""
    return np.append(coefficients > 0, np.ones(exponents, dtype=np.bool_))


def _exponents_of_others(runs: _Runs, others: Sequence[int]) -> Floats:
    """Return the exponents of a power law of all parameters, those of `others`."""
    design = np.column_stack([np.ones(len(runs.values)), np.log(runs.points)]) * np.sqrt(runs.weights)[:, None]
    found = np.linalg.lstsq(design, np.log(runs.values) * np.sqrt(runs.weights), rcond=None)[0]
    return np.asarray(found[1:][list(others)], dtype=np.float64)


def _non_negative(design: Floats, target: Floats) -> Floats:
    """Return the coefficients of least squares, zero or more, of two or three columns of length 1.

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
    best[best <= _RANK * best.max()] = 0.0  # rounding errors
    return best
