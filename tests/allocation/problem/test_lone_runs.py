"""A whole coupled run that is far off the others is named, and a run that alone waited for a solver isn't."""

from __future__ import annotations

import numpy as np
import pytest

import evenly
from evenly.allocation import CoupledRuns
from evenly.allocation.problem.layout import parse_layout
from evenly.allocation.problem.whole_runs import learn_whole_runs
from evenly.errors import InputError

ALONE = {"atm": lambda p: 11000 / p + 3, "ocn": lambda p: 7500 / p + 2}
COUNTS = [(640, 192), (384, 384), (720, 240), (480, 480)]


def _runs(factors: dict[str, float], seconds_times: dict[int, float], outliers: str = "refuse") -> CoupledRuns:
    """Runs in which solvers take some multiples of their times alone, and the times of some rows are multiplied."""
    atm, ocn = np.array(COUNTS).T
    seconds = np.maximum(factors["atm"] * ALONE["atm"](atm), factors["ocn"] * ALONE["ocn"](ocn))
    seconds *= 1 + 0.02 * np.array([1, -1, -1, 1])
    for row, times in seconds_times.items():
        seconds[row] *= times
    return CoupledRuns({"atm": atm, "ocn": ocn}, seconds, outliers=outliers)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("times", [10, 0.1])
def test_a_run_far_off_the_others_is_named(row: int, times: float) -> None:
    named = f"that with atm {COUNTS[row][0]}, ocn {COUNTS[row][1]} took "
    by = "times as long as they tell" if times > 1 else "of the time that they tell"
    wrong = {row: times}
    with pytest.raises(InputError, match=f"a coupled run is far off the others: {named}.* {by}"):
        evenly.allocate(ALONE, 960, coupled=_runs({"atm": 1.1, "ocn": 1.2}, wrong))
    with pytest.raises(InputError, match=f"far off the others: {named}"):
        learn_whole_runs(parse_layout("max(atm, ocn)"), _runs({"atm": 1, "ocn": 1}, wrong))
    plan = evenly.allocate(ALONE, 960, coupled=_runs({"atm": 1.1, "ocn": 1.2}, wrong, "keep"))
    assert plan.noise.inside is not None


def test_slow_solvers_inside_coupled_runs_are_no_outliers() -> None:
    # 1.9 times as slow: the first run waits for the ocean, and the others for the atmosphere.
    plan = evenly.allocate(ALONE, 960, coupled=_runs({"atm": 1.0, "ocn": 1.9}, {}))
    assert plan.noise.inside is not None
    assert plan.noise.inside.factors["ocn"] == pytest.approx(1.9, rel=0.1)
    learn_whole_runs(parse_layout("max(atm, ocn)"), _runs({"atm": 1, "ocn": 3}, {}))


def test_of_two_runs_either_may_be_wrong() -> None:
    cores = {"atm": np.array([64, 128]), "ocn": np.array([32, 64])}
    with pytest.raises(InputError, match=r"one of these coupled runs is far off .* 64, ocn 32 .*; or .* 128, ocn 64 "):
        learn_whole_runs(parse_layout("max(atm, ocn)"), CoupledRuns(cores, [10.0, 50.0]))  # type: ignore[arg-type]


def test_outliers_are_refused_or_kept() -> None:
    with pytest.raises(InputError, match="outliers must be one of refuse, keep, but got 'drop'"):
        _runs({"atm": 1, "ocn": 1}, {}, "drop")
