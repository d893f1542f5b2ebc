"""Forests and boosting: the laws of models, planted functions, stored files, and what is said without LightGBM."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.errors import InputError, MissingExtraError
from evenly.models.base import Model
from evenly.models.storage import load, save
from evenly.models.trees.boosted import BUDGETS, Budget
from evenly.models.trees.boosting import Boosting, HistBoosting
from evenly.models.trees.extra_trees import ExtraTrees
from evenly.models.trees.forest import RandomForest
from tests.models.contract import LAWS

Floats = NDArray[np.float64]
MAKERS: dict[str, Callable[[], Model]] = {
    "forest": lambda: RandomForest(trees=8, folds=3),
    "extra-trees": lambda: ExtraTrees(trees=8, folds=3),
    "boosting": lambda: Boosting(effort="quick", folds=3),
    "hist-boosting": lambda: HistBoosting(effort="quick", folds=3),
}


def _table(n: int, seed: int = 0) -> tuple[pd.DataFrame, Floats]:
    """Steps at multiples of 64 and a threshold of the total work, which no quadratic describes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "m": np.exp(rng.uniform(3, 7, n)).astype(int),
        "n": np.exp(rng.uniform(3, 7, n)).astype(int),
        "solver": rng.choice(["cg", "lu"], n),
    })  # fmt: skip
    work = np.ceil(table["m"] / 64) * 64.0 * table["n"]
    slow = np.where(work > 1e4, 2.0, 1.0) * np.where(table["solver"] == "lu", 1.5, 1.0)
    return table, (1e-6 * work * slow).to_numpy()


def _small() -> tuple[pd.DataFrame, Floats]:
    table, seconds = _table(30)
    return table, seconds * np.exp(0.05 * np.random.default_rng(1).normal(size=30))


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("name", list(MAKERS))
def test_law(name: str, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUDGETS, "quick", Budget(20, 1, 0.2, 40))
    LAWS[law](MAKERS[name], *_small())


@pytest.mark.parametrize(
    ("name", "limit"), [("forest", 0.12), ("extra-trees", 0.12), ("boosting", 0.07), ("hist-boosting", 0.08)]
)
def test_a_planted_function_is_learned(name: str, limit: float) -> None:
    model = MAKERS[name]().fit(*_table(400))
    table, seconds = _table(300, seed=1)
    within = model.space_.outside(table)
    inside = ~np.any(list(within.values()), axis=0) if within else np.ones(len(table), dtype=bool)
    missed = np.abs(np.log(model.predict(table[inside]) / seconds[inside]))
    assert missed.mean() < limit


@pytest.mark.parametrize("name", list(MAKERS))
def test_files_keep_predictions(name: str, tmp_path: Path) -> None:
    table, seconds = _table(60)
    model = MAKERS[name]().fit(table, seconds)
    save(model, tmp_path / "model.evenly")
    again = load(tmp_path / "model.evenly")
    assert isinstance(again, Model)
    np.testing.assert_array_equal(again.predict(table), model.predict(table))


def test_without_lightgbm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUDGETS, "quick", Budget(20, 1, 0.2, 40))
    table, seconds = _small()
    fitted = Boosting(effort="quick", folds=0).fit(table, seconds)
    state, told = fitted._get_state(), fitted.predict(table)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"evenly\[boost\]"):
        Boosting(fitter="lightgbm").fit(table, seconds)
    fitted._set_state(state)
    np.testing.assert_array_equal(fitted.predict(table), told)


def test_without_lightgbm_scikit_learn_grows_the_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUDGETS, "quick", Budget(20, 1, 0.2, 40))
    table, seconds = _small()
    by_sklearn = HistBoosting(effort="quick", folds=0).fit(table, seconds).predict(table)
    monkeypatch.setattr("evenly.models.trees.fitters.find_spec", lambda _: None)
    np.testing.assert_array_equal(Boosting(effort="quick", folds=0).fit(table, seconds).predict(table), by_sklearn)


@pytest.mark.parametrize(
    ("kind", "options", "named"),
    [(RandomForest, {"trees": 0}, "trees"), (ExtraTrees, {"smallest": 0}, "smallest"),
     (Boosting, {"effort": "wild"}, "effort"), (Boosting, {"fitter": "xg"}, "fitter")],
)  # fmt: skip
def test_wrong_arguments_are_named(kind: Any, options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        kind(**options).fit(*_small())
