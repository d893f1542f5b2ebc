"""Local search in which many slow ranks hand layers of points to neighbours at a time, for any number of ranks.

A chunk that reaches into an object by a few points pays for it on all its points (arrays instead of one number). So
some of thousands of chunks are slower than the smooth work density predicts. Each pass takes the slowest ranks and
moves the cuts around their chunks a few layers inwards. One evaluation covers all these moves. The best moves that have
no rank in common are then made together (a greedy independent set). Pass by pass, load flows to ranks that have room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.pieces import outer_faces
from evenly.decomposition.partitioning.predict import times
from evenly.decomposition.partitioning.problem import POWER, Candidate, CutProblem

__all__ = ["relieve_slow_ranks"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Most chunks that one moved cut may change.
MOST_CHANGED = 64
#: Ranks slower than the mean by at most this factor aren't relieved.
GOOD = 1.01
#: A move must reduce the smooth maximum over the ranks that it affects by more than this fraction.
LEAST_GAIN = 1e-4


def relieve_slow_ranks(problem: CutProblem, start: Candidate, boxes: int = 100_000, *, passes: int = 30) -> Candidate:
    """Return the candidate after moving cuts around slow ranks; its score is never worse than the start's.

    Parameters
    ----------
    problem : CutProblem
    start : Candidate
    boxes : int
        Approximate number of boxes that may be evaluated in total.
    passes : int
        Most passes over the slow ranks.
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
    """Possible moves of cuts, and the chunks that they change.

    Move m shifts the cut of node `node[m]` to grid index `at[m]`; both arrays are (moves,). Entry i of the other arrays
    is one changed chunk: move `move[i]` gives leaf `leaf[i]` the corners `low[i]` and `high[i]`. `move` and `leaf` are
    (n,), `low` and `high` are (n, 3).
    """

    node: Ints
    at: Ints
    move: Ints
    leaf: Ints
    low: Ints
    high: Ints


class _State:
    """The present state of the search: a tree whose cuts are being moved.

    Attributes
    ----------
    now : Times
        Predicted times with the present cuts.
    at : (nodes,)
        Grid index at which each node is cut.
    low, high : (leaves, 3)
        Present corners of the leaves.
    parent : (nodes,)
        Parent of each node; -1 for the root.
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
        """Return moves that shrink slow ranks' chunks, with about `boxes` changed chunks in total; None without any."""
        seconds = self.now.rank_s / self.problem.speeds
        goal = seconds.mean()
        ranks = np.argsort(-seconds)
        # Leaves sorted by rank: those of rank r are by_rank[begins[r]:begins[r + 1]].
        by_rank = np.argsort(self.owners, kind="stable")
        begins = np.searchsorted(self.owners[by_rank], np.arange(len(seconds) + 1))
        # For each cut and its new place: the leaves that the move changes, and their new corners.
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
        """Make the best moves that have no rank in common (greedy), and return whether any was made."""
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
        """Yield each cut that bounds a chunk with all chunks that touch it, if they are at most `MOST_CHANGED`."""
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
        """Return grid indices to which a cut can move so that a chunk shrinks.

        `share` is the fraction of the chunk that is too much. The cut moves inwards by at most this fraction, or to a
        layer's border within twice this distance.
        """
        axis, at = int(self.tree.axis[node]), int(self.at[node])
        low, high = int(self.low[leaf, axis]), int(self.high[leaf, axis])
        inwards = -1 if at == high else 1
        most = max(1, round(share * (high - low)))
        found = {at + inwards * step for step in (1, max(1, most // 3), most)}
        borders = self.problem.cell.layer_borders(axis)
        found |= {border for border in borders if 0 < (border - at) * inwards <= 2 * most}
        return [place for place in found if low < place < high]

    def _gains(self, moves: _Moves, chunk_s: Array) -> tuple[Array, Ints, Ints]:
        """Return the relative gain of each move (moves,), and the ranks that it affects as `begins` and `rank`.

        The ranks that move m affects are rank[begins[m]:begins[m + 1]]. The gain is the relative decrease of the smooth
        maximum over these ranks. A chunk's border time is assumed to change with its surface.
        """
        cell, cost, speed = self.problem.cell, self.problem.cost, self.problem.speeds
        now, leaf = self.now, moves.leaf
        faces = outer_faces(cell, moves.low, moves.high) - outer_faces(cell, self.low[leaf], self.high[leaf])
        nobody = np.zeros(len(leaf))
        more_s = chunk_s - now.chunk_s[leaf]
        more_s += cost.border_seconds(cell, faces, nobody) - cost.border_seconds(cell, nobody, nobody)
        # One entry for each pair of a move and a rank that it affects, with the sum over the rank's changed leaves.
        pairs, where = np.unique(moves.move * now.ranks + self.owners[leaf], return_inverse=True)
        move, rank = np.divmod(pairs, now.ranks)
        before = now.rank_s[rank] / speed[rank]
        after = before + np.bincount(where, more_s) / speed[rank]
        begins = np.searchsorted(move, np.arange(len(moves.node) + 1))
        # The smooth maximum of `CutProblem.score`, over the ranks that each move affects instead of all ranks.
        most = np.maximum.reduceat(before, begins[:-1])
        old, new = (np.add.reduceat((np.maximum(t, 0) / most[move]) ** POWER, begins[:-1]) for t in (before, after))
        return 1 - (new / old) ** (1 / POWER), begins, rank
