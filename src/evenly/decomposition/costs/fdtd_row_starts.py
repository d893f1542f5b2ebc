"""Number of unbroken rows of points of a kind in chunks; each row has a fixed cost, which makes short rows expensive.

A survey gives the number of points of a kind in each block, and so in each plane of the block. Where a plane has more
points than the one before, rows begin. Where a piece is cut, all rows through its first plane begin.

>>> blocks = np.array([0.0, 12.0, 0.0]).reshape(3, 1, 1, 1)
>>> survey = Survey.of_blocks(((0, 4, 8, 12), (0, 3), (0, 1)), ("polarised",), blocks)
>>> low, high = np.array([[0, 0, 0], [6, 0, 0]]), np.array([[12, 3, 1], [12, 3, 1]])
>>> row_starts(survey, "polarised", 0, low, high).tolist(), row_starts(survey, "polarised", 1, low, high).tolist()
([3.0, 3.0], [4.0, 2.0])
"""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.survey import Survey

__all__ = ["row_starts"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Most blocks of a survey for which a table of row starts is made.
MOST_BLOCKS = 2_000_000
_kept: dict[int, tuple[weakref.ref[Survey], dict[tuple[str, int], tuple[Survey, Survey | None]]]] = {}


def row_starts(survey: Survey, kind: str, axis: int, low: Ints, high: Ints) -> Array:
    """Return the number of unbroken rows along an axis of points of a kind in boxes (n, 3), (n,).

    Parameters
    ----------
    survey : Survey
    kind : str
        A kind of the survey.
    axis : int
        Direction of the rows.
    low, high : (n, 3)
        First grid indices and one past the last; no box is empty.
    """
    first, ahead = high.copy(), low.copy()
    first[:, axis] = low[:, axis] + 1
    ahead[:, axis] += 1
    alone, starts = _surveys(survey, kind, axis)
    cut = alone.counts(low, first)[:, 0]
    if starts is None:
        # Fallback: as if every row with a point of the kind were full.
        return np.asarray(alone.counts(low, high)[:, 0] / (high - low)[:, axis])
    return np.asarray(cut + starts.counts(ahead, high)[:, 0])


def _surveys(survey: Survey, kind: str, axis: int) -> tuple[Survey, Survey | None]:
    """Return the survey of one kind, and that of its row starts (None for a large survey); both are cached."""
    reference, made = _kept.get(id(survey), (None, {}))
    if reference is None or reference() is not survey:
        key, made = id(survey), {}
        _kept[key] = weakref.ref(survey, lambda _: _kept.pop(key, None) and None), made
    if (kind, axis) not in made:
        column = survey.kinds.index(kind)
        table = survey.table[..., column : column + 1]
        small = table.size <= MOST_BLOCKS
        alone = Survey(survey.edges, (kind,), np.ascontiguousarray(table))
        made[kind, axis] = alone, _counted(survey, column, axis) if small else None
    return made[kind, axis]


def _counted(survey: Survey, column: int, axis: int) -> Survey:
    blocks = survey.table[..., column]
    for a in range(3):
        blocks = np.diff(blocks, axis=a)
    edges = survey.edges[axis]
    along = np.diff(edges).reshape([-1 if a == axis else 1 for a in range(3)])
    planes = np.moveaxis(blocks / along, axis, 0)
    begin = np.maximum(0, np.diff(planes, axis=0, prepend=0))
    # Each block's first plane becomes a block of its own, since rows begin only there.
    fine = np.unique(np.concatenate([edges, edges[:-1] + 1]))
    values = np.zeros((len(fine) - 1, *begin.shape[1:]))
    values[np.searchsorted(fine, edges[:-1])] = begin
    all_edges = [fine if a == axis else survey.edges[a] for a in range(3)]
    return Survey.of_blocks(all_edges, ("starts",), np.moveaxis(values, 0, axis)[..., None])
