"""Which files of participants are of one coupled run, as those that lie together in a folder; and its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from evenly.runs.runs import Runs

__all__ = [
    "SAME", "Steps", "folders_of", "incomplete_runs", "is_whole", "rounded", "steps_made", "together", "unpaired_runs",
]  # fmt: skip

#: Counts of steps that differ by less are equal: the last steps of a killed run are missing, some steps are averaged.
SAME = 0.02

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
