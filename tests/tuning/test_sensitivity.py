"""Which parameters matter, where that is known."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from evenly.errors import EvenlyWarning, InputError
from evenly.runs.runs import Runs
from evenly.tuning.sensitivity import sensitivity


def table_of(seed: int = 0) -> pd.DataFrame:
    """Log times a + b / 2 of task 1, ±a by the label c of task 2; d has no effect."""
    rows = list(itertools.product((-1, 0, 1), (-1, 0, 1), ("u", "v"), (0, 1, 2), (1, 2)))
    table = pd.DataFrame(rows, columns=["a", "b", "c", "d", "tasks"])
    sign = table["c"].map({"u": 1.0, "v": -1.0})
    noise = np.random.default_rng(seed).normal(0, 0.01, len(table))
    logs = np.where(table["tasks"] == 1, table["a"] + 0.5 * table["b"], sign * table["a"])
    return table.assign(seconds=np.exp(logs + noise))


def test_sobol_indices_are_the_analytic_ones() -> None:
    table = table_of()
    found = sensitivity(Runs.from_frame(table, ["a", "b", "c", "d", "tasks"]), task="tasks", repeats=3).table
    # Task 1: variances 2/3 and 1/4 · 2/3 add up, so that a has 0.8 and b 0.2, alone and in all.
    one = found[found["task"] == 1].set_index("parameter")
    assert one["first_order"][["a", "b", "c", "d"]].tolist() == pytest.approx([0.8, 0.2, 0, 0], abs=0.06)
    assert one["total"][["a", "b", "c", "d"]].tolist() == pytest.approx([0.8, 0.2, 0, 0], abs=0.06)
    # Task 2: c decides the sign of a's effect: each explains nothing alone and everything with the other.
    two = found[found["task"] == 2].set_index("parameter")
    assert two["first_order"][["a", "c"]].tolist() == pytest.approx([0, 0], abs=0.08)
    assert two["total"][["a", "c"]].tolist() == pytest.approx([1, 1], abs=0.1)


def test_permutation_tells_what_matters_from_what_does_not() -> None:
    table = table_of()
    runs = Runs.from_frame(table[table["tasks"] == 1], ["a", "b", "c", "d"])
    ranked = sensitivity(runs, repeats=8).ranked("left_out")
    assert ranked.index.tolist()[:2] == ["a", "b"]
    assert ranked["left_out"]["a"] > 10 * max(ranked["left_out"]["c"], ranked["left_out"]["d"], 1)
    assert ranked["refitted"]["a"] > ranked["refitted"]["d"]
    again = sensitivity(runs, repeats=8).ranked("left_out")
    assert again.equals(ranked)


def test_wrong_use() -> None:
    runs = Runs.from_frame(table_of().head(6), ["a", "b", "c", "d", "tasks"])
    for arguments in ({}, {"task": "nodes"}, {"repeats": 0}):
        with pytest.raises(InputError):
            sensitivity(runs, **arguments)


def test_small_tasks_are_left_out_and_named() -> None:
    table = table_of()
    few = table.assign(tasks=3).head(7)
    names = ["a", "b", "c", "d", "tasks"]
    lost = table.assign(tasks=4, seconds=np.nan, status="failed").head(20)
    runs = Runs.from_frame(pd.concat([table.assign(status="ok"), few.assign(status="ok"), lost]), names)
    with pytest.warns(EvenlyWarning, match=r"left out: tasks = 3: 4 configurations, .*; tasks = 4: 0 conf"):
        found = sensitivity(runs, task="tasks", repeats=1).table
    alone = sensitivity(Runs.from_frame(table, names), task="tasks", repeats=1).table
    pd.testing.assert_frame_equal(found, alone)
    small = Runs.from_frame(pd.concat([few, few.assign(tasks=5)]), names)
    with pytest.raises(InputError, match=r"at least 8 configurations .*tasks = 3: .*; tasks = 5: "):
        sensitivity(small, task="tasks")


def test_shares_alone_are_never_above_those_with_others() -> None:
    # log t = a + b: variances (5² - 1) / 12 = 2 and (4² - 1) / 12 = 1.25: shares .615 and .385, both alone and in all.
    rows = [{"a": a, "b": b, "seconds": float(np.exp(a + b))} for a in range(1, 6) for b in range(1, 5)]
    found = sensitivity(Runs.from_frame(pd.DataFrame(rows), ["a", "b"]), repeats=1).ranked()
    assert (found["total"] >= found["first_order"] - 1e-12).all()
    assert found["first_order"].to_numpy() == pytest.approx([2 / 3.25, 1.25 / 3.25], abs=0.05)
