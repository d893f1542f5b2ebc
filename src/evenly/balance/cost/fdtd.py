"""What `evenly.fdtd` does for the chunks of a cell, term by term.

A step of a chunk sweeps rows of points, whose factors are numbers where the medium is the same throughout and arrays
where it isn't; layers, polarisations, off-diagonal and nonlinear media come on top where they are; ghosts are copied
along faces, at a price that depends on how a face lies in memory; and each chunk and each of its sides costs some
microseconds whatever its size. See `evenly.fdtd.stepping.chunk` and `evenly.fdtd.stepping.kernels`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.balance.cost.program import Program, Term
from evenly.balance.cutting.fdtd_kinds import varied
from evenly.balance.cutting.pieces import Pieces

__all__ = ["Fdtd", "memory_shape"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


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
        Term("increments", about="points of chunks with off-diagonal media"),
        Term("nodes", "node", "points with off-diagonal media"),
        Term("nonlinear values", "value", "components of nonlinear points"),
        Term("transformed values", "value", "components of points that are Fourier transformed"),
        Term("transforms", "value and frequency", "those times their frequencies"),
        Term("sides", "side", "sides of chunks that touch chunks"),
        Term("faces across planes", "face", "faces of points whose neighbours lie planes apart in memory"),
        Term("faces across rows", "face", "those whose neighbours lie rows apart"),
        Term("faces along rows", "face", "those at the ends of rows"),
    )

    def amounts(self, pieces: Pieces) -> Array:
        first, second, last, order = memory_shape(pieces)
        volume, layers = pieces.volume, pieces.pml.sum(axis=1)
        columns = [
            first * second * (last + 2 * (last > 1)),
            first * second,
            np.ones_like(volume),
            *_factors(pieces),
            *(volume * (layers == n) for n in (1, 2, 3)),
            volume * _separate(pieces),
            pieces.count("polarised"),
            pieces.count("polarisations"),
            *_off_diagonal(pieces),
            pieces.count("nonlinear values"),
        ]
        values, products = pieces.transforms
        sides, faces = _sides(pieces, order)
        scaled = [np.asarray(c, dtype=np.float64) * pieces.cell.parts for c in columns]
        parts = np.asarray(pieces.cell.parts, dtype=np.float64)
        return np.stack([*scaled, values, products, sides * parts, *(faces.T * parts)], axis=1)


def memory_shape(pieces: Pieces) -> tuple[Array, Array, Array, Ints]:
    """Return a piece's points along its axes in memory, first to last (n,) each, and which axes those are, (n, 3).

    Rows are long and undisturbed, as `evenly.fdtd.stepping.chunk` chooses them but for thin dispersive films.
    """
    shape = pieces.shape.astype(np.float64)
    whole = pieces.shape == np.array(pieces.cell.grid.shape)
    merit = np.minimum(shape * np.where(pieces.pml, 0.25, 1.0), 64) * np.where(whole, 1.2, 1.0)
    merit = np.where(np.array(pieces.cell.grid.thin), -1.0, merit) + np.arange(3) * 1e-9
    last = np.argmax(merit, axis=1)
    order = np.stack([(last + 1) % 3, (last + 2) % 3, last], axis=1)
    first, second, third = np.take_along_axis(shape, order, axis=1).T
    return first, second, third, order


def _factors(pieces: Pieces) -> tuple[Array, Array]:
    """Points times sides (E, H) with factors point by point, and with losses."""
    factors, losses = np.zeros_like(pieces.volume), np.zeros_like(pieces.volume)
    absorbing = pieces.absorber.any(axis=1)
    for side in ("electric", "magnetic"):
        lossy = absorbing | (pieces.count(f"{side}_conductivity") > 0.5)
        losses += lossy
        factors += lossy | varied(pieces, "electric" if side == "electric" else "magnetic")
    return factors * pieces.volume, losses * pieces.volume


def _separate(pieces: Pieces) -> NDArray[np.bool_]:
    poles = [k for k in pieces.cell.survey.kinds if k.startswith("pole magnetic ")]
    kinds = [*poles, "magnetic_anisotropic", "nonlinear"]
    return np.asarray(sum((pieces.count(kind) for kind in kinds), np.zeros_like(pieces.volume)) > 0.5)


def _off_diagonal(pieces: Pieces) -> tuple[Array, Array]:
    """Points whose increments are kept, and nodes."""
    there = [pieces.count(f"{side}_anisotropic") for side in ("electric", "magnetic")]
    return pieces.volume * sum((n > 0.5 for n in there), np.zeros_like(pieces.volume)), there[0] + there[1]


def _sides(pieces: Pieces, order: Ints) -> tuple[Array, Array]:
    """Sides that touch another chunk, or the piece itself around a periodic cell (n,), and faces there (n, 3)."""
    cell = pieces.cell
    n = np.array(cell.grid.shape)
    around = np.array(cell.periodic) & ~np.array(cell.grid.thin)
    touching = ((pieces.low > 0) | around).astype(np.float64) + ((pieces.high < n) | around)
    touching = touching * ~np.array(cell.grid.thin)
    faces = touching * (pieces.volume[:, None] / np.maximum(1, pieces.shape))
    return touching.sum(axis=1), np.take_along_axis(faces, order, axis=1)
