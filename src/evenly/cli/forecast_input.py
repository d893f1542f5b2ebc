"""The implementation of ``evenly predict --simulation``: it predicts the time of a simulation that was never run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenly.cli.cell_input import MeepScript, open_program
from evenly.cli.console import note, out, print_json, progress, save_table
from evenly.cli.core_counts_input import Counts, looked_at
from evenly.cli.fdtd_options import What
from evenly.cli.option_groups import panel
from evenly.cli.options import Pictures, check_writable, typed
from evenly.cli.saving_pictures import save_all
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.decomposition.cells.cell import Cell
    from evenly.decomposition.costs.cost_model import CostModel
    from evenly.decomposition.forecasting.forecast import Forecast
    from evenly.decomposition.forecasting.step_model import StepModel
    from evenly.machine.machine import Machine

__all__ = ["Unrun", "predict_unrun", "refuse_unrun"]

#: Steps that costs are of where the simulation doesn't say how long it runs.
STEPS = 1000


_unrun = panel("A simulation that nobody has run")


@dataclass(frozen=True)
class Unrun:
    """A simulation, where it would run, and what for."""

    simulation: Annotated[
        str | None,
        _unrun("--simulation", help="A structure (`evenly fdtd list`), your script.py, of Meep too, or a cell.npz."),
    ] = None
    ranks: Annotated[
        str | None, _unrun("--ranks", "-n", help="Numbers of ranks to look at: 8,16,32, or 1..512 (some of these).")
    ] = None
    model: Annotated[
        Path | None, _unrun("--model", help="A step model of `evenly train`, or costs of `evenly calibrate`.")
    ] = None

    def counts(self, machine: Machine) -> tuple[list[int], list[str]]:
        """Return the numbers of ranks to look at, and a note if some were left out, for which the machine is too small.

        If it is too small for all of them, they are left as they are, and refused later.
        """
        from evenly.core_counts.goal import counts_between

        found = looked_at(self.ranks or "1..", "--ranks", min(machine.cores or 512, 512))
        most, largest = machine.cores or found[-1], found[-1]
        notes = []
        if found[0] <= most < largest:
            notes.append(f"{machine.name} has {most} cores, so no more ranks than that are looked at")
            found = range(found[0], most + 1) if isinstance(found, range) else [n for n in found if n <= most]
        if isinstance(found, range):
            return counts_between(found[0], found[-1], cores_per_node=machine.cores_per_node), notes
        return list(found), notes


def predict_unrun(
    unrun: Unrun,
    question: Counts,
    what: What,
    meep: MeepScript,
    level: float,
    pictures: Pictures,
    save: Path | None,
    *,
    json: bool,
) -> None:
    """Forecast and show it.

    Raises
    ------
    InputError
        If something that was typed breaks a rule.
    InfeasibleError
        If nothing meets the deadline or the budget.
    """
    from evenly.decomposition.forecasting.forecast import forecast

    pictures.check()
    if save is not None:
        check_writable(save, "the forecast")
    if question.cores is not None or question.cores_are is not None:
        raise InputError("--simulation is asked with --ranks, as --ranks 1..512: each rank has one core")
    if question.steps is not None and not (question.steps >= 1 and question.steps.is_integer()):
        raise InputError(f"--steps must be a whole number of at least 1, but got {question.steps:g}")
    machine = _machine(question)
    goal, (counts, cut) = question.goal(machine.currency), unrun.counts(machine)
    known = _known(unrun.model)
    sources = open_program(unrun.simulation or "", what, meep)
    said = sources.steps(counts[0])
    told = question.steps or said
    if told is None and (goal.deadline_s or goal.core_hours or goal.money):
        raise InputError(
            "a deadline or a budget is for the whole job, but the number of its steps isn't known: give it with --steps"
        )
    steps = int(told or STEPS)
    assumed = [] if question.steps is not None else [_assumed(said, sources.cell(counts[0]), meep.which)]
    if meep.which > 1:
        whose = f"simulation {meep.which} alone: the script takes the sum over all simulations"
        assumed.append(f"times and costs are those of {whose}")
    with progress(f"cutting for {len(counts)} numbers of ranks") as show:
        found = forecast(
            sources.cell, counts, machine, model=known, steps=steps, goal=goal, level=level,
            told=lambda done, of: show(done / of),
        )  # fmt: skip
    found = dataclasses.replace(found, notes=(*cut, *assumed, *found.notes))
    _tell(found, json=json)
    if save is not None:
        save_table(found.curve, save, "the forecast")
    if pictures.plot is not None:
        from evenly.report.plots.forecast import plot_forecast

        save_all(plot_forecast(found), pictures)


def _assumed(steps: int | None, cell: Cell, which: int) -> str:
    """Say how many steps were assumed: those of the first run of a simulation, or a round number."""
    in_time = f"; {1 / cell.grid.dt:g} steps are 1 of Meep's time" if cell.program == "meep" else ""
    if steps is None:
        return f"the number of steps isn't known: costs are those of {STEPS} steps (--steps changes it{in_time})"
    whose = "this simulation" if which == 1 else f"simulation {which}"
    return f"the first run of {whose} makes {steps:,} steps: costs are those of this run (--steps changes it{in_time})"


def _machine(question: Counts) -> Machine:
    from evenly.machine.machine import shipped_machines

    if question.machine is None:
        raise InputError(
            f"--simulation needs --machine: a file (`evenly machine measure` makes one), or one of "
            f"{', '.join(shipped_machines())}"
        )
    return question.described()


def _known(path: Path | None) -> StepModel | CostModel | None:
    from evenly.decomposition.costs.cost_model import CostModel
    from evenly.decomposition.forecasting.step_model import StepModel

    if path is None:
        return None
    return CostModel.load(path) if path.suffix == ".json" else StepModel.load(path)


def _tell(found: Forecast, *, json: bool) -> None:
    from evenly.report.tables.forecast import forecast_headline, forecast_table
    from evenly.report.tables.recommendation import choice_lines

    if json:
        print_json(found.to_dict())
        return
    for text in found.notes:
        note(text)
    out.print(forecast_headline(found), soft_wrap=True)
    out.print(forecast_table(found))
    for line in choice_lines(found.choice, "ranks", found.level):
        out.print(line, soft_wrap=True)


def refuse_unrun(unrun: Unrun, what: What, meep: MeepScript, pictures: Pictures) -> None:
    """Refuse options of a simulation where none is given."""
    given = [*typed(unrun), *typed(what), *typed(meep), *typed(pictures)]
    if given:
        raise InputError(f"{given[0]} is for a simulation that nobody has run: give it with --simulation")
