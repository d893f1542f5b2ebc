"""Checks that a structure has the mirror symmetries that a simulation relies on, point by point.

A mirror leaves diagonal elements of ε and μ, poles, conductivities and χ3 as they are. Off-diagonal elements change
sign if just one of their two axes is turned, and χ2, which multiplies E_c², has the parity of E_c.

>>> from evenly.fdtd.cell.boundaries import resolve
>>> from evenly.fdtd.cell.mirrors import Mirror
>>> from evenly.fdtd.media.materials import Medium
>>> from evenly.fdtd.media.solids import Block
>>> grid = Grid((2.0, 0.0, 0.0), 10)
>>> film = Block(size=(0.5, 9, 9), center=(0.1, 0, 0), material=Medium(epsilon=4))
>>> structure = Structure(grid, [film], layers=resolve([], grid, [Mirror("x")]))
>>> check_structure(structure, structure.layers.kept)
Traceback (most recent call last):
evenly.errors.InputError: The structure is not symmetric across x = 0: ε along x is 4 at (0.15, 0, 0), but 1.6 at ...
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC, OFFSETS, Grid
from evenly.fdtd.cell.mirrors import parity
from evenly.fdtd.media.structure import Response, Structure, Value

__all__ = ["check_structure"]

_SLAB = 250_000
# Largest difference, relative to the largest value of the same quantity: more than round-off, less than matters.
_ALIKE = 1e-6
_PAIRS = ("yz", "zx", "xy")


def check_structure(structure: Structure, box: Box) -> None:
    """Check that the points of a box are made of the same as their images in all mirrors of the cell.

    Raises
    ------
    InputError
        If one isn't; the message names a point, its image, and what differs.
    """
    axes = [axis for axis in range(3) if structure.layers.mirrors[axis]]
    if not axes or box.empty:
        return
    longest = max(range(3), key=lambda axis: box.shape[axis])
    for slab in box.slabs(longest, _SLAB):
        sample = structure.sample(slab)
        for count in range(1, len(axes) + 1):
            for turned in itertools.combinations(axes, count):
                other = structure.sample(_image(structure.grid, slab, turned))
                for side, here, there in ((0, sample.electric, other.electric), (1, sample.magnetic, other.magnetic)):
                    for quantity in _quantities(structure, turned, side, here, there):
                        _compare(structure, slab, turned, *quantity)


def _image(grid: Grid, box: Box, turned: Sequence[int]) -> Box:
    """Return a box that holds the images of all components in `box`: n - i of some, n - 1 - i of others."""
    for axis in turned:
        n = grid.shape[axis]
        box = box.replace(axis, n - box.hi[axis], n - box.lo[axis] + 1)
    return box


#: Name of a quantity, the place of its points, its values, those at the images, and the factor between them.
_Quantity = tuple[str, str, Any, Any, float]


def _quantities(
    structure: Structure, turned: Sequence[int], side: int, here: Response, there: Response
) -> Iterator[_Quantity]:
    letter, mirrors = "εμ"[side], structure.layers.mirrors
    for c, component in enumerate((ELECTRIC, MAGNETIC)[side]):
        yield f"{letter} along {AXES[c]}", component, here.inverse[c], there.inverse[c], 1
        sign = np.prod([parity(component, axis, mirrors[axis]) for axis in turned])
        for name, own, image, factor in (
            ("the conductivity", here.conductivity, there.conductivity, 1.0),
            ("χ2", here.chi2, there.chi2, float(sign)),
            ("χ3", here.chi3, there.chi3, 1.0),
        ):
            yield f"{name} along {AXES[c]}", component, _of(own, c), _of(image, c), factor
        for pole in {**here.poles, **there.poles}:
            one, other = (_of(found.poles.get(pole), c) for found in (here, there))
            yield f"the strength along {AXES[c]} of {pole!r}", component, one, other, 1
    if here.off_diagonal is not None or there.off_diagonal is not None:
        for n, pair in enumerate(_PAIRS):
            factor = (-1) ** sum(AXES[axis] in pair for axis in turned)
            place = ("node", "centre")[side]
            yield f"1/{letter} of {pair}", place, _of(here.off_diagonal, n), _of(there.off_diagonal, n), factor


def _of(values: Sequence[Value | None] | None, number: int) -> Value:
    value = None if values is None else values[number]
    return 0.0 if value is None else value


def _compare(
    structure: Structure, box: Box, turned: Sequence[int], name: str, place: str, here: Any, there: Any, factor: float
) -> None:
    if np.ndim(here) == 0 and np.ndim(there) == 0 and factor * here == there:
        return
    grid = structure.grid
    # Off-diagonal elements are sampled at one more node above E's points, or one more centre below H's.
    more = [int(place in ("node", "centre") and not thin) for thin in grid.thin]
    shape = tuple(n + m for n, m in zip(box.shape, more, strict=True))
    other = tuple(n + (axis in turned) for axis, n in enumerate(shape))
    values, images = np.broadcast_to(here, shape), np.broadcast_to(there, other)
    slices = []
    for axis, n in enumerate(shape):
        first = {"node": 0, "centre": 1}.get(place, int(OFFSETS[place][axis] == 0))
        slices.append(slice(first, first + n) if axis in turned else slice(0, n))
    images = images[tuple(slices)]
    images = images[tuple(slice(None, None, -1 if axis in turned else 1) for axis in range(3))]
    slack = _ALIKE * max(float(np.abs(values).max()), float(np.abs(images).max()), 1.0 if any(more) else 0.0)
    wrong = np.abs(factor * values - images) > slack
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        _raise(structure, box, turned, (name, place), at, (float(values[at]), float(images[at]), factor))


def _raise(
    structure: Structure,
    box: Box,
    turned: Sequence[int],
    what: tuple[str, str],
    at: Sequence[int],
    values: tuple[float, float, float],
) -> None:
    grid, (name, place) = structure.grid, what
    low = [a - int(place == "centre" and not thin) for a, thin in zip(box.lo, grid.thin, strict=True)]
    point: NDArray[np.float64] = np.array(
        [grid.coordinates(place, a, low[a] + at[a], low[a] + at[a] + 1)[0] for a in range(3)]
    )
    image = np.array([-x if axis in turned else x for axis, x in enumerate(point)])
    one, other = (1 / v if name[0] in "εμ" else v for v in values[:2])
    instead = f" instead of {-one:.6g}" if values[2] == -1 else ""
    letters = " and ".join(AXES[axis] for axis in turned)
    digits = 6 if f"{one:.6g}" != f"{other:.6g}" else 12
    raise InputError(
        f"The structure is not symmetric across {letters} = 0: {name} is {one:.{digits}g} at {_place(point)}, but "
        f"{other:.{digits}g} at its image {_place(image)}{instead}: make the geometry symmetric, or leave out the "
        f"mirror across {letters}."
    )


def _place(point: NDArray[np.float64]) -> str:
    return "(" + ", ".join(f"{x + 0.0:.6g}" for x in np.round(point, 9)) + ")"
