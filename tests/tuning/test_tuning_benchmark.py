"""The benchmark of searches: problems, scores and kept results, on tables whose answers are known."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

_FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(_FOLDER))


def _script(name: str) -> Any:
    return import_module(name)


def _problem() -> Any:
    tuning_problems = _script("tuning_problems")

    # 101 configurations, whose times are 1, 2, …, 101.
    table = pd.DataFrame({"n": np.arange(101), "seconds": np.arange(1.0, 102.0)})
    return tuning_problems.Problem("planted", "one", table)


def test_ranks_and_regrets_are_those_of_the_table() -> None:
    problem = _problem()
    assert [problem.rank(s) for s in (1.0, 2.0, 101.0)] == [0.0, 1.0, 100.0]
    assert problem.regret(3.0) == pytest.approx(2.0)


def test_random_search_is_known_exactly() -> None:
    tuning = _script("tuning")

    problem = _problem()
    # The least of n of the numbers 0 to N is (N + 1 - n) / (n + 1) on average: with 101 rows and 4 runs, 97 / 5.
    rank, regret = tuning.by_chance(problem, 4)
    assert (rank, regret) == (pytest.approx(19.4), pytest.approx(19.4))
    assert tuning.by_chance(problem, 101) == (pytest.approx(0.0), pytest.approx(0.0))


def test_random_search_counts_failures_as_runs() -> None:
    tuning, tuning_problems = _script("tuning"), _script("tuning_problems")

    # Of two rows one fails: half of the searches of one run find nothing, which counts as the slowest, also 2 s.
    table = pd.DataFrame({"n": [1, 2, 3], "seconds": [1.0, 2.0, np.nan]})
    rank, regret = tuning.by_chance(tuning_problems.Problem("planted", "fails", table), 1)
    assert (rank, regret) == (pytest.approx(100 / 3), pytest.approx(2 / 3))


def test_scores_compare_methods_with_random_search_and_with_each_other() -> None:
    tuning = _script("tuning")

    problem, runs = _problem(), max(tuning.AT)
    # A search that has found nothing counts as the slowest; one of two seeds was made.
    found = {("planted", "one", "model", 0): [None] * 5 + [2.0] * (runs - 5)}
    ranks, regrets, places = tuning.scores([problem], found, ["random", "model"], 2)
    assert ranks[:, 0, 0].tolist() == [pytest.approx(16.0), 100.0]
    assert ranks[1, 0, 1:].tolist() == [1.0, 1.0, 1.0]
    assert regrets[1, 0, 1] == pytest.approx(1.0 / (91 / 11))
    assert places[:, 0].tolist() == [[1.0, 2.0, 2.0, 2.0], [2.0, 1.0, 1.0, 1.0]]


def test_a_search_finds_what_is_in_the_table_and_kept_ones_are_not_made_again(tmp_path: Path) -> None:
    tuning = _script("tuning")

    problem, results = _problem(), tmp_path / "results.jsonl"
    tuning.make([problem], {"model": "", "greedy forest": ""}, 1, 12, results, "")
    made = [json.loads(line) for line in results.read_text().splitlines()]
    assert [one["method"] for one in made] == ["model", "greedy forest"]
    assert made[0]["best"][-1] == 1.0
    assert all(later <= earlier for one in made for earlier, later in zip(one["best"], one["best"][1:], strict=False))
    tuning.make([problem], {"model": "", "greedy forest": ""}, 1, 12, results, "")
    assert len(results.read_text().splitlines()) == 2


def test_rivals_are_told_what_was_run(monkeypatch: pytest.MonkeyPatch) -> None:
    tuning_rivals = _script("tuning_rivals")

    class Fixed:
        """Always asks for the same row, and keeps what it was told."""

        version = "0"

        def __init__(self) -> None:
            self.told: list[tuple[list[int], float | None, float]] = []

        def ask(self) -> list[int]:
            return [2, 1]

        def tell(self, row: list[int], seconds: float | None, slowest: float) -> None:
            self.told.append((row, seconds, slowest))

    rival = Fixed()
    request = {
        "values": [[1, 2, 4], ["a", "b"]], "numeric": [True, False],
        "rows": [[0, 0], [0, 1], [1, 1], [2, 1]], "seconds": [1.0, 5.0, None, 3.0], "runs": 6, "seed": 0,
    }  # fmt: skip
    # The nearest row comes next: half the range away, the range away, another label and the range away.
    assert tuning_rivals.searched(rival, request) == [3.0, 3.0, 3.0, 1.0, 1.0, 1.0]
    assert rival.told == [([2, 1], 3.0, 3.0), ([1, 1], None, 3.0), ([0, 1], 5.0, 5.0), ([0, 0], 1.0, 5.0)]


def test_problems_are_divided_by_program() -> None:
    tuning_problems = _script("tuning_problems")

    assert not set(tuning_problems.CHOOSE) & set(tuning_problems.REPORT)
