"""Boundary conditions at the sides of a cell: absorbing layers, periodicity, metal walls.

A perfectly matched layer (PML) stretches the coordinate along its axis by κ + σ/(α - iω) (J. A. Roden and S. D. Gedney,
Microw. Opt. Technol. Lett. 27, 334 (2000)). The derivative ∂f in each curl becomes ∂f/κ + ψ with

    ψ ← b ψ + a ∂f,   b = exp(-(σ/κ + α) dt),   a = σ (b - 1) / (κ (σ + κ α))

σ rises as a power of the depth. Its maximum is chosen so that a wave that crosses the layer twice keeps the fraction
`reflection` of its amplitude. An absorber is a simpler layer: an equal conductivity of E and H that rises in the same
way. It suits media that are not uniform inside the layer.

>>> from evenly.fdtd.cell.grid import Grid
>>> layers = resolve([PML(1.0), Periodic("y")], Grid((8, 8, 0), 10))
>>> layers.pml, layers.kinds
(((10, 10), (10, 10), (0, 0)), ('metal', 'periodic', 'periodic'))
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.grid import OFFSETS, Grid, Vector, axis_index, vector
from evenly.fdtd.cell.mirrors import Image, Mirror, Signs, checked, images, kept_box

__all__ = ["PML", "Absorber", "Bloch", "Boundary", "Coefficients", "Layers", "Metal", "Periodic", "Phases", "resolve"]

Array = NDArray[np.float64]
Side = Literal["low", "high"]
Points = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
Phases = tuple[complex | None, complex | None, complex | None]
SIDES: tuple[Side, Side] = ("low", "high")


@dataclass(frozen=True)
class _Layer:
    """The common parameters of `PML` and `Absorber`."""

    thickness: float
    axis: str | int | None = None
    side: Side | None = None
    order: float = 4.0
    reflection: float = 1e-9

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not 0 < float(self.thickness) < math.inf:
            raise InputError(f"`thickness` of {name} must be positive and finite, but got {self.thickness!r}.")
        if self.axis is not None:
            axis_index(self.axis)
        if self.side not in (None, *SIDES):
            raise InputError(f"`side` of {name} must be 'low', 'high' or left out (both), but got {self.side!r}.")
        if not 1 <= self.order <= 10:
            raise InputError(f"`order` of {name} must be from 1 to 10, but got {self.order!r} (3 and 4 are usual).")
        if not 0 < self.reflection < 1:
            raise InputError(f"`reflection` of {name} must be between 0 and 1, but got {self.reflection!r}.")


@explained
@dataclass(frozen=True)
class PML(_Layer):
    """A perfectly matched layer inside the cell's sides.

    Parameters
    ----------
    thickness : float
        In a. Half the longest wavelength of interest is usually enough.
    axis : "x", "y" or "z", optional
        Default: all axes that are not thin.
    side : "low" or "high", optional
        Default: both sides.
    order : float
        The absorption rises as this power of the depth. At normal incidence, a layer of one wavelength with 20 (10)
        points per wavelength reflects 4e-8 (1e-4) of the amplitude with order 4, and 2e-6 (5e-5) with order 3.
    reflection : float
        Fraction of its amplitude that a wave at normal incidence keeps after it has crossed the layer twice, without
        the effect of discretisation.
    kappa : float
        Largest real stretch κ, at least 1. Values above 1 damp evanescent waves too.
    alpha : float
        Largest frequency shift α in c/a, at the inner border. Values above 0 absorb waves of very low frequency better.

    Notes
    -----
    Backward waves (phase and energy run in opposite directions) grow in any such layer. They occur on surfaces of
    metals with little loss, and between a pole's frequency and the frequency where ε vanishes (E. Bécache, P. Joly,
    V. Vinoles, Math. Comp. 87, 1775 (2018)). End such objects before the layer, give them loss, or use an `Absorber`.
    """

    kappa: float = 1.0
    alpha: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.kappa < math.inf or not 0 <= self.alpha < math.inf:
            raise InputError(
                f"`kappa` of a PML must be at least 1 and `alpha` at least 0, but got kappa={self.kappa!r}, "
                f"alpha={self.alpha!r}."
            )


@explained
@dataclass(frozen=True)
class Absorber(_Layer):
    """A layer in which the conductivity of E and H rises smoothly.

    Parameters
    ----------
    thickness, axis, side, order, reflection
        As in `PML`. An absorber reflects more than a PML, so make it a few wavelengths thick.
    """

    order: float = 3.0
    reflection: float = 1e-8


@dataclass(frozen=True)
class _Sides:
    """The common parameter of `Periodic`, `Bloch` and `Metal`."""

    axes: str = "xyz"

    def __post_init__(self) -> None:
        axes: object = self.axes
        if not isinstance(axes, str) or not axes or set(axes.lower()) - set(AXES) or len(set(axes)) != len(axes):
            raise InputError(
                f"`axes` of {type(self).__name__} must be letters out of 'xyz', each once, but got {axes!r}."
            )


@explained
@dataclass(frozen=True)
class Periodic(_Sides):
    """The fields repeat along `axes` (letters, e.g. ``"xy"``)."""


@explained
@dataclass(frozen=True)
class Bloch(_Sides):
    """The fields repeat along `axes` up to the phase exp(2πi k·L) over the cell's edge L.

    Parameters
    ----------
    axes : str
        Letters, e.g. ``"xy"``.
    k : three floats
        Bloch vector in 2π/a. In these units, ``|k|`` of a plane wave in vacuum equals its frequency.
    """

    k: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", vector(self.k, "k"))
        for axis, value in zip(AXES, self.k, strict=True):
            if value and axis not in self.axes.lower():
                raise InputError(f"Bloch's `k` may not be along {axis}, which is not one of its axes {self.axes!r}.")


@explained
@dataclass(frozen=True)
class Metal(_Sides):
    """Perfectly conducting walls at both sides of each of `axes`; the default of an axis that isn't given."""


Boundary = PML | Absorber | Periodic | Bloch | Metal


@dataclass(frozen=True)
class Coefficients:
    """PML coefficients along one axis, one value per index: ψ ← b ψ + a ∂f, ∂f → inverse_kappa ∂f + ψ."""

    b: Array
    a: Array
    inverse_kappa: Array


@dataclass(frozen=True)
class Layers:
    """The boundary conditions of a cell, with layers in grid points; made by `resolve`.

    Attributes
    ----------
    kinds : three of "metal", "periodic"
        Kind of the walls along x, y, z, behind any layers. Thin axes are periodic.
    pml, absorber : per axis (low, high)
        Thickness of the layers in points.
    bloch : three floats
        Bloch vector in 2π/a.
    made : dict of (axis, side) to PML or Absorber
        The layer at each side that has one.
    mirrors : three of 0, 1, -1
        Phase of the mirror symmetry across each axis; 0 where there is none.
    """

    grid: Grid
    kinds: tuple[str, str, str]
    pml: Points
    absorber: Points
    bloch: Vector = (0.0, 0.0, 0.0)
    made: dict[tuple[int, Side], PML | Absorber] = field(default_factory=dict, compare=False)
    mirrors: Signs = (0, 0, 0)

    @cached_property
    def kept(self) -> Box:
        """The points that are stored and stepped: the whole cell, or one side of each plane of symmetry."""
        return kept_box(self.grid, self.kinds, self.mirrors)

    def images(self, component: str, average: int | None = None, *, walls: bool = False) -> list[Image]:
        """Return where the kept points of a component are seen in the cell; see `evenly.fdtd.cell.mirrors.images`."""
        return images(component, self.grid, self.kinds, self.mirrors, average=average, walls=walls)

    @property
    def complex_fields(self) -> bool:
        """Whether the fields are complex: a Bloch phase factor is neither 1 nor -1."""
        return any(phase is not None and abs(phase.imag) > 1e-12 for phase in self.phases)

    @cached_property
    def phases(self) -> Phases:
        """Along each axis the Bloch phase factor, f(x + L) = phase f(x), 1 without Bloch; None with walls.

        Examples
        --------
        >>> resolve([Periodic("x")], Grid((1.0, 1.0, 0.0), 10)).phases
        ((1+0j), None, (1+0j))
        """
        turns = ((k * n * self.grid.dx) % 1.0 for k, n in zip(self.bloch, self.grid.shape, strict=True))
        exact = {0.0: 1.0 + 0j, 0.5: -1.0 + 0j}
        x, y, z = (
            None if kind != "periodic" else 1.0 + 0j if thin else exact.get(turn, cmath.exp(2j * math.pi * turn))
            for kind, thin, turn in zip(self.kinds, self.grid.thin, turns, strict=True)
        )
        return x, y, z

    def ranges(self, axis: int, what: str = "pml") -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the half-open index ranges of the low and the high layer along `axis`; they may be empty."""
        low, high = (self.pml if what == "pml" else self.absorber)[axis]
        n = self.grid.shape[axis]
        return (0, low), (n - high, n)

    def inner(self, what: str = "pml") -> Box:
        """Return the cell without the points of its layers."""
        ranges = [self.ranges(axis, what) for axis in range(3)]
        (x0, x1), (y0, y1), (z0, z1) = ((low[1], high[0]) for low, high in ranges)
        return Box((x0, y0, z0), (x1, y1, z1))

    def coefficients(self, axis: int, field_name: str, start: int, stop: int) -> Coefficients:
        """Return the PML coefficients, arrays of length stop - start, for indices start … stop-1 along `axis`.

        `field_name` is the field that is updated: ``"E"`` (derivatives of H, at whole indices) or ``"H"`` (derivatives
        of E, at half indices). Outside the layers b = a = 0 and inverse_kappa = 1.
        """
        n = stop - start
        b, a, inverse_kappa = np.zeros(n), np.zeros(n), np.ones(n)
        for side in SIDES:
            layer = self.made.get((axis, side))
            if isinstance(layer, PML):
                depth, rise, sigma = self._rise(layer, axis, side, 0.0 if field_name == "E" else 0.5, start, stop)
                # σ and κ rise as a power of the depth, α falls linearly; b and a as above (Roden and Gedney).
                for i in np.flatnonzero(depth):
                    alpha = layer.alpha * (1 - depth[i]) * 2 * math.pi
                    s, k = float(sigma[i]), 1 + (layer.kappa - 1) * float(rise[i])
                    b[i] = math.exp(-(s / k + alpha) * self.grid.dt)
                    a[i] = s * (b[i] - 1) / (k * (s + k * alpha)) if s else 0.0
                    inverse_kappa[i] = 1 / k
        return Coefficients(b, a, inverse_kappa)

    def conductivity(self, component: str, axis: int, start: int, stop: int) -> Array:
        """Return the absorber's σ in c/a, of length stop - start, at the positions of `component` along `axis`."""
        total = np.zeros(stop - start)
        for side in SIDES:
            layer = self.made.get((axis, side))
            if isinstance(layer, Absorber):
                total += self._rise(layer, axis, side, OFFSETS[component][axis], start, stop)[2]
        return total

    def _rise(
        self, layer: PML | Absorber, axis: int, side: Side, shift: float, start: int, stop: int
    ) -> tuple[Array, Array, Array]:
        """Return the depth in a layer, 0 to 1, of indices start … stop-1 plus `shift`; its power; and σ in c/a."""
        points = (self.pml if isinstance(layer, PML) else self.absorber)[axis][SIDES.index(side)]
        position = np.arange(start, stop) + shift
        inwards = points - position if side == "low" else position - (self.grid.shape[axis] - points)
        depth = np.clip(inwards / points, 0.0, 1.0)
        # Python's pow, one number at a time: NumPy's result may depend in its last digit on the position in the array.
        rise = np.array([float(d) ** layer.order for d in depth])
        # A wave that goes in and back loses exp(-2 ∫σ dx) of its amplitude, ∫σ dx = σ_max thickness / (order + 1).
        largest = -(layer.order + 1) * math.log(layer.reflection) / (2 * (points * self.grid.dx))
        return depth, rise, largest * rise


def resolve(boundaries: Iterable[Boundary], grid: Grid, mirrors: Iterable[Mirror] = ()) -> Layers:
    """Return the boundary conditions of all sides of the cell.

    Parameters
    ----------
    boundaries : iterable of PML, Absorber, Periodic, Bloch, Metal
        In any order. Axes without walls given (`Periodic`, `Bloch`, `Metal`) get metal walls.
    grid : Grid
        The cell.
    mirrors : iterable of Mirror
        Symmetries of the fields.

    Raises
    ------
    InputError
        If a side is given twice, a layer lies along a thin axis or is thinner than a point, two layers together are
        thicker than the cell, or the sides don't have one of the symmetries.

    Examples
    --------
    >>> from evenly.fdtd.cell.grid import Grid
    >>> resolve([PML(0.5, "x", "high")], Grid((4, 2, 2), 10)).pml[0]
    (0, 5)
    """
    given = list(boundaries)
    for boundary in given:
        if not isinstance(boundary, (PML, Absorber, Periodic, Bloch, Metal)):
            raise InputError(f"A boundary is a PML, Absorber, Periodic, Bloch or Metal, but got {boundary!r}.")
    kinds, bloch = _walls([b for b in given if isinstance(b, (Periodic, Bloch, Metal))], grid)
    made = _placed([b for b in given if isinstance(b, (PML, Absorber))], grid)
    pml, absorber = (_points(made, kind, grid) for kind in (PML, Absorber))
    layers = Layers(grid, kinds, pml, absorber, bloch, made, checked(mirrors, grid))
    _check_mirrors(layers)
    return layers


def _check_mirrors(layers: Layers) -> None:
    for axis in (a for a in range(3) if layers.mirrors[a]):
        letter, phase = AXES[axis], layers.phases[axis]
        low, high = (layers.made.get((axis, side)) for side in SIDES)
        if (low and replace(low, axis=None, side=None)) != (high and replace(high, axis=None, side=None)):
            raise InputError(
                f"The sides along {letter} have layers {low or 'none'} and {high or 'none'}, so {letter} = 0 is "
                f"no plane of symmetry: give both sides the same layer, or leave out the mirror across {letter}."
            )
        if phase is not None and phase.imag != 0:
            raise InputError(
                f"With Bloch's k = {layers.bloch[axis]:g} along {letter}, waves along +{letter} and -{letter} differ, "
                f"so {letter} = 0 is no plane of symmetry: leave out the mirror across {letter}, or choose k such that "
                "the phase over the cell is 1 or -1."
            )
        if layers.pml[axis][1] + layers.absorber[axis][1] >= layers.grid.shape[axis] // 2:
            raise InputError(
                f"The layers along {letter} reach the plane of symmetry {letter} = 0: make them thinner or the cell "
                "larger."
            )


def _walls(given: Sequence[Periodic | Bloch | Metal], grid: Grid) -> tuple[tuple[str, str, str], Vector]:
    owner: dict[int, Periodic | Bloch | Metal] = {}
    k = [0.0, 0.0, 0.0]
    for wall in given:
        for axis in map(axis_index, wall.axes):
            if axis in owner:
                raise InputError(
                    f"The sides along {AXES[axis]} are given twice, as {owner[axis]} and {wall}: keep one."
                )
            owner[axis] = wall
            k[axis] = wall.k[axis] if isinstance(wall, Bloch) else 0.0
            if k[axis] and grid.thin[axis]:
                raise InputError(
                    f"{wall}: k along {AXES[axis]} must be 0 because the cell is thin along it; give the cell a size "
                    f"of one point, {grid.dx:.4g}."
                )
    names = ["periodic" if grid.thin[a] or isinstance(owner.get(a), (Periodic, Bloch)) else "metal" for a in range(3)]
    return (names[0], names[1], names[2]), (k[0], k[1], k[2])


def _placed(layers: Sequence[PML | Absorber], grid: Grid) -> dict[tuple[int, Side], PML | Absorber]:
    """Return the layer at each side that has one, after checking that all fit."""
    made: dict[tuple[int, Side], PML | Absorber] = {}
    for layer in layers:
        if round(layer.thickness * grid.resolution) < 1:
            raise InputError(
                f"{layer} must be at least one point thick, 1/resolution = {grid.dx:.4g}: make it thicker or leave it "
                "out."
            )
        axes = [a for a in range(3) if not grid.thin[a]] if layer.axis is None else [axis_index(layer.axis)]
        for axis, side in itertools.product(axes, SIDES if layer.side is None else (layer.side,)):
            if grid.thin[axis]:
                raise InputError(f"{layer} can't lie along {AXES[axis]}: the cell has no size along it.")
            if (axis, side) in made:
                raise InputError(
                    f"The {side} side along {AXES[axis]} has two layers, {made[axis, side]} and {layer}: keep one, "
                    "naming axis and side where the layers differ."
                )
            made[axis, side] = layer
    for axis in range(3):
        facing = [made[axis, side] for side in SIDES if (axis, side) in made]
        if sum(round(layer.thickness * grid.resolution) for layer in facing) > grid.shape[axis]:
            raise InputError(
                f"The layers along {AXES[axis]}, {' and '.join(map(str, facing))}, are together thicker than the cell "
                f"({sum(layer.thickness for layer in facing):g} > {grid.size[axis]:g}): make them thinner or the cell "
                "larger."
            )
    return made


def _points(made: dict[tuple[int, Side], PML | Absorber], kind: type[PML | Absorber], grid: Grid) -> Points:
    counts = [
        round(made[a, side].thickness * grid.resolution) if isinstance(made.get((a, side)), kind) else 0
        for a in range(3)
        for side in SIDES
    ]
    return (counts[0], counts[1]), (counts[2], counts[3]), (counts[4], counts[5])
