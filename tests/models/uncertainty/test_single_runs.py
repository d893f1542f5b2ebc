"""What single runs stay below: as often as asked, whatever their scatter, and never guessed where runs were stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.base import Model
from evenly.models.uncertainty.single_runs import SingleRuns, quantile

CORES = np.array([4, 8, 16, 32, 64])


def scatter(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n factors: of two kinds of days, with a long tail, or as usual."""
    if kind == "two kinds":
        return np.where(rng.random(n) < 0.3, 2.5, 1.0) * rng.lognormal(0, 0.05, n)
    if kind == "long tail":
        return 1 + rng.pareto(2.5, n)
    return rng.lognormal(0, 0.3, n)


def learned(kind: str, repetitions: int, seed: int) -> Model:
    rng = np.random.default_rng(seed)
    cores = np.repeat(CORES, repetitions)
    table = pd.DataFrame({"cores": cores, "seconds": 3600 / cores**0.8 * scatter(kind, len(cores), rng)})
    return evenly.fit(evenly.Runs.from_frame(table, ["cores"]))


@pytest.mark.parametrize("repetitions", [8, 40])
@pytest.mark.parametrize("kind", ["two kinds", "long tail", "usual"])
def test_as_many_single_runs_stay_below_as_asked(kind: str, repetitions: int) -> None:
    covered = []
    for seed in range(10):
        model = learned(kind, repetitions, seed)
        rng = np.random.default_rng(100 + seed)
        for cores in (16, 24):  # one that was measured, and one that wasn't
            limit = model.upper({"cores": [cores]}, 0.9)[0]
            covered.append(np.mean(3600 / cores**0.8 * scatter(kind, 2000, rng) <= limit))
    # The share of runs below a quantile of 40 scatters by sqrt(0.9 · 0.1 / 40) = 0.05, the mean of ten by 0.015.
    assert np.mean(covered) > 0.87


def test_much_is_known_of_a_configuration_that_ran_often() -> None:
    rng = np.random.default_rng(1)
    cores = np.repeat([8, 16, 32], 88)
    table = pd.DataFrame({"cores": cores, "seconds": 36_000 / cores * rng.uniform(0.95, 1.05, len(cores))})
    model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]))
    asked = {"cores": [8, 12, 16, 24, 32]}
    truth = 36_000 / np.array(asked["cores"])
    limit = model.upper(asked, 0.99) / truth
    assert np.all((limit[::2] > 1.03) & (limit[::2] < 1.08))
    # Three configurations leave no degree of freedom for their noise, but the runs tell it.
    lower, upper = model.interval(asked, 0.9)
    assert np.all((lower / truth > 0.75) & (lower < truth))
    assert np.all((upper / truth < 1.35) & (upper > truth))


def test_what_was_stopped_too_often_has_no_limit() -> None:
    rng = np.random.default_rng(0)
    cores = np.repeat([4, 8], 28)
    seconds = 36_000 / cores * rng.lognormal(0, 0.05, len(cores))
    status = np.where(seconds > 9000, "timed out", "ok")  # about half of those on four cores
    table = pd.DataFrame({"cores": cores, "seconds": np.minimum(seconds, 9000.0), "status": status})
    model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]))
    few, many = model.upper({"cores": [4, 8]}, 0.9)
    assert np.isinf(few)
    assert many < 1.2 * 4500


def test_runs_that_ran_once_have_the_upper_end_of_their_interval() -> None:
    table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 41.0, 20.5, 10.1, 5.2]})
    model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]))
    assert model.upper({"cores": [3]}, 0.95) == pytest.approx(model.interval({"cores": [3]}, 0.9)[1], rel=1e-12)


def test_it_rises_with_the_probability_and_is_kept(tmp_path: Path) -> None:
    model = learned("usual", 40, 0)
    asked = {"cores": [16, 24]}
    limits = [model.upper(asked, probability) for probability in (0.6, 0.9, 0.93, 0.99, 0.9999)]
    assert np.all(np.diff(limits, axis=0) >= 0)
    assert np.all(limits[0] >= model.predict(asked))
    evenly.save(model, tmp_path / "m.evenly")
    again = evenly.load(tmp_path / "m.evenly")
    assert isinstance(again, Model)
    assert again.upper(asked, 0.9).tolist() == limits[1].tolist()


def test_a_unit_of_time_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    cores = np.repeat(CORES, 12)
    seconds = 3600 / cores * rng.lognormal(0, 0.2, len(cores))
    limits = [
        evenly.fit(evenly.Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": seconds * unit}), ["cores"])).upper(
            {"cores": [4, 24]}, 0.99
        )
        / unit
        for unit in (1.0, 1e-6)
    ]
    assert limits[0] == pytest.approx(limits[1], rel=1e-6)


def test_quantiles_count_stopped_runs_by_the_product_limit() -> None:
    """By hand: of 1, 2+, 3, 4+, 5, the shares that end by 1, 3, 5 are 1/5, 1 - 4/5 · 2/3 = 7/15, and 1."""
    values, stopped = np.arange(1.0, 6.0), np.array([False, True, False, True, False])
    shares = np.array([1 / 5, 7 / 15, 1.0]) * 5 / 6  # one more value
    for share, value in zip(shares, (1.0, 3.0, 5.0), strict=True):
        assert quantile(values, stopped, share - 1e-6) == value
    assert quantile(values, stopped, shares[0] + 1e-6) == 3.0
    assert quantile(values[:4], stopped[:4], 0.9) == np.inf


def test_the_scatter_of_one_program_isnt_charged_to_another() -> None:
    """A program of steady times got the limit of another that scatters, and so four times its cores for a deadline."""
    rng = np.random.default_rng(4)
    rows = [
        (name, cores, 3600 * (0.4 + 400 / cores) * np.exp(rng.normal(0, spread)))
        for name, spread, each in (("steady", 0.1, 17), ("wild", 0.6, 40))
        for cores in (64, 128, 256)
        for _ in range(each)
    ]
    table = pd.DataFrame(rows, columns=["name", "cores", "seconds"])
    model = evenly.fit(evenly.Runs.from_frame(table, ["name", "cores"]), effort="quick")
    asked = {"name": ["steady", "wild"], "cores": [128, 128]}
    steady, wild = model.upper(asked, 0.95) / (3600 * (0.4 + 400 / 128))
    assert 1.12 < steady < 1.5
    assert wild > 2
    single = SingleRuns.from_state(model.training_["single_runs"])
    assert sorted(single.labels["name"]) == ["steady", "wild"]
    old = {key: value for key, value in single.to_state().items() if key not in ("labels", "label_scatter")}
    assert SingleRuns.from_state(old).labels == {}


def test_runs_that_were_all_stopped_tell_nothing_of_the_scatter_of_others() -> None:
    """Three runs that were stopped on one thread made all limits unknown, also where none was stopped."""
    noise = np.exp(0.01 * np.random.default_rng(2).normal(size=15))
    threads = np.repeat([2, 4, 8, 16, 32], 3)
    table = pd.DataFrame({"threads": threads, "seconds": (10 + 300 / threads) * noise, "status": "ok"})
    stopped = pd.DataFrame({"threads": [1] * 3, "seconds": [240.0] * 3, "status": ["timed out"] * 3})
    alone, both = (
        evenly.fit(evenly.Runs.from_frame(rows, ["threads"])) for rows in (table, pd.concat([table, stopped]))
    )
    limits = [model.upper({"threads": [4, 8, 32]}, 0.95) for model in (alone, both)]
    np.testing.assert_allclose(limits[0], limits[1], rtol=0.1)
    assert SingleRuns.of(evenly.Runs.from_frame(stopped, ["threads"]), "median") is None
