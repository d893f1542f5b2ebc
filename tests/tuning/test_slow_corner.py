"""A search in a noisy table doesn't run the slow corner of its space once it has seen that times grow towards it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from evenly.space.parameters import Categorical, Integer, Ordinal
from evenly.space.space import Space
from evenly.tuning.candidates import Candidates
from evenly.tuning.search import Search

SPACE = Space(
    cores=Ordinal(8, 16, 32, 64, 128, 256), block=Ordinal(4, 8, 16, 32, 64), kind=Categorical("a", "b", "c"),
    buffer=Integer(0, 4),
)  # fmt: skip
CANDIDATES = Candidates(SPACE)


def true_s(at: Mapping[Any, Any]) -> float:
    """With 8 cores, times are more than seven times the shortest; what else is chosen hardly matters."""
    return float(20 / at["cores"] + 0.3 + 0.01 * abs(np.log2(at["block"] / 16)) + 0.02 * (at["kind"] == "c"))


@pytest.mark.parametrize("seed", [6, 10, 13, 14, 18])
def test_the_slow_corner_is_left(seed: int) -> None:
    """Each configuration has one time, with a noise of 15 %. With these seeds, the first five runs have no 8 cores."""
    table = SPACE.enumerate()
    true = np.array([true_s(at) for at in table.to_dict("records")])
    seconds = true * np.exp(np.random.default_rng(1).normal(0, 0.15, len(true)))
    times = dict(zip(table.itertuples(index=False, name=None), zip(true, seconds, strict=True), strict=True))
    slow = np.quantile(true, 0.9)
    search = Search(SPACE, seed=seed, candidates=CANDIDATES)
    made = []
    for _ in range(20):
        at = search.ask()
        assert at is not None
        made.append(times[tuple(at[name] for name in SPACE.names)])
        search.tell(at, made[-1][1])
    assert all(true < slow for true, _ in made[5:])


def test_one_slow_run_at_an_end_closes_nothing() -> None:
    """The first run with 32 cores is slow by its kind; times fall towards the fewest cores, which are the best."""
    search = Search(SPACE, seed=0, candidates=CANDIDATES)
    for cores, kind, seconds in ((256, "a", 3.0), (128, "b", 2.0), (64, "a", 1.5), (128, "a", 1.9), (32, "c", 9.0)):
        search.tell({"cores": cores, "block": 16, "kind": kind, "buffer": 2}, seconds)
    for _ in range(8):
        at = search.ask()
        assert at is not None
        search.tell(at, at["cores"] / 64 * (6 if at["kind"] == "c" else 1))
    assert search.best is not None
    assert search.best["cores"] == 8
