"""Diagnosis of measured times: estimates which ranks are slow, and which terms and regions the cost model misjudges.

A single measurement can't tell a slow rank from a region that the cost model misjudges. Measurements on several layouts
can, if points change owner: a rank keeps its speed, and a region keeps its cost. So one model is fitted to all
measurements together. It predicts the logarithm of each rank's time from the cost model's prediction and these unknown
factors, all logarithmic:

- a slowness of each rank,
- a factor for each term of the cost model,
- a factor for each leaf of each measured layout, which stays with the region that the leaf covered, and
- an overall factor for each measurement.

Each unknown has a Gaussian prior of mean 0: ranks vary by `speed_spread`, and terms and regions by the cost model's
known error. The residuals are noise. The maximum a posteriori estimate follows from a few linear systems with one
equation per measured rank (Gauss-Newton; A. Tarantola, Inverse Problem Theory, SIAM 2005, chapter 3).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.partitioning.predict import times
from evenly.decomposition.rebalancing.corrected_cost import CorrectedCost, in_bulk

__all__ = ["Explanation", "Observation", "Spreads", "explain"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Most equations that are solved at once; with more ranks than this, only the ranks' speeds are estimated.
MOST_EQUATIONS = 1024
#: Most blocks for the regions; if the cuts need more, no regional factors are estimated.
MOST_BLOCKS = 200_000
#: Prior spread of a term's factor over that of a rank's share; the errors of terms partly average out in a share.
TERM_SPREAD = 4.0
_ROUNDS = 30
_CONVERGED = 1e-4
_ANY = 5.0


@dataclass(frozen=True)
class Observation:
    """A measurement: the ranks' times on one layout.

    Parameters
    ----------
    low, high : (leaves, 3)
        Corners of the leaves: first grid index and one past the last.
    owners : (leaves,)
        The rank that owns each leaf.
    seconds : (ranks,)
        Measured seconds per step of each rank; 0 for ranks that own nothing.
    noise : float
        Relative standard error of a rank's seconds.
    """

    low: Ints
    high: Ints
    owners: Ints
    seconds: Array
    noise: float


@dataclass(frozen=True)
class Spreads:
    """Relative standard deviations of the prior.

    Parameters
    ----------
    speed : float
        Spread of the ranks' speeds.
    model : float
        Spread of terms and regions around the cost model.
    """

    speed: float
    model: float


@dataclass(frozen=True)
class Explanation:
    """Result of the diagnosis: the ranks' speeds and the corrected cost model.

    Parameters
    ----------
    speeds : (ranks,)
        Relative speed of each rank: a rank of speed 0.5 takes twice as long.
    cost : CorrectedCost
        Costs in seconds of a rank of speed 1, at the overall level of the last measurement.
    """

    speeds: Array
    cost: CorrectedCost


def explain(seen: Sequence[Observation], cell: Cell, cost: CostModel, spreads: Spreads) -> Explanation:
    """Return the most probable speeds and costs given all measurements (maximum a posteriori).

    Parameters
    ----------
    seen : sequence of Observation
        The measurements in time order, all with the same number of ranks.
    cell : Cell
    cost : CostModel
        The cost model before correction.
    spreads : Spreads
        Standard deviations of the prior.
    """
    ranks = len(seen[-1].seconds)
    if ranks > MOST_EQUATIONS:
        return _by_speed(seen[-1], cell, cost, spreads)
    seen = seen[-max(1, MOST_EQUATIONS // ranks) :]
    problem = _Problem(seen, cell, cost, _Blocks.of(seen, cell, cost))
    return problem.explanation(problem.solved(spreads), cost)


def _by_speed(last: Observation, cell: Cell, cost: CostModel, spreads: Spreads) -> Explanation:
    predicted = times(cell, last.low, last.high, last.owners, len(last.seconds), cost).rank_s
    there = (predicted > 0) & (last.seconds > 0)
    ratio = np.log(last.seconds, where=there, out=np.zeros_like(predicted))
    ratio -= np.log(predicted, where=there, out=np.zeros_like(predicted))
    whole = float(ratio[there].mean())
    share = spreads.speed**2 / (spreads.speed**2 + last.noise**2)
    slow = np.where(there, (ratio - whole) * share, 0.0)
    names = [term.name for term in program_named(cost.program).all_terms]
    return Explanation(np.exp(-slow), CorrectedCost.of(cost, dict.fromkeys(names, float(np.exp(whole)))))


@dataclass(frozen=True)
class _Blocks:
    """Blocks of the cell that no cut of any measured layout crosses, with the model's seconds (blocks,) in each.

    The seconds cover only terms that grow with volume (`in_bulk`).
    """

    edges: tuple[Ints, Ints, Ints]
    seconds: Array
    #: The leaf of each measured layout in which each block lies, (measurements, blocks).
    leaf: Ints

    @classmethod
    def of(cls, seen: Sequence[Observation], cell: Cell, cost: CostModel) -> _Blocks | None:
        corners = [np.concatenate([o.low, o.high]) for o in seen]
        cuts = [np.unique(np.concatenate(corners)[:, axis]) for axis in range(3)]
        fine = [np.unique(np.concatenate([c, _even(n)])) for c, n in zip(cuts, cell.grid.shape, strict=True)]
        for edges in (fine, cuts):
            if np.prod([len(e) - 1 for e in edges]) <= MOST_BLOCKS:
                break
        else:
            return None
        x, y, z = edges
        low, high = (np.stack([g.ravel() for g in np.meshgrid(*part, indexing="ij")], axis=1)
                     for part in ([e[:-1] for e in edges], [e[1:] for e in edges]))  # fmt: skip
        names = [term.name for term in program_named(cost.program).terms]
        bulk = {name for name, spread in zip(names, in_bulk(cost.program), strict=True) if spread}
        kept = {name: c for name, c in cost.coefficients.items() if name in bulk}
        seconds = replace(cost, coefficients=kept).chunk_seconds(cell, low, high)
        leaf = np.stack([_leaf_of(o, (x, y, z)) for o in seen])
        return cls((x, y, z), np.maximum(seconds, 1e-12 * seconds.max()), leaf)

    def regions(self, factors: Array) -> Survey:
        """Return the survey `CorrectedCost.regions` made from a factor for each block, (blocks,)."""
        shape = [len(e) - 1 for e in self.edges]
        values = np.stack([self.seconds, self.seconds * factors], axis=1)
        return Survey.of_blocks(self.edges, ("model", "measured"), values.reshape(*shape, 2))


def _even(n: int) -> Ints:
    """Return the edges of at most 12 equal blocks along an axis of n points; costs inside a block count as even."""
    return np.unique(np.rint(np.linspace(0, n, min(n, 12) + 1)).astype(np.int64))


def _leaf_of(seen: Observation, edges: tuple[Ints, Ints, Ints]) -> Ints:
    """Return the leaf of a measured layout in which each block lies, (blocks,)."""
    found = np.zeros([len(e) - 1 for e in edges], dtype=np.int64)
    ends = [[np.searchsorted(e, corner[:, a]) for a, e in enumerate(edges)] for corner in (seen.low, seen.high)]
    for leaf in range(len(seen.low)):
        x, y, z = (slice(ends[0][a][leaf], ends[1][a][leaf]) for a in range(3))
        found[x, y, z] = leaf
    return found.ravel()


class _Problem:
    """The equations of all measurements.

    The unknowns, all logarithms, are in this order: slowness of the ranks, factors of the terms (borders last), an
    offset for each measurement, and factors of the leaves of each measurement.
    """

    def __init__(self, seen: Sequence[Observation], cell: Cell, cost: CostModel, blocks: _Blocks | None) -> None:
        self._seen, self._blocks = seen, blocks
        self._ranks = len(seen[-1].seconds)
        self._terms = [term.name for term in program_named(cost.program).terms]
        self._bulk = in_bulk(cost.program)
        self._charges = [_charges(o, cell, cost) for o in seen]
        sizes = [self._ranks, len(self._terms) + 1, len(seen), *(len(o.low) if blocks else 0 for o in seen)]
        ends = np.cumsum([0, *sizes])
        self._parts = [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]
        self._size = int(ends[-1])
        # Measured over predicted total time of each measurement; dividing by it makes the unit of times irrelevant.
        self._levels = [self._level(number) for number in range(len(seen))]

    def solved(self, spreads: Spreads) -> Array:
        """Return the maximum a posteriori estimate of all unknowns (logarithms of factors), (unknowns,)."""
        variance = np.full(self._size, spreads.model**2)
        variance[self._parts[0]] = spreads.speed**2
        variance[self._parts[1]] = (TERM_SPREAD * spreads.model) ** 2
        variance[self._parts[2]] = _ANY**2
        rows = [self._measured(number) for number in range(len(self._seen))]
        shares = zip(self._seen, rows, self._levels, strict=True)
        measured = np.concatenate([np.log(o.seconds[r] / level) for o, r, level in shares])
        noise = np.concatenate([np.full(len(r), o.noise**2) for o, r in zip(self._seen, rows, strict=True)])
        state = np.zeros(self._size)
        free = np.ones(self._size, dtype=bool)
        free[self._parts[2]] = False
        # Gauss-Newton: with predictions g, derivatives G, prior covariance C and noise N, the next state is
        # C Gᵀ (G C Gᵀ + N)⁻¹ (measured - g + G state), for a prior of mean 0.
        for _ in range(_ROUNDS):
            made = [self._linear(state, number, r) for number, r in enumerate(rows)]
            predicted, slope = (np.concatenate(part) for part in zip(*made, strict=True))
            weighted = slope * variance
            wanted = weighted.T @ np.linalg.solve(
                weighted @ slope.T + np.diag(noise), measured - predicted + slope @ state
            )
            change = wanted - state
            # The offsets enter linearly. The other unknowns change by at most 1 per round, lest the step overshoots.
            change[free] *= min(1.0, 1 / max(1e-300, float(np.abs(change[free]).max())))
            state = state + change
            if np.abs(change).max() < _CONVERGED:
                break
        return np.asarray(state)

    def _level(self, number: int) -> float:
        of_leaf, border = self._charges[number]
        return float(self._seen[number].seconds.sum() / (of_leaf.sum() + border.sum()))

    def _measured(self, number: int) -> Ints:
        """Return the ranks whose measured and predicted times are both above 0."""
        (of_leaf, border), seen = self._charges[number], self._seen[number]
        predicted = np.bincount(seen.owners, of_leaf.sum(axis=1), self._ranks) + border
        return np.flatnonzero((seen.seconds > 0) & (predicted > 0))

    def _linear(self, state: Array, number: int, rows: Ints) -> tuple[Array, Array]:
        """Return the logarithms of predicted times of ranks (rows,) and their derivatives (rows, unknowns)."""
        slow, term, offset = (state[part] for part in self._parts[:3])
        of_leaf, border = self._charges[number]
        owners = self._seen[number].owners
        factor, overlaps = self._leaf_factors(state, number)
        charged = of_leaf * np.exp(term[:-1]) * np.where(self._bulk, factor[:, None], 1.0)
        edge = border * np.exp(term[-1])
        total = np.bincount(owners, charged.sum(axis=1), self._ranks) + edge
        slope = np.zeros((self._ranks, self._size))
        slope[:, self._parts[0]] = np.eye(self._ranks)
        by_term = np.stack([*(np.bincount(owners, c, self._ranks) for c in charged.T), edge], axis=1)
        safe = np.where(total > 0, total, 1.0)
        slope[:, self._parts[1]] = by_term / safe[:, None]
        slope[:, self._parts[2].start + number] = 1.0
        share = charged[:, self._bulk].sum(axis=1) / safe[owners]
        for part, overlap in zip(self._parts[3:], overlaps, strict=False):
            np.add.at(slope[:, part], owners, share[:, None] * overlap)
        return np.log(safe[rows]) + slow[rows] + offset[number], slope[rows]

    def _leaf_factors(self, state: Array, number: int) -> tuple[Array, list[Array]]:
        """Return the regional factor of each leaf of a measurement, (leaves,), and its derivatives.

        The derivatives are of the factor's logarithm by the unknowns of every measurement's leaves: one array (leaves,
        other measurement's leaves) for each measurement.
        """
        leaves = len(self._seen[number].low)
        if self._blocks is None:
            return np.ones(leaves), []
        mine = self._blocks.leaf[number]
        weights = self._blocks.seconds * self._block_factors(state)
        measured = np.bincount(mine, weights, leaves)
        overlaps = []
        for other, seen in enumerate(self._seen):
            pair = mine * len(seen.low) + self._blocks.leaf[other]
            shared = np.bincount(pair, weights, leaves * len(seen.low)).reshape(leaves, -1)
            overlaps.append(shared / measured[:, None])
        return measured / np.bincount(mine, self._blocks.seconds, leaves), overlaps

    def _block_factors(self, state: Array) -> Array:
        assert self._blocks is not None  # noqa: S101 - asked only where there are some
        logs = [state[part][leaf] for part, leaf in zip(self._parts[3:], self._blocks.leaf, strict=True)]
        return np.asarray(np.exp(np.sum(logs, axis=0)))

    def explanation(self, state: Array, cost: CostModel) -> Explanation:
        """Return the speeds and the corrected cost model that the unknowns stand for."""
        slow, term, offset = (state[part] for part in self._parts[:3])
        whole = np.exp(offset[-1]) * self._levels[-1]
        factors = {name: float(whole * np.exp(a)) for name, a in zip(self._terms, term, strict=False)}
        border = [t.name for t in program_named(cost.program).all_terms if t.name not in factors]
        factors |= dict.fromkeys(border, float(whole * np.exp(term[-1])))
        regions = None if self._blocks is None else self._blocks.regions(self._block_factors(state))
        return Explanation(np.exp(-slow), CorrectedCost.of(cost, factors, regions))


def _charges(seen: Observation, cell: Cell, cost: CostModel) -> tuple[Array, Array]:
    """Return the model's seconds of each term in each leaf, (leaves, terms), and of each rank's borders, (ranks,)."""
    pieces = pieces_of(cell, seen.low, seen.high)
    program = program_named(cost.program)
    charges = program.amounts(pieces) * cost.vector[: len(program.terms)]
    border = times(cell, seen.low, seen.high, seen.owners, len(seen.seconds), cost).border_s
    return pieces.sums(charges, len(seen.low)), border
