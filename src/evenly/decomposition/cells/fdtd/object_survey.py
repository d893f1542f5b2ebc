"""Approximate survey from the objects of a structure, for cells too large to sample every point.

The cell is divided into samples. Their edges are the faces of objects and the borders of layers, the largest first, and
evenly spaced indices where objects are curved. Objects are painted over the samples' middles in their order, each
within its bounds, slab by slab. The blocks of the survey are groups of samples. Where neighbouring samples lie in
different media, the properties that reach past the interface are added (see `media`). The counts are right on average
along a surface, but those of a very small block may be too large or too small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.fdtd.block_edges import chosen_edges
from evenly.decomposition.cells.fdtd.lattice import Lattice, Painter
from evenly.decomposition.cells.fdtd.media import VALUES, Column, Faces, columns_of
from evenly.decomposition.cells.fdtd.point_kinds import SIDES
from evenly.decomposition.cells.fdtd.surface_weights import Surfaces, edge_weights
from evenly.decomposition.cells.survey import Survey

if TYPE_CHECKING:
    from evenly.fdtd.media.structure import Structure

__all__ = ["SAMPLES", "object_survey"]

Ints = NDArray[np.int64]
Array = NDArray[np.float64]
Owners = NDArray[np.int32]
#: Most samples of a cell.
SAMPLES = 12_000_000
#: Most numbers in the table of a survey.
NUMBERS = 8_000_000


def object_survey(structure: Structure, *, blocks: int, samples: int = SAMPLES, by_component: bool = False) -> Survey:
    """Return the survey of a structure's kept points (see `Layers.kept`) from its objects.

    Parameters
    ----------
    structure : Structure
    blocks : int
        Most blocks.
    samples : int
        Most samples; the run time grows with them.
    by_component : bool
        Whether points with a pole are also counted for each component.
    """
    surfaces = Surfaces.of(structure)
    columns = columns_of(structure, by_component=by_component)
    weights = [edge_weights(structure, surfaces, axis) for axis in range(3)]
    fine = chosen_edges(weights, samples)
    kept = [np.where(np.isin(np.arange(len(w)), e), w, 0.0) for w, e in zip(weights, fine, strict=True)]
    coarse = chosen_edges(kept, min(blocks, NUMBERS // max(1, len(columns))))
    adder = _Adder(structure, surfaces, Lattice(fine, coarse), columns)
    adder.add_all()
    adder.limit()
    adder.clear_absorbers()
    return adder.survey()


@dataclass(frozen=True)
class _Contacts:
    """Contacts: samples with a neighbouring sample of another medium, n of them.

    Attributes
    ----------
    block : (n,)
        Block of the sample, counted from the first block of the slab.
    pair : (n,)
        Code of the two media: the sample's medium times the number of media, plus the other medium.
    area : (n,)
        Area of the contact in faces of points.
    above : (n,) of bool
        Whether the sample lies above the face.
    faces : Faces
        The faces between the samples and their neighbours.
    """

    block: Ints
    pair: Ints
    area: Array
    above: NDArray[np.bool_]
    faces: Faces


class _Adder:
    """Adds the amounts of all kinds in slabs of samples to a table of blocks."""

    def __init__(self, structure: Structure, surfaces: Surfaces, lattice: Lattice, columns: list[Column]) -> None:
        self.structure, self.surfaces, self.lattice, self.columns = structure, surfaces, lattice, columns
        self.names = list(dict.fromkeys(column.name for column in columns))
        self.table = np.zeros((*(len(b) for b in lattice.blocks), len(self.names)))
        self.bent = np.zeros(lattice.shape, dtype=bool)
        self.medium = np.asarray(structure.palettes[0].medium, dtype=np.int64)
        self.media = len(structure.palettes[0].inverse)
        self.block_middles = Lattice(lattice.blocks, lattice.blocks).middles(structure)
        self.small = self.medium.astype(np.min_scalar_type(self.media))
        self.beyond = [column.beyond().ravel() for column in columns]
        inner = structure.layers.inner("absorber")
        x, y, z = ((b[:-1] >= a) & (b[1:] <= c) for b, a, c in zip(lattice.blocks, inner.lo, inner.hi, strict=True))
        self.unabsorbed = x[:, None, None] & y[:, None] & z

    def add_all(self) -> None:
        """Add the whole cell, slab by slab."""
        painter = Painter(self.structure, self.lattice.middles(self.structure), self.surfaces.whole)
        before: Owners | None = None
        for first, last in self.lattice.slabs():
            owners = painter.owners(first, last)
            self._add_volumes(first, owners)
            self._add_contacts(first, owners, before)
            before = owners[-1:]

    def limit(self) -> None:
        """Limit the counts of each block to its points, if all faces in it are flat.

        Two flat faces in the same plane of points would count its points twice. Blocks with surfaces at an angle aren't
        limited, since their counts are right only on average over blocks.
        """
        x, y, z = (np.diff(b).astype(np.float64) for b in self.lattice.blocks)
        volume = np.where(self.bent, np.inf, x[:, None, None] * y[:, None] * z)
        for n, name in enumerate(self.names):
            if not any(word in name for word in ("label", "site")) and name not in VALUES:
                blocks = self.table[1:, 1:, 1:, n]
                np.minimum(blocks, volume, out=blocks)

    def clear_absorbers(self) -> None:
        """Remove the media's conductivity inside absorbers, which have their own."""
        for n, name in enumerate(self.names):
            if name.endswith("conductivity"):
                self.table[1:, 1:, 1:, n] *= self.unabsorbed

    def survey(self) -> Survey:
        """Return the survey of the added amounts, without empty kinds; it may take over the table."""
        present = [n for n in range(len(self.names)) if self.table[..., n].any()]
        names, kept = [self.names[n] for n in present], self.structure.layers.kept
        if kept != self.structure.grid.box:
            # Both ends of the kept part are edges of blocks.
            ends = [np.searchsorted(b, (a, c)) for b, a, c in zip(self.lattice.blocks, kept.lo, kept.hi, strict=True)]
            x, y, z = (b[i : j + 1] - b[i] for b, (i, j) in zip(self.lattice.blocks, ends, strict=True))
            inside = tuple(slice(1 + i, 1 + j) for i, j in ends)
            return Survey.of_blocks((x, y, z), names, np.ascontiguousarray(self.table[inside][..., present]))
        table = self.table if len(present) == len(self.names) else np.ascontiguousarray(self.table[..., present])
        return Survey.of_padded(self.lattice.blocks, names, table)

    def _add_volumes(self, first: int, owners: Owners) -> None:
        (along, *across), widths = self.lattice.block_of, self.lattice.widths
        # The block of each sample along x, y, z.
        where = along[first : first + len(owners)], *across
        start, shape = int(where[0][0]), (int(where[0][-1] - where[0][0]) + 1, *self.lattice.shape[1:])
        block = ((where[0] - start)[:, None, None] * shape[1] + where[1][:, None]) * shape[2] + where[2]
        volume = widths[0][first : first + len(owners), None, None] * (widths[1][:, None] * widths[2])
        present = self._present(owners)
        number = np.zeros(self.media, dtype=np.int64)
        number[present] = np.arange(len(present))
        # A histogram over pairs of block and medium, weighted by the points of each sample: (blocks, media present).
        key = (block * len(present) + number[self.medium][owners]).ravel()
        found = np.asarray(np.bincount(key, volume.ravel(), math.prod(shape) * len(present)), dtype=np.float64)
        held = found.reshape(*shape, len(present))
        into = self.table[1 + start : 1 + start + shape[0], 1:, 1:]
        for column in self.columns:
            if column.amount[present].any():
                into[..., self.names.index(column.name)] += held @ column.amount[present]
        self._take_off_vacuum(into, held, present, start)

    def _take_off_vacuum(self, into: Array, held: Array, present: Ints, start: int) -> None:
        """Subtract the dielectric points of materials given point by point in blocks with ε = 1 at the middle."""
        for n, medium in enumerate(present):
            custom = self.structure.palettes[0].custom[medium]
            if custom is not None and custom.smallest <= 1:
                x, y, z = np.nonzero(held[..., n])
                along = self.block_middles
                epsilon = custom.epsilon(along[0][x + start], along[1][y], along[2][z])
                into[x, y, z, self.names.index("dielectric")] -= held[x, y, z, n] * (epsilon == 1)

    def _present(self, owners: Owners) -> Ints:
        """Return the media that occur in a slab."""
        there = np.bincount(owners.ravel(), minlength=len(self.medium)) > 0
        return np.unique(self.medium[there])

    def _add_contacts(self, first: int, owners: Owners, before: Owners | None) -> None:
        start = max(0, int(self.lattice.block_of[0][first]) - 1)
        shape = (int(self.lattice.block_of[0][first + len(owners) - 1]) - start + 1, *self.lattice.shape[1:])
        joined = owners if before is None else np.concatenate([before, owners])
        contacts = [self._contacts(0, first - (before is not None), joined, start)]
        contacts += [self._contacts(axis, first, owners, start) for axis in (1, 2)]
        found = _joined(contacts)
        self.bent[start : start + shape[0]].reshape(-1)[found.block[~found.faces.flat]] = True
        into = self.table[1 + start : 1 + start + shape[0], 1:, 1:]
        # Columns with the same rule and the same amounts add the same, so this is computed once.
        done: dict[Any, Array] = {}
        for column, beyond in zip(self.columns, self.beyond, strict=True):
            if not beyond.any():
                continue
            same = column.rule, beyond.tobytes()
            if same not in done:
                weights = beyond[found.pair] * self._planes(column.rule, found, done)
                done[same] = np.asarray(np.bincount(found.block, weights, math.prod(shape)), np.float64).reshape(shape)
                if column.rule in ("sites", "nodes in absorbers"):
                    done[same] *= self.unabsorbed[start : start + shape[0]] == (column.rule == "sites")
            into[..., self.names.index(column.name)] += done[same]

    def _planes(self, rule: str, found: _Contacts, done: dict[Any, Array]) -> Array:
        if rule not in done:
            sharp = self.structure.sharp_strengths and rule.startswith(SIDES)
            above, below = found.faces.reach(rule, subpixel=self.structure.subpixel and not sharp)
            done[rule] = np.where(found.above, above, below) * found.area
        return done[rule]

    def _contacts(self, axis: int, first: int, owners: Owners, start: int) -> _Contacts:
        """Return the contacts of samples that are neighbours along an axis and lie in different media."""
        ahead, behind = ([slice(None)] * 3 for _ in range(2))
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        medium = self.small[owners]
        # Neighbouring samples of different media: there is a face between them.
        at = np.nonzero(medium[tuple(behind)] != medium[tuple(ahead)])
        below, above = owners[tuple(behind)][at], owners[tuple(ahead)][at]
        index = [i + (first if a == 0 else 0) for a, i in enumerate(at)]
        one, other = (a for a in range(3) if a != axis)
        area: Any = self.lattice.widths[one][index[one]] * self.lattice.widths[other][index[other]]
        # The face belongs to the later object: it is its low side if this object lies above.
        later, low = np.maximum(below, above), below < above
        faces = Faces(
            np.full(len(later), axis),
            self.surfaces.at[later, axis, np.where(low, 0, 1)] % 1,
            ~low,
            self.surfaces.flat[later, axis],
            self.surfaces.slanted[later, axis],
        )
        # Each contact counts twice: for the sample below the face, and for the one above it.
        halves = [(below, above, 0), (above, below, 1)]
        blocks, pairs = [], []
        for own, another, step in halves:
            x, y, z = (self.lattice.block_of[a][i + (step if a == axis else 0)] for a, i in enumerate(index))
            blocks.append(((x - start) * self.lattice.shape[1] + y) * self.lattice.shape[2] + z)
            pairs.append(self.medium[own] * self.media + self.medium[another])
        is_above = np.repeat([False, True], len(below))
        return _Contacts(
            np.concatenate(blocks), np.concatenate(pairs), np.tile(area, 2), is_above, _stacked([faces] * 2)
        )


def _joined(parts: list[_Contacts]) -> _Contacts:
    block, pair, area, above = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("block", "pair", "area", "above")
    )
    return _Contacts(block, pair, area, above, _stacked([part.faces for part in parts]))


def _stacked(parts: list[Faces]) -> Faces:
    return Faces(*(np.concatenate([getattr(part, name) for part in parts]) for name in Faces.__dataclass_fields__))
