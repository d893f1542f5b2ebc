"""``evenly example``: copy a shipped example into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import out, print_json


def example(
    name: Annotated[str | None, typer.Argument(help="Name of the example; all are listed without it.")] = None,
    folder: Annotated[Path, typer.Argument(help="Where to copy it.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Write over an earlier copy.")] = False,
    json: opt.Json = False,
) -> None:
    """Copy a shipped example: a folder of measured run times to try things on."""
    from evenly import examples

    if name is None:
        _list(examples.names(), json=json)
        return
    target = examples.copy(name, folder, force=force)
    if json:
        print_json({"folder": str(target), "files": sorted(str(path) for path in target.rglob("*") if path.is_file())})
    else:
        out.print(f"copied to {target}: try `evenly allocate {target} --cores 560`", soft_wrap=True)


def _list(names: list[str], *, json: bool) -> None:
    if json:
        print_json({"examples": names})
        return
    for one in names:
        out.print(one)
