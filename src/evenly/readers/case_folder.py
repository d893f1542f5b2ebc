"""Case folders: ``case.ini`` and one folder per measurement, as in appendix A of the source.

::

    case/
      case.ini        [DEFAULT] d=1, one section per solver with events= or timeinfo=
      150_74/         p1_p2: the cores of the solvers, in the order of the sections
        inner.log
        outer.log

Further parameters come from a mesh header (``mesh_header=header.lua`` gives ``level``) and from an ini file
(``additional=params.ini``). With one parameter (``d=1``) the folder's name is compared with the cores that the logs
tell, so that a misplaced log is noticed.

Source: "Optimal core assignment for coupled simulations" (thesis), section 4.2.2 and appendix A.
"""

from __future__ import annotations

import re
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from evenly.errors import EvenlyError, ReadError
from evenly.readers.apes.seeder_header import read_mesh_header
from evenly.readers.base import Reader
from evenly.readers.files import UNENDED, is_unended, lines, text
from evenly.readers.merging import Part, merge
from evenly.readers.registry import Skipped, build, check_options, listing, reader_class, readers
from evenly.readers.scanning import scan
from evenly.runs.runs import Runs

__all__ = ["CaseFolderReader"]

_CASE = "case.ini"
_KEYS = ("events", "timeinfo")
_KNOWN_KEYS = frozenset({"d", "mesh_header", "additional", *_KEYS})


@dataclass(frozen=True)
class _Solver:
    """One section of case.ini."""

    name: str
    key: str  # events or timeinfo
    file: str
    mesh_header: str
    additional: str
    dimensions: int


class CaseFolderReader(Reader):
    r"""Reads a folder that holds a ``case.ini``, or the ``case.ini`` itself.

    ``events=`` may name a file or folder in any other known format. A measurement that can't be read, or whose folder
    isn't named after its cores, is left out, and the others are read.

    Parameters
    ----------
    **options
        Options of the readers of the measurements, for instance ``warm_up=2``.

    Examples
    --------
    >>> import tempfile
    >>> case = Path(tempfile.mkdtemp())
    >>> _ = (case / "case.ini").write_text("[DEFAULT]\nd=1\n[Inner]\ntimeinfo=timeinfo_inner\n")
    >>> for cores, seconds in ((4, "2.0E+00"), (8, "1.0E+00")):
    ...     (case / f"{cores}").mkdir()
    ...     _ = (case / f"{cores}" / "timeinfo_inner").write_text(
    ...         f" Timings for a run on {cores} processes\n simLoop {seconds} {seconds} {cores * float(seconds)}\n")
    >>> CaseFolderReader().read(case)
    {'Inner': Runs(2 rows, 2 configurations of cores; seconds 1 to 2 s)}
    """

    name: ClassVar[str] = "case-folder"
    summary: ClassVar[str] = "a folder with case.ini and one folder per measurement"

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []
        #: When each solver's runs ended, ISO 8601, where that is known.
        self.ended: dict[tuple[str, str], str] = {}

    def recognises(self, path: Path) -> bool:
        try:
            return (path / _CASE).is_file() or (path.name == _CASE and path.is_file())
        except OSError:
            return False

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped, self.ended = [], [], {}
        check_options([reader for reader in readers() if reader is not type(self)], self.options)
        case = path if path.is_dir() else path.parent
        solvers = _read_case(case / _CASE)
        self._note_unended(case / _CASE)
        parts: list[Part] = []
        for folder in _folders(case, solvers):
            for position, solver in enumerate(solvers):
                parts += self._measurement(folder, solver, position, len(solvers))
        runs, notes, skipped = merge(parts)
        self.notes += notes
        self.skipped += skipped
        if not runs:
            reasons = listing(self.skipped) or " there is no folder in it"
            raise ReadError(case, f"no measurement of this case could be read:{reasons}")
        return runs

    def _measurement(self, folder: Path, solver: _Solver, position: int, n_solvers: int) -> list[Part]:
        """Read one solver of one measurement; nothing if it must be left out."""
        file = folder / solver.file
        try:
            runs, ended = self._log(file, solver)
            if solver.dimensions == 1:
                _check_name(folder, runs, solver, position, n_solvers, file)
            whole = self._add_parameters(runs, _parameters(folder, solver), folder, solver)
            if solver.additional:
                self._note_unended(folder / solver.additional)
        except EvenlyError as error:
            self.skipped.append(Skipped.of(error, file))
        else:
            names = zip(runs.to_frame()["run"], whole.to_frame()["run"], strict=True)
            self.ended |= {(solver.name, new): ended[run] for run, new in names if run in ended}
            return [Part(solver.name, whole, file, solver.key)]
        return []

    def _note_unended(self, file: Path) -> None:
        note = f"{file}: {UNENDED}"
        if is_unended(lines(file)) and note not in self.notes:
            self.notes.append(note)

    def _log(self, file: Path, solver: _Solver) -> tuple[Runs, dict[str, str]]:
        """Return the runs in a log, and when each ended, where that is known."""
        if not file.exists():
            raise ReadError(file, f"the file that {_CASE} names for {solver.name} is missing")
        classes = [reader_class("ateles-timeinfo")] if solver.key == "timeinfo" else list(readers())
        candidates = [build(c, self.options) for c in classes if c is not type(self)]
        # A log that was renamed may no longer be recognised by its name, so all are tried then.
        recognised = [reader for reader in candidates if reader.recognises(file)]
        if not recognised and file.is_dir():
            return self._below(file, solver), {}
        failures: list[EvenlyError] = []
        for reader in recognised or [c for c in candidates if not getattr(c, "generic", False)]:
            try:
                found = reader.read(file)
            except EvenlyError as error:
                failures.append(error)
                continue
            self.notes += [n if str(file) in n else f"{file}: {n}" for n in getattr(reader, "notes", ())]
            self.skipped += getattr(reader, "skipped", ())
            ended = {run: when for (_, run), when in getattr(reader, "ended", {}).items()}
            return _choose(found, solver, file), ended
        if recognised or len(failures) == 1:
            raise failures[0]
        raise ReadError(file, "the file is empty or in no known format of event logs")

    def _below(self, folder: Path, solver: _Solver) -> Runs:
        found = scan(folder, **self.options)
        self.notes += found.notes
        self.skipped += found.skipped
        return _choose(found.runs, solver, folder)

    def _add_parameters(self, runs: Runs, extra: dict[str, float | str], folder: Path, solver: _Solver) -> Runs:
        table = runs.to_frame()
        clash = sorted(set(extra) & set(table.columns))
        if clash:
            raise ReadError(folder, f"{clash[0]!r} is given twice, by {solver.file} and as an additional parameter")
        names = [*runs.parameters, *extra]
        if len(names) < solver.dimensions:
            raise ReadError(
                folder,
                f"{_CASE} says d={solver.dimensions} parameters, but the files give only {', '.join(names)}: "
                "name a file with mesh_header= or additional=, or correct d=",
            )
        if len(names) > solver.dimensions:
            note = f"{_CASE} says d={solver.dimensions}, but {len(names)} parameters are read: {', '.join(names)}"
            self.notes += [] if note in self.notes else [note]
        several = table["run"].nunique() > 1
        table = table.assign(**extra, run=f"{folder.name}:" + table["run"] if several else folder.name)
        units = {name: unit for name, unit in runs.quantities.items() if name != "seconds"}
        return Runs.from_frame(table, names, "seconds", quantities=units, response=runs.response)


# ---- case.ini -----------------------------------------------------------------------------------------------


def _ini(path: Path) -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    content = text(path)
    try:
        parser.read_string(content, source=str(path))
    except Error as error:
        message = str(error).replace("\n", " ")
        raise ReadError(path, f"not a valid ini file: {message}", line=getattr(error, "lineno", None)) from None
    return parser


def _read_case(path: Path) -> list[_Solver]:
    parser = _ini(path)
    if not parser.sections():
        raise ReadError(path, "there must be a section for each solver, as in [Inner] with events=inner.log")
    solvers = [_section(path, parser, name) for name in parser.sections()]
    lowered = [solver.name.lower() for solver in solvers]
    twice = sorted({name for name in lowered if lowered.count(name) > 1})
    if twice:
        raise ReadError(path, f"sections must differ by more than capitals, but there are several of {twice[0]!r}")
    return solvers


def _section(path: Path, parser: ConfigParser, name: str) -> _Solver:
    section = parser[name]
    unknown = sorted(set(section) - _KNOWN_KEYS)
    if unknown:
        allowed = ", ".join(sorted(_KNOWN_KEYS))
        raise ReadError(path, f"[{name}] has the entry {unknown[0]!r}, but only {allowed} are known")
    # A key of the section itself counts before one of [DEFAULT].
    own = [key for key in _KEYS if section.get(key) and section.get(key) != parser.defaults().get(key)]
    keys = own or [key for key in _KEYS if section.get(key)]
    if len(keys) != 1:
        raise ReadError(path, f"[{name}] must name one log, with either events= or timeinfo=, but has {len(keys)}")
    dimensions = section.get("d", "1").strip()
    if not re.fullmatch(r"[1-9]\d?", dimensions):
        raise ReadError(path, f"d= must be the number of parameters, from 1 to 99, but got {dimensions!r}")
    file = section[keys[0]].strip()
    optional = [section.get(key, "").strip() for key in ("mesh_header", "additional")]
    for entry in (file, *optional):
        if Path(entry).is_absolute() or ".." in Path(entry).parts:
            raise ReadError(path, f"files are named as seen from the measurement's folder, but got {entry!r}")
    return _Solver(name, keys[0], file, optional[0], optional[1], int(dimensions))


# ---- measurements -------------------------------------------------------------------------------------------


def _folders(case: Path, solvers: list[_Solver]) -> list[Path]:
    """Return the measurements: folders named after cores, and others that hold a log of some solver."""
    try:
        folders = sorted(p for p in case.iterdir() if p.is_dir() and not p.name.startswith("."))
    except OSError as error:
        raise ReadError(case, f"the folder can't be opened: {error.strerror}") from None
    return [
        folder
        for folder in folders
        if _numbers(folder.name, len(solvers)) or any((folder / solver.file).exists() for solver in solvers)
    ]


def _numbers(name: str, count: int) -> list[int] | None:
    """Return the core counts in a folder's name, as ``150_74`` or ``150_74_again``; None if it has none."""
    parts = name.split("_")[:count]
    if len(parts) < count or not all(re.fullmatch(r"[1-9]\d{0,8}", part) for part in parts):
        return None
    return [int(part) for part in parts]


def _check_name(folder: Path, runs: Runs, solver: _Solver, position: int, n_solvers: int, file: Path) -> None:
    if runs.parameters[:1] != ["cores"]:
        raise ReadError(file, f"a log of one run tells its cores, but this one has {', '.join(runs.parameters)}")
    cores = sorted(set(runs.configurations["cores"].tolist()))
    expected = _numbers(folder.name, n_solvers)
    if expected is None:
        scheme = "_".join(f"p{i + 1}" for i in range(n_solvers))
        raise ReadError(
            folder, f"the folder must be named after the solvers' cores, as {scheme}, but is {folder.name!r}"
        )
    if cores != [expected[position]]:
        found = " and ".join(map(str, cores))
        raise ReadError(
            file,
            f"the folder's name says {expected[position]} cores for {solver.name}, but the log is of a run on {found}: "
            "move the log, or rename the folder",
        )


def _choose(found: dict[str, Runs], solver: _Solver, file: Path) -> Runs:
    """Return the runs of the section's solver; participants' names may differ from it in capitals."""
    for name, runs in found.items():
        if name.lower() == solver.name.lower():
            return runs
    if len(found) == 1:
        return next(iter(found.values()))
    raise ReadError(file, f"there is no solver {solver.name!r} in it, only {', '.join(map(repr, found))}")


def _parameters(folder: Path, solver: _Solver) -> dict[str, float | str]:
    values: dict[str, float | str] = {}
    if solver.mesh_header:
        values["level"] = read_mesh_header(folder / solver.mesh_header).level
    if solver.additional:
        values |= _additional(folder / solver.additional, solver.name)
    return values


def _additional(path: Path, solver: str) -> dict[str, float | str]:
    """Return the entries of [DEFAULT], and those of the solver's own section if there is one."""
    parser = _ini(path)
    own = next((name for name in parser.sections() if name.lower() == solver.lower()), None)
    entries = parser[own] if own is not None else parser.defaults()
    if not entries:
        raise ReadError(path, "there are no entries under [DEFAULT], as clock_rate=2600")
    return {name: _value(path, name, entry) for name, entry in entries.items()}


def _value(path: Path, name: str, entry: str | None) -> float | str:
    if entry is None or not entry.strip():
        raise ReadError(path, f"{name} has no value")
    try:
        number = float(entry)
    except ValueError:
        return entry.strip()
    if not np.isfinite(number):
        raise ReadError(path, f"{name} must be a finite number or a word, but got {entry!r}")
    return int(number) if number == int(number) and abs(number) < 2**53 else number
