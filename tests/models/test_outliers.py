"""Outliers: planted ones are found, named and left out; what neighbours agree with is left alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import EvenlyWarning, InputError
from evenly.metrics import mlogq
from evenly.models.base import Model
from evenly.models.outliers import unlike_neighbours
from evenly.models.storage import load, save
from evenly.report.left_out_errors import left_out_errors

Law = Callable[[pd.DataFrame], Any]


def product(table: pd.DataFrame) -> Any:
    return table["size"] ** 1.5 / table["cores"]


def grid(law: Law = product, *, noise: float = 0.03, seed: int = 0, cores: int = 8, sizes: int = 9) -> pd.DataFrame:
    """Return cores 1, 2, 4 … times sizes, each run once."""
    c, s = np.meshgrid(2 ** np.arange(cores), 100 * np.arange(1, sizes + 1))
    table = pd.DataFrame({"cores": c.ravel(), "size": s.ravel()})
    rng = np.random.default_rng(seed)
    return table.assign(seconds=law(table) * np.exp(noise * rng.normal(size=len(table))))


def fitted(table: pd.DataFrame, **options: Any) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenlyWarning)
        options = {"method": "log-quadratic", **options}
        model: Model = evenly.fit(
            evenly.Runs.from_frame(table, [n for n in table.columns if n not in ("seconds", "status")]), **options
        )
    return model


def rows_of(model: Model) -> list[int]:
    return [one["row"] for one in model.training_.get("outliers", {}).get("rows", ())]


def spoilt(table: pd.DataFrame, rows: list[int], factor: float = 100.0) -> pd.DataFrame:
    bad = table.copy()
    bad.loc[rows, "seconds"] *= factor
    return bad


@pytest.mark.parametrize("method", ["log-quadratic", "gp"])
def test_a_table_with_outliers_is_learned_as_if_it_had_none(method: str) -> None:
    table = grid()
    bad = spoilt(table, [20, 44])
    clean, kept, dropped = (
        fitted(one, method=method, outliers=outliers)
        for one, outliers in ((table, "drop"), (bad, "keep"), (bad, "drop"))
    )
    asked = grid(noise=0.0, sizes=8)
    errors = [mlogq(asked["seconds"], model.predict(asked)) for model in (clean, kept, dropped)]
    assert rows_of(dropped) == [21, 45] or rows_of(dropped) == [45, 21]
    assert not rows_of(clean)
    assert not rows_of(kept)
    # Two of 72 rows less: the error may grow by a share like that, not by what two rows of 100 times make of it.
    assert errors[2] < 1.15 * errors[0] < 0.5 * errors[1]


def test_the_warning_names_run_configuration_measured_expected_and_factor() -> None:
    bad = spoilt(grid(noise=0.01), [20], 0.01)
    with pytest.warns(
        EvenlyWarning, match=r"1 of 72 rows: run 20 \(cores = 16, size = 300\) measured .* × less\)"
    ) as told:
        model: Any = evenly.fit(evenly.Runs.from_frame(bad, ["cores", "size"]), method="log-quadratic")
    assert "--outliers keep" in str(told[0].message)
    (row,) = model.training_["outliers"]["rows"]
    assert row["configuration"] == {"cores": 16, "size": 300}
    assert row["dropped"]
    assert row["measured"] == bad["seconds"][20]
    assert row["expected"] == pytest.approx(product(bad)[20], rel=0.1)
    assert row["factor"] == pytest.approx(0.01, rel=0.1)


def test_of_several_solvers_the_warning_names_the_one() -> None:
    runs = {
        name: evenly.Runs.from_frame(table, ["cores", "size"])
        for name, table in (("ocean", grid()), ("ice", spoilt(grid(), [20])))
    }
    with pytest.warns(EvenlyWarning, match=r"^ice: far off") as told:
        evenly.fit(runs, method="log-quadratic")
    assert len(told) == 1


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3])
def test_clean_tables_have_no_outliers(noise: float) -> None:
    # A lognormal error of six standard deviations has a probability of 2e-9.
    assert not any(rows_of(fitted(grid(noise=noise, seed=seed))) for seed in range(5))


@pytest.mark.parametrize("rows", [5, 8, 12])
def test_small_tables_are_left_alone(rows: int) -> None:
    for seed in range(5):
        table = grid(noise=0.1, seed=seed).sample(rows, random_state=seed).reset_index(drop=True)
        assert not rows_of(fitted(spoilt(table, [2], 5.0), method="power-law"))


@pytest.mark.parametrize("seed", range(4))
def test_a_method_that_fits_few_rows_exactly_takes_no_good_row_for_an_outlier(seed: int) -> None:
    # Three labels and two sizes: a parabola has eight coefficients.
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"cores": 2.0 ** rng.integers(0, 7, 20), "cells": np.exp(rng.uniform(7, 14, 20)).round()})
    table["solver"] = rng.choice(["cg", "gmres", "direct"], 20)
    power = np.where(table["solver"] == "direct", 1.4, 1.05)
    table["seconds"] = table["cells"] ** power * 1e-7 / table["cores"] ** 0.85 + 0.01
    assert not rows_of(fitted(table, method="log-quadratic"))


def test_a_single_outlier_of_one_parameter_is_found_though_it_moves_the_law() -> None:
    cores = np.arange(1, 25)
    table = pd.DataFrame({"cores": cores, "seconds": 400 / cores + 2 + np.random.default_rng(0).normal(0, 0.02, 24)})
    model = fitted(spoilt(table, [11], 60.0), method=None)
    assert rows_of(model) == [12]
    assert model.predict({"cores": [12]}) == pytest.approx(400 / 12 + 2, rel=0.03)


@pytest.mark.parametrize(
    "law",
    [
        lambda t: product(t) * np.where((t["cores"] >= 32) & (t["size"] >= 700), 8.0, 1.0),
        lambda t: product(t) * np.where(t["size"] >= 500, 10.0, 1.0),
    ],
    ids=["corner", "cliff"],
)
@pytest.mark.parametrize("method", ["log-quadratic", "gp", "nearest"])
def test_what_neighbours_agree_with_is_no_outlier(law: Law, method: str) -> None:
    assert not rows_of(fitted(grid(law), method=method))


def test_a_slow_algorithm_of_one_label_is_no_outlier() -> None:
    slow = grid(lambda t: 20 * product(t), cores=2, sizes=3).assign(solver="direct")
    table = pd.concat([grid().assign(solver="cg"), slow], ignore_index=True)
    assert not rows_of(fitted(table, method="gp"))


def test_a_corner_alone_is_named_but_kept_unless_it_is_absurd() -> None:
    table = grid()
    last = len(table) - 1
    swapped = fitted(spoilt(table, [last], 10.0), method="gp")
    (row,) = swapped.training_["outliers"]["rows"]
    assert row["row"] == last + 1
    assert row["at_edge"]
    assert not row["dropped"]
    with pytest.warns(EvenlyWarning, match="at the edge of what was measured, so kept"):
        evenly.fit(evenly.Runs.from_frame(spoilt(table, [last], 10.0), ["cores", "size"]), method="gp")
    (row,) = fitted(spoilt(table, [last], 1000.0), method="gp").training_["outliers"]["rows"]
    assert row["dropped"]


def test_what_was_measured_twice_alike_is_kept_and_of_two_unlike_runs_one_is_dropped() -> None:
    table = grid()
    alike = pd.concat([spoilt(table, [20]), spoilt(table, [20]).iloc[[20]]], ignore_index=True)
    assert not rows_of(fitted(alike, method="gp"))
    unlike = pd.concat([spoilt(table, [20]), table.iloc[[20]]], ignore_index=True)
    model = fitted(unlike, method="gp")
    assert rows_of(model) == [21]
    assert model.predict(table.iloc[[20]]) == pytest.approx(table["seconds"][20], rel=0.1)


def test_left_out_errors_are_those_of_the_rows_that_were_learned_from(tmp_path: Any) -> None:
    bad = spoilt(grid(), [20])
    runs, model = evenly.Runs.from_frame(bad, ["cores", "size"]), fitted(bad)
    save(model, tmp_path / "model.evenly")
    for one in (model, load(tmp_path / "model.evenly")):
        assert isinstance(one, Model)
        errors = left_out_errors(one, runs)
        assert errors is not None
        assert errors["MLogQ"] < 0.05
        assert one.left_out_predictions_ is not None
        assert np.isnan(one.left_out_predictions_).sum() == 1
        assert one.training_["outliers"]["rows"][0]["row"] == 21
        assert one.training_["rows"] == 71


def test_bounds_and_failed_rows_keep_their_places() -> None:
    table = grid().assign(status="ok")
    table.loc[[0, 1], "status"] = ["failed", "timed out"]
    model = fitted(spoilt(table, [20]))
    assert rows_of(model) == [21]
    assert (model.training_["failed"], model.training_["bounds"]) == (1, 1)


def test_wrong_choices_are_refused() -> None:
    with pytest.raises(InputError, match="outliers must be one of drop, keep"):
        evenly.fit(evenly.Runs.from_frame(grid(), ["cores", "size"]), outliers="hide")


def test_no_outlier_where_nothing_is_known() -> None:
    unknown = np.full(40, np.nan)
    unlike, edge = unlike_neighbours(np.linspace(-1, 1, 40)[:, None], np.zeros(40), unknown)
    assert not unlike.any()
    assert not edge.any()


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
@pytest.mark.parametrize(("factor", "dropped"), [(1 / 60, True), (20.0, False)])
@pytest.mark.parametrize("first", [1, 16])
def test_a_first_row_that_a_law_takes_exactly_is_told(factor: float, dropped: bool, first: int) -> None:
    # n^-a log2(n) is zero at one core, so the first row costs it nothing.
    cores = np.unique(np.round(first * 2 ** np.linspace(0, 6, 19)).astype(int))
    exact = 20 + 3000 / cores
    seconds = exact * np.exp(0.02 * np.random.default_rng(0).normal(size=len(cores)))
    seconds[0] *= factor
    table = pd.DataFrame({"cores": cores, "seconds": seconds})
    with pytest.warns(EvenlyWarning, match=rf"run 0 \(cores = {first}\)"):
        model: Any = evenly.fit(evenly.Runs.from_frame(table, ["cores"]))
    (row,) = model.training_["outliers"]["rows"]
    assert (row["run"], row["dropped"]) == ("0", dropped)
    if dropped:
        assert model.predict({"cores": [first]})[0] == pytest.approx(exact[0], rel=0.3)
