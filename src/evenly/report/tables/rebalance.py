"""Tables of a rebalancing decision: the measured and the predicted time of each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.report.formatting import compact, quantity, ranks_text
from evenly.report.tables.run import add_row, new_table

if TYPE_CHECKING:
    from evenly.decomposition.rebalancing.decision import Decision
    from evenly.decomposition.rebalancing.measured_times import Timings

__all__ = ["decision_as_dict", "decision_headline", "decision_table"]

Array = NDArray[np.float64]


def decision_headline(name: str, timings: Timings, decision: Decision) -> str:
    """Return the measured time of a step, and the measured and the predicted imbalance, in one line."""
    predicted = _predicted(decision)
    after = "" if predicted is None else f", predicted {compact(float(predicted.max() / predicted.mean()))} × after"
    return (
        f"{name} on {ranks_text(timings.ranks)}: {quantity(decision.now_s, digits=3)} per "
        f"step, slowest rank {compact(timings.imbalance)} × the mean{after}"
    )


def decision_table(timings: Timings, decision: Decision, old: BinaryPartition, grid: Grid) -> Table:
    """Return a table with a row per rank: seconds and points before and after."""
    table = new_table()
    for column in ("rank", "measured", "predicted", "points", "points after"):
        table.add_column(column, justify="right")
    before = _points(old, grid, timings.ranks)
    after = before if decision.layout is None else _points(decision.layout, grid, timings.ranks)
    predicted = _predicted(decision)
    for rank, seconds in enumerate(timings.seconds):
        then = "" if predicted is None else quantity(float(predicted[rank]), digits=3)
        add_row(table, str(rank), quantity(float(seconds), digits=3), then, compact(before[rank]), compact(after[rank]))
    return table


def decision_as_dict(name: str, timings: Timings, decision: Decision) -> dict[str, Any]:
    """Return the decision as plain values for JSON."""
    return {
        "name": name,
        "ranks": timings.ranks,
        "adjust": decision.adjust,
        "why": decision.why,
        "now_seconds": decision.now_s,
        "predicted_seconds": decision.predicted_s,
        "pays_after_steps": decision.pays_after_steps,
        "measured_seconds_per_rank": timings.seconds,
        "predicted_seconds_per_rank": _predicted(decision),
        "imbalance": timings.imbalance,
        "layout": None if decision.layout is None else decision.layout.to_list(),
    }


def _predicted(decision: Decision) -> Array | None:
    return decision.rank_s


def _points(layout: BinaryPartition, grid: Grid, ranks: int) -> list[int]:
    owners = np.array(layout.owners) % ranks
    return [int(n) for n in np.bincount(owners, [box.volume for box in layout.boxes(grid)], ranks)]
