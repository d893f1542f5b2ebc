"""Ranks of a cut cell on real MPI ranks: what each computes beside the others, with messages that travel.

As many as there are cores take what they take on a node; more share cores, so CPU time counts, in which waiting for
others is left out. Beside `evenly.decomposition.forecasting.lone_rank_timing` it has what ranks do to each other:
caches that the neighbour empties, memory that both want.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenly.decomposition.calibration.fdtd_runs import Pace
from evenly.decomposition.forecasting.lone_rank_timing import Alone
from evenly.errors import RunFailed
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["time_together"]

#: Steps of a run, all that is done only once in a while among them, and steps before.
STEPS, WARM_UP = 48, 3


def time_together(
    structure: str,
    parameters: Mapping[str, Any],
    layout: BinaryPartition,
    ranks: int,
    *,
    rounds: int = 1,
    timeout_s: float | None = None,
) -> Alone:
    """Run a cut structure on real ranks and return what each of them computes.

    Parameters
    ----------
    structure : str
        One of `evenly.fdtd.structures`.
    parameters : mapping
        Of the structure.
    layout : BinaryPartition
    ranks : int
    rounds : int
        How often it is run; medians count.
    timeout_s : float, optional
        When a run is given up.

    Returns
    -------
    Alone
        CPU seconds per step of every rank.

    Raises
    ------
    RunFailed
        If a run doesn't come to its end.
    """
    from evenly.fdtd.scaling.runs import run_once

    pace, paces, found = Pace(), [], []
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
    return Alone(np.median(found, axis=0), np.arange(ranks), float(np.median(paces)))
