"""Runs that were stopped at their limit although others of the same configuration ended long before, as if they hung.

Such a run says "more than an hour" where others took four minutes. As a bound, it would bend the whole law. It is far
above the others as outliers are: at least three times what the longest took that ended, and more than six standard
deviations of repeated runs. It is left out if at least as many runs of its configuration ended. Else nothing tells
which of them are as usual: it is named, and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenly.runs.columns import group_ids
from evenly.runs.runs import Runs

__all__ = ["FACTOR", "MULTIPLE", "without_hung_runs"]

#: Least factor, in logs, and least multiple of the usual deviation, of what is far above others.
FACTOR, MULTIPLE = np.log(3.0), 6.0
#: So many configurations are named.
_NAMED = 5


def without_hung_runs(runs: Runs) -> tuple[Runs, list[str]]:
    """Return the runs without those that seem to have hung, and sentences on them, and on those that are kept.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [64, 128, 128], "seconds": [403.0, 224.0, 3600.0]})
    >>> table["status"] = ["ok", "ok", "timed out"]
    >>> kept, told = without_hung_runs(Runs.from_frame(table, ["cores"]))
    >>> len(kept), told[0].partition(":")[0]
    (2, '1 run was stopped at its limit long after others of the same values had ended, as if it hung')
    """
    table, bounds = runs.configurations.reset_index(drop=True), pd.Series(runs.bounds)
    if bounds.isna().all():
        return runs, []
    ids, seconds = group_ids(table, runs.parameters), pd.Series(runs.values)
    with np.errstate(all="ignore"):
        logs, limits = pd.Series(np.log(seconds)).groupby(ids), pd.Series(np.log(bounds))
    far = limits - ids.map(logs.max()) > max(FACTOR, MULTIPLE * _spread(logs))
    is_usual = ids.map(logs.count()) >= ids.map(far.groupby(ids).sum())
    longest, names = ids.map(seconds.groupby(ids).max()), runs.space.frame(table)

    def listed(rows: pd.Series[bool]) -> list[str]:
        found = np.flatnonzero(rows)
        where = [_words(row) for row in names.iloc[found].to_dict("records")]
        return [
            f"{its}: stopped at {bounds[row]:.4g} s, while the longest that ended took {longest[row]:.4g} s"
            for its, row in zip(where, found, strict=True)
        ]

    told = []
    if left_out := listed(far & is_usual):
        told.append(
            f"{_stopped(left_out)}, as if {'they' if len(left_out) > 1 else 'it'} hung: left out ({_some(left_out)}). "
            f'--outliers keep (outliers="keep") counts {"them" if len(left_out) > 1 else "it"} as longer than that'
        )
    if kept := listed(far & ~is_usual):
        told.append(
            f"{_stopped(kept)}, but fewer ended than were stopped, so all count ({_some(kept)}). Check which are "
            "right, and leave out the others"
        )
    return runs.where(~(far & is_usual).to_numpy()), told


def _spread(logs: Any) -> float:
    """Return the standard deviation of grouped logarithms around the means of their groups; 0 if none is repeated."""
    freedom = (logs.count() - 1).clip(lower=0)
    return float(np.sqrt((logs.var() * freedom).sum() / freedom.sum())) if freedom.sum() else 0.0


def _stopped(rows: Sequence[str]) -> str:
    if len(rows) > 1:
        return f"{len(rows)} runs were stopped at their limit long after others of the same values had ended"
    return "1 run was stopped at its limit long after others of the same values had ended"


def _some(rows: Sequence[str]) -> str:
    named = list(dict.fromkeys(rows))
    return "; ".join(named[:_NAMED]) + (f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else "")


def _words(row: dict[Any, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in row.items())
