"""The variation of each solver's step times, from the measurements or from separate files of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenly.cli.console import note
from evenly.cli.input_paths import name_of
from evenly.cli.run_input import Learned
from evenly.errors import InputError, ReadError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenly.allocation.plan import Plan

__all__ = ["Steps", "check_steps", "measured_steps", "steps_in", "tell_exchanges", "tell_means", "tell_statistics"]

#: Numbers of steps that differ by this factor don't differ by a run that was cut off.
_UNEQUAL = 1.1

Steps = Mapping[str, "NDArray[np.float64]"]


def steps_in(paths: Sequence[Path] | None, time: str | None) -> Steps | None:
    """Return the times of steps, by solver, in the files of ``--step-times``; None where there are none.

    Raises
    ------
    InputError
        If nothing can be read, or ``--step-times-column`` is given alone.

    Examples
    --------
    >>> steps_in(None, None) is None
    True
    """
    if not paths:
        if time is not None:
            raise InputError(
                "--step-times-column names the column with the time in the files of --step-times: give --step-times too"
            )
        return None
    from evenly.readers.step_files import read_steps

    try:
        found, lost = read_steps(paths, time=time)
    except ReadError as error:
        raise InputError(f"--step-times: {_as_typed(error)}") from None
    for skipped in lost:
        note(f"--step-times: left out: {_as_typed(skipped)}")
    return {name or name_of(paths[0]): steps for name, steps in found.items()}


def _as_typed(problem: object) -> str:
    """Name the option that is meant for the steps."""
    return (
        str(problem)
        .replace("(--time)", "(--step-times-column)")
        .replace(", and unit= (--unit) if it isn't in seconds", "")
    )


def check_steps(steps: Steps | None, solvers: Iterable[str]) -> None:
    """Refuse steps that lack a solver.

    Raises
    ------
    InputError
        If a solver has no steps, or only one.

    Examples
    --------
    >>> check_steps({"ocean": [0.2, 0.3]}, ["ocean"])
    """
    if steps is None:
        return
    solvers = list(solvers)
    for name in solvers:
        if name not in steps:
            others = [other for other in steps if other not in solvers]
            raise InputError(
                f"--step-times must hold steps of every solver ({', '.join(solvers)}), but has only those of "
                f"{', '.join(steps)}: name the file of each solver as the solver, here {name}.csv, and repeat the "
                f"option for each file"
                f"{did_you_mean(name, others)}"
            )
        if len(steps[name]) < 2:
            raise InputError(
                f"--step-times must hold at least two steps of every solver, but has {len(steps[name])} of {name}"
            )


def tell_statistics(learned: Learned) -> None:
    """Say which statistic of steps, or of repeated runs, the times of solvers are."""
    said: dict[str, list[str]] = {}
    for name, runs in learned.runs.items():
        table, statistic = runs.ok.to_frame(), learned.models[name].training_["statistic"]
        if table.duplicated([*runs.parameters, "run"]).any():
            said.setdefault(f"the {statistic} of the steps of each run", []).append(name)
        elif table.duplicated(runs.parameters).any():
            said.setdefault(f"the {statistic} of repeated runs", []).append(name)
    for statistic, names in said.items():
        note(f"{', '.join(names)}: times are {statistic} (--statistic names another)")


def tell_means(learned: Learned, steps: Steps | None) -> None:
    """Say which solvers' models tell the mean step, where separate files hold the steps."""
    means = [name for name, model in learned.models.items() if model.training_.get("of_steps") == "mean"]
    if steps is not None and means:
        note(
            f"the times of {', '.join(means)} are taken as the means of many steps, as those of whole runs are: "
            "--step-times tells how steps vary around them"
        )


def tell_exchanges(plan: Plan) -> None:
    """Say how often solvers are taken to wait for each other, where they recorded clearly unequal numbers of steps.

    A step that all wait for holds as many steps of a solver as its factor in the layout says.
    """
    from evenly.allocation.problem.step_jitter import steps_together

    every = steps_together(plan.problem.layout)
    longest = {name: max(map(len, _runs(runs))) for name, runs in (plan.noise.samples or {}).items()}
    counts = {name: steps // every[name] for name, steps in longest.items()}
    if not counts or max(counts.values()) < _UNEQUAL * min(counts.values()):
        return
    told = ", ".join(f"{name} {steps}" for name, steps in longest.items())
    how = ", ".join(f"{every[name]} of {name}" for name in counts) if max(every.values()) > 1 else "step"
    way = (
        "say otherwise with factors in --layout, as 'max(4 * a, 3 * b)'"
        if plan.step_days is None
        else "if it is more, give files in which each time is that of all steps between two exchanges"
    )
    note(f"recorded steps: {told}; solvers are taken to exchange data after each {how}: {way}")


def measured_steps(
    learned: Learned, steps: Steps | None
) -> Mapping[str, NDArray[np.float64] | list[NDArray[np.float64]]]:
    """Return the times of steps of every solver: those of ``--step-times``, else those of the runs that were measured.

    Empty where some solver has none.
    """
    if steps is not None:
        return {name: steps[name] for name in learned.models}
    found = {name: [one for one in runs.steps_of_runs() if len(one) > 1] for name, runs in learned.runs.items()}
    return found if set(found) == set(learned.models) and all(found.values()) else {}


def _runs(steps: Any) -> list[Any]:
    """Return the steps of each run, where `steps` are those of one or of several."""
    return list(steps) if len(steps) and hasattr(steps[0], "__len__") else [steps]
