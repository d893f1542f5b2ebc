"""The energy stored in the fields, in the form that the discrete equations conserve exactly.

With E^n, H^(n+½) and, per pole, P^n and P^(n-1), the energy at time step n is

    W = ½⟨E^n, ε E^n⟩ + ½⟨H^(n-½), μ H^(n+½)⟩ + Σ_poles [ (P^n - P^(n-1))²/(2 σ ω0² dt²) + P^n P^(n-1)/(2 σ)
        + ½ E^n (P^n - P^(n-1)) ]

(the second pole term is absent for a Drude pole). H^(n-½) follows from Faraday's law, μ H^(n-½) = μ H^(n+½) +
dt curl E^n + M^(n+½) - M^(n-½).

Derivation: multiply Ampère's law by ½(E^(n+1) + E^n), and Faraday's law at steps n and n+1 by H^(n+½). Their sum
leaves the work on the polarisation, ½(E^(n+1) + E^n)(P^(n+1) - P^n). Multiplying the oscillator's central differences
by ½(P^(n+1) - P^(n-1)) turns this work into a difference of the terms in brackets. Magnetic poles have the same terms
without the last one, because W contains H at both half steps. So W is constant, up to round-off, in a closed cell
without losses and sources: metal or periodic sides, diagonal ε and μ, poles with gamma = 0.

The energy stored by absorbing layers, off-diagonal elements, sites (see `evenly.fdtd.media.sites`) and nonlinear terms
is not included.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.extents import axis_weights, merged
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.cell.mirrors import folded
from evenly.fdtd.monitors.probes import Place, region
from evenly.fdtd.stepping.coefficients import PoleGroup
from evenly.fdtd.stepping.frame import packed_indices

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["StoredEnergy", "rough_energy", "stored_energy"]

Array = NDArray[Any]
_SLAB_POINTS = 250_000


@dataclass(frozen=True)
class StoredEnergy:
    """The stored energy of the fields, in units of a³ times a squared field.

    Attributes
    ----------
    electric, magnetic : float
        Including the energy of the electric (magnetic) poles.
    """

    electric: float
    magnetic: float

    @property
    def total(self) -> float:
        """Sum of the electric and the magnetic energy."""
        return self.electric + self.magnetic


def stored_energy(sim: Fields, center: Place | None = None, size: Place | None = None) -> StoredEnergy:
    """Return the stored energy in a region at `sim.time` (all ranks must call, and get the same result).

    Complex fields count as two real ones: |E|² is the sum of the squares of both parts.

    Parameters
    ----------
    sim : Fields
    center, size : up to three floats, optional
        In a; default: the whole cell. Along a thin axis, or one with size 0, the result is an energy per length.

    Raises
    ------
    InputError
        If the region isn't inside the cell.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> stored_energy(Simulation(cell=(1, 1, 1), resolution=4)).total
    0.0
    """
    sim.stepper.settle()
    weights = {name: _weights(sim, name, center, size) for name in COMPONENTS}
    totals = np.zeros(2)
    for chunk in sim.chunks:
        for component in COMPONENTS:
            totals["EH".index(component[0])] += _of_field(chunk, component, weights[component])
        for n, name in enumerate("EH"):
            for group in chunk.media[name].poles:
                totals[n] += _of_poles(chunk, name, group, weights)
    electric, magnetic = sim.communicator.allreduce(totals)
    return StoredEnergy(float(electric), float(magnetic))


def rough_energy(sim: Fields) -> float:
    """Return an approximate energy, without the poles' part and with H half a step later than E.

    It is cheap to compute and suffices to watch the decay. All ranks must call, and get the same result.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> rough_energy(Simulation(cell=(1, 1, 1), resolution=4))
    0.0
    """
    total = 0.0
    for chunk, component in itertools.product(sim.chunks, COMPONENTS):
        counts = _counted(sim, component)
        for slab in chunk.box.slabs(0, _SLAB_POINTS):
            medium = _permittivity(chunk, component, slab)
            along = [w[a:b] for w, a, b in zip(counts, slab.lo, slab.hi, strict=False)]
            for part in range(chunk.parts):
                field = chunk.view(component, part, slab)
                weighed = field if np.ndim(medium) == 0 else medium * field
                factor = medium if np.ndim(medium) == 0 else 1.0
                how = "xyz,xyz,x,y,z->" if along else "xyz,xyz->"
                total += 0.5 * factor * float(np.einsum(how, weighed, field, *along, dtype=np.float64))
    return float(sim.communicator.allreduce(total)) * sim.grid.dx**sim.grid.dimensions


Weights = tuple[Array, Array, Array]


def _counted(sim: Fields, component: str) -> list[Array]:
    """Return how many points of the cell each kept point stands for, along x, y, z; nothing without mirrors."""
    images = sim.layers.images(component)
    return [folded(np.ones(n), a, images) for a, n in enumerate(sim.grid.shape)] if any(sim.layers.mirrors) else []


def _weights(sim: Fields, component: str, center: Place | None, size: Place | None) -> Weights:
    """Return the weight (length, in a) of every grid point of the cell along each axis."""
    grid = sim.grid
    middle, edges = region(grid, center, size, "the region of the energy")
    along = []
    for axis in range(3):
        step = 1.0 if grid.thin[axis] or edges[axis] == 0 else grid.dx
        weights = np.zeros(grid.shape[axis])
        if center is None and size is None:
            weights[:] = step
        else:
            low, high = (middle[axis] + sign * edges[axis] / 2 for sign in (-1, 1))
            phase = 1 if sim.layers.kinds[axis] == "periodic" else None
            for part in merged(axis_weights(grid, component, axis, low, high, phase), step):
                weights[part.start : part.stop] += part.weights
        along.append(folded(weights, axis, sim.layers.images(component)))
    return along[0], along[1], along[2]


def _of_field(chunk: Chunk, component: str, weights: Weights) -> float:
    total = 0.0
    for slab in _slabs(chunk, weights):
        x, y, z = (w[a:b] for w, a, b in zip(weights, slab.lo, slab.hi, strict=True))
        medium = _permittivity(chunk, component, slab)
        for part in range(chunk.parts):
            field = np.asarray(chunk.view(component, part, slab), np.float64)
            other = medium * field
            if component[0] == "H":
                other = other + chunk.grid.courant * _curl_of_e(chunk, component, part, slab)
            total += 0.5 * float(np.einsum("xyz,x,y,z", field * other, x, y, z))
    return total


def _slabs(chunk: Chunk, weights: Weights) -> Iterator[Box]:
    """Yield slabs of the chunk's part with weights other than 0."""
    box = chunk.box
    for axis in range(3):
        counted = np.flatnonzero(weights[axis][box.lo[axis] : box.hi[axis]])
        if not len(counted):
            return
        box = box.replace(axis, box.lo[axis] + int(counted[0]), box.lo[axis] + int(counted[-1]) + 1)
    yield from box.slabs(0, _SLAB_POINTS)


def _permittivity(chunk: Chunk, component: str, box: Box) -> Any:
    """Return ε∞ (μ∞), from the factors of the update: c = courant ε^-1 / (1 + s), a = (1 - s)/(1 + s)."""
    medium, axis = chunk.media[component[0]], chunk.frame.order.index("xyz".index(component[1]))
    c: Any = float(medium.scalar[axis])
    if medium.c[axis].size > 1:
        c = np.asarray(chunk.frame.view(medium.c[axis], box), np.float64)
    if medium.a[axis].size > 1:
        c = c * 2 / (1 + np.asarray(chunk.frame.view(medium.a[axis], box), np.float64))
    return chunk.grid.courant / c


def _curl_of_e(chunk: Chunk, component: str, part: int, box: Box) -> Any:
    """Return dx times the curl of E at points of an H component; E's ghosts above the chunk are valid."""
    axis = "xyz".index(component[1])
    first, second = (axis + 1) % 3, (axis + 2) % 3
    return _rise(chunk, second, first, part, box) - _rise(chunk, first, second, part, box)


def _rise(chunk: Chunk, axis: int, along: int, part: int, box: Box) -> Any:
    if chunk.grid.thin[along]:
        return 0.0
    name = "E" + "xyz"[axis]
    above = box.replace(along, box.lo[along] + 1, box.hi[along] + 1)
    return np.asarray(chunk.view(name, part, above), np.float64) - chunk.view(name, part, box)


def _of_poles(chunk: Chunk, name: str, group: PoleGroup, weights: dict[str, Weights]) -> float:
    points = packed_indices(group.runs)
    user = chunk.frame.order[group.component]
    counts = _counts(chunk, points, weights[name + "xyz"[user]])
    total = 0.0
    for part in range(chunk.parts):
        field = np.asarray(chunk.fields[name][part][group.component][points], np.float64)
        for n, pole in enumerate(group.names):
            now, before = (np.asarray(p[part][n], np.float64) for p in (group.now, group.before))
            strength = np.asarray(group.strengths[n], np.float64)
            held = (now - before) ** 2 / pole.recursion(chunk.grid.dt)[0] + float(pole.restored) * now * before
            held = held / (2 * strength)
            # For magnetic poles this term comes from H^(n-½), which contains ΔM (see the module's docstring).
            total += float(counts @ (held + 0.5 * field * (now - before)))
    return total


def _counts(chunk: Chunk, points: Array, weights: Weights) -> Array:
    """Return the weight of each point that is given by its flat index in memory."""
    where = np.unravel_index(points, chunk.frame.shape)
    result: Array = np.ones(len(points))
    for indices, user, ghost in zip(where, chunk.frame.order, chunk.frame.ghosts, strict=True):
        result = result * weights[user][indices + (chunk.box.lo[user] - ghost)]
    return result
