"""``evenly doctor``: check this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import out, print_json, progress
from evenly.errors import InputError

_COLOURS = {"good": "green", "note": "yellow", "bad": "red"}


def doctor(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where runs will be kept.", show_default="this folder")
    ] = Path(),
    json: opt.Json = False,
) -> None:
    """Check this machine: ranks, scheduler, clocks, cores, memory, files; and say what to mend and how.

    Nothing is changed. The exit status is 1 if something is bad, else 0.
    """
    from rich.table import Table
    from rich.text import Text

    from evenly.doctor.examination import examine

    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: give the one in which runs will be kept")
    with progress("checking") as bar:
        found = examine(folder.resolve(), progress=bar)
    if json:
        print_json({"findings": [asdict(one) for one in found]})
    else:
        table = Table.grid(padding=(0, 2))
        for one in found:
            mark = Text(one.verdict, style=_COLOURS[one.verdict])
            table.add_row(mark, one.name, one.found + (f" → {one.remedy}" if one.remedy else ""))
        out.print(table)
    if any(one.verdict == "bad" for one in found):
        raise typer.Exit(1)
