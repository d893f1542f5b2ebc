"""Runs of one participant that lie in one folder with fewer runs of another: which belong together isn't known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

__all__ = ["unpaired_runs"]


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
