"""Sources: electric and magnetic currents at points, on lines and planes, and in volumes.

A source adds the current density J to ∂E/∂t = (curl H - J)/ε (or K to ∂H/∂t = (-curl E - K)/μ). J at time t is the
product of `amplitude`, `amplitude_function` and the pulse; with real fields, its real part. Along an axis where its
size is 0, the source is a delta function. Its weight is then the resolution, so that the total current does not depend
on the grid. A position between grid points is spread linearly over the points around it, and the ends of an extent get
fractional weights (see `evenly.fdtd.cell.extents`).
"""

from __future__ import annotations

import cmath
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import Phases
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.extents import AxisWeights, axis_weights, check_inside, check_region, hull, merged, weights_in
from evenly.fdtd.cell.grid import COMPONENTS, Grid, Vector
from evenly.fdtd.sources.pulses import Pulse

__all__ = ["Source", "SourcePatch"]

_PERIODIC: Phases = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class SourcePatch:
    """The current of one component on one box of grid points.

    Parameters
    ----------
    component : str
        The field component that the current drives.
    box : Box
        Grid points, in global indices.
    weights : array of shape box.shape
        Current density per unit of the pulse's amplitude; real or complex.
    """

    component: str
    box: Box
    weights: NDArray[Any]


@explained
@dataclass(frozen=True)
class Source:
    """A current that drives one field component.

    Parameters
    ----------
    pulse : Pulse
        Time dependence.
    component : str
        ``"Ex"`` … ``"Ez"`` for an electric current, ``"Hx"`` … ``"Hz"`` for a magnetic current.
    center : sequence of up to three floats
        In a, from the centre of the cell.
    size : sequence of up to three floats
        Edge lengths in a; 0 is a delta function along that axis. Along a thin axis of the cell the source doesn't vary.
    amplitude : complex
        Constant factor.
    amplitude_function : callable, optional
        ``function(x, y, z)`` returns a complex factor. Its arguments are arrays that broadcast, in a, relative to
        `center`.
    name : str
        Name for messages.

    Raises
    ------
    InputError
        If the component is unknown, a size is negative, the amplitude isn't finite, or `pulse` is no pulse.

    Examples
    --------
    >>> from evenly.fdtd.sources.pulses import GaussianPulse
    >>> source = Source(GaussianPulse(1.0, fwidth=0.2), "Ez", center=(0.05, 0, 0))
    >>> grid = Grid((1.0, 1.0, 0.0), 10)
    >>> [(patch.box.lo, patch.weights.ravel().tolist()) for patch in source.patches(grid, grid.box)]
    [((5, 5, 0), [50.0, 50.0])]
    """

    pulse: Pulse
    component: str
    center: Vector
    size: Vector = (0.0, 0.0, 0.0)
    amplitude: complex = 1.0
    amplitude_function: Callable[[Any, Any, Any], Any] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        label = self.label
        if self.component not in COMPONENTS:
            raise InputError(f"The component of {label} must be one of {', '.join(COMPONENTS)}.")
        if not isinstance(self.pulse, Pulse):
            raise InputError(
                f"The pulse of {label} must be a GaussianPulse, ContinuousWave or CustomPulse, but got {self.pulse!r}."
            )
        center, size = check_region(self.center, self.size, label)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "size", size)
        if not cmath.isfinite(self.amplitude):
            raise InputError(f"The amplitude of {label} must be a finite number, but got {self.amplitude!r}.")
        if self.amplitude_function is not None and not callable(self.amplitude_function):
            raise InputError(f"The amplitude_function of {label} must be callable with (x, y, z).")

    @property
    def label(self) -> str:
        """Name of the source in messages."""
        return f"the source {self.name!r}" if self.name else f"the {self.component} source at {self.center!r}"

    def patches(self, grid: Grid, box: Box, phases: Phases = _PERIODIC) -> list[SourcePatch]:
        """Return the currents on the points of `box`.

        Parameters
        ----------
        grid : Grid
        box : Box
            Grid points, for example those of a chunk. No array larger than their part of the source is built.
        phases : tuple of three, each complex or None
            As `Layers.phases`: exp(ikL) if the cell is periodic (1 without Bloch), None if it has walls. This only
            matters within one grid spacing of the ends.

        Returns
        -------
        list of SourcePatch
            They may overlap if the source reaches around a periodic cell; their currents add up.

        Raises
        ------
        InputError
            If the source lies outside the cell, or its amplitude function returns numbers that aren't finite or an
            array of a wrong shape.
        """
        check_inside(grid, self.center, self.size, self.label)
        found, along = [], []
        for axis in range(3):
            low, high = (self.center[axis] + sign * self.size[axis] / 2 for sign in (-1, 1))
            parts = axis_weights(grid, self.component, axis, low, high, phases[axis])
            if self.size[axis] == 0 and not grid.thin[axis]:
                parts = [AxisWeights(part.start, part.weights * grid.resolution, part.shift) for part in parts]
            along.append(parts if self.amplitude_function else merged(parts))
        for three in itertools.product(*along):
            inside = hull(three) & box
            if not inside.empty:
                found.append(SourcePatch(self.component, inside, self._weights(grid, three, inside)))
        return found

    def _weights(self, grid: Grid, parts: Sequence[AxisWeights], inside: Box) -> NDArray[Any]:
        x, y, z = weights_in(parts, inside)
        weights = x[:, None, None] * y[:, None] * z
        amplitude = self.amplitude.real if complex(self.amplitude).imag == 0 else self.amplitude
        if self.amplitude_function is None:
            return np.asarray(weights * amplitude)
        meant = inside.shift((parts[0].shift, parts[1].shift, parts[2].shift))
        return np.asarray(weights * amplitude * self._profile(grid, meant))

    def _profile(self, grid: Grid, box: Box) -> NDArray[Any]:
        assert self.amplitude_function is not None  # noqa: S101 - for the type checker
        x, y, z = (p - c for p, c in zip(grid.points(self.component, box), self.center, strict=True))
        values = np.asarray(self.amplitude_function(x, y, z))
        if values.dtype.kind not in "biufc" or not np.isfinite(values).all():
            raise InputError(f"The amplitude_function of {self.label} must give finite numbers at each of its points.")
        try:
            return np.broadcast_to(values, box.shape)
        except ValueError:
            raise InputError(
                f"The amplitude_function of {self.label} must give an array that broadcasts to the {box.shape} points "
                f"it is asked for (x, y, z have shapes (nx,1,1), (1,ny,1), (1,1,nz)), but got shape {values.shape}."
            ) from None
