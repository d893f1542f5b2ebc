"""Configurations of which every run was stopped at its limit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.base import Model


def _runs(stopped: int) -> evenly.Runs:
    rng = np.random.default_rng(3)
    rows = [("timed out", 64, 14400.0)] * stopped
    rows += [("ok", 128, 9600.0 * rng.lognormal(0, 0.03)) for _ in range(30)]
    return evenly.Runs.from_frame(pd.DataFrame(rows, columns=["status", "cores", "seconds"]), ["cores"])


@pytest.mark.parametrize("method", [None, "power-law", "pmnf", "nearest", "gp"])
def test_no_prediction_is_below_what_all_runs_took(method: str | None) -> None:
    model = evenly.fit(_runs(30), method=method)
    assert isinstance(model, Model)
    asked = {"cores": [64, 128]}
    lower, upper = model.interval(asked)
    predicted = model.predict(asked)
    assert predicted[0] >= 14400
    assert lower[0] >= 14400 - 0.06
    assert upper[0] > predicted[0]
    assert model.extrapolates(asked).tolist() == [True, False]
    assert predicted[1] == pytest.approx(9600, rel=0.03)


def test_one_stopped_run_may_be_chance() -> None:
    model = evenly.fit(_runs(1), method="nearest")
    assert isinstance(model, Model)
    assert "floors" not in model.training_
