from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.models.base import Model
from evenly.report.plots.model import plot_model
from evenly.report.plots.trend_words import quantity_name, trend
from evenly.report.slices import Line, fixed_at, leading_of
from evenly.report.tables import model_table, models_as_dict
from evenly.runs.runs import Runs

Fit = Callable[[Runs], Model]


def line_of(x: Any, value: Any) -> Line:
    x, value = np.asarray(x), np.asarray(value, dtype=np.float64)
    return Line(x, value, value, value, np.ones(len(x), dtype=np.bool_))


X = np.geomspace(1, 1000, 200)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (X**0.5, "time grows as p$^{0.50}$"),
        (X**-0.97, "time falls as p$^{-0.97}$"),
        (1 + 0 * X, "time hardly depends on p"),
        (1 + 1e-5 * X, "time hardly depends on p"),
    ],
)
def test_what_a_line_does(value: Any, said: str) -> None:
    assert trend(line_of(X, value), "p") == said


def test_a_minimum_inside_is_named_to_a_grid_step() -> None:
    words, _, place = trend(line_of(X, 100 / X + 0.1 * X), "p").partition(" = ")
    assert words == "fastest near p"
    assert float(place) == pytest.approx(np.sqrt(1000), rel=X[1] / X[0] - 1)


@pytest.mark.parametrize(
    ("value", "verb", "how"),
    [(1000 / X + 20, "falls", "flattening"), (1 + X**2 / 100, "grows", "steepening")],
)
def test_a_bend_is_told_with_the_exponents_of_both_ends(value: Any, verb: str, how: str) -> None:
    # Each exponent is fitted over a fifth of the line, so it lies among the slopes there, but for two written digits.
    found = trend(line_of(X, value), "p")
    first, last = (float(part.partition("}$")[0]) for part in found.split("$^{")[1:])
    slope = np.gradient(np.log(value), np.log(X))
    assert found.startswith(f"time {verb} as p$^{{")
    assert how in found
    rounding = 0.005
    assert min(slope[:40]) - rounding <= first <= max(slope[:40]) + rounding
    assert min(slope[-40:]) - rounding <= last <= max(slope[-40:]) + rounding


def test_a_range_from_zero_has_no_power() -> None:
    assert trend(line_of([0, 1, 2, 3], [1.0, 2.0, 3.0, 4.0]), "level") == "time grows 4-fold with level"


def test_labels_are_ranked() -> None:
    line = line_of(np.array(["cg", "gmres"], dtype=object), [1.0, 2.5])
    assert trend(line, "solver", "energy") == "energy with gmres is 2.5 times that with cg"
    same = line_of(np.array(["cg", "gmres"], dtype=object), [1.0, 1.01])
    assert trend(same, "solver") == "time hardly depends on solver"


def test_the_least_of_another_quantity() -> None:
    assert trend(line_of(X, 100 / X + X), "p", "energy").startswith("least energy near p = ")
    assert quantity_name({"name": "peak_memory", "unit": "B"}) == "peak memory"


def test_a_single_point_is_named() -> None:
    assert trend(line_of([4], [1.0]), "p") == "time at p = 4"


def test_names_with_a_dollar_stay_names() -> None:
    assert trend(line_of(X, X), "a$b") == r"time grows as a\$b$^{1.00}$"


def test_without_runs_the_middle_of_the_range_is_fixed(fit: Fit) -> None:
    frame = pd.DataFrame({"n": [1, 4, 100], "level": [0.5, 1.0, 2.0], "kind": ["x", "y", "x"], "c": [1, 2, 3]})
    model = fit(Runs.from_frame(frame.assign(seconds=[1.0, 2.0, 3.0]), ["n", "level", "kind", "c"]))
    assert fixed_at(model, None, ("c",)) == {"n": 10, "level": 1.0, "kind": "x"}


def test_averaged_models_show_their_leading_formula_and_candidates() -> None:
    cores = np.array([150, 170, 200, 250, 300, 330, 350])
    wobble = np.array([1.04, 0.97, 0.92, 0.96, 1.19, 0.97, 0.93])
    runs = Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": 60 / cores * wobble}), ["cores"])
    model = evenly.fit(runs)
    formula, share = leading_of(model)
    assert formula
    assert 0 < share <= 1
    found = models_as_dict({"inner": model})["inner"]
    assert found["leading_formula"] == formula
    assert sum(one["weight"] for one in found["candidates"]) == pytest.approx(1)
    assert len(found["candidates"]) > 5
    table = model_table(model, runs)
    names = [str(cell) for cell in table.columns[0].cells]
    assert "search" in names
    assert sum(name.endswith(" others") for name in names) == 1
    detail = plot_model(model, runs).axes[0].get_title(loc="left")
    assert detail.startswith("time ≈ " if share < 0.9999 else "time = ")


def test_whole_numbers_have_no_decimals() -> None:
    assert trend(line_of([3456.0], [1.0]), "cores") == "time at cores = 3456"
    assert trend(line_of(X, 100 / X**2 + 20), "p").endswith("}$, then flattens out")
