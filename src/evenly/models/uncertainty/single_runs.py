"""How single runs scatter around what a model predicts of repeated runs: what one more run stays below.

A model learns one value of each configuration, the median of its repeated runs for instance, and its intervals hold for
such values. A single run scatters more widely. A time limit must be enough for single runs:

* Of a configuration with at least `ENOUGH` runs, it is a quantile of these runs: the ``ceil((n + 1) · p)``-th smallest
  of n runs [Vovk et al., Algorithmic Learning in a Random World, 2005]. Runs that were stopped at a limit took longer
  than that; they count by the product-limit estimate [Kaplan and Meier, Nonparametric estimation from incomplete
  observations, 1958].
* Of all others, the model's own bound is widened by the scatter of all repeated runs with the same labels, as of the
  same program, around their configuration's value; of all repeated runs, if those are few. Both add up in quadrature,
  as the deviations of independent errors do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Flags, Floats
from evenly.models.stored_dataclass import Stored
from evenly.runs.columns import group_ids
from evenly.runs.runs import Runs, Statistic

__all__ = ["ENOUGH", "SCATTERS", "SingleRuns", "quantile"]

#: A single run's upper bound is told where it is above that of the interval by this factor.
SCATTERS = 1.1

#: With so many runs of a configuration, their own scatter is known.
ENOUGH = 10
#: With so many repeated runs with the same labels, their own scatter is known.
_OFTEN = 30
#: The probabilities whose quantiles are kept; others are answered by the next higher one.
_LEVELS = np.array([0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999])
#: The scatter of so many configurations is kept, of those with the most runs.
_MOST = 500


@dataclass(frozen=True)
class SingleRuns(Stored):
    """What single runs stay below, with several probabilities.

    Parameters
    ----------
    configurations : dict of str to list (n_configurations,)
        The configurations that ran often.
    log_limits : array (n_configurations, n_levels)
        For each, the logarithm of what a run stays below; infinite where too many runs were stopped to know it.
    log_scatter : array (n_levels,)
        The same of the ratio of a run to its configuration's value, over all that ran more than once.
    repetitions : float
        How often a configuration ran: the harmonic mean.
    labels : dict of str to list (n_labels,)
        The values of all labels that ran often, such as the names of programs.
    label_scatter : array (n_labels, n_levels)
        The same as `log_scatter`, over the runs with these labels.
    spread, freedom : float
        The standard deviation of log run times around their configuration's value, and its degrees of freedom.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [4] * 50, "seconds": np.arange(51.0, 101.0)})
    >>> single = SingleRuns.of(Runs.from_frame(table, ["cores"]), "median")
    >>> asked = pd.DataFrame({"cores": [4, 8]})
    >>> single.upper(asked, np.array([75.0, 40.0]), np.array([76.0, 90.0]), 0.9).round()
    array([96., 93.])
    """

    configurations: dict[str, list[Any]]
    log_limits: Floats
    log_scatter: Floats
    repetitions: float
    spread: float
    freedom: float
    labels: dict[str, list[Any]] = field(default_factory=dict)
    label_scatter: Floats = field(default_factory=lambda: np.empty((0, len(_LEVELS))))

    @classmethod
    def of(cls, runs: Runs, statistic: Statistic) -> SingleRuns | None:
        """Return the scatter of runs around the statistic of their configuration; None if each ran once.

        A configuration of which all runs were stopped tells nothing of the scatter of others.
        """
        values, bounds = runs.values, runs.bounds
        use = np.isfinite(values) | np.isfinite(bounds)
        times, stopped = np.where(np.isfinite(values), values, bounds)[use], ~np.isfinite(values[use])
        table = runs.configurations[use].reset_index(drop=True)
        groups = group_ids(table, runs.parameters).to_numpy()
        sizes = np.bincount(groups)
        told = sizes * (np.bincount(groups, weights=~stopped) > 0)
        if told.max() < 2:
            return None
        center = getattr(pd.Series(times).groupby(groups), statistic)().to_numpy()[groups]
        often = told[groups] > 1
        # A value learned from m runs follows each of them by 1/m, so the runs' ratios to it are too small.
        ratios = np.log(times / center)[often] * np.sqrt(sizes / np.maximum(sizes - 1, 1))[groups][often]
        scatter = _scatter(ratios, stopped[often])
        labels, of_labels = _of_labels(table[often], ratios, stopped[often])
        kept = [group for group in np.argsort(-sizes, kind="stable")[:_MOST] if sizes[group] >= ENOUGH]
        order = np.argsort(groups, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        limits = np.empty((len(kept), len(_LEVELS)))
        for row, group in enumerate(kept):
            members = order[starts[group] : starts[group + 1]]
            own = [quantile(np.log(times / center)[members], stopped[members], level) for level in _LEVELS]
            # Where the own runs are too few for a level, all runs' scatter says more of the tail than their largest.
            few = (len(members) + 1) * _LEVELS > len(members)
            alike = _row_of(labels, table.iloc[members[:1]])[0]
            wider = (scatter if alike < 0 else of_labels[alike]) * math.sqrt(1 + 1 / len(members))
            limits[row] = math.log(center[members[0]]) + np.where(few, np.maximum(own, wider), own)
        first = [int(order[starts[group]]) for group in kept]
        return cls(
            configurations={name: table[name].iloc[first].tolist() for name in runs.parameters},
            log_limits=limits,
            log_scatter=scatter,
            labels=labels,
            label_scatter=of_labels,
            repetitions=float(len(told[told > 0]) / np.sum(1 / told[told > 0])),
            spread=float(np.sqrt(np.mean(ratios**2))),
            freedom=float(np.sum(told[told > 0] - 1)),
        )

    def noise(self) -> float | None:
        """Return the standard deviation of the values learned from, in log units; None if too few runs were repeated.

        It is that of a median of normally distributed runs: sqrt(π/2) of a mean's.
        """
        return math.sqrt(math.pi / 2 / self.repetitions) * self.spread if self.freedom >= ENOUGH else None

    def upper(self, table: pd.DataFrame, predicted: Floats, above: Floats, probability: float) -> Floats:
        """Return what a single run of each configuration stays below with a probability.

        Parameters
        ----------
        table : DataFrame (n, n_parameters)
            Configurations.
        predicted, above : array (n,)
            What the model predicts, and what a value like those learned from stays below with this probability.
        probability : float
            Above 0.5 and below 1.

        Returns
        -------
        array (n,)
            Infinite where so many runs were stopped at a limit that it isn't known. Never below `predicted`.
        """
        level = min(int(np.searchsorted(_LEVELS, probability - 1e-9)), len(_LEVELS) - 1)
        own, alike = _row_of(self.configurations, table), _row_of(self.labels, table)
        wide = np.full(len(table), self.log_scatter[level])
        if len(self.label_scatter):
            wide = np.where(alike < 0, wide, self.label_scatter[alike, level])
        scatter = np.maximum(wide, 0.0) * math.sqrt(1 - 1 / self.repetitions)
        found: Floats = predicted * np.exp(np.hypot(np.log(above / predicted), scatter))
        if probability > _LEVELS[-1]:
            return np.where(own >= 0, np.maximum(found, self._limits(own, level)), found)
        return np.where(own >= 0, np.maximum(predicted, self._limits(own, level)), found)

    def _limits(self, own: np.ndarray, level: int) -> Floats:
        limits: Floats = np.exp(self.log_limits[own, level]) if len(self.log_limits) else np.zeros(len(own))
        return limits


def _scatter(ratios: Floats, stopped: Flags) -> Floats:
    """Return what logarithms of ratios (n,) stay below with each probability of `_LEVELS`."""
    return np.array([quantile(ratios, stopped, level) for level in _LEVELS])


def _of_labels(table: pd.DataFrame, ratios: Floats, stopped: Flags) -> tuple[dict[str, list[Any]], Floats]:
    """Return the labels of repeated runs (n, n_parameters) that ran often, and the scatter of the runs with them."""
    names = [str(name) for name in table if not pd.api.types.is_numeric_dtype(table[name].dtype)]
    if not names:
        return {}, np.empty((0, len(_LEVELS)))
    groups = group_ids(table, names).to_numpy()
    kept = [group for group in np.unique(groups) if (groups == group).sum() >= _OFTEN]
    found = [_scatter(ratios[groups == group], stopped[groups == group]) for group in kept]
    first = [int(np.flatnonzero(groups == group)[0]) for group in kept]
    return {name: table[name].iloc[first].tolist() for name in names}, np.array(found).reshape(-1, len(_LEVELS))


def _row_of(known: dict[str, list[Any]], table: pd.DataFrame) -> np.ndarray:
    """Return which of the known rows each row of a table equals, -1 where there is none, shape (n,)."""
    numbers = {row: number for number, row in enumerate(zip(*known.values(), strict=True))}
    if not numbers:
        return np.full(len(table), -1)
    return np.array([numbers.get(row, -1) for row in zip(*(table[name].tolist() for name in known), strict=True)])


def quantile(values: Floats, stopped: Flags, probability: float) -> float:
    """Return what one more log ratio stays below with a probability, from others, some of which are lower bounds.

    Parameters
    ----------
    values : array (n,)
        Logarithms of ratios, or lower bounds of them.
    stopped : array of bool (n,)
        Which are bounds.
    probability : float
        Between 0 and 1.

    Returns
    -------
    float
        Infinite if more values than the probability allows are bounds of unknown size. If there are too few values for
        the probability, the largest that is no bound is multiplied by a ratio of quantiles of the normal distribution.

    Examples
    --------
    >>> values = np.arange(1.0, 20.0)
    >>> quantile(values, values > 19, 0.95), quantile(values, values > 17, 0.95), quantile(values, values > 17, 0.8)
    (19.0, inf, 16.0)
    >>> round(quantile(np.arange(1.0, 31.0), np.arange(1, 31) > 29, 0.95), 1)  # one of 30 was stopped
    31.4
    """
    n = len(values)
    order = np.lexsort((stopped, values))  # a run that ended goes before one that was stopped then
    ends = ~stopped[order]
    staying = np.where(ends, 1 - 1 / np.arange(n, 0, -1), 1.0)
    below = 1 - np.cumprod(staying)  # the product-limit estimate
    enough = np.flatnonzero(ends & (below * n / (n + 1) >= probability - 1e-9))
    if len(enough):
        return float(values[order[enough[0]]])
    if stopped.mean() > 1 - probability:
        return math.inf
    last = int(np.flatnonzero(ends)[-1])
    largest = float(values[order[last]])
    ratio = NormalDist().inv_cdf(probability) / NormalDist().inv_cdf(max(below[last] * n / (n + 1), 0.75))
    return largest * max(ratio, 1.0) if largest > 0 else largest
