"""A structure: objects in a background on a grid, and the material properties at its grid points.

Nothing is stored for the whole cell: `Structure.sample` computes the properties in any box. The result at a point is
the same, to the last bit, for every box that contains the point.

>>> from evenly.fdtd.media.solids import Block
>>> from evenly.fdtd.media.materials import Medium
>>> film = Block(size=(math.inf, math.inf, 1), material=Medium(epsilon=4))
>>> sample = Structure(Grid((0, 0, 4), 10), [film]).sample(Box((0, 0, 0), (1, 1, 40)))
>>> sample.electric.inverse[0][0, 0, 14:18].tolist(), sample.magnetic.inverse
([1.0, 0.4, 0.25, 0.25], (1.0, 1.0, 1.0))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import Layers, resolve
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC, Grid
from evenly.fdtd.media.custom import as_material
from evenly.fdtd.media.materials import Pole, vacuum
from evenly.fdtd.media.painting import Lattice, covered, paint
from evenly.fdtd.media.palette import Palette, palette
from evenly.fdtd.media.sites import WIDTH, Sites, half_sites, joined, node_sites
from evenly.fdtd.media.smoothing import inverse_diagonal, inverse_off_diagonal, limited, mean_strength
from evenly.fdtd.media.solids import Block, GeometricObject, Material
from evenly.fdtd.media.stability import check_time_step

__all__ = ["Response", "Sample", "Structure", "Value"]

Array = NDArray[np.float64]
Value = float | Array
Values = tuple[Value, Value, Value]


@dataclass(frozen=True)
class Response:
    """The material properties for E (or for H, with μ for ε) at the points of a box; a float holds at all points.

    Attributes
    ----------
    inverse : three of float or array (box.shape)
        Diagonal of ε∞^-1 at the component's own positions.
    conductivity : None or three of float or array
        Normalised conductivity σ in c/a, including the absorbers' σ.
    off_diagonal : None or three arrays
        Elements yz, zx, xy of ε∞^-1 at nodes lo … hi (E) or centres lo-1 … hi-1 (H), inclusive, along axes that
        aren't thin.
    poles : dict of unit pole to three of None, float or array
        Strength of each pole along x, y, z; None where it is 0 at all points.
    chi2, chi3 : None or three of float or array
        Nonlinear susceptibilities.
    sites : Sites or None
        What acts at slanted surfaces of dispersive media instead of the above (see `evenly.fdtd.media.sites`).
    """

    inverse: Values
    conductivity: Values | None = None
    off_diagonal: tuple[Array, Array, Array] | None = None
    poles: dict[Pole, tuple[Value | None, Value | None, Value | None]] = field(default_factory=dict)
    chi2: Values | None = None
    chi3: Values | None = None
    sites: Sites | None = None


@dataclass(frozen=True)
class Sample:
    """The material properties at the points of a box.

    Attributes
    ----------
    box : Box
        The points.
    electric, magnetic : Response
        The properties for E and for H.
    interface : bool or array of bool (box.shape)
        Whether an interface passes through the box (one grid spacing wide) around one of the point's components.
    """

    box: Box
    electric: Response
    magnetic: Response
    interface: bool | NDArray[np.bool_] = False


class Structure:
    """Objects in a background on a grid.

    Parameters
    ----------
    grid : Grid
        The cell.
    geometry : sequence of objects
        Later ones hide earlier ones.
    material : Medium, FunctionMaterial, ArrayMaterial or function
        The background medium.
    subpixel : bool
        Whether media are averaged at interfaces. If False, each point has the medium that it lies in.
    sharp_strengths : bool
        Whether poles, conductivities and χ are those of the medium at each point, even if ε and μ are averaged.
    layers : Layers, optional
        Boundary conditions; default: metal walls.

    Raises
    ------
    InputError
        If `geometry` holds something that isn't an object, or the time step is unstable for one of the media.

    Notes
    -----
    An object's faces that lie on the cell's border are moved out, so that a film as wide as the cell has no gap at the
    sides. Along a periodic axis this is done only for objects that reach both borders. Objects that cross a periodic
    border are not repeated on the other side.
    """

    def __init__(
        self,
        grid: Grid,
        geometry: Sequence[GeometricObject] = (),
        material: Material = vacuum,
        *,
        subpixel: bool = True,
        sharp_strengths: bool = False,
        layers: Layers | None = None,
    ) -> None:
        self.grid = grid
        self.sharp_strengths = sharp_strengths
        self.layers = layers or resolve((), grid)
        self.subpixel = subpixel
        for thing in geometry:
            if not isinstance(thing, GeometricObject):
                raise InputError(f"`geometry` must hold objects such as Block and Sphere, but got {thing!r}.")
        size = (math.inf,) * 3
        self.objects = [Block(size=size, material=as_material(material, "the background"), name="background")]
        self.objects += [self._extended(thing) for thing in geometry]  # type: ignore[misc]
        materials = [thing.material for thing in self.objects]
        self.palettes = (palette(materials, "electric"), palette(materials, "magnetic"))
        check_time_step(grid, self.objects)

    def _extended(self, thing: GeometricObject) -> GeometricObject:
        lo = [o if not t else math.nan for o, t in zip(self.grid.origin, self.grid.thin, strict=True)]
        hi = [o + n * self.grid.dx for o, n in zip(lo, self.grid.shape, strict=True)]
        low, high = thing.bounds()
        for axis in range(3):
            slack = 1e-6 * self.grid.dx
            on_both = low[axis] <= lo[axis] + slack and high[axis] >= hi[axis] - slack
            if self.layers.kinds[axis] == "periodic" and not on_both:
                lo[axis] = hi[axis] = math.nan
        return thing.extended((lo[0], lo[1], lo[2]), (hi[0], hi[1], hi[2]), 2 * self.grid.dx)

    def may_have_sites(self, side: int) -> bool:
        """Return whether E (0) or H (1) may have sites: slanted surfaces of dispersive media (see `media.sites`)."""
        averaged = self.subpixel and not self.sharp_strengths and self.grid.dimensions > 1
        return averaged and bool(self.palettes[side].poles) and any(thing.slanted for thing in self.objects[1:])

    def sample(self, box: Box) -> Sample:
        """Return the material properties at the points of `box`; memory grows with the box.

        Parameters
        ----------
        box : Box
            Any box of the cell. Split large boxes into slabs (`Box.slabs`) to save memory.

        Returns
        -------
        Sample
        """
        electric, at_electric = _Sampler(self, box, 0).response()
        magnetic, at_magnetic = _Sampler(self, box, 1).response()
        mask = at_electric | at_magnetic
        return Sample(box, electric, magnetic, mask if np.any(mask) else False)


class _Sampler:
    """Computes the response for one field (`side` 0: E, 1: H) in one box."""

    def __init__(self, structure: Structure, box: Box, side: int) -> None:
        self.structure, self.box, self.side = structure, box, side
        self.grid, self.layers = structure.grid, structure.layers
        self.tables: Palette = structure.palettes[side]
        self.components = (ELECTRIC, MAGNETIC)[side]
        s = structure
        self.paint = partial(paint, s.grid, s.layers, s.objects, tables=self.tables, subpixel=s.subpixel)

    def response(self) -> tuple[Response, bool | NDArray[np.bool_]]:
        tables = self.tables
        if tables.plain and not tables.extras:
            return Response((1.0, 1.0, 1.0), self._with_absorber([0.0, 0.0, 0.0])), False
        off = self._off_diagonal()
        one = [0 if thin else 1 for thin in self.grid.thin]
        around = self.box if off is None else self.box.grow((one[0], one[1], one[2]))
        lattices = [self.paint(c, around) for c in self.components]
        full = [self._inverse(lattice, axis) for axis, lattice in enumerate(lattices)]
        if off is not None:
            off = self._limited(off, full)
        inner = self.box.slices(around.lo)
        x, y, z = (_collapsed(values, inner) for values in full)
        poles = {}
        for pole, table in tables.poles.items():
            px, py, pz = (v if np.any(v) else None for v in self._strengths(lattices, table, inner))
            if not px is py is pz is None:
                poles[pole] = px, py, pz
        result = Response(
            (x, y, z),
            self._with_absorber(self._strengths(lattices, tables.conductivity, inner, weigh=True)),
            None if off is None else (off[0], off[1], off[2]),
            poles,
            _unless_zero(self._strengths(lattices, tables.chi2, inner)),
            _unless_zero(self._strengths(lattices, tables.chi3, inner)),
            self._sites((x, y, z), poles),
        )
        return result, self._interface(lattices, inner)

    def _inverse(self, lattice: Lattice, axis: int) -> Value:
        tables = self.tables
        if tables.plain:
            return 1.0
        if lattice.sole is not None and tables.custom[lattice.sole] is None:
            return float(tables.inverse[lattice.sole, axis, axis])
        values = tables.inverse[:, axis, axis][lattice.medium]
        for row, custom in enumerate(tables.custom):
            if custom is not None:
                at = np.nonzero(lattice.medium == row)
                if at[0].size:
                    values[at] = 1 / custom.epsilon(*(x[i] for x, i in zip(lattice.along, at, strict=True)))
        for mixture in lattice.mixtures:
            values.flat[lattice.where[mixture.rows]] = inverse_diagonal(tables, mixture, lattice.points, axis)
        return np.asarray(values)

    def _off_diagonal(self) -> Array | None:
        """Return elements yz, zx, xy of ε^-1 at the nodes (centres) around the box, or None if all are 0."""
        s = self.structure
        name, box = self._nodes
        slanted = s.subpixel and self.grid.dimensions > 1 and not self.tables.plain
        if self.tables.diagonal.all() and not (slanted and covered(self.grid, s.objects, name, box)):
            return None
        lattice = self.paint(name, box)
        pairs = ((1, 2), (2, 0), (0, 1))
        off = np.stack([self.tables.inverse[:, i, j][lattice.medium] for i, j in pairs])
        flat = off.reshape(3, -1)
        for mixture in lattice.mixtures:
            flat[:, lattice.where[mixture.rows]] = inverse_off_diagonal(self.tables, mixture, lattice.points)
        return off if np.any(off) else None

    @property
    def _nodes(self) -> tuple[str, Box]:
        """What the nodes (centres) are called, and those around the box."""
        x, y, z = (0 if thin else 1 for thin in self.grid.thin)
        (a, b, c), hi = self.box.lo, self.box.hi
        box = Box((a, b, c), (hi[0] + x, hi[1] + y, hi[2] + z))
        return ("node", box) if self.side == 0 else ("centre", box.shift((-x, -y, -z)))

    def _sites(self, inverse: Values, poles: Mapping[Pole, Sequence[Value | None]]) -> Sites | None:
        s, (name, box) = self.structure, self._nodes
        if not s.may_have_sites(self.side) or not covered(self.grid, s.objects, name, box):
            return None
        lattice = self.paint(name, box, width=WIDTH)
        sites = node_sites(self.tables, s.objects, lattice, box, self._without_absorbers(), self.grid.thin)
        if sites is None:
            return None
        ends = tuple(self._ends(sites.ends[0], axis) for axis in range(3))
        halves = [half_sites(ends[a], self.box, a, inverse[a], poles) for a in range(3)]
        return joined([sites, *halves], ends)

    def _ends(self, mask: NDArray[np.intp], axis: int) -> NDArray[np.intp]:
        """Return how many of the two nodes of each point along an axis are in a mask of the nodes around the box."""
        if self.grid.thin[axis]:
            return np.zeros(self.box.shape, dtype=np.intp)
        both = []
        for end in (0, 1):
            first = [0 if thin else (end if a == axis else self.side) for a, thin in enumerate(self.grid.thin)]
            both.append(mask[tuple(slice(f, f + n) for f, n in zip(first, self.box.shape, strict=True))])
        return both[0] + both[1]

    def _without_absorbers(self) -> Box:
        """Return the nodes (centres) none of whose points is in an absorber."""
        inner, far = self.layers.inner("absorber"), 2 * max(self.grid.shape) + 2
        low, high = zip(*self.layers.absorber, strict=True)
        lo = [inner.lo[a] + 1 - self.side if low[a] else -far for a in range(3)]
        hi = [inner.hi[a] - self.side if high[a] else far for a in range(3)]
        return Box((lo[0], lo[1], lo[2]), (hi[0], hi[1], hi[2]))

    def _limited(self, off: Array, full: Sequence[Value]) -> Array:
        present = np.any(off, axis=0)
        at = np.nonzero(present)
        around = np.empty((3, 2, len(at[0])))
        for axis, values in enumerate(full):
            for above in (0, 1):
                # `full` covers the box grown by one point. Node 0 of `off` (E) has index 1 in it; along `axis`, the
                # node's edges below and above have indices 0 and 1. Centres (H) begin one point earlier.
                first = 1 - self.side
                index = [
                    i + (0 if thin else (above if a == axis else first))
                    for a, (i, thin) in enumerate(zip(at, self.grid.thin, strict=True))
                ]
                around[axis, above] = values if isinstance(values, float) else values[tuple(index)]
        flat, where = off.reshape(3, -1), np.flatnonzero(present)
        flat[:, where] = limited(flat[:, where], around)
        return off

    def _strengths(
        self, lattices: Sequence[Lattice], table: Array, inner: tuple[slice, ...], *, weigh: bool = False
    ) -> Values:
        found: list[Value] = []
        for axis, (lattice, strengths) in enumerate(zip(lattices, table.T, strict=True)):
            if lattice.sole is not None or not strengths.any():
                found.append(float(strengths[lattice.sole or 0]))
                continue
            values = strengths[lattice.medium]
            for mixture in () if self.structure.sharp_strengths else lattice.mixtures:
                at = lattice.where[mixture.rows]
                values.flat[at] = mean_strength(self.tables, mixture, strengths, values.flat[at], axis, weigh=weigh)
            found.append(_collapsed(values, inner))
        return found[0], found[1], found[2]

    def _with_absorber(self, own: Sequence[Value]) -> Values | None:
        values: list[Value] = list(own)
        for i, component in enumerate(self.components):
            for axis in (a for a in range(3) if any(self.layers.absorber[a])):
                sigma = self.layers.conductivity(component, axis, self.box.lo[axis], self.box.hi[axis])
                if sigma.any():
                    along = sigma.reshape([-1 if a == axis else 1 for a in range(3)])
                    values[i] = np.broadcast_to(values[i], self.box.shape) + along
        return _unless_zero(values)

    def _interface(self, lattices: Sequence[Lattice], inner: tuple[slice, ...]) -> NDArray[np.bool_]:
        shape = lattices[0].shape
        mask = np.zeros(shape, dtype=bool)
        for lattice in lattices:
            for mixture in lattice.mixtures:
                mask.flat[lattice.where[mixture.rows]] = True
        return mask[inner]


def _collapsed(values: Value, inner: tuple[slice, ...]) -> Value:
    """Return the part `inner` of an array; one number if it is the same everywhere."""
    if isinstance(values, float):
        return values
    part = np.ascontiguousarray(values[inner])
    if part.size == 0:
        return part
    first = float(part.flat[0])
    # Comparing the last point first avoids reading the whole array in most boxes that aren't uniform.
    return first if part.flat[-1] == first and bool(np.all(part == first)) else part


def _unless_zero(values: Sequence[Value]) -> Values | None:
    return (values[0], values[1], values[2]) if any(map(np.any, values)) else None
