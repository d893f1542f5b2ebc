"""Which runs come next."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from evenly import Categorical, InputError, Integer, Real, Runs, Space, fit
from evenly.core_counts.goal import counts_like
from evenly.errors import EvenlyWarning
from evenly.metrics import mlogq
from evenly.models import LogQuadratic
from evenly.tuning.advisor import advise, next_runs


def measured(table: pd.DataFrame, space: Space) -> Runs:
    return Runs.from_frame(table, space.names, space=space)


def test_proposals_are_feasible_new_and_distinct() -> None:
    space = Space(n=Integer(1, 12), solver=Categorical("cg", "lu"), constraints=["n != 7"])
    table = pd.DataFrame({"n": [1, 4, 12, 2, 9], "solver": ["cg", "lu", "cg", "lu", "cg"]})
    runs = measured(table.assign(seconds=table["n"] * 1.5), space)
    proposed = next_runs(runs, 30)
    assert space.contains(proposed).all()
    assert not proposed.duplicated().any()
    assert len(pd.concat([proposed, table]).drop_duplicates()) == len(proposed) + 5
    # 2 × 11 configurations, five of them known.
    assert len(proposed) == 22 - 5
    assert next_runs(runs, 2).equals(next_runs(runs, 2))


def test_failed_configurations_are_not_proposed() -> None:
    space = Space(n=Integer(1, 4))
    runs = measured(
        pd.DataFrame({"n": [1, 2, 3], "seconds": [1.0, 2.0, np.nan], "status": ["ok", "ok", "failed"]}), space
    )
    assert next_runs(runs, 3)["n"].tolist() == [4]


def test_among_equally_unknown_the_cheaper_is_run() -> None:
    # Two labels that nothing is known of but a run each; one takes a hundred times longer.
    space = Space(x=Real(1, 10, scale="log"), solver=Categorical("fast", "slow"))
    table = pd.DataFrame({"x": [1.0, 10.0, 1.0, 10.0], "solver": ["fast", "fast", "slow", "slow"]})
    runs = measured(table.assign(seconds=[0.01, 0.11, 1.0, 10.3]), space)
    assert next_runs(runs)["solver"].tolist() == ["fast"]


BUDGETS = (0.1, 0.5, 0.9)
SPACE = Space(n=Integer(10, 10_000, scale="log"), p=Integer(1, 64, scale="log"))


def truth(table: pd.DataFrame) -> np.ndarray:
    """Work that falls out of the cache, and messages."""
    n, p = table["n"].to_numpy(float), table["p"].to_numpy(float)
    cache = 1 + 0.8 / (1 + np.exp(-4 * np.log(n / p / 300)))
    return np.asarray(cache * 1e-6 * n**1.5 / p + 1e-3 * np.log2(2 * p) ** 2 + 1e-3)


def learned(draw: pd.DataFrame | None) -> float:
    """Mean log error after runs of some budgets were made, in seconds: those that are advised, or those drawn."""
    asked, table = SPACE.sample(400, design="sobol", seed=9), SPACE.sample(8, design="sobol", seed=1)
    spent, errors = 0.0, []
    for i in range(80):
        new = next_runs(measured(table.assign(seconds=truth(table)), SPACE)) if draw is None else draw.iloc[[i]]
        before, spent = spent, spent + float(truth(new)[0])
        if any(before < budget <= spent for budget in BUDGETS):
            model = fit(measured(table.assign(seconds=truth(table)), SPACE), method="gp", effort="quick")
            errors.append(np.log(mlogq(truth(asked), model.predict(asked))))
        if spent > max(BUDGETS):
            break
        table = pd.concat([table, new], ignore_index=True)
    return float(np.mean(errors))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_advice_teaches_more_per_second_than_chance() -> None:
    chance = [learned(SPACE.sample(80, seed=seed)) for seed in range(4)]
    assert learned(None) < np.mean(chance)


def test_nothing_to_learn_from() -> None:
    space = Space(n=Integer(1, 4))
    runs = measured(pd.DataFrame({"n": [1], "seconds": [np.nan], "status": ["failed"]}), space)
    with pytest.raises(InputError, match="no run went well"):
        next_runs(runs)
    with pytest.raises(InputError, match="n must be at least 1"):
        next_runs(runs, 0)


@pytest.mark.parametrize(
    ("measured_on", "asked_for"),
    [
        ([16, 32, 64, 128, 256], {24, 48, 96, 192}),  # between powers of two
        ([16, 48, 64, 256], {32, 80, 96, 112, 128, 144, 160, 192, 224}),  # multiples of 16
        ([48, 96, 480], {144, 192, 240, 288, 336, 384}),  # whole nodes of 48 cores
        ([3, 7, 40], {4, 6, 8, 12, 16, 24, 32}),
    ],
)
def test_counts_are_proposed_that_people_ask_for(measured_on: list[int], asked_for: set[int]) -> None:
    table = pd.DataFrame({"cores": measured_on, "seconds": [800.0 / n + 0.1 * n for n in measured_on]})
    proposed = next_runs(Runs.from_frame(table, ["cores"]), 4)["cores"].tolist()
    assert proposed
    assert set(proposed) <= asked_for


def test_where_all_usual_counts_were_run_others_are_proposed() -> None:
    table = pd.DataFrame({"cores": [4, 6, 8], "seconds": [8.0, 6.0, 5.0]})
    space = Space(cores=Integer(4, 8))
    assert set(next_runs(measured(table, space), 5)["cores"]) == {5, 7}


def test_usual_values_are_those_measured_and_round_ones_well_between_them() -> None:
    """Of the whole range of sizes, runs next to measured ones on many cores are cheap, and teach nearly nothing."""
    rows = [(p, n, 3 + 4e-4 * n / p, 7) for n in (1_000_000, 4_000_000, 16_000_000) for p in (8, 16, 32, 64)]
    runs = Runs.from_frame(
        pd.DataFrame(rows, columns=["cores", "size", "seconds", "level"]), ["cores", "size", "level"]
    )
    proposed = advise(runs, 40, values="usual")
    assert set(proposed["size"]) == {1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000}
    assert set(proposed["cores"]) == {8, 12, 16, 24, 32, 48, 64}
    assert len(proposed) == 7 * 5 - 12
    near = [(p, n, 3 + n / p) for n in (1, 2, 4, 8) for p in (8, 16, 32)]
    small = Runs.from_frame(pd.DataFrame(near, columns=["cores", "size", "seconds"]), ["cores", "size"])
    assert set(advise(small, 40, values="usual")["size"]) <= {1, 2, 3, 4, 6, 8}
    few = Runs.from_frame(pd.DataFrame({"cores": [7, 8, 9, 10], "seconds": [4.0, 3.5, 3.1, 2.8]}), ["cores"])
    assert not len(advise(few, 3, values="usual"))


def test_what_comes_first_is_proposed_first_and_once() -> None:
    runs = Runs.from_frame(pd.DataFrame({"cores": [8, 16, 64], "seconds": [80.0, 41.0, 12.0]}), ["cores"])
    assert advise(runs, 3, first=[{"cores": 256}])["cores"].tolist()[0] == 256
    found = advise(runs, 4, values="usual", first=[{"cores": 32}])["cores"].tolist()
    assert found[0] == 32
    assert sorted(found) == [12, 24, 32, 48]


@pytest.fixture(scope="module")
def scaled() -> Runs:
    """Forty runs of a law whose second term begins to count at the edge of the range."""
    rng = np.random.default_rng(5)
    ranks = 2 ** rng.integers(2, 7, 40)
    cells = np.exp(rng.uniform(np.log(1000), np.log(30000), 40)).round().astype(np.int64)
    seconds = (cells / ranks * 1e-2 + 0.5 * np.log2(ranks)) * np.exp(0.05 * rng.normal(size=40))
    table = pd.DataFrame({"ranks": ranks, "cells": cells, "seconds": seconds})
    return Runs.from_frame(table, ["ranks", "cells"])


@pytest.mark.filterwarnings("ignore:ranks = 1024 is beyond:evenly.errors.EvenlyWarning")
def test_what_is_asked_beyond_the_range_is_told_by_one_larger_run(scaled: Runs) -> None:
    table = advise(scaled, 2, asked={"ranks": [1024], "cells": [2000]}, times=LogQuadratic().fit(*_columns(scaled)))
    first, second = table.to_dict("records")
    # Between the range and what is asked, a usual number of ranks.
    assert 64 < first["ranks"] <= 1024
    assert first["ranks"] in counts_like([4, 8, 16, 32, 64], 64, 1024)
    assert first["cells"] == 2000
    assert first["why"] == "tells the laws apart beyond ranks = 64"
    assert scaled.space.contains(table.iloc[[1]]).all()
    assert second["why"] == ""
    assert first["error_after"] < first["error_before"]


@pytest.mark.filterwarnings("ignore:ranks = 1024 is beyond:evenly.errors.EvenlyWarning")
def test_a_run_that_tells_laws_apart_keeps_to_the_budget(scaled: Runs) -> None:
    with pytest.warns(EvenlyWarning, match=r"cells = 2000 tells the laws apart beyond ranks = 64, but takes .* core-h"):
        table = advise(
            scaled, 1, asked={"ranks": [1024], "cells": [2000]}, budget=0.05, cores="ranks",
            times=LogQuadratic().fit(*_columns(scaled)),
        )  # fmt: skip
    assert set(table["why"]) <= {""}


def _halved(counts: list[int], space: Space | None = None) -> Runs:
    table = pd.DataFrame({"cores": counts, "seconds": [400 / count for count in counts]})
    return Runs.from_frame(table, ["cores"], space=space)


def test_how_far_beyond_the_range_it_is_and_what_a_nearer_run_tells_is_said() -> None:
    """Laws that fit these runs agree, so no run is proposed that tells them apart; none tells whether they go on."""
    with pytest.warns(EvenlyWarning) as warned:
        table = advise(_halved([8, 16, 32, 64, 128]), 2, asked={"cores": [96, 512]}, cores="cores")
    assert table["cores"].max() < 128
    (told,) = [str(one.message) for one in warned if "beyond" in str(one.message)]
    assert told.startswith(
        "cores = 512 is beyond what was measured (8 … 128), by a factor of 4. Runs within the range don't tell whether "
        "times go on like this beyond it. One at cores = 256 does: it takes about 0.111 core-hours. The model expects"
    )
    nearer, first = map(float, re.findall(r"([\d.]+) %", told))
    assert nearer < first
    assert first == pytest.approx(100 * table["error_after"].iloc[0], rel=0.01)


def test_a_proposed_run_beyond_the_range_is_the_one_that_tells() -> None:
    runs = _halved([8, 16, 32, 64, 128], Space(cores=Integer(8, 512, scale="log")))
    with pytest.warns(EvenlyWarning, match=r"a factor of 4\. Only the proposed runs beyond the range tell"):
        table = advise(runs, 3, asked={"cores": [512]}, cores="cores")
    assert table["cores"].max() > 128


def test_what_is_asked_inside_the_range_needs_no_larger_run(scaled: Runs) -> None:
    table = advise(scaled, 1, asked={"ranks": [32], "cells": [2000]}, times=LogQuadratic().fit(*_columns(scaled)))
    assert scaled.space.contains(table).all()
    assert table["why"].tolist() == [""]


def _columns(runs: Runs) -> tuple[pd.DataFrame, pd.Series]:
    return runs.configurations, runs.to_frame()["seconds"]


def test_runs_between_those_that_failed_are_proposed_last() -> None:
    rows = [(8, None), (16, None), (32, 31.0), (64, 16.0), (128, 9.0)]
    table = pd.DataFrame(rows, columns=["cores", "seconds"])
    table["status"] = ["failed", "failed", "ok", "ok", "ok"]
    runs = Runs.from_frame(table, ["cores"])
    assert {12, 48, 96} <= set(advise(measured(table.assign(seconds=1.0, status="ok"), runs.space), 9)["cores"])
    assert advise(runs, 2)["cores"].min() > 16


def test_each_row_goes_on_from_the_error_after_the_row_above() -> None:
    table = pd.DataFrame({"n": [1, 2, 4, 64], "p": [8, 1, 4, 2], "seconds": [1.0, 9.1, 5.9, 101.0]})
    found = advise(Runs.from_frame(table, ["n", "p"], space=Space(n=Integer(1, 100), p=Integer(1, 16))), 4)
    assert found["error_before"].tolist()[1:] == found["error_after"].tolist()[:-1]
    assert (found["error_after"] <= found["error_before"]).all()
