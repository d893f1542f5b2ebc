"""Intervals between the few values of a parameter that were measured."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

import evenly
from evenly.models.base import Model


def _law(p: int, n: float) -> float:
    return float(1 + 1.5e-4 * n / p + 4e-3 * (n / p) ** (2 / 3) + 0.35 * np.log2(p))


def _fitted(seed: int, method: str | None = None) -> Model:
    rng = np.random.default_rng(seed)
    grid = list(itertools.product((16, 32, 64, 128, 256), (1e6, 4e6, 16e6)))
    table = pd.DataFrame(grid, columns=["ranks", "cells"])
    table["seconds"] = [_law(*row) * rng.lognormal(0, 0.04) for row in grid]
    model = evenly.fit(table, time="seconds", parameters=["ranks", "cells"], method=method)
    assert isinstance(model, Model)
    return model


def test_intervals_hold_between_measured_sizes() -> None:
    asked = pd.DataFrame(list(itertools.product((24, 48, 96, 192), (2e6, 8e6))), columns=["ranks", "cells"])
    truth = np.array([_law(*row) for row in asked.itertuples(index=False)])
    held = []
    for seed in range(12):
        lower, upper = _fitted(seed).interval(asked)
        new = truth * np.random.default_rng(100 + seed).lognormal(0, 0.04, len(truth))
        held.append((lower <= new) & (new <= upper))
    assert np.mean(held) > 0.87


def test_a_value_that_was_measured_widens_nothing() -> None:
    model = _fitted(1, "gp")
    assert "cells" in model.training_["between"]
    at, between = pd.DataFrame({"ranks": [64], "cells": [4e6]}), pd.DataFrame({"ranks": [64], "cells": [8e6]})
    half = [float(np.log(upper / lower)[0]) for lower, upper in (model.interval(at), model.interval(between))]
    assert half[1] > half[0]
    model.training_["between"] = {}
    without = [float(np.log(upper / lower)[0]) for lower, upper in (model.interval(at), model.interval(between))]
    assert without[0] == half[0]
    assert without[1] < half[1]


def test_one_parameter_needs_no_such_thing() -> None:
    table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 41.0, 20.0, 10.2, 5.1]})
    model = evenly.fit(table, time="seconds", parameters=["cores"])
    assert isinstance(model, Model)
    assert "between" not in model.training_


def test_a_model_without_left_out_errors_is_fitted() -> None:
    rows = [(p, n, 8.0 * n / p) for p in (1, 2) for n in (1, 2, 4)]
    table = pd.DataFrame(rows, columns=["p", "n", "seconds"])
    for method in ("power-law", "log-quadratic", "nearest"):
        assert isinstance(evenly.fit(table.iloc[:5], time="seconds", parameters=["p", "n"], method=method), Model)
