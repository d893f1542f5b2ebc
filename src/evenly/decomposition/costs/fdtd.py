"""What `evenly.fdtd` does for the chunks of a cell, term by term.

A step of a chunk sweeps rows of points, whose factors are numbers where the medium is the same throughout and arrays
where it isn't; layers, polarisations, off-diagonal and nonlinear media come on top where they are; ghosts are copied
along faces, at a price that depends on how a face lies in memory; and each chunk and each of its sides costs some
microseconds whatever its size. See `evenly.fdtd.stepping.chunk` and `evenly.fdtd.stepping.kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.fdtd.point_kinds import varied
from evenly.decomposition.cells.pieces import Pieces
from evenly.decomposition.costs.fdtd_row_starts import row_starts
from evenly.decomposition.costs.program import Program, Term

__all__ = ["Fdtd", "memory_shape"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Bytes of a rank's chunks together that are in a core's own caches still at the next step.
CACHE = 2e6
#: Bytes from which on they begin to fall out of the last cache; at twice as many all of them come from memory.
LAST_CACHE = 16e6
#: Numbers in a cache line.
LINE = 8


class Fdtd(Program):
    """The embedded simulation."""

    name = "fdtd"
    terms = (
        Term("points", about="points of the sweep, ghosts at the ends of rows included"),
        Term("rows", "row", "rows of points"),
        Term("chunks", "chunk", "chunks, layers apart"),
        Term("factors", about="points of chunks whose permittivity or permeability varies or loses, each for itself"),
        Term("losses", about="points of chunks with a conductivity or absorber, electric and magnetic"),
        Term("PML 1d points"),
        Term("PML 2d points"),
        Term("PML 3d points"),
        Term("separate points", about="points of chunks whose E and H can't be swept together"),
        Term("polarised values", "value", "components of points with poles"),
        Term("polarisations", "value", "components of points times their poles"),
        Term("pole runs", "run", "unbroken rows of values with poles"),
        Term("far pole runs", "run", "those whose fields a core's own caches don't hold"),
        Term("fed values", "value", "components of points with poles in chunks with off-diagonal media"),
        Term("increments", about="points of chunks with off-diagonal media"),
        Term("nodes", "node", "points with off-diagonal media"),
        Term("node runs", "run", "unbroken rows of nodes"),
        Term("far node runs", "run", "those whose fields a core's own caches don't hold"),
        Term("fed chunks", "chunk", "chunks with off-diagonal media"),
        Term("nonlinear values", "value", "components of nonlinear points"),
        Term("transformed values", "value", "components of points that are Fourier transformed"),
        Term("transforms", "value and frequency", "those times their frequencies"),
        Term("patches", "patch", "components that are Fourier transformed, each box for itself"),
        Term("calls", "call", "calls of compiled loops beside the sweep of a chunk"),
        Term("sides", "side", "sides of chunks with ghosts"),
        Term("turned sides", "side", "sides of chunks with complex fields, whose ghosts may get a phase"),
        Term("plane faces", "face", "faces with ghosts whose neighbours lie planes apart in memory"),
        Term("row faces", "face", "those whose neighbours lie rows apart"),
        Term("row ends", "face", "those at the ends of rows"),
        Term("rows closed", "face", "ends of rows that go around a periodic cell"),
        Term("gathered values", "line", "cache lines that values which are Fourier transformed lie in"),
        Term("uncached bytes", "byte", "bytes that a step reads and writes beyond what a core's own caches hold"),
        Term("memory bytes", "byte", "those that the last cache doesn't hold"),
    )

    def amounts(self, pieces: Pieces) -> Array:
        there = pieces.volume > 0
        if not there.all():
            found = np.zeros((len(there), len(self.terms)))
            found[there] = self.amounts(_some(pieces, there))
            return found
        first, second, last, order = memory_shape(pieces)
        padded = first * second * (last + 2 * (last > 1))
        swept, nodes = _swept(pieces), _Nodes.of(pieces)
        held, moved = (8 * pieces.cell.parts * numbers for numbers in _numbers(pieces, padded, nodes))
        # Before a chunk's turn comes again, all others of its rank have had theirs.
        together: Array = np.bincount(pieces.box, held)[pieces.box].astype(np.float64)
        beyond = np.maximum(0, 1 - CACHE / together)
        extra, calls = _extras(pieces, order[:, 2], beyond, nodes)
        values, products = pieces.transforms
        sides, faces = _sides(pieces, order)
        before = [padded, first * second, *swept, *extra]
        after = [
            _patches(pieces),
            calls,
            sides,
            sides * float(pieces.cell.complex_fields),
            *faces.T,
            _gathered(pieces, order[:, 2]),
        ]
        per_part = np.stack([np.asarray(c, dtype=np.float64) for c in (*before, values, products, *after)], axis=1)
        # Transforms know already of how many numbers a complex value is.
        factors = np.full(per_part.shape[1], float(pieces.cell.parts))
        factors[len(before) : len(before) + 2] = 1
        return np.column_stack([per_part * factors, moved * beyond, moved * np.clip(together / LAST_CACHE - 1, 0, 1)])


def _some(pieces: Pieces, there: NDArray[np.bool_]) -> Pieces:
    """Some of the pieces."""
    low, high, box = pieces.low[there], pieces.high[there], pieces.box[there]
    return Pieces(pieces.cell, low, high, box, pieces.pml[there], pieces.absorber[there])


def memory_shape(pieces: Pieces) -> tuple[Array, Array, Array, Ints]:
    """Return a piece's points along its axes in memory, first to last (n,) each, and which axes those are, (n, 3).

    Rows are long and undisturbed, as `evenly.fdtd.stepping.chunk` chooses them.
    """
    shape = pieces.shape.astype(np.float64)
    whole = pieces.shape == np.array(pieces.cell.grid.shape)
    merit = np.minimum(np.minimum(shape, 4 * _reach_of_poles(pieces)) * np.where(pieces.pml, 0.25, 1.0), 64) * np.where(
        whole, 1.2, 1.0
    )
    merit = np.where(np.array(pieces.cell.grid.thin), -1.0, merit) + np.arange(3) * 1e-9
    last = np.argmax(merit, axis=1)
    order = np.stack([(last + 1) % 3, (last + 2) % 3, last], axis=1)
    first, second, third = np.take_along_axis(shape, order, axis=1).T
    return first, second, third, order


def _reach_of_poles(pieces: Pieces) -> Array:
    """Mean length of rows of points with poles along each axis, (n, 3); infinite where there are none."""
    values = pieces.count("polarised")
    rows = [_rows_of(pieces, ("polarised",), np.full(len(values), axis)) for axis in range(3)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([np.where(values > 0.5, values / np.maximum(r, 1e-9), np.inf) for r in rows], axis=1)


def _rows_of(pieces: Pieces, kinds: Sequence[str], axes: Ints) -> Array:
    """Unbroken rows of points of some kinds along an axis of each piece, (n,)."""
    survey, found = pieces.cell.survey, np.zeros_like(pieces.volume)
    for kind in kinds:
        there = pieces.count(kind) > 0.5
        for axis in range(3):
            some = np.flatnonzero(there & (axes == axis))
            if len(some):
                found[some] += row_starts(survey, kind, axis, pieces.low[some], pieces.high[some])
    return found


def _swept(pieces: Pieces) -> list[Array]:
    """The columns from chunks to separate points."""
    volume, layers = pieces.volume, pieces.pml.sum(axis=1)
    factors, losses = _factors(pieces)
    return [
        np.ones_like(volume),
        factors * volume,
        losses * volume,
        *(volume * (layers == n) for n in (1, 2, 3)),
        volume * _separate(pieces),
    ]


@dataclass(frozen=True)
class _Nodes:
    """Off-diagonal media of pieces: of how many of E and H there are increments, points of these, and nodes, (n,)."""

    fed: Array
    increments: Array
    count: Array

    @classmethod
    def of(cls, pieces: Pieces) -> _Nodes:
        there = [pieces.count(f"{side}_anisotropic") for side in ("electric", "magnetic")]
        fed = (there[0] > 0.5).astype(np.float64) + (there[1] > 0.5)
        increments = _hulls(pieces, "electric_anisotropic") + _hulls(pieces, "magnetic_anisotropic")
        return cls(fed, increments, there[0] + there[1])


def _numbers(pieces: Pieces, padded: Array, nodes: _Nodes) -> tuple[Array, Array]:
    """Numbers that a chunk holds, and those that its step reads and writes, (n,)."""
    factors, losses = _factors(pieces)
    layers, read = pieces.pml.sum(axis=1), padded * (3 * factors + 3 * losses)
    polarised, polarisations = pieces.count("polarised"), pieces.count("polarisations")
    # Strengths of poles, and what fields answer, are numbers of their own where the permittivity varies.
    own = varied(pieces) * (polarisations + polarised)
    held = read + padded * (6 + 4 * layers) + 2 * polarisations + own + 3 * nodes.increments
    # Fields and layers are read and written; of polarisations two steps are read and one is written, and their field
    # once more. Increments are made of the other field, and polarisations change them too.
    moved = read + 2 * padded * (6 + 4 * layers) + 3 * polarisations + own + 2 * polarised
    return held, moved + 9 * nodes.increments + 2 * polarised * (nodes.fed > 0)


def _extras(pieces: Pieces, rows: Ints, beyond: Array, nodes: _Nodes) -> tuple[list[Array], Array]:
    """The columns from polarised to nonlinear values, and calls of loops.

    `rows` is the axis along which rows lie, `beyond` the share of what is held that a core's own caches don't hold.
    """
    polarisations = pieces.count("polarisations")
    node_runs = _rows_of(pieces, ("electric_anisotropic", "magnetic_anisotropic"), rows)
    pole_runs = _rows_of(pieces, ("polarised",), rows)
    columns = [
        pieces.count("polarised"),
        polarisations,
        pole_runs,
        pole_runs * beyond,
        pieces.count("polarised") * (nodes.fed > 0),
        nodes.increments,
        nodes.count,
        node_runs,
        node_runs * beyond,
        nodes.fed,
        pieces.count("nonlinear values"),
    ]
    return columns, _calls(pieces) + 2 * nodes.fed


def _factors(pieces: Pieces) -> tuple[Array, Array]:
    """How many of E and H have factors point by point, and losses."""
    factors, losses = np.zeros_like(pieces.volume), np.zeros_like(pieces.volume)
    absorbing = pieces.absorber.any(axis=1)
    for side in ("electric", "magnetic"):
        lossy = absorbing | (pieces.count(f"{side}_conductivity") > 0.5)
        losses += lossy
        factors += lossy | varied(pieces, side)
    return factors, losses


def _separate(pieces: Pieces) -> NDArray[np.bool_]:
    poles = [k for k in pieces.cell.survey.kinds if k.startswith("pole magnetic ")]
    kinds = [*poles, "magnetic_anisotropic", "nonlinear"]
    return np.asarray(sum((pieces.count(kind) for kind in kinds), np.zeros_like(pieces.volume)) > 0.5)


def _hulls(pieces: Pieces, kind: str) -> Array:
    """Points of the smallest box around all of a kind in each piece, grown by one."""
    found = np.zeros_like(pieces.volume)
    there = np.flatnonzero(pieces.count(kind) > 0.5)
    if not len(there):
        return found
    column = pieces.cell.survey.kinds.index(kind)
    low, high = pieces.low[there].copy(), pieces.high[there].copy()
    for axis in range(3):
        for ends, step in ((low, 1), (high, -1)):
            ends[:, axis] = _end(pieces, column, low, high, axis, step)
    shape = np.minimum(high + 1, pieces.high[there]) - np.maximum(low - 1, pieces.low[there])
    found[there] = np.prod(shape, axis=1)
    return found


def _end(pieces: Pieces, column: int, low: Ints, high: Ints, axis: int, step: int) -> Ints:
    """Return how far boxes can be cut off from one side without losing a point of a kind, by bisection."""
    near, far = (low, high) if step > 0 else (high, low)
    kept, lost = near[:, axis].copy(), far[:, axis].copy()
    while np.any(np.abs(lost - kept) > 1):
        middle = (kept + lost) // 2
        a, b = low.copy(), high.copy()
        # What lies between the side and the middle must hold nothing.
        (b if step > 0 else a)[:, axis] = middle
        empty = pieces.cell.survey.counts(a, b)[:, column] < 0.5
        open_ = np.abs(lost - kept) > 1
        kept, lost = np.where(open_ & empty, middle, kept), np.where(open_ & ~empty, middle, lost)
    return kept


def _gathered(pieces: Pieces, rows: Ints) -> Array:
    """Cache lines that transformed values lie in: one for each value where a box is thin along the rows."""
    found, index = np.zeros_like(pieces.volume), np.arange(len(rows))
    for transform in pieces.cell.transforms:
        across = np.minimum(pieces.high, transform.high) - np.maximum(pieces.low, transform.low)
        across = np.maximum(across, 0)
        along = np.maximum(1, across[index, rows])
        found += transform.values * np.prod(across, axis=1) / along * (1 + (along - 1) / LINE)
    return found


def _patches(pieces: Pieces) -> Array:
    """Components transformed in a piece, each box for itself."""
    found = np.zeros_like(pieces.volume)
    for transform in pieces.cell.transforms:
        across = np.minimum(pieces.high, transform.high) - np.maximum(pieces.low, transform.low)
        found += transform.values * np.all(across > 0, axis=1)
    return found


def _calls(pieces: Pieces) -> Array:
    """Calls for polarisations, one per component and set of poles, and for nonlinear points."""
    kinds = [kind for kind in pieces.cell.survey.kinds if kind.startswith("pole ")]
    present = sum((pieces.count(kind) > 0.5 for kind in kinds), np.zeros_like(pieces.volume))
    polarised, polarisations = pieces.count("polarised"), pieces.count("polarisations")
    sets = np.where(present > 0, np.maximum(1, present * polarised / np.maximum(1, polarisations)), 0)
    return np.asarray(3 * sets + 9 * (pieces.count("nonlinear values") > 0.5) + 2 * _separate(pieces))


def _sides(pieces: Pieces, order: Ints) -> tuple[Array, Array]:
    """Sides that touch chunks (n,), and faces there by how they lie in memory: planes, rows, ends, closed (n, 4)."""
    cell = pieces.cell
    n, thick = np.array(cell.grid.shape), ~np.array(cell.grid.thin)
    around = np.array(cell.periodic) & thick
    below, above = (((at != end) | around) & thick for at, end in ((pieces.low, 0), (pieces.high, n)))
    touching = below.astype(np.float64) + above
    faces = np.take_along_axis(touching * (pieces.volume[:, None] / np.maximum(1, pieces.shape)), order, axis=1)
    # A row that goes around a periodic cell closes itself.
    whole = (pieces.shape == n) & around & (not cell.complex_fields)
    closed = np.take_along_axis(whole, order, axis=1)[:, 2]
    ends = faces[:, 2]
    return touching.sum(axis=1), np.stack([faces[:, 0], faces[:, 1], ends * ~closed, ends * closed], axis=1)
