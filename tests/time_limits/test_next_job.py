"""The next job's limit is enough as often as it says: planted tables, with few jobs that are alike and many others."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from evenly.readers.jobs.jobs import Jobs
from evenly.report.tables.time_limits import advice_as_dict, advice_text
from evenly.time_limits.few_jobs import Scatter, upper
from evenly.time_limits.next_job import Advice, next_limit

HOUR = 3600.0
#: The planted scatter of logarithms.
SCATTER = 0.1


def usual(cores: np.ndarray) -> np.ndarray:
    return 360000 / cores**0.9


def table(alike: int, others: tuple[float, ...], seed: int, *, users: bool = True, **columns: object) -> Jobs:
    """Return some jobs on 16 cores and 60 on other numbers of cores, all called lbm, in any order."""
    rng = np.random.default_rng(seed)
    cores = rng.permutation(np.append(np.full(alike, 16.0), rng.choice(others, 60) if others else []))
    took = usual(cores) * rng.lognormal(0, SCATTER, len(cores))
    submit = 100 * HOUR * np.arange(len(cores))
    given = {"name": "lbm", "state": "COMPLETED", "submit": submit, "elapsed_s": took, "end": submit + took,
             "limit_s": 200 * HOUR, "cores": cores}  # fmt: skip
    return Jobs.of({**({"user": "ada"} if users else {}), **given, **columns})


def table_of(took: np.ndarray, **columns: object) -> Jobs:
    """Return jobs of one program that began each hour."""
    began = 86400.0 * np.arange(len(took))
    return Jobs.of({
        "user": "ada", "name": "solve", "state": "COMPLETED", "submit": began, "elapsed_s": took, "end": began + took,
        "cores": 4.0, **columns,
    })  # fmt: skip


def enough(advice: Advice) -> float:
    """Return the probability that the next job on 16 cores ends in time."""
    return NormalDist().cdf(math.log(advice.seconds / float(usual(np.array(16.0)))) / SCATTER)


@pytest.mark.parametrize("users", [True, False])
@pytest.mark.parametrize("others", [(32.0, 64.0), (4.0, 8.0)])
@pytest.mark.parametrize("alike", [2, 4, 8, 12, 16, 40])
def test_a_limit_is_enough_as_often_as_it_says(alike: int, others: tuple[float, ...], users: bool) -> None:
    """Faster jobs on more cores cut limits in half where no column told users, and slower ones made them five-fold."""
    found = [
        next_limit(table(alike, others, seed, users=users), user="ada" if users else None, name="lbm", cores=16)
        for seed in range(20)
    ]
    assert all(one.guess == (alike < 3) for one in found)
    # Each of 20 deviates from 0.95 by no more than 0.05 as its standard deviation: 2 x 0.05 / sqrt(20) below.
    assert np.mean([enough(one) for one in found]) > 0.95 - 0.022
    assert all(one.seconds >= one.longest for one in found if one.earlier < one.needed)
    best = float(usual(np.array(16.0))) * math.exp(1.645 * SCATTER)
    assert np.median([one.seconds for one in found]) < 1.25 * best


def test_few_jobs_alone_are_a_guess_that_is_wide_enough() -> None:
    for alike in (1, 2, 4, 12):
        found = [next_limit(table(alike, (), seed), user="ada", name="lbm", cores=16) for seed in range(20)]
        assert all(one.guess for one in found)
        assert np.mean([enough(one) for one in found]) > 0.95 - 0.022
        assert "a guess: " in advice_text(found[0])
        assert advice_as_dict(found[0])["guess"]


def test_two_jobs_are_a_guess_even_beside_many_others() -> None:
    for alike, word in ((1, "1 job"), (2, "2 jobs")):
        advice = next_limit(table(alike, (32.0,), 0), user="ada", name="lbm", cores=16)
        assert advice.others >= 19
        assert f"a guess: {word} can't show that it is enough" in advice_text(advice)


def test_jobs_of_several_names_are_a_guess_until_they_are_enough() -> None:
    rng = np.random.default_rng(0)
    for alike, guess in ((12, True), (40, False)):
        names = rng.choice(["lbm", "mesh"], alike + 60)
        advice = next_limit(table(alike, (32.0,), 1, name=list(names)), user="ada", cores=16)
        assert advice.guess == guess
        assert ("12 jobs of no name or several can't show" in advice_text(advice)) == guess


def test_no_limit_is_beyond_what_was_asked_for_and_that_is_said() -> None:
    """Jobs that took from a minute to an hour might take a day, though nobody asked for that."""
    took = np.array([60.0, 3500.0, 300.0, 2000.0])
    submit = 10 * HOUR * np.arange(4)
    jobs = Jobs.of({"user": "ada", "name": "lbm", "state": "COMPLETED", "submit": submit, "elapsed_s": took,
                    "end": submit + took, "limit_s": 2 * HOUR, "cores": 4.0})  # fmt: skip
    advice = next_limit(jobs, user="ada", name="lbm")
    assert (advice.seconds, advice.capped, advice.guess) == (2 * HOUR, True, True)
    assert "a guess: none of them asked for more" in advice_text(advice)


def test_wide_scatter_of_the_own_jobs_is_not_hidden_by_that_of_others() -> None:
    own, others = np.log([600.0, 1500.0, 900.0, 2400.0]), Scatter(0.03**2, 60)
    alone = upper(own, Scatter(0.03**2, 0), 0.95)
    assert upper(own, others, 0.95) >= alone > own.max()


def test_scatter_is_that_around_the_mean_of_each_group() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 10)
    found = Scatter.of(10.0 * groups + 0.3 * rng.standard_normal(500), groups)
    assert found.freedom == 450
    # The relative standard deviation of a variance is sqrt(2 / 450), three times.
    assert abs(found.variance / 0.09 - 1) < 3 * math.sqrt(2 / 450)
    assert Scatter.of(np.array([]), np.array([], dtype=np.int64)) == Scatter()


@pytest.mark.parametrize("limit", [np.nan, np.inf])
def test_jobs_that_asked_for_no_limit_cut_none(limit: float) -> None:
    took = np.array([600.0, 640, 590, 655, 610, 620])
    asked, free = (next_limit(table_of(took, limit_s=value), name="solve") for value in (7200.0, limit))
    assert free.seconds == asked.seconds > 660
    assert not free.capped


@pytest.mark.parametrize("count", [8, 20, 60])
def test_rising_times_make_a_limit_a_guess(count: int) -> None:
    rng = np.random.default_rng(count)
    rising = 600 * 1.02 ** np.arange(count) * np.exp(0.02 * rng.normal(size=count))
    advice = next_limit(table_of(rising, limit_s=86400.0), name="solve")
    assert advice.guess
    assert "their times rise from job to job" in advice_text(advice)
    assert not next_limit(table_of(rng.permutation(rising), limit_s=86400.0), name="solve").rising


def test_a_program_that_stops_shortly_before_its_limit_is_said() -> None:
    took = 3600 - np.random.default_rng(1).uniform(20, 90, 30)
    assert next_limit(table_of(took, limit_s=3600.0), name="solve").at_limit == 30
    assert next_limit(table_of(took / 2, limit_s=3600.0), name="solve").at_limit == 0
