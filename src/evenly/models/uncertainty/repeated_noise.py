"""Where repeated runs of few configurations scatter more than elsewhere: intervals are wider there.

Errors on a dozen left-out runs don't tell where the noise is large: each is one number, and holds what the model
misses, too. Repeated runs tell it without any model. A law of the size of their deviations from the mean of their
configuration (`evenly.models.uncertainty.noise_trend`) is taken if a likelihood-ratio test rejects even noise. What it
says beyond the usual variance is added to intervals, in quadrature. Where there is less noise than usual, they stay as
they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Coding
from evenly.models.stored_dataclass import Stored
from evenly.models.uncertainty.noise_trend import NoiseLaw, NoiseTrend
from evenly.runs.columns import group_ids
from evenly.runs.runs import Runs, Statistic
from evenly.space.space import Space

__all__ = ["RepeatedNoise"]

#: With so many configurations, the errors on left-out runs tell the law of the noise.
_MANY = 30
#: Even noise is rejected at this probability.
_CHANCE = 0.01
#: Least number of repeated runs for each coefficient.
_EACH = 5


@dataclass(frozen=True)
class RepeatedNoise(Stored):
    """The law of the noise of few configurations, of those that are numbers.

    Attributes
    ----------
    law : NoiseLaw
        The mean size of deviations of single runs, in log units.
    factor : float
        The standard deviation of a value learned from, such as a median, by that size.
    usual : float
        The mean variance of these values over the measured configurations.

    Examples
    --------
    >>> cores = np.repeat([1, 2, 4, 8, 16, 32], 3)
    >>> seconds = 100 / cores * np.exp(0.01 * cores * np.tile([-1, 0.2, 0.8], 6))
    >>> runs = Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": seconds}), ["cores"])
    >>> RepeatedNoise.of(runs, "median").more(pd.DataFrame({"cores": [1, 32]})).round(1)
    array([0. , 0.2])
    """

    law: NoiseLaw
    factor: float
    usual: float

    @classmethod
    def of(cls, runs: Runs, statistic: Statistic) -> RepeatedNoise | None:
        """Return the law; None if there are many configurations, few repeated runs, or no sign of uneven noise."""
        from scipy.special import chdtri

        good = runs.ok
        table = good.configurations.reset_index(drop=True)
        numbers = [str(name) for name in table if pd.api.types.is_numeric_dtype(table[name].dtype)]
        if statistic == "min" or not numbers or len(table.drop_duplicates()) >= _MANY:
            return None
        groups = group_ids(table, good.parameters).to_numpy()
        counts = np.bincount(groups)[groups]
        logs = pd.Series(np.log(good.values))
        often = counts > 1
        apart = (logs - logs.groupby(groups).transform("mean")).abs().to_numpy()[often]
        sizes = apart * np.sqrt(counts[often] / (counts[often] - 1))
        told = table.loc[often, numbers].reset_index(drop=True)
        if not len(told) or not sizes.any():
            return None
        coding = Coding.learn(told, Space.from_data(told))
        places = coding.inputs(told).matrix
        if len(sizes) < _EACH * (1 + places.shape[1]):
            return None
        law = NoiseLaw(coding, NoiseTrend.learn(places, sizes))
        scales, mean = law.scales(told), float(sizes.mean())
        deviance = 2 * float(np.sum(sizes / mean + np.log(mean) - sizes / scales - np.log(scales)))
        if deviance < chdtri(places.shape[1], _CHANCE):
            return None
        # The mean size of normal deviations is sqrt(2/π) of their standard deviation, and a median's is sqrt(π/2) of a
        # mean's.
        factor = math.sqrt(math.pi / 2) * (math.sqrt(math.pi / 2) if statistic == "median" else 1.0)
        factor /= math.sqrt(float(counts.mean()))
        return cls(law, factor, float(np.mean((factor * law.scales(table[numbers])) ** 2)))

    def more(self, table: pd.DataFrame) -> Floats:
        """Return the standard deviation beyond the usual one at configurations (n, n_parameters), (n,), in logs."""
        numbers = table[self.law.coding.names]
        return np.sqrt(np.maximum((self.factor * self.law.scales(numbers)) ** 2 - self.usual, 0.0))
