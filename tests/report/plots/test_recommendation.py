"""The picture of a recommended number of cores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.report.plots.recommendation import plot_recommendation


@pytest.mark.parametrize(("counts", "beyond"), [([1, 4, 16], []), ([4, 16, 32, 64], [32, 64])])
def test_counts_outside_what_was_measured_are_hollow(counts: list[int], beyond: list[int]) -> None:
    runs = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 41.0, 21.0, 11.5, 6.6]})
    model = evenly.fit(runs, parameters=["cores"], method="power-law")
    figure = plot_recommendation(evenly.recommend(model, counts))
    (hollow,) = [line for line in figure.axes[0].get_lines() if line.get_gid() == "extrapolated"]
    assert np.asarray(hollow.get_xdata()).tolist() == beyond
    told = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert ("outside what was measured" in told) == bool(beyond)
