"""Several series of weak scaling: what lies far from all of them is extrapolated, and known less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.runs.weak_scaling import bands, distance_from_bands


def law(cores: Any, cells: Any) -> Any:
    return 3 + 2e-4 * cells / cores + 0.15 * np.log2(cores)


@pytest.mark.parametrize("series", [(15_625, 62_500), (10_000, 30_000, 90_000)])
def test_a_large_problem_on_few_cores_is_extrapolated_where_sizes_grew_with_the_cores(series: tuple[int, ...]) -> None:
    """It took 104 s, and 53.8 to 61.7 s were predicted, without a star."""
    pairs = np.array([(cores, cores * each) for cores in (16, 32, 64, 128, 256, 512) for each in series], dtype=float)
    noise = np.exp(0.015 * np.random.default_rng(1).standard_normal(len(pairs)))
    runs = pd.DataFrame({"cores": pairs[:, 0], "cells": pairs[:, 1], "seconds": law(*pairs.T) * noise})
    model = evenly.fit(runs, parameters=["cores", "cells"])
    asked = pd.DataFrame({"cores": [16.0, 32.0, 64.0, 128.0], "cells": 8e6})
    low, high = model.interval(asked)
    truth = law(asked["cores"].to_numpy(), asked["cells"].to_numpy())
    assert (model.extrapolates(asked)[:2]).all()
    assert ((low <= truth) & (truth <= high)).all()
    within = pd.DataFrame({"cores": [128.0], "cells": [128.0 * np.sqrt(series[0] * series[-1])]})
    assert not model.extrapolates(within).any()
    narrow = model.interval(within)
    assert narrow[1][0] / narrow[0][0] < 1.3


@pytest.mark.parametrize("kept", [range(16), [*range(15)], [0, 1, 2, 3, 4, 5, 6, 8, 9, 12]])
def test_a_missing_corner_makes_no_band(kept: list[int]) -> None:
    """A large problem doesn't fit on few cores, and nobody runs a small one on many."""
    grid = pd.DataFrame([(2.0**c, 10.0 * 2**s) for c in range(4) for s in range(4)], columns=["ranks", "cells"])
    assert bands(grid.iloc[list(kept)]) == {}


def test_the_longer_way_to_a_band_counts() -> None:
    """A resolution of twice as many points is much more work: how far the cores are tells that."""
    runs = pd.DataFrame({"nodes": [1, 8, 64, 1, 8], "resolution": [256, 512, 1024, 512, 1024]})
    asked = pd.DataFrame({"nodes": [64, 1, 8], "resolution": [512, 1024, 700]})
    assert np.exp(distance_from_bands(bands(runs), asked)) == pytest.approx([8**0.5, 8**0.5, 1])
