"""Replays of time limits: planted truths, and that nothing is learned from what has not ended yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.readers.jobs.job_reader import read_jobs
from evenly.readers.jobs.jobs import Jobs
from evenly.time_limits.history import History
from evenly.time_limits.next_job import next_limit
from evenly.time_limits.replay import proposed, replay

HOUR = 3600.0


def jobs_of(seconds: np.ndarray, users: list[str], gap: float = 2 * HOUR, **others: object) -> Jobs:
    submit = gap * np.arange(len(seconds))
    table = {"user": users, "state": "COMPLETED", "submit": submit, "elapsed_s": seconds, "end": submit + seconds,
             "limit_s": 24 * HOUR, "cores": 4.0}  # fmt: skip
    return Jobs.of({**table, **others})


def noisy(n: int = 4000, seed: int = 0) -> Jobs:
    """Return jobs of two users whose times scatter by 20 % around half an hour and around six hours."""
    rng = np.random.default_rng(seed)
    users = rng.choice(["ada", "bob"], n)
    typical = np.where(users == "ada", 0.5, 6.0) * HOUR
    return jobs_of(typical * rng.lognormal(0, 0.2, n), list(users), gap=8 * HOUR)


@pytest.mark.parametrize("kill", [0.02, 0.05, 0.2])
def test_as_many_are_killed_as_asked(kill: float) -> None:
    found = replay(noisy(), kill=kill)
    # The standard deviation of the share of n independent jobs, four times; adaptation makes it smaller.
    tolerance = 4 * np.sqrt(kill * (1 - kill) / found.judged)
    for one in found.outcomes[-2:]:
        assert abs(one.killed - kill) < tolerance, one


def test_limits_are_those_of_each_user() -> None:
    """The best limits are the 95 % quantiles of both users, 1.39 times what is typical."""
    found = {one.name: one for one in replay(noisy()).outcomes}
    own = found["evenly, same risk each"]
    best = np.exp(0.2 * 1.645)
    assert own.overestimate < 1.15 * best  # the mean ratio of limit to time is that of limit to the typical time
    assert own.unused < min(one.unused for name, one in found.items() if "×" in name)
    assert own.unused < 0.5 * next(one.unused for name, one in found.items() if name.startswith("asked ×"))


def test_only_jobs_that_had_ended_are_known() -> None:
    """Whatever a job takes that has not ended when others are submitted changes no limit of these."""
    jobs = noisy(300)
    other = jobs.table.copy()
    late = 150
    other.loc[late:, "elapsed_s"] = other.loc[late:, "elapsed_s"] * 0.5
    other["end"] = other["submit"] + other["elapsed_s"]
    limits = []
    for table in (jobs.table, other):
        history = History.of(Jobs(table))
        limits.append(proposed(history, 0.05))
    np.testing.assert_array_equal(limits[0][:, : late + 1], limits[1][:, : late + 1])
    assert not np.array_equal(limits[0], limits[1], equal_nan=True)


def test_submission_is_not_the_end() -> None:
    """Jobs that were all submitted before the first ended have nothing to learn from."""
    seconds = np.full(10, HOUR)
    with pytest.raises(InputError, match="no job came to its end for which a limit could be proposed"):
        replay(jobs_of(seconds, ["ada"] * 10, gap=1.0))


def test_stopped_jobs_count_as_longer() -> None:
    seconds = np.tile([0.5 * HOUR, HOUR], 50)
    state = np.tile(["COMPLETED", "TIMEOUT"], 50)
    jobs = jobs_of(seconds, ["ada"] * 100, state=state, limit_s=HOUR)
    found = replay(jobs)
    assert (found.judged, found.stopped, found.unjudged) == (49, 50, 1)
    assert found.outcomes[0].killed == 0
    advice = next_limit(jobs, user="ada")
    assert (advice.seconds, advice.is_longest, advice.stopped) == (HOUR, True, 30)


def test_factors_of_others_kill_no_more_than_evenly() -> None:
    found = replay(noisy(1000))
    share = max(one.killed for one in found.outcomes[-2:])
    assert all(one.killed <= share for one in found.outcomes)
    assert sum(one.killed > 0.6 * share for one in found.outcomes) >= 4


def test_a_real_workload(strangers: Path) -> None:
    """The design was chosen on the first half; both halves are better than what users' last jobs tell."""
    jobs = read_jobs(strangers / "1-slurm" / "swf-hpc2n" / "hpc2n.swf")
    for kill in (0.05, 0.1):
        found = replay(jobs, kill=kill)
        own = found.outcomes[-1]
        assert own.name == "evenly, least unused"
        assert abs(own.killed - kill) < 0.01
        assert own.unused < 0.95 * min(one.unused for one in found.outcomes[:-1])


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="kill must lie between"):
        replay(noisy(10), kill=1.0)
    with pytest.raises(InputError, match=r"no job came to its end or was stopped .*there are: 2 FAILED"):
        replay(Jobs.of({"state": ["FAILED", "FAILED"], "elapsed_s": 5.0}))
    with pytest.raises(InputError, match="when they were submitted and ended"):
        replay(Jobs.of({"state": ["COMPLETED"] * 2, "elapsed_s": 5.0}))
    with pytest.raises(InputError, match=r"has the user 'adda' \(did you mean 'ada'\?\)"):
        next_limit(noisy(10), user="adda")
    with pytest.raises(InputError, match="no job that ended has the name 'wave'"):
        next_limit(noisy(10), user="ada", name="wave")


def test_the_next_job_of_a_user_and_name() -> None:
    jobs = noisy(400)
    names = pd.Series(np.where(np.arange(400) % 2, "long", "short"))
    table = jobs.table.assign(name=names.astype("category"))
    table["elapsed_s"] *= np.where(names == "long", 3.0, 1.0)
    table["end"] = table["submit"] + table["elapsed_s"]
    named = Jobs(table)
    typical = 0.5 * HOUR * np.exp(0.2 * 1.645)
    short, long = (next_limit(named, user="ada", name=name) for name in ("short", "long"))
    # 60 jobs tell a 95 % quantile to about 10 %.
    assert 0.8 * typical < short.seconds < 1.3 * typical + 60
    assert 0.8 * 3 * typical < long.seconds < 1.3 * 3 * typical
    assert short.seconds % 60 == 0
    assert next_limit(named, user="ada", kill=0.3).seconds < next_limit(named, user="ada").seconds
