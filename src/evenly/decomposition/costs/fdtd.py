"""The terms of the work of `evenly.fdtd`, and their amounts in the chunks of a cell.

A step of a chunk sweeps rows of points. The factors of the sweep are numbers if the medium is the same throughout the
chunk, and arrays if it isn't. Layers, polarisations, off-diagonal and nonlinear media add further work. Ghosts are
copied along faces, at a cost that depends on the face's orientation in memory. Each chunk and each of its sides also
costs some microseconds, whatever its size. In one and two dimensions, only the components that exist are stepped, and
all amounts are those of three components of E and three of H times the share that is stepped. See
`evenly.fdtd.stepping.chunk` and `evenly.fdtd.stepping.kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.point_kinds import SIDES, site_poles_kind, varied
from evenly.decomposition.cells.pieces import Pieces
from evenly.decomposition.costs.fdtd_row_starts import row_starts
from evenly.decomposition.costs.terms import Program, Term

__all__ = ["Fdtd", "memory_order"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Bytes of all chunks of a rank that a core's own caches still hold at the next step.
CACHE = 2e6
#: Bytes of all chunks of a rank above which the last cache no longer holds all, and from which all come from memory.
#: Other programs use this cache, too, so the range is wide.
LAST_CACHE = 10e6, 40e6
#: As in `evenly.fdtd.stepping.chunk`: rows of increments may be so many points longer than needed.
WIDENED = 128
#: Numbers that a site holds, and those of each of its poles: factors, about five edges, and where it acts.
SITE, SITE_POLE = 24, 3
#: Numbers in a cache line.
LINE = 8


class Fdtd(Program):
    """The program `evenly.fdtd`."""

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
        Term("sites", "site", "sites, several at each node near a slanted surface of a dispersive medium"),
        Term("site polarisations", "value", "sites times their poles"),
        Term("fed values", "value", "components of points with poles in chunks with increments"),
        Term("increments", about="points around off-diagonal media and sites"),
        Term("nodes", "node", "points with off-diagonal media"),
        Term("node runs", "run", "unbroken rows of nodes"),
        Term("far node runs", "run", "those whose fields a core's own caches don't hold"),
        Term("fed chunks", "chunk", "chunks with increments"),
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
            kept = {name: getattr(pieces, name)[there] for name in ("low", "high", "box", "pml", "absorber")}
            found = np.zeros((len(there), len(self.terms)))
            found[there] = self.amounts(replace(pieces, **kept))
            return found
        volume, layers, order = pieces.volume, pieces.pml.sum(axis=1), memory_order(pieces)
        (share, _, poled), ghosts = _shares(pieces.cell), pieces.cell.ghost_parts / pieces.cell.parts
        first, second, last = np.take_along_axis(pieces.shape.astype(np.float64), order, axis=1).T
        padded = first * second * (last + 2 * (last > 1))
        loops, held, moved = _loops(pieces, padded, order[:, 2])
        # Between two steps of a chunk, all other chunks of its rank are stepped, so they share the caches.
        together = np.bincount(pieces.box, held)[pieces.box].astype(np.float64)
        beyond = np.maximum(0, 1 - CACHE / together)
        pole_runs = _rows_of(pieces, ("polarised",), order[:, 2])
        node_runs = _rows_of(pieces, tuple(f"{side}_anisotropic" for side in _mixed(pieces.cell)), order[:, 2])
        values, products = pieces.transforms
        patches, gathered = _patches(pieces, order[:, 2])
        sides, faces = _sides(pieces, order)
        per_part: dict[str, Any] = {
            **loops,
            "points": share * padded,
            "rows": share * first * second,
            "chunks": np.ones_like(volume),
            **{f"PML {n}d points": share * volume * (layers == n) for n in (1, 2, 3)},
            "pole runs": poled * pole_runs,
            "far pole runs": poled * pole_runs * beyond,
            "node runs": node_runs,
            "far node runs": node_runs * beyond,
            "patches": patches,
            "sides": ghosts * sides,
            "turned sides": ghosts * sides * float(pieces.cell.complex_fields),
            **{name: ghosts * face for name, face in faces.items()},
            "gathered values": gathered,
        }
        parts = pieces.cell.parts
        columns = {name: parts * np.asarray(column, np.float64) for name, column in per_part.items()}
        # These amounts already include the factor `parts` of complex fields.
        columns |= {"transformed values": values, "transforms": products, "uncached bytes": moved * beyond}
        columns["memory bytes"] = moved * np.interp(together, LAST_CACHE, (0, 1))
        return np.stack([columns[term.name] for term in self.terms], axis=1)


def _loops(pieces: Pieces, padded: Array, last: Ints) -> tuple[dict[str, Any], Array, Array]:
    """Return the amounts that the compiled loops of each piece depend on, by term, and bytes, each (n,).

    The bytes are those that a chunk holds, and those that its step reads and writes. `padded` (n,) are the points with
    the ghosts at both ends of every row; rows lie along the axes `last` (n,).
    """
    volume, layers, number = pieces.volume, pieces.pml.sum(axis=1), 8 * pieces.cell.parts
    # Numbers of fields (of E and H) with factors point by point, with losses, and with increments.
    varies = [varied(pieces, side) for side in SIDES]
    lossy = [pieces.absorber.any(axis=1) | (pieces.count(f"{side}_conductivity") > 0.5) for side in SIDES]
    share, each, poled = _shares(pieces.cell)
    factors = np.sum([n * (a | b) for n, a, b in zip(each, lossy, varies, strict=True)], axis=0)
    losses = np.sum([n * a for n, a in zip(each, lossy, strict=True)], axis=0)
    mixed = _mixed(pieces.cell)
    nodes, sites, site_polarisations = (
        np.sum([np.zeros(len(padded)), *(pieces.count(kind(side)) for side in mixed)], axis=0)
        for kind in ("{}_anisotropic".format, "{}_sites".format, site_poles_kind)
    )
    hulls = [_hulls(pieces, (f"{side}_anisotropic", f"{side}_sites"), last) for side in mixed]
    with_increments = np.sum([np.zeros(len(padded)), *(hull > 0 for hull in hulls)], axis=0)
    shares = [n for side, n in zip(SIDES, each, strict=True) if side in mixed]
    increments = np.sum([np.zeros(len(padded)), *(n * hull for n, hull in zip(shares, hulls, strict=True))], axis=0)
    poles = [kind for kind in pieces.cell.survey.kinds if kind.startswith("pole ")]
    magnetic = [kind for kind in poles if kind.startswith("pole magnetic ")]
    apart = [pieces.count(kind) for kind in (*magnetic, "magnetic_anisotropic", "nonlinear")]
    separate = np.sum(apart, axis=0) > 0.5
    # The rough survey of a small box may take more from it than there is.
    polarised, polarisations = (poled * np.maximum(0, pieces.count(kind)) for kind in ("polarised", "polarisations"))
    nonlinear = each[0] * pieces.count("nonlinear values")
    # Calls for polarisations (one per component and set of poles), for nonlinear points, and for increments.
    present = np.sum([np.zeros(len(padded)), *(pieces.count(kind) > 0.5 for kind in poles)], axis=0)
    sets = np.where(present > 0, np.maximum(1, present * polarised / np.maximum(1, polarisations)), 0)
    amounts = {
        "factors": factors * volume,
        "losses": losses * volume,
        "separate points": share * volume * separate,
        "polarised values": polarised,
        "polarisations": polarisations,
        "sites": sites,
        "site polarisations": site_polarisations,
        "fed values": polarised * (with_increments > 0),
        "increments": increments,
        "nodes": nodes,
        "fed chunks": with_increments,
        "nonlinear values": nonlinear,
        "calls": 3 * poled * sets + 9 * (nonlinear > 0.5) + 2 * separate + 2 * with_increments,
    }
    # `read`: numbers that are only read. Where ε varies, each point also holds its own pole strengths and response.
    read, own = padded * (3 * factors + 3 * losses), varies[0] * (polarisations + polarised)
    at_sites = SITE * sites + SITE_POLE * site_polarisations
    held = read + share * padded * (6 + 4 * layers) + 2 * polarisations + own + 3 * increments + at_sites
    # Fields and layers are read and written. For polarisations, two time steps are read and one is written, and their
    # field is read and written once more. Increments are computed from the other field, are fetched before they are
    # written, and are read again with their field; polarisations change them too.
    moved = read + 2 * share * padded * (6 + 4 * layers) + 3 * polarisations + own + 2 * polarised
    moved = moved + at_sites + 15 * increments + 2 * polarised * (with_increments > 0)
    return amounts, number * held, number * moved


def _shares(cell: Cell) -> tuple[float, tuple[float, float], float]:
    """Return the shares of components that are stepped: of all six, of those of E and of H, of those with poles."""
    stepped, electric = cell.traits.get("components", 6.0), cell.traits.get("electric components", 3.0)
    share, each = stepped / 6, (electric / 3, (stepped - electric) / 3)
    magnetic = any(kind.startswith("pole magnetic ") for kind in cell.survey.kinds)
    return share, each, share if magnetic else each[0]


def _mixed(cell: Cell) -> list[str]:
    """Return the sides whose off-diagonal elements couple components that are stepped."""
    return [side for side in SIDES if cell.traits.get(f"{side} increments", 1.0)]


def memory_order(pieces: Pieces) -> Ints:
    """Return the axes of each piece in memory order, slowest first, (n, 3).

    Rows lie along the last of these axes. It is chosen, as in `evenly.fdtd.stepping.chunk`, such that rows are long and
    aren't interrupted by layers and poles.
    """
    shape, polarised = pieces.shape.astype(np.float64), pieces.count("polarised")
    runs = [_rows_of(pieces, ("polarised",), np.full(len(shape), axis)) for axis in range(3)]
    # Mean length of rows of points with poles along each axis, (n, 3).
    mean_runs = np.stack([np.where(polarised > 0.5, polarised / np.maximum(r, 1e-9), np.inf) for r in runs], axis=1)
    merit = np.minimum(np.minimum(shape, 4 * mean_runs) * np.where(pieces.pml, 0.25, 1.0), 64)
    merit *= np.where(pieces.shape == np.array(pieces.cell.grid.shape), 1.2, 1.0)
    merit = np.where(np.array(pieces.cell.grid.thin), -1.0, merit) + np.arange(3) * 1e-9
    last = np.argmax(merit, axis=1)
    return np.stack([(last + 1) % 3, (last + 2) % 3, last], axis=1)


def _rows_of(pieces: Pieces, kinds: Sequence[str], axes: Ints) -> Array:
    """Return the number of unbroken rows of points of some kinds along each piece's axis (n,), (n,)."""
    survey, found = pieces.cell.survey, np.zeros_like(pieces.volume)
    for kind in kinds:
        there = pieces.count(kind) > 0.5
        for axis in range(3):
            some = np.flatnonzero(there & (axes == axis))
            if len(some):
                found[some] += row_starts(survey, kind, axis, pieces.low[some], pieces.high[some])
    return found


def _hulls(pieces: Pieces, kinds: Sequence[str], last: Ints) -> Array:
    """Return the points of the bounding box of all points of some kinds in each piece, grown by one point, (n,).

    As in `evenly.fdtd.stepping.chunk`, its rows, along the axes `last` (n,), are as long as the piece's if little is
    missing.
    """
    found = np.zeros_like(pieces.volume)
    there = np.flatnonzero(np.any([pieces.count(kind) > 0.5 for kind in kinds], axis=0))
    if not len(there):
        return found
    columns = [n for n, kind in enumerate(pieces.cell.survey.kinds) if kind in kinds]
    low, high = pieces.low[there].copy(), pieces.high[there].copy()
    for axis in range(3):
        for ends, step in ((low, 1), (high, -1)):
            ends[:, axis] = _end(pieces, columns, low, high, axis, step)
    shape = np.minimum(high + 1, pieces.high[there]) - np.maximum(low - 1, pieces.low[there])
    rows, at = np.arange(len(there)), last[there]
    whole = pieces.shape[there, at]
    shape[rows, at] = np.where(whole - shape[rows, at] <= WIDENED, whole, shape[rows, at])
    found[there] = np.prod(shape, axis=1)
    return found


def _end(pieces: Pieces, columns: list[int], low: Ints, high: Ints, axis: int, step: int) -> Ints:
    """Return the grid index (n,) up to which boxes can be cut off from one side without losing a point of some kinds.

    The side is the low one for `step` > 0, else the high one; the index is found by bisection.
    """
    near, far = (low, high) if step > 0 else (high, low)
    kept, lost = near[:, axis].copy(), far[:, axis].copy()
    while np.any(np.abs(lost - kept) > 1):
        middle = (kept + lost) // 2
        a, b = low.copy(), high.copy()
        # The part between the side and the middle must hold no such point.
        (b if step > 0 else a)[:, axis] = middle
        empty = np.all(pieces.cell.survey.counts(a, b)[:, columns] < 0.5, axis=1)
        open_ = np.abs(lost - kept) > 1
        kept, lost = np.where(open_ & empty, middle, kept), np.where(open_ & ~empty, middle, lost)
    return kept


def _patches(pieces: Pieces, rows: Ints) -> tuple[Array, Array]:
    """Return the components transformed in each piece, summed over transform boxes, and their cache lines, each (n,).

    Rows lie along the axes `rows` (n,). A cache line holds `LINE` values of a row; if a box is thin along the rows,
    every value has its own line.
    """
    patches, lines, index = np.zeros_like(pieces.volume), np.zeros_like(pieces.volume), np.arange(len(rows))
    for transform in pieces.cell.transforms:
        across = np.maximum(np.minimum(pieces.high, transform.high) - np.maximum(pieces.low, transform.low), 0)
        patches += transform.values * np.all(across > 0, axis=1)
        along = np.maximum(1, across[index, rows])
        lines += transform.values * np.prod(across, axis=1) / along * (1 + (along - 1) / LINE)
    return patches, lines


def _sides(pieces: Pieces, order: Ints) -> tuple[Array, dict[str, Array]]:
    """Return the number of sides with ghosts (n,), and the faces there by orientation in memory, by term, each (n,).

    The four kinds are faces across the slowest axis, across the second, at the ends of rows, and at the ends of rows
    that close on themselves.
    """
    cell = pieces.cell
    n, thick = np.array(cell.grid.shape), ~np.array(cell.grid.thin)
    around = np.array(cell.periodic) & thick
    below, above = (((at != end) | around) & thick for at, end in ((pieces.low, 0), (pieces.high, n)))
    touching = below.astype(np.float64) + above
    faces = np.take_along_axis(touching * (pieces.volume[:, None] / np.maximum(1, pieces.shape)), order, axis=1)
    # A row that spans a periodic cell closes on itself.
    whole = (pieces.shape == n) & around & (not cell.complex_fields)
    closed = np.take_along_axis(whole, order, axis=1)[:, 2]
    across = (faces[:, 0], faces[:, 1], faces[:, 2] * ~closed, faces[:, 2] * closed)
    names = ("plane faces", "row faces", "row ends", "rows closed")
    return touching.sum(axis=1), dict(zip(names, across, strict=True))
