"""What a chunk must remember from step to step, told without its layout in memory, so that other chunks can go on.

Two kinds: *dense* arrays hold a value at every point of the chunk's box (fields, and ψ in layers); *packed* ones only
where some physics is (polarisations, nonlinear media). Both are named by what they are, in the cell's axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.stepping.frame import packed_indices

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["Packed", "dense_arrays", "media_digest", "meeting", "packed_arrays", "state_bytes"]

Array = NDArray[Any]
_AXES = "xyz"
_SLAB_POINTS = 250_000
_digests: WeakKeyDictionary[Simulation, str] = WeakKeyDictionary()


@dataclass(frozen=True)
class Packed:
    """Arrays that hold values at the same points of a chunk.

    Attributes
    ----------
    points : (n, 3) ints
        Global indices along x, y, z.
    arrays : dict of name to (n,) array
        Views: what is written into them changes the chunk.
    """

    points: NDArray[np.int64]
    arrays: dict[str, Array]


def dense_arrays(chunk: Chunk) -> dict[str, Array]:
    """Return views on the chunk's own points, (nx, ny, nz), by name.

    Names are ``"Ex.0"`` (component and part) and ``"psi.Ex.y.0"`` (what the layer along y adds to the derivative along
    y that changes Ex).

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> sorted(dense_arrays(Simulation(cell=(1, 0, 0), resolution=10).chunks[0]))
    ['Ex.0', 'Ey.0', 'Ez.0', 'Hx.0', 'Hy.0', 'Hz.0']
    """
    found = {
        f"{name}{letter}.{part}": chunk.view(f"{name}{letter}", part, chunk.box)
        for name in "EH"
        for letter in _AXES
        for part in range(chunk.parts)
    }
    return {**found, **dict(_psi(chunk))}


def _psi(chunk: Chunk) -> Iterator[tuple[str, Array]]:
    frame, arrays, size = chunk.frame, chunk.arrays(), chunk.frame.size
    # Of each derivative along a layered axis d (in memory) there are two: of components d + 1 and d + 2.
    held = [(d, (d + more) % 3) for d in range(3) if chunk.layered[frame.order[d]] for more in (1, 2)]
    for name in "EH":
        for part in range(chunk.parts):
            flat = arrays[f"psi.{name}.{part}"]
            for n, (derivative, component) in enumerate(held):
                letters = name + _AXES[frame.order[component]], _AXES[frame.order[derivative]]
                yield f"psi.{letters[0]}.{letters[1]}.{part}", frame.view(flat[n * size : (n + 1) * size], chunk.box)


def packed_arrays(chunk: Chunk) -> list[Packed]:
    """Return what the chunk holds only at some of its points.

    Names are ``"poles.Ex.<pole>.now.0"`` and ``"nonlinear.Ex.kept.0"``.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> packed_arrays(Simulation(cell=(1, 0, 0), resolution=10).chunks[0])
    []
    """
    found = []
    for name, medium in chunk.media.items():
        for group in medium.poles:
            letters = name + _AXES[chunk.frame.order[group.component]]
            arrays = {
                f"poles.{letters}.{pole!r}.{when}.{part}": values[n]
                for when, parts in (("now", group.now), ("before", group.before))
                for part, values in enumerate(parts)
                for n, pole in enumerate(group.names)
            }
            found.append(Packed(_places(chunk, group.runs), arrays))
        for points in medium.nonlinear:
            letters = name + _AXES[chunk.frame.order[points.component]]
            arrays = {
                f"nonlinear.{letters}.{what}.{part}": values
                for what, parts in (("now", points.now), ("before", points.before), ("kept", points.kept))
                for part, values in enumerate(parts)
            }
            found.append(Packed(_places(chunk, points.runs), arrays))
    return found


def meeting(group: Packed, box: Box, where: Array) -> tuple[Array, Array]:
    """Return which of a group's points a box holds, and where in the arrays packed for that box they are.

    Parameters
    ----------
    group : Packed
    box : Box
    where : (points of the box,) ints
        Number of each point in the packed arrays, from 1; 0 where it isn't among them.

    Examples
    --------
    >>> group = Packed(np.array([[0, 0, 0], [3, 0, 0]]), {})
    >>> own, there = meeting(group, Box((2, 0, 0), (5, 1, 1)), np.array([1, 2, 0]))
    >>> own.tolist(), there.tolist()
    ([1], [1])
    """
    inside = np.flatnonzero(np.all((group.points >= box.lo) & (group.points < box.hi), axis=1))
    place = where[np.ravel_multi_index(tuple((group.points[inside] - box.lo).T), box.shape)]
    return inside[place > 0], place[place > 0] - 1


def _places(chunk: Chunk, runs: Array) -> NDArray[np.int64]:
    """Return the global indices, (n, 3), of packed points."""
    return _indices(chunk, packed_indices(runs[:, :3]))


def _indices(chunk: Chunk, flat: Array) -> NDArray[np.int64]:
    frame = chunk.frame
    places = np.empty((len(flat), 3), np.int64)
    for indices, user, ghost in zip(np.unravel_index(flat, frame.shape), frame.order, frame.ghosts, strict=True):
        places[:, user] = indices + (chunk.box.lo[user] - ghost)
    return places


def state_bytes(chunk: Chunk) -> int:
    """Return about how many bytes the chunk's state takes in a file.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> state_bytes(Simulation(cell=(1, 0, 0), resolution=10).chunks[0])
    480
    """
    dense = sum(view.nbytes for view in dense_arrays(chunk).values())
    packed = packed_arrays(chunk)
    return dense + sum(
        8 * len(group.points) + sum(values.nbytes for values in group.arrays.values()) for group in packed
    )


def media_digest(sim: Simulation) -> str:
    """Return a number for all that the cell's points are made of, the same for every layout (all ranks must call).

    It is a sum over points and quantities of a hash of place and value, so that it doesn't depend on their order.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> one, other = (Simulation(cell=(size, 0, 0), resolution=10) for size in (1, 2))
    >>> media_digest(one) == media_digest(one), media_digest(one) == media_digest(other)
    (True, False)
    """
    if sim not in _digests:
        mine = sum(_of_chunk(chunk) for chunk in sim.chunks)
        _digests[sim] = f"{sum(sim.communicator.allgather(mine)) % 2**64:016x}"
    return _digests[sim]


def _of_chunk(chunk: Chunk) -> int:
    total = 0
    for name, medium in chunk.media.items():
        for axis, user in enumerate(chunk.frame.order):
            salt = 10 * "EH".index(name) + user
            for slab in chunk.box.slabs(0, _SLAB_POINTS):
                where = _numbers(chunk, [np.arange(a, b) for a, b in zip(slab.lo, slab.hi, strict=True)])
                c: Any = medium.c[axis] if medium.c[axis].size > 1 else medium.scalar[axis]
                total += _mixed(where, _at(chunk, c, slab), salt)
                a = medium.a[axis] if medium.a[axis].size > 1 else np.ones((), medium.a[axis].dtype)
                total += _mixed(where, _at(chunk, a, slab), salt + 100)
        total += sum(_mixed(*one) for one in _extras(chunk, name))
    return total


def _extras(chunk: Chunk, name: str) -> Iterator[tuple[Array, Array, int]]:
    medium, side = chunk.media[name], 10 * "EH".index(name)
    for group in medium.poles:
        user = chunk.frame.order[group.component]
        places = _places(chunk, group.runs)
        where = _numbers(chunk, [places[:, axis] for axis in range(3)], mesh=False)
        for factors, strengths in zip(group.factors, group.strengths, strict=True):
            yield where, strengths * factors[2], side + user + 200
    for points in medium.nonlinear:
        places = _places(chunk, points.runs)
        where = _numbers(chunk, [places[:, axis] for axis in range(3)], mesh=False)
        yield where, np.broadcast_to(points.chi2, len(places)), side + 300
        yield where, np.broadcast_to(points.chi3, len(places)), side + 400
    if medium.nodes:
        places = _places(chunk, medium.nodes.runs)
        # Nodes at a border are known to both chunks: that in whose box they are counts them.
        own = np.all((places >= chunk.box.lo) & (places < chunk.box.hi), axis=1)
        where = _numbers(chunk, [places[own, axis] for axis in range(3)], mesh=False)
        for axis, elements in enumerate(medium.nodes.elements):
            yield where, elements[own], side + chunk.frame.order[axis] + 500


def _at(chunk: Chunk, values: Any, box: Box) -> Array:
    return np.asarray(chunk.frame.view(values, box) if np.ndim(values) else values)


def _numbers(chunk: Chunk, along: list[Array], *, mesh: bool = True) -> Array:
    """Return a number for each point of the cell."""
    x, y, z = (values.astype(np.uint64) for values in along)
    if mesh:
        x, y, z = x[:, None, None], y[None, :, None], z[None, None, :]
    _, ny, nz = chunk.grid.shape
    return np.asarray((x * np.uint64(ny) + y) * np.uint64(nz) + z)


def _mixed(where: Array, values: Array, salt: int) -> int:
    """Return Σ hash(place, value) modulo 2^64, by the finaliser of SplitMix64."""
    bits = np.ascontiguousarray(values, np.float64).view(np.uint64).reshape(np.shape(values))
    hashed = where * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    hashed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9) ^ bits
    hashed = (hashed ^ (hashed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int(np.sum(hashed ^ (hashed >> np.uint64(31)), dtype=np.uint64))
