"""Parameters: bounds, designs, and the form of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.space.parameters import Categorical, Integer, Ordinal, Parameter, Real, as_values, parameter_from_dict

GRID = (np.arange(20_000) + 0.5) / 20_000


# Any: some arguments are of the wrong type on purpose.
INTEGER: Any = Integer
REAL: Any = Real
ORDINAL: Any = Ordinal


@pytest.mark.parametrize(
    "make",
    [
        lambda: INTEGER(5, 1), lambda: INTEGER(0, 4, scale="log"), lambda: INTEGER(1, 2, step=0),
        lambda: INTEGER(1, 9, step=1.5), lambda: INTEGER(0.5, 2), lambda: INTEGER(1, 2**60), lambda: INTEGER("1", 2),
        lambda: INTEGER(True, 2), lambda: REAL(0, float("inf")), lambda: REAL(float("nan"), 1),
        lambda: REAL(0, 1, scale="cubic"), lambda: ORDINAL(), lambda: ORDINAL(1, 1), lambda: ORDINAL("a"),
        lambda: ORDINAL(True, 2), lambda: ORDINAL(1, float("nan"), 3), lambda: ORDINAL(0, 1, scale="log"),
        lambda: Categorical(), lambda: Categorical("a", "a"), lambda: Categorical([1]), lambda: Categorical(1, True),
        lambda: Categorical(float("inf")), lambda: Categorical(pd.Timestamp(0)),
        lambda: Categorical(None, float("nan")),
        lambda: parameter_from_dict({"kind": "integer"}), lambda: parameter_from_dict({"kind": "real", "min": 1}),
        lambda: parameter_from_dict({"kind": "ordinal"}), lambda: parameter_from_dict({}),
    ],
)  # fmt: skip
def test_what_can_not_be(make: Any) -> None:
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize("kind", [Integer(1, 10, step=4, scale="log"), Integer(3, 1000, scale="log"), Integer(2, 9)])
def test_integers_have_the_mass_they_promise(kind: Integer) -> None:
    values, drawn = kind.values(), kind.from_unit(GRID)
    got = np.array([np.mean(drawn == value) for value in values])
    mass = kind.sampling_weights(values)
    # A value's share of an even grid of n points is off by at most one point.
    np.testing.assert_allclose(got, mass / mass.sum(), atol=1.01 / len(GRID))


def test_scale_can_be_overridden() -> None:
    assert Integer(1, 100).from_unit(np.array([0.5]), "log")[0] == 10
    assert Integer(1, 100, scale="log").from_unit(np.array([0.5]), "linear")[0] == 51
    assert Integer(0, 9).from_unit(np.array([0.5]), "log")[0] == 5  # no log of zero: stays linear


def test_reals_survive_extreme_bounds() -> None:
    for kind in (Real(-1.7e308, 1.7e308), Real(1e-300, 1e300, scale="log"), Real(0.1, 0.3), Real(5, 5)):
        drawn = kind.from_unit(np.array([0.0, 0.3, np.nextafter(1, 0)]))
        assert np.all(np.isfinite(drawn))
        assert np.all(drawn[1:] >= drawn[:-1])
        assert kind.contains(pd.Series(drawn)).all()


def test_ordinals_are_equal_up_to_rounding() -> None:
    assert Ordinal(0.1, 0.2, 0.3).contains(pd.Series([3 * 0.1, 0.3001, np.nan])).tolist() == [True, False, False]
    assert Ordinal(480, 960).contains(pd.Series([480.0, 961.0])).tolist() == [True, False]
    assert Ordinal(-1, 0, 1).contains(pd.Series([-1, 0, 1, 2])).tolist() == [True, True, True, False]
    assert Ordinal(3, 1, 2).options == (1, 2, 3)


def test_labels_keep_their_types() -> None:
    kind = Categorical("1", 1, None, False)
    column = pd.Series(["1", 1, 1.0, None, np.nan, pd.NA, False, "x", np.int64(1), np.bool_(False)], dtype=object)
    assert kind.contains(column).tolist() == [True] * 7 + [False, True, True]
    restored = as_values(kind, column).tolist()
    assert [type(x) for x in restored] == [str, int, int, *[type(None)] * 3, bool, str, int, bool]


def test_numbers_have_one_dtype_per_kind() -> None:
    assert as_values(Integer(1, 8), pd.Series([1.0, 2.0])).dtype == np.int64
    assert as_values(Integer(1, 8), pd.Series(["1", " 2"])).tolist() == [1, 2]
    assert as_values(Integer(1, 8), pd.Series([1.5, 2.0])).dtype == np.float64
    assert as_values(Real(1, 8), pd.Series([1, 2])).dtype == np.float64
    assert as_values(Ordinal(1, 2), pd.Series([1.0, 2.0])).dtype == np.int64
    assert as_values(Ordinal(1, 2.5), pd.Series([1])).dtype == np.float64
    with pytest.raises(InputError, match="'n' must be a finite number, but row 1 holds 'x'"):
        as_values(Integer(1, 8), pd.Series([1, "x"], name="n"))
    for bad in (pd.Series([None]), pd.Series([[1]]), pd.Series(pd.to_datetime(["2020-01-01"])), pd.Series([1j])):
        with pytest.raises(InputError, match="must be a finite number"):
            as_values(Real(0, 1), bad)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Integer(8, 64, step=8, unit="cores"), "a whole number from 8 to 64 in steps of 8 cores"),
        (Real(0.5, 2), "a number from 0.5 to 2"),
        (Categorical(*range(20)), "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (20 in all)"),
    ],
)
def test_words(kind: Parameter, words: str) -> None:
    assert kind.describe() == words


def test_values_repr_and_hash() -> None:
    assert repr(Ordinal(1, 2, scale="log", unit="m")) == "Ordinal(1, 2, scale='log', unit='m')"
    assert INTEGER(1.0, 8.0) == Integer(1, 8)
    assert hash(Ordinal(1, 2)) == hash(Ordinal(2, 1))
    assert Ordinal(1, 2) != Categorical(1, 2)
    assert Real(0, 1).values() is None
    with pytest.raises(InputError, match="too many to list"):
        Integer(0, 10**12).values()
