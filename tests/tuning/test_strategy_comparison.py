"""Strategies compared on measured runs: what is looked up, how far from the optimum, and what is luck."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from evenly.errors import InputError
from evenly.report.tables.tuning import comparison_text
from evenly.runs.runs import Runs
from evenly.space.parameters import Ordinal
from evenly.space.space import Space
from evenly.tuning.search import Search
from evenly.tuning.strategies.greedy import GREEDY_MODELS
from evenly.tuning.strategy_comparison import StrategyComparison, compare_strategies


def measured() -> Runs:
    """Return 32 configurations, each run three times; the fastest takes 2 s, and blocks of 1 fail on 8 threads."""
    rows: list[dict[str, Any]] = []
    for block, threads, factor in itertools.product((1, 2, 4, 8, 16, 32, 64, 128), (1, 2, 4, 8), (0.9, 1.0, 1.5)):
        seconds = 2 * factor * (1 + abs(np.log2(block / 8))) * (1 + abs(np.log2(threads / 2)))
        failed = (block, threads) == (1, 8)
        rows.append({"block": block, "threads": threads, "nodes": 1, "seconds": np.nan if failed else seconds,
                     "status": "failed" if failed else "ok"})  # fmt: skip
    return Runs.from_frame(pd.DataFrame(rows), ["block", "threads", "nodes"])


def test_searches_come_nearer_to_the_optimum_and_the_model_faster_than_chance() -> None:
    found = compare_strategies(measured(), ["random", "model"], seeds=2, most=99)
    assert (found.configurations, found.failed, found.runs) == (32, 1, 32)
    assert found.best_s == pytest.approx(2.0)  # the median of three
    for above in found.above.values():
        assert above.shape == (2, 32)
        assert (np.diff(above, axis=1) <= 0).all()
        assert (above[:, -1] == 0).all()
    assert found.above["model"][:, 9].mean() < found.above["random"][:, 9].mean()
    pd.testing.assert_frame_equal(
        pd.DataFrame(found.above["random"][:, :5]),
        pd.DataFrame(compare_strategies(measured(), ["random"], seeds=2, most=5).above["random"]),
    )


def test_what_is_luck_is_told_by_welchs_test() -> None:
    random = np.random.default_rng(0)
    above = {"a": random.exponential(0.1, (10, 20)), "b": random.exponential(0.1, (10, 20)) + 0.5}
    above["c"] = above["a"] + 0.001
    found = StrategyComparison(above, 40, 0, 1.0)
    first, second = above["a"][:, -1], above["b"][:, -1]
    assert found.chance_of_luck("a", "b", 20) == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue)
    said = comparison_text(found)
    assert "after 20 runs, a is nearer to it than b (p = " in said
    assert "than c" not in said
    alike = StrategyComparison({"a": np.zeros((3, 5)), "b": np.zeros((3, 5))}, 9, 0, 1.0)
    assert np.isnan(alike.chance_of_luck("a", "b", 5))
    assert "no two strategies differ by more than luck" in comparison_text(alike)


@pytest.mark.parametrize("surrogate", GREEDY_MODELS)
def test_surrogates_learn_log_or_raw_times(surrogate: str) -> None:
    """60 s, beside n = 10, lie below the mean of 1 s and 1,000 s, beside n = 0, and above the geometric mean."""
    for times, fastest in (("", 0), (":log", 0), (":raw", 10)):
        space = Space(n=Ordinal(-1, 0, 1, 9, 10, 11))
        search = Search(space, strategy="greedy", surrogate=surrogate + times, first=2)
        for n, seconds in ((-1, 1.0), (1, 1000.0), (9, 60.0), (11, 60.0)):
            search.tell({"n": n}, seconds)
        assert search.ask() == {"n": fastest}


def test_strategies_of_the_study_are_replayed() -> None:
    found = compare_strategies(measured(), ["greedy:forest", "greedy:forest:raw"], seeds=2, most=8)
    assert list(found.above) == ["greedy:forest", "greedy:forest:raw"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"strategies": ["best"]}, "strategy must be one of"),
        ({"strategies": ["model:forest"]}, "belongs to strategy = 'greedy'"),
        ({"strategies": ["greedy:forest:rank"]}, "log or raw times"),
        ({"seeds": 1}, "seeds must be at least 2"),
        ({"most": 0}, "most must be at least 1"),
    ],
)
def test_mistakes_are_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        compare_strategies(measured(), **arguments)


def test_runs_without_a_choice_are_refused() -> None:
    one = pd.DataFrame({"n": [1, 1], "seconds": [1.0, 2.0]})
    with pytest.raises(InputError, match="no parameter varies"):
        compare_strategies(Runs.from_frame(one, ["n"]))
    failed = pd.DataFrame({"n": [1, 2], "seconds": [np.nan, np.nan], "status": ["failed", "failed"]})
    with pytest.raises(InputError, match="none of them went well"):
        compare_strategies(Runs.from_frame(failed, ["n"]))
