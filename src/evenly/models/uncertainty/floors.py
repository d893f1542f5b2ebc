"""Configurations of which every run was stopped at its limit: the time there is longer, whatever a model predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats

__all__ = ["floors_at", "floors_of"]

#: So many runs are no chance: were the median shorter, one in 16 would still all last longer.
_ENOUGH = 4


def floors_of(evidence: pd.DataFrame, parameters: Sequence[str], response: str) -> dict[str, Any]:
    """Return the configurations of which several runs are known, and a bound alone, with this bound; {} without any.

    Parameters
    ----------
    evidence : DataFrame (n_configurations, …)
        From `evenly.Runs.evidence`.
    parameters : sequence of str
    response : str

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [8, 16], "seconds": [14400.0, 9600.0], "count": [29, 31],
    ...                       "censored": [True, False]})
    >>> floors_of(table, ["cores"], "seconds")
    {'configurations': {'cores': [8]}, 'bounds': [14400.0]}
    """
    rows = evidence[evidence["censored"] & (evidence["count"] >= _ENOUGH)]
    if not len(rows):
        return {}
    return {"configurations": {name: rows[name].tolist() for name in parameters}, "bounds": rows[response].tolist()}


def floors_at(floors: Mapping[str, Any], table: pd.DataFrame) -> Floats:
    """Return the bound of each configuration of a table (n, d), shape (n,); 0 where there is none.

    Examples
    --------
    >>> floors_at({"configurations": {"cores": [8]}, "bounds": [14400.0]}, pd.DataFrame({"cores": [8, 16]}))
    array([14400.,     0.])
    """
    found = np.zeros(len(table))
    for place, bound in enumerate(floors.get("bounds", ())):
        here = np.ones(len(table), dtype=np.bool_)
        for name in table.columns:
            value = floors["configurations"][name][place]
            column = table[name] if isinstance(value, int | float) else table[name].astype(str)
            here &= np.asarray(column == (value if isinstance(value, int | float) else str(value)))
        found[here] = np.maximum(found[here], bound)
    return found
