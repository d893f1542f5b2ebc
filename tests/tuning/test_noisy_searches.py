"""Searches where runs scatter, fail by chance, or are interrupted: which are run again, and what is reported."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import evenly
from evenly.campaign.noise import Noise, drift_per_run, noise_of
from evenly.errors import EvenlyWarning, InputError, RunFailed
from evenly.report.tables.tuning import alike_table, found_text
from evenly.space.parameters import Categorical, Integer, Ordinal
from evenly.space.space import Space
from evenly.tuning.candidates import Candidates
from evenly.tuning.feasibility_model import success_probabilities
from evenly.tuning.repeating import Repeating
from evenly.tuning.result import Result
from evenly.tuning.search import Search
from evenly.tuning.standing import Standing
from evenly.tuning.surrogates.base import Observed
from evenly.tuning.surrogates.gaussian_process import SampledProcess
from evenly.tuning.trials import Trial, Trials
from evenly.tuning.tuning import tune
from tests.tuning.programs import BOWL, bowl


def searched(
    truth: Any, space: Space, budget: int, noise: float, seed: int = 0, drift: float = 0.0, **settings: Any
) -> Search:
    """Search in a program with planted times, lognormal noise, and a growth of the log times from run to run."""
    random = np.random.default_rng(seed)
    search = Search(space, seed=seed, repeating=Repeating(budget), **settings)
    for turn in range(budget):
        configuration = search.ask()
        assert configuration is not None
        search.tell(configuration, float(truth(configuration) * np.exp(random.normal(0, noise) + drift * turn)))
    return search


def test_the_end_of_a_search_repeats_what_may_be_the_fastest() -> None:
    search = searched(bowl, BOWL, 20, 0.1)
    whys = [made.why for made in search.trials.made]
    # Three of the last four confirm; one was made earlier, to know the noise.
    assert whys.count("run again, to know the noise") == 1
    assert all("run again" in why or "repetition" in why for why in whys[-3:])
    repeated = [trial for trial in search.trials if len(trial.seconds) > 1]
    assert 1 < len(repeated) <= 5
    # The one that told the noise was the best of the first five.
    assert sorted(bowl(trial.configuration) for trial in repeated)[-2] < 1.5


def test_a_program_without_noise_is_confirmed_once_and_searched_on() -> None:
    search = searched(bowl, BOWL, 20, 0.0)
    # One run told that there is no noise, and one confirmed the winner.
    assert len(search.trials) == 18


def test_the_reported_time_is_not_the_luckiest() -> None:
    """Of 48 configurations with the same time and noise of 20 %, the least of 17 single runs is about 1.8 σ low."""
    space = Space(x=Integer(0, 15), y=Ordinal(1, 2, 4))
    errors, lucky, inside = [], [], []
    for seed in range(3):
        search = searched(lambda _: 1.0, space, 20, 0.2, seed)
        (standing,) = search.standings().values()
        errors.append(np.log(standing.seconds(standing.winner)))
        lucky.append(min(np.log(made.seconds) for made in search.trials.made))
        low, high = standing.interval(standing.winner) or (0.0, 0.0)
        inside.append(low <= 1.0 <= high)
    assert np.mean(lucky) < -0.3
    assert abs(np.mean(errors)) < 0.15
    assert sum(inside) >= 2


def test_drift_of_the_machine_is_taken_out_by_the_reference() -> None:
    space = Space(n=Integer(1, 60))
    today = {"n": 5}
    # The machine becomes slower by 2 % from run to run: the last of 30 takes 1.8 times as long as the first.
    search = searched(lambda at: 1.0 + 0.05 * abs(at["n"] - 8), space, 30, 0.005, drift=0.02, baseline=today)
    assert search.trials.made[0].configuration == today
    assert search.trials.drift == pytest.approx(29 * 0.02, rel=0.1)
    result = Result.of(search, "")
    assert result.best == {"n": 8}
    assert result.gain is not None
    assert result.gain.interval is not None
    assert result.gain.interval[0] < 1 - 1 / 1.15 < result.gain.interval[1]
    assert abs(result.gain.saved - (1 - 1 / 1.15)) < 0.03


def test_noise_is_pooled_and_drift_is_only_what_is_clear() -> None:
    random = np.random.default_rng(1)
    found = noise_of([tuple(random.normal(n, 0.3, 4)) for n in range(200)])
    assert found.freedom == 600
    assert found.deviation == pytest.approx(0.3, rel=0.1)  # the error of a deviation with 600 squares is 3 %
    assert noise_of([(1.0,), (2.0,)]) == Noise(0.0, 0)
    assert drift_per_run([0, 20, 40], [1.0, 1.01, 0.99]) == 0.0


def test_an_interrupted_search_repeats_the_same() -> None:
    whole = searched(bowl, BOWL, 15, 0.1, seed=3)
    again = Search(BOWL, seed=3, repeating=Repeating(15))
    for number, made in enumerate(whole.trials.made):
        if number in (6, 12, 14):
            fresh = Search(BOWL, seed=3, repeating=Repeating(15))
            for before in whole.trials.made[:number]:
                fresh.tell(before.configuration, before.seconds)
            assert fresh.ask() == made.configuration
        again.tell(made.configuration, made.seconds)


def test_one_failure_or_cut_near_the_best_does_not_count() -> None:
    search = Search(BOWL, seed=0, repeating=Repeating(40))
    best = {"block": 8, "threads": 4, "solver": "amg"}
    for _ in range(12):
        configuration = search.ask()
        assert configuration is not None
        search.tell(configuration, bowl(configuration) if configuration != best else None)
    near = {"block": 7, "threads": 4, "solver": "amg"}
    far = {"block": 1, "threads": 1, "solver": "gmres"}
    for at_least in (None, 2.0):
        search.tell(far, None, at_least=at_least)
        assert search.ask() != far
    if search.trials.trial(near) is None:
        search.tell(near, None)
        assert search.ask() == near
        search.tell(near, bowl(near))
        trial = search.trials.trial(near)
        assert trial is not None
        assert trial.status == "ok"
    # What went well before and fails once is run again; if it fails again, it isn't reliable.
    known = next(trial for trial in search.trials.of("ok") if len(trial.seconds) == 1).configuration
    search.tell(known, None)
    assert search.trials.trial(known).status == "failed"  # type: ignore[union-attr]
    assert search.ask() == known
    search.tell(known, None)
    assert search.ask() != known


def test_failures_at_random_rule_out_no_neighbour_and_a_region_that_fails_is_learned() -> None:
    space = Space(x=Integer(0, 39), y=Integer(0, 9))
    candidates, random = Candidates(space), np.random.default_rng(0)
    grid = space.enumerate().sample(40, random_state=0)
    for kind, fails in (("random", random.random(40) < 0.25), ("region", grid["x"].to_numpy() < 10)):
        trials = Trials(space)
        for row, failed in zip(grid.to_dict("records"), fails, strict=True):
            trials.tell({str(name): value for name, value in row.items()}, None if failed else 1.0)
        found = success_probabilities(trials, candidates, space.enumerate())
        if kind == "random":
            assert found.min() > 0.7  # the rate is 0.79, by Laplace's rule of 8 failures in 40 runs
        else:
            inside = space.enumerate()["x"].to_numpy() < 9
            assert found[inside].mean() < found[~inside].mean() - 0.4


def test_an_exception_loses_nothing(tmp_path: Any) -> None:
    calls: list[dict[str, Any]] = []

    def run(configuration: dict[str, Any]) -> float:
        calls.append(configuration)
        if len(calls) == 7:
            raise ZeroDivisionError("a bug")
        return bowl(configuration)

    with pytest.raises(ZeroDivisionError, match="a bug") as caught:
        tune(BOWL, run, budget=12, store=tmp_path / "kept.db")
    assert len(caught.value.result.made) == 6  # type: ignore[attr-defined]
    assert "6 runs of the search are kept" in caught.value.__notes__[0]
    # The same command goes on: the six runs aren't made again.
    result = tune(BOWL, run, budget=12, store=tmp_path / "kept.db")
    assert len(calls) == 7 + 6
    assert len(result.made) == 12
    assert result.made["why"].tolist()[:5] == ["tells most of all others"] * 5
    assert not result.made["why"].isin(["told", ""]).any()
    assert len(evenly.Runs.load(tmp_path / "kept.csv") if (tmp_path / "kept.csv").exists() else result.runs) == 12
    with pytest.raises(InputError, match="holds runs of another search: callable was"):
        tune(BOWL, bowl, budget=12, store=tmp_path / "kept.db")


def test_failures_and_bounds_are_kept_too(tmp_path: Any) -> None:
    def run(configuration: dict[str, Any], limit_s: float | None) -> float:
        seconds = bowl(configuration)
        if configuration["solver"] == "gmres":
            raise RunFailed("no gmres here")
        if limit_s is not None and seconds > limit_s:
            raise RunFailed("too slow", at_least=limit_s)
        return seconds

    first = tune(BOWL, run, budget=14, limit=1.3, store=tmp_path / "kept.db")
    again = tune(BOWL, run, budget=14, limit=1.3, store=tmp_path / "kept.db")
    pd.testing.assert_frame_equal(first.made, again.made)
    assert {"ok", "failed", "timed out"} <= set(first.made["status"])


def test_a_limit_allows_for_noise() -> None:
    """With noise of 35 %, twice the luckiest time is often less than the time of the best: such runs were cut."""
    wrong = cut = 0
    for seed in range(1):
        random = np.random.default_rng(seed)

        def run(configuration: dict[str, Any], limit_s: float | None, random: Any = random) -> float:
            seconds = bowl(configuration) * float(np.exp(random.normal(0, 0.35)))
            if limit_s is not None and seconds > limit_s:
                raise RunFailed("too slow", at_least=limit_s)
            return seconds

        late = tune(BOWL, run, budget=24, limit=2, seed=seed).history.query("status == 'timed out'")
        cut += len(late)
        wrong += sum(row["at_least"] > bowl({str(k): v for k, v in row.items()}) for row in late.to_dict("records"))
    assert wrong <= 2


def test_a_repetition_is_worth_more_the_closer_it_is() -> None:
    search = Search(Space(n=Integer(1, 9)), repeating=Repeating(9))
    for n, seconds in ((1, 1.0), (2, 1.02), (3, 1.2), (4, 5.0), (1, 1.04)):
        search.tell({"n": n}, seconds)
    standing = Standing.measured(search.trials.of("ok"), search.trials.noise)
    values = dict(zip((trial.configuration["n"] for trial in standing.trials), standing.values, strict=True))
    assert values[2] > values[1] > values[3] > values[4] >= 0
    assert standing.chances.sum() == pytest.approx(1.0)


def test_a_slow_configuration_is_told_as_it_was_measured() -> None:
    space = Space(block=Ordinal(2, 4, 8, 16, 32, 64), solver=Categorical("cg", "gmres", "jacobi"))
    random = np.random.default_rng(0)

    def seconds(one: dict[str, Any]) -> float:
        factor = {"cg": 1.0, "gmres": 1.5, "jacobi": 9.0}[one["solver"]]
        return float((1 + 0.8 * abs(np.log2(one["block"] / 8))) * factor)

    def run(one: dict[str, Any]) -> float:
        return seconds(one) * float(np.exp(0.05 * random.standard_normal()))

    today = {"block": 64, "solver": "jacobi"}  # 30.6 times as slow as the fastest
    result = evenly.tune(space, run, budget=14, baseline=today)
    assert result.gain is not None
    assert result.gain.seconds == pytest.approx(seconds(today), rel=0.15)  # three times the noise
    assert result.gain.interval is not None
    assert 0.93 < result.gain.interval[0] < 1 - 1 / 30.6 < result.gain.interval[1]
    alike = zip(result.alike["block"], result.alike["solver"], strict=True)
    assert all(seconds({"block": block, "solver": solver}) < 2 for block, solver in alike)


def test_a_baseline_whose_time_is_unknown_is_said() -> None:
    def run(one: dict[str, Any]) -> float:
        if one["x"] == 3:
            raise evenly.RunFailed("out of memory")
        return float(one["x"])

    result = evenly.tune(Space(x=Integer(1, 6)), run, budget=5, baseline={"x": 3})
    assert (result.gain, result.no_gain) == (None, "it failed")
    assert "nothing is known of a gain over today's configuration: it failed" in found_text(result)


def test_where_the_noise_is_known_lucky_runs_are_not_believed() -> None:
    """Of 16 configurations with the same time and noise of 20 %, the least of 16 runs is 1.77 σ = 35 % low.

    If the model took the whole scatter for differences between configurations, it would believe 20 % of that.
    """
    space = Space(a=Ordinal(1, 2, 3, 4), b=Ordinal(1, 2, 3, 4))
    inputs, least = Candidates(space).inputs(space.enumerate()), []
    for seed in range(6):
        random = np.random.default_rng(seed)
        process = SampledProcess(0)
        observed = Observed(inputs, random.normal(0, 0.2, 16), np.ones(16), np.zeros(16, np.bool_), Noise(0.2, 6))
        process.learn(observed, random)
        least.append(process.believe(inputs).mean.min())
    assert np.mean(least) > -0.17


def test_the_answer_says_what_failed_and_shows_all_that_may_be_as_fast() -> None:
    random = np.random.default_rng(0)

    def run(one: dict[str, Any]) -> float:
        if one["x"] == 3:
            raise RunFailed("out of memory")
        return float(np.exp(random.normal(0, 0.2)))

    result = tune(Space(x=Integer(1, 20)), run, budget=24, strategy="all")
    assert "of 20 configurations, 1 failed" in found_text(result)
    console = Console(width=100, file=StringIO(), record=True)
    console.print(alike_table(result))
    shown = console.export_text()
    assert len(result.alike) > 11
    assert shown.count("≈") == len(result.alike) - 1
    # The winner is the first row.
    first = next(line.split() for line in shown.splitlines() if "%" in line)
    assert int(first[0]) == result.best["x"]
    if result.alike["chance"].max() > result.chance:
        assert "but its time is less sure" in found_text(result)


def test_a_baseline_outside_of_the_space_is_told_by_its_value() -> None:
    space = Space(a=Ordinal(1, 2, 4), b=Categorical("x", "y"), constraints=["a < 4 or b == 'x'"])
    for today, reason in (
        ({"a": 3, "b": "x"}, "baseline can't be run in the space: a must be one of 1, 2, 4, but got 3"),
        ({"a": 4, "b": "y"}, "baseline can't be run in the space: a < 4 or b == 'x' does not hold"),
    ):
        with pytest.raises(InputError, match=reason):
            Search(space, baseline=today)


@pytest.mark.parametrize("failing", [{1}, set(range(2, 20))])
def test_a_baseline_that_fails_by_chance_is_run_again_and_keeps_its_gain(failing: set[int]) -> None:
    """Of the runs of the baseline, some fail: the first one, or all later ones."""
    random, runs = np.random.default_rng(0), [0]

    def run(one: dict[str, Any]) -> float:
        runs[0] += one == {"x": 6}
        if one == {"x": 6} and runs[0] in failing:
            raise RunFailed("a node died")
        return float(one["x"] * np.exp(random.normal(0, 0.02)))

    result = tune(Space(x=Integer(1, 12)), run, budget=16, baseline={"x": 6})
    assert result.gain is not None
    assert result.gain.saved == pytest.approx(5 / 6, abs=0.05)
    assert result.gain.interval is not None
    assert result.gain.interval[0] < 5 / 6 < result.gain.interval[1]
    assert result.gain.bad >= 1
    assert " of its " in found_text(result)
    if failing == {1}:
        assert result.made["why"].tolist()[1] == "run again, since it failed"


def test_a_function_that_was_changed_is_told(tmp_path: Path) -> None:
    calls: list[Any] = []

    def made(speed: float, factor: float = 1.0) -> Callable[[dict[str, Any]], float]:
        def run(at: dict[str, Any]) -> float:
            calls.append(at)
            return factor * bowl(at) / speed

        return run

    tune(BOWL, made(1.0), budget=6, store=tmp_path / "kept.db")
    tune(BOWL, made(1.0), budget=8, store=tmp_path / "kept.db")
    with pytest.warns(EvenlyWarning, match="made before the function was changed, or a value that it uses"):
        tune(BOWL, made(1.5), budget=10, store=tmp_path / "kept.db")
    with pytest.warns(EvenlyWarning, match="made before the function was changed"):
        tune(BOWL, made(1.5, 2.0), budget=12, store=tmp_path / "kept.db")
    with pytest.warns(EvenlyWarning, match="made before the function was changed"):  # both are still in the file
        tune(BOWL, made(1.5, 2.0), budget=13, store=tmp_path / "kept.db")


def test_an_interval_holds_the_mean_of_several_runs() -> None:
    runs = [(35.0, 36.0, 35.5), (60.0,), (35.0, 36.0)]
    trials = [Trial({}, seconds=seconds, drifts=(0.0,) * len(seconds)) for seconds in runs]
    believed = np.log([51.0, 60.0, 51.0])
    standing = Standing(trials, believed, np.full(3, 0.05), Noise(0.02, 5))
    low, high = standing.interval(0) or (np.nan, np.nan)
    assert low == pytest.approx(35.5, rel=1e-3)
    assert high > 51.0
    assert (standing.interval(2) or (0.0, 0.0))[0] > 40.0
