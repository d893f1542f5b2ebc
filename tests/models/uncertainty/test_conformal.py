"""Intervals from few left-out runs: Student's t."""

import math

import numpy as np
import pytest
from scipy.special import betainc

from evenly.models.uncertainty.conformal import LogConformal, student

_LEVELS = (1e-3, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12)
#: The oldest SciPy that evenly allows searches quantiles to 5e-9; later ones are exact to rounding errors.
_CLOSE = 1e-8


@pytest.mark.parametrize("freedom", [1.0, 1.0001, 1.021, 1.5, 2.0, 2.01, 3.7, 8.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("level", _LEVELS)
def test_the_bound_is_the_quantile_of_student_t(freedom: float, level: float) -> None:
    # P(|T| > t) = I_x(freedom / 2, 1/2) with x = freedom / (freedom + t²). Its relative error is that of t, multiplied
    # by at most about the smaller of freedom and t² + 1, which is below 60 for these levels.
    t = student(freedom, level)
    beyond = betainc(freedom / 2, 0.5, freedom / (freedom + t**2))
    assert float(beyond) == pytest.approx(1 - level, rel=60 * _CLOSE)


@pytest.mark.parametrize("level", _LEVELS)
def test_one_and_two_degrees_of_freedom_have_closed_forms(level: float) -> None:
    # Cauchy's distribution, and t = level · sqrt(2 / (1 - level²)).
    assert student(1.0, level) == pytest.approx(1 / math.tan(math.pi / 2 * (1 - level)), rel=_CLOSE)
    assert student(2.0, level) == pytest.approx(level * math.sqrt(2 / ((1 - level) * (1 + level))), rel=_CLOSE)


@pytest.mark.parametrize("freedom", np.linspace(0.0, 5.0, 51))
def test_intervals_from_few_runs_widen_with_their_level(freedom: float) -> None:
    few = LogConformal(np.array([0.01, 0.02, 0.02, 0.03, 0.05]), float(freedom))
    widths = [few.half_width(level) for level in _LEVELS]
    assert np.isfinite(widths).all()
    assert (np.diff(widths) >= 0).all()
    assert (np.diff(widths[4:]) > 0).all()


def test_a_few_exact_runs_prove_no_exactness() -> None:
    for runs in (3, 5, 8):
        # Two runs of a spread of 3 % among runs without error, times the quantile of Student's t of two-sided 90 %.
        few = LogConformal.from_residuals(np.zeros(runs), np.zeros(runs), coefficients=2)
        assert few.half_width(0.9) > 1.7 * 0.03 * (2 / (runs + 2)) ** 0.5
    assert LogConformal.from_residuals(np.zeros(30), np.zeros(30), coefficients=2).half_width(0.9) == 0
