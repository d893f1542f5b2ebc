"""The time limit to ask for with the next job of a user, from what earlier jobs took."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from evenly.arguments import explained
from evenly.errors import InputError, did_you_mean
from evenly.models.array_types import Floats
from evenly.models.uncertainty.single_runs import quantile
from evenly.readers.jobs.jobs import Jobs, ended_at_limit
from evenly.time_limits.few_jobs import Scatter, upper
from evenly.time_limits.history import History, in_order
from evenly.time_limits.kernels import MOST

__all__ = ["Advice", "next_limit"]

#: A quantile is learned from so many of the latest jobs: so many that this number of them are beyond it.
_BEYOND = 5
#: Fewer jobs don't tell whether their program scatters more widely than the others.
_LEAST = 3
#: Fewest jobs that show a trend, and how sure it must be.
_TREND, _BY_CHANCE = 6, 0.999
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
    others : int
        How many jobs of other names, cores or users tell how widely times scatter: the degrees of freedom. None do
        where the alike jobs are as many as are `needed`.
    at_limit : int
        How many of them came to their end just when their limit did, as a program does that stops itself in time.
    named : bool
        Whether they all have one name, as jobs of one program.
    capped : bool
        Whether a longer limit would be needed than any of them asked for, though none was stopped.
    rising : bool
        Whether their times rise from job to job.
    """

    seconds: float
    kill: float
    whose: str
    earlier: int
    stopped: int
    longest: float
    others: int = 0
    at_limit: int = 0
    named: bool = True
    capped: bool = False
    rising: bool = False

    @property
    def needed(self) -> int:
        """So many jobs it takes to show the probability: the longest of n is as long as one more with n / (n + 1)."""
        return _needed(self.kill)

    @property
    def guess(self) -> bool:
        """Whether too little is known to say that the limit is enough with its probability."""
        known = self.earlier >= _LEAST and self.earlier + self.others >= self.needed and self.named
        return self.capped or self.rising or not (known or self.earlier >= self.needed)


@explained
def next_limit(
    jobs: Jobs, *, user: str | None = None, name: str | None = None, cores: float | None = None, kill: float = 0.05
) -> Advice:
    """Propose a time limit for a user's next job.

    With enough jobs of this user, name and number of cores, 19 for 5 %, it is a quantile of what the latest of these
    took. With fewer, it is that of Student's t, at least the longest of them, and other jobs tell how widely times
    scatter (`evenly.time_limits.few_jobs`).

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
    theirs = _equal(jobs, "user", user, every) if user else np.asarray(jobs.table["user"] == user)
    ours = theirs
    if name is not None:
        ours = theirs & _equal(jobs, "name", name, Jobs(every.table[np.asarray(every.table["user"] == user)]), theirs)
        if not ours.any():
            raise InputError(f"no job of {user or 'this table'!r} is called {name!r}: give another --name, or none")
    history = History.of(jobs)
    whose = f"of {user or 'this table'}" + ("" if name is None else f" called {name}")
    wanted = float(history.cores[ours][-1]) if cores is None else float(cores)
    if cores is not None:
        _check_cores(history, ours, wanted, whose, kill)
    alike = ours & (history.cores == wanted)
    if history.has_cores:
        whose += f" on {wanted:g} core{'' if wanted == 1 else 's'}" + (", as the last one had" if cores is None else "")
    same = np.flatnonzero(alike)
    same = same[-max(MOST, math.ceil(_BEYOND / kill)) :]
    seconds, stopped = history.seconds[same], history.stopped[same]
    names = jobs.table["name"][alike].unique()
    named, others = len(names) == 1 and bool(names[0]), Scatter()
    if len(same) < _needed(kill):
        others = _others(jobs, alike, theirs, [] if name is None else ["name"], kill)
        found = _from_few(seconds, stopped, others, 1 - kill, named=named)
        limits = history.limits[same]
        asked = max(float(limits.max()), float(seconds.max())) if np.isfinite(limits).all() else math.inf
    else:
        middle = float(np.median(seconds))
        found, asked = middle * math.exp(quantile(np.log(seconds / middle), stopped, 1 - kill)), math.inf
    return Advice(
        seconds=float(np.ceil((found if stopped.any() else np.fmin(found, asked)) / 60 - 1e-9) * 60),
        kill=kill,
        whose=whose,
        earlier=len(same),
        stopped=int(stopped.sum()),
        longest=float(seconds.max()),
        others=others.freedom,
        at_limit=int(ended_at_limit(seconds[~stopped], history.limits[same][~stopped]).sum()),
        named=named,
        capped=bool(not stopped.any() and found > asked),
        rising=_rises(np.log(seconds)),
    )


def _rises(logs: Floats) -> bool:
    """Tell whether times rise from job to job, beyond chance: Student's t test of the slope."""
    n = len(logs)
    if n < _TREND or float(np.ptp(logs)) == 0:
        return False
    r = float(np.corrcoef(np.arange(n), logs)[0, 1])
    return r > 0 and r * math.sqrt((n - 2) / max(1 - r * r, 1e-12)) > float(stdtrit(n - 2, _BY_CHANCE))


def _needed(kill: float) -> int:
    """Return how many jobs show a probability: the longest of n is as long as one more with n / (n + 1)."""
    return math.ceil(1 / kill - 1 - 1e-9)


def _from_few(seconds: np.ndarray, stopped: np.ndarray, others: Scatter, probability: float, *, named: bool) -> float:
    """Return what one more job stays below, at least the longest; infinite if that was stopped at its limit."""
    longest = float(seconds[~stopped].max(initial=0.0))
    if (seconds[stopped] >= longest).any():
        return math.inf
    # A job that was stopped took longer than that, and nobody knows by how much: it counts as the longest.
    logs = np.log(np.where(stopped, longest, seconds))
    # Jobs without a name may be tests, and the next one another program's: they scatter at least as others do.
    return math.exp(upper(logs, others, probability, least=0.0 if named else others.variance))


def _others(jobs: Jobs, alike: np.ndarray, theirs: np.ndarray, names: list[str], kill: float) -> Scatter:
    """Return how widely jobs that are less alike scatter: those of the user, of all users where these are few."""
    table = jobs.table
    groups = table.groupby(["user", *names, "cores"], observed=True, dropna=False, sort=False)
    use = jobs.done & ~alike & (groups.cumcount(ascending=False) < MOST).to_numpy()
    logs, numbers = np.log(np.where(use, jobs.number("elapsed_s"), 1.0)), groups.ngroup().to_numpy()
    own = Scatter.of(logs[use & theirs], numbers[use & theirs])
    return own if own.freedom >= _needed(kill) else Scatter.of(logs[use], numbers[use])


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
        if not any(every.table[column]):
            raise InputError(f"the table has no column that tells the {column} of jobs: leave out --{column}")
        listed = f": there are {', '.join(sorted(known)[:10])}{' …' if len(known) > 10 else ''}" if known else ""
        without = "; without --name, all jobs of the user count" if column == "name" else ""
        raise InputError(f"no job that ended has the {column} {value!r}{did_you_mean(value, known) or listed}{without}")
    return np.asarray(jobs.table[column] == value, dtype=np.bool_)
