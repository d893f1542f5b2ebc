"""Energy and absorbed power inside a region, from field transforms and the material.

In the convention of the flux (integrate over angular frequency), with the transforms E(f) and H(f):

    electric energy  ½ Σ_c ∫ ε_c |E_c|² dV,    magnetic energy  ½ Σ_c ∫ μ_c |H_c|² dV,
    absorbed power   Σ_c ∫ (σ_c ε_c + 2πf Im χ_c(f)) |E_c|² dV  (and the same of H for magnetic losses).

Each component is squared at its own points, and the integral uses hat functions, so fields are not interpolated. ε and
μ are the diagonal parts at infinite frequency. So the energy stored in poles is not included: in dispersive media the
electric part is the energy of the field alone. The absorbed power does include poles.

The absorbed power is that of the scheme's difference equations: σ_c cos(π f dt) replaces σ_c, and
(2/dt) sin(π f dt) Im χ_c with the χ of the poles' recursion replaces 2πf Im χ_c. So it balances the fluxes through
surfaces, up to round-off, at any resolution. At slanted surfaces of dispersive media, where sites act (see
`evenly.fdtd.media.sites`), it is the power Re E*·curl H that flows into the points; magnetic poles are taken there as
if there were no sites.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.fdtd.cell.extents import AxisWeights, axis_weights, check_inside, check_region, hull, merged, weights_in
from evenly.fdtd.cell.grid import COMPONENTS, ELECTRIC, MAGNETIC, Grid
from evenly.fdtd.media.materials import Pole
from evenly.fdtd.monitors.monitor import FourierMonitor, Local, Region, Stage

__all__ = ["Absorption", "Energy"]

_SLAB_POINTS = 500_000
# A function of a response, an axis, a frequency and the time step.
Factor = Callable[[Any, int, float, float], Any]


class _VolumeMonitor(FourierMonitor):
    """Base class: integrals over a region of squared components times a material factor."""

    _components: tuple[str, ...] = COMPONENTS

    def __init__(
        self,
        center: Sequence[float],
        size: Sequence[float],
        frequencies: ArrayLike,
        *,
        every: int | None = None,
        name: str = "",
    ) -> None:
        super().__init__(frequencies, every=every, name=name)
        self.center, self.size = check_region(center, size, self.label)

    def regions(self, grid: Grid) -> list[Region]:
        check_inside(grid, self.center, self.size, self.label)
        return [
            Region(f"{component}/{part}", component, hull(along))
            for component in self._components
            for part, along in enumerate(self._runs(grid, component))
        ]

    def _runs(self, grid: Grid, component: str) -> Iterator[tuple[AxisWeights, ...]]:
        along = []
        for axis in range(3):
            low, high = (self.center[axis] + sign * self.size[axis] / 2 for sign in (-1, 1))
            step = 1.0 if grid.thin[axis] or self.size[axis] == 0 else grid.dx
            along.append(merged(axis_weights(grid, component, axis, low, high), step))
        return itertools.product(*along)

    def _integral(self, components: Sequence[str], factor: Factor) -> NDArray[np.float64]:
        grid, total = self.stage.grid, np.zeros(len(self.frequencies))
        for component in components:
            for part, along in enumerate(self._runs(grid, component)):
                for local in self._local[f"{component}/{part}"]:
                    total += self._inside(local, along, factor)
        return np.asarray(self.stage.communicator.allreduce(total))

    def _inside(self, local: Local, along: Sequence[AxisWeights], factor: Factor) -> NDArray[np.float64]:
        total, values = np.zeros(len(self.frequencies)), local.patch.values()
        component, axis = local.region.component, "xyz".index(local.region.component[1])
        structure: Any = getattr(self.stage, "structure")  # noqa: B009 - not every stage has one
        for slab in local.patch.box.slabs(0, _SLAB_POINTS):
            sample = structure.sample(slab)
            response = sample.electric if component[0] == "E" else sample.magnetic
            x, y, z = weights_in(along, slab)
            weights = x[:, None, None] * y[:, None] * z
            squares = np.abs(values[(slice(None), *slab.slices(local.patch.box.lo))]) ** 2
            for n, frequency in enumerate(self.frequencies):
                total[n] += np.sum(squares[n] * weights * factor(response, axis, frequency, self.stage.grid.dt))
        return total


@explained
class Energy(_VolumeMonitor):
    """Spectra of the electric and magnetic energy in a region.

    Parameters
    ----------
    center, size : sequences of up to three floats
        In a; with size 0 along an axis, the energy is per length.
    frequencies : sequence of floats
        In c/a.
    every : int, optional
        Sampling interval in steps (see `FourierMonitor`).
    name : str
        Name for messages.

    Examples
    --------
    >>> Energy((0, 0, 0), (1, 1, 1), [1.0]).component_points(Grid((2.0, 2.0, 2.0), 10))
    9108
    """

    kind = "energy monitor"

    def electric(self) -> NDArray[np.float64]:
        """Return the electric energy, shape (n_frequencies,) (all ranks must call)."""
        return self._integral(ELECTRIC, _half_permittivity)

    def magnetic(self) -> NDArray[np.float64]:
        """Return the magnetic energy, shape (n_frequencies,) (all ranks must call)."""
        return self._integral(MAGNETIC, _half_permittivity)

    def total(self) -> NDArray[np.float64]:
        """Return electric plus magnetic energy, shape (n_frequencies,) (all ranks must call)."""
        return self.electric() + self.magnetic()


@explained
class Absorption(_VolumeMonitor):
    """Spectrum of the power absorbed in a region by conductivity and poles.

    Parameters
    ----------
    center, size : sequences of up to three floats
        In a; with size 0 along an axis, the power is per length.
    frequencies : sequence of floats
        In c/a.
    magnetic : bool
        Whether to include magnetic losses; only then H is transformed too.
    every : int, optional
        Sampling interval in steps (see `FourierMonitor`).
    name : str
        Name for messages.

    Examples
    --------
    >>> Absorption((0, 0, 0), (1, 1, 1), [1.0]).component_points(Grid((2.0, 2.0, 2.0), 10))
    4356
    """

    kind = "absorption monitor"

    def __init__(
        self,
        center: Sequence[float],
        size: Sequence[float],
        frequencies: ArrayLike,
        *,
        magnetic: bool = False,
        every: int | None = None,
        name: str = "",
    ) -> None:
        super().__init__(center, size, frequencies, every=every, name=name)
        self._components = COMPONENTS if magnetic else ELECTRIC
        self._with_curls = False

    def bind(self, stage: Stage) -> None:
        structure = getattr(stage, "structure", None)
        self._with_curls = structure is not None and structure.may_have_sites(0)
        super().bind(stage)

    def regions(self, grid: Grid) -> list[Region]:
        found = super().regions(grid)
        if not self._with_curls:
            return found
        return found + [r for e in found if e.component[0] == "E" for _, r in _curl(e, grid)]

    def power(self) -> NDArray[np.float64]:
        """Return the absorbed power, shape (n_frequencies,), comparable to a flux (all ranks must call)."""
        magnetic = [name for name in self._components if name[0] == "H"]
        if not self._with_curls:
            return self._integral(self._components, _loss)
        return self._integral(ELECTRIC, _loss_beside_sites) + self._integral(magnetic, _loss) + self._at_sites()

    def _at_sites(self) -> NDArray[np.float64]:
        """Return the power Re E*·curl H that flows into the points on which sites act."""
        grid, total = self.stage.grid, np.zeros(len(self.frequencies))
        structure: Any = getattr(self.stage, "structure")  # noqa: B009 - not every stage has one
        for region in (one for one in super().regions(grid) if one.component[0] == "E"):
            axis, part = "xyz".index(region.component[1]), int(region.key.split("/")[1])
            along = list(self._runs(grid, region.component))[part]
            terms = [(sign, self._local[curl.key]) for sign, curl in _curl(region, grid)]
            for n, local in enumerate(self._local[region.key]):
                sites = structure.sample(local.patch.box).electric.sites
                if sites is not None:
                    x, y, z = weights_in(along, local.patch.box)
                    weights = (x[:, None, None] * y[:, None] * z) * (sites.ends[axis] > 0)
                    curl = sum(sign * locals_[n].patch.values() for sign, locals_ in terms) * grid.resolution
                    total += np.einsum("fxyz,xyz->f", (local.patch.values().conj() * curl).real, weights)
        return np.asarray(self.stage.communicator.allreduce(total))


def _curl(electric: Region, grid: Grid) -> list[tuple[int, Region]]:
    """Return the differences of H, with their signs, that are dx times the curl of H at the points of a region of E."""
    axis = "xyz".index(electric.component[1])
    found = []
    for sign, along in ((1, (axis + 1) % 3), (-1, (axis + 2) % 3)):
        name = "H" + "xyz"[3 - axis - along]
        if not grid.thin[along]:
            found.append((sign, Region(f"{electric.key}/{name}", name, electric.box, along, difference=True)))
    return found


def _loss_beside_sites(response: Any, axis: int, frequency: float, dt: float) -> Any:
    loss = _loss(response, axis, frequency, dt)
    return loss if response.sites is None else loss * (response.sites.ends[axis] == 0)


def _half_permittivity(response: Any, axis: int, frequency: float, dt: float) -> Any:  # noqa: ARG001 - a Factor
    return 0.5 / np.asarray(response.inverse[axis])


def _loss(response: Any, axis: int, frequency: float, dt: float) -> Any:
    total, half = 0.0, math.pi * frequency * dt
    if response.conductivity is not None:
        total = total + math.cos(half) * response.conductivity[axis] / np.asarray(response.inverse[axis])
    for pole, strengths in (response.poles or {}).items():
        if strengths[axis] is not None:
            total = total + 2 * math.sin(half) / dt * _imaginary_part(pole, half, dt) * strengths[axis]
    return total


def _imaginary_part(pole: Pole, half: float, dt: float) -> float:
    """Return Im χ of the recursion P(n+1) - 2P(n) + P(n-1) + loss (P(n+1) - P(n-1)) + restoring P(n) = stiff E(n)."""
    stiff, loss, restoring = pole.recursion(dt)
    return (stiff / complex(restoring - 4 * math.sin(half) ** 2, -2 * loss * math.sin(2 * half))).imag
