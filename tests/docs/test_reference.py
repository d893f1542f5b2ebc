"""Examples of the reference begin with what they import, so that they can be copied."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.docs.test_docs import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from imports import free_names, with_imports  # type: ignore[import-not-found]
from reference import MODULES  # type: ignore[import-not-found]


def public() -> Iterator[tuple[str, Any]]:
    """Yield each public name and each public method, with an example."""
    for module in map(importlib.import_module, MODULES):
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            members = vars(thing).items() if inspect.isclass(thing) else ()
            for path, one in [(name, thing), *((f"{name}.{at}", m) for at, m in members if not at.startswith("_"))]:
                if ">>> " in (inspect.getdoc(one) or "") and getattr(one, "__module__", None) in sys.modules:
                    yield f"{module.__name__}.{path}", one


FOUND = dict(public())


def test_the_reference_has_examples() -> None:
    assert len(FOUND) > 100


@pytest.mark.parametrize("name", FOUND)
def test_an_example_imports_what_it_needs(name: str) -> None:
    thing = FOUND[name]
    lines = with_imports((inspect.getdoc(thing) or "").splitlines(), vars(sys.modules[thing.__module__]))
    text = "\n".join(lines)
    assert free_names(text) == []
    there: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(text):
        if not all(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(example.source).body):
            break
        exec(example.source, there)  # noqa: S102 - our own docstrings
