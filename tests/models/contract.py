"""The laws that every model obeys, as one suite: import `check_model` and give it a fresh model and fitting data.

Laws are those in the docstring of `evenly.models.base.Model`.
"""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from evenly.errors import ExtrapolationWarning, InputError
from evenly.metrics import mlogq
from evenly.models.base import Model

__all__ = ["LAWS", "Law", "check_model"]

Floats = NDArray[np.float64]
Make = Callable[[], Model]
Law = Callable[[Make, pd.DataFrame, Floats], None]
LEVELS = (0.5, 0.8, 0.9, 0.99)


def inside(table: pd.DataFrame, n: int = 50, seed: int = 0) -> pd.DataFrame:
    """Draw configurations from the range that `table` spans."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name in table.columns:
        x = table[name]
        if pd.api.types.is_numeric_dtype(x):
            columns[name] = rng.uniform(float(x.min()), float(x.max()), n)
        else:
            columns[name] = rng.choice(x.to_numpy(dtype=object), n)
    return pd.DataFrame(columns)


_fitted: dict[tuple[Any, ...], Model] = {}


def fitted(make: Make, table: pd.DataFrame, values: Floats) -> Model:
    """Return a model learned from the runs, which several laws ask; it is fitted once for all of them."""
    model = make()
    key = (type(model), repr(model.get_params()), table.to_csv(), values.tobytes())
    if key not in _fitted:
        if len(_fitted) > 200:
            _fitted.clear()
        _fitted[key] = model.fit(table, values)
    # A copy, since a model keeps in mind of what it has warned.
    return copy.copy(_fitted[key])


def predictions_are_positive_inside(make: Make, table: pd.DataFrame, values: Floats) -> None:
    predicted = fitted(make, table, values).predict(inside(table))
    assert predicted.shape == (50,)
    assert predicted.dtype == np.float64
    assert np.isfinite(predicted).all()
    assert (predicted > 0).all()


def intervals_hold_the_prediction_and_nest(make: Make, table: pd.DataFrame, values: Floats) -> None:
    model = fitted(make, table, values)
    asked = inside(table)
    predicted = model.predict(asked)
    bounds = [model.interval(asked, level) for level in LEVELS]
    for lower, upper in bounds:
        assert (lower > 0).all()
        assert np.isfinite(upper).all()
        assert (lower <= predicted * (1 + 1e-12)).all()
        assert (predicted <= upper * (1 + 1e-12)).all()
    for (lower, upper), (wider_lower, wider_upper) in itertools.pairwise(bounds):
        assert (wider_lower <= lower * (1 + 1e-12)).all()
        assert (upper <= wider_upper * (1 + 1e-12)).all()


def scaling_the_values_scales_predictions(make: Make, table: pd.DataFrame, values: Floats) -> None:
    one, other = fitted(make, table, values), make().fit(table, values * 1000.0)
    asked = inside(table)
    # Values are divided by their geometric mean, which rounds differently: a few units in the last place of double
    # precision (1e-16) times condition numbers up to 1e5 of the least-squares problems.
    np.testing.assert_allclose(other.predict(asked), 1000.0 * one.predict(asked), rtol=1e-8)
    for a, b in zip(one.interval(asked), other.interval(asked), strict=True):
        np.testing.assert_allclose(b, 1000.0 * a, rtol=1e-6)


def the_order_of_rows_does_not_matter(make: Make, table: pd.DataFrame, values: Floats) -> None:
    order = np.random.default_rng(1).permutation(len(table))
    one, other = fitted(make, table, values), make().fit(table.iloc[order], values[order])
    asked = inside(table)
    np.testing.assert_allclose(other.predict(asked), one.predict(asked), rtol=1e-8)
    for a, b in zip(one.interval(asked), other.interval(asked), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)


def the_tables_given_stay_as_they_are(make: Make, table: pd.DataFrame, values: Floats) -> None:
    before, values_before = table.copy(), values.copy()
    model = make().fit(table, values)
    asked = inside(table)
    asked_before = asked.copy()
    model.predict(asked)
    model.interval(asked)
    pd.testing.assert_frame_equal(table, before)
    pd.testing.assert_frame_equal(asked, asked_before)
    np.testing.assert_array_equal(values, values_before)


def a_restored_model_predicts_the_same(make: Make, table: pd.DataFrame, values: Floats) -> None:
    model = fitted(make, table, values)
    other = make()
    for name in ("space_", "feature_names_in_", "n_features_in_", "n_runs_", "response_", "_warned"):
        setattr(other, name, getattr(model, name))
    other._set_state(through_files(model._get_state()))
    asked = inside(table)
    np.testing.assert_array_equal(other.predict(asked), model.predict(asked))
    for a, b in zip(model.interval(asked), other.interval(asked), strict=True):
        np.testing.assert_array_equal(a, b)


def through_files(state: Any) -> Any:
    """Do to a state what storing does: JSON for all but numeric arrays; anything else is refused."""
    if isinstance(state, dict):
        assert all(isinstance(key, str) for key in state)
        return {key: through_files(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [through_files(value) for value in state]
    if isinstance(state, np.ndarray):
        assert state.dtype.kind in "biuf"
        return state.copy()
    if isinstance(state, np.generic):
        return state.item()
    assert state is None or isinstance(state, bool | int | float | str), f"{state!r} can't be stored"
    return state


def extrapolation_warns_once(make: Make, table: pd.DataFrame, values: Floats) -> None:
    model = fitted(make, table, values)
    numeric = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name])]
    far = inside(table, 3)
    far[numeric[0]] = float(table[numeric[0]].max()) * 2
    with pytest.warns(ExtrapolationWarning, match=str(numeric[0])):
        predicted = model.predict(far)
    assert np.isfinite(predicted).all()
    assert (predicted > 0).all()
    lower, upper = model.interval(far)  # a second warning would be an error here
    assert (lower <= predicted).all()
    assert (predicted <= upper).all()


def it_keeps_the_estimator_contract(make: Make, table: pd.DataFrame, values: Floats) -> None:
    model = make()
    with pytest.raises(NotFittedError):
        model.predict(table)
    before = repr(model.get_params())
    assert model.fit(table, values) is model
    assert repr(model.get_params()) == before
    assert clone(model).get_params().keys() == model.get_params().keys()
    assert list(model.feature_names_in_) == list(table.columns)
    assert model.n_runs_ == len(table)
    assert model.method
    assert model.summary


def bad_values_are_named(make: Make, table: pd.DataFrame, values: Floats) -> None:
    for bad in (0.0, -1.0, np.nan, np.inf):
        wrong = values.copy()
        wrong[2] = bad
        with pytest.raises(InputError, match="row 2"):
            make().fit(table, wrong)
    with pytest.raises(InputError, match="level"):
        fitted(make, table, values).interval(table, 1.5)


def few_runs_and_equal_runs_do_not_crash(make: Make, table: pd.DataFrame, values: Floats) -> None:
    for rows in ([0], [0, 1], [0, 1, 2], [0, 0, 0], [0, 0, 1, 1]):
        some = table.iloc[rows].reset_index(drop=True)
        model = make().fit(some, values[rows])
        predicted = model.predict(some)
        lower, upper = model.interval(some)
        assert np.isfinite(predicted).all()
        assert ((lower <= predicted) & (predicted <= upper) & (lower > 0) & np.isfinite(upper)).all()


def weights_of_zero_leave_runs_out(make: Make, table: pd.DataFrame, values: Floats) -> None:
    wrong = values.copy()
    wrong[-1] *= 50
    weights = np.ones(len(values))
    weights[-1] = 0.0
    weighted = make().fit(table, wrong, weights)
    plain = make().fit(table, values, weights)
    asked = inside(table.iloc[:-1])
    np.testing.assert_allclose(weighted.predict(asked), plain.predict(asked), rtol=1e-6)


def equal_times_are_predicted(make: Make, table: pd.DataFrame, values: Floats) -> None:
    model = make().fit(table, np.full_like(values, 3.0))
    asked = inside(table)
    lower, upper = model.interval(asked)
    np.testing.assert_allclose(model.predict(asked), 3.0, rtol=1e-4)
    assert np.isfinite(upper).all()
    assert (lower > 0).all()


def a_parameter_of_one_value_is_no_obstacle(make: Make, table: pd.DataFrame, values: Floats) -> None:
    if make().method in ("offset-power-law", "piecewise-linear"):
        with pytest.raises(InputError, match="take one parameter"):
            make().fit(table.assign(constant=7), values)
        return
    model, plain = make().fit(table.assign(constant=7), values), fitted(make, table, values)
    asked = inside(table).assign(constant=7)
    assert (model.predict(asked) > 0).all()
    # Methods that draw columns at random draw others.
    one, other = (mlogq(values, m.predict(table.assign(constant=7))) for m in (model, plain))
    assert one <= 1.5 * other + 0.05


def the_order_of_parameters_does_not_matter(make: Make, table: pd.DataFrame, values: Floats) -> None:
    turned = table[table.columns[::-1]]
    asked = inside(table)
    one, other = fitted(make, table, values), make().fit(turned, values)
    np.testing.assert_allclose(other.predict(asked), one.predict(asked), rtol=1e-6)
    for a, b in zip(one.interval(asked), other.interval(asked), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-4)


def what_cannot_be_asked_is_named(make: Make, table: pd.DataFrame, values: Floats) -> None:
    model = fitted(make, table, values)
    asked = inside(table, 4)
    for name in table.columns:
        numeric = pd.api.types.is_numeric_dtype(table[name])
        strange, told = (np.nan, rf"{name}.*row 2|row 2.*{name}") if numeric else ("never measured", "never measured")
        wrong = asked.assign(**{name: [*asked[name][:2], strange, asked[name][3]]})
        with warnings.catch_warnings():
            # Of a label that wasn't measured it is said first that it lies outside.
            warnings.simplefilter("ignore", ExtrapolationWarning)
            with pytest.raises(InputError, match=told):
                model.predict(wrong)
        with pytest.raises(InputError, match=name):
            model.predict(asked.drop(columns=name))


#: Every law, by name.
LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (
        predictions_are_positive_inside,
        intervals_hold_the_prediction_and_nest,
        scaling_the_values_scales_predictions,
        the_order_of_rows_does_not_matter,
        the_tables_given_stay_as_they_are,
        a_restored_model_predicts_the_same,
        extrapolation_warns_once,
        it_keeps_the_estimator_contract,
        bad_values_are_named,
        few_runs_and_equal_runs_do_not_crash,
        weights_of_zero_leave_runs_out,
        equal_times_are_predicted,
        a_parameter_of_one_value_is_no_obstacle,
        the_order_of_parameters_does_not_matter,
        what_cannot_be_asked_is_named,
    )
}


def check_model(make: Make, table: pd.DataFrame, values: Floats) -> None:
    """Check every law for the models that `make` returns, on at least six distinct runs."""
    for law in LAWS.values():
        law(make, table, values)
