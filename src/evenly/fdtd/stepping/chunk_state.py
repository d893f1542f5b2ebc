"""What a chunk must remember from step to step, told without its layout in memory, so that other chunks can go on.

Two kinds: *dense* arrays hold a value at every point of the chunk's box (fields, and ψ in layers); *packed* ones only
where some physics is (polarisations, nonlinear media). Both are named by what they are, in the cell's axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.stepping.frame import packed_indices

if TYPE_CHECKING:
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.coefficients import SiteArrays

__all__ = [
    "Packed",
    "dense_arrays",
    "meeting",
    "nonzero_components",
    "packed_arrays",
    "packed_points",
    "place_box",
    "state_bytes",
]

Array = NDArray[Any]
_AXES = "xyz"


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
    _waiting: dict[str, Array] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        vars(self)["_waiting"] = {name: np.ones(len(self.points), bool) for name in self.arrays}

    def fill(self, name: str, at: Array, values: Array) -> None:
        """Fill in some values; neighbours may hold the same point and bring it more than once."""
        self.arrays[name][at] = values
        self._waiting[name][at] = False

    @property
    def missing(self) -> dict[str, int]:
        """How many values of each array weren't filled in."""
        return {name: int(np.count_nonzero(waiting)) for name, waiting in self._waiting.items()}


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
            # One array of frame.size values behind the other, in the order of `held`.
            flat = arrays[f"psi.{name}.{part}"]
            for n, (derivative, component) in enumerate(held):
                letters = name + _AXES[frame.order[component]], _AXES[frame.order[derivative]]
                yield f"psi.{letters[0]}.{letters[1]}.{part}", frame.view(flat[n * size : (n + 1) * size], chunk.box)


def packed_arrays(chunk: Chunk) -> list[Packed]:
    """Return what the chunk holds only at some of its points.

    Names are ``"poles.Ex.<pole>.now.0"``, ``"nonlinear.Ex.kept.0"`` and ``"sites.E.<kind>.field.0"``.

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
            found.append(Packed(packed_points(chunk, group.runs), arrays))
        for points in medium.nonlinear:
            letters = name + _AXES[chunk.frame.order[points.component]]
            arrays = {
                f"nonlinear.{letters}.{what}.{part}": values
                for what, parts in (("now", points.now), ("before", points.before), ("kept", points.kept))
                for part, values in enumerate(parts)
            }
            found.append(Packed(packed_points(chunk, points.runs), arrays))
        found += _sites(name, medium.sites) if medium.sites else []
    return found


def _sites(name: str, sites: SiteArrays) -> Iterator[Packed]:
    """Yield what sites of one kind and with the same poles hold, which follow each other."""
    for group in sites.poles:
        # The poles' points are sites, in a single run.
        first, n, _ = (int(v) for v in group.runs[0])
        starts = np.flatnonzero(np.diff(sites.kind[first : first + n], prepend=-1))
        for start, stop in zip(starts, [*starts[1:], n], strict=True):
            here, whole = slice(start, stop), slice(first + start, first + stop)
            label = f"sites.{name}.{sites.kind[whole.start]}"
            arrays = {f"{label}.field.{part}": values[whole] for part, values in enumerate(sites.fields)}
            arrays |= {
                f"{label}.{pole!r}.{when}.{part}": values[k, here]
                for when, parts in (("now", group.now), ("before", group.before))
                for part, values in enumerate(parts)
                for k, pole in enumerate(group.names)
            }
            yield Packed(sites.place[whole], arrays)


def place_box(names: Iterable[str], box: Box) -> Box:
    """Return the box that contains the points of packed arrays of a chunk on `box`: sites lie around it, too.

    Examples
    --------
    >>> place_box(["sites.E.1.field.0"], Box((2, 0, 0), (5, 1, 1))).lo
    (1, -1, -1)
    """
    return box.grow((1, 1, 1)) if any(name.startswith("sites.") for name in names) else box


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


def nonzero_components(chunk: Chunk) -> set[str]:
    """Return the components that the chunk remembers anything of: field, ψ or polarisation.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> chunk = Simulation(cell=(1, 0, 0), resolution=10).chunks[0]
    >>> chunk.view("Ey", 0, chunk.box)[3] = 1
    >>> nonzero_components(chunk)
    {'Ey'}
    """
    held = [dense_arrays(chunk), *(group.arrays for group in packed_arrays(chunk))]
    # The component is a word of each name.
    named = [(word, values) for arrays in held for name, values in arrays.items() for word in name.split(".")]
    return {word for word, values in named if word in COMPONENTS and np.any(values)}


def packed_points(chunk: Chunk, runs: Array) -> NDArray[np.int64]:
    """Return the global indices, (n_points, 3), of points that are packed run after run."""
    frame, flat = chunk.frame, packed_indices(runs[:, :3])
    points = np.empty((len(flat), 3), np.int64)
    for indices, user, ghost in zip(np.unravel_index(flat, frame.shape), frame.order, frame.ghosts, strict=True):
        points[:, user] = indices + (chunk.box.lo[user] - ghost)
    return points


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
