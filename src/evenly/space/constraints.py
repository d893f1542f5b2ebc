"""Named rules that configurations obey."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.space.expressions import Expression

__all__ = ["Constraint"]


@explained
@dataclass(frozen=True)
class Constraint:
    """A named rule that every configuration must obey.

    Parameters
    ----------
    rule : str or callable
        An expression over the parameters (``"ranks * threads <= 128"``) or a function of one configuration (dict) to
        bool. Expressions are faster, and only they can be saved.
    name : str, optional
        The name of the rule in messages; by default the expression, or the name of the function.

    Raises
    ------
    InputError
        If the rule is neither an expression nor a function, or the expression can't be parsed.

    Examples
    --------
    >>> memory = Constraint("96 / ranks <= 4", name="memory")
    >>> memory.holds(pd.DataFrame({"ranks": [8, 24, 48]}))
    array([False,  True,  True])
    >>> memory.words
    'memory (96 / ranks <= 4)'
    """

    rule: str | Callable[[dict[str, Any]], bool]
    name: str = ""

    def __post_init__(self) -> None:
        if self._expression is None and not callable(self.rule):
            raise InputError(f"a constraint must be an expression or a function, but got {self.rule!r}")
        default = self.rule if isinstance(self.rule, str) else getattr(self.rule, "__name__", "a function")
        object.__setattr__(self, "name", self.name or default)

    @cached_property
    def _expression(self) -> Expression | None:
        return Expression(self.rule) if isinstance(self.rule, str) else None

    @property
    def needs(self) -> frozenset[str] | None:
        """The names of the parameters in the expression; None for a function, which may use any parameter."""
        return None if self._expression is None else self._expression.names

    @property
    def words(self) -> str:
        """The name for messages, followed by the expression if they differ."""
        return self.name if callable(self.rule) or self.rule == self.name else f"{self.name} ({self.rule})"

    def holds(self, table: pd.DataFrame | Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Return for each row of `table` (columns of equal length) whether the rule holds, bool of shape (n,).

        Raises
        ------
        InputError
            If the expression gives numbers or text instead of truth values.
        """
        if self._expression is None:
            assert callable(self.rule)  # noqa: S101 - checked when it was built
            frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(dict(table))
            rows = ({str(k): v for k, v in row.items()} for row in frame.to_dict("records"))
            return np.fromiter((bool(self.rule(row)) for row in rows), dtype=np.bool_, count=len(frame))
        if isinstance(table, pd.DataFrame):
            return self._expression.holds({str(name): column for name, column in table.items()}, len(table))
        return self._expression.holds(table, len(next(iter(table.values()), ())))

    def distance(self, table: pd.DataFrame) -> NDArray[np.float64]:
        """Return the distance of each row of `table` from the rule, shape (n,): 0 where the rule holds, else positive.

        The distance from a function is 0 or 1; see `evenly.space.rule_distances` for expressions.

        Examples
        --------
        >>> Constraint("cores <= 8").distance(pd.DataFrame({"cores": [8, 16]})).round(2).tolist()
        [0.0, 0.69]
        """
        if self._expression is None:
            return np.where(self.holds(table), 0.0, 1.0)
        return self._expression.distance({str(name): column for name, column in table.items()}, len(table))
