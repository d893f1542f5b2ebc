"""Checks whether configurations lie in the ranges of a space and satisfy its rules; names the broken rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.space.configurations import Configurations, as_table, plain
from evenly.space.constraints import Constraint
from evenly.space.parameters import Parameter, as_values

__all__ = ["broken_rules", "obeys", "table_of"]


def table_of(parameters: Mapping[str, Parameter], configurations: Configurations) -> pd.DataFrame:
    """Return `configurations` as a new table with the parameters as columns, in order, shape (n, n_parameters).

    Raises
    ------
    InputError
        If a parameter is missing, or a value has the wrong kind (text for a numeric parameter).

    Examples
    --------
    >>> from evenly.space.parameters import Integer
    >>> table_of({"cores": Integer(1, 8)}, {"cores": 4, "n": 3})
       cores
    0      4
    """
    table = as_table(configurations, list(parameters))
    missing = [name for name in parameters if name not in table.columns]
    if missing:
        raise InputError(
            f"the configurations need {', '.join(map(repr, parameters))}, but {missing[0]!r} is missing; "
            f"got {', '.join(map(repr, table.columns)) or 'nothing'}{_in_a_value(table, missing)}"
        )
    columns = {name: as_values(kind, table[name]) for name, kind in parameters.items()}
    return pd.DataFrame(columns, index=range(len(table)))


def _in_a_value(table: pd.DataFrame, missing: Sequence[str]) -> str:
    """Return a hint if the value of a parameter names another: ``pr=16,pc=16``."""
    texts = {str(name): [str(value) for value in table[name].tolist()] for name in table.columns}
    for name, values in texts.items():
        if other := next((one for one in missing for value in values if value.startswith(f"{one}=")), ""):
            return f". A comma separates values of {name!r}: put a space before {other}=, or give it by itself"
    return ""


def obeys(
    parameters: Mapping[str, Parameter], constraints: Iterable[Constraint], table: pd.DataFrame
) -> NDArray[np.bool_]:
    """Return for each row whether it lies in the parameters' ranges and satisfies all constraints, bool (n,).

    Examples
    --------
    >>> from evenly.space.parameters import Integer
    >>> obeys({"cores": Integer(1, 8)}, [Constraint("cores != 2")], pd.DataFrame({"cores": [1, 2, 9]}))
    array([ True, False, False])
    """
    ok = np.ones(len(table), dtype=np.bool_)
    for name, kind in parameters.items():
        ok &= kind.contains(table[name])
    for constraint in constraints:
        ok[ok] = constraint.holds(table[ok])
    return ok


def broken_rules(
    parameters: Mapping[str, Parameter], constraints: Iterable[Constraint], table: pd.DataFrame
) -> list[str]:
    """Return in words the rules that the single row of `table` breaks.

    Examples
    --------
    >>> from evenly.space.parameters import Integer
    >>> broken_rules({"cores": Integer(1, 8)}, [Constraint("cores != 2")], pd.DataFrame({"cores": [2]}))
    ['cores != 2 does not hold']
    """
    broken = [
        f"{name} must be {kind.describe()}, but got {plain(table[name].iloc[0])}"
        for name, kind in parameters.items()
        if not kind.contains(table[name])[0]
    ]
    # A function may fail on values outside the ranges, so it is called only if all values are allowed. An expression
    # accepts any value.
    rules = [c for c in constraints if not (broken and callable(c.rule))]
    return broken + [f"{c.words} does not hold" for c in rules if not c.holds(table)[0]]
