"""Finding and reading all measurements below a path: `evenly.read`.

Folders are visited top-down in sorted order. If a reader recognises a folder, it reads the whole folder; otherwise each
file inside is offered to all readers. A file that can't be read is skipped and reported; reading then continues.
"""

from __future__ import annotations

import glob
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenly.arguments import explained
from evenly.errors import EvenlyError, EvenlyWarning, InputError, ReadError, SkippedFilesWarning
from evenly.log import log
from evenly.readers.base import Reader
from evenly.readers.beside import refuse_unit_beside, texts_beside
from evenly.readers.cesm_layout import Placed, about_times, agreed, cores_kept, same_in_all
from evenly.readers.confounding import alike_at_the_top, confounded, unlike
from evenly.readers.files import plain_suffix
from evenly.readers.folder_walk import Walk
from evenly.readers.merging import Part, merge
from evenly.readers.needless import without_needless
from evenly.readers.precice.coupled_runs import coupled_runs
from evenly.readers.precice.iteration_logs import ITERATIONS
from evenly.readers.precice.paired_runs import of_one_time, without_left_overs
from evenly.readers.precice.window_steps import holds_steps
from evenly.readers.registry import Skipped, build_all, check_taken, listing
from evenly.readers.simulated_days import (
    days_of_files,
    days_said,
    knowing_days,
    of_one_day,
    of_own_days,
    unequal_days,
)
from evenly.readers.tables.constants import constants_said
from evenly.readers.tables.roles import Column, columns_of, settle
from evenly.readers.tables.several_units import refuse_unit_of_others
from evenly.readers.unread_texts import instead_of
from evenly.runs.runs import Runs

__all__ = ["Measurements", "read", "scan"]

#: So many files in no known format are looked into for what to give instead.
_LOOKED_AT = 20

#: One file or folder, or several.
Paths = Path | str | Sequence[Path | str]


@dataclass(frozen=True)
class Measurements:
    """The result of `scan`: all runs found at the given paths, and a report of how they were read.

    Parameters
    ----------
    runs : dict of str to Runs
        The runs of each solver; the only key is ``""`` if no file names a solver.
    sources : tuple of (Path, str)
        Every file or folder that was read, with the name of its format.
    skipped : tuple of Skipped
        Files and folders that were skipped completely or in part, with the reason.
    coupling : object or None
        The preCICE coupling found near the measurements, with ``.layout`` (str) and ``.participants``.
    window_steps : mapping of str to float
        How many steps each participant makes in a time window, where that is known.
    iterations : float or None
        How many iterations a time window of preCICE has by its logs; None where these don't tell.
    other_scheme : str
        What to ask where runs of preCICE were coupled otherwise than by the configuration.
    substeps : mapping of str to float
        How many steps each participant makes for one of the slowest, if not one, in all runs.
    placed : tuple of Placed
        Who shares cores with whom, by each timing file of CESM or E3SM.
    days : mapping of Path to float
        The simulated days that the times of a file are of, where it tells them.
    same_days : bool
        Whether all times told the days that they are of, and were made those of the same number.
    unknown : tuple of Path
        Files that no reader recognised; they are not errors.
    beside : tuple of Path
        Texts in the given folders, and the README beside given tables.
    unread : tuple of Path
        The given files and folders of which nothing was read.
    doubts : tuple of str
        Notes of which `evenly.read` warns.
    notes : tuple of str
        The guesses and changes that the readers made.
    columns : tuple of Column
        The role of each column of tables, and of each parameter and quantity of other formats.
    """

    runs: dict[str, Runs]
    sources: tuple[tuple[Path, str], ...] = ()
    skipped: tuple[Skipped, ...] = ()
    coupling: Any = None
    window_steps: Mapping[str, float] = field(default_factory=dict)
    iterations: float | None = None
    other_scheme: str = ""
    substeps: Mapping[str, float] = field(default_factory=dict)
    placed: tuple[Placed, ...] = ()
    days: Mapping[Path, float] = field(default_factory=dict)
    same_days: bool = False
    unknown: tuple[Path, ...] = ()
    beside: tuple[Path, ...] = ()
    unread: tuple[Path, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()

    @property
    def layout(self) -> str | None:
        """The coupling of the solvers as an expression for `evenly.allocate`; None where nothing tells it.

        It is that of the preCICE configuration, in which a participant that makes several steps in a time window has
        their number as a factor; or that of the timing files of CESM and E3SM, if all have the same.
        """
        return agreed(self.placed)[0] if self.coupling is None else str(self.coupling.expression(self.window_steps))

    @property
    def threads(self) -> dict[str, int]:
        """The threads of each task of the components of CESM and E3SM, where all timing files have as many."""
        return same_in_all([one.threads for one in self.placed])

    @property
    def cores_per_task(self) -> dict[str, int]:
        """The cores that each task of these components keeps, where all timing files have as many."""
        return cores_kept(self.placed)[0]

    @property
    def lost(self) -> tuple[Skipped, ...]:
        """The skipped files and folders whose runs were not read from another file."""
        return tuple(entry for entry in self.skipped if not entry.benign)


@explained
def read(path: Paths, *, format: str | None = None, **options: Any) -> Runs | dict[str, Runs]:  # noqa: A002
    r"""Read measured runs from a file, a folder, or several of them, in any known format.

    Parameters
    ----------
    path : path-like or sequence of path-like
        Files or folders with measurements. ``~`` and wildcards as in ``"logs/*.csv"`` are expanded.
    format : str, optional
        Read only this format (see `format_names`); by default, the format of each file is detected.
    **options
        Options of the readers, for instance ``time="wall", unit="ms"`` for tables.

    Returns
    -------
    Runs or dict of str to Runs
        The runs of the only solver, or the runs of each of several solvers.

    Raises
    ------
    ReadError
        If nothing could be read; the message lists the reasons.
    InputError
        If the format is unknown, or no reader accepts one of the options.

    Warns
    -----
    SkippedFilesWarning
        If files were skipped and their runs are lost; one warning lists the files and the reasons.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("cores,seconds\n8,1.2\n16,0.64\n")
    >>> read(path)
    Runs(2 rows, 2 configurations of cores; seconds 0.64 to 1.2 s)
    """
    found = scan(path, format=format, **options)
    if found.lost:
        warnings.warn(f"{len(found.lost)} left out:{listing(found.lost)}", SkippedFilesWarning, stacklevel=3)
    for note in found.notes:
        log.info(note)
    for doubt in found.doubts:
        warnings.warn(doubt, EvenlyWarning, stacklevel=3)
    return next(iter(found.runs.values())) if len(found.runs) == 1 else found.runs


@explained
def scan(path: Paths, *, format: str | None = None, **options: Any) -> Measurements:  # noqa: A002
    r"""Read measured runs as `read` does, and also return sources, skipped files, the coupling, and guesses.

    Parameters
    ----------
    path, format, **options
        As for `read`.

    Returns
    -------
    Measurements

    Raises
    ------
    ReadError, InputError
        As `read`.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ocean.csv").write_text("cores,SYPD\n8,1.2\n16,2.3\n")
    >>> _ = (folder / "atmosphere.csv").write_text("cores,SYPD\n8,1.0\n16,1.9\n")
    >>> list(scan(folder).runs)
    ['atmosphere', 'ocean']
    """
    if hasattr(path, "columns"):
        raise InputError("a table in memory isn't read: give it to evenly.fit, or to evenly.Runs.from_frame")
    collector = _Collector(build_all(options, format), forced=format is not None)
    roots = _roots([path] if isinstance(path, str | Path) else path)
    for root in roots:
        collector.add(root)
    refuse_unit_of_others(collector.columns, options.get("unit"))
    parts, of_files, in_days = of_one_day(collector.parts, collector.columns)
    runs, notes, merged = merge(parts)
    listed = [one for its in of_files.values() for one in its]
    all_runs = runs
    runs, columns = settle(runs, listed or columns_of(runs))
    constant = constants_said(columns, all_runs)
    runs, columns, needless = without_needless(runs, columns)
    counted = {part.solver for part in collector.parts if holds_steps(part.format, part.runs)}
    steps, left_over = without_left_overs({name: one for name, one in runs.items() if name in counted})
    runs, of_others = of_one_time(runs | steps, collector.ended)
    steps = {name: runs[name] for name in steps}
    logs = [*collector.walk.unknown, *_logs_inside(part.path for part in collector.first_parts())]
    used = {(name, source) for name, one in steps.items() for source in one.to_frame()["source"].unique()}
    cut = [path for name, path in collector.cut if (name, str(path)) in used]
    coupled = coupled_runs(steps, collector.walk.xml, logs, cut)
    skipped = (*collector.skipped, *merged, *coupled.skipped)
    weak = [
        f"{solver}: {said}" if solver else said
        for solver, one in runs.items()
        for said in (confounded(one), unlike(one), alike_at_the_top(one))
        if said
    ]
    if not runs:
        raise _nothing_read(roots, skipped, collector.walk.unknown)
    check_taken(collector.offered, options)
    sources = tuple((part.path, part.format) for part in collector.first_parts())
    needed = [*(path for path, _ in sources), *coupled.used, *(entry.path for entry in skipped if entry.benign)]
    unknown = tuple(p for p in collector.walk.unknown if p not in coupled.used)
    beside = texts_beside(roots, [path for path, name in sources if name == "table"], unknown)
    refuse_unit_beside(beside, columns)
    days = days_of_files(parts, of_files)
    runs, columns, own_days = of_own_days(runs, columns) if not days else (runs, columns, [])
    doubts = tuple(unequal_days(runs, days))
    return Measurements(
        runs=knowing_days(runs, days),
        sources=sources,
        skipped=skipped,
        coupling=coupled.coupling,
        window_steps=coupled.window_steps,
        iterations=coupled.iterations,
        other_scheme=coupled.doubt,
        substeps=coupled.substeps,
        placed=tuple(collector.placed),
        days=days,
        unknown=unknown,
        beside=tuple(beside),
        unread=_unread(roots, needed),
        doubts=doubts,
        notes=(
            *doubts,
            *collector.notes,
            *in_days,
            *([constant] if constant else []),
            *days_said(of_files),
            *own_days,
            *notes,
            *needless,
            *weak,
            *left_over,
            *of_others,
            *coupled.notes,
            *about_times(collector.placed),
            *agreed(collector.placed)[1],
        ),
        columns=tuple(columns),
    )


def _logs_inside(read: Iterable[Path]) -> list[Path]:
    """Return preCICE's logs of iterations in folders that were read as a whole, as case folders are."""
    return [file for path in read if path.is_dir() for file in sorted(path.rglob(ITERATIONS))]


def _unread(roots: Iterable[Path], read: Iterable[Path]) -> tuple[Path, ...]:
    """Return the given paths that are none of those that were read, nor hold one, nor lie in one."""
    real = {path.resolve() for path in read}
    around = real | {folder for path in real for folder in path.parents}
    found = ((root, root.resolve()) for root in roots)
    return tuple(root for root, its in found if its not in around and real.isdisjoint(its.parents))


def _roots(paths: Iterable[Path | str]) -> list[Path]:
    """Return the paths with ``~`` and wildcards expanded."""
    roots: list[Path] = []
    for given in paths:
        path = Path(given).expanduser()
        try:
            wild = glob.has_magic(str(path)) and not path.exists()
            path.exists()
        except OSError as error:  # a name that no file can have
            raise ReadError(path, str(error.strerror)) from error
        matches = sorted(glob.glob(str(path), recursive=True)) if wild else []  # noqa: PTH207 - the pattern is absolute
        roots.extend(map(Path, matches) if matches else [path])
    if not roots:
        raise InputError("at least one path is needed")
    return roots


@dataclass
class _Collector:
    """Offers paths to the readers, and collects runs, notes and skipped files."""

    readers: list[Reader]
    forced: bool
    parts: list[Part] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: The columns of each file, where its reader tells them.
    columns: dict[Path, list[Column]] = field(default_factory=dict)
    placed: list[Placed] = field(default_factory=list)
    #: Solvers and what was read of their runs that didn't come to their end.
    cut: list[tuple[str, Path]] = field(default_factory=list)
    #: When each solver's runs ended, by solver and run, ISO 8601, where that is known.
    ended: dict[tuple[str, str], str] = field(default_factory=dict)
    walk: Walk = field(default_factory=Walk)
    #: The formats that files are in, each with its first file.
    offered: dict[str, Path] = field(default_factory=dict)

    def add(self, root: Path) -> None:
        if not root.exists():
            raise ReadError(root, "there is no such file or folder")
        if not (root.is_file() or root.is_dir()):
            raise ReadError(
                root, "it is a pipe or a device, but files are read more than once: write it to a file first"
            )
        if root.is_file() and self.forced:
            self._take(root, self.readers)
            return
        named = [one for one in self.readers if plain_suffix(root) in getattr(one, "named_only", ())]
        if named and root.is_file():
            others = self._recognising(root)
            if not others:
                self._take(root, named)
                return
            _refuse_both(root, [one for one in named if one not in others], others)
        for path in self.walk.below(root, lambda folder: bool(self._recognising(folder))):
            candidates = self._recognising(path)
            if candidates:
                self._take(path, candidates)
            elif not path.is_dir():
                self.walk.unknown.append(path)
        self.skipped.extend(self.walk.take_skipped())

    def _recognising(self, path: Path) -> list[Reader]:
        """Return the readers that recognise `path`; a generic one only if it is in no particular format.

        What the reader of a particular format refuses with a reason must not be read as just any table.
        """
        found = [reader for reader in self.readers if _recognises(reader, path)]
        return [reader for reader in found if not getattr(reader, "generic", False)] or found

    def _take(self, path: Path, candidates: Iterable[Reader]) -> None:
        """Read `path` with the first reader that succeeds; if all fail, record the first failure."""
        failure: Skipped | None = None
        for reader in candidates:
            self.offered.setdefault(reader.name, path)
            try:
                found = reader.read(path)
            except EvenlyError as error:
                failure = failure or Skipped.of(error, path)
            except Exception as error:  # a bug in one reader must not stop the reading of other files
                failure = failure or Skipped(
                    path, f"the reader {reader.name!r} failed: {type(error).__name__}: {error}"
                )
            else:
                self.parts.extend(Part(solver, runs, path, reader.name) for solver, runs in found.items())
                self.notes.extend(n if str(path) in n else f"{path}: {n}" for n in getattr(reader, "notes", ()))
                self.skipped.extend(getattr(reader, "skipped", ()))
                self.cut.extend((solver, path) for solver in getattr(reader, "cut", ()))
                self.ended |= getattr(reader, "ended", {})
                if told := list(getattr(reader, "columns", ())):
                    self.columns[path] = told
                self.placed.extend(getattr(reader, "placed", ()))
                return
        if failure is not None:
            self.skipped.append(failure)

    def first_parts(self) -> list[Part]:
        """Return one part per path."""
        return list({part.path: part for part in reversed(self.parts)}.values())[::-1]


def _refuse_both(path: Path, named: Sequence[Reader], others: Sequence[Reader]) -> None:
    """Refuse a text that readers of its name find something in, beside what the others recognise in it."""
    for reader in named:
        found = reader.beside(path) if hasattr(reader, "beside") else ""
        if found:
            ways = " or ".join(f"format={one.name!r} (--format {one.name})" for one in (others[0], reader))
            raise ReadError(path, f"it holds {found} beside what is in the format {others[0].name!r}: pass {ways}")


def _recognises(reader: Reader, path: Path) -> bool:
    try:
        return reader.recognises(path)
    except Exception:  # `recognises` must not raise, but a plug-in may break this rule
        return False


def _nothing_read(roots: Sequence[Path], skipped: Sequence[Skipped], unknown: Sequence[Path]) -> ReadError:
    lost = [entry for entry in skipped if not entry.benign]
    if len(lost) == 1 and not unknown:
        return ReadError(lost[0].path, lost[0].reason, line=lost[0].line)
    if lost:
        return ReadError(roots[0], f"no measurement could be read:{listing(lost)}")
    formats = "the formats that evenly reads (evenly read --formats lists them)"
    remedy = "for a table, pass format='table' (--format table); for a log, make a pattern with evenly init --pattern"
    if roots[0].suffix.lower() in (".yaml", ".yml"):
        remedy = "write YAML as JSON: a list of records, or an object of columns"
    if roots[0].suffix.lower() in (".html", ".htm"):
        remedy = "save its table as CSV, as a spreadsheet does that the page is copied into"
    if roots[0].suffix.lower() == ".db":
        table = shlex.quote(f"{roots[0].stem}.runs.csv")
        remedy = f"if evenly measure keeps its runs in it: evenly runs list {shlex.quote(str(roots[0]))} --save {table}"
    if len(unknown) == 1 and roots[0] == unknown[0]:
        remedy = instead_of(roots[0]) or remedy
        return ReadError(roots[0], f"the file is in none of {formats}: {remedy}")
    remedy = next((told for path in unknown[:_LOOKED_AT] if (told := instead_of(path))), remedy)
    looked = f"{len(unknown)} file{'' if len(unknown) == 1 else 's'}" if unknown else "the folder is empty, 0 files"
    return ReadError(roots[0], f"no measurement found ({looked} looked at, none of them in one of {formats}): {remedy}")
