"""Laws that every chunk balancer keeps; see `AbstractChunkBalancer`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.rebalancing.base import AbstractChunkBalancer
from evenly.decomposition.rebalancing.measured_times import Timings
from evenly.fdtd.cell.partition import BinaryPartition
from tests.decomposition.rebalancing.planted import plain_cell, volumes
from tests.parallel.everything import random_layout

CELL = plain_cell((3, 2, 1.2), 10, pml=((4, 3), (0, 0), (2, 2)))
ANY_TIME = st.one_of(st.just(0.0), st.floats(0.1, 10.0))
# Examples take long enough that looking for a simpler one that fails as well would take minutes.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)


def laws(make: Callable[[Cell], AbstractChunkBalancer]) -> Callable[[], None]:
    """Return a test of all laws over random layouts and times."""

    @settings(max_examples=40, deadline=None, phases=PHASES)
    @given(st.integers(1, 12), st.integers(0, 10_000), st.integers(1, 8), st.data())
    def check(leaves: int, seed: int, ranks: int, data: st.DataObject) -> None:
        old = random_layout(CELL.grid.size, leaves, seed)
        times = data.draw(st.lists(ANY_TIME, min_size=ranks, max_size=ranks).filter(lambda t: max(t) > 0))
        owners = np.array(old.owners) % ranks
        new = make(CELL).compute_new_chunk_layout(Timings(times), old, volumes(CELL, old), owners)
        _fits(new, ranks)
        # Powers of two scale without rounding.
        scaled = make(CELL).compute_new_chunk_layout(Timings(np.array(times) * 2**-9), old, volumes(CELL, old), owners)
        again = make(CELL).compute_new_chunk_layout(Timings(times), old, volumes(CELL, old), owners)
        assert again == new
        _close(scaled, new)

    return check


def _fits(layout: BinaryPartition, ranks: int) -> None:
    boxes = layout.boxes(CELL.grid)
    assert sum(box.volume for box in boxes) == CELL.grid.box.volume
    assert min(box.volume for box in boxes) > 0
    assert min(layout.owners) >= 0


def _close(one: BinaryPartition, other: BinaryPartition) -> None:
    pairs = list(zip(one.boxes(CELL.grid), other.boxes(CELL.grid), strict=True))
    assert all(abs(a - b) <= 1 for x, y in pairs for a, b in zip((*x.lo, *x.hi), (*y.lo, *y.hi), strict=True))
