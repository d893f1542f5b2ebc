"""Surfaces of dispersive media at any angle: the response of the field at nodes, direction by direction.

The averages of `smoothing` depend on the frequency if ε does, and near a metal's surface they have poles and zeros of
their own: 1/ε of the tangential field is infinite where the mean of ε is 0. If such an average is taken apart, with
each element where it belongs on Yee's grid, its infinite parts no longer fit together, and the surface absorbs far too
much. So here the whole matrix acts at one place, the node. As in G. R. Werner and J. R. Cary, J. Comput. Phys. 226,
1085 (2007), D is averaged from the two edges along each axis to the node, and each edge gets half of the node's E. But
here this is done with the diagonal elements, too. The matrix is that of A. Farjadpour et al., Opt. Lett. 31, 2972
(2006), which A. Deinega and I. Valuev, Opt. Lett. 32, 3429 (2007), use for dispersive media:

    E = n <1/ε(f)> n·D + (1 - n n) <ε(f)>^-1 D.

Means are those over the box of two grid spacings that the averaged edges fill. A *site* is a direction d at a node, or
a medium's part of it, with a field e of its own that poles act on as in a homogeneous medium:

    ε e + P = d·D,  P'' + γ P' + ω² P = σ ω² e  for each pole,   E += d (scale e + rest d·D).

- Along the surface, e is the same in all media: ε and σ are means, scale = 1.
- Along the normal, D is the same in all media: there is a site for each dispersive medium, with its own ε and σ and
  its share of the box as scale. `rest` is the part of the other media.
- An edge of which just one node has sites keeps half of what it would be without them. If its medium is dispersive,
  this half is a site as well.

Each site stores energy and loses some, as a homogeneous medium does, and what it gives to the edges is what it takes
from them. So the whole is stable with the same time step as its media.

If E runs along the surface, errors fall with the square of the grid spacing. If it crosses the surface, they fall more
slowly: what a metal cylinder absorbs, with the power 0.4 to 1.4, by the metal's ε (``benchmarks/fdtd_cylinder.py``).

>>> from evenly.fdtd.cell.grid import Grid
>>> from evenly.fdtd.media.materials import DrudePole, Medium
>>> from evenly.fdtd.media.solids import Sphere
>>> from evenly.fdtd.media.structure import Structure
>>> ball = Sphere(radius=0.6, material=Medium(electric_poles=[DrudePole(1.0)]))
>>> structure = Structure(Grid((2.0, 2.0, 0.0), 10), [ball])
>>> sites = structure.sample(structure.grid.box).electric.sites
>>> bool(sites.scale.max() <= 1), [int(ends.max()) for ends in sites.ends]
(True, [2, 2, 0])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.media.fractions import Mixture, total
from evenly.fdtd.media.materials import Pole
from evenly.fdtd.media.painting import Lattice
from evenly.fdtd.media.palette import Palette
from evenly.fdtd.media.smoothing import surface_frame
from evenly.fdtd.media.solids import GeometricObject

__all__ = ["WIDTH", "Sites", "half_sites", "joined", "node_sites"]

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
# The boxes' edge length in grid spacings.
WIDTH = 2
# Kinds of sites: three directions at a node, halves of edges along three axes, and one kind for each medium.
_HALVES, _MEDIA = 3, 6
_COLUMNS = ("place", "kind", "direction", "inverse", "scale", "rest")


@dataclass(frozen=True)
class Sites:
    """The sites of E (or H) in a box of grid points; see the module for the terms.

    Attributes
    ----------
    place : (n, 3) ints
        Global indices of the node (E) or centre (H); of the edge for `halves`.
    kind : (n,) ints
        Tells the sites of a place apart.
    direction : (n, 3)
        Unit vectors.
    inverse, scale, rest : (n,)
        1/ε of the site's own field, and what the edges get.
    strengths : dict of unit pole to (n,)
    ends : three arrays of int (box.shape)
        How many of its two nodes have sites, for each point along x, y, z.
    """

    place: Ints
    kind: Ints
    direction: Array
    inverse: Array
    scale: Array
    rest: Array
    strengths: dict[Pole, Array]
    ends: tuple[Ints, ...] = ()

    @property
    def halves(self) -> Bools:
        """Which sites are those of half an edge, (n,)."""
        return (self.kind >= _HALVES) & (self.kind < _MEDIA)

    def chosen(self, rows: Bools | Ints) -> Sites:
        """Return some of the sites."""
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, **columns, strengths={pole: values[rows] for pole, values in self.strengths.items()})


def joined(parts: Sequence[Sites], ends: tuple[Ints, ...] = ()) -> Sites:
    """Return several lists of sites as one."""
    columns: dict[str, Any] = {name: np.concatenate([getattr(p, name) for p in parts]) for name in _COLUMNS}
    strengths = {
        pole: np.concatenate([p.strengths.get(pole, np.zeros(len(p.kind))) for p in parts])
        for pole in dict.fromkeys(pole for p in parts for pole in p.strengths)
    }
    return Sites(**columns, strengths=strengths, ends=ends)


def node_sites(
    tables: Palette, objects: Sequence[GeometricObject], lattice: Lattice, box: Box, allowed: Box, thin: Sequence[bool]
) -> Sites | None:
    """Return the sites of the nodes in a box; None if there are none.

    Nodes have sites if a slanted surface of a dispersive medium is near and all media there are scalar and neither
    conduct nor are nonlinear.

    Parameters
    ----------
    tables : Palette
    objects : sequence
        In the order of painting.
    lattice : Lattice
        The nodes, painted with boxes of `WIDTH`.
    box : Box
        Their global indices.
    allowed : Box
        Where sites may be: not in absorbers.
    thin : three bools
        Axes along which nothing varies; fields along them need no sites.
    """
    slanted = np.array([thing.slanted for thing in objects])
    parts: list[Sites] = []
    for mixture in lattice.mixtures:
        medium, filled = tables.medium[mixture.owner], mixture.share > 0
        there = np.any(filled & slanted[mixture.owner], axis=1) & np.any(filled & tables.dispersive[medium], axis=1)
        there &= np.all(tables.scalar[medium] | ~filled, axis=1)
        place = np.stack(np.unravel_index(lattice.where[mixture.rows], box.shape), axis=1) + np.array(box.lo)
        there &= np.all((place >= allowed.lo) & (place < allowed.hi), axis=1)
        if there.any():
            some = Mixture(mixture.rows[there], mixture.owner[there], mixture.share[there], mixture.normal[there])
            parts += _of_mixture(tables, some, place[there])
    if not parts:
        return None
    found = joined(parts)
    # Along thin axes, the plain means are exact.
    found.direction[:, list(thin)] = 0
    found = found.chosen(np.any(found.direction, axis=1))
    mask = np.zeros(box.shape, dtype=np.intp)
    mask[tuple((found.place - box.lo).T)] = 1
    return joined([found], (mask,))


def _of_mixture(tables: Palette, mixture: Mixture, place: Ints) -> Iterator[Sites]:
    medium, share = tables.medium[mixture.owner], mixture.share
    epsilon, n = tables.matrix[medium, 0, 0], len(place)
    inverse = 1 / total(share * epsilon)
    means = {pole: total(share * table[medium, 0]) for pole, table in tables.poles.items()}
    frame = [np.stack(vector, axis=1) for vector in surface_frame(mixture.normal)]
    known = np.any(mixture.normal, axis=1)
    for kind, direction in enumerate(frame):
        along = Sites(place, np.full(n, kind), direction, inverse, np.ones(n), np.zeros(n), means)
        yield along if kind else along.chosen(~known)
    parts = {m: total(np.where(medium == m, share, 0.0)) for m in np.flatnonzero(tables.dispersive)}
    dispersive = sum(parts.values())
    others = total(np.where(tables.dispersive[medium], 0.0, share / epsilon))
    for m, part in parts.items():
        own = {pole: np.full(n, table[m, 0]) for pole, table in tables.poles.items()}
        inside = np.full(n, tables.inverse[m, 0, 0])
        rest = others * part / dispersive
        yield Sites(place, np.full(n, _MEDIA + m), frame[0].copy(), inside, part, rest, own).chosen(known & (part > 0))


def half_sites(ends: Ints, box: Box, axis: int, inverse: Array | float, poles: Mapping[Pole, Sequence[Any]]) -> Sites:
    """Return the sites on edges along an axis that have just one node with sites, and poles.

    Parameters
    ----------
    ends : (box.shape) ints
        As in `Sites`, for the axis.
    box : Box
    axis : int
    inverse : float or array (box.shape)
        1/ε on the edges.
    poles : dict of pole to three of None, float or array (box.shape)
        Strengths along x, y, z.
    """
    along = {pole: three[axis] for pole, three in poles.items()}
    full = {pole: np.broadcast_to(0.0 if s is None else s, box.shape) for pole, s in along.items()}
    there = (ends == 1) & (sum(values != 0 for values in full.values()) > 0)
    place, n = np.argwhere(there), int(there.sum())
    own, direction = np.broadcast_to(inverse, box.shape)[there], np.zeros((n, 3))
    direction[:, axis] = 1
    strengths = {pole: values[there] for pole, values in full.items()}
    # The sweep gives the edge the whole of 1/ε, of which the nodes take their half: left are the poles of this half.
    return Sites(place + box.lo, np.full(n, _HALVES + axis), direction, own, np.full(n, 0.5), -0.5 * own, strengths)
