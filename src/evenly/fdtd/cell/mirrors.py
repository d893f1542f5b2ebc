"""Mirror symmetries: only the part of the cell on one side of each plane of symmetry is stored and stepped.

A plane of symmetry goes through the middle of the cell. Across it, fields of points that are mirror images of each
other differ by a sign, the component's parity. E is a vector: for an even mirror (phase +1) across x, Ey and Ez have
parity +1 and Ex has -1. H is an axial vector, so its components have the opposite signs. An odd mirror (phase -1)
changes all signs (J. D. Joannopoulos et al., Photonic Crystals, 2nd ed., ch. 3).

With n points along the axis (n is even), the plane is at node n/2. On the Yee grid, the image of point i is n - i for
components on the plane, and n - 1 - i for those half a spacing off it. Kept are:

- between walls, points n/2 … n-1. Node 0 has no image, because node n, on the other wall, isn't stored. E along a wall
  is 0 at both.
- around a periodic axis, points 0 … n/2. Node 0 is on a second plane of symmetry, because n - 0 is node 0 of the next
  period. Half points n/2 are images of n/2 - 1; they are stepped all the same, so that E at node n/2 finds them.

Fields beyond a plane are ghost points with the parity as factor, so the kernels know nothing of mirrors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES, Box, Index
from evenly.fdtd.cell.grid import COMPONENTS, OFFSETS, Grid, axis_index

__all__ = [
    "Image",
    "Mirror",
    "Signs",
    "check_planes",
    "checked",
    "fold",
    "folded",
    "images",
    "kept_box",
    "parity",
    "reduced",
]

#: Per axis +1 or -1, the phase of a mirror across it; 0 without one.
Signs = tuple[int, int, int]
Kinds = tuple[str, str, str]


@explained
@dataclass(frozen=True)
class Mirror:
    """A mirror symmetry of structure, sources and fields, across the plane through the middle of the cell.

    Only one side is stored and stepped: half the cell with one mirror, an eighth with three. Results are those of the
    whole cell.

    Parameters
    ----------
    axis : "x", "y" or "z"
        The axis normal to the plane.
    phase : +1 or -1
        +1: E along the plane is the same on both sides, and E across it changes sign. -1: the other way round. H has
        the opposite signs.

    Raises
    ------
    InputError
        If the axis is unknown, or the phase is neither.

    Examples
    --------
    >>> Mirror("x")
    Mirror(axis='x', phase=1)
    >>> Mirror("y", phase=-1).parity("Ey")
    1
    """

    axis: str
    phase: Literal[1, -1] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", AXES[axis_index(self.axis)])
        phase: object = self.phase
        if isinstance(phase, bool) or phase not in (1, -1):
            raise InputError(f"`phase` of a Mirror must be 1 (even) or -1 (odd), but got {phase!r}.")

    def parity(self, component: str) -> int:
        """Return the factor, +1 or -1, of a field component between a point and its image."""
        return parity(component, AXES.index(self.axis), self.phase)


def parity(component: str, axis: int, phase: int) -> int:
    """Return the parity of a component (``"Ex"`` …, ``"Gx"`` … as E, ``"Kx"`` … as H) across an axis.

    Examples
    --------
    >>> [parity(name, 0, 1) for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")]
    [-1, 1, 1, 1, -1, -1]
    """
    across = component[1] == AXES[axis]
    return -phase if across == (component[0] in "EG") else phase


def checked(mirrors: Iterable[Mirror], grid: Grid) -> Signs:
    """Return the phase of the mirror across each axis, 0 where there is none.

    Raises
    ------
    InputError
        If the cell has no mirror image across an axis, or two mirrors have the same.

    Examples
    --------
    >>> checked([Mirror("y", phase=-1)], Grid((1.0, 1.0, 0.0), 10))
    (0, -1, 0)
    """
    found = [0, 0, 0]
    for mirror in [mirrors] if isinstance(mirrors, Mirror) else mirrors:
        if not isinstance(mirror, Mirror):
            raise InputError(f'A symmetry is a Mirror such as Mirror("x", phase=-1), but got {mirror!r}.')
        axis = AXES.index(mirror.axis)
        n = grid.shape[axis]
        if found[axis]:
            raise InputError(f"There are two mirrors across {mirror.axis}: keep one.")
        if grid.thin[axis]:
            raise InputError(
                f"{mirror} can't be a symmetry of a cell that has no size along {mirror.axis}: leave it out (only "
                "components that sources drive are stepped there anyway)."
            )
        if n % 2:
            near = " or ".join(f"{points * grid.dx:.6g}" for points in (n - 1, n + 1) if points)
            raise InputError(
                f"{mirror} needs an even number of grid points along {mirror.axis}, because its plane goes through "
                f"points, but the cell has {n}: make its size {near}."
            )
        found[axis] = mirror.phase
    return found[0], found[1], found[2]


def kept_box(grid: Grid, kinds: Kinds, signs: Signs) -> Box:
    """Return the points that are stored and stepped.

    Examples
    --------
    >>> kept_box(Grid((1.0, 1.0, 0.0), 10), ("metal", "periodic", "periodic"), (1, 1, 0))
    Box(lo=(5, 0, 0), hi=(10, 6, 1))
    """
    box = grid.box
    for axis in (a for a in range(3) if signs[a]):
        n = grid.shape[axis]
        box = box.replace(axis, 0, n // 2 + 1) if kinds[axis] == "periodic" else box.replace(axis, n // 2, n)
    return box


def reduced(grid: Grid, kept: Box) -> Grid:
    """Return the grid of the stored points alone, at the same places.

    Examples
    --------
    >>> part = reduced(Grid((2.0, 1.0, 0.0), 10), Box((10, 0, 0), (20, 10, 1)))
    >>> part.shape, part.center, part.origin
    ((10, 10, 1), (0.5, 0.0, 0.0), (0.0, -0.5, 0.0))
    """
    if kept == grid.box:
        return grid
    sizes = [0.0 if thin else n * grid.dx for n, thin in zip(kept.shape, grid.thin, strict=True)]
    x, y, z = (
        0.0 if thin else origin + (low + high) / 2 * grid.dx
        for origin, low, high, thin in zip(grid.origin, kept.lo, kept.hi, grid.thin, strict=True)
    )
    return Grid((sizes[0], sizes[1], sizes[2]), grid.resolution, grid.courant, (x, y, z))


def check_planes(grid: Grid, kinds: Kinds, signs: Signs, boxes: Iterable[Box]) -> None:
    """Check that no chunk consists of a plane of symmetry alone.

    Around a periodic axis, E beyond the plane at node n/2 is that below it, which must be known when E has been swept.

    Raises
    ------
    InputError
        If one does.
    """
    for axis in (a for a in range(3) if signs[a] and kinds[a] == "periodic"):
        middle = grid.shape[axis] // 2
        if any(box.lo[axis] == middle for box in boxes):
            at = grid.origin[axis] + middle * grid.dx
            raise InputError(
                f"A cut across {AXES[axis]} leaves only the plane of symmetry {AXES[axis]} = {at:g} on its upper side: "
                f"move it down by a grid spacing ({grid.dx:.4g}), leave it out, or use fewer chunks."
            )


@dataclass(frozen=True)
class Image:
    """Where the kept points of a component are seen in the whole cell: where they are, or in one or more mirrors.

    Every point of the cell has one image that holds it, apart from node 0 between walls, where E is 0.

    Attributes
    ----------
    kept : Box
        The points that are seen.
    sums : three of int or None
        Per axis the sum of a point's index and its image's; None where the image has the same index.
    factor : int
        From the field at the kept point to that at its image, +1 or -1.
    """

    kept: Box
    sums: tuple[int | None, int | None, int | None]
    factor: int

    @property
    def direct(self) -> bool:
        """Whether points are seen where they are."""
        return self.sums == (None, None, None)

    @property
    def seen(self) -> Box:
        """Where the points are seen."""
        return self.turned(self.kept)

    def turned(self, box: Box) -> Box:
        """Return the image of a box; the image of that is the box again."""
        for axis, total in enumerate(self.sums):
            if total is not None:
                box = box.replace(axis, total - box.hi[axis] + 1, total - box.lo[axis] + 1)
        return box

    def flipped(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values (…, nx, ny, nz) on a box as a view in the order of its image."""
        turns = tuple(slice(None) if total is None else slice(None, None, -1) for total in self.sums)
        return values[(..., *turns)]


def images(
    component: str,
    grid: Grid,
    kinds: Kinds,
    signs: Signs,
    *,
    average: int | None = None,
    walls: bool = False,
) -> list[Image]:
    """Return all images of the kept points of a component, the direct one first; they don't overlap.

    Parameters
    ----------
    component : str
        A field component, or ``"node"`` or ``"centre"`` (of parity 1).
    grid, kinds, signs
        As in `kept_box`.
    average : int, optional
        The axis along which the component was averaged to the nodes.
    walls : bool
        Whether node 0 between walls is the image of node n, a ghost point; it is left out otherwise.

    Examples
    --------
    >>> found = images("Ez", Grid((1.0, 0.0, 0.0), 10), ("metal", "periodic", "periodic"), (-1, 0, 0))
    >>> [(image.seen.lo[0], image.seen.hi[0], image.factor) for image in found]
    [(5, 10, 1), (1, 5, -1)]
    """
    choices: list[list[tuple[int, int, int | None, int]]] = []
    for axis in range(3):
        n, half = grid.shape[axis], OFFSETS[component][axis] == 0.5 and average != axis
        if not signs[axis]:
            choices.append([(0, n, None, 1)])
            continue
        sign = parity(component, axis, signs[axis]) if component in COMPONENTS else 1
        # Points on a plane are their own images.
        on_plane = 0 if half else 1
        if kinds[axis] == "periodic":
            ends = (0, n // 2 + on_plane), (on_plane, n // 2)
        else:
            ends = (n // 2, n), (n // 2 + on_plane, n + (1 if walls and not half else 0))
        choices.append([(*ends[0], None, 1), (*ends[1], n - 1 + on_plane, sign)])
    found = []
    for x, y, z in itertools.product(*choices):
        kept = Box((x[0], y[0], z[0]), (x[1], y[1], z[1]))
        found.append(Image(kept, (x[2], y[2], z[2]), x[3] * y[3] * z[3]))
    return found


def fold(found: Sequence[Image], index: Index) -> tuple[Index, int] | None:
    """Return the kept point whose image a point of the cell is, and the factor; None if there is none.

    Examples
    --------
    >>> found = images("Ez", Grid((1.0, 0.0, 0.0), 10), ("metal", "periodic", "periodic"), (-1, 0, 0))
    >>> fold(found, (2, 0, 0)), fold(found, (7, 0, 0)), fold(found, (0, 0, 0))
    (((8, 0, 0), -1), ((7, 0, 0), 1), None)
    """
    for image in found:
        if index in image.seen:
            x, y, z = index
            return image.turned(Box(index, (x + 1, y + 1, z + 1))).lo, image.factor
    return None


def folded(values: NDArray[np.float64], axis: int, found: Sequence[Image]) -> NDArray[np.float64]:
    """Return weights of the cell's points along an axis, (n,), as those of the kept points: images' weights are added.

    Examples
    --------
    >>> found = images("Ez", Grid((1.0, 0.0, 0.0), 10), ("metal", "periodic", "periodic"), (-1, 0, 0))
    >>> folded(np.ones(10), 0, found).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    """
    total = np.zeros_like(values)
    for image in found:
        if all(image.sums[a] is None for a in range(3) if a != axis):
            seen = values[image.seen.lo[axis] : image.seen.hi[axis]]
            total[image.kept.lo[axis] : image.kept.hi[axis]] += seen if image.sums[axis] is None else seen[::-1]
    return total
