"""A slice through a simulation, for pictures: media, one field component, chunks, layers, monitors, sources.

>>> from evenly.fdtd.structures import build
>>> from evenly.fdtd.structures.programs import load
>>> program = load("oled")
>>> view = take_view(program.simulation, program.monitors, Look(across="y"))
>>> view.axes, view.index.shape, len(view.chunks) > 1
(('x', 'z'), (60, 38), True)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.grid import Grid, Vector, vector
from evenly.fdtd.media.structure import Response
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.monitors.near_to_far import NearToFar
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.structures.example import Look
from evenly.memory import read_arrays
from evenly.writing import MARK, replacing

__all__ = ["Area", "View", "take_view"]

# Corners in a: low and high along the picture's two axes.
Corners = tuple[float, float, float, float]


@dataclass(frozen=True)
class Area:
    """A rectangle in a slice.

    Parameters
    ----------
    label : str
        Name of a monitor or source; ``"PML"`` or ``"absorber"``.
    corners : four floats
        Low and high along the first axis, low and high along the second, in a.
    owner : int
        The rank that owns it, for a chunk.
    filled : bool
        Whether the area itself belongs to the object, not only its outline.
    """

    label: str
    corners: Corners
    owner: int = 0
    filled: bool = False


@dataclass(frozen=True)
class View:
    """The contents of a picture of a simulation.

    Attributes
    ----------
    name : str
        Name of the simulated structure.
    axes : two letters
        The horizontal and the vertical axis of the picture.
    across : letter
        The axis normal to the slice.
    at : float
        Position of the slice along this axis, in a, moved to the nearest grid points.
    extent : four floats
        The cell's ends, as in `Area`.
    index : complex array (n1, n2)
        Square root of the mean permittivity at `frequency`.
    frequency : float
        In c/a.
    snapshot : array (n1, n2) or None
        The field `component` at `time`.
    component : str
    time : float
    chunks, layers, monitors, sources : sequence of Area
        Those that the slice intersects.
    ranks, total_chunks : int
        Number of ranks and of chunks of the whole cell.
    unit : str
        The unit of length.
    """

    name: str
    axes: tuple[str, str]
    across: str
    at: float
    extent: Corners
    index: NDArray[np.complex128]
    frequency: float
    snapshot: NDArray[np.float64] | None = None
    component: str = ""
    time: float = 0.0
    chunks: Sequence[Area] = ()
    layers: Sequence[Area] = ()
    monitors: Sequence[Area] = ()
    sources: Sequence[Area] = ()
    ranks: int = 1
    total_chunks: int = 1
    unit: str = "a"

    def save(self, path: Path | str) -> Path:
        """Write the view to a .npz file without pickled objects.

        Raises
        ------
        InputError
            If it can't be written.
        """
        path = Path(path)
        arrays = {"index": self.index, "snapshot": np.zeros((0, 0)) if self.snapshot is None else self.snapshot}
        about = {name: value for name, value in asdict(self).items() if name not in arrays}
        try:
            with replacing(path) as new, new.open("wb") as file:
                # The name of an empty array is what shows in the packed file that evenly wrote it.
                named = {MARK: np.zeros(0), "about": np.array(json.dumps(about)), **arrays}
                np.savez_compressed(file, **named)  # type: ignore[arg-type]
        except OSError as error:
            raise InputError(f"A view can't be written to {path}: {error.strerror or error}.") from None
        return path

    @classmethod
    def load(cls, path: Path | str) -> View:
        """Read a file that `save` wrote.

        Raises
        ------
        ReadError
            If there is none or it is something else.
        """
        try:
            file = read_arrays(path)
            about = json.loads(str(file["about"]))
            shown = file["snapshot"]
            index = file["index"]
        except ReadError:
            raise
        except (OSError, ValueError, KeyError, RecursionError) as error:
            raise ReadError(Path(path), f"it is no view of a simulation: {error}") from None
        for name in ("chunks", "layers", "monitors", "sources"):
            about[name] = [Area(**{**one, "corners": tuple(one["corners"])}) for one in about[name]]
        about |= {"axes": tuple(about["axes"]), "extent": tuple(about["extent"])}
        return cls(**about, index=index, snapshot=shown if shown.size else None)


def take_view(
    simulation: Simulation,
    monitors: Mapping[str, FourierMonitor],
    look: Look,
    *,
    name: str = "",
    unit: str = "a",
    with_field: bool = False,
    ranks: int | None = None,
) -> View:
    """Return a view of the present state of a simulation; all ranks must call it, because the field is gathered.

    Parameters
    ----------
    simulation : Simulation
    monitors : mapping of str to monitor
        The monitors to mark.
    look : Look
        Position of the slice; in two dimensions the slice is the whole cell.
    name, unit : str
        Name of the simulation, and its unit of length.
    with_field : bool
        Whether to take a snapshot of the field. This allocates the simulation's arrays.
    ranks : int, optional
        Number of ranks for which the chunks are shown.

    Raises
    ------
    InputError
        If the cell has one dimension only, or the slice lies outside of it.
    """
    grid = simulation.grid
    axis = _across(grid, look)
    layer = _layer(grid, axis, look)
    first, second = (a for a in range(3) if a != axis)
    frequency = _middle_frequency(simulation, monitors)
    boxes = simulation.chunk_boxes if ranks is None else simulation.boxes_on(ranks)
    cut = [(chunk.box & layer, chunk.owner) for chunk in boxes]
    snapshot = simulation.field(look.component, layer).real if with_field else None
    return View(
        name=name,
        axes=(AXES[first], AXES[second]),
        across=AXES[axis],
        at=float(grid.coordinates("node", axis, layer.lo[axis], layer.hi[axis])[0]),
        extent=_corners(grid, layer, first, second),
        index=_index(simulation, layer, frequency).squeeze(axis),
        frequency=frequency,
        snapshot=None if snapshot is None else np.asarray(snapshot.squeeze(axis), dtype=np.float64),
        component=look.component,
        time=simulation.time,
        chunks=[Area("", _corners(grid, box, first, second), owner) for box, owner in cut if not box.empty],
        layers=_layers(simulation, layer, first, second),
        monitors=list(_marked(grid, layer, (first, second, axis), monitors)),
        sources=_sources(simulation, first, second),
        ranks=simulation.communicator.size if ranks is None else ranks,
        total_chunks=len(boxes),
        unit=unit,
    )


def _across(grid: Grid, look: Look) -> int:
    if grid.dimensions == 1:
        raise InputError("A slice needs a cell of two or three dimensions, but this one has one: plot its spectrum.")
    return grid.thin.index(True) if any(grid.thin) else AXES.index(look.across)


def _layer(grid: Grid, axis: int, look: Look) -> Box:
    at = 0 if grid.thin[axis] else round(grid.index(look.at, axis))
    if not 0 <= at <= grid.shape[axis]:
        reach = grid.shape[axis] * grid.dx / 2
        raise InputError(f"A slice must lie inside the cell, from {-reach:g} to {reach:g} along {AXES[axis]}: {look}.")
    at = min(at, grid.shape[axis] - 1)
    return grid.box.replace(axis, at, at + 1)


def _middle_frequency(simulation: Simulation, monitors: Mapping[str, FourierMonitor]) -> float:
    for monitor in monitors.values():
        return float(np.median(monitor.frequencies))
    pulses = [getattr(source.pulse, "frequency", None) for source in simulation.sources]
    return next((float(f) for f in pulses if f), 1.0)


def _index(simulation: Simulation, layer: Box, frequency: float) -> NDArray[np.complex128]:
    parts = []
    longest = max(range(3), key=lambda a: layer.shape[a])
    for slab in layer.slabs(longest, 500_000):
        electric = simulation.structure.sample(slab).electric
        parts.append(np.sqrt(np.mean([_epsilon(electric, a, slab, frequency) for a in range(3)], axis=0)))
    return np.asarray(np.concatenate(parts, axis=longest))


def _epsilon(electric: Response, axis: int, box: Box, frequency: float) -> NDArray[np.complex128]:
    total: Any = np.zeros(box.shape, np.complex128) + 1 / np.asarray(electric.inverse[axis])
    for pole, strengths in electric.poles.items():
        strength = strengths[axis]
        if strength is not None:
            total = total + pole.susceptibility(frequency)[axis] * strength
    return np.asarray(total)


def _corners(grid: Grid, box: Box, first: int, second: int) -> Corners:
    ends = [grid.origin[a] + i * grid.dx for a in (first, second) for i in (box.lo[a], box.hi[a])]
    return ends[0], ends[1], ends[2], ends[3]


def _layers(simulation: Simulation, layer: Box, first: int, second: int) -> list[Area]:
    found = []
    for what in ("pml", "absorber"):
        for axis in (first, second):
            for low, high in simulation.layers.ranges(axis, what):
                if high > low:
                    corners = _corners(simulation.grid, layer.replace(axis, low, high), first, second)
                    found.append(Area("PML" if what == "pml" else "absorber", corners))
    return found


def _marked(
    grid: Grid, layer: Box, axes: tuple[int, int, int], monitors: Mapping[str, FourierMonitor]
) -> Iterator[Area]:
    first, second, across = axes
    place = grid.origin[across] + layer.lo[across] * grid.dx
    for name, monitor in monitors.items():
        center, size = (vector(getattr(monitor, what, (0, 0, 0)), what) for what in ("center", "size"))
        reach = size[across] / 2 + grid.dx / 2
        if grid.thin[across] or abs(center[across] - place) <= reach * (1 + 1e-9):
            filled = not isinstance(monitor, (Flux, NearToFar))
            yield Area(name, _clipped(grid, center, size, first, second), filled=filled)


def _clipped(grid: Grid, center: Vector, size: Vector, first: int, second: int) -> Corners:
    ends = [
        min(max(center[a] + sign * size[a] / 2, grid.origin[a]), -grid.origin[a])
        for a in (first, second)
        for sign in (-1, 1)
    ]
    return ends[0], ends[1], ends[2], ends[3]


def _sources(simulation: Simulation, first: int, second: int) -> list[Area]:
    found = {}
    for source in simulation.sources:
        corners = _clipped(simulation.grid, source.center, source.size, first, second)
        found[corners] = Area(source.name or source.component, corners)
    return list(found.values())
