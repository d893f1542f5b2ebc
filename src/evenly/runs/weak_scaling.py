"""Weak scaling: sizes of the problem that were always enlarged together with the ranks, or with each other.

Such runs tell nothing about more ranks for the same problem, nor about a larger problem on the same ranks. Ranks and
threads that fill a node in all runs tell nothing about more cores. Several series of such runs tell a band: what lies
far from it, as the largest problem on the fewest ranks, isn't known well.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.runs.count_names import kind_of

__all__ = [
    "WORKERS", "bands", "distance_from_bands", "distance_from_line", "factors_of", "is_per_worker", "weak_scaling",
]  # fmt: skip

#: Kinds of parameters that say how many work together, the one that is kept first; the others are sizes of the problem.
WORKERS = ("cores", "ranks", "nodes", "gpus")
#: Sizes on the line may be rounded so much, to whole cells per edge, say.
_ROUNDED = 0.1
#: So many runs are looked at first: in most tables, they show that parameters vary by themselves.
_FIRST = 1000
#: Products of so many counts are looked at, which are written so.
_MOST_COUNTS, _TIMES = 4, " * "

#: Fewest pairs of workers and sizes that tell a band.
_FEWEST_PAIRS = 5
#: Of the rectangle around all runs, in logarithms, a band covers at most this: half of it is a missing corner.
_BAND = 0.45
#: What lies off a band by a factor is known to this power of it: across the band, the runs tell how sizes count.
_ACROSS = 0.5

_PER_WORKER = re.compile(
    r"(?<!hy)per[\W_]*(core|cpu|rank|proc|process|processor|task|pe|node|gpu|thread)s?\W*$", re.IGNORECASE
)

#: A count of workers or a size, and the measured pairs of it and of each size that changes with it, in ascending order.
Lines = Mapping[str, Mapping[str, Sequence[Sequence[float]]]]


def is_per_worker(name: str) -> bool:
    """Tell whether a name says that it is a size for each worker, so that more workers do more work.

    Workers of each worker, as threads of a core, are a setting.

    Examples
    --------
    >>> [is_per_worker(name) for name in ("cells_per_core", "atoms/rank", "particles per node", "ranks_per_node")]
    [True, True, True, False]
    >>> [is_per_worker(name) for name in ("hyperthreads_per_core", "GPUs per rank", "hyperthreads", "HT per core")]
    [False, False, False, False]
    """
    words = name.replace("/", " per ")
    match = _PER_WORKER.search(words)
    if match is None or kind_of(name):
        return False
    of_each = words[: match.start()].rstrip(" _-")
    return not kind_of(of_each) and not of_each.lower().endswith(("threads", "ht", "smt"))


def weak_scaling(configurations: pd.DataFrame) -> dict[str, dict[str, list[list[float]]]]:
    """Return what other sizes change with in all runs, and the measured pairs of both; {} without.

    Sizes that grow with the first count of workers, counts for each worker that fall with it, as threads, and sizes
    that grow, or shrink, with each other.

    Parameters
    ----------
    configurations : DataFrame (n_runs, n_parameters)

    Examples
    --------
    >>> weak_scaling(pd.DataFrame({"ranks": [8, 1, 4], "atoms": [256, 32, 128]}))
    {'ranks': {'atoms': [[1.0, 32.0], [4.0, 128.0], [8.0, 256.0]]}}
    >>> weak_scaling(pd.DataFrame({"ranks": [8, 1, 4], "atoms": [32, 32, 128]}))
    {}
    >>> weak_scaling(pd.DataFrame({"ranks": [8, 16, 32], "threads": [12, 6, 3]}))
    {'ranks': {'threads': [[8.0, 12.0], [16.0, 6.0], [32.0, 3.0]]}}
    >>> both = pd.DataFrame({"ranks": [1, 1, 2, 2], "threads": [1, 4, 2, 4], "cells": [10, 40, 40, 80]})
    >>> weak_scaling(both)
    {'ranks * threads': {'cells': [[1.0, 10.0], [4.0, 40.0], [8.0, 80.0]]}}
    >>> weak_scaling(pd.DataFrame({"nx": [64, 128, 256], "ny": [32, 64, 128], "steps": [10, 20, 10]}))
    {'nx': {'ny': [[64.0, 32.0], [128.0, 64.0], [256.0, 128.0]]}}
    >>> weak_scaling(pd.DataFrame({"threads": [1, 2, 4], "cells": [10, 20, 40]}))
    {'threads': {'cells': [[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]]}}
    """
    numeric = [str(n) for n in configurations if pd.api.types.is_numeric_dtype(configurations[n].dtype)]
    found = _with_workers(configurations, numeric)
    for name, grown in _with_products(configurations, numeric).items():
        left = {size: pairs for size, pairs in grown.items() if not any(size in one for one in found.values())}
        if left:
            found[name] = left
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
    """Return the first count of workers, sizes that grow with it, and counts for each worker that fall with it."""
    kinds = (*WORKERS, "per rank")  # threads, where they are all that varies
    counting = [str(name) for kind in kinds for name in configurations if kind_of(str(name)) == kind]
    workers = next((name for name in counting if configurations[name].nunique() > 1), None)
    if workers is None or workers not in numeric:
        return {}
    grown: dict[str, list[list[float]]] = {}
    for name in numeric:
        kind = kind_of(name)
        pairs = np.empty((0, 2)) if kind in WORKERS or name == workers else _pairs(configurations, workers, name)
        steps = np.diff(pairs, axis=0)
        if len(pairs) and ((steps[:, 1] < 0).all() if kind else (steps > 0).all()):
            grown[name] = pairs.tolist()
    return {workers: grown} if grown else {}


def _with_products(configurations: pd.DataFrame, numeric: Sequence[str]) -> dict[str, dict[str, list[list[float]]]]:
    """Return products of counts, as ``ranks * threads``, and the sizes that grow with them; see `factors_of`."""
    counts = [n for n in numeric if kind_of(n) and configurations[n].nunique() > 1][:_MOST_COUNTS]
    sizes = [n for n in numeric if not kind_of(n)]
    found: dict[str, dict[str, list[list[float]]]] = {}
    for number in range(len(counts), 1, -1):
        for names in itertools.combinations(counts, number):
            text = _TIMES.join(names)
            table = configurations[sizes].assign(**{text: configurations[list(names)].prod(axis=1)})
            for size in sizes:
                pairs = _pairs(table, text, size)
                if len(pairs) > 2 and (np.diff(pairs, axis=0) > 0).all():
                    found.setdefault(text, {}).setdefault(size, pairs.tolist())
    return found


def factors_of(workers: str, names: Collection[str]) -> list[str]:
    """Return the parameters, of all `names`, of which a count of workers in `weak_scaling` is the product.

    Examples
    --------
    >>> factors_of("ranks * threads", ["ranks", "threads", "cells"]), factors_of("ranks", ["ranks"])
    (['ranks', 'threads'], ['ranks'])
    """
    return [workers] if workers in names else workers.split(_TIMES)


def distance_from_line(lines: Lines, table: pd.DataFrame) -> NDArray[np.float64]:
    """Return how far configurations (n,) are from the measured lines, as logarithms of a factor; 0 on the lines.

    Between measured pairs and beyond them, a line is straight in logarithms, if all values are above zero.

    Examples
    --------
    >>> lines = {"ranks": {"atoms": [[1.0, 32.0], [8.0, 256.0]]}}
    >>> asked = pd.DataFrame({"ranks": [4, 4, 8, 16], "atoms": [128, 256, 256, 512]})
    >>> np.exp(distance_from_line(lines, asked)).round(3)
    array([1., 2., 1., 1.])
    """
    found = np.zeros(len(table))
    for first, sizes in lines.items():
        for name, pairs in sizes.items():
            workers = table[factors_of(first, table.columns)].astype(np.float64).prod(axis=1)
            xy, asked = np.array(pairs), np.column_stack([workers, table[name].to_numpy(dtype=np.float64)])
            if (xy > 0).all() and (asked > 0).all():
                distance = np.abs(_on_line(np.log(xy), np.log(asked[:, 0])) - np.log(asked[:, 1]))
            else:
                there = _on_line(xy, asked[:, 0])
                distance = np.log1p(np.abs(there - asked[:, 1]) / np.maximum(np.abs(asked[:, 1]), np.abs(there)))
            found += np.where(distance > np.log1p(_ROUNDED), distance, 0.0)
    return found


def bands(configurations: pd.DataFrame) -> dict[str, dict[str, dict[str, list[list[float]]]]]:
    """Return the convex hulls, in logarithms, of the first count of workers and sizes, where these are narrow bands.

    Several series of weak scaling make such a band. A hull is told by its lower and upper corners.

    Examples
    --------
    >>> both = pd.DataFrame({"ranks": [1, 1, 8, 8, 64, 64], "cells": [10, 20, 80, 160, 640, 1280]})
    >>> bands(both)["ranks"]["cells"]["upper"]
    [[1.0, 20.0], [64.0, 1280.0]]
    >>> bands(pd.DataFrame({"ranks": [1, 8, 64, 1, 8, 64], "cells": [10, 10, 10, 640, 640, 640]}))
    {}
    """
    numeric = [str(n) for n in configurations if pd.api.types.is_numeric_dtype(configurations[n].dtype)]
    counting = [name for kind in WORKERS for name in numeric if kind_of(name) == kind]
    workers = next((name for name in counting if configurations[name].nunique() > 2), None)
    found: dict[str, dict[str, list[list[float]]]] = {}
    for size in (name for name in numeric if workers is not None and not kind_of(name)):
        pairs = np.unique(configurations[[workers, size]].to_numpy(dtype=np.float64), axis=0)
        if len(pairs) < _FEWEST_PAIRS or not (pairs > 0).all() or not (np.ptp(pairs, axis=0) > 0).all():
            continue
        logs = np.log(pairs)
        lower, upper = _chain(logs, 1.0), _chain(logs, -1.0)
        area = _below(upper) - _below(lower)
        if 0 < area <= _BAND * np.prod(np.ptp(logs, axis=0)):
            found[size] = {"lower": np.exp(lower).round(9).tolist(), "upper": np.exp(upper).round(9).tolist()}
    return {str(workers): found} if found else {}


def distance_from_bands(
    found: Mapping[str, Mapping[str, Mapping[str, Sequence[Sequence[float]]]]], table: pd.DataFrame
) -> NDArray[np.float64]:
    """Return how far configurations (n,) are from `bands`, as logarithms of a factor; 0 within them.

    It is the distance in sizes or in workers, whichever is longer: a grid of twice the resolution is eight times as
    large.

    Examples
    --------
    >>> found = bands(pd.DataFrame({"ranks": [1, 1, 8, 8, 64, 64], "cells": [10, 20, 80, 160, 640, 1280]}))
    >>> asked = pd.DataFrame({"ranks": [8, 1, 1, 512], "cells": [100, 20, 80, 10240]})
    >>> np.exp(distance_from_bands(found, asked)).round(3)
    array([1., 1., 2., 1.])
    """
    away = np.zeros(len(table))
    for workers, sizes in found.items():
        for size, hull in sizes.items():
            asked = np.log(np.maximum(table[[workers, size]].to_numpy(dtype=np.float64), 1e-300))
            corners = np.log(np.array([*hull["lower"], *hull["upper"]]))
            off = np.maximum(_off(corners, asked), _off(corners[:, ::-1], asked[:, ::-1]))
            away += np.where(off > np.log1p(_ROUNDED), _ACROSS * off, 0.0)
    return away


def _off(corners: NDArray[np.float64], asked: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far points (n, 2) are below or above the convex hull of corners (m, 2); 0 within, and beside it."""
    low, high = (_on_line(_chain(corners, sign), asked[:, 0]) for sign in (1.0, -1.0))
    off = np.maximum(np.maximum(low - asked[:, 1], asked[:, 1] - high), 0.0)
    ends = corners[:, 0].min() - 1e-9, corners[:, 0].max() + 1e-9
    return np.where((asked[:, 0] >= ends[0]) & (asked[:, 0] <= ends[1]), off, 0.0)


def _below(corners: NDArray[np.float64]) -> float:
    """Return the area below straight lines between corners (m, 2)."""
    x, y = corners.T
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def _chain(points: NDArray[np.float64], sign: float) -> NDArray[np.float64]:
    """Return the corners (m, 2) of the lower side of the convex hull of points (n, 2); of the upper for sign -1."""
    corners: list[NDArray[np.float64]] = []
    for x in np.unique(points[:, 0]):
        here = points[points[:, 0] == x, 1]
        new = np.array([x, here.min() if sign > 0 else here.max()])
        while len(corners) > 1 and sign * np.linalg.det([corners[-1] - corners[-2], new - corners[-2]]) <= 1e-12:
            corners.pop()
        corners.append(new)
    return np.array(corners)


def _on_line(xy: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the line's values at x (n,), straight beyond its first and last points."""
    at = np.clip(np.searchsorted(xy[:, 0], x), 1, len(xy) - 1)
    (x0, y0), (x1, y1) = xy[at - 1].T, xy[at].T
    return np.asarray(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
