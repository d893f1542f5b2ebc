"""The time limit to ask for with the next job of a user, from what earlier jobs took."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenly.errors import InputError, did_you_mean
from evenly.readers.jobs.jobs import Jobs
from evenly.time_limits.history import History
from evenly.time_limits.kernels import MOST
from evenly.time_limits.replay import proposed

__all__ = ["Advice", "next_limit"]

#: With so many earlier jobs of the same kind and cores, a limit is never below their own quantile.
_ENOUGH = 10


@dataclass(frozen=True)
class Advice:
    """A time limit for a job that isn't submitted yet.

    Parameters
    ----------
    seconds : float
        The limit, in whole minutes.
    kill : float
        Probability that the job takes longer.
    earlier, stopped : int
        How many earlier jobs of the user, and of the name if one is given, it is learned from; how many of these were
        stopped at their limit.
    is_longest : bool
        Whether it is the longest limit that anybody asked for: more isn't proposed, although it may be needed.
    """

    seconds: float
    kill: float
    earlier: int
    stopped: int
    is_longest: bool


def next_limit(
    jobs: Jobs, *, user: str, name: str | None = None, cores: float | None = None, kill: float = 0.05
) -> Advice:
    """Propose a time limit for a user's next job.

    Parameters
    ----------
    jobs : Jobs
        Jobs of this user and others.
    user, name : str
        The user, and the job's name if it has had jobs before.
    cores : float, optional
        Its cores; those of the user's last job by default.
    kill : float
        Probability with which the job may be killed.

    Raises
    ------
    InputError
        If the user, or the name, has no job that ended.

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
    use = jobs.done | jobs.stopped
    alike = use & _equal(jobs, "user", user, use)
    if name is not None:
        alike &= _equal(jobs, "name", name, alike)
        if not alike.any():
            raise InputError(f"no job of {user!r} is called {name!r}: give another --name, or none")
    history = History.of(jobs)
    ours = _sorted(jobs, alike, use)
    known = history.cores[ours][-1] if cores is None else cores
    coming = _with_one_more(history, int(np.flatnonzero(ours)[-1]), name is not None, float(known))
    found = proposed(coming, kill)[0, -1]
    same = history.seconds[ours & (history.cores == known)]
    if len(same) >= _ENOUGH:  # the level was corrected for the past of all jobs; these would be killed more often
        found = max(found, float(np.quantile(same, 1 - kill, method="higher")))
    longest = np.nanmax(np.append(history.limits, history.seconds))
    count = min(int(alike.sum()), MOST)
    return Advice(
        seconds=float(np.ceil(found / 60 - 1e-9) * 60),
        kill=kill,
        earlier=count,
        stopped=int(history.stopped[ours][-count:].sum()),
        is_longest=bool(found >= longest),
    )


def _equal(jobs: Jobs, column: str, value: str, among: np.ndarray) -> np.ndarray:
    known = [str(one) for one in jobs.table[column][among].unique() if one]
    if value not in known:
        listed = f": there are {', '.join(sorted(known)[:10])}{' …' if len(known) > 10 else ''}" if known else ""
        raise InputError(f"no job that ended has the {column} {value!r}{did_you_mean(value, known) or listed}")
    return np.asarray(jobs.table[column] == value, dtype=np.bool_)


def _sorted(jobs: Jobs, mask: np.ndarray, use: np.ndarray) -> np.ndarray:
    table = jobs.table[use]
    submit = table["submit"].fillna(table["start"]).fillna(table["end"] - table["elapsed_s"])
    return np.asarray(mask[use][np.argsort(submit.to_numpy(), kind="stable")], dtype=np.bool_)


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
