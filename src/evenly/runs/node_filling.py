"""How full nodes were in the runs: ranks and threads on a node, of which predictions must not go beyond unnoticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.runs.count_names import kind_of

__all__ = ["beyond_filling", "filling"]

#: Counts of workers on a node may be rounded so much.
_ROUNDED = 0.01


def filling(configurations: pd.DataFrame) -> dict[str, Any]:
    """Return the counts that make up what runs on a node, and the least and most of it; {} if they don't tell.

    Parameters
    ----------
    configurations : DataFrame (n_runs, n_parameters)

    Examples
    --------
    >>> filling(pd.DataFrame({"nodes": [1, 2, 2], "ranks": [16, 16, 32], "threads": [2, 2, 2]}))
    {'nodes': 'nodes', 'of': ['ranks', 'threads'], 'range': [16.0, 32.0]}
    """
    kinds = {str(n): kind_of(str(n)) for n in configurations if pd.api.types.is_numeric_dtype(configurations[n].dtype)}
    nodes = [name for name, kind in kinds.items() if kind == "nodes"]
    cores, ranks = ([name for name, kind in kinds.items() if kind == which] for which in ("cores", "ranks"))
    workers = cores or [*ranks, *(name for name, kind in kinds.items() if kind == "per rank" and ranks)]
    if len(nodes) != 1 or not workers or len(cores or ranks) > 1:
        return {}
    on_a_node = _per_node(configurations, nodes[0], workers)
    return {"nodes": nodes[0], "of": workers, "range": [float(on_a_node.min()), float(on_a_node.max())]}


def beyond_filling(known: dict[str, Any], table: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell which configurations (n,) have emptier or fuller nodes than any run.

    Examples
    --------
    >>> known = filling(pd.DataFrame({"nodes": [1, 2], "ranks": [16, 64]}))
    >>> beyond_filling(known, pd.DataFrame({"nodes": [4, 4, 4], "ranks": [64, 100, 8]}))
    array([False, False,  True])
    """
    if not known:
        return np.zeros(len(table), dtype=np.bool_)
    (low, high), on_a_node = known["range"], _per_node(table, known["nodes"], known["of"])
    return np.asarray((on_a_node < low * (1 - _ROUNDED)) | (on_a_node > high * (1 + _ROUNDED)))


def _per_node(table: pd.DataFrame, nodes: str, workers: list[str]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return np.asarray(table[workers].prod(axis=1) / table[nodes], dtype=np.float64)
