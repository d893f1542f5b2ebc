"""One measurement file of evenly's FDTD simulation, parsed and checked; see `evenly.readers.fdtd_measurement`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenly.errors import ReadError
from evenly.readers.files import text
from evenly.runs.runs import BOOKKEEPING

__all__ = ["KINDS", "MARK", "OPTIONS", "PHASES", "STEPPING", "SUFFIX", "UNITS", "WAITING", "MeasurementFile", "parse"]

_FORMAT = "evenly fdtd measurement "
_VERSION = "1"
SUFFIX = ".fdtd.json"
MARK = re.compile(r'\s*\{\s*"format"\s*:\s*"' + _FORMAT)
STEPPING = ("fused", "electric", "magnetic", "poles", "anisotropy", "nonlinear", "sources")
WAITING = "waiting"
#: Quantities of a step, the mean over ranks, and the phases that they sum up.
PHASES = {
    "stepping": STEPPING,
    "fourier": ("fourier",),
    "copying": ("boundary copies", "send/receive"),
    "waiting": (WAITING,),
}
UNITS = {"run_seconds": "s", **dict.fromkeys(PHASES, "s"), "imbalance": "1", "bytes_sent": "B", "peak_memory": "B"}
#: Kinds of points that sum up to all of them, or may hold any share of them.
KINDS = (
    "electric_poles", "magnetic_poles", "pml_1d", "pml_2d", "pml_3d", "absorber", "electric_conductivity",
    "magnetic_conductivity", "electric_anisotropic", "magnetic_anisotropic", "electric_sites", "magnetic_sites",
    "nonlinear", "dielectric", "magnetic", "complex", "fourier_points", "fourier_frequencies",
)  # fmt: skip
#: As files call it; a time has this name here.
_RENAMED = {"fourier": "fourier_points"}
#: Names of columns, which no parameter may have.
_RESERVED = frozenset({"seconds", "ranks", "points", *UNITS, *KINDS, *BOOKKEEPING})
OPTIONS = ("threads", "precision", "fused", "subpixel")


@dataclass(frozen=True)
class _Rank:
    wall: Mapping[str, float]
    cpu: Mapping[str, float]
    counts: Mapping[str, float]
    bytes_sent: float
    peak_memory: float

    def busy(self, clock: str) -> float:
        times = self.wall if clock == "wall" else self.cpu
        return sum(seconds for phase, seconds in times.items() if phase != WAITING)


@dataclass(frozen=True)
class MeasurementFile:
    """One measurement file."""

    path: Path
    name: str
    size: int
    steps: int
    threads: int
    cores: int
    points: float
    status: str
    ranks: Sequence[_Rank]
    parameters: Mapping[str, float | str]
    options: Mapping[str, float | str]
    machine: str
    when: str
    repetition: int
    kinds: Mapping[str, float] = field(default_factory=dict)

    @property
    def crowded(self) -> bool:
        return self.size * self.threads > self.cores

    @property
    def settings(self) -> dict[str, float | str]:
        """What may become a parameter, by name."""
        return {**self.options, **self.parameters}

    @property
    def choices(self) -> dict[str, float | str]:
        """All values that a parameter may have."""
        counted: dict[str, float | str] = {**self.kinds, "points": self.points} if self.points else {}
        return {**counted, **self.settings, "ranks": self.size}


def parse(path: Path) -> MeasurementFile:
    """Return what a file holds.

    Raises
    ------
    ReadError
        If it is damaged, of another version or no measurement.
    """
    content = text(path)
    try:
        data = json.loads(content)
    except json.JSONDecodeError as error:
        raise ReadError(path, f"no valid JSON, or cut off: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise ReadError(path, "no valid JSON: it is nested too deeply") from None
    if not isinstance(data, dict) or not str(data.get("format", "")).startswith(_FORMAT):
        raise ReadError(path, f'the entry "format" must be "{_FORMAT}{_VERSION}"')
    version = str(data["format"]).removeprefix(_FORMAT)
    if version != _VERSION:
        raise ReadError(path, f"it has version {version} of the format, but only {_VERSION} is known: update evenly")
    try:
        return _file(path, data)
    except _WrongError as error:
        raise ReadError(path, str(error)) from None


class _WrongError(Exception):
    """Something in a file is not what it must be."""


def _file(path: Path, data: Mapping[str, Any]) -> MeasurementFile:
    status = data.get("status", "ok")
    if status not in ("ok", "failed", "timed out"):
        raise _WrongError(f'"status" must be "ok", "failed" or "timed out", but is {status!r}')
    size = _count(data, "size", 1)
    ranks = [_rank(rank, number) for number, rank in enumerate(_of(list, data.get("ranks", []), "ranks"))]
    if status == "ok" and len(ranks) != size:
        raise _WrongError(f"the run had {size} ranks, but the file has times of {len(ranks)}: it is damaged")
    first = (data.get("ranks") or [{}])[0]
    options = _settings(data.get("options", {}), "options")
    points = _number(data, "points")
    totals = {kind: sum(rank.counts.get(kind, 0.0) for rank in ranks) for kind in KINDS}
    return MeasurementFile(
        path=path,
        name=str(data.get("name") or "fdtd"),
        size=size,
        steps=_count(data, "steps", 1 if status == "ok" else 0),
        threads=_count(data, "threads", 1, 1),
        cores=_count(data, "cores", 1, 1),
        points=points,
        status=status,
        ranks=ranks if status == "ok" else [],
        parameters=_settings(data.get("parameters", {}), "parameters"),
        options={key: options[key] for key in OPTIONS if key in options},
        machine=str(first.get("host", "")),
        when=str(data.get("when", "")),
        repetition=_count(data, "repetition", 0, 0),
        kinds={kind: n / points for kind, n in totals.items()} if points else {},
    )


def _rank(data: Any, number: int) -> _Rank:
    rank = _of(dict, data, f"rank {number}")
    wall, cpu = (_values(rank.get(clock), clock, number) for clock in ("wall", "cpu"))
    counts = _values(rank.get("counts", {}), "counts", number)
    counts = {_RENAMED.get(kind, kind): n for kind, n in counts.items()}
    sent, memory = (_number(rank, name) for name in ("bytes_sent", "peak_memory"))
    return _Rank(wall, cpu, counts, sent, memory)


def _values(data: Any, what: str, number: int) -> dict[str, float]:
    return {str(k): _value(v, f"{what} {k!r} of rank {number}") for k, v in _of(dict, data, what).items()}


def _of(kind: type[Any], value: Any, what: str) -> Any:
    if not isinstance(value, kind):
        raise _WrongError(f"{what} must be a {'list' if kind is list else 'table'}, but is {str(value)[:40]!r}")
    return value


def _value(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise _WrongError(f"{what} must be a number, zero or more, but is {str(value)[:40]!r}")
    return float(value)


def _number(data: Mapping[str, Any], name: str) -> float:
    return _value(data.get(name, 0), f'"{name}"')


def _count(data: Mapping[str, Any], name: str, least: int, default: int | None = None) -> int:
    value = data.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**53:
        raise _WrongError(f'"{name}" must be a whole number of at least {least}, but is {str(value)[:40]!r}')
    return value


def _settings(data: Any, what: str) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for given, value in _of(dict, data, what).items():
        key = f"{given}_parameter" if given in _RESERVED else str(given)
        if isinstance(value, bool) or value is None:
            found[key] = str(value).lower()
        elif isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value) and abs(value) < 1e300):
            found[key] = value
        else:
            raise _WrongError(f"{what} must be finite numbers and texts, but {key!r} is {str(value)[:40]!r}")
    return found
