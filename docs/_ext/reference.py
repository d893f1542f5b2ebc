"""Write the reference of the site from the program itself: its commands from their help, its names from ``__all__``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from evenly.cli.app import PANELS, load_command

__all__ = ["write"]

#: Public modules, with the title of their section.
MODULES = {
    "evenly": "The package",
    "evenly.models": "Models",
    "evenly.allocation": "Allocation",
    "evenly.space": "Parameters and spaces",
    "evenly.readers": "Readers",
    "evenly.campaign": "Measuring",
    "evenly.launch": "Starting runs",
    "evenly.decomposition.rebalancing": "Balancing while a simulation runs",
    "evenly.adapters.meep": "Meep",
    "evenly.examples": "Examples",
    "evenly.errors": "Errors",
    "evenly.metrics": "Errors of predictions",
    "evenly.fdtd": "The electromagnetic simulation",
}


def write(folder: Path) -> None:
    """Write the pages into `folder`; a page that stays as it is isn't touched, so that it isn't built again."""
    commands = folder / "commands"
    commands.mkdir(parents=True, exist_ok=True)
    for panel in PANELS.values():
        for name in panel:
            _replace(commands / f"{name}.md", _command_page(name))
    _replace(folder / "commands.md", _commands_page())
    _replace(folder / "python.rst", _python_page())


def _replace(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _commands_page() -> str:
    lines = [
        "# Commands",
        "",
        "`evenly --help` and `evenly COMMAND --help` show the same texts. `--json` prints everything as JSON.",
        "The exit status is 0 for success, 1 if there is no answer, and 2 for bad input or an open question.",
        "",
    ]
    for title, names in PANELS.items():
        lines += [f"## {title}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| [`evenly {name}`](commands/{name}.md) | {_short(load_command(name))} |" for name in names]
        lines += ["", "```{toctree}", ":hidden:", "", *(f"commands/{name}" for name in names), "```", ""]
    return "\n".join(lines)


def _short(command: Any) -> str:
    return (command.help or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _command_page(name: str) -> str:
    command = load_command(name)
    lines = [f"# evenly {name}", ""]
    if not hasattr(command, "commands"):
        return "\n".join([*lines, *_described(command, f"evenly {name}")])
    lines += [command.help, ""]
    for word, sub in command.commands.items():
        lines += [f"## evenly {name} {word}", "", *_described(sub, f"evenly {name} {word}")]
    return "\n".join(lines)


def _described(command: Any, words: str) -> Iterator[str]:
    context = typer.Context(command, info_name=words)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ("```text", f"{words} {usage}", "```", "", inspect.cleandoc(command.help or ""), "")
    if command.epilog:
        yield from ("```sh", *(line for line in command.epilog.replace("\\[", "[").split("\n\n")[1:]), "```", "")
    panels: dict[str, list[str]] = {}
    for parameter in command.params:
        record = _record(parameter, context)
        if record:
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or "Options", []).append(record)
    for title, records in panels.items():
        yield from (f"**{title}**", "", *records)


def _record(parameter: Any, context: typer.Context) -> str:
    record = None if getattr(parameter, "hidden", False) else parameter.get_help_record(context)
    return f"`{record[0]}`\n: {_plain(record[1]) or parameter.name}\n" if record else ""


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("\\[", "[").replace("<", "\\<").replace("*", "\\*").replace("$", "\\$")


def _python_page() -> str:
    lines = [
        "Python",
        "======",
        "",
        "``import evenly`` is cheap: names are loaded at their first use. Examples here are run by the tests.",
        "",
    ]
    seen: set[int] = set()
    for module, title in MODULES.items():
        home = importlib.import_module(module)
        values = {name: getattr(home, name) for name in sorted(home.__all__, key=str.lower)}
        names = [name for name, value in values.items() if not inspect.ismodule(value) and id(value) not in seen]
        seen.update(id(value) for value in values.values())
        lines += [title, "-" * len(title), "", f".. currentmodule:: {module}", ""]
        lines += [
            ".. autosummary::",
            "   :toctree: api",
            "   :nosignatures:",
            "",
            *(f"   {name}" for name in names),
            "",
        ]
    return "\n".join(lines)
