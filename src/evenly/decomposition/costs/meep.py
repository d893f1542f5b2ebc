"""What Meep does for the chunks of a cell, term by term.

Meep sweeps whole arrays, so most of what a chunk costs depends on what is *present* in it, not on how many points have
it: one nonlinear point makes every point of its chunk nonlinear. Poles reach further: each that occurs anywhere in
the cell is kept, subtracted from D and copied over borders by every chunk, and driven only by those chunks in which it
occurs. Every chunk also copies its borders, to chunks of its own rank no less than to others, row by row
(`evenly calibrate meep` measures each of these;
``benchmarks/cost_meep.py`` says how far predictions are off).

>>> from evenly.decomposition.cells.cell import Cell
>>> from evenly.decomposition.cells.pieces import pieces_of
>>> from evenly.decomposition.cells.survey import Survey
>>> from evenly.fdtd.cell.grid import Grid
>>> edges = ((0, 1, 8), (0, 4), (0, 4))
>>> survey = Survey.of_blocks(edges, ("nonlinear",), np.array([16.0, 0.0]).reshape(2, 1, 1, 1))
>>> cell = Cell("meep", Grid((8, 4, 4), 1), survey, layers_apart=("pml",))
>>> halves = pieces_of(cell, [[0, 0, 0], [4, 0, 0]], [[4, 4, 4], [8, 4, 4]])
>>> names = [term.name for term in Meep.terms]
>>> Meep().amounts(halves)[:, names.index("nonlinear points")].tolist()
[64.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.pieces import Pieces
from evenly.decomposition.costs.program import Program, Term

__all__ = ["Meep"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
#: Share of the components whose arrays have what begins in the layer of points above a chunk: one of three where it
#: begins between a node and the middle of its edge, else all.
BEYOND = 2 / 3
#: Bytes of a leaf's chunks that caches still hold at the next step. A last cache of 32 MB is shared with others: 4 to
#: 8 MB explain calibrated times alike, 4 leave large cells closest to what they took (``benchmarks/cache_meep.py``).
CACHE = 4e6
#: Numbers held for each point, for each point in a PML beside those, and for each pole: E, H, D and 1/ε; what PML
#: integrates; P of three components at two steps. A step reads and writes each once, but for 1/ε and one step of P.
HELD, HELD_IN_PML, HELD_BY_POLE = 12, 9, 6
MOVED, MOVED_IN_PML, MOVED_BY_POLE = 21, 18, 12
OFF_DIAGONAL = ("off-diagonal xy", "off-diagonal xz", "off-diagonal yz")


class Meep(Program):
    """Meep 1.2x.

    The kinds of points that it looks for in a survey are ``"magnetic"``, ``"electric_conductivity"``,
    ``"magnetic_conductivity"``, ``"nonlinear"``, ``"off-diagonal xy"`` (``xz``, ``yz``), ``"magnetic_anisotropic"``,
    ``"pole …"`` and ``"pole magnetic …"``. Absorbers are taken from the cell, since Meep makes no chunks of them. The
    cell's trait ``"components"`` is how many of the six components of E and H are stepped (all where not given).
    """

    name = "meep"
    terms = (
        Term("points", about="curl of every component, in three dimensions"),
        Term("points of planes", about="the same in one and two dimensions"),
        Term("rows", "row", "rows of points along the last axis: where loops begin"),
        Term("processes", "process", "what is done whatever a process holds; one for every leaf of a layout"),
        Term("chunks", "chunk", "chunks, those of PMLs included"),
        Term("neighbour chunks", "pair", "chunks that share a face, an edge or a corner"),
        Term("faces copied", "face", "faces of points between chunks, across the first axes"),
        Term("row ends copied", "face", "faces of points between chunks, across the last axis"),
        Term("own faces", "face", "faces of points that a chunk copies from itself, over periodic sides"),
        Term("faces of B", "face", "faces between chunks of which one keeps B apart from H"),
        Term("PML 1d points"),
        Term("PML 2d points"),
        Term("PML 3d points"),
        Term("magnetic points", about="points of chunks with a permeability"),
        Term("off-diagonal points", about="points of chunks times pairs of axes that some permittivity couples"),
        Term("conductive points", about="points of chunks with a conductivity or an absorber, of E and of H"),
        Term("nonlinear points", about="points of chunks with χ2 or χ3"),
        Term("polarised points", about="points of all chunks where the cell has a pole"),
        Term("poles kept", about="points of all chunks times poles of the cell"),
        Term("poles driven", about="points of chunks times the poles in them"),
        Term("pole faces", "face", "faces of points between chunks times poles of the cell"),
        Term("own pole faces", "face", "faces that a chunk copies from itself times poles of the cell"),
        Term("pole neighbours", "pair", "neighbouring chunks where the cell has a pole"),
        Term("transforms", "transform", "monitor regions in the chunk times components, per step"),
        Term("transformed values", "value", "values that are Fourier transformed"),
        Term("transformed products", "product", "those times their frequencies"),
        Term("memory bytes", "byte", "bytes that a step reads and writes beyond what caches hold of a leaf"),
    )

    def amounts(self, pieces: Pieces) -> Array:
        """Return how much of each term each piece has, (n, terms)."""
        return self._of(_Chunks(pieces))

    def spread_amounts(self, pieces: Pieces) -> Array:
        return self._of(_Chunks(pieces, reach=0))

    def _of(self, chunks: _Chunks) -> Array:
        pieces = chunks.pieces
        anything = (pieces.volume > 0).astype(float)
        numbers = anything * pieces.cell.parts * pieces.cell.traits.get("components", 6.0) / 6
        columns = [COLUMNS[term.name](chunks) * (anything if term.name in FIXED else numbers) for term in self.terms]
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class _Chunks:
    """Pieces as Meep steps them; their arrays reach `reach` points further up than they do."""

    pieces: Pieces
    reach: int = 1

    @property
    def volume(self) -> Array:
        return self.pieces.volume

    @property
    def thick(self) -> Flags:
        return ~np.asarray(self.pieces.cell.grid.thin)

    @property
    def last(self) -> int:
        """Axis along which points follow each other in memory."""
        return int(np.flatnonzero(self.thick)[-1]) if self.thick.any() else 2

    @cached_property
    def held(self) -> Array:
        """Points of each kind in each chunk's arrays, (n, kinds)."""
        survey = self.pieces.cell.survey
        return survey.counts(self.pieces.low, np.minimum(self.pieces.high + self.reach, survey.shape))

    def present(self, kind: str) -> Flags:
        """Whether each chunk's arrays have any point of a kind, (n,)."""
        return np.asarray(self.pieces.cell.column(self.held, kind) > 0.5)

    def share(self, kind: str) -> Array:
        """Share of the components for which each chunk has a kind in its arrays, (n,)."""
        inside = self.pieces.count(kind) > 0.5
        return np.where(inside, 1.0, BEYOND * self.present(kind))

    @cached_property
    def sides(self) -> Ints:
        """Sides along each axis at which points are copied from a chunk, (n, 3)."""
        cell, low, high = self.pieces.cell, self.pieces.low, self.pieces.high
        inside = (low > 0).astype(np.int64) + (high < np.asarray(cell.grid.shape))
        # A chunk that spans a periodic axis copies from itself.
        return np.asarray(np.where(cell.periodic, 2, inside) * self.thick)

    @cached_property
    def spans(self) -> Flags:
        """Along which axes a chunk is its own neighbour, (n, 3)."""
        return np.asarray((self.pieces.shape == np.asarray(self.pieces.cell.grid.shape)) & (self.sides == 2))

    @cached_property
    def copied(self) -> Array:
        """Faces of points across each axis that are copied, (n, 3)."""
        return np.asarray(self.sides * (self.volume[:, None] / np.maximum(1, self.pieces.shape)))

    @property
    def faces(self) -> Array:
        """Those that are shared with other chunks, (n, 3)."""
        return np.asarray(self.copied * ~self.spans)

    @property
    def own_faces(self) -> Array:
        """Those that a chunk copies from itself, (n,)."""
        return np.asarray((self.copied * self.spans).sum(axis=1))

    @cached_property
    def poles(self) -> tuple[str, ...]:
        """Kinds of the poles that occur anywhere in the cell."""
        totals = self.pieces.cell.survey.totals
        return tuple(kind for kind, points in totals.items() if kind.startswith("pole ") and points > 0.5)

    @property
    def arrays(self) -> Array:
        """Points of each chunk's arrays, (n,)."""
        return np.asarray(np.prod(self.pieces.shape + self.reach * self.thick, axis=1), dtype=np.float64)


def _processes(chunks: _Chunks) -> Array:
    """Return 1 for the first piece of each box."""
    first = np.zeros(len(chunks.volume))
    first[np.unique(chunks.pieces.box, return_index=True)[1]] = 1.0
    return first


def _rows(chunks: _Chunks) -> Array:
    return chunks.volume / np.maximum(1, chunks.pieces.shape[:, chunks.last])


def _neighbours(chunks: _Chunks) -> Array:
    """Return the chunks around each one, as there would be in a regular lattice of chunks."""
    shape, whole = chunks.pieces.shape, np.asarray(chunks.pieces.cell.grid.shape)
    # The chunks on both sides along a periodic axis are the same one where there are two.
    twice = np.asarray(chunks.pieces.cell.periodic) & (2 * shape >= whole) & chunks.thick
    around = np.prod(1 + np.where(chunks.spans, 0, np.where(twice, 1, chunks.sides)), axis=1) - 1
    return np.asarray(around + chunks.spans.any(axis=1), dtype=np.float64)


def _faces_copied(chunks: _Chunks) -> Array:
    return np.asarray(chunks.faces.sum(axis=1) - chunks.faces[:, chunks.last])


def _row_ends(chunks: _Chunks) -> Array:
    return np.asarray(chunks.faces[:, chunks.last])


def _faces_of_b(chunks: _Chunks) -> Array:
    apart = chunks.present("magnetic") | chunks.pieces.pml.any(axis=1)
    return np.asarray(chunks.copied.sum(axis=1) * apart)


def _in_pml(axes: int) -> Callable[[_Chunks], Array]:
    return lambda chunks: chunks.volume * (chunks.pieces.pml.sum(axis=1) == axes)


def _off_diagonal(chunks: _Chunks) -> Array:
    known = [kind for kind in OFF_DIAGONAL if kind in chunks.pieces.cell.survey.kinds]
    if known:
        electric = np.sum([chunks.share(kind) for kind in known], axis=0)
    else:
        # Where it isn't known which pairs, all of them.
        electric = 3 * chunks.share("electric_anisotropic")
    return np.asarray(chunks.volume * (electric + 3 * chunks.share("magnetic_anisotropic")))


def _conductive(chunks: _Chunks) -> Array:
    absorbing = _in_absorber(chunks)
    sides = [np.maximum(chunks.share(f"{side}_conductivity"), absorbing) for side in ("electric", "magnetic")]
    return np.asarray(chunks.volume * np.sum(sides, axis=0))


def _in_absorber(chunks: _Chunks) -> Flags:
    """Return whether any point of each chunk is in an absorber, (n,)."""
    shape = np.asarray(chunks.pieces.cell.grid.shape)
    low, high = np.asarray(chunks.pieces.cell.absorber).T
    return np.asarray(np.any((chunks.pieces.low < low) | ((chunks.pieces.high >= shape - high) & (high > 0)), axis=1))


def _polarised(chunks: _Chunks) -> Array:
    return chunks.arrays * len({kind.startswith("pole magnetic ") for kind in chunks.poles})


def _driven(chunks: _Chunks) -> Array:
    return np.asarray(chunks.volume * sum((chunks.share(pole) for pole in chunks.poles), np.zeros(1)))


def _memory_bytes(chunks: _Chunks) -> Array:
    """Return what comes from memory; a process goes through all of its chunks before it comes back to one."""
    numbers = 8.0 * chunks.pieces.cell.parts * chunks.pieces.cell.traits.get("components", 6.0) / 6
    in_pml, poles = chunks.arrays * chunks.pieces.pml.any(axis=1), len(chunks.poles)
    held = chunks.arrays * (HELD + HELD_BY_POLE * poles) + HELD_IN_PML * in_pml
    moved = chunks.arrays * (MOVED + MOVED_BY_POLE * poles) + MOVED_IN_PML * in_pml
    of_leaf = np.bincount(chunks.pieces.box, numbers * held)[chunks.pieces.box]
    return np.asarray(numbers * moved * np.maximum(0, 1 - CACHE / np.maximum(of_leaf, 1)))


def _transforms(chunks: _Chunks) -> Array:
    regions = np.zeros(len(chunks.volume))
    for transform in chunks.pieces.cell.transforms:
        across = np.minimum(chunks.pieces.high, transform.high) - np.maximum(chunks.pieces.low, transform.low)
        regions += np.all(across > 0, axis=1) * transform.values
    return regions


#: Terms that don't depend on how many numbers a field value has, or that know it already.
FIXED = (
    "processes",
    "chunks",
    "neighbour chunks",
    "pole neighbours",
    "transforms",
    "transformed values",
    "transformed products",
    "memory bytes",
)
COLUMNS: dict[str, Callable[[_Chunks], Array]] = {
    "points": lambda chunks: chunks.volume * chunks.thick.all(),
    "points of planes": lambda chunks: chunks.volume * (not chunks.thick.all()),
    "rows": _rows,
    "processes": _processes,
    "chunks": lambda chunks: np.ones_like(chunks.volume),
    "neighbour chunks": _neighbours,
    "faces copied": _faces_copied,
    "row ends copied": _row_ends,
    "own faces": lambda chunks: chunks.own_faces,
    "faces of B": _faces_of_b,
    "PML 1d points": _in_pml(1),
    "PML 2d points": _in_pml(2),
    "PML 3d points": _in_pml(3),
    "magnetic points": lambda chunks: chunks.volume * chunks.share("magnetic"),
    "off-diagonal points": _off_diagonal,
    "conductive points": _conductive,
    "nonlinear points": lambda chunks: chunks.volume * chunks.share("nonlinear"),
    "polarised points": _polarised,
    "poles kept": lambda chunks: chunks.arrays * len(chunks.poles),
    "poles driven": _driven,
    "pole faces": lambda chunks: np.asarray(chunks.faces.sum(axis=1) * len(chunks.poles)),
    "own pole faces": lambda chunks: chunks.own_faces * len(chunks.poles),
    "pole neighbours": lambda chunks: _neighbours(chunks) * bool(chunks.poles),
    "transforms": _transforms,
    "transformed values": lambda chunks: chunks.pieces.transforms[0],
    "transformed products": lambda chunks: chunks.pieces.transforms[1],
    "memory bytes": _memory_bytes,
}
