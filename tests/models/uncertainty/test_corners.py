"""Corners of the range that only stopped runs reach."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.base import Model
from evenly.models.storage import load, save
from evenly.models.uncertainty.corners import corners_of
from evenly.space.space import Space

SIZES, CORES, LIMIT = (250, 500, 1000, 2000, 4000), (1, 2, 4, 8, 16), 100.0


def _seconds(size: float, cores: float) -> float:
    return 1e-8 * size**3 / cores + 1e-3 * size


def _model(method: str | None) -> Model:
    rng, rows = np.random.default_rng(1), []
    for size, cores in itertools.product(SIZES, CORES):
        seconds = _seconds(size, cores) * rng.lognormal(0, 0.03)
        rows.append((size, cores, "ok" if seconds < LIMIT else "timed out", min(seconds, LIMIT)))
    table = pd.DataFrame(rows, columns=["size", "cores", "status", "seconds"])
    model = evenly.fit(evenly.Runs.from_frame(table, ["size", "cores"]), method=method)
    assert isinstance(model, Model)
    return model


@pytest.mark.parametrize("method", ["gp", "log-quadratic", "beyond"])
def test_a_corner_that_only_stopped_runs_reach_is_an_extrapolation(method: str, tmp_path: Path) -> None:
    model = _model(method)
    asked = {"size": [4000, 4000, 4000, 2000], "cores": [1, 2, 8, 1]}
    assert model.extrapolates(asked).tolist() == [True, True, False, False]
    lower, upper = model.interval(asked)
    widths = np.log(upper / lower)
    assert widths[:2].min() > 1.8 * widths[2:].max()
    # In a stored model, too.
    save(model, tmp_path / "model.evenly")
    again = load(tmp_path / "model.evenly")
    assert isinstance(again, Model)
    assert again.extrapolates(asked).tolist() == [True, True, False, False]


def test_stopped_runs_between_measured_ones_are_at_no_corner() -> None:
    rows = [(size, cores, (size, cores) == (1000, 4)) for size, cores in itertools.product(SIZES, CORES)]
    evidence = pd.DataFrame(rows, columns=["size", "cores", "censored"])
    space = Space.from_data(evidence[["size", "cores"]])
    assert corners_of(evidence, space) == {}
    evidence.loc[len(evidence)] = (4000, 1, True)
    evidence = evidence[(evidence["size"] != 4000) | (evidence["cores"] != 1) | evidence["censored"]]
    assert corners_of(evidence, space)["configurations"] == {"size": [4000], "cores": [1]}


def test_corners_are_those_of_a_label() -> None:
    rows = [(kind, size, cores, False) for kind in "ab" for size, cores in itertools.product((1, 2, 4), (1, 2, 4))]
    evidence = pd.DataFrame(rows, columns=["kind", "size", "cores", "censored"])
    evidence.loc[(evidence["kind"] == "b") & (evidence["size"] == 4) & (evidence["cores"] == 1), "censored"] = True
    found = corners_of(evidence, Space.from_data(evidence[["kind", "size", "cores"]]))
    assert found["configurations"] == {"kind": ["b"], "size": [4], "cores": [1]}
