"""How a row that lies far off the curve of few others is left out: the condition, ready to be typed, or its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenly.cli.console import note
from evenly.errors import option_text
from evenly.space.expressions import quoted

if TYPE_CHECKING:
    from evenly.models.base import Model
    from evenly.readers import Measurements
    from evenly.runs.runs import Runs

__all__ = ["tell_how_to_leave_out"]


def tell_how_to_leave_out(
    models: Mapping[str, Model], runs: Mapping[str, Runs], found: Measurements | None, where: str | None
) -> None:
    """Say what leaves out the rows that models name: a ``--where`` beside the one that was typed, or which file.

    Where no column names the solvers of a table, a condition would leave out rows of all: nothing is said.
    """
    if found is None:
        return
    are_tables = all(name == "table" for _, name in found.sources)
    column = next((one.name for one in found.columns if one.role == "solver"), None)
    for solver, model in models.items():
        outliers = model.training_.get("outliers", {})
        for row in outliers["rows"] if outliers.get("few") else []:
            source = "" if are_tables else _source(runs[solver], row["run"])
            if source:  # none tells of jobs in one file
                note(f"run {row['run']} is that in {source}")
            elif are_tables and (column is not None or len(found.runs) == 1):
                solvers = {} if column is None else {column: solver}
                typed = _condition(solvers | row["configuration"], where)
                note(f"{typed} leaves out run {row['run']}{_also(runs[solver], row)}")


def _condition(values: Mapping[str, Any], where: str | None) -> str:
    others = " or ".join(f"{quoted(name)} != {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return option_text("--where", f"({where}) and ({others})" if where else others)


def _source(runs: Runs, run: str) -> str:
    table = runs.to_frame()
    return str(table.loc[table["run"] == run, "source"].iloc[0])


def _also(runs: Runs, row: Mapping[str, Any]) -> str:
    """Return the other runs that the condition leaves out, those of the same configuration; "" if there are none."""
    table = runs.to_frame()
    alike = (table[list(row["configuration"])] == list(row["configuration"].values())).all(axis=1)
    others = len(table[alike].drop_duplicates(["run", "repetition"])) - 1
    return f", and {others} more that {'are' if others > 1 else 'is'} of the same configuration" if others else ""
