"""Tables of a search's result, for the terminal and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from evenly.report.formatting import compact, interval, percent, quantity, value_text
from evenly.report.tables.run import add_numbers, add_row, new_table

if TYPE_CHECKING:
    import pandas as pd

    from evenly.tuning.result import Result
    from evenly.tuning.sensitivity import Sensitivity

__all__ = [
    "advice_table",
    "alike_table",
    "configuration_text",
    "found_text",
    "result_as_dict",
    "sensitivity_table",
    "tasks_table",
]

#: Tables of the fastest configurations have at most this many rows.
_MOST = 10


def configuration_text(configuration: Mapping[str, Any]) -> str:
    """Return a configuration as one line of text."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in configuration.items())


def found_text(result: Result) -> str:
    """Return the fastest configuration, in one line or two."""
    sure = f", within {interval(*result.interval)}" if result.interval is not None else ""
    others = len(result.alike) - 1
    ties = f"\n{others} other{'s' * (others != 1)} may be as fast: the difference is within noise" if others else ""
    return f"fastest: {configuration_text(result.best)}: {quantity(result.seconds)}{sure}{ties}"


def alike_table(result: Result) -> Table:
    """Return a table of the fastest configurations run. A ``≈`` marks those that may be as fast as the first."""
    names = result.space.names
    well = result.history[result.history["status"] == "ok"].sort_values("seconds", kind="stable")
    title = "the fastest" if len(well) > _MOST else ""
    table = new_table(title, f"{_MOST} of {len(result.history)} that were tried" if len(well) > _MOST else "")
    _add_columns(table, names, "time", "above", "runs")
    same = set(result.alike[names].itertuples(index=False, name=None))
    for row in well.head(_MOST).to_dict("records"):
        above = row["seconds"] / result.seconds - 1
        alike = tuple(row[name] for name in names) in same and above > 0
        add_row(
            table, *(value_text(row[name]) for name in names), quantity(row["seconds"]),
            f"{above:.1%}" + (" ≈" if alike else ""), str(row["repetitions"]),
        )  # fmt: skip
    return table


def tasks_table(result: Result) -> Table:
    """Return a table with the fastest configuration of each task that was run."""
    title, caption = "the fastest of each task", f"{len(result.history)} configurations were run"
    table = new_table(title, caption)
    table.min_width = len(caption) + 2
    _add_columns(table, result.space.names, "time")
    for row in result.tasks.to_dict("records"):
        add_row(table, *(value_text(row[name]) for name in result.space.names), quantity(row["seconds"]))
    return table


def _add_columns(table: Table, parameters: Sequence[str], *others: str) -> None:
    """Add columns that are never cut off. In a narrow terminal, the values of parameters use several lines instead."""
    for name in parameters:
        table.add_column(name, justify="right", overflow="fold")
    add_numbers(table, *others)


def result_as_dict(result: Result) -> dict[str, Any]:
    """Return the result as plain values for JSON."""
    names = result.space.names
    history = [
        {"configuration": {name: row[name] for name in names}, **{key: row[key] for key in row if key not in names}}
        for row in result.history.to_dict("records")
    ]
    return {
        "best": result.best, "seconds": result.seconds, "interval": result.interval, "stopped": result.stopped,
        "alike": result.alike.to_dict("records"), "tasks": result.tasks.to_dict("records"), "history": history,
    }  # fmt: skip


def sensitivity_table(found: Sensitivity) -> Table:
    """Return a table of the sensitivity to each parameter, the largest first, separately for each task."""
    table = new_table("what matters", "growth of the error if values are permuted; Sobol indices alone, with others")
    task = found.task
    for name in (*([task] if task else []), "parameter", "refitted", "left out", "alone", "with others"):
        table.add_column(name, justify="left" if name == "parameter" else "right")
    for value, part in found.table.groupby("task", sort=False):
        for row in part.sort_values("total", ascending=False).to_dict("records"):
            add_row(
                table, *([value_text(value)] if task else []), row["parameter"],
                _growth(row["refitted"], row["refitted_sd"]), _growth(row["left_out"], row["left_out_sd"]),
                f"{row['first_order']:.2f}", f"{row['total']:.2f}",
            )  # fmt: skip
    return table


def _growth(percent_more: float, deviation: float) -> str:
    return f"{percent_more:+.0f}" + (f" ± {deviation:.0f} %" if np.isfinite(deviation) else " %")


def advice_table(advice: pd.DataFrame, parameters: Sequence[str], *, per_core: bool) -> Table:
    """Return a table of proposed runs: the expected time of each, and the model's expected error after it.

    Parameters
    ----------
    advice : DataFrame
        The result of `evenly.tuning.advisor.advise`.
    parameters : sequence of str
    per_core : bool
        Whether hours are those of one core.
    """
    before = float(advice["error_before"].iloc[0])
    table = new_table("worth running next", f"the model estimates its error before these runs as {percent(before)}")
    for name in (*parameters, "expected s", "hours" if per_core else "core-hours", "model off by"):
        table.add_column(name, justify="right")
    for row in advice.to_dict("records"):
        add_row(
            table, *(value_text(row[name]) for name in parameters), compact(row["seconds"]),
            compact(row["core_hours"], 3), percent(row["error_after"]),
        )  # fmt: skip
    return table
