"""Reading of JSON files: what is broken, cut off or missing is said with the file and the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evenly.errors import ReadError
from evenly.readers.files import text

__all__ = ["at", "json_of", "list_at", "number_at"]


def json_of(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises
    ------
    ReadError
        If it is no JSON or was cut off; the message names the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = path.write_text('{"times": [1, 2')
    >>> json_of(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    evenly.errors.ReadError: ...a.json, line 1: the JSON is broken or cut off: ...
    """
    try:
        return json.loads(text(path))
    except json.JSONDecodeError as error:
        raise ReadError(path, f"the JSON is broken or cut off: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise ReadError(path, "the JSON is nested too deeply") from None


def at(path: Path, holder: Any, key: str) -> Any:
    """Return ``holder[key]``; raise `ReadError` if `holder` is no object with this key.

    Examples
    --------
    >>> at(Path("a.json"), {"mean": 3}, "mean")
    3
    """
    if not isinstance(holder, dict) or key not in holder:
        raise ReadError(path, f"{key!r} is missing where this format has it: the file is damaged, or of another format")
    return holder[key]


def list_at(path: Path, holder: Any, key: str) -> list[Any]:
    """Return the list ``holder[key]``, or raise `ReadError`.

    Examples
    --------
    >>> list_at(Path("a.json"), {"times": [3]}, "times")
    [3]
    """
    found = at(path, holder, key)
    if not isinstance(found, list):
        raise ReadError(path, f"{key!r} must be a list, but is {str(found)[:40]!r}")
    return found


def number_at(path: Path, holder: Any, key: str) -> float:
    """Return the number ``holder[key]``, or raise `ReadError`.

    Examples
    --------
    >>> number_at(Path("a.json"), {"mean": 3}, "mean")
    3.0
    """
    found = at(path, holder, key)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ReadError(path, f"{key!r} must be a number, but is {str(found)[:40]!r}")
    return float(found)
