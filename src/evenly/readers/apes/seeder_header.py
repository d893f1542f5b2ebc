"""Mesh headers of Seeder (``header.lua``): how many elements a mesh has, and its refinement level.

The level of a uniformly refined cube is log8 of its number of elements (thesis, sections 4.2.2 and 5.2). For a mesh of
another shape this gives a fractional level, which measures the size equally well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenly.errors import ReadError
from evenly.readers.files import count, is_unended, lines

__all__ = ["MeshHeader", "read_mesh_header"]

_USED = ("nElems", "minLevel", "maxLevel")
_ASSIGNMENT = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>[^,;{}]*)")
_NOT_CODE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|--.*")


@dataclass(frozen=True)
class MeshHeader:
    """What a mesh header says.

    Parameters
    ----------
    elements : int
        Number of elements.
    min_level, max_level : int or None
        The octree's levels; elements of several levels make it multi-level.

    Examples
    --------
    >>> MeshHeader(elements=8**5).level
    5.0
    """

    elements: int
    min_level: int | None = None
    max_level: int | None = None

    @property
    def level(self) -> float:
        """The refinement level of a full cube with as many elements: log8 of their number."""
        return math.log2(self.elements) / 3.0


def read_mesh_header(path: Path) -> MeshHeader:
    r"""Read a ``header.lua``.

    Only assignments on the outermost level count: within ``property`` there are other ``nElems``.

    Raises
    ------
    ReadError
        If there is no top-level ``nElems``, it isn't a positive whole number, or the file ends in it or in a table.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "header.lua"
    >>> _ = path.write_text("nElems = 512\nproperty = {\n  { nElems = 8 }\n}\n")
    >>> read_mesh_header(path).elements
    512
    """
    found: dict[str, tuple[str, int]] = {}
    content = lines(path)
    for line, name, value in _top_level(path, content):
        if name in _USED and line == len(content) and is_unended(content):
            raise ReadError(path, f"the file ends within {name}, in a line without its end: it was cut off", line=line)
        found.setdefault(name, (value, line))
    if "nElems" not in found:
        raise ReadError(path, "there is no top-level nElems, so this is not a mesh header of Seeder")
    elements = count(path, "nElems", *found["nElems"])
    levels = [count(path, name, *found[name]) if name in found else None for name in _USED[1:]]
    return MeshHeader(elements, levels[0], levels[1])


def _top_level(path: Path, content: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and value of each assignment outside all braces."""
    depth = 0
    for number, line in enumerate(content, start=1):
        code = _NOT_CODE.sub(lambda m: "" if m[0].startswith("--") else "''", line)
        match = _ASSIGNMENT.match(code) if depth == 0 else None
        if match is not None:
            yield number, match["name"], match["value"].strip()
        depth += code.count("{") - code.count("}")
        if depth < 0:
            raise ReadError(path, "a brace is closed that was never opened", line=number)
    if depth > 0:
        raise ReadError(path, "the file ends within a table: it was cut off", line=len(content))
