"""``evenly partition``: how to cut the cell of a simulation so that all ranks finish a step together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.cell_input import MeepScript, Sources, open_program
from evenly.cli.console import note, out, print_json
from evenly.cli.fdtd_options import What
from evenly.cli.option_groups import panel
from evenly.cli.saving_pictures import save_all
from evenly.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evenly.decomposition.cells.cell import Cell
    from evenly.decomposition.costs.cost_model import CostModel
    from evenly.decomposition.costs.locations import Found
    from evenly.decomposition.partitioning.plan import CutPlan, Prediction

__all__ = ["partition"]

_cut = panel("How to cut")


@dataclass(frozen=True)
class Cut:
    """How a cell is cut."""

    ranks: Annotated[str, _cut("--ranks", "-n", help="Number of ranks; several (4,8,16) are compared.")]
    leaves: Annotated[
        int, _cut("--leaves", help="Largest number of chunks per rank; fewer are used where they are as good.", min=1)
    ] = 1
    method: Annotated[
        Literal["auto", "multisection", "bisection"],
        _cut(
            "--algorithm",
            help="multisection: by prime factors of the ranks; bisection: into halves; auto: the better one.",
        ),
    ] = "auto"
    cost: Annotated[
        Path | None, _cut("--cost", help="A file with costs (default: this machine's, `evenly calibrate`).")
    ] = None

    def counts(self) -> list[int]:
        """Return the numbers of ranks, each once."""
        return sorted(set(parsing.counts(self.ranks, "--ranks")))


@dataclass(frozen=True)
class Layouts:
    """Layouts in files."""

    output: Annotated[Path | None, _cut("--save", "-o", help="Save the layout as .json, to run with.")] = None
    compare: Annotated[
        list[Path] | None, _cut("--compare", help="A file with a layout of yours to compare with (several allowed).")
    ] = None

    def check(self, counts: list[int], program: str) -> None:
        """Refuse what can't be saved or compared, before anything is computed."""
        for option, given in {"--save": self.output, "--compare": self.compare}.items():
            if given and len(counts) != 1:
                raise InputError(f"{option} takes a layout of one number of ranks, but --ranks gives {len(counts)}.")
        if self.output is not None:
            opt.check_writable(self.output, "the layout", read=[Path(program.partition(":")[0]), *(self.compare or [])])


@dataclass(frozen=True)
class _Cutting:
    """What was cut and how that is predicted."""

    plans: list[CutPlan]
    serial_s: float
    found: Found
    others: dict[str, Prediction]

    @property
    def plan(self) -> CutPlan:
        return self.plans[0]


def partition(
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM",
            help="A structure (`evenly fdtd list`), your script.py[:function], one of Meep, or a cell.npz.",
        ),
    ],
    cut: Cut,
    layouts: Layouts = Layouts(),
    what: What = What(),
    meep: MeepScript = MeepScript(),
    pictures: opt.Pictures = opt.Pictures(),
    json: opt.Json = False,
) -> None:
    """Cut the cell of a simulation so that all ranks finish together, and predict what a step will take.

    The layout goes to `evenly fdtd run --chunks`, or into a script of Meep.
    """
    counts = cut.counts()
    layouts.check(counts, program)
    pictures.check()
    sources = open_program(program, what, meep)
    done = _carry_out(sources, cut, counts, layouts.compare or [])
    note(done.found.note)
    if lacking := done.found.cost.lacking(done.plans[0].cell):
        note(lacking)
    if max(counts) > 1 and not done.plan.prediction.border_s.any():
        note("the costs have no times of messages between ranks, so borders count as 0 s")
    if far := done.found.cost.extrapolation(float(done.plan.prediction.rank_s.max())):
        note(far)
    # Before anything is printed: a pipe that reads only the first lines ends the program.
    saved = None if layouts.output is None else done.plan.save(layouts.output)
    if json:
        print_json(_as_dict(done))
    else:
        _show(done)
    if saved is not None:
        how = sources.how(str(saved), done.plan.prediction.ranks)
        note(f"saved {saved}" + (f": {how}" if how else ""))
    if pictures.plot is not None:
        save_all(_pictures(done, sources.unit), pictures)


def _carry_out(sources: Sources, cut: Cut, counts: list[int], compare: list[Path]) -> _Cutting:
    from evenly.decomposition.costs.locations import find_cost
    from evenly.decomposition.partitioning.partition import partition as cut_cell
    from evenly.decomposition.partitioning.predict import predict
    from evenly.fdtd.cell.partition import BinaryPartition

    cell = sources.cell(counts[0])
    found = find_cost(cell.program, cut.cost)
    found.cost.check(cell)
    others = {str(path): _predicted(cell, path, counts[0], found.cost) for path in compare}
    plans = []
    for ranks in counts:
        cell = cell if ranks == counts[0] else sources.cell(ranks)
        plans.append(cut_cell(cell, ranks, found.cost, leaves_per_rank=cut.leaves, method=cut.method))
    serial = predict(cell, BinaryPartition(0), 1, found.cost).step_s
    return _Cutting(plans, serial, found, others)


def _predicted(cell: Cell, path: Path, ranks: int, cost: CostModel) -> Prediction:
    from evenly.decomposition.partitioning.predict import predict
    from evenly.decomposition.partitioning.shifted_layouts import moved
    from evenly.errors import ReadError
    from evenly.fdtd.cell.partition import BinaryPartition

    layout = BinaryPartition.load(path)
    if layout.ranks != ranks:
        raise InputError(
            f"--compare takes layouts for as many ranks as --ranks says ({ranks}), but {path} was made for "
            f"{layout.ranks}: compare it with --ranks {layout.ranks}."
        )
    x, y, z = cell.center
    try:
        return predict(cell, moved(layout, (-x, -y, -z)), ranks, cost)
    except InputError as error:
        raise ReadError(path, f"this layout is one of another cell: {error}") from None


def _as_dict(done: _Cutting) -> dict[str, Any]:
    from evenly.report.tables.partition import cuts_as_dict, step_interval

    cell, found = done.plan.cell, done.found
    told = {
        "name": cell.name,
        "program": cell.program,
        "points": cell.grid.box.volume,
        "shape": cell.grid.shape,
        "serial_seconds_per_step": done.serial_s,
        "cost": {"source": found.source, "path": str(found.path), "machine": found.cost.machine},
    }
    if len(done.plans) == 1:
        lower, upper = step_interval(done.plan, found.cost)
        told |= {"lower_seconds_per_step": lower, "upper_seconds_per_step": upper, "level": 0.9}
        return told | cuts_as_dict(done.plan, done.serial_s, done.others)
    return told | {"rows": [cuts_as_dict(plan, done.serial_s, layout=False) for plan in done.plans]}


def _show(done: _Cutting) -> None:
    from evenly.report.tables import partition as tables

    if len(done.plans) > 1:
        out.print(tables.cuts_counts_table(done.plans, done.serial_s, title=done.plan.cell.name))
        return
    out.print(tables.cuts_headline(done.plan), soft_wrap=True)
    out.print(tables.within(done.plan, done.found.cost), soft_wrap=True)
    out.print(tables.shares_table(done.plan))
    if done.plan.prediction.ranks > 1 or done.others:
        out.print(tables.cuts_table(done.plan, done.others, left_out=""))
    out.print(tables.answer(done.plan), soft_wrap=True)


def _pictures(done: _Cutting, unit: str) -> dict[str, Figure]:
    from evenly.report.plots import partition as plots

    name = done.plan.cell.name
    if len(done.plans) > 1:
        return {f"{name}-cut-scaling": plots.plot_counts(done.plans, done.serial_s)}
    figures = plots.plot_plan(done.plan, done.found.cost, unit=unit)
    return {f"{name}-cut-{what}": figure for what, figure in figures.items()}
