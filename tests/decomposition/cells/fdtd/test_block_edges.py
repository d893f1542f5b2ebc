"""Blocks end where most lies, cover the cell, and are no more than asked for."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenly.decomposition.cells.fdtd.block_edges import chosen_along, chosen_edges, shared_out

weights = st.lists(st.sampled_from([0.0, 1e-9, 0.5, 2.0]), min_size=2, max_size=60)


@given(st.tuples(weights, weights, weights), st.integers(1, 3000))
def test_edges(along: tuple[list[float], list[float], list[float]], blocks: int) -> None:
    edges = chosen_edges(along, blocks)
    assert math.prod(len(e) - 1 for e in edges) <= blocks
    for e, w in zip(edges, along, strict=True):
        assert (e[0], e[-1]) == (0, len(w) - 1)
        assert np.all(np.diff(e) > 0)
        assert all(w[i] > 0 for i in e[1:-1])


@given(weights)
def test_enough_blocks_keep_all(along: list[float]) -> None:
    assert len(chosen_along(np.array(along), 1000)) == 2 + np.count_nonzero(along[1:-1])


def test_the_heaviest_come_first_and_the_rest_is_even() -> None:
    along = np.full(1001, 1e-9)
    along[[17, 18, 500]] = 3.0
    edges = chosen_along(along, 50)
    assert {17, 18, 500} <= {*edges.tolist()}
    assert 40 <= len(edges) - 1 <= 50
    assert np.diff(edges).max() <= 60


@given(st.tuples(*[st.integers(1, 5000)] * 3), st.integers(1, 10**7))
def test_shares(wanted: tuple[int, int, int], product: int) -> None:
    found = shared_out(wanted, product)
    assert math.prod(found) <= product
    assert all(1 <= n <= w for n, w in zip(found, wanted, strict=True))
    if math.prod(wanted) <= product:
        assert found == [*wanted]
