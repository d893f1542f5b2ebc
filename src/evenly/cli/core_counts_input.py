"""Options of ``evenly predict`` on how many cores a job should run, and their implementation for any model."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from evenly.cli import parsing
from evenly.cli.console import note, out, print_json, save_table
from evenly.cli.option_groups import panel
from evenly.cli.options import CoresAre, typed
from evenly.cli.run_input import Learned, check_parameters, known_values, split
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.core_counts.goal import Goal
    from evenly.machine.machine import Machine
    from evenly.readers.scanning import Measurements

__all__ = ["Counts", "asking", "looked_at", "predict_counts", "refuse_without_cores"]

_counts = panel("On how many cores")
#: What stands behind a budget that isn't money.
_CORE_HOURS = ("", "core-hours", "ch")


@dataclass(frozen=True)
class Counts:
    """The numbers of cores to look at, the size of the job, and what the best number is for."""

    cores: Annotated[
        str | None, _counts("--cores", "-P", help="Numbers of cores: 560, or several: 280,336 or 280:560:56 or 1..512.")
    ] = None
    cores_are: CoresAre = None
    steps: Annotated[
        float | None, _counts("--steps", help="Steps of the job, of which the time was measured or is known.")
    ] = None
    deadline: Annotated[
        str | None,
        _counts("--deadline", help="Longest time of the job, 90s, 90min, 2h or 1:30:00; the cheapest count is chosen."),
    ] = None
    budget: Annotated[
        str | None,
        _counts("--budget", help="Core-hours that may be spent, 50, or money, 20EUR; the fastest count is chosen."),
    ] = None
    efficiency: Annotated[
        str | None,
        _counts("--efficiency", help="Smallest parallel efficiency, as 70%; the fastest count is chosen."),
    ] = None
    machine: Annotated[
        str | None, _counts("--machine", help="A machine: a file, or a name of `evenly machine list`.")
    ] = None
    price: Annotated[
        str | None, _counts("--price", help="Price of one core for one hour, 0.03USD; in EUR if no currency is given.")
    ] = None

    def goal(self, currency: str) -> Goal:
        """Return what the recommended count is for."""
        from evenly.core_counts.goal import Goal

        deadline = None if self.deadline is None else parsing.duration(self.deadline, "--deadline")
        core_hours, money = _budget(self.budget, currency)
        efficiency = None if self.efficiency is None else _efficiency(self.efficiency)
        if efficiency is not None and (self.deadline or self.budget):
            raise InputError("--efficiency can't be used with --deadline or --budget: they decide")
        return Goal(efficiency, deadline, core_hours, money)

    def described(self) -> Machine:
        """Return the machine, with the price that was typed."""
        from evenly.machine.machine import Machine

        found = Machine() if self.machine is None else Machine.load(self.machine)
        if self.price is None:
            return found
        amount, currency = _money(self.price, "--price")
        if not currency and self.machine is None:
            spent = _money(self.budget or "0", "--budget")[1]
            currency = "" if spent.lower() in _CORE_HOURS else spent
        if not currency:
            note(f"the price is taken to be in {found.currency} (otherwise --price {self.price.strip()}USD)")
        return dataclasses.replace(found, price_per_core_hour=amount, currency=currency or found.currency)


def looked_at(text: str, option: str, most: int | None = None) -> Sequence[int]:
    """Return the counts that a text asks for; a `range` where it names only the ends, ``1..512`` or ``1..``.

    Examples
    --------
    >>> looked_at("8,16", "--cores"), looked_at("1..512", "--cores"), looked_at("280:392:56", "--cores")
    ([8, 16], range(1, 513), [280, 336, 392])
    """
    found = re.fullmatch(r"\s*(\d+)\s*\.\.\s*(\d*)\s*", text)
    if found is None:
        return sorted(set(parsing.counts(text, option)))
    low, high = int(found[1]), int(found[2]) if found[2] else most or 0
    if not 1 <= low <= high:
        raise InputError(f"{option}: {text!r} must go up from 1 or more, as 1..512")
    return range(low, high + 1)


def predict_counts(
    learned: Learned, counts: Counts, at: list[str] | None, level: float, save: Path | None, *,
    times: Literal["unit", "hms"], limit: float | None = None, json: bool,
) -> None:  # fmt: skip
    """Recommend a number of cores for a program, and show it.

    Raises
    ------
    InputError
        If something that was typed breaks a rule, or something is open.
    InfeasibleError
        If no count meets the goal.
    """
    from evenly.core_counts.recommendation import recommend
    from evenly.report.tables.recommendation import choice_lines, limit_lines, recommendation_table

    if len(learned.models) > 1:
        raise InputError(
            f"--cores asks for one program, but there are {', '.join(learned.models)}: choose one with --only, or "
            "share cores among them with `evenly allocate`"
        )
    machine = counts.described()
    (name, model), goal = next(iter(learned.models.items())), counts.goal(machine.currency)
    found = recommend(
        model, looked_at(counts.cores or "", "--cores", machine.cores), cores_are=counts.cores_are,
        at=known_values(parsing.at_values(at), learned) if at else None, measured=learned.runs.get(name), goal=goal,
        steps=counts.steps, machine=machine, level=level, limit=limit,
    )  # fmt: skip
    if save is not None:
        save_table(found.curve, save, "the predictions")
    if json:
        print_json(found.to_dict())
        return
    for text in found.notes:
        note(text)
    out.print(recommendation_table(found, times=times))
    for line in (*choice_lines(found.choice, "cores", level), *limit_lines(found)):
        out.print(line, soft_wrap=True)


def asking(named: list[str], counts: Counts, train: str | None) -> Callable[[list[str], Measurements | None], None]:
    """Return what asks, before anything is learned, for the parameters that varied and aren't `named`."""

    def ask(solvers: list[str], found: Measurements | None) -> None:
        from evenly.core_counts.one_size import refuse_grown
        from evenly.core_counts.other_parameters import unvaried
        from evenly.runs.cores import find_cores
        from evenly.runs.weak_scaling import weak_scaling

        if found is None:  # the models were there already
            return
        runs, _ = split({name: found.runs[name] for name in solvers}, train)
        check_parameters(named, Learned({}, runs, found=found))
        for one in runs.values():
            cores: Sequence[str] = ()
            if counts.cores is not None:
                what = find_cores(one.space, counts.cores_are, measured=one.configurations)
                refuse_grown(one.parameters, weak_scaling(one.ok.configurations), what, {"same_work": True})
                cores = what.names
            unvaried(one.space, [parsing.spelled(name, one.parameters) for name in named], but=cores)

    return ask


def refuse_without_cores(counts: Counts) -> None:
    """Refuse options of a question on cores that isn't asked."""
    if counts.cores is None and (given := typed(counts)):
        raise InputError(f"{given[0]} is for a question on how many cores: ask it with --cores, as --cores 1..512")


def _efficiency(text: str) -> float:
    value = parsing.share("100%" if text.strip() in ("1", "1.0") else text, "--efficiency")
    if not 0 < value <= 1:
        raise InputError(f"--efficiency takes a share above 0 and up to 100 %, but got {text!r}")
    return value


def _budget(text: str | None, currency: str) -> tuple[float | None, float | None]:
    """Return core-hours and money of a budget, one of which is None."""
    if text is None:
        return None, None
    amount, unit = _money(text, "--budget")
    if not amount > 0 or unit.lower() not in (*_CORE_HOURS, currency.lower()):
        raise InputError(
            f"--budget takes core-hours, as 50, or money in the machine's currency, as 20{currency}, but got {text!r}"
        )
    return (None, amount) if unit.lower() == currency.lower() else (amount, None)


def _money(text: str, option: str) -> tuple[float, str]:
    """Return a number and the word behind it.

    Examples
    --------
    >>> _money("0.03", "--price"), _money("20 USD", "--budget")
    ((0.03, ''), (20.0, 'USD'))
    """
    found = re.fullmatch(r"\s*(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)\s*((?:[^\W\d_][^\d\s.,+]*|[^\w\s.,+-])?)\s*", text)
    if found is None:
        raise InputError(f"{option} takes an amount, as 20 or 20EUR, but got {text!r}")
    return float(found[1]), found[2]
