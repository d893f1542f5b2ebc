"""Counts of cores on which every measured run failed: no model knows of this, since failed runs have no time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evenly.models.base import Model
from evenly.runs.outcomes import Outcomes
from evenly.runs.runs import Runs

__all__ = ["outcomes_of", "told_counts", "told_failed"]


def outcomes_of(model: Model, measured: Runs | None = None) -> Outcomes:
    """Return where runs ended well: what `measured` runs tell, else what the model kept of those it learned from."""
    return Outcomes.from_state(model.training_.get("outcomes", {})) if measured is None else Outcomes.of(measured)


def told_failed(failed: NDArray[np.int64]) -> str:
    """Say which counts (n,) aren't recommended since runs failed there; "" if there are none.

    Examples
    --------
    >>> told_failed(np.array([8, 16]))
    '8, 16 cores are not recommended: all runs there failed, or, where none was made, those with the nearest values'
    """
    if not len(failed):
        return ""
    why = "all runs there failed, or, where none was made, those with the nearest values"
    return f"{told_counts(failed.tolist())} cores are not recommended: {why}"


def told_counts(counts: Iterable[int]) -> str:
    """Return counts in words; of many, the ends."""
    told = sorted(counts)
    return ", ".join(map(str, told)) if len(told) <= 8 else f"{told[0]} … {told[-1]}"
