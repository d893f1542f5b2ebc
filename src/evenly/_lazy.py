"""Names of a package that are loaded on first use, so that importing the package costs next to nothing."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["lazy"]

_LINE = re.compile(r"^from ([\w.]+) import (\w+) as (\w+)$", re.MULTILINE)


def lazy(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package whose names its stub lists.

    The stub is ``__init__.pyi`` beside the package's ``__init__.py``. Type checkers read it too, so each name stands in
    one place. Its lines are ``from module import name as name``; where the name is that of a module, it is imported.

    Examples
    --------
    >>> names, get, _ = lazy("evenly.runs")
    >>> names, get("Runs").__name__
    (['Runs'], 'Runs')
    """
    module = sys.modules[package]
    stub = Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {name: home for home, _, name in _LINE.findall(stub)}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            value: Any = importlib.import_module(f"{package}.{name}")
        else:
            home = importlib.import_module(homes[name])
            value = getattr(home, name) if hasattr(home, name) else importlib.import_module(f"{homes[name]}.{name}")
        setattr(module, name, value)
        return value

    return sorted(homes), get, lambda: sorted({*vars(module), *homes})
