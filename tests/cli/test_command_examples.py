"""Each command shows two examples, and each of them is one that the command takes."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from evenly.cli.app import PANELS, load_command
from evenly.cli.command_examples import EXAMPLES


def listed() -> dict[str, Any]:
    """Return every command by the words after ``evenly``."""
    found = {name: load_command(name) for names in PANELS.values() for name in names}
    groups = {name: command for name, command in found.items() if hasattr(command, "commands")}
    deep = {f"{name} {word}": sub for name, group in groups.items() for word, sub in group.commands.items()}
    return {name: command for name, command in (found | deep).items() if name not in groups}


def test_each_command_has_two_examples() -> None:
    assert set(EXAMPLES) == set(listed())
    assert {len(lines) for lines in EXAMPLES.values()} == {2}


@pytest.mark.parametrize("name", EXAMPLES)
def test_commands_take_their_examples(name: str) -> None:
    command = listed()[name]
    for line in EXAMPLES[name]:
        words = shlex.split(line)
        assert " ".join(words[1:]).startswith(name)
        # An unknown option, a missing argument or a value of a wrong kind ends with an error.
        command.make_context(name, words[1 + len(name.split()) :])


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_shows_them(name: str) -> None:
    assert all(line in listed()[name].epilog for line in EXAMPLES[name])
