"""Laws of each label's own runs: what widens the intervals of a model of one number and labels beyond its range.

A parabola that labels share tells little of a law beyond the largest count: with two labels, 1 % noise and the law
``a / p^b + d``, its 90 % intervals held .22 of the times at 2 and 4 times the largest count. The runs of one label
alone tell more by the scaling laws that fit them (`evenly.models.pmnf`). So beyond the range of a label's runs, the
interval encloses that of these laws, too: .91 were held (``benchmarks/label_laws.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.registry import model_class

if TYPE_CHECKING:
    from evenly.models.base import Model

__all__ = ["LabelLaws"]

#: The laws of a label need so many different numbers; of more runs, none are kept, since a blend is learned from them.
_FEWEST, _MOST = 4, 64


class LabelLaws:
    """The runs of a model of one number and some labels, and the laws of each combination of labels.

    Parameters
    ----------
    table : DataFrame (n, d)
    values : array (n,)
    """

    def __init__(self, table: pd.DataFrame, values: Floats) -> None:
        self._table, self._values = table.reset_index(drop=True), np.asarray(values, dtype=np.float64)
        numbers = [str(name) for name, column in table.items() if _is_number(column)]
        self._number = numbers[0]
        self._labels = [str(name) for name in table if str(name) != self._number]
        self._laws: dict[tuple[str, ...], Model | None] = {}

    @classmethod
    def of(cls, table: pd.DataFrame, values: Floats, weights: Floats) -> LabelLaws | None:
        """Keep the runs, if they are few, of one number and labels."""
        numbers = sum(_is_number(column) for _, column in table.items())
        used = weights > 0
        if numbers != 1 or table.shape[1] < 2 or used.sum() > _MOST:
            return None
        return cls(table[used], values[used])

    def widened(self, table: pd.DataFrame, lower: Floats, upper: Floats, level: float) -> tuple[Floats, Floats]:
        """Return bounds (n,) that enclose those of the laws of each row's labels, beyond the range of their runs."""
        lower, upper = lower.copy(), upper.copy()
        asked = table[self._number].to_numpy(dtype=np.float64)
        keys, own = self._keys(table), self._keys(self._table)
        for key in dict.fromkeys(keys):
            its = np.array([one == key for one in own], dtype=np.bool_)
            if not its.any():
                continue
            known = self._table[self._number].to_numpy(dtype=np.float64)[its]
            rows = np.array([one == key for one in keys], dtype=np.bool_) & (
                (asked < known.min()) | (asked > known.max())
            )
            law = self._law(key, its) if rows.any() else None
            if law is not None:
                low, high = law._interval(table[[self._number]][rows], level)
                lower[rows], upper[rows] = np.minimum(lower[rows], low), np.maximum(upper[rows], high)
        return lower, upper

    def _law(self, key: tuple[str, ...], rows: Any) -> Model | None:
        if key not in self._laws:
            one = self._table[[self._number]][rows]
            is_enough = one[self._number].nunique() >= _FEWEST and (one[self._number] > 0).all()
            self._laws[key] = (
                model_class("pmnf")().set_params(effort="quick").fit(one, self._values[rows]) if is_enough else None
            )
        return self._laws[key]

    def _keys(self, table: pd.DataFrame) -> list[tuple[str, ...]]:
        return list(zip(*(table[name].astype(str) for name in self._labels), strict=True))

    def to_state(self) -> dict[str, Any]:
        """Return the state as a dict, which `from_state` reads."""
        return {
            "number": self._number, "numbers": self._table[self._number].to_numpy(dtype=np.float64),
            "labels": {name: self._table[name].astype(str).tolist() for name in self._labels}, "values": self._values,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> LabelLaws:
        """Restore the state from the result of `to_state`."""
        numbers = np.asarray(state["numbers"], dtype=np.float64)
        table = pd.DataFrame(
            {str(state["number"]): numbers, **{str(k): list(map(str, v)) for k, v in state["labels"].items()}}
        )
        return cls(table, np.asarray(state["values"], dtype=np.float64))


def _is_number(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
