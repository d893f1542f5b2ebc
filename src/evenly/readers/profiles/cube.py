"""Cube profiles (``.cubex``), as Score-P and Scalasca write them: call paths × metrics × locations.

The parameters stand in the name of the profile's folder, by the rule of Extra-P: ``PROGRAM.PARAMETERS.rN``. Without
such a name, the numbers of processes and threads in the file are the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from evenly.errors import EvenlyError, MissingExtraError, ReadError
from evenly.memory import check_file
from evenly.readers.base import Reader
from evenly.readers.profiles.regions import PATH, Profile, from_folder_name
from evenly.runs.runs import Runs

__all__ = ["CubeReader"]

_UNITS = {"sec": "s", "msec": "ms", "usec": "us", "nsec": "ns", "bytes": "B", "occ": "1", "": "1"}
_NUMBERS = ("DOUBLE", "UINT64", "INT64", "UINT32", "INT32")


class CubeReader(Reader):
    """Reads Cube profiles. Needs the package pycubexr: ``pip install 'evenly[profiles]'``.

    Quantities: ``seconds``, exclusive of called regions, and ``inclusive`` seconds; other metrics (visits, bytes) are
    totals over all locations, exclusive too.

    Parameters
    ----------
    over : {"max", "mean"}
        The time of a region is that of the slowest location (a thread of a process), or the mean over all locations.

    Examples
    --------
    >>> CubeReader().recognises(Path("no/such/profile.cubex"))
    False
    """

    name: ClassVar[str] = "cube"
    summary: ClassVar[str] = "Cube profiles of Score-P and Scalasca (.cubex)"

    def __init__(self, *, over: Literal["max", "mean"] = "max") -> None:
        self.over = over
        self.notes: list[str] = []

    def recognises(self, path: Path) -> bool:
        return path.suffix.lower() == ".cubex" and path.is_file()

    def read(self, path: Path) -> dict[str, Runs]:
        try:
            from pycubexr import CubexParser
        except ImportError:
            raise MissingExtraError("reading Cube profiles", extra="profiles") from None
        self.notes = []
        check_file(path)
        parser = CubexParser(str(path))
        try:
            with parser as cube:
                return self._read(path, cube)
        except EvenlyError:
            raise
        except Exception as error:  # the parser checks little of what it reads, and leaves a broken file open
            if (opened := getattr(parser, "_cubex_file", None)) is not None:
                opened.close()
            raise ReadError(path, f"the file is broken or cut off: {type(error).__name__}: {error}") from None

    def _read(self, path: Path, cube: Any) -> dict[str, Runs]:
        folder = path.resolve().parent.name
        program, point, repetition = from_folder_name(folder)
        if point:
            self.notes.append(f"parameters are from the folder's name: {', '.join(point)}")
        else:
            point = _processes(cube)
            told = "the folder's name has no parameters, as mm.p64n1000.r1 would"
            self.notes.append(f"{told}: those of the file are taken, {', '.join(point)}")
        metrics = [m for m in cube.all_metrics() if m.data_type in _NUMBERS and (m.units or "") in _UNITS]
        clock = next(
            (m for m in metrics if m.name == "time" and _UNITS[m.units or ""] in ("s", "ms", "us", "ns")), None
        )
        if clock is None:
            raise ReadError(path, "there is no metric 'time' in seconds")
        unit = _UNITS[clock.units]
        others = [m for m in metrics if _UNITS[m.units or ""] in ("1", "B")]
        units = {"time": unit, "inclusive": unit} | {m.name: _UNITS[m.units or ""] for m in others}
        profile = Profile(path, units, time="time", notes=self.notes)
        reduce = np.max if self.over == "max" else np.mean
        rows = _by_path(
            cube, [(clock, True, "time"), (clock, False, "inclusive"), *((m, True, m.name) for m in others)]
        )
        for region, values in rows.items():
            found = {n: float(reduce(x) if n in ("time", "inclusive") else x.sum()) for n, x in values.items()}
            profile.add(region, point, found, run=folder, repetition=repetition)
        return {program: profile.runs()}


def _processes(cube: Any) -> dict[str, float]:
    """Return the numbers of processes, and of threads per process where it is above one."""
    locations = [one for one in cube.get_locations() if (one.type or "thread").lower() in ("thread", "cpu thread", "")]
    groups = {id(group) for group in _groups(cube) if group.all_locations()}
    ranks = max(1, len(groups))
    threads = len(locations) / ranks
    return {"ranks": ranks} | ({"threads": threads} if threads > 1 and threads.is_integer() else {})


def _groups(cube: Any) -> Iterator[Any]:
    for node in cube._anchor_result.system_tree_nodes:
        for group in node.all_location_groups():
            if (group.type or "process").lower() in ("process", "mpi rank"):
                yield group


def _by_path(cube: Any, wanted: list[tuple[Any, bool, str]]) -> dict[str, dict[str, Any]]:
    """Return each metric's values by call path, each (n_locations,); paths of one name are added up."""
    from pycubexr.utils.exceptions import MissingMetricError

    rows: dict[str, dict[str, Any]] = {}
    for metric, exclusive, name in wanted:
        try:
            values = cube.get_metric_values(metric)
        except MissingMetricError:
            continue
        stack = [(node, "") for node in reversed(cube.get_root_cnodes())]
        while stack:
            node, above = stack.pop()
            path = above + str(cube.get_region(node).name)
            found = values.cnode_values(node, convert_to_exclusive=exclusive, convert_to_inclusive=not exclusive)
            numbers = np.asarray(found, dtype=np.float64)
            row = rows.setdefault(path, {})
            row[name] = row[name] + numbers if name in row else numbers
            stack += [(child, path + PATH) for child in reversed(node.get_children())]
    return rows
