r"""Fields and media in HDF5 files that any tool can read, written by all ranks at once.

Each rank writes what it owns to a part of its own, ``fields.rank0003.h5``, and ``fields.h5`` holds one virtual data set
per component that reads as the whole array. Names of parts in it are relative: move them together. Where the installed
h5py is built for parallel HDF5, all ranks write into the one file instead; so does a program that runs alone.

A data set has the attributes ``component``, ``time`` (a/c), ``offset`` (of its points from the nodes, in grid spacings
along x, y, z) and its coordinates (in a) as dimension scales; the file has ``time``, ``step``, ``dt``, ``resolution``,
``cell``, ``first`` (global index of the first point), ``units`` and ``format``. Points of a part that is missing read
as nan.

>>> import h5py, tempfile
>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(2, 1, 0), resolution=10)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = write(sim, f"{folder}/fields.h5", ["Ez", "epsilon"])
...     with h5py.File(path) as file:
...         file["Ez"].shape, float(file["epsilon"][3, 4, 0]), file["Ez"].dims[0]["x"][0].round(3)
((20, 10, 1), 1.0, np.float64(-1.0))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, MissingExtraError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.storage.guarded_file import guarded
from evenly.fdtd.storage.output_places import (
    Existing,
    Region,
    check_writable,
    part_path,
    region_box,
    with_suffix,
)
from evenly.fdtd.storage.output_values import (
    SLAB_POINTS,
    Average,
    Piece,
    check_components,
    exchange_for_nodes,
    field_slabs,
    media_slabs,
    pieces,
    place,
)
from evenly.writing import check_replaceable, is_own, new_beside, put

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["FORMAT", "check_writable", "output_bytes", "part_path", "region_box", "write"]

FORMAT = "evenly fdtd fields 1"
Slabs = Iterable[tuple[Box, NDArray[Any]]]


def write(
    sim: Fields,
    path: Path | str,
    components: Sequence[str] = ("Ex", "Ey", "Ez"),
    *,
    region: Region = None,
    average: Average = None,
    existing: Existing = "replace",
) -> Path:
    """Write components as they are now; all ranks must call.

    Parameters
    ----------
    sim : Fields
    path : Path or str
        The file; ``.h5`` is added where it has no suffix. Its folder is made.
    components : sequence of str
        ``"Ex"`` … ``"Hz"``; ``"epsilon"`` and ``"mu"``, the instantaneous ε and μ averaged over the axes, or
        ``"epsilon_x"`` … at the places of the fields. Media may be written before the first step.
    region : Box or (center, size), optional
        Global indices, or where in a; the whole cell when left out.
    average : "nodes", optional
        Average fields to the nodes of the grid; each is at its own place on the Yee grid when left out.
    existing : "replace" or "error"
        What to do if the file is there.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If something breaks a rule, or the file can't be written: on all ranks, with the text of the one that failed.
    MissingExtraError
        If h5py is not installed.
    """
    names, box = check_components(components), region_box(sim, region)
    if average not in (None, "nodes") or existing not in ("replace", "error"):
        raise InputError(
            '`average` must be "nodes" or None and `existing` "replace" or "error", '
            f"but got {average!r} and {existing!r}."
        )
    h5py = _h5py()
    with sim.timer("output"):
        target = _Target(sim, with_suffix(Path(path)), names, box, average, h5py)
        with _together(sim, f"{target.path} can't be written"):
            check_writable(target.path, output_bytes(sim, names, box), existing=existing)
        target.prepare()
        target.write()
    return target.path


def output_bytes(sim: Fields, components: Sequence[str], region: Region = None) -> int:
    """Return how many bytes a file of these components takes.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> output_bytes(Simulation(cell=(1, 1, 1), resolution=10), ["Ez", "epsilon"])
    16000
    """
    points = region_box(sim, region).volume
    return points * sum(_type(sim, name).itemsize for name in check_components(components))


class _Target:
    """One writing: who writes what where."""

    def __init__(self, sim: Fields, path: Path, names: Sequence[str], box: Box, average: Average, h5py: Any) -> None:
        self.sim, self.path, self.names, self.box, self.average, self.h5py = sim, path, names, box, average, h5py
        self.rank, self.size = sim.communicator.rank, sim.communicator.size
        self.pieces = {name: pieces(sim, name, box, average) for name in names}
        self.new: list[Path] = []
        self.shared = self.size > 1 and h5py.get_config().mpi and hasattr(sim.communicator, "comm")

    def prepare(self) -> None:
        """Make the fields, and the points around chunks where averages need them, ready to be read."""
        fields = [name for name in self.names if name in COMPONENTS]
        if fields:
            self.sim.stepper.settle()
            if self.average:
                exchange_for_nodes(self.sim, fields)

    def write(self) -> None:
        try:
            if self.size == 1 or self.shared:
                self._one_file()
            else:
                self._parts()
        finally:
            for path in self.new:
                if path.is_file():  # a device or a pipe is written to directly
                    path.unlink(missing_ok=True)
        self._remove_stale()

    def _one_file(self) -> None:
        """All ranks write into the file itself."""
        with self._together():
            partial = self._beside(self.path)
        partial = self.sim.communicator.bcast(partial)
        with self._together():
            shared = {"driver": "mpio", "comm": getattr(self.sim.communicator, "comm", None)}
            with self.h5py.File(partial, "w", **shared) if self.shared else self._new(partial) as file:
                for name in self.names:
                    self._describe(file, name, file.create_dataset(name, self.box.shape, _type(self.sim, name)))
                for name in self.names:
                    _fill(file[name], self.box, self._shares(name) if self.shared else self._planes(name))
        with self._together():
            if self.rank == 0:
                put(partial, self.path)

    def _parts(self) -> None:
        """Each rank writes a file of its own, and the master one that shows them all as one array."""
        part = part_path(self.path, self.rank)
        own = any(self._own(name) for name in self.names)
        with self._together():
            if own:
                # The name is evenly's choice, not the user's.
                check_replaceable([part])
            partial, whole = self._beside(part), self._beside(self.path)
            if own:
                self._write_part(partial)
            if self.rank == 0:
                self._write_whole(whole)
        # From here on, nothing needs space on the disk.
        with self._together():
            # The old file must not show a mixture of old and new parts, whatever happens now.
            if self.rank == 0:
                self.path.unlink(missing_ok=True)
        with self._together():
            if own:
                put(partial, part)
        with self._together():
            if self.rank == 0:
                put(whole, self.path)

    def _beside(self, path: Path) -> Path:
        """Return where a file is written before it is complete."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.new.append(new_beside(path))
        return self.new[-1]

    def _write_part(self, path: Path) -> None:
        with self._new(path) as file:
            file.attrs["format"], file.attrs["rank"], file.attrs["whole"] = FORMAT, self.rank, self.path.name
            for name in self.names:
                for piece in self._own(name):
                    data = file.create_dataset(f"{name}/{piece.number}", piece.seen.shape, _type(self.sim, name))
                    _fill(data, piece.seen, self._values(name, piece, piece.seen))

    def _write_whole(self, path: Path) -> None:
        with self._new(path) as file:
            for name in self.names:
                kind = _type(self.sim, name)
                layout = self.h5py.VirtualLayout(self.box.shape, kind)
                for piece in self.pieces[name]:
                    source, shape = part_path(self.path, piece.owner).name, piece.seen.shape
                    part = self.h5py.VirtualSource(source, f"{name}/{piece.number}", shape)
                    layout[piece.seen.slices(self.box.lo)] = part
                self._describe(file, name, file.create_virtual_dataset(name, layout, fillvalue=kind.type(np.nan)))

    @contextmanager
    def _new(self, path: Path) -> Iterator[Any]:
        with guarded(path) as raw, self.h5py.File(raw, "w") as file:
            yield file

    def _own(self, name: str) -> list[Piece]:
        """Return what this rank writes of a component."""
        return [piece for piece in self.pieces[name] if piece.owner == self.rank]

    def _values(self, name: str, piece: Piece, box: Box) -> Slabs:
        """Yield slabs that tile a box inside a piece, with their values."""
        if name not in COMPONENTS:
            yield from media_slabs(self.sim, name, box)
            return
        chunk = next(chunk for chunk in self.sim.chunks if chunk.index == piece.chunk)
        image = piece.image
        for slab, values in field_slabs(self.sim, chunk, name, image.turned(box), self.average):
            yield image.turned(slab), values if image.direct else image.factor * image.flipped(values)

    def _shares(self, name: str) -> Slabs:
        """Yield this rank's points, chunk by chunk."""
        for piece in self._own(name):
            yield from self._values(name, piece, piece.seen)

    def _planes(self, name: str) -> Slabs:
        """Yield all points as whole planes, which lie together in the file: rows of chunks are slow to write."""
        for slab in self.box.slabs(0, SLAB_POINTS):
            values = np.empty(slab.shape, _type(self.sim, name))
            for piece in self._own(name):
                if not (piece.seen & slab).empty:
                    _fill(values, slab, self._values(name, piece, piece.seen & slab))
            yield slab, values

    def _describe(self, file: Any, name: str, data: Any) -> None:
        """Write attributes and coordinates of a component, and those of the file if it is the first."""
        sim, where = self.sim, place(name, self.average)
        if "format" not in file.attrs:
            file.attrs.update(_about(sim, self.box))
        time = (sim.step_count + 0.5) * sim.grid.dt if name[0] == "H" else sim.time
        data.attrs.update({"component": name, "time": time, "offset": where})
        for axis, letter in enumerate("xyz"):
            scale = f"{letter}_half" if where[axis] else letter
            if scale not in file:
                nodes = sim.grid.coordinates("node", axis, self.box.lo[axis], self.box.hi[axis])
                file[scale] = nodes if sim.grid.thin[axis] else nodes + where[axis] * sim.grid.dx
                file[scale].make_scale(letter)
                file[scale].attrs["units"] = "a"
            data.dims[axis].attach_scale(file[scale])
            data.dims[axis].label = letter

    def _remove_stale(self) -> None:
        """Remove parts that a former writing left and this one doesn't have."""
        used = set()
        if self.size > 1 and not self.shared:
            used = {part_path(self.path, piece.owner) for found in self.pieces.values() for piece in found}
        if self.rank == 0:
            for old in self.path.parent.glob(f"{self.path.stem}.rank[0-9][0-9][0-9][0-9]*{self.path.suffix}"):
                if old not in used and is_own(old):
                    old.unlink(missing_ok=True)

    def _together(self) -> Any:
        return _together(self.sim, f"{self.path} can't be written")


def _fill(data: Any, box: Box, slabs: Slabs) -> None:
    """Write slabs into an array or data set that holds the points of `box`."""
    for slab, values in slabs:
        data[slab.slices(box.lo)] = values


@contextmanager
def _together(sim: Fields, what: str) -> Iterator[None]:
    """Raise on all ranks what went wrong on any; every rank must come here."""
    failure: str | None = None
    try:
        yield
    except InputError as error:
        failure = str(error)
    except (OSError, RuntimeError) as error:
        failure = f"{what} by rank {sim.communicator.rank}: {_reason(error)}"
    failures = [text for text in sim.communicator.allgather(failure) if text]
    if failures:
        raise InputError(failures[0])


def _reason(error: Exception) -> str:
    """Return what the system said and what to do."""
    told = getattr(error, "strerror", None) or " ".join(str(error).split())
    return f"{told}. Free space on the disk, or give another path."


def _about(sim: Fields, box: Box) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "time": sim.time,
        "step": sim.step_count,
        "dt": sim.grid.dt,
        "resolution": sim.grid.resolution,
        "cell": sim.grid.size,
        "first": box.lo,
        "units": "lengths in a, times in a/c, frequencies in c/a (c = 1)",
    }


def _type(sim: Fields, name: str) -> np.dtype[Any]:
    if name not in COMPONENTS:
        return np.dtype(np.float64)
    real = np.dtype(sim.options.precision)
    return np.result_type(real, np.complex64) if sim.parts == 2 else real


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("Writing HDF5 files", extra="hdf5") from None
    return h5py
