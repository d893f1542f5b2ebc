"""Merging runs from many files into one table per solver, without duplicate measurements."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.readers.files import stem_of
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = ["Part", "merge"]

#: Relative tolerance within which values of two files count as the same run; formats round differently.
_SAME = 0.01
_TABLE = "table"
#: The smallest number of rows of one run that count as its steps.
_FEWEST_STEPS = 3
#: So many counts in a file make a curve; curves that differ by more in the mean of logarithms are of two programs.
_CURVE, _APART = 3, 0.2
#: Files with several parameters are compared where so many configurations are in both.
_SHARED = 2
#: Curves of one solver in two files that differ by more are told.
_DOUBTFUL = 0.12
_NUMBERING = re.compile(r"[-_. ]*\d+$")
#: The values of a run by the number and the status of the row.
_Rows = dict[tuple[Any, ...], float]


@dataclass(frozen=True)
class Part:
    """Runs of one solver from one file or folder.

    Parameters
    ----------
    solver : str
        The name of the solver; ``""`` if the file does not name it.
    runs : Runs
        The measured runs.
    path : Path
        The file or folder.
    format : str
        The name of the reader.
    """

    solver: str
    runs: Runs
    path: Path
    format: str


def merge(parts: Sequence[Part]) -> tuple[dict[str, Runs], list[str], list[Skipped]]:
    """Merge the runs of each solver from all files, and drop duplicates.

    Parameters
    ----------
    parts : sequence of Part
        The parts in the order in which they were read.

    Returns
    -------
    runs : dict of str to Runs
        The runs of each solver. If there are several solvers, a part without a solver gets the name of its file.
    notes : list of str
        The decisions that were made.
    skipped : list of Skipped
        Parts that repeat or summarise another part (benign), and parts whose parameters differ from most others.

    Examples
    --------
    >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2], "seconds": [8.0, 4.0]}), ["cores"])
    >>> merged, notes, skipped = merge([Part("", runs, Path("a.csv"), "table"), Part("", runs, Path("b.csv"), "table")])
    >>> list(merged)
    ['a', 'b']
    """
    named, notes = _name(parts)
    groups: dict[str, list[Part]] = defaultdict(list)
    for part in named:
        groups[part.solver].append(part)
    runs: dict[str, Runs] = {}
    skipped: list[Skipped] = []
    for solver, group in groups.items():
        alike, unlike = _alike(group)
        skipped.extend(unlike)
        detailed, summaries = _without_summaries(alike)
        whole, cut = _without_cut(detailed)
        kept, repeated = _once(whole)
        skipped.extend([*summaries, *cut, *repeated])
        notes = [*notes, *map(str, cut)]
        if len({part.path for part in kept}) > 1 and _curves_differ(kept, _DOUBTFUL):
            names = " and ".join(sorted({part.path.name for part in kept})[:2])
            which = f" of {solver}" if solver else ""
            notes = [*notes, f"the times{which} in {names} are of two curves: something else was varied between them"]
        runs[solver] = kept[0].runs if len(kept) == 1 else Runs.concat(part.runs for part in kept)
    return runs, notes, skipped


def _name(parts: Sequence[Part]) -> tuple[list[Part], list[str]]:
    """Name parts without a solver after their files; change nothing if all parts belong to one solver."""
    unnamed = [part for part in parts if not part.solver]
    stems = {part.path: _stem(part) for part in unnamed}
    names = _file_names(unnamed, stems)
    numbered = sorted({path.name for path, name in names.items() if name != stems[path]})
    together: list[str] = []
    if numbered and _are_curves(unnamed):
        which = " and ".join(numbered) if len(numbered) < 3 else f"{numbered[0]} … {numbered[-1]}"
        together = [f"{which} differ by a number: taken as runs of the same program (else give them other names)"]
    shapes: dict[str, set[frozenset[str]]] = defaultdict(set)
    for part in unnamed:
        shapes[names[part.path]].add(frozenset(part.runs.parameters))
    in_folders = _named_by_folders(unnamed, names)
    for path, name in names.items():
        if len(shapes[name]) > 1:  # files of one name, in different folders, with different parameters
            names[path] = f"{path.resolve().parent.name}/{name}"
        elif name in in_folders:
            names[path] = path.resolve().parent.name
    if len(set(names.values())) == len({part.solver or names[part.path] for part in parts}) == 1:
        return list(parts), together
    named = [replace(part, solver=part.solver or names[part.path]) for part in parts]
    listed = ", ".join(sorted(set(names.values())))
    told = [f"files that name no solver are taken as solvers of their own: {listed}"] if names else []
    return named, [*told, *together]


def _named_by_folders(parts: Sequence[Part], names: Mapping[Path, str]) -> set[str]:
    """Return the names that files with different curves share, each in a folder of its own: ``ocn/times.csv``."""
    groups: dict[str, dict[Path, Part]] = defaultdict(dict)
    for part in parts:
        groups[names[part.path]][part.path] = part
    return {
        name
        for name, group in groups.items()
        if len(group) == len({path.resolve().parent.name for path in group}) > 1
        and len({path.name for path in group}) == 1
        and _curves_differ(list(group.values()))
    }


def _stem(part: Part) -> str:
    """Return what tells a file from others: tables are called ``lumi.cpu.csv``, and logs ``run.8cores.log``."""
    if part.format != _TABLE:
        return stem_of(part.path)
    packed = part.path.suffix.lower() in (".gz", ".xz", ".bz2")
    return Path(part.path.stem).stem if packed else part.path.stem


def _file_names(parts: Sequence[Part], stems: Mapping[Path, str]) -> dict[Path, str]:
    """Name each file by its stem; drop a final number if several files then share the name (``run-1``, ``run-2``).

    The number stays where the files hold curves that differ, as those of two components do.
    """
    plain = {path: _NUMBERING.sub("", stem) or stem for path, stem in stems.items()}
    groups: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        groups[plain[part.path]].append(part)
    alone = {name for name, group in groups.items() if len({p.path for p in group}) < 2 or _curves_differ(group)}
    return {path: stems[path] if plain[path] in alone else plain[path] for path in stems}


def _are_curves(parts: Sequence[Part]) -> bool:
    """Tell whether each file holds several numbers of cores, or of another single parameter."""
    return all(len(part.runs.parameters) == 1 and len(part.runs.configurations) >= _CURVE for part in parts)


def _curves_differ(group: Sequence[Part], apart_by: float = _APART) -> bool:
    """Tell whether files hold curves that can't be those of one program, repeated."""
    if len({frozenset(part.runs.parameters) for part in group}) > 1:
        return False
    if not _are_curves(group):
        return _times_differ(group, apart_by)
    curves = []
    for part in group:
        table = part.runs.aggregate()
        x = table[part.runs.parameters[0]]
        if not pd.api.types.is_numeric_dtype(x) or not (x > 0).all():
            return False
        curves.append((np.log(x.to_numpy(dtype=np.float64)), np.log(table[part.runs.response].to_numpy(np.float64))))
    first = curves[0]
    for x, y in curves[1:]:
        inside = (x >= first[0].min()) & (x <= first[0].max())
        if inside.sum() >= 2:
            order = np.argsort(first[0])
            apart = np.abs(y[inside] - np.interp(x[inside], first[0][order], first[1][order]))
            if apart.mean() > apart_by:
                return True
    return False


def _times_differ(group: Sequence[Part], apart_by: float) -> bool:
    """Tell whether files hold several configurations that all have, at times that differ."""
    if any(len(part.runs.configurations) < _CURVE for part in group):
        return False
    tables = [part.runs.aggregate().set_index(sorted(part.runs.parameters))[part.runs.response] for part in group]
    return any(
        len(shared := tables[0].index.intersection(table.index)) >= _SHARED
        and float(np.abs(np.log(tables[0][shared].to_numpy() / table[shared].to_numpy())).mean()) > apart_by
        for table in tables[1:]
    )


def _alike(group: Sequence[Part]) -> tuple[list[Part], list[Skipped]]:
    """Keep the parts with the most frequent set of parameters; skip the others."""
    by_parameters: dict[frozenset[str], list[Part]] = defaultdict(list)
    for part in group:
        by_parameters[frozenset(part.runs.parameters)].append(part)
    best = max(by_parameters.values(), key=len)
    names = ", ".join(best[0].runs.parameters)
    unlike = [
        Skipped(
            part.path,
            f"its parameters are {', '.join(part.runs.parameters)}, but those of {best[0].path} are {names}: "
            "read them apart, or give them the same parameters",
        )
        for part in group
        if frozenset(part.runs.parameters) != frozenset(best[0].runs.parameters)
    ]
    return best, unlike


def _without_summaries(group: Sequence[Part]) -> tuple[list[Part], list[Skipped]]:
    """Drop rows that summarise a whole run if another part holds the steps of this run.

    A summary is the only row of its run in its part, and lies between the shortest and the longest step.
    """
    if len(group) == 1:
        return list(group), []
    steps: dict[tuple[Any, ...], tuple[float, float, Path]] = {}
    for part in group:
        for run, values in _values_by_run(part.runs).items():
            if len(values) >= _FEWEST_STEPS and np.isfinite(values).all():
                steps.setdefault(run, (float(values.min()), float(values.max()), part.path))
    kept: list[Part] = []
    left_out: list[Skipped] = []
    for part in group:
        covered = {
            run: steps[run][2]
            for run, values in _values_by_run(part.runs).items()
            if len(values) == 1 and run in steps and steps[run][0] <= values[0] <= steps[run][1]
        }
        if covered:
            fresh = np.array([key not in covered for key in _keys(part.runs)], dtype=np.bool_)
            where = next(iter(covered.values()))
            left_out.append(Skipped(part.path, f"sums up runs whose steps are in {where}", benign=True))
            kept += [replace(part, runs=part.runs.where(fresh))] if fresh.any() else []
        else:
            kept.append(part)
    return kept, left_out


def _without_cut(group: Sequence[Part]) -> tuple[list[Part], list[Skipped]]:
    """Drop rows of a run that was cut off, if another part holds them all, and more of the same run.

    So the run counts once, and all its rows come from one file.
    """
    held = Counter(run for part in group if part.format != _TABLE for run in set(_keys(part.runs)))
    shared = {run for run, count in held.items() if count > 1}
    if not shared:
        return list(group), []
    rows = [{} if part.format == _TABLE else _rows_by_run(part.runs, shared) for part in group]
    holders: dict[tuple[Any, ...], list[tuple[Path, _Rows]]] = defaultdict(list)
    for part, own in zip(group, rows, strict=True):
        for run, values in own.items():
            holders[run].append((part.path, values))
    kept: list[Part] = []
    left_out: list[Skipped] = []
    for part, own in zip(group, rows, strict=True):
        whole = {
            run: path
            for run, values in own.items()
            for path, more in holders[run]
            if len(more) > len(values)
            and all(row in more and _agree(more[row], value) for row, value in values.items())
        }
        if not whole:
            kept.append(part)
            continue
        fresh = np.array([key not in whole for key in _keys(part.runs)], dtype=np.bool_)
        where = next(iter(whole.values()))
        left_out.append(
            Skipped(part.path, f"holds the begin of runs that are whole in {where}, which counts", benign=True)
        )
        kept += [replace(part, runs=part.runs.where(fresh))] if fresh.any() else []
    return kept, left_out


def _keys(runs: Runs, *columns: str) -> list[tuple[Any, ...]]:
    """Return a key for each row: the run, the given columns, and the parameters."""
    table: pd.DataFrame = runs.to_frame()[["run", *columns, *sorted(runs.parameters)]]
    return list(table.itertuples(index=False, name=None))


def _rows_by_run(runs: Runs, wanted: Collection[tuple[Any, ...]]) -> dict[tuple[Any, ...], _Rows]:
    """Return the values of some runs by the number and the status of the row."""
    groups: dict[tuple[Any, ...], _Rows] = defaultdict(dict)
    rows = runs.to_frame()[["repetition", "status"]].itertuples(index=False, name=None)
    for key, row, value in zip(_keys(runs), rows, runs.values, strict=True):
        if key in wanted:
            groups[key][row] = float(value)
    return groups


def _values_by_run(runs: Runs) -> dict[tuple[Any, ...], NDArray[np.float64]]:
    groups: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for key, value in zip(_keys(runs), runs.values, strict=True):
        groups[key].append(float(value))
    return {key: np.array(values) for key, values in groups.items()}


def _once(group: Sequence[Part]) -> tuple[list[Part], list[Skipped]]:
    """Drop rows that an earlier part already holds."""
    if len(group) == 1:
        return list(group), []
    seen: dict[tuple[Any, ...], tuple[float, Path]] = {}
    kept: list[Part] = []
    repeated: list[Skipped] = []
    for part in group:
        keys = _keys(part.runs, "repetition", "status")
        values = part.runs.values
        fresh = ~_told_before(part, [seen.get(key) for key in keys], values)
        if not fresh.all():
            first = next(seen[k][1] for k, new in zip(keys, fresh, strict=True) if not new)
            share = f"{int((~fresh).sum())} of {len(fresh)} rows: " if fresh.any() else ""
            repeated.append(Skipped(part.path, f"{share}same runs as {first}", benign=True))
        if fresh.all() and any(key in seen for key in keys):
            part = replace(part, runs=_apart(part))
        for key, value, new in zip(keys, values, fresh, strict=True):
            if new:
                seen[key] = (value, part.path)
        if fresh.any():
            kept.append(part if fresh.all() else replace(part, runs=part.runs.where(fresh)))
    return kept, repeated


def _told_before(
    part: Part, earlier: Sequence[tuple[float, Path] | None], values: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which rows an earlier part already holds, bool of shape (n,).

    Logs name their runs, so each row is compared separately. Rows of a table are named by their row number, so equal
    names prove nothing: a table counts as a copy only if all its values are exactly equal. Otherwise it holds repeated
    measurements.
    """
    if part.format != _TABLE:
        return np.array([_known(known, v) for known, v in zip(earlier, values, strict=True)], dtype=np.bool_)
    same = (
        known is not None and np.array_equal(known[0], v, equal_nan=True)
        for known, v in zip(earlier, values, strict=True)
    )
    return np.full(len(values), all(same))


def _apart(part: Part) -> Runs:
    """Return the runs of a part with the file's path before each run name, to make the names unique."""
    table = part.runs.to_frame()
    table["run"] = [f"{part.path}:{run}" for run in table["run"]]
    runs = part.runs
    return Runs(table, space=runs.space, quantities=runs.quantities, response=runs.response, days=runs.days)


def _known(earlier: tuple[float, Path] | None, value: float) -> bool:
    return earlier is not None and _agree(earlier[0], value)


def _agree(one: float, other: float) -> bool:
    """Tell whether two files say the same of a row."""
    both_lost = np.isnan(one) and np.isnan(other)
    return bool(both_lost or abs(one - other) <= _SAME * abs(other))
