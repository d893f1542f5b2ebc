"""Slow ranks hand layers of points to their neighbours, many ranks at a time: for any number of ranks.

When a chunk reaches into an object by a few points it pays for that on all its points (arrays instead of one number),
so among thousands of chunks some are slow that no smooth density foresees. Each pass looks at the slowest ranks:
the cuts that bound their chunks are tried a few layers inwards, all together in one evaluation of what changes, and
those that help most are taken where they concern no rank together. So load flows to where there is room, pass by pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import outer_faces
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.multisection import Tree
from evenly.decomposition.partitioning.plan import Times
from evenly.decomposition.partitioning.predict import with_borders

__all__ = ["relieved", "score", "with_cuts"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: The mean of this power of the ranks' times counts, so that a move that helps one of two slow ranks counts too.
POWER = 32
#: Chunks that one moved cut may change.
MOST_CHANGED = 64
#: A rank this much slower than the mean is fast enough.
GOOD = 1.01
#: A move must make the slowest rank that it concerns faster by this part.
LEAST_GAIN = 1e-4


@dataclass(frozen=True)
class _Moves:
    """Cuts that could be moved: of move m, `node` (m,) goes to `at` (m,); chunks are changed as the rest says.

    `move` (n,) and `leaf` (n,) say which, `low` and `high` (n, 3) to what.
    """

    node: Ints
    at: Ints
    move: Ints
    leaf: Ints
    low: Ints
    high: Ints


class _State:
    """A tree on its way, with its times."""

    def __init__(self, tree: Tree, owners: Ints, now: Times) -> None:
        self.tree, self.owners, self.now = tree, owners, now
        self.at = tree.at.copy()
        self.low, self.high = tree.low[tree.leaves].copy(), tree.high[tree.leaves].copy()
        self.parent = np.full(len(tree.left), -1)
        count = tree.sums(np.ones(len(tree.leaves))).astype(np.int64)
        self.first = np.zeros(len(tree.left), dtype=np.int64)
        for nodes in tree.by_depth:
            left, right = tree.left[nodes], tree.right[nodes]
            self.parent[left] = self.parent[right] = nodes
            self.first[left], self.first[right] = self.first[nodes], self.first[nodes] + count[left]
        self.stop = self.first + count


def relieved(
    tree: Tree,
    owners: Ints,
    start: Times,
    cell: Cell,
    cost: CostModel,
    *,
    speeds: Array | None = None,
    passes: int = 30,
    boxes: int = 100_000,
) -> tuple[Tree, Times]:
    """Return the tree after moves of cuts that bound slow ranks, and its times: never slower than before.

    Parameters
    ----------
    tree : Tree
    owners : (leaves,)
    start : Times
        Of the tree.
    cell : Cell
    cost : CostModel
    speeds : (ranks,), optional
        How fast each rank is, as a factor.
    passes : int
        How often slow ranks are looked for.
    boxes : int
        How many boxes may be evaluated, in all.
    """
    speed = np.ones(start.ranks) if speeds is None else np.asarray(speeds, dtype=np.float64)
    state = _State(tree, owners, start)
    best, best_score = (state.at.copy(), start), score(start, speed)
    for _ in range(passes):
        each = max(256, min(boxes // 4, 30 * len(owners)))
        moves = _moves(state, cell, speed, min(boxes, each))
        if moves is None:
            break
        boxes -= len(moves.leaf)
        if not _make(state, moves, cell, cost, speed):
            break
        if (found := score(state.now, speed)) < best_score:
            best, best_score = (state.at.copy(), state.now), found
    return with_cuts(tree, best[0]), best[1]


def score(found: Times, speed: Array) -> float:
    """Return the seconds of the slowest rank, others that are nearly as slow counted a little."""
    seconds = found.rank_s / speed
    return float(seconds.max() * np.mean((seconds / seconds.max()) ** POWER) ** (1 / POWER))


def with_cuts(tree: Tree, at: Ints) -> Tree:
    """Return a tree whose cuts are elsewhere, `at` (nodes,)."""
    low, high = tree.low.copy(), tree.high.copy()
    for nodes in tree.by_depth:
        axis = tree.axis[nodes]
        for side in (tree.left[nodes], tree.right[nodes]):
            low[side], high[side] = low[nodes], high[nodes]
        high[tree.left[nodes], axis], low[tree.right[nodes], axis] = at[nodes], at[nodes]
    return replace(tree, low=low, high=high, at=at)


def _moves(state: _State, cell: Cell, speed: Array, boxes: int) -> _Moves | None:
    """Return moves that make the slowest ranks' chunks smaller, about so many boxes in all; None where all are fast."""
    seconds = state.now.rank_s / speed
    goal = seconds.mean()
    ranks = np.argsort(-seconds)
    by_rank = np.argsort(state.owners, kind="stable")
    begins = np.searchsorted(state.owners[by_rank], np.arange(len(speed) + 1))
    nodes, ats, counts = [], [], []
    changed: list[tuple[Ints, Ints, Ints]] = []
    seen: set[tuple[int, int]] = set()
    for rank in ranks[seconds[ranks] > GOOD * goal]:
        for leaf in by_rank[begins[rank] : begins[rank + 1]]:
            for node, touched in _bounding(state, int(leaf)):
                for at in _places(state, cell, int(leaf), node, 1 - goal / seconds[rank]):
                    low, high = _boxes(state, node, touched, at)
                    if (node, at) not in seen and np.all(low < high):
                        seen.add((node, at))
                        nodes.append(node)
                        ats.append(at)
                        counts.append(len(touched))
                        changed.append((touched, low, high))
                        boxes -= len(touched)
        if boxes <= 0:
            break
    if not nodes:
        return None
    leaf, low, high = (np.concatenate(parts) for parts in zip(*changed, strict=True))
    return _Moves(np.array(nodes), np.array(ats), np.repeat(np.arange(len(nodes)), counts), leaf, low, high)


def _bounding(state: _State, leaf: int) -> Iterator[tuple[int, Ints]]:
    """Yield the cuts that bound a chunk, with the chunks that each touches, where these are few."""
    tree, node = state.tree, int(state.tree.leaves[leaf])
    while (node := int(state.parent[node])) >= 0:
        axis, at = int(tree.axis[node]), state.at[node]
        if at not in (state.low[leaf, axis], state.high[leaf, axis]):
            continue
        part = slice(int(state.first[node]), int(state.stop[node]))
        touched = np.flatnonzero((state.low[part, axis] == at) | (state.high[part, axis] == at)) + part.start
        if len(touched) <= MOST_CHANGED:
            yield node, touched


def _places(state: _State, cell: Cell, leaf: int, node: int, share: float) -> list[int]:
    """Return where a cut could go to make a chunk smaller, at most by twice the share that is too much."""
    axis, at = int(state.tree.axis[node]), int(state.at[node])
    low, high = int(state.low[leaf, axis]), int(state.high[leaf, axis])
    inwards = -1 if at == high else 1
    most = max(1, round(share * (high - low)))
    found = {at + inwards * step for step in (1, max(1, most // 3), most)}
    n = cell.grid.shape[axis]
    layers = {border for a, b in (cell.pml[axis], cell.absorber[axis]) for border in (a, n - b)}
    found |= {border for border in layers if 0 < (border - at) * inwards <= 2 * most}
    return [place for place in found if low < place < high]


def _boxes(state: _State, node: int, touched: Ints, at: int) -> tuple[Ints, Ints]:
    axis, before = int(state.tree.axis[node]), state.at[node]
    low, high = state.low[touched], state.high[touched]
    low[low[:, axis] == before, axis] = at
    high[high[:, axis] == before, axis] = at
    return low, high


def _make(state: _State, moves: _Moves, cell: Cell, cost: CostModel, speed: Array) -> bool:
    """Make the best of the moves that have no rank in common; whether there was one."""
    chunk_s = cost.chunk_seconds(cell, moves.low, moves.high)
    gains, begins, ranks = _gains(state, moves, chunk_s, cell, cost, speed)
    boxes = np.searchsorted(moves.move, np.arange(len(moves.node) + 1))
    now, all_s = state.now, state.now.chunk_s.copy()
    busy = np.zeros(now.ranks, dtype=bool)
    for number in np.argsort(-gains)[: np.count_nonzero(gains > LEAST_GAIN)]:
        concerned = ranks[begins[number] : begins[number + 1]]
        if busy[concerned].any():
            continue
        busy[concerned] = True
        part = slice(boxes[number], boxes[number + 1])
        leaf = moves.leaf[part]
        state.low[leaf], state.high[leaf], all_s[leaf] = moves.low[part], moves.high[part], chunk_s[part]
        state.at[moves.node[number]] = moves.at[number]
    state.now = with_borders(cell, state.low, state.high, state.owners, now.ranks, cost, all_s)
    return bool(busy.any())


def _gains(
    state: _State, moves: _Moves, chunk_s: Array, cell: Cell, cost: CostModel, speed: Array
) -> tuple[Array, Ints, Ints]:
    """Return by what part each move makes the slowest of the ranks that it concerns faster, and which those are.

    Ranks (pairs,) are told move by move, those of move m from begins[m] to begins[m + 1]. What a chunk pays for borders
    is taken to change as its surface does.
    """
    now, leaf = state.now, moves.leaf
    faces = outer_faces(cell, moves.low, moves.high) - outer_faces(cell, state.low[leaf], state.high[leaf])
    nobody = np.zeros(len(leaf))
    more_s = chunk_s - now.chunk_s[leaf]
    more_s += cost.border_seconds(cell, faces, nobody) - cost.border_seconds(cell, nobody, nobody)
    pairs, where = np.unique(moves.move * now.ranks + state.owners[leaf], return_inverse=True)
    move, rank = np.divmod(pairs, now.ranks)
    before = now.rank_s[rank] / speed[rank]
    after = before + np.bincount(where, more_s) / speed[rank]
    begins = np.searchsorted(move, np.arange(len(moves.node) + 1))
    most = np.maximum.reduceat(before, begins[:-1])
    old, new = (np.add.reduceat((np.maximum(t, 0) / most[move]) ** POWER, begins[:-1]) for t in (before, after))
    return 1 - (new / old) ** (1 / POWER), begins, rank
