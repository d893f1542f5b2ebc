"""Learning with a model of other runs: as good with few runs, never worse for an unlike one, and said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import evenly
from evenly.errors import EvenlyWarning, InputError
from evenly.metrics import mlogq
from evenly.models.base import Model
from evenly.models.ensemble.automatic import Automatic
from evenly.models.ensemble.prior import Prior
from evenly.models.gaussian_process.gaussian_process import GaussianProcess
from evenly.models.scaling_laws.power_law import PowerLaw
from evenly.space.parameters import Integer
from evenly.space.space import Space

pytestmark = pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
FACTOR = 0.4


def _runs(n: int, factor: float = 1.0, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """A law with a bump that few runs don't show, and 2 % of noise."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"cores": np.exp(rng.uniform(0, 5, n)).round(), "size": np.exp(rng.uniform(2, 7, n)).round()})
    times = table["size"] / table["cores"] + 3 + 2 * np.sin(2 * np.log(table["size"]))
    return table, factor * times.to_numpy() * np.exp(0.02 * rng.normal(size=n))


@pytest.fixture(scope="module")
def old() -> Model:
    return GaussianProcess(effort="quick").fit(*_runs(150))


def _learned(prior: Model | None, n: int = 12, values: Any = None) -> Automatic:
    table, times = _runs(n, FACTOR, seed=1)
    return Automatic(effort="quick", methods=["gp"], prior=prior).fit(table, times if values is None else values)


def test_few_runs_with_a_prior_are_worth_many_without(old: Model) -> None:
    asked, truth = _runs(400, FACTOR, seed=2)
    model = _learned(old)
    # The prior's own error, that of 2 % of noise, and of a ratio from a dozen runs, are each about 2 %.
    assert mlogq(truth, model.predict(asked)) < 0.05
    assert mlogq(truth, model.predict(asked)) < mlogq(truth, _learned(None).predict(asked)) / 3
    lower, upper = model.interval(asked)
    assert np.mean((lower <= truth) & (truth <= upper)) > 0.8
    # 90 % of what noise and ratio are off by, 3 % together, is a factor of 1.1; a dozen residuals don't tell so well.
    assert np.median(upper / lower) < 1.5


def test_what_it_found_is_told(old: Model) -> None:
    told = _learned(old).prior_
    assert told["weight"] > 0.9
    assert told["ratio"][0] == pytest.approx(FACTOR, rel=0.1)
    assert told["ratio"][1] == pytest.approx(FACTOR, rel=0.1)
    assert told["error"] < told["error_without"] / 3


def test_an_unlike_prior_changes_nothing(old: Model) -> None:
    asked, _ = _runs(50, seed=2)
    table, times = _runs(150)
    unlike = PowerLaw().fit(table, np.random.default_rng(0).permutation(times) * table["cores"] ** 3)
    many = _runs(60, FACTOR, seed=1)
    model = Automatic(effort="quick", methods=["gp", "power-law"], prior=unlike).fit(*many)
    alone = Automatic(effort="quick", methods=["gp", "power-law"]).fit(*many)
    with_it, without = (mlogq(_runs(50, FACTOR, seed=2)[1], one.predict(asked)) for one in (model, alone))
    assert with_it <= 1.05 * without
    if not model.prior_["weight"]:
        np.testing.assert_array_equal(model.predict(asked), alone.predict(asked))


def test_one_run_gives_one_factor(old: Model) -> None:
    with pytest.warns(EvenlyWarning, match="gp of ratio was taken"):
        model = Automatic(effort="quick", prior=old).fit({"cores": [8], "size": [100]}, [30.0])
    asked = {"cores": [8, 2], "size": [100, 50]}
    expected = old.predict(asked)
    np.testing.assert_allclose(model.predict(asked), 30.0 * expected / expected[0], rtol=1e-6)


def test_it_goes_on_where_the_prior_was_measured(old: Model) -> None:
    table, times = _runs(40, FACTOR, seed=1)
    near = (table["cores"] < 30).to_numpy()
    model = Automatic(effort="quick", prior=old).fit(table[near], times[near])
    assert model.beyond_ == "gp of ratio"
    assert mlogq(times[~near], model.predict(table[~near])) < 0.1
    lower, upper = model.interval(table[~near])
    assert np.mean((lower <= times[~near]) & (times[~near] <= upper)) > 0.8


def test_a_stored_model_predicts_the_same(old: Model, tmp_path: Path) -> None:
    asked, _ = _runs(20, seed=2)
    model = _learned(old)
    evenly.save(model, tmp_path / "new.evenly")
    again = evenly.load(tmp_path / "new.evenly")
    assert isinstance(again, Automatic)
    np.testing.assert_array_equal(again.predict(asked), model.predict(asked))
    np.testing.assert_array_equal(again.interval(asked), model.interval(asked))
    assert again.prior_ == model.prior_
    assert again.beyond_ == model.beyond_


def _frame(values: Sequence[Any], seconds: Sequence[float], name: str = "solver") -> evenly.Runs:
    table = pd.DataFrame({name: values, "cores": 2 ** np.arange(len(values)), "seconds": seconds})
    return evenly.Runs.from_frame(table, [name, "cores"])


def test_labels_that_it_does_not_know_get_the_mean_and_this_is_said() -> None:
    known = evenly.fit(_frame(["cg", "lu"] * 4, [8.0, 16, 8, 16, 8, 16, 8, 16]), method="log-quadratic")
    prior = Prior(known, "old.evenly")
    asked = pd.DataFrame({"solver": ["cg", "LU", "amg"], "cores": [4, 4, 4]})
    cg, lu, amg = prior.logs(asked)
    assert np.exp(lu - cg) == pytest.approx(2, rel=0.1)
    assert amg == pytest.approx((cg + lu) / 2)
    new = _frame(["cg", "amg"], [1.0, 2.0])
    assert prior.differences(new.space, "median") == [
        "old.evenly has no runs with solver = amg: the mean of its labels stands for it"
    ]


def _three_solvers(n: int, factor: float, solvers: Sequence[str], seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"cores": 2 ** rng.integers(0, 6, n), "solver": rng.choice(solvers, n)})
    times = factor * (40 / table["cores"] + 1) * table["solver"].map({"cg": 1.0, "lu": 2.0, "amg": 5.0})
    return table, times.to_numpy() * np.exp(0.02 * rng.normal(size=n))


def test_labels_that_only_the_prior_knows_are_predicted_with_wider_intervals() -> None:
    known = GaussianProcess(effort="quick").fit(*_three_solvers(60, 1.0, ["cg", "lu", "amg"], 0))
    new = _three_solvers(12, 0.5, ["cg", "lu"], 1)
    model = Automatic(effort="quick", methods=["log-quadratic"], prior=known).fit(*new)
    asked, truth = _three_solvers(100, 0.5, ["amg", "cg"], 2)
    assert mlogq(truth, model.predict(asked)) < 0.04
    amg = (asked["solver"] == "amg").to_numpy()
    asked, truth = asked[amg], truth[amg]
    lower, upper = model.interval(asked)
    assert np.mean((lower <= truth) & (truth <= upper)) > 0.8
    # A ratio that differs between labels is less certain for another one.
    slower = new[1] * np.where(new[0]["solver"] == "lu", 1.3, 1.0)
    uneven = Automatic(effort="quick", methods=["log-quadratic"], prior=known).fit(new[0], slower)
    here = {"cores": [8, 8], "solver": ["amg", "cg"]}
    widths = np.log(uneven.interval(here)[1] / uneven.interval(here)[0])
    assert widths[0] > 1.5 * widths[1]
    alone = Automatic(effort="quick", methods=["log-quadratic"]).fit(*new)
    with pytest.raises(InputError, match="must be one of cg, lu"):
        alone.predict(here)


def test_what_is_not_certain_is_asked() -> None:
    known = evenly.fit(_frame(["cg", "lu"] * 4, [8.0, 16, 8, 16, 8, 16, 8, 16]), method="log-quadratic")
    prior = Prior(known, "old.evenly")
    with pytest.raises(InputError, match=r"depends on 'solver', which these runs lack.*--constant solver="):
        prior.check(Space(cores=Integer(1, 8)))
    with pytest.raises(InputError, match=r"values of 'solver' are labels in old\.evenly, but numbers here"):
        prior.check(Space(cores=Integer(1, 8), solver=Integer(1, 2)))
    with pytest.raises(InputError, match="predicts seconds in s, but memory in B is to be learned"):
        prior.check_response("memory", "B")
    with pytest.raises(InputError, match="has not learned anything yet"):
        Prior(PowerLaw()).check(Space(cores=Integer(1, 8)))


def test_units_must_agree() -> None:
    metres = Space(length=Integer(1, 8, unit="m"))
    known = PowerLaw().fit({"length": [1, 2, 4, 8]}, [1.0, 2.0, 4.0, 8.0], space=metres)
    with pytest.raises(InputError, match="'length' is in m in the prior, but in km here"):
        Prior(known).check(Space(length=Integer(1, 8, unit="km")))
    (said,) = Prior(known).differences(Space(length=Integer(1_000, 8_000)), "median")
    assert said.startswith("length was 1 … 8 in the prior, and is 1000 … 8000 here: check that the unit is the same")


def _curve(factor: float, cores: Sequence[int]) -> evenly.Runs:
    seconds = [factor * (80 / p + 2 * np.log2(p) + 1) for p in cores]
    return evenly.Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": seconds}), ["cores"])


def test_fit_takes_models_runs_and_one_of_each_solver() -> None:
    many = _curve(1.0, [1, 2, 4, 8, 16, 32, 64, 128])
    few, asked = _curve(0.5, [4, 32]), {"cores": [1, 8, 128]}
    truth = evenly.fit(many).predict(asked) / 2
    for prior in (many, evenly.fit(many)):
        with pytest.warns(EvenlyWarning, match=r"the prior is used .weight 100 %.: times are 0.5"):
            model = evenly.fit(few, prior=prior)
        np.testing.assert_allclose(model.predict(asked), truth, rtol=0.02)
        assert model.training_["prior"]["weight"] == 1
    with pytest.warns(EvenlyWarning, match="ocean: the prior is used"):
        models = evenly.fit({"ocean": few}, prior={"ocean": many})
    np.testing.assert_allclose(models["ocean"].predict(asked), truth, rtol=0.02)
    with pytest.raises(InputError, match="there is no prior of 'ice', but of 'ocean'"):
        evenly.fit({"ice": few}, prior={"ocean": many})


def test_what_is_no_model_is_refused_and_a_clone_keeps_the_prior(old: Model) -> None:
    for given in ("old.evenly", 3):
        with pytest.raises(InputError, match="prior must be a fitted model or runs, but got"):
            evenly.fit(_curve(1.0, [1, 2, 4]), prior=given)
    assert clone(Automatic(effort="quick", prior=old)).prior is old


def test_without_weight_the_model_is_that_without_a_prior() -> None:
    runs = _curve(1.0, [1, 2, 4, 8, 16, 32])
    unlike = evenly.Runs.from_frame(
        pd.DataFrame({"cores": [1, 2, 4, 8, 16, 32], "seconds": [3.0, 50, 2, 90, 1, 70]}), ["cores"]
    )
    with pytest.warns(EvenlyWarning, match="the prior isn't used"):
        model = evenly.fit(runs, prior=unlike, effort="quick")
    alone = evenly.fit(runs, effort="quick")
    assert model.method == alone.method
    np.testing.assert_array_equal(model.predict({"cores": [3, 40]}), alone.predict({"cores": [3, 40]}))


def grid(exponent: float, factor: float, rows: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"cores": random.choice([1, 2, 4, 8, 16, 32], rows), "n": random.choice([1e4, 1e5, 1e6], rows)}
    )
    table = table.drop_duplicates().reset_index(drop=True) if rows < 10 else table
    law = 1e-4 * table["n"] ** exponent / table["cores"] ** 0.9
    return table.assign(seconds=factor * law * np.exp(random.normal(0, 0.03, len(table))))


@pytest.mark.filterwarnings("ignore::evenly.errors.EvenlyWarning")
@pytest.mark.parametrize("seed", range(6))
def test_four_runs_of_another_law_take_nothing_from_the_prior(seed: int) -> None:
    """Left out in turn, four runs told by chance that it helps: the error rose from 3 % to 63 %."""
    old = evenly.fit(grid(1.0, 1.0, 80, 0), parameters=["cores", "n"], method="power-law")
    new = evenly.Runs.from_frame(grid(1.25, 1.0, 4, 100 + seed), ["cores", "n"])
    model, alone, asked = evenly.fit(new, prior=old), evenly.fit(new), grid(1.25, 1.0, 80, 50)
    with_it, without = (mlogq(asked["seconds"], one.predict(asked[["cores", "n"]])) for one in (model, alone))
    assert with_it <= 1.05 * without
    # Runs of one size can't tell that the sizes count otherwise, and alone, they tell nothing of sizes.
    assert model.training_["prior"]["weight"] == 0 or new.configurations["n"].nunique() == 1


@pytest.mark.filterwarnings("ignore::evenly.errors.EvenlyWarning")
@pytest.mark.parametrize("runs", [2, 3, 5])
def test_few_runs_that_are_a_factor_apart_are_predicted_with_narrow_intervals(runs: int) -> None:
    """Left-out errors of two runs were multiplied by their distance: intervals from 1 s to 10⁹ s."""
    old = evenly.fit(grid(1.0, 1.0, 80, 0), parameters=["cores", "n"], method="power-law")
    asked = grid(1.0, 0.6, 80, 50)
    held, widths = [], []
    for seed in range(200, 206):
        model = evenly.fit(evenly.Runs.from_frame(grid(1.0, 0.6, runs, seed), ["cores", "n"]), prior=old)
        lower, upper = model.interval(asked[["cores", "n"]])
        held.append(np.mean((lower <= asked["seconds"]) & (asked["seconds"] <= upper)))
        widths.append(np.median(upper / lower))
        # Noise of 3 % of each of two runs, and of what is asked.
        assert mlogq(asked["seconds"], model.predict(asked[["cores", "n"]])) < 0.08
    assert np.mean(held) > 0.85
    # Two ratios tell their spread within a factor of some: Student's quantile is 2.9. Beyond them, slopes add 1.2.
    assert np.median(widths) < 2.2


@pytest.mark.filterwarnings("ignore::evenly.errors.EvenlyWarning")
def test_runs_on_a_line_are_enough_where_the_prior_knows_how_each_parameter_counts() -> None:
    """Two runs lie on a line, off which intervals were as wide as they were far."""
    old = evenly.fit(grid(1.0, 1.0, 80, 0), parameters=["cores", "n"], method="power-law")
    table = pd.DataFrame({"cores": [4, 8, 16], "n": [1e4, 1e5, 1e6]})
    new = evenly.Runs.from_frame(table.assign(seconds=0.6 * old.predict(table) * [1, 1.02, 0.99]), ["cores", "n"])
    asked = {"cores": [16], "n": [1e4]}
    lower, upper = evenly.fit(new, prior=old).interval(asked)
    assert upper / lower < 2
    lower, upper = evenly.fit(new).interval(asked)
    assert upper / lower > 10


def test_the_same_runs_are_no_other_machine() -> None:
    runs = evenly.Runs.from_frame(grid(1.0, 1.0, 40, 3), ["cores", "n"])
    with pytest.raises(InputError, match="was learned from these same runs"):
        evenly.fit(runs, prior=runs)


@pytest.mark.filterwarnings("ignore::evenly.errors.EvenlyWarning")
def test_a_prior_that_was_loaded_is_stored_again(tmp_path: Path) -> None:
    """Members of a loaded blend have no intervals of their own, which storing them asked for."""
    old = evenly.fit(grid(1.0, 1.0, 80, 0), parameters=["cores", "n"], method="auto", effort="quick")
    evenly.save(old, tmp_path / "old.evenly")
    loaded: Any = evenly.load(tmp_path / "old.evenly")
    evenly.save(loaded, tmp_path / "again.evenly")
    new = evenly.Runs.from_frame(grid(1.0, 0.5, 3, 5), ["cores", "n"])
    model = evenly.fit(new, prior=loaded, effort="quick")
    assert model.training_["prior"]["weight"] > 0
    evenly.save(model, tmp_path / "new.evenly")
    asked = {"cores": [4, 16], "n": [1e5, 1e6]}
    back: Any = evenly.load(tmp_path / "new.evenly")
    assert back.predict(asked) == pytest.approx(model.predict(asked))
