"""Distances to a cloud of training rows whose distribution is known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.decomposition.forecasting.training_overlap import BOUNDED, INPUTS, Overlap
from evenly.errors import InputError


def cloud(n: int, seed: int = 0, /, **changed: Any) -> pd.DataFrame:
    """Return rows whose logarithms are normal and independent, but dielectric grows as susceptibility does."""
    random = np.random.default_rng(seed)
    z = random.normal(size=(n, 8))
    table = {name: np.exp(-2 + 0.5 * z[:, i]) for i, name in enumerate(INPUTS[:5])}
    table["share of dielectric"] = table["share of susceptibility"] * np.exp(0.05 * z[:, 4])
    ranks = np.exp(4 + z[:, 5])
    table |= {"frequencies": np.exp(3 + 0.4 * z[:, 6]), "ranks": ranks, "points": ranks * np.exp(10 + z[:, 7])}
    return pd.DataFrame({**table, **changed})


def middle_of(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: [float(np.exp(np.log(table[name]).mean()))] for name in table})


@pytest.fixture(scope="module")
def overlap() -> Overlap:
    return Overlap.learn(cloud(2000))


def test_rows_of_the_same_distribution_lie_inside(overlap: Overlap) -> None:
    asked = cloud(1000, 1)
    # Medians and percentiles of the training rows' own distances and of new rows' are those of one distribution, but
    # that a new row finds 400 others and not 399: with 1000 rows a share has a standard error below 0.016.
    assert np.median(overlap.distance(asked)) == pytest.approx(1, abs=0.1)
    assert overlap.percentile(asked).mean() == pytest.approx(0.5, abs=0.06)
    # 98 % of each input by definition; 4 standard errors of both quantiles and counts are 0.023.
    assert overlap.coverage(asked).to_numpy() == pytest.approx(0.98, abs=0.025)
    # 0.5 % are far in themselves, and of nine inputs 2/2000 each lie beyond the largest of 2000 rows.
    assert sum(bool(names) for names in overlap.outside(asked)) < 0.04 * len(asked)


@pytest.mark.parametrize("name", ["share of pml", "frequencies", "share of transforms"])
def test_a_row_beyond_one_input_is_named_by_it(overlap: Overlap, name: str) -> None:
    middle = middle_of(cloud(500))
    assert overlap.outside(middle) == [()]
    assert overlap.distance(middle)[0] < 1
    for factor in (50, 0.02):
        off = middle.assign(**{name: middle[name] * factor})
        assert overlap.outside(off) == [(name,)]
        assert overlap.distance(off)[0] > 3
        assert overlap.percentile(off)[0] == 1
        assert overlap.coverage(off).drop(name).eq(1).all()
        assert overlap.coverage(off)[name] == 0


def test_more_ranks_than_any_are_named_though_points_per_rank_are_usual() -> None:
    random = np.random.default_rng(2)
    training = cloud(500, ranks=np.exp(random.uniform(0, 5, 500)), points=np.exp(random.uniform(5, 10, 500)))
    overlap = Overlap.learn(training)
    assert overlap.outside(training.iloc[:1].assign(ranks=1e3, points=float(np.exp(9.9)))) == [("ranks",)]


def test_a_row_that_is_unusual_in_two_inputs_together_is_named_by_both() -> None:
    random = np.random.default_rng(5)
    even = {name: np.exp(random.uniform(-3, -1, 1000)) for name in INPUTS[:4]}
    even["share of dielectric"] = even["share of susceptibility"] * random.uniform(0.95, 1.05, 1000)
    even["ranks"] = np.exp(random.uniform(0, 5, 1000))
    training = cloud(1000, **even, frequencies=random.uniform(5, 9, 1000), points=1e5 * even["ranks"])
    overlap, middle = Overlap.learn(training), middle_of(training)
    # Both lie at a corner of what is drawn, 2.5 standard deviations from the line on which all rows lie.
    corner = {"share of susceptibility": float(np.exp(-1.05)), "share of dielectric": float(np.exp(-2.95))}
    off = middle.assign(**corner)
    assert overlap.coverage(off).eq(1).all()
    (names,) = overlap.outside(off)
    assert set(names) == set(corner)
    assert overlap.outside(middle.assign(**dict.fromkeys(corner, corner["share of dielectric"]))) == [()]


def test_a_slack_is_left_at_the_ends() -> None:
    training = cloud(500, frequencies=np.linspace(10, 100, 500))
    overlap, middle = Overlap.learn(training), middle_of(training)
    for slack, names in ((0.015, ()), (0.025, ("frequencies",))):
        for beyond in (100 * 10**slack, 10 / 10**slack):
            assert overlap.outside(middle.assign(frequencies=beyond)) == [names]


def test_an_input_that_never_varied_is_named_once_it_does() -> None:
    training = cloud(300, frequencies=10.0)
    overlap = Overlap.learn(training)
    assert np.median(overlap.distance(cloud(100, 3, frequencies=10.0))) == pytest.approx(1, abs=0.2)
    assert overlap.outside(training.iloc[:1].assign(frequencies=11.0)) == [("frequencies",)]


def test_stored_rows_are_few_plain_numbers_and_tell_the_same(overlap: Overlap) -> None:
    text = json.dumps(overlap.to_state())
    assert len(text) < 100_000
    again = Overlap.from_state(json.loads(text))
    asked = cloud(200, 4)
    assert again.distance(asked) == pytest.approx(overlap.distance(asked), abs=1e-3)
    assert again.coverage(asked).equals(overlap.coverage(asked))
    assert again.neighbours == overlap.neighbours
    assert Overlap.from_state(again.to_state()).to_state() == again.to_state()


def test_learning_is_reproducible_and_order_of_columns_does_not_matter() -> None:
    training = cloud(900)
    one = Overlap.learn(training)
    assert Overlap.learn(training[training.columns[::-1]]).to_state() == one.to_state()
    assert len(one.rows) == 400
    assert one.bounds.shape == (4, len(BOUNDED))


def test_misuse_is_told() -> None:
    with pytest.raises(InputError, match=r"\['ranks'\] are missing"):
        Overlap.learn(cloud(20).drop(columns="ranks"))
    with pytest.raises(InputError, match="above 0, but those of share of pml"):
        Overlap.learn(cloud(20).assign(**{"share of pml": 0.0}))
    with pytest.raises(InputError, match="must be numbers"):
        Overlap.learn(cloud(20, frequencies="many"))
    with pytest.raises(InputError, match="7 training rows"):
        Overlap.learn(cloud(6))
    state = Overlap.learn(cloud(20)).to_state()
    with pytest.raises(InputError, match="must be of the inputs"):
        Overlap.from_state({**state, "inputs": ["points"]})
    with pytest.raises(InputError, match="must be of the inputs"):
        Overlap.from_state({**state, "scale": [1.0]})
    with pytest.raises(InputError, match="stored"):
        Overlap.from_state({})
