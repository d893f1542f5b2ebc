"""TALPAS, a format that Extra-P reads: JSON lines in which ``;`` stands where JSON has a comma."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from evenly.readers.files import head, is_unended, lines
from evenly.readers.profiles.extrap import ExtrapReader, Series
from evenly.readers.profiles.extrap_lines import series_of_lines

__all__ = ["TalpasReader"]

_SEPARATOR = re.compile(r';(?=\s*")')


class TalpasReader(ExtrapReader):
    r"""Reads TALPAS files; see `ExtrapReader` for its options.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "talpas.txt"
    >>> line = '{{"parameters":{{"p":{}}};"metric":"time";"callpath":"solve";"value":{}}}\n'
    >>> _ = path.write_text(line.format(4, 8.0) + line.format(8, 4.1))
    >>> TalpasReader(unit="s").read(path)[""]
    Runs(2 rows, 2 configurations of region, p; seconds 4.1 to 8 s)
    """

    name: ClassVar[str] = "talpas"
    summary: ClassVar[str] = "TALPAS, a format that Extra-P reads"

    def recognises(self, path: Path) -> bool:
        first = head(path).lstrip().partition("\n")[0]
        return first.startswith("{") and '"parameters"' in first and _SEPARATOR.search(first) is not None

    def _series(self, path: Path) -> Iterator[Series]:
        content = lines(path)
        self._say_unended(is_unended(content))
        return series_of_lines(path, [_SEPARATOR.sub(",", line) for line in content], "parameters")
