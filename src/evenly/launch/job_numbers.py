"""The numbers of schedulers' jobs: that of the job in which this process runs, and how they are written."""

from __future__ import annotations

import os

__all__ = ["job_number", "plain"]

#: Where schedulers tell a job its number. Jobs of one inherit that of another in whose allocation they run.
_JOB_IDS = {
    "slurm": ("SLURM_JOB_ID",),
    "pbs": ("PBS_JOBID",),
    "lsf": ("LSB_JOBID",),
    "flux": ("FLUX_ENCLOSING_ID", "FLUX_JOB_ID"),
}


def job_number(launcher: str = "") -> str:
    """Return the number of the job that this process runs in, as the scheduler's commands write it; "" if in none.

    Parameters
    ----------
    launcher : str
        Whose job it is; any scheduler's without it.
    """
    names = _JOB_IDS.get(launcher, tuple(name for names in _JOB_IDS.values() for name in names))
    return plain(next((os.environ[name] for name in names if os.environ.get(name)), ""))


def plain(number: str) -> str:
    """Return a job's number in ASCII: Flux writes ƒ where the terminal can show it.

    Examples
    --------
    >>> plain("ƒ3ETxsR9H"), plain("77")
    ('f3ETxsR9H', '77')
    """
    return number.replace("ƒ", "f")
