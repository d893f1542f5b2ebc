"""Configurations under rules that reject nearly all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly import Categorical, InfeasibleError, Integer, Ordinal, Real, Space
from evenly.space.constrained_walks import walk
from evenly.space.expressions import Expression
from evenly.tuning.search import Search

OPERATORS = st.sampled_from(["<", "<=", "==", "!=", ">", ">="])
SIDES = st.sampled_from(["a", "b", "a * b", "a - 3", "2", "a % 3", "b / (a - 1)"])
COMPARISONS = st.builds("{} {} {}".format, SIDES, OPERATORS, SIDES)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda parts: (
        st.builds("({} and {})".format, parts, parts)
        | st.builds("({} or {})".format, parts, parts)
        | st.builds("not ({})".format, parts)
    ),
    max_leaves=4,
)


@given(CONDITIONS)
def test_the_distance_is_zero_just_where_a_condition_holds(text: str) -> None:
    condition, columns = Expression(text), {"a": np.repeat(np.arange(-2, 6), 8), "b": np.tile(np.arange(-2, 6), 8)}
    apart = condition.distance(columns, 64)
    assert np.isfinite(apart).all()
    assert np.array_equal(apart == 0, condition.holds(columns, 64))


def test_the_distance_falls_towards_the_rule() -> None:
    apart = Expression("a * b == 64 and a >= 2").distance({"a": [16, 8, 4, 1], "b": [16, 16, 16, 64]}, 4)
    assert apart.tolist() == pytest.approx([np.log(4), np.log(2), 0, np.log(2)])


HARD = {
    "a product": (Space.of({k: Integer(1, 64) for k in "abcdef"}, ["a * b * c * d * e * f == 4096"]), 4000),
    "a sum": (Space.of({k: Integer(1, 20) for k in "abcdefgh"}, ["a+b+c+d+e+f+g+h <= 24"]), 5000),
    "several": (
        Space(
            px=Integer(1, 512), py=Integer(1, 512), pz=Integer(1, 512), block=Integer(1, 4096), wide=Real(0, 1),
            kind=Categorical("x", "y"), level=Ordinal(1, 2, 4),
            constraints=["px * py * pz == 512", "4096 % (px * block) == 0", "wide < 0.1 or kind == 'y'"],
        ),
        3000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_spaces_of_which_hardly_a_configuration_is_feasible(name: str) -> None:
    space, fewest = HARD[name]
    table = space.sample(5000, seed=1)
    assert len(table) == 5000
    assert space.contains(table).all()
    assert len(table.drop_duplicates()) >= fewest
    pd.testing.assert_frame_equal(table, space.sample(5000, seed=1))


def test_all_are_found_where_there_are_few() -> None:
    kinds = {"x": Integer(1, 4096), "y": Integer(1, 4096), "z": Integer(1, 4096)}
    found = Space.of(kinds, ["x * y * z == 16"]).sample(500, seed=0).drop_duplicates()
    assert len(found) == 15  # ways to hand out four factors of two to three numbers


def test_conditions_hold_on_walks() -> None:
    kinds = {"a": Integer(1, 1000), "b": Integer(1, 1000), "c": Integer(1, 1000)}
    space = Space.of(kinds, ["a * b == 1000"], conditions={"c": "a > b"})
    table = space.sample(50, seed=0)
    assert (table["c"][table["a"] <= table["b"]] == 1).all()


def test_rules_that_contradict_each_other() -> None:
    space = Space(a=Integer(1, 10**6), b=Integer(1, 10**6), constraints=["a > b", "b > a"])
    with pytest.raises(InfeasibleError, match="none that obeys was found"):
        space.sample(1, seed=0)


def test_walks_go_on_from_what_is_known() -> None:
    space = Space(a=Integer(1, 10**6), b=Integer(1, 10**6), constraints=["a * b == 1000000"])
    start = space.frame({"a": [1000], "b": [1000]})
    found = walk(space.parameters, space.rules, 30, np.random.default_rng(0), start=start)
    assert len(found) == 30
    assert (found["a"] * found["b"] == 10**6).all()


def test_a_search_under_hard_rules_never_repeats_and_improves() -> None:
    space = HARD["a product"][0]
    search, tried = Search(space, seed=0), []
    for _ in range(18):
        configuration = search.ask()
        assert configuration is not None
        tried.append(tuple(configuration.values()))
        search.tell(configuration, 1.0 + sum((np.log2(v) - 2) ** 2 for v in configuration.values()))
    assert len(set(tried)) == len(tried)
    assert space.contains(pd.DataFrame(tried, columns=space.names)).all()
    best = search.trials.best
    assert best is not None
    # Of random ones, the mean of the best of 18 is 8.
    assert best.mean_s < 6


def test_walks_fill_a_narrow_part_of_real_numbers() -> None:
    kinds = {"a": Real(0, 1), "b": Real(0, 1), "c": Real(0, 1)}
    space = Space.of(kinds, ["a + b < 0.002"])
    start = space.frame({"a": [0.001], "b": [0.0005], "c": [0.5]})
    found = walk(space.parameters, space.rules, 2000, np.random.default_rng(0), start=start)
    assert space.contains(found).all()
    for name, middle in (("a", 0.0006), ("b", 0.0006), ("c", 0.5)):
        assert np.median(found[name]) == pytest.approx(middle, rel=0.4)
    at_ends = (found["a"] == 0) | (found["b"] == 0) | (found["c"] == 0) | (found["c"] == 1)
    assert at_ends.mean() < 0.01


@pytest.mark.parametrize("rule", ["a % 100003 == 0", lambda at: at["a"] % 100003 == 0], ids=["expression", "function"])
def test_rules_that_lead_nowhere_are_drawn_until_enough_are_found(rule: object) -> None:
    space = Space.of({"a": Integer(1, 10**9)}, [rule])  # type: ignore[list-item]
    table = space.sample(5, seed=0)
    assert (table["a"] % 100003 == 0).all()
    assert len(table.drop_duplicates()) == 5


def test_a_search_under_hard_rules_goes_on_alike() -> None:
    space = Space.of({k: Integer(1, 100) for k in "abcd"}, ["a * b * c * d == 10000"])

    def seconds(configuration: dict[str, object]) -> float:
        return 1.0 + float(sum((np.log(float(str(v))) - 2) ** 2 for v in configuration.values()))

    whole, again = Search(space, seed=3), Search(space, seed=3)
    for _ in range(8):
        configuration = whole.ask()
        assert configuration is not None
        whole.tell(configuration, seconds(configuration))
    for trial in list(whole.trials)[:6]:
        again.tell(trial.configuration, trial.mean_s)
    for trial in list(whole.trials)[6:]:
        asked = again.ask()
        assert asked == trial.configuration
        again.tell(asked, seconds(asked))
