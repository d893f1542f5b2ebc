"""Random cells for learning costs: regions of silicon, a flux monitor and a dielectric, and two kinds of layers.

Three contiguous regions lie in vacuum and don't overlap: dispersive silicon, points where fields are Fourier
transformed for the Poynting flux, and a medium of index 3.5. A PML at both ends of one axis and an absorber at both
ends of another contain only vacuum. Real structures fill their cells and reach into their absorbers. So options replace
the vacuum by another medium, let regions reach into the absorber, and put balls of the dielectric into the silicon. The
balls' surfaces are oblique to the grid, like those of lenses and textures. The shares of the cell's points are drawn
from ranges that include those of real structures. After A. Oskooi et al., "Factorized machine learning for performance
modeling of massively parallel heterogeneous physical simulations" (2020), section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import PML, Absorber, Periodic
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.grid import Vector, vector
from evenly.fdtd.media.library import medium
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.media.solids import Block, GeometricObject, Sphere
from evenly.fdtd.monitors.fields import DftFields
from evenly.fdtd.sources.source import Source
from evenly.fdtd.structures.example import Example, Look, Recipe, band, pulse_for

__all__ = ["RandomCell"]

VISIBLE = (0.4, 0.8)
REGIONS = ("silicon", "monitor", "dielectric")
Share = float | Sequence[float]
# Maximum number of draws of the shares until the regions fit into the cell.
MOST_DRAWS = 1000
# Smallest share of the room for regions that must stay free of regions.
LEAST_VACUUM = 0.02
# Diameter of a ball over the distance to the next, and at least, in grid points.
BALL, LEAST_BALL = 0.8, 3.0


@dataclass(frozen=True, kw_only=True)
class RandomCell(Recipe):
    """Parameters of the distribution of random cells.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the same seed and parameters give the same cell.
    points : float
        Number of grid points of the cell, accurate to a few per cent; at least 10^4.
    resolution : float
        Grid points per µm.
    frequencies : int
        Number of frequencies of the monitor.
    silicon, monitor, dielectric, pml, absorber : float or pair of floats
        Share of all points for each kind. From a pair (low, high), the share is drawn log-uniformly.
    elongation : float
        Upper limit of the ratio of the cell's longest to its shortest edge.
    material : str
        Dispersive medium of the library in place of silicon; media differ in their number of poles.
    surroundings : float
        Refractive index of the medium around the regions, layers included; 1 is vacuum.
    reach : "interior" or "absorber"
        Extent of the regions: "interior" keeps them out of both layers, "absorber" only out of the PML.
    balls : int
        Approximate number of balls of the dielectric in the silicon, if it is thick enough. They reduce its share.

    Examples
    --------
    >>> RandomCell(seed=3).example().simulation["cell"] == RandomCell(seed=3).example().simulation["cell"]
    True
    """

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "random cells: silicon, flux monitor and index 3.5 in vacuum, PML and absorber; seeded"
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"seed", "balls"})

    seed: int = 0
    points: float = 1e6
    frequencies: int = 10
    silicon: Share = (0.02, 0.7)
    monitor: Share = (0.005, 0.3)
    dielectric: Share = (0.02, 0.9)
    pml: Share = (0.05, 0.45)
    absorber: Share = (0.05, 0.6)
    elongation: float = 3.0
    material: str = "passive silicon"
    surroundings: float = 1.0
    reach: str = "interior"
    balls: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points < 1e4:
            raise self.wrong("points", "must be at least 10000")
        if self.elongation < 1:
            raise self.wrong("elongation", "must be at least 1")
        if self.surroundings < 1:
            raise self.wrong("surroundings", "must be at least 1")
        if self.reach not in ("interior", "absorber"):
            raise self.wrong("reach", "must be 'interior' or 'absorber'")
        for name in (*REGIONS, "pml", "absorber"):
            self._range(name)

    def _range(self, name: str) -> tuple[float, float]:
        value = getattr(self, name)
        try:
            low, high = (float(value),) * 2 if np.ndim(value) == 0 else map(float, value)
        except (TypeError, ValueError):
            low, high = math.nan, math.nan
        if not 0 < low <= high < 1:
            raise self.wrong(name, "must be a share between 0 and 1, or a range (low, high) of them")
        return low, high

    def example(self) -> Example:
        random = np.random.default_rng(self.seed)
        shape = self._shape(random)
        layered = [int(a) for a in random.permutation(3)[:2]]
        shares, depths = self._shares(random, shape, layered)
        inner = Box((0, 0, 0), shape)
        for axis, depth in zip(layered, self._kept_off(depths), strict=True):
            inner = inner.replace(axis, depth, shape[axis] - depth)
        # Interfaces affect the points next to them, which must not be in a layer or past a periodic end.
        inner = inner.grow(-1)
        boxes = _place(random, inner, {name: round(shares[name] * math.prod(shape)) for name in REGIONS})
        return self._example(shape, layered, depths, boxes)

    def _shape(self, random: np.random.Generator) -> tuple[int, int, int]:
        spread = math.log(self.elongation)
        edges = np.exp(random.uniform(0, spread, 3)) if spread else np.ones(3)
        edges *= (self.points / np.prod(edges)) ** (1 / 3)
        x, y, z = (max(16, round(edge)) for edge in edges)
        return x, y, z

    def _shares(
        self, random: np.random.Generator, shape: Sequence[int], layered: Sequence[int]
    ) -> tuple[dict[str, float], tuple[int, int]]:
        ranges = {name: np.log(self._range(name)) for name in (*REGIONS, "pml", "absorber")}
        draws = MOST_DRAWS if any(low < high for low, high in ranges.values()) else 1
        for _ in range(draws):
            shares = {name: float(np.exp(random.uniform(*ends))) for name, ends in ranges.items()}
            pml, absorber = (
                max(2, round(shares[name] * shape[axis] / 2))
                for name, axis in zip(("pml", "absorber"), layered, strict=True)
            )
            inside = self._inside(shape, layered, self._kept_off((pml, absorber)))
            if sum(shares[name] for name in REGIONS) < inside * (1 - LEAST_VACUUM):
                return shares, (pml, absorber)
        raise InputError(
            f"The shares of the structure {self.name!r} must fit beside each other into the cell without its layers, "
            f"but of {draws:,} tried from silicon={self.silicon!r}, monitor={self.monitor!r}, "
            f"dielectric={self.dielectric!r}, pml={self.pml!r}, absorber={self.absorber!r} none did: give smaller ones."
        )

    def _kept_off(self, depths: tuple[int, int]) -> tuple[int, int]:
        """Return the number of points that regions keep away from each end of the PML's and of the absorber's axis."""
        return (depths[0], 0 if self.reach == "absorber" else depths[1])

    @staticmethod
    def _inside(shape: Sequence[int], layered: Sequence[int], depths: Sequence[int]) -> float:
        """Return the share of the cell's points that regions may occupy."""
        free = [n - 2 for n in shape]
        for axis, depth in zip(layered, depths, strict=True):
            free[axis] -= 2 * depth
        return math.prod(max(0, n) for n in free) / math.prod(shape)

    def _example(
        self, shape: Sequence[int], layered: Sequence[int], depths: Sequence[int], boxes: dict[str, Box]
    ) -> Example:
        frequencies = band(*VISIBLE, self.frequencies)
        places = {name: self._place(box, shape) for name, box in boxes.items()}
        dielectric = Medium(index=3.5, name="dielectric")
        blocks: list[GeometricObject] = [
            Block(center=places[name][0], size=places[name][1], material=material, name=name)
            for name, material in (("silicon", medium(self.material)), ("dielectric", dielectric))
        ]
        blocks += self._balls(*places["silicon"], dielectric)
        pulse = pulse_for(*VISIBLE)
        third = AXES[3 - sum(layered)]
        simulation: dict[str, Any] = {
            "cell": tuple(n / self.resolution for n in shape),
            "resolution": self.resolution,
            "geometry": blocks,
            **({"material": Medium(index=self.surroundings)} if self.surroundings > 1 else {}),
            "sources": [Source(pulse, "Ex", places["dielectric"][0], name="emitter")],
            "boundaries": [
                PML(depths[0] / self.resolution, layered[0]),
                Absorber(depths[1] / self.resolution, layered[1]),
                Periodic(third),
            ],
        }
        # The four components in the z component of the Poynting vector.
        monitor = DftFields(["Ex", "Ey", "Hx", "Hy"], *places["monitor"], frequencies, name="monitor")
        center = places["silicon"][0]
        return Example(
            name=self.name,
            simulation=simulation,
            monitors={"monitor": monitor},
            until=pulse.last_time + 20.0,
            frequencies=frequencies,
            parameters=self.as_parameters(),
            look=Look(across=third, at=center[AXES.index(third)]),
        )

    def _balls(self, center: Vector, size: Vector, dielectric: Medium) -> list[GeometricObject]:
        """Return balls on a lattice that fills a region."""
        if not self.balls:
            return []
        apart = (math.prod(size) / self.balls) ** (1 / 3)
        counts = [max(1, round(edge / apart)) for edge in size]
        pitch = [edge / count for edge, count in zip(size, counts, strict=True)]
        diameter = BALL * min(pitch)
        if diameter * self.resolution < LEAST_BALL:
            return []
        places = [
            [middle + (n + 0.5 - count / 2) * step for n in range(count)]
            for middle, step, count in zip(center, pitch, counts, strict=True)
        ]
        return [
            Sphere(center=(x, y, z), radius=diameter / 2, material=dielectric, name="ball")
            for x in places[0] for y in places[1] for z in places[2]
        ]  # fmt: skip

    def _place(self, box: Box, shape: Sequence[int]) -> tuple[Vector, Vector]:
        """Return centre and size of the region that contains exactly the grid points of `box`, for every component."""
        dx = 1 / self.resolution
        # Faces lie between nodes, so that no interface goes through a grid point.
        middle = [(a + b - 1 - n) / 2 * dx + dx / 4 for a, b, n in zip(box.lo, box.hi, shape, strict=True)]
        return vector(middle, "center"), vector([n * dx for n in box.shape], "size")


def _place(random: np.random.Generator, inner: Box, wanted: dict[str, int]) -> dict[str, Box]:
    """Return a box of about the wanted number of points for each region; they are cut off one after the other."""
    order = [str(name) for name in random.permutation(list(wanted))]
    boxes, rest = {}, inner
    for n, name in enumerate(order):
        others = sum(wanted[other] for other in order[n + 1 :])
        room, rest = _cut(random, rest, wanted[name], others) if others else (rest, rest)
        boxes[name] = _shrunk(random, room, wanted[name])
    return boxes


def _cut(random: np.random.Generator, box: Box, wanted: int, others: int) -> tuple[Box, Box]:
    """Return `box` cut in two: a part with room for `wanted` points, and a rest with room for `others` points."""
    axis = int(np.argmax(np.array(box.shape) * random.uniform(0.7, 1.0, 3)))
    layer = box.volume // box.shape[axis]
    first, last = math.ceil(wanted / layer), box.shape[axis] - math.ceil(others / layer)
    if first > last:  # whole points don't do: each gets less than it wants, but something
        first = last = round(box.shape[axis] * wanted / (wanted + others))
    points = min(max(int(random.integers(first, last + 1)), 1), box.shape[axis] - 1)
    if random.random() < 0.5:
        return box.split(axis, box.lo[axis] + points)
    rest, room = box.split(axis, box.hi[axis] - points)
    return room, rest


def _shrunk(random: np.random.Generator, room: Box, wanted: int) -> Box:
    weights = random.dirichlet(np.ones(3))
    order = np.argsort(room.shape)
    lengths, left = [0, 0, 0], float(wanted)
    ratio = min(1.0, wanted / room.volume)
    for axis in order[:2]:
        lengths[axis] = max(1, math.ceil(room.shape[axis] * ratio ** weights[axis]))
        left /= lengths[axis]
    # The longest edge compensates for the rounding of the others.
    longest = int(order[2])
    lengths[longest] = min(room.shape[longest], max(1, round(left)))
    for axis, length in enumerate(lengths):
        start = room.lo[axis] + int(random.integers(0, room.shape[axis] - length + 1))
        room = room.replace(axis, start, start + length)
    return room
