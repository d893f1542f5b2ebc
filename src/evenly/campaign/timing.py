"""The time of a run: from a clock, from a pattern in the run's output, or from a file that a reader understands."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evenly.campaign.pattern import Pattern
from evenly.errors import EvenlyError, InputError, RunFailed, check_keys
from evenly.launch import Outcome
from evenly.runs.units import base_unit

__all__ = ["Pattern", "Timing"]

#: Files with what changes when they are written.
Before = Mapping[Path, tuple[int, ...]]
#: Where the size of a file and the checksum of its end, of so many bytes, stand in what tells it from others.
_SIZE, _SUM, _END = 1, 4, 65_536
#: A printed time is no longer than the run, except for how a program rounds and its clock goes.
_MUCH_LONGER, _LITTLE_S = 1.1, 1.0


@dataclass(frozen=True)
class Timing:
    """The source of a run's seconds and of its further quantities.

    Parameters
    ----------
    clock : {"wall", "cpu"}
        The clock, used where neither a pattern nor a reader is given; "cpu" is the CPU time of all processes together.
    time : Pattern, optional
        Pattern of the time in the run's output or file.
    reader : str, optional
        A format that `evenly.read` knows, or ``"any"``; the median of the times in the file is used.
    path : str
        File for the reader, relative to the run's folder.
    options : mapping
        Options of the reader, as ``{ time = "wall", unit = "ms" }`` for tables.
    more : mapping of str to Pattern
        Patterns of further quantities, by name.
    """

    clock: Literal["wall", "cpu"] = "wall"
    time: Pattern | None = None
    reader: str | None = None
    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Pattern] = field(default_factory=dict)

    @property
    def is_wall(self) -> bool:
        """Whether a run's seconds are the wall time of the whole run."""
        return self.clock == "wall" and self.time is None and self.reader is None

    def __post_init__(self) -> None:
        if self.clock not in ("wall", "cpu"):
            raise InputError(f"clock must be wall or cpu, but got {self.clock!r}")
        if self.time is not None and self.reader is not None:
            raise InputError("[time] takes a pattern or a reader, not both")
        if self.reader is not None and not self.path:
            raise InputError("a reader needs a path: the file that the program writes")
        if self.reader not in (None, "any"):
            from evenly.readers import format_names

            if self.reader not in format_names():
                raise InputError(f"reader must be any or one of {', '.join(format_names())}, but got {self.reader!r}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Timing:
        """Build it from a study file's table [time].

        Raises
        ------
        InputError
            If something is unknown or breaks a rule.

        Examples
        --------
        >>> Timing.from_dict({"pattern": "took (.*)", "unit": "ms"}).time
        Pattern(pattern='took (.*)', unit='ms', file='')
        """
        allowed = ("clock", "pattern", "unit", "file", "reader", "path", "options", "quantities")
        check_keys("[time]", values, allowed)
        lost = [key for key in ("unit", "file") if key in values and "pattern" not in values]
        if lost:
            raise InputError(f"{lost[0]} in [time] belongs to a pattern, which is missing")
        others = [key for key in ("pattern", "reader") if key in values]
        if "clock" in values and others:
            raise InputError(f"[time] takes a clock or a {others[0]}, not both: leave one of them out")
        pattern = {key: values[key] for key in ("pattern", "unit", "file") if key in values}
        time = Pattern(**pattern) if pattern else None
        try:
            more = {name: Pattern(**given) for name, given in values.get("quantities", {}).items()}
        except TypeError:
            raise InputError("each of [time.quantities] is a table { pattern = …, unit = …, file = … }") from None
        given = {key: values[key] for key in ("clock", "reader", "path", "options") if key in values}
        return cls(time=time, more=more, **given)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that decide whether times are comparable, without the further quantities."""
        pattern = {f"time.{key}": value for key, value in vars(self.time).items()} if self.time else {}
        if self.time is not None:
            pattern["time.unit"] = self.time.unit or "s"
        read = {"time.reader": self.reader, "time.path": self.path, "time.options": dict(self.options)}
        return {"time.clock": self.clock, **pattern, **(read if self.reader else {})}

    @property
    def quantities(self) -> dict[str, str]:
        """Names and base units of the measured quantities, the time first."""
        return {"seconds": "s"} | {name: base_unit(p.unit or "s") for name, p in self.more.items()}

    def files_before(self, folder: Path) -> Before:
        """Return what tells the files that a run shall write, if they are in its folder before it, from new ones."""
        names = {self.path, self.time.file if self.time else "", *(p.file for p in self.more.values())} - {""}
        found: dict[Path, tuple[int, ...]] = {}
        for path in (folder / name for name in names):
            with suppress(OSError):
                found[path] = _identity(path)
        return found

    def of(
        self, outcome: Outcome, folder: Path, returned: Mapping[str, float], *, before: Before | None = None
    ) -> dict[str, float]:
        """Return the quantities of a run that ended well, by name, in base units.

        Parameters
        ----------
        outcome : Outcome
        folder : Path
            The run's working folder.
        returned : mapping of str to float
            The quantities that a callable returned.
        before : mapping of Path to tuple
            What `files_before` returned before the run: a file that is the same still is that of an earlier run.

        Raises
        ------
        RunFailed
            If the time isn't found where the study says, or is not above zero.
        """
        before = before or {}
        clock = {"wall": outcome.seconds, "cpu": outcome.cpu_seconds}[self.clock]
        seconds = clock if self.clock == "cpu" else returned.get("seconds", clock)
        if self.time is not None:
            seconds = self.time.find(_text(outcome, folder, self.time.file, before))
            if not self.time.unit and seconds > _MUCH_LONGER * outcome.seconds + _LITTLE_S:
                raise RunFailed(
                    f"'{self.time.pattern}' gives {seconds:.4g} s, but the run took {outcome.seconds:.4g} s: say in "
                    'which unit the number is, as unit = "ms" in [time], or unit = "s" if it is right'
                )
        elif self.reader is not None:
            seconds = self._read(folder, before)
        if not np.isfinite(seconds) or seconds <= 0:
            raise RunFailed(f"a time must be above zero, but the run gave {seconds}")
        more = {name: p.find(_text(outcome, folder, p.file, before)) for name, p in self.more.items()}
        return {"seconds": float(seconds)} | more

    def _read(self, folder: Path, before: Before) -> float:
        from evenly.readers import read

        _check_new(folder / self.path, self.path, before)
        try:
            found = read(folder / self.path, format=None if self.reader == "any" else self.reader, **self.options)
            tables: Sequence[Any] = list(found.values()) if isinstance(found, Mapping) else [found]
            return float(sum(np.nanmedian(runs.values) for runs in tables))
        except EvenlyError as error:
            raise RunFailed(f"no time can be read from {self.path}: {error}") from None


def _text(outcome: Outcome, folder: Path, file: str, before: Before) -> str:
    """Return what a run printed, or wrote to a file: not what the file had before, if the run appended to it."""
    if not file:
        return outcome.output + outcome.errors
    path = folder / file
    _check_new(path, file, before)
    written = path.read_bytes()
    if (earlier := before.get(path)) is not None and len(earlier) > _SUM:
        size = earlier[_SIZE]
        if size < len(written) and zlib.crc32(written[max(0, size - _END) : size]) == earlier[_SUM]:
            written = written[size:]
    return written.decode("utf-8", errors="replace")


def _check_new(path: Path, name: str, before: Before) -> None:
    """Raise `RunFailed` unless this run wrote the file."""
    try:
        now = _identity(path)
    except OSError as error:
        raise RunFailed(f"the run wrote no {name}: {error.strerror}") from None
    if path.is_file() and now[:_SUM] == before.get(path, ())[:_SUM]:
        raise RunFailed(f"the run wrote no {name}: the present file is that of an earlier run")


def _identity(path: Path) -> tuple[int, ...]:
    end: tuple[int, ...] = ()
    if path.is_file():
        # A network file system looks at a file anew when it is opened.
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            file.seek(max(0, found.st_size - _END))
            end = (zlib.crc32(file.read(min(found.st_size, _END))),)
    else:
        found = path.stat()
    # No device: its number differs from host to host.
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, *end)
