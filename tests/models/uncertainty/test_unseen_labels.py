"""Labels that no run has: the mean over the known labels, with an interval as wide as labels differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import ExtrapolationWarning, InputError
from evenly.models import LogQuadratic, NearestNeighbours
from evenly.models.uncertainty.unseen_labels import logs_over_labels, slip

CASES = "alpine baroque castle delta ember fjord grove harbor isle jungle knoll lagoon".split()  # noqa: SIM905


def _runs(cases: Sequence[str], effects: Any, seed: int) -> tuple[pd.DataFrame, Any]:
    """Twelve runs of each case: its factor, on numbers of cores, with noise of 3 %."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(len(cases)), 12)
    cores = 2 ** rng.integers(0, 7, len(label))
    times = np.exp(effects[label]) * (50 / cores + 1) * rng.lognormal(0, 0.03, len(label))
    return pd.DataFrame({"case": np.array(cases, dtype=object)[label], "cores": cores}), times


def _fitted(cases: Sequence[str], seed: int = 0) -> LogQuadratic:
    effects = np.random.default_rng(seed).normal(0, 0.5, len(cases))
    return LogQuadratic().fit(*_runs(cases, effects, seed))


def test_intervals_hold_for_labels_that_no_run_has() -> None:
    # 30 tables with 8 new cases each: a coverage of 90 % is measured to 2.5 % or so, since the new cases of a table
    # share the errors of its mean and spread.
    held = []
    for seed in range(30):
        model = _fitted(CASES, seed)
        new = np.random.default_rng(1000 + seed).normal(0, 0.5, 8)
        asked, times = _runs([f"other {k}" for k in range(8)], new, 2000 + seed)
        with pytest.warns(ExtrapolationWarning, match="case = other 0, learned on alpine, .*: their mean stands for"):
            lower, upper = model.interval(asked)
        held.append(np.mean((lower <= times) & (times <= upper)))
    assert 0.85 <= np.mean(held) <= 0.97


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
def test_the_mean_is_that_of_the_logarithms_and_all_labels_count_alike() -> None:
    model = _fitted(CASES)
    each = model.predict({"case": CASES, "cores": 8})
    low, high = model.interval({"case": CASES, "cores": 8})
    asked = {"case": ["zebra", "delta"], "cores": 8}
    predicted = model.predict(asked)
    np.testing.assert_allclose(predicted, [np.exp(np.log(each).mean()), each[3]])
    lower, upper = model.interval(asked)
    np.testing.assert_allclose([lower[1], upper[1]], [low[3], high[3]])
    # 1.796: the 95 % quantile of Student's distribution with 11 degrees of freedom.
    spread = 1.796 * np.std(np.log(each), ddof=1) * np.sqrt(1 + 1 / 12)
    half = np.sqrt(np.mean(np.log(high / each) ** 2))
    assert np.log(upper[0] / predicted[0]) == pytest.approx(np.hypot(spread, half), rel=1e-3)
    assert model.upper(asked, 0.95)[0] == pytest.approx(upper[0])
    assert model.extrapolates(asked).tolist() == [True, False]


def test_several_parameters_may_have_labels_that_no_run_has() -> None:
    factor = {"a": 1.0, "b": 4.0, "x": 1.0, "y": 9.0}
    asked = pd.DataFrame({"case": ["a", "?", "?", "b"], "machine": ["x", "y", "?", "?"]})

    def seconds(known: pd.DataFrame) -> Any:
        return known["case"].map(factor).to_numpy() * known["machine"].map(factor).to_numpy()

    found = np.exp(logs_over_labels(seconds, {"case": ["a", "b"], "machine": ["x", "y"]}, asked))
    np.testing.assert_allclose(found, [1, 2 * 9, 2 * 3, 4 * 3])


def test_many_labels_are_drawn_from() -> None:
    values = dict(zip(range(1000), np.random.default_rng(0).lognormal(0, 0.1, 1000), strict=True))
    asked, calls = pd.DataFrame({"case": ["?"]}), []

    def seconds(known: pd.DataFrame) -> Any:
        calls.append(len(known))
        return known["case"].map(values).to_numpy()

    assert logs_over_labels(seconds, {"case": list(values)}, asked) == pytest.approx(0.0, abs=0.03)
    assert sum(calls) <= 128


def test_a_slip_is_refused_unless_it_is_said_to_be_none() -> None:
    model = _fitted(CASES)
    with pytest.raises(InputError, match=r"did you mean 'alpine'\?\); if it is another one: --unseen mean"):
        model.predict({"case": "alpin", "cores": 8})
    model.unseen = "mean"
    with pytest.warns(ExtrapolationWarning, match="case = alpin"):
        model.predict({"case": "alpin", "cores": 8})
    (said,) = model.stand_ins({"case": ["alpin", "delta", "zebra"], "cores": 8})
    assert said.startswith("no run has case = alpin, zebra: the mean over the 12 labels stands for them, and the ")


def test_they_are_refused_where_that_is_asked_for_and_this_is_stored(tmp_path: Path) -> None:
    model = _fitted(CASES)
    model.unseen = "refuse"
    evenly.save(model, tmp_path / "m.evenly")
    again = evenly.load(tmp_path / "m.evenly")
    assert isinstance(again, LogQuadratic)
    with pytest.raises(InputError, match=r"grove, .* which were measured, but got 'zebra'$"):
        again.predict({"case": "zebra", "cores": 8})
    with pytest.raises(InputError, match="unseen must be one of ask, mean, refuse"):
        model.unseen = "guess"  # type: ignore[assignment]


def test_two_labels_tell_nothing_about_a_third() -> None:
    model = _fitted(["mpi", "serial"])
    model.unseen = "mean"
    told = "one of mpi, serial, which were measured, but got 'openacc': ask for one of these, or measure 'openacc'"
    with pytest.raises(InputError, match=rf"{told}.*\(--unseen mean\) if 3 or more were measured"):
        model.predict({"case": "openacc", "cores": 8})


def test_labels_that_are_numbers_are_no_slips() -> None:
    table, times = _runs([1, 2, 3, 12], np.zeros(4), 0)  # type: ignore[list-item]
    space = evenly.Space(case=evenly.Categorical(1, 2, 3, 12), cores=evenly.Integer(1, 64, scale="log"))
    model = NearestNeighbours().fit(table, times, space=space)
    with pytest.warns(ExtrapolationWarning, match="case = 4, learned on 1, 2, 3, 12"):
        assert model.predict({"case": 4, "cores": 8})[0] == pytest.approx(7.25, rel=0.1)


@pytest.mark.parametrize(
    ("asked", "known", "meant"),
    [
        ("intle", ["gnu", "intel", "cray"], "intel"),
        ("GNU", ["gnu", "intel", "cray"], "gnu"),
        ("gcc13", ["gcc-12", "clang-15"], "gcc-12"),
        ("gcc-13", ["gcc-12", "clang-15"], ""),
        ("mesh_c", ["mesh_a", "mesh_b"], ""),
        ("nvhpc", ["gnu", "intel", "cray"], ""),
    ],
)
def test_what_is_a_slip(asked: str, known: list[str], meant: str) -> None:
    assert slip(asked, known) == (f" (did you mean {meant!r}?)" if meant else "")
