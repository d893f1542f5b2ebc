"""Designs: stratified, distributed as promised, reproducible, and feasible however hard the rules."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenly.errors import InfeasibleError
from evenly.space.designs import Design, unit_points
from evenly.space.parameters import Categorical, Integer, Ordinal, Real
from evenly.space.space import Space

DESIGNS: list[Design] = ["random", "uniform", "log-uniform", "sobol", "lhs"]
SPACE = Space(n=Integer(1, 1000, scale="log"), x=Real(-1, 1), k=Ordinal(1, 2.5), s=Categorical("a", None))


@pytest.mark.parametrize("design", DESIGNS)
def test_same_seed_same_sample_inside_the_space(design: Design) -> None:
    table = SPACE.sample(300, design=design, seed=3)
    pd.testing.assert_frame_equal(table, SPACE.sample(300, design=design, seed=3))
    assert not table.equals(SPACE.sample(300, design=design, seed=4))
    assert SPACE.contains(table).all()
    assert len(table) == 300
    assert len(SPACE.sample(0, design=design)) == 0
    assert set(table["s"]) == {"a", None}


@pytest.mark.parametrize("d", [1, 5])
def test_sobol_and_lhs_fill_every_stratum_once(d: int) -> None:
    for design in ("sobol", "lhs"):
        points = next(unit_points(d, design, 64, np.random.default_rng(0)))
        strata = np.sort(np.floor(64 * points).astype(int), axis=0)
        np.testing.assert_array_equal(strata, np.tile(np.arange(64)[:, None], d))


def test_sobol_stays_balanced_over_blocks() -> None:
    blocks = unit_points(2, "sobol", 32, np.random.default_rng(0))
    points = np.concatenate([next(blocks) for _ in range(3)])
    assert np.log2(len(points)).is_integer()
    strata = np.floor(len(points) * points).astype(int)
    assert all(len(set(column)) == len(points) for column in strata.T)


@pytest.mark.parametrize(("design", "logarithmic"), [("random", True), ("log-uniform", True), ("uniform", False)])
def test_reals_are_distributed_by_design(design: Design, logarithmic: bool) -> None:
    sample = Space(x=Real(0.01, 100.0, scale="log")).sample(5000, design=design, seed=0)["x"].to_numpy()
    unit = (np.log10(sample) + 2) / 4 if logarithmic else (sample - 0.01) / 99.99
    # Kolmogorov: P(D > d) < 2 exp(-2 n d²); d = sqrt(ln(2e6) / 2n) = 0.038 fails once in a million seeds.
    assert stats.kstest(unit, "uniform").statistic < np.sqrt(np.log(2e6) / (2 * 5000))


def test_hard_rules_keep_the_design() -> None:
    # 1 in 2000 combinations is feasible; given that, a is log-uniform: P(a) ∝ log(1 + 1/a) for b = a.
    space = Space(a=Integer(1, 2000, scale="log"), b=Integer(1, 2000), constraints=["a == b"])
    table = space.sample(1000, seed=0)
    assert (table["a"] == table["b"]).all()
    mass = np.log1p(1 / np.arange(1, 2001))
    expected = 1000 * mass[:10].sum() / mass.sum()
    assert (table["a"] <= 10).sum() <= 10  # drawn without repetition while there are others …
    repeated = pd.concat([space.sample(1, seed=i) for i in range(60)])
    share = (repeated["a"] <= 10).mean()
    # … while single draws follow the mass: 60 draws, standard deviation below 0.5 / sqrt(60), five of them.
    assert abs(share - expected / 1000) < 5 * 0.5 / np.sqrt(60)


@pytest.mark.parametrize("design", DESIGNS)
def test_rules_that_reject_999_of_1000(design: Design) -> None:
    reals = Space(x=Real(0, 1), y=Real(0, 1), constraints=["abs(x - y) < 0.0005"])
    table = reals.sample(20, design=design, seed=1)
    assert len(table) == 20
    assert (table["x"] - table["y"]).abs().max() < 0.0005
    vast = Space(a=Integer(1, 10**6), b=Integer(1, 10**6), constraints=["(a + b) % 1000 == 0"])
    assert vast.contains(vast.sample(20, design=design, seed=1)).all()


def test_no_answer_names_a_rule() -> None:
    for space in (
        Space(n=Integer(1, 9), constraints=["n > 9"]),
        Space(x=Real(0, 1), constraints=["x > 9"]),
        Space(n=Integer(1, 10**6), m=Integer(1, 10**6), constraints=["n * m < 0"]),
    ):
        with pytest.raises(InfeasibleError) as caught:
            space.sample(3, seed=0)
        assert caught.value.constraint == space.constraints[0].name
        assert space.constraints[0].name in str(caught.value)
    with pytest.raises(InfeasibleError, match="the list, which is empty"):
        Space(n=Integer(1, 2), listed=pd.DataFrame({"n": []})).sample(1)
