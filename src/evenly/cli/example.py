"""``evenly example``: copy a shipped example into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenly.cli.console import out


def example(
    name: Annotated[str | None, typer.Argument(help="Which one; without it, they are listed.")] = None,
    folder: Annotated[Path, typer.Argument(help="Where to copy it.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Write over an earlier copy.")] = False,
) -> None:
    """Copy a shipped example: a folder of measured run times to try things on."""
    from evenly import examples

    if name is None:
        for one in examples.names():
            out.print(one, markup=False)
        return
    target = examples.copy(name, folder, force=force)
    out.print(f"copied to {target}: try `evenly allocate {target} --cores 560`", markup=False)
