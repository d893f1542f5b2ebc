"""A lone row off the curve of few others is named; curves that turn, and steps, are left alone."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import EvenlyWarning
from evenly.models.array_types import Floats
from evenly.models.lone_rows import lone_rows, rows_at_leaps
from evenly.runs.runs import Runs

CORES = np.array([12.0, 24.0, 48.0, 96.0, 192.0, 384.0, 768.0])


def test_a_mistyped_time_is_found_in_every_place() -> None:
    law = 1000 / CORES + 0.5
    for row in range(1, 6):
        for factor in (3, 10, 0.1):
            seconds = law * np.where(np.arange(7) == row, factor, 1)
            found = lone_rows(CORES, seconds)
            assert row in [at for at, _ in found], (row, factor)
            expected = dict(found)[row]
            assert expected == pytest.approx(law[row], rel=0.5)


@pytest.mark.parametrize(
    "law",
    [
        1000 / CORES,
        1000 / CORES + 5,
        1000 / CORES + 0.05 * CORES,
        1000 / CORES + np.log2(CORES),
        1000 / CORES**0.4,
        np.where(CORES > 48, 1.6, 1) * 1000 / CORES,  # a step from one node to several
    ],
)
def test_laws_with_noise_are_left_alone(law: Floats) -> None:
    rng = np.random.default_rng(0)
    named = sum(bool(lone_rows(CORES, law * np.exp(0.05 * rng.normal(size=7)))) for _ in range(30))
    assert named == 0


def test_too_few_rows_tell_nothing() -> None:
    assert lone_rows(CORES[:3], np.array([9.0, 90.0, 2.0])) == []


@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("factor", [10, 0.1])
def test_a_leap_of_very_few_rows_is_found_in_every_place(count: int, factor: float) -> None:
    law = 6000 / CORES[:count] + 4
    for row in range(count):
        rows = [at for at, _ in rows_at_leaps(CORES[:count], law * np.where(np.arange(count) == row, factor, 1))]
        assert rows == [row]


@pytest.mark.parametrize(
    "seconds",
    [
        [100.0, 17.0, 8.0, 4.0],  # faster by caches: 3 times more than by the cores
        [100.0, 60.0, 90.0, 250.0],  # slower again
        [100.0, 100.0, 100.0, 300.0],
    ],
)
def test_honest_curves_of_very_few_rows_do_not_leap(seconds: list[float]) -> None:
    assert rows_at_leaps(CORES[: len(seconds)], np.array(seconds)) == []


def test_a_leap_is_said_of_cores_and_not_of_sizes() -> None:
    for name, named in (("cores", True), ("cells", False)):
        table = pd.DataFrame({name: [32, 64, 128], "seconds": [194.0, 99.0, 514.0]})
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            evenly.fit(table, time="seconds", parameters=[name])
        assert any("far off the curve of the others, out of 3" in str(one.message) for one in said) == named


def test_a_plateau_within_a_node_is_no_reason_to_doubt_what_is_beyond() -> None:
    assert lone_rows(np.array([2.0, 20, 32, 36, 256]), np.array([0.503, 0.194, 0.184, 0.184, 0.0306])) == []


def test_it_is_said_and_kept_unless_the_user_keeps_it() -> None:
    table = pd.DataFrame({"cores": CORES[:5].astype(int), "seconds": [97.5, 51.8, 268.0, 14.7, 8.0]})
    with pytest.warns(
        EvenlyWarning, match=r"far off the curve of the others, out of 5.*cores = 48.*268.*expected 2"
    ) as said:
        model = evenly.fit(table, time="seconds", parameters=["cores"])
    assert any("--outliers keep" in str(one.message) for one in said)
    (row,) = model.training_["outliers"]["rows"]
    assert row["factor"] == pytest.approx(10, rel=0.2)
    assert not row["dropped"]
    with warnings.catch_warnings(record=True) as said_again:
        warnings.simplefilter("always")
        evenly.fit(table, time="seconds", parameters=["cores"], outliers="keep")
    assert not [one for one in said_again if "far off" in str(one.message)]


def test_what_was_measured_twice_alike_is_no_lone_row() -> None:
    cores = [12, 24, 48, 48, 96, 192]
    table = pd.DataFrame({"cores": cores, "seconds": [97.5, 51.8, 268.0, 271.0, 14.7, 8.0]})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = evenly.fit(table, time="seconds", parameters=["cores"])
    assert "outliers" not in model.training_
    assert not [one for one in said if "curve of the others" in str(one.message)]


def _steps(starts: dict[int, list[str]]) -> Runs:
    """Return runs of 20 steps that began at some times; those on 4 cores took ten times as long as the law says."""
    rng = np.random.default_rng(0)
    rows = [
        {"cores": cores, "seconds": (10 if cores == 4 else 1) * (4 / cores + 0.1), "run": f"{cores}-{start}",
         "when": start, "repetition": step}
        for cores, its in starts.items()
        for start in its
        for step in range(20)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    return Runs.from_frame(table.assign(seconds=table["seconds"] * rng.uniform(0.98, 1.02, len(table))), ["cores"])


def test_the_steps_of_one_run_are_no_repeated_runs() -> None:
    """They agree with each other, so nothing was said of a run of preCICE that took ten times what it should."""
    once = {cores: [f"2025-01-0{cores}T12:00:00"] for cores in (1, 2, 3, 4, 6)}
    with pytest.warns(
        EvenlyWarning, match=r"far off the curve of the others, out of 5: run 4-2025.*cores = 4.* × as m"
    ):
        evenly.fit(_steps(once))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        evenly.fit(_steps(once | {4: ["2025-01-04T12:00:00", "2025-01-05T12:00:00"]}))
    assert not [one for one in said if "curve of the others" in str(one.message)]


def test_repetitions_beside_a_date_are_no_steps() -> None:
    rows = [(cores, time, f"a:{cores}", "2025-01-01") for cores, time in zip(CORES, 1000 / CORES, strict=True)]
    table = pd.DataFrame(3 * rows, columns=["cores", "seconds", "run", "when"])
    table.loc[table["cores"] == 96, "seconds"] *= 5
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        evenly.fit(Runs.from_frame(table, ["cores"]))
    assert not [one for one in said if "curve of the others" in str(one.message)]
