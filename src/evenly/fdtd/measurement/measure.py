"""Collects the measurement of a simulation: times, point counts and messages of every rank, and hosts and cores.

>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(2, 2, 0), resolution=10)
>>> sim.run(until=0.5)
>>> measure(sim, name="empty").ranks[0].counts["volume"]
400
"""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError
from evenly.fdtd.counting.chunk_counts import rank_counts
from evenly.fdtd.measurement.measurement import Measurement, Parameter, RankRecord

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["available_cores", "measure"]


def measure(
    sim: Fields,
    *,
    name: str = "",
    parameters: Mapping[str, Parameter] | None = None,
    repetition: int = 0,
) -> Measurement:
    """Return the measurement of all steps since the clocks were last reset, with the records of all ranks.

    The call is collective: every rank must make it.

    Parameters
    ----------
    sim : Fields
    name : str
        Name of the simulated structure.
    parameters : mapping, optional
        Parameters of the structure: numbers and texts. The resolution is always added.
    repetition : int
        Index of this run among repeated runs of the same configuration.

    Raises
    ------
    InputError
        If no step was made since the clocks were last reset, or a parameter is neither a number nor a text.
    """
    if sim.timed_steps == 0:
        raise InputError("A measurement needs steps, but none was made since the clocks were started: run first.")
    given = _checked(parameters or {})
    mine = _own_record(sim)
    records, cores = _gathered(sim, mine)
    return Measurement(
        name=name,
        parameters={"resolution": sim.grid.resolution, **given},
        steps=sim.timed_steps,
        size=sim.communicator.size,
        ranks=records,
        threads=sim.options.threads,
        cores=cores,
        points=sim.layers.kept.volume,
        cell=sim.grid.size,
        resolution=sim.grid.resolution,
        shape=sim.layers.kept.shape,
        layout=sim.layout.to_list(),
        options=asdict(sim.options),
        versions=_versions(),
        when=datetime.now(timezone.utc).isoformat(timespec="seconds"),  # noqa: UP017
        repetition=repetition,
    )


def _own_record(sim: Fields) -> RankRecord:
    halos = sim.stepper.halos.values()
    return RankRecord(
        rank=sim.communicator.rank,
        wall=sim.timer.row("wall"),
        cpu=sim.timer.row("cpu"),
        points=sum(chunk.box.volume for chunk in sim.chunks),
        chunks=len(sim.chunks),
        bytes_sent=sum(halo.bytes_sent for halo in halos),
        memory=sum(chunk.nbytes for chunk in sim.chunks),
        peak_memory=peak_memory(),
        host=platform.node(),
        cores=tuple(_core_numbers()),
    )


def _gathered(sim: Fields, mine: RankRecord) -> tuple[tuple[RankRecord, ...], int]:
    """Return the records of all ranks with their counts, and the number of cores on all hosts together."""
    everyone = sim.communicator.allgather((mine, _quota()))
    records = []
    for (record, _), row in zip(everyone, rank_counts(sim), strict=True):
        counts = {key: n for key, n in row.items() if key not in ("rank", "chunks", "poles")}
        # row["poles"] maps a pole's name to its points. Its sum equals electric_poles + magnetic_poles.
        records.append(RankRecord(**{**asdict(record), "counts": counts, "poles": row["poles"], "cores": record.cores}))
    cores = 0
    for host in {record.host for record, _ in everyone}:
        there = {core for record, _ in everyone if record.host == host for core in record.cores}
        quota = min(limit for record, limit in everyone if record.host == host)
        cores += max(1, min(len(there), math.ceil(quota) if math.isfinite(quota) else len(there)))
    return tuple(records), cores


def _checked(parameters: Mapping[str, Any]) -> dict[str, Parameter]:
    for name, value in parameters.items():
        plain = isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))
        if not plain or isinstance(value, bool):
            raise InputError(
                f"A parameter of a measurement must be a finite number or a text, but {name!r} is {value!r}."
            )
    return dict(parameters)


def available_cores() -> int:
    """Return the number of cores this process may use: its CPU affinity or its container's quota, if that is less.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    bound, quota = len(_core_numbers()), _quota()
    return max(1, min(bound, math.ceil(quota) if math.isfinite(quota) else bound))


def _core_numbers() -> list[int]:
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return sorted(affinity(0)) if affinity is not None else list(range(os.cpu_count() or 1))


def _quota() -> float:
    """Return the CPU quota of this process's control group (cgroup), in cores; infinite without a limit."""
    for path, period in (("cpu.max", None), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            words = Path("/sys/fs/cgroup", path).read_text(encoding="ascii").split()
            per = words[1] if period is None else Path("/sys/fs/cgroup", period).read_text(encoding="ascii")
            quota = float(words[0]) / float(per)
        except (OSError, ValueError, IndexError, ZeroDivisionError):
            continue
        return quota if quota > 0 else math.inf
    return math.inf


def peak_memory() -> int:
    """Return the largest resident memory of this process so far, in bytes; 0 where the system can't tell.

    Examples
    --------
    >>> peak_memory() >= 0
    True
    """
    try:
        import resource
    except ImportError:
        return 0
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(size if sys.platform == "darwin" else size * 1024)


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("evenly", "numpy", "numba", "mpi4py", "mpich"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
