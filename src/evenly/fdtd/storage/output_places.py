"""Where output goes and what of the cell it covers, checked before a long run rather than after it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import vector

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["Existing", "Region", "check_writable", "part_path", "region_box", "with_suffix"]

Existing = Literal["replace", "error"]
#: A Box of global indices, or (center, size) in a.
Region = Box | tuple[Sequence[float], Sequence[float]] | None


@explained
def check_writable(path: Path | str, bytes: float = 0, *, existing: Existing = "replace") -> None:  # noqa: A002
    """Check, before a long run, that a file of so many bytes can be written.

    Parameters
    ----------
    path : Path or str
        The file; its folder need not exist.
    bytes : float
        How many it will hold.
    existing : "replace" or "error"
        Whether it may exist.

    Raises
    ------
    InputError
        If it can't; the message says why and what to do.

    Examples
    --------
    >>> check_writable(Path(tempfile.gettempdir(), "fields.h5"), 1000)
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"A file to write must not be a folder, but {path} is one: give the name of a file in it.")
    if existing == "error" and path.exists():
        raise InputError(f"{path} exists already: give another name, or let it be replaced.")
    folder = _existing_folder(path)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise InputError(
            f"{path} can't be written: its folder {folder} allows no new file ({error.strerror}): give another path."
        ) from None
    if bytes > free:
        raise InputError(
            f"{path} needs {_size(bytes)}, but only {_size(free)} are free in {folder}: "
            "write fewer components or a smaller region, or give a path on another disk."
        )


def region_box(sim: Fields, region: Region) -> Box:
    """Return the grid points of a region given as box or as (center, size).

    Raises
    ------
    InputError
        If it holds no point of the cell, or reaches out of it.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> region_box(Simulation(cell=(2, 2, 0), resolution=10), ((0.5, 0, 0), (1, 0, 0)))
    Box(lo=(10, 10, 0), hi=(20, 11, 1))
    """
    cell = sim.grid.box
    if region is None:
        return cell
    box = region if isinstance(region, Box) else _around(sim, region)
    if box.empty or not cell.covers(box):
        raise InputError(
            f"A region to write must hold points and lie in the cell, {cell.lo} to {cell.hi}, but {region} is "
            f"{box.lo} to {box.hi}: give a Box of grid points, or (center, size) inside {sim.grid.size}."
        )
    return box


def part_path(path: Path, rank: int) -> Path:
    """Return where a rank writes its part.

    Examples
    --------
    >>> part_path(Path("out/fields.h5"), 3).name
    'fields.rank0003.h5'
    """
    return path.with_name(f"{path.stem}.rank{rank:04d}{path.suffix}")


def _around(sim: Fields, region: Any) -> Box:
    try:
        center, size = (vector(value, name) for value, name in zip(region, ("center", "size"), strict=True))
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"`region` must be a Box or (center, size), but got {region!r}.") from None
    box = sim.grid.box
    for axis in range(3):
        if not sim.grid.thin[axis]:
            first = round(sim.grid.index(center[axis] - size[axis] / 2, axis))
            box = box.replace(axis, first, first + max(1, round(size[axis] * sim.grid.resolution)))
    return box


def _existing_folder(path: Path) -> Path:
    folder = path.absolute().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def with_suffix(path: Path) -> Path:
    """Return the path, with ``.h5`` where it has no suffix.

    Examples
    --------
    >>> with_suffix(Path("fields")).name
    'fields.h5'
    """
    return path if path.suffix else path.with_name(f"{path.name}.h5")


def _size(number: float) -> str:
    return f"{number / 1e9:.3g} GB" if number >= 1e9 else f"{number / 1e6:.3g} MB"
