"""The implementation of ``evenly predict --simulation``: it predicts the time of a simulation that was never run."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenly.cli import parsing
from evenly.cli.cell_input import MeepScript, Sources, open_program
from evenly.cli.console import note, out, print_json, progress, save_table
from evenly.cli.fdtd_options import What
from evenly.cli.option_groups import panel
from evenly.cli.options import Pictures, check_writable, typed
from evenly.cli.saving_pictures import save_all
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.decomposition.costs.cost_model import CostModel
    from evenly.decomposition.forecasting.forecast import Forecast
    from evenly.decomposition.forecasting.goal import Goal
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
        _unrun("--simulation", help="A structure (`evenly fdtd list`), your script.py[:function] or a cell.npz."),
    ] = None
    ranks: Annotated[
        str | None, _unrun("--ranks", "-n", help="Numbers of ranks to look at: 8,16,32, or 1..512 (some of these).")
    ] = None
    machine: Annotated[
        str | None, _unrun("--machine", help="A machine's file, or a name of `evenly machine list`.")
    ] = None
    steps: Annotated[
        int | None, _unrun("--steps", help="Time steps of the run (default: as the simulation says).", min=1)
    ] = None
    deadline: Annotated[
        str | None, _unrun("--deadline", help="Longest time of the run, 90s, 30m or 2h; the cheapest ranks are chosen.")
    ] = None
    budget: Annotated[
        str | None,
        _unrun("--budget", help="Largest cost of the run, 50 (core-hours) or 20EUR; the fastest ranks are chosen."),
    ] = None
    efficiency: Annotated[
        float | None,
        _unrun(
            "--efficiency",
            help="Without --deadline and --budget: the most ranks with this parallel efficiency (default: 0.7).",
            min=0.0,
        ),
    ] = None
    price: Annotated[float | None, _unrun("--price", help="Price of one core for one hour.", min=0.0)] = None
    model: Annotated[
        Path | None, _unrun("--model", help="A step model of `evenly train`, or costs of `evenly calibrate`.")
    ] = None

    def goal(self, currency: str) -> Goal:
        """Return what the recommended number of ranks is for."""
        from evenly.decomposition.forecasting.goal import Goal

        deadline = None if self.deadline is None else parsing.duration(self.deadline, "--deadline")
        core_hours, money = _budget(self.budget, currency)
        given = {} if self.efficiency is None else {"efficiency": self.efficiency}
        if self.efficiency is not None and (self.deadline or self.budget):
            raise InputError("--efficiency can't be used with --deadline or --budget: they decide")
        return Goal(deadline_s=deadline, core_hours=core_hours, money=money, **given)

    def counts(self, machine: Machine) -> list[int]:
        """Return the numbers of ranks to look at."""
        from evenly.decomposition.forecasting.goal import counts_between

        text = self.ranks or "1.."
        ends = re.fullmatch(r"\s*(\d+)\s*\.\.\s*(\d*)\s*", text)
        if ends is None:
            return sorted(set(parsing.counts(text, "--ranks")))
        low, high = int(ends[1]), int(ends[2]) if ends[2] else min(machine.cores or 512, 512)
        if not 1 <= low <= high:
            raise InputError(f"--ranks: {text!r} must go up from 1 or more, as 1..512")
        return counts_between(low, high, cores_per_node=machine.cores_per_node)


def predict_unrun(unrun: Unrun, what: What, level: float, pictures: Pictures, save: Path | None, *, json: bool) -> None:
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
    machine = _machine(unrun)
    goal, counts = unrun.goal(machine.currency), unrun.counts(machine)
    known = _known(unrun.model)
    sources = open_program(unrun.simulation or "", what, MeepScript())
    steps = unrun.steps or sources.steps or STEPS
    with progress(f"cutting for {len(counts)} numbers of ranks") as show:
        found = forecast(
            sources.cell, counts, machine, model=known, steps=steps, goal=goal, level=level,
            told=lambda done, of: show(done / of),
        )  # fmt: skip
    _tell(found, unrun, sources, level, json=json)
    if save is not None:
        save_table(found.curve, save, "the forecast")
    if pictures.plot is not None:
        from evenly.report.plots.forecast import plot_forecast

        save_all(plot_forecast(found), pictures)


def _budget(text: str | None, currency: str) -> tuple[float | None, float | None]:
    """Return core-hours and money of a budget, one of which is None."""
    if text is None:
        return None, None
    found = re.fullmatch(r"\s*(\d+\.?\d*(?:e\d+)?)\s*([^\d\s]*)\s*", text)
    amount, unit = (float(found[1]), found[2]) if found else (0.0, "")
    if not amount > 0 or unit.lower() not in ("", "core-hours", "ch", currency.lower()):
        raise InputError(
            f"--budget takes core-hours, as 50, or money in the machine's currency, as 20{currency}, but got {text!r}"
        )
    return (None, amount) if unit.lower() == currency.lower() else (amount, None)


def _machine(unrun: Unrun) -> Machine:
    from evenly.machine.machine import Machine, shipped_machines

    if unrun.machine is None:
        raise InputError(
            f"--simulation needs --machine: a file (`evenly machine measure` makes one), or one of "
            f"{', '.join(shipped_machines())}"
        )
    machine = Machine.load(unrun.machine)
    return machine if unrun.price is None else dataclasses.replace(machine, price_per_core_hour=unrun.price)


def _known(path: Path | None) -> StepModel | CostModel | None:
    from evenly.decomposition.costs.cost_model import CostModel
    from evenly.decomposition.forecasting.step_model import StepModel

    if path is None:
        return None
    return CostModel.load(path) if path.suffix == ".json" else StepModel.load(path)


def _tell(found: Forecast, unrun: Unrun, sources: Sources, level: float, *, json: bool) -> None:
    from evenly.report.tables.forecast import forecast_headline, forecast_table

    if json:
        print_json(found.to_dict())
        return
    for text in found.notes:
        note(text)
    if unrun.steps is None and sources.steps is None:
        note(f"the simulation doesn't say how long it runs: costs are those of {STEPS} steps (change it with --steps)")
    out.print(forecast_headline(found), soft_wrap=True)
    out.print(forecast_table(found, level=level))
    out.print(f"recommended: {found.ranks} ranks, {found.why}", soft_wrap=True)


def refuse_unrun(unrun: Unrun, what: What, pictures: Pictures) -> None:
    """Refuse options of a simulation where none is given."""
    given = [*typed(unrun), *typed(what), *typed(pictures)]
    if given:
        raise InputError(f"{given[0]} is for a simulation that nobody has run: give it with --simulation")
