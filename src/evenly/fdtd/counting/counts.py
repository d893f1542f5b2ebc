"""Counts the grid points of each kind in a box: the features of a cost model, known before any step.

An object that is hidden by a later one adds nothing to the counts. The box is sampled slab by slab.

>>> from evenly.fdtd.media.geometry import Block
>>> from evenly.fdtd.cell.grid import Grid
>>> from evenly.fdtd.media.materials import LorentzPole, Medium
>>> glass = Medium(epsilon=2, electric_poles=[LorentzPole(1.0)])
>>> structure = Structure(Grid((2, 2, 2), 10), [Block(size=(1, 1, 1), material=glass)], subpixel=False)
>>> counts = count(structure, structure.grid.box)
>>> counts.volume, counts.surface, list(counts.electric_poles.values()) == [counts.dielectric]
(8000, 0, True)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.boundaries import Layers
from evenly.fdtd.cell.box import Box
from evenly.fdtd.media.materials import Pole
from evenly.fdtd.media.structure import Response, Sample, Structure, Value

__all__ = ["Counts", "Patch", "count", "masks", "shared_faces", "site_numbers"]

# A Fourier transform: component, box, number of frequencies.
Patch = tuple[str, Box, int]
Mask = bool | NDArray[np.bool_]
# A number at each point.
Numbers = int | NDArray[np.intp]
SLAB = 500_000


@dataclass(frozen=True)
class Counts:
    """Numbers of grid points of each kind; all but `surface` and `neighbours` add up over the parts of a box.

    Attributes
    ----------
    volume : int
        All points.
    electric_poles, magnetic_poles : mapping of unit pole to int
        Number of points where a component has the pole, for each pole.
    pml_1d, pml_2d, pml_3d : int
        Points in the PML of one, two, three axes.
    absorber : int
        Points in absorbers.
    electric_conductivity, magnetic_conductivity : int
        Points outside absorbers whose medium has a conductivity.
    electric_anisotropic, magnetic_anisotropic : int
        Nodes (centres) with off-diagonal elements of 1/ε (1/μ), and without sites.
    electric_sites, magnetic_sites : int
        Sites of E (H): several at each node (centre) near a slanted surface of a dispersive medium (see
        `evenly.fdtd.media.sites`).
    nonlinear : int
        Points with χ2 or χ3.
    dielectric, magnetic : int
        Points whose instantaneous ε (μ) differs from 1 along some axis.
    interface : int
        Points where an interface passes through the box (one grid spacing wide) around one of their components.
    complex : int
        Points with complex fields.
    fourier, fourier_frequencies : int
        Sum of the points of all Fourier transforms (one component each); the same sum weighted by the number of
        frequencies.
    surface : int
        Point faces shared with the rest of the cell, across periodic sides too.
    neighbours : int
        Number of other chunks that share such a face.
    """

    volume: int = 0
    electric_poles: Mapping[Pole, int] = field(default_factory=dict)
    magnetic_poles: Mapping[Pole, int] = field(default_factory=dict)
    pml_1d: int = 0
    pml_2d: int = 0
    pml_3d: int = 0
    absorber: int = 0
    electric_conductivity: int = 0
    magnetic_conductivity: int = 0
    electric_anisotropic: int = 0
    magnetic_anisotropic: int = 0
    electric_sites: int = 0
    magnetic_sites: int = 0
    nonlinear: int = 0
    dielectric: int = 0
    magnetic: int = 0
    interface: int = 0
    complex: int = 0
    fourier: int = 0
    fourier_frequencies: int = 0
    surface: int = 0
    neighbours: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the sum of every count."""
        both = {f.name: _sum(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        return Counts(**both)

    @property
    def poles(self) -> int:
        """Sum over all poles of E and H of the number of points of each."""
        return sum(self.electric_poles.values()) + sum(self.magnetic_poles.values())

    def as_dict(self) -> dict[str, int]:
        """Return the counts as plain numbers for tables; poles are summed up.

        Examples
        --------
        >>> Counts(volume=8, pml_1d=4).as_dict()["pml_1d"]
        4
        """
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}


def count(structure: Structure, box: Box, *, fourier: Sequence[Patch] = (), chunks: Sequence[Box] = ()) -> Counts:
    """Return the counts of a box.

    Parameters
    ----------
    structure : Structure
        The cell's objects and layers.
    box : Box
        Any box of the cell.
    fourier : sequence of (component, Box, number of frequencies)
        All Fourier transforms of the cell.
    chunks : sequence of Box
        All chunks, to count the neighbours. The box itself may be among them.

    Returns
    -------
    Counts
    """
    result = Counts()
    longest = max(range(3), key=lambda axis: box.shape[axis])
    for slab in box.slabs(longest, SLAB):
        result = result + _sampled(structure, slab)
    return result + _geometric(structure, box, fourier, chunks)


def shared_faces(box: Box, other: Box, layers: Layers) -> int:
    """Return the number of point faces that two disjoint boxes share, across periodic sides too.

    Examples
    --------
    >>> from evenly.fdtd.cell.boundaries import resolve
    >>> from evenly.fdtd.cell.grid import Grid
    >>> layers = resolve([], Grid((2, 2, 2), 2))
    >>> shared_faces(Box((0, 0, 0), (2, 4, 4)), Box((2, 0, 0), (4, 2, 4)), layers)
    8
    """
    faces = 0
    for axis in range(3):
        if layers.grid.thin[axis]:
            continue
        n = layers.grid.shape[axis]
        for moved in {0, n, -n} if layers.kinds[axis] == "periodic" else {0}:
            for a, b in ((box.hi[axis], other.lo[axis] + moved), (other.hi[axis] + moved, box.lo[axis])):
                if a == b:
                    across = box.replace(axis, 0, 1) & other.replace(axis, 0, 1)
                    faces += across.volume
    return faces


def masks(structure: Structure, sample: Sample) -> dict[str, Mask | Numbers | dict[Pole, Mask]]:
    """Return, for each kind of point in `Counts` that depends on media, a mask of the sample's points of that kind.

    A mask is a single bool if all points share it. Of sites, it is the number at each point.

    Examples
    --------
    >>> from evenly.fdtd.cell.grid import Grid
    >>> from evenly.fdtd.media.materials import Medium
    >>> structure = Structure(Grid((1, 1, 1), 4), material=Medium(epsilon=2))
    >>> found = masks(structure, structure.sample(structure.grid.box))
    >>> found["dielectric"], found["magnetic"], found["electric_poles"]
    (True, False, {})
    """
    electric, magnetic, box = sample.electric, sample.magnetic, sample.box
    outside = structure.layers.inner("absorber") & box
    return {
        "electric_poles": {pole: _differs(values) for pole, values in electric.poles.items()},
        "magnetic_poles": {pole: _differs(values) for pole, values in magnetic.poles.items()},
        "electric_conductivity": _conductive(electric, box, outside),
        "magnetic_conductivity": _conductive(magnetic, box, outside),
        "electric_anisotropic": _nodes(electric, slice(None, -1), structure, box),
        "magnetic_anisotropic": _nodes(magnetic, slice(1, None), structure, box),
        "electric_sites": site_numbers(electric, box),
        "magnetic_sites": site_numbers(magnetic, box),
        "nonlinear": _differs(electric.chi2) | _differs(electric.chi3),
        "dielectric": _differs(electric.inverse, 1.0),
        "magnetic": _differs(magnetic.inverse, 1.0),
        "interface": sample.interface,
    }


def _sampled(structure: Structure, box: Box) -> Counts:
    found = masks(structure, structure.sample(box))
    return Counts(
        **{
            name: {pole: _size(one, box) for pole, one in mask.items()} if isinstance(mask, dict) else _size(mask, box)
            for name, mask in found.items()
        }  # type: ignore[arg-type]
    )


def _geometric(structure: Structure, box: Box, fourier: Sequence[Patch], chunks: Sequence[Box]) -> Counts:
    layers, grid = structure.layers, structure.grid
    pml = _overlaps(layers, box)
    patches = [((patch & box).volume, frequencies) for _, patch, frequencies in fourier]
    surface = 0
    for axis in range(3):
        face = box.volume // max(1, box.shape[axis])
        joined = layers.kinds[axis] == "periodic" and box.shape[axis] < grid.shape[axis]
        ends = (box.lo[axis] > 0 or joined) + (box.hi[axis] < grid.shape[axis] or joined)
        surface += 0 if grid.thin[axis] else ends * face
    return Counts(
        volume=box.volume,
        pml_1d=pml[1],
        pml_2d=pml[2],
        pml_3d=pml[3],
        absorber=box.volume - (layers.inner("absorber") & box).volume,
        complex=box.volume if layers.complex_fields else 0,
        fourier=sum(points for points, _ in patches),
        fourier_frequencies=sum(points * frequencies for points, frequencies in patches),
        surface=surface,
        neighbours=sum(other != box and shared_faces(box, other, layers) > 0 for other in chunks),
    )


def _overlaps(layers: Layers, box: Box) -> list[int]:
    """Return the number of points in the PML of 0, 1, 2 and 3 axes."""
    # These are the coefficients of t^0 … t^3 in the product of (outside + inside t) over the axes.
    powers = [1]
    for axis in range(3):
        inside = 0
        for start, stop in layers.ranges(axis):
            inside += max(0, min(stop, box.hi[axis]) - max(start, box.lo[axis]))
        outside = box.shape[axis] - inside
        powers = [
            (powers[i] * outside if i < len(powers) else 0) + (powers[i - 1] * inside if i else 0)
            for i in range(len(powers) + 1)
        ]
    return powers


def _conductive(response: Response, box: Box, outside: Box) -> Mask:
    mask = _differs(response.conductivity)
    if mask is False or outside.empty:
        return False
    if outside == box:
        return mask
    inside = np.zeros(box.shape, dtype=bool)
    where = outside.slices(box.lo)
    inside[where] = mask if isinstance(mask, bool) else mask[where]
    return inside


def _nodes(response: Response, own: slice, structure: Structure, box: Box) -> Mask:
    # A box counts only nodes that have the index of one of its points, so that the counts of parts add up.
    if response.off_diagonal is None:
        return False
    index = tuple(slice(None) if thin else own for thin in structure.grid.thin)
    mask = np.asarray(np.any([v[index] for v in response.off_diagonal], axis=0))
    sites = response.sites
    return mask if sites is None else mask & (_at_places(sites.place[~sites.halves], 1, box) == 0)


def site_numbers(response: Response, box: Box, *, poles: bool = False) -> Numbers:
    """Return the number of sites at each point of a box, or of the `poles` that act on them; 0 if there are none.

    Parameters
    ----------
    response : Response
        Of the box.
    box : Box
    poles : bool
    """
    sites = response.sites
    if sites is None:
        return 0
    weights = np.sum([values != 0 for values in sites.strengths.values()], axis=0) if poles else 1
    return _at_places(sites.place, weights, box)


def _at_places(place: NDArray[np.intp], weights: NDArray[np.intp] | int, box: Box) -> NDArray[np.intp]:
    """Return the sum of the weights at each point of a box; places outside of it don't count."""
    there = np.all((place >= box.lo) & (place < box.hi), axis=1)
    found = np.zeros(box.shape, np.intp)
    np.add.at(found, tuple((place[there] - box.lo).T), np.broadcast_to(weights, len(place))[there])
    return found


def _differs(values: Sequence[Value | None] | None, reference: float = 0.0) -> Mask:
    """Return where any of the values isn't the reference; None never counts."""
    result: Mask = False
    for value in values or ():
        result = result | (value is not None and value != reference)
    return result


def _size(mask: Mask | Numbers, box: Box) -> int:
    return int(mask.sum()) if isinstance(mask, np.ndarray) else box.volume * mask


def _sum(left: Any, right: Any) -> Any:
    return dict(Counter(left) + Counter(right)) if isinstance(left, Mapping) else left + right


def _plain(value: Any) -> int:
    return sum(value.values()) if isinstance(value, Mapping) else int(value)
