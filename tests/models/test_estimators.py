"""scikit-learn's own checks of estimators, over all methods; what can't pass is listed here with the reason."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import evenly.models
from evenly.errors import InputError
from evenly.models import PowerLaw
from evenly.models.base import Model
from evenly.models.registry import method_names, model_class

#: Checks that no method passes.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "a weight says how much a run counts; a repeated run is another "
    "run: it changes left-out errors, and so what is chosen by them",
    "check_dtype_object": "a label that is a dict is refused by an InputError, a ValueError and no TypeError",
}
#: Methods of one parameter: all checks that fit several columns fail.
ONE = ("offset-power-law", "piecewise-linear")
#: Not checked here: each check trains nets for seconds. They share all that is checked with the other methods.
UNCHECKED = ("mlp", "neural-net")
#: Methods whose fits to the many columns of all checks take minutes together: they get those of the interface alone.
SLOW = ("auto", "beyond", "boosting", "cpr", "cpr-positive", "extra-trees", "forest", "hist-boosting",
        "pmnf", "sparse-grid", "svm")  # fmt: skip
_ARGUMENTS: dict[str, Any] = {"effort": "quick", "learner": "power-law", "trees": 5, "folds": 0}


def _model(method: str) -> Model:
    kind = model_class(method)
    known = kind.default_arguments()
    given = {"methods": ("power-law", "nearest")} if method == "auto" else _ARGUMENTS
    return kind(**{name: value for name, value in given.items() if name in known})


@pytest.mark.parametrize(
    "method", [name for name in method_names() if "test" not in name and name not in (*ONE, *UNCHECKED)]
)
def test_scikit_learn_takes_it(method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            _model(method), legacy=method not in SLOW, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None
        )
    failed = [(one["check_name"], one["exception"]) for one in results if one["status"] == "failed"]
    assert not failed
    assert sum(one["status"] == "passed" for one in results) > (10 if method in SLOW else 50)


@pytest.mark.parametrize("method", ["boosting", "sparse-grid", "gp", "cpr", "pmnf", "forest"])
def test_fitted_models_can_be_pickled(method: str) -> None:
    cores = np.tile(2.0 ** np.arange(6), 5)[:, None]
    model = _model(method).fit(cores, 8 / cores[:, 0] + 0.1)
    assert pickle.loads(pickle.dumps(model)).predict(cores) == pytest.approx(model.predict(cores), rel=1e-12)  # noqa: S301


@pytest.mark.parametrize("method", ONE)
def test_methods_of_one_parameter_work_with_one(method: str) -> None:
    X = np.tile(np.arange(1.0, 6.0), 4)[:, None]
    y = 8 / X[:, 0] + 0.1
    model = clone(_model(method))
    assert cross_val_score(make_pipeline(model), X, y, cv=3).shape == (3,)
    assert model.fit(X, y).score(X, y) > 0.9
    with pytest.raises(InputError, match="take one parameter"):
        model.fit(np.hstack([X, X]), y)


def test_classes_are_there_by_name() -> None:
    classes = {name: getattr(evenly.models, name) for name in vars(evenly.models)["__all__"]}
    assert {kind.method for name, kind in classes.items() if name != "Model"} == {
        name for name in method_names() if "test" not in name
    }


def test_arrays_are_checked() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 9.0]]), [1.0, 2.0, 3.0]
    model = PowerLaw().fit(X, y)
    for wrong, reason in [
        (X[:, :1], "X has 1 features, but PowerLaw is expecting 2"),
        (X[0], "Reshape your data"),
        (np.array([[1.0, np.nan]]), "row 0 holds NaN"),
    ]:
        with pytest.raises(InputError, match=reason):
            model.predict(wrong)
    with pytest.raises(InputError, match="between 1e-60 and 1e\\+60, but row 1 holds 1e\\+300"):
        PowerLaw().fit(X, [1.0, 1e300, 2.0])
    for level in (0.0, 1.0, 1.5, float("nan")):
        with pytest.raises(InputError, match="level must lie between 0 and 1"):
            model.interval(X, level)


def test_fit_takes_a_data_frame_and_says_what_it_takes_as_parameters() -> None:
    table = pd.DataFrame({"cores": [1, 2, 4, 8], "wall": [80.0, 41.0, 20.0, 10.0], "status": "ok"})
    with pytest.warns(evenly.errors.EvenlyWarning, match="taken as parameters, since they aren't named: cores;"):
        model = evenly.fit(table, time="wall", unit="ms", method="power-law")
    assert model.space_.names == ["cores"]
    assert model.predict({"cores": [2]})[0] == pytest.approx(0.04, rel=0.05)
    named = evenly.fit(table, time="wall", parameters=["cores"], method="power-law")
    assert named.predict({"cores": [2]})[0] == pytest.approx(40, rel=0.05)
    with pytest.raises(InputError, match="there is no column 'seconds'"):
        evenly.fit(table)
    with pytest.raises(InputError, match="pass time='wall_ms', unit='ms'"):
        evenly.fit(table.rename(columns={"wall": "wall_ms"}))
    with pytest.raises(InputError, match="are for a table"):
        evenly.fit(evenly.Runs.from_frame(table, ["cores"], "wall"), time="wall")


def test_intervals_are_no_narrower_than_values_are_rounded() -> None:
    cores = np.repeat([1.0, 2.0, 4.0, 8.0, 16.0], 4)
    for method in ("power-law", "gp"):
        model = _model(method).fit({"cores": cores}, 80.0 / cores)
        lower, upper = model.interval({"cores": [2, 16]})
        predicted = model.predict({"cores": [2, 16]})
        assert (upper - predicted >= 0.0499).all()
        assert (lower < predicted).all()


def test_a_few_zeros_in_a_column_do_not_end_the_fit() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": np.arange(1, 61), "b": [0] * 3 + list(range(1, 58)), "c": [1, 2, 3] * 20})
    seconds = (np.sqrt(table["a"]) + 0.1 * table["b"] + 1) * np.exp(0.05 * rng.normal(size=60))
    model = evenly.models.Automatic(effort="quick", methods=["power-law", "log-quadratic"]).fit(table, seconds)
    assert len(model.learning_curve_)
