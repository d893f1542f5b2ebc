"""How long the runs of a study take at most, learned from its runs so far: for time limits of its jobs.

A Gaussian process is learned; outside what was measured, nothing is said, so that no job is cut by an extrapolation.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenly.campaign.limits import Times
from evenly.errors import EvenlyError, EvenlyWarning
from evenly.models.fitting import fit
from evenly.runs.runs import Runs
from evenly.space.space import Space

__all__ = ["learn_times"]

#: Fewest configurations from which times are learned.
_LEAST = 6
#: A run is below the upper bound with a probability of (1 + level) / 2.
_LEVEL = 0.95


def learn_times(table: pd.DataFrame, space: Space) -> Times | None:
    """Learn how long runs take; None if there are fewer than six configurations that went well, or none can be learned.

    Parameters
    ----------
    table : DataFrame (n_runs, n_parameters + 2)
        Parameters, the wall ``seconds`` of each run, and its ``status``; runs that timed out took longer.
    space : Space

    Returns
    -------
    callable or None
        Takes configurations, and returns for each the expected seconds and the upper bound of the 95 % interval; None
        for one outside what was measured.

    Examples
    --------
    >>> from evenly import Integer
    >>> n = [1, 2, 3, 4, 6, 8]
    >>> table = pd.DataFrame({"n": n, "seconds": [10.0 * x for x in n], "status": "ok"})
    >>> times = learn_times(table, Space(n=Integer(1, 100)))
    >>> expected, upper = times([{"n": 5}])[0]
    >>> 45 < expected < 55, upper > expected, times([{"n": 90}])
    (True, True, [None])
    """
    names = space.names
    if table.empty or len(table.loc[table["status"] == "ok", names].drop_duplicates()) < _LEAST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenlyWarning)
        try:
            model = fit(Runs.from_frame(table, names, space=space), method="gp", outliers="keep")
        except EvenlyError:
            return None

    def times(configurations: Sequence[Mapping[str, Any]]) -> list[tuple[float, float] | None]:
        asked = pd.DataFrame([{name: one[name] for name in names} for one in configurations], columns=names)
        if asked.empty:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenlyWarning)
            beyond = model.extrapolates(asked)
            expected, (_, upper) = model.predict(asked), model.interval(asked, _LEVEL)
        known = ~beyond & np.isfinite(upper)
        return [(float(e), float(u)) if k else None for e, u, k in zip(expected, upper, known, strict=True)]

    return times
