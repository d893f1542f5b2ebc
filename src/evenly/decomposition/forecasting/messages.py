"""The messages between ranks in a step of a layout: ghosts of E are sent downwards, ghosts of H upwards.

>>> from evenly.decomposition.cells.survey import Survey
>>> from evenly.fdtd.cell.grid import Grid
>>> from evenly.fdtd.cell.partition import BinaryPartition
>>> survey = Survey.of_blocks(((0, 40), (0, 20), (0, 10)), (), np.zeros((1, 1, 1, 0)))
>>> cell = Cell("fdtd", Grid((4, 2, 1), 10), survey)
>>> found = messages_of(cell, BinaryPartition([("x", 0.0), 0, 1]), 2)
>>> found.sender.tolist(), found.receiver.tolist(), found.size.tolist()     # 200 faces, two components of 8 bytes
([1, 0], [0, 1], [3200.0, 3200.0])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.partitioning.neighbours import touching
from evenly.decomposition.partitioning.predict import corners
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["EXCHANGES", "Messages", "messages_of"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Number of exchanges in a step: the ghosts of E, then those of H.
EXCHANGES = 2
#: Components that cross a face in each exchange.
_COMPONENTS = 2


@dataclass(frozen=True)
class Messages:
    """The messages between ranks in a step, sorted by exchange, receiver and sender.

    Parameters
    ----------
    ranks : int
    exchange : (messages,) of int
        0 for the ghosts of E, 1 for those of H.
    sender, receiver : (messages,) of int
        Ranks.
    size : (messages,)
        Bytes.
    faces : (ranks,)
        Number of faces of points that each rank shares with other ranks.
    """

    ranks: int
    exchange: Ints
    sender: Ints
    receiver: Ints
    size: Array
    faces: Array

    @property
    def surface(self) -> float:
        """Largest number of faces that a rank shares with other ranks."""
        return float(self.faces.max(initial=0.0))


def messages_of(cell: Cell, layout: BinaryPartition, ranks: int) -> Messages:
    """Return the messages between the ranks of a cell with a layout.

    The ghosts of E lie above a box, so the rank above sends them down; the ghosts of H lie below. All that one rank
    sends to another in an exchange is one message.

    Parameters
    ----------
    cell : Cell
    layout : BinaryPartition
        Owners are taken modulo `ranks`.
    ranks : int
    """
    # Pairs of leaves that share faces, (pairs,), as leaves below and above the face. Only pairs of leaves with
    # different owners are kept.
    low, high = corners(cell, layout)
    owners = np.asarray(layout.owners, dtype=np.int64) % ranks
    first, second, faces = touching(low, high, cell.grid.shape, np.array(cell.periodic) & ~np.array(cell.grid.thin))
    below, above = _oriented(first, second, low, high, cell)
    below, above = owners[below], owners[above]
    apart = below != above
    below, above, faces = below[apart], above[apart], faces[apart]
    # Bytes of each pair; they are the same in both exchanges.
    each = cell.traits.get("float bytes", 8.0)
    size = faces * (_COMPONENTS * each * cell.ghost_parts)
    exchange = np.repeat([0, 1], len(size))
    sender, receiver = np.concatenate([above, below]), np.concatenate([below, above])
    # Sum the bytes for each (exchange, receiver, sender); one integer key encodes the three, in this order.
    key, place = np.unique((exchange * ranks + receiver) * ranks + sender, return_inverse=True)
    total = np.bincount(place, np.tile(size, 2), len(key)).astype(np.float64)
    shared = np.bincount(below, faces, ranks) + np.bincount(above, faces, ranks)
    return Messages(ranks, key // ranks**2, key % ranks, key // ranks % ranks, total, shared.astype(np.float64))


def _oriented(first: Ints, second: Ints, low: Ints, high: Ints, cell: Cell) -> tuple[Ints, Ints]:
    """Return the box below and the box above the shared face of each touching pair, also over periodic sides."""
    forward = _lies_below(first, second, low, high, cell)
    backward = _lies_below(second, first, low, high, cell)
    # Two boxes that also touch over a periodic side make two pairs; one is taken in each direction.
    key = np.minimum(first, second) * len(low) + np.maximum(first, second)
    _, once = np.unique(key, return_index=True)
    again = np.ones(len(key), dtype=bool)
    again[once] = False
    up = np.where(forward & backward, ~again ^ (first > second), forward)
    return np.where(up, first, second), np.where(up, second, first)


def _lies_below(one: Ints, other: Ints, low: Ints, high: Ints, cell: Cell) -> NDArray[np.bool_]:
    found = np.zeros(len(one), dtype=bool)
    for axis in range(3):
        n, around = cell.grid.shape[axis], cell.periodic[axis] and not cell.grid.thin[axis]
        meets = high[one, axis] == low[other, axis]
        if around:
            meets |= (high[one, axis] == n) & (low[other, axis] == 0)
        across = [a for a in range(3) if a != axis]
        shared = np.minimum(high[one][:, across], high[other][:, across])
        shared = shared - np.maximum(low[one][:, across], low[other][:, across])
        found |= meets & np.all(shared > 0, axis=1)
    return found
