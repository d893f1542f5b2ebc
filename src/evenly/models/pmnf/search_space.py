"""Choice of the PMNF candidates to search: all, or combinations of factors that single-parameter fits suggest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.pmnf.problem import Candidate, Problem, SearchReport
from evenly.models.pmnf.search import search_all
from evenly.models.pmnf.terms import TermSet, all_factors, without_poles
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.factors import Factor

__all__ = ["BUDGETS", "Budget", "find", "usable_factors"]

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Budget:
    """Limits on the size of a search.

    Attributes
    ----------
    full : int
        Largest number of candidates for which an automatic search is full.
    combined : int
        Largest number of candidates in the second stage of a hierarchical search.
    factors : int
        Largest number of factors of each parameter in that stage.
    """

    full: int
    combined: int
    factors: int


#: At about ten million candidates a second, full searches take below a second, seconds, and minutes.
BUDGETS = {
    "quick": Budget(2_000_000, 500_000, 8),
    "normal": Budget(50_000_000, 5_000_000, 13),
    "thorough": Budget(1_000_000_000, 100_000_000, 20),
}
#: Common factors of work, communication trees and strong scaling. Fits of one parameter alone miss some of them: for
#: example, perfect scaling plus a logarithm looks like a weaker power.
_COMMON: tuple[Factor, ...] = (
    (-1.0, 0.0),
    (0.0, 1.0),
    (1.0, 0.0),
    (0.5, 0.0),
    (1.0, 1.0),
    (-0.5, 0.0),
    (2.0, 0.0),
)
#: Number of candidates that a search returns at most.
_KEEP = 128
_ONE: Factor = (0.0, 0.0)
#: Fits of one parameter alone have no conditions.
_NO_CONDITIONS = Conditions(np.zeros((0, 1)), {}, False)


def usable_factors(
    points: Floats,
    exponents: Sequence[float],
    log_exponents: Sequence[float],
    asked: Mapping[str, tuple[float, float]],
) -> tuple[tuple[tuple[Factor, ...], ...], int]:
    """Return each parameter's factors without a pole on its prediction range, and the number of all terms.

    The number includes terms with poles. A parameter with a single measured value has the factor 1 only, since its
    effect can't be distinguished from the constant.
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
) -> tuple[list[Candidate], TermSet, SearchReport]:
    """Search for the best candidates of 1 to n terms.

    Parameters
    ----------
    problem, conditions
        The measured runs, and the conditions that candidates must meet.
    factors : tuple of tuples
        Each parameter's factors without poles.
    n_terms : int
        Number of terms including those with poles, for the counts.
    n : int
        Number of terms of a candidate besides the constant; with 0 there are no candidates.
    method : {"auto", "full", "hierarchical", "golden-section"}
        See `PMNF` (``search``).
    budget : Budget
        Limits on the size of the search.
    progress : callable, optional
        Called with the share of the search that is done, 0 to 1.

    Returns
    -------
    candidates, terms, search
        The best candidates of n and of fewer terms, without the constant term; the terms by whose numbers they are
        given; and the report of the search.
    """
    terms = TermSet(factors)
    size = math.comb(terms.size, min(n, terms.size))
    if method == "auto":
        method = "full" if size <= budget.full else "hierarchical"
    search = SearchReport(method, asked=math.comb(n_terms, min(n, n_terms)) if n else 0)
    if n == 0:
        return [], terms, search
    if method == "full":
        search.add("pole", search.asked - size)
        search.considered += search.asked - size
    else:
        terms = TermSet(_suggested(problem, factors, n, search, budget, golden=method == "golden-section"))
    found = search_all(problem, terms, min(n, len(terms)), conditions, keep=_KEEP, search=search, progress=progress)
    for fewer in range(1, min(n, len(terms))):
        # The full search counted these already, as candidates of n terms with the constant term.
        found += search_all(problem, terms, fewer, conditions, keep=_KEEP, search=SearchReport("full", 0))
    if progress is not None:
        progress(1.0)
    return _without_constant(found, terms.constant()), terms, search


def _without_constant(found: list[Candidate], constant: int | None) -> list[Candidate]:
    distinct: dict[tuple[int, ...], Candidate] = {}
    for candidate in found:
        numbers = tuple(sorted(k for k in candidate.terms if k != constant))
        distinct.setdefault(numbers, Candidate(candidate.loss, numbers))
    # The candidate without terms is a constant: a power law of exponent 0, and the rivals include a power law.
    distinct.pop((), None)
    return sorted(distinct.values(), key=lambda c: (c.loss, c.terms))


def _suggested(
    problem: Problem,
    factors: tuple[tuple[Factor, ...], ...],
    n: int,
    search: SearchReport,
    budget: Budget,
    *,
    golden: bool,
) -> tuple[tuple[Factor, ...], ...]:
    """Return each parameter's most promising factors, mixed with common ones, as many as the budget can combine."""
    ranked = []
    first_stage = SearchReport("full", 0)
    for k, mine in enumerate(factors):
        alone = replace(problem, points=problem.points[:, [k]], values=_adjusted(problem, k))
        choose = _by_golden_section if golden else _by_all_pairs
        found = choose(alone, mine, n, first_stage)
        common = [factor for factor in _COMMON if factor in mine]
        # In turn, two factors that the fits suggest and a common one.
        turns = itertools.zip_longest(found[::2], found[1::2], common)
        ranked.append([f for f in dict.fromkeys(itertools.chain(*turns)) if f is not None and f != _ONE])
    search.first_stage = first_stage.considered
    # Reduce the number of factors until the budget covers all combinations.
    most = budget.factors
    while most > 1 and math.comb(math.prod(1 + min(most, len(r)) for r in ranked), n) > budget.combined:
        most -= 1
    return tuple((_ONE, *r[:most]) for r in ranked)


def _adjusted(problem: Problem, k: int) -> Floats:
    """Return the values (n_runs,) with the effects of all parameters but the k-th divided out by a power law."""
    # Least squares of ln(y) on ln(x), or on x if it isn't above zero. All effects but the k-th are subtracted.
    x = problem.points
    z = np.where(x.min(axis=0) > 0, np.log(np.where(x > 0, x, 1.0)), x)
    z = z - z.mean(axis=0)
    logs = np.log(problem.values)
    # Parameters that follow from others, but for rounding, share their slopes.
    slopes = np.linalg.lstsq(z, logs - logs.mean(), rcond=1e-4)[0]
    slopes[k] = 0.0
    return np.asarray(np.exp(logs - z @ slopes), dtype=np.float64)


def _by_all_pairs(alone: Problem, factors: tuple[Factor, ...], n: int, search: SearchReport) -> list[Factor]:
    """Rank the factors of one parameter by the best sums of at most min(n, 2) terms in which they occur."""
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


def _by_golden_section(alone: Problem, factors: tuple[Factor, ...], n: int, search: SearchReport) -> list[Factor]:  # noqa: ARG001
    """Rank the factors that a golden-section search along their growth evaluates (section 2.2.1 of the thesis).

    Growth is the elasticity ``x f' / f = i + j / ln(x)`` at the largest value of x. It gives the same order as the
    derivative, but needs no fit.
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

    # Golden-section search over the factors' ranks: the bracket shrinks to the side of the smaller loss.
    low, high = 0, len(by_growth) - 1
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 2:
        left, right = round(high - ratio * (high - low)), round(low + ratio * (high - low))
        right = max(right, left + 1)
        low, high = (low, right) if loss(left) <= loss(right) else (left, high)
    for index in range(low, high + 1):
        loss(index)
    return [by_growth[index] for index in sorted(losses, key=lambda k: (losses[k], k))]
