"""Metrics against expressions written out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenly import metrics
from evenly.errors import InputError

Y = [1.0, 4.0, 10.0]
M = [2.0, 3.0, 10.5]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MAPE", (1 / 1 + 1 / 4 + 0.5 / 10) / 3),
        ("MAE", (1 + 1 + 0.5) / 3),
        ("MSE", (1 + 1 + 0.25) / 3),
        ("SMAPE", 2 * (1 / 3 + 1 / 7 + 0.5 / 20.5) / 3),
        ("LGMAPE", (math.log(1) + math.log(1 / 4) + math.log(0.05)) / 3),
        ("MLogQ", (math.log(2) + math.log(4 / 3) + math.log(1.05)) / 3),
        ("MLogQ2", (math.log(2) ** 2 + math.log(4 / 3) ** 2 + math.log(1.05) ** 2) / 3),
        ("R2", 1 - 2.25 / 42),  # mean 5: 16 + 1 + 25
    ],
)
def test_values_by_hand(name: str, expected: float) -> None:
    assert metrics.METRICS[name](Y, M) == pytest.approx(expected, rel=1e-14)


def test_exact_predictions() -> None:
    for name in ("MAPE", "MAE", "MSE", "SMAPE", "MLogQ", "MLogQ2"):
        assert metrics.METRICS[name](Y, Y) == 0
    assert metrics.lgmape(Y, Y) == -math.inf
    assert metrics.r2(Y, Y) == 1


def test_predictions_at_or_below_zero_count_as_almost_nothing() -> None:
    for wrong in (0.0, -3.0, -math.inf):
        assert metrics.mlogq([2.0], [wrong]) == pytest.approx(math.log(2.0) + 16 * math.log(10))
    assert metrics.mlogq([1e-20], [1e-20]) == 0  # tiny, but above zero: taken as it is
    assert math.isnan(metrics.mlogq([1.0], [math.nan]))


def test_r2_of_equal_values_is_undefined() -> None:
    assert math.isnan(metrics.r2([0.1, 0.1, 0.1], [0.1, 0.1, 0.2]))


@pytest.mark.parametrize(
    ("true", "predicted", "reason"),
    [([1.0], [1.0, 2.0], "as many"), ([], [], "as many"), ([1.0, 0.0], [1.0, 1.0], "value 1 is 0"),
     ([math.nan], [1.0], "value 0 is nan"), ([-1.0], [1.0], "above zero")],
)  # fmt: skip
def test_unfit_values(true: list[float], predicted: list[float], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        metrics.mape(true, predicted)


def test_any_shape_and_type() -> None:
    assert metrics.mae(np.array([[1], [2]]), [1, 3]) == 0.5
