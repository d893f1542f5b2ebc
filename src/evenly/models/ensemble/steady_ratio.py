"""Bounds of the ratio of times to those that a model of other runs expects, where few runs tell one factor only.

Errors on two to five left-out runs hardly tell how far off a factor is, and nothing tells how it changes beyond these
runs. So the ratio is taken to be steady: over each parameter's range its logarithm changes by a slope that is normally
distributed around zero, and that runs far apart make more certain. The half-width has two parts, which are added in
quadrature. One is Student's interval of a further ratio, in which the usual spread counts as one run. The other is what
the slopes change on the way from the middle of the runs [Bayesian linear regression, as in Gelman et al., Bayesian Data
Analysis, 2013, section 14.8; each slope by itself].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.stored_dataclass import Stored
from evenly.models.uncertainty.between_levels import on_scale
from evenly.models.uncertainty.conformal import student
from evenly.space.parameters import Categorical, Parameter
from evenly.space.ranges import ends

__all__ = ["FEW", "SteadyRatio"]

#: Fewer runs tell a factor, and no more.
FEW = 6
#: Standard deviation of the slope of a ratio's logarithm, per half-range of a parameter, before there are runs.
_SLOPE = 0.15
#: The usual spread of a ratio, as large as one run tells it.
_USUAL_SPREAD = 0.05


@dataclass(frozen=True)
class SteadyRatio(Stored):
    """Where runs are, and how their ratios scatter.

    Attributes
    ----------
    names : list of str
        The parameters that are numbers.
    lows, highs : array (n_parameters,)
        Their ranges.
    middles : array (n_parameters,)
        The mean of the runs, on the scale of each parameter.
    are_logs : list of bool
        Which scales are logarithmic.
    slopes : array (n_parameters,)
        Standard deviations of the slopes, per half-range.
    spread : float
        The standard deviation of a ratio's logarithm.
    count : int
        Number of runs.

    Examples
    --------
    >>> from evenly.space.parameters import Integer
    >>> table = pd.DataFrame({"cores": [4, 8, 16]})
    >>> ratio = SteadyRatio.learn(table, np.log([0.5, 0.52, 0.49]), {"cores": Integer(1, 64, scale="log")})
    >>> near, far = ratio.half_width(pd.DataFrame({"cores": [8, 64]}), 0.9)
    >>> bool(near < 0.15 < far < 0.25)
    True
    """

    names: list[str]
    lows: Floats
    highs: Floats
    middles: Floats
    are_logs: list[bool]
    slopes: Floats
    spread: float
    count: int

    @classmethod
    def learn(cls, table: pd.DataFrame, ratios: Floats, kinds: Mapping[str, Parameter]) -> SteadyRatio:
        """Learn from the logs of ratios (n,) of runs (n, n_parameters), with the range of each parameter."""
        numbers: dict[str, Any] = {
            name: kind
            for name, kind in kinds.items()
            if not isinstance(kind, Categorical) and ends(kind)[0] < ends(kind)[1]
        }
        ranges = [on_scale(kind, np.array(ends(kind), dtype=np.float64)) for kind in numbers.values()]
        lows, highs = np.array(ranges).reshape(-1, 2).T
        are_logs = [kind.scale == "log" for kind in numbers.values()]
        squares = float(np.sum((ratios - ratios.mean()) ** 2))
        spread = math.sqrt((_USUAL_SPREAD**2 + squares) / len(ratios))
        made = cls(list(numbers), lows, highs, np.zeros(len(lows)), are_logs, np.zeros(len(lows)), spread, len(ratios))
        made = replace(made, middles=made._places(table).mean(axis=0))
        told = np.sum(made._away(table) ** 2, axis=0) / spread**2
        return replace(made, slopes=1 / np.sqrt(1 / _SLOPE**2 + told))

    def half_width(self, table: pd.DataFrame, level: float) -> Floats:
        """Return the half-widths of intervals of log ratios at configurations (m, n_parameters), (m,)."""
        of_mean = student(self.count, level) * self.spread * math.sqrt(1 + 1 / self.count)
        drift = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(np.sum((self._away(table) * self.slopes) ** 2, axis=1))
        return np.asarray(np.hypot(of_mean, drift))

    def _away(self, table: pd.DataFrame) -> Floats:
        """Return how far configurations are from the middle of the runs, in half-ranges, (m, n_parameters)."""
        return np.asarray(2 * (self._places(table) - self.middles) / (self.highs - self.lows))

    def _places(self, table: pd.DataFrame) -> Floats:
        columns = [table[name].to_numpy(dtype=np.float64) for name in self.names]
        on_scales = [
            np.log(np.maximum(column, 1e-300)) if is_log else column
            for column, is_log in zip(columns, self.are_logs, strict=True)
        ]
        return np.column_stack(on_scales) if on_scales else np.zeros((len(table), 0))
