"""Which number of cores is recommended, on curves whose answers can be read off."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evenly.core_counts.goal import Goal, counts_between, knee_of
from evenly.errors import InfeasibleError, InputError


def curve_of(counts: list[int], step: list[float], width: float = 1.1) -> pd.DataFrame:
    ranks, run = np.array(counts), 1000 * np.array(step)
    frame = pd.DataFrame({"ranks": ranks, "run_s": run, "run_lower_s": run / width, "run_upper_s": width * run})
    frame["efficiency"] = run[0] * ranks[0] / run / ranks
    frame["core_hours"] = run * ranks / 3600
    return frame


@pytest.fixture
def curve() -> pd.DataFrame:
    return curve_of([1, 2, 4, 8, 16], [16.0, 8.4, 4.8, 3.2, 3.4])


def test_without_a_goal_it_is_where_more_stop_paying(curve: pd.DataFrame) -> None:
    # time × core-hours ∝ 256, 141, 92, 82, 185.
    found = Goal().choose(curve)
    assert found.count == found.knee.count == 8
    assert found.knee.lower <= 4
    assert found.knee.upper == 8
    assert "beyond which more don't pay" in found.why
    assert found.runner_up == 4
    assert found.trade == "4 ranks take 1.50 times as long, at 0.75 times the core-hours"


def test_a_threshold_hides_no_better_count_that_is_barely_dearer() -> None:
    # Seen: 8 are used to 73 %, 16 are slow, 32 are 3.6 times as fast as 8 for 13 % more core-hours.
    seen = curve_of([1, 8, 16, 32], [100.0, 17.1, 14.0, 4.75])
    found = Goal().choose(seen)
    assert found.count == 32
    wanted = Goal(efficiency=0.7).choose(seen)
    assert wanted.count == 8
    assert wanted.runner_up == 32
    assert wanted.trade == "32 ranks are 3.60 times as fast, at 1.11 times the core-hours"


def test_more_may_take_longer_and_a_slower_dearer_count_is_never_named() -> None:
    worse = curve_of([1, 2, 4, 8], [8.0, 4.1, 2.2, 9.0])
    for goal in (Goal(), Goal(deadline_s=5000), Goal(core_hours=100), Goal(efficiency=0.1)):
        found = goal.choose(worse)
        assert 8 not in (found.count, found.runner_up)
    alone = Goal().choose(curve_of([4, 8], [1.0, 9.0]))
    assert alone.runner_up is None
    assert alone.trade == "none, as no other number that was looked at is faster or takes fewer core-hours"


def test_the_ends_of_what_was_looked_at_are_said() -> None:
    assert (
        "the largest number looked at, where more still pay" in Goal().choose(curve_of([1, 2, 4], [4.0, 2.0, 1.0])).why
    )
    assert (
        "the smallest number looked at, as more don't pay" in Goal().choose(curve_of([4, 8, 16], [1.0, 1.0, 1.0])).why
    )


def test_an_unsure_curve_has_an_unsure_knee(curve: pd.DataFrame) -> None:
    sure, unsure = (knee_of(curve_of([1, 2, 4, 8, 16], [16.0, 8.4, 4.8, 3.2, 3.4], w), "ranks") for w in (1.001, 1.5))
    assert (sure.lower, sure.upper) == (8, 8)
    assert unsure.lower < 8 <= unsure.upper


def test_efficiency_takes_the_fastest_that_is_used_well(curve: pd.DataFrame) -> None:
    assert Goal(efficiency=0.8).choose(curve).count == 4
    found = Goal(efficiency=0.5).choose(curve)
    assert found.count == 8
    with pytest.raises(InfeasibleError, match="the best: 2 ranks take"):
        Goal(efficiency=0.96).choose(curve[1:])


def test_a_deadline_takes_the_cheapest_that_meets_it_surely(curve: pd.DataFrame) -> None:
    assert Goal(deadline_s=9300).choose(curve).count == 2
    # 2 ranks end in time if the prediction holds, 4 do at the interval's end too.
    assert Goal(deadline_s=9000).choose(curve).count == 4
    found = Goal(deadline_s=3300).choose(curve)
    assert found.count == 8
    assert "if the prediction holds" in found.why


def test_a_budget_takes_the_fastest_within_it(curve: pd.DataFrame) -> None:
    assert Goal(core_hours=5.4).choose(curve).count == 4
    assert Goal(core_hours=100).choose(curve).count == 8
    assert Goal(core_hours=5.4, deadline_s=18000).choose(curve).count == 1


def test_money_needs_a_price(curve: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="price_per_core_hour"):
        Goal(money=3).choose(curve)
    assert Goal(money=1).choose(curve.assign(money=0.2 * curve["core_hours"])).count == 2


def test_a_budget_that_only_the_prediction_keeps_is_said(curve: pd.DataFrame) -> None:
    wide = curve.assign(run_upper_s=1.2 * curve["run_s"])
    found = Goal(core_hours=5.4).choose(wide)
    assert ", if the prediction holds (its upper bound is above the budget): " in found.why
    narrow = curve.assign(run_upper_s=1.001 * curve["run_s"])
    assert "if the prediction holds" not in Goal(core_hours=5.4).choose(narrow).why


def test_an_efficiency_that_only_the_prediction_reaches_is_said(curve: pd.DataFrame) -> None:
    for factor, said in ((1.5, True), (1.001, False)):
        found = Goal(efficiency=0.8).choose(curve.assign(run_upper_s=factor * curve["run_s"]))
        assert (", if the prediction holds (its upper bound means a lower efficiency): " in found.why) is said


def test_what_cannot_be_met_says_what_comes_nearest(curve: pd.DataFrame) -> None:
    with pytest.raises(InfeasibleError, match=r"the fastest: 8 ranks take 53\.3 min"):
        Goal(deadline_s=100).choose(curve)
    with pytest.raises(InfeasibleError, match=r"the cheapest: 1 rank with 4\.44"):
        Goal(core_hours=1).choose(curve)
    # Eight end in time, but cost too much: "no number of ranks" alone would be untrue.
    with pytest.raises(InfeasibleError, match=r"looked at within 5\.4 core-hours ends within 66\.7 min.*other goals"):
        Goal(core_hours=5.4, deadline_s=4000).choose(curve)


@pytest.mark.parametrize("wrong", [{"efficiency": 0}, {"efficiency": 1.5}, {"deadline_s": -1}, {"core_hours": 0}])
def test_wrong_goals_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Goal(**wrong)


@pytest.mark.parametrize(("low", "high", "node"), [(1, 512, 48), (1, 4096, 16), (3, 5, None), (7, 7, 2), (1, 64, None)])
def test_counts_hold_both_ends_and_rise(low: int, high: int, node: int | None) -> None:
    found = counts_between(low, high, cores_per_node=node)
    assert (found[0], found[-1]) == (low, high)
    assert found == sorted(set(found))
    assert len(found) <= 45
    if node:
        assert all(n <= node or n % node == 0 or n in (low, high) for n in found)
