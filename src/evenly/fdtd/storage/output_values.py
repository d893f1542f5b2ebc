"""What output writes: a component's values on any box of a chunk, slab by slab.

Fields are written at their own places on the Yee grid, or averaged to the grid's nodes, where all six are known at one
place. Media are sampled anew for each slab, so that they can be written before anything is allocated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import COMPONENTS, OFFSETS, Grid
from evenly.fdtd.cell.mirrors import Image

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.halo import Need

__all__ = [
    "MEDIA",
    "SLAB_POINTS",
    "Average",
    "Piece",
    "check_components",
    "exchange_for_nodes",
    "field_slabs",
    "media_slabs",
    "pieces",
    "place",
]

Average = Literal["nodes"] | None
Array = NDArray[Any]
#: Media that can be written: the mean of ε∞ (μ∞) over the axes, and its diagonal at the places of E (H).
MEDIA = ("epsilon", "epsilon_x", "epsilon_y", "epsilon_z", "mu", "mu_x", "mu_y", "mu_z")
SLAB_POINTS = 500_000
_TAG = 5


def check_components(components: Sequence[str]) -> list[str]:
    """Return the components to write, each once.

    Raises
    ------
    InputError
        If one is unknown, or there is none.

    Examples
    --------
    >>> check_components(["Ex", "epsilon"])
    ['Ex', 'epsilon']
    """
    names = [components] if isinstance(components, str) else list(dict.fromkeys(components))
    unknown = [name for name in names if name not in (*COMPONENTS, *MEDIA)]
    if unknown or not names:
        got = repr(unknown[0]) if unknown else "none"
        raise InputError(f"A component to write is one of {', '.join((*COMPONENTS, *MEDIA))}, but got {got}.")
    return names


def place(name: str, average: Average) -> tuple[float, float, float]:
    """Return how far a component's values are from their nodes, in grid spacings along x, y, z.

    Examples
    --------
    >>> place("Ex", None), place("Ex", "nodes"), place("epsilon_y", None)
    ((0.5, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.5, 0.0))
    """
    if name in COMPONENTS:
        return (0.0, 0.0, 0.0) if average else OFFSETS[name]
    letter = name.rpartition("_")[2]
    return OFFSETS[("E" if name.startswith("epsilon") else "H") + letter] if letter in "xyz" else (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Piece:
    """Points of the cell that one rank writes: those of a chunk, or their images in a mirror.

    Attributes
    ----------
    number : str
        Name among the pieces of a component.
    chunk, owner : int
        The chunk, and its rank.
    seen : Box
        The points in the cell.
    image : Image
        From the chunk's points to those.
    """

    number: str
    chunk: int
    owner: int
    seen: Box
    image: Image


def pieces(sim: Fields, name: str, box: Box, average: Average) -> list[Piece]:
    """Return the pieces that tile a box of the cell, of a field or a medium.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> sim = Simulation(cell=(1, 0, 0), resolution=10)
    >>> [piece.seen.shape for piece in pieces(sim, "Ez", sim.grid.box, None)]
    [(10, 1, 1)]
    """
    layers, n = sim.layers, sim.grid.shape
    # Media are sampled anew wherever a point is; any images that cover the cell will do.
    found = layers.images(name, walls=True) if name in COMPONENTS else layers.images("centre")
    if name in COMPONENTS and average:
        # At the nodes, but of the component's parity.
        nodes = layers.images("node", walls=True)
        found = [replace(node, factor=image.factor) for node, image in zip(nodes, found, strict=True)]
    result = []
    for number, image in enumerate(found):
        for index, chunk in enumerate(sim.chunk_boxes):
            # Between walls, node 0 is the image of node n, a ghost point of the last chunk.
            x, y, z = (high + (high == end) for high, end in zip(chunk.box.hi, n, strict=True))
            own = chunk.box if image.direct else Box(chunk.box.lo, (x, y, z))
            seen = box & image.turned(own & image.kept)
            if not seen.empty:
                result.append(Piece(f"{index}.{number}" if number else f"{index}", index, chunk.owner, seen, image))
    return result


def field_slabs(sim: Fields, chunk: Chunk, name: str, box: Box, average: Average) -> Iterator[tuple[Box, Array]]:
    """Yield boxes that tile `box`, inside the chunk, with the values of a field, complex where fields are."""
    for slab in _slabs(box):
        parts = [_values(sim, chunk, name, part, slab, average) for part in range(sim.parts)]
        yield slab, parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]


def media_slabs(sim: Fields, name: str, box: Box) -> Iterator[tuple[Box, Array]]:
    """Yield boxes that tile `box` with the values of a medium."""
    for slab in _slabs(box):
        sample = sim.structure.sample(slab)
        inverse = (sample.electric if name.startswith("epsilon") else sample.magnetic).inverse
        letter = name.rpartition("_")[2]
        values = 1 / np.asarray(inverse["xyz".index(letter)]) if letter in "xyz" else 3 / sum(map(np.asarray, inverse))
        yield slab, np.broadcast_to(values, slab.shape)


def exchange_for_nodes(sim: Fields, components: Iterable[str]) -> None:
    """Fetch the points below chunks that averages of these fields need; all ranks must call."""
    from evenly.fdtd.stepping.halo import Halo, Need, match

    boxes = [chunk.box for chunk in sim.chunk_boxes]
    needs: list[Need] = []
    for name in (c for c in components if c in COMPONENTS):
        for index, box in enumerate(boxes):
            reach = _below(box, _axes(name, sim.grid))
            needs += [Need(index, name, part) for part in reach.without(box)]
    copies = match(needs, boxes, sim.layers)
    halo = Halo(copies, sim.chunk_boxes, {chunk.index: chunk for chunk in sim.chunks}, sim.communicator, _TAG)
    halo.exchange()


def _values(sim: Fields, chunk: Chunk, name: str, part: int, box: Box, average: Average) -> Array:
    if average is None:
        return np.ascontiguousarray(chunk.view(name, part, box))
    axes = _axes(name, sim.grid)
    reach = _below(box, axes)
    values = chunk.view(name, part, reach).copy()
    for axis in axes:
        if sim.layers.kinds[axis] != "metal":
            continue
        # Normal E and tangential H are mirrored at a metal wall.
        if reach.lo[axis] < 0:
            values[_at(axis, 0)] = values[_at(axis, 1)]
        if reach.hi[axis] > sim.grid.shape[axis]:
            values[_at(axis, -1)] = values[_at(axis, -2)]
    for axis in axes:
        values = 0.5 * (values[_at(axis, slice(1, None))] + values[_at(axis, slice(None, -1))])
    return np.ascontiguousarray(values)


def _axes(name: str, grid: Grid) -> list[int]:
    """Return the axes along which a field is half a spacing away from the nodes."""
    return [axis for axis in range(3) if OFFSETS[name][axis] and not grid.thin[axis]]


def _below(box: Box, axes: Iterable[int]) -> Box:
    for axis in axes:
        box = box.replace(axis, box.lo[axis] - 1, box.hi[axis])
    return box


def _at(axis: int, index: int | slice) -> tuple[int | slice, ...]:
    return (slice(None),) * axis + (index,)


def _slabs(box: Box) -> list[Box]:
    return [] if box.empty else box.slabs(max(range(3), key=lambda axis: box.shape[axis]), SLAB_POINTS)
