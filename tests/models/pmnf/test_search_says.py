"""What `PMNF.search_` tells: fewer terms, fewer rows, who leads; and that large tables end in time."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from evenly.models.pmnf.pmnf import PMNF
from evenly.models.pmnf.problem import Problem

CORES = np.array([8.0, 16, 32, 64, 128, 256, 512, 1024])


@pytest.mark.parametrize(("runs", "terms", "used"), [(4, 2, "no"), (5, 2, "1"), (6, 3, "2"), (5, 3, "1")])
def test_fewer_terms_than_asked_are_explained(runs: int, terms: int, used: str) -> None:
    noise = np.exp(0.05 * np.random.default_rng(0).normal(size=runs))
    model = PMNF(terms=terms).fit({"cores": CORES[:runs]}, 100 / CORES[:runs] * noise)
    assert f"sums of {used} terms, not {terms}: {runs} different configurations are too few" in str(model.search_)
    assert f"({terms + 4} needed)" in str(model.search_)


def test_too_few_runs_to_search_are_said_to_be() -> None:
    report = str(PMNF().fit({"cores": CORES[:4]}, 100 / CORES[:4]).search_)
    assert report.startswith("no search, laws of fixed form only; sums of no terms, not 2: 4 different")
    assert "()" not in report


@pytest.mark.parametrize("search", ["hierarchical", "golden-section"])
def test_stages_of_single_parameters_are_counted_apart(search: Literal["hierarchical", "golden-section"]) -> None:
    model = PMNF(search=search).fit({"cores": CORES}, 100 / CORES + 1)
    counts = model.search_.counts
    assert 0 < model.search_.considered <= model.search_.asked == 1953
    assert sum(counts.get(name, 0) for name in ("evaluated", "pruned", "ill-conditioned")) == model.search_.considered
    assert f"of factors that {model.search_.first_stage:,} fits of one parameter chose" in str(model.search_)


def test_fewer_factors_than_terms_are_counted_right() -> None:
    model = PMNF(exponents=[-1], log_exponents=[0]).fit({"cores": CORES}, 100 / CORES + 1)
    assert model.search_.considered == model.search_.asked == 1


def test_enough_runs_need_no_excuse() -> None:
    model = PMNF(terms=1).fit({"cores": CORES[:5]}, 100 / CORES[:5] + 1)
    assert "terms, not" not in str(model.search_)


def test_a_law_of_fixed_form_that_leads_is_named() -> None:
    values = 100 * CORES**-0.9 * np.exp(0.03 * np.random.default_rng(1).normal(size=8))
    model = PMNF(terms=1, exponents=[-2, 1], log_exponents=[0]).fit({"cores": CORES}, values)
    assert model.members_[0].kind == "power-law"
    assert "power-law leads, candidates searched have" in str(model.search_)


def test_candidates_that_lead_need_no_note() -> None:
    x = np.arange(2.0, 40)
    model = PMNF().fit({"x": x}, 100 * x**-1.25 + 0.5 * np.log2(x) ** 2 + 3)
    assert model.members_[0].kind == "pmnf"
    assert "leads" not in str(model.search_)


def test_large_tables_are_searched_in_part_and_fitted_whole() -> None:
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(1, 6, (20_000, 2)))
    values = (1 + 0.02 * x[:, 1] / x[:, 0] + 0.05 * np.log2(x[:, 0])) * np.exp(0.05 * rng.normal(size=len(x)))
    models = [PMNF(effort="quick").fit({"p": x[rows, 0], "n": x[rows, 1]}, values[rows])
              for rows in (np.arange(20_000), rng.permutation(20_000))]  # fmt: skip
    assert "of 20,000 rows, fitted and weighed on all" in str(models[0].search_)
    assert str(models[0].search_) == str(models[1].search_)
    leading = models[0].leading_
    assert leading is not None
    terms = {(t.powers, t.logs): t.coefficient for t in leading.terms}
    # Noise of 5 % on 20,000 rows leaves coefficients an error of about 0.1 %.
    assert terms[((-1.0, 1.0), (0.0, 0.0))] == pytest.approx(0.02, rel=0.01)
    one, other = (model.predict({"p": [5.0, 90.0], "n": [40.0, 9.0]}) for model in models)
    np.testing.assert_allclose(other, one, rtol=1e-8)


def test_some_runs_keep_extremes_and_folds() -> None:
    rng = np.random.default_rng(0)
    points, values = rng.uniform(1, 9, (5000, 3)), rng.uniform(1, 2, 5000)
    problem = Problem(points, values, np.ones(5000), "relative", "mlogq2", folds=np.sort(np.arange(5000) % 7))
    some = problem.some(100)
    assert 100 <= len(some.values) <= 108
    np.testing.assert_array_equal(np.ptp(some.points, axis=0), np.ptp(points, axis=0))
    assert some.folds is not None
    assert set(some.folds) == set(range(7))
    assert (np.diff(some.folds) >= 0).all()
    assert problem.some(5000) is problem


def test_eleven_parameters_can_be_counted() -> None:
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(0, 3, (60, 11)))
    model = PMNF(effort="quick").fit(dict(zip("abcdefghijk", x.T, strict=True)), x[:, 0] + 1)
    assert model.search_.asked > 2**63
    assert "e+" in str(model.search_)
