"""How many steps participants make from one exchange of data to the next, as the runs themselves tell.

At the end of a time window, or of an iteration, a participant waits for data of its partner. So the steps from one wait
to the next are those of a window of an explicit scheme.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evenly.readers.precice.paired_runs import SAME, Steps, together
from evenly.readers.precice.schemes import Coupling
from evenly.runs.runs import Runs

__all__ = ["steps_between_exchanges"]

#: Fewest exchanges of data that tell the steps between them.
_EXCHANGES = 3


def steps_between_exchanges(
    coupling: Coupling, runs: Mapping[str, Runs], cut: set[Path], written: Mapping[Path, int | None] | None
) -> tuple[dict[str, float], str]:
    """Return the steps of participants in a window of explicit schemes, and a note if the configuration says otherwise.

    No steps where that isn't known of a participant, or runs differ in it. Arguments are those of `steps_per_window`.
    """
    counts: dict[str, float] = {}
    made: dict[str, Steps] = {}
    for name in coupling.participants:
        found = _exchanges(runs[name]) if name in runs else []
        if not found or len({apart for _, apart, _ in found}) > 1:
            return {}, ""
        counts[name] = found[0][1]
        made[name] = [(path, round(steps / apart)) for path, apart, steps in found if path not in cut]
    windows = {round(count) for of_runs in made.values() for _, count in of_runs}
    differ = _unequal(made)
    stand = {count for count in ([coupling.windows] if written is None else written.values()) if count}
    if not windows or not stand or max(windows | stand) * (1 - SAME) <= min(max(windows), *stand):
        return counts, differ
    note = (
        f"{_listed(stand)} time windows stand in the configuration, but the runs exchanged data {_listed(windows)} "
        "times: the steps between these are counted"
    )
    return counts, "; ".join(filter(None, (differ, note)))


def _unequal(windows: Mapping[str, Steps]) -> str:
    """Return what to say of the first run whose participants made different numbers of windows, "" if there is none."""
    for folder, made in together(windows).items():
        least, most = min(made, key=made.__getitem__), max(made, key=made.__getitem__)
        if made[most] > made[least] * (1 + SAME) + 1:  # the last step of a run may be missing
            return (
                f"in {folder.name}, {most} exchanged data {made[most]:g} times and {least} {made[least]:g} times: a "
                "file may be cut off, or of another run"
            )
    return ""


def _listed(counts: set[int]) -> str:
    return " and ".join(map(str, sorted(counts)))


def _exchanges(runs: Runs) -> list[tuple[Path, float, int]]:
    """Return the file of each run, the steps from one exchange of data to the next, and how many steps there were.

    Empty where it isn't known in which steps a participant waited for data.
    """
    table = runs.to_frame()
    if "waiting" not in table:
        return []
    found = []
    for (_, source), rows in table.groupby(["run", "source"], dropna=False):
        steps = rows.sort_values("repetition")
        numbers = steps["repetition"].to_numpy(dtype=np.float64)
        ends = numbers[steps["waiting"].to_numpy(dtype=np.float64) > 0]
        if len(ends) < _EXCHANGES or (np.diff(numbers) != 1).any():  # else neighbouring steps are averaged
            return []
        found.append((Path(str(source)), float(np.median(np.diff(ends))), int(numbers[-1]) + 1))
    return found
