"""Tensor completion with positive factors: planted laws beyond the range, inside it, and labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.models.completion.positive import PositiveCompletion

pytestmark = pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")


def drawn(n: int, low: float, high: float, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: np.exp(rng.uniform(np.log(low), np.log(high), n)) for name in ("m", "n", "k")})


def separable(table: pd.DataFrame) -> np.ndarray:
    return np.asarray(1e-9 * table.m**1.1 * table.n**0.9 * table.k**-0.5)


@pytest.mark.parametrize("above", [["m"], ["m", "k"], ["m", "n", "k"]])
def test_separable_power_laws_go_on_to_within_a_percent(above: list[str]) -> None:
    train, far = drawn(600, 32, 512), drawn(200, 32, 512, seed=1)
    far[above] = drawn(200, 512, 4096, seed=2)[above]
    model = PositiveCompletion(rank=2).fit(train, separable(train))
    assert np.abs(np.log(model.predict(far) / separable(far))).max() < 0.01


def test_a_sum_of_two_laws_goes_on_by_its_edge_slope() -> None:
    table = drawn(1500, 32, 1024)
    seconds = 1e-9 * table.m * table.n * table.k + 1e-7 * table.n * table.k
    far = drawn(100, 32, 1024, seed=3)
    far["m"] = drawn(100, 2048, 4096, seed=4)["m"]
    truth = 1e-9 * far.m * far.n * far.k + 1e-7 * far.n * far.k
    # Along m the slope is 0.91 at the edge and 0.85 on average over its last piece, which goes on by 1.4 at most.
    model = PositiveCompletion(rank=2).fit(table, seconds)
    assert np.abs(np.log(model.predict(far) / truth)).mean() < 0.15


def test_inside_the_range_it_interpolates() -> None:
    table, asked = drawn(800, 32, 512), drawn(200, 40, 400, seed=6)
    model = PositiveCompletion(rank=1).fit(table, separable(table))
    np.testing.assert_allclose(model.predict(asked), separable(asked), rtol=0.01)


def test_labels_are_factors_of_their_own_and_never_interpolated() -> None:
    rng = np.random.default_rng(7)
    table = drawn(400, 32, 512)[["m"]].assign(solver=rng.choice(["amg", "cg", "ilu"], 400))
    factor = table.solver.map({"amg": 1.0, "cg": 5.0, "ilu": 0.2}).to_numpy()
    model = PositiveCompletion(rank=1).fit(table, 1e-6 * table.m * factor)
    asked = pd.DataFrame({"m": [2048.0] * 3, "solver": ["amg", "cg", "ilu"]})
    np.testing.assert_allclose(model.predict(asked), 1e-6 * 2048 * np.array([1.0, 5.0, 0.2]), rtol=0.01)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(InputError, match="rank must be at least 1, but got 0"):
        PositiveCompletion(rank=0).fit({"n": [1, 2]}, [1.0, 2.0])
    with pytest.raises(InputError, match="cells must be at least 2"):
        PositiveCompletion(cells=1).fit({"n": [1, 2]}, [1.0, 2.0])
    with pytest.raises(InputError, match="ridge"):
        PositiveCompletion(ridge=-1).fit({"n": [1, 2]}, [1.0, 2.0])
