"""Slow ranks hand layers of points to their neighbours, many ranks at a time: for any number of ranks.

When a chunk reaches into an object by a few points it pays for that on all its points (arrays instead of one number),
so among thousands of chunks some are slow that no smooth density foresees. This is a local search with many moves per
pass. Each pass looks at the slowest ranks: the cuts that bound their chunks are tried a few layers inwards, all
together in one evaluation of what changes, and those that help most are taken where they concern no rank together (a
greedy independent set). So load flows to where there is room, pass by pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.pieces import outer_faces
from evenly.decomposition.partitioning.predict import times
from evenly.decomposition.partitioning.problem import POWER, Candidate, CutProblem

__all__ = ["relieved"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Chunks that one moved cut may change.
MOST_CHANGED = 64
#: A rank this much slower than the mean is fast enough.
GOOD = 1.01
#: A move must make the slowest rank that it concerns faster by this part.
LEAST_GAIN = 1e-4


def relieved(problem: CutProblem, start: Candidate, boxes: int = 100_000, *, passes: int = 30) -> Candidate:
    """Return the candidate after moves of cuts that bound slow ranks: never slower than before.

    Parameters
    ----------
    problem : CutProblem
    start : Candidate
    boxes : int
        How many boxes may be evaluated, in all.
    passes : int
        How often slow ranks are looked for.
    """
    state = _State(problem, start)
    best_cuts, best_times, least = state.at.copy(), start.times, problem.score(start.times)
    for _ in range(passes):
        moves = state.moves(min(boxes, max(256, min(boxes // 4, 30 * len(start.owners)))))
        if moves is None:
            break
        boxes -= len(moves.leaf)
        if not state.make(moves):
            break
        if (score := problem.score(state.now)) < least:
            best_cuts, best_times, least = state.at.copy(), state.now, score
    return Candidate(start.tree.with_cuts(best_cuts), start.owners, best_times)


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
    """A tree whose cuts are being moved.

    Attributes
    ----------
    now : Times
        Of the leaves as they are.
    at : (nodes,)
        Where nodes are cut.
    low, high : (leaves, 3)
        Corners of the leaves.
    parent : (nodes,)
        -1 of the root.
    first, stop : (nodes,)
        The first leaf below each node, and one past the last.
    """

    def __init__(self, problem: CutProblem, start: Candidate) -> None:
        self.problem, self.tree, self.owners, self.now = problem, start.tree, start.owners, start.times
        tree = start.tree
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

    def moves(self, boxes: int) -> _Moves | None:
        """Return moves that make slow ranks' chunks smaller, about so many boxes in all; None where all are fast."""
        seconds = self.now.rank_s / self.problem.speeds
        goal = seconds.mean()
        ranks = np.argsort(-seconds)
        # Leaves of each rank, one rank after the other.
        by_rank = np.argsort(self.owners, kind="stable")
        begins = np.searchsorted(self.owners[by_rank], np.arange(len(seconds) + 1))
        # By cut and place: the leaves that a move changes, and their new corners.
        found: dict[tuple[int, int], tuple[Ints, Ints, Ints]] = {}
        for rank in ranks[seconds[ranks] > GOOD * goal]:
            for leaf in by_rank[begins[rank] : begins[rank + 1]].tolist():
                for node, touched in self._bounding(leaf):
                    axis, before = int(self.tree.axis[node]), self.at[node]
                    for at in self._places(leaf, node, 1 - goal / seconds[rank]):
                        low, high = self.low[touched], self.high[touched]
                        low[low[:, axis] == before, axis] = at
                        high[high[:, axis] == before, axis] = at
                        if (node, at) not in found and np.all(low < high):
                            found[node, at] = touched, low, high
                            boxes -= len(touched)
            if boxes <= 0:
                break
        if not found:
            return None
        node, at = np.array(list(found)).T
        leaf, low, high = (np.concatenate(parts) for parts in zip(*found.values(), strict=True))
        move = np.repeat(np.arange(len(found)), [len(touched) for touched, _, _ in found.values()])
        return _Moves(node, at, move, leaf, low, high)

    def make(self, moves: _Moves) -> bool:
        """Make the best of the moves that have no rank in common; whether there was one."""
        problem, now = self.problem, self.now
        chunk_s = problem.cost.chunk_seconds(problem.cell, moves.low, moves.high)
        gains, begins, ranks = self._gains(moves, chunk_s)
        boxes = np.searchsorted(moves.move, np.arange(len(moves.node) + 1))
        all_s, busy = now.chunk_s.copy(), np.zeros(now.ranks, dtype=bool)
        for number in np.argsort(-gains)[: np.count_nonzero(gains > LEAST_GAIN)]:
            concerned = ranks[begins[number] : begins[number + 1]]
            if busy[concerned].any():
                continue
            busy[concerned] = True
            part = slice(boxes[number], boxes[number + 1])
            leaf = moves.leaf[part]
            self.low[leaf], self.high[leaf], all_s[leaf] = moves.low[part], moves.high[part], chunk_s[part]
            self.at[moves.node[number]] = moves.at[number]
        self.now = times(problem.cell, self.low, self.high, self.owners, now.ranks, problem.cost, all_s)
        return bool(busy.any())

    def _bounding(self, leaf: int) -> Iterator[tuple[int, Ints]]:
        """Yield the cuts that bound a chunk, with the chunks that each touches, where these are few."""
        node = int(self.tree.leaves[leaf])
        while (node := int(self.parent[node])) >= 0:
            axis, at = int(self.tree.axis[node]), self.at[node]
            if at not in (self.low[leaf, axis], self.high[leaf, axis]):
                continue
            part = slice(int(self.first[node]), int(self.stop[node]))
            touched = np.flatnonzero((self.low[part, axis] == at) | (self.high[part, axis] == at)) + part.start
            if len(touched) <= MOST_CHANGED:
                yield node, touched

    def _places(self, leaf: int, node: int, share: float) -> list[int]:
        """Return where a cut could go to make a chunk smaller, at most by twice the share that is too much."""
        axis, at = int(self.tree.axis[node]), int(self.at[node])
        low, high = int(self.low[leaf, axis]), int(self.high[leaf, axis])
        inwards = -1 if at == high else 1
        most = max(1, round(share * (high - low)))
        found = {at + inwards * step for step in (1, max(1, most // 3), most)}
        borders = self.problem.cell.layer_borders(axis)
        found |= {border for border in borders if 0 < (border - at) * inwards <= 2 * most}
        return [place for place in found if low < place < high]

    def _gains(self, moves: _Moves, chunk_s: Array) -> tuple[Array, Ints, Ints]:
        """Return by what part each move makes the slowest of the ranks that it concerns faster, and which those are.

        Ranks (pairs,) are told move by move, those of move m from begins[m] to begins[m + 1]. What a chunk pays for
        borders is taken to change as its surface does.
        """
        cell, cost, speed = self.problem.cell, self.problem.cost, self.problem.speeds
        now, leaf = self.now, moves.leaf
        faces = outer_faces(cell, moves.low, moves.high) - outer_faces(cell, self.low[leaf], self.high[leaf])
        nobody = np.zeros(len(leaf))
        more_s = chunk_s - now.chunk_s[leaf]
        more_s += cost.border_seconds(cell, faces, nobody) - cost.border_seconds(cell, nobody, nobody)
        # One entry for each rank that a move concerns, with what all of its changed leaves add.
        pairs, where = np.unique(moves.move * now.ranks + self.owners[leaf], return_inverse=True)
        move, rank = np.divmod(pairs, now.ranks)
        before = now.rank_s[rank] / speed[rank]
        after = before + np.bincount(where, more_s) / speed[rank]
        begins = np.searchsorted(move, np.arange(len(moves.node) + 1))
        # The smooth maximum of `CutProblem.score`, over the ranks of each move instead of all.
        most = np.maximum.reduceat(before, begins[:-1])
        old, new = (np.add.reduceat((np.maximum(t, 0) / most[move]) ** POWER, begins[:-1]) for t in (before, after))
        return 1 - (new / old) ** (1 / POWER), begins, rank
