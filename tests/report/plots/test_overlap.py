"""The picture of an overlap shows every row, and says how many lie inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.decomposition.forecasting.training_overlap import INPUTS, Overlap
from evenly.report.plots.overlap import plot_overlap


@pytest.fixture
def training() -> pd.DataFrame:
    random = np.random.default_rng(0)
    table: dict[str, Any] = {name: random.uniform(0.1, 0.9, 60) for name in INPUTS[:5]}
    table |= {"frequencies": random.integers(2, 9, 60), "points": random.uniform(1e5, 1e6, 60)}
    return pd.DataFrame({**table, "ranks": random.uniform(1, 9, 60)})


def test_every_input_and_the_distance_have_a_panel_with_all_rows(training: pd.DataFrame) -> None:
    overlap = Overlap.learn(training)
    asked = {"near": training[:7], "off": training[7:10].assign(frequencies=90.0)}
    figure = plot_overlap(training, asked, overlap, what="cells")
    assert [axes.get_xlabel() for axes in figure.axes[:8]] == list(INPUTS)
    assert figure.axes[8].get_xlabel() == "distance to cells (theirs: 1)"
    for axes in figure.axes:
        strips = {line.get_gid(): line for line in axes.lines if line.get_gid()}
        assert {name: len(np.asarray(line.get_xdata())) for name, line in strips.items()} == {"near": 7, "off": 3}
    shown = next(line for line in figure.axes[8].lines if line.get_gid() == "off")
    assert np.asarray(shown.get_xdata()) == pytest.approx(overlap.distance(asked["off"]))
    assert figure.get_suptitle() == "70 % of 10 simulations lie among the 60 cells learned from"


def test_a_bar_of_the_histogram_is_as_high_as_its_rows_are_dense(training: pd.DataFrame) -> None:
    figure = plot_overlap(training, {"near": training}, Overlap.learn(training))
    axes = figure.axes[list(INPUTS).index("frequencies")]
    (bars,) = (patch for patch in axes.patches if patch.get_gid() == "training")
    heights, edges, _ = bars.get_data()  # type: ignore[attr-defined]
    assert edges.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]
    density = np.bincount(training["frequencies"])[2:] / np.diff(np.log(edges))
    assert heights / heights.max() == pytest.approx(density / density.max())
