"""Trained nets as arrays, and their predictions with numpy, so that a stored net doesn't need JAX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Singles
from evenly.models.stored_dataclass import Stored

__all__ = ["ACTIVATIONS", "Member", "predict_each"]

#: The activations of ensembles, in the order in which their training numbers them.
ACTIVATIONS = ("leaky-relu", "tanh", "silu")
_LEAK = np.float32(0.1)
#: Number of rows per block, so that layers stay in the cache.
_BLOCK = 2048


@dataclass(frozen=True)
class Member(Stored):
    """A multilayer perceptron with one output.

    Attributes
    ----------
    activation : {"leaky-relu", "tanh", "silu", "relu", "sigmoid"}
    weights : list of arrays (n_in, n_out)
    biases : list of arrays (n_out,)
    """

    activation: str
    weights: list[Singles]
    biases: list[Singles]

    def predict(self, x: Singles) -> Singles:
        """Return predictions (n,) for rows x (n, n_columns).

        Examples
        --------
        >>> one = np.ones((1, 1), np.float32)
        >>> net = Member("leaky-relu", [one, one], [np.zeros(1, np.float32), np.ones(1, np.float32)])
        >>> net.predict(np.array([[2.0], [-1.0]], np.float32))
        array([3. , 0.9], dtype=float32)
        """
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for weights, biases in hidden:
            x = x @ weights + biases
            if self.activation == "tanh":
                x = np.tanh(x, out=x)
            elif self.activation == "silu":
                # x / (1 + exp(-x)) = x (1 + tanh(x / 2)) / 2, which doesn't overflow.
                gate = np.tanh(np.float32(0.5) * x)
                gate += np.float32(1)
                gate *= np.float32(0.5) * x
                x = gate
            elif self.activation == "relu":
                x = np.maximum(x, np.float32(0), out=x)
            elif self.activation == "sigmoid":
                x = np.float32(0.5) * (np.float32(1) + np.tanh(np.float32(0.5) * x))
            else:
                x = np.maximum(x, _LEAK * x)
        return np.asarray(x @ last[0][:, 0] + last[1][0])


def predict_each(members: Sequence[Member], x: Singles) -> Singles:
    """Return the predictions of all members for rows x (n, n_columns), (n_members, n)."""
    made = np.empty((len(members), len(x)), np.float32)
    for first in range(0, len(x), _BLOCK):
        rows = x[first : first + _BLOCK]
        for k, member in enumerate(members):
            made[k, first : first + _BLOCK] = member.predict(rows)
    return made
