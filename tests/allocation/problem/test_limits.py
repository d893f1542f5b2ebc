"""Limits and bounds: which counts they leave, and what they say when none is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.allocation.allocate import allocate
from evenly.allocation.problem.limits import Bound, Limits, possible_counts
from evenly.errors import InfeasibleError, InputError
from evenly.machine.machine import Machine


@given(
    st.integers(1, 20), st.none() | st.integers(20, 60), st.integers(1, 9),
    st.none() | st.lists(st.integers(1, 70), min_size=1), st.integers(1, 80),
)  # fmt: skip
def test_counts_are_those_that_keep_every_rule(
    minimum: int, maximum: int | None, multiple: int, allowed: list[int] | None, total: int
) -> None:
    limits = Limits(minimum=minimum, maximum=maximum, multiple=multiple, allowed=allowed)
    expected = [
        count
        for count in range(1, total + 1)
        if minimum <= count <= (maximum or total) and count % multiple == 0 and (allowed is None or count in allowed)
    ]
    assert [int(count) for count in limits.counts(total)] == expected


@pytest.mark.parametrize(
    ("limits", "constraint", "words"),
    [
        ({"minimum": 11}, "ocn.minimum", "must get at least 11 cores"),
        ({"multiple": 28}, "ocn.multiple", "must get a multiple of 28 cores"),
        ({"allowed": [480, 960]}, "ocn.allowed", "may only get 480, 960 cores"),
        ({"minimum": 5, "maximum": 7, "multiple": 4}, "ocn.multiple", "between 5 and 7"),
    ],
)
def test_no_count_left_names_the_limit(limits: dict[str, Any], constraint: str, words: str) -> None:
    with pytest.raises(InfeasibleError, match=words) as caught:
        possible_counts("ocn", Limits.of(limits), 10, None)
    assert caught.value.constraint == constraint


@pytest.mark.parametrize(
    "wrong",
    [{"minimum": 0}, {"multiple": 1.5}, {"minimum": 5, "maximum": 4}, {"allowed": []}, {"allowed": [0]}, {"least": 3}],
)
def test_wrong_limits_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Limits.of(wrong)


GIB = 2.0**30


def _memory(cores: Any) -> Any:
    """Return bytes per rank: 1,600 GiB in all, and 1 GiB on every rank."""
    return 1600 * GIB / cores + GIB


def test_memory_per_node_bounds_the_assignment() -> None:
    """28 ranks a node: 28·(1600/p + 1) <= 96 GiB needs p >= 658.8, while time alone would give it 200 cores."""
    solvers = {"fluid": lambda p: 100 / p, "solid": lambda p: 400 / p}
    machine = Machine(nodes=100, cores_per_node=28, memory_bytes_per_node=96 * GIB)
    free = allocate(solvers, 1000, machine=machine)
    bound = allocate(solvers, 1000, machine=machine, limits={"fluid": Limits(bounds=Bound(_memory))})
    assert free.cores["fluid"] == 200
    assert bound.cores["fluid"] == 659
    assert 28 * _memory(659) <= 96 * GIB < 28 * _memory(658)


def test_a_bound_that_nothing_keeps_is_named() -> None:
    words = r"must keep memory per node at or below 96 GiB, but .* at least 476 GiB \(on 100\): .*--cores.* at_most"
    with pytest.raises(InfeasibleError, match=words) as caught:
        allocate({"a": lambda p: 1 / p}, 100, machine=Machine(cores_per_node=28),
                 limits={"a": {"bounds": Bound(_memory, at_most=96 * GIB)}})  # fmt: skip
    assert caught.value.constraint == "a.memory"


def test_a_bound_from_the_machine_says_what_to_raise() -> None:
    machine = Machine(cores_per_node=28, memory_bytes_per_node=96 * GIB)
    with pytest.raises(InfeasibleError, match=r"memory_bytes_per_node \(--memory\)"):
        allocate({"a": lambda p: 1 / p}, 100, machine=machine, limits={"a": {"bounds": Bound(_memory)}})
    bound = Bound(lambda cores: 12.0 / cores, at_most=1.0, per="rank", name="energy")
    with pytest.raises(InfeasibleError, match=r"keep energy per rank at or below 1, but .* at least 1\.2 \(on 10\)"):
        allocate({"a": lambda p: 1 / p}, 10, limits={"a": {"bounds": bound}})


def test_bounds_per_rank_and_per_solver() -> None:
    counts = np.arange(1, 11)
    per_rank = Bound(lambda cores: 12.0 / cores, at_most=3.0, per="rank", name="energy")
    per_solver = Bound(lambda cores: np.full(len(cores), 2.0), at_most=9.0, per="solver", name="energy")
    assert counts[per_rank.holds(counts, None)].tolist() == [4, 5, 6, 7, 8, 9, 10]
    assert counts[per_solver.holds(counts, None)].tolist() == [1, 2, 3, 4]


def test_bounds_need_what_they_are_measured_by() -> None:
    with pytest.raises(InputError, match="needs a value"):
        Bound(_memory).limit(Machine())
    with pytest.raises(InputError, match="cores_per_node"):
        Bound(_memory, at_most=1.0).holds(np.array([1]), Machine())
    with pytest.raises(InputError, match="per 'node', 'rank' or 'solver'"):
        Bound(_memory, per="core")  # type: ignore[arg-type]
