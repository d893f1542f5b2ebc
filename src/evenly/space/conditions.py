"""Conditional parameters: they have an effect only under a condition, as a tolerance for an iterative solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.space.constraints import Constraint
from evenly.space.parameters import Integer, Parameter, Real

__all__ = ["Condition"]


@dataclass(frozen=True)
class Condition:
    """The condition under which a parameter has an effect; where it is false, the parameter has one fixed value.

    Parameters
    ----------
    parameter : str
        The name of the conditional parameter.
    rule : str
        The condition, an expression over the other parameters.
    idle : object
        The parameter's value where the condition is false.

    Examples
    --------
    >>> condition = Condition.of("block", "solver == 'amg'", {"block": Integer(1, 8)})
    >>> condition.fix_inactive(pd.DataFrame({"solver": ["amg", "lu"], "block": [4, 4]}))["block"].tolist()
    [4, 1]
    >>> condition.constraint.holds(pd.DataFrame({"solver": ["amg", "lu", "lu"], "block": [4, 4, 1]}))
    array([ True, False,  True])
    """

    parameter: str
    rule: str
    idle: Any

    @classmethod
    def of(cls, name: str, rule: str, parameters: Mapping[str, Parameter]) -> Condition:
        """Build a condition whose idle value is the first value (or lower bound) of the parameter.

        Raises
        ------
        InputError
            If there is no such parameter, or the rule is not an expression over the other parameters.
        """
        if name not in parameters:
            raise InputError(f"a condition is for {name!r}, which is not a parameter ({', '.join(parameters)})")
        if not isinstance(rule, str):
            raise InputError(
                f"the condition of {name!r} must be an expression, as \"solver == 'cg'\", but got {rule!r}"
            )
        if name in (Constraint(rule).needs or ()):
            raise InputError(f"the condition of {name!r} must be about other parameters, but got {rule!r}")
        kind = parameters[name]
        first = kind.low if isinstance(kind, Integer | Real) else kind.options[0]  # type: ignore[attr-defined]
        return cls(name, rule, first)

    @cached_property
    def constraint(self) -> Constraint:
        """The constraint on configurations: the condition holds, or the parameter has its idle value."""
        return Constraint(
            f"({self.rule}) or `{self.parameter}` == {self.idle!r}", name=f"{self.parameter} only where {self.rule}"
        )

    def fix_inactive(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return `table` with the parameter set to its idle value where the condition is false."""
        idle = ~Constraint(self.rule).holds(table)
        if not idle.any():
            return table
        column = table[self.parameter].to_numpy(copy=True)
        column[np.flatnonzero(idle)] = self.idle
        return table.assign(**{self.parameter: pd.Series(column, index=table.index, dtype=column.dtype)})
