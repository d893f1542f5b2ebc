"""Reading checkpoints, on any layout and number of ranks.

Every rank reads the arrays that hold points of its own chunks, each once, from the parts of all ranks that wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.stepping.chunk_state import dense_arrays, meeting, packed_arrays, place_box
from evenly.fdtd.storage.checkpoint_files import PartReader, part_name, together
from evenly.fdtd.storage.checkpoint_folder import read_manifest
from evenly.fdtd.storage.checkpoint_manifest import check_same, remember

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["load"]

Array = NDArray[Any]


def load(sim: Fields, path: Path | str) -> Any:
    """Go on from a checkpoint (all ranks must call); returns its `extra`.

    Parameters
    ----------
    sim : Fields
        The same cell, resolution, media, layers and monitors as that which was saved; ranks and layout may differ.
    path : Path or str
        Its folder.

    Raises
    ------
    ReadError
        There is no whole checkpoint, or it is that of another simulation; the message says what differs.
    """
    folder, communicator = Path(path), sim.communicator
    first = communicator.rank == 0
    manifest = communicator.bcast(together(communicator, lambda: read_manifest(folder) if first else None, "Loading"))
    check_same(sim, folder, manifest)
    sim.stepper.settle()
    with sim.timer("output"):
        together(communicator, lambda: _Reading(sim, folder, manifest).all(), f"Loading {folder}")
    sim.step_count = int(manifest["step"])
    sim.resumed = dict(manifest["conditions"])
    sim.stepper.refresh()
    remember(sim, folder, manifest["data"])
    return manifest["extra"]


class _Reading:
    """One loading."""

    def __init__(self, sim: Fields, folder: Path, manifest: dict[str, Any]) -> None:
        self._sim, self._manifest, self._folder = sim, manifest, folder / manifest["data"]
        self._dense = {chunk.index: dense_arrays(chunk) for chunk in sim.chunks}
        self._packed = {chunk.index: packed_arrays(chunk) for chunk in sim.chunks}
        self._filled: dict[str, int] = {}

    def all(self) -> None:
        """Read everything."""
        for rank, table in enumerate(self._manifest["ranks"]):
            chunks = [row for row in table["chunks"] if self._touched(row)]
            patches = [row for row in table["patches"] if list(self._local(row))]
            if chunks or patches or (rank == 0 and self._sim.monitors):
                part = PartReader(self._folder / part_name(rank))
                for row in chunks:
                    self._read_chunk(part, row)
                for row in patches:
                    self._read_patch(part, row)
                if rank == 0:
                    self._read_recorders(part)
                part.close()
        self._check_filled()

    def _touched(self, row: dict[str, Any]) -> list[tuple[Chunk, Box]]:
        both = [(chunk, chunk.box & _box(row)) for chunk in self._sim.chunks]
        return [(chunk, inside) for chunk, inside in both if not inside.empty]

    def _read_chunk(self, part: PartReader, row: dict[str, Any]) -> None:
        box, touched = _box(row), self._touched(row)
        for n, name in enumerate(row["dense"]):
            values = part.read(f"chunk{row['index']}/dense{n}")
            for chunk, inside in touched:
                target = self._dense[chunk.index].get(name)
                if target is not None:
                    target[inside.slices(chunk.box.lo)] = values[inside.slices(box.lo)]
                    self._fill(name, inside.volume)
        for n, names in enumerate(row["packed"]):
            self._read_packed(part, row, n, names)

    def _read_packed(self, part: PartReader, row: dict[str, Any], n: int, names: list[str]) -> None:
        box = place_box(names, _box(row))
        points = part.read(f"chunk{row['index']}/points{n}")
        # Where in the packed arrays each point of the box is, from 1; 0 where it isn't.
        where = np.zeros(box.volume, np.int64)
        where[points] = np.arange(1, len(points) + 1)
        for k, name in enumerate(names):
            values = part.read(f"chunk{row['index']}/packed{n}.{k}")
            for chunk, _ in self._touched(row):
                for group in (g for g in self._packed[chunk.index] if name in g.arrays):
                    own, there = meeting(group, box, where)
                    group.fill(name, own, values[there])

    def _fill(self, name: str, points: int) -> None:
        self._filled[name] = self._filled.get(name, 0) + points

    def _check_filled(self) -> None:
        wanted: dict[str, int] = {}
        for dense in self._dense.values():
            for name, values in dense.items():
                wanted[name] = wanted.get(name, 0) + values.size
        missing = [name for name, points in wanted.items() if self._filled.get(name, 0) != points]
        for group in (group for groups in self._packed.values() for group in groups):
            missing += [name for name, points in group.missing.items() if points]
        if missing:
            raise ReadError(self._folder, f"{missing[0]} is not there at all points: the checkpoint is damaged")

    def _local(self, row: list[Any]) -> Iterator[Any]:
        n, _, key, lo, hi = row
        box = Box(tuple(lo), tuple(hi))
        monitor = self._sim.monitors[n]
        for local in monitor.parts() if isinstance(monitor, FourierMonitor) else ():
            if local.region.key == key and not (local.patch.box & box).empty:
                yield local

    def _read_patch(self, part: PartReader, row: list[Any]) -> None:
        n, p, _, lo, hi = row
        state = {name: part.read(f"monitor{n}/{p}/{name}") for name in ("real", "imag", "kept", "first")}
        for local in self._local(row):
            local.patch.restore(Box(tuple(lo), tuple(hi)), state)

    def _read_recorders(self, part: PartReader) -> None:
        for n, monitor in enumerate(self._sim.monitors):
            if not isinstance(monitor, FourierMonitor):
                recorder: Any = monitor
                recorder.restore({name: part.read(f"monitor{n}/{name}") for name in ("steps", "corners")})


def _box(row: dict[str, Any]) -> Box:
    return Box(tuple(row["lo"]), tuple(row["hi"]))
