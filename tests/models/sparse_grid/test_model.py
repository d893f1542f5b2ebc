from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.models.sparse_grid.sparse_grid import SparseGrid
from evenly.models.storage import load, save
from tests.models.contract import LAWS


def _table(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"size": np.exp(rng.uniform(2, 8, n)), "cores": 2 ** rng.integers(0, 8, n), "solver": rng.choice(["a", "b"], n)}
    )


def _seconds(table: pd.DataFrame) -> np.ndarray:
    # Two regimes in the size, a cost per core, one solver slower: a kink, a sum and an interaction with labels.
    work = np.maximum(table["size"], 200.0) / table["cores"] * np.where(table["solver"] == "a", 1.0, 1.8)
    return np.asarray(0.01 * work + 0.02 * np.log2(table["cores"]) + 0.01)


def _error(model: Model, table: pd.DataFrame) -> float:
    return float(np.mean(np.abs(np.log(model.predict(table) / _seconds(table)))))


def test_a_kink_a_sum_and_an_interaction_are_learned_better_from_more_runs() -> None:
    asked = _table(500, seed=1)
    asked["size"] = asked["size"].clip(20, 2000)
    errors = [_error(SparseGrid(folds=0).fit(_table(n), _seconds(_table(n))), asked) for n in (40, 120, 400)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.03


def test_noise_is_not_learned() -> None:
    rng = np.random.default_rng(0)
    table = _table(400)
    model = SparseGrid(folds=0).fit(table, np.exp(0.3 * rng.normal(size=400)))
    spread = np.std(np.log(model.predict(table)))
    # All points at once would follow the noise; the mean alone deviates by 0.3 / √400.
    assert spread < 0.1


def test_a_stored_model_holds_the_same_grid(tmp_path) -> None:  # type: ignore[no-untyped-def]
    table = _table(150)
    model = SparseGrid(points=100).fit(table, _seconds(table))
    save(model, tmp_path / "model.evenly")
    other = load(tmp_path / "model.evenly")
    assert isinstance(other, SparseGrid)
    assert other.points_ == model.points_ <= 100
    assert other.plan_ == model.plan_
    np.testing.assert_array_equal(other.predict(table), model.predict(table))


def test_many_parameters_stay_within_the_limit_of_points() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"p{k}": np.exp(rng.uniform(0, 4, 200)) for k in range(12)})
    seconds = (table["p0"] * table["p1"] / table["p2"] + table["p3"]).to_numpy()
    model = SparseGrid(folds=0).fit(table, seconds)
    assert model.points_ <= 200
    trivial = np.mean(np.abs(np.log(seconds) - np.median(np.log(seconds))))
    assert np.mean(np.abs(np.log(model.predict(table) / seconds))) < 0.3 * trivial


def test_what_was_asked_for_is_kept() -> None:
    table = _table(120)
    model = SparseGrid(level=3, ridge=1e-3, refinements=1, interactions=1, folds=0).fit(table, _seconds(table))
    assert model.plan_ == {"level": 3, "ridge": 1e-3, "rounds": 1}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": 0}, "level must be at least 1, but got 0"),
        ({"level": 9}, "level must be at most 7, but got 9"),
        ({"ridge": 0.0}, "ridge must be above zero"),
        ({"points": 0}, "points must be at least 1"),
        ({"refinements": -1}, "refinements must be at least 0"),
        ({"interactions": 0}, "interactions must be at least 1"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        SparseGrid(**options).fit({"n": [1, 2]}, [1.0, 2.0])  # type: ignore[arg-type]


@pytest.mark.parametrize("law", list(LAWS))
def test_law(law: str) -> None:
    table = _table(40)
    LAWS[law](SparseGrid, table, _seconds(table))
