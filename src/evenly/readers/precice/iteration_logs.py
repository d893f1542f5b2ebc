"""What preCICE logs of implicit schemes beside the results: the iterations of each time window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from evenly.errors import ReadError
from evenly.readers.precice.config import read_iterations
from evenly.readers.precice.paired_runs import SAME, folders_of, rounded, steps_made
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = ["ITERATIONS", "Log", "iterations_in_window", "logs_of_runs", "middle_log", "read_logs"]

#: The names of the logs in which preCICE counts iterations.
ITERATIONS = "precice-*-iterations.log"
#: And of those in which it writes how far each is from convergence.
_RESIDUALS = "precice-*-convergence.log"


@dataclass(frozen=True)
class Log:
    """What a log of iterations tells: the windows of its run, and the iterations of all of them."""

    path: Path
    windows: float
    iterations: float


def read_logs(files: Iterable[Path]) -> tuple[list[Log], list[Path], list[Skipped]]:
    """Return what logs ``precice-NAME-iterations.log`` tell, preCICE's logs among `files`, and the damaged ones.

    Logs of residuals, ``precice-NAME-convergence.log``, are such, too, and tell nothing more.
    """
    found, used, damaged = [], [], []
    for path in files:
        if fnmatch(path.name, _RESIDUALS):
            used.append(path)
        if not fnmatch(path.name, ITERATIONS):
            continue
        used.append(path)
        try:
            iterations = read_iterations(path)
        except ReadError as error:
            damaged.append(Skipped.of(error, path))
        else:
            found.append(Log(path, len(iterations), float(iterations.sum())))
    return found, used, damaged


def logs_of_runs(runs: Iterable[Path], logs: Sequence[Log]) -> dict[Path, list[Log]]:
    """Return the logs of each run, told by its files' folder: those that lie in the run's folder."""
    folders = folders_of(runs)
    alone = len(folders) == 1
    return {run: [log for log in logs if alone or at in log.path.resolve().parents] for run, at in folders.items()}


def iterations_in_window(runs: Mapping[str, Runs], logs: Sequence[Log]) -> float | None:
    """Return how many iterations a time window has by the logs; None where there are none, or they are of other runs.

    Parameters
    ----------
    runs : mapping of str to Runs
        Of participants whose files tell their steps.
    logs : sequence of Log
        What preCICE logged.
    """
    told = middle_log(logs)
    made = [max(steps for _, steps in of_runs) for one in runs.values() if (of_runs := steps_made(one))]
    if told is None or not made or told.iterations > min(made) * (1 + SAME):
        return None
    return rounded(told.iterations / told.windows)


def middle_log(logs: Sequence[Log]) -> Log | None:
    """Return what logs of one run, or of runs that aren't told apart, say in the median."""
    if not logs:
        return None
    windows, iterations = (float(np.median([getattr(log, what) for log in logs])) for what in ("windows", "iterations"))
    return Log(logs[0].path, windows, iterations)
