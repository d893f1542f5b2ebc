"""The program ``evenly``: its commands, and how errors become messages and exit codes.

Exit codes: 0 done; 1 the question has no answer; 2 bad input. Usage errors and interrupts are typer's to report.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from evenly.cli.commands import (
    advise,
    allocate,
    calibrate,
    cost,
    demo,
    example,
    fdtd,
    fit,
    machine,
    measure,
    partition,
    plot,
    predict,
    read,
    rebalance,
    sensitivity,
    sort,
    train,
    tune,
)
from evenly.cli.console import be_quiet, err, start
from evenly.cli.option_groups import with_quiet
from evenly.errors import EvenlyError, InfeasibleError, InputError

__all__ = ["app", "main"]

DONE, NO_ANSWER, BAD_INPUT = 0, 1, 2


class _Command(TyperCommand):
    """A command that refuses an option given twice, where only one of them would count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        options: list[Any] = list(order)
        for option in options:
            if option.param_type_name == "option" and not (option.multiple or option.is_flag or option.is_eager):
                self._refuse_twice(option, [other for other in options if other is option])
        return super().parse_args(ctx, args)

    def _refuse_twice(self, option: Any, given: list[Any]) -> None:
        if len(given) > 1:
            hint = ": give several numbers of cores with commas, as 64,128" if option.opts[0] == "--cores" else ""
            raise InputError(f"{option.opts[0]} is given {len(given)} times, but takes one value{hint}")


app = typer.Typer(
    name="evenly",
    help="Learn from few measured runs how long a parallel simulation takes, and spread its work evenly.",
    epilog="Start with: evenly example gaussian-pulse && evenly allocate gaussian-pulse --cores 560",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    read.read, measure.measure, fit.fit, predict.predict, allocate.allocate, plot.plot, sort.sort, example.example,
    partition.partition, rebalance.rebalance, train.train, tune.tune, advise.advise,
    sensitivity.sensitivity, demo.demo,
):  # fmt: skip
    app.command(command.__name__, cls=_Command)(with_quiet(command, be_quiet))
simulations = typer.Typer(
    name="fdtd",
    help="Run electromagnetic simulations in parallel, count what is in them, study how they scale.",
    epilog="Start with: evenly fdtd run oled --ranks 2 --plot",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
for name, simulating in fdtd.COMMANDS.items():
    simulations.command(name, cls=_Command)(with_quiet(simulating, be_quiet))
app.add_typer(simulations)
calibrations = typer.Typer(
    name="calibrate",
    help="Measure what the points, chunks and borders of a program take on this machine, so that cells can be cut.",
    epilog="Start with: evenly calibrate fdtd",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
for name, calibrating in calibrate.COMMANDS.items():
    calibrations.command(name, cls=_Command)(with_quiet(calibrating, be_quiet))
app.add_typer(calibrations)
costs = typer.Typer(
    name="cost",
    help="What points, chunks and borders take, as measured here or shipped with evenly.",
    epilog="Start with: evenly cost show",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
for name, costing in cost.COMMANDS.items():
    costs.command(name, cls=_Command)(with_quiet(costing, be_quiet))
app.add_typer(costs)
machines = typer.Typer(
    name="machine",
    help="Measure, list and show machines: cores, memory, jitter, and how long messages take.",
    epilog="Start with: evenly machine measure",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
for name, describing in machine.COMMANDS.items():
    machines.command(name, cls=_Command)(with_quiet(describing, be_quiet))
app.add_typer(machines)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"evenly {version('evenly')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,  # noqa: ARG001
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars and no notes.")] = False,
) -> None:
    """Learn from few measured runs how long a parallel simulation takes, and spread its work evenly."""
    if quiet:
        be_quiet()


def main() -> NoReturn:
    """Run the command line and exit with its code; a user's mistake never shows a traceback."""
    start()
    try:
        app()
    except InfeasibleError as error:
        _fail(str(error), NO_ANSWER)
    except EvenlyError as error:
        _fail(str(error), BAD_INPUT)
    sys.exit(DONE)


def _fail(message: str, code: int) -> NoReturn:
    err.print(f"error: {message}", style="red", markup=False)
    sys.exit(code)
