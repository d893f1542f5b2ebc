"""``evenly runs``: the stored runs of a campaign: listed, checked, marked as bad, and put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import loss, note, out, print_json, save_table
from evenly.writing import MARK, replacing

__all__ = ["COMMANDS", "check", "list_runs", "mark", "merge"]

#: Rows of the table that is shown; all are saved.
_SHOWN = 40


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


def list_runs(
    path: Annotated[Path, typer.Argument(metavar="STORE", help="A file of `evenly measure` or `evenly tune`.")],
    where: Annotated[
        str | None, typer.Option("--where", help="Only runs for which this holds, as \"status != 'ok'\".")
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Table of these runs: .csv or .parquet.")] = None,
    json: opt.Json = False,
) -> None:
    """List the runs of a campaign, also while it is at work: how many ended how, which are under way."""
    from evenly.campaign.listing import runs_in
    from evenly.report.formatting import plain
    from evenly.report.tables.campaign import listing_line, listing_tables

    if save is not None:
        opt.check_writable(save, "table of runs", read=[path])
    found = runs_in(path, where)
    if save is not None:
        if save.suffix == ".parquet":
            found.table.attrs["writer"] = MARK  # among the file's metadata
            with replacing(save) as new:
                found.table.to_parquet(new, index=False)
            note(f"saved {save}")
        else:
            save_table(found.table, save, "the table of runs")
    if json:
        print_json(
            {
                "counts": found.counts,
                "under_way": found.under_way,
                "queued": found.queued,
                "in_use": found.is_in_use,
                "runs": plain(found.table.to_dict("records")),
            }
        )
        return
    out.print(listing_line(found), markup=False, soft_wrap=True)
    if len(found.table):
        for table in listing_tables(found, most=_SHOWN, width=out.width):
            out.print(table)


def mark(
    path: Annotated[Path, typer.Argument(metavar="STORE", help="A file of `evenly measure` or `evenly tune`.")],
    where: Annotated[str, typer.Option("--where", help="Which runs, as \"machine == 'n17' and took > 60\".")],
    bad: Annotated[str, typer.Option("--bad", metavar="REASON", help="Why: the runs keep it as their message.")],
    json: opt.Json = False,
) -> None:
    """Mark runs as bad: they stay until --retry makes them again, and nothing is learned from them."""
    from evenly.campaign.corrections import mark_bad

    count = mark_bad(path, where, bad)
    if (table := path.with_suffix(".runs.csv")).exists():
        loss(f"{table} is older than the mark, and still has these runs as good: `measure` or `tune` writes it anew")
    if json:
        print_json({"marked": count, "reason": bad})
        return
    note(f"{count} run{'s' * (count != 1)} marked as bad; --retry makes them again, with the command that made them")


def merge(
    paths: Annotated[list[Path], typer.Argument(metavar="STORE...", help="Stores of one study, which aren't altered.")],
    save: Annotated[Path, typer.Option("--save", "-o", help="The new store, as all.db.")],
    json: opt.Json = False,
) -> None:
    """Put the runs of several stores of one study into a new store."""
    from evenly.campaign.corrections import merge as merged

    count = merged(paths, save)
    if json:
        print_json({"runs": count, "store": str(save)})
        return
    note(f"{count} runs are in {save}: `evenly measure STUDY --store {save}` goes on with them")


COMMANDS: dict[str, Callable[..., None]] = {"check": check, "list": list_runs, "mark": mark, "merge": merge}
