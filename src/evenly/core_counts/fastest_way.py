"""Ranks and threads are decided together: of all ways to make a number of cores, the fastest one is taken.

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

    It predicts as `ByCores` does: for each number of cores, the time of the way with the shortest predicted one. Of
    equal ones, the first is taken.

    Attributes
    ----------
    each : tuple of ByCores
        One for each value of the parameter that is decided, as threads.
    cores_name_, feature_names_in_, space_
        As those of `ByCores`. The range of the cores is that from the fewest to the most of all ways.
    """

    def __init__(self, each: Sequence[ByCores], decided: str) -> None:
        self.each, self.decided = tuple(each), decided
        first = self.each[0]
        self.cores_name_, self.feature_names_in_, self.fixed = first.cores_name_, first.feature_names_in_, first.fixed
        limits = np.array([ends(one.space_.parameters[self.cores_name_]) for one in self.each])
        range_ = Integer(int(limits.min()), int(limits.max()), scale="log")
        self.space_ = Space.of({**first.space_.parameters, self.cores_name_: range_})

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

    def counts(self, most: int) -> Ints | None:
        """Return the core counts up to `most` that some way makes."""
        made = [one.counts(most) for one in self.each]
        return np.unique(np.concatenate([counts for counts in made if counts is not None]))

    def predict(self, X: Configurations) -> Floats:
        """Predict the value of each configuration, in the model's unit."""
        return np.asarray(self._all(X).min(axis=0))

    def interval(self, X: Configurations, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return the prediction interval of each configuration, made in its fastest way."""
        table, best = as_table(X), self._all(X).argmin(axis=0)
        lower, upper = np.empty(len(table)), np.empty(len(table))
        for k, one in enumerate(self.each):
            mine = best == k
            if mine.any():
                lower[mine], upper[mine] = one.interval(table[mine], level)
        return lower, upper

    def way(self, cores: int, at: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the parameters that make so many cores in the fastest way; `at` has the model's others."""
        return self._fastest(cores, at).way(cores)

    def cores_of_task(self, cores: int, at: Mapping[str, Any] | None = None) -> int:
        """Return the cores, or threads, of each task where there are so many cores."""
        return self._fastest(cores, at).cores_of_task(cores)

    def _fastest(self, cores: int, at: Mapping[str, Any] | None) -> ByCores:
        others = {name: value for name, value in (at or {}).items() if name in self.feature_names_in_}
        table = pd.DataFrame({self.cores_name_: [cores], **others})
        return self.each[int(self._all(table)[:, 0].argmin())]

    def _all(self, X: Configurations) -> Floats:
        """Return the predictions of all ways (n_ways, n); infinite where a way can't make the cores."""
        table = as_table(X)
        asked = table[self.cores_name_].to_numpy()
        found = np.full((len(self.each), len(table)), np.inf)
        for k, one in enumerate(self.each):
            made = one.counts(int(np.max(asked, initial=1)))
            fits = np.ones(len(asked), dtype=bool) if made is None else np.isin(asked, made)
            if fits.any():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ExtrapolationWarning)
                    found[k, fits] = one.predict(table[fits])
        if not np.isfinite(found).any(axis=0).all():
            wrong = asked[~np.isfinite(found).any(axis=0)][0]
            raise InputError(f"no {self.decided} of {', '.join(map(str, self.values))} makes {wrong} cores")
        return found


def fastest_way(model: Model, cores_are: str, at: Mapping[str, Any]) -> FastestWay:
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

    Raises
    ------
    InputError
        If none or more than one is a tuple, or as `evenly.by_cores`.
    """
    several = [name for name, value in at.items() if isinstance(value, tuple)]
    if len(several) != 1 or not at[several[0]]:
        raise InputError(f"one parameter is decided with the cores: give one several values, but got {dict(at)}")
    decided = several[0]
    return FastestWay([by_cores(model, cores_are, at={**at, decided: value}) for value in at[decided]], decided)
