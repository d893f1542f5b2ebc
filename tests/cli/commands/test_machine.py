"""``evenly machine``: measured with made-up times, listed, shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenly.machine.machine import Link, Machine, shipped_machines
from evenly.machine.measuring import measuring
from evenly.machine.measuring.measuring import Measured
from tests.cli.conftest import Evenly


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Make measuring cost nothing, and return what it was asked for."""
    given: dict[str, Any] = {}

    def measured(name: str, **options: Any) -> Measured:
        given.update(options, name=name)
        machine = Machine(name, cores_per_node=2, jitter=0.02, within_node=Link(1e-6, 1e9))
        return Measured(machine, {}, ("messages between nodes: no hosts",), ("others were busy",))

    monkeypatch.setattr(measuring, "measure_machine", measured)
    return given


def test_measure_saves_shows_and_says_what_is_missing(evenly: Evenly, asked: dict[str, Any]) -> None:
    shown = evenly("machine", "measure", "--name", "mine", "--hosts", "a,b")
    assert shown.code == 0
    assert (asked["name"], list(asked["hosts"])) == ("mine", ["a", "b"])
    assert Machine.load("mine.toml").within_node == Link(1e-6, 1e9)
    assert "cores per node" in shown.out
    assert "2 %" in shown.out
    assert "left out: messages between nodes: no hosts" in shown.err
    assert "others were busy" in shown.err
    assert "saved in mine.toml" in shown.err


def test_a_file_is_written_over_only_if_it_is_named(evenly: Evenly, asked: dict[str, Any]) -> None:
    evenly_wrote = "# evenly machine\nprice_per_core_hour = 0.02\n"
    Path("mine.toml").write_text("price_per_core_hour = 0.02\n")
    assert "evenly did not write it" in evenly("machine", "measure", "-o", "mine.toml").err
    Path("mine.toml").write_text(evenly_wrote)
    refused = evenly("machine", "measure", "--name", "mine")
    assert refused.code == 2
    assert "mine.toml is there already: give --save mine.toml to write over it" in refused.err
    assert asked == {}
    told = evenly("machine", "measure", "--name", "mine", "-o", "mine.toml", "--json")
    assert told.json["file"] == "mine.toml"
    assert told.json["left_out"] == ["messages between nodes: no hosts"]
    assert told.json["messages"]["within node"][0] == pytest.approx(1.008e-6)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--seconds", "0"), "--seconds must be a time above zero, but got 0"),
        (("-o", "no/folder/m.toml"), "there is no folder no/folder"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(
    evenly: Evenly, asked: dict[str, Any], arguments: tuple[str, ...], told: str
) -> None:
    refused = evenly("machine", "measure", *arguments)
    assert (refused.code, asked) == (2, {})
    assert told in refused.err


def test_hosts_must_be_two(evenly: Evenly) -> None:
    refused = evenly("machine", "measure", "--hosts", "a")
    assert refused.code == 2
    assert "hosts must be two different ones, as a,b, but got 'a'" in refused.err


def test_list(evenly: Evenly) -> None:
    shown = evenly("machine", "list")
    assert all(name in shown.out for name in shipped_machines())
    assert "1.3 µs" in shown.out
    assert evenly("machine", "list", "--json").json["infiniband"]["cores_per_node"] == 48


def test_show(evenly: Evenly) -> None:
    shown = evenly("machine", "show", "infiniband")
    assert shown.code == 0
    assert "between nodes" in shown.out
    # 1 KiB takes 1.3 µs and 1024 B / 12 GB/s = 0.085 µs.
    assert "1.39 µs" in shown.out
    Machine("plain").save("plain.toml")
    alone = evenly("machine", "show", "plain.toml")
    assert "jitter" in alone.out
    assert "message" not in alone.out
    assert evenly("machine", "show", "plain.toml", "--json").json["messages"] == {
        "bytes": [8, 1024, 16384, 262144, 4194304]
    }


def test_what_is_neither_is_told_with_the_names(evenly: Evenly) -> None:
    refused = evenly("machine", "show", "infinband")
    assert refused.code == 2
    assert "did you mean 'infiniband'?" in refused.err


def test_allocate_takes_a_shipped_machine(evenly: Evenly, pulse: Path) -> None:
    plan = evenly("allocate", pulse, "--cores", "96", "--machine", "infiniband", "--json")
    assert plan.code == 0
    assert plan.json["machine"]["name"] == "infiniband"
