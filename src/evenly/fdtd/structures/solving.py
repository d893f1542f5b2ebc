"""Runs an example and computes its spectra, normalised to the incident wave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import PML
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.monitors.files import MonitorData
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.ranks.communicators import SerialCommunicator
from evenly.fdtd.simulation import Options, Simulation
from evenly.fdtd.structures.example import Curves, Example, Incident

__all__ = ["Solution", "prepare", "solve"]

Array = NDArray[np.float64]


@dataclass
class Solution:
    """An example with its simulation, before, during or after the run.

    Attributes
    ----------
    example : Example
    simulation : Simulation
    """

    example: Example
    simulation: Simulation
    _incident: Array | None = field(default=None, repr=False)

    @property
    def complete(self) -> bool:
        """Whether the sources have ended; before that, spectra are meaningless."""
        return all(self.simulation.time >= source.pulse.last_time for source in self.simulation.sources)

    def curves(self) -> Curves:
        """Return the normalised spectra (all ranks must call).

        Raises
        ------
        InputError
            If the sources have not ended yet, or the example defines no spectra.
        """
        if self.example.curves is None:
            raise InputError(f"The structure {self.example.name!r} defines no spectra.")
        if not self.complete:
            raise InputError(
                f"Spectra need the whole pulse, which ends at "
                f"{max(s.pulse.last_time for s in self.simulation.sources):g}, but the run has come to "
                f"{self.simulation.time:g}: run longer."
            )
        return self.example.curves(self.example.monitors, self.incident)

    @property
    def incident(self) -> Array:
        """Power of the incident wave, shape (n_frequencies,); 1 without an incident wave (all ranks must call)."""
        if self._incident is None:
            wave = self.example.incident
            none = np.ones(len(self.example.frequencies))
            self._incident = none if wave is None else subtract_incident(self.simulation, self.example, wave)
        return self._incident


def prepare(example: Example, *, layout: BinaryPartition | None = None, options: Options | None = None) -> Solution:
    """Return an example's simulation with its monitors attached, not yet run.

    Parameters
    ----------
    example : Example
    layout : BinaryPartition, optional
        Default: chunks of equal volume.
    options : Options, optional

    Raises
    ------
    InputError
        If the layout, the options or a monitor don't fit the cell.
    """
    simulation = Simulation(**example.simulation, layout=layout, options=options)
    for monitor in example.monitors.values():
        simulation.add(monitor)
    return Solution(example, simulation)


def solve(
    example: Example,
    *,
    layout: BinaryPartition | None = None,
    options: Options | None = None,
    until: float | None = None,
    run: Callable[[Simulation, float], None] | None = None,
) -> Solution:
    """Run an example until its fields have left the cell, and return the solution.

    Parameters
    ----------
    example : Example
    layout, options
        As in `prepare`.
    until : float, optional
        Time of the end, in a/c; default: the example's own.
    run : callable, optional
        ``run(simulation, until)`` steps the simulation; default: the simulation's own method `run`.
    """
    solution = prepare(example, layout=layout, options=options)
    end = example.until if until is None else until
    if run is None:
        solution.simulation.run(until=end)
    else:
        run(solution.simulation, end)
    return solution


def subtract_incident(simulation: Simulation, example: Example, incident: Incident) -> Array:
    """Subtract the incident wave from the monitors in `Incident.subtracted`; return its power, (n_frequencies,).

    In a structure that doesn't vary along x and y, a plane wave along z solves the one-dimensional scheme with the same
    spacing and time step, up to round-off. So the incident wave is computed in one dimension.
    """
    data: dict[str, MonitorData] = {}
    power = np.zeros(len(example.frequencies))
    for name in incident.subtracted:
        monitor = example.monitors[name]
        if not isinstance(monitor, Flux):
            raise InputError(f"The incident wave is subtracted from flux monitors only, and {name!r} is none.")
        along, alone = _one_dimensional(simulation, example, incident, monitor)
        power = np.abs(along) * incident.area
        data[name] = _spread(alone, monitor, simulation)
    for name, transforms in data.items():
        example.monitors[name].add(transforms, -1.0)
    return power


def _one_dimensional(
    simulation: Simulation, example: Example, incident: Incident, monitor: Flux
) -> tuple[Array, MonitorData]:
    """Return the flux of the wave at a monitor's height, and its transforms there.

    Above, the cell is that of the simulation. Below, it is longer by two heights, one of which is an absorbing layer.
    So the wave has no reflection from below.
    """
    grid = simulation.grid
    height = grid.shape[2] * grid.dx
    sources = [replace(s, center=(0, 0, s.center[2] + height), size=(0, 0, 0)) for s in simulation.sources]
    above = [b for b in example.simulation["boundaries"] if isinstance(b, PML)]
    alone = Simulation(
        cell=(0, 0, 3 * height),
        resolution=grid.resolution,
        material=incident.material,
        sources=sources,
        boundaries=[*above, PML(height, "z", "low")],
        options=Options(courant=grid.courant),
        communicator=SerialCommunicator(),
    )
    middle = (0, 0, monitor.center[2] + height)
    plane = Flux(middle, (0, 0, 0), example.frequencies, direction="z", every=monitor.every or 1)
    alone.add(plane)
    alone.run(until=sources[0].pulse.last_time + 4 * height)
    return plane.flux(), plane.data()


def _spread(alone: MonitorData, monitor: Flux, simulation: Simulation) -> MonitorData:
    regions = monitor.regions(simulation.grid)
    values: dict[str, Any] = {region.component: alone.arrays[region.key] for region in alone.regions}
    n = len(alone.frequencies)
    arrays = {r.key: np.broadcast_to(values[r.component], (n, *r.box.shape)) for r in regions}
    return MonitorData(alone.frequencies, tuple(regions), arrays)
