"""Counts of cores on which every measured run failed: no model knows of this, since failed runs have no time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evenly.runs.cores import Cores
from evenly.runs.runs import Runs

__all__ = ["failed_counts", "told_failed", "without"]


def failed_counts(asked: pd.DataFrame, what: Cores, measured: Runs | None) -> list[int]:
    """Return the counts on which every run with the same other parameters failed, in their order.

    On a count that wasn't measured, the runs on the nearest fewer and the nearest more cores tell. A run that hit its
    limit didn't fail: it tells a time.

    Parameters
    ----------
    asked : DataFrame (n, …)
        Configurations with their ``cores``; the parameters that don't make the cores have one value each.
    what : Cores
        What the cores are.
    measured : Runs or None
        The runs, where they are known.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [1, 2, 8], "seconds": [8.0, 4.0, None], "status": ["ok", "ok", "failed"]})
    >>> asked = pd.DataFrame({"cores": [2, 4, 8, 16]})
    >>> failed_counts(asked, Cores("cores"), Runs.from_frame(table, ["cores"]))
    [8, 16]
    """
    if measured is None or not len(measured.failed):
        return []
    table = measured.to_frame()
    cores = what.of(table, len(table))
    alike = np.isfinite(cores)
    for name in measured.parameters:
        if name not in what.names and name in asked:
            alike &= (table[name] == asked[name].iloc[0]).to_numpy()
    went = (table["status"] == "ok").to_numpy() | (measured.bounds > 0)
    fine, failed = set(cores[alike & went]), set(cores[alike & ~went])
    known = sorted(fine | failed)

    def near(count: int) -> set[float]:
        if count in known:
            return {float(count)}
        return {*[n for n in known if n < count][-1:], *[n for n in known if n > count][:1]}

    counts = [int(count) for count in np.unique(asked["cores"])]
    return [count for count in counts if (around := near(count)) and not around & fine]


def without(curve: pd.DataFrame, failed: Sequence[int]) -> pd.DataFrame:
    """Return the rows of a curve on other ``cores`` than these; all rows where there are no others."""
    left = curve[~curve["cores"].isin(failed)].reset_index(drop=True)
    return left if len(left) else curve


def told_failed(failed: Sequence[int], chosen: int) -> str:
    """Say on which counts every run failed; "" if there are none.

    Examples
    --------
    >>> told_failed([8], 4)
    'on 8 cores, every run that was measured there, or next to it, with these values failed: they are not recommended'
    """
    if not failed:
        return ""
    listed = ", ".join(map(str, failed)) if len(failed) <= 8 else f"{failed[0]} … {failed[-1]}"
    then = "no other number was asked about" if chosen in failed else "they are not recommended"
    return f"on {listed} cores, every run that was measured there, or next to it, with these values failed: {then}"
