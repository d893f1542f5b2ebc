"""Laws of regions and their ranking: planted laws give the right order, shares and verdicts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import evenly
from evenly.errors import EvenlyWarning, InputError
from evenly.models.base import Model
from evenly.models.ranking import ranking

P = np.array([4, 8, 16, 32, 64])


def runs_of(laws: Mapping[str, NDArray[Any]], noise: float = 0.0, seed: int = 0, **columns: Any) -> evenly.Runs:
    rng = np.random.default_rng(seed)
    tables = [
        pd.DataFrame({"region": name, "p": np.repeat(P, 5), "seconds": np.repeat(law, 5), **columns})
        for name, law in laws.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    table["seconds"] *= np.exp(noise * rng.normal(size=len(table)))
    return evenly.Runs.from_frame(table, ["region", "p", *columns])


LAWS = {"solve": 640 / P, "setup": np.full(5, 2.0), "reduce": 0.001 * P * np.log2(P), "write": 0.5 + 0.02 * P}


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return evenly.fit(runs_of(LAWS), each="region")


def test_order_and_shares_at_a_scale_are_those_of_the_planted_laws(models: dict[str, Model]) -> None:
    found = ranking(models, {"p": [64, 4096]})
    for p in (64, 4096):
        rows = found[found["p"] == p]
        truth = {"solve": 640 / p, "setup": 2.0, "reduce": 0.001 * p * np.log2(p), "write": 0.5 + 0.02 * p}
        assert rows["region"].tolist() == sorted(truth, key=lambda name: -truth[name])
        # Without noise, the laws are found but for rounding; five points weigh rivals of near-equal fit too.
        np.testing.assert_allclose(rows["seconds"], [truth[name] for name in rows["region"]], rtol=0.1)
        np.testing.assert_allclose(rows["share"].sum(), 1.0)
        assert (rows["lower"] <= rows["seconds"]).all()
        assert (rows["seconds"] <= rows["upper"]).all()


def test_verdicts_of_exact_laws_are_right(models: dict[str, Model]) -> None:
    def faster(expect: str) -> set[str]:
        found = ranking(models, {"p": [4096]}, expect=expect)
        return set(found["region"][found["verdict"] == "faster"])

    assert faster("1") == {"reduce", "write"}
    assert faster("1 / p") == {"reduce", "write", "setup"}
    assert faster("p**2") == set()
    assert faster("log(p)") == faster("log2(p)") == {"reduce", "write"}


def test_noise_makes_no_certain_verdict_of_constant_regions() -> None:
    """At 5 % noise, of 60 regions that don't grow, the bounds of 90 % leave few (5 % on this side) called faster."""
    constant = {f"r{k}": np.full(5, 1.0) for k in range(60)}
    found = ranking(evenly.fit(runs_of(constant, 0.05), each="region"), {"p": [4096]}, expect="1")
    # 60 draws of probability 5 %: more than 8 have a probability below 1 %.
    assert (found["verdict"] == "faster").sum() <= 8
    assert (found["verdict"] == "can't be told").any()


def test_growth_starts_at_the_largest_measured_values_or_at_the_smallest(models: dict[str, Model]) -> None:
    found = ranking(models, {"p": [128, 16]}).set_index(["region", "p"])
    assert found.loc[("solve", 128), "growth"] == pytest.approx(64 / 128, rel=0.02)
    assert found.loc[("solve", 16), "growth"] == pytest.approx(4 / 16, rel=0.02)
    assert ranking(models)["p"].unique().tolist() == [64]


def test_what_never_varied_is_left_out_and_not_asked(models: dict[str, Model]) -> None:
    models = evenly.fit(runs_of(LAWS, n=100), each="region")
    assert models["solve"].space_.names == ["p"]
    ranking(models, {"p": [128], "n": [100]}, expect="n / p")
    with pytest.raises(InputError, match="n was 100 in all runs, so nothing is known about n=200"):
        ranking(models, {"p": [128], "n": [200]})
    with pytest.raises(InputError, match="'m' is no parameter of 'solve': there are p, n"):
        ranking(models, {"p": [128], "m": [200]})
    with pytest.raises(InputError, match="needs a value for 'p'"):
        ranking(models, {"n": [100]})


@pytest.mark.parametrize(
    ("expect", "reason"),
    [
        ("q", "needs 'q'"),
        ("log(p", "not an expression"),
        ("64 - p", "must be above zero"),
        ("exp(1e6 * p)", "must be above zero, but goes from inf"),
    ],
)
def test_expectations_that_can_not_be_evaluated_are_refused(models: dict[str, Model], expect: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        ranking(models, {"p": [128]}, expect=expect)


def test_a_region_with_too_few_runs_is_left_out_aloud() -> None:
    runs = runs_of(LAWS).where("region != 'setup' or p < 16")
    with pytest.warns(EvenlyWarning, match=r"1 of 4 values of 'region' left out: setup: measured at 2 of the 3"):
        models = evenly.fit(runs, each="region")
    assert set(models) == {"solve", "reduce", "write"}
    with pytest.raises(InputError, match="setup: measured at 2"):
        evenly.fit(runs.where("region == 'setup'"), each="region")


def test_laws_of_regions_are_kept_in_one_file_and_are_no_coupled_solvers(
    models: dict[str, Model], tmp_path: Path
) -> None:
    path = tmp_path / "regions.evenly"
    evenly.save(models, path)
    again = evenly.load(path)
    assert isinstance(again, dict)
    pd.testing.assert_frame_equal(ranking(again, {"p": [1024]}, expect="1"), ranking(models, {"p": [1024]}, expect="1"))
    with pytest.raises(InputError, match="laws of each 'region', not of coupled solvers"):
        evenly.allocate(again, cores=64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_cores = {region: evenly.by_cores(model, "p") for region, model in again.items()}
        plan = evenly.allocate(of_cores, cores=64, layout="solve + setup + reduce + write")
    assert set(plan.cores) == set(LAWS)


def test_other_methods_and_quantities(models: dict[str, Model]) -> None:
    found = ranking(evenly.fit(runs_of(LAWS), each="region", method="power-law"), {"p": [1024]}, expect="1")
    assert found.set_index("region").loc["solve", "verdict"] == "not faster"
    table = runs_of(LAWS).to_frame().assign(bytes=lambda rows: 100.0 * rows["p"])
    runs = evenly.Runs.from_frame(table, ["region", "p"], quantities={"bytes": "B"})
    found = ranking(evenly.fit(runs, each="region", response="bytes"), {"p": [1024]})
    np.testing.assert_allclose(found["bytes"], 102_400, rtol=1e-3)


def test_two_parameters_and_labels() -> None:
    p, n = (x.ravel() for x in np.meshgrid(P, [100, 200, 400, 800, 1600]))
    tables = [
        pd.DataFrame({"region": "compute", "p": p, "n": n, "seconds": 2.0 * n / p}),
        pd.DataFrame({"region": "halo", "p": p, "n": n, "seconds": 0.01 * n**0.5 + 0.001 * p}),
    ]
    models = evenly.fit(evenly.Runs.from_frame(pd.concat(tables), ["region", "p", "n"]), each="region")
    found = ranking(models, {"p": [1024], "n": [6400]}, expect="n / p").set_index("region")
    np.testing.assert_allclose(found["seconds"].sort_index(), [12.5, 0.8 + 1.024], rtol=0.05)
    assert found.loc["halo", "verdict"] == "faster"
    assert found.loc["compute", "verdict"] != "faster"


def test_a_region_measured_at_one_value_of_a_parameter_has_a_law_of_the_others() -> None:
    p, n = (x.ravel() for x in np.meshgrid(P, [100, 200, 400, 800]))
    both = pd.DataFrame({"region": "compute", "p": p, "n": n, "seconds": 2.0 * n / p})
    one = pd.DataFrame({"region": "setup", "p": P, "n": 100, "seconds": 0.1 * P})
    models = evenly.fit(evenly.Runs.from_frame(pd.concat([both, one]), ["region", "p", "n"]), each="region")
    found = ranking(models, {"p": [256], "n": [100]}).set_index("region")
    assert found.loc["setup", "seconds"] == pytest.approx(25.6, rel=0.02)


def test_a_region_without_runs_at_the_largest_scale_is_said() -> None:
    solve = [{"region": "solve", "p": p, "seconds": 640 / p} for p in (4, 8, 16, 32, 64)]
    early = [{"region": "early", "p": p, "seconds": 2.5 * p} for p in (4, 8, 16)]
    runs = evenly.Runs.from_frame(pd.DataFrame([*solve, *early]), ["region", "p"])
    with pytest.warns(EvenlyWarning, match="early: no runs above p = 16, where others were measured up to 64"):
        evenly.fit(runs, each="region")


def test_rows_that_may_be_callers_are_said() -> None:
    one = [{"region": "f", "p": p, "seconds": s} for p in (4, 8, 16, 32) for s in (160 / p, 10.0)]
    other = [{"region": "g", "p": p, "seconds": 50.0 + p} for p in (4, 8, 16, 32)]
    runs = evenly.Runs.from_frame(pd.DataFrame([*one, *other]), ["region", "p"])
    with pytest.warns(EvenlyWarning, match="f: 2 rows for each configuration, where others have 1; they are taken as"):
        evenly.fit(runs, each="region")


def test_a_second_label_needs_no_option_of_its_own() -> None:
    rows = [
        {"region": region, "kind": kind, "p": p, "seconds": (160 / p if kind == "x" else 10.0)}
        for region in ("f", "g") for kind in ("x", "y") for p in (4, 8, 16, 32)
    ]  # fmt: skip
    runs = evenly.Runs.from_frame(pd.DataFrame(rows), ["region", "kind", "p"])
    assert set(evenly.fit(runs, each="region", asked={"p": (4, 64)})) == {"f", "g"}


def test_inclusive_times_are_shares_of_the_largest_region() -> None:
    p = np.array([4, 8, 16, 32, 64])
    parts = {"main": 100 / p + 1, "main->solve": 90 / p}
    table = pd.concat([
        pd.DataFrame({"region": name, "ranks": p, "seconds": 1.0, "inclusive": times}) for name, times in parts.items()
    ])  # fmt: skip
    runs = evenly.Runs.from_frame(table, ["region", "ranks"], quantities={"inclusive": "s"})
    found = evenly.ranking(evenly.fit(runs, each="region", response="inclusive"), {"ranks": [8]})
    assert found["share"].tolist() == pytest.approx([1, 11.25 / 13.5], rel=0.02)


def test_regions_of_which_a_configuration_hit_its_limit() -> None:
    rows = [(name, n, 100 * (1 + (name == "b")) / n, "ok") for name in "ab" for n in (1, 2, 4, 8, 16)]
    rows = [("b", 1, 150.0, "timed out") if row[:2] == ("b", 1) else row for row in rows]
    table = pd.DataFrame(rows, columns=["region", "cores", "seconds", "status"])
    models = evenly.fit(evenly.Runs.from_frame(table, ["region", "cores"]), each="region")
    assert {name: models[name].predict({"cores": [4]})[0] for name in "ab"} == pytest.approx(
        {"a": 25, "b": 50}, rel=0.01
    )
    assert models["b"].training_["left_out"]["MLogQ"] < 0.01
