"""Where runs ended well, and where none did: no prediction tells of this, since failed runs have no time.

>>> table = pd.DataFrame({"cores": [1, 2, 8], "seconds": [8.0, 4.0, None], "status": ["ok", "ok", "failed"]})
>>> known = Outcomes.of(Runs.from_frame(table, ["cores"]))
>>> known.fail(pd.DataFrame({"cores": [2, 4, 8, 16]}))
array([False, False,  True,  True])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.util import hash_pandas_object

from evenly.runs.runs import Runs

__all__ = ["Outcomes"]

#: A model keeps the outcomes of so many configurations at most.
_MOST = 2_000
#: Distances that differ by less, relatively, are equal.
_TIE = 1e-9


@dataclass(frozen=True)
class Outcomes:
    """The configurations that were run, and on which of them no run ended well.

    A run that hit its limit ended well: it tells a time.

    Parameters
    ----------
    configurations : DataFrame (n, n_parameters)
        Each once.
    failed : array (n,)
        Whether all runs of a configuration failed.
    whole : bool
        False if only failed configurations are known.
    """

    configurations: pd.DataFrame = field(default_factory=pd.DataFrame)
    failed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    whole: bool = True

    @classmethod
    def of(cls, runs: Runs) -> Outcomes:
        """Collect the outcomes of runs; none where no configuration failed altogether."""
        if not len(runs.failed):
            return cls()
        went = (runs.to_frame()["status"] == "ok").to_numpy() | (runs.bounds > 0)
        ended = runs.configurations.assign(_went=went).groupby(runs.parameters, sort=False, observed=True)["_went"]
        table = ended.any().reset_index()
        failed = ~table.pop("_went").to_numpy(dtype=np.bool_)
        return cls(table, failed) if failed.any() else cls()

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Outcomes:
        """Return what `to_state` has written."""
        if not state:
            return cls()
        return cls(pd.DataFrame(state["configurations"]), np.array(state["failed"], dtype=np.bool_), state["whole"])

    def to_state(self) -> dict[str, Any]:
        """Return plain values for a file; {} where nothing failed. Of many configurations only failed ones are kept."""
        if not self.failed.any():
            return {}
        kept = np.ones_like(self.failed) if len(self.failed) <= _MOST else self.failed
        table, failed = self.configurations[kept].iloc[:_MOST], self.failed[kept][:_MOST]
        return {"configurations": table.to_dict("list"), "failed": failed.tolist(), "whole": bool(kept.all())}

    def labels(self, name: str) -> set[str]:
        """Return the values of a parameter, as text, with which no run ended well."""
        if name not in self.configurations:
            return set()
        column = self.configurations[name].astype(str)
        return set(column[self.failed]) - set(column[~self.failed])

    def fail(self, asked: pd.DataFrame) -> NDArray[np.bool_]:
        """Tell for each row asked, (n,), whether all runs there failed, or, where none was made, at the nearest values.

        Of each number, the nearest measured value counts, by ratios where all are above zero.
        """
        names = [str(name) for name in self.configurations if name in asked]
        if not self.failed.any() or not names or not len(asked):
            return np.zeros(len(asked), dtype=np.bool_)
        known, nearest = (pd.DataFrame(index=range(len(table))) for table in (self.configurations, asked))
        for name in names:
            known[name], nearest[name] = _places(self.configurations[name], asked[name], exact=not self.whole)
        failed_at = dict(zip(hash_pandas_object(known, index=False), self.failed, strict=True))
        return np.array([failed_at.get(key, False) for key in hash_pandas_object(nearest, index=False)], dtype=np.bool_)


def _places(
    known: pd.Series[Any], asked: pd.Series[Any], *, exact: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of known values among all of them, and of the value that is nearest to each one asked.

    Of two that are as near, it is the lesser one. A label that isn't known has place -1; with `exact`, a number, too.

    Examples
    --------
    >>> [places.tolist() for places in _places(pd.Series([1, 4, 16]), pd.Series([3, 7, 9, 64]), exact=False)]
    [[0, 1, 2], [1, 1, 2, 2]]
    """
    if exact or not all(pd.api.types.is_numeric_dtype(column.dtype) for column in (known, asked)):
        both = [column.astype(float if pd.api.types.is_numeric_dtype(column) else str) for column in (known, asked)]
        values = pd.Index(both[0].unique())
        own, place = (np.asarray(values.get_indexer(pd.Index(column)), dtype=np.int64) for column in both)
        return own, place
    numbers, wanted = (column.to_numpy(dtype=np.float64) for column in (known, asked))
    if min(numbers.min(), wanted.min()) > 0:
        numbers, wanted = np.log(numbers), np.log(wanted)
    values, own = np.unique(numbers, return_inverse=True)
    above = np.clip(np.searchsorted(values, wanted), 1, max(len(values) - 1, 1))
    above = np.minimum(above, len(values) - 1)
    below = np.maximum(above - 1, 0)
    nearer = values[above] - wanted < (1 - _TIE) * (wanted - values[below])
    return own, np.where(nearer, above, below)
