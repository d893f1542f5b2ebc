"""An organic light-emitting diode (OLED): the shares of its light that are extracted, guided and lost.

From top to bottom: glass (or air above it), indium tin oxide, the organic films with an emitter in their middle, an
aluminium cathode with its dispersion. Light that leaves through the top is extracted. Light that flows sideways is
guided and ends in absorbers, into which the metal reaches. The rest is lost in the cathode. After the example of
A. Oskooi et al., "Factorized machine learning for performance modeling of massively parallel heterogeneous physical
simulations" (2020), section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evenly.fdtd.cell.boundaries import PML, Absorber, Boundary, Periodic
from evenly.fdtd.media.library import medium
from evenly.fdtd.media.materials import vacuum
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.sources.source import Source
from evenly.fdtd.structures.example import Array, Curves, Example, Look, Recipe, band, pulse_for
from evenly.fdtd.structures.stack import Film, Stack

__all__ = ["Oled"]

VISIBLE = (0.4, 0.8)
ORIENTATIONS = {"isotropic": ("Ex", "Ey", "Ez"), "horizontal": ("Ex", "Ey"), "vertical": ("Ez",)}


@dataclass(frozen=True, kw_only=True)
class Oled(Recipe):
    """Parameters of the light-emitting diode.

    Parameters
    ----------
    resolution : float
        Grid points per µm; there must be at least 4 points across the organic films.
    size : float
        Width of the cell along x and y without its absorbers, in µm.
    frequencies : int
        Number of frequencies, between wavelengths of 0.4 and 0.8 µm.
    pml, absorber : float
        Thickness of the PML above and of the absorbers at the sides, in µm.
    air, glass, ito, organic, aluminium : float
        Thickness of the films, in µm. `air` may be 0; then all light that enters the glass counts as extracted.
    sides : "absorber", "pml" or "periodic"
        Boundary condition at the sides. A PML there has the thickness `absorber`. Periodic sides repeat the emitter:
        all copies emit in phase, no light is guided away, and the fields decay slowly.
    orientation : "isotropic", "horizontal" or "vertical"
        Orientation of the emitting dipole. Dipoles along x, y and z at a point on the symmetry axis don't interfere in
        the total flux, so one run gives the mean over all directions.

    Examples
    --------
    >>> Oled(size=1.0).example().simulation["cell"]
    (2.0, 2.0, 1.9)
    """

    name: ClassVar[str] = "oled"
    summary: ClassVar[str] = "organic light-emitting diode: extracted, guided and lost light, 0.4 to 0.8 µm"
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"air"})

    pml: float = 0.5
    absorber: float = 0.5
    size: float = 2.0
    air: float = 0.0
    glass: float = 1.0
    ito: float = 0.1
    organic: float = 0.2
    aluminium: float = 0.1
    sides: str = "absorber"
    orientation: str = "isotropic"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sides not in ("absorber", "pml", "periodic"):
            raise self.wrong("sides", "must be 'absorber', 'pml' or 'periodic'")
        if self.orientation not in ORIENTATIONS:
            raise self.wrong("orientation", f"must be one of {', '.join(ORIENTATIONS)}")
        if self.nodes(self.organic) < 4:
            raise self.wrong(
                "resolution", f"must be at least {4 / self.organic:g}, 4 grid points over the organic films"
            )
        if self.nodes(self.size) < 8:
            raise self.wrong("size", f"must be at least 8 grid points, {8 / self.resolution:g}")

    @property
    def width(self) -> float:
        """Width of the cell, in µm."""
        return self.whole(self.size + (0 if self.sides == "periodic" else 2 * self.absorber))

    def stack(self) -> Stack:
        """Return the films."""
        on_top = self.pml if not self.air else 0.0
        return Stack(
            [
                Film("air", self.air + self.pml if self.air else 0.0, vacuum),
                Film("glass", self.glass + on_top, medium("glass index")),
                Film("ITO", self.ito, medium("indium tin oxide index")),
                Film("organic", self.organic, medium("organic index")),
                Film("aluminium", self.aluminium, medium("aluminium")),
            ]
        )

    def example(self) -> Example:
        stack = self.stack()
        pulse = pulse_for(*VISIBLE)
        emitter = (0.0, 0.0, stack.middle("organic"))
        frequencies = band(*VISIBLE, self.frequencies)
        components = ORIENTATIONS[self.orientation]
        simulation: dict[str, Any] = {
            "cell": (self.width, self.width, self.whole(stack.height)),
            "resolution": self.resolution,
            "geometry": stack.blocks(),
            "sources": [Source(pulse, component, emitter, name=f"emitter {component}") for component in components],
            "boundaries": self._boundaries(),
        }
        return Example(
            name=self.name,
            simulation=simulation,
            monitors=self._monitors(stack, frequencies),
            until=pulse.last_time + (200.0 if self.sides == "periodic" else 15.0),
            frequencies=frequencies,
            curves=_curves,
            curves_are="share of the emitted power",
            parameters=self.as_parameters(),
            look=Look(component=components[0]),
        )

    def _boundaries(self) -> list[Boundary]:
        top = PML(self.pml, "z", "high")
        if self.sides == "periodic":
            return [top, Periodic("xy")]
        layer = PML if self.sides == "pml" else Absorber
        return [top, layer(self.absorber, "x"), layer(self.absorber, "y")]

    def _monitors(self, stack: Stack, frequencies: Array) -> dict[str, FourierMonitor]:
        dx = 1 / self.resolution
        # Two points away from the layers and one from the metal, so that every face lies in a lossless film.
        low, high = stack.bottom("organic") + dx, stack.height / 2 - self.pml - 2 * dx
        middle, extent = (low + high) / 2, high - low
        # The discrete flux out of a box is exact except at its edges, which must be outside the emitter's near field.
        near, lid = self.size / 2, (stack.bottom("glass") + high) / 2
        box = Flux((0, 0, (low + lid) / 2), (near, near, lid - low), frequencies, name="emitted")
        monitors: dict[str, FourierMonitor] = {"emitted": box}
        if self.sides == "periodic":
            wide = (self.width, self.width, 0.0)
            monitors["top"] = Flux((0, 0, high), wide, frequencies, name="top")
            monitors["cathode"] = Flux((0, 0, low), wide, frequencies, direction="-z", name="cathode")
        else:
            inner = self.width - 2 * self.absorber - 4 * dx
            monitors["outflow"] = Flux((0, 0, middle), (inner, inner, extent), frequencies, name="outflow")
        return monitors


def _curves(monitors: Mapping[str, Any], _incident: Array) -> Curves:
    emitted = monitors["emitted"].flux()
    if "top" in monitors:
        return {"extracted": monitors["top"].flux() / emitted, "cathode": monitors["cathode"].flux() / emitted}
    faces = monitors["outflow"].by_face()
    guided = np.sum([faces[side] for side in ("-x", "+x", "-y", "+y")], axis=0)
    return {"extracted": faces["+z"] / emitted, "guided": guided / emitted, "cathode": faces["-z"] / emitted}
