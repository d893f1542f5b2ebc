"""A model keeps the errors of its leave-one-out predictions, so that a page of the model alone can tell them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.base import Model
from evenly.report.formatting import typical_error
from evenly.report.left_out_errors import left_out_errors


@pytest.mark.parametrize("method", ["power-law", "pmnf", "auto"])
def test_errors_are_kept_in_the_file_and_shown_without_runs(tmp_path: Path, method: str) -> None:
    cores = np.array([1, 2, 4, 8, 16, 32, 64] * 2)
    seconds = (100 / cores + 2) * np.exp(0.05 * np.random.default_rng(3).normal(size=len(cores)))
    runs = evenly.Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": seconds}), ["cores"])
    model = evenly.fit(runs, method=method, effort="quick")
    evenly.save(model, tmp_path / "model.evenly")
    loaded = evenly.load(tmp_path / "model.evenly")
    assert isinstance(loaded, Model)
    kept, errors = loaded.training_["left_out"], left_out_errors(model, runs)
    assert errors is not None
    assert kept == pytest.approx(errors)
    assert f"| {typical_error(errors['MLogQ'])} |" in evenly.page(model).markdown()
