"""What one field of a chunk is multiplied with, and the extra arrays its media need: nothing that isn't there.

Everything here is in memory order (see `frame`); `builder` makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.stepping.frame import Array, Runs

__all__ = ["Edges", "FieldCoefficients", "Nodes", "NonlinearPoints", "PoleGroup", "SiteArrays"]


@dataclass
class PoleGroup:
    """Poles of one component that act at the same points; polarisations are packed run after run.

    Attributes
    ----------
    component : int
        0, 1, 2 in memory order.
    runs : (n_runs, 3) ints
    factors : (n_poles, 3)
    strengths : (n_poles, n_points or 1)
    weights : (n_points,) or (1,)
    now, before : per part, (n_poles, n_points)
    names : tuple of hashables
        Which pole each row is.
    """

    component: int
    runs: Runs
    factors: Array
    strengths: Array
    weights: Array
    now: list[Array]
    before: list[Array]
    names: tuple[Any, ...]

    @property
    def points(self) -> int:
        """Points at which the poles act."""
        return int(self.runs[:, 1].sum())


@dataclass
class Nodes:
    """Nodes with off-diagonal elements, in memory order.

    Attributes
    ----------
    runs : (n_runs, 6) ints
        As `kernels.anisotropy.apply_nodes` wants them.
    elements : (3, n_nodes)
        yz, zx, xy.
    edge_factors : three flat arrays
        What each edge multiplies its increment with; length 1 where that is dt/dx everywhere.
    touched : list of Box
        Hulls of the nodes in each slab, in user order. Node i lies between E's edges i-1 and i along their own axis;
        centre i, which is H's node, between H's faces i and i+1.
    """

    runs: Runs
    elements: Array
    edge_factors: tuple[Array, Array, Array]
    touched: list[Box] = field(default_factory=list)


@dataclass
class NonlinearPoints:
    """Nonlinear points of one component, packed; `now`, `before` and `kept` are what the solver keeps."""

    component: int
    runs: Runs
    epsilon: Array
    chi2: Array
    chi3: Array
    now: list[Array]
    before: list[Array]
    kept: list[Array]

    @property
    def shares(self) -> bool:
        """Whether the other components matter: not with χ2 alone."""
        return bool(self.chi3.any())


@dataclass(frozen=True)
class Edges:
    """The edges that n sites see, one entry for each.

    Attributes
    ----------
    starts : (n + 1,) ints
        First entry of each site.
    components, places : (n_entries,) ints
        Component in memory order, and flat index.
    weights : (n_entries,)
    own : (n_entries,) of bool
        Whether the chunk owns the edge.
    """

    starts: NDArray[np.int64]
    components: NDArray[np.int64]
    places: NDArray[np.int64]
    weights: Array
    own: NDArray[np.bool_]

    def arrays(self) -> tuple[Array, ...]:
        """Return the arrays in the order in which `kernels.sites` takes them."""
        return self.starts, self.components, self.places, self.weights, self.own


@dataclass
class SiteArrays:
    """The sites of a field of a chunk.

    Attributes
    ----------
    place, kind : (n, 3) and (n,) ints
        As in `media.sites.Sites`; sites of a kind and with the same poles follow each other.
    factors : (3, n)
        1/ε, scale, rest.
    edges : Edges
    fields : per part, (n,)
    poles : list of PoleGroup
        Their points are sites.
    shares : per component in memory order, flat indices and values
        What the sweep adds per increment at edges on which sites act instead.
    touched : list of Box
        Hull of the nodes (centres), in user order.
    """

    place: NDArray[np.int64]
    kind: NDArray[np.int64]
    factors: Array
    edges: Edges
    fields: list[Array]
    poles: list[PoleGroup]
    shares: list[tuple[NDArray[np.int64], Array]]
    touched: list[Box]

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Yield name and array of all that takes memory."""
        yield "factors", self.factors
        yield from zip(("starts", "components", "places", "weights", "own"), self.edges.arrays(), strict=True)
        yield from ((f"field.{part}", array) for part, array in enumerate(self.fields))
        for component, (points, shares) in enumerate(self.shares):
            yield from ((f"points{component}", points), (f"shares{component}", shares))
        for n, group in enumerate(self.poles):
            yield f"poles{n}.strengths", group.strengths
            yield f"poles{n}.weights", group.weights
            for part, (now, before) in enumerate(zip(group.now, group.before, strict=True)):
                yield from ((f"poles{n}.now.{part}", now), (f"poles{n}.before.{part}", before))


@dataclass
class FieldCoefficients:
    """All that one field (E or H) of a chunk needs beside itself.

    Attributes
    ----------
    c, a : three flat arrays
        Factors of the curl and of the old field; length 1 where `scalar` holds or nothing is lost.
    scalar : (3,)
        Factor of the curl where it is the same everywhere.
    mode : int
        How the factors come (see `kernels.arguments`).
    poles, nodes, nonlinear, sites
        Extra physics, empty or None where there is none.
    """

    c: tuple[Array, Array, Array]
    a: tuple[Array, Array, Array]
    scalar: Array
    mode: int
    poles: list[PoleGroup] = field(default_factory=list)
    nodes: Nodes | None = None
    nonlinear: list[NonlinearPoints] = field(default_factory=list)
    sites: SiteArrays | None = None

    @property
    def touched(self) -> list[Box]:
        """Hulls of all nodes (centres) that need increments, in user order."""
        return [box for each in (self.nodes, self.sites) if each for box in each.touched]

    def extra_arrays(self) -> Iterator[tuple[str, Array]]:
        """Yield name and array of all that extra physics holds."""
        for n, group in enumerate(self.poles):
            for what in ("runs", "strengths", "weights"):
                yield f"poles{n}.{what}", getattr(group, what)
            for part, (now, before) in enumerate(zip(group.now, group.before, strict=True)):
                yield f"poles{n}.now.{part}", now
                yield f"poles{n}.before.{part}", before
        for points in self.nonlinear:
            for what in ("runs", "epsilon", "chi2", "chi3"):
                yield f"nonlinear{points.component}.{what}", getattr(points, what)
            for what in ("now", "before", "kept"):
                for part, array in enumerate(getattr(points, what)):
                    yield f"nonlinear{points.component}.{what}.{part}", array
        if self.nodes:
            yield "nodes.runs", self.nodes.runs
            yield "nodes.elements", self.nodes.elements
            for axis, factors in enumerate(self.nodes.edge_factors):
                yield f"nodes.edge_factor{axis}", factors
        if self.sites:
            yield from ((f"sites.{what}", array) for what, array in self.sites.arrays())

    def response(self, component: int) -> Array | float:
        """Return c/a, what an increment is multiplied with before the sweep multiplies with a: flat or one number."""
        c = self.c[component] if self.c[component].size > 1 else float(self.scalar[component])
        if self.a[component].size == 1:
            return c
        return c / self.a[component]
