"""The machine: arithmetic, round trip, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.errors import InputError, ReadError
from evenly.machine import Machine

POSITIVE = st.none() | st.floats(1e-9, 1e15)
MACHINES = st.builds(
    Machine,
    name=st.text(max_size=12),
    nodes=st.none() | st.integers(1, 10**6),
    cores_per_node=st.integers(1, 1000),
    memory_bytes_per_node=POSITIVE,
    price_per_core_hour=POSITIVE,
    watts_per_core=POSITIVE,
    currency=st.sampled_from(["EUR", "CHF", "credits"]),
    whole_nodes=st.booleans(),
)


@given(machine=MACHINES, suffix=st.sampled_from([".toml", ".json"]))
def test_files_read_back_equal(machine: Machine, suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("machine") / f"machine{suffix}"
    machine.save(path)
    assert Machine.load(path) == machine


def test_billing_by_whole_nodes() -> None:
    assert Machine(cores_per_node=28, whole_nodes=True).billed(np.array([1, 28, 29])).tolist() == [28, 28, 56]
    assert Machine(cores_per_node=28).billed(29) == 29
    assert Machine(nodes=3).cores is None


@pytest.mark.parametrize(
    "wrong",
    [{"nodes": 0}, {"nodes": 1.5}, {"cores_per_node": True}, {"watts_per_core": -1.0}, {"whole_nodes": True},
     {"speed": 3}, {"version": 99}],
)  # fmt: skip
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Machine.from_dict(wrong)


@pytest.mark.parametrize("text", ["", "nodes = ", "[1, 2]", '{"nodes": 0}', "name = 3 4"])
def test_damaged_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(ReadError, match=r"machine.json"):
        Machine.load(path)
    with pytest.raises(ReadError):
        Machine.load(tmp_path / "none.toml")
