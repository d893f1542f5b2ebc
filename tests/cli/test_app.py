"""The list of commands, and what starting the program loads."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from evenly.cli import commands
from evenly.cli.app import PANELS, app

_LISTED: dict[str, Any] = dict(typer.main.get_group(app).commands)
_HEAVY = ("numpy", "pandas", "numba", "matplotlib", "scipy", "sklearn", "evenly.cli.commands", "evenly.models")


@pytest.mark.parametrize("name", sorted(_LISTED))
def test_help_shows_what_each_command_says_of_itself(name: str) -> None:
    module = importlib.import_module(f"evenly.cli.commands.{name}")
    if hasattr(module, name):
        said = inspect.getdoc(getattr(module, name)) or ""
        assert _LISTED[name].help == said.partition("\n\n")[0].replace("\n", " ")
    else:
        assert module.COMMANDS


def test_each_command_stands_in_one_section_of_the_help() -> None:
    modules = {path.stem for path in Path(commands.__path__[0]).glob("[a-z]*.py")}
    listed = [name for names in PANELS.values() for name in names]
    assert sorted(listed) == sorted(modules)
    assert set(_LISTED) == modules


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_import_no_command(option: str) -> None:
    code = f"""
import sys
from evenly.cli import main
sys.argv = ["evenly", {option!r}]
try:
    main()
finally:
    print([name for name in {_HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "evenly" in shown.stdout
    assert shown.stderr.strip() == "[]"


@pytest.mark.parametrize("name", ["predict", "allocate", "fit"])
def test_commands_load_tables_and_models_when_they_need_them(name: str) -> None:
    code = f"""
import sys
import evenly.cli.commands.{name}
print([name for name in {_HEAVY!r} if name in sys.modules and name != "evenly.cli.commands"])
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
