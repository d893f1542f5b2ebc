"""Noise that grows, which repeated runs of few configurations tell: intervals are wider where it is large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.uncertainty.repeated_noise import RepeatedNoise

CORES = np.array([1, 2, 4, 8, 16, 32, 64, 128])


def repeated(seed: int, least: float, most: float, repeats: int = 3) -> evenly.Runs:
    """Runs of a law, three times each, whose noise grows from one size to another."""
    rng = np.random.default_rng(seed)
    cores = np.repeat(CORES, repeats)
    noise = least * (most / least) ** (np.log(cores) / np.log(128))
    seconds = (400 / cores + 3) * np.exp(noise * rng.normal(size=len(cores)))
    return evenly.Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": seconds}), ["cores"])


def share_held(seed: int) -> tuple[float, float]:
    """The share of new medians of three at 128 cores in the interval, with the law of the noise and without."""
    model: Any = evenly.fit(repeated(seed, 0.01, 0.3), outliers="keep")
    noise = 0.3 * np.random.default_rng(seed + 1000).normal(size=(400, 3))
    new = (400 / 128 + 3) * np.exp(np.median(noise, axis=1))
    found = []
    for _ in range(2):
        lower, upper = model.interval({"cores": [128]})
        found.append(float(np.mean((lower <= new) & (new <= upper))))
        model.training_.pop("repeated_noise", None)
    return found[0], found[1]


@pytest.mark.filterwarnings("ignore::evenly.errors.EvenlyWarning")
def test_intervals_are_wider_where_repeated_runs_scatter() -> None:
    held, without = np.mean([share_held(seed) for seed in range(12)], axis=0)
    assert held > without + 0.05


def test_what_it_adds_is_what_was_planted() -> None:
    found = [RepeatedNoise.of(repeated(seed, 0.01, 0.3), "mean") for seed in range(20)]
    assert all(found)
    at_ends = np.median([one.more(pd.DataFrame({"cores": [1, 128]})) for one in found if one], axis=0)
    assert at_ends[0] == 0
    # The noise of a mean of three at k = 0 … 7 is 0.01 · 30^(k/7) / √3, at most 0.173. Its mean square is 0.0955²; the
    # rest is 0.144. The ridge of the law, which counts as two of 24 runs, makes it flatter.
    assert 0.144 / 2 < at_ends[1] < 0.144


def test_even_noise_and_single_runs_add_nothing() -> None:
    assert sum(RepeatedNoise.of(repeated(seed, 0.1, 0.1), "median") is not None for seed in range(40)) <= 2
    assert RepeatedNoise.of(repeated(0, 0.01, 0.3, repeats=1), "median") is None
    assert RepeatedNoise.of(repeated(0, 0.01, 0.3), "min") is None
    exact = pd.DataFrame({"cores": np.repeat(CORES, 3), "seconds": np.repeat(400 / CORES, 3)})
    assert RepeatedNoise.of(evenly.Runs.from_frame(exact, ["cores"]), "median") is None


@pytest.mark.filterwarnings("ignore::evenly.errors.EvenlyWarning")
def test_it_is_stored_and_takes_labels(tmp_path: Path) -> None:
    table = pd.concat([repeated(seed, 0.01, 0.3).to_frame().assign(solver=str(seed) + "x") for seed in (1, 2, 3)])
    runs = evenly.Runs.from_frame(table[["cores", "solver", "seconds"]].query("cores > 1"), ["cores", "solver"])
    model: Any = evenly.fit(runs, outliers="keep", method="log-quadratic")
    assert "repeated_noise" in model.training_
    evenly.save(model, tmp_path / "one.evenly")
    again: Any = evenly.load(tmp_path / "one.evenly")
    asked = {"cores": [2, 128], "solver": ["1x", "3x"]}
    np.testing.assert_allclose(again.interval(asked), model.interval(asked))
