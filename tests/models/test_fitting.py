"""`fit`: condensing, choosing the response, and handing over what the runs know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.models.fitting import fit
from evenly.readers import read
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical
from evenly.space.space import Space
from tests.models.toy_model import Toy

FRAME = pd.DataFrame(
    {
        "layout": [1, 1, 1, 2, 3],
        "seconds": [1.0, 3.0, 8.0, 6.0, np.nan],
        "memory": [1.0, 1.0, 1.0, 2.0, np.nan],
        "status": ["ok"] * 4 + ["failed"],
        "machine": ["a", "b", "", "a", ""],
    }
)
RUNS = Runs.from_frame(
    FRAME, ["layout"], quantities={"memory": "KiB"}, space=Space(layout=Categorical(1, 2, 3, unit="plan"))
)


def test_repetitions_are_condensed_and_kinds_kept() -> None:
    for statistic, first in (("median", 3.0), ("min", 1.0), ("mean", 4.0)):
        model = fit(RUNS, method=Toy.method, statistic=statistic)
        np.testing.assert_allclose(model.predict({"layout": 1}), [np.sqrt(first * 6.0)])
    assert model.space_ == Space(layout=Categorical(1, 2, unit="plan"))
    assert model.training_.pop("single_runs")["repetitions"] == pytest.approx(2 / (1 / 3 + 1))
    outcomes = {"configurations": {"layout": [1, 2, 3]}, "failed": [False, False, True], "whole": True}
    assert model.training_ == {
        "outcomes": outcomes,
        "rounding": 0.1, "rows": 4, "bounds": 0, "failed": 1, "statistic": "mean", "of_steps": "mean", "smallest": 1.0,
        "largest": 8.0, "machines": ["a", "b"], "left_out": {},
    }  # fmt: skip


def test_another_quantity_and_options() -> None:
    model = fit(RUNS, method=Toy.method, response="memory", factor=10.0)
    assert model.response_ == {"name": "memory", "unit": "B"}
    np.testing.assert_allclose(model.predict({"layout": 1}), [10 * np.sqrt(1024 * 2048)])


def test_a_model_per_solver() -> None:
    models = fit({"inner": RUNS, "outer": RUNS}, method=Toy.method)
    assert list(models) == ["inner", "outer"]
    with pytest.raises(InputError, match=r"^outer: there are no runs with 'seconds' that went well"):
        fit({"inner": RUNS, "outer": RUNS.failed}, method=Toy.method)


@pytest.mark.parametrize(
    ("runs", "options", "reason"),
    [
        (RUNS, {"method": "magic"}, "method must be one of .*toy-of-the-tests.*, but got 'magic'"),
        (
            RUNS,
            {"method": Toy.method, "depth": 3},
            "has no option 'depth'; its options are factor, keep",
        ),
        (RUNS, {"method": Toy.method, "effort": "extreme"}, "effort must be one of quick, normal, thorough"),
        (RUNS, {"method": Toy.method, "statistic": "max"}, "statistic must be one of"),
        (RUNS, {"method": Toy.method, "response": "power"}, "response must be one of"),
        (RUNS.failed, {"method": Toy.method}, "nothing to learn from"),
        ([FRAME], {}, "learns from Runs, a DataFrame, or a dict of Runs by solver"),
        ({}, {}, "mapping of solvers to runs is empty"),
    ],
)
def test_wrong_questions(runs: Any, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        fit(runs, **options)


def test_labels_choose_a_method_that_takes_them() -> None:
    table = pd.DataFrame({
        "cores": [1, 2, 4, 8] * 2, "solver": ["cg"] * 4 + ["mg"] * 4,
        "seconds": [8.0, 4.0, 2.0, 1.0, 4.0, 2.0, 1.0, 0.5],
    })  # fmt: skip
    model = fit(Runs.from_frame(table, ["cores", "solver"]))
    assert model.method == "log-quadratic"
    assert model.predict({"cores": [4], "solver": ["mg"]})[0] == pytest.approx(1.0, rel=1e-6)


def test_durations_in_a_table_are_read() -> None:
    numbers = pd.DataFrame({"cores": [1, 2, 4, 8], "seconds": [80.0, 41.0, 20.5, 10.25]})
    texts = numbers.assign(seconds=["00:01:20", "41 s", "20.5 s", "PT10.25S"])
    differences = numbers.assign(seconds=pd.to_timedelta(numbers["seconds"], unit="s"))
    expected = fit(numbers, parameters=["cores"], method="power-law").predict({"cores": [3]})
    for table in (texts, differences, differences.astype({"seconds": object})):
        assert fit(table, parameters=["cores"], method="power-law").predict({"cores": [3]}) == expected
    with pytest.raises(InputError, match="row 0 holds '12:30'"):  # minutes and seconds, or hours and minutes?
        fit(numbers.assign(seconds="12:30"), parameters=["cores"])


def test_numbers_as_text_are_no_labels_in_silence() -> None:
    table = pd.DataFrame({"cores": ["1", "2", "4"], "mesh": ["a", "b", "a"], "seconds": [80.0, 41.0, 20.5]})
    with pytest.raises(InputError, match=r"'cores' holds numbers as text.*astype\(\{'cores': float\}\)"):
        fit(table, parameters=["cores", "mesh"])


def test_files_and_tables_are_told_apart() -> None:
    with pytest.raises(InputError, match=r"got str: read the file first, as in evenly.fit\(evenly.read\('a.csv'\)\)"):
        fit("a.csv")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="a table in memory isn't read"):
        read(pd.DataFrame({"cores": [1]}))  # type: ignore[arg-type]


def _run_unequally_often(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Thirty configurations of a power law, every third measured 15 times, noise of 20 %; and their medians."""
    rng = np.random.default_rng(seed)
    once = pd.DataFrame({"cores": np.exp(rng.uniform(0, 6, 30)), "size": np.exp(rng.uniform(6, 12, 30))})
    runs = once.loc[np.repeat(np.arange(30), np.where(np.arange(30) % 3, 1, 15))]
    runs["seconds"] = runs["size"] / runs["cores"] * np.exp(0.2 * rng.normal(size=len(runs)))
    return runs, runs.groupby(["cores", "size"])[["seconds"]].median().reset_index()


def test_a_configuration_that_ran_often_counts_more() -> None:
    # The medians of 15 runs have a quarter of the noise, which the medians alone don't tell.
    errors = []
    for seed in range(12):
        tables = _run_unequally_often(seed)
        models = [fit(Runs.from_frame(one, ["cores", "size"]), method="log-quadratic") for one in tables]
        asked = tables[1][["cores", "size"]]
        errors.append([np.abs(np.log(m.predict(asked) * asked["cores"] / asked["size"])).mean() for m in models])
    with_counts, without = np.mean(errors, axis=0)
    assert with_counts < 0.9 * without


def test_equal_numbers_of_runs_change_nothing() -> None:
    runs, medians = _run_unequally_often(0)
    often = runs[runs.duplicated(["cores", "size"], keep=False)]
    medians = medians.merge(often[["cores", "size"]].drop_duplicates())
    one, other = (fit(Runs.from_frame(its, ["cores", "size"]), method="power-law") for its in (often, medians))
    asked = {"cores": [4.0], "size": [1e4]}
    np.testing.assert_array_equal(one.predict(asked), other.predict(asked))
