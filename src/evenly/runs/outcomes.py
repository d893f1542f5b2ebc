"""Where runs ended well, and where none did: no prediction tells of this, since failed runs have no time.

>>> table = pd.DataFrame({"cores": [1, 2, 8], "seconds": [8.0, 4.0, None], "status": ["ok", "ok", "failed"]})
>>> known = Outcomes.of(Runs.from_frame(table, ["cores"]))
>>> known.fail(pd.DataFrame({"cores": [2, 4, 8, 16]}))
array([False, False,  True,  True])
"""

from __future__ import annotations

import itertools
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
#: Around configurations with more numbers that weren't run, nothing is looked for.
_MOST_BETWEEN = 6
#: The share of configurations around another that must have been run.
_ENOUGH = 0.5


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

    def fail(self, asked: pd.DataFrame) -> NDArray[np.bool_]:
        """Tell for each row asked, (n,), whether all runs there failed, or, where none was made, all around it.

        Around a row are the configurations with the next smaller and the next larger value of each number, or with the
        outermost one. At least half of them must have been run.
        """
        names = [str(name) for name in self.configurations if name in asked]
        if not self.failed.any() or not names:
            return np.zeros(len(asked), dtype=np.bool_)
        places = {name: _places(self.configurations[name], asked[name]) for name in names}
        known, below, above = (pd.DataFrame({name: places[name][k] for name in names}) for k in range(3))
        failed_at: dict[Any, bool] = dict(zip(hash_pandas_object(known, index=False), self.failed, strict=True))
        between = [name for name in names if (below[name] != above[name]).any()]
        if not self.whole or len(between) > _MOST_BETWEEN:
            return np.asarray(_found(below.where(below == above, -1), failed_at) == 1)
        # Beyond the outermost value there is one neighbour.
        below, above = below.where((below >= 0) | (above < 0), above), above.where(above <= known.max(), below)
        corners = [
            _found(below.assign(**{name: above[name] for name in upper}), failed_at)
            for count in range(len(between) + 1)
            for upper in itertools.combinations(between, count)
        ]
        made = np.mean([corner >= 0 for corner in corners], axis=0)
        return np.asarray((made >= _ENOUGH) & np.all([corner != 0 for corner in corners], axis=0))


def _places(known: pd.Series[Any], asked: pd.Series[Any]) -> tuple[NDArray[np.int64], ...]:
    """Return the places of known values among all of them, and of the next ones below and above each value asked.

    A label that isn't known has place -1. So has what is below the least number; what is above the largest one has the
    place behind it.

    Examples
    --------
    >>> [places.tolist() for places in _places(pd.Series([1, 4, 16]), pd.Series([2, 4, 64]))]
    [[0, 1, 2], [0, 1, 2], [1, 1, 3]]
    """
    if pd.api.types.is_numeric_dtype(known.dtype) and pd.api.types.is_numeric_dtype(asked.dtype):
        values, own = np.unique(known.to_numpy(dtype=np.float64), return_inverse=True)
        numbers = asked.to_numpy(dtype=np.float64)
        return own, np.searchsorted(values, numbers, side="right") - 1, np.searchsorted(values, numbers)
    labels = pd.Index(known.astype(str).unique())
    place = labels.get_indexer(asked.astype(str))
    return labels.get_indexer(known.astype(str)), place, place


def _found(places: pd.DataFrame, failed_at: Mapping[Any, bool]) -> NDArray[np.int64]:
    """Return for each row of places, (n,), 1 where all runs failed, 0 where one ended well, -1 where none was made."""
    keys = hash_pandas_object(places, index=False)
    return np.array([failed_at.get(key, -1) for key in keys], dtype=np.int64)
