"""Whether the runs fit the coupling schemes of a configuration, which may have been changed later.

What a step takes in all, with the waiting, is the longer one of two steps where participants run side by side, and
their sum where they take turns. And only implicit schemes log iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from evenly.errors import option_text
from evenly.readers.precice.iteration_logs import Log, logs_of_runs, middle_log
from evenly.readers.precice.paired_runs import SAME, steps_made, together
from evenly.readers.precice.schemes import Coupling
from evenly.readers.precice.window_steps import steps_per_window
from evenly.runs.runs import Runs

__all__ = ["other_scheme", "runs_that_iterated", "settled"]

#: Runs tell the scheme where taking turns takes so much longer, and if they are so near to what it makes.
_APART, _NEAR = 1.25, 0.08


class _Took(NamedTuple):
    """Whether a run took as long as by its scheme, or as by the one of the other kind."""

    told: bool
    other: bool


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
    if not _took_as_the_other(coupling, runs, steps):
        return ""
    (scheme,), (a, b) = coupling.schemes, coupling.participants
    way = ("take turns", "ran side by side") if scheme.kind == "serial" else ("run side by side", "took turns")
    as_run = _of_other_kind(coupling).expression(steps)
    return (
        f"by the preCICE configuration, {a} and {b} {way[0]}, but by what a step took in all runs, they {way[1]}: say "
        f"with {option_text('--layout', as_run)} that they do as in the runs, or with "
        f"{option_text('--layout', coupling.expression(steps))} that they do as the configuration says"
    )


def runs_that_iterated(
    coupling: Coupling, runs: Mapping[str, Runs], steps: Mapping[str, float], logs: Sequence[Log]
) -> tuple[str, str]:
    """Return what to ask if runs repeated time windows, but no scheme of the configuration does; and what else to say.

    Logs of iterations are those of the runs if these made as many steps, or as many times some number.

    Parameters
    ----------
    coupling, runs, steps
        As for `other_scheme`.
    logs : sequence of Log
        What preCICE logged.
    """
    told = middle_log(logs)
    if coupling.implicit or told is None or told.iterations <= told.windows:
        return "", ""
    made = together({name: steps_made(one) for name, one in runs.items()})
    beside = logs_of_runs(made, logs)
    pairs = [(log, made[run]) for run in made if (log := middle_log(beside[run])) is not None]
    if not pairs:  # it isn't known which files are of one run
        usual = {
            name: median(count for _, count in of_runs) for name, one in runs.items() if (of_runs := steps_made(one))
        }
        pairs = [(told, usual)] if usual else []
    own = [log for log, counts in pairs if _are_steps(log.iterations, min(counts.values()))]
    if not own:
        return "", "the logs of iterations aren't used: the runs made other numbers of steps, and no scheme is implicit"
    twins = [replace(scheme, implicit=True) for scheme in coupling.schemes]
    as_run = ""
    if len(twins) == 1:
        twin = Coupling.of(coupling.participants, twins)
        counts = steps_per_window(twin, runs, logs).counts
        twin = _of_other_kind(twin) if _took_as_the_other(twin, runs, counts) else twin
        as_run = f"with {option_text('--layout', twin.expression(counts))} that they are as the runs, or "
    has = f"{own[0].path.name} has {own[0].iterations:g} iterations of {own[0].windows:g} windows"
    return (
        "no scheme of the preCICE configuration is implicit, but the runs repeated time windows: "
        f"{has}, which fit the steps of the run. Say of the coming runs {as_run}with "
        f"{option_text('--layout', coupling.expression(steps))} that they are as the configuration says"
    ), ""


def settled(
    couplings: Mapping[Path, Coupling], runs: Mapping[str, Runs], logs: Sequence[Log]
) -> tuple[Coupling | None, str]:
    """Return that one of several couplings as which all runs took, and a note; None where runs don't settle it.

    Parameters
    ----------
    couplings : mapping of Path to Coupling
        What each configuration says.
    runs, logs
        As for `runs_that_iterated`.
    """
    different = {str(coupling.schemes): (path, coupling) for path, coupling in reversed([*couplings.items()])}
    fit, rest = [], []
    for path, coupling in different.values():
        steps = steps_per_window(coupling, runs, logs).counts
        took = _as_by_scheme(coupling, runs, steps)
        if took and all(run.told and not run.other for run in took):
            fit.append((path, coupling))
        elif _took_as_the_other(coupling, runs, steps):
            rest.append(path.name)
    if len(fit) != 1 or len(fit) + len(rest) != len(different):
        return None, ""
    path, coupling = fit[0]
    return coupling, (
        f"the configurations differ: by what a step took in all runs, {path.name} counts, not {' and '.join(rest)}"
    )


def _took_as_the_other(coupling: Coupling, runs: Mapping[str, Runs], steps: Mapping[str, float]) -> bool:
    took = _as_by_scheme(coupling, runs, steps)
    return bool(took) and all(run.other and not run.told for run in took)


def _of_other_kind(coupling: Coupling) -> Coupling:
    (scheme,) = coupling.schemes
    twin = replace(scheme, kind="parallel" if scheme.kind == "serial" else "serial")
    return Coupling.of(coupling.participants, (twin,))


def _are_steps(iterations: float, made: float) -> bool:
    """Tell whether a run made as many steps as a log has iterations, or a multiple, but for the last one."""
    times = round(made / iterations)
    return times >= 1 and abs(made - times * iterations) <= max(1.0, SAME * iterations)


def _as_by_scheme(coupling: Coupling, runs: Mapping[str, Runs], steps: Mapping[str, float]) -> list[_Took]:
    """Return for each run whether it took as long as by its scheme; [] where taking turns would take no longer."""
    if len(coupling.participants) != 2 or len(coupling.schemes) != 1 or not runs.keys() >= set(coupling.participants):
        return []
    tables = {name: runs[name].to_frame() for name in coupling.participants}
    if not all("coupling" in table for table in tables.values()):
        return []
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
            found.append(_Took(abs(np.log(took / told)) <= _NEAR, abs(np.log(took / other)) < _NEAR))
    return found
