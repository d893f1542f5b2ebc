"""The options of `TableReader`: the meaning of a table's columns, as far as the user gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenly.errors import option_text
from evenly.readers.tables.number_texts import Decimal

__all__ = ["TableOptions"]


@dataclass(frozen=True)
class TableOptions:
    """What the user said about a table; the fields are those of `TableReader`.

    Examples
    --------
    >>> TableOptions(time="wall", unit="ms").constants
    {}
    """

    parameters: tuple[str, ...] = ()
    time: str | None = None
    unit: str | None = None
    solver: str | None = None
    quantities: Mapping[str, str] = field(default_factory=dict)
    status: str | None = None
    where: str | None = None
    constants: Mapping[str, float | str] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    decimal: Decimal = "auto"
    sheet: str | None = None
    table: str | None = None

    def with_where(self, condition: str) -> str:
        """Return ``--where`` with a condition beside the one that was typed, as a shell takes both.

        Examples
        --------
        >>> TableOptions().with_where("cores > 0"), TableOptions(where="n < 9").with_where("cores > 0")
        ("--where 'cores > 0'", "--where '(n < 9) and cores > 0'")
        """
        return option_text("--where", f"({self.where}) and {condition}" if self.where else condition)
