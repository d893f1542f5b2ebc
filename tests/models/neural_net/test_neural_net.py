"""Neural nets: the laws of models, numpy's predictions against JAX's, planted functions; what is said without JAX."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.errors import InputError, MissingExtraError
from evenly.models.base import Model
from evenly.models.neural_net import training
from evenly.models.neural_net.members import predict_each
from evenly.models.neural_net.neural_net import NeuralNet
from evenly.models.neural_net.training import Hyper, Schedule, train
from evenly.models.storage import load, save
from tests.models.contract import LAWS

Floats = NDArray[np.float64]
HYPERS = [
    Hyper(width=8, activation="tanh"),
    Hyper(width=16, activation="silu", depth=2),
    Hyper(width=12, activation="leaky-relu", dropout=0.1, decay=0.1),
]


def _wave(n: int, seed: int = 0) -> tuple[pd.DataFrame, Floats]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"n": np.exp(rng.uniform(0, 6, n)), "solver": rng.choice(["cg", "lu"], n)})
    turns = np.where(table["solver"] == "cg", 1.0, 2.0)
    return table, np.exp(np.sin(turns * np.log(table["n"]))).to_numpy()


def _rows(n: int) -> tuple[NDArray[np.float32], Floats]:
    x = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    return x, np.sin(2 * x[:, 0].astype(np.float64)) * x[:, 1]


def _held(n: int) -> NDArray[np.bool_]:
    return np.asarray(np.arange(n) % 3 == np.arange(3)[:, None])


def test_errors_told_are_those_of_the_stored_members() -> None:
    x, y = _rows(120)
    validation, seen = _held(120), np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]], bool)
    made = train(x, y, np.ones(120), validation, seen, HYPERS, Schedule(300, 16), seed=0)
    predicted = predict_each(made.members, x)
    found = [np.abs(p[there] - y[there]).mean() for p, there in zip(predicted, validation, strict=True)]
    # Single precision, and tanh by another library.
    np.testing.assert_allclose(found, made.errors, rtol=1e-4)
    assert (made.errors < 0.8 * np.abs(y).mean()).all()
    assert [m.weights[0].shape[1] for m in made.members] == [8, 16, 12]
    blind = x.copy()
    blind[:, 2] += 1
    np.testing.assert_array_equal(made.members[1].predict(blind), made.members[1].predict(x))
    assert (made.members[0].predict(blind) != made.members[0].predict(x)).any()


def test_members_do_not_learn_from_runs_held_out() -> None:
    x, y = _rows(60)
    validation, seen = _held(60), np.ones((3, 3), bool)
    validation[0] = False
    validation[0, 50:] = True
    # One stretch: the same weights are kept whatever the errors.
    one = train(x, y, np.ones(60), validation, seen, HYPERS, Schedule(100, 16), seed=0).members[0]
    y[50:] += 100
    other = train(x, y, np.ones(60), validation, seen, HYPERS, Schedule(100, 16), seed=0).members[0]
    np.testing.assert_array_equal(one.predict(x), other.predict(x))


@pytest.mark.parametrize("law", list(LAWS))
def test_law(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenly.models.neural_net import nets

    monkeypatch.setitem(nets.BUDGETS, "normal", nets.Budget(1, 0, 100))
    LAWS[law](lambda: NeuralNet(folds=2), *_wave(24))


def test_a_planted_function_is_learned_and_stored(tmp_path: Path) -> None:
    model = NeuralNet(effort="quick").fit(*_wave(300))
    table, values = _wave(200, seed=1)
    table["n"] = np.clip(table["n"], *(getattr(model.space_.parameters["n"], end) for end in ("low", "high")))
    values = np.exp(np.sin(np.where(table["solver"] == "cg", 1.0, 2.0) * np.log(table["n"])))
    # The wave's mean magnitude is 0.6; a quadratic trend leaves most of it.
    assert np.abs(np.log(model.predict(table) / values)).mean() < 0.05
    save(model, tmp_path / "net.evenly")
    again = load(tmp_path / "net.evenly")
    assert isinstance(again, Model)
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    asked = "import sys, evenly, pandas; evenly.load(sys.argv[1]).predict({'n': [9.0], 'solver': ['cg']}); "
    check = "assert not {'jax', 'optax'} & set(sys.modules), 'a stored net started JAX'"
    subprocess.run([sys.executable, "-c", asked + check, str(tmp_path / "net.evenly")], check=True)


def test_without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    training._program.cache_clear()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r"evenly\[nn\]"):
        NeuralNet(effort="quick").fit(*_wave(40))


def test_a_wrong_effort_is_named() -> None:
    with pytest.raises(InputError, match="effort must be one of quick, normal, thorough"):
        NeuralNet(effort="wild").fit(*_wave(40))  # type: ignore[arg-type]
