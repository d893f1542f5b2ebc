"""``evenly runs``: whether the stored runs of a campaign are whole, and a new store of the good ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json

__all__ = ["COMMANDS", "check"]


def check(
    path: Annotated[Path, typer.Argument(metavar="STORE", help="A file of `evenly measure` or `evenly tune`.")],
    salvage: Annotated[
        Path | None, typer.Option("--salvage", metavar="NEW", help="Copy the good runs to a new file.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Check whether a store of runs is whole: exit code 0 if it is, 1 if it is damaged. The store is not altered."""
    from evenly.campaign.checking import check as checked
    from evenly.report.tables.campaign import check_as_dict, damages_table

    found = checked(path, salvage=salvage)
    of = "" if found.stored in (None, found.runs) else f" of {found.stored}"
    if json:
        print_json({**check_as_dict(found), "salvage": salvage and str(salvage)})
    elif found.damages:
        out.print(damages_table(found, title=f"{path} is damaged; {found.runs}{of} runs are good"))
    else:
        out.print(f"{path} is whole: {found.runs} runs", markup=False, soft_wrap=True)
    if not found.has_checksums:
        note(f"an older evenly wrote {path}, without checksums: a changed number can't be noticed")
    if salvage is not None:
        note(f"{found.runs}{of} runs are in {salvage}: `evenly measure … --store {salvage}` makes the others")
    elif found.damages:
        note("--salvage NEW copies the good runs to a new file")
    if found.damages:
        raise typer.Exit(1)


COMMANDS: dict[str, Callable[..., None]] = {"check": check}
