"""Describes the surface of an object inside the boxes around grid points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOUCH", "Faces", "Piece", "dot", "meet", "moved_out", "slab", "unit_vectors"]

Array = NDArray[np.float64]
# A face nearer than this to the border of a grid point's box (in box sizes) doesn't count as cutting it (round-off).
TOUCH = 1e-7


@dataclass(frozen=True)
class Faces:
    """The surface of an object inside boxes around n points: the object fills low < normal · (x - point) < high.

    Attributes
    ----------
    normal : (n, 3)
        Unit vectors; all zero where nothing is cut.
    low, high : (n,)
        Infinite where there is no face; low >= high where the object is absent.
    flat : (n,) of bool
        Whether this slice is exactly the object's part of the box.
    aligned : (n,) of bool
        Whether all faces of the object in the box are normal to grid axes.
    """

    normal: Array
    low: Array
    high: Array
    flat: NDArray[np.bool_]
    aligned: NDArray[np.bool_]


# A piece of a solid: (low, high, absent, cut) along one direction, relative to each point, shapes (n,).
Piece = tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_]]


def slab(along: Array, half: Any, reach: Any) -> Piece:
    """Return the piece of a slab |s| <= half in boxes with centres at s = `along` that extend by ± `reach`."""
    low, high = -half - along, half - along
    near = reach * (1 - 2 * TOUCH)
    low, high = np.where(low <= -near, -np.inf, low), np.where(high >= near, np.inf, high)
    absent = (low >= near) | (high <= -near) | (low >= high)
    return low, high, absent, np.isfinite(low) | np.isfinite(high)


def meet(normals: Sequence[Array], pieces: Sequence[Piece], aligned: Sequence[Any]) -> Faces:
    """Return the faces of the intersection of pieces, each a slab across its own normal."""
    n = len(pieces[0][0])
    cuts = np.zeros(n, dtype=np.int64)
    absent = np.zeros(n, dtype=bool)
    all_aligned = np.ones(n, dtype=bool)
    normal, low, high = np.zeros((n, 3)), np.full(n, -np.inf), np.full(n, np.inf)
    for direction, (a, b, gone, cut), along_grid in zip(normals, pieces, aligned, strict=True):
        absent |= gone
        cuts += cut
        normal[cut], low[cut], high[cut] = direction[cut], a[cut], b[cut]
        all_aligned &= ~cut | along_grid
    low[absent], high[absent], normal[absent] = np.inf, -np.inf, 0.0
    return Faces(normal, low, high, absent | (cuts <= 1), all_aligned)


def moved_out(value: float, border: float, by: float) -> float:
    """Return the new position of a face at `value`: moved by `by` if it lies on the cell's `border`, else unchanged.

    Examples
    --------
    >>> moved_out(1.0, 1.0, 0.5), moved_out(-1.0, -1.0, -0.5), moved_out(0.9, 1.0, 0.5), moved_out(1.0, np.nan, 0.5)
    (1.5, -1.5, 0.9, 1.0)
    """
    return value + by if abs(value - border) < abs(by) * 1e-6 else value


def dot(left: Any, right: Any) -> Any:
    """Return the scalar product of two vectors whose components are numbers or arrays."""
    # Written out, because the rounding of a library's matrix product may depend on the arrays' shapes.
    return left[0] * right[0] + left[1] * right[1] + left[2] * right[2]


def unit_vectors(vectors: Array) -> tuple[Array, Array]:
    """Return unit vectors (n, 3) and lengths (n,) of vectors (n, 3); a zero vector gives a zero vector."""
    x, y, z = vectors.T
    norm = np.sqrt(x * x + y * y + z * z)
    return vectors / np.where(norm > 0, norm, 1.0)[:, None], norm
