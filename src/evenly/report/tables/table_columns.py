"""What each column of a table is taken for, for the terminal and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rich.table import Table

from evenly.report.formatting import compact, span
from evenly.report.tables.run import add_row, add_texts, new_table

if TYPE_CHECKING:
    from evenly.runs.runs import Runs

__all__ = ["TableColumn", "columns_as_list", "columns_table"]

_MOST_LABELS = 4
_MOST_NUMBERS = 6


class TableColumn(Protocol):
    """A column and its role, as `evenly.readers.tables.roles.Column`."""

    @property
    def name(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def unit(self) -> str: ...


def columns_table(columns: Sequence[TableColumn], runs: Mapping[str, Runs]) -> Table:
    """Return a table with a row per column: its role, its values where it is a parameter, and the reason.

    Examples
    --------
    >>> from evenly.readers.tables.roles import Column
    >>> columns_table([Column("speedup", "outcome", "its name")], {}).row_count
    1
    """
    table = new_table()
    add_texts(table, "column", "role", "values", "why")
    for column in columns:
        unit = f" [{column.unit}]" if column.unit and column.unit not in column.name else ""
        add_row(table, f"{column.name}{unit}", column.role, _values(column, runs), column.why)
    return table


def columns_as_list(columns: Sequence[TableColumn]) -> list[dict[str, Any]]:
    """Return columns and their roles as plain values for JSON.

    Examples
    --------
    >>> from evenly.readers.tables.roles import Column
    >>> columns_as_list([Column("cores", "parameter", "its numbers vary")])
    [{'name': 'cores', 'role': 'parameter', 'why': 'its numbers vary', 'unit': None}]
    """
    return [{"name": c.name, "role": c.role, "why": c.why, "unit": c.unit or None} for c in columns]


def _values(column: TableColumn, runs: Mapping[str, Runs]) -> str:
    if column.role != "parameter":
        return ""
    found = {v for one in runs.values() if column.name in one.parameters for v in one.configurations[column.name]}
    numbers = [value for value in found if not isinstance(value, str)]
    if numbers and len(numbers) == len(found):
        if len(numbers) <= _MOST_NUMBERS:
            return ", ".join(compact(float(value)) for value in sorted(numbers))
        return f"{span(float(min(numbers)), float(max(numbers)))} ({len(numbers)} values)"
    labels = sorted(map(str, found))
    more = f", {len(labels) - _MOST_LABELS} more" if len(labels) > _MOST_LABELS else ""
    return ", ".join(labels[:_MOST_LABELS]) + more
