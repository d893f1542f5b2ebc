"""The base class of all frequency-domain monitors: transforms on a rank's own chunks, files, subtraction.

A monitor is a set of regions. Each region is one field component on one global box. Every rank transforms the part of a
region that its chunks own. Methods that return results sum or gather them over the ranks, so all ranks must call them.
In a cell with mirror symmetries, kept points are transformed, and results are read off their images as well.
Saved data are indexed by global grid index and can be loaded with any layout and any number of ranks.

To subtract the incident field, make a normalisation run: save the monitor of a run without the object, and load it
with `load_minus` in the run with the object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.mirrors import Image
from evenly.fdtd.monitors.files import MonitorData, Region, read_data, write_data
from evenly.fdtd.monitors.fourier import FieldView, FourierPatch, Phases, check_frequencies, decimation
from evenly.fdtd.ranks.communicators import Communicator
from evenly.fdtd.sources.source import Source

__all__ = ["FourierMonitor", "Held", "Local", "MonitorData", "Region", "Stage", "disjoint", "kept_boxes"]

# Largest difference of images in data that are loaded, relative to the largest value.
_ALIKE = 1e-6


class Stage(Protocol):
    """The part of a simulation that a monitor uses."""

    @property
    def grid(self) -> Grid: ...

    @property
    def chunks(self) -> Sequence[FieldView]: ...

    @property
    def communicator(self) -> Communicator: ...

    @property
    def sources(self) -> Sequence[Source]: ...

    @property
    def decimation(self) -> int | None:
        """Largest sampling interval in steps for monitors without `every`; None: only the bands limit it."""


class Transformed(Protocol):
    """The transforms of a component on a box of the whole cell."""

    @property
    def box(self) -> Box: ...

    def values(self) -> NDArray[np.complex128]:
        """Return them, (n_frequencies, *box.shape)."""


@dataclass(frozen=True)
class Held:
    """Kept points of a region in one chunk of this rank, and their transforms."""

    region: Region
    patch: FourierPatch


@dataclass(frozen=True)
class _InMirror:
    """A part of a patch, seen in a mirror."""

    patch: FourierPatch
    part: Box
    image: Image

    @property
    def box(self) -> Box:
        return self.image.turned(self.part)

    def values(self) -> NDArray[np.complex128]:
        values = self.patch.values()[(slice(None), *self.part.slices(self.patch.box.lo))]
        return np.ascontiguousarray(self.image.factor * self.image.flipped(values))


@dataclass(frozen=True)
class Local:
    """The part of a region that this rank knows from one of its chunks, directly or in a mirror."""

    region: Region
    patch: Transformed

    @property
    def inside(self) -> tuple[slice, slice, slice]:
        """Slices of the patch in an array of the region's shape."""
        return self.patch.box.slices(self.region.box.lo)


class FourierMonitor(ABC):
    """Base class of monitors of Fourier-transformed fields.

    Invariants: `record` is called once per step after `bind`. Up to round-off, results don't depend on the partition
    of the cell. `load` reads the files of `save` with any layout.

    Parameters
    ----------
    frequencies : sequence of floats
        In c/a.
    every : int, optional
        Sampling interval in steps. By default the largest that the bands of sources and monitor allow in a linear
        medium (see `evenly.fdtd.monitors.fourier.decimation`). Use 1 (every step) for nonlinear media.
    name : str
        Name for messages.
    """

    kind = "monitor"

    def __init__(self, frequencies: ArrayLike, *, every: int | None = None, name: str = "") -> None:
        self.name = name
        self.frequencies = check_frequencies(frequencies, self.label)
        if every is not None and (every < 1 or every != every // 1):
            raise InputError(f"`every` of {self.label} must be a whole number of at least 1, but got {every!r}.")
        self.every = every
        self.patches: list[FourierPatch] = []
        self._held: list[Held] = []
        self._local: dict[str, list[Local]] = {}
        self._regions: list[Region] = []
        self._waiting: list[tuple[MonitorData, float]] = []
        self._stage: Stage | None = None

    @property
    def label(self) -> str:
        """Name of the monitor in messages."""
        return f"the {self.kind} {self.name!r}" if self.name else f"the {self.kind}"

    @abstractmethod
    def regions(self, grid: Grid) -> list[Region]:
        """Return the regions (component and box) that are transformed on `grid`.

        Raises
        ------
        InputError
            If the monitor does not fit the cell.
        """

    def bind(self, stage: Stage) -> None:
        """Create the patches for the chunks of this rank; data that were loaded before are added to them.

        Parameters
        ----------
        stage : Stage
            The simulation.
        """
        self._stage = stage
        self._regions = self.regions(stage.grid)
        phases = Phases(self.frequencies, stage.grid.dt, self.sampling(stage))
        self._held, self._local = [], {}
        for region in self._regions:
            seen = _seen(stage, region)
            held = [
                Held(region, _patch(chunk, region, inside, phases))
                for piece in disjoint([box for _, box in seen])
                for chunk in stage.chunks
                if not (inside := piece & chunk.box).empty
            ]
            self._held += held
            self._local[region.key] = [
                Local(
                    region, one.patch if image.direct and part == one.patch.box else _InMirror(one.patch, part, image)
                )
                for image, box in seen
                for one in held
                if not (part := box & one.patch.box).empty
            ]
        self.patches = [one.patch for one in self._held]
        waiting, self._waiting = self._waiting, []
        for data, factor in waiting:
            self._add(data, factor)

    def sampling(self, stage: Stage) -> int:
        """Return the sampling interval in steps for a simulation."""
        if self.every is not None:
            return self.every
        bands = [source.pulse.band()[1] for source in stage.sources]
        if not bands or not getattr(stage, "is_linear", True):
            return 1
        widest = decimation(stage.grid.dt, max(bands), float(self.frequencies.max()))
        return min(widest, stage.decimation or widest)

    def record(self, step: int) -> None:
        """Sample the fields of `step`; E is at ``step * dt``, H half a step later."""
        for patch in self.patches:
            patch.record(step)

    def flush(self) -> None:
        """Add the buffered samples to the transforms."""
        for patch in self.patches:
            patch.flush()

    def parts(self) -> list[Held]:
        """Return the kept parts of the regions in this rank's chunks."""
        return list(self._held)

    def squares(self) -> NDArray[np.float64]:
        """Return squared fields, summed over this rank's points and their images, (n_frequencies,)."""
        total = np.zeros(len(self.frequencies))
        for one in (one for parts in self._local.values() for one in parts):
            if isinstance(one.patch, FourierPatch):
                total += one.patch.squares()
            else:
                total += np.sum(np.abs(one.patch.values()) ** 2, axis=(1, 2, 3))
        return total

    def component_points(self, grid: Grid) -> int:
        """Return the number of values per sample on all ranks together, for real fields."""
        return sum(region.box.volume for region in self.regions(grid))

    def data(self, *keys: str) -> MonitorData:
        """Return the transforms of all regions, or of those in `keys`, gathered on every rank (all ranks must call)."""
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
            If the file can't be written.
        """
        data = self.data()
        if self.stage.communicator.rank == 0:
            write_data(Path(path), data)

    def load(self, path: Path | str) -> None:
        """Replace the transforms by those saved by a monitor of the same kind, frequencies and place.

        Raises
        ------
        ReadError
            If the file can't be read or was saved by another monitor.
        """
        self.add(read_data(Path(path)), 1.0, fresh=True)

    def load_minus(self, path: Path | str) -> None:
        """Subtract saved transforms, such as those of the incident field, from this monitor's.

        Raises
        ------
        ReadError
            If the file can't be read or was saved by another monitor.
        """
        self.add(read_data(Path(path)), -1.0)

    def add(self, data: MonitorData, factor: float = 1.0, *, fresh: bool = False) -> None:
        """Add `factor` times the transforms in `data`; with `fresh`, discard the monitor's own transforms first.

        Raises
        ------
        InputError
            If the data belong to other frequencies or another place.
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
        # All are checked before any is changed.
        for one, more in [(one, factor * self._given(data, one)) for one in self._held]:
            one.patch.replace(more if fresh else one.patch.values() + more)

    def _given(self, data: MonitorData, held: Held) -> NDArray[np.complex128]:
        """Return the transforms of data at the points of a patch, which the data's images must agree on."""
        box, array, key = held.patch.box, data.arrays[held.region.key], held.region.key
        found = np.full((len(self.frequencies), *box.shape), np.nan + 0j)
        slack = _ALIKE * float(np.abs(array).max(initial=0.0))
        for image, wanted in _seen(self.stage, held.region):
            part = wanted & box
            if part.empty:
                continue
            seen = array[(slice(None), *image.turned(part).slices(held.region.box.lo))]
            mine = found[(slice(None), *part.slices(box.lo))]
            new = image.factor * image.flipped(seen)
            if np.any(np.abs(mine - new) > slack):
                raise InputError(
                    f"The data for {self.label} ({key}) are not those of a symmetric cell, so they can't be loaded "
                    "into one with mirror symmetries: leave out `symmetries` here, or save the data of a symmetric run."
                )
            mine[...] = new
        return found


def _patch(chunk: Any, region: Region, box: Box, phases: Phases) -> FourierPatch:
    return FourierPatch(chunk, region.component, box, phases, average=region.average, difference=region.difference)


def kept_boxes(stage: Any, regions: Sequence[Region]) -> list[tuple[Region, Box]]:
    """Return the boxes of kept points that are transformed for regions, which don't overlap within a region."""
    return [(one, box) for one in regions for box in disjoint([box for _, box in _seen(stage, one)])]


def disjoint(boxes: Sequence[Box]) -> list[Box]:
    """Return boxes that cover the same points, each once.

    Examples
    --------
    >>> disjoint([Box((0, 0, 0), (2, 1, 1)), Box((1, 0, 0), (3, 1, 1))])
    [Box(lo=(0, 0, 0), hi=(2, 1, 1)), Box(lo=(2, 0, 0), hi=(3, 1, 1))]
    """
    found: list[Box] = []
    for box in boxes:
        fresh = [] if box.empty else [box]
        for known in found:
            fresh = [part for piece in fresh for part in piece.without(known)]
        found += fresh
    return found


def _seen(stage: Any, region: Region) -> list[tuple[Image, Box]]:
    """Return the images of the kept points that a region shows, and the kept points themselves."""
    layers = getattr(stage, "layers", None)
    whole = Image(stage.grid.box, (None, None, None), 1)
    found = [whole] if layers is None else layers.images(region.component, region.average)
    if region.difference:
        # In a mirror, above is below.
        turned = [image.sums[region.average or 0] is not None for image in found]
        found = [replace(i, factor=-i.factor) if t else i for i, t in zip(found, turned, strict=True)]
    return [(image, box) for image in found if not (box := image.turned(region.box & image.seen)).empty]
