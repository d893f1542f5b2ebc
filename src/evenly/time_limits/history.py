"""Jobs of a table whose length is known, or known to be longer than their limit, in the order of their submission."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.readers.jobs.job_reader import WANTED
from evenly.readers.jobs.jobs import Jobs

__all__ = ["GROUPS", "History", "in_order"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: If the order of no more than this share of the jobs is unknown, these are left out.
_FEW = 0.1
#: From the widest group of jobs that are alike to the narrowest.
GROUPS = ((), ("user",), ("user", "name"), ("user", "name", "cores"))


@dataclass(frozen=True)
class History:
    """What a replay knows of each job; all arrays have the shape (n,), and the jobs are in the order of submission.

    Parameters
    ----------
    submit, end : array
        Seconds since 1970.
    seconds : array
        What each job took until it ended or was stopped.
    stopped : array of bool
        Whether it was stopped at its limit.
    limits : array
        The time limits that were asked for, in seconds; NaN where unknown.
    cores : array
        How many cores each had; 1 throughout if no job says so.
    groups : array (4, n)
        The number of each job's group, for each of `GROUPS`; -1 where its user or name isn't known.
    by_end : array
        The jobs in the order in which they ended.
    """

    submit: Floats
    end: Floats
    seconds: Floats
    stopped: NDArray[np.bool_]
    limits: Floats
    cores: Floats
    groups: Ints
    by_end: Ints
    has_cores: bool

    @classmethod
    def of(cls, jobs: Jobs) -> History:
        """Return the history of those jobs that are done or were stopped.

        Raises
        ------
        InputError
            If there are none, or if it isn't known when they were submitted and ended.
        """
        jobs = in_order(jobs)
        table = jobs.table
        seconds, end, submit = jobs.number("elapsed_s"), *_ends(table)
        cores = table["cores"].to_numpy(dtype=np.float64)
        codes = np.stack([_codes(table, names) for names in GROUPS])
        return cls(
            submit=submit,
            end=end,
            seconds=seconds,
            stopped=jobs.stopped,
            limits=table["limit_s"].where(np.isfinite(table["limit_s"])).to_numpy(dtype=np.float64),
            cores=np.where(np.isnan(cores), 1.0, cores),
            groups=codes,
            by_end=np.argsort(end, kind="stable"),
            has_cores=bool(np.isfinite(cores).all()),
        )

    def __len__(self) -> int:
        return len(self.seconds)


def in_order(jobs: Jobs) -> Jobs:
    """Return the jobs that are done or were stopped, in the order of submission; those of unknown times are left out.

    Raises
    ------
    InputError
        If there are none, or if of many it isn't known when they were submitted and ended.
    """
    use = jobs.done | jobs.stopped
    if not use.any():
        raise InputError(f"no job came to its end or was stopped at its limit (there are: {jobs.left_out()})")
    table = jobs.table[use]
    ends = _ends(table)
    unknown = np.asarray(np.isnan(ends).any(axis=0), dtype=np.bool_)
    if unknown.mean() > _FEW:
        raise InputError(
            f"of {int(unknown.sum())} jobs it isn't known when they were submitted and ended, so that nothing can "
            f"be replayed in order: {WANTED} prints it; a table of your own, with submissions and how long jobs took, "
            "is read with --format table"
        )
    count = int(unknown.sum())
    lost = [f"{count} jobs left out: it isn't known when they were submitted and ended"] if count else []
    order = np.argsort(ends[1], kind="stable")
    return Jobs(table.iloc[order[~unknown[order]]].reset_index(drop=True), (*jobs.notes, *lost))


def _ends(table: pd.DataFrame) -> Floats:
    """Return when jobs ended and when they were submitted, shape (2, n)."""
    seconds, start, end, submit = (
        table[name].to_numpy(dtype=np.float64) for name in ("elapsed_s", "start", "end", "submit")
    )
    end = np.where(np.isnan(end), start + seconds, end)
    return np.stack([end, np.where(np.isnan(submit), np.where(np.isnan(start), end - seconds, start), submit)])


def _codes(table: pd.DataFrame, names: tuple[str, ...]) -> Ints:
    if not names:
        return np.zeros(len(table), dtype=np.int64)
    codes = np.zeros(len(table), dtype=np.int64)
    known = np.ones(len(table), dtype=np.bool_)
    for name in names:
        codes = pd.factorize(codes)[0] * (len(table) + 1) + pd.factorize(table[name])[0] + 1
        there = (table[name].notna() & (table[name] != "")).to_numpy(dtype=np.bool_)
        known &= there | (name == "user" and not there.any())  # a table that tells no users is one person's
    return np.where(known, pd.factorize(codes)[0], -1)
