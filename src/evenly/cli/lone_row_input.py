"""How a row that lies far off the curve of few others is left out of a table: the condition, ready to be typed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.errors import option_text
from evenly.space.expressions import quoted

if TYPE_CHECKING:
    from evenly.models.base import Model
    from evenly.readers import Measurements

__all__ = ["tell_how_to_leave_out"]


def tell_how_to_leave_out(models: Mapping[str, Model], found: Measurements | None, where: str | None) -> None:
    """Say which ``--where`` leaves out the rows that models name, beside the condition that was typed.

    Where no column names the solvers, a condition would leave out rows of all: nothing is said.
    """
    if found is None or any(name != "table" for _, name in found.sources):
        return
    column = next((one.name for one in found.columns if one.role == "solver"), None)
    for solver, model in models.items():
        outliers = model.training_.get("outliers", {})
        if not outliers.get("few") or (column is None and len(found.runs) > 1):
            continue
        row = outliers["rows"][0]
        others = [f"{quoted(name)} != {json.dumps(value)}" for name, value in row["configuration"].items()]
        if column is not None:
            others = [f"{quoted(column)} != {json.dumps(solver, ensure_ascii=False)}", *others]
        condition = " or ".join(others)
        typed = option_text("--where", f"({where}) and ({condition})" if where else condition)
        note(f"{typed} leaves out run {row['run']}")
