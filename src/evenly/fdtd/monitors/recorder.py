"""Records the time series of a field component at a point, and finds its resonances.

>>> from evenly.fdtd.sources.pulses import GaussianPulse
>>> from evenly.fdtd.simulation import Simulation
>>> from evenly.fdtd.sources.source import Source
>>> pulse = Source(GaussianPulse(0.5, width=1.0, cutoff=4), "Ez", center=(-0.2, 0, 0))
>>> sim = Simulation(cell=(1.0, 0, 0), resolution=20, sources=[pulse])
>>> recorder = sim.add(FieldRecorder("Ez", (0.1, 0, 0)))
>>> sim.run(until=40)
>>> mode, = recorder.resonances((0.3, 0.7))
>>> round(mode.frequency, 3), abs(mode.decay) < 1e-6
(0.5, True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.files import Region
from evenly.fdtd.monitors.points import PointProbe
from evenly.fdtd.monitors.resonance import Resonance, resonances

__all__ = ["FieldRecorder"]

Array = NDArray[Any]
ROWS = 64


@explained
class FieldRecorder:
    """Records a field component at a point, interpolated linearly between grid points.

    Parameters
    ----------
    component : str
        ``"Ex"`` … ``"Hz"``.
    point : up to three floats
        In a.
    every : int
        Sampling interval in steps.
    name : str
        Name for messages.

    Raises
    ------
    InputError
        If `every` isn't a positive integer. When the recorder is added to a simulation: if the component is unknown or
        the point is outside the cell.
    """

    kind = "field recorder"

    def __init__(self, component: str, point: Sequence[float] | float, *, every: int = 1, name: str = "") -> None:
        if every != every // 1 or every < 1:
            raise InputError(f"`every` of a field recorder must be a whole number of at least 1, but got {every!r}.")
        self.component, self.point, self.every, self.name = component, point, int(every), name
        self.frequencies = np.zeros(0)
        self._probe: PointProbe | None = None
        self._sim: Any = None
        self._steps: list[int] = []
        self._values: list[float] = []
        self._buffer, self._next = np.zeros((ROWS, 0)), 0

    @property
    def label(self) -> str:
        """Name of the recorder in messages."""
        return f"the field recorder {self.name!r}" if self.name else f"the field recorder of {self.component}"

    @property
    def patches(self) -> list[Any]:
        """What takes samples: the recorder itself."""
        return [self]

    def regions(self, grid: Grid) -> list[Region]:  # noqa: ARG002 - what Fourier monitors have
        """Return the Fourier-transformed regions: none."""
        return []

    # As in `FourierPatch`: without an average, only the chunk's own points are read, never ghosts.
    average, sign = None, 1
    # Samples of a component that is zero count, too.
    adds = False

    def flush(self) -> None:
        """Do nothing, because no samples are buffered."""

    def bind(self, stage: Any) -> None:
        """Find the point in the simulation `stage`."""
        self._sim, self._probe = stage, PointProbe(stage, self.component, self.point, self.label)
        self._steps, self._values = [], []
        views = self._probe.views
        self._buffer = np.zeros((ROWS, len(views)), views[0].dtype if views else float)

    # As in `FourierPatch`: rows for the samples of a few steps.
    room = ROWS

    def slots(self) -> list[tuple[Array, list[Array]]]:
        """Return where the samples of each value go, (ROWS, 1, 1, 1), and a view of the value."""
        columns = self._buffer.T[:, :, None, None, None]
        return [(rows, [view]) for rows, view in zip(columns, self._bound.views, strict=True)]

    def begin_samples(self, step: int) -> int:
        """Return the row for the sample of `step`: the first."""
        self._next = step
        return 0

    def end_samples(self, count: int) -> None:
        """Keep so many rows."""
        self._steps += range(self._next, self._next + count * self.every, self.every)
        self._values += self._buffer[:count].ravel().tolist()

    @property
    def _bound(self) -> PointProbe:
        if self._probe is None:
            raise InputError(f"{self.label[0].upper()}{self.label[1:]} has no data yet: add it to a simulation first.")
        return self._probe

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the samples, (n,), in a/c: those of E or, half a step later, of H."""
        self._bound  # noqa: B018 - says what is missing
        return np.asarray((np.array(self._steps) + (0.5 if self.component[0] == "H" else 0.0)) * self._sim.grid.dt)

    def values(self) -> Array:
        """Return the samples, (n,), complex if the fields are (all ranks must call)."""
        return self._bound.combine(self._bound.everyones(self._values, len(self._steps)))

    def resonances(self, band: Sequence[float], *, after: float | None = None, **options: float) -> list[Resonance]:
        """Return the resonances in a band of frequencies (all ranks must call).

        Parameters
        ----------
        band : (lowest, highest) frequency
            In c/a.
        after : float, optional
            Samples up to this time, in a/c, are left out. Default: the end of the last source.
        **options
            `density`, `weakest` and `worst` of `evenly.fdtd.monitors.resonance.resonances`.

        Raises
        ------
        InputError
            If there are fewer than two samples after that time, or as in `evenly.fdtd.monitors.resonance.resonances`.
        """
        times, values = self.times, self.values()
        if after is None:
            after = max((source.pulse.last_time for source in self._sim.sources), default=-math.inf)
        late = times > after
        if np.count_nonzero(late) < 2:
            raise InputError(
                f"{self.label[0].upper()}{self.label[1:]} holds {np.count_nonzero(late)} samples after time {after:g}, "
                "when the sources have ended, and resonances need hundreds: run for longer, or say `after`."
            )
        return resonances(values[late], self.every * self._sim.grid.dt, band, start=float(times[late][0]), **options)

    def state(self) -> dict[str, Array]:
        """Return the state for a checkpoint, the same on all ranks (all must call)."""
        corners = self._bound.everyones(self._values, len(self._steps))
        return {"steps": np.array(self._steps, np.int64), "corners": corners}

    def restore(self, state: dict[str, Array]) -> None:
        """Continue from a state of a checkpoint.

        Raises
        ------
        InputError
            If it is the state of a recorder between another number of grid points.
        """
        probe, corners = self._bound, state["corners"]
        if corners.shape[1:] != probe.shape:
            raise InputError(f"The state is not that of {self.label}: record the same component at the same point.")
        self._steps = [int(step) for step in state["steps"]]
        self._values = [float(v) for v in corners[:, probe.own].ravel()]

    def detach(self) -> dict[str, Array]:
        """Drop the references to the simulation's chunks and return all samples (all ranks must call)."""
        state = self.state()
        self._probe = None
        return state

    def attach(self, sim: Any, state: dict[str, Array]) -> None:
        """Find the point in the simulation's chunks again and continue from the state that `detach` returned."""
        self.bind(sim)
        self.restore(state)
