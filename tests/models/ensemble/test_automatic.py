"""The model that picks itself: what it takes, what it says, and that it is as good as the best it tried."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import evenly
from evenly.errors import EvenlyWarning, ExtrapolationWarning, InputError
from evenly.metrics import mlogq
from evenly.models.ensemble import automatic
from evenly.models.ensemble.automatic import Automatic
from evenly.models.registry import model_class
from tests.models.contract import LAWS

Data = tuple[pd.DataFrame, NDArray[np.float64]]


def _curved(n: int, seed: int = 0, noise: float = 0.03) -> Data:
    """Work over cores, a constant part, and a bump where a size is a multiple of nothing in particular."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "cores": np.exp(rng.uniform(0, 6, n)).round(),
            "size": np.exp(rng.uniform(2, 8, n)).round(),
            "solver": rng.choice(["cg", "gmres"], n),
        }
    )
    times = 0.1 * table["size"] / table["cores"] + 1 + 0.5 * np.sin(2 * np.log(table["size"]))
    values = times.to_numpy() * np.where(table["solver"] == "cg", 1.0, 1.6) * np.exp(noise * rng.normal(size=n))
    return table, values


@pytest.fixture(scope="module")
def learned() -> Automatic:
    return Automatic(effort="quick", methods=["power-law", "log-quadratic", "nearest"]).fit(*_curved(200))


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_the_blend_is_no_worse_than_the_best_method_on_runs_it_has_not_seen(learned: Automatic) -> None:
    asked, truth = _curved(500, seed=1)
    alone = {
        name: mlogq(truth, model_class(name)().fit(*_curved(200)).predict(asked))
        for name in ("power-law", "log-quadratic", "nearest")
    }
    assert mlogq(truth, learned.predict(asked)) < 1.06 * min(alone.values())


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_its_error_on_left_out_runs_is_that_on_new_ones(learned: Automatic) -> None:
    asked, truth = _curved(2000, seed=2)
    assert mlogq(truth, learned.predict(asked)) == pytest.approx(learned.error_, rel=0.2)


def test_what_was_tried_is_told(learned: Automatic) -> None:
    choice = learned.choice_.set_index("method")
    assert set(choice.index) == {"power-law", "log-quadratic", "nearest"}
    assert choice["weight"].sum() == pytest.approx(1)
    assert choice["error"].idxmin() == choice["weight"].idxmax()
    assert (choice["bytes"] > 0).all()


def test_left_out_predictions_are_told_row_by_row(learned: Automatic) -> None:
    _, values = _curved(200)
    assert learned.left_out_predictions_ is not None
    assert mlogq(values, learned.left_out_predictions_) == pytest.approx(learned.error_)


def test_the_learning_curve_falls_and_goes_on(learned: Automatic) -> None:
    curve = learned.learning_curve_
    assert curve["runs"].tolist() == [50, 160, 400, 800]
    assert curve["measured"].tolist() == [True, True, False, False]
    assert (np.diff(curve["error"]) <= 0).all()
    longer = Automatic(methods=["log-quadratic", "nearest"]).fit(*_curved(200)).learning_curve_
    assert longer["runs"].tolist() == [50, 100, 160, 400, 800]


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_nine_of_ten_new_runs_lie_in_the_interval(learned: Automatic) -> None:
    asked, truth = _curved(2000, seed=3)
    lower, upper = learned.interval(asked, 0.9)
    assert np.mean((lower <= truth) & (truth <= upper)) == pytest.approx(0.9, abs=0.05)


def test_beyond_the_range_it_follows_a_method_that_extrapolates() -> None:
    cores, size = (a.ravel() for a in np.meshgrid(2.0 ** np.arange(6), 10.0 * 2 ** np.arange(6)))
    model = Automatic(effort="quick", methods=["nearest", "power-law"]).fit(
        {"cores": cores, "size": size}, 3 * size / cores
    )
    with pytest.warns(ExtrapolationWarning):
        far = model.predict({"cores": [1024], "size": [5120]})
    assert model.beyond_ == "power-law"
    assert far == pytest.approx(15.0, rel=1e-6)


def test_an_offset_is_what_predictions_follow_where_no_runs_tell_otherwise() -> None:
    rng = np.random.default_rng(0)
    m, n, k = (np.exp(rng.uniform(3, 6, 60)).round() for _ in range(3))
    model = Automatic(effort="quick", methods=["nearest"], offset="m * n * k").fit({"m": m, "n": n, "k": k}, m * n * k)
    assert model.predict({"m": [50], "n": [60], "k": [70]}) == pytest.approx([50 * 60 * 70], rel=1e-9)
    with pytest.raises(InputError, match="must be above zero"):
        Automatic(effort="quick", methods=["nearest"], offset="m - 100").fit({"m": m}, m)


def test_a_stored_model_predicts_and_tells_the_same(learned: Automatic, tmp_path: Path) -> None:
    evenly.save(learned, tmp_path / "model.evenly")
    again = evenly.load(tmp_path / "model.evenly")
    assert isinstance(again, Automatic)
    asked, _ = _curved(50)
    np.testing.assert_array_equal(again.predict(asked), learned.predict(asked))
    np.testing.assert_array_equal(again.interval(asked)[1], learned.interval(asked)[1])
    pd.testing.assert_frame_equal(again.choice_, learned.choice_)
    pd.testing.assert_frame_equal(again.learning_curve_, learned.learning_curve_)


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_many_configurations_are_predicted_in_blocks(learned: Automatic, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, _ = _curved(50)
    whole = learned.predict(asked)
    monkeypatch.setattr(automatic, "_BLOCK", 7)
    np.testing.assert_allclose(learned.predict(asked), whole, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_members_that_add_nothing_to_many_runs_are_dropped_and_the_file_is_small(tmp_path: Path) -> None:
    table, values = _curved(2_100)
    model = Automatic(effort="quick", methods=["gp", "log-quadratic", "power-law", "nearest"]).fit(table, values)
    assert (model.choice_["weight"] > 0).sum() == 1
    assert model.choice_["error"].idxmin() == model.choice_["weight"].idxmax()
    assert all("conformal" not in member["state"] for member in model._get_state()["members"])
    evenly.save(model, tmp_path / "model.evenly")
    again = evenly.load(tmp_path / "model.evenly")
    assert isinstance(again, Automatic)
    asked, _ = _curved(100, seed=3)
    np.testing.assert_array_equal(again.predict(asked), model.predict(asked))
    np.testing.assert_array_equal(again.interval(asked), model.interval(asked))


def test_the_same_runs_give_the_same_model(learned: Automatic) -> None:
    table, values = _curved(200)
    order = np.random.default_rng(5).permutation(len(values))
    again = Automatic(effort="quick", methods=["power-law", "log-quadratic", "nearest"])
    again.fit(table.iloc[order], values[order])
    asked, _ = _curved(50)
    np.testing.assert_allclose(again.predict(asked), learned.predict(asked), rtol=1e-9)


def test_a_method_that_cannot_learn_is_left_out_with_the_reason() -> None:
    model = Automatic(methods=["pmnf", "log-quadratic"]).fit(*_curved(60))
    row = model.choice_.set_index("method").loc["pmnf"]
    assert row["weight"] == 0
    assert "label" in row["note"]


@pytest.mark.parametrize(
    "table",
    [
        {"cores": [8.0]},
        {"cores": [1.0, 2.0]},
        {"cores": [1.0, 2.0], "size": [10.0, 20.0]},
        {"solver": ["amg", "cg", "gmres"]},
        {"cores": [1, 2, 1], "solver": ["amg", "cg", "cg"]},
    ],
)
def test_where_no_run_can_be_left_out_the_first_method_is_taken_and_said(table: dict[str, list[object]]) -> None:
    runs = pd.DataFrame(table)
    seconds = np.array([8.0, 4.0, 5.0])[: len(runs)]
    with pytest.warns(EvenlyWarning, match=r"so power-law was taken.*Measure more configurations") as told:
        model = Automatic().fit(runs, seconds)
    assert len(told) == 1
    assert model.beyond_ == "power-law"
    assert model.predict(runs) == pytest.approx(seconds, rel=1e-9)
    lower, upper = model.interval(runs)
    assert (lower < 0.9 * seconds).all()
    assert (upper > 1.1 * seconds).all()
    assert model.left_out_predictions_ is None


def test_where_no_run_can_be_left_out_a_method_that_was_named_is_taken() -> None:
    for cores in ([8.0], [8.0, 16.0]):
        with pytest.warns(EvenlyWarning, match="so pmnf was taken"):
            model = Automatic(methods=["pmnf", "power-law"]).fit({"cores": cores}, 8 / np.array(cores))
        assert model.beyond_ == "pmnf"


def test_reasons_are_told_where_no_method_can_learn() -> None:
    with pytest.raises(InputError, match=r"no method could learn from these runs \(pmnf: .*label"):
        Automatic(methods=["pmnf"]).fit(*_curved(60))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"effort": "hard"}, "effort must be one of"),
        ({"methods": ["magic"]}, "methods must be"),
        ({"methods": []}, "methods must name at least one method"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Automatic(**arguments).fit(*_curved(30))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:methods can't be compared:evenly.errors.EvenlyWarning")
@pytest.mark.parametrize("law", list(LAWS))
def test_law(law: str) -> None:
    table, values = _curved(40)
    LAWS[law](lambda: Automatic(effort="quick", methods=["log-quadratic", "nearest"]), table, values)
