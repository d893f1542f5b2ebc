"""Runs that were ended at their limit: predictions near it aren't biased, and what wasn't measured isn't counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import evenly
from evenly.errors import EvenlyWarning, ExtrapolationWarning, InputError
from evenly.models.base import Model
from evenly.models.censoring import hazard
from evenly.models.ensemble.automatic import Automatic
from evenly.models.factorized import Factorized
from evenly.models.gaussian_process.gaussian_process import GaussianProcess
from evenly.models.pmnf.pmnf import PMNF
from evenly.models.scaling_laws.log_quadratic import LogQuadratic
from evenly.models.scaling_laws.power_law import PowerLaw
from evenly.models.trees.boosting import HistBoosting
from evenly.runs.columns import bounds_as_seconds
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical
from tests.models.toy_model import Toy

Floats = NDArray[np.float64]
SEEDS = range(5)
N, NOISE = 150, 0.4


def _planted(seed: int) -> tuple[pd.DataFrame, Floats, Floats]:
    """Return configurations, their true times, and measured times."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"cores": np.exp(rng.uniform(0, 5, N)).round(), "size": np.exp(rng.uniform(2, 8, N)).round()})
    truth = (0.1 * table["size"] / table["cores"] ** 0.8).to_numpy()
    return table, truth, truth * np.exp(NOISE * rng.normal(size=N))


def _biases(model: Model, seed: int) -> tuple[Floats, Floats]:
    """Return log errors near the limit, with bounds and without the runs that they are of."""
    table, truth, seconds = _planted(seed)
    limit = float(np.quantile(seconds, 0.7))
    late = seconds > limit
    near = np.abs(np.log(truth / limit)) < 0.25
    model.fit(table, np.minimum(seconds, limit), censored=late)
    learned = np.log(model.predict(table[near]) / truth[near])
    model.fit(table[~late], seconds[~late])
    return learned, np.log(model.predict(table[near]) / truth[near])


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
@pytest.mark.parametrize(
    "model",
    [
        PowerLaw(), LogQuadratic(), PMNF(effort="quick"), GaussianProcess(effort="quick"),
        HistBoosting(effort="quick", folds=2), Automatic(effort="quick", methods=["power-law", "log-quadratic"]),
    ],
    ids=lambda model: model.method,
)  # fmt: skip
def test_bounds_remove_the_bias_near_the_limit(model: Model) -> None:
    pairs = [_biases(model, seed) for seed in SEEDS]
    with_bounds, without = (float(np.mean(np.concatenate(errors))) for errors in zip(*pairs, strict=True))
    # A law of three coefficients, learned from 750 runs in all, misses by about 0.4 · sqrt(3 / 750) = 0.025. Near the
    # limit, half of the runs are measured: the mean of the lower half of a normal distribution is 0.8 · 0.4 too low.
    assert abs(with_bounds) < 0.03
    assert without < -0.1


def test_a_bound_far_below_the_prediction_says_nothing() -> None:
    table, truth, seconds = _planted(0)
    late = np.zeros(N, dtype=np.bool_)
    late[:40] = True
    given = np.where(late, 1e-3 * truth, seconds)
    model = PowerLaw().fit(table, given, censored=late)
    alone = PowerLaw().fit(table[~late], seconds[~late])
    np.testing.assert_allclose(model.predict(table[40:]), alone.predict(table[40:]), rtol=1e-9)


def test_a_bound_far_above_the_prediction_counts_as_measured() -> None:
    # The mean of a normal distribution above z = 5 lies 0.19 deviations above z; λ (λ - z) is 0.97 there.
    assert hazard(np.array([5.0]))[0] == pytest.approx(5.19, abs=0.01)
    cores = np.array([1.0, 2, 4, 8, 16, 32])
    seconds = 64 / cores * np.exp(0.2 * np.array([1, -1, 1, -1, 1, -1]))
    seconds[-1] = 20.0  # so near, as the others scatter, that a law may follow both
    late = np.arange(6) == 5
    bent = LogQuadratic().fit({"cores": cores}, seconds, censored=late)
    assert bent.predict({"cores": [32]})[0] > 10


@pytest.mark.parametrize("model", [LogQuadratic(), GaussianProcess(effort="quick"), PMNF(effort="quick")])
def test_errors_and_intervals_come_from_measured_runs(model: Model) -> None:
    table, _, seconds = _planted(1)
    limit = float(np.quantile(seconds, 0.7))
    late = seconds > limit
    model.fit(table, np.minimum(seconds, limit), censored=late)
    assert model.left_out_predictions_ is not None
    assert np.isnan(model.left_out_predictions_[late]).all()
    assert np.isfinite(model.left_out_predictions_[~late]).all()
    again = type(model)(**model.get_params())
    order = np.random.default_rng(0).permutation(N)
    again.fit(table.iloc[order], np.minimum(seconds, limit)[order], censored=late[order])
    asked = table[~late]
    np.testing.assert_allclose(again.predict(asked), model.predict(asked), rtol=1e-6)
    # Of runs as those measured, intervals hold what they promise: 105 runs, so a share of 0.9 ± 0.03, or more, since
    # these were learned from.
    lower, upper = model.interval(table[~late])
    assert np.mean((lower <= seconds[~late]) & (seconds[~late] <= upper)) > 0.84


def test_the_blend_counts_measured_runs_only() -> None:
    table, _, seconds = _planted(2)
    limit = float(np.quantile(seconds, 0.7))
    late = seconds > limit
    model = Automatic(effort="quick", methods=["power-law", "log-quadratic"])
    model.fit(table, np.minimum(seconds, limit), censored=late)
    known = model.left_out_predictions_
    assert known is not None
    assert model.error_ == pytest.approx(np.abs(np.log(known / seconds))[~late].mean())
    assert len(model._conformal.places) == np.sum(~late)


def test_a_label_of_which_only_bounds_are_known_is_learned() -> None:
    table = pd.DataFrame({"cores": [1, 2, 4, 8] * 2, "solver": ["cg"] * 4 + ["mg"] * 4})
    seconds = np.array([8.0, 4.1, 2.0, 1.0, 20.0, 20.0, 20.0, 20.0])
    for model in (LogQuadratic(), GaussianProcess(effort="quick")):
        model.fit(table, seconds, censored=np.arange(8) >= 4)
        assert model.predict({"cores": [8], "solver": ["mg"]})[0] > 10


def test_what_is_no_bound_is_refused() -> None:
    with pytest.raises(InputError, match="2 truth values"):
        PowerLaw().fit({"cores": [1, 2]}, [2.0, 1.0], censored=[0, 1])
    with pytest.raises(InputError, match="at least one must be measured"):
        PowerLaw().fit({"cores": [1, 2]}, [2.0, 1.0], censored=[True, True])
    factors = {"work": "1 / cores"}
    with pytest.raises(InputError, match="aren't whole"):
        Factorized(factors=factors).fit(
            {"cores": [1, 2]}, [2.0, 1.0], censored=[True, False], parts={"work": [1.0, 1.0]}
        )


def test_fit_takes_the_bounds_of_runs_and_says_how_many() -> None:
    table = pd.DataFrame({
        "cores": [1, 1, 2, 2, 2, 4, 4], "seconds": [60.0, 60.0, 40.0, 60.0, 41.0, 20.0, np.nan],
        "status": ["timed out", "timed out", "ok", "timed out", "ok", "ok", "timed out"],
    })  # fmt: skip
    runs = Runs.from_frame(table, ["cores"])
    model = evenly.fit(runs, method=Toy.method)
    assert (model.training_["rows"], model.training_["bounds"], model.training_["failed"]) == (3, 3, 1)
    law = evenly.fit(runs, method="power-law")
    # The law alone says that one core takes longer than 60 s, so this bound adds nothing.
    with pytest.warns(ExtrapolationWarning, match="learned on 2 … 4"):
        assert law.predict({"cores": [1]})[0] > 60


def test_repetitions_of_which_some_hit_the_limit() -> None:
    def known(seconds: list[float], status: str, statistic: str = "median") -> tuple[float, bool]:
        words = {"o": "ok", "t": "timed out"}
        table = pd.DataFrame({"cores": 1, "seconds": seconds, "status": [words[one] for one in status]})
        found = Runs.from_frame(table, ["cores"]).evidence(statistic)  # type: ignore[arg-type]
        return float(found["seconds"][0]), bool(found["censored"][0])

    assert known([4, 5, 9], "oot") == (5, False)  # the median of three, whatever the third would have taken
    assert known([4, 9, 9], "ott") == (9, True)
    assert known([4, 9], "ot") == (6.5, True)
    assert known([4, 3], "ot") == (4, False)  # a lower limit says nothing of a run that took longer
    assert known([4, 9], "ot", "min") == (4, False)
    assert known([4, 9], "ot", "mean") == (6.5, True)
    assert known([9, 12], "tt", "min") == (9, True)


def test_runs_with_labels_and_bounds_are_summarised() -> None:
    table = pd.DataFrame({
        "solver": ["cg", None, "cg", "mg"], "seconds": [3.0, 2.0, 5.0, 9.0], "status": ["ok", "ok", "ok", "timed out"],
        "memory": [1.0, 2.0, 3.0, 4.0],
    })  # fmt: skip
    runs = Runs.from_frame(table, ["solver"], quantities={"memory": "B"})
    assert isinstance(runs.space.parameters["solver"], Categorical)
    found = runs.evidence()
    assert found["solver"].tolist() == ["cg", None, "mg"]
    assert found["seconds"].tolist() == [4.0, 2.0, 9.0]
    assert found["censored"].tolist() == [False, False, True]
    assert found["memory"].tolist()[:2] == [2.0, 2.0]
    assert not runs.learning("memory").evidence()["censored"].any()


def test_bounds_that_earlier_versions_kept_apart_are_read() -> None:
    table = pd.DataFrame({"status": ["ok", "timed out", "failed"], "seconds": [2.0, np.nan, np.nan]})
    table["at_least"] = [np.nan, 9.0, 8.0]
    bounds_as_seconds(table)
    assert table["seconds"].tolist()[:2] == [2.0, 9.0]
    assert np.isnan(table["seconds"][2])


def test_a_run_that_hung_does_not_bend_the_law() -> None:
    cores, seconds = [8, 16, 32, 64, 128], [100.0, 52.0, 28.0, 16.0, 3600.0]
    with pytest.warns(EvenlyWarning, match="left out, as if they hung"):
        model = PowerLaw().fit({"cores": cores}, seconds, censored=[False] * 4 + [True])
    assert model.predict({"cores": [64]})[0] == pytest.approx(16, rel=0.1)
    # Nothing was learned from that run, so its place is beyond what was measured.
    assert model.extrapolates({"cores": [64, 100, 128]}).tolist() == [False, True, True]
    assert model.left_out_predictions_ is None or len(model.left_out_predictions_) == 5


def test_medians_that_limits_hide_are_said() -> None:
    table = pd.DataFrame({"cores": [4, 4, 4, 8, 8, 8], "seconds": [50.0, 60, 60, 40, 60, 60]})
    table["status"] = ["ok", "timed out", "timed out"] * 2
    runs = Runs.from_frame(table, ["cores"])
    with pytest.raises(InputError, match=r"the median isn't known: only 2 of all went well.*--statistic min"):
        evenly.fit(runs)
    assert evenly.fit(runs, statistic="min").predict({"cores": [4]}) > 0
