"""Local search over single cuts by the full prediction, for small and medium numbers of ranks.

Moving all cuts at once (`cut_adjustment`) misses jumps of the cost: a chunk that reaches into a layer or an object by
only one point already pays for what is present there. So each cut around the slowest rank is moved by a few points to
either side, and to the borders of layers. The best of these neighbours is taken as long as it improves the score (best
improvement, or steepest descent: E. Aarts, J. K. Lenstra, Local Search in Combinatorial Optimization, Wiley 1997,
chapter 1).
"""

from __future__ import annotations

import numpy as np

from evenly.decomposition.partitioning.multisection import Tree
from evenly.decomposition.partitioning.predict import times
from evenly.decomposition.partitioning.problem import Candidate, CutProblem

__all__ = ["search_locally"]

#: Points by which a cut is moved.
STEPS = (-8, -3, -1, 1, 3, 8)
#: Most places tried for each cut: those nearest to it.
MOST_PLACES = 8
#: A move must reduce the score by more than this fraction.
LEAST_GAIN = 1e-4


def search_locally(problem: CutProblem, start: Candidate, moves: int) -> Candidate:
    """Return the candidate after a local search of at most `moves` moves, each of which lowered the score."""
    best, least = start, problem.score(start.times)
    for _ in range(moves):
        neighbours = _neighbours(problem, best)
        if not neighbours:
            break
        # A neighbour differs from the present tree in a few leaves, and only these are evaluated anew. `low` and `high`
        # are (trees, leaves, 3).
        leaves, owners = best.tree.leaves, best.owners
        low, high = (np.stack([getattr(tree, end)[leaves] for tree in neighbours]) for end in ("low", "high"))
        changed = np.any((low != best.tree.low[leaves]) | (high != best.tree.high[leaves]), axis=2)
        chunk_s = np.tile(best.times.chunk_s, (len(neighbours), 1))
        chunk_s[changed] = problem.cost.chunk_seconds(problem.cell, low[changed], high[changed])
        found = [
            times(problem.cell, a, b, owners, len(problem.speeds), problem.cost, seconds)
            for a, b, seconds in zip(low, high, chunk_s, strict=True)
        ]
        scores = [problem.score(one) for one in found]
        first = int(np.argmin(scores))
        if scores[first] >= least * (1 - LEAST_GAIN):
            break
        best, least = Candidate(neighbours[first], owners, found[first]), scores[first]
    return best


def _neighbours(problem: CutProblem, now: Candidate) -> list[Tree]:
    """Return the trees in which one cut above a leaf of the slowest rank is moved and no chunk is empty."""
    tree, slowest = now.tree, int(np.argmax(now.times.rank_s / problem.speeds))
    parent = {int(c): i for i in range(len(tree.left)) for c in (tree.left[i], tree.right[i]) if c >= 0}
    ancestors: dict[int, None] = {}
    for node in set(tree.leaves[now.owners == slowest].tolist()):
        while node in parent:
            node = parent[node]
            ancestors[node] = None
    found = []
    for node in ancestors:
        axis, at = int(tree.axis[node]), int(tree.at[node])
        wanted = {at + step for step in STEPS} | problem.cell.layer_borders(axis)
        room = range(int(tree.low[node, axis]) + 1, int(tree.high[node, axis]))
        for place in sorted((w for w in wanted if w in room and w != at), key=lambda w: abs(w - at))[:MOST_PLACES]:
            cuts = tree.at.copy()
            cuts[node] = place
            moved = tree.with_cuts(cuts)
            if np.all(moved.low < moved.high):
                found.append(moved)
    return found
