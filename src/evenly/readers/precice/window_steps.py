"""How many steps each participant makes in a time window: iterations of implicit schemes, and substeps.

preCICE records steps, not windows. A participant may make several steps in a window (subcycling), and an implicit
scheme repeats a window until it converges. The number of windows is that in the logs of iterations that preCICE writes
beside the results, else that of the configuration. Logs of other runs show themselves where they have more iterations
than the runs have steps; a configuration that was changed, or runs that ended early, where there are more windows than
steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.precice.config import read_iterations
from evenly.readers.precice.schemes import Coupling
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = ["Logged", "WindowSteps", "holds_steps", "read_logs", "steps_per_window"]

#: Formats whose files hold each step that a participant made.
_STEP_FORMATS = frozenset({"precice-profiling", "precice-events-json", "precice-events-csv"})

#: Counts of steps that differ by less are equal: the last steps of a killed run are missing, some steps are averaged.
_SAME = 0.02


@dataclass(frozen=True)
class Logged:
    """What logs of iterations tell of a run: its windows, and the iterations of all of them; medians over the logs."""

    windows: float
    iterations: float


@dataclass(frozen=True)
class WindowSteps:
    """The steps of each participant in a time window.

    Parameters
    ----------
    counts : mapping of str to float
        Steps per window; empty where nothing is known.
    note : str
        What was assumed; empty if nothing was.
    """

    counts: Mapping[str, float]
    note: str = ""


def holds_steps(format_name: str, runs: Runs) -> bool:
    """Tell whether a file holds each step that a participant made, as a table of repeated runs doesn't.

    A case folder holds files of any format, so their names tell.
    """
    if format_name != "case-folder":
        return format_name in _STEP_FORMATS
    return all("precice-" in Path(name).name or "profiling" in Path(name).name for name in runs.to_frame()["source"])


def read_logs(files: Iterable[Path]) -> tuple[Logged | None, list[Path], list[Skipped]]:
    """Return what logs ``precice-NAME-iterations.log`` tell, the logs among `files`, and the damaged ones."""
    counts, used, damaged = [], [], []
    for path in files:
        if not (path.name.startswith("precice-") and path.name.endswith("-iterations.log")):
            continue
        used.append(path)
        try:
            counts.append(read_iterations(path))
        except ReadError as error:
            damaged.append(Skipped.of(error, path))
    if not counts:
        return None, used, damaged
    windows, iterations = (float(np.median([of(one) for one in counts])) for of in (len, np.sum))
    return Logged(windows, iterations), used, damaged


def steps_per_window(coupling: Coupling, runs: Mapping[str, Runs], logged: Logged | None) -> WindowSteps:
    """Return how many steps each participant makes in a window, and what was assumed.

    Parameters
    ----------
    coupling : Coupling
        The schemes.
    runs : mapping of str to Runs
        Of participants whose files hold each step: their steps.
    logged : Logged, optional
        What preCICE logged.

    Examples
    --------
    >>> import pandas as pd
    >>> from evenly.readers.precice.schemes import Scheme
    >>> def steps(n):
    ...     table = pd.DataFrame({"cores": [2] * n, "seconds": [1.0] * n, "run": ["r"] * n, "repetition": range(n)})
    ...     return Runs.from_frame(table, ["cores"])
    >>> scheme = Scheme("parallel", True, ("Fluid", "Solid"), windows=20)
    >>> coupling = Coupling.of(("Fluid", "Solid"), (scheme,))
    >>> dict(steps_per_window(coupling, {"Fluid": steps(60), "Solid": steps(240)}, None).counts)
    {'Fluid': 3.0, 'Solid': 12.0}
    """
    spans = {name: _span(runs[name]) for name in coupling.participants if name in runs}
    made = {name: _steps(runs[name]) for name, (_, most) in spans.items() if most > 1}
    if len(made) < len(coupling.participants):  # tables and summaries don't tell steps
        return WindowSteps({}, "each participant is taken to make one step in a time window: not all files count steps")
    differ = _differing(spans)
    if differ and len(set(spans.values())) == 1:  # which runs belong together isn't known, but all made as many steps
        made = dict.fromkeys(made, min(made.values()))
    fewest = min(made.values())
    windows, said = _windows(coupling, made, logged)
    said = "; ".join(filter(None, (differ, said)))
    iterates = any(scheme.implicit for scheme in coupling.schemes)
    ended = windows is not None and not iterates and not all(_is_whole(count / windows) for count in made.values())
    if windows is not None and windows <= fewest * (1 + _SAME) and not ended:
        return WindowSteps({name: _rounded(count / windows) for name, count in made.items()}, said)
    alike = max(made.values()) <= fewest * (1 + _SAME)
    if windows is None and alike:
        return WindowSteps({}, "; ".join(filter(None, (said, _unknown(coupling)))))
    slowest = next(name for name, count in made.items() if count == fewest)
    note = f"the time of the layout is that of one step of {slowest}"
    if any(scheme.implicit and slowest in scheme.participants for scheme in coupling.schemes):
        note += ", of which a time window has several where it iterates"
    if ended:
        note = f"the steps of a run are no multiple of {windows:g} time windows, as if it had ended early: {note}"
    elif windows is not None:
        source = "were logged" if logged is not None and windows == logged.windows else "stand in the configuration"
        note = f"{windows:g} time windows {source}, but a run has only {fewest:g} steps of {slowest}: {note}"
    counts = {} if alike else {name: _rounded(count / fewest) for name, count in made.items()}
    return WindowSteps(counts, "; ".join(filter(None, (said, note))))


def _windows(coupling: Coupling, made: Mapping[str, float], logged: Logged | None) -> tuple[float | None, str]:
    """Return the number of windows, and what was assumed: logs count more than the configuration, if they fit."""
    written = coupling.windows
    if logged is None:
        return written, ""
    iterating = {name for scheme in coupling.schemes if scheme.implicit for name in scheme.participants}
    name = min(iterating & set(made), key=lambda one: made[one], default=None)
    if name is not None and logged.iterations > made[name] * (1 + _SAME):
        return written, (
            f"the logs of iterations aren't used: they have {logged.iterations:g} iterations, but a run has only "
            f"{made[name]:g} steps of {name}"
        )
    if written is not None and abs(logged.windows / written - 1) > _SAME:
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


def _steps(runs: Runs) -> float:
    """Return the median number of steps of a run, including the warm-up step that readers drop."""
    made = _made(runs)
    return float(np.median(made)) if len(made) else 1.0


def _span(runs: Runs) -> tuple[float, float]:
    """Return the smallest and the largest number of steps of a run."""
    made = _made(runs)
    return (float(made.min()), float(made.max())) if len(made) else (1.0, 1.0)


def _made(runs: Runs) -> NDArray[np.float64]:
    """Return the steps of each run of which several are known; two runs may have begun with the same steps."""
    last = runs.to_frame().groupby(["run", "source"], dropna=False)["repetition"].max().to_numpy(dtype=np.float64)
    return last[last > 0] + 1


def _differing(spans: Mapping[str, tuple[float, float]]) -> str:
    """Return a note if the runs of a participant differ in their steps."""
    told = [f"{name} made {few:g} to {most:g}" for name, (few, most) in spans.items() if most > few * (1 + _SAME)]
    return f"runs differ in their steps ({', '.join(told)}): the layout counts medians" if told else ""


def _is_whole(count: float) -> bool:
    return round(count) >= 1 and abs(count / round(count) - 1) <= _SAME


def _rounded(count: float) -> float:
    """Return a count of steps, a nearly whole one as such."""
    return float(round(count)) if _is_whole(count) else round(count, 3)
