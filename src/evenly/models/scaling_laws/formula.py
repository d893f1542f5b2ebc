"""Formulas: sums of terms in the parameters, which people can read and programs can differentiate and bound.

A term is ``c · Π p^i · log2(p)^j``, as in the performance model normal form (equations 2.6 and 2.12 of the thesis that
`evenly.models.pmnf.pmnf` names). For the log-quadratic model it is multiplied by ``exp(Σ q ln(p) ln(p'))``. A formula
computes its values and derivatives, the term that dominates at a given configuration or in the limit, and ranges of
whole numbers on which it is certainly monotone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.scaling_laws import interval_arithmetic
from evenly.models.scaling_laws.factors import factor_derivatives, factor_values

__all__ = ["Formula", "Piece", "Term"]

#: ``(low, high, slope)``: the whole numbers from low to high, on which values rise (1), fall (-1) or stay constant (0).
Piece = tuple[int, int, int]


@dataclass(frozen=True)
class Term:
    """One term, ``coefficient · Π p^i · log2(p)^j · exp(Σ q ln(p) ln(p'))``.

    Parameters
    ----------
    coefficient : float
    powers, logs : tuple of float, one per parameter
        The exponents i and j.
    curvature : tuple of tuples of float, optional
        The symmetric matrix q; none means zero.
    """

    coefficient: float
    powers: tuple[float, ...]
    logs: tuple[float, ...]
    curvature: tuple[tuple[float, ...], ...] | None = None

    @property
    def shape(self) -> tuple[object, ...]:
        """Everything but the coefficient: terms of equal shape can be added up to one term."""
        return (self.powers, self.logs, self.curvature)

    def values(self, points: Floats) -> Floats:
        """Return the values of the term at points (n, d), (n,)."""
        result = np.full(len(points), self.coefficient)
        for k, factor in enumerate(zip(self.powers, self.logs, strict=True)):
            if factor != (0.0, 0.0):
                result = result * factor_values(points[:, k], factor)
        if self.curvature is not None:
            # exp(l' Q l) with l = ln(p), for every point.
            logs = np.log(points)
            result = result * np.exp(np.einsum("ni,ij,nj->n", logs, np.array(self.curvature), logs))
        return result

    def derivative(self, points: Floats, k: int) -> Floats:
        """Return the derivative with respect to the k-th parameter at points (n, d), (n,)."""
        if self.logs[k] == 0:
            return self.values(points) * self.elasticity(points, k) / points[:, k]
        # At p = 1 the logarithm is zero: the elasticity is infinite, but the derivative is finite.
        rest = Term(
            self.coefficient,
            tuple(0.0 if one == k else i for one, i in enumerate(self.powers)),
            tuple(0.0 if one == k else j for one, j in enumerate(self.logs)),
        )
        return rest.values(points) * factor_derivatives(points[:, k], (self.powers[k], self.logs[k]))

    def elasticity(self, points: Floats, k: int) -> Floats:
        """Return the elasticity ``d ln(term) / d ln(p_k)`` at points (n, d), (n,)."""
        x = points[:, k]
        # The sum of the factors' elasticities, i + j / ln(p_k) + 2 (Q l)_k, with l = ln(p).
        result = np.full(len(points), self.powers[k])
        if self.logs[k]:
            result = result + self.logs[k] / np.log(x)
        if self.curvature is not None:
            result = result + 2.0 * np.log(points) @ np.array(self.curvature)[k]
        return result


@dataclass(frozen=True)
class Formula:
    r"""A sum of terms over named parameters.

    Examples
    --------
    >>> formula = Formula(("cores",), (Term(21000.0, (-1.0,), (0.0,)), Term(0.5, (0.0,), (1.0,))))
    >>> print(formula)
    21000 · cores^-1 + 0.5 · log2(cores)
    >>> formula({"cores": [64]})
    array([331.125])
    >>> formula.dominating()
    'O(log2(cores))'
    >>> formula.shares({"cores": 64})
    [('21000 · cores^-1', 0.990...), ('0.5 · log2(cores)', 0.009...)]
    >>> formula.latex()
    '2.1 \\cdot 10^{4} \\, \\mathrm{cores}^{-1} + 0.5 \\, \\log_2(\\mathrm{cores})'
    """

    names: tuple[str, ...]
    terms: tuple[Term, ...]

    @classmethod
    def total(cls, names: Sequence[str], terms: Sequence[Term]) -> Formula:
        """Build a formula from terms: add up terms of equal shape, and drop terms of coefficient 0."""
        sums: dict[tuple[object, ...], Term] = {}
        for term in terms:
            before = sums.get(term.shape)
            coefficient = term.coefficient + (before.coefficient if before else 0.0)
            sums[term.shape] = Term(coefficient, term.powers, term.logs, term.curvature)
        return cls(tuple(names), tuple(t for t in sums.values() if t.coefficient))

    # ---- values -----------------------------------------------------------------------------------------------

    def evaluate(self, points: ArrayLike) -> Floats:
        """Return the values at points (n, d), shape (n,)."""
        array = self._points(points)
        return np.asarray(sum((t.values(array) for t in self.terms), np.zeros(len(array))), dtype=np.float64)

    def __call__(self, configurations: Mapping[str, ArrayLike]) -> Floats:
        """Return the values for columns with the names of the parameters, shape (n,)."""
        return self.evaluate(self._columns(configurations))

    def derivative(self, points: ArrayLike, name: str | None = None) -> Floats:
        """Return the derivative with respect to one parameter at points (n, d), shape (n,).

        `name` may be left out if there is one parameter only.

        Examples
        --------
        >>> Formula(("n",), (Term(3.0, (2.0,), (0.0,)),)).derivative([[5.0]])
        array([30.])
        """
        array, k = self._points(points), self._index(name)
        parts = (t.derivative(array, k) for t in self.terms)
        return np.asarray(sum(parts, np.zeros(len(array))), dtype=np.float64)

    def _points(self, points: ArrayLike) -> Floats:
        array = np.asarray(points, dtype=np.float64)
        if array.ndim == 1 and len(self.names) == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[1] != len(self.names):
            raise InputError(f"points must have shape (n, {len(self.names)}), but got {array.shape}")
        return array

    def _columns(self, configurations: Mapping[str, ArrayLike]) -> Floats:
        missing = [name for name in self.names if name not in configurations]
        if missing:
            raise InputError(f"the formula needs {', '.join(self.names)}, but {missing[0]!r} is missing")
        columns = [np.ravel(np.asarray(configurations[name], dtype=np.float64)) for name in self.names]
        return np.column_stack(np.broadcast_arrays(*columns))

    def _index(self, name: str | None) -> int:
        if name is None and len(self.names) == 1:
            return 0
        if name not in self.names:
            raise InputError(f"name must be one of {', '.join(self.names)}, but got {name!r}")
        return self.names.index(name)

    # ---- for people -------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return _join([_plain(term, self.names) for term in self._ordered()]) or "0"

    def latex(self) -> str:
        """Return the formula in LaTeX."""
        return _join([_latex(term, self.names) for term in self._ordered()]) or "0"

    def _ordered(self) -> list[Term]:
        return sorted(self.terms, key=lambda t: not any((*t.powers, *t.logs, t.curvature)))

    def shares(self, configuration: Mapping[str, float]) -> list[tuple[str, float]]:
        """Return the terms at one configuration with their shares of the sum of absolute values, the largest first."""
        point = self._columns({name: [value] for name, value in configuration.items()})
        sizes = [abs(float(term.values(point)[0])) for term in self.terms]
        total = sum(sizes) or 1.0
        listed = [(_plain(term, self.names), size / total) for term, size in zip(self.terms, sizes, strict=True)]
        return sorted(listed, key=lambda item: -item[1])

    def dominating(self) -> str:
        """Return the asymptotic growth in O notation: all terms that no other term outgrows."""
        kept = [t for t in self.terms if not any(_outgrows(other, t) for other in self.terms)]
        shapes = dict.fromkeys(" · ".join(_factors(t, self.names, _PLAIN)) or "1" for t in kept)
        return f"O({' + '.join(shapes) or '0'})"

    # ---- for the assignment of cores --------------------------------------------------------------------------

    def monotone_pieces(self, low: int, high: int) -> list[Piece]:
        """Split the whole numbers from `low` to `high` into ranges on which the formula is certainly monotone.

        Interval arithmetic bounds the derivative on a range. A range is halved until the sign of the derivative is
        certain, or until it holds few numbers; then the formula is evaluated at each number. Only for formulas of one
        parameter.

        Returns
        -------
        list of (low, high, slope)
            The ranges in ascending order; each number is in exactly one. Values in a range rise if slope is 1, fall if
            it is -1, and are constant if it is 0. Minima therefore lie at ends of ranges.

        Raises
        ------
        InputError
            If there are several parameters, or `low` is below 1.

        Examples
        --------
        >>> formula = Formula(("n",), (Term(100.0, (-1.0,), (0.0,)), Term(1.0, (1.0,), (0.0,))))
        >>> formula.monotone_pieces(1, 1_000_000)
        [(1, 10, -1), (11, 1000000, 1)]
        """
        if len(self.names) != 1:
            raise InputError(f"monotone pieces need one parameter, but the formula has {', '.join(self.names)}")
        if not 1 <= low <= high:
            raise InputError(f"monotone pieces need 1 <= low <= high, but got {low} and {high}")
        return interval_arithmetic.monotone_pieces(
            [(t.coefficient, t.powers[0], t.logs[0], t.curvature[0][0] if t.curvature else 0.0) for t in self.terms],
            lambda x: self.evaluate(x[:, None]),
            int(low),
            int(high),
        )


def _outgrows(other: Term, term: Term) -> bool:
    """Return whether `other` grows at least as fast as `term` in every parameter, and faster in at least one."""
    faster = False
    for k in range(len(term.powers)):
        a, b = _growth(other, k), _growth(term, k)
        if a < b:
            return False
        faster |= a > b
    return faster


def _growth(term: Term, k: int) -> tuple[float, float, float]:
    return (term.curvature[k][k] if term.curvature else 0.0, term.powers[k], term.logs[k])


class _Notation(NamedTuple):
    """Format patterns of factors: each takes a parameter's name, and some an exponent."""

    power: str
    log: str
    log_power: str
    natural_log: str
    exponential: str


_PLAIN = _Notation("{}^{:.4g}", "log2({})", "log2({})^{:.4g}", "ln({})", "exp({})")
_LATEX = _Notation("{}^{{{:.4g}}}", r"\log_2({})", r"\log_2^{{{1:.4g}}}({0})", r"\ln({})", r"\exp\left({}\right)")


def _factors(term: Term, names: Sequence[str], notation: _Notation) -> list[str]:
    """Return a term's factors as text, without the coefficient; `names` are the parameters' symbols."""
    parts = []
    for name, i, j in zip(names, term.powers, term.logs, strict=True):
        if i:
            parts.append(name if i == 1 else notation.power.format(name, i))
        if j:
            parts.append((notation.log if j == 1 else notation.log_power).format(name, j))
    if term.curvature is not None:
        logs, squares = [notation.natural_log.format(name) for name in names], []
        for a, one in enumerate(logs):
            for b, other in enumerate(logs[a:], a):
                # The matrix is symmetric: it holds the coefficient of a mixed product twice.
                q = term.curvature[a][b] * (1 if a == b else 2)
                if q:
                    squares.append(f"{q:.4g} {one}^2" if a == b else f"{q:.4g} {one} {other}")
        parts.append(notation.exponential.format(_join(squares)))
    return parts


def _plain(term: Term, names: Sequence[str]) -> str:
    return " · ".join([_number(term.coefficient), *_factors(term, names, _PLAIN)])


def _number(value: float) -> str:
    """Return four digits, without an exponent up to a million: 12680, not 1.268e+04."""
    return f"{float(f'{value:.4g}'):.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"


def _latex(term: Term, names: Sequence[str]) -> str:
    mantissa, _, exponent = f"{term.coefficient:.4g}".partition("e")
    coefficient = mantissa + (f" \\cdot 10^{{{int(exponent)}}}" if exponent else "")
    symbols = ["\\mathrm{" + name.replace("_", r"\_") + "}" for name in names]
    return " \\, ".join([coefficient, *_factors(term, symbols, _LATEX)])


def _join(parts: Sequence[str]) -> str:
    return " + ".join(parts).replace("+ -", "- ")
