"""Every balancer keeps the contract; the proportional one divides as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.allocation.allocate import allocate, balancers
from evenly.allocation.balancers.proportional import split
from evenly.allocation.problem.noise import Compare
from evenly.errors import InfeasibleError, InputError
from tests.allocation import contract


@pytest.mark.parametrize("name", sorted(balancers()))
def test_contract(name: str) -> None:
    balancer = balancers()[name]()
    assert balancer.name == name
    assert balancer.summary
    contract.check(balancer)


def test_unknown_balancer_lists_the_known() -> None:
    with pytest.raises(InputError, match="optimal, proportional"):
        allocate({"a": lambda p: 1 / p}, cores=4, balancer="fastest")


@given(st.lists(st.tuples(st.floats(1, 1e9), st.integers(1, 5)), min_size=1, max_size=6), st.integers(0, 100))
def test_split_uses_all_cores_and_keeps_to_the_fewest(parts: list[tuple[float, int]], more: int) -> None:
    weights, fewest = np.array([w for w, _ in parts]), [f for _, f in parts]
    cores = sum(fewest) + more
    shares = split(cores, weights, fewest)
    assert sum(shares) == cores
    assert all(share >= least for share, least in zip(shares, fewest, strict=True))
    ideal = cores * weights / weights.sum()
    if np.all(ideal >= fewest):  # nothing is held: then no share is a whole core off
        assert np.all(np.abs(np.array(shares) - ideal) < 1)


def test_proportional_needs_sizes_of_all() -> None:
    with pytest.raises(InputError, match="degrees_of_freedom"):
        allocate({"a": lambda p: 1 / p, "b": lambda p: 1 / p}, 10, balancer="proportional",
                 compare=Compare(degrees_of_freedom={"a": 1.0}))  # fmt: skip


def test_proportional_shares_where_the_layout_shares() -> None:
    plan = allocate(
        dict.fromkeys(("ice", "lnd", "atm", "ocn"), lambda p: 1 / p), 100, layout="max(max(ice, lnd) + atm, ocn)",
        balancer="proportional", compare=Compare(degrees_of_freedom={"ice": 30, "lnd": 10, "atm": 40, "ocn": 20}),
    )  # fmt: skip
    assert plan.cores == {"ice": 60, "lnd": 20, "atm": 80, "ocn": 20}


def test_proportional_without_enough_cores_is_infeasible() -> None:
    with pytest.raises(InfeasibleError):
        allocate({"a": lambda p: 1 / p, "b": lambda p: 1 / p}, 1, balancer="proportional",
                 compare=Compare(degrees_of_freedom={"a": 1.0, "b": 1.0}))  # fmt: skip
