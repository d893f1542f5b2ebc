"""What all frequency-domain monitors share: patches on a rank's own chunks, files, subtraction.

A monitor is a set of regions: one field component on one global box each. Every rank transforms the part of a region
that its chunks own; results are summed or gathered over the ranks when asked for, so all ranks must ask. What is saved
is keyed by global grid index and can be loaded on any layout and number of ranks.

A normalisation run subtracts the incident field: save the monitor of a run without the object, and `load_minus` it in
the run with the object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.files import MonitorData, Region, read_data, write_data
from evenly.fdtd.monitors.fourier import FieldView, FourierPatch, Phases, check_frequencies, decimation
from evenly.fdtd.sources.source import Source

__all__ = ["FourierMonitor", "Local", "MonitorData", "Region", "Stage"]


class Ranks(Protocol):
    """What a monitor needs of a communicator."""

    @property
    def rank(self) -> int: ...

    def allreduce(self, value: Any, /) -> Any:
        """Return the sum over all ranks."""

    def allgather(self, value: Any, /) -> list[Any]:
        """Return the values of all ranks."""


class Stage(Protocol):
    """What a monitor needs of a simulation."""

    @property
    def grid(self) -> Grid: ...

    @property
    def chunks(self) -> Sequence[FieldView]: ...

    @property
    def communicator(self) -> Ranks: ...

    @property
    def sources(self) -> Sequence[Source]: ...

    @property
    def decimation(self) -> int | None:
        """Monitors that don't say take at most every how many steps; None where they may take what bands allow."""


@dataclass(frozen=True)
class Local:
    """The part of a region in one chunk of this rank."""

    region: Region
    patch: FourierPatch

    @property
    def inside(self) -> tuple[slice, slice, slice]:
        """Where the patch is in an array of the region's shape."""
        return self.patch.box.slices(self.region.box.lo)


class FourierMonitor(ABC):
    """A monitor of field transforms.

    Laws: `record` is called once per step after `bind`; results don't depend on how the cell is cut into chunks, up to
    round-off; what `save` writes, `load` reads on any layout.

    Parameters
    ----------
    frequencies : sequence of floats
        In c/a.
    every : int, optional
        Take every how many steps. By default as few as the bands of sources and monitor allow in a linear medium
        (see `evenly.fdtd.monitors.fourier.decimation`); 1 takes all, which is right for anything nonlinear.
    name : str
        How messages call it.
    """

    kind = "monitor"

    def __init__(self, frequencies: ArrayLike, *, every: int | None = None, name: str = "") -> None:
        self.name = name
        self.frequencies = check_frequencies(frequencies, self.label)
        if every is not None and (every < 1 or every != int(every)):
            raise InputError(f"`every` of {self.label} must be a whole number of at least 1, but got {every!r}.")
        self.every = every
        self.patches: list[FourierPatch] = []
        self._local: dict[str, list[Local]] = {}
        self._regions: list[Region] = []
        self._waiting: list[tuple[MonitorData, float]] = []
        self._stage: Stage | None = None

    @property
    def label(self) -> str:
        """How messages call the monitor."""
        return f"the {self.kind} {self.name!r}" if self.name else f"the {self.kind}"

    @abstractmethod
    def regions(self, grid: Grid) -> list[Region]:
        """Return what is transformed on `grid`.

        Raises
        ------
        InputError
            The monitor does not fit the cell.
        """

    def bind(self, stage: Stage) -> None:
        """Make patches for the chunks of this rank; data loaded before are taken over.

        Parameters
        ----------
        stage : Stage
            The simulation.
        """
        self._stage = stage
        self._regions = self.regions(stage.grid)
        phases = Phases(self.frequencies, stage.grid.dt, self.sampling(stage))
        self._local = {region.key: _parts(region, stage.chunks, phases) for region in self._regions}
        self.patches = [part.patch for parts in self._local.values() for part in parts]
        waiting, self._waiting = self._waiting, []
        for data, factor in waiting:
            self._add(data, factor)

    def sampling(self, stage: Stage) -> int:
        """Return every how many steps fields of a simulation are taken."""
        if self.every is not None:
            return self.every
        widest = self._widest(stage)
        return min(widest, stage.decimation or widest)

    def record(self, step: int) -> None:
        """Take the fields of `step`; E is at ``step * dt``, H half a step later."""
        for patch in self.patches:
            patch.record(step)

    def flush(self) -> None:
        """Add the values that are kept in buffers to the transforms."""
        for patch in self.patches:
            patch.flush()

    def parts(self) -> list[Local]:
        """Return the parts of the regions in this rank's chunks."""
        return [part for parts in self._local.values() for part in parts]

    def component_points(self, grid: Grid) -> int:
        """Return the number of values per sample on all ranks together, for real fields."""
        return sum(region.box.volume for region in self.regions(grid))

    def data(self, *keys: str) -> MonitorData:
        """Return the transforms, gathered on every rank (all ranks must call); of some regions if `keys` are given."""
        stage = self.stage
        wanted = [region for region in self._regions if not keys or region.key in keys]
        mine = [(p.region.key, p.patch.box, p.patch.values()) for region in wanted for p in self._local[region.key]]
        arrays = {r.key: np.zeros((len(self.frequencies), *r.box.shape), np.complex128) for r in wanted}
        places = {region.key: region.box.lo for region in wanted}
        for key, box, values in (piece for rank in stage.communicator.allgather(mine) for piece in rank):
            arrays[key][(slice(None), *box.slices(places[key]))] = values
        return MonitorData(self.frequencies, tuple(wanted), arrays)

    def save(self, path: Path | str) -> None:
        """Write all transforms to a .npz file without pickled objects (all ranks must call).

        Raises
        ------
        InputError
            The file can't be written.
        """
        data = self.data()
        if self.stage.communicator.rank == 0:
            write_data(Path(path), data)

    def load(self, path: Path | str) -> None:
        """Continue from transforms saved by a monitor of the same kind, frequencies and place.

        Raises
        ------
        ReadError
            The file can't be read or was saved by another monitor.
        """
        self.add(read_data(Path(path)), 1.0, fresh=True)

    def load_minus(self, path: Path | str) -> None:
        """Subtract saved transforms, such as those of the incident field, from this monitor's.

        Raises
        ------
        ReadError
            The file can't be read or was saved by another monitor.
        """
        self.add(read_data(Path(path)), -1.0)

    def add(self, data: MonitorData, factor: float = 1.0, *, fresh: bool = False) -> None:
        """Add `factor` times the transforms of another monitor's `data`; `fresh` forgets those so far.

        Raises
        ------
        InputError
            The data are of other frequencies or another place.
        """
        if self._stage is None:
            self._waiting = ([] if fresh else self._waiting) + [(data, factor)]
            return
        self._add(data, factor, fresh=fresh)

    @property
    def stage(self) -> Stage:
        """The simulation that the monitor belongs to."""
        if self._stage is None:
            raise InputError(f"{self.label[0].upper()}{self.label[1:]} has no data yet: add it to a simulation first.")
        return self._stage

    def _add(self, data: MonitorData, factor: float, *, fresh: bool = False) -> None:
        data.check_same(self.frequencies, self._regions, self.label)
        for parts in self._local.values():
            for part in parts:
                more = factor * data.arrays[part.region.key][(slice(None), *part.inside)]
                part.patch.replace(more if fresh else part.patch.values() + more)

    def _widest(self, stage: Stage) -> int:
        bands = [source.pulse.band()[1] for source in stage.sources]
        if not bands or not getattr(stage, "is_linear", True):
            return 1
        return decimation(stage.grid.dt, max(bands), float(self.frequencies.max()))


def _parts(region: Region, chunks: Sequence[FieldView], phases: Phases) -> list[Local]:
    found = []
    for chunk in chunks:
        inside = region.box & chunk.box
        if not inside.empty:
            patch = FourierPatch(chunk, region.component, inside, phases, average=region.average)
            found.append(Local(region, patch))
    return found
