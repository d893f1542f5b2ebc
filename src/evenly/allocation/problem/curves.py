"""One solver's time as a function of its cores.

A `SolverCurve` gives models, functions and tables the same interface: `seconds(counts)`. A model of several parameters
is evaluated as a function of cores, with the other parameters fixed. Some models certify the intervals on which they
rise or fall (``monotone_pieces(low, high)``). These are searched without a table of all counts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.allocation.problem.limits import Counts, Limits, index_at_most, listed
from evenly.core_counts.by_cores import ByCores
from evenly.core_counts.failures import outcomes_of
from evenly.core_counts.fastest_way import FastestWay
from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.base import Model
from evenly.runs.cores import find_cores
from evenly.space.ranges import ends, learned_on
from evenly.space.space import Space

__all__ = ["Front", "SolverCurve", "Table", "call", "cores_of", "cores_parameter", "failed_on"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Most counts on which a function is called one count at a time.
_ONE_BY_ONE = 200_000
#: With at least so many counts, the model's formula is evaluated instead of the model, where both agree.
_LONG = 10_000
#: Counts on which a formula is compared with its model, and the relative tolerance of this comparison.
_PROBES = 256
_AGREE = 1e-9


class Front(NamedTuple):
    """A Pareto front of time against cores, as a step function.

    With at least ``cores[k]`` (and fewer than ``cores[k + 1]``) cores, the best time is ``seconds[k]``. Fewer than
    ``cores[0]`` cores are not enough to run. `cores` (K,) increases, `seconds` (K,) decreases.
    """

    cores: Ints
    seconds: Floats

    @classmethod
    def of(cls, cores: Ints, seconds: Floats) -> Self:
        """Return the front of points (n,) with increasing cores: it keeps points faster than all points before them.

        Examples
        --------
        >>> Front.of(np.array([1, 2, 3, 4]), np.array([np.inf, 5.0, 6.0, 4.0]))
        Front(cores=array([2, 4]), seconds=array([5., 4.]))
        """
        # Most curves fall everywhere, which one comparison tells sooner than what follows.
        if len(seconds) and seconds[0] < np.inf and (seconds[1:] < seconds[:-1]).all():
            return cls(cores, seconds)
        best_before = np.minimum.accumulate(np.concatenate([[np.inf], seconds[:-1]]))[: len(seconds)]
        kept = seconds < best_before
        return cls(cores[kept], seconds[kept])

    def at(self, cores: Any) -> Any:
        """Return the best seconds (n,) for `cores` (n,); infinite where the cores are too few to run."""
        step = np.searchsorted(self.cores, cores, side="right") - 1
        return np.where(step < 0, np.inf, self.seconds[np.maximum(step, 0)])

    def cores_within(self, cores: Ints) -> Ints:
        """Return the fewest cores (n,) with the same best time as `cores` (n,), which must be enough to run."""
        chosen: Ints = self.cores[np.searchsorted(self.cores, cores, side="right") - 1]
        return chosen

    def cores_for(self, seconds: Any) -> Ints:
        """Return the fewest cores (n,) on which the time is at most `seconds` (n,), which must be reachable."""
        step = np.searchsorted(-self.seconds, -np.asarray(seconds, dtype=np.float64), side="left")
        chosen: Ints = self.cores[step]
        return chosen


@dataclass(frozen=True)
class SolverCurve:
    """Time in seconds of one solver against its cores, on the counts that it may get.

    Parameters
    ----------
    name : str
        The solver.
    source : Model or callable
        A model, or a function: cores (n,) int → seconds (n,).
    counts : range or array of int (n_counts,)
        Core counts it may get, increasing.
    at : mapping
        Values of a model's other parameters.
    limits : Limits
        The limits from which `counts` follow; used in messages only.
    factor : float
        How much longer the solver takes than its source says, as inside coupled runs.
    failed : str
        Which counts aren't among `counts`, since all runs there, or nearest to them, failed.
    """

    name: str
    source: Any
    counts: Counts
    at: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    factor: float = 1.0
    failed: str = ""

    def seconds(self, counts: Any) -> Floats:
        """Return seconds (n,) on `counts` (n,); infinite where the source returns infinity (it can't run there).

        Raises
        ------
        InputError
            If a time is not a number above zero; the message names the solver and the count.
        """
        asked = np.asarray(counts, dtype=np.int64)
        times = self._formula(asked) if self._by_formula(asked) else call(self.source, asked, self.at)
        bad = np.flatnonzero(~(times > 0))
        if len(bad):
            raise InputError(
                f"predicted times must be above zero, but {self.name!r} is predicted to take {times[bad[0]]:g} s on "
                f"{asked[bad[0]]} cores: limit its cores to where its model is sane (limits), or choose another model"
            )
        return self.factor * times

    def on(self, count: int) -> float:
        """Return the seconds on one count, which searches ask for again and again."""
        if count not in self._known:
            self._known[count] = float(self.seconds([count])[0])
        return self._known[count]

    @cached_property
    def _known(self) -> dict[int, float]:
        return {}

    def intervals(self, counts: Any, level: float) -> tuple[Floats, Floats] | None:
        """Return the ends (n,) of the time's intervals in seconds on counts (n,); None if the source tells none."""
        if not hasattr(self.source, "interval"):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            lower, upper = self.source.interval(_frame(self.source, np.asarray(counts), self.at), level)
        return self.factor * np.asarray(lower), self.factor * np.asarray(upper)

    def way(self, count: int) -> dict[str, Any]:
        """Return the parameters that make a count, where they are several, as ranks and threads; else nothing."""
        if isinstance(self.source, FastestWay):
            return self.source.way(count, self.at)
        several = isinstance(self.source, ByCores) and len(self.source.cores.names) > 1
        return self.source.way(count) if several else {}

    @cached_property
    def certified(self) -> list[tuple[int, int]] | None:
        """Intervals of cores that cover all counts; on each one, the time only rises or only falls.

        None where the model can't certify such intervals; then every count is tabulated.
        """
        certify = getattr(self.source, "monotone_pieces", None)
        if certify is None or not len(self.counts) or not isinstance(self.counts, range):
            return None
        if _parameters(self.source) is not None and len(_parameters(self.source) or ()) != 1:
            return None
        try:
            found = certify(int(self.counts[0]), int(self.counts[-1]))
        except InputError:
            return None
        if found is None or not self._agrees([int(piece[1]) for piece in found]):
            return None
        return [(int(piece[0]), int(piece[1])) for piece in found]

    def _by_formula(self, asked: Ints) -> bool:
        if len(self.counts) < _LONG or getattr(self.source, "formula_", None) is None or self.certified is None:
            return False
        return bool(len(asked)) and int(asked.min()) >= self.counts[0] and int(asked.max()) <= self.counts[-1]

    def _formula(self, asked: Ints) -> Floats:
        # Skips the data frame of configurations, which takes longer to build than the formula takes to evaluate.
        return np.asarray(self.source.formula_.evaluate(asked.astype(np.float64)), dtype=np.float64)

    def _agrees(self, ends: list[int]) -> bool:
        """Tell whether the model's formula, if any, equals its predictions; predictions may have a lower bound."""
        if getattr(self.source, "formula_", None) is None:
            return True
        spread = np.rint(np.geomspace(self.counts[0], self.counts[-1], _PROBES)).astype(np.int64)
        asked = np.concatenate([spread, np.array(ends, dtype=np.int64)])
        return bool(np.allclose(self._formula(asked), call(self.source, asked, self.at), rtol=_AGREE, atol=0.0))

    def outside(self, count: int) -> str | None:
        """Return a message if `count`, or the way that makes it, lies outside the model's training range, else None."""
        space = self._learned_on(count)
        if space is None:
            return None
        table = _frame(self.source, np.array([count]), self.at)
        way = "".join(f" with {name} = {value}" for name, value in self._decided(count).items())
        told = [
            f"{name} = {table[name].iloc[0]}, {learned_on(space.parameters[name])}{way * (k == 0)}"
            for k, name in enumerate(space.names)
            if name in space.outside(table)
        ]
        return f"{self.name!r} is extrapolated ({', '.join(told)})" if told else None

    def extrapolates(self, counts: Ints) -> NDArray[np.bool_]:
        """Tell for which `counts` (n,) there is a message of `outside`, shape (n,)."""
        beyond = np.zeros(len(counts), dtype=np.bool_)
        space = getattr(self.source, "space_", None)
        if space is None:
            return beyond
        table = _frame(self.source, counts, self.at)
        if isinstance(self.source, FastestWay):
            return self.source.extrapolates(table)
        for mask in space.outside(table).values():
            beyond |= mask
        return beyond

    @property
    def fewest_measured(self) -> int:
        """The fewest of `counts` in the range that the source was measured on; the fewest of all where none is."""
        space = getattr(self.source, "space_", None)
        if space is None:
            return int(self.counts[0])
        low, high = ends(space.parameters[cores_of(self.source)])
        first = index_at_most(self.counts, math.ceil(low) - 1)
        found = next((count for count in self.counts[first : first + 2] if count >= low), self.counts[0])
        return int(found if found <= high else self.counts[0])

    def _learned_on(self, count: int) -> Space | None:
        """Return the ranges in which the source was measured, those of the way that is taken where ways differ."""
        if isinstance(self.source, FastestWay):
            return self.source.space_of(count, self.at)
        return getattr(self.source, "space_", None)

    def _decided(self, count: int) -> dict[str, Any]:
        """Return the value that is decided with the cores, by name, where one is."""
        if not isinstance(self.source, FastestWay):
            return {}
        return {self.source.decided: self.way(count)[self.source.decided]}


@dataclass(frozen=True)
class Table:
    """Seconds (n,) of a solver on increasing counts (n,); other counts have no time."""

    name: str
    counts: Ints
    seconds: Floats

    def __call__(self, cores: Ints) -> Floats:
        places = np.minimum(np.searchsorted(self.counts, cores), len(self.counts) - 1)
        strange = cores[self.counts[places] != cores]
        if len(strange):
            held = ", ".join([*map(str, self.counts[:8]), *(["…"] if len(self.counts) > 8 else [])])
            raise InputError(
                f"{self.name!r} has no time on {strange[0]} cores: its table holds {held}: add it, or give a model"
            )
        return self.seconds[places]


def call(source: Any, counts: Ints, at: Mapping[str, Any]) -> Floats:
    """Return the values (n,) of a model, function or table on `counts` (n,), in one call where it takes arrays.

    Examples
    --------
    >>> call(lambda cores: 100 / cores, np.array([1, 2, 4]), {})
    array([100.,  50.,  25.])
    >>> call({8: 3.0, 16: 2.0}.get, np.array([8, 16]), {})
    array([3., 2.])
    """
    if isinstance(source, Table):
        return source(counts)
    if hasattr(source, "predict"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            return np.asarray(source.predict(_frame(source, counts, at)), dtype=np.float64)
    return _call_function(source, counts)


def cores_parameter(source: Any, at: Mapping[str, Any]) -> str:
    """Return the name of the parameter that is the number of cores; all others must have a value in `at`.

    Raises
    ------
    InputError
        If it is open which parameter is the cores, or another one lacks a value.
    """
    names = _parameters(source) or ("cores",)
    cores = cores_of(source)
    if cores in at:
        raise InputError(f"`at` must leave the cores open, but it fixes {cores!r}")
    others = [name for name in names if name != cores and name not in at]
    if others:
        raise InputError(
            f"a model of {', '.join(names)} needs values for all but the cores ({cores}): give {', '.join(others)} in "
            f"`at`, as in at={{{others[0]!r}: …}}"
        )
    return cores


def cores_of(source: Any) -> str:
    """Return the parameter that is the number of cores, whichever others there are.

    Examples
    --------
    >>> cores_of(lambda cores: 60 / cores)
    'cores'
    """
    if isinstance(source, ByCores | FastestWay):
        return source.cores_name_
    space = getattr(source, "space_", None)
    if space is None:
        return (_parameters(source) or ("cores",))[0]
    return find_cores(space).names[0]


def failed_on(name: str, source: Any, counts: Counts, at: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Tell for each of `counts` (n,) whether all runs there, or around it, failed; empty if none did."""
    if isinstance(source, ByCores | FastestWay):
        return source.fail(_frame(source, listed(name, counts), at))
    if not isinstance(source, Model):
        return np.zeros(0, dtype=np.bool_)
    known = outcomes_of(source)
    return known.fail(_frame(source, listed(name, counts), at)) if known.failed.any() else known.failed


def _parameters(source: Any) -> tuple[str, ...] | None:
    names = getattr(source, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _frame(source: Any, counts: Ints, at: Mapping[str, Any]) -> pd.DataFrame:
    fixed = {k: v for k, v in at.items() if k in (_parameters(source) or at)}
    return pd.DataFrame({cores_parameter(source, at): counts, **fixed})


def _call_function(function: Callable[..., Any], counts: Ints) -> Floats:
    # Integers first, since a function may use them as indices. Floats next, since NumPy refuses negative powers of
    # integers.
    for dtype in (np.int64, np.float64):
        try:
            values = np.asarray(function(counts.astype(dtype)), dtype=np.float64)
        except (TypeError, ValueError, KeyError):
            continue
        if values.shape == counts.shape:
            return values
    return _one_by_one(function, counts)


def _one_by_one(function: Callable[..., Any], counts: Ints) -> Floats:
    if len(counts) > _ONE_BY_ONE:
        raise InputError(
            f"a function that takes one count at a time can't be tabulated on {len(counts)} counts: "
            "write it for arrays of counts, or limit the counts (multiple, allowed)"
        )
    try:
        return np.array([float(function(int(count))) for count in counts], dtype=np.float64)
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(
            f"a solver must be a model or a function cores -> seconds, but calling it failed: {error}"
        ) from error
