"""Tables of forecasts: predicted time and cost for each number of ranks."""

from __future__ import annotations

from rich.table import Table

from evenly.decomposition.forecasting.forecast import Forecast
from evenly.report.formatting import common_prefix, compact, in_unit, percent
from evenly.report.tables.run import add_numbers, add_row, new_table
from evenly.runs.durations import common_unit

__all__ = ["forecast_headline", "forecast_table"]


_CAPTION = (
    "replayed on the machine's description; within: {level} interval, in % below and above\n"
    "waits: share of messages and waiting; used: efficiency against the first row"
)


def forecast_headline(found: Forecast) -> str:
    """Return the simulation, the machine and the number of steps, in one line."""
    machine = found.machine
    about = f" ({machine.about})" if machine.about else ""
    return f"{found.name} on {machine.name}{about}, {found.steps} steps"


def forecast_table(found: Forecast) -> Table:
    """Return a table with a row per number of ranks. A star marks the recommended number.

    Parameters
    ----------
    found : Forecast
    """
    curve, best = found.curve, found.best
    factor, prefix = common_prefix([best["step_s"]])
    priced = "money" in curve
    nodes = f"\ncore-h: whole nodes of {found.machine.cores_per_node} cores" if found.machine.whole_nodes else ""
    table = new_table("", _CAPTION.format(level=percent(found.level)) + nodes)
    whole, unit = common_unit(curve["run_s"], float(best["run_s"]))  # as the sentences on the recommended number
    headings = ["ranks", "nodes", f"{prefix}/step", "within", "waits", "used", f"run {unit}", "core-h"]
    add_numbers(table, *headings + ([found.machine.currency] if priced else []))
    for row in curve.to_dict("records"):
        cells = [
            f"{'* ' if row['ranks'] == found.ranks else ''}{int(row['ranks'])}",
            str(int(row["nodes"])),
            in_unit(row["step_s"], factor, 3),
            f"{100 * (row['lower_s'] / row['step_s'] - 1):+.0f}/{100 * (row['upper_s'] / row['step_s'] - 1):+.0f} %",
            percent(row["communication_share"], 2),
            percent(row["efficiency"], 2),
            in_unit(row["run_s"], whole, 3),
            compact(row["core_hours"], 2),
        ]
        add_row(table, *cells, *([compact(row["money"], 2)] if priced else []))
    return table
