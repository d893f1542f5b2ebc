"""Counts of cores on which every measured run failed: no model knows of this, since failed runs have no time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import pandas as pd

from evenly.runs.cores import Cores
from evenly.runs.outcomes import Outcomes, nearest

__all__ = ["failed_counts", "told_counts", "told_failed", "without"]


def failed_counts(asked: pd.DataFrame, what: Cores, known: Outcomes) -> dict[int, set[int]]:
    """Return the counts on which every run with the same other parameters failed, and on which counts these runs were.

    On a count that wasn't measured, the runs on the nearest fewer and the nearest more cores tell.

    Parameters
    ----------
    asked : DataFrame (n, …)
        Configurations with their ``cores``; the parameters that don't make the cores have one value each.
    what : Cores
        What the cores are.
    known : Outcomes
        Where runs ended well, and where none did.

    Examples
    --------
    >>> from evenly.runs.runs import Runs
    >>> table = pd.DataFrame({"cores": [1, 2, 8], "seconds": [8.0, 4.0, None], "status": ["ok", "ok", "failed"]})
    >>> asked = pd.DataFrame({"cores": [2, 4, 8, 16]})
    >>> failed_counts(asked, Cores("cores"), Outcomes.of(Runs.from_frame(table, ["cores"])))
    {8: {8}, 16: {8}}
    """
    if not known.failed.any():
        return {}
    counts = np.unique(asked["cores"])
    measured = what.of(known.configurations, len(known.configurations))
    at = {str(name): asked[name].iloc[0] for name in asked if name not in what.names}
    failed = known.along(counts, measured, at)
    ran = measured[np.isfinite(measured) & known.alike(at)].astype(np.int64)
    return {int(count): set(nearest(ran.tolist(), int(count))) for count in counts[failed]}


def without(curve: pd.DataFrame, failed: Collection[int]) -> pd.DataFrame:
    """Return the rows of a curve on other ``cores`` than these."""
    return curve[~curve["cores"].isin(failed)].reset_index(drop=True)


def told_failed(failed: Mapping[int, set[int]]) -> str:
    """Say on which counts every run failed, and which counts aren't recommended therefore; "" if there are none.

    Examples
    --------
    >>> told_failed({8: {8}})
    'on 8 cores, every run with these values failed: they are not recommended'
    >>> told_failed({16: {16}, 24: {16}})
    'on 16 cores, every run with these values failed: 16, 24 cores are not recommended; no run near them ended well'
    """
    if not failed:
        return ""
    measured = sorted(set().union(*failed.values()))
    then = "they are not recommended"
    if measured != sorted(failed):
        then = f"{told_counts(failed)} cores are not recommended; no run near them ended well"
    return f"on {told_counts(measured)} cores, every run with these values failed: {then}"


def told_counts(failed: Iterable[int]) -> str:
    """Return counts in words; of many, the ends."""
    counts = sorted(failed)
    return ", ".join(map(str, counts)) if len(counts) <= 8 else f"{counts[0]} … {counts[-1]}"
