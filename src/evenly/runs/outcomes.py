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
from numpy.typing import ArrayLike, NDArray

from evenly.runs.runs import Runs

__all__ = ["Outcomes", "fail_along", "nearest"]

#: A model keeps the outcomes of so many configurations at most.
_MOST = 2_000


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
        """Tell for each row asked, (n,), whether runs failed there, or on both sides of it.

        Where a configuration wasn't run, those tell that differ from it in one number only: the next smaller and the
        next larger ones, or the outermost one.
        """
        if not self.failed.any():
            return np.zeros(len(asked), dtype=np.bool_)
        names = [str(name) for name in self.configurations if name in asked]
        known, wanted = _keys(self.configurations[names]), _keys(asked[names])
        failed = np.asarray(pd.MultiIndex.from_frame(wanted).isin(pd.MultiIndex.from_frame(known[self.failed])))
        for name in known.select_dtypes("number") if self.whole else ():
            others = [other for other in names if other != name]
            lines, rows = _places(known, others), _places(wanted, others)
            for key in lines.keys() & rows.keys():
                line, row = lines[key], rows[key]
                failed[row] |= fail_along(wanted[name].iloc[row], known[name].iloc[line], self.failed[line])
        return failed

    def alike(self, at: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Tell which configurations, (n_configurations,), have these values of the parameters that they hold."""
        same = np.ones(len(self.failed), dtype=np.bool_)
        for name in self.configurations:
            if name in at:
                asked = pd.DataFrame({name: [at[str(name)]]})
                same &= np.asarray(_keys(self.configurations[[name]])[name] == _keys(asked)[name].iloc[0])
        return same

    def along(self, asked: ArrayLike, known: ArrayLike, at: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Tell for each number asked, (n,), whether runs failed there, or on both sides of it; `at` are other values.

        Parameters
        ----------
        asked : array (n,)
        known : array (n_configurations,)
            The same number of each configuration, as its cores; NaN where it has none.
        at : mapping
            Values of other parameters that the configurations must have.
        """
        known = np.asarray(known, dtype=np.float64)
        alike = np.isfinite(known) & self.alike(at)
        if not self.failed[alike].any():
            return np.zeros(np.size(asked), dtype=np.bool_)
        failed = fail_along(asked, known[alike], self.failed[alike])
        return failed if self.whole else failed & np.isin(asked, known[alike])


def fail_along(asked: ArrayLike, known: ArrayLike, failed: ArrayLike) -> NDArray[np.bool_]:
    """Tell for each value asked, (n,), whether all runs on it failed, or, where there are none, on both sides of it.

    Beyond the outermost value that was run, this one tells.

    Examples
    --------
    >>> fail_along([2, 4, 8, 16], known=[1, 2, 8], failed=[False, False, True])
    array([False, False,  True,  True])
    """
    values, place = np.unique(np.asarray(known, dtype=np.float64), return_inverse=True)
    all_failed = np.ones(len(values), dtype=np.bool_)
    np.logical_and.at(all_failed, place, np.asarray(failed, dtype=np.bool_))
    right = np.searchsorted(values, asked)
    above, below = np.minimum(right, len(values) - 1), np.maximum(right - 1, 0)
    return np.where(values[above] == asked, all_failed[above], all_failed[above] & all_failed[below])


def nearest(values: Any, value: float) -> list[Any]:
    """Return the next smaller and the next larger of some values, or the outermost one; `value` alone if it is known.

    Examples
    --------
    >>> nearest([1, 2, 8], 4), nearest([1, 2, 8], 16), nearest([1, 2, 8], 2)
    ([2, 8], [8], [2])
    """
    known = sorted(set(values))
    if value in known:
        return [value]
    return [*[one for one in known if one < value][-1:], *[one for one in known if one > value][:1]]


def _keys(table: pd.DataFrame) -> pd.DataFrame:
    """Return values that are equal where those of two tables mean the same: numbers, and labels as text."""
    numeric = {name: pd.api.types.is_numeric_dtype(column.dtype) for name, column in table.items()}
    return table.astype({name: np.float64 if is_number else str for name, is_number in numeric.items()})


def _places(table: pd.DataFrame, names: list[str]) -> dict[Any, NDArray[np.int64]]:
    """Return the rows of each combination of the values of some columns."""
    if not names:
        return {(): np.arange(len(table))}
    return {key: np.asarray(rows) for key, rows in table.groupby(names, sort=False).indices.items()}
