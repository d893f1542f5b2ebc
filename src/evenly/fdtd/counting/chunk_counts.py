"""Counts the grid points of each kind in every chunk and rank of a simulation, before its fields are allocated.

The structure is sampled slab by slab. The ranks share this work, so all of them must make the calls.
`evenly.fdtd.counting.memory` computes the bytes.

>>> from evenly.fdtd.cell.partition import BinaryPartition
>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(4, 2, 0), resolution=10, layout=BinaryPartition([("x", 0.5), 0, 1]))
>>> [(row["rank"], row["volume"], row["surface"], row["neighbours"]) for row in rank_counts(sim, ranks=2)]
[(0, 500, 20, 1), (1, 300, 20, 1)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.alike import check_built
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.cutting import ChunkBox
from evenly.fdtd.counting.counts import Counts, Patch, count
from evenly.fdtd.media.materials import Pole

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.monitors.monitor import FourierMonitor

__all__ = ["Tally", "cell_counts", "chunk_counts", "faces_with", "pole_name", "rank_counts", "tallies"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Tally:
    """The counts of one chunk.

    Parameters
    ----------
    index : int
        The chunk's number in the layout.
    chunk : ChunkBox
    counts : Counts
        ``surface`` and ``neighbours`` refer to all other chunks, also those of the same rank.
    faces : mapping of rank to int
        Number of point faces that the chunk shares with the chunks of each rank, its own rank included.
    """

    index: int
    chunk: ChunkBox
    counts: Counts
    faces: Mapping[int, int]


def tallies(sim: Fields, *, ranks: int | None = None, monitors: Iterable[FourierMonitor] = ()) -> list[Tally]:
    """Return the tally of every chunk of the cell, in the order of the layout; collective, all ranks must call it.

    Parameters
    ----------
    sim : Fields
    ranks : int, optional
        Number of ranks to count for; default: the number of ranks of this job.
    monitors : iterable of FourierMonitor
        Further monitors to count. Adding them to `sim` instead would build its chunks.
    """
    check_built(sim)
    chunks = sim.chunk_boxes if ranks is None else sim.boxes_on(ranks)
    patches = fourier_patches(sim, monitors)
    low = np.array([chunk.box.lo for chunk in chunks])
    high = np.array([chunk.box.hi for chunk in chunks])
    mine = []
    for index, chunk in enumerate(chunks):
        if chunk.owner % sim.communicator.size == sim.communicator.rank:
            faces = faces_with(chunk.box, low, high, sim.layers)
            faces[index] = 0
            counts = replace(
                count(sim.structure, chunk.box, fourier=patches),
                surface=int(faces.sum()),
                neighbours=int(np.count_nonzero(faces)),
            )
            shared: Counter[int] = Counter()
            for other in np.flatnonzero(faces):
                shared[chunks[other].owner] += int(faces[other])
            mine.append(Tally(index, chunk, counts, dict(shared)))
    everyone = [tally for part in sim.communicator.allgather(mine) for tally in part]
    return sorted(everyone, key=lambda tally: tally.index)


def fourier_patches(sim: Fields, monitors: Iterable[FourierMonitor] = ()) -> list[Patch]:
    """Return the component, box and number of frequencies of each Fourier transform of the monitors."""
    from evenly.fdtd.monitors.monitor import kept_boxes  # compiled code, which Meep's Python may not have

    return [
        (region.component, box, len(monitor.frequencies))
        for monitor in [*sim.monitors, *monitors]
        for region, box in kept_boxes(sim, monitor.regions(sim.grid))
    ]


def cell_counts(found: Sequence[Tally]) -> Counts:
    """Return the sum of the chunks' counts: those of the whole cell, without shared faces and neighbours.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> cell_counts(tallies(Simulation(cell=(2, 2, 2), resolution=5))).volume
    1000
    """
    return replace(_total(found), surface=0, neighbours=0)


def chunk_counts(sim: Fields, *, ranks: int | None = None, monitors: Iterable[FourierMonitor] = ()) -> list[Row]:
    """Return one row per chunk: chunk, rank, leaf, lo, hi, and the number of points of each kind.

    Parameters
    ----------
    sim, ranks, monitors
        As for `tallies`.

    Examples
    --------
    >>> from evenly.fdtd.cell.boundaries import PML
    >>> from evenly.fdtd.simulation import Simulation
    >>> sim = Simulation(cell=(4, 4, 0), resolution=10, boundaries=[PML(1.0, "x")])
    >>> [(row["chunk"], row["volume"], row["pml_1d"]) for row in chunk_counts(sim)]
    [(0, 400, 400), (1, 800, 0), (2, 400, 400)]
    """
    return [
        {
            "chunk": one.index,
            "rank": one.chunk.owner,
            "leaf": one.chunk.leaf,
            "lo": one.chunk.box.lo,
            "hi": one.chunk.box.hi,
            **one.counts.as_dict(),
            "poles": pole_counts(one.counts),
        }
        for one in tallies(sim, ranks=ranks, monitors=monitors)
    ]


def rank_counts(sim: Fields, *, ranks: int | None = None, monitors: Iterable[FourierMonitor] = ()) -> list[Row]:
    """Return one row per rank: the rank, its number of chunks, and its number of points of each kind.

    ``surface`` is the number of point faces shared with other ranks, ``neighbours`` the number of those ranks.

    Parameters
    ----------
    sim, ranks, monitors
        As for `tallies`.
    """
    found = tallies(sim, ranks=ranks, monitors=monitors)
    rows = []
    for rank in range(ranks or sim.communicator.size):
        own = [one for one in found if one.chunk.owner == rank]
        faces = Counter[int]()
        for one in own:
            faces.update({other: n for other, n in one.faces.items() if other != rank})
        counts = replace(_total(own), surface=sum(faces.values()), neighbours=len(faces))
        rows.append({"rank": rank, "chunks": len(own), **counts.as_dict(), "poles": pole_counts(counts)})
    return rows


def faces_with(box: Box, low: NDArray[np.int64], high: NDArray[np.int64], layers: Layers) -> NDArray[np.int64]:
    """Return the number of point faces that a box shares with each of n others, across periodic sides too.

    Parameters
    ----------
    box : Box
    low, high : (n, 3) ints
        First indices of the n boxes, and one past the last. If `box` is among them, it shares its periodic sides with
        itself.
    layers : Layers

    Returns
    -------
    (n,) ints

    Examples
    --------
    >>> from evenly.fdtd.cell.boundaries import resolve
    >>> from evenly.fdtd.cell.grid import Grid
    >>> layers = resolve([], Grid((2, 2, 2), 2))
    >>> faces_with(Box((0, 0, 0), (2, 4, 4)), np.array([[2, 0, 0]]), np.array([[4, 2, 4]]), layers).tolist()
    [8]
    """
    faces = np.zeros(len(low), np.int64)
    common = np.minimum(high, box.hi) - np.maximum(low, box.lo)
    for axis in (a for a in range(3) if not layers.grid.thin[a]):
        n = layers.grid.shape[axis]
        across = np.prod(np.maximum(np.delete(common, axis, axis=1), 0), axis=1)
        for moved in (0, n, -n) if layers.kinds[axis] == "periodic" else (0,):
            faces += across * (low[:, axis] + moved == box.hi[axis])
            faces += across * (high[:, axis] + moved == box.lo[axis])
    return faces


def pole_counts(counts: Counts) -> dict[str, int]:
    """Return the number of points of each pole, by the pole's name."""
    found = {pole_name(pole): n for pole, n in counts.electric_poles.items()}
    return found | {f"magnetic {pole_name(pole)}": n for pole, n in counts.magnetic_poles.items()}


def pole_name(pole: Pole) -> str:
    """Return the name of a pole in tables: its type, frequency and damping rate γ.

    Examples
    --------
    >>> from evenly.fdtd.media.materials import LorentzPole
    >>> pole_name(LorentzPole(0.5, 0.1))
    'Lorentz 0.5 (0.1)'
    """
    return f"{type(pole).__name__.removesuffix('Pole')} {pole.frequency:.6g} ({pole.gamma:.6g})"


def _total(found: Iterable[Tally]) -> Counts:
    total = Counts()
    for one in found:
        total = total + one.counts
    return total
