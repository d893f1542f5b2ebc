"""The (min,+) convolution of two fronts: the front of two parts in turn, each on its own cores.

The best time with p cores is the minimum of ``a(q) + b(p - q)`` over all divisions q. The method depends on the shapes,
with P totals and K_a, K_b points on the fronts:

* both convex: the fronts' steps are merged, the steeper one first (a Minkowski sum), O(P);
* one convex: the best q is monotone in p, since the matrix of all sums is totally monotone, O(P log P);
* neither convex: one front is cut into convex pieces if few pieces are enough. Otherwise all pairs are computed,
  O(K_a K_b), which suits counts in blocks (whole nodes).

A curve counts as convex if it lies within a relative 1e-13 of its lower convex hull, since rounding errors bend
straight lines. Results are exact to this relative tolerance.

Source: A. Aggarwal, M. M. Klawe, S. Moran, P. Shor and R. Wilber, "Geometric applications of a matrix-searching
algorithm", Algorithmica 2 (1987) 195-208, for totally monotone matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.balancers import kernels
from evenly.allocation.problem.curves import Front
from evenly.errors import InputError

__all__ = ["convolve", "divide"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CONVEX_TOLERANCE = 1e-13
_TOO_MANY_STEPS = 2e11


class _Convex(NamedTuple):
    """A convex curve on consecutive grid points from `start`: values and their hull, each (n,)."""

    start: int
    seconds: Floats
    hull: Floats


def convolve(a: Front, b: Front, limit: int) -> Front:
    """Return the front of two parts in turn on own cores, for totals up to `limit`.

    Raises
    ------
    InputError
        If neither front is convex and both are too long to compute all pairs.

    Examples
    --------
    >>> a = Front(np.array([1, 2, 3]), np.array([6.0, 3.0, 2.0]))
    >>> convolve(a, a, 6)
    Front(cores=array([2, 3, 4, 5, 6]), seconds=array([12.,  9.,  6.,  5.,  4.]))
    """
    if not len(a.cores) or not len(b.cores) or a.cores[0] + b.cores[0] > limit:
        return Front(a.cores[:0], a.seconds[:0])
    # Both fronts on one grid, counts = start + step * grid point. So counts in whole nodes give a small grid.
    start = int(a.cores[0] + b.cores[0])
    step = _step(a, b, limit - start)
    grid_a, grid_b = (a.cores - a.cores[0]) // step, (b.cores - b.cores[0]) // step
    size = min((limit - start) // step, int(grid_a[-1] + grid_b[-1])) + 1
    values = _values(grid_a, a.seconds, grid_b, b.seconds, size)
    return Front.of(start + step * np.arange(len(values)), values)


def divide(a: Front, b: Front, cores: Ints) -> tuple[Ints, Ints]:
    """Return the cores of both parts, each (n,), that give the best time for totals `cores` (n,)."""
    own = np.empty(len(cores), dtype=np.int64)
    for k, total in enumerate(cores):
        # Only divisions in which the first part gets enough cores to run.
        room = int(np.searchsorted(b.cores, total - a.cores[0], side="right"))
        own[k] = b.cores[int(np.argmin(a.at(total - b.cores[:room]) + b.seconds[:room]))]
    return np.asarray(cores) - own, own


def _step(a: Front, b: Front, longest: int) -> int:
    gaps = np.concatenate([np.diff(a.cores), np.diff(b.cores)])
    return int(np.gcd.reduce(gaps)) if len(gaps) else max(longest, 1)


def _values(ca: Ints, ta: Floats, cb: Ints, tb: Floats, size: int) -> Floats:
    """Return the convolution (size,) of two fronts given on grid points, by the method that fits their shapes."""
    convex_a, convex_b = _as_convex(ca, ta), _as_convex(cb, tb)
    if convex_a and convex_b:
        return np.asarray(kernels.merge_convex(ta, convex_a.hull, tb, convex_b.hull, size - 1), dtype=np.float64)
    out = np.full(size, np.inf)
    if convex_a:
        _lower_by_piece(convex_a, cb, tb, out)
    elif convex_b:
        _lower_by_piece(convex_b, ca, ta, out)
    else:
        _by_pieces_or_pairs((ca, ta), (cb, tb), out)
    return out


def _by_pieces_or_pairs(a: tuple[Ints, Floats], b: tuple[Ints, Floats], out: Floats) -> None:
    # A piece takes O((P + K) log P), so with more than `most` pieces it is cheaper to compute all pairs.
    pairs = float(len(a[0])) * len(b[0])
    per_piece = (len(out) + max(len(a[0]), len(b[0]))) * np.log2(len(out) + 2)
    most = int(min(pairs / per_piece, 4096))
    for one, other in ((a, b), (b, a)):
        pieces = _convex_pieces(*one, most) if most >= 2 else None
        if pieces is not None:
            for piece in pieces:
                _lower_by_piece(piece, *other, out)
            return
    if pairs > _TOO_MANY_STEPS:
        raise InputError(
            f"two irregular curves of {len(a[0])} and {len(b[0])} steps in turn are too long to try all pairs: "
            "give counts in blocks, as in limits={…: Limits(multiple=cores per node)}"
        )
    kernels.sum_pairs(*a, *b, out)


def _lower_by_piece(piece: _Convex, cores: Ints, seconds: Floats, out: Floats) -> None:
    kernels.minima_monotone(piece.seconds, piece.hull, piece.start, cores, seconds, out)


def _as_convex(cores: Ints, seconds: Floats) -> _Convex | None:
    if int(cores[-1] - cores[0]) != len(cores) - 1:
        return None
    hull = kernels.hull_values(cores, seconds)
    if np.any(seconds - hull > _CONVEX_TOLERANCE * seconds):
        return None
    return _Convex(int(cores[0]), seconds, hull)


def _convex_pieces(cores: Ints, seconds: Floats, most: int) -> list[_Convex] | None:
    """Return at most `most` convex pieces of a curve, cut where it is farthest from its hull; None if that fails."""
    # A piece lies on consecutive grid points, so every gap in the grid is a cut.
    breaks = np.flatnonzero(np.diff(cores) != 1) + 1
    if len(breaks) >= most:
        return None
    waiting = [(int(s), int(e)) for s, e in zip([0, *breaks], [*breaks, len(cores)], strict=True)]
    pieces: list[_Convex] = []
    while waiting:
        if len(pieces) + len(waiting) > most:
            return None
        start, end = waiting.pop()
        hull = kernels.hull_values(cores[start:end], seconds[start:end])
        excess = (seconds[start:end] - hull) / seconds[start:end]
        worst = int(np.argmax(excess))
        if excess[worst] <= _CONVEX_TOLERANCE:
            pieces.append(_Convex(int(cores[start]), seconds[start:end], hull))
        else:
            waiting += [(start, start + worst), (start + worst, end)]
    return pieces
