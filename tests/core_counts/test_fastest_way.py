"""Of all ways to make a number of cores, the fastest is taken: compared with every way, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.core_counts.fastest_way import FastestWay, fastest_way
from evenly.errors import InputError

RANKS, THREADS = (1, 2, 4, 8, 16), (1, 2, 4)


@pytest.fixture(scope="module")
def model() -> evenly.Model:
    rows = pd.DataFrame(itertools.product(RANKS, THREADS), columns=["ranks", "threads"])
    rows["seconds"] = 90 / (rows["ranks"] * rows["threads"]) + 0.4 * rows["ranks"] + 0.3 * rows["threads"]
    return evenly.fit(evenly.Runs.from_frame(rows, ["ranks", "threads"]), method="log-quadratic")


@pytest.fixture
def fluid(model: evenly.Model) -> FastestWay:
    return fastest_way(model, "ranks * threads", {"threads": THREADS})


def test_each_count_takes_its_fastest_way(model: evenly.Model, fluid: FastestWay) -> None:
    for cores in range(1, 17):
        made = [{"ranks": cores // t, "threads": t} for t in THREADS if cores % t == 0]
        times = [float(model.predict({name: [value] for name, value in way.items()})[0]) for way in made]
        assert fluid.predict({"ranks * threads": [cores]})[0] == pytest.approx(min(times))
        assert fluid.way(cores) == made[int(np.argmin(times))]
        low, high = fluid.interval({"ranks * threads": [cores]})
        assert low[0] <= min(times) <= high[0]


def test_ways_differ_and_threads_of_tasks_follow(fluid: FastestWay) -> None:
    ways = [fluid.way(cores)["threads"] for cores in (1, 8, 16)]
    assert len(set(ways)) > 1
    assert [fluid.cores_of_task(cores) for cores in (1, 8, 16)] == ways


def test_counts_are_those_of_any_way(model: evenly.Model) -> None:
    even = fastest_way(model, "ranks * threads", {"threads": (2, 3)})
    assert even.counts(9).tolist() == [2, 3, 4, 6, 8, 9]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="no threads of 2, 3 makes 5 cores"):
        even.predict({"ranks * threads": [5]})
    with pytest.raises(InputError, match="one parameter is decided with the cores"):
        fastest_way(model, "ranks * threads", {"threads": 2})
