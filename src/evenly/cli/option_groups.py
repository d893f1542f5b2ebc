"""Groups of options as dataclasses, which several commands share and which keep their signatures short.

If a command has the argument ``reading: Reading``, `as_command` gives typer one option per field of ``Reading``, and
passes an instance of ``Reading`` to the command.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Annotated, Any, get_type_hints

import typer

from evenly.cli.console import be_quiet, only_json

__all__ = ["as_command", "panel"]


def panel(title: str) -> Any:
    """Return `typer.Option` for options that the help shows together, in a panel with this title."""
    return functools.partial(typer.Option, rich_help_panel=title)


_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars and no notes.")]


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer: each dataclass argument is replaced by its fields, and ``--quiet`` is added.

    Examples
    --------
    >>> @dataclasses.dataclass(frozen=True)
    ... class Colour:
    ...     red: int = 0
    ...     green: int = 0
    >>> def paint(wall: str, colour: Colour) -> None:
    ...     print(wall, colour.red, colour.green)
    >>> paint.__annotations__ = {"wall": str, "colour": Colour, "return": None}
    >>> as_command(paint)(wall="north", red=3, green=1, quiet=False)
    north 3 1
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        shown += _fields(groups[name]) if name in groups else [_option(name, hints[name], parameter.default)]
    shown.append(_option("quiet", _Quiet, False))

    @functools.wraps(function)
    def run(*, quiet: bool, **values: Any) -> None:
        if quiet:
            be_quiet()
        json = values.get("json")
        built = {
            name: kind(**{field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
            for name, kind in groups.items()
        }
        with only_json() if json else nullcontext():
            function(**values, **built)

    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


def _fields(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        _option(
            field.name,
            hints[field.name],
            inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
        )
        for field in dataclasses.fields(kind)
    ]


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
