"""Counts of cores on which every measured run failed: no model knows of this, since failed runs have no time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.models.base import Model
from evenly.runs.outcomes import Outcomes
from evenly.runs.runs import Runs

__all__ = ["outcomes_of", "told_counts", "told_failed"]

#: Up to so many counts are told one by one.
_LISTED = 8


def outcomes_of(model: Model, measured: Runs | None = None) -> Outcomes:
    """Return where runs ended well: what `measured` runs tell, else what the model kept of those it learned from."""
    return Outcomes.from_state(model.training_.get("outcomes", {})) if measured is None else Outcomes.of(measured)


def told_failed(counts: NDArray[np.int64], failed: NDArray[np.bool_]) -> str:
    """Say which of increasing counts (n,) aren't recommended since runs `failed` there, (n,); "" if there are none.

    Examples
    --------
    >>> told_failed(np.array([8, 16, 32]), np.array([True, True, False]))
    '8, 16 cores are not recommended: all runs there failed, or, where none was made, those with the nearest values'
    """
    if not failed.any():
        return ""
    why = "all runs there failed, or, where none was made, those with the nearest values"
    return f"{told_counts(counts, failed)} cores are not recommended: {why}"


def told_counts(counts: NDArray[np.int64], which: NDArray[np.bool_] | None = None) -> str:
    """Return increasing counts (n,), or `which` of them, in words; of many in a row, the ends.

    Examples
    --------
    >>> told_counts(np.arange(1, 100), np.arange(1, 100) % 60 < 20)
    '1 … 19, 60 … 79'
    """
    which = np.ones(len(counts), dtype=np.bool_) if which is None else which
    if which.sum() <= _LISTED:
        return ", ".join(map(str, counts[which]))
    rows = np.split(np.arange(len(counts)), np.flatnonzero(np.diff(which)) + 1)
    spans = [counts[row] for row in rows if which[row[0]]]
    return ", ".join(f"{span[0]} … {span[-1]}" if len(span) > 1 else str(span[0]) for span in spans)
