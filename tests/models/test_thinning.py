"""Of long tables, models learn from a sample of the configurations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import EvenlyWarning, InputError
from evenly.models.thinning import thinned
from evenly.report.left_out_errors import left_out_errors


def long_table(rows: int = 3_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"cores": rng.integers(1, 1_000, rows), "size": rng.uniform(1, 9, rows)})
    table["solver"] = np.where(np.arange(rows) < 20, "rare", rng.choice(["cg", "gmres"], rows))
    table["seconds"] = table["size"] / table["cores"] * np.exp(0.05 * rng.normal(size=rows))
    return table


def test_ends_of_ranges_rare_labels_and_all_repetitions_stay() -> None:
    once = long_table()
    runs = evenly.Runs.from_frame(pd.concat([once, once, once]), ["cores", "size", "solver"])
    kept = thinned(runs, 200)
    assert len(kept) == 600
    assert kept.aggregate()["count"].eq(3).all()
    for name in ("cores", "size"):
        found = kept.configurations[name]
        assert (found.min(), found.max()) == (once[name].min(), once[name].max())
    # A quarter of 200 for three labels: 16 of each at least, of which chance alone would leave one.
    assert (kept.configurations["solver"] == "rare").sum() >= 3 * 16


def test_the_order_of_rows_does_not_matter() -> None:
    once = long_table(500)
    shuffled = once.sample(frac=1, random_state=1)
    first, second = (
        thinned(evenly.Runs.from_frame(table, ["cores", "size", "solver"]), 50).aggregate()
        for table in (once, shuffled)
    )
    pd.testing.assert_frame_equal(first, second)


def test_failed_runs_stay_and_short_tables_are_left_alone() -> None:
    table = long_table(300)
    table["status"] = np.where(np.arange(300) % 3 == 0, "failed", "ok")
    runs = evenly.Runs.from_frame(table, ["cores", "size", "solver"])
    kept = thinned(runs, 50)
    assert (len(kept.ok), len(kept.failed)) == (50, 100)
    assert thinned(runs, 200) is runs


def test_a_fit_says_that_it_learned_from_a_sample() -> None:
    table, names = long_table(), ["cores", "size"]
    runs = evenly.Runs.from_frame(table, names)
    with pytest.warns(EvenlyWarning, match="learns from 200 configurations.*: 200 of 3,000 rows"):
        model = evenly.fit(runs, method="power-law", most_configurations=200)
    assert model.n_runs_ == 200
    # The law of the whole table, so far as 200 rows with 5 % of noise tell: 0.05 / sqrt(200 / 3) < 1 %.
    asked = {"cores": [1, 30, 999], "size": [2.0, 5.0, 8.0]}
    assert model.predict(asked) == pytest.approx([2.0, 5 / 30, 8 / 999], rel=0.03)
    assert left_out_errors(model, runs) == model.training_["left_out"]
    with pytest.raises(InputError, match="at least 1"):
        evenly.fit(runs, most_configurations=0)
