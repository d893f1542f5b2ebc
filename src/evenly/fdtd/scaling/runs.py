"""Runs a scaling study: repeated runs of one simulation on several numbers of ranks, each run a separate MPI job.

The simulation is one of the named structures, or a function in a user's script (see
`evenly.fdtd.structures.programs`). Each run first makes a few warm-up steps, which are not measured. Then it makes
`steps` measured steps. A run that fails is recorded with its reason, and the study continues with the other runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.measurement.measurement import SUFFIX, Measurement, Parameter
from evenly.fdtd.ranks.launching import launch_python
from evenly.fdtd.ranks.watching import Job
from evenly.fdtd.scaling.study import ScalingStudy, file_name
from evenly.processes import scratch_folder
from evenly.writing import check_replaceable

__all__ = ["Progress", "run_once", "run_study"]

#: Called with the number of finished runs, the number of all runs, and the measurement of the last run.
Progress = Callable[[int, int, Measurement], None]


@explained
def run_study(
    program: str,
    ranks: Sequence[int] = (1, 2, 4, 8),
    *,
    parameters: Mapping[str, Parameter] | None = None,
    options: Mapping[str, Any] | None = None,
    steps: int = 100,
    warm_up: int = 3,
    repeats: int = 3,
    folder: Path | str | None = None,
    timeout_s: float | None = None,
    progress: Progress | None = None,
    echo: bool = False,
) -> ScalingStudy:
    """Measure a simulation on several numbers of ranks and return the study.

    The repeats are interleaved: one run on each number of ranks, then all of them again. So a time when the machine is
    slow doesn't look like bad scaling.

    Parameters
    ----------
    program : str
        A structure's name, ``"script.py"`` or ``"script.py:function"``.
    ranks : sequence of int
        Numbers of ranks. They may exceed the number of cores; all times are then CPU times.
    parameters : mapping, optional
        Parameters of the structure or of the function.
    options : mapping, optional
        Options of the simulation, such as ``{"threads": 2}``. A script's function must then take ``options``.
    steps : int
        Number of measured time steps of each run.
    warm_up : int
        Number of steps before the measured ones.
    repeats : int
        Number of runs on each number of ranks.
    folder : Path or str, optional
        Folder for the measurement files; each is written when its run ends. Nothing is written by default.
    timeout_s : float, optional
        A run that takes longer than this many seconds is ended.
    progress : callable, optional
        Called after each run with the number of finished runs, the number of all runs, and the run's measurement.
    echo : bool
        Whether to print the output of the runs.

    Raises
    ------
    InputError
        If an argument is invalid, or no run succeeded; the message holds the reasons.
    """
    _check(ranks, steps=steps, warm_up=warm_up, repeats=repeats)
    if folder is not None:
        # Others' files would be replaced, or read into the study.
        check_replaceable(Path(folder).glob(f"*{SUFFIX}"))
    runs = [(n, repetition) for repetition in range(repeats) for n in ranks]
    task: dict[str, Any] = {"program": program, "parameters": dict(parameters or {}), "options": dict(options or {})}
    task |= {"steps": steps, "warm_up": warm_up}
    done: list[Measurement] = []
    for n, repetition in runs:
        one = run_once({**task, "repetition": repetition}, n, timeout_s=timeout_s, echo=echo)
        if folder is not None:
            one.save(Path(folder, file_name(one)))
        done.append(one)
        if progress is not None:
            progress(len(done), len(runs), one)
    return ScalingStudy(tuple(done))


def run_once(task: Mapping[str, Any], ranks: int, *, timeout_s: float | None = None, echo: bool = False) -> Measurement:
    """Run one job and return its measurement; a failed job's measurement holds the reason instead of times.

    Parameters
    ----------
    task : mapping
        The task for `evenly.fdtd.scaling.rank`: program, parameters, options, steps, warm_up, repetition.
    ranks : int
    timeout_s : float, optional
        The job is ended if it takes longer than this many seconds.
    echo : bool
        Whether to print the output of the job.
    """
    with scratch_folder() as folder:
        result = folder / "run.json"
        (folder / "task.json").write_text(json.dumps({**task, "result": str(result)}), encoding="utf-8")
        arguments = ["-m", "evenly.fdtd.scaling.rank", str(folder / "task.json")]
        job = launch_python(arguments, ranks, timeout_s=timeout_s, echo=echo)
        if job.signal is not None:
            raise KeyboardInterrupt
        if job.status == 0 and result.exists():
            return Measurement.load(result)
        return _failed(task, ranks, job)


def _failed(task: Mapping[str, Any], ranks: int, job: Job) -> Measurement:
    last = (job.errors.strip() or job.output.strip()).splitlines()[-1:] or [f"it ended with status {job.status}"]
    return Measurement(
        Path(str(task["program"]).partition(":")[0]).stem,
        task.get("parameters", {}),
        size=ranks,
        repetition=task.get("repetition", 0),
        status="timed out" if job.timed_out else "failed",
        message=f"it took more than {job.seconds:.0f} s" if job.timed_out else last[0],
    )


def _check(ranks: Sequence[int], *, steps: int, warm_up: int, repeats: int) -> None:
    if not ranks or any(type(n) is not int or n < 1 for n in ranks) or len(set(ranks)) != len(ranks):
        raise InputError(f"`ranks` must be different integers of at least 1, but got {list(ranks)!r}.")
    for name, value, least in (("steps", steps, 1), ("warm_up", warm_up, 0), ("repeats", repeats, 1)):
        if type(value) is not int or value < least:
            raise InputError(f"`{name}` must be an integer of at least {least}, but got {value!r}.")
