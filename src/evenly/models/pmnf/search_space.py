"""Which candidates of the PMNF are looked at: all, or those that single-parameter fits suggest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenly.models.pmnf.problem import Candidate, Problem, Search
from evenly.models.pmnf.search import search_all
from evenly.models.pmnf.terms import TermSet, all_factors, without_poles
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.factors import Factor

__all__ = ["BUDGETS", "Budget", "find", "usable_factors"]

Floats = NDArray[np.float64]
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Budget:
    """What a search may cost.

    Attributes
    ----------
    full : int
        Candidates up to which an automatic search is full.
    combined : int
        Candidates in the second stage of a hierarchical search.
    factors : int
        Factors that each parameter brings to that stage.
    """

    full: int
    combined: int
    factors: int


#: At some ten million candidates a second: blinks, seconds, minutes.
BUDGETS = {
    "quick": Budget(2_000_000, 500_000, 8),
    "normal": Budget(50_000_000, 5_000_000, 13),
    "thorough": Budget(1_000_000_000, 100_000_000, 20),
}
#: What work, communication trees and strong scaling bring about. Fits of one parameter alone miss some of these where
#: two terms mix: perfect scaling and a logarithm together look like a weaker power.
_COMMON: tuple[Factor, ...] = (
    (-1.0, 0.0),
    (0.0, 1.0),
    (1.0, 0.0),
    (0.5, 0.0),
    (1.0, 1.0),
    (-0.5, 0.0),
    (2.0, 0.0),
)
#: Candidates that a search returns.
_KEEP = 128
_ONE: Factor = (0.0, 0.0)
#: For fits of one parameter.
_NO_CONDITIONS = Conditions(np.zeros((0, 1)), {}, False)


def usable_factors(
    points: Floats,
    exponents: Sequence[float],
    log_exponents: Sequence[float],
    asked: Mapping[str, tuple[float, float]],
) -> tuple[tuple[tuple[Factor, ...], ...], int]:
    """Return each parameter's factors without poles on the range asked, and the number of terms before that.

    A parameter with one measured value keeps only the factor 1: its effect can't be told from the constant.
    """
    everything = all_factors(exponents, log_exponents)
    kept = []
    for column, (low, high) in zip(points.T, asked.values(), strict=True):
        factors = without_poles(everything, column, low, high)
        kept.append((_ONE,) if np.ptp(column) == 0 else tuple(factors) or (_ONE,))
    return tuple(kept), len(everything) ** points.shape[1]


def find(
    problem: Problem,
    factors: tuple[tuple[Factor, ...], ...],
    n_terms: int,
    n: int,
    conditions: Conditions,
    *,
    method: str,
    budget: Budget,
    progress: Progress | None,
) -> tuple[list[Candidate], TermSet, Search]:
    """Search candidates of 1 … n terms.

    Parameters
    ----------
    problem, conditions
        What was measured, what must hold.
    factors : tuple of tuples
        Each parameter's usable factors.
    n_terms : int
        Terms before those with poles were removed, for the count.
    n : int
        Terms of a candidate beside the constant; 0 finds nothing.
    method : {"auto", "full", "hierarchical", "golden-section"}
    budget : Budget
    progress : callable, optional

    Returns
    -------
    candidates, terms, search
        Candidates of n and of fewer terms, each without the constant term.
    """
    # Full where the effort allows; else only what fits of one parameter suggest is combined.
    terms = TermSet(factors)
    size = math.comb(terms.size, min(n, terms.size))
    if method == "auto":
        method = "full" if size <= budget.full else "hierarchical"
    search = Search(method, asked=math.comb(n_terms, min(n, n_terms)) if n else 0)
    if n == 0:
        return [], terms, search
    if method == "full":
        search.add("pole", search.asked - size)
        search.considered += search.asked - size
    else:
        terms = TermSet(_suggested(problem, factors, n, search, budget, golden=method == "golden-section"))
    found = search_all(problem, terms, min(n, len(terms)), conditions, keep=_KEEP, search=search, progress=progress)
    for fewer in range(1, min(n, len(terms))):
        # Counted already: the constant term makes them candidates of n terms.
        found += search_all(problem, terms, fewer, conditions, keep=_KEEP, search=Search("full", 0))
    if progress is not None:
        progress(1.0)
    return _without_constant(found, terms.constant()), terms, search


def _without_constant(found: list[Candidate], constant: int | None) -> list[Candidate]:
    distinct: dict[tuple[int, ...], Candidate] = {}
    for candidate in found:
        numbers = tuple(sorted(k for k in candidate.terms if k != constant))
        distinct.setdefault(numbers, Candidate(candidate.loss, numbers))
    # No term at all is a power law of exponent 0, which is among the rivals.
    distinct.pop((), None)
    return sorted(distinct.values(), key=lambda c: (c.loss, c.terms))


def _suggested(
    problem: Problem,
    factors: tuple[tuple[Factor, ...], ...],
    n: int,
    search: Search,
    budget: Budget,
    *,
    golden: bool,
) -> tuple[tuple[Factor, ...], ...]:
    """Return each parameter's most promising factors, by turns with common ones, as many as can be combined."""
    ranked = []
    first_stage = Search("full", 0)
    for k, mine in enumerate(factors):
        alone = replace(problem, points=problem.points[:, [k]], values=_adjusted(problem, k))
        choose = _by_golden_section if golden else _by_all_pairs
        found = choose(alone, mine, n, first_stage)
        common = [factor for factor in _COMMON if factor in mine]
        # Two that the fits suggest, then a common one.
        turns = itertools.zip_longest(found[::2], found[1::2], common)
        ranked.append([f for f in dict.fromkeys(itertools.chain(*turns)) if f is not None and f != _ONE])
    search.first_stage = first_stage.considered
    # As many of each parameter as the budget can combine.
    most = budget.factors
    while most > 1 and math.comb(math.prod(1 + min(most, len(r)) for r in ranked), n) > budget.combined:
        most -= 1
    return tuple((_ONE, *r[:most]) for r in ranked)


def _adjusted(problem: Problem, k: int) -> Floats:
    """Divide out, by a power law, what the parameters other than the k-th do."""
    # Least squares of ln(y) on ln(x), or on x where it isn't above zero; only the k-th slope stays in the values.
    x = problem.points
    z = np.where(x.min(axis=0) > 0, np.log(np.where(x > 0, x, 1.0)), x)
    z = z - z.mean(axis=0)
    logs = np.log(problem.values)
    slopes = np.linalg.lstsq(z, logs - logs.mean(), rcond=1e-9)[0]
    slopes[k] = 0.0
    return np.asarray(np.exp(logs - z @ slopes), dtype=np.float64)


def _by_all_pairs(alone: Problem, factors: tuple[Factor, ...], n: int, search: Search) -> list[Factor]:
    """Rank factors by the best combinations, of as many terms as asked but two at most, that they are part of."""
    terms = TermSet((factors,))
    ranked: dict[Factor, None] = {}
    lists = [
        search_all(alone, terms, k, _NO_CONDITIONS, keep=_KEEP, search=search)
        for k in range(1, min(n, 2, len(terms)) + 1)
    ]
    for candidates in itertools.zip_longest(*lists):
        for candidate in candidates:
            if candidate is not None:
                ranked.update(dict.fromkeys(factors[number] for number in candidate.terms))
    return list(ranked)


def _by_golden_section(alone: Problem, factors: tuple[Factor, ...], n: int, search: Search) -> list[Factor]:  # noqa: ARG001
    """Rank the factors that a golden-section search along their growth looks at (section 2.2.1 of the thesis).

    Growth is the elasticity ``i + j / ln(x)`` at the largest value: ``x f' / f``, which orders as the derivative does
    but needs no fit.
    """
    largest = float(alone.points.max())
    by_growth = sorted(factors, key=lambda f: f[0] + (f[1] / math.log(largest) if largest > 1 else f[1]))
    losses: dict[int, float] = {}

    def loss(index: int) -> float:
        if index not in losses:
            terms = TermSet(((by_growth[index],),))
            found = search_all(alone, terms, 1, _NO_CONDITIONS, keep=1, search=search)
            losses[index] = found[0].loss if found else math.inf
        return losses[index]

    # Golden-section search over whole numbers: the bracket shrinks to the side of the smaller loss.
    low, high = 0, len(by_growth) - 1
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 2:
        left, right = round(high - ratio * (high - low)), round(low + ratio * (high - low))
        right = max(right, left + 1)
        low, high = (low, right) if loss(left) <= loss(right) else (left, high)
    for index in range(low, high + 1):
        loss(index)
    return [by_growth[index] for index in sorted(losses, key=lambda k: (losses[k], k))]
