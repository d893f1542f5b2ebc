"""Labels of log-linear models: any values can be labels, None and truth values among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.scaling_laws.log_quadratic import LogQuadratic
from evenly.models.scaling_laws.power_law import PowerLaw


@pytest.mark.parametrize("model", [PowerLaw(), LogQuadratic()])
@pytest.mark.parametrize(
    "labels", [("a", None, "b"), (True, None, False), (True, "x", False), (1, "x", None, 2.5), (False, 2, "x", None)]
)
def test_each_of_mixed_labels_has_its_own_factor(model: PowerLaw | LogQuadratic, labels: tuple[Any, ...]) -> None:
    # Planted: 3^k · 10 / cores for label k. The fit is exact, up to the rounding of logarithms.
    solver = np.repeat(np.array(labels, dtype=object), 5)
    cores = np.tile(2.0 ** np.arange(5), len(labels))
    factors = 3.0 ** np.arange(len(labels))
    model.fit({"solver": solver, "cores": cores}, np.repeat(factors, 5) * 10 / cores)
    at = {"solver": np.array(labels, dtype=object), "cores": np.ones(len(labels))}
    assert model.predict(at) == pytest.approx(10 * factors)
    for label, factor in zip(labels, factors, strict=True):
        alone = {"solver": np.array([label], dtype=object), "cores": [1.0]}
        assert model.predict(alone) == pytest.approx([10 * factor])


def test_labels_that_scale_differently_have_slopes_of_their_own() -> None:
    """Strong scaling beside weak scaling, measured within 1 %."""
    cores = [16, 32, 64, 128, 256, 512]
    strong, weak = [1853.1, 960.6, 513.0, 287.8, 175.1, 123.9], [275.4, 279.6, 280.6, 283.3, 288.6, 294.2]
    table = pd.DataFrame({"kind": ["strong"] * 6 + ["weak"] * 6, "cores": cores * 2})
    model = LogQuadratic().fit(table, strong + weak)
    np.testing.assert_allclose(model.predict(table), strong + weak, rtol=0.06)
    lower, upper = model.interval(table)
    assert np.mean((lower <= strong + weak) & (strong + weak <= upper)) > 0.8
    assert np.log(upper / lower).max() < 0.3
    again = LogQuadratic()
    again.space_ = model.space_
    again._set_state(model._get_state())
    np.testing.assert_array_equal(again._predict(table), model._predict(table))


def test_labels_that_scale_alike_share_their_slopes() -> None:
    cores = np.tile([1, 2, 4, 8, 16, 32], 2)
    kinds = np.repeat(["a", "b"], 6)
    seconds = np.where(kinds == "a", 100.0, 40.0) / cores * np.random.default_rng(0).lognormal(0, 0.03, 12)
    model = LogQuadratic().fit({"kind": kinds, "cores": cores}, seconds)
    assert model._label_has == ""


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
@pytest.mark.parametrize("labels", [2, 3])
def test_intervals_beyond_the_range_hold_the_truth(labels: int, tmp_path: Path) -> None:
    # Those of the parabola that labels share held few of the times at twice the largest count.
    held = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, truth = [], {}
        for number in range(labels):
            a, b, d = rng.uniform(500, 3000), rng.uniform(0.75, 1), rng.uniform(2, 12)
            rows += [(f"l{number}", p, (a / p**b + d) * np.exp(0.01 * rng.normal())) for p in (4, 8, 16, 32, 64, 128)]
            truth[f"l{number}"] = a / 256**b + d
        table = pd.DataFrame(rows, columns=["config", "cores", "seconds"])
        model = LogQuadratic().fit(table[["config", "cores"]], table["seconds"])
        asked = {"config": list(truth), "cores": [256] * labels}
        lower, upper = model.interval(asked, 0.9)
        held += list((lower <= [*truth.values()]) & ([*truth.values()] <= upper))
    assert np.mean(held) > 0.9
    evenly.save(model, tmp_path / "m.evenly")
    again = evenly.load(tmp_path / "m.evenly")
    assert isinstance(again, LogQuadratic)
    assert np.array_equal(again.interval(asked, 0.9), (lower, upper))
