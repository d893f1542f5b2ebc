"""Wide tables: what matters is found, the rest is named, and predictions don't depend on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import EvenlyWarning
from evenly.metrics import mlogq
from evenly.models.ensemble.automatic import Automatic
from evenly.models.ensemble.distillation import distil
from evenly.models.ensemble.race import Table
from evenly.models.ensemble.screening import WIDE, that_matter
from evenly.models.storage import load, save
from evenly.space.space import Space


def wide(rows: int, columns: int, *, seed: int = 0) -> pd.DataFrame:
    """Return a table whose time depends on x0, x3, x7 and the label alone."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"x{k}": np.exp(rng.uniform(0, 4, rows)).round(2) for k in range(columns)})
    table["solver"] = rng.choice(["cg", "gmres"], rows)
    exact = table["x0"] * table["x3"] / table["x7"] * np.where(table["solver"] == "cg", 1.0, 2.0)
    return table.assign(seconds=exact * np.exp(0.05 * rng.normal(size=rows)))


def table_of(frame: pd.DataFrame) -> Table:
    parameters = frame.drop(columns="seconds")
    logs = np.log(frame["seconds"].to_numpy())
    ones = np.ones(len(frame))
    return Table(parameters, logs, ones, Space.from_data(parameters), ones > 0)


def quiet(step: str) -> None:
    del step


def test_what_matters_is_found() -> None:
    kept = that_matter(table_of(wide(150, 19)), quiet)
    assert {"x0", "x3", "x7", "solver"} <= set(kept)
    assert len(kept) <= 8


def test_a_table_that_is_not_wide_is_left_alone() -> None:
    frame = wide(60, WIDE - 1)
    assert that_matter(table_of(frame), quiet) == list(frame.columns.drop("seconds"))


def test_where_all_parameters_matter_alike_all_are_kept() -> None:
    frame = wide(200, 14)
    numbers = [f"x{k}" for k in range(14)]
    frame["seconds"] = np.exp(np.log(frame[numbers].to_numpy()) @ np.resize([0.5, -0.5], 14))
    assert set(numbers) <= set(that_matter(table_of(frame), quiet))


def test_what_has_no_effect_is_named_and_changes_no_prediction(tmp_path: Path) -> None:
    train, asked = wide(120, 15), wide(60, 15, seed=1)
    names = list(train.columns.drop("seconds"))
    with pytest.warns(EvenlyWarning, match=r"of 16 parameters don't change the seconds"):
        model: Any = evenly.fit(evenly.Runs.from_frame(train, names), method="auto", effort="quick")
    idle = model.training_["without_effect"]
    assert not {"x0", "x3", "x7", "solver"} & set(idle)
    inside = asked[~model.extrapolates(asked[names])]
    assert mlogq(inside["seconds"].to_numpy(), model.predict(inside[names])) < 0.1
    other = inside.assign(**{name: train[name].iloc[0] for name in idle})
    assert model.predict(other[names]) == pytest.approx(model.predict(inside[names]))
    assert list(model.space_.names) == names
    save(model, tmp_path / "model.evenly")
    restored: Any = load(tmp_path / "model.evenly")
    assert restored.predict(inside[names]) == pytest.approx(model.predict(inside[names]))
    for level in (0.5, 0.9):
        assert np.allclose(restored.interval(inside[names], level), model.interval(inside[names], level))
    small = distil(model)
    assert set(small.space_.names) == set(names) - set(idle)
    assert mlogq(model.predict(inside[names]), small.predict(inside[names])) < 0.1


def test_methods_that_are_named_learn_from_all() -> None:
    train = wide(60, 15)
    model = Automatic(methods=["power-law"]).fit(train.drop(columns="seconds"), train["seconds"])
    assert model.learned_space_ == model.space_


def test_labels_that_are_never_met_again_are_no_end_of_it() -> None:
    frame = wide(60, 15).assign(job=[f"job{k}" for k in range(60)])
    assert that_matter(table_of(frame), quiet) == list(frame.columns.drop("seconds"))


def test_a_small_model_tells_nothing_of_parameters_that_it_does_not_have() -> None:
    train = wide(120, 15)
    names = list(train.columns.drop("seconds"))
    with pytest.warns(EvenlyWarning, match="don't change the seconds"):
        model: Any = evenly.fit(evenly.Runs.from_frame(train, names), method="auto", effort="quick")
    model.training_ |= {"weak_scaling": [["x1", "x0"]], "filling": {"nodes": "x2"}}
    small: Any = distil(model)
    ranges = small.training_["label_ranges"]["solver"]["cg"]
    assert set(ranges) == set(small.space_.names) - {"solver"}
    assert not {"weak_scaling", "filling"} & set(small.training_)
    assert not small.extrapolates(train[small.space_.names]).any()


def test_parameters_of_an_offset_are_kept() -> None:
    train = wide(120, 15)
    names = list(train.columns.drop("seconds"))
    model = Automatic(effort="quick", offset="x0 * x3 / x7")
    model.fit(train[names], train["seconds"])
    assert {"x0", "x3", "x7"} <= set(model.learned_space_.names)
