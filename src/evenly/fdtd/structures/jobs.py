"""Runs a program on all ranks and writes its result files, for ``evenly fdtd run``.

Files in the job's folder: ``NAME.fdtd.json`` (the measurement), ``NAME-spectrum.csv``, ``NAME-view.npz`` (the contents
of pictures). All are written by rank 0.
"""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import SUFFIX
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.running.run_control import check_finite
from evenly.fdtd.simulation import Options, Simulation
from evenly.fdtd.structures.example import Look
from evenly.fdtd.structures.programs import Program, load
from evenly.fdtd.structures.views import View, take_view
from evenly.writing import check_replaceable, replacing

__all__ = ["Job", "Spectrum", "read_spectra", "run_job"]

#: Number of first steps that aren't measured: the first one compiles, the others fill caches.
WARM_UP = 3
#: Interval of progress reports, in seconds.
EVERY_S = 0.2
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """A program to run, with its parameters and the folder for its results.

    Parameters
    ----------
    program : str
        See `programs.load`.
    folder : str
        Folder for the result files.
    parameters, options : mapping
        Parameters of the program, and options of the simulation.
    layout : str, optional
        Path of a partition's file.
    steps : int, optional
        Number of time steps.
    until : float, optional
        Time of the end, in a/c. Without `steps` and `until`, the program's own end is used.
    picture : bool
        Whether to take a view for pictures.
    across : letter, optional
        The axis normal to the view; default: the program's own.
    at : float
        Position of the view along this axis, in a.
    """

    program: str
    folder: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    layout: str | None = None
    steps: int | None = None
    until: float | None = None
    picture: bool = False
    across: str | None = None
    at: float = 0.0

    def to_json(self) -> str:
        """Return the job as JSON text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Return the job from the text of `to_json`."""
        return cls(**json.loads(text))

    def load(self) -> Program:
        """Return the program, checked; nothing large is allocated.

        Raises
        ------
        InputError
            If something about it breaks a rule.
        """
        layout = None if self.layout is None else BinaryPartition.load(self.layout)
        program = load(self.program, self.parameters, layout=layout, options=Options(**self.options))
        self.end(program)
        return program

    def end(self, program: Program) -> int:
        """Return the number of time steps.

        Raises
        ------
        InputError
            If no end is given, or the end is before the first step.
        """
        dt = program.simulation.grid.dt
        if self.steps is not None:
            steps: float = self.steps
        else:
            until = self.until if self.until is not None else program.until
            if until is None:
                raise InputError(
                    f"Nothing says when {program.name} ends: give a time or a number of steps, or set `until` in the "
                    "script."
                )
            steps = until / dt
        if not 1 <= steps < 1e12:
            raise InputError(f"A run must have at least one time step ({dt:.4g} a/c), but got {steps:g} of them.")
        return math.ceil(steps - 1e-9)

    def look(self, program: Program) -> Look:
        """Return the slice of the view."""
        driven = next((source.component for source in program.simulation.sources), "Ez")
        usual = program.look or Look(component=driven)
        return usual if self.across is None else Look(self.across, self.at, usual.component)


@dataclass(frozen=True)
class Spectrum:
    """Named curves over the same frequencies.

    Parameters
    ----------
    frequencies : array (n_frequencies,)
        In c/a.
    curves : mapping of str to array (n_frequencies,)
    what : str
        The quantity of the curves.
    unit : str
        The unit of length.
    """

    frequencies: NDArray[np.float64]
    curves: Mapping[str, NDArray[np.float64]]
    what: str = "flux"
    unit: str = "a"

    def save(self, path: Path) -> Path:
        """Write the spectrum as CSV: frequency, wavelength and the curves.

        Raises
        ------
        InputError
            If it can't be written.
        """
        with np.errstate(divide="ignore"):
            columns = {"frequency": self.frequencies, "wavelength": 1 / self.frequencies, **self.curves}
        try:
            with replacing(path) as new, new.open("w", newline="", encoding="utf-8") as file:
                file.write(f"# evenly spectrum: {self.what}; lengths in {self.unit}, frequencies in c/{self.unit}\n")
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows([f"{value:.10g}" for value in row] for row in zip(*columns.values(), strict=True))
        except OSError as error:
            raise InputError(f"A spectrum can't be written to {path}: {error.strerror or error}.") from None
        return path

    @classmethod
    def load(cls, path: Path) -> Spectrum:
        """Read a file that `save` wrote."""
        first, *rest = path.read_text(encoding="utf-8").splitlines()
        what, _, lengths = first.removeprefix("# evenly spectrum: ").partition("; lengths in ")
        names, *rows = csv.reader(rest)
        columns = dict(zip(names, np.array(rows, dtype=np.float64).T, strict=True))
        frequencies = columns.pop("frequency")
        columns.pop("wavelength")
        return cls(frequencies, columns, what, lengths.partition(",")[0])


def read_spectra(folder: Path, name: str) -> list[Spectrum]:
    """Read the spectra that the job of a program of this name wrote to a folder."""
    return [Spectrum.load(path) for path in _spectrum_files(folder, name)]


def _spectrum_files(folder: Path, name: str) -> list[Path]:
    return [*folder.glob(f"{name}-spectrum.csv"), *sorted(folder.glob(f"{name}-spectrum-*.csv"))]


def run_job(job: Job, progress: Progress | None = None) -> list[Path]:
    """Run a job and return the files that rank 0 wrote (empty on other ranks); every rank must call it.

    Parameters
    ----------
    job : Job
    progress : callable, optional
        Called on rank 0 at intervals, with the number of steps done and the number of all steps.

    Raises
    ------
    InputError
        If something in the job is invalid.
    RunFailed
        If the fields have become infinite.
    """
    program = job.load()
    simulation = program.simulation
    if simulation.communicator.rank == 0:
        check_replaceable(_files(job, program.name))
    program.attach()
    steps = job.end(program)
    tell = _throttled(progress if simulation.communicator.rank == 0 else None, steps)
    _advance(simulation, min(WARM_UP, steps - 1), tell)
    simulation.reset_timing()
    view = None
    if job.picture and simulation.grid.dimensions > 1:
        _advance(simulation, max(simulation.step_count, _telling_step(simulation, steps)), tell)
        view = take_view(
            simulation, program.monitors, job.look(program), name=program.name, unit=_unit(program), with_field=True
        )
    _advance(simulation, steps, tell)
    check_finite(simulation)
    program.finish_steps()
    return _leave(job, program, view)


def _advance(simulation: Simulation, steps: int, tell: Callable[[int], None]) -> None:
    while simulation.step_count < steps:
        simulation.step()
        tell(simulation.step_count)


def _throttled(progress: Progress | None, steps: int) -> Callable[[int], None]:
    if progress is None:
        return lambda _step: None
    last = [0.0]

    def tell(step: int) -> None:
        now = time.monotonic()
        if now - last[0] > EVERY_S or step == steps:
            last[0] = now
            progress(step, steps)

    return tell


def _telling_step(simulation: Simulation, steps: int) -> int:
    """Return a step for the snapshot: when the pulse's peak has crossed half of the cell, so that fields fill it."""
    peaks = [getattr(source.pulse, "peak_time", None) for source in simulation.sources]
    times = [float(peak) for peak in peaks if peak is not None]
    if not times:
        return steps
    return min(steps, math.ceil((min(times) + max(simulation.grid.size) / 2) / simulation.grid.dt))


def _files(job: Job, name: str) -> list[Path]:
    """Return the files that a job writes, or removes since they tell of an older run."""
    folder = Path(job.folder)
    return [folder / f"{name}{SUFFIX}", folder / f"{name}-view.npz", *_spectrum_files(folder, name)]


def _leave(job: Job, program: Program, view: View | None) -> list[Path]:
    simulation = program.simulation
    measurement = program.measurement()
    spectra = _spectra(program)
    if simulation.communicator.rank != 0:
        return []
    folder = Path(job.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Results can't be written to {folder}: {error.strerror or error}.") from None
    for old in _files(job, program.name)[1:]:
        old.unlink(missing_ok=True)
    files = [measurement.save(folder / program.name)]
    for n, spectrum in enumerate(spectra):
        files.append(spectrum.save(folder / f"{program.name}-spectrum{f'-{n + 1}' if n else ''}.csv"))
    if view is not None:
        files.append(view.save(folder / f"{program.name}-view.npz"))
    return files


def _spectra(program: Program) -> list[Spectrum]:
    solution, example = program.solution, program.example
    if solution is not None and example is not None and example.curves is not None:
        if not solution.complete:
            return []
        return [Spectrum(example.frequencies, solution.curves(), example.curves_are, example.unit)]
    found: list[tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]] = []
    for name, monitor in program.monitors.items():
        if isinstance(monitor, Flux):
            same = [curves for f, curves in found if np.array_equal(f, monitor.frequencies)]
            curves = same[0] if same else {}
            if not same:
                found.append((monitor.frequencies, curves))
            curves[name] = monitor.flux()
    return [Spectrum(frequencies, curves) for frequencies, curves in found]


def _unit(program: Program) -> str:
    return "a" if program.example is None else program.example.unit
