"""Which counts may be as good as the plan's, for planted curves: the best count is among them, and none is far off."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.base import Model

CORES, NOISE = 560, 0.05
COUNTS = {"inner": np.array([150, 170, 200, 250, 300, 330, 350]), "outer": np.array([74, 110, 136, 142, 148, 174, 210])}


def _seconds(name: str, cores: np.ndarray) -> np.ndarray:
    return 60 / cores**0.97 if name == "inner" else 30 / cores + 0.01


def _learned(name: str, random: np.random.Generator) -> Model:
    times = _seconds(name, COUNTS[name]) * np.exp(NOISE * random.standard_normal(len(COUNTS[name])))
    table = pd.DataFrame({"cores": COUNTS[name], "seconds": times})
    return evenly.fit(table, parameters=["cores"], method="power-law")


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_the_best_count_is_in_the_range_and_its_ends_are_not_much_slower() -> None:
    """The plan gives `inner` 381 cores, beyond the 350 measured.

    Noise of 5 % leaves the law of 7 runs an error of 5 % · sqrt(1 / 7 + x² / 0.6) = 4 % there, since x = log(380 / 240)
    and the squares of the logarithms around their mean sum up to 0.6. With 2 % of the other solver, the ratio of both
    has an error of 5 %; of so few runs, it is told as some 7 %. The plan may be off by twice 5 %, and an end lies
    1.6 · 7 % from it: together 22 %, in one of 20 plans. Half of the ends are within 11 %. With the scatter of single
    runs taken for an error of the curve, ends were 19 % slower (median), and up to 61 %.
    """
    counts = np.arange(1, CORES)
    steps = np.maximum(_seconds("inner", counts), _seconds("outer", CORES - counts))
    best, inside, slower = int(counts[np.argmin(steps)]), [], []
    for seed in range(8):
        random = np.random.default_rng(seed)
        plan = evenly.allocate({name: _learned(name, random) for name in COUNTS}, cores=CORES)
        low, high = plan.within_noise["inner"]
        inside.append(low <= best <= high)
        slower += [steps[count - 1] / steps.min() - 1 for count in (low, high)]
    assert np.mean(inside) >= 0.9
    assert np.median(slower) < 0.13
    assert np.quantile(slower, 0.95) < 0.25
