"""What the Yee scheme does to waves of one frequency, exactly: the oracles that leave no room for discretisation.

A field E = Re A exp(-iωt) sampled at multiples of dt obeys the scheme with ω replaced by Ω = 2 sin(ω dt/2)/dt and each
wave number k by 2 sin(k dx/2)/dx, and in a medium with its susceptibility in the scheme's own difference equation.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd import Grid, LorentzPole, Medium, Simulation

__all__ = ["angular", "lock_in", "permittivity", "response_to_sheet", "settled", "wave_number"]

Array = NDArray[Any]


def angular(frequency: float, grid: Grid) -> float:
    """Return Ω."""
    return 2 * math.sin(math.pi * frequency * grid.dt) / grid.dt


def permittivity(medium: Medium, frequency: float, grid: Grid, axis: int = 0) -> complex:
    """Return what the scheme makes of a medium's ε along an axis, so that D = ε E and ∂D/∂t → -iΩ D."""
    step, half = 2 * math.pi * frequency * grid.dt, math.pi * frequency * grid.dt
    infinite = float(medium.epsilon_matrix[axis, axis])
    loss = np.asarray(medium.electric_conductivity)[axis]
    total = infinite * (1 + 1j * loss * math.cos(half) / angular(frequency, grid))
    for pole in medium.electric_poles:
        spring, friction = (2 * math.pi * pole.frequency * grid.dt) ** 2, math.pi * pole.gamma * grid.dt
        restoring = spring if isinstance(pole, LorentzPole) else 0.0
        # P(n+1) - 2 P(n) + P(n-1) + friction (P(n+1) - P(n-1)) + restoring P(n) = spring σ E(n)
        total += pole.strength[axis] * spring / (restoring - 4 * math.sin(half) ** 2 - 2j * friction * math.sin(step))
    return complex(total)


def wave_number(epsilon: complex, frequency: float, grid: Grid) -> complex:
    """Return k along a grid axis in a medium of (scheme's) permittivity ε."""
    return 2 * cmath.asin(cmath.sqrt(epsilon) * angular(frequency, grid) * grid.dx / 2) / grid.dx


def response_to_sheet(epsilon: complex, frequency: float, grid: Grid) -> complex:
    """Return the g of E_j = g exp(ik|j|dx) for a polarisation 1 at point 0 of a line.

    (E_{j+1} - 2 E_j + E_{j-1})/dx² + ε Ω² E_j = -Ω² P_j, where ε Ω² = 2 (1 - cos k dx)/dx².
    """
    k = wave_number(epsilon, frequency, grid)
    return 0.5j * (angular(frequency, grid) * grid.dx) ** 2 / cmath.sin(k * grid.dx)


def settled(sim: Simulation, component: str, frequency: float, after: float, periods: int = 2) -> Array:
    """Return `lock_in` of one component alone."""
    return np.asarray(lock_in(sim, [component], [frequency], after, periods)[0, 0])


def lock_in(
    sim: Simulation, components: Sequence[str], frequencies: Sequence[float], after: float, periods: int = 2
) -> Array:
    """Run until `after` and return amplitudes A of E = Σ Re A exp(-iωt) over whole periods of the first frequency.

    Returns
    -------
    array of shape (n_components, n_frequencies, n)
        On the points of a line.
    """
    steps = round(periods / (frequencies[0] * sim.grid.dt))
    assert math.isclose(steps * frequencies[0] * sim.grid.dt, periods), "a period must be a whole number of steps"
    sim.run(until=after)
    total = np.zeros((len(components), len(frequencies), max(sim.grid.shape)), np.complex128)
    for _ in range(steps):
        sim.step()
        fields = np.stack([sim.field(c).ravel() for c in components])
        phases = np.exp(2j * math.pi * np.asarray(frequencies) * sim.time)
        total += phases[None, :, None] * fields[:, None, :]
    return np.asarray(2 * total / steps)
