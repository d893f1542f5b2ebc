"""Outer shells of the measured range: runs held out to estimate extrapolation errors.

Errors inside the range don't show which model extrapolates well. So the runs of an outer shell are held out, and a
model learns from the inner runs. Its errors in the shell estimate its errors beyond the whole range.

Examples
--------
>>> import pandas as pd
>>> from evenly import Space
>>> from evenly.models.inputs.coding import Coding
>>> coding = Coding.learn(table := pd.DataFrame({"n": [10.0, 100.0, 1000.0, 10000.0]}), Space.from_data(table))
>>> asked = coding.inputs(pd.DataFrame({"n": [50.0, 20000.0]}))
>>> sides(asked).ravel()
array([0, 1])
>>> outer_shell(coding.inputs(table), 0.3).outer
array([False, False, False,  True])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.inputs.coding import Inputs

__all__ = ["Shell", "outer_shell", "outer_shells", "sides"]

#: A number lies outside the range if its distance exceeds this, in half-ranges. Rounding errors are far smaller.
_EDGE = 1e-9
#: Least number of runs in a shell; in small tables, a sixth of all runs.
_FEWEST = 6
SHARES = (0.15, 0.3, 0.45)


def sides(inputs: Inputs) -> Ints:
    """Return for each coded number -1 below the learned range, 0 inside, or 1 above, (n, n_numeric)."""
    return np.where(np.abs(inputs.numbers) > 1 + _EDGE, np.sign(inputs.numbers), 0).astype(np.int64)


@dataclass(frozen=True)
class Shell:
    """The runs in the outer part of a range (held out), and those in the inner part.

    Attributes
    ----------
    inner, outer : array of bool (n,)
        Masks of the runs to learn from and of the runs to predict. A run may be in neither.
    low, high : array (n_numeric,)
        Bounding box of the inner runs, in coded numbers.
    """

    inner: Flags
    outer: Flags
    low: Floats
    high: Floats

    def beyond(self, inputs: Inputs) -> Floats:
        """Return the distance of configurations from the inner box, in half-ranges of that box, (n,)."""
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
        Share of each parameter's range to hold out, between 0 and 1.
    signs : sequence of int (n_numeric,), optional
        The side to hold out for each parameter: 1 the upper, -1 the lower, 0 neither. By default the upper side of
        each.

    Returns
    -------
    Shell or None
        None if there are too few runs in the shell or inside it. With several parameters, only runs that lie outside
        in at least two of them are predicted, if there are enough such runs.
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
    """Return shells of several widths, without duplicates."""
    found: list[Shell] = []
    for share in shares:
        shell = outer_shell(inputs, share, signs)
        if shell is not None and not any(np.array_equal(shell.inner, other.inner) for other in found):
            found.append(shell)
    return found
