"""Weak scaling: sizes of the problem that were always enlarged together with the ranks, or with each other.

Such runs tell nothing about more ranks for the same problem, nor about a larger problem on the same ranks.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.runs.count_names import kind_of

__all__ = ["WORKERS", "is_per_worker", "off_the_line", "weak_scaling"]

#: Kinds of parameters that say how many work together, the one that is kept first; the others are sizes of the problem.
WORKERS = ("cores", "ranks", "nodes", "gpus")
#: Sizes on the line may be rounded so much, to whole cells per edge, say.
_ROUNDED = 0.1
#: So many runs are looked at first: in most tables, they show that parameters vary by themselves.
_FIRST = 1000

_PER_WORKER = re.compile(
    r"per[\W_]*(core|cpu|rank|proc|process|processor|task|pe|node|gpu|thread)s?\W*$", re.IGNORECASE
)

#: A count of workers or a size, and the measured pairs of it and of each size that changes with it, in ascending order.
Lines = Mapping[str, Mapping[str, Sequence[Sequence[float]]]]


def is_per_worker(name: str) -> bool:
    """Tell whether a name says that it is a size for each worker, so that more workers do more work.

    Examples
    --------
    >>> [is_per_worker(name) for name in ("cells_per_core", "atoms/rank", "particles per node", "ranks_per_node")]
    [True, True, True, False]
    """
    return bool(_PER_WORKER.search(name.replace("/", " per "))) and not kind_of(name)


def weak_scaling(configurations: pd.DataFrame) -> dict[str, dict[str, list[list[float]]]]:
    """Return what other sizes change with in all runs, and the measured pairs of both; {} without.

    Sizes that grow with the first count of workers, and sizes that grow, or shrink, with each other.

    Parameters
    ----------
    configurations : DataFrame (n_runs, n_parameters)

    Examples
    --------
    >>> weak_scaling(pd.DataFrame({"ranks": [8, 1, 4], "atoms": [256, 32, 128]}))
    {'ranks': {'atoms': [[1.0, 32.0], [4.0, 128.0], [8.0, 256.0]]}}
    >>> weak_scaling(pd.DataFrame({"ranks": [8, 1, 4], "atoms": [32, 32, 128]}))
    {}
    >>> weak_scaling(pd.DataFrame({"nx": [64, 128, 256], "ny": [32, 64, 128], "steps": [10, 20, 10]}))
    {'nx': {'ny': [[64.0, 32.0], [128.0, 64.0], [256.0, 128.0]]}}
    """
    numeric = [str(n) for n in configurations if pd.api.types.is_numeric_dtype(configurations[n].dtype)]
    found = _with_workers(configurations, numeric)
    sizes = [n for n in numeric if not kind_of(n) and not any(n in grown for grown in found.values())]
    for first, second in itertools.combinations(sizes, 2):
        if any(second in grown for grown in found.values()):
            continue
        pairs = _pairs(configurations, first, second)
        if len(pairs) and ((steps := np.diff(pairs, axis=0))[:, 0] > 0).all() and len(set(np.sign(steps[:, 1]))) == 1:
            found.setdefault(first, {})[second] = pairs.tolist()
    return found


def _pairs(configurations: pd.DataFrame, first: str, second: str) -> NDArray[np.float64]:
    """Return the pairs of values (n, 2), ascending; none if a value of one stands with several of the other."""
    for table in (configurations.head(_FIRST), configurations):
        pairs = np.unique(table[[first, second]].to_numpy(dtype=np.float64), axis=0)
        if any(len(np.unique(pairs[:, at])) < len(pairs) for at in (0, 1)):
            return np.empty((0, 2))
    return pairs if len(pairs) > 1 else np.empty((0, 2))


def _with_workers(configurations: pd.DataFrame, numeric: Sequence[str]) -> dict[str, dict[str, list[list[float]]]]:
    """Return the first count of workers, and the sizes that grow with it."""
    counting = [str(name) for kind in WORKERS for name in configurations if kind_of(str(name)) == kind]
    workers = next((name for name in counting if configurations[name].nunique() > 1), None)
    if workers is None or workers not in numeric:
        return {}
    grown: dict[str, list[list[float]]] = {}
    for name in numeric:
        pairs = np.empty((0, 2)) if kind_of(name) else _pairs(configurations, workers, name)
        if len(pairs) and (np.diff(pairs, axis=0) > 0).all():
            grown[name] = pairs.tolist()
    return {workers: grown} if grown else {}


def off_the_line(lines: Lines, table: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell which configurations (n,) have another size for their workers than the measured line of weak scaling.

    Between measured pairs, the line is straight in logarithms, if all are above zero.

    Examples
    --------
    >>> lines = {"ranks": {"atoms": [[1.0, 32.0], [8.0, 256.0]]}}
    >>> off_the_line(lines, pd.DataFrame({"ranks": [4, 4, 8], "atoms": [128, 256, 256]}))
    array([False,  True, False])
    """
    found = np.zeros(len(table), dtype=np.bool_)
    for workers, sizes in lines.items():
        for name, pairs in sizes.items():
            xy, asked = np.array(pairs), table[[workers, name]].to_numpy(dtype=np.float64)
            if (xy > 0).all() and (asked > 0).all():
                xy, asked = np.log(xy), np.log(asked)
                allowed = np.full(len(asked), np.log1p(_ROUNDED))
            else:
                allowed = _ROUNDED * np.abs(asked[:, 1])
            found |= np.abs(np.interp(asked[:, 0], xy[:, 0], xy[:, 1]) - asked[:, 1]) > allowed
    return found
