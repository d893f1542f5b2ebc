"""The time limit to ask for with the next job of a user, from what earlier jobs took."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace

import numpy as np

from evenly.arguments import explained
from evenly.errors import InputError, did_you_mean
from evenly.models.uncertainty.single_runs import ENOUGH, quantile
from evenly.readers.jobs.jobs import Jobs
from evenly.time_limits.history import History, in_order
from evenly.time_limits.kernels import MOST
from evenly.time_limits.replay import proposed

__all__ = ["Advice", "next_limit"]

#: A quantile is learned from so many of the latest jobs: so many that this number of them are beyond it.
_BEYOND = 5
#: So many numbers of cores are named one by one.
_LISTED = 8


@dataclass(frozen=True)
class Advice:
    """A time limit for a job that isn't submitted yet.

    Parameters
    ----------
    seconds : float
        The limit, in whole minutes. Infinite if so many jobs were stopped at their limits that none is known to be
        enough.
    kill : float
        Probability that the job takes longer.
    whose : str
        Which jobs it is learned from: of which user and name, on how many cores.
    earlier, stopped : int
        How many they are, and how many of them were stopped at their limit.
    longest : float
        The longest of them, in seconds, also of those that were stopped.
    from_others : bool
        Whether these are so few that jobs of other names, cores and users decide, too.
    at_limit : int
        How many of them came to their end just when their limit did, as a program does that stops itself in time.
    in_all : int
        How many jobs the limit is learned from, alike or not.
    """

    seconds: float
    kill: float
    whose: str
    earlier: int
    stopped: int
    longest: float
    from_others: bool
    at_limit: int = 0
    in_all: int = 0

    @property
    def needed(self) -> int:
        """So many jobs it takes to show the probability: the longest of n is as long as one more with n / (n + 1)."""
        return math.ceil(1 / self.kill - 1 - 1e-9)


@explained
def next_limit(
    jobs: Jobs, *, user: str | None = None, name: str | None = None, cores: float | None = None, kill: float = 0.05
) -> Advice:
    """Propose a time limit for a user's next job.

    With ten or more jobs of this user, name and number of cores, it is a quantile of what the latest of these took.
    With fewer, other jobs count, too, as in `evenly.time_limits.replay.replay`.

    Parameters
    ----------
    jobs : Jobs
        Jobs of this user and others.
    user : str, optional
        The user; needless if all jobs are of one, or if the table doesn't tell users.
    name : str, optional
        The job's name if it has had jobs before.
    cores : float, optional
        Its cores; those of the user's last job of this name by default.
    kill : float
        Probability with which the job may be killed.

    Raises
    ------
    InputError
        If the user, or the name, has no job that ended, or none on so many cores; if it is open whose job it is.

    Examples
    --------
    >>> took = np.tile([600.0, 1200.0], 20)
    >>> jobs = Jobs.of({"user": "ada", "state": "COMPLETED", "submit": 3600.0 * np.arange(40), "elapsed_s": took,
    ...                 "end": 3600.0 * np.arange(40) + took, "limit_s": 86400.0, "cores": 4.0})
    >>> next_limit(jobs, user="ada").seconds
    1200.0
    """
    if not 0 < kill < 1:
        raise InputError(f"kill must lie between 0 and 1, but got {kill}")
    every, jobs = jobs, in_order(jobs)
    if user is None:
        user = _only_user(every)
    theirs = np.asarray(every.table["user"] == user)
    alike = _equal(jobs, "user", user, every) if user else np.asarray(jobs.table["user"] == user)
    if name is not None:
        alike &= _equal(jobs, "name", name, Jobs(every.table[theirs]), alike)
        if not alike.any():
            raise InputError(f"no job of {user or 'this table'!r} is called {name!r}: give another --name, or none")
    history = History.of(jobs)
    ours = _sorted(jobs, alike)
    whose = f"of {user or 'this table'}" + ("" if name is None else f" called {name}")
    wanted = float(history.cores[ours][-1]) if cores is None else float(cores)
    if cores is not None:
        _check_cores(history, ours, wanted, whose, kill)
    same = np.flatnonzero(ours & (history.cores == wanted))
    if history.has_cores:
        whose += f" on {wanted:g} core{'' if wanted == 1 else 's'}" + (", as the last one had" if cores is None else "")
    same = same[-max(MOST, math.ceil(_BEYOND / kill)) :]
    seconds, stopped = history.seconds[same], history.stopped[same]
    if from_others := len(same) < ENOUGH:
        coming = _with_one_more(history, int(np.flatnonzero(ours)[-1]), name is not None, wanted)
        found = float(proposed(coming, kill)[0, -1])
        if not stopped.any() or np.isfinite(found):
            # Others' requests may say more than any job took. That others' jobs were stopped doesn't count here.
            found = min(found, float(history.seconds[~history.stopped].max(initial=seconds.max(initial=0.0))))
    else:
        middle = float(np.median(seconds))
        found = middle * math.exp(quantile(np.log(seconds / middle), stopped, 1 - kill))
    return Advice(
        seconds=float(np.ceil(found / 60 - 1e-9) * 60),
        kill=kill,
        whose=whose,
        earlier=len(same),
        stopped=int(stopped.sum()),
        longest=float(seconds.max(initial=0.0)),
        from_others=from_others,
        at_limit=int((~stopped & (seconds >= history.limits[same])).sum()),
        in_all=len(same) if not from_others else len(history),
    )


def _only_user(jobs: Jobs) -> str:
    """Return whose all jobs are; an empty text if the table doesn't tell."""
    users = [str(one) for one in jobs.table["user"].unique()]
    if len(users) > 1:
        named = sorted(filter(None, users))
        raise InputError(
            f"the jobs are of {len(users)} users: say whose next job it is with --user, "
            f"as --user {shlex.quote(named[0])}"
        )
    return users[0] if users else ""


def _check_cores(history: History, ours: np.ndarray, wanted: float, whose: str, kill: float) -> None:
    """Refuse a number of cores that no earlier job had: the others say nothing of how much longer a job takes there."""
    if not history.has_cores:
        raise InputError("the cores of some jobs aren't known, so that no limit can be learned for a number of cores")
    had = np.unique(history.cores[ours])
    if wanted in had:
        return
    listed = ", ".join(f"{count:g}" for count in had) if len(had) <= _LISTED else f"{had[0]:g} to {had[-1]:g}"
    raise InputError(
        f"the jobs {whose} had {listed} cores, so they don't tell how long a job on {wanted:g} takes; evenly predict "
        f"JOBS --at cores={wanted:g} --limit {100 * (1 - kill):g}% learns how the time depends on the cores"
    )


def _equal(jobs: Jobs, column: str, value: str, every: Jobs, among: np.ndarray | None = None) -> np.ndarray:
    """Return which of the jobs that ended have a value, those of `among` only; `every` holds the failed ones, too."""
    ended = jobs.table if among is None else jobs.table[among]
    known = [str(one) for one in ended[column].unique() if one]
    if value not in known:
        if (lost := np.asarray(every.table[column] == value)).any():
            what = Jobs(every.table[lost].reset_index(drop=True)).left_out() or "their times aren't known"
            raise InputError(f"no job whose {column} is {value!r} can tell how long it takes: {what}")
        listed = f": there are {', '.join(sorted(known)[:10])}{' …' if len(known) > 10 else ''}" if known else ""
        without = "; without --name, all jobs of the user count" if column == "name" else ""
        raise InputError(f"no job that ended has the {column} {value!r}{did_you_mean(value, known) or listed}{without}")
    return np.asarray(jobs.table[column] == value, dtype=np.bool_)


def _sorted(jobs: Jobs, mask: np.ndarray) -> np.ndarray:
    table = jobs.table
    submit = table["submit"].fillna(table["start"]).fillna(table["end"] - table["elapsed_s"])
    return np.asarray(mask[np.argsort(submit.to_numpy(), kind="stable")], dtype=np.bool_)


def _with_one_more(history: History, like: int, of_same_name: bool, cores: float) -> History:
    """Return the history with a job that is submitted after all have ended, in the groups of the job `like`."""
    groups = np.append(history.groups, history.groups[:, like : like + 1], axis=1)
    of_same_cores = (history.groups[2] == history.groups[2, like]) & (history.cores == cores)
    groups[3, -1] = history.groups[3, of_same_cores][0] if of_same_cores.any() else -1
    if not of_same_name:
        groups[2:, -1] = -1
    return replace(
        history,
        submit=np.append(history.submit, max(history.submit[-1], history.end.max()) + 1),
        end=np.append(history.end, np.inf),
        seconds=np.append(history.seconds, np.nan),
        stopped=np.append(history.stopped, False),
        limits=np.append(history.limits, np.nan),
        cores=np.append(history.cores, cores),
        groups=groups,
        by_end=np.append(history.by_end, len(history)),
    )
