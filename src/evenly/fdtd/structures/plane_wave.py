"""What examples under a plane wave from above share: the source, the monitor of reflection, the cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenly.fdtd.cell.boundaries import PML, Absorber, Periodic
from evenly.fdtd.media.solids import GeometricObject
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.sources.pulses import GaussianPulse
from evenly.fdtd.sources.source import Source
from evenly.fdtd.structures.example import Array
from evenly.fdtd.structures.stack import Stack

__all__ = ["Lit"]


@dataclass(frozen=True)
class Lit:
    """A stack that repeats along x and y, with a PML above and an absorber below, lit from above.

    Parameters
    ----------
    stack : Stack
        The first film is where the light comes from.
    width : float
        Of the cell along x and y.
    resolution, pml, absorber : float
        Of the grid, and thickness of the layers.
    gap : float
        What is left of the first film below its PML.
    """

    stack: Stack
    width: float
    resolution: float
    pml: float
    absorber: float
    gap: float

    @property
    def ceiling(self) -> float:
        """Where the PML begins."""
        return self.stack.height / 2 - self.pml

    def simulation(self, pulse: GaussianPulse, objects: Sequence[GeometricObject]) -> dict[str, Any]:
        """Return the keywords of the simulation; the light is polarised along x."""
        source = Source(pulse, "Ex", (0, 0, self.ceiling - self.gap / 2), (self.width, self.width, 0), name="sunlight")
        height = max(1, round(self.stack.height * self.resolution)) / self.resolution
        return {
            "cell": (self.width, self.width, height),
            "resolution": self.resolution,
            "geometry": [*self.stack.blocks(), *objects],
            "sources": [source],
            "boundaries": [PML(self.pml, "z", "high"), Absorber(self.absorber, "z", "low"), Periodic("xy")],
        }

    def planes(self, frequencies: Array, **heights: float) -> dict[str, FourierMonitor]:
        """Return fluxes downwards at heights, and ``reflection``, upwards, above the source."""
        wide = (self.width, self.width, 0.0)
        above = (0, 0, self.ceiling - self.gap / 4)
        planes: dict[str, FourierMonitor] = {
            "reflection": Flux(above, wide, frequencies, direction="z", name="reflection")
        }
        for name, height in heights.items():
            planes[name] = Flux((0, 0, height), wide, frequencies, direction="-z", name=name)
        return planes
