"""A pixel of a back-illuminated CMOS image sensor: the share of infrared light that its silicon absorbs.

From top to bottom: air, a microlens, a filter with a metal grid around its lower part, oxide, silicon. A texture of
inverted pyramids in the silicon deflects the light to long paths, and trenches of oxide around the pixel confine it.
The structure follows S. Yokogawa et al., Sci. Rep. 7, 3832 (2017).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evenly.fdtd.media.library import medium
from evenly.fdtd.media.materials import Medium, vacuum
from evenly.fdtd.media.solids import Block, GeometricObject, Sphere
from evenly.fdtd.structures.example import Array, Curves, Example, Look
from evenly.fdtd.structures.plane_wave import LitRecipe
from evenly.fdtd.structures.stack import Film, Pit, Stack

__all__ = ["Cmos"]


@dataclass(frozen=True, kw_only=True)
class Cmos(LitRecipe):
    """Parameters of the pixel.

    Parameters
    ----------
    resolution : float
        Grid points per µm; the wavelength in silicon is 0.24 µm.
    size : float
        Width of the periodic pixel, in µm; it is rounded to whole grid points.
    frequencies : int
        Number of frequencies, between wavelengths of 0.85 and 0.94 µm.
    pml, absorber : float
        Thickness of the PML above and of the absorber below, in µm. The silicon reaches into the absorber.
    silicon, oxide, filter : float
        Thickness of the films, in µm (the silicon without the absorber).
    lens : float
        Height of the microlens; 0 for none.
    pyramids : int
        Number of pyramids along each side of the pixel; 0 for a flat surface.
    trench, trench_depth : float
        Width and depth of the trench between pixels; 0 for none.
    metal : float
        Height of the metal grid; 0 for none.

    Examples
    --------
    >>> Cmos(size=1.2).example().simulation["cell"][:2]
    (1.2, 1.2)
    """

    name: ClassVar[str] = "cmos"
    summary: ClassVar[str] = "CMOS image sensor pixel: infrared light absorbed in textured silicon, 0.85 to 0.94 µm"
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"lens", "pyramids", "trench", "trench_depth", "metal", "filter"})

    wavelengths: ClassVar[tuple[float, float]] = (0.85, 0.94)

    resolution: float = 30.0
    size: float = 1.2
    silicon: float = 2.0
    oxide: float = 0.15
    filter: float = 0.4
    lens: float = 0.3
    pyramids: int = 2
    trench: float = 0.2
    trench_depth: float = 1.5
    metal: float = 0.15

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trench_depth >= self.silicon:
            raise self.wrong("trench_depth", f"must be less than the silicon's thickness, {self.silicon:g}")
        if self.metal > self.filter:
            raise self.wrong("metal", f"must be at most the filter's thickness, {self.filter:g}")
        if self.trench >= self.size:
            raise self.wrong("trench", f"must be less than the pixel's size, {self.size:g}")
        if self.pyramids and self._pit_depth >= self.silicon:
            raise self.wrong("pyramids", f"must be more (or 0), as each would be {self._pit_depth:g} deep")
        if self.nodes(self.oxide) < 2:
            raise self.wrong("oxide", f"must be at least two grid points thick, {2 / self.resolution:g}")

    @property
    def _pit_width(self) -> float:
        return (self.width - self.trench) / max(1, self.pyramids)

    @property
    def _pit_depth(self) -> float:
        # Wet etching stops at silicon's (111) planes, 54.7° from the surface.
        return self._pit_width / math.sqrt(2)

    def stack(self) -> Stack:
        return Stack(
            [
                Film("air", self.pml + self.lens + self._gap, vacuum),
                Film("filter", self.filter, Medium(index=1.55, name="filter")),
                Film("oxide", self.oxide, medium("silica index")),
                Film("silicon", self.silicon + self.absorber, medium("silicon")),
            ]
        )

    def example(self) -> Example:
        stack, dx = self.stack(), 1 / self.resolution
        heights = {
            "incoming": stack.top("filter") + self.lens + self._gap / 4,
            "surface": stack.top("silicon") + dx,
            "depth": stack.height / 2 - stack.height + self.absorber + dx,
        }
        look = Look(at=self._row(self.pyramids // 2))
        return self._example(self._objects(stack), heights, _curves, after=60.0, look=look)

    def _objects(self, stack: Stack) -> list[GeometricObject]:
        objects: list[GeometricObject] = []
        films = {block.name: block for block in stack.blocks()}
        if self.lens:
            objects += [self._lens(stack), *(films[n] for n in ("filter", "oxide", "silicon") if n in films)]
        if self.metal:
            foot = stack.bottom("filter")
            objects += self._walls("metal grid", self.trench or self.width / 8, foot, foot + self.metal, "aluminium")
        surface = stack.top("silicon")
        for x in range(self.pyramids):
            for y in range(self.pyramids):
                objects.append(self._pit(x, y, surface))
        if self.trench and self.trench_depth:
            objects += self._walls("trench", self.trench, surface - self.trench_depth, surface, "silica index")
        return objects

    def _lens(self, stack: Stack) -> Sphere:
        # A spherical cap of height `lens`; its base circle touches the pixel's sides.
        rim = self.width / 2
        radius = (rim**2 + self.lens**2) / (2 * self.lens)
        center = (0, 0, stack.top("filter") + self.lens - radius)
        return Sphere(radius=radius, center=center, material=Medium(index=1.55), name="microlens")

    def _pit(self, x: int, y: int, surface: float) -> Pit:
        center = (self._row(x), self._row(y), surface)
        filling = medium("silica index")
        return Pit(width=self._pit_width, depth=self._pit_depth, center=center, material=filling, name="pyramid")

    def _row(self, n: int) -> float:
        """Return the coordinate of the n-th row of pits, in µm."""
        return (n - (self.pyramids - 1) / 2) * self._pit_width if self.pyramids else 0.0

    def _walls(self, name: str, width: float, low: float, high: float, material: str) -> list[Block]:
        """Return walls around the pixel; half of each is the neighbour's."""
        walls = []
        for axis in range(2):
            for side in (-1, 1):
                size, center = [math.inf, math.inf, high - low], [0.0, 0.0, (low + high) / 2]
                size[axis], center[axis] = width, side * self.width / 2
                walls.append(Block(size=size, center=center, material=medium(material), name=name))
        return walls


def _curves(monitors: Mapping[str, Any], incident: Array) -> Curves:
    down = {name: monitors[name].flux() / incident for name in ("incoming", "surface", "depth")}
    return {
        "reflected": monitors["reflection"].flux() / incident,
        "grid": down["incoming"] - down["surface"],
        "silicon": down["surface"] - down["depth"],
        "transmitted": down["depth"],
    }
