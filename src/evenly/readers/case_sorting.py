"""Sorting loose log files into a case folder: which logs belong to one measurement, and on how many cores it ran.

Files are copied or linked, never moved; existing files are not overwritten.

Source: "Optimal core assignment for coupled simulations" (thesis), appendix A, option ``--sort``.
"""

from __future__ import annotations

import filecmp
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from evenly.errors import InputError, ReadError
from evenly.readers.case_pairing import MeasuredLog, Measurement, paired
from evenly.readers.files import head, plain_suffix
from evenly.readers.precice.coupling import configurations_beside, find_coupling
from evenly.readers.precice.iteration_logs import ITERATIONS
from evenly.readers.registry import Skipped, listing
from evenly.readers.scanning import scan

__all__ = ["How", "Placement", "SortPlan", "sort_into_case"]

How = Literal["copy", "link"]

_CASE = "case.ini"
_CONFIGURATION = "precice-config.xml"


@dataclass(frozen=True)
class Placement:
    """One log file, and the path to which it is copied or linked."""

    source: Path
    target: Path


@dataclass(frozen=True)
class SortPlan:
    """What sorting does, or would do.

    Parameters
    ----------
    case : Path
        The case folder.
    placements : tuple of Placement
        Logs to copy or link; those that are there already are not among them.
    case_ini : str
        Text of ``case.ini``; empty if it is there already.
    skipped : tuple of Skipped
        Logs that could not be placed, and why.
    done : bool
        False for a dry run.
    coupling : Placement, optional
        The preCICE configuration that lies beside the logs, if it isn't there already.
    notes : tuple of str
        What else a user should know: why nothing was done, or why no configuration was taken.
    """

    case: Path
    placements: tuple[Placement, ...]
    case_ini: str
    skipped: tuple[Skipped, ...]
    done: bool
    coupling: Placement | None = None
    notes: tuple[str, ...] = ()


def sort_into_case(
    paths: Path | str | Iterable[Path | str],
    target: Path | str,
    *,
    solvers: Sequence[str] | None = None,
    how: How = "copy",
    dry_run: bool = False,
    **options: Any,
) -> SortPlan:
    r"""Sort loose logs into ``target/p1_p2/`` and write ``target/case.ini``.

    A preCICE configuration beside the logs comes along, so that the case still tells how the solvers are coupled.

    Parameters
    ----------
    paths : path-like or iterable of path-like
        Logs, or folders that hold them.
    target : path-like
        The case folder; it may exist and hold measurements.
    solvers : sequence of str, optional
        The solvers in the order in which the folders' names tell their cores; alphabetical by default.
    how : {"copy", "link"}
        ``"link"`` makes hard links, which need no space; across file systems it copies.
    dry_run : bool
        Only say what would be done.
    **options
        Options of the readers.

    Returns
    -------
    SortPlan

    Raises
    ------
    ReadError
        If no log can be read.
    InputError
        If no measurement is complete, or another ``case.ini`` is there already.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, cores in (("a", 2), ("b", 4)):
    ...     _ = (folder / f"timeinfo_{name}").write_text(
    ...         f" Timings for a run on {cores} processes\n simLoop 1.0E+00 1.0E+00 {cores}.0E+00\n")
    >>> plan = sort_into_case(folder, folder / "case", dry_run=True)
    >>> [str(p.target.relative_to(folder)) for p in plan.placements]
    ['case/2_4/timeinfo_a', 'case/2_4/timeinfo_b']
    """
    if how not in get_args(How):
        raise InputError(f"how must be one of {', '.join(get_args(How))}, but got {how!r}")
    case = Path(target)
    given = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    logs, skipped = _logs(given, case, options)
    order = _order(logs, solvers)
    measurements, unmatched, notes = paired(logs, order)
    skipped += unmatched
    if not measurements:
        raise InputError(f"no measurement has a log of each solver ({', '.join(order)}):{listing(skipped)}")
    names = _target_names(measurements, order)
    case_ini = _case_text(measurements[0], order, names)
    todo = "" if _existing_case(case, case_ini) else case_ini
    placements = _place(case, measurements, order, names)
    coupling, said = _coupling(case, logs, given)
    notes += said
    if not placements:
        notes.append(f"nothing is new: {case} holds all {len(logs) - len(unmatched)} logs already")
    if not dry_run:
        _carry_out(case, [*placements, *([coupling] if coupling else [])], todo, how)
    return SortPlan(case, tuple(placements), todo, tuple(skipped), not dry_run, coupling, tuple(notes))


# ---- what there is ------------------------------------------------------------------------------------------


def _logs(paths: Sequence[Path], case: Path, options: Mapping[str, Any]) -> tuple[list[MeasuredLog], list[Skipped]]:
    """Read every log by itself, so that each is known with its solver and cores."""
    skipped: list[Skipped] = []
    logs: list[MeasuredLog] = []
    several: list[Path] = []
    for path in _candidates(paths, case):
        try:
            found = scan(path, **options)
        except ReadError as error:
            skipped.append(Skipped.of(error, path))
            continue
        several.extend([path] if len(found.runs) > 1 else [])
        log = _describe(path, found.runs, found.sources[0][1])
        (logs if isinstance(log, MeasuredLog) else skipped).append(log)  # type: ignore[arg-type]
    if not logs and several and len(several) == len(skipped):
        folder = several[0].parent
        raise ReadError(
            several[0],
            f"{'it' if len(several) == 1 else f'each of {len(several)} files'} holds all solvers of a run, as timing "
            f"files of CESM do, so nothing has to be sorted: evenly read, fit and allocate take {folder} as it is",
        )
    if not logs:
        reasons = f":{listing(skipped)}" if skipped else ""
        raise ReadError(paths[0] if paths else case, f"no log of a run was found{reasons}")
    return logs, skipped


def _candidates(paths: Sequence[Path], case: Path) -> list[Path]:
    """Return what the given paths hold that some reader knows, leaving out what is in the case folder."""
    found: list[Path] = []
    for path in paths:
        if path.is_file():
            found.append(path)
            continue
        below = scan(path)
        repeated = {entry.path for entry in below.skipped if entry.benign}
        inside = [source for source, _ in below.sources if source not in repeated]
        found.extend(source for source in inside if case.resolve() not in source.resolve().parents)
    return list(dict.fromkeys(found))


def _describe(path: Path, runs: Mapping[str, Any], format: str) -> MeasuredLog | Skipped:  # noqa: A002
    if len(runs) != 1:
        return Skipped(
            path, f"it holds several solvers ({', '.join(runs)}): evenly reads its folder as it is, unsorted"
        )
    name, found = next(iter(runs.items()))
    if found.parameters != ["cores"]:
        return Skipped(path, f"a log of one run tells its cores, but this has {', '.join(found.parameters)}")
    cores = sorted(set(found.configurations["cores"].tolist()))
    if len(cores) > 1:
        return Skipped(path, f"it holds runs on {', '.join(map(str, cores))} cores; a folder is one measurement")
    solver = name or _solver_of_name(path)
    if not solver:
        return Skipped(path, "neither the log nor its name tells the solver: name it as in timeinfo_inner")
    table = found.to_frame()
    return MeasuredLog(path, format, solver, int(cores[0]), frozenset(table["run"]), _start(table["when"]))


def _start(when: Iterable[Any]) -> float | None:
    """Return when a log's first run began, in seconds since 1970; None if it doesn't tell."""
    try:
        return min(datetime.fromisoformat(text).timestamp() for text in {*when})
    except (TypeError, ValueError):
        return None


def _solver_of_name(path: Path) -> str:
    """Return what follows ``timeinfo_`` in a name, without numbers."""
    stem = re.sub(r"timeinfo|timing|events?|log", "", path.stem, flags=re.IGNORECASE)
    return re.sub(r"[\d_\-. ]+", "_", stem).strip("_")


def _order(logs: Sequence[MeasuredLog], solvers: Sequence[str] | None) -> list[str]:
    there = sorted({log.solver for log in logs}, key=str.lower)
    if solvers is None:
        return there
    by_lower = {name.lower(): name for name in there}
    missing = [name for name in solvers if name.lower() not in by_lower]
    if missing:
        raise InputError(f"there is no log of {missing[0]!r}, only of {', '.join(there)}")
    return [by_lower[name.lower()] for name in solvers]


# ---- the coupling --------------------------------------------------------------------------------------------


def _coupling(case: Path, logs: Sequence[MeasuredLog], given: Sequence[Path]) -> tuple[Placement | None, list[str]]:
    """Return where the configuration goes that all runs share, and notes if there is none to take."""
    beside = configurations_beside([log.path for log in logs], given, outside=case)
    found, strays = find_coupling(beside)
    notes = [*strays.notes, *map(str, strays.skipped)]
    target = case / _CONFIGURATION
    if found is None:
        return None, notes
    if not target.exists():
        return Placement(strays.used[0], target), notes
    if find_coupling([target, strays.used[0]])[0] is None:
        notes.append(f"{target} is there already and couples otherwise than {strays.used[0]}: it is left as it is")
    return None, notes


# ---- where they go ------------------------------------------------------------------------------------------


def _target_names(measurements: Sequence[Measurement], order: Sequence[str]) -> dict[str, str]:
    """Return a file name per solver, the same in every measurement: their own where they agree."""
    names: dict[str, str] = {}
    for solver in order:
        own = {m[solver].path.name for m in measurements}
        suffixes = sorted({plain_suffix(m[solver].path) for m in measurements})
        if len(suffixes) > 1:
            listed = ", ".join(suffix or "none" for suffix in suffixes)
            raise InputError(f"logs of {solver} must be of one kind, but there are {listed}: sort them apart")
        names[solver] = own.pop() if len(own) == 1 else f"{solver.lower()}{suffixes[0] or '.log'}"
    twice = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {s: f"{s.lower()}_{n}" for s, n in names.items()} if twice else names


def _case_text(measurement: Measurement, order: Sequence[str], names: Mapping[str, str]) -> str:
    sections = [
        f"[{solver}]\n{'timeinfo' if measurement[solver].format == 'ateles-timeinfo' else 'events'}={names[solver]}\n"
        for solver in order
    ]
    return "[DEFAULT]\nd=1\n\n" + "\n".join(sections)


def _existing_case(case: Path, wanted: str) -> bool:
    path = case / _CASE
    if not path.exists():
        return False
    if head(path).split() != wanted.split():
        raise InputError(f"{path} is there already and describes another case: choose another folder")
    return True


def _place(
    case: Path, measurements: Sequence[Measurement], order: Sequence[str], names: Mapping[str, str]
) -> list[Placement]:
    """Choose a folder for each measurement; repetitions get a number; measurements already in a folder are skipped."""
    placements: list[Placement] = []
    taken: set[Path] = set()
    for measurement in measurements:
        base = "_".join(str(measurement[solver].cores) for solver in order)
        number = 1
        while True:
            folder = case / (base if number == 1 else f"{base}_{number}")
            pairs = [Placement(measurement[solver].path, folder / names[solver]) for solver in order]
            pairs += [Placement(log, folder / log.name) for log in _iterations(measurement)]
            if folder not in taken and not folder.exists():
                placements.extend(pairs)
                break
            if folder not in taken and all(_same(pair) for pair in pairs):
                break
            number += 1
        taken.add(folder)
    return placements


def _iterations(measurement: Measurement) -> list[Path]:
    """Return the logs of iterations that preCICE wrote beside a run's files, one of each name."""
    beside = (path for log in measurement.values() for path in sorted(log.path.parent.glob(ITERATIONS)))
    return list({path.name: path for path in beside}.values())


def _same(pair: Placement) -> bool:
    """Tell whether a log, a file or a folder, is at its target already."""
    if pair.source.is_file():
        return pair.target.is_file() and filecmp.cmp(pair.source, pair.target, shallow=False)
    files = {path.relative_to(pair.source) for path in pair.source.rglob("*") if path.is_file()}
    there = {path.relative_to(pair.target) for path in pair.target.rglob("*") if path.is_file()}
    return files == there and all(filecmp.cmp(pair.source / f, pair.target / f, shallow=False) for f in files)


def _carry_out(case: Path, placements: Sequence[Placement], case_ini: str, how: How) -> None:
    try:
        case.mkdir(parents=True, exist_ok=True)
        for placement in placements:
            placement.target.parent.mkdir(parents=True, exist_ok=True)
            if placement.source.is_dir():
                shutil.copytree(placement.source, placement.target)
            elif how == "copy" or not _linked(placement):
                _copy_new(placement)
        if case_ini:
            with (case / _CASE).open("x", encoding="utf-8") as stream:
                stream.write(case_ini)
    except OSError as error:
        raise InputError(f"the case can't be written to {case}: {error.strerror or error}") from None


def _linked(placement: Placement) -> bool:
    try:
        os.link(placement.source, placement.target)
    except FileExistsError:
        raise
    except OSError:  # another file system, or one without links
        return False
    return True


def _copy_new(placement: Placement) -> None:
    with placement.source.open("rb") as source, placement.target.open("xb") as target:
        shutil.copyfileobj(source, target)
    shutil.copystat(placement.source, placement.target)
