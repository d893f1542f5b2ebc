"""Tables of FDTD runs: chunks and times of each rank, grid points of each kind, spectra, and scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from evenly.fdtd.measurement.measurement import FOURIER, STEPPING, WAITING, Measurement
from evenly.fdtd.scaling.study import ScalingStudy, Statistic
from evenly.fdtd.structures.jobs import Spectrum
from evenly.report.formatting import common_prefix, compact, percent, plain, quantity, ranks_text
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table

__all__ = [
    "KINDS", "PHASE_GROUPS", "chunk_table", "headline", "kinds_of", "kinds_table", "memory_line", "parameters_table",
    "ranks_table", "run_as_dict", "scaling_table", "spectrum_table",
]  # fmt: skip

#: Names for people of the counts of `evenly.fdtd.counting.counts.Counts`.
KINDS = {
    "electric_poles": "poles of ε (points × poles)",
    "magnetic_poles": "poles of µ (points × poles)",
    "pml_1d": "PML along one axis",
    "pml_2d": "PML along two axes",
    "pml_3d": "PML along three axes",
    "absorber": "absorber",
    "electric_conductivity": "electric conductivity",
    "magnetic_conductivity": "magnetic conductivity",
    "electric_anisotropic": "off-diagonal ε",
    "magnetic_anisotropic": "off-diagonal µ",
    "electric_sites": "sites at slanted dispersive ε",
    "magnetic_sites": "sites at slanted dispersive µ",
    "nonlinear": "nonlinear",
    "dielectric": "ε other than 1",
    "magnetic": "µ other than 1",
    "interface": "averaged at interfaces",
    "complex": "complex fields",
    "fourier": "Fourier transforms (points × components)",
    "fourier_frequencies": "… × frequencies",
}
_SHORT = {
    "fourier": "Fourier", "fourier_frequencies": "Fourier × freq.", "interface": "averaged", "dielectric": "ε≠1",
    "magnetic": "µ≠1", "electric_poles": "poles", "magnetic_poles": "poles of µ",
    "pml_1d": "PML 1d", "pml_2d": "PML 2d", "pml_3d": "PML 3d",
}  # fmt: skip
#: Groups of phases in tables and bar charts.
PHASE_GROUPS: dict[str, tuple[str, ...]] = {
    "stepping": STEPPING,
    "Fourier": FOURIER,
    "copies": ("boundary copies",),
    "sends": ("send/receive",),
    "waiting": (WAITING,),
    "other": ("output", "other"),
}


def clock_note(measurement: Measurement) -> str:
    """Return a note on the kind of times if they are not wall times, else an empty text."""
    if measurement.clock == "wall":
        return ""
    threads = "" if measurement.threads == 1 else f" of {measurement.threads} threads"
    cores = f"{measurement.cores} core{'' if measurement.cores == 1 else 's'}"
    return f"CPU times, as {measurement.size} ranks{threads} share {cores}; waiting: what the slowest rank implies"


def ranks_table(measurement: Measurement, *, title: str = "", most: int = 32) -> Table:
    """Return a table of the ranks: chunks, points, and seconds of each group of phases.

    Parameters
    ----------
    measurement : Measurement
    title : str
    most : int
        Show only this many ranks, the first ones.

    Examples
    --------
    >>> from evenly.fdtd.measurement.measurement import RankRecord
    >>> rank = RankRecord(0, {"fused": 1.0}, {"fused": 1.0}, points=1000, chunks=3)
    >>> ranks_table(Measurement("box", steps=10, ranks=(rank,))).row_count
    1
    """
    times = {name: measurement.times(phases) for name, phases in PHASE_GROUPS.items()}
    shown = [name for name, values in times.items() if max(values, default=0) > 0]
    largest = max((value for name in shown for value in times[name]), default=0.0)
    factor, prefix = common_prefix([largest])
    places = 2 if largest / factor < 100 else 1
    left_out = measurement.size - min(most, measurement.size)
    notes = [
        f"{prefix} of each phase in {measurement.steps} steps",
        clock_note(measurement),
        f"and {left_out} more ranks" if left_out else "",
    ]
    table = new_table(title, "\n".join(note for note in notes if note))
    add_numbers(table, "rank", "chunks", "points", *shown)
    for n, rank in enumerate(measurement.ranks[:most]):
        seconds = [f"{times[name][n] / factor:.{places}f}" for name in shown]
        add_row(table, str(rank.rank), str(rank.chunks), compact(rank.points), *seconds)
    return table


def kinds_of(measurement: Measurement) -> dict[str, int]:
    """Return the number of points of each kind in the whole cell, without kinds that do not occur.

    Examples
    --------
    >>> from evenly.fdtd.measurement.measurement import RankRecord
    >>> kinds_of(Measurement(ranks=(RankRecord(0, {}, {}, counts={"absorber": 5, "pml_3d": 0}),)))
    {'absorber': 5}
    """
    totals = {kind: sum(int(rank.counts.get(kind, 0)) for rank in measurement.ranks) for kind in KINDS}
    return {kind: total for kind, total in totals.items() if total}


def kinds_table(counts: Mapping[str, int], points: int, *, title: str = "") -> Table:
    """Return a table with the number of a cell's points of each kind.

    Examples
    --------
    >>> kinds_table({"absorber": 50}, 200).row_count
    1
    """
    table = new_table(title)
    add_texts(table, "kind of grid point")
    add_numbers(table, "number", "share")
    for kind, name in KINDS.items():
        if counts.get(kind):
            add_row(table, name, compact(counts[kind]), percent(counts[kind] / points))
    return table


def chunk_table(rows: Sequence[Mapping[str, Any]], *, title: str = "", most: int = 64) -> Table:
    """Return a table with the points of each kind in each chunk. `rows` come from `Simulation.chunk_counts`.

    Examples
    --------
    >>> row = {"chunk": 0, "rank": 1, "lo": (0, 0, 0), "hi": (4, 4, 4), "volume": 64, "surface": 16, "absorber": 64}
    >>> [column.header for column in chunk_table([row]).columns]
    ['chunk', 'rank', 'grid', 'points', 'shared faces', 'of which']
    """
    left_out = len(rows) - min(most, len(rows))
    table = new_table(title, f"and {left_out} more chunks" if left_out else "")
    add_numbers(table, "chunk", "rank", "grid", "points", "shared faces")
    add_texts(table, "of which")
    for row in rows[:most]:
        grid = "×".join(str(b - a) for a, b in zip(row["lo"], row["hi"], strict=True))
        kinds = ", ".join(f"{_short(kind)} {compact(row[kind])}" for kind in KINDS if row.get(kind))
        numbers = (str(row["chunk"]), str(row["rank"]), grid, compact(row["volume"]), compact(row["surface"]))
        add_row(table, *numbers, kinds)
    return table


def _short(kind: str) -> str:
    return _SHORT.get(kind, KINDS[kind])


def scaling_table(study: ScalingStudy, *, title: str = "") -> Table:
    """Return a table with run time, speedup and ratio of communication to computation for each number of ranks.

    Examples
    --------
    >>> from evenly.fdtd.measurement.measurement import RankRecord
    >>> run = Measurement("box", steps=10, ranks=(RankRecord(0, {"fused": 2.0}, {"fused": 2.0}),), cores=4)
    >>> scaling_table(ScalingStudy((run,))).row_count
    1
    """
    factor, prefix = common_prefix([point.step_s.mean for point in study.points])
    table = new_table(title, f"{study.clock_label}, {study.steps} steps")
    table.add_column("ranks", justify="right")
    for heading in (f"time per step ({prefix})", "speedup", "efficiency", "communication / computation", "imbalance"):
        table.add_column(heading, justify="right")
    for point in study.points:
        step = Statistic(point.step_s.mean / factor, point.step_s.deviation / factor, point.step_s.count)
        add_row(
            table, str(point.ranks), _spread(step), compact(point.speedup, 3), percent(point.efficiency),
            _spread(point.ratio), compact(point.imbalance.mean, 3),
        )  # fmt: skip
    return table


def _spread(value: Statistic) -> str:
    if value.count < 2:
        return compact(value.mean, 3)
    return f"{compact(value.mean, 3)} ± {compact(value.deviation, 2)}"


def run_as_dict(measurement: Measurement) -> dict[str, Any]:
    """Return a run as plain values: points, steps, rates, kinds, and for each rank the seconds of each phase group."""
    return {
        "name": measurement.name,
        "points": measurement.points,
        "ranks": measurement.size,
        "threads": measurement.threads,
        "steps": measurement.steps,
        "seconds_per_step": plain(measurement.step_s()),
        "clock": measurement.clock,
        "kinds": kinds_of(measurement),
        "per_rank": [
            {
                "rank": rank.rank,
                "chunks": rank.chunks,
                "points": rank.points,
                "seconds": {name: plain(measurement.times(group)[n]) for name, group in PHASE_GROUPS.items()},
            }
            for n, rank in enumerate(measurement.ranks)
        ],
    }


def headline(measurement: Measurement) -> str:
    """Return a run in one line: points, ranks, steps per second.

    Examples
    --------
    >>> from evenly.fdtd.measurement.measurement import RankRecord
    >>> rank = RankRecord(0, {"fused": 2.0}, {"fused": 2.0})
    >>> headline(Measurement("box", steps=100, ranks=(rank,), points=8000, shape=(20, 20, 20), cores=2))
    'box: 20 × 20 × 20 = 8000 points on 1 rank; 100 steps of 20 ms, 50 steps/s, 0.4 Mpoints/s'
    """
    step = measurement.step_s()
    points = f"{' × '.join(map(str, measurement.shape))} = {compact(measurement.points)} points"
    threads = f" of {measurement.threads} threads" if measurement.threads > 1 else ""
    clock = "" if measurement.clock == "wall" else " CPU time"
    speed = f"{compact(1 / step, 3)} steps/s, {compact(measurement.points / step / 1e6, 3)} Mpoints/s"
    return (
        f"{measurement.name}: {points} on {ranks_text(measurement.size)}{threads}; "
        f"{measurement.steps} steps of {quantity(step, digits=3)}{clock}, {speed}"
    )


def spectrum_table(spectrum: Spectrum, *, most: int = 11) -> Table:
    """Return a table of curves against wavelength. If there are many wavelengths, a few evenly spaced rows are shown.

    Examples
    --------
    >>> import numpy as np
    >>> spectrum_table(Spectrum(np.array([1.0, 2.0]), {"out": np.array([0.5, 0.6])})).row_count
    2
    """
    table = new_table(spectrum.what)
    table.add_column(f"wavelength ({spectrum.unit})", justify="right")
    for name in spectrum.curves:
        table.add_column(name, justify="right")
    n = len(spectrum.frequencies)
    for i in np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))[::-1]:
        frequency = float(spectrum.frequencies[i])
        wavelength = compact(1 / frequency) if frequency else "∞"
        add_row(table, wavelength, *(compact(float(curve[i]), 3) for curve in spectrum.curves.values()))
    return table


def memory_line(bytes_per_rank: Sequence[int]) -> str:
    """Return the memory of the ranks, in one line.

    Examples
    --------
    >>> memory_line([2**20, 3 * 2**20])
    'memory: 4 MiB on all ranks, at most 3 MiB on one'
    """
    largest = quantity(max(bytes_per_rank), "B", 3)
    return f"memory: {quantity(sum(bytes_per_rank), 'B', 3)} on all ranks, at most {largest} on one"


def parameters_table(parameters: Mapping[str, Any], *, title: str = "") -> Table:
    """Return a table of parameters with their defaults.

    Examples
    --------
    >>> parameters_table({"size": 2.0}).row_count
    1
    """
    table = new_table(title)
    table.add_column("parameter")
    table.add_column("default", justify="right")
    for name, value in parameters.items():
        shown = " … ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        add_row(table, name, shown)
    return table
