"""Near-to-far-field transform: far fields from the tangential fields on a surface.

By the equivalence principle, the tangential fields on a closed surface with outward normal n act as currents J = n x H
and K = -n x E. These currents radiate the field outside. The medium outside must be homogeneous and lossless. A single
plane may replace the closed surface if no field leaves except through this plane. The transform works in one, two and
three dimensions, but not for cells that are periodic along the surface.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.green import far_factor, near_fields
from evenly.fdtd.monitors.monitor import FourierMonitor, Region
from evenly.fdtd.monitors.planes import faces, pairings

__all__ = ["NearToFar", "directions"]

Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class _Sheet:
    """The currents from one pair of components on one patch: J along one axis, K along another."""

    electric_axis: int
    magnetic_axis: int
    coordinates: tuple[NDArray[np.float64], ...]
    electric: Complex
    magnetic: Complex


@explained
def directions(theta: ArrayLike, phi: ArrayLike = 0.0) -> NDArray[np.float64]:
    """Return unit vectors from polar angles (from z) and azimuths (from x), in radians; arguments broadcast.

    Returns
    -------
    array of the shape of the angles, and an axis of 3

    Examples
    --------
    >>> directions(np.pi / 2, [0, np.pi / 2]).round(12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    t, p = np.broadcast_arrays(np.asarray(theta, dtype=np.float64), np.asarray(phi, dtype=np.float64))
    return np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], axis=-1)


@explained
class NearToFar(FourierMonitor):
    """Monitor of the fields far outside a closed box, or beyond a plane.

    Parameters
    ----------
    center, size : sequences of up to three floats
        In a; a box, or a plane with size 0 along exactly one axis that isn't thin.
    frequencies : sequence of floats
        In c/a, positive.
    epsilon, mu : float
        Relative permittivity and permeability of the homogeneous medium outside.
    direction : str, optional
        Normal of a plane towards the far side, such as ``"-x"``.
    every : int, optional
        Sampling interval in steps (see `FourierMonitor`).
    name : str
        Name for messages.

    Raises
    ------
    InputError
        If a frequency is 0, or ε or μ is not positive.

    Examples
    --------
    >>> monitor = NearToFar((0, 0, 0), (1, 1, 1), [1.0])
    >>> len(monitor.regions(Grid((2.0, 2.0, 2.0), 10)))
    24
    """

    kind = "near-to-far monitor"

    def __init__(
        self,
        center: Sequence[float],
        size: Sequence[float],
        frequencies: ArrayLike,
        *,
        epsilon: float = 1.0,
        mu: float = 1.0,
        direction: str | None = None,
        every: int | None = None,
        name: str = "",
    ) -> None:
        super().__init__(frequencies, every=every, name=name)
        if self.frequencies.min() <= 0:
            raise InputError(f"The frequencies of {self.label} must be positive, but got {self.frequencies.tolist()}.")
        if not (0 < epsilon < math.inf and 0 < mu < math.inf):
            raise InputError(
                f"`epsilon` and `mu` of {self.label} must be positive (the medium outside has no losses), but got "
                f"{epsilon!r} and {mu!r}."
            )
        self.center, self.size, self.direction = center, size, direction
        self.medium = (float(epsilon), float(mu))

    def regions(self, grid: Grid) -> list[Region]:
        pairs = pairings(grid, self.center, self.size, self.direction, self.label)
        return [region for pair in pairs for region in (pair.electric, pair.magnetic)]

    def fields(self, points: ArrayLike) -> Complex:
        """Return the transforms of all components at points outside the surface (all ranks must call).

        Parameters
        ----------
        points : array of shape (n_points, 3)
            In a; at least one grid spacing outside the surface.

        Returns
        -------
        array of shape (n_frequencies, n_points, 6)
            Ex, Ey, Ez, Hx, Hy, Hz.

        Raises
        ------
        InputError
            If a point isn't outside the surface.
        """
        wanted = self._outside(points)
        axes = tuple(a for a in range(3) if not self.stage.grid.thin[a])
        total = np.zeros((len(self.frequencies), len(wanted), 6), dtype=np.complex128)
        for sheet in self._sheets():
            places = np.stack([p.ravel() for p in np.broadcast_arrays(*sheet.coordinates)], axis=1)
            for n, frequency in enumerate(self.frequencies):
                currents = np.zeros((2, len(places), 3), dtype=np.complex128)
                currents[0, :, sheet.electric_axis] = sheet.electric[n].ravel()
                currents[1, :, sheet.magnetic_axis] = sheet.magnetic[n].ravel()
                total[n] += near_fields(wanted, places, currents[0], currents[1], float(frequency), self.medium, axes)
        return self._summed(total)

    def far_amplitudes(self, towards: ArrayLike) -> Complex:
        """Return the electric far field times r^((d-1)/2) exp(-ikr) in d dimensions (all ranks must call).

        Parameters
        ----------
        towards : array of shape (n_directions, 3)
            Vectors of any length except 0, without components along thin axes; see `directions`.

        Returns
        -------
        array of shape (n_frequencies, n_directions, 3)

        Raises
        ------
        InputError
            If a direction is 0, or leaves the plane of a two-dimensional cell.
        """
        unit = self._unit(towards)
        moments = np.zeros((2, len(self.frequencies), len(unit), 3), dtype=np.complex128)
        for sheet in self._sheets():
            for n, frequency in enumerate(self.frequencies):
                k = 2 * math.pi * float(frequency) * math.sqrt(self.medium[0] * self.medium[1])
                both = _moments(sheet, n, k * unit)
                moments[0, n, :, sheet.electric_axis] += both[0]
                moments[1, n, :, sheet.magnetic_axis] += both[1]
        electric, magnetic = self._summed(moments)
        # At a great distance E = iωμ (J - u (u·J)) g - ik (u x K) g: only components normal to the direction u radiate.
        omega = 2 * math.pi * self.frequencies[:, None, None]
        waves = omega * math.sqrt(self.medium[0] * self.medium[1])
        across = electric - unit * (electric * unit).sum(axis=-1, keepdims=True)
        factors = np.array([far_factor(self.stage.grid.dimensions, float(v)) for v in waves.ravel()])[:, None, None]
        return np.asarray(factors * (1j * omega * self.medium[1] * across - 1j * waves * np.cross(unit, magnetic)))

    def pattern(self, towards: ArrayLike) -> NDArray[np.float64]:
        """Return the power per solid angle (per angle in 2d, per side in 1d), in the convention of `Flux`.

        Parameters
        ----------
        towards : array of shape (n_directions, 3)
            See `far_amplitudes`. All ranks must call.

        Returns
        -------
        array of shape (n_frequencies, n_directions)
            The integral over all directions is the flux out of the box.
        """
        squares = (np.abs(self.far_amplitudes(towards)) ** 2).sum(axis=-1)
        return np.asarray(squares * math.sqrt(self.medium[0] / self.medium[1]))

    def _sheets(self) -> Iterator[_Sheet]:
        grid = self.stage.grid
        for pair in pairings(grid, self.center, self.size, self.direction, self.label):
            for e, h in zip(self._local[pair.electric.key], self._local[pair.magnetic.key], strict=True):
                weights = -pair.sign * pair.weights[e.inside]
                yield _Sheet(
                    AXES.index(pair.electric.component[1]),
                    AXES.index(pair.magnetic.component[1]),
                    # After averaging, H is at the points of its partner component of E.
                    grid.points(pair.electric.component, e.patch.box),
                    h.patch.values() * weights,
                    e.patch.values() * weights,
                )

    def _outside(self, points: ArrayLike) -> NDArray[np.float64]:
        wanted = np.asarray(points, dtype=np.float64)
        if wanted.ndim != 2 or wanted.shape[1] != 3 or not np.isfinite(wanted).all():
            raise InputError(
                f"Far points must be finite coordinates in an array of shape (n_points, 3), got {wanted.shape}."
            )
        grid = self.stage.grid
        margin = grid.dx * (1 - 1e-6)
        sides = faces(grid, self.center, self.size, self.direction, self.label)
        if len(sides) == 1:
            side = sides[0]
            above = wanted[:, side.axis] - grid.origin[side.axis] - side.index * grid.dx
            inside = np.asarray(side.sign * above < margin)
        else:
            axes = sorted({side.axis for side in sides})
            low = np.array([sides[0].low[a] for a in axes]) - margin
            high = np.array([sides[0].high[a] for a in axes]) + margin
            inside = np.asarray(((wanted[:, axes] > low) & (wanted[:, axes] < high)).all(axis=1))
        if inside.any():
            raise InputError(
                f"Far points must lie at least one grid spacing outside {self.label}, but "
                f"{tuple(wanted[inside][0].tolist())} does not: use DftFields inside the cell."
            )
        return wanted

    def _unit(self, towards: ArrayLike) -> NDArray[np.float64]:
        wanted = np.atleast_2d(np.asarray(towards, dtype=np.float64))
        if wanted.ndim != 2 or wanted.shape[1] != 3:
            raise InputError(f"Directions must be in an array of shape (n_directions, 3), but got {wanted.shape}.")
        lengths = np.sqrt((wanted**2).sum(axis=1, keepdims=True))
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise InputError("Directions must be finite vectors other than 0: leave out those that point nowhere.")
        unit = np.asarray(wanted / lengths)
        thin = list(self.stage.grid.thin)
        if np.abs(unit[:, thin]).max(initial=0) > 1e-9:
            letters = ", ".join(letter for letter, flat in zip(AXES, thin, strict=True) if flat)
            raise InputError(
                f"Directions must not have a part along {letters}, along which nothing varies in this cell."
            )
        return unit

    def _summed(self, mine: Complex) -> Complex:
        total: Any = self.stage.communicator.allreduce(np.ascontiguousarray(mine).view(np.float64))
        return np.asarray(total).view(np.complex128)


def _moments(sheet: _Sheet, n: int, wave: NDArray[np.float64]) -> tuple[Complex, Complex]:
    """Return Σ current exp(-i k·r) of J and K for all directions; the phase is a product over the axes."""
    phases = [np.exp(-1j * np.outer(wave[:, a], sheet.coordinates[a].ravel())) for a in range(3)]
    found = []
    for current in (sheet.electric[n], sheet.magnetic[n]):
        partial = np.tensordot(phases[2], current, (1, 2))
        partial = np.einsum("qxy,qy->qx", partial, phases[1])
        found.append(np.einsum("qx,qx->q", partial, phases[0]))
    return found[0], found[1]
