"""Networks that are built by hand: the laws of models, what is minimised, numpy's predictions, what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.errors import InputError, MissingExtraError
from evenly.models.base import Model
from evenly.models.neural_net import perceptron_training
from evenly.models.neural_net.perceptron import MultilayerPerceptron
from evenly.models.neural_net.perceptron_training import Architecture, Loss, Passes, train
from evenly.models.storage import load, save
from tests.models.contract import LAWS

Floats = NDArray[np.float64]


def _runs(n: int = 24) -> tuple[pd.DataFrame, Floats]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"cores": rng.integers(1, 64, n), "solver": rng.choice(["cg", "lu"], n)})
    return table, np.where(table["solver"] == "cg", 1.0, 2.0) * (1 + 20 / table["cores"].to_numpy())


@pytest.mark.parametrize("law", list(LAWS))
def test_law(law: str) -> None:
    LAWS[law](lambda: MultilayerPerceptron(layers=(8,), epochs=50, folds=2, residuals="log"), *_runs())


@pytest.mark.parametrize(
    ("optimiser", "activation"),
    [("adam", "sigmoid"), ("adagrad", "relu"), ("adadelta", "tanh"), ("gradient-descent", "leaky-relu")],
)
def test_every_optimiser_and_activation_learns_a_line(optimiser: Any, activation: Any) -> None:
    x = np.linspace(0, 1, 40, dtype=np.float32)[:, None]
    y = 1 + x[:, 0].astype(np.float64)
    rate = {"adam": 0.01, "adagrad": 0.1, "adadelta": 1.0, "gradient-descent": 0.05}[optimiser]
    built = Architecture((16, 16), activation, 0.0, optimiser, rate, "mse")
    (net,) = train(x, y, np.ones((1, 40)), built, Passes(1000, 40), seed=0)
    # The best constant, 1.5, has a root mean square error of 0.3.
    assert np.sqrt(np.mean((net.predict(x) - y) ** 2)) < 0.1


def test_a_loss_is_least_where_it_says() -> None:
    """A constant input: the mean is least for MSE, the median for MAE, and for MAPE the median weighted by 1 / y."""
    x, y = np.ones((5, 1), np.float32), np.array([1.0, 2.0, 3.0, 4.0, 40.0])
    found = {}
    losses: tuple[Loss, ...] = ("mse", "mae", "mape")
    for loss in losses:
        built = Architecture((4,), "tanh", 0.0, "adam", 0.01, loss)
        (net,) = train(x, y, np.ones((1, 5)), built, Passes(6000, 5), seed=0)
        found[loss] = float(net.predict(x)[0])
    # 1/1 + 1/2 + … = 2.1, and half of it lies at y = 2: 1 alone weighs 1.0 < 1.05.
    assert found == pytest.approx({"mse": 10.0, "mae": 3.0, "mape": 2.0}, rel=0.03)


def test_a_run_of_weight_zero_is_not_learned_from() -> None:
    rng = np.random.default_rng(0)
    x, y, weights = rng.uniform(size=(30, 2)).astype(np.float32), rng.uniform(1, 2, 30), np.ones((2, 30))
    weights[1, 20:] = 0
    built, passes = Architecture((8, 8), "relu", 0.3, "adam", 0.01, "mape"), Passes(30, 7)
    first = train(x, y, weights, built, passes, seed=0)
    y[20:] += 100
    again = train(x, y, weights, built, passes, seed=0)
    np.testing.assert_array_equal(first[1].predict(x), again[1].predict(x))
    assert (first[0].predict(x) != again[0].predict(x)).any()


def test_a_stored_network_predicts_without_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, values = _runs(60)
    model = MultilayerPerceptron(layers=(20, 20), dropout=0.0, epochs=1500, rate=0.01).fit(table, values)
    assert np.mean(np.abs(model.predict(table) / values - 1)) < 0.1
    assert model.left_out_predictions_ is not None
    save(model, tmp_path / "net.evenly")
    for name in ("jax", "optax"):
        monkeypatch.setitem(sys.modules, name, None)
    again = load(tmp_path / "net.evenly")
    assert isinstance(again, Model)
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    perceptron_training._program.cache_clear()
    with pytest.raises(MissingExtraError, match=r"evenly\[nn\]"):
        MultilayerPerceptron(epochs=1).fit(table, values)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"layers": ()}, "at least one hidden layer"),
        ({"layers": (30, 0)}, r"layers\[1\] must be a whole number of at least 1, but got 0"),
        ({"activation": "step"}, "activation must be one of relu, leaky-relu, sigmoid, tanh, but got 'step'"),
        ({"optimiser": "sgd"}, "optimiser must be one of adam, adagrad, adadelta, gradient-descent"),
        ({"loss": "mlogq"}, "loss must be one of mse, mae, mape, smape, but got 'mlogq'"),
        ({"dropout": 1.0}, "dropout must be a share from 0 to below 1"),
        ({"rate": 0.0}, "rate must be a number above 0"),
        ({"batch": 0}, "batch must be a whole number of at least 1"),
        ({"epochs": 2.5}, "epochs must be a whole number of at least 1"),
        ({"residuals": "log", "loss": "mape"}, "mape of logarithms would depend on the unit of time"),
    ],
)
def test_what_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        MultilayerPerceptron(**wrong).fit(*_runs())
