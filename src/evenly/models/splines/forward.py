"""The forward pass: pairs of hinges, or indicators of labels, that lower the squares most, one step after the other.

Parents are tried in the order of a queue: those that promised most when last tried, and a little more the longer that
is ago; only the first few of them are tried at each step [Friedman, Fast MARS, 1993, section 3.1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.models.splines import kernels
from evenly.models.splines.terms import Factor, Term

__all__ = ["Limits", "forward"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: By how many places a parent moves up in the queue for each step since it was tried.
_AGEING = 1.0
_RISK = 0.05


@dataclass(frozen=True)
class Limits:
    """How far the forward pass goes.

    Attributes
    ----------
    terms : int
        Columns beside the constant at most.
    degree : int
        Inputs that interact at most.
    parents : int
        How many parents are tried at each step.
    span : int, optional
        Runs between two knots; Friedman's equation 43 by default.
    end : int, optional
        Runs outside the first and the last knot; Friedman's equation 45 by default.
    knots : int
        How many knots are tried on one input at most.
    least : float
        The pass ends when a step lowers the squares by less than this share of those at the beginning.
    """

    terms: int = 100
    degree: int = 2
    parents: int = 20
    span: int | None = None
    end: int | None = None
    knots: int = 100
    least: float = 1e-5

    def spacing(self, active: int, inputs: int) -> tuple[int, int]:
        """Return how many runs lie between knots and outside the outermost, where `active` runs have the parent."""
        d = max(inputs, 1)
        between = -math.log2(-math.log(1 - _RISK) / (d * max(active, 1))) / 2.5
        outside = 3 - math.log2(_RISK / d)
        span = max(1, round(between)) if self.span is None else self.span
        # On few runs the outermost tenth is the most that knots may be kept away from.
        end = max(1, min(round(outside), active // 10)) if self.end is None else self.end
        return max(span, active // self.knots), end


@dataclass
class _Split:
    """What a parent and an input gain, at which knot or label."""

    gain: float = 0.0
    parent: int = 0
    factors: tuple[Factor, ...] = ()


@dataclass
class _Parent:
    term: Term
    column: Floats
    promise: float = math.inf
    tried: int = 0
    active: int = field(init=False)

    def __post_init__(self) -> None:
        self.active = int(np.count_nonzero(self.column))


class _Search:
    """State of a forward pass: terms, orthonormal columns, the residual."""

    def __init__(self, inputs: Inputs, y: Floats, roots: Floats, limits: Limits) -> None:
        self.inputs, self.roots, self.limits = inputs, roots, limits
        self.numbers = [np.ascontiguousarray(column) for column in inputs.numbers.T]
        self.orders = [np.argsort(-column, kind="stable") for column in self.numbers]
        self.codes = [np.ascontiguousarray(column) for column in inputs.labels.T]
        self.q = np.zeros((len(y), limits.terms + 1))
        self.used = 0
        self.residual = y * roots
        self.parents: list[_Parent] = []
        self.add(Term(), roots.copy())

    def add(self, term: Term, column: Floats) -> bool:
        """Take in a column unless it lies in the span; say whether it did not."""
        length = float(np.linalg.norm(column))
        rest, q = column.copy(), self.q[:, : self.used]
        for _ in range(2):
            rest -= q @ (q.T @ rest)
        left = float(np.linalg.norm(rest))
        if not left > 1e-5 * length:
            return False
        self.q[:, self.used] = rest / left
        self.residual = self.residual - self.q[:, self.used] * float(self.q[:, self.used] @ self.residual)
        self.used += 1
        self.parents.append(_Parent(term, column))
        return True

    def queue(self, step: int) -> list[int]:
        """Return the numbers of the parents to try."""
        able = [n for n, parent in enumerate(self.parents) if parent.term.degree < self.limits.degree]
        ranked = sorted(able, key=lambda n: (-self.parents[n].promise, n))
        places = {n: place - _AGEING * (step - self.parents[n].tried) for place, n in enumerate(ranked)}
        return sorted(able, key=lambda n: (math.isfinite(self.parents[n].promise), places[n], n))[: self.limits.parents]

    def try_parent(self, number: int, step: int) -> _Split:
        """Return the best split of a parent; remember what it promises."""
        best, parent = _Split(), self.parents[number]
        inputs = len(self.numbers) + len(self.codes)
        span, end = self.limits.spacing(parent.active, inputs)
        for k in range(len(self.numbers)):
            if not parent.term.uses((False, k)):
                split = self._try_number(number, k, span, end)
                best = split if split.gain > best.gain * (1 + 1e-9) else best
        for k, size in enumerate(self.inputs.sizes):
            if not parent.term.uses((True, k)):
                gains = kernels.label_gains(
                    self.codes[k], size, parent.column, self.q, self.used, self.residual, max(1, end // 2)
                )
                label = int(np.argmax(gains))
                if gains[label] > best.gain * (1 + 1e-9):
                    best = _Split(float(gains[label]), number, (Factor(k, "label", float(label)),))
        parent.promise, parent.tried = best.gain, step
        return best

    def _try_number(self, number: int, k: int, span: int, end: int) -> _Split:
        parent = self.parents[number]
        gain, knot, new = kernels.best_knot(
            self.orders[k], self.numbers[k], parent.column, self.q, self.used, self.residual, span, end
        )
        if math.isnan(knot):
            return _Split(gain, number, (Factor(k, "line", 0.0),) if new else ())
        pair = (Factor(k, "above", knot), Factor(k, "below", knot))
        return _Split(gain, number, pair if new else pair[:1])

    def take(self, split: _Split) -> bool:
        """Add the columns of a split; say whether any was new."""
        parent = self.parents[split.parent]
        found = False
        for factor in split.factors:
            if self.used <= self.limits.terms:
                column = parent.column * factor.values(self.inputs)
                found = self.add(parent.term.times(factor), column) or found
        return found


def forward(inputs: Inputs, y: Floats, weights: Floats, limits: Limits) -> list[Term]:
    """Return terms, the constant first, whose columns are linearly independent.

    Parameters
    ----------
    inputs : Inputs
        n configurations.
    y : array (n,)
    weights : array (n,)
        Of mean 1.
    limits : Limits
    """
    search = _Search(inputs, y, np.sqrt(weights), limits)
    first = float(search.residual @ search.residual)
    step = 0
    while search.used <= limits.terms and search.used < len(y):
        step += 1
        splits = [search.try_parent(number, step) for number in search.queue(step)]
        best = max(splits, key=lambda split: split.gain, default=_Split())
        if not best.gain > limits.least * first or not search.take(best):
            break
    return [parent.term for parent in search.parents]
