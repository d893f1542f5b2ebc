"""Base class of examples with a plane wave from above: their source, flux monitors and cell."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from evenly.fdtd.cell.boundaries import PML, Absorber, Periodic
from evenly.fdtd.media.solids import GeometricObject
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.sources.pulses import GaussianPulse
from evenly.fdtd.sources.source import Source
from evenly.fdtd.structures.example import Array, Curves, Example, Incident, Look, Recipe, band, pulse_for
from evenly.fdtd.structures.stack import Stack

__all__ = ["LitRecipe"]


@dataclass(frozen=True, kw_only=True)
class LitRecipe(Recipe):
    """A stack that is periodic along x and y, with a PML above and an absorber below, illuminated from above.

    The light comes from the first film of the stack.

    Parameters
    ----------
    pml, absorber : float
        Thickness of the layers, in µm.
    size : float
        Period, in µm; it is rounded to whole grid points.
    """

    # Shortest and longest wavelength, in µm.
    wavelengths: ClassVar[tuple[float, float]]

    pml: float = 0.5
    absorber: float = 0.5
    size: float = 1.0

    @abstractmethod
    def stack(self) -> Stack:
        """Return the films, without the objects inside them."""

    @property
    def width(self) -> float:
        """Period, rounded to whole grid points, in µm."""
        return self.whole(self.size)

    @property
    def _gap(self) -> float:
        """Thickness of the part of the first film below the PML."""
        return 8 * max(1 / self.resolution, 0.05)

    def _example(
        self,
        objects: Sequence[GeometricObject],
        heights: Mapping[str, float],
        curves: Callable[[Mapping[str, Any], Array], Curves],
        *,
        after: float,
        look: Look,
    ) -> Example:
        """Return the example with objects in the films and downward fluxes at `heights`; it ends `after` the pulse."""
        stack, pulse = self.stack(), pulse_for(*self.wavelengths)
        frequencies = band(*self.wavelengths, self.frequencies)
        return Example(
            name=self.name,
            simulation=self._simulation(stack, pulse, objects),
            monitors=self._planes(stack, frequencies, heights),
            until=pulse.last_time + after,
            frequencies=frequencies,
            curves=curves,
            curves_are="share of the incident power",
            incident=Incident(stack.films[0].material, ("reflection",), self.width**2),
            parameters=self.as_parameters(),
            look=look,
        )

    def _ceiling(self, stack: Stack) -> float:
        """Return the height where the upper PML begins."""
        return stack.height / 2 - self.pml

    def _simulation(self, stack: Stack, pulse: GaussianPulse, objects: Sequence[GeometricObject]) -> dict[str, Any]:
        """Return the keywords of the simulation; the light is polarised along x."""
        above = (0, 0, self._ceiling(stack) - self._gap / 2)
        return {
            "cell": (self.width, self.width, self.whole(stack.height)),
            "resolution": self.resolution,
            "geometry": [*stack.blocks(), *objects],
            "sources": [Source(pulse, "Ex", above, (self.width, self.width, 0), name="sunlight")],
            "boundaries": [PML(self.pml, "z", "high"), Absorber(self.absorber, "z", "low"), Periodic("xy")],
        }

    def _planes(self, stack: Stack, frequencies: Array, heights: Mapping[str, float]) -> dict[str, FourierMonitor]:
        """Return monitors of downward fluxes at `heights`, and of ``reflection``, the upward flux above the source."""
        wide = (self.width, self.width, 0.0)
        above = (0, 0, self._ceiling(stack) - self._gap / 4)
        planes: dict[str, FourierMonitor] = {
            "reflection": Flux(above, wide, frequencies, direction="z", name="reflection")
        }
        for name, height in heights.items():
            planes[name] = Flux((0, 0, height), wide, frequencies, direction="-z", name=name)
        return planes
