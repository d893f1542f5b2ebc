"""Fitted models are assigned large totals, with the answer that full tables give.

Every method that has a formula or laws of its own, and nearest neighbours for all that are asked point by point.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.allocation.allocate import allocate
from evenly.allocation.balancers.coarse_to_fine import can_zoom
from evenly.allocation.balancers.pareto_fronts import build
from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.curves import SolverCurve
from evenly.allocation.problem.layout import parse_layout
from evenly.allocation.problem.objective import Objective
from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.base import Model
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.runs.runs import Runs

METHODS = ("log-quadratic", "nearest", "offset-power-law", "piecewise-linear", "pmnf", "power-law")
WORK = {"inner": 60.0, "outer": 35.0, "third": 8.0}


@cache
def fitted(method: str, *, levels: bool = False) -> Mapping[str, Model]:
    """Return a model per solver; with `levels`, of two parameters."""
    random = np.random.default_rng(7)
    models = {}
    for name, work in WORK.items():
        cores, level = (a.ravel() for a in np.meshgrid([16, 32, 64, 128, 256, 512], [1, 2, 4] if levels else [1]))
        seconds = (level * work / cores + 0.002 * np.log2(cores)) * np.exp(random.normal(0, 0.02, len(cores)))
        table = pd.DataFrame({"cores": cores, "level": level, "seconds": seconds})
        parameters = ["cores", "level"] if levels else ["cores"]
        models[name] = evenly.fit(Runs.from_frame(table[[*parameters, "seconds"]], parameters), method=method)
    return models


def check(models: Mapping[str, Model], cores: int, layout: str, at: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        plan = allocate(models, cores, layout=layout, at=at)
    tables = {}
    for name, curve in plan.problem.curves.items():
        seconds = curve.seconds(np.arange(1, cores + 1))
        tables[name] = SolverCurve(name, lambda counts, s=seconds: s[counts - 1], range(1, cores + 1))
    tree = build(parse_layout(layout, models), tables, cores)
    expected = {name: int(found[0]) for name, found in tree.divide(tree.front.cores[-1:]).items()}
    assert plan.problem.allows(plan.cores)
    assert plan.cores == expected
    assert plan.seconds == pytest.approx(float(tree.front.seconds[-1]), rel=1e-12)


@pytest.mark.parametrize("cores", [5_000, 50_000, 100_000, 1_000_000])
@pytest.mark.parametrize("method", METHODS)
def test_large_totals_equal_a_tabulated_answer(method: str, cores: int) -> None:
    check(fitted(method), cores, "max(inner, 3 * outer, third)", {})


@pytest.mark.parametrize("method", METHODS)
def test_other_layouts_at_large_totals(method: str) -> None:
    check(fitted(method), 100_000, "max(inner, sum(outer, third))", {})


@pytest.mark.parametrize("method", METHODS)
def test_models_of_several_parameters_at_large_totals(method: str) -> None:
    try:
        models = fitted(method, levels=True)
    except InputError as error:
        assert "one parameter" in str(error)  # noqa: PT017 - the methods of one parameter say so
        return
    check(models, 100_000, "parallel", {"level": 2})


def test_models_that_cannot_certify_are_tabulated() -> None:
    def curve(counts: Any) -> Any:
        return 1e4 / counts + 1.0

    class Unsure:
        def __call__(self, counts: Any) -> Any:
            return curve(counts)

        def monotone_pieces(self, low: int, high: int) -> list[tuple[int, int, int]]:
            raise InputError(f"no formula between {low} and {high}")

    curves = {name: SolverCurve(name, Unsure(), range(1, 150_001)) for name in "ab"}
    assert not can_zoom(Problem(parse_layout("max(a, b)"), curves, 150_000))
    assert allocate({"a": Unsure(), "b": Unsure()}, 150_000).cores == {"a": 75_000, "b": 75_000}


@pytest.mark.parametrize("objective", ["cost", "cores", "time"])
def test_goals_at_large_totals_are_those_of_full_tables(objective: Any) -> None:
    """A goal within a share of the fastest is met by totals that are looked for, as by trying every total."""
    goal = Objective(objective, within=None if objective == "time" else 0.05, max_core_hours=60.0)
    models = fitted("pmnf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        plan = allocate(models, 100_000, objective=goal)
    tree = build(plan.problem.layout, plan.problem.curves, 100_000)
    assert plan.seconds == pytest.approx(float(tree.front.seconds[goal.choose(tree.front)]), rel=1e-12)
    assert plan.used == int(tree.front.cores[goal.choose(tree.front)])


def test_the_curve_at_large_totals_is_that_of_full_tables() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        plan = allocate(fitted("pmnf"), 200_000)
        table = plan.curve
    tree = build(plan.problem.layout, plan.problem.curves, 200_000)
    np.testing.assert_allclose(table["seconds"], tree.front.at(table["cores"].to_numpy()), rtol=1e-12)


def test_formulas_stand_for_models_only_where_both_agree() -> None:
    model = fitted("pmnf")["inner"]
    curve = SolverCurve("inner", model, range(1, 200_001))
    asked = np.array([1, 3, 500, 20_000, 200_000])
    assert curve.certified is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        np.testing.assert_allclose(curve.seconds(asked), model.predict({"cores": asked}), rtol=1e-9)

    class Bounded:
        feature_names_in_ = ("cores",)
        formula_ = Formula(("cores",), (Term(100.0, (-1.0,), (0.0,)),))
        monotone_pieces = formula_.monotone_pieces

        def predict(self, table: pd.DataFrame) -> Any:
            return np.maximum(self.formula_({"cores": table["cores"]}), 0.01)  # reached on 10,000 cores

    floor = SolverCurve("a", Bounded(), range(1, 200_001))
    assert floor.certified is None
    assert floor.seconds(np.array([100_000]))[0] == 0.01


def test_measured_counts_are_taken_where_they_cost_nothing() -> None:
    """A flat solver got one core beside a solver with 74 on the same cores, though its fewest measured were 16."""
    cores = np.array([16, 32, 64, 96])
    tables = {"lnd": 100.0 / cores, "rof": np.full(4, 0.1), "ice": 0.1 + np.zeros(4)}
    models = {
        name: evenly.fit(pd.DataFrame({"cores": cores, "seconds": times}), parameters=["cores"], method="power-law")
        for name, times in tables.items()
    }
    with pytest.warns(ExtrapolationWarning):
        plan = allocate(models, 80, layout="max(lnd + rof, ice)")
    assert plan.cores == {"lnd": 79, "rof": 16, "ice": 1}  # for ice, more would be taken from lnd
