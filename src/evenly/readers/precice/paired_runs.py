"""Which files of participants are of one coupled run, as those that lie together in a folder; and its steps.

preCICE overwrites the files of an older run in its folder only where ranks have the same names. So files of a run on
other ranks may be left, without those of the partner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from evenly.runs.runs import Runs

__all__ = [
    "SAME", "Steps", "folders_of", "incomplete_runs", "is_whole", "of_one_time", "rounded", "steps_made", "together",
    "unpaired_runs", "without_left_overs",
]  # fmt: skip

#: Counts of steps that differ by less are equal: the last steps of a killed run are missing, some steps are averaged.
SAME = 0.02

#: Participants begin together, but the clocks of their nodes may differ by minutes.
_CLOCKS_DIFFER = pd.Timedelta(minutes=15)

#: A run whose end isn't known took no longer.
_LONGEST = pd.Timedelta(days=1)

#: The file of each run of a participant, where it is known, and the steps that it made.
Steps = list[tuple[Path | None, float]]


def is_whole(count: float) -> bool:
    """Tell whether a count of steps is a whole number of 1 or more, as nearly as steps are known."""
    return round(count) >= 1 and abs(count / round(count) - 1) <= SAME


def rounded(count: float) -> float:
    """Return a count of steps, a nearly whole one as such."""
    return float(round(count)) if is_whole(count) else round(count, 3)


def steps_made(runs: Runs) -> Steps:
    """Return the file and the steps of each run of which several steps are known; readers drop the first step.

    Summaries have one row, with the number of steps. Two runs may have begun with the same steps, so files tell them
    apart, too.
    """
    table = runs.to_frame()
    numbered = table["repetition"] + 1
    counted = table.assign(made=table["steps"].fillna(numbered) if "steps" in table else numbered)
    last = counted.groupby(["run", "source"], dropna=False)["made"].max().reset_index()
    rows = last[["source", "made"]].itertuples(index=False)
    return [(Path(source) if isinstance(source, str) and source else None, float(n)) for source, n in rows if n > 1]


def together(made: Mapping[str, Steps]) -> dict[Path, dict[str, float]]:
    """Return the steps of each participant in each run. A run's files lie in the smallest folder with one of each."""
    entries = ((name, path, steps) for name, of_runs in made.items() for path, steps in of_runs)
    left = [(name, path.resolve(), steps) for name, path, steps in entries if path is not None]
    found: dict[Path, dict[str, float]] = {}
    folders = {folder for _, path, _ in left for folder in (path, *path.parents)}
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        inside = [entry for entry in left if folder == entry[1] or folder in entry[1].parents]
        if len(inside) == len({name for name, *_ in inside}) == len(made):
            found[folder] = {name: steps for name, _, steps in inside}
            left = [entry for entry in left if entry not in inside]
    return dict(sorted(found.items()))


def folders_of(runs: Iterable[Path]) -> dict[Path, Path]:
    """Return the folder of each run, in which its logs lie: of a file, or of preCICE's folder, the one around it."""
    around = {run: run.parent if run.is_file() or run.name == "precice-profiling" else run for run in runs}
    shared = Counter(around.values())
    return {run: folder if shared[folder] == 1 else run for run, folder in around.items()}


def unpaired_runs(files: Mapping[str, Sequence[Path | None]], runs: Collection[Path]) -> str:
    """Return what to say of files that are in no run; empty where there is nothing.

    Parameters
    ----------
    files : mapping of str to sequence of Path
        The file of each run of each participant, where it is known.
    runs : collection of Path
        The folders of runs of which each participant is known.

    Examples
    --------
    >>> files = {"Inner": [Path("/a/1/Inner"), Path("/a/1/Inner-again")], "Outer": [Path("/a/1/Outer")]}
    >>> unpaired_runs(files, [])[:53]
    '1 holds 2 runs of Inner, 1 of Outer: which are of one'
    """
    there = [(name, path.resolve()) for name, paths in files.items() for path in paths if path is not None]
    left = [(name, path) for name, path in there if not any(run == path or run in path.parents for run in runs)]
    folders = {folder for _, path in left for folder in path.parents}
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        counts = Counter(name for name, path in left if folder in path.parents)
        if len(counts) == len(files) > 1:
            if len(set(counts.values())) == 1:
                return ""
            told = ", ".join(f"{count} runs of {name}" if not at else f"{count} of {name}"
                             for at, (name, count) in enumerate(counts.most_common()))  # fmt: skip
            return (
                f"{folder.name} holds {told}: which are of one run isn't known, so its time windows aren't counted; "
                "keep each run in a folder of its own"
            )
    return ""


def incomplete_runs(files: Mapping[str, Sequence[Path | None]]) -> str:
    """Return what to say of runs in which a participant is missing, while others have each; empty if there are none.

    Parameters
    ----------
    files : mapping of str to sequence of Path
        The file of each run of each participant, where it is known.

    Examples
    --------
    >>> folders = {"Inner": ["1_1", "2_1"], "Outer": ["1_1"]}
    >>> incomplete_runs({name: [Path("/case", folder, name) for folder in some] for name, some in folders.items()})
    'no files of Outer were found in 2_1: the other runs are used'
    """
    there = [(name, path.resolve()) for name, paths in files.items() for path in paths if path is not None]
    whole = together({name: [(path, 1.0) for one, path in there if one == name] for name in files})
    around = {folder for run in whole for folder in run.parents}
    found: dict[Path, set[str]] = {}
    for name, path in there:
        folders = (path, *path.parents)
        beside = [folder for folder in folders if folder.parent in around]
        if beside and whole.keys().isdisjoint(folders):
            found.setdefault(beside[0], set()).add(name)
    lacking = {name: [run.name for run, there in sorted(found.items()) if name not in there] for name in files}
    told = [f"no files of {name} were found in {', '.join(some)}" for name, some in lacking.items() if some]
    return f"{'; '.join(told)}: the other runs are used" if told else ""


def without_left_overs(runs: Mapping[str, Runs]) -> tuple[dict[str, Runs], list[str]]:
    """Return the runs without those of which the partner's files aren't there, beside one that has them; and notes.

    Only files in one place are judged: a folder of rank files, or a file that holds several runs. There, the run that
    began nearest to the partner's is the one that ran with it.

    Parameters
    ----------
    runs : mapping of str to Runs
        Of participants whose files tell their steps.
    """
    entries = [entry for name, one in runs.items() for entry in _begun(name, one)]
    left_over: list[_Begun] = []
    notes: list[str] = []
    for place in dict.fromkeys((one.name, one.place) for one in entries):
        own = [one for one in entries if (one.name, one.place) == place]
        partners = _partners(own[0], entries) if len(own) > 1 else []
        if not partners:
            continue
        told = f"{_shown(own[0].place)} holds {len(own)} runs of {own[0].name}"
        if len(partners) >= len(own):
            if len(partners) == len(own) and own[0].name < partners[0].name and own[0].place.is_dir():
                notes.append(f"{told}, and there are as many of {partners[0].name}: all are used")
            continue
        near = {min(own, key=lambda one: abs(one.when - other.when)).run for other in partners}
        stale = [one for one in own if one.run not in near]
        left_over += stale
        cores = ", ".join(f"that on {one.cores} cores ({one.when:%Y-%m-%d})" for one in stale)
        notes.append(
            f"{told}, and there {'is' if len(partners) == 1 else 'are'} {len(partners)} of {partners[0].name}: by the "
            f"time at which they began, {cores} ran with another one, and is left out"
        )
    return _without(runs, left_over), notes


def of_one_time(runs: Mapping[str, Runs], ended: Mapping[tuple[str, str], str]) -> tuple[dict[str, Runs], list[str]]:
    """Return the runs without solvers of which one ended before another in the folder began; and a note.

    A run whose end isn't known is taken to have ended a day after its own time. Then nothing is left out, but said. So
    it is where nothing would be left of a solver: its clock may be another one.

    Parameters
    ----------
    runs : mapping of str to Runs
        Of solvers; only those of which the files tell times are judged, where a folder holds one run of each.
    ended : mapping of (str, str) to str
        When the runs of solvers ended, by solver and run, ISO 8601, where that is known.
    """
    entries = {name: found for name, one in runs.items() if (found := _begun(name, one))}
    strangers: set[_Begun] = set()
    said, unsure = [], []
    for folder in together({name: [(one.place, 1.0) for one in its] for name, its in entries.items()}):
        of_run = [one for its in entries.values() for one in its if folder in (one.place, *one.place.parents)]
        known = {one: _time(ended[one.name, one.run]) for one in of_run if (one.name, one.run) in ended}
        ends = {one: known.get(one, one.when + _LONGEST) for one in of_run}
        first, last = min(ends, key=ends.__getitem__), max(of_run, key=lambda one: one.when)
        if last.when - ends[first] < _CLOCKS_DIFFER:
            continue
        began = f"in {folder.name}, {last.name} began ({last.when:%Y-%m-%d %H:%M})"
        if first in known:
            strangers |= {*of_run}
            said.append(f"{began} after {first.name} had ended ({known[first]:%Y-%m-%d %H:%M})")
        else:
            days = f"{first.name} is of {first.when:%Y-%m-%d}, {last.name} of {last.when:%Y-%m-%d}"
            unsure.append(f"in {folder.name}, {days}")
    kept = _without(runs, strangers)
    whole = all(len(one) for one in kept.values())
    notes = {"these files are of different runs and left out": said if whole else []}
    notes["they may be of different runs; all are used"] = unsure if whole else [*said, *unsure]
    told = [f"{'; '.join(some)}: {what}. Keep each run in a folder of its own" for what, some in notes.items() if some]
    return kept if whole else dict(runs), told


def _time(text: str) -> pd.Timestamp:
    return pd.to_datetime(text, utc=True, format="ISO8601")


def _without(runs: Mapping[str, Runs], some: Collection[_Begun]) -> dict[str, Runs]:
    """Return the runs without some of them."""
    names = {name: {one.run for one in some if one.name == name} for name in runs}
    return {name: one.where((~one.to_frame()["run"].isin(names[name])).to_numpy()) for name, one in runs.items()}


class _Begun(NamedTuple):
    """A run of a solver, where its files lie, and when it began."""

    name: str
    run: str
    place: Path
    cores: int
    when: pd.Timestamp


def _begun(name: str, runs: Runs) -> list[_Begun]:
    """Return the runs of a solver that tell when they began."""
    table = runs.to_frame().drop_duplicates(["run", "source"])
    table = table.assign(when=pd.to_datetime(table["when"], errors="coerce", utc=True, format="ISO8601"))
    known = table[table["when"].notna() & table["source"].notna() & (table["source"] != "")]
    places = {source: Path(source).resolve() for source in known["source"].unique()}
    cores = known["cores"] if "cores" in known else [0] * len(known)
    rows = zip(known["run"], known["source"], cores, known["when"], strict=True)
    return [_Begun(name, run, places[source], int(count), when) for run, source, count, when in rows]


def _partners(own: _Begun, entries: Sequence[_Begun]) -> list[_Begun]:
    """Return the runs of the partner of which most lie in the nearest folder around a run that holds any."""
    for folder in own.place.parents:
        around = [one for one in entries if one.name != own.name and folder in one.place.parents]
        if around:
            most = Counter(one.name for one in around).most_common(1)[0][0]
            return [one for one in around if one.name == most]
    return []


def _shown(place: Path) -> str:
    """Return the last parts of a path that tell which run it is."""
    return str(Path(*place.parts[-3:])) if place.name == "precice-profiling" else str(Path(*place.parts[-2:]))
