"""Small moves of single cuts that help the slowest rank, judged by the whole prediction: for not too many ranks.

What `recut` can't see is where cost jumps: when a chunk reaches into a layer or an object by one point, it pays for
what is present in it. So the cuts around the slowest rank are tried a few points to either side, and on the borders
of layers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.multisection import Tree
from evenly.decomposition.partitioning.plan import Times
from evenly.decomposition.partitioning.predict import with_borders
from evenly.decomposition.partitioning.slow_rank_relief import score

__all__ = ["refined"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
STEPS = (-8, -3, -1, 1, 3, 8)


def refined(
    tree: Tree, owners: Ints, start: Times, cell: Cell, cost: CostModel, moves: int, *, speeds: Array | None = None
) -> tuple[Tree, Times]:
    """Return the tree after at most so many moves, each of which lowered the predicted time, and its times.

    Ranks are as fast as `speeds` (ranks,) say, as factors; all alike when left out.
    """
    speed = np.ones(start.ranks) if speeds is None else np.asarray(speeds, dtype=np.float64)
    best, least = (tree, start), score(start, speed)
    for _ in range(moves):
        slowest = int(np.argmax(best[1].rank_s / speed))
        candidates = _candidates(best[0], owners, slowest, cell)
        if not candidates:
            break
        tried = list(zip(candidates, _all_times(candidates, best, owners, cell, cost), strict=True))
        found = min(tried, key=lambda pair: score(pair[1], speed))
        if score(found[1], speed) >= least * (1 - 1e-4):
            break
        best, least = found, score(found[1], speed)
    return best


def _all_times(trees: list[Tree], now: tuple[Tree, Times], owners: Ints, cell: Cell, cost: CostModel) -> list[Times]:
    """Return the times of trees of which each differs from the present one in a few leaves, which alone are asked."""
    leaves = now[0].leaves
    low, high = (np.stack([getattr(tree, end)[leaves] for tree in trees]) for end in ("low", "high"))
    changed = np.any((low != now[0].low[leaves]) | (high != now[0].high[leaves]), axis=2)
    chunk_s = np.tile(now[1].chunk_s, (len(trees), 1))
    chunk_s[changed] = cost.chunk_seconds(cell, low[changed], high[changed])
    return [
        with_borders(cell, a, b, owners, now[1].ranks, cost, seconds)
        for a, b, seconds in zip(low, high, chunk_s, strict=True)
    ]


def _candidates(tree: Tree, owners: Ints, slowest: int, cell: Cell) -> list[Tree]:
    """Return trees in which one cut around the slowest rank is moved."""
    slow = set(tree.leaves[owners == slowest].tolist())
    found = []
    for node in _ancestors(tree, slow):
        axis, at = int(tree.axis[node]), int(tree.at[node])
        wanted = {at + step for step in STEPS} | _borders(cell, axis)
        room = range(int(tree.low[node, axis]) + 1, int(tree.high[node, axis]))
        near = sorted((w for w in wanted if w in room and w != at), key=lambda w: abs(w - at))
        found += [moved for w in near[:8] if (moved := _with_cut(tree, node, w)) is not None]
    return found


def _ancestors(tree: Tree, leaves: set[int]) -> list[int]:
    parent = {int(c): i for i in range(len(tree.left)) for c in (tree.left[i], tree.right[i]) if c >= 0}
    found: dict[int, None] = {}
    for leaf in leaves:
        while leaf in parent:
            leaf = parent[leaf]
            found[leaf] = None
    return list(found)


def _borders(cell: Cell, axis: int) -> set[int]:
    n = cell.grid.shape[axis]
    return {at for low, high in (cell.pml[axis], cell.absorber[axis]) for at in (low, n - high)}


def _with_cut(tree: Tree, node: int, at: int) -> Tree | None:
    """Return the tree with one cut moved, the others where they are; None if that leaves a chunk without points."""
    cuts = tree.at.copy()
    cuts[node] = at
    low, high = tree.low.copy(), tree.high.copy()
    for nodes in tree.by_depth:
        axis = tree.axis[nodes]
        rows = np.arange(len(nodes))
        if np.any(cuts[nodes] <= low[nodes][rows, axis]) or np.any(cuts[nodes] >= high[nodes][rows, axis]):
            return None
        for side in (tree.left[nodes], tree.right[nodes]):
            low[side], high[side] = low[nodes], high[nodes]
        high[tree.left[nodes], axis], low[tree.right[nodes], axis] = cuts[nodes], cuts[nodes]
    return replace(tree, low=low, high=high, at=cuts)
