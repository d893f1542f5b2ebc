"""``evenly calibrate``: measure what points, chunks and borders take on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.commands.cost import save_pictures
from evenly.cli.console import err, note, out, print_json, progress
from evenly.cli.interruptions import INTERRUPTED
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.decomposition.calibration.calibration import Progress
    from evenly.decomposition.costs.cost_model import CostModel

__all__ = ["COMMANDS", "fdtd", "meep"]

Budget = Annotated[str, typer.Option("--wall-time", help="Wall time to spend on runs, as 90s or 3m.")]
Output = Annotated[
    Path | None, typer.Option("--save", "-o", help="Where to save the costs (default: where evenly looks for them).")
]
Plot = Annotated[Path | None, typer.Option("--plot", help="Folder for a picture per feature.")]
Python = Annotated[
    Path | None, typer.Option("--python", help="The Python that has Meep (default: the first that is found).")
]
#: What shells give for a program that was interrupted.


def fdtd(budget: Budget = "3m", output: Output = None, plot: Plot = None, json: opt.Json = False) -> None:
    """Measure what evenly's own simulation takes here: small runs of every feature, on one core."""

    def run(budget_s: float, report: Callable[[Progress], None]) -> CostModel:
        from evenly.decomposition.calibration.fdtd_calibration import calibrate_fdtd

        return calibrate_fdtd(budget_s, progress=report)

    _calibrate("fdtd", run, budget, output, plot, json=json)


def meep(
    budget: Budget = "3m", output: Output = None, plot: Plot = None, python: Python = None, json: opt.Json = False
) -> None:
    """Measure what Meep takes here: small runs of every feature, in the Python that has Meep."""

    def run(budget_s: float, report: Callable[[Progress], None]) -> CostModel:
        from evenly.adapters.meep.timing.calibrate import calibrate_meep

        return calibrate_meep(budget_s, python, progress=report)

    _calibrate("meep", run, budget, output, plot, json=json)


COMMANDS: dict[str, Callable[..., None]] = {"fdtd": fdtd, "meep": meep}


def _calibrate(
    program: str,
    run: Callable[[float, Callable[[Progress], None]], CostModel],
    budget: str,
    output: Path | None,
    plot: Path | None,
    *,
    json: bool,
) -> None:
    from evenly.decomposition.costs.locations import cost_file, store_file
    from evenly.report.tables.cost import cost_as_dict, cost_table

    seconds = parsing.duration(budget, "--wall-time")
    target, store = output or cost_file(program), store_file(program)
    opt.check_writable(target, "the costs", folder_is_made=True)
    if plot is not None:
        opt.check_writable(plot / "picture.png", "pictures", folder_is_made=True)
    _make_folder(target.parent)
    note(f"timing small runs of {program}, for about {seconds:g} s (--wall-time)")
    if store.exists():
        note(f"going on with the timings in {store}; delete it to begin anew")
    cost = _timed(program, run, seconds, store)
    cost.save(target)
    store.unlink(missing_ok=True)
    if json:
        print_json({**cost_as_dict(cost), "file": str(target)})
    else:
        out.print(cost_table(cost, title=f"{program} on {cost.machine}"))
    note(f"costs saved in {target}" + ("" if output else "; `evenly partition` uses them from now on"))
    if plot is not None:
        save_pictures(cost, plot)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the costs can't be saved in {folder}: {error.strerror}: another --save") from error


def _timed(
    program: str, run: Callable[[float, Callable[[Progress], None]], CostModel], budget_s: float, store: Path
) -> CostModel:
    last: list[Progress] = []
    with progress(f"timing {program}") as show:

        def report(now: Progress) -> None:
            last[:] = [now]
            show(now.fraction)

        try:
            cost = run(budget_s, report)
        except KeyboardInterrupt:
            done = f"{last[-1].measured} of {last[-1].designs} runs" if last else "nothing"
            err.print(
                f"interrupted: {done} timed so far, kept in {store}; `evenly calibrate {program}` continues from there",
                style="red",
            )
            raise typer.Exit(INTERRUPTED) from None
    if last and last[-1].measured < last[-1].designs:
        note(f"{last[-1].measured} of {last[-1].designs} runs were timed in {budget_s:g} s; {_told_by_them(cost)}")
    return cost


def _told_by_them(cost: CostModel) -> str:
    """Return which terms some of all runs tell of, and where the others' costs come from."""
    from evenly.decomposition.costs.cost_model import program_named
    from evenly.decomposition.costs.locations import unmeasured_terms

    others = unmeasured_terms(cost)
    missing = [term.name for term in program_named(cost.program).all_terms if term.name not in cost.coefficients]
    measured = [name for name in cost.coefficients if name not in others]
    told = {
        "terms measured here": measured,
        "terms that came with evenly, scaled to this machine's speed": others,
        "terms of unknown cost, counted as 0": missing,
    }
    said = [f"{what} ({len(names)}): {', '.join(names)}" for what, names in told.items() if names]
    return "; ".join([*said, "a longer --wall-time measures more"])
