"""The forward pass of MARS: each step adds the pair of hinges, or the indicator of a label, that lowers squares most.

Algorithm 2 of Friedman, *Multivariate Adaptive Regression Splines*, Annals of Statistics 19, 1991. A step looks at the
terms found so far (the parents), at every input, and at every knot or label of it. It adds the parent times the two
hinges at the best knot. Not all parents are tried at each step: they wait in a priority queue, ordered by what they
promised when they were last tried and by how long ago that was [Friedman, *Fast MARS*, 1993, section 3.1].
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
#: By how many places a parent moves up in the queue for each step since it was tried: Fast MARS' ageing factor.
_AGEING = 1.0
#: Friedman's alpha: the probability with which a run of noise of one sign may look like a bend.
_RISK = 0.05
#: A split must gain more than another by this share to be preferred: rounding must not decide.
_MORE = 1 + 1e-9
#: A column whose part outside the span of the others is shorter than this share of it adds nothing.
_LEAST_LENGTH = 1e-5


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


@dataclass
class _Split:
    """What splitting a parent along one input gains, and the one or two factors that do it."""

    gain: float = 0.0
    parent: int = 0
    factors: Term = ()


@dataclass
class _Parent:
    """A term with its column (n,), the gain that it promised when last tried, and the step of that."""

    term: Term
    column: Floats
    promise: float = math.inf
    tried: int = 0


@dataclass
class _Search:
    """State of a forward pass on n rows.

    Attributes
    ----------
    limits : Limits
    numbers : array (n_numeric, n)
    orders : list of arrays (n,)
        Rows by falling value of each number.
    codes : array (n_categorical, n)
    sizes : tuple of int
        How many labels each categorical parameter has.
    residual : array (n,)
        Of the response, times the square roots of the weights.
    q : array (n, terms + 1)
        Orthonormal basis of the columns, in the first `used` places.
    parents : list of _Parent
        The terms found so far.
    """

    limits: Limits
    numbers: Floats
    orders: list[Ints]
    codes: Ints
    sizes: tuple[int, ...]
    residual: Floats
    q: Floats
    used: int = 0
    parents: list[_Parent] = field(default_factory=list)

    def add(self, term: Term, column: Floats) -> bool:
        """Take in a column unless it lies in the span; say whether it did not."""
        length = float(np.linalg.norm(column))
        rest, q = column.copy(), self.q[:, : self.used]
        # Gram-Schmidt, twice: once loses digits where the column is nearly in the span.
        for _ in range(2):
            rest -= q @ (q.T @ rest)
        left = float(np.linalg.norm(rest))
        if not left > _LEAST_LENGTH * length:
            return False
        self.q[:, self.used] = rest / left
        self.residual = self.residual - self.q[:, self.used] * float(self.q[:, self.used] @ self.residual)
        self.used += 1
        self.parents.append(_Parent(term, column))
        return True

    def best_split(self, number: int, step: int) -> _Split:
        """Return the split of a parent that lowers the squares most; remember what it promises."""
        best, parent = _Split(), self.parents[number]
        basis = self.q, self.used, self.residual
        # Knots keep a distance from each other, L = -log2(-ln(1 - alpha) / (d n)) / 2.5 of equation 43, and from the
        # ends, Le = 3 - log2(alpha / d) of equation 45, in runs where the parent isn't zero.
        limits, active = self.limits, int(np.count_nonzero(parent.column))
        d = max(len(self.numbers) + len(self.codes), 1)
        between = -math.log2(-math.log(1 - _RISK) / (d * max(active, 1))) / 2.5
        span = max(1, round(between)) if limits.span is None else limits.span
        span = max(span, active // limits.knots)
        # On few runs the outermost tenth is the most that knots may be kept away from.
        outside = min(round(3 - math.log2(_RISK / d)), active // 10)
        end = max(1, outside) if limits.end is None else limits.end
        # An input enters a term once only.
        taken = {(factor.kind == "label", factor.input) for factor in parent.term}
        for k, x in enumerate(self.numbers):
            if (False, k) in taken:
                continue
            gain, knot, new = kernels.best_knot(self.orders[k], x, parent.column, *basis, span, end)
            if gain > best.gain * _MORE:
                # Where parent · x is in the span already, one hinge spans what the pair does.
                if math.isnan(knot):
                    factors: Term = (Factor(k, "line", 0.0),) if new else ()
                else:
                    factors = (Factor(k, "above", knot), Factor(k, "below", knot))[: 2 if new else 1]
                best = _Split(gain, number, factors)
        for k, size in enumerate(self.sizes):
            if (True, k) in taken:
                continue
            gains = kernels.label_gains(self.codes[k], size, parent.column, *basis, max(1, end // 2))
            label = int(np.argmax(gains))
            if gains[label] > best.gain * _MORE:
                best = _Split(float(gains[label]), number, (Factor(k, "label", float(label)),))
        parent.promise, parent.tried = best.gain, step
        return best


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
    roots = np.sqrt(weights)
    numbers, codes = np.ascontiguousarray(inputs.numbers.T), np.ascontiguousarray(inputs.labels.T)
    orders = [np.argsort(-column, kind="stable") for column in numbers]
    q = np.zeros((len(y), limits.terms + 1))
    search = _Search(limits, numbers, orders, codes, inputs.sizes, y * roots, q)
    search.add((), roots.copy())
    parents = search.parents
    first = float(search.residual @ search.residual)
    step = 0
    while search.used <= limits.terms and search.used < len(y):
        step += 1
        # The queue of Fast MARS: rank by promise, move up with age, and try new parents first.
        able = [n for n, parent in enumerate(parents) if len(parent.term) < limits.degree]
        ranked = sorted(able, key=lambda n: (-parents[n].promise, n))
        places = {n: place - _AGEING * (step - parents[n].tried) for place, n in enumerate(ranked)}
        able.sort(key=lambda n: (math.isfinite(parents[n].promise), places[n], n))
        splits = [search.best_split(number, step) for number in able[: limits.parents]]
        best = max(splits, key=lambda split: split.gain, default=_Split())
        if not best.gain > limits.least * first:
            break
        # Parent times each factor: new terms, but for columns in the span of the others.
        parent, before = parents[best.parent], search.used
        for factor in best.factors:
            if search.used <= limits.terms:
                search.add(tuple(sorted((*parent.term, factor))), parent.column * factor.values(inputs))
        if search.used == before:
            break
    return [parent.term for parent in parents]
