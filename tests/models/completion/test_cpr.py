"""What the model promises: exactness, invariances, bounds, updates, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import evenly
from evenly.errors import InputError
from evenly.models.completion.cpr import CPR
from evenly.models.scaling_laws.log_quadratic import LogQuadratic

Floats = NDArray[np.float64]
QUICK: dict[str, Any] = {"rank": 4, "grid": 6, "starts": 2}


def _table(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sizes = {name: np.exp(rng.uniform(3, 8, n)).round() for name in ("m", "k")}
    return pd.DataFrame(sizes | {"solver": rng.choice(["cg", "mg", "lu"], n)})


def _seconds(table: pd.DataFrame) -> Floats:
    """Each label has exponents of its own, with a bend."""
    u, v = np.log(table["m"].to_numpy() / 200), np.log(table["k"].to_numpy() / 200)
    power = table["solver"].map({"cg": 1.0, "mg": 0.7, "lu": 1.4}).to_numpy()
    return np.asarray(1e-3 * np.exp(power * u + 0.5 * np.maximum(v, 0) + 0.2 * u * v), dtype=np.float64)


def _error(model: CPR, table: pd.DataFrame) -> float:
    return float(np.mean(np.abs(np.log(model.predict(table) / _seconds(table)))))


TRAIN, TEST = _table(500), _table(400, 1).query("30 < m < 2500 and 30 < k < 2500")


def test_it_learns_what_a_trend_cannot() -> None:
    model = CPR(folds=0, starts=4).fit(TRAIN, _seconds(TRAIN))
    flat = LogQuadratic().fit(TRAIN, _seconds(TRAIN))
    plain = float(np.mean(np.abs(np.log(flat.predict(TEST) / _seconds(TEST)))))
    assert _error(model, TEST) < 0.15 * plain


@pytest.mark.parametrize("optimizer", ["variational", "als", "ccd", "sgd"])
def test_every_optimizer_learns(optimizer: Any) -> None:
    model = CPR(**QUICK, optimizer=optimizer, folds=0, penalty=None if optimizer == "variational" else 0.01)
    assert _error(model.fit(TRAIN, _seconds(TRAIN)), TEST) < 0.06


def test_cells_learn_too_and_hat_functions_do_better() -> None:
    errors = [
        _error(CPR(**QUICK, basis=basis, folds=0).fit(TRAIN, _seconds(TRAIN)), TEST) for basis in ("cells", "hat")
    ]
    assert errors[1] < errors[0] < 0.2


@pytest.mark.parametrize("coordinates", ["log", "uniform"])
def test_exact_on_multilinear_functions_in_the_right_coordinates(coordinates: str) -> None:
    table = _table(300)[["m", "k"]]

    def seconds(t: pd.DataFrame) -> Floats:
        x, z = (np.log(t[c].to_numpy() / 200) if coordinates == "log" else t[c].to_numpy() / 3000 for c in ("m", "k"))
        return np.asarray(np.exp(0.3 * x - 0.5 * z + 0.25 * x * z), dtype=np.float64)

    model = CPR(rank=3, grid=(coordinates, 2), degree=0, starts=1, tolerance=1e-9, folds=0).fit(table, seconds(table))
    asked = TEST[["m", "k"]]
    np.testing.assert_allclose(np.log(model.predict(asked)), np.log(seconds(asked)), atol=2e-3)


def test_the_order_of_parameters_permutes_nothing_else() -> None:
    y = _seconds(TRAIN) * np.exp(0.05 * np.random.default_rng(5).normal(size=len(TRAIN)))
    one = CPR(**QUICK, folds=0).fit(TRAIN, y)
    other = CPR(**QUICK, folds=0).fit(TRAIN[["solver", "k", "m"]], y)
    # Starts differ, since they are drawn parameter by parameter; what they lead to differs less than the noise.
    apart = np.abs(np.log(one.predict(TEST) / other.predict(TEST)))
    assert np.mean(apart) < 0.02


def test_labels_are_never_interpolated() -> None:
    model = CPR(**QUICK, folds=0).fit(TRAIN, _seconds(TRAIN))
    with pytest.raises(InputError, match="solver"):
        model.predict({"m": [100], "k": [100], "solver": ["ilu"]})
    assert set(model.grid_) == {"m", "k"}


def test_predictions_do_not_run_away() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{k}": rng.uniform(1, 2, 40) for k in range(5)})
    y = np.exp(rng.normal(size=40))
    model = CPR(rank=6, grid=16, optimizer="als", penalty=1e-8, degree=0, starts=1, folds=0).fit(table, y)
    asked = pd.DataFrame({f"x{k}": rng.uniform(table[f"x{k}"].min(), table[f"x{k}"].max(), 2000) for k in range(5)})
    room = np.ptp(np.log(y))
    assert np.log(model.predict(asked)).max() < np.log(y).max() + room
    assert np.log(model.predict(asked)).min() > np.log(y).min() - room


def test_it_is_told_what_it_chose() -> None:
    model = CPR(starts=1, folds=0).fit(TRAIN, _seconds(TRAIN))
    assert model.rank_ >= 1
    assert len(model.grid_["m"]) >= 4


def test_left_out_errors_are_those_of_new_runs() -> None:
    noise = np.exp(0.1 * np.random.default_rng(6).normal(size=len(TRAIN) + len(TEST)))
    y = _seconds(TRAIN) * noise[: len(TRAIN)]
    model = CPR(**QUICK).fit(TRAIN, y)
    assert model.left_out_predictions_ is not None
    inside = float(np.mean(np.abs(np.log(model.left_out_predictions_ / y))))
    fresh = float(np.mean(np.abs(np.log(model.predict(TEST) / (_seconds(TEST) * noise[len(TRAIN) :])))))
    # Left-out fits see four fifths of the runs; means over 500 and some 300 scatter by about 4 % each.
    assert 0.85 < inside / fresh < 1.35
    lower, upper = model.interval(TEST)
    covered = np.mean((lower <= _seconds(TEST) * noise[len(TRAIN) :]) & (_seconds(TEST) * noise[len(TRAIN) :] <= upper))
    assert 0.82 < covered < 0.97


def test_tensors_from_different_starts_differ_where_little_is_known() -> None:
    some = TRAIN[(TRAIN["m"] < 300) | (TRAIN["k"] < 300)]
    model = CPR(rank=4, grid=8, starts=6, folds=0).fit(some, _seconds(some))
    known, unknown = TEST[(TEST["m"] < 300) & (TEST["k"] < 300)], TEST[(TEST["m"] > 900) & (TEST["k"] > 900)]
    assert np.median(model.spread(unknown)) > 2 * np.median(model.spread(known))


def test_updates_do_what_refitting_does() -> None:
    first, more = TRAIN[:150], TRAIN[150:]
    spans = [more[name].between(first[name].min(), first[name].max()) for name in ("m", "k")]
    inside = more[spans[0] & spans[1]]
    noise = np.exp(0.05 * np.random.default_rng(7).normal(size=len(TRAIN)))
    y = pd.Series(_seconds(TRAIN) * noise, index=TRAIN.index)
    several = {**QUICK, "starts": 4}
    model = CPR(**several, online=True).fit(first, y[first.index])
    before = _error(model, TEST)
    for part in np.array_split(np.arange(len(inside)), 5):
        rows = inside.iloc[part]
        model.update(rows, y[rows.index])
    assert model.n_runs_ == 150 + len(inside)
    assert model.left_out_predictions_ is None
    after = _error(model, TEST)
    everything = pd.concat([first, inside])
    refitted = _error(CPR(**several | {"folds": 0}).fit(everything, y[everything.index]), TEST)
    assert after - refitted < 0.5 * (before - refitted)


def test_a_loaded_model_goes_on_learning(tmp_path: Path) -> None:
    model = CPR(**QUICK, online=True).fit(TRAIN[:200], _seconds(TRAIN[:200]))
    evenly.save(model, tmp_path / "model.evenly")
    other = evenly.load(tmp_path / "model.evenly")
    assert isinstance(other, CPR)
    new = TRAIN[:200].sample(20, random_state=0)
    y = 2 * _seconds(new)
    np.testing.assert_allclose(other.update(new, y).predict(TEST), model.update(new, y).predict(TEST), rtol=1e-12)


def test_updates_say_what_they_cannot_do() -> None:
    model = CPR(**QUICK, folds=0).fit(TRAIN, _seconds(TRAIN))
    with pytest.raises(InputError, match="online=True"):
        model.update(TRAIN[:2], _seconds(TRAIN[:2]))
    model = CPR(**QUICK, folds=0, online=True).fit(TRAIN, _seconds(TRAIN))
    with pytest.raises(InputError, match="outside"):
        model.update({"m": [1e6], "k": [100], "solver": ["cg"]}, [1.0])
    with pytest.raises(InputError, match="row 0"):
        model.update(TRAIN[:1], [-1.0])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rank": 0}, "rank"),
        ({"starts": 1.5}, "starts"),
        ({"basis": "spline"}, "basis"),
        ({"optimizer": "newton"}, "optimizer"),
        ({"degree": 3}, "degree"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"penalty": 0.1}, "learns its penalties"),
        ({"penalty": -1.0, "optimizer": "als"}, "penalty"),
    ],
)
def test_arguments_that_cannot_be_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        CPR(**options).fit(TRAIN, _seconds(TRAIN))
