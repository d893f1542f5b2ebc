"""``evenly demo``: the whole loop on this machine, and a page that tells it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import err, note, out, print_json, progress
from evenly.errors import InputError
from evenly.report.formatting import percent

if TYPE_CHECKING:
    from evenly.demo.stages import Told

__all__ = ["demo"]

#: Tells a folder of the demo, whose files may be replaced.
_MARK = ".evenly-demo"
#: Seconds after which a stage says how far it is where no bar can be shown.
_SILENT_S = 4.0


def demo(
    folder: Annotated[Path, typer.Argument(help="Where everything goes.")] = Path("demo"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Everything once and short: a look at the page, no good numbers.")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Calibrate, cut a structure, predict, run, compare: a few minutes on this machine; FOLDER/index.html shows it."""
    from evenly.fdtd.ranks.launchers import launched_ranks

    if (launched_ranks() or 1) > 1:
        raise InputError("the demo starts the ranks that it needs: start it alone")
    page = folder / "index.html"
    opt.check_writable(page, "the page", folder_is_made=True)
    _check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).write_text("evenly demo wrote what is in this folder\n")
    with _shown("loading"):
        from evenly.demo.extent import NORMAL, QUICK
        from evenly.demo.loop import run_loop
        from evenly.demo.narration import page_of
    found = run_loop(folder, _shown, extent=QUICK if quick else NORMAL)
    with _shown("writing the page"):
        page_of(found).save(page)
    if json:
        print_json({"page": str(page), "seconds": found.seconds, "failures": found.failures, "compared": found.rows()})
    else:
        out.print(f"open {page}", soft_wrap=True)
    for stage, why in found.failures.items():
        err.print(f"{stage} failed: {why}", style="red")
    if found.failures:
        raise typer.Exit(1)


def _check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than an earlier demo: its files would mix with those of this one."""
    if not folder.is_dir():
        return
    mark = folder / _MARK
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in ("gaussian-pulse", "plots"))
    if foreign and not mark.is_file():
        raise InputError(f"{folder} holds {foreign[0]}, which may be yours: name a new or empty folder")


@contextmanager
def _shown(text: str) -> Iterator[Told]:
    """Show how far a stage is: as a bar on a terminal, elsewhere as a line at its begin and every few seconds."""
    begin = perf_counter()
    if err.is_terminal:
        with progress(text) as told:
            yield told
    else:
        with _lines(text) as told:
            yield told
    note(f"{text}: {perf_counter() - begin:.0f} s")


@contextmanager
def _lines(text: str) -> Iterator[Told]:
    done, begin, ended = [0.0], perf_counter(), Event()

    def told(fraction: float | str) -> None:
        if not isinstance(fraction, str):
            done[0] = fraction

    def speak() -> None:
        while not ended.wait(_SILENT_S):
            note(f"{text}: {percent(min(done[0], 1.0))} after {perf_counter() - begin:.0f} s")

    note(f"{text} …")
    speaker = Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield told
    finally:
        ended.set()
        speaker.join()
