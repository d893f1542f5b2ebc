"""One-dimensional leapfrog on a line along z, written plainly: an oracle for layers at a cell's sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.boundaries import Boundary, resolve
from evenly.fdtd.cell.grid import Grid

Array = NDArray[np.float64]


def record(length: float, resolution: float, boundaries: Sequence[Boundary], steps: int, frequency: float) -> Array:
    """Return Ex in the middle of the line at each step after a pulse there around `frequency`."""
    grid = Grid((0, 0, length), resolution)
    layers = resolve(boundaries, grid)
    n, dt, ratio = grid.shape[2], grid.dt, grid.courant
    on_e, on_h = layers.coefficients(2, "E", 0, n), layers.coefficients(2, "H", 0, n)
    loss_e = layers.conductivity("Ex", 2, 0, n) * dt / 2
    loss_h = layers.conductivity("Hy", 2, 0, n) * dt / 2
    e, h, psi_e, psi_h = np.zeros(n + 1), np.zeros(n), np.zeros(n), np.zeros(n)
    result = np.empty(steps)
    for step in range(steps):
        d = np.diff(e)
        psi_h = on_h.b * psi_h + on_h.a * d
        h = ((1 - loss_h) * h - ratio * (d * on_h.inverse_kappa + psi_h)) / (1 + loss_h)
        d = h - np.concatenate([[0.0], h[:-1]])
        psi_e = on_e.b * psi_e + on_e.a * d
        e[:n] = ((1 - loss_e) * e[:n] - ratio * (d * on_e.inverse_kappa + psi_e)) / (1 + loss_e)
        e[0] = e[n] = 0.0
        time = (step - 6 / frequency / dt) * dt
        e[n // 2] += np.exp(-((time * frequency) ** 2) / 2) * np.cos(2 * np.pi * frequency * time) * dt
        result[step] = e[n // 2]
    return result


def reflection(boundaries: Sequence[Boundary], resolution: float, frequency: float = 1.0, length: float = 8.0) -> float:
    """Return the amplitude that comes back from one end per amplitude sent out to each, at `frequency`."""
    steps = round(24 * resolution / 0.5)
    seen = record(length, resolution, boundaries, steps, frequency)
    free = record(40.0, resolution, [], steps, frequency)
    wave = np.exp(2j * np.pi * frequency * np.arange(steps) * 0.5 / resolution)
    # Both ends send back what the middle sent to each, one amplitude each.
    return float(abs((seen - free) @ wave) / abs(free @ wave) / 2)
