"""``evenly read``: show the measured runs in a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json, print_summaries
from evenly.cli.run_input import measurements, tell_about
from evenly.errors import InputError
from evenly.writing import check_replaceable

if TYPE_CHECKING:
    from evenly.readers import Measurements

_MOST_UNKNOWN = 8


def read(
    path: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Measurement files, or folders of them.")
    ] = None,
    formats: Annotated[bool, typer.Option("--formats", help="List the formats that can be read.")] = False,
    reading: opt.Reading = opt.Reading(),
    save: Annotated[
        Path | None,
        typer.Option("--save", "-o", help="Save all runs as .csv or .parquet; a folder gets one file per solver."),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Show every measured quantity.")] = False,
    json: opt.Json = False,
) -> None:
    """Show what was measured: solvers, configurations, repetitions, spread, and what was left out and why."""
    if formats:
        from evenly.readers import readers

        known = {reader.name: reader.summary for reader in readers()}
        known |= {f"{r.name}: {kind}": text for r in readers() for kind, text in getattr(r, "kinds", dict)().items()}
        print_summaries(known, json=json)
        return
    if not path:
        raise InputError(
            "PATH is missing: give files or a folder, as in: evenly read case/ (--formats lists what can be read)"
        )
    if save is not None:
        _check_place(save, path)
    found = measurements(path, reading)
    if save is not None:
        _save(found, save)
    _show(found, details=details, json=json)


def _show(found: Measurements, *, details: bool, json: bool) -> None:
    from evenly.report.tables.run import runs_as_dict, runs_table
    from evenly.report.tables.table_columns import columns_as_list, columns_table

    if json:
        told = {"layout": found.layout, "notes": list(found.notes), "columns": columns_as_list(found.columns)}
        print_json({**runs_as_dict(found.runs, sources=found.sources, skipped=found.skipped), **told})
        return
    out.print(runs_table(found.runs, sources=found.sources, details=details))
    if any(name == "table" for _, name in found.sources) and found.columns:
        out.print(columns_table(found.columns, found.runs))
    tell_about(found)
    if unknown := [path for path in found.unknown if path not in found.unread]:
        more = f" and {len(unknown) - _MOST_UNKNOWN} more" if len(unknown) > _MOST_UNKNOWN else ""
        note(f"in no known format: {', '.join(map(str, unknown[:_MOST_UNKNOWN]))}{more}")
    if found.layout is not None:
        note(f"{'they wait for each other' if found.coupling is None else 'preCICE couples them'} as {found.layout}")


def _is_folder(place: Path) -> bool:
    return place.is_dir() or not place.suffix


def _check_place(place: Path, read: list[Path]) -> None:
    """Refuse a file or folder that nothing can be saved in, before anything is read."""
    if _is_folder(place):
        opt.check_writable(place / ".runs", "runs", folder_is_made=True)
    else:
        opt.check_writable(place, "runs", read=read)


def _save(found: Measurements, place: Path) -> None:
    runs = found.runs
    if not _is_folder(place) and len(runs) > 1:
        raise InputError(
            f"there are {len(runs)} solvers ({', '.join(runs)}): give a folder to --save, not {place.name}"
        )
    files = {place if not _is_folder(place) else place / f"{name.replace('/', '-')}.csv": name for name in runs}
    for file in files:
        opt.check_writable(file, "runs", folder_is_made=True, read=[source for source, _ in found.sources])
    if _is_folder(place):
        check_replaceable(files)
        place.mkdir(parents=True, exist_ok=True)
    for file, name in files.items():
        runs[name].save(file)
    note(f"saved {place}" if place in files else f"saved {len(files)} files in {place}")
