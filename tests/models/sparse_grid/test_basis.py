from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.models.sparse_grid.least_squares import Equations
from evenly.models.sparse_grid.points import LABELS, Basis, Point, Shape
from evenly.models.sparse_grid.refinement import Refinement

Floats = NDArray[np.float64]


def _hat(level: int, place: int, x: Floats) -> Floats:
    """The modified linear basis as Pflüger writes it (equation 2.16), with odd index i = 2 place + 1."""
    i = 2 * place + 1
    if place == 0:
        return np.where(x <= 2.0 ** (1 - level), 2 - 2.0**level * x, 0.0)
    if i == 2**level - 1:
        return np.where(x >= 1 - 2.0 ** (1 - level), 2.0**level * x + 1 - i, 0.0)
    return np.asarray(np.maximum(1 - np.abs(2.0**level * x - i), 0.0))


def _dense(basis: Basis, x: Floats) -> Floats:
    columns = []
    for point in basis.points:
        column = np.ones(len(x))
        for k, level, place in point:
            column *= x[:, k] == place if level == LABELS else _hat(level, place, x[:, k])
        columns.append(column)
    return np.column_stack(columns)


def _centre(point: Point, dimensions: int) -> Floats:
    middle = np.full(dimensions, 0.5)
    for k, level, place in point:
        middle[k] = (2 * place + 1) / 2**level
    return middle


def _rows(n: int, d: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).random((n, d))


def test_products_are_those_of_the_basis_written_out() -> None:
    shape = Shape(2, (3,), interactions=3)
    basis = Basis(shape, shape.regular(5))
    rng = np.random.default_rng(0)
    # Beyond the range as well: the outermost functions are ramps that go on.
    x = np.column_stack([rng.uniform(-0.4, 1.4, (200, 2)), rng.integers(0, 3, 200).astype(float)])
    coefficients = rng.normal(size=len(basis))
    np.testing.assert_allclose(basis.evaluate(x, coefficients), _dense(basis, x) @ coefficients, atol=1e-11)
    equations = Equations(basis, x, np.ones(200))
    np.testing.assert_allclose(equations.fitted(coefficients), _dense(basis, x) @ coefficients, atol=1e-11)
    dense = _dense(basis, x)
    expected = dense.T @ (dense @ coefficients) / 200 + 0.1 * basis.roughness * coefficients
    np.testing.assert_allclose(equations.apply(coefficients, 0.1), expected, atol=1e-10)


@pytest.mark.parametrize(("d", "level"), [(1, 5), (2, 4), (4, 3)])
def test_a_regular_grid_has_as_many_points_as_the_formula_says(d: int, level: int) -> None:
    expected = sum(
        np.prod([2 ** (step - 1) for step in steps])
        for steps in itertools.product(range(1, level + 1), repeat=d)
        if sum(steps) <= level + d - 1
    )
    points = Shape(d, (), interactions=d).regular(level)
    assert len(set(points)) == len(points) == expected


def test_coefficients_of_values_on_the_grid_are_hierarchical_surpluses() -> None:
    # Hierarchisation in one parameter: the value less that of the straight line through the neighbours above, which
    # for the outermost points goes on from the two nearest points above (there is one at level 2: the constant).
    shape = Shape(1, (), interactions=1)
    basis = Basis(shape, shape.regular(4))

    def f(x: Floats) -> Floats:
        return np.exp(x) + np.sin(5 * x)

    x = np.array([_centre(point, 1) for point in basis.points])
    found = Equations(basis, x, np.ones(len(x))).solve(f(x[:, 0]), 1e-13, tolerance=1e-12)
    surplus = dict(zip(basis.points, found, strict=True))
    assert surplus[()] == pytest.approx(f(np.array(0.5)), abs=1e-7)
    for level, place in ((3, 1), (3, 2), (4, 1), (4, 2), (4, 5)):
        centre, width = (2 * place + 1) / 2**level, 0.5**level
        ends = f(np.array([centre - width, centre + width]))
        assert surplus[((0, level, place),)] == pytest.approx(float(f(np.array(centre)) - ends.mean()), abs=1e-7)
    for level in (3, 4):
        width = 0.5**level
        straight = 2 * f(np.array(2 * width)) - f(np.array(3 * width))
        # The line over the outermost cell of the level above runs through its points at 2 and 4 widths.
        straight = f(np.array(2 * width)) - (f(np.array(4 * width)) - f(np.array(2 * width))) / 2
        assert surplus[((0, level, 0),)] == pytest.approx(float(f(np.array(width)) - straight), abs=1e-7)


def test_functions_in_the_span_are_found_exactly() -> None:
    # Multilinear functions lie in the span of level d + 1 with all interactions.
    shape = Shape(3, (), interactions=3)
    basis = Basis(shape, shape.regular(4))

    def f(x: Floats) -> Floats:
        return 1 + x[:, 0] - 2 * x[:, 1] * x[:, 2] + 3 * x[:, 0] * x[:, 1] * x[:, 2]

    x = _rows(400, 3)
    # The ridge moves the solution by about its size times the least eigenvalue's inverse: 1e-12 · 4^3 / 1e-5.
    found = Equations(basis, x, np.ones(400)).solve(f(x), 1e-12, tolerance=1e-11, most=5000)
    asked = np.random.default_rng(1).uniform(-0.5, 1.5, (100, 3))
    np.testing.assert_allclose(basis.evaluate(asked, found), f(asked), atol=1e-4)


def test_conjugate_gradients_reach_the_solution_of_the_normal_equations() -> None:
    shape = Shape(3, (2,), interactions=2)
    basis = Basis(shape, shape.regular(4))
    rng = np.random.default_rng(2)
    x = np.column_stack([_rows(150, 3), rng.integers(0, 2, 150).astype(float)])
    y, weights = rng.normal(size=150), rng.uniform(0.5, 2, 150)
    dense = _dense(basis, x)
    shares = (weights / weights.sum())[:, None]
    matrix = dense.T @ (shares * dense) + 1e-3 * np.diag(basis.roughness)
    expected = np.linalg.solve(matrix, dense.T @ (shares[:, 0] * y))
    equations = Equations(basis, x, weights)
    found = equations.solve(y, 1e-3, tolerance=1e-10)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    # A looser tolerance stops earlier, and a start that is good enough stays as it is.
    loose = equations.solve(y, 1e-3, tolerance=1e-3)
    assert np.linalg.norm(loose - expected) > np.linalg.norm(found - expected)
    np.testing.assert_array_equal(equations.solve(y, 1e-3, found, tolerance=1e-6), found)


def test_refinement_keeps_every_point_below_its_parents_and_the_limits() -> None:
    shape = Shape(4, (3,), interactions=2, deepest=4, depth=5)
    rng = np.random.default_rng(3)
    x = np.column_stack([_rows(300, 4), rng.integers(0, 3, 300).astype(float)])
    residuals = np.where(x[:, 0] > 0.9, 5.0, 0.0) * x[:, 1] + rng.normal(size=300)
    refinement = Refinement(shape, shape.regular(2))
    for _ in range(5):
        assert refinement.grow(20, x, residuals, np.ones(300), 1e-6) == 20
    present = set(refinement.points)
    assert len(present) == len(refinement.points) == len(shape.regular(2)) + 100
    for point in refinement.points:
        assert set(shape.parents(point)) <= present
        assert len(point) <= 2
        assert all(level <= 4 for _, level, _ in point)
    inside = np.array([(_dense(Basis(shape, [point]), x) > 0).sum() for point in refinement.points[-100:]])
    assert inside.min() >= 3


def test_adaptivity_beats_the_regular_grid_on_a_local_peak() -> None:
    def peak(x: Floats) -> Floats:
        return np.asarray(np.exp(-(((x - 0.3) / 0.04) ** 2).sum(axis=1)))

    shape = Shape(2, (), interactions=2)
    x, asked = _rows(6000, 2), _rows(3000, 2, seed=1)
    regular = Basis(shape, shape.regular(6))
    refinement, coefficients = Refinement(shape, shape.regular(2)), np.zeros(0)
    while True:
        basis = Basis(shape, refinement.points)
        equations = Equations(basis, x, np.ones(len(x)))
        coefficients = equations.solve(peak(x), 1e-9, tolerance=1e-5)
        if len(basis) >= len(regular):
            break
        residuals = peak(x) - equations.fitted(coefficients)
        count = min(4 + len(basis) // 4, len(regular) - len(basis))
        refinement.grow(count, x, residuals, np.ones(len(x)), 1e-9)
    assert len(basis) == len(regular)
    fixed = Equations(regular, x, np.ones(len(x))).solve(peak(x), 1e-9, tolerance=1e-5)
    errors = [
        np.sqrt(np.mean((b.evaluate(asked, c) - peak(asked)) ** 2))
        for b, c in ((basis, coefficients), (regular, fixed))
    ]
    # A peak of width 0.04 asks for cells of about 1/32 in both parameters, which the regular grid of level 6 lacks.
    assert errors[0] < 0.5 * errors[1]
