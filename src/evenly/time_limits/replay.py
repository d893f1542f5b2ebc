"""Time limits that would have been asked for, job after job: what each way of choosing them would have cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.readers.jobs.jobs import Jobs
from evenly.time_limits.history import History

__all__ = ["Outcome", "Replay", "proposed", "replay"]

Floats = NDArray[np.float64]
_MINUTE = 60.0
#: Least and largest factor that is tried on what others propose, and how often the range is halved.
_FACTORS, _HALVINGS = (1e-4, 1e5), 60


@dataclass(frozen=True)
class Outcome:
    """What one way of choosing time limits would have cost.

    Parameters
    ----------
    name : str
        The way.
    killed : float
        Share of the jobs that came to their end which these limits would have killed.
    unused : float
        Core-hours that were asked for and not used by the jobs that were not killed.
    lost : float
        Core-hours that the killed jobs would have used in vain.
    overestimate : float
        Limit over what the job took, the geometric mean over the jobs that were not killed.
    """

    name: str
    killed: float
    unused: float
    lost: float
    overestimate: float


@dataclass(frozen=True)
class Replay:
    """The outcomes of several ways on the same jobs.

    Parameters
    ----------
    outcomes : tuple of Outcome
        The first is what users asked for, if that is known; the last two are evenly's.
    kill : float
        The share of jobs that evenly was allowed to kill.
    judged, stopped, unjudged : int
        Jobs that came to their end and are judged by; jobs that were stopped at their limit, which no way could have
        saved by asking for less; jobs that were submitted before any
        other had ended.
    has_cores : bool
        Whether the cores are known; else the hours are those of jobs.
    stopped_hours : float
        Core-hours of the jobs that were stopped at their limit, which are lost as asked.
    notes : tuple of str
        What was assumed.
    """

    outcomes: tuple[Outcome, ...]
    kill: float
    judged: int
    stopped: int
    unjudged: int
    has_cores: bool
    stopped_hours: float = 0.0
    notes: tuple[str, ...] = ()


def replay(jobs: Jobs, *, kill: float = 0.05, judged_from: float = 0.0) -> Replay:
    """Replay jobs in the order of their submission, and propose a time limit for each from those that had ended.

    evenly proposes two limits. One is too short with the same probability `kill` for each job. The other has the least
    expected unused time, where so many jobs may be killed in all: it cuts where much can be saved. Both are at most
    what the user asked for. The others are given a factor, in hindsight, with which they would have killed as many jobs
    as evenly did.

    Parameters
    ----------
    jobs : Jobs
        From `evenly.readers.jobs.job_files.read_jobs`.
    kill : float
        Share of jobs that may be killed, between 0 and 1.
    judged_from : float
        The fraction of the jobs that are replayed before those that are judged.

    Returns
    -------
    Replay

    Raises
    ------
    InputError
        If there are too few jobs, or their order isn't known.

    Examples
    --------
    >>> took = np.tile([600.0, 1200.0], 20)
    >>> jobs = Jobs.of({"user": "ada", "state": "COMPLETED", "submit": 3600.0 * np.arange(40), "elapsed_s": took,
    ...                 "end": 3600.0 * np.arange(40) + took, "limit_s": 86400.0, "cores": 4.0})
    >>> [(one.name, round(one.unused)) for one in replay(jobs).outcomes if "×" not in one.name]
    [('as asked', 3705), ('evenly, same risk each', 17), ('evenly, least unused time', 38)]
    """
    if not 0 < kill < 1:
        raise InputError(f"kill must lie between 0 and 1, but got {kill}")
    history = History.of(jobs)
    last, two = _last(history, 1)
    own = proposed(history, kill)
    asked = history.limits
    known = np.isfinite(own[1])
    judged = ~history.stopped & known & (np.arange(len(history)) >= judged_from * len(history))
    if not judged.any():
        raise InputError(
            "no job came to its end for which a limit could be proposed from earlier jobs: more jobs are needed"
        )
    judge = _Judge(history, judged)
    evenly = [judge("evenly, same risk each", own[0]), judge("evenly, least unused time", own[1])]
    share = max(one.killed for one in evenly)
    others: list[Outcome] = []
    if np.isfinite(asked[judged]).all():
        others += [judge("as asked", asked), judge.scaled("asked", asked, share)]
    for name, limits in (("last job", last), ("mean of last two", two)):
        limits = _either(limits, asked)
        others.append(judge.scaled(name, np.where(np.isnan(limits), np.nanmedian(limits), limits), share))
    return Replay(
        outcomes=(*others, *evenly),
        kill=kill,
        judged=int(judged.sum()),
        stopped=int(history.stopped.sum()),
        unjudged=int((~history.stopped & ~known).sum()),
        has_cores=history.has_cores,
        stopped_hours=float((history.seconds * history.cores)[history.stopped].sum() / 3600),
        notes=jobs.notes,
    )


def proposed(history: History, kill: float) -> Floats:
    """Return evenly's two limits for each job, shape (2, n): of the same risk, and with the least unused time."""
    from evenly.time_limits.kernels import replayed

    limits = history.limits
    longest = np.nanmax(np.append(limits, history.seconds))
    # How long a job that is to be submitted may take isn't bounded by what others asked for.
    bounds = np.where(np.isnan(history.seconds), np.inf, np.where(np.isnan(limits), longest, limits))
    found: Floats = replayed(
        history.by_end, history.submit, history.end, history.groups, int(history.groups.max()) + 1, history.seconds,
        history.stopped, limits, bounds, last_two(history), history.cores, kill,
    )  # fmt: skip
    return found


def last_two(history: History) -> Floats:
    """Return what the last two jobs of each job's user and name took in the mean, of its user where there are none."""
    return _either(_last(history, 2)[1], _last(history, 1)[1])


def _last(history: History, level: int) -> tuple[Floats, Floats]:
    """Return what the last job of each job's group took, and the last two in the mean; NaN for a group's first."""
    from evenly.time_limits.kernels import last_jobs

    groups = history.groups[level]
    found = last_jobs(history.by_end, history.submit, history.end, groups, int(groups.max()) + 1, history.seconds)
    return found[0], found[1]


def _either(values: Floats, otherwise: Floats) -> Floats:
    return np.where(np.isnan(values), otherwise, values)


@dataclass(frozen=True)
class _Judge:
    """Tells what limits would have cost on the judged jobs; limits are whole minutes and at most what was asked for."""

    history: History
    judged: NDArray[np.bool_]

    def __call__(self, name: str, limits: Floats) -> Outcome:
        took, cores = self.history.seconds[self.judged], self.history.cores[self.judged]
        allowed = self._allowed(limits)
        killed = took > allowed
        ratio = allowed[~killed] / took[~killed]
        return Outcome(
            name,
            killed=float(killed.mean()),
            unused=float((cores * (allowed - took))[~killed].sum() / 3600),
            lost=float((cores * allowed)[killed].sum() / 3600),
            overestimate=float(np.exp(np.log(ratio).mean())) if len(ratio) else np.nan,
        )

    def scaled(self, name: str, limits: Floats, share: float) -> Outcome:
        """Return the outcome of the least factor on `limits` that kills at most this share of jobs."""
        took = self.history.seconds[self.judged]
        low, high = np.log(_FACTORS)
        kills: Callable[[float], float] = lambda log: float((took > self._allowed(limits * np.exp(log))).mean())  # noqa: E731
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if kills(middle) > share else (low, middle)
        return self(f"{name} × {np.exp(high):.3g}", limits * np.exp(high))

    def _allowed(self, limits: Floats) -> Floats:
        asked = self.history.limits[self.judged]
        whole = np.ceil(np.maximum(limits[self.judged], 1.0) / _MINUTE - 1e-9) * _MINUTE
        return np.where(np.isnan(asked), whole, np.minimum(whole, asked))
