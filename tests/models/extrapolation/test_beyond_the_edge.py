"""The method "beyond": races on shells, predictions beyond the range, and intervals that widen enough."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly import Categorical, Real, Space
from evenly.errors import ExtrapolationWarning
from evenly.models.extrapolation.beyond import Beyond
from evenly.models.extrapolation.trend_race import RaceResult
from tests.models.contract import through_files

pytestmark = pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")


def drawn(n: int, low: float, high: float, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: np.exp(rng.uniform(np.log(low), np.log(high), n)) for name in ("m", "n")})


def seconds(table: pd.DataFrame, seed: int | None = None, spread: float = 0.05) -> np.ndarray:
    noise = 0.0 if seed is None else spread * np.random.default_rng(seed).normal(size=len(table))
    return np.asarray((1e-9 * table.m**1.5 * table.n + 2e-7 * table.n + 1e-5) * np.exp(noise))


@pytest.fixture(scope="module")
def model() -> Beyond:
    table = drawn(500, 16, 512)
    return Beyond(boosting=False).fit(table, seconds(table, 1))


@pytest.mark.parametrize("above", [["m"], ["n"], ["m", "n"]])
def test_a_sum_of_laws_is_continued_within_noise(model: Beyond, above: list[str]) -> None:
    far = drawn(200, 16, 512, seed=2)
    far[above] = drawn(200, 1024, 4096, seed=3)[above]
    # Up to three e-folds beyond; a slope off by 0.03 would be 0.1.
    assert np.abs(np.log(model.predict(far) / seconds(far))).mean() < 0.12


def test_below_the_range_the_constant_is_found(model: Beyond) -> None:
    near = drawn(200, 4, 12, seed=4)
    assert np.abs(np.log(model.predict(near) / seconds(near))).mean() < 0.15


def test_intervals_cover_beyond_the_range(model: Beyond) -> None:
    far = drawn(500, 1024, 4096, seed=5)
    lower, upper = model.interval(far, 0.9)
    measured = seconds(far, 6)
    assert np.mean((lower <= measured) & (measured <= upper)) >= 0.85
    inside = drawn(500, 16, 512, seed=7)
    assert np.median(np.log(np.divide(*model.interval(far)[::-1]))) > np.median(
        np.log(np.divide(*model.interval(inside)[::-1]))
    )


def test_choices_name_every_side(model: Beyond) -> None:
    assert model.choices_["side"].tolist() == [
        "m above",
        "m below",
        "n above",
        "n below",
        "several above",
        "several below",
    ]
    assert (model.choices_["error"] < 0.2).all()
    assert (model.choices_["growth"] >= 2).all()


def test_a_restored_model_says_the_same_beyond_the_range(model: Beyond) -> None:
    other = Beyond(boosting=False)
    for name in ("space_", "feature_names_in_", "n_features_in_", "n_runs_", "response_", "_warned"):
        setattr(other, name, getattr(model, name))
    other._set_state(through_files(model._get_state()))
    far = drawn(50, 300, 4096, seed=8)
    np.testing.assert_array_equal(other.predict(far), model.predict(far))
    for a, b in zip(other.interval(far), model.interval(far), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_order_of_rows_and_the_unit_of_time_do_not_matter_beyond_the_range() -> None:
    table = drawn(60, 16, 512, seed=9)
    measured, far = seconds(table, 10), drawn(40, 600, 2000, seed=11)
    order = np.random.default_rng(12).permutation(60)
    plain = Beyond(boosting=False).fit(table, measured).predict(far)
    shuffled = Beyond(boosting=False).fit(table.iloc[order], measured[order]).predict(far)
    milliseconds = Beyond(boosting=False).fit(table, measured * 1000).predict(far)
    np.testing.assert_allclose(shuffled, plain, rtol=1e-8)
    np.testing.assert_allclose(milliseconds, 1000 * plain, rtol=1e-7)


def test_what_is_not_seen_at_the_edge_stays_as_it_is_there() -> None:
    # A step in n, within the range of n, is known beyond the range of m as well: only residuals tell it.
    table = drawn(800, 16, 512, seed=13)
    step = np.where(table.n > 100, 1.5, 1.0)
    far = drawn(200, 16, 512, seed=14)
    far["m"] = drawn(200, 1024, 2048, seed=15)["m"]
    truth = 1e-9 * far.m * far.n * np.where(far.n > 100, 1.5, 1.0)
    model = Beyond(boosting=False).fit(table, 1e-9 * table.m * table.n * step)
    assert np.abs(np.log(model.predict(far) / truth)).mean() < 0.08


def test_runs_that_differ_by_labels_only_have_intervals_and_no_sides() -> None:
    labels = np.array(["a", "b", "c"] * 4)
    model = Beyond().fit({"solver": labels}, np.arange(1.0, 13.0))
    asked = {"solver": ["a", "b", "c"]}
    lower, upper = model.interval(asked)
    assert (lower < model.predict(asked)).all()
    assert (model.predict(asked) < upper).all()
    assert model.choices_.empty


def test_a_parameter_of_two_values_is_not_taken_as_without_effect() -> None:
    """Leaving out the larger one leaves one, which tells nothing: that it has no effect once won the race."""
    rows = [(ranks, steps, 0.1 * steps / ranks + 0.5) for ranks in (1, 2, 4, 8, 16, 32) for steps in (1000, 10000)]
    table = pd.DataFrame(rows, columns=["ranks", "steps", "seconds"])
    model = evenly.fit(evenly.Runs.from_frame(table, ["ranks", "steps"]), method="beyond")
    found = model.predict(pd.DataFrame({"ranks": [1, 32], "steps": [20000, 20000]}))
    assert found == pytest.approx([2000.5, 63], rel=0.3)


def rising(table: pd.DataFrame, seed: int) -> np.ndarray:
    noise = 0.03 * np.random.default_rng(seed).normal(size=len(table))
    return np.asarray((0.5 * table.n / table.p + 0.05 * table.p + 5) * np.exp(noise))


@pytest.fixture(scope="module")
def rises() -> Beyond:
    """A sum whose last term takes over beyond the range, at twice the largest p."""
    table = placed(200, 4, 256, seed=0)
    return Beyond().fit(table, rising(table, 1))


def placed(n: int, low: float, high: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    p, size = np.exp(rng.uniform(np.log(low), np.log(high), n)), np.exp(rng.uniform(np.log(1000), np.log(30000), n))
    return pd.DataFrame({"p": p.round(), "n": size.round()})


def test_a_term_that_takes_over_beyond_the_range_is_inside_the_intervals(rises: Beyond) -> None:
    far = placed(300, 768, 1024, seed=2)
    lower, upper = rises.interval(far, 0.9)
    measured = rising(far, 3)
    assert np.mean((lower <= measured) & (measured <= upper)) >= 0.85
    # All laws without this term fall as 1/p, and are wrong by a factor of two and more there.
    assert np.abs(np.log(rises.predict(far) / rising(far, 4))).mean() < 0.5


def test_intervals_widen_with_what_rivals_disagree_on(rises: Beyond) -> None:
    p = np.array([100, 512, 1024, 2048])
    asked = pd.DataFrame({"p": p, "n": np.full(4, 3000)})
    lower, upper = rises.interval(asked, 0.9)
    half = np.log(upper / lower) / 2
    assert (np.diff(half) > 0).all()
    apart = rises._fitted.disagreement(rises._coding.inputs(asked))
    assert apart[0] == 0
    assert (half >= 1.645 * apart).all()
    narrow, wide = (np.log(np.divide(*rises.interval(asked, level)[::-1])) for level in (0.5, 0.99))
    assert (narrow < 2 * half).all()
    assert (2 * half < wide).all()


def test_a_warning_names_the_run_that_would_tell_laws_apart() -> None:
    table = placed(40, 4, 64, seed=5)
    model = Beyond().fit(table, rising(table, 6))
    with pytest.warns(
        ExtrapolationWarning, match=r"Laws that fit the runs alike are up to ×.* one run at p = \d+, n = "
    ):
        model.predict({"p": [1024], "n": [2000]})
    # The run lies between the range and what was asked.
    (run,) = [model._settling(model._coding.inputs(pd.DataFrame({"p": [1024], "n": [2000]})))]
    assert 64 < run["p"] <= 1024
    assert run["n"] == 2000


def test_the_run_of_the_warning_has_the_labels_that_were_asked() -> None:
    table = placed(80, 4, 64, seed=7).assign(solver=[1, 2] * 40)
    model = Beyond().fit(
        table,
        rising(table, 8) * table.solver,
        space=Space(p=Real(4, 64), n=Real(1000, 30000), solver=Categorical(1, 2)),
    )
    with pytest.warns(ExtrapolationWarning, match=r"one run at p = .*, n = .*, solver = 2 would tell"):
        model.predict({"p": [2048], "n": [2000], "solver": [2]})


def test_where_laws_agree_the_warning_says_no_more() -> None:
    table = drawn(100, 16, 512)
    model = Beyond().fit(table, np.asarray(1e-6 * table.m * table.n))
    with pytest.warns(ExtrapolationWarning, match="predictions there are extrapolations$"):
        model.predict({"m": [2000], "n": [100]})


def test_a_race_stored_before_there_were_rivals_is_read() -> None:
    state = {"candidates": [["ones", 0.0, "neighbours"]], "error": 0.1, "growth": 2.0}
    result = RaceResult.from_state(state)
    assert result.rivals == {}
    assert result.to_state() == {**state, "rivals": []}


def test_a_jump_at_the_edge_makes_no_law_credible() -> None:
    n = np.geomspace(8, 512, 25)
    model = Beyond(boosting=False).fit({"n": n}, np.where(n > 200, 8 * n, n))
    with pytest.warns(ExtrapolationWarning, match=r"No law is credible there: the outer runs, left out, are missed by"):
        model.predict({"n": [4096]})


def test_three_runs_prove_no_law() -> None:
    model = Beyond(boosting=False).fit({"n": [8, 9, 11]}, [8.0, 9.0, 11.0])
    with pytest.warns(ExtrapolationWarning, match="No law is proved there: too few runs lie at the edge of the range"):
        model.predict({"n": [4096]})


def test_laws_say_nothing_of_labels_that_no_run_has() -> None:
    n = np.tile(np.geomspace(8, 512, 12), 3)
    case = np.repeat(["alpine", "delta", "fjord"], 12)
    model = Beyond(boosting=False).fit({"n": n, "case": case}, n * np.repeat([1.0, 2, 4], 12))
    with pytest.warns(ExtrapolationWarning, match=r"n = 4096.*; case = zebra, .*their mean stands for it"):
        assert model.predict({"n": 4096, "case": "zebra"})[0] == pytest.approx(2 * 4096, rel=0.05)
