"""Groups of options as dataclasses, so that commands share them and keep short signatures.

A command takes ``reading: Reading``; `grouped` shows typer one option per field of ``Reading`` and hands the command an
instance.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

__all__ = ["grouped"]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in whose signature every dataclass argument is replaced by its fields.

    Examples
    --------
    >>> @dataclasses.dataclass(frozen=True)
    ... class Colour:
    ...     red: int = 0
    ...     green: int = 0
    >>> def paint(wall: str, colour: Colour) -> None:
    ...     print(wall, colour.red, colour.green)
    >>> paint.__annotations__ = {"wall": str, "colour": Colour, "return": None}
    >>> grouped(paint)(wall="north", red=3, green=1)
    north 3 1
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    shown: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            shown.extend(_fields(groups[parameter.name]))
        else:
            keyword = inspect.Parameter.KEYWORD_ONLY
            shown.append(parameter.replace(kind=keyword, annotation=hints[parameter.name]))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        built = {
            name: kind(**{field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
            for name, kind in groups.items()
        }
        command(**values, **built)

    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


def _fields(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(kind)
    ]
