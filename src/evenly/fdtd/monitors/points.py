"""The value of a field component at any point of the cell, by linear interpolation across chunk borders.

Each rank reads those corner points of the interpolation that its chunks own. Every corner has exactly one owner, so
sums over the ranks are exact, and the value doesn't depend on the partition.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import Phases
from evenly.fdtd.cell.box import Box, Index
from evenly.fdtd.cell.extents import axis_weights, check_inside
from evenly.fdtd.cell.grid import COMPONENTS, Grid, Vector, vector
from evenly.fdtd.cell.mirrors import fold

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["PointProbe", "check_component", "corners"]


def check_component(component: str, what: str) -> None:
    """Check that a field component exists.

    Raises
    ------
    InputError
        If it doesn't.

    Examples
    --------
    >>> check_component("Ez", "a probe")
    """
    if component not in COMPONENTS:
        raise InputError(f"The component of {what} must be one of {', '.join(COMPONENTS)}, but got {component!r}.")


def corners(grid: Grid, component: str, point: Vector, phases: Phases) -> list[tuple[Index, complex]]:
    """Return the grid points around a point, and the weight of each in the interpolated value.

    Parameters
    ----------
    grid : Grid
    component : str
    point : three floats
        In a, inside the cell.
    phases : three, each complex or None
        As for `Source.patches`.

    Examples
    --------
    >>> corners(Grid((1.0, 0, 0), 10), "Ez", (0.125, 0.0, 0.0), (None, None, None))
    [((6, 0, 0), 0.75), ((7, 0, 0), 0.25)]
    """
    per_axis = []
    for axis in range(3):
        found = axis_weights(grid, component, axis, point[axis], point[axis], phases[axis])
        # `axis_weights` gives weights for sources; for reading a field, the Bloch phase has the opposite sign.
        per_axis.append([(run.start + i, np.conj(w)) for run in found for i, w in enumerate(run.weights)])
    result = []
    for x, y, z in itertools.product(*per_axis):
        weight = complex(x[1] * y[1] * z[1])
        result.append(((int(x[0]), int(y[0]), int(z[0])), weight if weight.imag else weight.real))
    return result


class PointProbe:
    """Reads a field component at one point, any number of times.

    Parameters
    ----------
    sim : Fields
    component : str
        ``"Ex"`` … ``"Hz"``.
    point : up to three floats
        In a.
    what : str
        Name for messages.

    Raises
    ------
    InputError
        If the component is unknown, or the point is outside the cell.
    """

    def __init__(self, sim: Fields, component: str, point: Sequence[float] | float, what: str) -> None:
        check_component(component, what)
        self.point = vector(point, f"the point of {what}")
        check_inside(sim.grid, self.point, (0, 0, 0), what)
        found = []
        for index, weight in corners(sim.grid, component, self.point, sim.layers.phases):
            # Where a mirror shows a kept point; points on walls that none shows are 0.
            kept = fold(sim.layers.images(component), index)
            if kept is not None:
                found.append((kept[0], weight * kept[1]))
        self.weights = [weight for _, weight in found]
        self.parts, self._communicator = sim.parts, sim.communicator
        self.own: list[int] = []
        self.views: list[NDArray[Any]] = []
        for n, (index, _) in enumerate(found):
            box = Box(index, (index[0] + 1, index[1] + 1, index[2] + 1))
            for chunk in sim.chunks:
                if chunk.box.covers(box):
                    self.own.append(n)
                    self.views += [chunk.view(component, part, box) for part in range(self.parts)]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of corners, and number of parts (2 if the fields are complex)."""
        return len(self.weights), self.parts

    def read(self) -> list[float]:
        """Return the values of this rank's corners, part by part."""
        return [view.item() for view in self.views]

    def everyones(self, values: Sequence[float], samples: int) -> NDArray[np.float64]:
        """Return the samples that `read` gave on all ranks, (samples, corners, parts); all ranks must call."""
        # Corners that other ranks own stay 0.
        full = np.zeros((samples, *self.shape))
        full[:, self.own] = np.array(values, np.float64).reshape(samples, len(self.own), self.parts)
        return np.asarray(self._communicator.allreduce(full))

    def combine(self, values: NDArray[np.float64]) -> NDArray[Any]:
        """Return interpolated values, (n,), from the values at all corners, (n, corners, parts)."""
        fields = values[..., 0] if self.parts == 1 else values[..., 0] + 1j * values[..., 1]
        total: NDArray[Any] = np.zeros(len(values), fields.dtype)
        for n, weight in enumerate(self.weights):
            total = total + fields[:, n] * (weight if self.parts == 2 else weight.real)
        return total
