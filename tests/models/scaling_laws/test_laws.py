"""Laws of fixed form: each is found once, and its coefficients are those of non-negative least squares."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from evenly.models.pmnf.pmnf import PMNF
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


@pytest.mark.filterwarnings("ignore:asked outside the range")
@pytest.mark.parametrize("is_whole", [True, False])
def test_powers_of_a_size_multiply_all_of_a_law_or_its_scaling_part(*, is_whole: bool) -> None:
    table = pd.DataFrame([(n, p) for n in (1e4, 1e5) for p in (8, 16, 32)], columns=["n", "cores"])
    n, p = table.to_numpy().T
    size = 1e-4 * n**1.1
    seconds = size / p + 0.05 * (size if is_whole else 9.0)
    best = min(fit_laws(table, seconds, np.ones(6)), key=lambda law: law.loss)
    far = 1e-4 * 1e5**1.1
    expected = far / 64 + 0.05 * (far if is_whole else 9.0)
    assert best.formula.evaluate(np.array([[1e5, 64.0]])) == pytest.approx(expected, rel=1e-6)
    noise = np.exp(0.01 * np.random.default_rng(0).standard_normal(6))
    model = PMNF().fit(table, seconds * noise)
    low, high = model.interval({"n": [1e5], "cores": [64]})
    assert low[0] <= expected <= high[0]
    assert high[0] < 2 * low[0]


@pytest.mark.filterwarnings("ignore:asked outside the range")
def test_laws_of_several_parameters_do_not_depend_on_units_and_order() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame([(n, p) for n in (1.0, 3.0, 9.0) for p in (2, 4, 8)], columns=["n", "nodes"])
    seconds = (table["n"] / table["nodes"] + 0.02 * table["n"]).to_numpy() * np.exp(0.05 * rng.standard_normal(9))
    order = rng.permutation(9)
    ms = PMNF().fit(table.iloc[order].assign(n=lambda t: 1000 * t["n"]), 1000 * seconds[order])
    asked = {"n": [18.0, 2.0], "nodes": [16, 3]}
    one = PMNF().fit(table, seconds).interval(asked)
    other = ms.interval({"n": [18_000.0, 2000.0], "nodes": [16, 3]})
    np.testing.assert_allclose(np.array(other) / 1000, one, rtol=1e-6)


@pytest.mark.parametrize("names", [("message", "size"), ("n", "cores")])
def test_there_are_laws_in_counts_alone(names: tuple[str, str]) -> None:
    table = pd.DataFrame([(n, p) for n in (1e4, 1e5) for p in (8, 16, 32)], columns=list(names))
    laws = fit_laws(table, np.arange(1.0, 7), np.ones(6))
    assert bool(laws) == (names[1] == "cores")


@pytest.mark.parametrize("unit", [1.0, 1e9, 1e20])
def test_small_coefficients_of_another_unit_count(unit: float) -> None:
    # In small units of n, the coefficient of its term is far smaller than that of the constant.
    table = pd.DataFrame([(n * unit, p) for n in (1e4, 1e5) for p in (8, 16, 32)], columns=["n", "cores"])
    seconds = (1e-3 * table["n"] / unit / table["cores"] + 9.0).to_numpy()
    laws = [law for law in fit_laws(table, seconds, np.ones(6)) if law.kind == "scaling-plus-constant"]
    best = min(laws, key=lambda law: law.loss)
    np.testing.assert_allclose(best.formula.evaluate(table.to_numpy()), seconds, rtol=1e-6)
    np.testing.assert_allclose(best.left_out, seconds, rtol=1e-6)


def test_a_constant_beside_a_steep_power_counts() -> None:
    # Two days and two grids change together: the power of days is steep, and its coefficient is huge.
    table = pd.DataFrame({"days": [20.0] * 4 + [10] * 3, "cores": [16.0, 64, 320, 1280, 1200, 4800, 18000]})
    seconds = (1e13 * table["days"] ** -7.4 / table["cores"] + 15).to_numpy()
    best = min(fit_laws(table, seconds, np.ones(7)), key=lambda law: law.loss)
    np.testing.assert_allclose(best.formula.evaluate(table.to_numpy()), seconds, rtol=1e-6)


@pytest.mark.parametrize(("scaling", "exponent", "constant"), [(900, -0.92, 1.5), (380, -0.88, 1.0), (4, 1.37, 60)])
def test_the_exponent_beside_a_constant_is_found(scaling: float, exponent: float, constant: float) -> None:
    x = np.array([8.0, 16, 32, 64, 128, 256])
    seconds = scaling * x**exponent + constant
    best = min(fit_laws(pd.DataFrame({"cores": x}), seconds, np.ones(6)), key=lambda law: law.loss)
    assert best.kind == "any-power-law-plus-constant"
    assert best.coefficients == 3
    assert [term.coefficient for term in best.formula.terms] == pytest.approx([scaling, constant], rel=1e-6)
    assert best.formula.terms[0].powers[0] == pytest.approx(exponent, rel=1e-6)
    model = PMNF().fit({"cores": x}, seconds)
    assert model.predict({"cores": x}) == pytest.approx(seconds, rel=1e-3)
