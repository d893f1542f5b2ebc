"""What a step model learns, keeps, and says of cells unlike those it learned from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.decomposition.forecasting.step_model import StepModel, rank_table
from evenly.errors import InputError, ReadError
from tests.decomposition.forecasting.planted import COST, planted


@pytest.fixture(scope="module")
def model() -> StepModel:
    return StepModel.learn(planted(120, noise=0.01), COST, learner="extra-trees")


def test_it_learns_what_costs_miss(model: StepModel) -> None:
    asked = planted(40, seed=1)
    found = model.rank_seconds([one.load for one in asked])
    off = np.concatenate([np.log(f / one.seconds) for f, one in zip(found, asked, strict=True)])
    missed = np.concatenate([np.log(one.load.seconds / one.seconds) for one in asked])
    assert np.abs(off).mean() < 0.5 * np.abs(missed).mean()


def test_intervals_cover_cells_not_learned_from(model: StepModel) -> None:
    asked = planted(200, noise=0.01, seed=2)
    found = model.rank_seconds([one.load for one in asked])
    off = np.abs([np.log(f.max() / one.seconds.max()) for f, one in zip(found, asked, strict=True)])
    assert 0.8 <= np.mean(off <= model.half_width(0.9)) <= 0.99
    assert model.half_width(0.5) < model.half_width(0.9) <= model.half_width(0.999)


def test_it_is_deterministic() -> None:
    once, again = (StepModel.learn(planted(12, noise=0.01), COST, learner="extra-trees") for _ in range(2))
    load = planted(1, seed=3)[0].load
    np.testing.assert_array_equal(again.rank_seconds([load])[0], once.rank_seconds([load])[0])


def test_it_names_the_inputs_in_which_a_cell_lies_outside(model: StepModel) -> None:
    one = planted(1, seed=9)[0]
    inside = {**one.traits, "ranks": 4.0}
    asked = pd.DataFrame([inside, {**inside, "share of pml": 0.9}])
    nothing, found = model.overlap.outside(asked)
    assert "share of pml" not in nothing
    assert found == ("share of pml",)


def test_a_saved_one_is_the_same(model: StepModel, tmp_path: Path) -> None:
    model.save(tmp_path / "steps.evenly")
    again = StepModel.load(tmp_path / "steps.evenly")
    load = planted(1, seed=4)[0].load
    np.testing.assert_array_equal(again.rank_seconds([load])[0], model.rank_seconds([load])[0])
    assert again.half_width(0.9) == model.half_width(0.9)
    np.testing.assert_allclose(again.overlap.bounds, model.overlap.bounds)
    np.testing.assert_allclose(again.cost.vector, model.cost.vector, rtol=1e-12)


def test_other_models_are_no_step_models(tmp_path: Path) -> None:
    runs = evenly.Runs.from_frame(pd.DataFrame({"n": [1, 2, 4], "seconds": [4.0, 2.0, 1.0]}), ["n"])
    evenly.save(evenly.fit(runs, method="power-law"), tmp_path / "other.evenly")
    with pytest.raises(ReadError, match="evenly train"):
        StepModel.load(tmp_path / "other.evenly")


def test_too_few_rehearsals_are_refused() -> None:
    with pytest.raises(InputError, match="at least 10 cells that were timed, but got 9"):
        StepModel.learn(planted(9), COST)


def test_rows_hold_the_shares_of_the_ranks_asked_for() -> None:
    load = planted(1)[0].load
    shares = rank_table(load, COST, [0, 2]).drop(columns=["work_s", "memory"]).to_numpy()
    np.testing.assert_allclose(shares, np.maximum(load.profile[[0, 2]], 1e-3))
