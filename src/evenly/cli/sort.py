"""``evenly sort``: put loose log files into a case folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenly.cli.console import note, out, print_json
from evenly.cli.options import Json


def sort(
    files: Annotated[list[Path], typer.Argument(help="Log files, or folders of them.")],
    into: Annotated[Path, typer.Option("--into", help="The case folder to make or add to.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    json: Json = False,
) -> None:
    """Sort loose log files into a case folder: one folder per measurement, named by core counts, and a case.ini."""
    from evenly.readers.sort import sort_into_case

    done = sort_into_case(files, into, dry_run=dry_run)
    print(done, note, out, print_json, json)  # noqa: T201
