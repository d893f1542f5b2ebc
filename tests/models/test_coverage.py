"""How often a new measurement falls into its 90 % interval, over many planted problems.

Tolerance: with K problems of q new measurements each, the share covered has a standard error of at most
``sqrt(0.9 · 0.1 / K)`` if all q of a problem fell together, 0.019 for K = 250. Three of these around the bounds that a
finite sample allows give the window below: the conformal quantile covers between 0.9 and ``0.9 + 1 / (n + 1)`` for
exchangeable scores, and models that are averaged or misspecified lie around that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.errors import ExtrapolationWarning
from evenly.models.base import Model
from evenly.models.pmnf.pmnf import PMNF
from evenly.models.scaling_laws.log_quadratic import LogQuadratic
from evenly.models.scaling_laws.power_law import PowerLaw

Floats = NDArray[np.float64]
Truth = Callable[[Floats], Floats]
PROBLEMS = 250

POWER: list[Truth] = [lambda x: 80 * x**-0.9, lambda x: 0.2 * x**0.7]
CURVES: list[Truth] = [
    lambda x: 100 / x + 2,
    lambda x: 200 / x + 0.02 * x + 0.5,
    lambda x: 80 / x + 2 * np.log2(x) + 4,
    lambda x: 80 * x**-0.9,
]


def _covered(make: Callable[[], Model], truths: list[Truth], n: int, problems: int) -> float:
    hits = []
    for seed in range(problems):
        rng = np.random.default_rng(seed)
        truth = truths[seed % len(truths)]
        x = np.exp(np.linspace(np.log(8), np.log(512), n))
        model = make().fit({"x": x}, truth(x) * np.exp(0.1 * rng.normal(size=n)))
        asked = np.exp(rng.uniform(np.log(8), np.log(512), 20)).clip(8, 511.999)
        lower, upper = model.interval({"x": asked}, 0.9)
        new = truth(asked) * np.exp(0.1 * rng.normal(size=20))
        hits.append(np.mean((lower <= new) & (new <= upper)))
    return float(np.mean(hits))


@pytest.mark.parametrize("n", [4, 7, 20, 60])
def test_power_laws_cover_as_often_as_they_say(n: int) -> None:
    assert 0.84 <= _covered(PowerLaw, POWER, n, PROBLEMS) <= 0.96


@pytest.mark.parametrize("n", [7, 20, 60])
def test_log_quadratics_cover_as_often_as_they_say(n: int) -> None:
    assert 0.84 <= _covered(LogQuadratic, POWER, n, PROBLEMS) <= 0.97


@pytest.mark.parametrize("n", [7, 20, 60])
def test_averaged_models_cover_as_often_as_they_say(n: int) -> None:
    assert 0.85 <= _covered(PMNF, CURVES, n, 100) <= 0.97


def test_intervals_widen_outside_the_range() -> None:
    x = np.geomspace(8, 512, 12)
    noise = np.exp(0.1 * np.random.default_rng(0).normal(size=12))
    for make in (PowerLaw, LogQuadratic, PMNF):
        model = make().fit({"x": x}, (100 / x + 2) * noise)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            lower, upper = model.interval({"x": [64.0, 512.0, 4096.0]})
        assert (np.diff(upper / lower) > 0).all()
