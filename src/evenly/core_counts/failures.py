"""Counts of cores on which every measured run failed: no model knows of this, since failed runs have no time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from evenly.runs.cores import Cores
from evenly.runs.runs import Runs

__all__ = ["failed_counts", "told_failed", "without"]


def failed_counts(asked: pd.DataFrame, what: Cores, measured: Runs | None) -> dict[int, set[int]]:
    """Return the counts on which every run with the same other parameters failed, and on which counts these runs were.

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
    {8: {8}, 16: {8}}
    """
    if measured is None or not len(measured.failed):
        return {}
    table = measured.to_frame()
    cores = what.of(table, len(table))
    alike = np.isfinite(cores)
    for name in measured.parameters:
        if name not in what.names and name in asked:
            alike &= (table[name] == asked[name].iloc[0]).to_numpy()
    went = (table["status"] == "ok").to_numpy() | (measured.bounds > 0)
    fine, failed = (set(map(int, cores[alike & mask])) for mask in (went, ~went))
    known = sorted(fine | failed)

    def near(count: int) -> set[int]:
        if count in known:
            return {count}
        return {*[n for n in known if n < count][-1:], *[n for n in known if n > count][:1]}

    counts = [int(count) for count in np.unique(asked["cores"])]
    return {count: around for count in counts if (around := near(count)) and not around & fine}


def without(curve: pd.DataFrame, failed: Collection[int]) -> pd.DataFrame:
    """Return the rows of a curve on other ``cores`` than these; all rows where there are no others."""
    left = curve[~curve["cores"].isin(failed)].reset_index(drop=True)
    return left if len(left) else curve


def told_failed(failed: Mapping[int, set[int]], chosen: int) -> str:
    """Say on which counts every run failed, and which counts aren't recommended therefore; "" if there are none.

    Examples
    --------
    >>> told_failed({8: {8}}, 4)
    'on 8 cores, every run with these values failed: they are not recommended'
    >>> told_failed({16: {16}, 24: {16}}, 12)
    'on 16 cores, every run with these values failed: 16, 24 cores are not recommended; no run near them ended well'
    """
    if not failed:
        return ""
    measured = sorted(set().union(*failed.values()))
    then = "they are not recommended"
    if chosen in failed:
        then = "no other number was asked about"
    elif measured != sorted(failed):
        then = f"{_listed(sorted(failed))} cores are not recommended; no run near them ended well"
    return f"on {_listed(measured)} cores, every run with these values failed: {then}"


def _listed(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts)) if len(counts) <= 8 else f"{counts[0]} … {counts[-1]}"
