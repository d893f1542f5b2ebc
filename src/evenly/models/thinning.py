"""Of a long table, the configurations that models learn from.

The error of a model falls with the number of runs until it reaches the noise, and the time to learn grows at least as
fast as this number. Most methods gain little beyond some ten thousand configurations, and Gaussian processes take
hours. So a model learns from a sample of them: all runs of each, so that repetitions are averaged as ever.

The sample is random, but holds the ends of each parameter's range, since predictions beyond what was learned from are
extrapolations, and some configurations of each label. It depends on the table alone: the same runs give the same model.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evenly.models.array_types import Ints
from evenly.runs.columns import group_ids
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical
from evenly.space.space import Space

__all__ = ["MOST_CONFIGURATIONS", "thinned"]

#: Models learn from at most so many configurations.
MOST_CONFIGURATIONS = 16_384
#: So many configurations of each label are kept, as long as these are few altogether.
_OF_EACH_LABEL, _SHARE_OF_LABELS = 32, 0.25


def thinned(runs: Runs, most: int = MOST_CONFIGURATIONS) -> Runs:
    """Return the runs of at most so many configurations; the same runs if there aren't more.

    Runs that failed stay, since models only count them.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": range(1, 1001), "seconds": 1.0})
    >>> thinned(Runs.from_frame(table, ["cores"]), 50)
    Runs(50 rows, 50 configurations of cores; seconds 1 to 1 s)
    """
    tells = np.flatnonzero(np.isfinite(runs.values) | np.isfinite(runs.bounds))
    if len(tells) <= most:
        return runs
    table = runs.configurations.iloc[tells]
    groups = group_ids(table, runs.parameters).to_numpy()
    distinct = table.iloc[np.unique(groups, return_index=True)[1]]
    if len(distinct) <= most:
        return runs
    order = np.random.default_rng(0).permutation(len(distinct))
    chosen = pd.unique(np.concatenate([_needed(runs.space, distinct, order, most), order]))[:most]
    mask = np.ones(len(runs), dtype=np.bool_)
    mask[tells] = np.isin(groups, chosen)
    return runs.where(mask)


def _needed(space: Space, distinct: pd.DataFrame, order: Ints, most: int) -> Ints:
    """Return configurations at the ends of ranges, and some of each label: the first in an order, (n,)."""
    found = [np.empty(0, dtype=np.int64)]
    for name, kind in space.parameters.items():
        if isinstance(kind, Categorical):
            labels = group_ids(distinct, [name]).iloc[order]
            each = min(_OF_EACH_LABEL, int(_SHARE_OF_LABELS * most / (labels.max() + 1)))
            found.append(order[labels.groupby(labels).cumcount().to_numpy() < each])
        else:
            values = distinct[name].to_numpy(dtype=np.float64)
            found.append(np.array([values.argmin(), values.argmax()]))
    return np.concatenate(found)
