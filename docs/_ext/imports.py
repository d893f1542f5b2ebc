"""Examples of the reference with the imports that they need: in the source, the names of their module are there."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from reference import MODULES

__all__ = ["free_names", "imports_for", "with_imports"]


def with_imports(lines: Sequence[str], names: Mapping[str, Any]) -> list[str]:
    """Return a docstring's lines with the imports that its examples need.

    Parameters
    ----------
    lines : sequence of str
    names : mapping of str to object
        The names of the module in which the docstring stands.
    """
    needed = imports_for(free_names("\n".join(lines)), names)
    first = next((at for at, line in enumerate(lines) if line.lstrip().startswith(">>> ")), None)
    if first is None or not needed:
        return list(lines)
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    return [*lines[:first], *(f"{indent}>>> {line}" for line in needed), *lines[first:]]


def free_names(text: str) -> list[str]:
    """Return the names that examples use and don't define, in their order."""
    code = "".join(example.source for example in doctest.DocTestParser().get_examples(text))
    used: dict[str, None] = {}
    made: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            made.add(node.id) if isinstance(node.ctx, ast.Store) else used.setdefault(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            made |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
    return [name for name in used if name not in made and not hasattr(builtins, name)]


def imports_for(wanted: Sequence[str], names: Mapping[str, Any]) -> list[str]:
    """Return the lines that import names of a module: modules first, then what the public modules have.

    A name that isn't public is imported from where it is defined.
    """
    modules, others = [], dict[str, list[str]]()
    for name in wanted:
        if name not in names:
            continue
        thing = names[name]
        if isinstance(thing, ModuleType):
            plain = thing.__name__
            modules.append(f"import {plain}" if plain == name else f"import {plain} as {name}")
        else:
            others.setdefault(_home(name, thing, str(names["__name__"])), []).append(name)
    return [
        *sorted(modules),
        *(f"from {home} import {', '.join(sorted(found))}" for home, found in sorted(others.items())),
    ]


def _home(name: str, thing: Any, here: str) -> str:
    for public in MODULES:
        if getattr(importlib.import_module(public), name, None) is thing:
            return public
    home = getattr(thing, "__module__", None)
    known = sys.modules.get(home) if isinstance(home, str) else None
    return str(home) if known is not None and getattr(known, name, None) is thing else here
