"""Computing times of the ranks of a cut cell, measured on real MPI ranks that run side by side.

The times are CPU times, which leave out waiting for others, so there may be more ranks than cores. Unlike
`evenly.decomposition.forecasting.lone_rank_timing`, they include the effects of ranks on each other: shared caches and
shared memory bandwidth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenly.decomposition.calibration.fdtd_runs import ReferenceWork
from evenly.decomposition.forecasting.lone_rank_timing import ComputingTimes
from evenly.errors import RunFailed
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["time_together"]

#: Timed steps of a run, enough to include work that isn't done in every step, and warm-up steps before them.
STEPS, WARM_UP = 48, 3


def time_together(
    structure: str,
    parameters: Mapping[str, Any],
    layout: BinaryPartition,
    ranks: int,
    *,
    rounds: int = 1,
    timeout_s: float | None = None,
) -> ComputingTimes:
    """Run a cut structure on real MPI ranks and return the computing time of each rank.

    Parameters
    ----------
    structure : str
        One of `evenly.fdtd.structures`.
    parameters : mapping
        Parameters of the structure.
    layout : BinaryPartition
    ranks : int
    rounds : int
        Number of runs; the median counts.
    timeout_s : float, optional
        Most seconds of a run.

    Returns
    -------
    ComputingTimes
        CPU seconds per step of every rank.

    Raises
    ------
    RunFailed
        If a run fails or doesn't end in time.
    """
    from evenly.fdtd.scaling.runs import run_once

    pace, paces, found = ReferenceWork(), [], []
    task: dict[str, Any] = {
        "program": structure, "parameters": dict(parameters), "options": {}, "steps": STEPS, "warm_up": WARM_UP,
        "layout": layout.to_list() if ranks > 1 else None,
    }  # fmt: skip
    for repetition in range(rounds):
        paces.append(pace.seconds())
        run = run_once({**task, "repetition": repetition}, ranks, timeout_s=timeout_s)
        if run.status != "ok":
            raise RunFailed(f"{structure} on {ranks} ranks {run.status}: {run.message}")
        found.append([rank.busy("cpu") / run.steps for rank in run.ranks])
        paces.append(pace.seconds())
    return ComputingTimes(np.median(found, axis=0), np.arange(ranks), float(np.median(paces)))
