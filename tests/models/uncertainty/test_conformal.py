"""Intervals from few left-out runs: Student's t."""

import pytest
from scipy.special import stdtrit

from evenly.models.uncertainty.conformal import _student


@pytest.mark.parametrize("freedom", [1.0, 1.5, 2.0, 3.7, 8.0, 30.0])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.99])
def test_the_bound_is_the_quantile_of_student_t(freedom: float, level: float) -> None:
    # Newton's method ends at a rounding error of the area, 1e-16 by 48 nodes; the tangent multiplies it by up to
    # 1 + tan² < 1e4 for these levels.
    assert _student(freedom, level) == pytest.approx(float(stdtrit(freedom, (1 + level) / 2)), rel=1e-11)
