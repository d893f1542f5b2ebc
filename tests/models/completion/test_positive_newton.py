"""AMN against finite differences and planted tensors; its parts against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.models.completion.positive import rank_one
from evenly.models.completion.positive_grid import Cells
from evenly.models.completion.positive_newton import (
    _derivatives,
    _others,
    _shares,
    barriers,
    complete,
    objective,
    start,
    values,
)


def planted(shape: tuple[int, ...], rank: int, share: float, seed: int = 0) -> tuple[Cells, np.ndarray, np.ndarray]:
    """Return a part of a positive tensor of low rank, and all its indices and logs."""
    rng = np.random.default_rng(seed)
    factors = [np.exp(rng.uniform(-1, 1, (n, rank))) for n in shape]
    every = np.argwhere(np.ones(shape, dtype=bool))
    logs = np.log(values(factors, every))
    some = rng.random(len(every)) < share
    return Cells(every[some], logs[some], rng.uniform(0.5, 2, some.sum())), every, logs


@pytest.mark.parametrize("eta", [10.0, 1e-3, 1e-11])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_gradient_is_the_objectives_finite_difference(eta: float, mode: int) -> None:
    cells, _, _ = planted((4, 5, 3), 2, 0.7)
    factors = start((4, 5, 3), 2, seed=1)
    here = cells.index[:, mode] == 2
    others, shares = _others(factors, cells.index[here], mode), _shares(cells)[here]
    found = _derivatives(others, cells.logs[here], shares, factors[mode][2], 1e-3, eta)[1]
    step = 1e-6
    for r in range(2):
        sides = []
        for sign in (1, -1):
            moved = [u.copy() for u in factors]
            moved[mode][2, r] += sign * step
            sides.append(objective(moved, cells, 1e-3, eta))
        # Central differences err by step² f'''/6 and by rounding, 1e-16 |f| / step: 1e-8 of the objective's size.
        scale = abs(objective(factors, cells, 1e-3, eta)) + 1
        assert found[r] == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-7 * scale)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_planted_positive_tensor_is_recovered(rank: int) -> None:
    cells, every, logs = planted((8, 7, 6), rank, 0.5)
    found = complete(cells, (8, 7, 6), rank, numeric=3, ridge=1e-9)
    assert np.abs(np.log(values(found, every)) - logs).mean() < 0.01 * rank


def test_factors_stay_positive_where_times_span_orders_of_magnitude() -> None:
    every = np.argwhere(np.ones((6, 6), dtype=bool))
    # max(i, j) on a logarithmic scale has no positive factorisation of rank 2: entries are pushed towards zero.
    logs = 4.0 * every.max(axis=1) - 10
    found = complete(Cells(every, logs, np.ones(36)), (6, 6), 2, numeric=2)
    assert all((u > 0).all() and np.isfinite(u).all() for u in found)


def test_the_objective_ends_where_the_truths_is_or_below() -> None:
    cells, _, _ = planted((6, 5, 4), 3, 0.6, seed=3)
    truth = [np.exp(u) for u in _planted_logs((6, 5, 4), 3, seed=3)]
    assert np.abs(np.log(values(truth, cells.index)) - cells.logs).max() < 1e-12
    found = complete(cells, (6, 5, 4), 3, numeric=3)
    assert objective(found, cells, 1e-5, 1e-11) < 1.5 * objective(truth, cells, 1e-5, 1e-11)


def _planted_logs(shape: tuple[int, ...], rank: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, (n, rank)) for n in shape]


def test_barriers_fall_by_eights_from_ten_to_below_1e_minus_11() -> None:
    found = np.array(list(barriers()))
    assert found[0] == 10
    np.testing.assert_allclose(found[:-1] / found[1:], 8)
    assert found[-1] <= 1e-11 < found[-2]


def test_rows_nobody_measured_lie_between_their_neighbours() -> None:
    every = np.argwhere(np.ones((5, 4), dtype=bool))
    logs = 1.0 * every[:, 0] + 0.5 * every[:, 1]
    measured = every[:, 0] != 2
    cells = Cells(every[measured], logs[measured], np.ones(measured.sum()))
    (u, _) = complete(cells, (5, 4), 1, numeric=2, ridge=1e-9)
    assert np.log(u[2, 0]) == pytest.approx((np.log(u[1, 0]) + np.log(u[3, 0])) / 2, abs=1e-9)


def test_rank_one_of_a_monotone_factor_is_monotone_and_positive() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        factor = np.cumsum(rng.uniform(0, 1, (9, 4)), axis=0) + 0.01
        left, right = rank_one(factor)
        assert (np.diff(left) >= 0).all()
        assert (left > 0).all()
        assert (right > 0).all()
        # Eckart and Young: no other matrix of rank 1 is closer.
        best = np.linalg.svd(factor, compute_uv=False)[1:]
        assert np.linalg.norm(factor - np.outer(left, right)) == pytest.approx(np.linalg.norm(best), rel=1e-9)
