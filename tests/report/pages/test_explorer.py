"""What an explorer tells beside its sliders."""

from __future__ import annotations

import pandas as pd

import evenly
from evenly.report.pages.explorer import Explorer
from evenly.runs.runs import Runs


def test_ranks_taken_as_cores_are_said_beside_the_core_hours() -> None:
    runs = Runs.from_frame(pd.DataFrame({"ranks": [1, 2, 4, 8], "seconds": [80.0, 41.0, 21.0, 11.5]}), ["ranks"])
    explorer = Explorer.of("", evenly.fit(runs, method="power-law"), runs)
    assert "cores" in explorer.table
    assert "Cores: one for each of ranks" in explorer.told


def test_sliders_stand_first_where_they_are_asked_to_even_among_many_measured_values() -> None:
    rows = [
        {"cores": 2**k, "a": 10 + 7 * i, "b": 3 + 5 * j, "seconds": (10.0 + 7 * i + 5 * j) / 2**k}
        for k in range(4)
        for i in range(30)
        for j in range(30)
    ]
    runs = Runs.from_frame(pd.DataFrame(rows), ["cores", "a", "b"])
    model = evenly.fit(runs, method="power-law")
    for value in (17, 108, 213):
        explorer = Explorer.of("", model, runs, at={"a": value})
        assert explorer.parameters["a"][explorer.place("a")] == value
