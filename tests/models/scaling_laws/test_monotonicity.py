"""What is averaged keeps the signs asked on the whole range, not only at the points that the search tried."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.errors import ExtrapolationWarning
from evenly.models.pmnf.pmnf import PMNF
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.dense_points import dense_points
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.models.scaling_laws.monotonicity import certainly_positive, fault

Floats = NDArray[np.float64]
Shape = tuple[float, float, float, float]
Slope = Literal["decreasing", "increasing"]


def _value(shapes: list[Shape], x: Floats) -> Floats:
    logs = np.log(x)
    return np.asarray(sum(c * x**i * np.log2(x) ** j * np.exp(q * logs**2) for c, i, j, q in shapes))


def test_proofs_agree_with_a_million_points() -> None:
    rng = np.random.default_rng(0)
    x = np.exp(np.linspace(np.log(0.5), np.log(500.0), 1_000_000))
    proven = 0
    for _ in range(60):
        varying = [
            (float(rng.normal()), float(rng.choice([-2, -0.5, 0.25, 1])), float(rng.integers(0, 3)), float(q))
            for q in (0.0, rng.choice([0.0, 0.05, -0.05]))
        ]
        least = float(_value(varying, x).min())
        # The sum's least value is then one part in 10^6 of the terms' size above or below zero.
        size = abs(least) + 1e-3
        for gap, positive in ((1e-6 * size, True), (-1e-6 * size, False)):
            constant = gap - least
            assert certainly_positive([*varying, (constant, 0.0, 0.0, 0.0)], 0.5, 500.0) is positive
            proven += positive
    assert proven == 60


def test_a_dip_between_the_points_of_a_search_is_found() -> None:
    # (ln(x) - ln(50.3))^2 is negative by 1e-9 in a valley that is 6e-5 wide in ln(x).
    u = float(np.log(50.3))
    log2 = float(np.log(2.0))
    terms = (Term(log2**2, (0.0,), (2.0,)), Term(-2 * u * log2, (0.0,), (1.0,)), Term(u * u - 1e-9, (0.0,), (0.0,)))
    dips = Formula(("n",), terms)
    points = np.geomspace(1, 1000, 256)[:, None]
    assert (dips.evaluate(points) > 0).all()
    assert fault(dips, Conditions(points, {}, True, ((1.0, 1000.0),))) == "negative"
    assert fault(dips, Conditions(points, {}, True, ((60.0, 1000.0),))) is None
    assert fault(dips, Conditions(points, {0: 1.0}, True, ((60.0, 1000.0),))) is None
    assert fault(dips, Conditions(points, {0: 1.0}, False, ((40.0, 1000.0),))) == "not monotone"


def test_several_parameters_are_tried_at_faces_and_corners() -> None:
    points = dense_points(((1.0, 8.0), (0.0, 3.0)))
    assert len(points) >= 100_000
    for corner in ((1, 0), (1, 3), (8, 0), (8, 3)):
        assert (points == corner).all(axis=1).any()
    assert np.mean(points[:, 0] == 8.0) > 0.1
    # Negative on the edge p = 1 alone.
    formula = Formula(("p", "n"), (Term(1.0, (0.0, 0.0), (2.0, 0.0)), Term(-1e-9, (0.0, 0.0), (0.0, 0.0))))
    assert fault(formula, Conditions(points[:0], {}, True, ((1.0, 8.0), (0.0, 3.0)))) == "negative"


def test_members_of_two_parameters_are_positive_on_a_dense_grid() -> None:
    p, n = (a.ravel() for a in np.meshgrid(np.geomspace(1, 1000, 301), np.geomspace(4, 4096, 301)))
    table = pd.DataFrame({"p": p, "n": n})
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = np.exp(rng.uniform(0.7, 5, (14, 2)))
        values = (5 * x[:, 1] / x[:, 0] + 0.1) * np.exp(0.2 * rng.normal(size=14))
        asked = {"p": (1.0, 1000.0), "n": (4.0, 4096.0)}
        model = PMNF(terms=2, exponents=[-2, -1, -0.5, 0, 0.5, 1], log_exponents=[0, 1], asked=asked).fit(
            {"p": x[:, 0], "n": x[:, 1] * 4}, values
        )
        for member in model.members_:
            assert (member.predict(table) > 0).all(), member.formula


@pytest.mark.parametrize("slope", ["decreasing", "increasing"])
@pytest.mark.parametrize("runs", [3, 5, 9])
def test_no_model_breaks_the_slope_asked(runs: int, slope: Slope) -> None:
    x = np.geomspace(2, 512, runs)
    asked = np.geomspace(1, 2048, 2000)
    held = 0
    for seed in range(12):
        values = np.exp(0.3 * np.random.default_rng(seed).normal(size=runs))
        model = PMNF(monotone=slope).fit({"cores": x}, values)
        sign = 1.0 if slope == "increasing" else -1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            steps = np.diff(model.predict({"cores": asked}))
        # A constant, the last resort, may change by rounding.
        assert (sign * steps >= -1e-12).all()
        held += any("not monotone" in name for name in model.search_.counts)
    assert held, "noise alone must sometimes have the wrong slope"


def test_only_the_parameter_of_the_wrong_slope_is_held() -> None:
    p, n = np.array([2.0, 2, 4, 8, 8]), np.array([3.0, 30, 10, 3, 30])
    model = PMNF(monotone={"p": "increasing"}).fit({"p": p, "n": n}, n**1.5 / p)
    law = next(m.formula for m in model.members_ if m.kind == "power-law")
    assert law is not None
    assert law.terms[0].powers[0] == 0.0
    assert law.terms[0].powers[1] == pytest.approx(1.5)
    assert model.search_.counts["not monotone"] >= 1


@pytest.mark.parametrize("values", [[1.0, 2.0, 4.0, 3.0, 5.0], [0.0, 1.0, 2.0, 3.0, 4.0]])
def test_slopes_hold_without_a_formula_too(values: list[float]) -> None:
    options: dict[str, Any] = {"monotone": "decreasing"}
    model = PMNF(**options).fit({"level": values}, [1.0, 1.2, 1.3, 1.6, 2.0])
    predicted = model.predict({"level": np.linspace(min(values), max(values), 50)})
    assert (np.diff(predicted) <= 1e-12).all()
