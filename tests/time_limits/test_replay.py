"""Replays of time limits: planted truths, and that nothing is learned from what has not ended yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.readers.jobs.job_files import read_jobs
from evenly.readers.jobs.jobs import Jobs
from evenly.report.tables.time_limits import advice_text, limits_table
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


def test_a_table_that_tells_no_users_is_one_persons() -> None:
    """Jobs without a user were of no group, so that all jobs of the table counted alike, whatever their names."""
    rng = np.random.default_rng(1)
    names = rng.choice(["short", "long"], 400)
    took = np.where(names == "short", 600.0, 6000.0) * rng.lognormal(0, 0.1, 400)
    told, untold = (replay(jobs_of(took, [user] * 400, name=list(names))) for user in ("ada", ""))
    assert told.outcomes == untold.outcomes


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
    assert (advice.seconds, advice.longest, advice.stopped) == (np.inf, HOUR, 50)
    assert next_limit(jobs, user="ada", kill=0.6).seconds == 0.5 * HOUR


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
        assert own.name == "evenly, least unused time"
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
    with pytest.raises(InputError, match="no column that tells the name of jobs: leave out --name"):
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


def few(seconds: list[float], state: str = "COMPLETED", **others: object) -> Jobs:
    """Return many jobs of bob, one in ten of which was stopped after a week, and then some of ada."""
    week = 168 * HOUR
    took = np.append(np.where(np.arange(60) % 10 == 0, week, HOUR), seconds)
    states = np.append(np.where(np.arange(60) % 10 == 0, "TIMEOUT", "COMPLETED"), [state] * len(seconds))
    users = ["bob"] * 60 + ["ada"] * len(seconds)
    return jobs_of(took, users, gap=2 * week, **{"state": states, "limit_s": week, **others})


def test_few_jobs_are_not_given_longer_than_any_job_took() -> None:
    """Others' stopped jobs, and the longest limit, say nothing of a user whose own jobs all came to their end."""
    jobs = few([600.0, 660.0, 630.0])
    advice = next_limit(jobs, user="ada")
    assert (advice.earlier, advice.stopped, advice.others > 0) == (3, 0, True)
    assert 660 <= advice.seconds <= HOUR
    assert advice.guess  # no name tells that they are of one program
    assert next_limit(few([600.0], state="TIMEOUT"), user="ada").seconds == np.inf
    # An unlimited job's own time is no limit.
    open_end = jobs_of(np.array([5 * HOUR] * 3), ["ada"] * 3, limit_s=np.nan)
    assert 5 * HOUR <= next_limit(open_end, user="ada").seconds < 10 * HOUR


def test_the_own_jobs_of_the_same_cores_decide_once_they_are_ten() -> None:
    rng = np.random.default_rng(2)
    cores = np.tile([4.0, 32.0], 200)
    took = 4 * HOUR / cores * rng.lognormal(0, 0.3, 400)
    jobs = jobs_of(took, ["ada"] * 400, cores=cores)
    for count in (4, 32):
        same = took[cores == count]
        for kill in (0.05, 0.2):
            advice = next_limit(jobs, user="ada", cores=count, kill=kill)
            latest = same[-max(60, int(np.ceil(5 / kill))) :]
            assert np.mean(latest > advice.seconds) <= kill
            assert advice.seconds < 1.05 * np.quantile(latest, 1 - kill, method="higher") + 60
    with pytest.raises(InputError, match=r"of ada had 4, 32 cores, .*--at cores=100000 --limit 95%"):
        next_limit(jobs, user="ada", cores=100_000)
    for other in (3, 16, 33):  # on 3 cores a job may take longer than any before
        with pytest.raises(InputError, match="don't tell how long a job on"):
            next_limit(jobs, user="ada", cores=other)
    with pytest.raises(InputError, match="cores of some jobs aren't known"):
        next_limit(jobs_of(took, ["ada"] * 400, cores=np.nan), user="ada", cores=4)


def test_a_job_whose_order_is_unknown_does_not_block_the_others() -> None:
    jobs = noisy(100)
    table = jobs.table.copy()
    table.loc[7, ["submit", "start", "end"]] = np.nan
    assert len(History.of(Jobs(table))) == 99
    assert next_limit(Jobs(table), user="ada").seconds > 0
    table.loc[:50, ["submit", "start", "end"]] = np.nan
    with pytest.raises(InputError, match="of 51 jobs it isn't known when"):
        History.of(Jobs(table))


def test_jobs_that_stop_themselves_at_their_limit_are_said() -> None:
    """A program that saves and ends in time has done what it could, and its work takes longer."""
    jobs = jobs_of(np.tile([600.0, 1200.0], 20), ["ada"] * 40, limit_s=1200.0)
    assert next_limit(jobs, user="ada").at_limit == 20
    assert "20 of them ended just at their limit" in advice_text(next_limit(jobs, user="ada"))
    unlimited = jobs_of(np.tile([600.0, 1200.0], 20), ["ada"] * 40, limit_s=np.nan)
    assert next_limit(unlimited, user="ada").at_limit == 0


def test_jobs_that_all_failed_are_no_unknown_ones() -> None:
    jobs = jobs_of(np.full(4, 600.0), ["ada", "ada", "eve", "eve"], name=["a", "b", "c", "c"],
                   state=["COMPLETED", "FAILED", "FAILED", "CANCELLED"])  # fmt: skip
    with pytest.raises(InputError, match="no job whose user is 'eve' can tell how long it takes: 1 FAILED, 1 CANC"):
        next_limit(jobs, user="eve")
    with pytest.raises(InputError, match="no job whose name is 'b' can tell how long it takes: 1 FAILED"):
        next_limit(jobs, user="ada", name="b")
    with pytest.raises(InputError, match="no job that ended has the name 'c': there are a; without --name, all"):
        next_limit(jobs, user="ada", name="c")


def few_jobs(seed: int) -> Jobs:
    """150 jobs of four programs, of which each scatters in its own way."""
    rng = np.random.default_rng(seed)
    usual, spread = np.exp(rng.uniform(6, 10, 4)), rng.uniform(0.03, 0.6, 4)
    program, submit = rng.integers(0, 4, 150), np.cumsum(rng.exponential(4000, 150))
    asked = np.ceil(4 * usual * (1 + 3 * spread) / 3600)[program] * 3600
    took = np.minimum(usual[program] * np.exp(spread[program] * rng.standard_normal(150)), asked)
    return Jobs.of({
        "user": "ada", "name": [f"p{one}" for one in program], "state": "COMPLETED", "submit": submit,
        "elapsed_s": took, "end": submit + took, "limit_s": asked, "cores": 4.0,
    })  # fmt: skip


def test_few_jobs_are_killed_little_more_than_asked_and_it_is_said() -> None:
    """The price of a kill began too low: more than a tenth of the first jobs were killed where 5 % may be."""
    found = [replay(few_jobs(seed), kill=0.05) for seed in range(12)]
    killed = [{one.name: one.killed for one in one.outcomes}["evenly, least unused time"] for one in found]
    assert np.mean(killed) < 0.075
    worst = found[int(np.argmax(killed))]
    assert "evenly killed more than the 5 % that may be" in str(limits_table(worst).caption)
