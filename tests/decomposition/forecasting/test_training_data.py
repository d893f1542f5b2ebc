"""Training settings: reproducible, of the sizes that are promised, and ones that can be built."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.forecasting.features import shares_of
from evenly.decomposition.forecasting.rehearsal import Setting
from evenly.decomposition.forecasting.training_data import POINTS, POINTS_PER_RANK, RANKS, training_settings
from evenly.decomposition.forecasting.training_overlap import Overlap
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.structures import build

COUNT = 300


@pytest.fixture(scope="module")
def settings() -> list[Setting]:
    return training_settings(COUNT, seed=3)


def inputs(setting: Setting) -> dict[str, float]:
    example = build(setting.structure, **setting.parameters)
    sim = Simulation(**{**example.simulation, "sources": ()})
    cell = cell_of(sim, list(example.monitors.values()), points=100_000)
    return {"points": float(cell.grid.box.volume), "ranks": float(setting.ranks), **shares_of(cell)}


def test_a_seed_and_a_number_make_a_setting(settings: list[Setting]) -> None:
    keys = [setting.key for setting in settings]
    assert [setting.key for setting in training_settings(5, seed=3, first=7)] == keys[7:12]
    assert len(set(keys)) == COUNT
    assert training_settings(1, seed=4)[0].key != keys[0]


def test_points_are_drawn_evenly_in_their_logarithm(settings: list[Setting]) -> None:
    places = np.sort([math.log(s.parameters["points"] / POINTS[0]) / math.log(POINTS[1] / POINTS[0]) for s in settings])
    # Kolmogorov and Smirnov: beyond 1.95/sqrt(n) for one in a thousand samples of an even distribution.
    assert np.abs(places - (np.arange(COUNT) + 0.5) / COUNT).max() < 1.95 / math.sqrt(COUNT) + 0.5 / COUNT
    for setting in settings:
        assert 1 <= setting.ranks <= RANKS
        each = setting.parameters["points"] / setting.ranks
        # Ranks are rounded, one and a half to one at worst.
        assert each < 1.5 * POINTS_PER_RANK[1]
        assert each > POINTS_PER_RANK[0] / 1.01


def test_every_setting_is_built_and_structures_lie_among_them(settings: list[Setting]) -> None:
    overlap = Overlap.learn(pd.DataFrame([inputs(setting) for setting in settings]))
    asked = pd.DataFrame([inputs(Setting(name, {}, ranks)) for name in ("oled", "cmos", "tandem") for ranks in (4, 32)])
    # The solar cell is smaller than any random cell as it comes.
    asked["points"] = np.maximum(asked["points"], 1.1 * POINTS[0])
    assert overlap.outside(asked) == [()] * len(asked)
    assert overlap.coverage(asked).eq(1).all()
    assert (overlap.distance(asked) < 2).all()
