"""What a plan says about its assignment: curve, knee, cost, uncertainty, comparisons."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.allocation.allocate import allocate
from evenly.allocation.problem.limits import Limits
from evenly.allocation.problem.noise import Compare, Noise
from evenly.allocation.problem.objective import Objective
from evenly.errors import ExtrapolationWarning, InfeasibleError, InputError
from evenly.machine.machine import Machine
from evenly.space.parameters import Integer
from evenly.space.space import Space


class Law:
    """A model a/cores^b with a log-normal error of known width, learned on 10 to 1000 cores."""

    feature_names_in_ = ("cores",)

    def __init__(self, a: float, b: float, width: float) -> None:
        self.a, self.b, self.width = a, b, width
        self.space_ = Space(cores=Integer(10, 1000))

    def predict(self, table: pd.DataFrame) -> NDArray[np.float64]:
        return np.asarray(self.a / table["cores"].to_numpy(dtype=np.float64) ** self.b)

    def interval(self, table: pd.DataFrame, level: float) -> tuple[Any, Any]:
        from statistics import NormalDist

        z = NormalDist().inv_cdf(0.5 + level / 2)
        seconds = self.predict(table)
        return seconds * np.exp(-z * self.width), seconds * np.exp(z * self.width)


PAIR = {"a": Law(30.0, 1.0, 0.1), "b": Law(60.0, 1.0, 0.1)}


def test_interval_is_the_quantiles_of_the_step() -> None:
    """For one solver the step's interval is the model's; for max of two balanced ones, P(T < t) = Φ(log t / s)²."""
    alone = allocate({"a": PAIR["a"]}, 90, noise=Noise(draws=40_000))
    assert alone.interval is not None
    expected = PAIR["a"].interval(pd.DataFrame({"cores": [90]}), 0.9)
    # The 5 % quantile of 40,000 draws has a standard error of 0.0106·s = 0.1 % in log space; three are allowed.
    assert np.log(alone.interval[0]) == pytest.approx(np.log(expected[0][0]), abs=0.0035)
    assert np.log(alone.interval[1]) == pytest.approx(np.log(expected[1][0]), abs=0.0035)
    pair = allocate(PAIR, 90, noise=Noise(draws=40_000))
    assert pair.cores == {"a": 30, "b": 60}
    assert pair.interval is not None
    lower, upper = pair.interval
    from statistics import NormalDist

    assert np.log(upper) == pytest.approx(0.1 * NormalDist().inv_cdf(0.95**0.5), abs=0.0035)
    assert np.log(lower) == pytest.approx(min(0.0, 0.1 * NormalDist().inv_cdf(0.05**0.5)), abs=0.0035)
    assert lower <= pair.seconds <= upper


def test_draws_are_the_same_every_time() -> None:
    assert allocate(PAIR, 90).interval == allocate(PAIR, 90).interval
    assert allocate(PAIR, 90).interval != allocate(PAIR, 90, noise=Noise(seed=1)).interval


def test_functions_have_no_interval() -> None:
    plan = allocate({"a": lambda p: 1 / p}, 9)
    assert plan.interval is None
    assert plan.runner_up is None
    assert plan.within_noise == {"a": (9, 9)}


def test_runner_up_within_noise_is_different_and_close() -> None:
    plan = allocate(PAIR, 90)
    other = plan.runner_up
    assert other is not None
    assert abs(other.cores["a"] - 30) >= 2  # 5 % of 30 cores, rounded up
    assert other.seconds >= plan.seconds
    low, high = plan.within_noise["a"]
    assert low < 30 < high
    # With p cores for a, the pair is as fast if b's error exceeds a's by enough: P = Φ(-log(ratio) / (0.1·√2)) >= 5 %.
    edge = next(p for p in range(31, 90) if np.log((60 / (90 - p)) / 1.0) > 1.645 * 0.1 * 2**0.5)
    assert abs(high - edge) <= 3


def test_of_a_solver_that_does_not_scale_all_counts_are_as_good() -> None:
    """Its errors let every count be the best one; the range ends where the cores do, not where the search strides."""
    flat = Law(0.9, 0.01, 0.03)
    flat.space_ = Space(cores=Integer(1, 16))
    with pytest.warns(ExtrapolationWarning):
        plan = allocate({"a": flat, "b": Law(60.0, 1.0, 0.03)}, 256)
    assert plan.cores["a"] > 100
    assert plan.within_noise["a"][0] == 1


def test_sure_models_have_no_runner_up() -> None:
    plan = allocate({"a": Law(30.0, 1.0, 1e-6), "b": Law(60.0, 1.0, 1e-6)}, 90)
    assert plan.runner_up is None
    assert plan.within_noise == {"a": (30, 30), "b": (60, 60)}


def test_gain_over_practice_and_over_the_present() -> None:
    plan = allocate(PAIR, 90, compare=Compare(current={"a": 60, "b": 30}, degrees_of_freedom={"a": 1e6, "b": 1e6}))
    practice, current = plan.versus["proportional"], plan.versus["current"]
    assert practice.cores == {"a": 45, "b": 45}
    # In half of the draws, a is the slower: the median lies between two of them.
    assert practice.gain == pytest.approx(1 - 1 / (60 / 45), rel=1e-4)
    assert current.gain == pytest.approx(0.5, rel=1e-4)
    assert current.interval is not None
    assert current.interval[0] <= current.gain <= current.interval[1] < 1


def test_imbalance_and_waiting() -> None:
    times = {"ice": 2.0, "lnd": 4.0, "atm": 5.0, "ocn": 6.0}
    solvers = {name: (lambda p, t=t: np.full(np.shape(p), t)) for name, t in times.items()}
    plan = allocate(solvers, 4, layout="max(max(ice, lnd) + atm, ocn)")
    assert plan.seconds == 9.0
    assert plan.imbalance == pytest.approx(9.0 / ((3.0 + 5.0 + 6.0) / 2))
    assert plan.waiting == pytest.approx({"ice": 2 / 9, "lnd": 5 / 9, "atm": 2 / 9, "ocn": 3 / 9})  # one core each
    flat = allocate({"a": solvers["ice"], "b": solvers["ocn"]}, 2)
    assert flat.imbalance == pytest.approx(6.0 / 4.0)
    in_turn = allocate({"a": solvers["ice"], "b": solvers["ocn"]}, 2, layout="5 * sum(a, b)")
    assert in_turn.imbalance is None
    assert allocate({"a": solvers["ice"]}, 2).imbalance is None


def test_waiting_counts_only_cores_that_do_nothing() -> None:
    """Eight cores: `a` on 4 of those that `b` uses after it, so only b's other four wait, while a runs."""
    times = {"a": {4: 2.0}, "b": {8: 6.0}}
    shared = allocate(times, 8, layout="a + b")
    assert shared.waiting == pytest.approx({"a": 0.0, "b": 0.5 * 2 / 8})
    assert allocate(times, 12, layout="sum(a, b)").waiting == pytest.approx({"a": 6 / 8, "b": 2 / 8})
    beside = allocate({**times, "c": {2: 10.0}}, 10, layout="max(a + b, c)")
    assert beside.waiting == pytest.approx({"a": 0.2, "b": 1 - (6 + 2 / 2) / 10, "c": 0.0})


def _scaling(p: Any) -> Any:
    return 100.0 / p + 0.5


def test_curve_knee_and_cheapest_against_trying_all_totals() -> None:
    machine = Machine(cores_per_node=8, whole_nodes=True, price_per_core_hour=0.2, watts_per_core=5.0)
    plan = allocate({"a": _scaling, "b": _scaling}, 300, machine=machine)
    table = plan.curve
    assert table["cores"].is_monotonic_increasing
    assert table["seconds"].is_monotonic_decreasing
    assert (table["cores[a]"] + table["cores[b]"] == table["cores"]).all()
    seconds = 100.0 / (table["cores"] // 2) + 0.5
    billed = -(-table["cores"] // 8) * 8
    np.testing.assert_allclose(table["seconds"], seconds)
    np.testing.assert_allclose(table["core_hours"], billed * seconds / 3600)
    np.testing.assert_allclose(table["cost"], 0.2 * table["core_hours"])
    np.testing.assert_allclose(table["joules"], 5.0 * billed * seconds)
    assert table["efficiency"].max() == 1.0
    assert table["knee"].sum() == 1
    assert 2 < int(table["cores"].iloc[-1]) > (plan.knee or 0) > 2
    assert plan.knee == int(table["cores"].iloc[int(np.argmin(billed * seconds**2))])
    near = table[table["seconds"] <= 1.1 * table["seconds"].min()]
    cheapest = plan.cheapest(within=0.1)
    assert cheapest.used == int(near["cores"].iloc[int(np.argmin(near["core_hours"]))])
    assert cheapest.core_hours == pytest.approx(near["core_hours"].min())


def test_objectives() -> None:
    solvers = {"a": _scaling, "b": _scaling}
    assert allocate(solvers, 300, objective="cost").used == 2
    assert allocate(solvers, 300, objective="cores").used == 2
    assert allocate(solvers, 300, objective=Objective("cores", max_seconds=2.5)).cores == {"a": 50, "b": 50}
    spend = Objective("time", max_core_hours=250 / 3600)  # 2·p·(100/p + 0.5) = 200 + p seconds of cores
    assert allocate(solvers, 300, objective=spend).cores == {"a": 50, "b": 50}
    with pytest.raises(InfeasibleError) as caught:
        allocate(solvers, 300, objective=Objective("cores", max_seconds=1.0))
    assert caught.value.constraint == "max_seconds"
    with pytest.raises(InfeasibleError, match="the cheapest uses"):
        allocate(solvers, 300, objective=Objective(max_core_hours=1e-9))
    with pytest.raises(InputError, match="'time', 'cost' or 'cores'"):
        allocate(solvers, 300, objective="speed")


def test_objectives_where_solvers_are_shared() -> None:
    solvers = {"a": _scaling, "b": _scaling, "c": _scaling}
    plan = allocate(solvers, 60, layout="max(sum(a, b), sum(a, c))", objective=Objective("cores", max_seconds=30.0))
    assert plan.seconds <= 30.0
    fewer = plan.at(plan.used - 1)
    assert fewer.seconds > 30.0


def test_another_total() -> None:
    plan = allocate(PAIR, 90)
    assert plan.at(60).cores == {"a": 20, "b": 40}
    with pytest.raises(InfeasibleError, match="allocate again"):
        plan.at(91)


def test_extrapolation_is_told_once_for_the_answer() -> None:
    with pytest.warns(ExtrapolationWarning, match=r"'b' is extrapolated \(cores = 2000, learned on 10 … 1000\)"):
        plan = allocate(PAIR, 3000)
    assert len(plan.extrapolated) == 1
    with pytest.warns(ExtrapolationWarning) as told:
        assert len(allocate(PAIR, 9000).extrapolated) == 2
    assert [str(one.message).count("is extrapolated") for one in told] == [2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert allocate(PAIR, 90).extrapolated == ()


def test_json_holds_the_answer() -> None:
    plan = allocate(
        PAIR, 90, noise=Noise(samples={"a": [1, 2, 1], "b": [1, 1, 2]}), compare=Compare(current={"a": 45, "b": 45})
    )
    found = json.loads(json.dumps(plan.to_dict()))
    assert found["cores"] == {"a": 30, "b": 60}
    assert found["layout"] == "max(a, b)"
    assert found["interval_seconds"] == list(plan.interval or ())
    assert found["expected_seconds"] == plan.expected_seconds > plan.seconds
    assert found["objective"] == "the fastest step"
    assert (found["idle_cores"], found["idle_reason"]) == (0, None)
    assert found["machine"] is None
    assert allocate(PAIR, machine=Machine("ours", nodes=3, cores_per_node=30)).to_dict()["machine"]["name"] == "ours"
    assert found["jitter"]["loss"] > 0
    assert set(found["versus"]) == {"current"}
    assert "30" in repr(plan)


class Surface:
    """A model of two parameters, which must be told one of them."""

    feature_names_in_ = ("cores", "level")

    def predict(self, table: pd.DataFrame) -> Any:
        return 8.0 ** table["level"].to_numpy() / table["cores"].to_numpy()


def test_other_parameters_are_held_at_given_values() -> None:
    solvers = {"a": Surface(), "b": Surface()}
    assert allocate(solvers, 90, at={"level": 2}).cores == {"a": 45, "b": 45}
    assert allocate(solvers, 90, at={"a": {"level": 3}, "b": {"level": 2}}).cores == {"a": 80, "b": 10}
    with pytest.raises(InputError, match="give level in `at`"):
        allocate(solvers, 90)
    with pytest.raises(InputError, match="leave the cores open"):
        allocate(solvers, 90, at={"level": 2, "cores": 3})
    with pytest.raises(InputError, match="at names 'c'"):
        allocate(solvers, 90, at={"c": {"level": 2}})


def test_tables_allow_only_their_counts() -> None:
    solvers = {"ocn": {480: 3.0, 960: 2.0}, "atm": lambda p: 2000 / p}
    assert allocate(solvers, 1500).cores == {"ocn": 480, "atm": 667}  # more would wait for the ocean's 3 s
    assert allocate(solvers, 2000).cores == {"ocn": 960, "atm": 1000}
    with pytest.raises(InfeasibleError, match="was measured on 480, 960"):
        allocate(solvers, 2000, limits={"ocn": Limits(allowed=[500])})
    with pytest.raises(InputError, match="is empty"):
        allocate({"a": {}}, 10)


def test_functions_of_every_manner() -> None:
    table = np.array([0.0, 8.0, 4.0, 2.0])
    assert allocate({"a": lambda p: table[p]}, 3).seconds == 2.0
    assert allocate({"a": lambda p: 8.0 * p**-1}, 4).seconds == 2.0  # NumPy refuses this power for integers
    assert allocate({"a": lambda p: 8.0 if p < 3 else 4.0}, 4).cores == {"a": 3}
    with pytest.raises(InputError, match="calling it failed"):
        allocate({"a": lambda p: "fast"}, 4)
    with pytest.raises(InputError, match="'a' is predicted to take 0 s on 2 cores"):
        allocate({"a": lambda p: 2.0 - p}, 4)
    with pytest.raises(InputError, match="must be a model"):
        allocate({"a": 3.0}, 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cores": None}, "how many cores"),
        ({"cores": 2.5}, "whole number"),
        ({"cores": 9, "limits": {"c": Limits()}}, "limits names 'c'"),
        ({"cores": 9, "limits": {"a": {"most": 3}}}, "limits have no 'most'"),
        ({"cores": 9, "compare": Compare(current={"c": 3})}, "current names 'c'"),
        ({"cores": 9, "layout": "max(a, b, c)"}, "no solver 'c'"),
    ],
)
def test_wrong_questions_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        allocate(PAIR, **arguments)


def test_cores_come_from_the_machine() -> None:
    assert allocate({"a": _scaling, "b": _scaling}, machine=Machine(nodes=2, cores_per_node=28)).used == 56


def test_no_knee_at_the_ends_of_what_was_looked_at() -> None:
    def early(p: Any) -> Any:
        return 100.0 / p + 0.5  # p·t² is least at 200 cores each

    solvers = {"a": early, "b": early}
    short, long = allocate(solvers, 300), allocate(solvers, 500)
    assert short.knee is None
    assert not short.curve["knee"].any()
    assert long.knee == 400
    assert allocate({"a": lambda p: np.full(len(p), 2.0)}, 100).knee is None
    # All totals were looked at here, and none past 10 cores is faster: that is a knee, and no end of what was seen.
    assert (
        allocate({"a": lambda p: 10.0 / p + 0.1 * p}, 500).knee == allocate({"a": lambda p: 10 / p + p / 10}, 11).knee
    )


@pytest.mark.parametrize(
    ("cores", "arguments", "words"),
    [
        (565, {"limits": Limits(multiple=28)}, "a may only get multiples of 28 cores, and more do not fit"),
        (565, {"limits": {"a": {"maximum": 100}}}, "a may get no more than 100 cores"),
        (150, {"limits": {"b": {"allowed": [8, 64]}}}, "b may only get 8, 64 cores, and more do not fit"),
        (300, {"objective": "cost"}, "the goal is the fewest core-hours"),
        (
            300,
            {"objective": Objective("cores", max_seconds=2.5)},
            "the goal is the fewest cores, at most 2.5 s per step",
        ),
        (
            300,
            {"objective": Objective("cost", within=0.05)},
            "the goal is the fewest core-hours, at most 5 % slower than the fastest step",
        ),
        (300, {"objective": Objective(max_core_hours=250 / 3600)}, "the goal is the fastest step, at most 0.0694"),
    ],
)
def test_idle_cores_have_their_reason(cores: int, arguments: dict[str, Any], words: str) -> None:
    plan = allocate({"a": _scaling, "b": _scaling}, cores, **arguments)
    assert plan.idle > 0
    assert plan.total == cores
    assert (plan.idle_reason or "").startswith(words)


def test_idle_cores_that_would_not_help() -> None:
    slow_down = {"a": lambda p: 10 / p + p, "b": lambda p: 1 / p + p}
    assert allocate(slow_down, 50).idle_reason == "by the solvers' curves, they would not make a step faster"
    # A limit that does not bind is no reason.
    assert (
        allocate(slow_down, 50, limits={"a": {"maximum": 40}}).idle_reason
        == "by the solvers' curves, they would not make a step faster"
    )
    assert allocate({"a": _scaling}, 50).idle_reason is None
    tables = {"a": {4: 2.0, 8: 1.0}}
    assert allocate(tables, 20).idle_reason == "a has no time on more than 8 cores"
    assert allocate(tables, 7).idle_reason is not None
    assert allocate(tables, 20).at(8).idle_reason is None


def test_a_plan_that_is_not_the_fastest_shows_the_fastest() -> None:
    plan = allocate(PAIR, 900, objective=Objective("cost", within=0.5))
    fastest = allocate(PAIR, 900)
    assert not plan.is_fastest
    assert plan.runner_up is None
    assert plan.within_noise == {name: (count, count) for name, count in plan.cores.items()}
    assert plan.versus["fastest"].cores == fastest.cores
    assert plan.versus["fastest"].gain < 0
    assert fastest.is_fastest
    assert not fastest.versus
    practice = allocate(PAIR, 90, balancer="proportional", compare=Compare(degrees_of_freedom={"a": 1.0, "b": 1.0}))
    assert practice.versus["fastest"].cores == {"a": 30, "b": 60}
    assert allocate(PAIR, 90, objective=Objective(max_seconds=5.0)).versus == {}


def test_a_plan_for_another_total_is_compared_at_that_total() -> None:
    sizes = Compare(degrees_of_freedom={"a": 1.0, "b": 1.0})
    direct, other = allocate(PAIR, 60, compare=sizes), allocate(PAIR, 90, compare=sizes).at(60)
    assert other.idle == 0
    assert other.within_noise == direct.within_noise
    assert other.runner_up == direct.runner_up
    assert other.versus == direct.versus
