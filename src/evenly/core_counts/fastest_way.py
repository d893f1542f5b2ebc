"""Ranks and threads are decided together: of all ways to make a number of cores, the fastest one is taken.

A way was measured on some numbers of cores: from the fewest to the most of the runs with these threads. Of the ways
that make a number of cores, only those are compared whose measured range is nearest to it. So no way is taken because
its law promises much where nobody measured. Where none was measured, the plan says so.

>>> import evenly, pandas as pd
>>> rows = [{"ranks": r, "threads": t, "seconds": 96 / (r * t) + 0.1 * r} for r in (1, 2, 4, 8) for t in (1, 2, 4)]
>>> model = evenly.fit(evenly.Runs.from_frame(pd.DataFrame(rows), ["ranks", "threads"]), method="log-quadratic")
>>> ocean = fastest_way(model, "ranks * threads", {"threads": (1, 2, 4)})
>>> ocean.way(16)
{'ranks': 4, 'threads': 4}
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.core_counts.by_cores import ByCores, by_cores
from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.base import Model
from evenly.space.configurations import as_table
from evenly.space.parameters import Integer
from evenly.space.ranges import ends
from evenly.space.space import Configurations, Space

__all__ = ["FastestWay", "fastest_way"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class FastestWay:
    """A fitted model whose first parameter is the number of cores, which may be made in several ways.

    It predicts as `ByCores` does: for each number of cores, the time of the way with the shortest predicted one, among
    those whose measured range is nearest. Of equal ones, the first is taken. A way on which runs failed is taken only
    where all ways failed.

    Parameters
    ----------
    each : sequence of ByCores
        One for each value of the parameter that is decided.
    decided : str
        That parameter.
    measured : DataFrame (n_runs, n_parameters), optional
        The measured configurations; the range of a way is that of its runs. Without them, it is that of the model.

    Attributes
    ----------
    each : tuple of ByCores
        One for each value of the parameter that is decided, as threads.
    ranges : array of int (n_ways, 2)
        Fewest and most cores on which each way was measured.
    cores_name_, feature_names_in_, space_
        As those of `ByCores`. The range of the cores is that from the fewest to the most of all ways.
    """

    def __init__(self, each: Sequence[ByCores], decided: str, measured: pd.DataFrame | None = None) -> None:
        self.each, self.decided = tuple(each), decided
        first = self.each[0]
        self.cores_name_, self.feature_names_in_, self.fixed = first.cores_name_, first.feature_names_in_, first.fixed
        self.ranges = np.array([_range(one, measured) for one in self.each], dtype=np.int64)
        self.space_ = self._space(int(self.ranges.min()), int(self.ranges.max()))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("formula_", "monotone_pieces"):  # those are of one way only
            raise AttributeError(name)
        return getattr(self.__dict__["each"][0], name) if "each" in self.__dict__ else None

    def __repr__(self) -> str:
        return f"fastest_way({self.each[0].model!r}, {self.cores_name_!r}, {self.decided}={self.values!r})"

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of the parameter that is decided."""
        return tuple(one.fixed[self.decided] for one in self.each)

    def counts(self, most: int) -> Ints:
        """Return the core counts up to `most` that some way makes."""
        made = [one.counts(most) for one in self.each]
        return np.unique(np.concatenate([counts for counts in made if counts is not None]))

    def measured_counts(self, most: int) -> Ints:
        """Return the core counts up to `most` that the ways make whose measured range is nearest to them.

        With up to 8 ranks of 1, 2 and 4 threads, 28 cores are one, and 29 are none: these were measured with 4 threads
        alone, which don't make 29. Beyond 32 cores, multiples of 4 are.
        """
        counts = self.counts(most)
        away = self._away(counts)
        return np.asarray(counts[np.where(self._make(counts), away, np.inf).min(axis=0) <= away.min(axis=0)])

    def space_of(self, cores: int, at: Mapping[str, Any] | None = None) -> Space:
        """Return the ranges in which the way was measured that is taken for so many cores."""
        low, high = self.ranges[self._fastest(cores, at)]
        return self._space(int(low), int(high))

    def extrapolates(self, X: Configurations) -> NDArray[np.bool_]:
        """Tell for which configurations the way that is taken lies outside what was measured, shape (n,)."""
        table = as_table(X)
        beyond = self._away(table[self.cores_name_].to_numpy())[self._best(table), np.arange(len(table))] > 0
        for mask in self.space_.outside(table).values():
            beyond |= mask
        return np.asarray(beyond)

    def fail(self, X: Configurations) -> NDArray[np.bool_]:
        """Tell for which configurations, (n,), the runs of each way failed, or, where none was made, those around."""
        table = as_table(X)
        made = self._make(table[self.cores_name_].to_numpy())
        return np.asarray((self._failed(table, made) | ~made).all(axis=0))

    def predict(self, X: Configurations) -> Floats:
        """Predict the value of each configuration, in the model's unit."""
        return np.asarray(self._all(X).min(axis=0))

    def interval(self, X: Configurations, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return the prediction interval of each configuration, made in its fastest way."""
        table, best = as_table(X), self._best(X)
        lower, upper = np.empty(len(table)), np.empty(len(table))
        for k, one in enumerate(self.each):
            mine = best == k
            if mine.any():
                lower[mine], upper[mine] = one.interval(table[mine], level)
        return lower, upper

    def way(self, cores: int, at: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the parameters that make so many cores in the fastest way; `at` has the model's others."""
        return self.each[self._fastest(cores, at)].way(cores)

    def cores_of_task(self, cores: int, at: Mapping[str, Any] | None = None) -> int:
        """Return the cores, or threads, of each task where there are so many cores."""
        return self.each[self._fastest(cores, at)].cores_of_task(cores)

    def _fastest(self, cores: int, at: Mapping[str, Any] | None) -> int:
        """Return the place of the way that is taken for so many cores."""
        others = {name: value for name, value in (at or {}).items() if name in self.feature_names_in_}
        return int(self._best({self.cores_name_: [cores], **{name: [value] for name, value in others.items()}})[0])

    def _best(self, X: Configurations) -> Ints:
        """Return the place (n,) of the way that is taken for each configuration."""
        return np.asarray(self._all(X).argmin(axis=0), dtype=np.int64)

    def _all(self, X: Configurations) -> Floats:
        """Return the predictions of all ways (n_ways, n); infinite for ways that can't make the cores, or are farther.

        Farther are those whose measured range is farther from the cores than that of another one.
        """
        table = as_table(X)
        asked = table[self.cores_name_].to_numpy()
        made = self._make(asked)
        if not made.any(axis=0).all():
            wrong = asked[~made.any(axis=0)][0]
            raise InputError(f"no {self.decided} of {', '.join(map(str, self.values))} makes {wrong} cores")
        # Ways on which runs failed count only where all did.
        sound = made & ~self._failed(table, made)
        made = np.where(sound.any(axis=0), sound, made)
        away = np.where(made, self._away(asked), np.inf)
        compared = made & (away <= away.min(axis=0))
        found = np.full(made.shape, np.inf)
        for k, one in enumerate(self.each):
            if compared[k].any():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ExtrapolationWarning)
                    found[k, compared[k]] = one.predict(table[compared[k]])
        return found

    def _failed(self, table: pd.DataFrame, made: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return on which ways runs failed, of those that make the cores, (n_ways, n)."""
        failed = np.zeros_like(made)
        for k, one in enumerate(self.each):
            if made[k].any():
                failed[k, made[k]] = one.fail(table[made[k]])
        return failed

    def _make(self, asked: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which ways make the cores (n,), shape (n_ways, n)."""
        most = int(np.max(asked, initial=1))
        made = [one.counts(most) for one in self.each]
        return np.array([np.ones(len(asked), np.bool_) if one is None else np.isin(asked, one) for one in made])

    def _away(self, asked: NDArray[Any]) -> Floats:
        """Return the logarithms (n_ways, n) of how far cores (n,) lie outside each way's range; 0 inside."""
        low, high = np.log(self.ranges.T[:, :, np.newaxis])
        logs = np.log(np.asarray(asked, dtype=np.float64))
        return np.asarray(np.maximum(np.maximum(low - logs, logs - high), 0.0))

    def _space(self, low: int, high: int) -> Space:
        return Space.of({**self.each[0].space_.parameters, self.cores_name_: Integer(low, high, scale="log")})


def fastest_way(
    model: Model, cores_are: str, at: Mapping[str, Any], measured: pd.DataFrame | None = None
) -> FastestWay:
    """Return a model of cores that decides on a parameter, too: that of which `at` holds several values.

    Parameters
    ----------
    model : Model
        A fitted model.
    cores_are : str
        What the cores are, as an expression of its parameters: ``"ranks * threads"``.
    at : mapping
        Values of the expression's parameters but the one that varies freely; exactly one is a tuple of those to choose
        from.
    measured : DataFrame (n_runs, n_parameters), optional
        The measured configurations, as for `FastestWay`.

    Raises
    ------
    InputError
        If none or more than one is a tuple, or as `evenly.by_cores`.
    """
    several = [name for name, value in at.items() if isinstance(value, tuple)]
    if len(several) != 1 or not at[several[0]]:
        raise InputError(f"one parameter is decided with the cores: give one several values, but got {dict(at)}")
    decided = several[0]
    each = [by_cores(model, cores_are, at={**at, decided: value}) for value in at[decided]]
    return FastestWay(each, decided, measured)


def _range(way: ByCores, measured: pd.DataFrame | None) -> tuple[int, int]:
    """Return the fewest and most cores on which a way was measured; without runs of it, those of the model's range."""
    if measured is not None:
        of_way = measured[np.all([measured[name] == value for name, value in way.fixed.items()], axis=0)]
        made = way.cores.of(of_way, len(of_way))
        made = made[np.isfinite(made)]
        if len(made):
            return int(made.min()), int(made.max())
    low, high = ends(way.space_.parameters[way.cores_name_])
    return int(low), int(high)
