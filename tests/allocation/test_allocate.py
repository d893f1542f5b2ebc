"""What `allocate` refuses, and how it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.allocation.problem.limits import Limits
from evenly.allocation.problem.noise import Compare
from evenly.errors import InfeasibleError, InputError
from evenly.models.scaling_laws.power_law import PowerLaw
from evenly.runs.runs import Runs

PAIR = {"a": lambda p: 60 / p, "b": lambda p: 30 / p}


def test_a_solver_measured_on_one_count_is_refused() -> None:
    once = PowerLaw().fit({"cores": [8, 8]}, [2.0, 2.1])
    with pytest.raises(InputError, match=r"measured \(a on 8, c on 8\), .* with --allowed a=8 --allowed c=8"):
        evenly.allocate({"a": once, "b": lambda p: 8 / p, "c": once}, cores=32)
    plan = evenly.allocate({"a": once, "b": lambda p: 8 / p}, cores=16, limits={"a": {"allowed": [8]}})
    assert plan.cores["a"] == 8


@pytest.mark.parametrize("cores", [[100, 200], (100,), np.array([100, 200]), range(5)])
def test_several_totals_are_refused_with_a_way_out(cores: Any) -> None:
    with pytest.raises(InputError, match=r"cores must be one whole number, but got .* plan\.at"):
        evenly.allocate(PAIR, cores=cores)


int_like: Any = np.int64


@pytest.mark.parametrize("cores", ["100", 2.5, float("nan"), 0, -3, True, {100: 1}])
def test_cores_are_a_whole_number(cores: Any) -> None:
    with pytest.raises(InputError, match="cores must be a whole number of at least 1, but got"):
        evenly.allocate(PAIR, cores=cores)
    assert evenly.allocate(PAIR, cores=int_like(9)).cores == evenly.allocate(PAIR, cores=9).cores


def test_runs_must_be_fitted_first() -> None:
    runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2], "seconds": [2.0, 1.0]}), ["cores"])
    for solvers in (runs, {"a": runs, "b": runs}):
        with pytest.raises(InputError, match=r"got measured runs: fit them first: .*evenly\.fit\(runs\)"):
            evenly.allocate(solvers, cores=4)  # type: ignore[arg-type]


@pytest.mark.parametrize("solvers", [[PowerLaw(), PowerLaw()], PowerLaw(), None, "ab"])
def test_solvers_need_names(solvers: Any) -> None:
    with pytest.raises(InputError, match=r"solvers must be a mapping of names to models, but got .*: give each solver"):
        evenly.allocate(solvers, cores=4)


@pytest.mark.parametrize("what", ["current", "degrees_of_freedom"])
def test_comparisons_name_every_solver(what: str) -> None:
    with pytest.raises(InputError, match=rf"{what} must name every solver \(a, b\), but 'b' is missing"):
        evenly.allocate(PAIR, cores=90, compare=Compare(**{what: {"a": 60}}))


def test_the_present_may_break_limits_and_total() -> None:
    current = {"a": 70, "b": 45}
    limits = {"a": Limits(multiple=28), "b": Limits(allowed=[20, 60])}
    plan = evenly.allocate(PAIR, cores=90, limits=limits, compare=Compare(current=current))
    assert plan.versus["current"].seconds == max(60 / 70, 30 / 45)
    assert plan.versus["current"].cores == current


def test_the_present_needs_a_time() -> None:
    tables = {"a": {8: 3.0, 16: 2.0}, "b": {8: 3.0, 16: 1.0}}
    with pytest.raises(InputError, match="'b' has no time on 12 cores: its table holds 8, 16"):
        evenly.allocate(tables, cores=32, compare=Compare(current={"a": 16, "b": 12}))
    present = Compare(current={"a": 16, "b": 16})
    assert evenly.allocate(tables, cores=24, compare=present).versus["current"].seconds == 2.0


def test_intervals_of_models_allow_for_what_coupled_runs_differ_by() -> None:
    rows = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": 64 / np.array([1, 2, 4, 8, 16])})
    models = {name: evenly.fit(Runs.from_frame(rows, ["cores"]), method="power-law") for name in ("a", "b")}
    usual, measured_inside = (
        evenly.allocate(models, cores=8, noise=evenly.Noise(scatter=scatter)) for scatter in (None, 0.0)
    )
    assert usual.noise.scatter == 0.07
    widths = [np.log(plan.interval[1] / plan.interval[0]) for plan in (usual, measured_inside) if plan.interval]
    assert widths[0] > widths[1] + 0.1  # 2 · 1.645 · 0.07 = 0.23, in quadrature
    exact = evenly.allocate({"a": lambda p: 8 / p, "b": lambda p: 4 / p}, cores=6)
    assert exact.interval is None


def test_counts_on_which_all_runs_failed_are_left_out(tmp_path: Path) -> None:
    """The model alone would give one core: it doesn't know that the memory of one isn't enough."""
    table = pd.DataFrame({"cores": [1, 2, 3, 6, 12], "seconds": [np.nan, np.nan, 25.0, 12.5, 6.25]})
    table["status"] = ["failed", "failed", "ok", "ok", "ok"]
    fluid = evenly.fit(evenly.Runs.from_frame(table, ["cores"]), method="power-law")
    evenly.save(fluid, tmp_path / "fluid.evenly")
    for model in (fluid, evenly.load(tmp_path / "fluid.evenly")):
        plan = evenly.allocate({"fluid": model, "solid": lambda cores: 1e6 / cores}, 8)
        assert plan.cores == {"fluid": 3, "solid": 5}
        assert plan.failed == ("'fluid' doesn't get 1, 2 cores: all runs there, or on the nearest counts, failed",)
        with pytest.raises(InfeasibleError, match="all runs of 'fluid' on the counts that it may get failed"):
            evenly.allocate({"fluid": model, "solid": lambda cores: 1e6 / cores}, 8, limits={"fluid": {"maximum": 2}})


def test_counts_below_and_above_the_good_ones_are_told_apart() -> None:
    table = pd.DataFrame({"cores": [16, 48, 96, 192, 480], "seconds": [np.nan, 10.0, 5.0, 2.5, np.nan]})
    table["status"] = ["failed", "ok", "ok", "ok", "failed"]
    model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]), method="power-law")
    plan = evenly.allocate({"atm": model, "ocn": lambda cores: 2000 / cores}, 512)
    assert plan.failed == (
        "'atm' doesn't get 1 … 27, 304 … 512 cores: all runs there, or on the nearest counts, failed",
    )


def test_days_chosen_by_a_parameter_are_those_of_a_step() -> None:
    table = pd.DataFrame({"cores": [8, 16] * 2, "sim_days": [10, 10, 30, 30], "seconds": [10.0, 5.0, 30.0, 15.0]})
    model = evenly.fit(table, time="seconds", parameters=["cores", "sim_days"], method="power-law")
    with pytest.raises(InputError, match=r"sim_days=30 .* chooses times of 30 simulated days, .*: give step_days=30"):
        evenly.allocate({"a": model}, cores=16, at={"sim_days": 30}, step_days=1)
    assert evenly.allocate({"a": model}, cores=16, at={"sim_days": 30}, step_days=30).step_days == 30
