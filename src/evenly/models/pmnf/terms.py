"""The terms that a PMNF search may combine: products over the parameters of factors ``p^i · log2(p)^j``.

A `TermSet` stores one list of factors per parameter; its terms are all products of one factor from each list. So even
millions of terms need little memory. Terms are identified by their number and evaluated in blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.array_types import Floats
from evenly.models.scaling_laws.factors import Factor, factor_derivatives, factor_values

__all__ = ["TermSet", "all_factors", "without_poles"]


def all_factors(exponents: Sequence[float], log_exponents: Sequence[float]) -> list[Factor]:
    """Return all pairs (i, j) of exponents, sorted, with the constant factor (0, 0) first if it is one of them."""
    # The set removes duplicates, such as 1 and 1.0.
    pairs = {(float(i), float(j)) for i in exponents for j in log_exponents}
    return sorted(pairs, key=lambda f: (f != (0.0, 0.0), f))


def without_poles(factors: Sequence[Factor], measured: Floats, low: float, high: float) -> list[Factor]:
    """Return the factors that are finite at the measured values and on the whole range from `low` to `high`.

    A negative power j of the logarithm has a pole at 1, where ``log2(1) = 0``. Logarithms and negative powers aren't
    finite at 0, and logarithms and fractional powers aren't defined below 0.
    """
    # Poles can lie at 1 and at 0 only. If a factor is undefined below 0, it is so at `low`.
    probes = np.concatenate([measured, [low, high], [1.0] if low <= 1.0 <= high else [], [0.0] if low <= 0.0 else []])
    return [factor for factor in factors if np.isfinite(factor_values(probes, factor)).all()]


@dataclass(frozen=True)
class TermSet:
    """The set of all products of one factor per parameter.

    Examples
    --------
    >>> terms = TermSet((((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (0.0, 1.0))))
    >>> len(terms), terms.factors_of(3)
    (4, ((1.0, 0.0), (0.0, 1.0)))
    >>> terms.from_tables(terms.tables(np.array([[3.0, 8.0]])), np.array([1, 3]))
    array([[3.],
           [9.]])
    """

    factors: tuple[tuple[Factor, ...], ...]

    @property
    def size(self) -> int:
        """Number of terms, which may be too large for `len`."""
        return math.prod(len(f) for f in self.factors)

    def __len__(self) -> int:
        return self.size

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(f) for f in self.factors)

    def factors_of(self, number: int) -> tuple[Factor, ...]:
        """Return the exponents of one term, one pair per parameter."""
        return tuple(f[k] for f, k in zip(self.factors, np.unravel_index(number, self._shape), strict=True))

    def constant(self) -> int | None:
        """Return the number of the constant term 1, or None if the set has none."""
        if any((0.0, 0.0) not in f for f in self.factors):
            return None
        return int(np.ravel_multi_index([f.index((0.0, 0.0)) for f in self.factors], self._shape))

    def tables(self, points: Floats, derivative: int | None = None) -> list[Floats]:
        """Return the values of each parameter's factors at `points` (n, d): one array (n_factors, n) per parameter.

        For the parameter number `derivative`, its factors' derivatives are returned.
        """
        # Each factor depends on one parameter, so the product rule replaces one factor by its derivative.
        rules = [factor_derivatives if k == derivative else factor_values for k in range(len(self.factors))]
        return [
            np.array([rule(points[:, k], factor) for factor in self.factors[k]]).reshape(len(self.factors[k]), -1)
            for k, rule in enumerate(rules)
        ]

    def from_tables(self, tables: list[Floats], numbers: NDArray[Any]) -> Floats:
        """Return the values of terms, (n_terms, n), from the result of `tables`."""
        # A term's number encodes the numbers of its factors in a mixed radix. The term is the product of their rows.
        index = np.unravel_index(numbers, self._shape)
        result: Floats = tables[0][index[0]].copy()
        for table, rows in zip(tables[1:], index[1:], strict=True):
            result *= table[rows]
        return result
