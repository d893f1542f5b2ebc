"""Search of PMNF candidates: which terms, by exact loss on left-out runs, in bounded memory.

`search_all` goes through every combination of n terms and returns the best. Columns are made in blocks, inner products
come from BLAS one block pair at a time, and the kernels of `evenly.models.pmnf.search_kernels` do the rest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.pmnf.problem import Candidate, Problem, Search
from evenly.models.pmnf.terms import TermSet
from evenly.models.scaling_laws.conditions import Conditions

__all__ = ["search_all"]

Floats = NDArray[np.float64]
Progress = Callable[[float], None]

_BLOCK = 1024
#: Squared length, after the others are projected out, below which a column of unit length adds nothing.
_LEAST_LENGTH2 = 1e-9


class _Columns:
    """Columns of terms, centred, projected off a prefix and scaled, in blocks, with their rows of conditions."""

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
        length = math.sqrt(float(np.sum(problem.roots**2)))
        self.intercept = problem.roots / length
        ones = np.full(self.n_positive, 1 / length)
        self.intercept_conditions = np.concatenate([ones, np.zeros(n * len(conditions.signs))])
        self._kept: dict[int, tuple[Floats, Floats, NDArray[np.bool_]]] = {}
        self._start([])

    def _start(self, prefix: list[int]) -> None:
        problem = self.problem
        m = len(problem.values)
        z = problem.roots * problem.response
        along = float(self.intercept @ z)
        self.z = np.concatenate([z - along * self.intercept, np.zeros(len(prefix) if self.ridge else 0)])
        self.base = along * self.intercept_conditions
        self.free = 1.0 - self.intercept**2
        self.fixed = [self.intercept]
        self._projections: list[tuple[Floats, Floats]] = []
        self.feasible = True
        for position, number in enumerate(prefix):
            self._project(number, position, len(self.z) - m)

    def set_prefix(self, prefix: tuple[int, ...]) -> None:
        """Project the terms in `prefix` out of everything."""
        self._start([number for number in prefix if number != self.constant])

    def _project(self, number: int, position: int, extra: int) -> None:
        columns, conditions, usable = self._raw(np.array([number]))
        column = np.concatenate([columns[0], np.zeros(extra)])
        if extra:
            column[len(columns[0]) + position] = math.sqrt(self.ridge)
        row = conditions[0].copy()
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
        self.free = self.free - column[: len(self.free)] ** 2
        self.fixed.append(column[: len(self.free)])
        self._projections.append((column, row))

    def _raw(self, numbers: NDArray[Any]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        columns = self.terms.from_tables(self._tables, numbers) * self.problem.roots
        rows = np.concatenate(
            [sign * self.terms.from_tables(tables, numbers) for sign, tables in self._condition_tables]
            or [np.zeros((len(numbers), 0))],
            axis=1,
        )
        with np.errstate(all="ignore"):
            for _ in range(2):
                length = np.sqrt(np.einsum("ij,ij->i", columns, columns))[:, None]
                columns, rows = columns / length, rows / length
                along = (columns @ self.intercept)[:, None]
                columns = columns - along * self.intercept
                rows = rows - along * self.intercept_conditions
                squared = np.einsum("ij,ij->i", columns, columns)
                if _ == 0:
                    usable = squared > _LEAST_LENGTH2
            columns, rows = columns / np.sqrt(squared)[:, None], rows / np.sqrt(squared)[:, None]
        usable &= np.isfinite(columns).all(axis=1) & np.isfinite(rows).all(axis=1)
        columns[~usable], rows[~usable] = 0.0, 0.0
        if self.constant is not None:
            usable |= numbers == self.constant
        return columns, rows, usable

    def block(self, start: int) -> tuple[Any, ...]:
        """Return what the kernels take of the terms from `start` on."""
        if start not in self._kept:
            if len(self._kept) >= 12:
                self._kept.pop(next(iter(self._kept)))
            self._kept[start] = self._raw(np.arange(start, min(start + _BLOCK, len(self.terms))))
        columns, rows, usable = self._kept[start]
        m = columns.shape[1]
        diagonal = np.full(len(columns), 1.0 + self.ridge)
        if self._projections:
            columns = np.concatenate([columns, np.zeros((len(columns), len(self.z) - m))], axis=1)
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
            diagonal = 1.0 + self.ridge / length2
        return np.ascontiguousarray(columns), diagonal, columns @ self.z, np.ascontiguousarray(rows), usable, start


def _nothing(columns: int, rows: int, offset: int) -> tuple[Any, ...]:
    """Return the block that stands for "no second term"."""
    return (
        np.zeros((1, columns)),
        np.ones(1),
        np.zeros(1),
        np.zeros((1, rows)),
        np.ones(1, dtype=np.bool_),
        offset,
    )


class _Best:
    """The best candidates so far: one heap per thread, merged after each block."""

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
        return self.found[-1].loss if len(self.found) >= self.keep else 1e28

    def merge(self, prefix: tuple[int, ...], nothing: int) -> None:
        losses, firsts, seconds = self.heaps
        for t, k in np.argwhere(np.isfinite(losses)):
            pair = (int(firsts[t, k]), int(seconds[t, k]))
            self.found.append(Candidate(float(losses[t, k]), (*prefix, *(x for x in pair if x != nothing))))
        losses.fill(np.inf)
        self.found.sort(key=lambda c: (c.loss, c.terms))
        del self.found[self.keep :]


def _block_pairs(n_terms: int, pairs: bool) -> Iterator[tuple[int, int]]:
    starts = range(0, n_terms, _BLOCK)
    if not pairs:
        yield from ((start, n_terms) for start in starts)
        return
    yield from ((a, b) for a in starts for b in starts if b >= a)


def search_all(
    problem: Problem,
    terms: TermSet,
    n: int,
    conditions: Conditions,
    *,
    keep: int = 128,
    search: Search,
    progress: Progress | None = None,
) -> list[Candidate]:
    """Return the `keep` best of all combinations of `n` >= 1 terms, best first.

    Parameters
    ----------
    problem, terms, conditions
        What was measured, what may be combined, what must hold.
    n : int
        Terms beside the constant.
    keep : int
        How many to return at most.
    search : Search
        Counters, added to.
    progress : callable, optional
        Called with the share done.

    Returns
    -------
    list of Candidate
        ``loss`` is the mean over runs.
    """
    from numba import get_num_threads

    from evenly.models.pmnf import search_kernels as kernels

    columns = _Columns(problem.extremes_first(), terms, conditions)
    best = _Best(keep, get_num_threads())
    counts = np.zeros((get_num_threads(), len(kernels.COUNTERS)), dtype=np.int64)
    n_terms = len(terms)
    prefixes: Any = itertools.combinations(range(n_terms), n - 2) if n > 2 else [()]
    n_prefixes = math.comb(n_terms, max(n - 2, 0))
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
    # What never reached a kernel has a term that the others, or the constant, already express.
    search.add("ill-conditioned", math.comb(n_terms, n) - seen)
    return [Candidate(c.loss / float(problem.weights.sum()), c.terms) for c in best.found]


def _search_prefix(
    columns: _Columns, best: _Best, counts: NDArray[np.int64], first: int, n: int, progress: Progress | None
) -> None:
    from evenly.models.pmnf import search_kernels as kernels

    problem = columns.problem
    m, n_terms = len(problem.values), len(columns.terms)
    kind, weight, scale = problem.loss_rule
    rss = float(columns.z @ columns.z)
    some = weight > 0
    least = (float(weight[some].min()), float(np.abs(scale[some]).min())) if some.any() else (1.0, 1.0)
    prune = problem.ridge == 0 and bool(some.all())
    target = (columns.z[:m].copy(), columns.free, weight, scale, rss, *least, prune)
    conditions = (columns.base, columns.n_positive)
    pairs = list(_block_pairs(n_terms, n > 1))
    left: tuple[Any, ...] = ()
    for done, (a, b) in enumerate(pairs):
        if a + _BLOCK <= first:
            continue
        if not left or left[-1] != a:
            left = _from(columns.block(a), first)
        right = _nothing(len(columns.z), len(columns.base), n_terms) if b == n_terms else columns.block(b)
        gram = left[0] @ right[0].T
        arguments = (kind, _real(left, m), _real(right, m), gram, target, conditions, best.cut, best.heaps, counts)
        if problem.folds is None:
            kernels.search_pairs(*arguments)
        else:
            bounds = np.searchsorted(problem.folds, np.arange(problem.folds[-1] + 2))
            kernels.search_folds(*arguments, np.array(columns.fixed), bounds)
        if progress is not None:
            best.merge((), n_terms)
            progress((done + 1) / len(pairs))


def _from(block: tuple[Any, ...], first: int) -> tuple[Any, ...]:
    """Leave out the terms before `first`, which come earlier in some other prefix."""
    *arrays, usable, start = block
    return (*arrays, usable & (np.arange(start, start + len(usable)) >= first), start)


def _real(block: tuple[Any, ...], m: int) -> tuple[Any, ...]:
    """Leave out the rows that stand for the ridge penalty: they count in inner products only."""
    columns = block[0]
    return (columns if columns.shape[1] == m else np.ascontiguousarray(columns[:, :m]), *block[1:])
