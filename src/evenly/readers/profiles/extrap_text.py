"""Extra-P's text format: ``PARAMETER``, ``POINTS``, ``METRIC``, ``REGION`` and ``DATA`` lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from evenly.errors import ReadError
from evenly.readers.files import head, is_unended, lines
from evenly.readers.profiles.extrap import ExtrapReader, Series, value_of

__all__ = ["ExtrapTextReader"]


class ExtrapTextReader(ExtrapReader):
    r"""Reads Extra-P's text format; see `ExtrapReader` for its options.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "profile.txt"
    >>> _ = path.write_text("PARAMETER p\nPOINTS 4 8\nREGION solve\nMETRIC time\nDATA 8.0 8.2\nDATA 4.1 4.0\n")
    >>> ExtrapTextReader(unit="s").read(path)[""]
    Runs(4 rows, 2 configurations of region, p; seconds 4 to 8.2 s)
    """

    name: ClassVar[str] = "extrap-text"
    summary: ClassVar[str] = "Extra-P's text format"

    def recognises(self, path: Path) -> bool:
        first = (line for line in head(path).splitlines() if line.strip() and not line.startswith("#"))
        return next(first, "").split()[:1] == ["PARAMETER"]

    def _series(self, path: Path) -> Iterator[Series]:
        content = lines(path)
        self._say_unended(is_unended(content))
        state = _State(path)
        for number, line in enumerate(content, 1):
            word, _, rest = re.sub(r"\s+", " ", line).strip().partition(" ")
            if word and not line.startswith("#"):
                yield from state.take(word, rest, number)
        state.end_block(None)


@dataclass
class _State:
    """What the lines so far have said."""

    path: Path
    parameters: list[str] = field(default_factory=list)
    points: list[tuple[float, ...]] = field(default_factory=list)
    region: str = ""
    metric: str = ""
    used: int | None = None  # DATA lines of this region and metric; None before the first

    def take(self, word: str, rest: str, line: int) -> Iterator[Series]:
        match word:
            case "PARAMETER":
                self.parameters += rest.split()
            case "POINTS":
                self.points += self._points(rest, line)
            case "REGION" | "METRIC":
                self.end_block(line)
                if word == "REGION":
                    self.region = rest
                else:
                    self.metric = rest
            case "DATA":
                yield self._data(rest, line)
            case _:
                raise ReadError(
                    self.path, f"PARAMETER, POINTS, METRIC, REGION or DATA was expected: {word!r}", line=line
                )

    def _points(self, rest: str, line: int) -> list[tuple[float, ...]]:
        texts = re.findall(r"\(([^()]*)\)", rest) if "(" in rest else rest.split()
        points = [tuple(value_of(self.path, x, line) for x in text.replace(",", " ").split()) for text in texts]
        wrong = [p for p in points if len(p) != len(self.parameters)]
        if wrong or rest.count("(") != rest.count(")"):
            raise ReadError(self.path, f"each point needs {len(self.parameters)} values: {rest}", line=line)
        return points

    def _data(self, rest: str, line: int) -> Series:
        self.used = self.used or 0
        if self.used >= len(self.points):
            raise ReadError(self.path, f"there are more DATA lines than the {len(self.points)} points", line=line)
        values = [value_of(self.path, x, line) for x in rest.split()]
        if not values:
            raise ReadError(self.path, "a DATA line has no values: the file seems to be cut off", line=line)
        point = dict(zip(self.parameters, self.points[self.used], strict=True))
        self.used += 1
        return Series(self.region, self.metric, point, values)

    def end_block(self, line: int | None) -> None:
        """Check that each point has its DATA line."""
        if self.used is not None and self.used < len(self.points):
            what = f"region {self.region!r} has {self.used} DATA lines, but there are {len(self.points)} points"
            raise ReadError(self.path, f"{what}: the file seems to be cut off", line=line)
        self.used = None
