"""Estimates the bytes that a simulation will take on each rank, before it allocates them.

The structure is sampled slab by slab, as when the chunks are built, and the sizes of all arrays are added up.

>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(6, 6, 6), resolution=10)
>>> [round(n / 60**3) for n in rank_bytes(sim)]    # six numbers of 8 bytes per point, and ghost points
[53]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.cutting import ChunkBox
from evenly.fdtd.counting.chunk_counts import fourier_patches

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.media.sites import Sites
    from evenly.fdtd.media.structure import Response, Value
    from evenly.fdtd.monitors.monitor import FourierMonitor

__all__ = ["rank_bytes"]

SLAB_POINTS = 500_000
#: Bytes of a run of points with extra physics (see `stepping.kernels.runs`): three integers of 8 bytes.
RUN_BYTES = 24


@dataclass
class _Held:
    """The memory that E or H of a chunk needs besides the field itself, summed up slab by slab."""

    factors: list[set[tuple[float, float]]] = field(default_factory=lambda: [set(), set(), set()])
    varied: bool = False
    lossy: bool = False
    pole_points: int = 0
    pole_rows: int = 0
    nodes: int = 0
    nonlinear: int = 0
    sites: int = 0
    site_edges: int = 0
    site_poles: int = 0
    site_points: int = 0
    touched: list[Box] = field(default_factory=list)

    def add(self, box: Box, response: Response) -> None:
        for axis in range(3):
            sigma = 0.0 if response.conductivity is None else response.conductivity[axis]
            inverse = response.inverse[axis]
            self.lossy |= bool(np.any(sigma))
            if isinstance(inverse, float) and isinstance(sigma, float):
                self.factors[axis].add((inverse, sigma))
            else:
                self.varied = True
        sites = response.sites
        for strengths in response.poles.values():
            for axis, strength in enumerate(strengths):
                mask = _where(strength, box) & (True if sites is None else sites.ends[axis] == 0)
                self.pole_points += int(np.count_nonzero(mask))
                self.pole_rows += int(np.count_nonzero(mask.any(axis=2)))
        for axis in range(3):
            chi2, chi3 = (None if chi is None else chi[axis] for chi in (response.chi2, response.chi3))
            self.nonlinear += int(np.count_nonzero(_where(chi2, box) | _where(chi3, box)))
        if response.off_diagonal is not None:
            self._add_nodes(box, response.off_diagonal)
        if sites is not None:
            self._add_sites(sites)

    def _add_sites(self, sites: Sites) -> None:
        self.sites += len(sites.kind)
        self.site_edges += int(np.count_nonzero(sites.direction) * 2 - np.count_nonzero(sites.halves))
        self.site_poles += sum(int(np.count_nonzero(strengths)) for strengths in sites.strengths.values())
        self.site_points += sum(int(np.count_nonzero(ends)) for ends in sites.ends)
        (x, y, z), (i, j, k) = (sites.place.min(axis=0) - 1).tolist(), (sites.place.max(axis=0) + 2).tolist()
        self.touched.append(Box((x, y, z), (i, j, k)))

    def _add_nodes(self, box: Box, elements: tuple[NDArray[Any], ...]) -> None:
        mask = np.any([values != 0 for values in elements], axis=0)
        if mask.any():
            self.nodes += int(np.count_nonzero(mask))
            self.touched.append(_edges(mask, box))

    @property
    def arrays(self) -> int:
        """Number of full arrays of factors: three of c if it varies, and three of a if the medium is lossy."""
        varied = self.varied or self.lossy or any(len(values) > 1 for values in self.factors)
        return 3 * varied + 3 * self.lossy

    def bytes(self, size: int, parts: int, item: int) -> int:
        """Return the bytes of this memory, for `size` points, `parts` (2 if complex) and `item` bytes per number."""
        # Per pole point: the polarisation of two time steps, and a weight and a strength if the factors vary.
        poles = self.pole_points * item * (2 * parts + 2 * self.varied) + self.pole_rows * RUN_BYTES
        nodes = self.nodes * 3 * item + (3 * size * item if self.nodes and self.lossy else 0)
        # Per site: three factors, the field and a weight; per edge: component, place, weight and whether it is owned;
        # per point that sites act on: place and share.
        sites = self.sites * (item * (4 + parts) + 8) + self.site_edges * (17 + item) + self.site_points * (8 + item)
        sites += self.site_poles * item * (2 * parts + 1)
        return self.arrays * size * item + poles + nodes + sites + self.nonlinear * item * (3 + 3 * parts)


def rank_bytes(sim: Fields, *, ranks: int | None = None, monitors: Iterable[FourierMonitor] = ()) -> list[int]:
    """Return the bytes that the fields, media and Fourier transforms of each rank will take, without allocating them.

    The estimate is accurate to about 10 %. It doesn't include Python itself, MPI's buffers and the compiled code (about
    200 MB per rank). The call is collective: all ranks must make it.

    Parameters
    ----------
    sim : Fields
    ranks : int, optional
        Number of ranks to estimate for; default: the number of ranks of this job.
    monitors : iterable of FourierMonitor
        Monitors to count besides those of `sim`.

    Returns
    -------
    list of int
        Bytes of each rank.
    """
    chunks = sim.chunk_boxes if ranks is None else sim.boxes_on(ranks)
    me, size = sim.communicator.rank, sim.communicator.size
    mine = [(i, _sampled(sim, chunk)) for i, chunk in enumerate(chunks) if chunk.owner % size == me]
    held = dict(pair for part in sim.communicator.allgather(mine) for pair in part)
    total = [0] * (ranks or size)
    for index, chunk in enumerate(chunks):
        touched = {name: any(not (box & chunk.box).empty for h in held.values() for box in h[name].touched)
                   for name in "EH"}  # fmt: skip
        total[chunk.owner] += _chunk_bytes(sim, chunk, held[index], sum(touched.values()))
    from evenly.fdtd.stepping.kernels.fourier import SAMPLES

    item = np.dtype(sim.options.precision).itemsize
    for _, box, frequencies in fourier_patches(sim, monitors):
        for chunk in chunks:
            points = (box & chunk.box).volume * sim.parts
            total[chunk.owner] += points * (16 * frequencies + SAMPLES * item)
    return total


def _sampled(sim: Fields, chunk: ChunkBox) -> dict[str, _Held]:
    held = {"E": _Held(), "H": _Held()}
    longest = max(range(3), key=lambda axis: chunk.box.shape[axis])
    for slab in chunk.box.slabs(longest, SLAB_POINTS):
        sample = sim.structure.sample(slab)
        held["E"].add(slab, sample.electric)
        held["H"].add(slab, sample.magnetic)
    return held


def _chunk_bytes(sim: Fields, chunk: ChunkBox, held: dict[str, _Held], increments: int) -> int:
    x, y, z = (n if thin else n + 2 for n, thin in zip(chunk.box.shape, sim.grid.thin, strict=True))
    size, item = x * y * z, np.dtype(sim.options.precision).itemsize
    fields = 6 + 2 * 2 * sum(chunk.pml) + 3 * increments
    return fields * size * sim.parts * item + sum(one.bytes(size, sim.parts, item) for one in held.values())


def _edges(mask: NDArray[np.bool_], box: Box) -> Box:
    """Return a box around all edges that meet at the nodes in `mask`, which covers `box` and one more layer."""
    for axis in range(3):
        there = np.flatnonzero(mask.any(axis=tuple(a for a in range(3) if a != axis)))
        first = box.lo[axis] - 1
        box = box.replace(axis, first + int(there[0]), first + int(there[-1]) + 2)
    return box


def _where(value: Value | None, box: Box) -> NDArray[np.bool_]:
    return np.broadcast_to(np.asarray(0.0 if value is None else value) != 0, box.shape)
