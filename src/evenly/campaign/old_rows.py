"""Rows of files that older versions of evenly wrote, without checksums: whether they look like what evenly stores.

A changed number still looks like a number, so these rows are believed, not checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

from evenly.runs.columns import Status

__all__ = ["is_plausible"]


def is_plausible(table: str, values: tuple[Any, ...]) -> bool:
    """Return whether a row of a table looks like one that evenly stored.

    Examples
    --------
    >>> is_plausible("configurations", (1, '{"n": 8}')), is_plausible("configurations", (1, '{"n": 8'))
    (True, False)
    """
    checks: dict[str, Callable[..., bool]] = {
        "about": _note, "configurations": _configuration, "records": _record, "running": _mark,
    }  # fmt: skip
    try:
        return checks[table](*values)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
        # A text that isn't JSON, or a value of another type.
        return False


def _note(key: Any, value: Any) -> bool:
    found = json.loads(value)
    if key == "interrupted":
        return all(number.isdecimal() and isinstance(count, int) for number, count in found.items())
    kinds = {"measured_as": dict, "placed_as": dict, "kind": str}
    return isinstance(key, str) and isinstance(found, kinds.get(key, int | None))


def _configuration(number: Any, parameters: Any) -> bool:
    return isinstance(number, int) and isinstance(parameters, str) and isinstance(json.loads(parameters), dict)


def _record(number: Any, repetition: Any, status: Any, quantities: Any, *rest: Any) -> bool:
    purpose, exit_code, message, output, started, took, other_load, machine = rest
    found: Mapping[str, float] = json.loads(quantities)
    return (
        isinstance(number, int)
        and isinstance(repetition, int)
        and status in get_args(Status)
        and (status != "ok" or found["seconds"] > 0)
        and all(isinstance(value, int | float) for value in found.values())
        and all(isinstance(text, str) for text in (purpose, message, output, machine))
        and isinstance(exit_code, int | None)
        and all(math.isfinite(value) for value in (started, took, other_load or 0.0))
    )


def _mark(mark: Any, launcher: Any, number: Any) -> bool:
    return isinstance(mark, str) and isinstance(launcher, str) and isinstance(number, int)
