"""Runs that were stopped at their limit although others like them took far less: named, and no bound of the law."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import EvenlyWarning
from evenly.models.hung_runs import without_hung_runs

CORES = [8, 16, 32, 64, 128]


def truth(cores: np.ndarray | int) -> np.ndarray:
    return 30 + 24_000 / np.asarray(cores)


def runs(*stopped: tuple[int, float], cores: list[int] = CORES, times: int = 1) -> evenly.Runs:
    """Return runs of a law with 1 % of noise, and others that were stopped."""
    counts = np.repeat(cores, times)
    noise = np.exp(0.01 * np.random.default_rng(0).normal(size=len(counts)))
    ended = pd.DataFrame({"cores": counts, "seconds": truth(counts) * noise, "status": "ok"})
    late = pd.DataFrame(stopped, columns=["cores", "seconds"]).assign(status="timed out")
    return evenly.Runs.from_frame(pd.concat([ended, late], ignore_index=True), ["cores"])


def test_a_run_that_was_stopped_long_after_another_ended_is_left_out_and_named() -> None:
    with pytest.warns(EvenlyWarning, match=r"1 run was stopped .*as if it hung: left out \(cores = 128: .*3600 s"):
        model = evenly.fit(runs((2, 3600), (4, 3600), (128, 3600)))
    np.testing.assert_allclose(model.predict({"cores": CORES}), truth(np.array(CORES)), rtol=0.05)
    assert model.training_["bounds"] == 2
    assert "cores = 128" in model.training_["hung"][0]
    with pytest.warns(EvenlyWarning, match="No law follows both"):
        evenly.fit(runs((128, 3600)), outliers="keep")


def test_one_of_several_alike_is_named_although_their_median_is_known() -> None:
    with pytest.warns(EvenlyWarning, match=r"left out \(cores = 64"):
        model = evenly.fit(runs((64, 3600), times=2))
    # No run scatters that much: a limit that is enough in 95 % is near the median.
    assert model.upper({"cores": [64]}, 0.95)[0] < 1.3 * truth(64)


def test_where_more_were_stopped_than_ended_all_count_and_are_named() -> None:
    kept, told = without_hung_runs(runs((128, 3600), (128, 3600)))
    assert len(kept) == 7
    assert "2 runs were stopped" in told[0]
    assert "fewer ended than were stopped, so all count (cores = 128" in told[0]


def test_limits_near_what_others_took_and_runs_that_scatter_are_as_usual() -> None:
    assert without_hung_runs(runs((128, 400), (64, 100))) == (runs((128, 400), (64, 100)), [])
    table = pd.DataFrame({"cores": [1] * 6, "seconds": [10.0, 30, 90, 200, 900, 3600]})
    table["status"] = ["ok"] * 5 + ["timed out"]
    assert without_hung_runs(evenly.Runs.from_frame(table, ["cores"]))[1] == []


@pytest.mark.parametrize(("cores", "bound"), [(32, 3600), (16, 9000), (256, 3600), (256, 300), (8, 10_000)])
def test_a_stopped_run_far_above_what_all_others_tell_is_named(cores: int, bound: float) -> None:
    """No run of this configuration ended, but those on fewer, or on more cores, did long before."""
    others = [count for count in [*CORES, 256] if count != cores]
    with pytest.warns(EvenlyWarning, match=rf"runs with cores = {cores} were stopped .* left out, as if they hung"):
        model = evenly.fit(runs((cores, bound), cores=others))
    asked = [count for count in others if count not in (cores / 2, cores * 2)]
    np.testing.assert_allclose(model.predict({"cores": asked}), truth(np.array(asked)), rtol=0.1)


def test_bounds_that_the_law_exceeds_are_not_named() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", EvenlyWarning)
        evenly.fit(runs((2, 3600), (4, 3600)))
