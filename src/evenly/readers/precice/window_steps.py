"""How many steps each participant makes in a time window: iterations of implicit schemes, and substeps.

preCICE records steps, not windows. A participant may make several steps in a window (subcycling), and an implicit
scheme repeats a window until it converges. At the end of a window, or of an iteration, a participant waits for data: so
where no scheme is implicit, the runs themselves tell the steps in a window. Else the number of windows is that in the
logs of iterations that preCICE writes beside the results, or that of the configuration. Logs of other runs show
themselves where they have more iterations than the runs have steps; a configuration that was changed, or runs that
ended early, where there are more windows than steps.

Runs may differ in length, so the steps of participants are compared within each run: of those whose files lie in one
folder. Where that isn't known, medians are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evenly.readers.precice.exchanges import steps_between_exchanges
from evenly.readers.precice.iteration_logs import Log, logs_of_runs, middle_log
from evenly.readers.precice.paired_runs import SAME, Steps, is_whole, rounded, steps_made, together, unpaired_runs
from evenly.readers.precice.schemes import Coupling
from evenly.runs.runs import Runs

__all__ = ["WindowSteps", "holds_steps", "own_work", "steps_per_window", "substeps"]

#: Formats whose files tell how many steps a participant made.
_STEP_FORMATS = frozenset({
    "precice-profiling", "precice-events-json", "precice-events-csv", "precice-events-summary",
})  # fmt: skip

#: What preCICE itself does is told from this share of the solver's work on.
_OWN = 0.05


@dataclass(frozen=True)
class WindowSteps:
    """The steps of each participant in a time window.

    Parameters
    ----------
    counts : mapping of str to float
        Steps per window; empty where nothing is known.
    note : str
        What was assumed; empty if nothing was.
    are_of_window : bool
        If not, the number of windows isn't known, and steps are counted for one of the slowest participant.
    """

    counts: Mapping[str, float]
    note: str = ""
    are_of_window: bool = True


def holds_steps(format_name: str, runs: Runs) -> bool:
    """Tell whether a file says how many steps a participant made, as a table of repeated runs doesn't.

    A case folder holds files of any format, so their names tell.
    """
    if format_name != "case-folder":
        return format_name in _STEP_FORMATS
    return all("precice-" in Path(name).name or "profiling" in Path(name).name for name in runs.to_frame()["source"])


def steps_per_window(
    coupling: Coupling,
    runs: Mapping[str, Runs],
    logs: Sequence[Log] = (),
    *,
    cut: Iterable[Path] = (),
    written: Mapping[Path, int | None] | None = None,
) -> WindowSteps:
    """Return how many steps each participant makes in a window, and what was assumed.

    Parameters
    ----------
    coupling : Coupling
        The schemes.
    runs : mapping of str to Runs
        Of participants whose files tell their steps.
    logs : sequence of Log
        What preCICE logged.
    cut : iterable of Path
        The files of runs that didn't come to their end, so that they made fewer windows than the configuration says.
    written : mapping of Path to int, optional
        The time windows of each configuration; by default, those of `coupling` hold for all runs.

    Examples
    --------
    >>> import pandas as pd
    >>> from evenly.readers.precice.schemes import Scheme
    >>> def steps(n):
    ...     table = pd.DataFrame({"cores": [2] * n, "seconds": [1.0] * n, "run": ["r"] * n, "repetition": range(n)})
    ...     return Runs.from_frame(table, ["cores"])
    >>> scheme = Scheme("parallel", True, ("Fluid", "Solid"), windows=20)
    >>> coupling = Coupling.of(("Fluid", "Solid"), (scheme,))
    >>> dict(steps_per_window(coupling, {"Fluid": steps(60), "Solid": steps(240)}).counts)
    {'Fluid': 3.0, 'Solid': 12.0}
    """
    if not coupling.implicit:
        counts, note = steps_between_exchanges(coupling, runs, set(cut), written)
        if counts:
            return WindowSteps(counts, note)
    made = {name: steps_made(runs[name]) for name in coupling.participants if name in runs}
    made = {name: of_runs for name, of_runs in made.items() if len(of_runs)}
    if runs and not runs.keys() & set(coupling.participants):  # runs of others: their layout is asked for
        return WindowSteps({})
    if len(made) < len(coupling.participants):  # tables don't tell steps
        return WindowSteps(
            {},
            "each participant is taken to make one step in a time window: not all files tell how many steps there were",
        )
    runs_of, ended = together(made), list(cut)
    apart = unpaired_runs({name: [path for path, _ in of_runs] for name, of_runs in made.items()}, runs_of)
    if not runs_of:
        window = _of_medians(coupling, made, logs, None if ended else coupling.windows)
        return replace(window, note="; ".join(filter(None, (apart, window.note))))
    beside = logs_of_runs(runs_of, logs)
    whole = _whole(runs_of, ended)
    logged = {f for f in runs_of if beside[f]}
    telling = (logged & whole) or whole or logged or set(runs_of)
    configured = {f: coupling.windows if written is None else _written(f, written) for f in runs_of}
    found = {
        f: _of_run(coupling, of_run, middle_log(beside[f]), configured[f] if f in whole else None)
        for f, of_run in runs_of.items()
        if f in telling
    }
    used = any(beside.values())
    unused = "the logs of iterations aren't used: their folders don't tell of which runs they are"
    said = "; ".join(filter(None, (apart, unused if logs and not used else "")))
    return _agreed(found, said, logged=used)


def substeps(runs: Mapping[str, Runs], cut: Iterable[Path] = ()) -> dict[str, float]:
    """Return how many steps each participant makes for one of the slowest, in all runs; {} if all make one.

    It needs no configuration: runs are those of files in one folder.

    Parameters
    ----------
    runs : mapping of str to Runs
        Of participants whose files tell their steps.
    cut : iterable of Path
        The files of runs that didn't come to their end: they count only if no run did.
    """
    made = {name: steps for name, one in runs.items() if (steps := steps_made(one))}
    runs_of = together(made)
    telling = _whole(runs_of, cut) or set(runs_of)
    shares = [{name: _share(of_run, name) for name in of_run} for run, of_run in runs_of.items() if run in telling]
    if len(made) < 2 or not shares or any(_differ(share[name] for share in shares) for name in made):
        return {}
    found = {name: rounded(shares[0][name]) for name in made}
    return found if _differ(found.values()) else {}


def own_work(runs: Runs) -> str:
    """Return a sentence on what preCICE itself does in a step, as mapping, where it takes long or isn't known."""
    table = runs.ok.to_frame()
    if "coupling" not in table:
        return ""
    known = "solving" in table
    if not known and "waiting" not in table:
        return "preCICE's own work, as mapping, isn't part of a step: its files don't tell it from waiting"
    work = float(table["solving" if known else "seconds"].mean())
    own = float((table["seconds"] - table["solving"]).mean()) if known else 0.0
    waiting = float(table["waiting"].mean()) if "waiting" in table else 0.0
    rest = max(float(table["coupling"].mean()) - waiting - own, 0.0)
    said = []
    if own > _OWN * work:
        said.append(
            f"preCICE's own work in a step, as mapping, takes {own:.3g} s in the mean, beside {work:.3g} s of the "
            "solver; both are a step's time (--learn solving leaves it out)"
        )
    if rest > _OWN * work:
        said.append(
            f"{rest:.3g} s of preCICE's call in a step may be its own work or waiting for the partner, which its files "
            f"don't tell: beside {work:.3g} s of the solver, they aren't part of a step's time"
        )
    return "; ".join(said)


def _whole(runs: Iterable[Path], cut: Iterable[Path]) -> set[Path]:
    """Return the folders of the runs that came to their end."""
    ended = [path.resolve() for path in cut]
    return {run for run in runs if not any(run == path or run in path.parents for path in ended)}


def _written(run: Path, written: Mapping[Path, int | None]) -> int | None:
    """Return the time windows of a run's own configuration: in its folder, or in the nearest one above."""
    files = {path.resolve(): windows for path, windows in written.items()}
    if own := {windows for path, windows in files.items() if run in path.parents}:
        return own.pop() if len(own) == 1 else None
    above = [path for path in files if path.parent in run.parents]
    return files[max(above, key=lambda path: len(path.parts))] if above else None


def _of_medians(coupling: Coupling, made: Mapping[str, Steps], logs: Sequence[Log], written: int | None) -> WindowSteps:
    """Return the steps in a window where it isn't known which files are of one run."""
    counts = {name: [steps for _, steps in of_runs] for name, of_runs in made.items()}
    spans = {name: (min(steps), max(steps)) for name, steps in counts.items()}
    usual = {name: float(np.median(steps)) for name, steps in counts.items()}
    differ = [f"{name} made {few:g} to {most:g}" for name, (few, most) in spans.items() if most > few * (1 + SAME)]
    if differ and len(set(spans.values())) == 1:  # all made as many steps
        usual = dict.fromkeys(usual, min(usual.values()))
    found = _of_run(coupling, usual, middle_log(logs), written)
    if not differ:
        return found
    said = (
        f"runs differ in their steps ({', '.join(differ)}), and their folders don't tell which files are of one run: "
        "the layout counts medians"
    )
    return WindowSteps(found.counts, "; ".join(filter(None, (said, found.note))))


def _agreed(found: Mapping[Path, WindowSteps], note: str, *, logged: bool) -> WindowSteps:
    """Return what all runs say, or one of them and a note where they differ.

    Where windows were `logged`, it is the middle run. Else it is the one with the most steps in a window of the
    configuration, since the others may have ended early.
    """
    names = dict.fromkeys(name for one in found.values() for name in one.counts)
    shares = {name: {folder: _share(one.counts, name) for folder, one in found.items()} for name in names}
    apart = next((name for name, of_runs in shares.items() if _differ(of_runs.values())), None)
    known = {folder: one for folder, one in found.items() if one.are_of_window} or found
    steps = shares[apart] if apart else {folder: sum(one.counts.values()) for folder, one in known.items()}
    order = sorted(steps, key=steps.__getitem__)
    middle = (len(order) - 1) // 2
    low, high = found[order[0]], found[order[-1]]
    chosen = order[middle if logged or apart is not None else -1]
    said = ""
    if apart is not None:
        said = (
            f"runs contradict each other: {apart} makes {steps[order[0]]:g} times the steps of the slowest participant "
            f"in {order[0].name} and {steps[order[-1]]:g} times in {order[-1].name}; the layout counts {chosen.name}, "
            "--layout names another"
        )
    elif name := next((n for n in names if _differ([low.counts.get(n, 1), high.counts.get(n, 1)])), None):
        said = (
            f"a time window has {low.counts.get(name, 1):g} steps of {name} in {order[0].name} and "
            f"{high.counts.get(name, 1):g} in {order[-1].name}: the layout counts those in {chosen.name}"
            f"{'' if logged else ', since the others may have ended early'}"
        )
    notes = dict.fromkeys(one.note for one in known.values() if one.note)
    result = found[chosen]
    return WindowSteps(result.counts, "; ".join(filter(None, (said, note, *notes))), result.are_of_window)


def _differ(values: Iterable[float]) -> bool:
    some = list(values)
    return max(some) > min(some) * (1 + SAME)


def _share(counts: Mapping[str, float], name: str) -> float:
    """Return the steps of a participant for one of the participant with the fewest."""
    return counts.get(name, 1.0) / min(counts.values(), default=1.0)


def _of_run(coupling: Coupling, made: Mapping[str, float], logged: Log | None, written: int | None) -> WindowSteps:
    """Return the steps in a window of a run in which each participant made so many steps.

    Its windows are those that were `logged`, else those `written` in the configuration, if it made them all.
    """
    fewest = min(made.values())
    windows, said = _windows(coupling, made, logged, written)
    if windows is None and coupling.windows is not None and written is None:
        unknown = "how many time windows the runs made isn't known: they were cut off, or their configurations differ"
        said = "; ".join(filter(None, (said, unknown)))
    iterates = any(scheme.implicit for scheme in coupling.schemes)
    ended = windows is not None and not iterates and not all(is_whole(count / windows) for count in made.values())
    if windows is not None and windows <= fewest * (1 + SAME) and not ended:
        each = _in_window(made, windows)
        odd = [name for name, count in each.items() if not is_whole(count)]
        if logged is None and (odd or all(_iterates(coupling, name) for name in made)):
            name = next(iter(odd or each))
            assumed = (
                f"{each[name]:g} step{'s' * (each[name] != 1)} of {name} in a time window, if the runs made all of the "
                "configuration's: precice-…-iterations.log beside them tells"
            )
            said = "; ".join(filter(None, (said, assumed)))
        return WindowSteps(each, said)
    alike = max(made.values()) <= fewest * (1 + SAME)
    if windows is None and alike:
        return WindowSteps({}, "; ".join(filter(None, (said, _unknown(coupling)))), are_of_window=False)
    slowest = next(name for name, count in made.items() if count == fewest)
    note = f"the time of the layout is that of one step of {slowest}"
    if any(scheme.implicit and slowest in scheme.participants for scheme in coupling.schemes):
        note += ", of which a time window has several where it iterates"
    if ended:
        note = f"the steps of a run are no multiple of {windows:g} time windows, as if it had ended early: {note}"
    elif windows is not None:
        source = "were logged" if logged is not None and windows == logged.windows else "stand in the configuration"
        note = f"{windows:g} time windows {source}, but a run has only {fewest:g} steps of {slowest}: {note}"
    counts = {} if alike else {name: rounded(count / fewest) for name, count in made.items()}
    return WindowSteps(counts, "; ".join(filter(None, (said, note))), are_of_window=False)


def _in_window(made: Mapping[str, float], windows: float) -> dict[str, float]:
    """Return the steps in a window; substeps are whole also where iterations aren't, as in 2.48 and 4 * 2.48."""
    fewer, per_window, each = windows, 1.0, {}
    for name in sorted(made, key=made.__getitem__):
        per_window *= rounded(made[name] / fewer)
        fewer, each[name] = made[name], per_window
    return {name: each[name] for name in made}


def _iterates(coupling: Coupling, name: str) -> bool:
    """Tell whether a participant repeats time windows; the steps of one that doesn't tell how many there were."""
    return any(scheme.implicit and name in scheme.participants for scheme in coupling.schemes)


def _windows(
    coupling: Coupling, made: Mapping[str, float], logged: Log | None, written: float | None
) -> tuple[float | None, str]:
    """Return the number of windows, and what was assumed: logs count more than those `written`, if they fit."""
    if logged is None:
        return written, ""
    iterating = {name for scheme in coupling.schemes if scheme.implicit for name in scheme.participants}
    name = min(iterating & set(made), key=lambda one: made[one], default=None)
    if name is not None and logged.iterations > made[name] * (1 + SAME):
        return written, (
            f"the logs of iterations aren't used: they have {logged.iterations:g} iterations, but a run has only "
            f"{made[name]:g} steps of {name}"
        )
    if written is not None and abs(logged.windows / written - 1) > SAME:
        return logged.windows, (
            f"{logged.windows:g} time windows were logged and {written:g} stand in the configuration: the logs count"
        )
    return logged.windows, ""


def _unknown(coupling: Coupling) -> str:
    """Return a note where the number of iterations matters: while an implicit scheme iterates, others wait."""
    for scheme in coupling.schemes:
        if scheme.implicit and len(scheme.participants) < len(coupling.participants):
            return f"how often {scheme} iterates in a time window isn't known: the layout counts one iteration"
    return ""
