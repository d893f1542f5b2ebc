"""Named arguments of the kernels: constants, and tuples that describe a chunk and its media.

All arrays of a chunk are flat, in memory order (axes 0, 1, 2; rows lie along axis 2). They include one ghost point at
either end of each axis that is not thin. Units: the speed of light is 1, E and H are in units in which 1/ε and 1/μ are
1 in vacuum. All factors of a curl already contain dt/dx.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "ABOVE_ROW", "BLOCK", "CLOSED", "E_FACTORS", "E_STEPPED", "H_FACTORS", "H_STEPPED", "LAYERED", "LOSSY", "OPEN",
    "PER_POINT", "SCALAR", "THIN", "WALLS", "WRAPPED", "Medium", "Update",
]  # fmt: skip

# At most so many steps are done at once. Amplitudes of sources are worked out for as many, always for the same ones
# together, those of a block: it begins at a multiple. So no value depends on how many steps are done at once.
BLOCK = 64
# Form of a field's factors: one number per component, c per point, or c and a per point.
SCALAR, PER_POINT, LOSSY = 0, 1, 2
# Neighbour above the last point of a row: another chunk, a wall (E = 0 there), or the row's own first point.
OPEN, CLOSED, WRAPPED = 0, 1, 2
# Positions in a chunk's `flags` (17 ints): form of the factors of E (1 int) and of H (1); whether axes 0, 1, 2 cross a
# perfectly matched layer (3); neighbour above a row (1); index of the plane along axes 0, 1, 2 where a wall holds E at
# zero, 0 if there is none (3); whether axes 0 and 1 are thin (2); which components of E (3) and of H (3) are stepped
# (the others are zero everywhere).
E_FACTORS, H_FACTORS, LAYERED, ABOVE_ROW, WALLS, THIN, E_STEPPED, H_STEPPED = 0, 1, 2, 5, 6, 9, 11, 14


class Medium(NamedTuple):
    """The update factors of one field (E or H) of a chunk, and the convolutions ψ of its perfectly matched layers.

    Attributes
    ----------
    c, a : three flat arrays each
        Per-point factors of the curl and of the old field; length 1 where unused.
    scalar : (3,)
        Factors of the curl if they are the same everywhere.
    psi : flat array
        The ψ of the layers' convolutions, up to six, concatenated. Only those that the chunk needs are present.
    offsets : (6,) ints
        Start of each ψ in `psi`. Number 2 d belongs to the derivative along axis d of component d + 1, and number
        2 d + 1 to the derivative along axis d of component d + 2 (components modulo 3).
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
        The field that is updated, and the field whose curl updates it.
    c, a, scalar, psi, profiles
        As in `Medium`.
    mode : int
        `SCALAR`, `PER_POINT` or `LOSSY`.
    where, inside : tuples
        From `stretching.find_places`.
    strides : three ints
        Flat distance from a point to the neighbour in its differences, along axes 0, 1, 2: positive for H, negative
        for E.
    walls : three ints
        As in the flags for E; all 0 for H, since walls set no component of H to zero.
    wrapped : bool
        Whether the ghost above a row is the row's own first point.
    stepped : three bools
        Whether each component of `D` is updated.
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
    stepped: Any
