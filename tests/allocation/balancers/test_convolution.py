"""Sums of curves of every shape: convex, piecewise convex, irregular."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenly.allocation.balancers.convolution import convolve, divide
from evenly.allocation.problem.curves import Front


def _front(kind: str, size: int, step: int, first: int, random: np.random.Generator) -> Front:
    drops = random.random(size) + 1e-3
    if kind == "convex":
        drops = np.sort(drops)[::-1]
    if kind == "pieces":  # convex runs, each steeper at its start than the end of the one before
        drops = np.concatenate([np.sort(part)[::-1] for part in np.array_split(drops, 3)])
    if kind == "straight":
        drops = np.full(size, 0.1)
    seconds = 1.0 + np.concatenate([np.cumsum(drops[::-1])[::-1], [0.0]])
    return Front(first + step * np.arange(size + 1, dtype=np.int64), seconds)


def _all_pairs(a: Front, b: Front, limit: int) -> NDArray[np.float64]:
    out = np.full(limit + 1, np.inf)
    for ca, ta in zip(a.cores, a.seconds, strict=True):
        for cb, tb in zip(b.cores, b.seconds, strict=True):
            if ca + cb <= limit:
                out[ca + cb] = min(out[ca + cb], ta + tb)
    return np.asarray(np.minimum.accumulate(out))


KINDS = st.sampled_from(["convex", "pieces", "straight", "any"])


@settings(max_examples=200, deadline=None)
@given(KINDS, KINDS, st.integers(1, 200), st.integers(1, 200), st.sampled_from([1, 2, 3, 8]), st.sampled_from([1, 2,
8]),
       st.integers(0, 10_000))  # fmt: skip
def test_equals_all_pairs(one: str, other: str, m: int, n: int, step: int, step_b: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = _front(one, m, step, 2, random), _front(other, n, step_b, 3, random)
    limit = int(random.integers(5, a.cores[-1] + b.cores[-1] + 5))
    found, expected = convolve(a, b, limit), _all_pairs(a, b, limit)
    # Curves within 1e-13 of their hull count as convex; two of them, and a few roundings, stay within 1e-12.
    assert found.at(np.arange(limit + 1)) == pytest.approx(expected, rel=1e-12)
    for total in found.cores[:: max(1, len(found.cores) // 5)]:
        first, second = divide(a, b, np.array([total]))
        assert first[0] + second[0] == total
        assert a.at(first)[0] + b.at(second)[0] == pytest.approx(float(expected[total]), rel=1e-12)


def test_long_piecewise_curves_are_cut_and_not_paired() -> None:
    """Two curves of 30,000 steps with a few kinks: all pairs would be 9e8; the answer is checked at some totals."""
    cores = np.arange(1, 30_001, dtype=np.int64)
    x = [1, 1000, 5000, 6000, 30_000]
    a = Front(cores, np.interp(cores, x, [100.0, 60.0, 55.0, 20.0, 10.0]))
    b = Front(cores, np.interp(cores, x, [200.0, 190.0, 60.0, 55.0, 1.0]))
    found = convolve(a, b, 30_000)
    for total in (2, 777, 5432, 12_345, 30_000):
        own = np.arange(1, total)
        assert float(found.at(total)) == pytest.approx(float(np.min(a.at(own) + b.at(total - own))), rel=1e-12)
