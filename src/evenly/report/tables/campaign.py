"""Tables of a campaign: what was measured of each configuration, and which runs failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from evenly.campaign.checking import Check
from evenly.campaign.listing import Listing
from evenly.campaign.noise import half_width
from evenly.campaign.record import Record, own_name
from evenly.report.formatting import compact
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table

__all__ = [
    "campaign_as_dict", "campaign_table", "check_as_dict", "damages_table", "failed_table", "listing_line",
    "listing_table", "listing_tables",
]  # fmt: skip

Configurations = Mapping[int, Mapping[str, Any]]


def campaign_table(
    configurations: Configurations, records: Sequence[Record], *, title: str = "", most: int | None = None
) -> Table:
    """Return a table of the configurations that were run: parameters, number of runs, median time, error, status.

    Parameters
    ----------
    configurations : mapping of int to mapping
        From the number of a configuration to its values.
    records : sequence of Record
        In the order of the runs.
    most : int, optional
        Show only this many configurations: those with the latest runs.
    """
    groups: dict[int, list[Record]] = {}
    for record in records:
        # Each group is moved to the end, so the configuration with the latest run is the last one.
        groups[record.configuration] = group = groups.pop(record.configuration, [])
        group.append(record)
    latest = list(reversed(groups))
    shown = latest if most is None else latest[:most]
    names = list(next(iter(configurations.values()), {}))
    table = new_table(title, "" if len(shown) == len(latest) else f"the last {len(shown)} of {len(latest)}")
    for name in names:
        table.add_column(name, justify="right")
    for column in ("runs", "seconds", "± 95 %", "status"):
        table.add_column(column, justify="left" if column == "status" else "right")
    for number in sorted(shown) if most is None else shown:
        values = [configurations[number][name] for name in names]
        add_row(table, *(compact(v) if _is_number(v) else str(v) for v in values), *_cells(groups[number]))
    return table


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cells(records: Sequence[Record]) -> tuple[str, str, str, str]:
    seconds = [r.quantities["seconds"] for r in records if r.status == "ok"]
    wrong = next((r for r in reversed(records) if r.status != "ok"), None)
    error = half_width(seconds)
    return (
        str(len(records)),
        compact(float(np.median(seconds))) if seconds else "",
        f"{100 * error:.1f} %" if np.isfinite(error) else "",
        "ok" if wrong is None else f"{wrong.status}: {wrong.message}",
    )


def failed_table(configurations: Configurations, records: Sequence[Record], *, title: str = "") -> Table:
    """Return a table of failed runs: configuration, status, exit code, and the last line of the output."""
    table = new_table(title)
    for column in ("configuration", "status", "exit", "last words"):
        table.add_column(column)
    for record in records:
        if record.status != "ok":
            told = ", ".join(f"{name}={value}" for name, value in configurations[record.configuration].items())
            code = "" if record.exit_code is None else str(record.exit_code)
            add_row(table, told, record.status, code, record.last_words or record.message)
    return table


def listing_line(found: Listing) -> str:
    """Return how many runs ended how, and which are under way, in one line."""
    ended = ", ".join(f"{count} {status}" for status, count in found.counts.items())
    told = f"{len(found.table)} runs{f': {ended}' if ended else ''}"
    if not found.under_way:
        return told
    shown = "; ".join(", ".join(f"{name} = {value}" for name, value in one.items()) for one in found.under_way[:5])
    shown += " …" if len(found.under_way) > 5 else ""
    if found.is_in_use:
        queued = f", {found.queued} of them queued" if found.queued else ""
        return f"{told}; under way: {len(found.under_way)}{queued} ({shown})"
    return (
        f"{told}; under way when the campaign was killed: {len(found.under_way)} ({shown}): the same command again "
        "collects them if they are jobs, and else makes them anew"
    )


def listing_tables(found: Listing, *, most: int, width: int) -> list[Table]:
    """Return a table with a row per run, and one of the reasons if they don't fit into `width` characters beside them.

    Of more than `most` runs, the last ones are shown.
    """
    whole, why = listing_table(found, most=most), found.column("why")
    console = Console(width=10 * width)
    if why not in found.table or whole.__rich_measure__(console, console.options).maximum <= width:
        return [whole]
    reasons = new_table("")
    add_numbers(reasons, number := found.column("run"))
    add_texts(reasons, why)
    told = found.table[why].tail(most)
    for _, alike in told.groupby((told != told.shift()).cumsum(), sort=False):
        first, last = int(alike.index[0]) + 1, int(alike.index[-1]) + 1
        add_row(reasons, f"{first}" if first == last else f"{first} … {last}", str(alike.iloc[0]))
    return [listing_table(found, most=most, first=number), reasons]


def listing_table(found: Listing, *, most: int, first: str = "") -> Table:
    """Return a table with a row per run, the last ones if there are more than `most`.

    A machine that made all of them is told below. The last column has the reasons of runs that a search chose; where
    there is to be a `first` column of that name, it numbers the runs, and reasons aren't shown.
    """
    shown = found.table.tail(most)
    notes = [f"the last {most} of {len(found.table)} runs"] if len(found.table) > most else []
    status, message, last_words, took, machine, started = map(
        found.column, ("status", "message", "last_words", "took", "machine", "started")
    )
    waited, why = ([name for name in (found.column(own),) if name in shown] for own in ("queued_s", "why"))
    machines = shown[machine].astype(str).unique()
    place = [machine] if len(machines) > 1 else []
    table = new_table("", "; ".join([*notes, *(f"machine: {name}" for name in machines if not place and name)]))
    if first:
        add_numbers(table, first)
        why = []
    add_numbers(table, *found.parameters, "seconds")
    table.add_column(status, overflow="fold", min_width=len("status"))
    add_numbers(table, took)
    add_texts(table, *place)
    add_numbers(table, *waited)
    table.add_column(started, no_wrap=True)
    add_texts(table, *why)
    for number, row in zip(shown.index, shown.to_dict("records"), strict=True):
        values = [row[name] for name in found.parameters]
        seconds = row.get("seconds")
        told = ": ".join(filter(None, (str(row[name]) for name in (status, message, last_words))))
        add_row(
            table, *([str(number + 1)] if first else []), *(compact(v) if _is_number(v) else str(v) for v in values),
            compact(seconds) if seconds is not None and np.isfinite(seconds) else "", told, compact(row[took]),
            *(str(row[name]) for name in place),
            *(compact(row[name]) if np.isfinite(row[name]) else "" for name in waited),
            str(row[started])[5:16].replace("T", " "), *(str(row[name]) for name in why),
        )  # fmt: skip
    return table


def campaign_as_dict(configurations: Configurations, records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return all runs as plain values for JSON; quantities keep their names (`evenly.campaign.record.own_name`)."""
    taken = {name for r in records for name in r.quantities}

    def own(**told: Any) -> dict[str, Any]:
        return {own_name(name, taken): value for name, value in told.items()}

    return [
        {
            **own(
                configuration=dict(configurations[r.configuration]), repetition=r.repetition, status=r.status,
                purpose=r.purpose,
            ),
            **r.quantities,
            **own(
                exit_code=r.exit_code, message=r.message, output=r.output, started=r.started or None, took=r.took,
                other_load=r.other_load, machine=r.machine, **r.details,
            ),
        }
        for r in records
    ]  # fmt: skip


def damages_table(check: Check, *, title: str = "") -> Table:
    """Return a table of what is damaged in a campaign's file."""
    table = new_table(title)
    add_texts(table, "what", "how")
    for damage in check.damages:
        add_row(table, damage.what, damage.how)
    return table


def check_as_dict(check: Check) -> dict[str, Any]:
    """Return what a check found as plain values for JSON."""
    return {
        "file": str(check.path), "whole": not check.damages, "runs": check.runs, "stored": check.stored,
        "checksums": check.has_checksums, "damages": [vars(damage) for damage in check.damages],
    }  # fmt: skip
