"""One small model in place of a blend: how close it stays, how small it is, what it says of itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import evenly
from evenly.errors import EvenlyWarning, InputError
from evenly.metrics import mlogq
from evenly.models.completion.cpr import CPR
from evenly.models.ensemble.automatic import Automatic
from evenly.models.ensemble.distillation import distil, stored_bytes
from evenly.models.scaling_laws.power_law import PowerLaw

pytestmark = pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")

Data = tuple[pd.DataFrame, NDArray[np.float64]]


def _runs(n: int, seed: int = 0) -> Data:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "cores": rng.choice([1, 2, 4, 8, 16, 32], n),
            "size": np.exp(rng.uniform(2, 8, n)).round().astype(int),
            "solver": rng.choice(["cg", "gmres"], n),
        }
    )
    times = 0.1 * table["size"] / table["cores"] + 1 + 0.3 * np.sin(2 * np.log(table["size"]))
    return table, times.to_numpy() * np.where(table["solver"] == "cg", 1.0, 1.6) * np.exp(0.03 * rng.normal(size=n))


@pytest.fixture(scope="module")
def blend() -> Automatic:
    return Automatic(effort="quick", methods=["gp", "log-quadratic"]).fit(*_runs(200))


@pytest.fixture(scope="module")
def small(blend: Automatic) -> CPR:
    return distil(blend)


def test_it_is_small_and_differs_from_the_blend_by_what_it_says(blend: Automatic, small: CPR) -> None:
    told = small.training_["distilled"]
    assert stored_bytes(small) <= 100_000
    assert abs(told["bytes"] - stored_bytes(small)) < 1_000
    asked, _ = _runs(3000, seed=1)
    asked = asked[asked["size"].between(*np.quantile(_runs(200)[0]["size"], [0, 1]))]
    assert told["difference"] / 2 < mlogq(blend.predict(asked), small.predict(asked)) < told["difference"] * 2
    assert told["difference"] < 0.02
    assert told["error"] == blend.error_


def test_nine_of_ten_new_runs_lie_in_its_interval(small: CPR) -> None:
    asked, truth = _runs(2000, seed=2)
    lower, upper = small.interval(asked, 0.9)
    assert np.mean((lower <= truth) & (truth <= upper)) == pytest.approx(0.9, abs=0.05)


def test_it_knows_range_and_runs_of_the_blend_and_is_stored(blend: Automatic, small: CPR, tmp_path: Path) -> None:
    assert small.space_.to_dict() == blend.space_.to_dict()
    assert small.n_runs_ == 200
    evenly.save(small, tmp_path / "small.evenly")
    again = evenly.load(tmp_path / "small.evenly")
    assert isinstance(again, CPR)
    assert again.training_["distilled"] == small.training_["distilled"]
    np.testing.assert_array_equal(again.predict(_runs(20)[0]), small.predict(_runs(20)[0]))


def test_less_room_makes_a_smaller_model_or_none(blend: Automatic) -> None:
    assert stored_bytes(distil(blend, most_bytes=15_000)) <= 15_000
    with pytest.raises(InputError, match="most_bytes must hold the smallest completion"):
        distil(blend, most_bytes=100)


def test_what_cannot_be_distilled_is_said() -> None:
    with pytest.raises(InputError, match="not learned anything yet"):
        distil(Automatic())
    for few in ([4, 4], [4, 8]):
        with pytest.warns(EvenlyWarning, match="methods can't be compared"):
            blend = Automatic().fit({"n": few}, [1.0, 1.1])
        with pytest.raises(InputError, match="too few configurations to compare methods"):
            distil(blend)


def test_only_blends_are_distilled() -> None:
    law = PowerLaw().fit({"n": [1, 2, 4]}, [4.0, 2.0, 1.0])
    with pytest.raises(InputError, match="one model already: power-law"):
        distil(law)  # type: ignore[arg-type]
