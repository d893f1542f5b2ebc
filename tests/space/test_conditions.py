"""Parameters that matter only under a condition."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.space.parameters import Categorical, Integer, Real
from evenly.space.space import Space

SPACE = Space(
    solver=Categorical("lu", "cg", "gmres"),
    tolerance=Real(1e-8, 1e-2, scale="log"),
    restart=Integer(10, 50, step=10),
    conditions={"tolerance": "solver != 'lu'", "restart": "solver == 'gmres'"},
)


def test_idle_parameters_have_one_value() -> None:
    table = SPACE.sample(300, seed=0)
    assert set(table[table["solver"] == "lu"]["tolerance"]) == {1e-8}
    assert set(table[table["solver"] != "gmres"]["restart"]) == {10}
    assert table[table["solver"] == "gmres"]["restart"].nunique() == 5
    assert SPACE.contains(table).all()
    # What doesn't matter costs no draws: each solver is as likely as any other.
    assert np.all(np.abs(table["solver"].value_counts() / 300 - 1 / 3) < 0.1)


def test_configurations_that_mean_the_same_are_one() -> None:
    space = Space(a=Integer(1, 3), b=Integer(1, 4), conditions={"b": "a > 1"})
    assert space.count() == len(space.enumerate()) == 1 + 2 * 4
    assert space.why_infeasible({"a": 1, "b": 2}) == ["b only where a > 1 ((a > 1) or `b` == 1) does not hold"]


def test_they_are_kept() -> None:
    again = Space.from_dict(SPACE.to_dict())
    assert again == SPACE
    assert again.conditions == SPACE.conditions
    assert "conditions" in repr(again)
    assert again != Space.of(SPACE.parameters)


@pytest.mark.parametrize(
    "conditions", [{"c": "a > 1"}, {"b": "b > 1"}, {"b": "c > 1"}, {"b": "a >"}, {"b": lambda row: True}]
)
def test_wrong_conditions(conditions: dict[str, str]) -> None:
    with pytest.raises(InputError):
        Space(a=Integer(1, 3), b=Integer(1, 4), conditions=conditions)
