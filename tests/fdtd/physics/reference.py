"""The Yee scheme once more, written with sparse matrices for the whole cell: an oracle for everything but layers.

    E(n+1) = A E(n) + B ξ (dt curl H(n+½) - ΔP),   s = σ dt/2, A = (1 - s)/(1 + s), B = 1/(1 + s)

with ξ = diag + Nᵀ T N, N the mean of the two edges along each axis at a node and T the nodes' off-diagonal elements
(G. R. Werner and J. R. Cary, J. Comput. Phys. 226, 1085 (2007)), and P(n+1) = c0 P(n) - c1 P(n-1) + c2 σ E(n) for each
pole. At sites (see `evenly.fdtd.media.sites`) with directions d, W = d·N takes the increments to the sites, and Wᵀ
gives E what their fields gain. H is the dual. Only `Structure.sample` is shared with the program under test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import eigs, splu

from evenly.fdtd import Simulation
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC
from evenly.fdtd.media.materials import LorentzPole, Pole
from evenly.fdtd.media.sites import Sites
from evenly.fdtd.media.structure import Response

__all__ = ["Reference", "fields", "give", "random_fields"]

Array = NDArray[Any]
PAIRS = ((1, 2), (2, 0), (0, 1))


def fields(sim: Simulation, kind: str) -> Array:
    """Return E or H as one vector, component after component."""
    names = ELECTRIC if kind == "E" else MAGNETIC
    return np.concatenate([sim.field(name).ravel() for name in names])


def give(sim: Simulation, kind: str, values: Array) -> None:
    """Set E or H of a simulation to a vector as `fields` returns it."""
    for name, column in zip(ELECTRIC if kind == "E" else MAGNETIC, np.split(values, 3), strict=True):
        whole = column.reshape(sim.grid.shape)
        for chunk in sim.chunks:
            here = whole[chunk.box.slices((0, 0, 0))]
            for part in range(sim.parts):
                chunk.view(name, part, chunk.box)[...] = here.imag if part else here.real
    sim.stepper.refresh()


def random_fields(sim: Simulation, seed: int, reference: Reference) -> tuple[Array, Array]:
    """Give a simulation random fields that its walls allow and return them."""
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=(4, 3 * math.prod(sim.grid.shape)))
    e, h = (draws[0] + 1j * draws[1], draws[2] + 1j * draws[3]) if sim.parts == 2 else (draws[0], draws[2])
    e, h = e * reference.free["E"], h * reference.free["H"]
    give(sim, "E", e)
    give(sim, "H", h)
    return e, h


@dataclass
class _Side:
    """What E or H sees."""

    xi: Any
    keep: Array
    gain: Array
    strengths: dict[Pole, Array]
    now: dict[Pole, Array] = field(default_factory=dict)
    before: dict[Pole, Array] = field(default_factory=dict)
    sites: _OnSites | None = None

    def respond(self, driver: Array, rise: Array, dt: float) -> Array:
        """Return the field after increments of dt times its curl."""
        rise = rise - self.polarise(driver, dt)
        found = self.keep * driver + self.gain * (self.xi @ rise)
        return np.asarray(found if self.sites is None else found + self.sites.respond(rise, dt))

    def polarise(self, driver: Array, dt: float) -> Array:
        """Advance the poles and return what the polarisation gained."""
        total = np.zeros_like(driver)
        for pole, strength in self.strengths.items():
            now, before = (p.get(pole, np.zeros_like(driver)) for p in (self.now, self.before))
            spring = (2 * math.pi * pole.frequency * dt) ** 2
            loss = math.pi * pole.gamma * dt
            bound = spring * now if isinstance(pole, LorentzPole) else 0.0
            new = (2 * now - (1 - loss) * before - bound + spring * strength * driver) / (1 + loss)
            total += new - now
            self.now[pole], self.before[pole] = new, now
        return total


@dataclass
class _OnSites:
    """Sites with fields of their own; `edges` is W."""

    edges: Any
    inside: _Side
    sites: Sites
    values: Array

    def respond(self, rise: Array, dt: float) -> Array:
        """Return what the edges gain."""
        seen, before = self.edges @ rise, self.values
        self.values = before + self.sites.inverse * (seen - self.inside.polarise(before, dt))
        given = self.sites.scale * (self.values - before) + self.sites.rest * seen
        return np.asarray(self.edges.conj().T @ given)


class Reference:
    """The whole cell of a simulation without layers and without nonlinear media."""

    def __init__(self, sim: Simulation) -> None:
        self.grid, self.layers = sim.grid, sim.layers
        self.n = math.prod(self.grid.shape)
        walls = [self.layers.kinds[a] == "metal" and not self.grid.thin[a] for a in range(3)]
        at_wall = [self._at_wall(a) if walls[a] else np.zeros(self.n, bool) for a in range(3)]
        # Walls hold E along them and H across them at 0.
        e_free = [~(at_wall[(a + 1) % 3] | at_wall[(a + 2) % 3]) for a in range(3)]
        h_free = [~at_wall[a] for a in range(3)]
        self.free = {"E": np.concatenate(e_free).astype(float), "H": np.concatenate(h_free).astype(float)}
        self.curl_e = self._curl()
        self.curl_h = sparse.diags(self.free["E"]) @ self.curl_e.conj().T
        sample = sim.structure.sample(self.grid.box)
        self.e = self._side(sample.electric, "E")
        self.h = self._side(sample.magnetic, "H")

    def _at_wall(self, axis: int) -> NDArray[np.bool_]:
        return np.asarray(np.indices(self.grid.shape)[axis].ravel() == 0)

    def _shift(self, axis: int, wrap: complex) -> Any:
        """Return the matrix that gives each point its upper neighbour's value along an axis."""
        factors: list[Any] = []
        for a, n in enumerate(self.grid.shape):
            if a != axis or self.grid.thin[a]:
                factors.append(sparse.identity(n))
                continue
            matrix = sparse.lil_matrix((n, n), dtype=np.result_type(type(wrap), float))
            for i in range(n):
                matrix[i, (i + 1) % n] += 1.0 if i + 1 < n else wrap
            factors.append(matrix.tocsr())
        return sparse.kron(sparse.kron(factors[0], factors[1]), factors[2]).tocsr()

    def _wrap(self, axis: int) -> complex:
        phase = self.layers.phases[axis]
        if phase is None:
            return 0.0
        return phase if self.layers.complex_fields else phase.real

    def _curl(self) -> Any:
        one = sparse.identity(self.n)
        d = [(self._shift(a, self._wrap(a)) - one) * self.grid.resolution for a in range(3)]
        rows = [[None, -d[2], d[1]], [d[2], None, -d[0]], [-d[1], d[0], None]]
        return (sparse.diags(self.free["H"]) @ sparse.bmat(rows) @ sparse.diags(self.free["E"])).tocsr()

    def _side(self, response: Response, kind: str) -> _Side:
        def stacked(values: Any) -> Array:
            return np.concatenate([np.broadcast_to(0.0 if v is None else v, self.grid.shape).ravel() for v in values])

        sites, inverse = response.sites, stacked(response.inverse)
        poles = {pole: stacked(strengths) for pole, strengths in response.poles.items()}
        off_diagonal = response.off_diagonal
        if sites is not None:
            ends = stacked(sites.ends)
            inverse = inverse * (1 - ends / 2)
            poles = {pole: strengths * (ends == 0) for pole, strengths in poles.items()}
            off_diagonal = off_diagonal and self._beside(sites, off_diagonal, kind)
        xi = sparse.diags(inverse)
        if off_diagonal is not None:
            xi = xi + self._nodes(off_diagonal, kind)
        # Nothing drives B across a wall, but off-diagonal elements may make an H of the B along it.
        mask = sparse.diags(self.free["E"] if kind == "E" else np.ones(3 * self.n))
        s = stacked(response.conductivity or (0.0,) * 3) * self.grid.dt / 2
        on_sites = None if sites is None else self._on_sites(sites, kind, mask)
        return _Side((mask @ xi @ mask).tocsc(), (1 - s) / (1 + s), 1 / (1 + s), poles, sites=on_sites)

    def _beside(self, sites: Sites, elements: tuple[Array, Array, Array], kind: str) -> tuple[Array, Array, Array]:
        first = [0 if kind == "E" or thin else -1 for thin in self.grid.thin]
        x, y, z = (e.copy() for e in elements)
        for e in (x, y, z):
            e[tuple((sites.place[~sites.halves] - first).T)] = 0
        return x, y, z

    def _on_sites(self, sites: Sites, kind: str, mask: Any) -> _OnSites:
        periodic = np.array([self.layers.phases[a] is not None and not self.grid.thin[a] for a in range(3)])
        outside = (sites.place < 0) | (sites.place >= self.grid.shape)
        sites = sites.chosen(~np.any(outside & periodic, axis=1))
        edges = sparse.lil_matrix((len(sites.kind), 3 * self.n), dtype=complex if self.layers.complex_fields else float)
        for s, (place, half) in enumerate(zip(sites.place, sites.halves, strict=True)):
            for axis in np.flatnonzero(sites.direction[s]):
                for step in (0,) if half else (0, -1 if kind == "E" else 1):
                    index = place.copy()
                    index[axis] += step
                    turns, inside = np.divmod(index, self.grid.shape)
                    if np.any(turns[~periodic]):
                        continue
                    phase: Any = 1.0
                    for a in map(int, np.flatnonzero(turns)):
                        phase = phase * self._wrap(a) ** int(turns[a])
                    column = axis * self.n + np.ravel_multi_index(tuple(inside), self.grid.shape)
                    edges[s, column] += phase * sites.direction[s, axis] * (1.0 if half else 0.5)
        inside_poles = _Side(None, np.ones(1), np.ones(1), sites.strengths)
        return _OnSites(edges.tocsr() @ mask, inside_poles, sites, np.zeros(len(sites.kind)))

    def _nodes(self, elements: tuple[Array, Array, Array], kind: str) -> Any:
        # E: node i lies between edges i-1 and i. H: centre i between faces i and i+1, and arrays begin at centre -1.
        first = [0 if kind == "E" or thin else 1 for thin in self.grid.thin]
        inner = tuple(slice(f, f + n) for f, n in zip(first, self.grid.shape, strict=True))
        values = [sparse.diags(e[inner].ravel()) for e in elements]
        rows: list[list[Any]] = [[None] * 3 for _ in range(3)]
        for value, (i, j) in zip(values, PAIRS, strict=True):
            rows[i][j] = rows[j][i] = value
        mean = []
        for axis in range(3):
            up = self._shift(axis, self._wrap(axis))
            neighbour = up.conj().T if kind == "E" else up
            mean.append((sparse.identity(self.n) + neighbour) / 2)
        n = sparse.block_diag(mean)
        return n.conj().T @ sparse.bmat(rows) @ n

    def step(self, e: Array, h: Array) -> tuple[Array, Array]:
        """Return E(n+1) and H(n+3/2) of E(n) and H(n+½)."""
        dt = self.grid.dt
        e = self.e.respond(e, dt * (self.curl_h @ h), dt)
        h = self.h.respond(h, -dt * (self.curl_e @ e), dt)
        return e, h

    def stored(self, kind: str) -> Any:
        """Return a function that gives D of E (B of H)."""
        side = self.e if kind == "E" else self.h
        held = sparse.diags(1 - self.free["E"] if kind == "E" else np.zeros(3 * self.n))
        kind_of_number = complex if self.layers.complex_fields else float
        return splu((side.xi + held).tocsc().astype(kind_of_number)).solve

    def mode(self, near: float) -> tuple[float, Array]:
        """Return the frequency in c/a, of leapfrog in time, and E of the lossless mode nearest to a frequency."""
        return self.mode_of(slice(None), near)

    def mode_of(self, keep: Any, near: float) -> tuple[float, Array]:
        """Return the same of some points of E that don't couple to the others, such as one polarisation's."""
        operator = (self.e.xi @ self.curl_h @ self.h.xi @ self.curl_e).tocsr()[keep][:, keep].tocsc()
        start = np.random.default_rng(0).normal(size=operator.shape[0])
        values, vectors = eigs(operator, k=1, sigma=(2 * math.pi * near) ** 2, v0=start)
        omega = math.sqrt(values[0].real)
        return math.asin(omega * self.grid.dt / 2) / (math.pi * self.grid.dt), vectors[:, 0]
