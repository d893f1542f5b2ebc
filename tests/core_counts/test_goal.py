"""Which number of ranks is recommended, on a curve whose answers can be read off."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evenly.decomposition.forecasting.goal import Goal, counts_between
from evenly.errors import InfeasibleError, InputError


@pytest.fixture
def curve() -> pd.DataFrame:
    ranks = np.array([1, 2, 4, 8, 16])
    step = np.array([16.0, 8.4, 4.8, 3.2, 3.4])
    run = 1000 * step
    frame = pd.DataFrame({"ranks": ranks, "step_s": step, "run_s": run, "run_upper_s": 1.1 * run})
    frame["efficiency"] = 16.0 / step / ranks
    frame["core_hours"] = run * ranks / 3600
    return frame


def test_the_most_ranks_that_are_well_used(curve: pd.DataFrame) -> None:
    ranks, why = Goal().choose(curve)
    assert ranks == 4
    assert "8 are 1.50 times as fast for 1.33 times the core-hours" in why
    ranks, why = Goal(efficiency=0.5).choose(curve)
    assert ranks == 8
    assert "none looked at is faster" in why


def test_a_deadline_takes_the_cheapest_that_meets_it_surely(curve: pd.DataFrame) -> None:
    assert Goal(deadline_s=9300).choose(curve)[0] == 2
    # 2 ranks end in time if the prediction holds, 4 do at the interval's end too.
    assert Goal(deadline_s=9000).choose(curve)[0] == 4
    ranks, why = Goal(deadline_s=3300).choose(curve)
    assert ranks == 8
    assert "if the prediction holds" in why


def test_a_budget_takes_the_fastest_within_it(curve: pd.DataFrame) -> None:
    assert Goal(core_hours=5.4).choose(curve)[0] == 4
    assert Goal(core_hours=100).choose(curve)[0] == 8
    assert Goal(core_hours=5.4, deadline_s=18000).choose(curve)[0] == 1


def test_money_needs_a_price(curve: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="price_per_core_hour"):
        Goal(money=3).choose(curve)
    assert Goal(money=1).choose(curve.assign(money=0.2 * curve["core_hours"]))[0] == 2


def test_what_cannot_be_met_says_what_comes_nearest(curve: pd.DataFrame) -> None:
    with pytest.raises(InfeasibleError, match=r"the fastest is 8 ranks take 53\.3 min"):
        Goal(deadline_s=100).choose(curve)
    with pytest.raises(InfeasibleError, match=r"the cheapest are 1 ranks with 4\.44"):
        Goal(core_hours=1).choose(curve)


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
