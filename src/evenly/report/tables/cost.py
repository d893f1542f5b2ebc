"""Tables of cost models: the coefficient of each term, its standard error, and its share of a typical cell's time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.costs.locations import unmeasured_terms
from evenly.report.formatting import compact, percent, plain
from evenly.report.tables.run import add_row, new_table

__all__ = ["cost_as_dict", "cost_table", "errors_line", "typical_shares"]


def typical_shares(cost: CostModel) -> dict[str, float]:
    """Return each term's share of the predicted time of the calibration's cells; nan if there are no cells.

    Examples
    --------
    >>> from evenly.decomposition.costs.cost_model import Coefficient
    >>> row = {"purpose": "cell", "amounts": {"points": 300.0, "chunks": 1.0}, "seconds": 1.0}
    >>> model = CostModel("fdtd", {"points": Coefficient(1e-9), "chunks": Coefficient(1e-7)}, measured=(row,))
    >>> {name: round(share, 9) for name, share in typical_shares(model).items() if share}
    {'points': 0.75, 'chunks': 0.25}
    """
    names = [term.name for term in program_named(cost.program).all_terms]
    rows = [row for row in cost.measured if row.get("purpose") == "cell"]
    if not rows:
        return dict.fromkeys(names, float("nan"))
    amounts = np.array([[float(row["amounts"].get(name, 0.0)) for name in names] for row in rows])
    seconds: NDArray[np.float64] = (amounts * cost.vector).sum(axis=0)
    return dict(zip(names, (seconds / seconds.sum()).tolist(), strict=True))


def cost_table(cost: CostModel, *, title: str = "") -> Table:
    """Return a table of the terms: coefficient with unit and standard error, and share of a typical cell's time.

    If only some of the terms were measured, a further column says which terms were measured, and which are the shipped
    ones.

    Parameters
    ----------
    cost : CostModel
    title : str
        The title above the table.
    """
    table = new_table(title, errors_line(cost))
    shares, others = typical_shares(cost), unmeasured_terms(cost)
    columns = ["term", "ns", "±", "per step and", "of a typical cell", *(["from"] if others else [])]
    for name in columns:
        table.add_column(name, justify="left" if name in ("term", "per step and", "from") else "right")
    for term in program_named(cost.program).all_terms:
        if term.name in cost.coefficients:
            found = cost.coefficients[term.name]
            numbers = compact(found.seconds * 1e9, 3), compact(found.error * 1e9, 2)
            row = [*numbers, term.per, percent(shares[term.name], 2), "shipped" if term.name in others else "measured"]
        else:
            row = ["–", "–", term.per, "–", "–"]
        add_row(table, term.name, *row[: len(columns) - 1])
    return table


def errors_line(cost: CostModel) -> str:
    """Return the errors of predictions of left-out cells, in one line."""
    shares, most, time = (percent(error, 2) for error in (cost.share_error, cost.share_error_p90, cost.time_error))
    told = (
        [] if np.isnan(cost.share_error) else [f"a rank's share {shares} in the mean and below {most} in 90 % of cases"]
    )
    told += [] if np.isnan(cost.time_error) else [f"the time of a step {time}"]
    if not told:
        return "the errors of predictions are not known, because no cells were left out"
    return f"errors on cells left out one by one: {', '.join(told)}"


def cost_as_dict(cost: CostModel) -> dict[str, Any]:
    """Return the cost model without its calibration runs as plain values for JSON, with shares of a typical cell."""
    values = {name: value for name, value in cost.to_dict().items() if name != "measured"}
    about = {term.name: term.about for term in program_named(cost.program).all_terms}
    told = {"about": about, "runs": len(cost.measured), "taken_over": unmeasured_terms(cost)}
    return {**values, **told, "typical_shares": plain(typical_shares(cost))}
