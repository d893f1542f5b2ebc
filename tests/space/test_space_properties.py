"""Spaces against brute force, for any parameters and rules."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from evenly.errors import InfeasibleError
from evenly.space.parameters import Categorical, Integer, Ordinal, Parameter, Real, Scale, parameter_from_dict
from evenly.space.space import Constraint, Space

UNITS = st.sampled_from(["", "cores"])
SCALES: st.SearchStrategy[Scale] = st.sampled_from(["linear", "log"])
LABELS = st.one_of(st.text(max_size=5), st.booleans(), st.none(), st.integers(-3, 3))


@st.composite
def integers(draw: st.DrawFn, most: int = 10**6) -> Integer:
    scale = draw(SCALES)
    low = draw(st.integers(1 if scale == "log" else -most, most))
    return Integer(low, low + draw(st.integers(0, most)), scale=scale, step=draw(st.integers(1, 9)), unit=draw(UNITS))


@st.composite
def reals(draw: st.DrawFn) -> Real:
    scale = draw(SCALES)
    ends = st.floats(1e-300 if scale == "log" else None, allow_nan=False, allow_infinity=False)
    low, high = sorted([draw(ends), draw(ends)])
    return Real(low, high, scale=scale, unit=draw(UNITS))


ORDINALS = st.lists(st.integers(1, 50) | st.floats(0.5, 50), min_size=1, max_size=5, unique=True).flatmap(
    lambda options: st.builds(lambda scale, unit: Ordinal(*options, scale=scale, unit=unit), SCALES, UNITS)
)
CATEGORICALS = st.lists(LABELS, min_size=1, max_size=5, unique=True).map(lambda options: Categorical(*options))
PARAMETERS = st.one_of(integers(), reals(), ORDINALS, CATEGORICALS)


@given(kind=PARAMETERS, unit=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20))
def test_laws_of_parameters(kind: Parameter, unit: list[float]) -> None:
    assert parameter_from_dict(json.loads(json.dumps(kind.to_dict()))) == kind
    scales: list[Scale | None] = [None, "linear", "log"]
    for scale in scales:
        drawn = kind.from_unit(np.sort(unit), scale)
        assert kind.contains(pd.Series(drawn, dtype=drawn.dtype)).all()
        if not isinstance(kind, Categorical):
            assert np.all(drawn[:-1] <= drawn[1:])
    if not isinstance(kind, Integer | Real):
        values = kind.values()
        assert values is not None
        assert kind.contains(pd.Series(values, dtype=values.dtype)).all()


SMALL = st.one_of(
    integers(most=6), st.lists(st.integers(1, 20), min_size=1, max_size=5, unique=True).map(lambda x: Ordinal(*x))
)
RULES = st.builds(
    "{} {} {} {} {}".format,
    st.sampled_from("abc"), st.sampled_from("+-*"), st.sampled_from("abc"),
    st.sampled_from(["<", "<=", "==", "!=", ">"]), st.integers(-10, 60),
) | st.builds("{} % {} == {}".format, st.sampled_from("abc"), st.integers(1, 4), st.integers(0, 3))  # fmt: skip


@given(a=SMALL, b=SMALL, c=SMALL, rules=st.lists(RULES, max_size=3), function=st.booleans())
def test_enumeration_equals_brute_force(
    a: Parameter, b: Parameter, c: Parameter, rules: list[str], function: bool
) -> None:
    kinds = {"a": a, "b": b, "c": c}
    constraints: list[Any] = [Constraint(rule) for rule in rules]
    if function:
        constraints.append(lambda configuration: configuration["a"] != configuration["c"])
    space = Space.of(kinds, constraints)
    values = [(kind.values() if kind.values() is not None else np.empty(0)) for kind in kinds.values()]
    expected = [
        row
        for row in itertools.product(*(x.tolist() for x in values if x is not None))
        if all(eval(rule, {}, dict(zip("abc", row, strict=True))) for rule in rules)  # noqa: S307 - rules made above
        and not (function and row[0] == row[2])
    ]
    table = space.enumerate()
    assert list(table.itertuples(index=False, name=None)) == expected
    assert space.count() == len(expected)
    if expected:
        assert space.contains(table).all()
        sample = space.sample(5, seed=0)
        assert set(sample.itertuples(index=False, name=None)) <= set(expected)
    else:
        try:
            space.sample(1, seed=0)
        except InfeasibleError as error:
            assert error.constraint in [constraint.name for constraint in space.constraints]  # noqa: PT017
        else:
            raise AssertionError


@given(
    kinds=st.dictionaries(st.text(min_size=1, max_size=5), PARAMETERS, min_size=1, max_size=4),
    listed=st.booleans(),
    seed=st.integers(0, 9),
)
def test_spaces_come_back_from_json(kinds: dict[str, Parameter], listed: bool, seed: int) -> None:
    space = Space.of(kinds)
    if listed:
        space = Space.of(kinds, listed=space.sample(4, seed=seed))
    assert Space.from_dict(json.loads(json.dumps(space.to_dict(), allow_nan=False))) == space
    table = space.sample(3, seed=seed)
    assert space.contains(table).all()
    spanned = Space.from_data(table, like=space)
    assert not spanned.outside(table)
    assert not space.outside(table)
