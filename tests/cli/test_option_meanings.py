"""An option means the same in every command: one name for one idea, and one idea for one name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from evenly.cli.app import _COMMANDS, _GROUPS, _RENAMED, load_command
from tests.cli.conftest import Evenly

#: Names whose help differs from command to command, and the one meaning that all of these helps are examples of.
MEANINGS = {
    "--algorithm": "how a cell is cut",
    "--at": "values of parameters",
    "--budget": "core-hours that may be spent",
    "--chunks": "a file with the chunks of each rank",
    "--cores": "numbers of cores",
    "--cost": "a file with costs of points, chunks and borders",
    "--details": "all that is known of each one",
    "--draw": "draw pictures beside the results",
    "--into": "the folder that is made",
    "--layout": "how coupled solvers wait for each other",
    "--limit": "the probability with which a time limit is enough",
    "--machine": "a machine: a file or a name",
    "--name": "the name of a machine or a job",
    "--pattern": "how logs are read",
    "--plot": "the folder for pictures",
    "--plot-format": "format of the pictures",
    "--program": "whose program: fdtd or meep",
    "--ranks": "numbers of MPI ranks",
    "--repeats": "how often something is repeated",
    "--runs": "how many runs are made or proposed",
    "--save": "the file or folder in which the result is saved",
    "--slice": "the slice that pictures show",
    "--steps": "how many time steps a run or job has",
    "--store": "where runs are kept",
    "--wall-time": "how long all runs may take together",
    "--where": "a condition that rows must meet",
}


def commands() -> Iterator[tuple[str, Any]]:
    for name in [*_COMMANDS, *_GROUPS]:
        found = load_command(name)
        if name in _COMMANDS:
            yield name, found
        else:
            yield from ((f"{name} {word}", command) for word, command in found.commands.items())


EVERY = dict(commands())


def options() -> Iterator[tuple[str, Any]]:
    for name, command in EVERY.items():
        yield from ((name, option) for option in command.params if option.param_type_name == "option")


def test_every_command_is_walked() -> None:
    assert len(EVERY) > 20
    assert {"predict", "allocate", "fdtd run", "calibrate meep"} <= set(EVERY)


def test_a_name_has_one_meaning() -> None:
    helps, flags, used = defaultdict(set), defaultdict(set), defaultdict(set)
    for command, option in options():
        for name in option.opts:
            if name.startswith("--"):
                helps[name].add(option.help)
                flags[name].add(bool(option.is_flag))
                used[name].add(command)
    unclear = {name: used[name] for name in helps if len(helps[name]) > 1 and name not in MEANINGS}
    assert not unclear, f"say in MEANINGS what these have in common, or rename them: {unclear}"
    assert {name for name in MEANINGS if name not in helps} == set()
    assert {name: used[name] for name in flags if len(flags[name]) > 1} == {}


def test_a_letter_stands_for_one_name() -> None:
    stands = defaultdict(set)
    for _, option in options():
        long = [name for name in option.opts if name.startswith("--")]
        for name in option.opts:
            if not name.startswith("--"):
                stands[name].add(long[0])
    assert {letter: names for letter, names in stands.items() if len(names) > 1} == {}
    assert stands["-o"] == {"--save"}
    assert stands["-n"] == {"--ranks"}


def test_saving_has_its_letter_everywhere() -> None:
    assert [command for command, option in options() if "--save" in option.opts and "-o" not in option.opts] == []


@pytest.mark.parametrize(
    ("command", "old", "new"), [(c, o, n) for c, words in _RENAMED.items() for o, n in words.items()]
)
def test_an_old_word_names_the_new_one(evenly: Evenly, command: str, old: str, new: str) -> None:
    known = {name for option in EVERY[command].params for name in option.opts}
    assert new in known
    assert old not in known
    shown = evenly(*command.split(), "x", old, "1")
    assert shown.code == 2
    assert f"{old} is now {new}" in shown.err


@pytest.mark.parametrize("text", ["1..4", "1:4:1", "1,2,3,4"])
def test_ranges_are_understood_in_each_form_everywhere(evenly: Evenly, text: str) -> None:
    rows = "\n".join(f"{p},{64 / p}" for p in (1, 2, 4, 8))
    with open("a.csv", "w") as file:  # noqa: PTH123
        file.write(f"cores,seconds\n{rows}\n")
    law = ("--method", "power-law", "--json")
    at = evenly("predict", "a.csv", *law, "--at", f"cores={text}")
    assert [row["configuration"]["cores"] for row in at.json["predictions"]] == [1, 2, 3, 4]
    looked = evenly("predict", "a.csv", *law, "--cores", text)
    assert [row["cores"] for row in looked.json["rows"]] == [1, 2, 3, 4]
    shared = evenly("allocate", "a.csv", *law, "--cores", text)
    assert [row["total_cores"] for row in shared.json["totals"]] == [1, 2, 3, 4]
    allowed = evenly("allocate", "a.csv", *law, "--cores", "8", "--allowed", f"a={text}")
    assert allowed.json["cores"] == {"a": 4}
