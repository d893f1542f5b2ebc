"""Laws of fixed form: each is found once, and its coefficients are those of non-negative least squares."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from evenly.models.scaling_laws.laws import _non_negative, fit_laws


def test_a_law_whose_further_terms_are_zero_counts_once() -> None:
    # Perfect scaling plus a constant fits best: laws with a logarithm or a growing power beside these two have a
    # coefficient of zero there. They are the same law and must not get weight of their own.
    cores = np.array([8.0, 16, 32, 64, 128])
    seconds = 1000 / cores * np.exp(np.random.default_rng(0).normal(0, 0.03, 5)) + 0.5
    laws = fit_laws(pd.DataFrame({"cores": cores}), seconds, np.ones(5))
    formulas = [str(law.formula) for law in laws]
    assert len(set(formulas)) == len(formulas)


@pytest.mark.parametrize("cores", [(1, 2, 3, 4, 5, 6), (1, 2, 4, 8, 16), (1, 10, 100, 1000), (16, 32, 64, 128, 256)])
@pytest.mark.parametrize(
    ("scaling", "constant", "growth"), [(0, 7, 0), (1000, 0, 0), (1000, 5, 0), (10, 0, 0.3), (10, 2, 0.3)]
)
def test_laws_that_differ_by_rounding_errors_count_once(
    cores: tuple[int, ...], scaling: float, constant: float, growth: float
) -> None:
    # Exact and constant data: several laws end at the same terms, and their coefficients differ in the last digit.
    x = np.array(cores, dtype=np.float64)
    seconds = scaling / x + constant + growth * x
    laws = fit_laws(pd.DataFrame({"cores": x}), seconds, np.ones(len(x)))
    terms = [{(term.powers, term.logs) for term in law.formula.terms} for law in laws]
    assert all(one not in terms[:n] for n, one in enumerate(terms))


@given(st.integers(0, 10_000), st.integers(2, 3))
def test_coefficients_are_those_of_scipy(seed: int, terms: int) -> None:
    random = np.random.default_rng(seed)
    design = random.uniform(0.1, 1.0, (6, terms))
    target = design @ random.normal(0.5, 1.0, terms) + random.normal(0, 0.1, 6)
    found, squares = _non_negative(design, target), nnls(design, target)[1] ** 2
    assert (found >= 0).all()
    # The minimum is unique up to the rounding of sums of six squares.
    assert np.sum((design @ found - target) ** 2) <= squares + 1e-12
