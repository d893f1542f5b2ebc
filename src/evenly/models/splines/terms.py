"""Terms of an adaptive spline: products of hinges of numeric inputs and indicators of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs

__all__ = ["Factor", "Term", "design", "terms_from_state", "terms_to_state"]


@dataclass(frozen=True, order=True)
class Factor:
    """A function of one input: a hinge, a line, or the indicator of a label.

    Attributes
    ----------
    input : int
        Position among the numeric parameters, or, if `kind` is "label", among the categorical parameters.
    kind : {"above", "below", "line", "label"}
        ``max(0, x - knot)``, ``max(0, knot - x)``, ``x - knot``, or the indicator of the label at position `knot`.
    knot : float
        The knot, or the position of the label.
    """

    input: int
    kind: str
    knot: float

    def values(self, inputs: Inputs) -> Floats:
        """Return the factor's values at n configurations, (n,)."""
        if self.kind == "label":
            return np.asarray(inputs.labels[:, self.input] == int(self.knot), dtype=np.float64)
        distance = inputs.numbers[:, self.input] - self.knot
        if self.kind == "line":
            return distance
        return np.maximum(distance if self.kind == "above" else -distance, 0.0)


#: A product of factors of different inputs, in sorted order. The empty product is the constant 1. The length is the
#: degree.
Term = tuple[Factor, ...]


def design(terms: Sequence[Term], inputs: Inputs) -> Floats:
    """Return the design matrix of terms, (n, n_terms); each different factor is evaluated once."""
    known: dict[Factor, Floats] = {}
    matrix = np.ones((len(inputs), len(terms)), order="F")
    for column, term in zip(matrix.T, terms, strict=True):
        for factor in term:
            if factor not in known:
                known[factor] = factor.values(inputs)
            column *= known[factor]
    return matrix


_KINDS = ("above", "below", "line", "label")


def terms_to_state(terms: Iterable[Term]) -> dict[str, Any]:
    """Return the state as a dict, which `terms_from_state` reads."""
    terms = list(terms)
    factors = [factor for term in terms for factor in term]
    return {
        "degrees": np.array([len(term) for term in terms], np.uint8),
        "inputs": np.array([factor.input for factor in factors], np.uint16),
        "kinds": np.array([_KINDS.index(factor.kind) for factor in factors], np.uint8),
        "knots": np.array([factor.knot for factor in factors], np.float64),
    }


def terms_from_state(state: Mapping[str, Any]) -> list[Term]:
    """Restore the state from the result of `terms_to_state`."""
    columns = (np.asarray(state[name]).tolist() for name in ("inputs", "kinds", "knots"))
    factors = [Factor(i, _KINDS[kind], knot) for i, kind, knot in zip(*columns, strict=True)]
    ends = np.cumsum(np.asarray(state["degrees"], dtype=np.int64))
    return [tuple(factors[end - degree : end]) for end, degree in zip(ends, state["degrees"], strict=True)]
