"""Sets E at walls to zero and the ghost points at the ends of rows, and keeps points there that a run must not change.

A wall is a perfect conductor: the components of E along it are zero (K. S. Yee, IEEE Trans. Antennas Propag. 14, 302
(1966)).
"""

from __future__ import annotations

from evenly.compiling import njit_leaf

__all__ = ["copy_ends", "finish_row", "finish_rows", "hold"]


@njit_leaf(cache=True, nogil=True)
def finish_rows(D0, D1, D2, shape, walls, wrapped, i, j, rows):
    """Set E at walls to zero on `rows` rows of plane i, from row j on, and reset the ghosts at their ends.

    A run covers the ghosts between its rows, so they hold meaningless values before the reset.

    Parameters
    ----------
    D0, D1, D2 : flat arrays
    shape : (3,) ints
        Points with ghosts.
    walls, wrapped
        As in `arguments.Update`.
    """
    sy = shape[2]
    at_x, at_z = walls[0] != 0 and i == walls[0], walls[2] != 0
    for r in range(j, j + rows):
        at_y = walls[1] != 0 and r == walls[1]
        o = (i * shape[1] + r) * sy
        finish_row(D0, o, sy, at_y, at_z, wrapped)
        finish_row(D1, o, sy, at_x, at_z, wrapped)
        finish_row(D2, o, sy, at_x or at_y, False, wrapped)


@njit_leaf(cache=True, nogil=True)
def finish_row(F, o, sy, whole, first, wrapped):
    """Set a row of E (if `whole`) or its first point (if `first`) to zero, and reset the ghosts at its ends."""
    last = o + sy - 1
    if whole:
        for k in range(o + 1, last):
            F[k] = 0
    if first:
        F[o + 1] = 0
    F[o] = 0
    F[last] = F[o + 1] if wrapped else 0


@njit_leaf(cache=True, nogil=True)
def copy_ends(kept, D0, D1, D2, psi, where, inside, run, ends, back):
    """Store the field and ψ at the first or last point of a run's rows in `kept`, or restore them (`back`).

    Parameters
    ----------
    kept : flat array
        Per row and end: three field components, then two ψ of each component.
    run : three ints
        Flat index of the first row, points of a row, number of rows.
    ends : two ints
        Column of the point at either end; negative if it isn't stored.
    """
    row, sy, rows = run
    for r in range(rows):
        for side in range(2):
            if ends[side] < 0:
                continue
            o, at = row + r * sy + ends[side], 18 * r + 9 * side
            if back:
                D0[o], D1[o], D2[o] = kept[at], kept[at + 1], kept[at + 2]
            else:
                kept[at], kept[at + 1], kept[at + 2] = D0[o], D1[o], D2[o]
            for component in range(3):
                for which in range(2):
                    if not inside[component][which]:
                        continue
                    p, slot = where[component][which] + o, at + 3 + 2 * component + which
                    if back:
                        psi[p] = kept[slot]
                    else:
                        kept[slot] = psi[p]


@njit_leaf(cache=True, nogil=True)
def hold(D, shape, box, walls):
    """Set E, or its increments, to zero at walls within a box (first index, one past the last)."""
    if walls[0] == 0 and walls[1] == 0 and walls[2] == 0:
        return
    D0, D1, D2 = D
    for i in range(box[0][0], box[1][0]):
        for j in range(box[0][1], box[1][1]):
            at_x, at_y = walls[0] != 0 and i == walls[0], walls[1] != 0 and j == walls[1]
            o = (i * shape[1] + j) * shape[2]
            for k in range(box[0][2], box[1][2]):
                at_z = walls[2] != 0 and k == walls[2]
                if at_y or at_z:
                    D0[o + k] = 0
                if at_x or at_z:
                    D1[o + k] = 0
                if at_x or at_y:
                    D2[o + k] = 0
