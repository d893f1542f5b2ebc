"""Groups of options as dataclasses, so that commands share them and keep short signatures.

A command takes ``reading: Reading``; `grouped` shows typer one option per field of ``Reading`` and hands the command an
instance.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

__all__ = ["grouped", "with_quiet"]


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


def with_quiet(command: Callable[..., None], be_quiet: Callable[[], None]) -> Callable[..., None]:
    """Return a command that also takes ``--quiet`` behind its name, and calls `be_quiet` first if it is given.

    Examples
    --------
    >>> with_quiet(lambda: print("done"), lambda: print("hush"))(quiet=True)
    hush
    done
    """
    option = typer.Option("--quiet", "-q", help="No progress bars and no notes.")
    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = inspect.Parameter("quiet", keyword, default=False, annotation=Annotated[bool, option])
    hints = get_type_hints(command, include_extras=True)

    @functools.wraps(command)
    def run(*, quiet: bool, **values: Any) -> None:
        if quiet:
            be_quiet()
        command(**values)

    own = [p.replace(kind=keyword, annotation=hints.get(p.name, p.annotation)) for p in _parameters(command)]
    run.__signature__ = inspect.Signature([*own, shown])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, shown]}
    return run


def _parameters(command: Callable[..., None]) -> list[inspect.Parameter]:
    return list(inspect.signature(command).parameters.values())


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
