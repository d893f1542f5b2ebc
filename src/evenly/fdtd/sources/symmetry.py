"""Checks that sources have the mirror symmetries that a simulation relies on.

For each pulse and component, the current at a point and at its image must be the same up to the component's parity. On
a plane of symmetry, a component of parity -1 has no current.

>>> from evenly.fdtd.cell.boundaries import resolve
>>> from evenly.fdtd.cell.mirrors import Mirror
>>> from evenly.fdtd.sources.pulses import GaussianPulse
>>> grid = Grid((2.0, 0.0, 0.0), 10)
>>> layers = resolve([], grid, [Mirror("x")])
>>> check_sources([Source(GaussianPulse(1.0, fwidth=0.2), "Ez", (0.3, 0, 0))], grid, layers, layers.kept)
Traceback (most recent call last):
evenly.errors.InputError: The sources are not symmetric across x = 0: at (0.3, 0, 0), the Ez source at ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import Layers
from evenly.fdtd.cell.box import AXES, Box, Index
from evenly.fdtd.cell.grid import OFFSETS, Grid
from evenly.fdtd.cell.mirrors import parity
from evenly.fdtd.sources.source import Source

__all__ = ["check_sources"]

Array = NDArray[Any]
# Largest difference, relative to the largest current: more than round-off, less than matters.
_ALIKE = 1e-6


def check_sources(sources: Sequence[Source], grid: Grid, layers: Layers, box: Box) -> None:
    """Check that the currents on the kept points of a box are those of their images in all mirrors of the cell.

    Raises
    ------
    InputError
        If they aren't; the message names a point and the source.
    """
    if not any(layers.mirrors):
        return
    for group in _groups(sources):
        component = group[0].component
        for image in layers.images(component):
            kept = image.kept & box
            here, there = (_currents(group, grid, layers, one) for one in (kept, image.turned(kept)))
            both = _hull([where for where, _ in here] + [image.turned(where) for where, _ in there])
            if both is None:
                continue
            own, seen = _sum(here, both), image.flipped(_sum(there, image.turned(both)))
            wrong = np.abs(image.factor * own - seen) > _ALIKE * max(np.abs(own).max(), np.abs(seen).max())
            if wrong.any():
                turned = [axis for axis, total in enumerate(image.sums) if total is not None]
                _raise(group, grid, layers, (both, wrong), turned, image.factor)
        for axis, plane in _odd_planes(component, layers, box):
            for where, weights in _currents(group, grid, layers, plane):
                if np.any(weights):
                    _raise(group, grid, layers, (where, weights != 0), [axis], -1)


def _groups(sources: Sequence[Source]) -> list[list[Source]]:
    """Return the sources of the same pulse and component."""
    groups: list[list[Source]] = []
    for source in sources:
        for group in groups:
            if group[0].component == source.component and group[0].pulse == source.pulse:
                group.append(source)
                break
        else:
            groups.append([source])
    return groups


def _currents(group: Sequence[Source], grid: Grid, layers: Layers, box: Box) -> list[tuple[Box, Array]]:
    patches = [patch for source in group for patch in source.patches(grid, box, layers.phases)]
    return [(patch.box, patch.weights) for patch in patches]


def _hull(boxes: Sequence[Box]) -> Box | None:
    if not boxes:
        return None
    low, high = np.min([box.lo for box in boxes], axis=0), np.max([box.hi for box in boxes], axis=0)
    (a, b, c), (d, e, f) = map(int, low), map(int, high)
    return Box((a, b, c), (d, e, f))


def _sum(currents: Sequence[tuple[Box, Array]], box: Box) -> Array:
    total: Array = np.zeros(box.shape, np.result_type(float, *(weights for _, weights in currents)))
    for where, weights in currents:
        total[where.slices(box.lo)] += weights
    return total


def _odd_planes(component: str, layers: Layers, box: Box) -> Iterator[tuple[int, Box]]:
    """Yield the axes across which a component of parity -1 lies on a plane of symmetry, and the plane's points."""
    for axis in (a for a in range(3) if layers.mirrors[a] and OFFSETS[component][a] == 0):
        sign, phase = parity(component, axis, layers.mirrors[axis]), layers.phases[axis]
        planes = [(layers.grid.shape[axis] // 2, sign)]
        if phase is not None:
            planes.append((0, sign * round(phase.real)))
        for at, odd in planes:
            plane = box & layers.grid.box.replace(axis, at, at + 1)
            if odd == -1 and not plane.empty:
                yield axis, plane


def _raise(
    group: Sequence[Source],
    grid: Grid,
    layers: Layers,
    wrong: tuple[Box, NDArray[np.bool_]],
    turned: Sequence[int],
    factor: int,
) -> None:
    (box, where), component = wrong, group[0].component
    x, y, z = (int(i) + low for i, low in zip(np.argwhere(where)[0], box.lo, strict=True))
    point = Box((x, y, z), (x + 1, y + 1, z + 1))
    image = point
    for axis in turned:
        total = grid.shape[axis] - int(OFFSETS[component][axis] == 0.5)
        at = total - point.lo[axis]
        at = at if layers.phases[axis] is None else at % grid.shape[axis]
        image = image.replace(axis, at, at + 1)
    guilty = [s for s in group if any(s.patches(grid, one, layers.phases) for one in (point, image))]
    letters = " and ".join(AXES[axis] for axis in turned)
    if point == image:
        why = f"is where {component} is 0 because of its parity -1"
        what = f"the other phase of the mirror across {letters}"
    else:
        why = f"has no current of {'the same' if factor == 1 else 'the opposite'} sign at the image"
        why += f" {_place(grid, component, image.lo)}, of the same pulse"
        what = "a source with this pulse there, or another phase of the mirror,"
    raise InputError(
        f"The sources are not symmetric across {letters} = 0: at {_place(grid, component, point.lo)}, "
        f"{guilty[0].label} {why}: use {what} or leave out the mirror across {letters}."
    )


def _place(grid: Grid, component: str, index: Index) -> str:
    x, y, z = (grid.coordinates(component, a, index[a], index[a] + 1)[0] for a in range(3))
    return "(" + ", ".join(f"{v + 0.0:.6g}" for v in np.round((x, y, z), 9)) + ")"
