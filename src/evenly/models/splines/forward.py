"""The forward pass of MARS: each step adds the product with hinges or with a label's indicator that lowers RSS most.

Algorithm 2 of Friedman, *Multivariate Adaptive Regression Splines*, Annals of Statistics 19, 1991. RSS is the residual
sum of squares. A step tries the existing terms (the parents) with each input and each of its knots or labels. It adds
the parent times the two hinges at the best knot, or times the indicator of the best label. To save time, a step tries
only the first parents of a priority queue. The queue is ordered by the gain that a parent had when it was last tried,
and by how long ago that was [Friedman, *Fast MARS*, 1993].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Inputs
from evenly.models.splines import kernels
from evenly.models.splines.terms import Factor, Term

__all__ = ["Limits", "forward"]

#: Number of places that a parent moves up in the queue per step since it was last tried: Fast MARS' ageing factor.
_AGEING = 1.0
#: Friedman's alpha: the accepted probability that a sequence of errors of one sign looks like a bend.
_RISK = 0.05
#: A split is preferred only if its gain is larger by this factor, so that rounding errors don't decide.
_MORE = 1 + 1e-9
#: A column counts as linearly dependent if its part outside the span of the others is shorter than this share of it.
_LEAST_LENGTH = 1e-5


@dataclass(frozen=True)
class Limits:
    """Limits of the forward pass.

    Attributes
    ----------
    terms : int
        Largest number of columns besides the constant.
    degree : int
        Largest number of inputs in a term.
    parents : int
        Number of parents that a step tries.
    span : int, optional
        Least number of runs between two knots; Friedman's equation 43 by default.
    end : int, optional
        Least number of runs outside the first and the last knot; Friedman's equation 45 by default.
    knots : int
        Largest number of knots that are tried on one input.
    min_gain : float
        The pass ends when a step lowers the RSS by at most this share of the RSS of the constant.
    """

    terms: int = 100
    degree: int = 2
    parents: int = 20
    span: int | None = None
    end: int | None = None
    knots: int = 100
    min_gain: float = 1e-5


@dataclass
class _Split:
    """A split of a parent along one input: its gain (decrease of the RSS), and the one or two new factors."""

    gain: float = 0.0
    parent: int = 0
    factors: Term = ()


@dataclass
class _Parent:
    """A term with its column (n,), its best gain when it was last tried, and the step in which that was."""

    term: Term
    column: Floats
    promise: float = math.inf
    tried: int = 0


@dataclass
class _ForwardPass:
    """State of a forward pass on n rows.

    Attributes
    ----------
    limits : Limits
        Limits of the pass.
    numbers : array (n_numeric, n)
        Coded numeric inputs.
    orders : list of arrays (n,)
        For each numeric input, the rows in descending order of its values.
    codes : array (n_categorical, n)
        Label positions of the categorical inputs.
    sizes : tuple of int
        Number of labels of each categorical input.
    residual : array (n,)
        Residual of the response, times the square roots of the weights.
    q : array (n, terms + 1)
        Orthonormal basis of the columns; the first `used` of its columns are in use.
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
        """Add a term and its column unless the column lies in the span of the others; return whether it was added."""
        length = float(np.linalg.norm(column))
        rest, q = column.copy(), self.q[:, : self.used]
        # Gram-Schmidt, twice: a single pass loses digits if the column is nearly in the span.
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
        """Return the split of a parent that lowers the RSS most; store its gain as the parent's promise."""
        best, parent = _Split(), self.parents[number]
        basis = self.q, self.used, self.residual
        # Least distance between knots, L = -log2(-ln(1 - alpha) / (d n)) / 2.5 of equation 43, and of knots from the
        # ends, Le = 3 - log2(alpha / d) of equation 45. Both are numbers of runs where the parent isn't zero.
        limits, active = self.limits, int(np.count_nonzero(parent.column))
        d = max(len(self.numbers) + len(self.codes), 1)
        between = -math.log2(-math.log(1 - _RISK) / (d * max(active, 1))) / 2.5
        span = max(1, round(between)) if limits.span is None else limits.span
        span = max(span, active // limits.knots)
        # With few runs, the distance from the ends is limited to a tenth of the runs.
        outside = min(round(3 - math.log2(_RISK / d)), active // 10)
        end = max(1, outside) if limits.end is None else limits.end
        # An input may occur only once in a term.
        taken = {(factor.kind == "label", factor.input) for factor in parent.term}
        for k, x in enumerate(self.numbers):
            if (False, k) in taken:
                continue
            gain, knot, new = kernels.best_knot(self.orders[k], x, parent.column, *basis, span, end)
            if gain > best.gain * _MORE:
                # If parent · x is in the span already, one hinge adds the same to the span as the pair.
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
    """Run the forward pass; return the terms, the constant first, whose columns are linearly independent.

    Parameters
    ----------
    inputs : Inputs
        n coded configurations.
    y : array (n,)
        Response.
    weights : array (n,)
        Weights of mean 1.
    limits : Limits
        Limits of the pass.
    """
    roots = np.sqrt(weights)
    numbers, codes = np.ascontiguousarray(inputs.numbers.T), np.ascontiguousarray(inputs.labels.T)
    orders = [np.argsort(-column, kind="stable") for column in numbers]
    q = np.zeros((len(y), limits.terms + 1))
    search = _ForwardPass(limits, numbers, orders, codes, inputs.sizes, y * roots, q)
    search.add((), roots.copy())
    parents = search.parents
    first = float(search.residual @ search.residual)
    step = 0
    while search.used <= limits.terms and search.used < len(y):
        step += 1
        # The queue of Fast MARS: new parents first, then ranked by promise, where each moves up with its age.
        able = [n for n, parent in enumerate(parents) if len(parent.term) < limits.degree]
        ranked = sorted(able, key=lambda n: (-parents[n].promise, n))
        places = {n: place - _AGEING * (step - parents[n].tried) for place, n in enumerate(ranked)}
        able.sort(key=lambda n: (math.isfinite(parents[n].promise), places[n], n))
        splits = [search.best_split(number, step) for number in able[: limits.parents]]
        best = max(splits, key=lambda split: split.gain, default=_Split())
        if not best.gain > limits.min_gain * first:
            break
        # The new terms are the parent times each factor; `add` skips columns in the span of the others.
        parent, before = parents[best.parent], search.used
        for factor in best.factors:
            if search.used <= limits.terms:
                search.add(tuple(sorted((*parent.term, factor))), parent.column * factor.values(inputs))
        if search.used == before:
            break
    return [parent.term for parent in parents]
