from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evenly import Space
from evenly.models.inputs.coding import Coding
from evenly.models.inputs.derived import GROUPS, Derived, choose


def _made(table: pd.DataFrame) -> tuple[Derived, pd.DataFrame]:
    coding = Coding.learn(table, Space.from_data(table))
    inputs = coding.inputs(table)
    derived = Derived.learn(coding, inputs)
    return derived, pd.DataFrame(derived.columns(inputs), columns=derived.names(coding.numeric))


def test_columns_are_what_their_names_say() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"m": rng.integers(1, 3000, 200), "n": rng.integers(1, 500, 200), "t": rng.uniform(1, 9, 200)})
    derived, made = _made(table)
    assert derived.groups == GROUPS
    assert sum(derived.counts().values()) == made.shape[1]
    np.testing.assert_allclose(made["m · n · t"], np.log(table.prod(axis=1)), atol=1e-8)
    np.testing.assert_allclose(made["m / n"], np.log(table["m"] / table["n"]), atol=1e-8)
    # Whole numbers come back from their logarithms exactly.
    np.testing.assert_array_equal(made["m mod 64"], table["m"] % 64 / 64)
    np.testing.assert_allclose(made["n padded to 8"], np.log(-(-table["n"] // 8) * 8 / table["n"]), atol=1e-12)
    np.testing.assert_array_equal(made["twos in m"] > 0, table["m"] % 2 == 0)
    assert not any("t mod" in str(name) or "in t" in str(name) for name in made)


@pytest.mark.parametrize("column", [[1, 2, 4, 8, 16, 32, 64, 128], [3, 5], [0, 1, 2, 3, 4, 5, 6, 7]])
def test_no_remainders_where_they_tell_nothing(column: list[int]) -> None:
    assert "remainders" not in _made(pd.DataFrame({"x": column}))[0].groups


def test_only_what_lowers_the_error_stays() -> None:
    derived, _ = _made(pd.DataFrame({"m": np.arange(1, 200), "n": np.arange(200, 1, -1)}))
    worth = {"products": 0.2, "remainders": 0.1, "powers": 0.0}
    kept = choose(derived, lambda one: 1 - sum(worth[group] for group in one.groups))
    assert kept.groups == ("products", "remainders")
    assert choose(derived, lambda one: 1 + len(one.groups)).groups == ()
    assert Derived.from_state(kept.to_state()) == kept
    assert replace(kept, groups=()) == choose(derived, lambda _: 1.0)
