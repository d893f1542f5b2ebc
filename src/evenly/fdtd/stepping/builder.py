"""Makes a field's coefficients from samples of its media, slab by slab."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.materials import Pole
from evenly.fdtd.media.sites import Sites
from evenly.fdtd.stepping.coefficients import FieldCoefficients, Nodes, NonlinearPoints, PoleGroup, SiteArrays
from evenly.fdtd.stepping.frame import Array, Frame, Runs, packed_indices
from evenly.fdtd.stepping.kernels.arguments import LOSSY, PER_POINT, SCALAR
from evenly.fdtd.stepping.memory import copied, filled, zeros
from evenly.fdtd.stepping.sites import edges_of, pole_sets, sorted_sites

if TYPE_CHECKING:
    from evenly.fdtd.media.structure import Response

__all__ = ["CoefficientsBuilder", "pole_factors"]


class CoefficientsBuilder:
    """Collects a field's medium from samples on slabs that tile the chunk; a slab is let go once it was added.

    Parameters
    ----------
    name : "E" or "H"
    frame : Frame
    grid : Grid
        Spacing and time step.
    parts : int
        2 for complex fields.
    dtype
        float32 or float64.
    """

    def __init__(self, name: str, frame: Frame, grid: Grid, parts: int, dtype: Any) -> None:
        self.name = name
        self.frame, self.grid, self.parts, self.dtype = frame, grid, parts, dtype
        self._c = [_Varying(frame, dtype) for _ in range(3)]
        self._a = [_Varying(frame, dtype) for _ in range(3)]
        self._poles: dict[tuple[Any, int], list[tuple[Any, ...]]] = {}
        self._bent: dict[int, list[tuple[Any, ...]]] = {}
        self._nodes: list[tuple[Any, ...]] = []
        self._node_boxes: list[Box] = []
        self._touched: list[Box] = []
        self._sites: list[Sites] = []
        self._on_sites: list[list[tuple[Runs, Array]]] = [[], [], []]

    def add(self, box: Box, response: Response) -> None:
        """Take in what the points of one slab are made of."""
        # The field's own update, F ← a F + c curl: a = (1 - s)/(1 + s), c = (dt/dx) ε⁻¹/(1 + s), s = σ dt/2.
        for component, user in enumerate(self.frame.order):
            sigma = 0.0 if response.conductivity is None else response.conductivity[user]
            s = np.asarray(sigma) * (self.grid.dt / 2)
            # Exactly 1 would make the field forget what currents did to it before the sweep.
            s = np.where(np.abs(1 - s) < 1e-9, 1 - 1e-9, s)
            curl, keep = self.grid.courant * np.asarray(response.inverse[user]) / (1 + s), (1 - s) / (1 + s)
            self._c[component].set(box, curl if curl.ndim else float(curl))
            self._a[component].set(box, keep if keep.ndim else float(keep))
        if response.poles:
            self._add_poles(box, response)
        if response.chi2 is not None or response.chi3 is not None:
            self._add_nonlinear(box, response)
        if response.off_diagonal is not None:
            self._add_nodes(box, response.off_diagonal, response.sites)
        if response.sites is not None:
            self._add_sites(box, response.sites)

    def finish(self) -> FieldCoefficients:
        """Return the medium of the whole chunk."""
        # Arrays only where they are needed: neither loss nor a varying medium leaves one factor per component.
        lossy = any(isinstance(v.value, np.ndarray) or v.value != 1.0 for v in self._a)
        varied = lossy or any(isinstance(v.value, np.ndarray) for v in self._c)
        none = np.zeros(1, self.dtype)
        c = tuple(v.full() for v in self._c) if varied else (none, none, none)
        a = tuple(v.full() for v in self._a) if lossy else (none, none, none)
        scalar = np.array([0.0 if varied else v.value for v in self._c], self.dtype)
        mode = LOSSY if lossy else PER_POINT if varied else SCALAR
        medium = FieldCoefficients((c[0], c[1], c[2]), (a[0], a[1], a[2]), scalar, mode)
        medium.poles = self._group_poles(medium) if self._poles else []
        medium.nonlinear = [self._pack_nonlinear(component, pieces) for component, pieces in sorted(self._bent.items())]
        medium.nodes = self._pack_nodes(medium) if self._nodes else None
        medium.sites = self._pack_sites(medium) if self._sites else None
        return medium

    def _add_poles(self, box: Box, response: Response) -> None:
        for pole, strengths in response.poles.items():
            for component, user in enumerate(self.frame.order):
                strength = strengths[user]
                full = np.broadcast_to(np.asarray(0.0 if strength is None else strength, float), box.shape)
                if response.sites is not None:
                    full = np.where(response.sites.ends[user] > 0, 0.0, full)
                if not np.any(full):
                    continue
                memory = full.transpose(self.frame.order)
                piece = self.frame.runs(full != 0, box), memory[memory != 0]
                self._poles.setdefault((pole, component), []).append(piece)

    def _group_poles(self, medium: FieldCoefficients) -> list[PoleGroup]:
        """Group points by the set of poles that act there, so that all poles of a point see one field."""
        groups = []
        for component in sorted({c for _, c in self._poles}):
            response = medium.response(component)
            of_component = [(pole, *_join(p)) for (pole, c), p in self._poles.items() if c == component]
            for members, points, strengths in _by_set(of_component):
                weights = np.full(len(points), response) if isinstance(response, float) else response[points]
                groups.append(self._pole_group(component, members, points, strengths, weights))
        return groups

    def _pole_group(
        self, component: int, poles: tuple[Any, ...], points: NDArray[np.int64], strengths: Array, weights: Array
    ) -> PoleGroup:
        factors = np.array([pole_factors(pole, self.grid.dt) for pole in poles])
        return PoleGroup(
            component,
            _runs_of(points),
            factors.astype(self.dtype),
            copied(_collapse(strengths), self.dtype),
            copied(_collapse(weights[None, :])[0] / self.grid.courant, self.dtype),
            [zeros((len(poles), len(points)), self.dtype) for _ in range(self.parts)],
            [zeros((len(poles), len(points)), self.dtype) for _ in range(self.parts)],
            poles,
        )

    def _add_nonlinear(self, box: Box, response: Response) -> None:
        for component, user in enumerate(self.frame.order):
            chi2, chi3, inverse = (
                np.broadcast_to(np.asarray(0.0 if v is None else v[user], float), box.shape)
                for v in (response.chi2, response.chi3, response.inverse)
            )
            there = (chi2 != 0) | (chi3 != 0)
            if there.any():
                memory = there.transpose(self.frame.order)
                packed = [v.transpose(self.frame.order)[memory] for v in (inverse, chi2, chi3)]
                self._bent.setdefault(component, []).append((self.frame.runs(there, box), *packed))

    def _pack_nonlinear(self, component: int, pieces: list[tuple[Any, ...]]) -> NonlinearPoints:
        runs, values = _join(pieces)
        inverse, chi2, chi3 = (v.astype(self.dtype) for v in values)
        now, before, kept = ([zeros(inverse.size, self.dtype) for _ in range(self.parts)] for _ in range(3))
        constants = np.stack([1 / inverse, chi2, chi3])
        epsilon, chi2, chi3 = np.ascontiguousarray(_collapse(constants))
        return NonlinearPoints(component, runs, epsilon, chi2, chi3, now, before, kept)

    def _add_nodes(self, box: Box, elements: tuple[Array, Array, Array], sites: Sites | None) -> None:
        """Keep the nodes of a slab, once those that two slabs share.

        Off-diagonal elements of ε⁻¹ and μ⁻¹ come as (n + 1) values per axis that isn't thin: those of ε⁻¹ at the nodes
        and one above the last, those of μ⁻¹ at the centres and one below the first (G. R. Werner and J. R. Cary,
        J. Comput. Phys. 226, 1085 (2007)).
        """
        shape = elements[0].shape
        where = Box(box.lo, (box.lo[0] + shape[0], box.lo[1] + shape[1], box.lo[2] + shape[2]))
        if self.name == "H":
            x, y, z = (0 if thin else -1 for thin in self.grid.thin)
            where = where.shift((x, y, z))
        # What is sampled reaches one layer out of the slab, so the next slab brings the same nodes again.
        mask = (elements[0] != 0) | (elements[1] != 0) | (elements[2] != 0)
        for other in self._node_boxes:
            if not (where & other).empty:
                mask[(where & other).slices(where.lo)] = False
        if sites is not None:
            mask[tuple((sites.place[~sites.halves] - where.lo).T)] = False
        self._node_boxes.append(where)
        if mask.any():
            there = mask.transpose(self.frame.order)
            packed = [elements[u].transpose(self.frame.order)[there] for u in self.frame.order]
            self._nodes.append((self.frame.runs(mask, where), *packed))
            self._touched.append(_hull(mask, where))

    def _add_sites(self, box: Box, sites: Sites) -> None:
        """Keep the sites of a slab, and at which of its points they act."""
        self._sites.append(sites)
        for component, user in enumerate(self.frame.order):
            there = sites.ends[user] > 0
            if there.any():
                ends = sites.ends[user].transpose(self.frame.order)
                self._on_sites[component].append((self.frame.runs(there, box), ends[ends > 0] / 2))

    def _pack_sites(self, medium: FieldCoefficients) -> SiteArrays:
        sites, shares = sorted_sites(self._sites), []
        for component, pieces in enumerate(self._on_sites):
            runs, (share,) = _join(pieces) if pieces else (np.zeros((0, 3), np.int64), [np.zeros(0)])
            response, points = medium.response(component), packed_indices(runs)
            share = share * (response if isinstance(response, float) else response[points])
            shares.append((points, share.astype(self.dtype)))
        groups = []
        for poles, rows in pole_sets(sites):
            strengths = np.stack([sites.strengths[pole][rows] for pole in poles])
            points, weights = np.arange(rows.start, rows.stop), self.grid.courant * sites.inverse[rows]
            groups.append(self._pole_group(0, poles, points, strengths, weights))
        low, high = (tuple(map(int, of(sites.place[~sites.halves], axis=0))) for of in (np.min, np.max))
        hull = Box((low[0], low[1], low[2]), (high[0] + 1, high[1] + 1, high[2] + 1))
        return SiteArrays(
            sites.place.astype(np.int64),
            sites.kind.astype(np.int64),
            np.stack([sites.inverse, sites.scale, sites.rest]).astype(self.dtype),
            edges_of(sites, self.name, self.frame, self.dtype),
            [zeros(len(sites.kind), self.dtype) for _ in range(self.parts)],
            groups,
            shares,
            [hull],
        )

    def _pack_nodes(self, medium: FieldCoefficients) -> Nodes:
        runs, values = _join(self._nodes)
        # The kernel needs each run's place along the axes, (n_runs, 3), beside flat index, length and packed offset.
        i, rest = np.divmod(runs[:, 0], self.frame.shape[1] * self.frame.shape[2])
        j, k = np.divmod(rest, self.frame.shape[2])
        elements = copied(np.stack(values), self.dtype)
        return Nodes(np.column_stack([runs, i, j, k]), elements, self._edge_factors(medium), self._touched)

    def _edge_factors(self, medium: FieldCoefficients) -> tuple[Array, Array, Array]:
        """Return dt/dx/((1 + s) a) per edge: what stands before the increments where a conductivity damps the field."""
        if medium.mode != LOSSY:
            none = np.zeros(1, self.dtype)
            return none, none, none
        # a = (1 - s)/(1 + s), so 1/((1 + s) a) = 1/(1 - s) = (1 + 1/a)/2.
        x, y, z = (copied(self.grid.courant * (1 + 1 / a) / 2, self.dtype) for a in medium.a)
        return x, y, z


def pole_factors(pole: Pole, dt: float) -> tuple[float, float, float]:
    """Return c0, c1, c2 of P(n+1) = c0 P(n) - c1 P(n-1) + c2 σ E(n), central differences of the pole's oscillator.

    That is P'' + γ P' + ω² P = σ ω² E with ω = 2π frequency and γ = 2π gamma, without ω² P for a Drude pole (the
    auxiliary differential equation of A. Taflove and S. C. Hagness, Computational Electrodynamics, 3rd ed., ch. 9).

    Examples
    --------
    >>> from evenly.fdtd.media.materials import DrudePole
    >>> c0, c1, c2 = pole_factors(DrudePole(frequency=1.0, gamma=0.0), 0.01)
    >>> c0, c1, round(c2, 6)
    (2.0, 1.0, 0.003948)
    """
    stiff, loss, restoring = pole.recursion(dt)
    return (2 - restoring) / (1 + loss), (1 - loss) / (1 + loss), stiff / (1 + loss)


@dataclass
class _Varying:
    """A value per point that stays one number until it is told otherwise."""

    frame: Frame
    dtype: Any
    value: Any = None

    def set(self, box: Box, value: Any) -> None:
        if isinstance(self.value, np.ndarray):
            self.frame.view(self.value, box)[...] = value
        elif self.value is None and not isinstance(value, np.ndarray):
            self.value = value
        elif isinstance(value, np.ndarray) or value != self.value:
            full = filled(self.frame.size, 1.0 if self.value is None else self.value, self.dtype)
            self.frame.view(full, box)[...] = value
            self.value = full

    def full(self) -> Array:
        """Return the value at every point, flat."""
        return self.value if isinstance(self.value, np.ndarray) else filled(self.frame.size, self.value, self.dtype)


def _join(pieces: list[tuple[Any, ...]]) -> tuple[Runs, list[Array]]:
    """Join the runs of several slabs and the packed values that go with them."""
    shifted, count = [], 0
    for runs, *_ in pieces:
        shifted.append(runs + np.array([0, 0, count]))
        count += int(runs[:, 1].sum())
    values = [np.concatenate([piece[v] for piece in pieces]) for v in range(1, len(pieces[0]))]
    return np.concatenate(shifted), values


def _by_set(
    poles: list[tuple[Any, Runs, list[Array]]],
) -> Iterator[tuple[tuple[Any, ...], NDArray[np.int64], Array]]:
    """Yield each set of poles that act together somewhere, the points there, and the strengths, (n_poles, n_points)."""
    indices = [packed_indices(runs) for _, runs, _ in poles]
    points = np.unique(np.concatenate(indices))
    strengths = np.zeros((len(poles), points.size))
    for row, there, (_, _, (values,)) in zip(strengths, indices, poles, strict=True):
        row[np.searchsorted(points, there)] = values
    for here in _equal_columns(strengths != 0):
        present = np.flatnonzero(strengths[:, here[0]])
        yield tuple(poles[i][0] for i in present), points[here], strengths[np.ix_(present, here)]


def _equal_columns(values: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Return the sorted indices of each set of columns that are equal."""
    number = np.zeros(values.shape[1], np.int64)
    for row in values:
        # Numbers of the columns so far and of this row's values make numbers of the columns with it.
        kinds, of_row = np.unique(row, return_inverse=True)
        _, number = np.unique(number * len(kinds) + of_row, return_inverse=True)
    order = np.argsort(number, kind="stable")
    return np.split(order, np.cumsum(np.bincount(number))[:-1])


def _runs_of(indices: NDArray[np.int64]) -> Runs:
    """Return the runs of sorted flat indices."""
    starts = np.flatnonzero(np.diff(indices, prepend=indices[0] - 2) != 1)
    lengths = np.diff(np.append(starts, indices.size))
    return np.column_stack([indices[starts], lengths, starts])


def _collapse(values: Array) -> Array:
    """Return one column for rows that hold the same number everywhere."""
    return values[:, :1].copy() if np.all(values == values[:, :1]) else values


def _hull(mask: NDArray[np.bool_], where: Box) -> Box:
    box = where
    for axis in range(3):
        there = np.flatnonzero(mask.any(axis=tuple(a for a in range(3) if a != axis)))
        box = box.replace(axis, where.lo[axis] + int(there[0]), where.lo[axis] + int(there[-1]) + 1)
    return box
