"""The transforms of a monitor, and their file format.

A file is an uncompressed NumPy archive without pickled objects: the frequencies, a JSON table of regions (component,
box of global grid indices, axis of averaging) and one complex array of shape (n_frequencies, nx, ny, nz) per region.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.box import Box
from evenly.memory import read_arrays
from evenly.writing import replacing

__all__ = ["MonitorData", "Region", "read_data", "write_data"]

_FORMAT = "evenly monitor 1"


@dataclass(frozen=True)
class Region:
    """One component on one box of the cell's grid.

    Parameters
    ----------
    key : str
        Name within its monitor.
    component : str
    box : Box
        Global indices.
    average : int, optional
        Axis along which H is averaged to the plane of the E nodes.
    difference : bool
        Whether to take the difference of H above and below this plane instead.
    """

    key: str
    component: str
    box: Box
    average: int | None = None
    difference: bool = False


@dataclass(frozen=True)
class MonitorData:
    """All Fourier transforms of a monitor.

    Parameters
    ----------
    frequencies : array of shape (n_frequencies,)
        In c/a.
    regions : tuple of Region
    arrays : dict of arrays of shape (n_frequencies, *box.shape)
        The transforms, by the key of the region.

    Examples
    --------
    >>> import tempfile
    >>> region = Region("Ez", "Ez", Box((0, 0, 0), (2, 1, 1)))
    >>> data = MonitorData(np.array([1.0]), (region,), {"Ez": np.ones((1, 2, 1, 1), complex)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_data(Path(folder) / "incident.npz", data)
    ...     read_data(Path(folder) / "incident.npz").regions == data.regions
    True
    """

    frequencies: NDArray[np.float64]
    regions: tuple[Region, ...]
    arrays: dict[str, NDArray[np.complex128]]
    path: Path | None = None

    def check_same(self, frequencies: NDArray[np.float64], regions: Sequence[Region], label: str) -> None:
        """Check that the data fit a monitor with these frequencies and regions.

        Raises
        ------
        InputError
            If they don't (a ReadError if the data come from a file).
        """
        if self.frequencies.shape != frequencies.shape or not np.array_equal(self.frequencies, frequencies):
            raise self._error(
                f"holds {_listed(self.frequencies)} but {label} has {_listed(frequencies)}: use the same frequencies."
            )
        for region in regions:
            if region not in self.regions:
                held = ", ".join(f"{r.component} on {r.box.lo} to {r.box.hi}" for r in self.regions)
                raise self._error(
                    f"has no {region.component} on grid points {region.box.lo} to {region.box.hi}, which {label} "
                    f"needs; it holds {held}: use a monitor of the same kind and place in a cell of the same size and "
                    "resolution."
                )

    def _error(self, reason: str) -> InputError:
        return ReadError(self.path, reason) if self.path else InputError(f"The monitor data given {reason}")


def write_data(path: Path, data: MonitorData) -> None:
    """Write `data` to `path`; an existing file is replaced only when the new one is complete.

    Raises
    ------
    InputError
        If the file can't be written.
    """
    table = [
        {
            "key": r.key,
            "component": r.component,
            "lo": r.box.lo,
            "hi": r.box.hi,
            "average": r.average,
            "difference": r.difference,
        }
        for r in data.regions
    ]
    arrays: dict[str, Any] = {f"values{n}": data.arrays[region.key] for n, region in enumerate(data.regions)}
    try:
        with replacing(path) as new, new.open("wb") as file:
            np.savez(
                file,
                format=np.array(_FORMAT),
                frequencies=data.frequencies,
                regions=np.array(json.dumps(table)),
                **arrays,
            )
    except OSError as error:
        raise InputError(
            f"Monitor data can't be written to {path} ({error.strerror or error}): give a path that can be written to."
        ) from error


def read_data(path: Path) -> MonitorData:
    """Read a file that `write_data` wrote.

    Raises
    ------
    ReadError
        If the file doesn't exist, is damaged, or holds something else.
    """
    try:
        file = read_arrays(path)
        if str(file["format"]) != _FORMAT:
            raise ReadError(path, f"a file of format {_FORMAT!r} was expected, got {str(file['format'])!r}")
        return _unpacked(path, file)
    except OSError as error:
        raise ReadError(path, f"it can't be read ({error.strerror or error}): check the path") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(path, "it is no file of monitor data or it is damaged: save it again") from error


def _unpacked(path: Path, file: Any) -> MonitorData:
    frequencies = np.asarray(file["frequencies"], dtype=np.float64)
    regions, arrays = [], {}
    for n, row in enumerate(json.loads(str(file["regions"]))):
        region = Region(
            row["key"],
            row["component"],
            Box(tuple(row["lo"]), tuple(row["hi"])),
            row["average"],
            row.get("difference", False),
        )
        values = np.asarray(file[f"values{n}"], dtype=np.complex128)
        if values.shape != (len(frequencies), *region.box.shape):
            raise ReadError(path, f"region {region.key!r} should hold {region.box.shape} points, got {values.shape}")
        regions.append(region)
        arrays[region.key] = values
    return MonitorData(frequencies, tuple(regions), arrays, path)


def _listed(frequencies: NDArray[np.float64]) -> str:
    if len(frequencies) == 1:
        return f"the frequency {frequencies[0]:g}"
    return f"{len(frequencies)} frequencies from {frequencies.min():g} to {frequencies.max():g}"
