"""What all models share: checks, the range they know, and scikit-learn's contract."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.pmnf.pmnf import PMNF
from evenly.models.scaling_laws.power_law import PowerLaw
from evenly.space.parameters import Categorical, Integer
from evenly.space.space import Space
from tests.models.toy_model import Toy

X = pd.DataFrame({"cores": [1, 2, 4, 8], "solver": ["a", "a", "b", "b"]})
Y = np.array([8.0, 4.0, 2.0, 1.0])


def test_fitted_attributes() -> None:
    model = Toy().fit(X, Y)
    assert list(model.feature_names_in_) == ["cores", "solver"]
    assert (model.n_features_in_, model.n_runs_) == (2, 4)
    assert model.response_ == {"name": "seconds", "unit": "s"}
    assert model.space_ == Space(cores=Integer(1, 8, scale="log"), solver=Categorical("a", "b"))
    given = Toy().fit(X, Y, space=Space(cores=Categorical(1, 2, 4, 8, 16), solver=Categorical("a", "b", "c")))
    assert given.space_ == Space(cores=Categorical(1, 2, 4, 8), solver=Categorical("a", "b"))


def test_all_forms_of_configurations_learn_the_same() -> None:
    forms: list[Any] = [
        X,
        X.to_dict("list"),
        X.to_dict("records"),
        X.set_index(pd.Index([3, 3, 1, 0])),
        X.astype(object),
    ]
    for form in forms:
        pd.testing.assert_frame_equal(Toy().fit(form, Y).learned_table_, Toy().fit(X, Y).learned_table_)
    array = Toy().fit(X[["cores"]].to_numpy(), Y)
    assert list(array.feature_names_in_) == ["x0"]
    assert array.predict([[2], [4]]).shape == (2,)
    assert Toy().fit([1, 2, 4, 8], Y).predict([4]).shape == (1,)


def test_weights_have_mean_one() -> None:
    model = Toy().fit(X, Y, sample_weight=[0, 0, 3, 1])
    assert model.weights_.tolist() == [0, 0, 3, 1]
    assert Toy().fit(X, Y, [2, 2, 2, 2]).weights_.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("table", "values", "weights", "reason"),
    [
        (X, [1.0, 2.0], None, r"one value per configuration \(4\), but got 2"),
        (X, [1, 0, 1, 1], None, "row 1 holds 0.0"),
        (X, [1, np.nan, 1, 1], None, "row 1 holds nan"),
        (X, ["a", 1, 1, 1], None, "must be numbers"),
        (X.iloc[:0], [], None, "no runs"),
        (X, Y, [1, 1], "must hold 4 finite numbers"),
        (X, Y, [0, 0, 0, 0], "not all zero"),
        (X, Y, [1, -1, 1, 1], "none negative"),
        (X, Y, ["a", 1, 1, 1], "must be numbers"),
        (X.assign(cores=[1, np.nan, 2, 3]), Y, None, "'cores' must be a finite number, but row 1"),
        (np.zeros((2, 2, 2)), Y, None, "must have shape"),
        (pd.concat([X, X], axis=1), Y, None, "is there twice"),
    ],
)
def test_unfit_tables(table: Any, values: Any, weights: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Toy().fit(table, values, weights)


def test_asking_before_learning() -> None:
    for ask in (Toy().predict, Toy().interval):
        with pytest.raises(NotFittedError):
            ask(X)
        with pytest.raises(InputError, match="call fit first"):
            ask(X)


def test_extrapolation_is_said_once_with_name_and_range() -> None:
    model = Toy().fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict({"cores": [3, 8], "solver": "a"})
    with pytest.warns(ExtrapolationWarning) as caught:
        model.predict({"cores": [16, 3, 64], "solver": ["a", "b", "a"]})
    assert str(caught[0].message) == (
        "asked outside the range learned on (cores = 16 … 64, learned on 1 … 8): predictions there are extrapolations"
    )
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.interval({"cores": 999, "solver": "a"})
    with pytest.warns(ExtrapolationWarning):
        model.fit(X, Y).interval({"cores": 999, "solver": "a"})


def test_levels() -> None:
    model = Toy().fit(X, Y)
    for level in (0, 1, -0.5, 90, float("nan")):
        with pytest.raises(InputError, match="level must lie between 0 and 1"):
            model.interval(X, level)
    lower, upper = model.interval(X, 0.5)
    assert np.all(lower < upper)


def test_scikit_learn_contract() -> None:
    model = Toy(factor=2.0)
    assert model.get_params() == {"factor": 2.0, "keep": None}
    assert clone(model).set_params(factor=3.0).factor == 3.0
    assert is_regressor(model)
    assert not hasattr(clone(model.fit(X, Y)), "space_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))  # noqa: S301
    assert Toy().fit(X, Y).score(X, Y) <= 0  # a constant explains nothing


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_cross_validation_and_pipelines() -> None:
    folds = [([0, 2], [1, 3]), ([1, 3], [0, 2])]  # labels of both solvers in each
    scores = cross_val_score(Toy(), X, Y, cv=folds, scoring="neg_mean_absolute_error")
    expected = [-np.mean(np.abs(Y[asked] - np.sqrt(np.prod(Y[known])))) for known, asked in folds]
    np.testing.assert_allclose(scores, expected)
    pipeline = make_pipeline(FunctionTransformer(lambda table: table[["cores"]]), Toy())
    assert pipeline.fit(X, Y).predict(X).shape == (4,)


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, 1e61])
def test_numbers_that_no_formula_can_take_are_refused(value: float) -> None:
    cores, seconds = [1.0, 2.0, 4.0, value], [8.0, 4.0, 2.0, 1.0]
    for model in (Toy(), PMNF(), PowerLaw()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(InputError, match=r"'cores' is -?1e[+-]?\d+ in configuration 3, but numbers"):
                model.fit({"cores": cores}, seconds)
            if value > 0:
                with pytest.raises(InputError, match=r"measured values must lie between .* row 3 holds 1e"):
                    model.fit({"cores": [1, 2, 4, 8]}, [*seconds[:3], value])


@pytest.mark.parametrize("value", [0.0, -8.0, np.nan, np.inf, 1e300])
def test_predictions_of_values_that_cannot_be_are_refused(value: float) -> None:
    for model in (Toy(), PMNF(), PowerLaw()):
        model.fit({"cores": [1, 2, 4, 8]}, [8.0, 4.1, 2.2, 1.1])
        for asked in (model.predict, model.interval):
            with pytest.raises(InputError, match=r"'cores' (was above zero in all|must be a finite|is 1e)"):
                asked({"cores": [4.0, value]})


def test_a_printed_model_says_what_was_learned() -> None:
    told = str(PowerLaw().fit({"cores": [1, 2, 4, 8]}, Y))
    assert told.startswith("power-law: seconds of cores 1 … 8, from 4 rows: 8 · cores^-1")
    assert "solver (one of a, b)" in str(Toy().fit(X, Y))
    assert str(PMNF(terms=1)) == "PMNF(terms=1), not fitted"
    assert repr(PMNF(terms=1).fit({"cores": [1, 2, 4, 8]}, Y)) == "PMNF(terms=1)"
