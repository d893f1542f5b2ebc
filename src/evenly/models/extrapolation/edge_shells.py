"""Configurations beyond the range learned on, and outer shells of that range that stand in for them.

What extrapolates well can't be seen inside the range. So the runs of an outer shell are held out, a model learns from
the others, and its errors in the shell say what errors beyond the whole range will be: the only validation that doesn't
need the runs one doesn't have.

Examples
--------
>>> import pandas as pd
>>> from evenly import Space
>>> from evenly.models.inputs.coding import Coding
>>> coding = Coding.learn(table := pd.DataFrame({"n": [10.0, 100.0, 1000.0, 10000.0]}), Space.from_data(table))
>>> asked = coding.inputs(pd.DataFrame({"n": [50.0, 20000.0]}))
>>> asked_beyond(asked)
array([False,  True])
>>> outer_shell(coding.inputs(table), 0.3).outer
array([False, False, False,  True])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs

__all__ = ["Shell", "asked_beyond", "outer_shell", "outer_shells", "sides"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
#: Further than this from the range, in half-ranges, is beyond it; rounding of logarithms is far smaller.
_EDGE = 1e-9
#: A shell with fewer runs than this, or with fewer inside it, tells nothing; of a small table a sixth is enough.
_FEWEST = 6
SHARES = (0.15, 0.3, 0.45)


def sides(inputs: Inputs) -> Ints:
    """Tell for each number on which side of the range learned on it lies: -1, 0 (inside) or 1, (n, n_numeric)."""
    return np.where(np.abs(inputs.numbers) > 1 + _EDGE, np.sign(inputs.numbers), 0).astype(np.int64)


def asked_beyond(inputs: Inputs) -> Flags:
    """Tell which configurations lie beyond the range learned on, (n,)."""
    return np.asarray(sides(inputs).any(axis=1))


@dataclass(frozen=True)
class Shell:
    """Runs of the outer part of a range, and those inside it.

    Attributes
    ----------
    inner, outer : array of bool (n,)
        Runs to learn from and runs to predict; others are neither.
    low, high : array (n_numeric,)
        The box of the inner runs, in coded numbers.
    """

    inner: Flags
    outer: Flags
    low: Floats
    high: Floats

    def beyond(self, inputs: Inputs) -> Floats:
        """How far outside the inner box configurations lie, in its half-ranges, (n,)."""
        half = np.where(self.high > self.low, (self.high - self.low) / 2, 1.0)
        x = inputs.numbers
        over = np.maximum(np.maximum(x - self.high, self.low - x), 0.0) / half
        return np.asarray(np.linalg.norm(over, axis=1))


def outer_shell(inputs: Inputs, share: float, signs: Sequence[int] | None = None) -> Shell | None:
    """Hold out the outer part of the measured range.

    Parameters
    ----------
    inputs : Inputs
        Runs (n, …), coded by the range that they span.
    share : float
        Part of each range that is held out, between 0 and 1.
    signs : sequence of int (n_numeric,), optional
        On which side of which parameters: 1 the upper, -1 the lower, 0 neither. The upper side of all by default.

    Returns
    -------
    Shell or None
        None where there are too few runs in the shell or inside it. Where several parameters are named, runs that are
        in the shell by two of them at least are predicted, if there are enough.
    """
    side = np.ones(inputs.numbers.shape[1]) if signs is None else np.asarray(signs, dtype=np.float64)
    within = (inputs.numbers * side > 1 - 2 * share) & (side != 0)
    inner = ~within.any(axis=1)
    fewest = int(np.clip(len(inputs) // 6, 1, _FEWEST))
    corner = within.sum(axis=1) >= 2
    outer = corner if np.sum(corner) >= 2 * fewest else ~inner
    if np.sum(outer) < fewest or np.sum(inner) < 2 * fewest + 1:
        return None
    there = inputs.numbers[inner]
    return Shell(inner, outer, there.min(axis=0), there.max(axis=0))


def outer_shells(inputs: Inputs, signs: Sequence[int] | None = None, shares: Sequence[float] = SHARES) -> list[Shell]:
    """Hold out shells of several widths, the same one only once."""
    found: list[Shell] = []
    for share in shares:
        shell = outer_shell(inputs, share, signs)
        if shell is not None and not any(np.array_equal(shell.inner, other.inner) for other in found):
            found.append(shell)
    return found
