"""Spaces: what is feasible, how many, and why not."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.space.parameters import Categorical, Integer, Ordinal, Real
from evenly.space.space import Constraint, Space


def few_threads(configuration: dict[str, Any]) -> bool:
    return bool(configuration["ranks"] * configuration["threads"] <= 16)


SPACE = Space(ranks=Integer(1, 8), threads=Ordinal(1, 2, 4), solver=Categorical("cg", None, True))


def test_wrong_spaces() -> None:
    for make in (
        lambda: Space(n=3),  # type: ignore[arg-type]
        lambda: Space(n=Integer(1, 2), constraints=["m > 1"]),
        lambda: Space(n=Integer(1, 2), constraints="n > 1"),
        lambda: Space(n=Integer(1, 2), constraints=[3]),  # type: ignore[list-item]
        lambda: Space(n=Integer(1, 2), constraints=["n +"]),
        lambda: Space(n=Integer(1, 2), constraints=["n + 1"]).count(),
        lambda: Space(n=Integer(1, 2), listed=pd.DataFrame({"m": [1]})),
        lambda: Space.from_data(pd.DataFrame({"n": []})),
        lambda: Space.from_frame(pd.DataFrame()),
        lambda: Space.from_data(pd.DataFrame({"n": [1.0, np.nan]})),
        lambda: Space.from_data(pd.DataFrame([[1, 2]], columns=["n", "n"])),
        lambda: Space.from_data(pd.DataFrame({"n": [pd.Timestamp(0)]})),
        lambda: Space.from_dict({}),
        lambda: Space.from_dict({"parameters": {"n": {"kind": "integer", "low": "a", "high": 2}}}),
        lambda: Space.from_dict({"parameters": {"n": 3}}),
        lambda: Space(n=Real(0, 1)).count(),
        lambda: Space(n=Integer(1, 100), m=Integer(1, 100)).enumerate(limit=5000),
        lambda: Space().sample(1),
        lambda: SPACE.sample(-1),
        lambda: SPACE.sample(1, design="halton"),  # type: ignore[arg-type]
        lambda: Space(n=Integer(1, 2), constraints=[few_threads]).to_dict(),
    ):
        with pytest.raises(InputError):
            make()


def test_kinds_are_told_from_values() -> None:
    frame = pd.DataFrame(
        {
            "whole": [1.0, 4.0], "real": [0.5, 2], "zero": [0, 3], "flag": [True, False],
            "object": pd.Series([1, 2], dtype=object), "mixed": pd.Series(["a", None], dtype=object),
            "nullable": pd.array([1, 2], dtype="Int64"), "boolean": pd.array([True, True], dtype="boolean"),
            "category": pd.Series([3, 4], dtype="category"), 7: ["x", "y"],
        }
    )  # fmt: skip
    assert Space.from_data(frame).parameters == {
        "whole": Integer(1, 4, scale="log"), "real": Real(0.5, 2, scale="log"), "zero": Integer(0, 3),
        "flag": Categorical(False, True), "object": Integer(1, 2, scale="log"), "mixed": Categorical("a", None),
        "nullable": Integer(1, 2, scale="log"), "boolean": Categorical(True), "category": Categorical(3, 4),
        "7": Categorical("x", "y"),
    }  # fmt: skip


def test_known_kinds_scales_and_units_are_kept() -> None:
    like = Space(a=Categorical(1, 2, 3), b=Ordinal(1, 2, 4, unit="t"), c=Integer(0, 100, unit="m"), d=Real(0, 9))
    found = Space.from_data(pd.DataFrame({"a": [1, 3], "b": [4, 1], "c": [5, 7], "d": [1, 2]}), like=like)
    assert found == Space(a=Categorical(1, 3), b=Ordinal(1, 4, unit="t"), c=Integer(5, 7, unit="m"), d=Real(1, 2))


@pytest.mark.parametrize(
    "configurations",
    [
        {"ranks": [1, 2], "threads": 4, "solver": ["cg", None]},
        [{"ranks": 1, "threads": 4, "solver": "cg"}, {"ranks": 2, "threads": 4, "solver": None}],
        pd.DataFrame({"solver": ["cg", None], "threads": [4.0, 4.0], "ranks": ["1", "2"], "more": 0}, index=[5, 5]),
        np.array([[1, 4, "cg"], [2, 4, None]], dtype=object),
    ],
)
def test_all_forms_of_configurations_are_one_table(configurations: Any) -> None:
    table = SPACE.frame(configurations)
    assert table.to_dict("list") == {"ranks": [1, 2], "threads": [4, 4], "solver": ["cg", None]}
    assert [str(x) for x in table.dtypes] == ["int64", "int64", "object"]
    assert SPACE.contains(configurations).tolist() == [True, True]


def test_single_and_empty_configurations() -> None:
    one = {"ranks": 8, "threads": 1, "solver": True}
    assert len(SPACE.frame(one)) == 1
    assert SPACE.frame(pd.Series(one)).equals(SPACE.frame(one))
    empty: list[Any] = [{"ranks": [], "threads": 1, "solver": "cg"}, pd.DataFrame(columns=SPACE.names), []]
    for nothing in empty:
        table = SPACE.frame(nothing)
        assert len(table) == 0
        assert list(table) == SPACE.names
        assert SPACE.contains(nothing).shape == (0,)
    assert Space(n=Integer(1, 4)).contains([1, 5]).tolist() == [True, False]
    for wrong in ({"ranks": [1, 2, 3], "threads": [1, 2], "solver": "cg"}, {"ranks": 1}, np.zeros((2, 2)), 3.0):
        with pytest.raises(InputError):
            SPACE.frame(wrong)


def test_the_callers_table_is_not_changed() -> None:
    frame = pd.DataFrame({"ranks": ["1"], "threads": [1.0], "solver": ["cg"]}, index=[3])
    before = frame.copy()
    table = SPACE.frame(frame)
    table["ranks"] = 5
    Space.from_data(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_why_infeasible_names_the_rule() -> None:
    rules: list[Any] = [Constraint("ranks * threads <= 16", name="node"), "ranks != 5", few_threads]
    space = Space.of(SPACE.parameters, rules)
    assert space.why_infeasible({"ranks": 8, "threads": 1, "solver": "cg"}) == []
    assert space.why_infeasible({"ranks": 8, "threads": 4, "solver": "cg"}) == [
        "node (ranks * threads <= 16) does not hold", "few_threads does not hold",
    ]  # fmt: skip
    assert space.why_infeasible({"ranks": 5.5, "threads": 3, "solver": "lu"}) == [
        "ranks must be a whole number from 1 to 8, but got 5.5", "threads must be one of 1, 2, 4, but got 3",
        "solver must be one of cg, None, True, but got 'lu'", "node (ranks * threads <= 16) does not hold",
    ]  # fmt: skip
    with pytest.raises(InputError, match="configuration 1 is not feasible: ranks != 5 does not hold"):
        space.check({"ranks": [1, 5], "threads": 1, "solver": "cg"})
    with pytest.raises(InputError, match="one configuration"):
        space.why_infeasible({"ranks": [1, 2], "threads": 1, "solver": "cg"})


def test_a_space_of_listed_rows() -> None:
    rows = pd.DataFrame({"ranks": [1, 2, 2, 4], "threads": [4, 2, 2, 1], "solver": ["cg", None, None, True]})
    space = Space.of(SPACE.parameters, ["ranks < 4"], listed=rows)
    assert space.count() == len(space.enumerate()) == 2
    assert space.contains(rows).tolist() == [True, True, True, False]
    assert space.why_infeasible({"ranks": 1, "threads": 1, "solver": "cg"}) == [
        "it is not one of the listed configurations"
    ]
    assert sorted(space.sample(4, seed=1)["ranks"]) == [1, 1, 2, 2]
    assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space
    empty = Space.of(SPACE.parameters, listed=rows.iloc[:0])
    assert empty.count() == 0
    assert Space.from_dict(empty.to_dict()) == empty


def test_outside_ignores_steps_and_names_parameters() -> None:
    space = Space(n=Integer(2, 8, step=2), kind=Categorical("a"), x=Real(0, 1))
    assert space.outside({"n": [3, 9], "kind": "a", "x": [0.5, 1 + 1e-15]}).keys() == {"n"}
    assert space.outside({"n": 3, "kind": ["a", "b"], "x": -1})["kind"].tolist() == [False, True]


def test_equality() -> None:
    assert Space(a=Integer(1, 2), b=Integer(1, 2)) != Space(b=Integer(1, 2), a=Integer(1, 2))
    assert Space(a=Integer(1, 2), constraints=["a > 1"]) != Space(a=Integer(1, 2))
    assert Space(a=Integer(1, 2)) != 3
    assert "listed=2 rows" in repr(Space.from_frame(pd.DataFrame({"a": [1, 2]})))


def test_ten_million_configurations_are_counted_in_bounded_memory() -> None:
    space = Space(
        a=Integer(1, 250), b=Integer(1, 250), c=Integer(1, 250), d=Integer(1, 3), constraints=["a + b + c > 0"]
    )
    tracemalloc.start()
    assert space.count() == 3 * 250**3
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # four columns of 65,536 rows of 8 bytes, a few times over


def test_a_large_list_is_looked_up_not_searched() -> None:
    rows = pd.DataFrame(list(itertools.product(range(1, 201), range(1, 101))), columns=["a", "b"])
    space = Space.from_frame(rows)
    asked = np.random.default_rng(0).integers(1, 201, (100_000, 2))
    np.testing.assert_array_equal(space.contains(asked), asked[:, 1] <= 100)


def test_names_that_are_no_words() -> None:
    space = Space.of({"cores per node": Integer(1, 4), "a-b": Integer(1, 4)}, ["`cores per node` * `a-b` == 4"])
    assert space.count() == 3
    assert Space.from_dict(space.to_dict()) == space
