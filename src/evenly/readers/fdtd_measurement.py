"""Measurements of evenly's own FDTD simulation (``*.fdtd.json``): one run, seconds per rank and phase.

A folder of them becomes one table, so that ``evenly fit study/`` works after ``evenly fdtd scaling … -o study/``. The
parameters are ``ranks`` and whatever else differs between the files: of the structure (resolution, thicknesses) where
all files are of one structure, else the cell's points and what share of them is of each kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal, get_args

import pandas as pd

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.fdtd_file import (
    KINDS,
    MARK,
    OPTIONS,
    PHASES,
    STEPPING,
    SUFFIX,
    UNITS,
    WAITING,
    MeasurementFile,
    parse,
)
from evenly.readers.files import head, is_file
from evenly.readers.registry import Skipped, name_list
from evenly.runs.runs import Runs

__all__ = ["FdtdMeasurementReader"]

Clock = Literal["auto", "wall", "cpu"]


class FdtdMeasurementReader(Reader):
    r"""Reads measurements of evenly's FDTD simulation: files, and folders of them.

    ``seconds`` are those of one time step of the slowest rank; ``run_seconds`` of all measured steps. ``stepping``,
    ``fourier``, ``copying`` and ``waiting`` are the mean over ranks for one step; ``imbalance`` is the largest over the
    mean time that ranks spend on their own points.

    Parameters
    ----------
    parameters : sequence of str or str, optional
        What is a parameter: ``ranks``, ``points``, an option (``threads``, ``precision``), an entry of the structure's
        parameters, or a kind of points (``pml_1d``, …: its share of all points). By default ``ranks`` and what differs.
    clock : "auto", "wall" or "cpu"
        Which time counts. By default wall time, and CPU time of all files if ranks outnumber the cores in one of them.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "box.fdtd.json"
    >>> rank = {"wall": {"fused": 2.0}, "cpu": {"fused": 1.9}}
    >>> content = {"format": "evenly fdtd measurement 1", "name": "box", "size": 1, "steps": 10, "ranks": [rank]}
    >>> _ = path.write_text(json.dumps(content))
    >>> FdtdMeasurementReader().read(path)
    {'box': Runs(1 rows, 1 configurations of ranks; seconds 0.2 to 0.2 s)}
    """

    name: ClassVar[str] = "fdtd-measurement"
    summary: ClassVar[str] = "measurements of evenly's FDTD simulation, files or a folder of them"

    def __init__(self, *, parameters: Sequence[str] | str | None = None, clock: Clock = "auto") -> None:
        if clock not in get_args(Clock):
            raise InputError(f"clock must be one of {', '.join(get_args(Clock))}, but got {clock!r}")
        self.parameters = name_list(parameters)
        self.clock = clock
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []
        # What all files that gave a name had in common: others than these are no repetitions of them.
        self._known: dict[str, dict[str, float | str]] = {}
        self._clocks: set[str] = set()

    def recognises(self, path: Path) -> bool:
        if is_file(path):
            return MARK.match(head(path)) is not None
        return any(_files(path))

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped = [], []
        found = [parse(path)] if path.is_file() else self._folder(path)
        clock = self._choose_clock(found)
        groups: dict[str, list[MeasurementFile]] = {}
        for one in found:
            groups.setdefault(one.name, []).append(one)
        return dict(self._table(name, group, clock, path) for name, group in groups.items())

    def _folder(self, folder: Path) -> list[MeasurementFile]:
        """Read all files of a folder; damaged files are skipped."""
        found: list[MeasurementFile] = []
        failures: list[ReadError] = []
        for path in _files(folder):
            try:
                found.append(parse(path))
            except ReadError as error:
                failures.append(error)
        if not found:
            raise failures[0] if failures else ReadError(folder, f"there is no file *{SUFFIX} in it")
        self.skipped = [Skipped.of(error, folder) for error in failures]
        return found

    def _choose_clock(self, found: Sequence[MeasurementFile]) -> str:
        crowded = [one for one in found if one.crowded and one.ranks]
        if self.clock != "auto":
            return self.clock
        if crowded:
            worst = max(crowded, key=lambda one: one.size * one.threads)
            self.notes.append(
                f"times are CPU times, as ranks outnumber the cores ({worst.size} on {worst.cores}): "
                "clock=wall (-O clock=wall) takes wall times"
            )
        clock = "cpu" if crowded else "wall"
        if self._clocks - {clock}:
            self.notes.append(
                "its times are of another clock than those of files before: read the folder as a whole, or pass "
                "clock=cpu (-O clock=cpu)"
            )
        self._clocks.add(clock)
        return clock

    def _table(self, name: str, group: Sequence[MeasurementFile], clock: str, path: Path) -> tuple[str, Runs]:
        good = [one for one in group if one.ranks] or group
        names = self._parameters(good, path)
        rows = [_row(one, names, clock) for one in group if one.ranks or self._placed(one, names)]
        common = {key: value for key, value in good[0].settings.items() if key not in names}
        try:
            runs = Runs.from_frame(pd.DataFrame(rows), names, "seconds", quantities=UNITS)
        except InputError as error:
            raise ReadError(path, str(error)) from None
        return self._apart(name, common), runs

    def _parameters(self, group: Sequence[MeasurementFile], path: Path) -> list[str]:
        if self.parameters:
            known = set.intersection(*(set(one.choices) for one in group))
            for name in self.parameters:
                if name not in known:
                    raise ReadError(path, f"it has no parameter {name!r}, only {', '.join(sorted(known))}")
            return list(self.parameters)
        keys = [set(one.settings) for one in group]
        shared = [key for key in group[0].settings if all(key in one for one in keys)]
        varied = [key for key in shared if len({one.settings[key] for one in group}) > 1]
        options = [key for key in varied if key in OPTIONS]
        # A seed says nothing by itself: what came out of it does.
        if set(varied) - set(options) and "seed" not in varied:
            return ["ranks", *varied]
        points = ["points"] if len({one.points for one in group}) > 1 else []
        kinds = [kind for kind in KINDS if len({one.kinds.get(kind, 0.0) for one in group}) > 1]
        return ["ranks", *options, *points, *kinds]

    def _placed(self, failed: MeasurementFile, names: Sequence[str]) -> bool:
        """Return whether the file of a failed run holds its configuration; if not, the file is skipped."""
        unknown = [name for name in names if name not in failed.choices]
        if unknown:
            self.skipped.append(Skipped(failed.path, f"the run failed, and {unknown[0]!r} is not known of it"))
        return not unknown

    def _apart(self, name: str, common: dict[str, float | str]) -> str:
        """Return the solver's name; adds settings that differ from earlier files, to separate the runs."""
        first = self._known.setdefault(name, common)
        other = [f"{key}={value}" for key, value in common.items() if first.get(key) != value]
        if not other or self.parameters:
            return name
        named = f"{name} ({', '.join(other)})"
        self.notes.append(
            f"read as {named!r}, because it differs from the files before: put all into one folder, or pass "
            f"parameters=ranks,{other[0].partition('=')[0]} (-O …), to learn how that matters"
        )
        return named


def _files(folder: Path) -> Iterator[Path]:
    """Yield the measurement files in a folder, sorted; none where it can't be opened."""
    try:
        yield from sorted(p for p in folder.iterdir() if p.name.endswith(SUFFIX) and not p.name.startswith("."))
    except OSError:
        return


def _row(one: MeasurementFile, names: Sequence[str], clock: str) -> dict[str, object]:
    row: dict[str, object] = {name: one.choices[name] for name in names}
    row |= _measured(one, clock)
    row |= {
        # Studies repeated in other folders have files of the same names.
        "run": f"{one.path.name.removesuffix(SUFFIX)} {one.when}".strip(),
        "repetition": one.repetition,
        "status": one.status,
        "machine": one.machine,
        "when": one.when,
        "source": str(one.path),
    }
    return row


def _measured(one: MeasurementFile, clock: str) -> dict[str, float]:
    if not one.ranks:
        return dict.fromkeys(("seconds", *UNITS), math.nan)
    times = [rank.wall if clock == "wall" else rank.cpu for rank in one.ranks]
    busy = [rank.busy(clock) for rank in one.ranks]
    run_s = max(busy) if clock == "cpu" else max(sum(each.values()) for each in times)
    if run_s <= 0:
        raise ReadError(one.path, "no rank spent any time on the run")
    # By CPU time a rank waits for the slowest one as if each had a core of its own.
    waits = [max(busy) - own for own in busy] if clock == "cpu" else [each.get(WAITING, 0.0) for each in times]
    means = {
        name: sum(sum(each.get(phase, 0.0) for phase in phases) for each in times) / one.size / one.steps
        for name, phases in PHASES.items()
    }
    own = [sum(each.get(phase, 0.0) for phase in (*STEPPING, "fourier")) for each in times]
    mean = sum(own) / one.size
    return {
        "seconds": run_s / one.steps,
        "run_seconds": run_s,
        **means,
        "waiting": sum(waits) / one.size / one.steps,
        "imbalance": max(own) / mean if mean > 0 else 1.0,
        "bytes_sent": sum(rank.bytes_sent for rank in one.ranks),
        "peak_memory": max(rank.peak_memory for rank in one.ranks),
    }
