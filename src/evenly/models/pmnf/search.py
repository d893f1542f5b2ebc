"""Exhaustive search for the PMNF candidates of the smallest loss on left-out runs, in bounded memory.

`search_all` evaluates every combination of n terms and returns the best. Columns of terms are computed in blocks, and
inner products by BLAS for one pair of blocks at a time. The kernels of `evenly.models.pmnf.search_kernels` compute the
losses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.pmnf.problem import Candidate, Problem, SearchReport
from evenly.models.pmnf.terms import TermSet
from evenly.models.scaling_laws.conditions import Conditions
from evenly.threads import on_threads, thread_count

__all__ = ["search_all"]

Progress = Callable[[float], None]

#: Number of terms in a block, and number of blocks that are cached.
_BLOCK = 1024
_KEPT_BLOCKS = 12
#: A column of unit length counts as linearly dependent if its squared length after projection is at most this.
_LEAST_LENGTH2 = 1e-9


class Block(NamedTuple):
    """Columns of B terms at m runs, projected and scaled to unit length, and their parts in G conditions.

    Attributes
    ----------
    columns : array (B, m)
        The columns.
    diagonal : array (B,)
        Diagonal of the normal matrix: 1 plus the ridge (relative to the squared length of the column).
    products : array (B,)
        Inner products of the columns with the response.
    conditions : array (B, G)
        What each column adds to each condition, per unit of its coefficient.
    usable : array (B,)
        Whether the column is linearly independent of the columns projected out.
    offset : int
        Number of the first term.
    """

    columns: Floats
    diagonal: Floats
    products: Floats
    conditions: Floats
    usable: Flags
    offset: int


class Target(NamedTuple):
    """The response z (m,), `free` (m,), `weight` (m,) and `scale` (m,) as in `loss_kernels`, and data for bounds.

    Attributes
    ----------
    rss : float
        Squared length of the response.
    least_weight, least_scale : float
        The smallest weight above zero in the loss, and the smallest scale of such a run.
    prune : bool
        Whether the bound from the normal equations is valid: there is no ridge, and no run has weight 0.
    """

    z: Floats
    free: Floats
    weight: Floats
    scale: Floats
    rss: float
    least_weight: float
    least_scale: float
    prune: bool


class ConditionRows(NamedTuple):
    """The G values and slopes that must be above zero: `base` (G,) is the part of the columns projected out.

    The first `n_positive` rows are values, the others are slopes.
    """

    base: Floats
    n_positive: int


class _TermColumns:
    """Columns of terms and their rows of conditions, in blocks, with the constant and a prefix projected out.

    A column is ``sqrt(w_i) t(x_i)`` for m runs. A row of conditions is the part of the term in each of the G values and
    slopes that must be above zero. Both undergo the same linear operations, so coefficients of the columns are valid
    for the rows too.
    """

    def __init__(self, problem: Problem, terms: TermSet, conditions: Conditions) -> None:
        self.problem, self.terms, self.ridge = problem, terms, problem.ridge
        self.constant = terms.constant()
        self._tables = terms.tables(problem.points)
        self._condition_tables: list[tuple[float, list[Floats]]] = []
        if conditions.positive:
            self._condition_tables.append((1.0, terms.tables(conditions.points)))
        for parameter, sign in conditions.signs.items():
            self._condition_tables.append((sign, terms.tables(conditions.points, parameter)))
        n = len(conditions.points)
        self.n_positive = n if conditions.positive else 0
        # The constant's column at unit length, (m,); it adds to values but not to slopes.
        length = math.sqrt(float(np.sum(problem.roots**2)))
        self.intercept = problem.roots / length
        ones = np.full(self.n_positive, 1 / length)
        self.intercept_conditions = np.concatenate([ones, np.zeros(n * len(conditions.signs))])
        self._kept: dict[int, tuple[Floats, Floats, Flags]] = {}
        self.set_prefix(())

    def set_prefix(self, prefix: tuple[int, ...]) -> None:
        """Project the constant and the terms in `prefix` out of the response, the conditions and the columns.

        After this, a candidate is a least-squares fit of two columns. With a ridge, the problem has one more row per
        term of the prefix. This row holds sqrt(ridge) in that term's column and zero in the response.
        """
        prefix = tuple(number for number in prefix if number != self.constant)
        z = self.problem.roots * self.problem.response
        along = float(self.intercept @ z)
        self.z = np.concatenate([z - along * self.intercept, np.zeros(len(prefix) if self.ridge else 0)])
        self.base = along * self.intercept_conditions
        self.free = 1.0 - self.intercept**2
        self.fixed = [self.intercept]
        self._projections: list[tuple[Floats, Floats]] = []
        self.feasible = True
        for position, number in enumerate(prefix):
            self._project(number, position)

    def _project(self, number: int, position: int) -> None:
        """Project one more term of the prefix out of the response and the conditions, and update the leverages."""
        columns, conditions, usable = self._raw(np.array([number]))
        m, row = columns.shape[1], conditions[0].copy()
        column = np.concatenate([columns[0], np.zeros(len(self.z) - m)])
        if self.ridge:
            column[m + position] = math.sqrt(self.ridge)
        # Modified Gram-Schmidt against the terms before it.
        for q, q_conditions in self._projections:
            along = float(q @ column)
            column = column - along * q
            row -= along * q_conditions
        length = math.sqrt(float(column @ column))
        if not usable[0] or length**2 < _LEAST_LENGTH2:
            self.feasible = False
            return
        column, row = column / length, row / length
        along = float(column @ self.z)
        self.z = self.z - along * column
        self.base = self.base + along * row
        self.free = self.free - column[:m] ** 2
        self.fixed.append(column[:m])
        self._projections.append((column, row))

    def _raw(self, numbers: NDArray[Any]) -> tuple[Floats, Floats, Flags]:
        """Return columns (B, m) of unit length, orthogonal to the constant, conditions (B, G) and usable terms (B,)."""
        columns = self.terms.from_tables(self._tables, numbers) * self.problem.roots
        rows = np.concatenate(
            [sign * self.terms.from_tables(tables, numbers) for sign, tables in self._condition_tables]
            or [np.zeros((len(numbers), 0))],
            axis=1,
        )
        with np.errstate(all="ignore"):
            # Project twice: the first projection leaves rounding errors of the constant's size.
            for time in range(2):
                length = np.sqrt(np.einsum("ij,ij->i", columns, columns))[:, None]
                columns, rows = columns / length, rows / length
                along = (columns @ self.intercept)[:, None]
                columns = columns - along * self.intercept
                rows = rows - along * self.intercept_conditions
                squared = np.einsum("ij,ij->i", columns, columns)
                if time == 0:
                    usable = squared > _LEAST_LENGTH2
            columns, rows = columns / np.sqrt(squared)[:, None], rows / np.sqrt(squared)[:, None]
        usable &= np.isfinite(columns).all(axis=1) & np.isfinite(rows).all(axis=1)
        columns[~usable], rows[~usable] = 0.0, 0.0
        # The constant's column is zero here. A candidate with the constant as a term is a candidate of fewer terms.
        if self.constant is not None:
            usable |= numbers == self.constant
        return columns, rows, usable

    def block(self, start: int) -> Block:
        """Return the block of terms from number `start` on, with the prefix projected out."""
        if start not in self._kept:
            if len(self._kept) >= _KEPT_BLOCKS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[start] = self._raw(np.arange(start, min(start + _BLOCK, len(self.terms))))
        columns, rows, usable = self._kept[start]
        diagonal = np.full(len(columns), 1.0 + self.ridge)
        if self._projections:
            columns = np.concatenate([columns, np.zeros((len(columns), len(self.z) - columns.shape[1]))], axis=1)
            rows = rows.copy()
            for q, q_conditions in self._projections:
                along = (columns @ q)[:, None]
                columns = columns - along * q
                rows -= along * q_conditions
            squared = np.einsum("ij,ij->i", columns, columns)
            null = np.zeros(len(columns), dtype=np.bool_)
            if self.constant is not None and start <= self.constant < start + len(columns):
                null[self.constant - start] = True
            usable = usable & ((squared > _LEAST_LENGTH2) | null)
            length2 = np.where(usable & ~null, squared, 1.0)
            columns, rows = columns / np.sqrt(length2)[:, None], rows / np.sqrt(length2)[:, None]
            # The ridge applies to the coefficients of the columns before this scaling, so it is divided by length².
            diagonal = 1.0 + self.ridge / length2
        return Block(
            np.ascontiguousarray(columns), diagonal, columns @ self.z, np.ascontiguousarray(rows), usable, start
        )


class _Best:
    """The best candidates so far: one heap per thread, and the list that heaps are merged into."""

    def __init__(self, keep: int, threads: int) -> None:
        self.keep = keep
        self.found: list[Candidate] = []
        self.heaps = (
            np.full((threads, keep), np.inf),
            np.zeros((threads, keep), dtype=np.int64),
            np.zeros((threads, keep), dtype=np.int64),
        )

    @property
    def cut(self) -> float:
        """The worst loss of a full list (huge before); candidates with this loss or more are dropped."""
        return self.found[-1].loss if len(self.found) >= self.keep else 1e28

    def merge(self, prefix: tuple[int, ...], nothing: int) -> None:
        """Move the candidates of all threads into one sorted list; the term number `nothing` means no second term."""
        losses, firsts, seconds = self.heaps
        for t, k in np.argwhere(np.isfinite(losses)):
            pair = (int(firsts[t, k]), int(seconds[t, k]))
            self.found.append(Candidate(float(losses[t, k]), (*prefix, *(x for x in pair if x != nothing))))
        losses.fill(np.inf)
        self.found.sort(key=lambda c: (c.loss, c.terms))
        del self.found[self.keep :]


def search_all(
    problem: Problem,
    terms: TermSet,
    n: int,
    conditions: Conditions,
    *,
    keep: int = 128,
    search: SearchReport,
    progress: Progress | None = None,
) -> list[Candidate]:
    """Return the `keep` best of all combinations of `n` >= 1 terms, best first.

    Parameters
    ----------
    problem, terms, conditions
        The measured runs, the terms to combine, and the conditions that candidates must meet.
    n : int
        Number of terms besides the constant.
    keep : int
        Largest number of candidates to return.
    search : SearchReport
        Its counts are increased in place.
    progress : callable, optional
        Called with the share of the search that is done, 0 to 1.

    Returns
    -------
    list of Candidate
        ``loss`` is the weighted mean over runs.
    """
    from evenly.models.pmnf import search_kernels as kernels

    columns = _TermColumns(problem.extremes_first(), terms, conditions)
    n_terms = len(terms)
    # A thread must have enough to do to be worth its start.
    threads = min(thread_count(), 1 + n_terms // 32)
    best = _Best(keep, threads)
    counts = np.zeros((threads, len(kernels.COUNTERS)), dtype=np.int64)
    prefixes: Any = itertools.combinations(range(n_terms), n - 2) if n > 2 else [()]
    n_prefixes = math.comb(n_terms, max(n - 2, 0))
    # All but the last two terms are a prefix; the kernels go through all pairs that may follow it.
    for done, prefix in enumerate(prefixes):
        columns.set_prefix(prefix)
        first = prefix[-1] + 1 if prefix else 0
        if not columns.feasible:
            continue
        _search_prefix(columns, best, counts, first, n, progress=None if n > 2 else progress)
        best.merge(prefix, n_terms)
        if progress is not None and n > 2:
            progress((done + 1) / n_prefixes)
    search.considered += math.comb(n_terms, n)
    totals = dict(zip(kernels.COUNTERS, counts.sum(axis=0), strict=True))
    for name, number in totals.items():
        search.add(name, int(number))
    seen = sum(int(totals[name]) for name in ("pruned", "evaluated", "ill-conditioned"))
    # All other candidates were skipped: one of their terms is linearly dependent on the constant or the prefix.
    search.add("ill-conditioned", math.comb(n_terms, n) - seen)
    return [Candidate(c.loss / float(problem.weights.sum()), c.terms) for c in best.found]


def _search_prefix(
    columns: _TermColumns, best: _Best, counts: Ints, first: int, n: int, progress: Progress | None
) -> None:
    """Evaluate the prefix with every pair of terms (or every single term, if n is 1) from number `first` on."""
    from evenly.models.pmnf import search_kernels as kernels

    problem = columns.problem
    m, n_terms = len(problem.values), len(columns.terms)
    kind, weight, scale = problem.loss_rule
    some = weight > 0
    least = (float(weight[some].min()), float(np.abs(scale[some]).min())) if some.any() else (1.0, 1.0)
    prune = problem.ridge == 0 and bool(some.all())
    rss = float(columns.z @ columns.z)
    target = Target(columns.z[:m].copy(), columns.free, weight, scale, rss, *least, prune)
    conditions = ConditionRows(columns.base, columns.n_positive)
    # A block with one zero column, for candidates without a second term.
    nothing = Block(
        np.zeros((1, len(columns.z))), np.ones(1), np.zeros(1), np.zeros((1, len(columns.base))),
        np.ones(1, dtype=np.bool_), n_terms,
    )  # fmt: skip
    starts = range(0, n_terms, _BLOCK)
    pairs = [(a, b) for a in starts for b in starts if b >= a] if n > 1 else [(a, n_terms) for a in starts]
    left: Block | None = None
    for done, (a, b) in enumerate(pairs):
        if a + _BLOCK <= first:
            continue
        if left is None or left.offset != a:
            left = columns.block(a)
            # Combinations with lower term numbers belong to other prefixes.
            numbers = np.arange(a, a + len(left.usable))
            left = left._replace(usable=left.usable & (numbers >= first))
        right = nothing if b == n_terms else columns.block(b)
        gram = left.columns @ right.columns.T
        # The ridge's rows enter the inner products, but not the losses, since they are no runs.
        u, v = (one._replace(columns=np.ascontiguousarray(one.columns[:, :m])) for one in (left, right))
        arguments = (kind, u, v, gram, target, conditions, best.cut, best.heaps, counts)
        if problem.folds is None:
            on_threads(kernels.search_pairs, len(counts), *arguments)
        else:
            bounds = np.searchsorted(problem.folds, np.arange(problem.folds[-1] + 2))
            on_threads(kernels.search_folds, len(counts), *arguments, np.array(columns.fixed), bounds)
        if progress is not None:
            best.merge((), n_terms)
            progress((done + 1) / len(pairs))
