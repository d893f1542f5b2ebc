"""Exact survey: samples every grid point, for cells for which this takes a second or two.

The properties of a point are packed into one number, its code. Neighbouring planes with equal codes are joined to one
layer of blocks without loss, so a stack of films needs few blocks. If there are still too many blocks, they are merged.
The counts of merged blocks stay exact sums; only boxes that cut through a block are interpolated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.fdtd.block_edges import chosen_edges
from evenly.decomposition.cells.fdtd.point_kinds import PointKinds
from evenly.decomposition.cells.survey import Survey
from evenly.fdtd.cell.box import Box

if TYPE_CHECKING:
    from evenly.fdtd.media.structure import Structure

__all__ = ["exact_survey"]

Ints = NDArray[np.int64]
#: Most points sampled at a time.
SLAB = 250_000


class _Codes:
    """Codes of all points: the properties as digits of a mixed-radix number, packed into as few integers as needed."""

    def __init__(self, box: Box, limits: Mapping[str, int]) -> None:
        self.limits, self.low, shape = limits, box.lo, box.shape
        self.places: dict[str, tuple[int, int]] = {}
        sizes = [1]
        for name, limit in limits.items():
            if sizes[-1] * limit >= 2**62:
                sizes.append(1)
            self.places[name] = len(sizes) - 1, sizes[-1]
            sizes[-1] *= limit
        self.words = [np.zeros(shape, np.min_scalar_type(size - 1)) for size in sizes]

    def set(self, box: Box, digits: Mapping[str, Any]) -> None:
        where = box.slices(self.low)
        for name, value in digits.items():
            word, factor = self.places[name]
            kind = self.words[word].dtype
            self.words[word][where] += np.asarray(value).astype(kind) * kind.type(factor)

    def get(self, name: str, where: tuple[Any, ...]) -> Ints:
        word, factor = self.places[name]
        return np.asarray(self.words[word][where].astype(np.int64) // factor % self.limits[name])

    def changes(self, axis: int) -> Ints:
        """Return for each index along an axis but the first how many points differ from the plane before."""
        n = self.words[0].shape[axis]
        others = tuple(a for a in range(3) if a != axis)
        found = np.zeros(n - 1, dtype=np.int64)
        for word in self.words:
            above, below = (np.take(word, range(*ends), axis=axis) for ends in ((1, n), (0, n - 1)))
            found = np.maximum(found, np.count_nonzero(above != below, axis=others))
        return found


def exact_survey(structure: Structure, *, blocks: int, by_component: bool = False) -> Survey:
    """Return the survey of a structure's kept points (see `Layers.kept`) by sampling every one.

    Parameters
    ----------
    structure : Structure
    blocks : int
        Most blocks of the survey.
    by_component : bool
        Whether points with a pole are also counted for each component.
    """
    box = structure.layers.kept
    noted = PointKinds(structure, by_component=by_component)
    codes = _Codes(box, noted.limits)
    longest = max(range(3), key=lambda axis: box.shape[axis])
    for slab in box.slabs(longest, SLAB):
        codes.set(slab, noted.of(structure.sample(slab)))
    changes = [codes.changes(axis) for axis in range(3)]
    edges = chosen_edges([np.r_[1, change, 1] for change in changes], blocks)
    # Edges of the layers of equal planes; every block consists of whole layers.
    fine = [np.r_[0, np.flatnonzero(change) + 1, len(change) + 1] for change in changes]
    where = np.ix_(*(one[:-1] for one in fine))
    present = {name: found for name in noted.limits if (found := codes.get(name, where)).any()}
    columns = {name: found.astype(np.float64) for name, found in present.items()}
    columns |= {f"{name} squared": columns[name] ** 2 for name in columns if name.endswith(" label")}
    table = np.empty((*(len(e) - 1 for e in edges), len(columns)))
    x, y, z = (np.diff(one).astype(np.float64) for one in fine)
    volume = x[:, None, None] * y[:, None] * z
    starts = [np.searchsorted(one, e[:-1]) for one, e in zip(fine, edges, strict=True)]
    for n, column in enumerate(columns.values()):
        total: NDArray[np.float64] = column * volume
        for axis in range(3):
            total = np.add.reduceat(total, starts[axis], axis=axis)
        table[..., n] = total
    return Survey.of_blocks(edges, tuple(columns), table)
