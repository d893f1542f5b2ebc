"""What the kernels are told about a chunk and its media, by name.

All arrays of a chunk are flat, in memory order (axes 0, 1, 2, rows along axis 2), and include one ghost point on either
side of each axis that is not thin. Units: the speed of light is 1, E and H are in units in which 1/ε and 1/μ are 1 in
vacuum, and all factors of a curl hold dt/dx already.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "ABOVE_ROW", "CLOSED", "E_FACTORS", "H_FACTORS", "LAYERED", "LOSSY", "OPEN", "PER_POINT", "SCALAR", "THIN",
    "WALLS", "WRAPPED", "Medium", "Update",
]  # fmt: skip

# How a field's factors come: one number per component, c per point, or c and a per point.
SCALAR, PER_POINT, LOSSY = 0, 1, 2
# What lies above the last point of a row: another chunk, a wall (E = 0 there), the row's own beginning.
OPEN, CLOSED, WRAPPED = 0, 1, 2
# Where `flags` of a chunk, 11 ints, hold what: how E's and H's factors come; whether axes 0, 1, 2 cross a perfectly
# matched layer; what lies above a row; the index of the plane along axes 0, 1, 2 where a wall holds E at zero (0 where
# there is none); whether axes 0 and 1 are thin.
E_FACTORS, H_FACTORS, LAYERED, ABOVE_ROW, WALLS, THIN = 0, 1, 2, 5, 6, 9


class Medium(NamedTuple):
    """What one field of a chunk (E or H) is multiplied with, and the memory of its layers.

    Attributes
    ----------
    c, a : three flat arrays each
        Per-point factors of the curl and of the old field; length 1 where unused.
    scalar : (3,)
        Factors of the curl where they are the same everywhere.
    psi : flat array
        The six ψ of the layers' convolutions, as far as the chunk has them, one behind the other.
    offsets : (6,) ints
        Where each ψ begins: number 2 d belongs to derivative d of component d + 1, 2 d + 1 to that of component d + 2.
    profiles : three arrays (3, n_points along the axis)
        b, a and 1/κ of the layers along each axis, ghosts included.
    """

    c: Any
    a: Any
    scalar: Any
    psi: Any
    offsets: Any
    profiles: Any


class Update(NamedTuple):
    """How a sweep updates one field from the other.

    Attributes
    ----------
    D, A : three flat arrays each
        The field that changes, and the one whose curl changes it.
    c, a, scalar, psi, profiles
        As in `Medium`.
    mode : int
        `SCALAR`, `PER_POINT` or `LOSSY`.
    where, inside : (3, 5) ints, (3, 2) bools
        From `stretching.find_places`.
    strides : three ints
        From a point to the neighbour that its differences need, along axes 0, 1, 2: positive for H, negative for E.
    walls : (3,) ints
        As in the flags for E; all 0 for H, of which walls hold nothing.
    wrapped : bool
        Whether the ghost above a row is the row's own first point.
    """

    D: Any
    A: Any
    c: Any
    a: Any
    scalar: Any
    mode: Any
    psi: Any
    profiles: Any
    where: Any
    inside: Any
    strides: Any
    walls: Any
    wrapped: Any
