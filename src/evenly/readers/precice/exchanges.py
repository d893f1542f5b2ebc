"""What the runs themselves tell of their coupling, beside what the configuration says; it may have been changed later.

At the end of a time window, or of an iteration, a participant waits for data of its partner. So the steps from one wait
to the next are those of a window of an explicit scheme. And what a step takes in all, with the waiting, is the longer
one of two steps where they run side by side, and their sum where they take turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from evenly.errors import option_text
from evenly.readers.precice.paired_runs import steps_made, together
from evenly.readers.precice.schemes import Coupling
from evenly.runs.runs import Runs

__all__ = ["other_scheme", "steps_between_exchanges"]

#: Fewest exchanges of data that tell the steps between them.
_EXCHANGES = 3
#: Counts of time windows that differ by less are equal.
_SAME = 0.02
#: Runs tell the scheme where taking turns takes so much longer, and if they are so near to what the other makes.
_APART, _NEAR = 1.25, 0.08


def steps_between_exchanges(
    coupling: Coupling, runs: Mapping[str, Runs], cut: set[Path], written: Mapping[Path, int | None] | None
) -> tuple[dict[str, float], str]:
    """Return the steps of participants in a window of explicit schemes, and a note if the configuration says otherwise.

    No steps where that isn't known of a participant, or runs differ in it. Arguments are those of `steps_per_window`.
    """
    counts: dict[str, float] = {}
    windows = set()
    for name in coupling.participants:
        found = _exchanges(runs[name]) if name in runs else []
        if not found or len({apart for _, apart, _ in found}) > 1:
            return {}, ""
        counts[name] = found[0][1]
        windows |= {round(steps / apart) for path, apart, steps in found if path not in cut}
    stand = {count for count in ([coupling.windows] if written is None else written.values()) if count}
    if not windows or not stand or max(windows | stand) * (1 - _SAME) <= min(max(windows), *stand):
        return counts, ""
    note = (
        f"{_listed(stand)} time windows stand in the configuration, but the runs exchanged data {_listed(windows)} "
        "times: the steps between these are counted"
    )
    return counts, note


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


def other_scheme(coupling: Coupling, runs: Mapping[str, Runs], steps: Mapping[str, float]) -> str:
    """Return what to ask if two participants ran side by side, but take turns by their scheme, or the other way round.

    Empty where the runs fit the scheme, or don't tell.

    Parameters
    ----------
    coupling : Coupling
        The schemes by the configuration.
    runs : mapping of str to Runs
        Of participants whose files tell their steps.
    steps : mapping of str to float
        Their steps in a time window.
    """
    if len(coupling.participants) != 2 or len(coupling.schemes) != 1 or not runs.keys() >= set(coupling.participants):
        return ""
    tables = {name: runs[name].to_frame() for name in coupling.participants}
    if not all("coupling" in table for table in tables.values()):
        return ""
    (scheme,) = coupling.schemes
    found = []
    for folder in together({name: steps_made(runs[name]) for name in coupling.participants}):
        works, whole = [], []
        for name, table in tables.items():
            files = [Path(str(source)).resolve() for source in table["source"]]
            rows = table[[folder == file or folder in file.parents for file in files]]
            count = steps.get(name, 1.0)
            works.append(count * float(rows["seconds"].mean()))
            alone = rows["solving"] if "solving" in rows else rows["seconds"]
            whole.append(count * float((alone + rows["coupling"]).mean()))
        in_turn, beside = sum(works), max(works)
        if in_turn > _APART * beside:
            took = float(np.mean(whole))
            told, other = (in_turn, beside) if scheme.kind == "serial" else (beside, in_turn)
            found.append(abs(np.log(took / other)) < _NEAR < abs(np.log(took / told)))
    if not found or not all(found):
        return ""
    a, b = coupling.participants
    way = ("take turns", "ran side by side") if scheme.kind == "serial" else ("run side by side", "took turns")
    twin = replace(scheme, kind="parallel" if scheme.kind == "serial" else "serial")
    as_run = Coupling.of(coupling.participants, (twin,)).expression(steps)
    return (
        f"by the preCICE configuration, {a} and {b} {way[0]}, but by what a step took in all runs, they {way[1]}: say "
        f"with {option_text('--layout', as_run)} that they do as in the runs, or with "
        f"{option_text('--layout', coupling.expression(steps))} that they do as the configuration says"
    )
