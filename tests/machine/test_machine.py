"""The machine: arithmetic, round trip, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.errors import InputError, ReadError
from evenly.machine.machine import Link, Machine, shipped_machines

POSITIVE = st.none() | st.floats(1e-9, 1e15)
LINKS = st.none() | st.builds(
    lambda latency, speed, table: Link(latency, speed, tuple(sorted(table)), tuple(sorted(table.values()))),
    st.floats(0, 1),
    st.floats(1, 1e12),
    st.just({}) | st.dictionaries(st.floats(1, 1e9), st.floats(1e-9, 1), min_size=2, max_size=5),
)
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
    about=st.text(max_size=12),
    core_speed=st.floats(0.1, 10),
    memory_bytes_per_s_per_core=POSITIVE,
    memory_bytes_per_s_per_node=POSITIVE,
    jitter=st.floats(0, 1),
    within_node=LINKS,
    between_nodes=LINKS,
    card_bytes_per_s=POSITIVE,
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
     {"speed": 3}, {"version": 99}, {"jitter": -0.1}, {"core_speed": 0}, {"card_bytes_per_s": float("inf")},
     {"within_node": 3}, {"within_node": {"latency_s": 1e-6}}, {"about": 3},
     {"between_nodes": {"latency_s": -1, "bytes_per_s": 1}}],
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


def test_files_of_before_there_were_links_are_read(tmp_path: Path) -> None:
    path = tmp_path / "old.toml"
    path.write_text('format = "evenly.machine.machine"\nversion = 1\nname = "old"\nnodes = 20\ncores_per_node = 28\n')
    machine = Machine.load(path)
    assert machine.cores == 560
    assert (machine.core_speed, machine.jitter, machine.within_node, machine.card) == (1.0, 0.0, None, None)


def test_links_are_tables_of_the_file(tmp_path: Path) -> None:
    link = Link(1e-6, 1e9, message_bytes=(8, 4096), message_s=(1e-6, 5e-6))
    Machine("two", between_nodes=link, card_bytes_per_s=2e9).save(tmp_path / "two.toml")
    text = (tmp_path / "two.toml").read_text()
    assert "\n[between_nodes]\nlatency_s = 1e-06\n" in text
    assert "message_bytes = [8.0, 4096.0]" in text
    # Nothing of the machine itself may follow a table: TOML would take it for the table's.
    assert text.index("card_bytes_per_s") < text.index("[between_nodes]")


def test_a_misspelt_key_is_told_with_what_was_meant() -> None:
    with pytest.raises(InputError, match=r"a machine has no 'jiter' \(did you mean 'jitter'\?\)"):
        Machine.from_dict({"jiter": 0.1})
    with pytest.raises(InputError, match=r"between_nodes has no 'latency' \(did you mean 'latency_s'\?\)"):
        Machine.from_dict({"between_nodes": {"latency": 1e-6, "bytes_per_s": 1}})


def test_the_card_carries_what_one_message_does_unless_told() -> None:
    link = Link(1e-6, 1e9)
    assert Machine(between_nodes=link).card == 1e9
    assert Machine(between_nodes=link, card_bytes_per_s=4e9).card == 4e9
    assert Machine().card is None


@pytest.mark.parametrize("name", shipped_machines())
def test_shipped_machines_know_what_a_replay_needs(name: str) -> None:
    machine = Machine.load(name)
    assert machine.name == name
    assert machine.about
    assert machine.cores_per_node is not None
    assert machine.memory_bytes_per_s_per_core is not None
    assert machine.memory_bytes_per_s_per_node is not None
    assert machine.memory_bytes_per_s_per_core <= machine.memory_bytes_per_s_per_node
    assert machine.within_node is not None
    if machine.nodes != 1:
        assert machine.between_nodes is not None
        assert np.all(machine.between_nodes.seconds([8, 1e6]) > machine.within_node.seconds([8, 1e6]) / 2)


def test_a_file_wins_over_a_shipped_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Machine.load("infiniband").cores_per_node == 48
    Path("infiniband").write_text("cores_per_node = 2\n")
    assert Machine.load("infiniband").cores_per_node == 2


def test_what_is_neither_file_nor_name_is_told_with_the_names() -> None:
    with pytest.raises(ReadError, match=r"did you mean 'infiniband'\?.*cloud-16-10g, cloud-16-25g, infiniband") as told:
        Machine.load("infinband")
    assert str(told.value).startswith("infinband: there is no such file")
