"""Searches: what they propose, in which order, and what they make of failures, noise and runs that were ended early."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly
from evenly.errors import EvenlyError, InfeasibleError, InputError, RunFailed
from evenly.models.fitting import new_model
from evenly.report.tables.tuning import tasks_text
from evenly.space.parameters import Categorical, Integer, Ordinal, Real
from evenly.space.space import Space
from evenly.tuning.candidates import Candidates
from evenly.tuning.search import STRATEGIES, Search
from evenly.tuning.surrogates.base import Observed
from evenly.tuning.surrogates.compressed import PartlyCompressed, compressed
from evenly.tuning.surrogates.gaussian_process import SampledProcess
from evenly.tuning.tuning import tune
from tests.tuning.programs import BOWL, bowl


@st.composite
def small_spaces(draw: st.DrawFn) -> Space:
    kinds: dict[str, Any] = {
        "a": draw(st.sampled_from([Integer(1, 4), Integer(2, 16, scale="log", step=2), Ordinal(0.5, 1.5, 8)])),
        "b": draw(st.sampled_from([Categorical("x", None, True), Ordinal(3), Integer(0, 1)])),
        "c": draw(st.sampled_from([Categorical("u", "v"), Integer(-1, 0)])),
    }
    rules = draw(st.sampled_from([(), ("a >= 2",), ("a * 2 <= 6 or a >= 8",)]))
    conditions = draw(st.sampled_from([{}, {"c": "a > 1.5"}]))
    return Space.of(kinds, rules, conditions=conditions)


@pytest.mark.parametrize("strategy", ["model", "random", "all"])
@given(space=small_spaces(), seed=st.integers(0, 5), failing=st.integers(0, 3))
@settings(max_examples=8, deadline=None)
def test_never_infeasible_never_again_until_all_are_tried(strategy: Any, space: Space, seed: int, failing: int) -> None:
    search = Search(space, strategy=strategy, seed=seed)
    seen = []
    for number in itertools.count():
        configuration = search.ask()
        if configuration is None:
            break
        assert space.why_infeasible(configuration) == []
        assert configuration not in seen
        seen.append(configuration)
        search.tell(configuration, None if failing and number % 4 < failing else 1.0 + 0.1 * number)
    assert len(seen) == space.count()


def test_the_whole_table_holds_the_optimum() -> None:
    random = np.random.default_rng(3)
    table = pd.DataFrame({"m": np.repeat(range(4), 4), "n": np.tile(range(4), 4), "seconds": random.lognormal(size=16)})
    lookup = table.set_index(["m", "n"])["seconds"]
    space = Space.from_frame(table[["m", "n"]])
    for strategy in STRATEGIES:
        result = tune(space, lambda c: float(lookup[c["m"], c["n"]]), budget=16, repeats=1, strategy=strategy)
        assert result.seconds == pytest.approx(table["seconds"].min(), rel=1e-12)
        assert len(result.history) == 16


def test_the_default_finds_a_bowls_bottom_in_a_quarter_of_its_runs() -> None:
    result = tune(BOWL, bowl, budget=30, seed=1)
    assert result.best == {"block": 8, "threads": 4, "solver": "amg"}
    assert result.seconds == 1.0


def test_more_runs_never_worsen_the_answer() -> None:
    best = tune(BOWL, bowl, budget=14, seed=2).history["best"].to_numpy()
    assert np.all(np.diff(best) <= 0)
    fewer = tune(BOWL, bowl, budget=9, seed=2, repeats=1).history["seconds"].tolist()
    assert fewer == tune(BOWL, bowl, budget=14, seed=2, repeats=1).history["seconds"].tolist()[:9]


def test_the_same_told_again_gives_the_same_proposals() -> None:
    first = Search(BOWL, seed=4)
    asked: list[dict[str, Any]] = []
    for _ in range(10):
        asked.append(first.ask() or {})
        first.tell(asked[-1], bowl(asked[-1]))
    for killed in (3, 7):
        again = Search(BOWL, seed=4)
        for configuration in asked[:killed]:
            again.tell(configuration, bowl(configuration))
        again.ask()  # under way as it was killed, and lost
        resumed = Search(BOWL, seed=4)
        for configuration in asked[:killed]:
            resumed.tell(configuration, bowl(configuration))
        for configuration in asked[killed:]:
            assert resumed.ask() == configuration
            resumed.tell(configuration, bowl(configuration))


def test_runs_under_way_are_not_proposed_again_and_may_end_in_any_order() -> None:
    search = Search(BOWL, seed=0)
    batch = [search.ask() for _ in range(9)]
    assert len({tuple(c.items()) for c in batch if c}) == 9
    for configuration in reversed(batch):
        assert configuration is not None
        search.tell(configuration, bowl(configuration))
    more = [search.ask() for _ in range(3)]
    assert len({tuple(c.items()) for c in [*batch, *more] if c}) == 12
    assert search.best in batch


def test_what_fails_is_avoided() -> None:
    # The fastest half of the space fails.
    space = Space(x=Integer(0, 39), y=Categorical("a", "b"))

    def run(configuration: dict[str, Any]) -> float:
        if configuration["x"] < 12:
            raise RunFailed("out of memory")
        return float(1.0 + 0.1 * configuration["x"] + (configuration["y"] == "b"))

    result = tune(space, run, budget=30, seed=0)
    failed = result.history["status"] == "failed"
    assert result.seconds < 2.5
    assert failed.sum() <= 12
    assert failed.tolist()[20:].count(True) <= failed.tolist()[:20].count(True)
    with pytest.raises(EvenlyError, match=r"none of 3 runs went well; the last said: no"):
        tune(space, _fails, budget=3)


def _fails(configuration: dict[str, Any]) -> float:
    raise RunFailed(f"no {configuration['y'] * 0}")


def test_runs_that_were_ended_early_are_slow_not_fast() -> None:
    # Times grow tenfold from x = 50 on, but no run is let take more than 3 s. Taken for 3 s, x = 75 would seem hardly
    # slower than x = 45; expected beyond that, it seems slow.
    space = Space(x=Integer(0, 100))
    candidates = Candidates(space)
    known, ended = [0, 10, 20, 30, 40, 45], [55, 60, 70, 80, 90, 100]
    inputs = candidates.inputs(space.frame({"x": [*known, *ended]}))
    logs = np.log([*(3.0 - 0.01 * x for x in known), *[3.0] * len(ended)])
    believed = {}
    for late in (False, True):
        surrogate = SampledProcess(candidates.placed)
        mask = np.array([False] * len(known) + [late] * len(ended))
        surrogate.learn(Observed(inputs, logs, np.ones(len(logs)), mask), np.random.default_rng(0))
        believed[late] = surrogate.believe(candidates.inputs(space.frame({"x": ended}))).mean
    assert np.all(np.abs(believed[False] - np.log(3.0)) < 0.05)
    assert np.all(believed[True] > np.log(3.0))
    search = Search(space, seed=1)
    for x in known:
        search.tell({"x": x}, 3.0 - 0.01 * x)
    for x in ended:
        search.tell({"x": x}, None, at_least=3.0)
    assert all(c is not None and 40 < c["x"] < 55 for c in (search.ask() for _ in range(3)))


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20))
def test_compressing_moves_slow_runs_alone_and_keeps_their_order(logs: list[float]) -> None:
    before = np.array(logs)
    after = compressed(before)
    fast = before <= np.median(before)
    assert np.array_equal(after[fast], before[fast])
    assert np.all(after <= before + 1e-12)
    assert np.all(np.diff(after[np.argsort(before, kind="stable")]) >= -1e-12)


def test_half_of_the_explanations_see_slow_runs_less_slow() -> None:
    space = Space(x=Integer(0, 60))
    candidates = Candidates(space)
    ran = np.arange(0, 61, 4)
    logs = np.array([0.002 * (x - 10.0) ** 2 for x in ran], dtype=np.float64)
    observed = Observed(candidates.inputs(space.frame({"x": ran})), logs, np.ones(len(ran)), np.zeros(len(ran), bool))
    surrogate = PartlyCompressed(candidates.placed, samples=6)
    surrogate.learn(observed, np.random.default_rng(0))
    means = surrogate.believe(observed.inputs).means
    assert len(means) == 6
    np.testing.assert_allclose(means[:3], np.tile(logs, (3, 1)), atol=0.05)
    np.testing.assert_allclose(means[3:], np.tile(compressed(logs), (3, 1)), atol=0.05)
    assert logs[-1] > 2 * compressed(logs)[-1]


def test_greedy_is_algorithm_1() -> None:
    """Against the document's pseudo-code, literally, with the same model on the same draws."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"m": np.repeat(range(8), 4), "n": np.tile([1, 2, 4, 8], 8)})
    seconds = np.exp(0.2 * (table["m"] - 5) ** 2 + 0.3 * np.log2(table["n"] / 4) ** 2 + 0.05 * random.normal(size=32))
    times = dict(zip(table.itertuples(index=False, name=None), seconds, strict=True))
    space = Space.from_frame(table)
    search = Search(space, strategy="greedy", surrogate="forest", first=5, seed=7)
    asked = []
    for _ in range(12):
        configuration = search.ask()
        assert configuration is not None
        asked.append((configuration["m"], configuration["n"]))
        search.tell(configuration, float(times[asked[-1]]))

    coding = Candidates(space).coding
    out, pool = asked[:5], [key for key in times if key not in asked[:5]]
    for _ in range(5, 12):
        logs = np.log([times[key] for key in out])
        model = new_model("forest", "quick", {}).regressor(coding)
        model.fit(coding.inputs(space.frame(np.array(out))), logs - np.median(logs), np.ones(len(out)))
        predicted = model.predict(coding.inputs(space.frame(np.array(pool))))
        shortest = pool[int(np.argmin(predicted))]
        out.append(shortest)
        pool.remove(shortest)
    assert out == asked


def test_known_runs_are_learned_from_and_not_made_again() -> None:
    some = BOWL.sample(12, seed=5).drop_duplicates()
    some["seconds"] = [bowl({str(k): v for k, v in row.items()}) for row in some.to_dict("records")]
    known = evenly.Runs.from_frame(some, BOWL.names, space=BOWL)
    search = Search(BOWL, known=known, seed=0)
    asked = search.ask()
    assert asked not in some[BOWL.names].to_dict("records")
    assert search.best == some.sort_values("seconds")[BOWL.names].iloc[0].to_dict()
    with pytest.raises(InputError, match="have no 'threads'"):
        Search(BOWL, known=evenly.Runs.from_frame(some, ["block", "solver"]))


def test_huge_spaces_are_not_listed() -> None:
    space = Space(
        a=Integer(1, 10**6, scale="log"), b=Integer(1, 1000), c=Real(0.0, 1.0), d=Categorical("x", "y"),
        constraints=["a % b == 0"],
    )  # fmt: skip

    def run(configuration: dict[str, Any]) -> float:
        far = abs(np.log10(configuration["a"]) - 3) + (configuration["c"] - 0.3) ** 2
        return float(1.0 + far + (configuration["d"] == "y"))

    result = tune(space, run, budget=14, seed=0)
    assert result.seconds < 1.6
    assert all(space.contains(result.history))


@pytest.mark.parametrize("method", ["cpr", "cpr-positive", "nearest", "mars"])
def test_greedy_searches_by_any_regression_model(method: str) -> None:
    found = tune(BOWL, bowl, budget=8, repeats=1, strategy="greedy", surrogate=method)
    assert found.history["why"].str.startswith("predicted to be the fastest").sum() == 3


def test_wrong_use() -> None:
    search = Search(BOWL)
    for told in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="must be a finite number above 0"):
            search.tell({"block": 1, "threads": 1, "solver": "cg"}, told)
    with pytest.raises(InputError, match="is not feasible: threads must be one of 1, 2, 4, 8, but got 3"):
        search.tell({"block": 1, "threads": 3, "solver": "cg"}, 1.0)
    for arguments in (
        {"first": 1},
        {"strategy": "best"},
        {"surrogate": "gp"},
        {"strategy": "greedy", "surrogate": "pmnf"},
    ):
        with pytest.raises(InputError):
            Search(BOWL, **arguments)
    for name in ("budget", "repeats", "workers"):
        for wrong in (0, 2.5, True):
            with pytest.raises(InputError, match=f"{name} must be a whole number above 0"):
                tune(BOWL, bowl, **{name: wrong})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="production must be a number above 0"):
        tune(BOWL, bowl, production=-1)
    with pytest.raises(InputError, match="limit must be above 1"):
        tune(BOWL, bowl, limit=0.5)
    with pytest.raises(InputError, match="run must return the seconds that it took"):
        tune(BOWL, lambda _: -1.0, budget=2)
    with pytest.raises(InputError, match=r"run must return the seconds that it took, .* but got True"):
        tune(BOWL, lambda _: True, budget=2)
    with pytest.raises(InfeasibleError, match="no configuration obeys block > 32"):
        Search(Space(block=Integer(1, 32), constraints=["block > 32"]))


def test_only_what_may_be_the_fastest_is_run_again() -> None:
    random = np.random.default_rng(0)
    made: list[tuple[Any, ...]] = []

    def noisy(configuration: dict[str, Any]) -> float:
        made.append(tuple(configuration.values()))
        return bowl(configuration) * float(np.exp(random.normal(0, 0.05)))

    result = tune(BOWL, noisy, budget=40, repeats=4, seed=0)
    assert len(made) == 40
    assert 1 < result.history["repetitions"].max() <= 4
    best = result.history.set_index(BOWL.names).loc[tuple(result.best.values())]
    assert best["repetitions"] > 1
    # Those that are slower by much more than the noise are run once, unless they were the best after the first runs.
    slow = result.history["seconds"] > 1.5 * result.seconds
    assert slow.sum() > 5
    assert (result.history[slow]["repetitions"] > 1).sum() <= 1
    assert result.interval is not None
    assert result.interval[0] < result.seconds < result.interval[1]


def test_runs_that_can_not_win_are_given_up() -> None:
    limits = []

    def run(configuration: dict[str, Any], limit_s: float | None) -> float:
        seconds = bowl(configuration)
        limits.append(limit_s)
        if limit_s is not None and seconds > limit_s:
            raise RunFailed("too slow", at_least=limit_s)
        return seconds

    result = tune(BOWL, run, budget=16, limit=1.5, seed=0)
    assert limits[0] is None
    given = [limit for limit in limits if limit is not None]
    assert given == sorted(given, reverse=True)
    late = result.history[result.history["status"] == "timed out"]
    assert len(late)
    assert late["seconds"].isna().all()
    assert result.seconds < 1.2


def test_a_search_ends_when_a_run_no_longer_pays() -> None:
    few = tune(BOWL, bowl, budget=60, production=2, seed=0)
    many = tune(BOWL, bowl, budget=60, production=1e6, seed=0)
    assert "another run would take about" in few.stopped
    assert len(few.history) < len(many.history)
    assert not (few.history["status"] == "pending").any()


def test_several_runs_at_once() -> None:
    result = tune(BOWL, bowl, budget=21, workers=4, seed=0)
    assert len(result.made) == 21
    assert not result.history.duplicated(BOWL.names).any()
    assert (result.history["status"] == "ok").all()
    everything = tune(Space(n=Integer(1, 6)), lambda c: float(c["n"]), budget=30, workers=3, repeats=2)
    assert everything.stopped == "all configurations have been run"
    assert everything.best == {"n": 1}
    # The same time again: there is no noise, so nothing else is repeated.
    assert everything.history["repetitions"].tolist().count(2) == 1


def of_tasks(configuration: dict[str, Any]) -> float:
    """Of each number of cores another block is the fastest, and more cores are faster."""
    cores = configuration["cores"]
    return float(64 / cores * (1 + np.log2(configuration["block"] / cores) ** 2 / 6))


def test_tasks_are_searched_together_and_answered_apart() -> None:
    space = Space(cores=Ordinal(4, 8, 16), block=Ordinal(1, 2, 4, 8, 16, 32))
    result = tune(space, of_tasks, budget=13, tasks=["cores"])
    assert result.tasks[["cores", "block"]].to_numpy().tolist() == [[4, 4], [8, 8], [16, 16]]
    assert result.tasks["seconds"].tolist() == pytest.approx([16.0, 8.0, 4.0])
    assert result.best == {"cores": 16, "block": 16}
    assert result.tasks_without == []
    assert any("at cores = 4" in why for why in result.history["why"])
    alone = tune(space, of_tasks, budget=13)
    assert len(alone.tasks) == 1


def test_tasks_without_a_result_are_named() -> None:
    space = Space(cores=Ordinal(4, 8, 16, 32, 64), block=Ordinal(1, 2, 4, 8))

    def run(configuration: dict[str, Any]) -> float:
        if configuration["cores"] == 64:
            raise RunFailed("too many")
        return of_tasks(configuration)

    result = tune(space, run, budget=12, tasks=["cores"])
    assert {"cores": 64} in result.tasks_without
    text = tasks_text(result)
    assert f"{len(result.tasks_without)} of 5 tasks have no result, since no run went well or none was made: " in text
    assert "cores = 64" in text
    assert result.tasks["tried"].sum() == (result.history["status"] == "ok").sum()


def test_a_task_of_one_value_is_no_task() -> None:
    space = Space(cores=Ordinal(8), block=Ordinal(1, 2, 4, 8, 16, 32))
    result = tune(space, of_tasks, budget=5, tasks=["cores"])
    assert (result.task_names, result.best) == ((), {"cores": 8, "block": 8})
    assert not any("at cores" in why for why in result.history["why"])


def test_limits_are_those_of_the_task() -> None:
    space = Space(cores=Ordinal(1, 64), block=Ordinal(1, 2, 4, 8))
    limits: dict[int, list[float | None]] = {1: [], 64: []}

    def run(configuration: dict[str, Any], limit_s: float | None) -> float:
        limits[configuration["cores"]].append(limit_s)
        return float(64 / configuration["cores"] * (1 + configuration["block"] / 8))

    tune(space, run, budget=8, tasks=["cores"], limit=2.0)
    for cores, told in limits.items():
        assert told[0] is None
        # Repetitions have no limit.
        assert all(limit is None or limit >= 2 * 64 / cores for limit in told[1:])
        assert told.count(None) < len(told)


def test_expected_savings_and_a_lower_bound_take_turns() -> None:
    search = Search(Space(n=Integer(1, 200)), seed=0, first=3)
    for turn in range(9):
        choice = search.choose()
        assert choice is not None
        if turn >= 3:
            assert choice.why.startswith("may take as little as" if turn % 2 == 0 else "expected to save")
            assert choice.gain > 0
        n = choice.configuration["n"]
        search.tell(choice.configuration, 1.0 + (n - 77) ** 2 / 1e3)


def test_a_run_that_ended_has_no_bound() -> None:
    search = Search(Space(x=Integer(1, 9)))
    with pytest.raises(InputError, match="leave out seconds or at_least"):
        search.tell({"x": 1}, 1.0, at_least=99.0)


def test_a_baseline_needs_no_value_of_what_it_switches_off() -> None:
    space = Space(
        solver=Categorical("cg", "gmres"), restart=Ordinal(10, 20, 30), conditions={"restart": "solver == 'gmres'"}
    )
    search = Search(space, baseline={"solver": "cg"})
    assert (search.ask() or {})["solver"] == "cg"
    with pytest.raises(InputError, match="it lacks 'restart'"):
        Search(space, baseline={"solver": "gmres"})
    with pytest.raises(InputError, match="it has 'restrat', which is no parameter"):
        Search(space, baseline={"solver": "gmres", "restrat": 20})
