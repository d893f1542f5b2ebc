"""``evenly sort``: put loose log files into a case folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json

if TYPE_CHECKING:
    from evenly.readers.case_sorting import SortPlan


def sort(
    files: Annotated[list[Path], typer.Argument(metavar="PATH", help="Log files, or folders of them.")],
    into: Annotated[Path, typer.Option("--into", help="The case folder to make or add to.")],
    solvers: Annotated[str | None, typer.Option("--order", help="Solvers in the order of folder names: a,b.")] = None,
    how: Annotated[Literal["copy", "link"], typer.Option("--how", help="Copy the files or link them.")] = "copy",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    json: opt.Json = False,
) -> None:
    """Sort loose log files into a case folder: one folder per measurement, named by core counts, and a case.ini.

    Nothing is moved or overwritten.
    """
    from evenly.readers.case_sorting import sort_into_case

    plan = sort_into_case(files, into, solvers=parsing.names(solvers), how=how, dry_run=dry_run)
    for skipped in plan.skipped:
        note(f"left out: {skipped}")
    for text in plan.notes:
        note(text)
    if json:
        print_json(_as_dict(plan))
        return
    for placed in [*plan.placements, *([plan.coupling] if plan.coupling else [])]:
        out.print(f"{placed.source} → {placed.target}", soft_wrap=True)
    verb = "sorted" if plan.done else "would sort"
    out.print(f"{verb} {len(plan.placements)} files into {plan.case}", soft_wrap=True)


def _as_dict(plan: SortPlan) -> dict[str, Any]:
    return {
        "case": str(plan.case),
        "done": plan.done,
        "placements": [{"source": str(p.source), "target": str(p.target)} for p in plan.placements],
        "coupling": None if plan.coupling is None else str(plan.coupling.source),
        "case_ini": plan.case_ini,
        "notes": list(plan.notes),
        "skipped": [str(entry) for entry in plan.skipped],
    }
