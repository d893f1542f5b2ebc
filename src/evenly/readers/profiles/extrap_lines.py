"""Extra-P's JSON Lines: one measured value per line, as ``{"params": {"p": 4}, "metric": "time", "value": 8.1}``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from evenly.errors import ReadError
from evenly.readers.files import head, is_unended, lines
from evenly.readers.profiles.extrap import ExtrapReader, Series, pick, value_of

__all__ = ["ExtrapLinesReader", "series_of_lines"]


class ExtrapLinesReader(ExtrapReader):
    r"""Reads Extra-P's JSON Lines; see `ExtrapReader` for its options.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "profile.jsonl"
    >>> line = '{{"params": {{"p": {}}}, "callpath": "solve", "metric": "time", "value": {}}}\n'
    >>> _ = path.write_text(line.format(4, 8.0) + line.format(8, 4.1))
    >>> ExtrapLinesReader(unit="s").read(path)[""]
    Runs(2 rows, 2 configurations of region, p; seconds 4.1 to 8 s)
    """

    name: ClassVar[str] = "extrap-lines"
    summary: ClassVar[str] = "Extra-P's JSON Lines"

    def recognises(self, path: Path) -> bool:
        first = head(path).lstrip().partition("\n")[0]
        return first.startswith("{") and '"params"' in first and '"value"' in first

    def _series(self, path: Path) -> Iterator[Series]:
        content = lines(path)
        self._say_unended(is_unended(content))
        return series_of_lines(path, content, "params")


def series_of_lines(path: Path, content: list[str], parameters: str) -> Iterator[Series]:
    """Read lines of JSON that hold one value each; `parameters` is the entry that holds the point.

    Raises
    ------
    ReadError
        If a line is broken.
    """
    for number, line in enumerate(content, 1):
        if not line.strip():
            continue
        try:
            data: Any = json.loads(line)
        except json.JSONDecodeError as error:
            raise ReadError(path, f"the line is broken or cut off: {error.msg}", line=number) from None
        point = pick(path, data, parameters, number)
        if not isinstance(point, dict):
            raise ReadError(path, f"{parameters!r} must be an object", line=number)
        yield Series(
            str(data.get("callpath", "")),
            str(data.get("metric", "")),
            {str(name): value_of(path, x, number) for name, x in point.items()},
            [value_of(path, pick(path, data, "value", number), number)],
        )
