"""Factorised models: parts that are known by construction come back, from parts or from their sum alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import evenly
from evenly.errors import InputError
from evenly.metrics import mlogq
from evenly.models.factorized import Factorized
from evenly.models.scaling_laws.coefficient_laws import CoefficientLaws
from evenly.models.trees.extra_trees import ExtraTrees

FACTORS = {"work": "cells / ranks", "talk": "surface"}
Floats = NDArray[np.float64]
#: Rows asked for may lie a little beyond those drawn to learn from.
pytestmark = pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")


def planted(n: int, *, seed: int = 0, noise: float = 0.02) -> tuple[pd.DataFrame, dict[str, Floats]]:
    """Return runs and the parts of their times: coefficients drift slowly with the points of a rank."""
    random = np.random.default_rng(seed)
    cells = np.exp(random.uniform(11, 16, n)).round()
    ranks = 2.0 ** random.integers(0, 8, n)
    table = pd.DataFrame({"cells": cells, "ranks": ranks, "surface": (cells / ranks) ** (2 / 3) * (ranks > 1)})
    each = np.log(cells / ranks)
    parts = {
        "work": 3e-9 * cells / ranks * np.exp(0.05 * each),
        "talk": 2e-7 * table["surface"].to_numpy() * np.exp(-0.1 * (each - 10)),
    }
    return table, {name: part * np.exp(noise * random.normal(size=n)) for name, part in parts.items()}


def learned(n: int, *, parts: bool, **options: Any) -> Factorized:
    table, measured = planted(n)
    model = Factorized(factors=FACTORS, **options)
    return model.fit(table, sum(measured.values()), parts=measured if parts else None)


@pytest.mark.parametrize("learner", ["gp", "log-quadratic", "extra-trees"])
def test_parts_that_were_measured_come_back(learner: str) -> None:
    model = learned(80, parts=True, learner=learner)
    table, truth = planted(60, seed=1, noise=0.0)
    found = model.predict_parts(table)
    assert mlogq(truth["work"], found["work"]) < 0.05
    some = truth["talk"] > 0
    assert mlogq(truth["talk"][some], found["talk"][some]) < 0.08
    assert np.all(found["talk"][~some] == 0)
    np.testing.assert_allclose(sum(found.values()), model.predict(table))


def test_from_the_sum_alone_parts_are_told_apart_by_their_factors() -> None:
    model = learned(200, parts=False)
    table, truth = planted(100, seed=1, noise=0.0)
    found = model.predict_parts(table)
    assert mlogq(sum(truth.values()), model.predict(table)) < 0.03
    assert mlogq(truth["work"], found["work"]) < 0.15
    heavy = truth["talk"] > truth["work"]
    assert heavy.sum() > 5
    assert mlogq(truth["talk"][heavy], found["talk"][heavy]) < 0.3


def test_dividing_the_law_out_saves_runs() -> None:
    table, truth = planted(100, seed=1, noise=0.0)
    total = sum(truth.values())
    train, parts = planted(40)
    plain = ExtraTrees().fit(train, sum(parts.values()))
    model = Factorized(factors=FACTORS, learner="extra-trees").fit(train, sum(parts.values()), parts=parts)
    assert mlogq(total, model.predict(table)) < 0.5 * mlogq(total, plain.predict(table))


def test_intervals_cover() -> None:
    model = learned(150, parts=True)
    table, truth = planted(300, seed=2)
    lower, upper = model.interval(table, 0.9)
    total = sum(truth.values())
    assert 0.82 <= np.mean((lower <= total) & (total <= upper)) <= 0.97


def test_it_is_fitted_by_name_with_quantities_as_parts(tmp_path: Path) -> None:
    table, parts = planted(40)
    frame = table.assign(seconds=sum(parts.values()), **parts)
    runs = evenly.Runs.from_frame(frame, list(table.columns), quantities={"work": "s", "talk": "s"})
    model = evenly.fit(runs, method="factorized", factors=FACTORS)
    assert isinstance(model, Factorized)
    assert model._laws is None
    alone = evenly.fit(evenly.Runs.from_frame(frame, list(table.columns)), method="factorized", factors=FACTORS)
    assert isinstance(alone, Factorized)
    assert alone._laws is not None
    for one in (model, alone):
        evenly.save(one, tmp_path / "m.evenly")
        again = evenly.load(tmp_path / "m.evenly")
        assert isinstance(again, Factorized)
        for name, part in one.predict_parts(table).items():
            np.testing.assert_array_equal(again.predict_parts(table)[name], part)


@pytest.mark.parametrize(
    ("options", "parts", "said"),
    [
        ({"factors": {"work": "cell / ranks"}}, None, "cell"),
        ({"factors": {"work": "-cells"}}, None, "at least 0"),
        ({"factors": {"work": "surface"}}, None, "some factor must be above 0"),
        ({"factors": FACTORS, "inputs": {"work": ["nope"]}}, None, "nope"),
        ({"factors": FACTORS, "inputs": {"other": ["cells"]}}, None, "other"),
        ({"factors": FACTORS}, {"work": "ok"}, "'talk' is missing"),
        ({"factors": FACTORS}, {"work": "ok", "talk": "ok", "more": "ok"}, "no factor for 'more'"),
        ({"factors": FACTORS}, {"work": "ok", "talk": "negative"}, "at least 0"),
    ],
)
def test_wrong_uses_are_told(options: dict[str, Any], parts: dict[str, str] | None, said: str) -> None:
    table, measured = planted(30)
    total = sum(measured.values())
    kinds = {"ok": measured["work"], "negative": -measured["talk"] - 1}
    given = None if parts is None else {name: kinds[kind] for name, kind in parts.items()}
    with pytest.raises(InputError, match=said):
        Factorized(**options).fit(table, total, parts=given)


def test_laws_are_exact_without_noise() -> None:
    random = np.random.default_rng(0)
    z = random.normal(size=(60, 2))
    factors = {"a": np.exp(random.normal(size=60)), "b": np.exp(random.normal(size=60))}
    total = 2 * factors["a"] + 0.5 * factors["b"]
    laws = CoefficientLaws.learn(z, factors, total, np.ones(60))
    found = laws.parts(z, factors)
    np.testing.assert_allclose(found["a"], 2 * factors["a"], rtol=1e-3)
    np.testing.assert_allclose(found["b"], 0.5 * factors["b"], rtol=1e-3)
