"""``evenly read``: what is there, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.cli.groups import grouped
from evenly.cli.loading import measurements, tell_about
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.readers import Measurements
    from evenly.runs import Runs


@grouped
def read(
    path: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Measurement files, or folders of them.")
    ] = None,
    formats: Annotated[bool, typer.Option("--formats", help="List the formats that can be read.")] = False,
    reading: opt.Reading = opt.Reading(),  # noqa: B008 - frozen
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Save all runs as .csv or .parquet; a folder gets one file per solver."),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Show every measured quantity.")] = False,
    json: opt.Json = False,
) -> None:
    """Show what was measured: solvers, configurations, repetitions, spread, and what was left out and why."""
    if formats:
        _list_formats(json=json)
        return
    if not path:
        raise InputError("which file or folder? as in: evenly read case/ (--formats lists what can be read)")
    if save is not None and save.suffix:
        opt.check_writable(save, "runs")
    found = measurements(path, reading)
    if save is not None:
        _save(found.runs, save)
    _show(found, details=details, json=json)


def _show(found: Measurements, *, details: bool, json: bool) -> None:
    from evenly.report.run_tables import runs_as_dict, runs_table

    if json:
        told = {"layout": found.layout, "notes": list(found.notes)}
        print_json({**runs_as_dict(found.runs, sources=found.sources, skipped=found.skipped), **told})
        return
    out.print(runs_table(found.runs, sources=found.sources, details=details))
    tell_about(found)
    if found.layout is not None:
        note(f"preCICE couples them as {found.layout}")


def _list_formats(*, json: bool) -> None:
    from evenly.readers import readers

    known = {reader.name: reader.summary for reader in readers()}
    if json:
        print_json(known)
        return
    for name, summary in known.items():
        out.print(f"{name:<24}{summary}", markup=False)


def _save(runs: dict[str, Runs], path: Path) -> None:
    if len(runs) == 1 and path.suffix:
        next(iter(runs.values())).save(path)
        note(f"saved {path}")
        return
    if path.suffix:
        raise InputError(f"there are {len(runs)} solvers ({', '.join(runs)}): give a folder to --save, not {path.name}")
    path.mkdir(parents=True, exist_ok=True)
    for solver, one in runs.items():
        one.save(path / f"{solver.replace('/', '-')}.csv")
    note(f"saved {len(runs)} files in {path}")
