from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVR

from evenly.errors import InputError
from evenly.models.inputs.coding import Inputs
from evenly.models.kernel_methods import support_vectors
from evenly.models.kernel_methods.support_vectors import SupportVectors, _SupportVectors

CHOOSE = {"C": None, "gamma": None, "epsilon": None}
GIVEN = {"C": 10.0, "gamma": 0.7, "epsilon": 0.05}


def table(n: int, seed: int = 0) -> tuple[Inputs, np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs = Inputs(rng.uniform(-1, 1, (n, 2)), rng.integers(0, 3, (n, 1)), (3,))
    return inputs, np.sin(3 * inputs.numbers[:, 0]) + inputs.numbers[:, 1] + 0.3 * inputs.labels[:, 0]


def test_predictions_are_those_of_scikit_learn() -> None:
    inputs, logs = table(150)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, 150)
    ours = _SupportVectors(GIVEN)
    ours.fit(inputs, logs, weights)
    scale = np.std(logs)
    theirs = SVR(C=10.0, gamma=0.7, epsilon=0.05).fit(inputs.matrix, (logs - logs.mean()) / scale, weights)
    asked, _ = table(80, seed=2)
    np.testing.assert_allclose(
        ours.predict(asked), logs.mean() + scale * theirs.predict(asked.matrix), rtol=1e-10, atol=1e-10
    )


def test_single_precision_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, logs = table(150)
    ours = _SupportVectors(GIVEN)
    ours.fit(inputs, logs, np.ones(150))
    double = ours.predict(inputs)
    monkeypatch.setattr(support_vectors, "_SINGLE_ROWS", 10)
    single = ours.predict(inputs)
    assert not np.array_equal(single, double)
    # 150 terms, coefficients up to C = 10, single precision 1e-7.
    np.testing.assert_allclose(single, double, atol=1e-4)


def test_chosen_arguments_predict_better_than_the_first_ones() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (200, 1))
    inputs, logs = Inputs(x, np.zeros((200, 0), np.int64), ()), np.sin(8 * x[:, 0])
    ours = _SupportVectors(CHOOSE)
    ours.fit(inputs, logs, np.ones(200))
    first = _SupportVectors({"C": 30.0, "gamma": 0.03, "epsilon": 0.03})
    first.fit(inputs, logs, np.ones(200))
    asked = Inputs(np.linspace(-0.95, 0.95, 100)[:, None], np.zeros((100, 0), np.int64), ())
    error, worse = (np.abs(one.predict(asked) - np.sin(8 * asked.numbers[:, 0])).mean() for one in (ours, first))
    assert error < 0.05 < worse


def test_an_argument_that_is_given_is_kept() -> None:
    inputs, logs = table(40)
    ours = _SupportVectors({"C": None, "gamma": 0.7, "epsilon": None})
    ours.fit(inputs, logs, np.ones(40))
    assert ours.arguments["gamma"] == 0.7


def test_runs_within_the_tube_are_not_stored() -> None:
    inputs, logs = table(100)
    ours = _SupportVectors({"C": 10.0, "gamma": 0.7, "epsilon": 0.3})
    ours.fit(inputs, logs, np.ones(100))
    assert 3 <= len(ours.get_state()["places"]) < 40


@pytest.mark.parametrize(("name", "value"), [("C", 0.0), ("gamma", -1.0), ("epsilon", -0.1), ("C", float("nan"))])
def test_impossible_arguments_are_named(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} must be a number"):
        SupportVectors(**{name: value}).fit({"n": [1, 2]}, [1.0, 2.0])  # type: ignore[arg-type]
