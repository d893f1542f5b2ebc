"""What an explorer tells beside its sliders."""

from __future__ import annotations

import pandas as pd

import evenly
from evenly.report.pages.explorer import Explorer, _thinned
from evenly.runs.runs import Runs


def test_ranks_taken_as_cores_are_said_beside_the_core_hours() -> None:
    runs = Runs.from_frame(pd.DataFrame({"ranks": [1, 2, 4, 8], "seconds": [80.0, 41.0, 21.0, 11.5]}), ["ranks"])
    explorer = Explorer.of("", evenly.fit(runs, method="power-law"), runs)
    assert "cores" in explorer.table
    assert "Cores: one for each of ranks" in explorer.told


def test_where_a_slider_stands_first_is_kept_among_more_measured_values_than_it_has_stops() -> None:
    kept = _thinned(list(range(100)), 8, 37, set(range(0, 100, 2)))
    assert len(kept) <= 8
    assert {0, 37, 99} <= set(kept)
