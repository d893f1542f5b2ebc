"""The search equals a plain refit without each run (or fold), for every loss, residual and number of terms.

Tolerance: both solve the same least-squares problem in double precision; condition numbers of the kept candidates are
below 1e9 in the worst case and below 1e4 for the designs here, so relative differences stay below
1e4 · 1e-16 · (rows), for which 1e-7 leaves room.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenly.models.pmnf.problem import Candidate, Fit, Loss, Problem, SearchReport
from evenly.models.pmnf.search import search_all
from evenly.models.pmnf.terms import TermSet, all_factors
from evenly.models.scaling_laws.conditions import Conditions

Floats = NDArray[np.float64]
FITS: list[Fit] = ["relative", "absolute", "log"]
LOSSES: list[Loss] = ["mlogq2", "mlogq", "smape", "se"]
NOWHERE = Conditions(np.zeros((0, 1)), {}, False)


def _columns(problem: Problem, terms: TermSet, numbers: tuple[int, ...]) -> Floats:
    return terms.from_tables(terms.tables(problem.points), np.array(numbers, dtype=np.int64)).T


def _solve(problem: Problem, design: Floats, used: NDArray[np.bool_]) -> tuple[float, Floats]:
    """Weighted ridge regression with a free constant, the penalty scaled by all runs' columns."""
    roots = problem.roots
    intercept = roots / np.linalg.norm(roots)
    weighted = design * roots[:, None]
    lengths = np.linalg.norm(weighted - np.outer(intercept, intercept @ weighted), axis=0)
    left = np.column_stack([np.ones(len(design)), design])[used] * roots[used, None]
    penalty = np.diag(np.concatenate([[0.0], math.sqrt(problem.ridge) * lengths]))
    system = np.concatenate([left, penalty])
    right = np.concatenate([(roots * problem.response)[used], np.zeros(len(penalty))])
    scale = np.linalg.norm(system, axis=0)
    solution = np.linalg.lstsq(system / scale, right, rcond=None)[0] / scale
    return float(solution[0]), solution[1:]


def _brute_loss(problem: Problem, terms: TermSet, numbers: tuple[int, ...]) -> float:
    design = _columns(problem, terms, numbers)
    folds = np.arange(len(problem.values)) if problem.folds is None else problem.folds
    predictions = np.empty(len(folds))
    for fold in np.unique(folds):
        constant, slopes = _solve(problem, design, folds != fold)
        predictions[folds == fold] = constant + design[folds == fold] @ slopes
    predictions = problem.predicted(predictions)
    return float(np.average(_loss(problem.loss, problem.values, predictions), weights=problem.weights))


def _loss(loss: Loss, true: Floats, predicted: Floats) -> Floats:
    if loss == "se":
        return np.asarray((true - predicted) ** 2, dtype=np.float64)
    if loss == "smape":
        return np.asarray(2 * np.abs(true - predicted) / (np.abs(true) + np.abs(predicted)), dtype=np.float64)
    with np.errstate(all="ignore"):
        logs = np.where(predicted > 0, np.log(np.abs(predicted) / true), np.inf)
    return np.asarray(np.abs(logs) if loss == "mlogq" else logs**2, dtype=np.float64)


def _problem(seed: int, fit: Fit, loss: Loss, *, ridge: float = 0.0, folds: int = 0, d: int = 1) -> Problem:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(8, 15))
    points = np.exp(rng.uniform(0.7, 4.0, (m, d)))
    values = (3 / points[:, 0] + 0.2 * np.log2(points[:, -1]) + 0.1) * np.exp(0.2 * rng.normal(size=m))
    numbers = np.sort(np.arange(m) % folds) if folds else None
    return Problem(points, values, np.ones(m), fit, loss, ridge, numbers)


def _best(problem: Problem, terms: TermSet, n: int) -> list[Candidate]:
    """All combinations by plain refits, the nearly dependent left out as the search does."""
    found = []
    for numbers in itertools.combinations(range(len(terms)), n):
        plain = [k for k in numbers if k != terms.constant()]
        found.append(Candidate(_brute_loss(problem, terms, tuple(plain)), numbers))
    return sorted((c for c in found if math.isfinite(c.loss)), key=lambda c: c.loss)


def _same(problem: Problem, terms: TermSet, n: int) -> None:
    search = SearchReport("full", 0)
    keep = 20
    got = search_all(problem, terms, n, NOWHERE, keep=keep, search=search)
    expected = _best(problem, terms, n)[:keep]
    assert [c.loss for c in got] == pytest.approx([c.loss for c in expected], rel=1e-7)
    assert got[0].terms == expected[0].terms or got[0].loss == pytest.approx(expected[1].loss, rel=1e-7)
    counted = sum(search.counts[name] for name in ("evaluated", "pruned", "ill-conditioned"))
    assert counted == search.considered == math.comb(len(terms), n)


SMALL = TermSet((tuple(all_factors([-1, 0, 0.5, 2], [0, 1])),))


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_leave_one_out_equals_refits(fit: Fit, loss: Loss, n: int) -> None:
    _same(_problem(n, fit, loss), SMALL, n)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("loss", LOSSES)
def test_bounds_hold_for_residuals_of_many_orders_of_magnitude(fit: Fit, loss: Loss) -> None:
    problem = _problem(7, fit, loss)
    noise = np.exp(3.0 * np.random.default_rng(7).normal(size=len(problem.values)))
    _same(replace(problem, values=problem.values * noise), SMALL, 2)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_folds_equal_refits(fit: Fit, loss: Loss, n: int) -> None:
    _same(_problem(n + 10, fit, loss, folds=4), SMALL, n)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("folds", [0, 3])
def test_ridge_equals_refits(n: int, folds: int) -> None:
    _same(_problem(n + 20, "relative", "mlogq2", ridge=0.05, folds=folds), SMALL, n)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), fit=st.sampled_from(FITS), loss=st.sampled_from(LOSSES))
def test_two_parameters_equal_refits(seed: int, fit: Fit, loss: Loss) -> None:
    factors = tuple(all_factors([-1, 0, 1], [0, 1]))[:4]
    _same(_problem(seed, fit, loss, d=2), TermSet((factors, factors)), 2)


def test_weights_count_runs_as_often() -> None:
    problem = _problem(3, "relative", "se")
    weights = np.where(np.arange(len(problem.values)) % 3 == 0, 2.0, 0.7)
    _same(Problem(problem.points, problem.values, weights, "relative", "se"), SMALL, 2)


def test_more_rows_than_a_chunk_and_more_terms_than_a_block_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenly.models.pmnf import search

    rng = np.random.default_rng(5)
    points = np.exp(rng.uniform(0.5, 5.0, (150, 1)))
    values = (5 / points[:, 0] + 1) * np.exp(0.1 * rng.normal(size=150))
    problem = Problem(points, values, np.ones(150), "relative", "mlogq2")
    terms = TermSet((tuple(all_factors([k / 2 for k in range(-4, 6)], [0, 1, 2])),))
    whole = search_all(problem, terms, 2, NOWHERE, keep=10, search=SearchReport("full", 0))
    monkeypatch.setattr(search, "_BLOCK", 7)
    blocks = search_all(problem, terms, 2, NOWHERE, keep=10, search=SearchReport("full", 0))
    assert [c.terms for c in blocks] == [c.terms for c in whole]
    assert [c.loss for c in blocks] == pytest.approx([c.loss for c in whole], rel=1e-12)
    assert whole[0].loss == pytest.approx(_brute_loss(problem, terms, whole[0].terms), rel=1e-7)


def test_candidates_negative_or_rising_where_asked_are_rejected_and_counted() -> None:
    x = np.array([2.0, 4, 8, 16, 32, 64])
    problem = Problem(x[:, None], 10 - 0.1 * x, np.ones(6), "absolute", "se")
    terms = TermSet((((1.0, 0.0), (-1.0, 0.0)),))
    asked = np.array([[2.0], [64.0], [128.0]])
    free = search_all(problem, terms, 1, Conditions(asked, {}, False), search=SearchReport("full", 0))
    assert free[0].terms == (0,)
    search = SearchReport("full", 0)
    bound = search_all(problem, terms, 1, Conditions(asked, {}, True), search=search)
    assert (0,) not in [c.terms for c in bound]
    assert search.counts["negative"] >= 1
    search = SearchReport("full", 0)
    rising = search_all(problem, terms, 1, Conditions(asked, {0: 1.0}, False), search=search)
    assert (0,) not in [c.terms for c in rising]
    assert search.counts["not monotone"] >= 1
