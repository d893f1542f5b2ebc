"""Factors found by each optimizer, on tensors that are known."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.models.completion.candidate_fit import _cell_means
from evenly.models.completion.coordinate_descent import coordinate_descent
from evenly.models.completion.factors import Factors, Penalty, Problem, equations, objective, solve
from evenly.models.completion.gradient_descent import stochastic_gradient_descent
from evenly.models.completion.grid import Grid, Mode
from evenly.models.completion.kernels import batch_gradient
from evenly.models.completion.least_squares import alternating_least_squares
from evenly.models.completion.variational import Posterior, VariationalFit
from evenly.models.inputs.coding import Inputs

Floats = NDArray[np.float64]
GRID = Grid((
    Mode(0, True, np.linspace(-1, 1, 6), 6),
    Mode(1, True, np.array([-1.0, -0.2, 0.1, 1.0]), 4),
    Mode(0, False, np.zeros(0), 5),
))  # fmt: skip


def _inputs(n: int, seed: int = 0) -> Inputs:
    rng = np.random.default_rng(seed)
    return Inputs(rng.uniform(-1, 1, (n, 2)), rng.integers(0, 5, (n, 1)), (5,))


def _truth(rank: int, seed: int = 1) -> Factors:
    return Factors.random(GRID, rank, 2.0, seed, amplitude=0.8)


def _problem(n: int, rank: int, noise: float = 0.0) -> tuple[Problem, Factors]:
    truth, place = _truth(rank), GRID.place(_inputs(n))
    targets = truth.values(place)[0] + noise * np.random.default_rng(2).normal(size=n)
    return Problem(GRID, place, targets, np.random.default_rng(3).uniform(0.5, 2, n)), truth


def _even(grid: Grid, rank: int, ridge: float, roughness: float) -> Penalty:
    return Penalty(*(np.full((len(grid.modes), rank), one) for one in (ridge, roughness)))


def _start(rank: int, seed: int = 7) -> Factors:
    return Factors.random(GRID, rank, 1.0, seed)


def _fresh(n: int = 500) -> Inputs:
    return _inputs(n, seed=99)


def test_a_planted_tensor_is_recovered() -> None:
    problem, truth = _problem(600, 2)
    factors = _start(2)
    alternating_least_squares(problem, factors, _even(GRID, 2, 1e-9, 1e-9), tolerance=1e-12, sweeps=500)
    asked = GRID.place(_fresh())
    np.testing.assert_allclose(factors.values(asked)[0], truth.values(asked)[0], atol=1e-3)


def test_a_planted_tensor_is_recovered_to_the_noise_with_penalties_learned() -> None:
    noise = 0.05
    problem, truth = _problem(1500, 2, noise)
    posterior = Posterior(_start(6), _even(GRID, 6, 1.0, 1.0), 10.0)
    VariationalFit(problem, None, posterior).run(tolerance=1e-7, sweeps=400)
    asked = GRID.place(_fresh())
    error = np.sqrt(np.mean((posterior.factors.values(asked)[0] - truth.values(asked)[0]) ** 2))
    # Two components of 15 numbers each, from 1,500 runs: noise * sqrt(30 / 1500) is 0.007, with rank 2 known.
    assert error < 0.4 * noise
    # The scale of Student's t with 4 degrees of freedom that fits normal noise best is about 0.85 of its deviation.
    assert 0.6 * noise < posterior.precision**-0.5 < 1.1 * noise


def test_alternating_least_squares_never_rises() -> None:
    problem, _ = _problem(60, 4, 0.3)
    history = alternating_least_squares(problem, _start(5), _even(GRID, 5, 0.05, 0.2), tolerance=1e-15, sweeps=60)
    assert len(history) > 20
    assert np.all(np.diff(history) <= 1e-11 * history[0])


def test_coordinate_descent_never_rises() -> None:
    problem, _ = _problem(60, 4, 0.3)
    history = coordinate_descent(problem, _start(5), _even(GRID, 5, 0.05, 0.2), tolerance=1e-15, sweeps=60)
    assert len(history) > 20
    assert np.all(np.diff(history) <= 1e-11 * history[0])


@pytest.mark.parametrize("method", [coordinate_descent, stochastic_gradient_descent])
def test_optimizers_reach_the_same_objective(method: Callable[..., list[float]]) -> None:
    problem, _ = _problem(300, 1, 0.1)
    penalty = _even(GRID, 1, 0.1, 0.1)
    best = alternating_least_squares(problem, _start(1), penalty, tolerance=1e-13, sweeps=500)[-1]
    factors = _start(1)
    method(problem, factors, penalty, tolerance=1e-9, sweeps=2000 if method is coordinate_descent else 60)
    assert objective(problem, factors, penalty) == pytest.approx(best, rel=2e-3)


def test_the_gradient_is_that_of_the_squares() -> None:
    problem, _ = _problem(40, 2, 0.2)
    factors = _start(3)
    none = _even(GRID, 3, 0.0, 0.0)
    gradient = np.zeros_like(factors.mean)
    batch_gradient(
        np.arange(40),
        problem.place.rows,
        problem.place.shares,
        problem.targets,
        problem.weights,
        factors.mean,
        gradient,
    )
    for element in ((0, 2, 1), (1, 3, 0), (2, 4, 2)):
        around = []
        for step in (1e-6, -1e-6):
            moved = deepcopy(factors)
            moved.mean[element] += step
            around.append(objective(problem, moved, none))
        assert 2 * gradient[element] == pytest.approx((around[0] - around[1]) / 2e-6, rel=1e-5)


def test_a_solved_mode_is_where_the_objective_is_flat() -> None:
    problem, _ = _problem(50, 3, 0.2)
    factors, penalty = _start(3), _even(GRID, 3, 0.3, 0.7)
    solve(GRID, equations(problem, factors, 0), factors, penalty, 0)
    for i in range(6):
        for r in range(3):
            around = []
            for step in (1e-4, -1e-4):
                moved = deepcopy(factors)
                moved.mean[0, i, r] += step
                around.append(objective(problem, moved, penalty))
            assert abs(around[0] - around[1]) < 1e-8 * objective(problem, factors, penalty)


def test_rows_twice_are_rows_of_weight_two() -> None:
    problem, _ = _problem(80, 2, 0.2)
    twice = np.r_[0:80, 0:30]
    doubled = Problem(
        GRID, GRID.place(_inputs(80).rows(twice)), problem.targets[twice], problem.weights[twice]
    )  # fmt: skip
    weighted = Problem(GRID, problem.place, problem.targets, problem.weights * np.where(np.arange(80) < 30, 2.0, 1.0))
    found = []
    for one in (doubled, weighted):
        posterior = Posterior(_start(3), _even(GRID, 3, 1.0, 1.0), 10.0)
        VariationalFit(one, None, posterior).run(tolerance=1e-12, sweeps=15)
        found.append(posterior.factors.values(GRID.place(_fresh()))[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-8)


def test_unmeasured_rows_borrow_from_their_neighbours() -> None:
    problem, _ = _problem(800, 1)
    inputs = _inputs(800)
    seen = (np.abs(inputs.numbers[:, 0] - 0.2) > 0.45) & (inputs.labels[:, 0] != 3)
    some = Problem(GRID, GRID.place(inputs.rows(seen)), problem.targets[seen], problem.weights[seen])
    factors = _start(1)
    alternating_least_squares(some, factors, _even(GRID, 1, 1e-8, 1e-4), tolerance=1e-12, sweeps=300)
    u = factors.mean[0, :6, 0]
    # Knots 3 and 4, at 0.2 and 0.6, bound intervals without runs or hold few; a row of no run is on the line between.
    assert min(u[2], u[4]) - 1e-6 <= u[3] <= max(u[2], u[4]) + 1e-6
    others = factors.mean[2, [0, 1, 2, 4], 0]
    assert factors.mean[2, 3, 0] == pytest.approx(others.mean(), rel=1e-3)


def test_cell_means_carry_the_weights_of_their_runs() -> None:
    problem, _ = _problem(300, 2, 0.1)
    grid = Grid(tuple(Mode(m.column, m.ordered, m.knots, max(m.size - m.ordered, 1)) for m in GRID.modes), "cells")
    placed = Problem(grid, grid.place(_inputs(300), fitting=True), problem.targets, problem.weights)
    made = _cell_means(placed)
    assert made.weights.sum() == pytest.approx(problem.weights.sum())
    one = made.place.rows[:, 0]
    there = np.all(placed.place.rows == one[:, None], axis=0)
    assert made.targets[0] == pytest.approx(np.average(problem.targets[there], weights=problem.weights[there]))
    assert len(made.targets) == len({tuple(row) for row in placed.place.rows.T})
