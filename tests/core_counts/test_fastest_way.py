"""Of all ways to make a number of cores, the fastest is taken: compared with every way, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.allocation.allocate import allocate
from evenly.core_counts.fastest_way import FastestWay, fastest_way
from evenly.errors import ExtrapolationWarning, InputError

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
    assert even.counts(9).tolist() == [2, 3, 4, 6, 8, 9]
    with pytest.raises(InputError, match="no threads of 2, 3 makes 5 cores"):
        even.predict({"ranks * threads": [5]})
    with pytest.raises(InputError, match="one parameter is decided with the cores"):
        fastest_way(model, "ranks * threads", {"threads": 2})


#: Threads scale worse than ranks, and 8 ranks are the most that were measured.
MEASURED = pd.DataFrame(itertools.product((1, 2, 4, 8), THREADS), columns=["ranks", "threads"])


def of(measured: pd.DataFrame) -> FastestWay:
    rows = measured.assign(seconds=100 / (measured["ranks"] * measured["threads"] ** 0.7))
    model = evenly.fit(evenly.Runs.from_frame(rows, ["ranks", "threads"]), method="power-law")
    return fastest_way(model, "ranks * threads", {"threads": THREADS}, measured)


def test_a_way_that_was_measured_there_is_taken_before_one_that_was_not() -> None:
    solver = of(MEASURED)
    ways = [tuple(solver.way(cores).values()) for cores in (8, 12, 16, 32)]
    assert ways == [(8, 1), (6, 2), (8, 2), (8, 4)]
    assert solver.way(31) == {"ranks": 31, "threads": 1}  # nothing else makes 31
    assert solver.extrapolates({"ranks * threads": [8, 31, 32, 36]}).tolist() == [False, True, False, True]
    assert solver.measured_counts(40).tolist() == [*range(1, 9), 10, 12, 14, 16, 20, 24, 28, 32, 36, 40]


def test_the_range_of_a_way_is_that_of_its_own_runs() -> None:
    # Full nodes of 8 and 16 cores: 16 ranks were measured with one thread only.
    solver = of(MEASURED[(MEASURED["ranks"] * MEASURED["threads"]).isin([4, 8])])
    assert solver.ranges.tolist() == [[4, 8], [4, 8], [4, 8]]
    assert solver.extrapolates({"ranks * threads": [2, 4, 8, 16]}).tolist() == [True, False, False, True]
    low, high = solver.space_of(8).parameters["ranks * threads"].values()[[0, -1]]  # type: ignore[index]
    assert (low, high) == (4, 8)


def test_a_plan_stays_inside_what_was_measured_or_says_that_it_does_not() -> None:
    solver = of(MEASURED)
    inside = allocate({"fluid": solver}, cores=32)
    assert (inside.ways, inside.extrapolated) == ({"fluid": {"ranks": 8, "threads": 4}}, ())
    told = r"'fluid' is extrapolated \(ranks \* threads = 40, learned on 4 … 32 with threads = 4\)"
    with pytest.warns(ExtrapolationWarning, match=told):
        beyond = allocate({"fluid": solver}, cores=40)
    assert beyond.ways == {"fluid": {"ranks": 10, "threads": 4}}
    with pytest.warns(ExtrapolationWarning, match=r"ranks \* threads = 31, learned on 1 … 8 with threads = 1"):
        allocate({"fluid": solver}, cores=32, limits={"fluid": {"allowed": [31]}})
    with pytest.warns(ExtrapolationWarning, match="with threads = 1"):  # no other count keeps to the limits
        allocate({"fluid": solver}, cores=40, limits={"fluid": {"minimum": 33, "maximum": 35}})
