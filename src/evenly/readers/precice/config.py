"""Reader of preCICE's configuration (``precice-config.xml``, versions 1 to 3): participants and coupling schemes.

`read_coupling` returns the participants, the coupling schemes, and the resulting time per window as a layout expression
for `evenly.allocate`, so that users need not write it by hand. `evenly.readers.precice.schemes` combines the schemes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.files import is_unended
from evenly.readers.precice.schemes import Coupling, Kind, Scheme
from evenly.readers.precice.steps import reading

__all__ = ["Coupling", "Kind", "Scheme", "read_coupling", "read_iterations"]

_KINDS: dict[str, tuple[Kind, bool]] = {
    "serial-explicit": ("serial", False),
    "serial-implicit": ("serial", True),
    "parallel-explicit": ("parallel", False),
    "parallel-implicit": ("parallel", True),
    "multi": ("multi", True),
}
_PREFIX = "coupling-scheme:"


def read_coupling(path: str | Path) -> Coupling:
    """Read a preCICE configuration.

    Parameters
    ----------
    path : str or Path
        The XML file.

    Returns
    -------
    Coupling

    Raises
    ------
    ReadError
        If it is not a preCICE configuration, is damaged, or its schemes can't work together.

    Examples
    --------
    >>> import tempfile
    >>> text = '''<precice-configuration>
    ...   <participant name="A" /> <participant name="B" /> <participant name="C" />
    ...   <coupling-scheme:serial-explicit> <participants first="A" second="B" /> </coupling-scheme:serial-explicit>
    ...   <coupling-scheme:serial-explicit> <participants first="A" second="C" /> </coupling-scheme:serial-explicit>
    ... </precice-configuration>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "precice-config.xml")
    ...     _ = path.write_text(text)
    ...     print(read_coupling(path).layout)
    sum(A, max(B, C))
    """
    file = Path(path)
    with reading(file):
        elements = _elements(file)
        if elements[0].name != "precice-configuration":
            raise ReadError(
                file, f"the outermost tag must be precice-configuration, but got {elements[0].name!r}", line=1
            )
        participants = _participants(elements, file)
        schemes = [
            _scheme(element, elements, participants, file)
            for element in elements
            if element.name.startswith(_PREFIX) and element.name != f"{_PREFIX}uncoupled"
        ]
        if not schemes:
            raise ReadError(file, f"there is no coupling scheme (a tag that begins with {_PREFIX})")
        return Coupling.of(participants, schemes)


def read_iterations(path: str | Path) -> NDArray[np.int64]:
    r"""Read the number of iterations of each time window from ``precice-<participant>-iterations.log``.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    array (n_windows,) of int

    Raises
    ------
    ReadError
        If the file is damaged or has another format.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "precice-Fluid-iterations.log")
    ...     _ = path.write_text("TimeWindow  TotalIterations  Iterations  Convergence\n1 6 6 1\n2 9 3 1\n")
    ...     read_iterations(path)
    array([6, 3])
    """
    file = Path(path)
    with reading(file):
        head, *lines = file.read_text(encoding="utf-8").split("\n")
        names = head.split()
        if "Iterations" not in names:
            raise ReadError(file, "the first line must name a column 'Iterations'", line=1)
        column = names.index("Iterations")
        # preCICE begins a line with its line end, so that a whole last line has none: it has all cells.
        if is_unended(lines) and (len(lines[-1].split()) < len(names) or column == len(names) - 1):
            raise ReadError(file, "the last line is not whole: the file was cut off there", line=len(lines) + 1)
        counts = []
        for number, line in enumerate(lines, start=2):
            cells = line.split()
            if cells and (len(cells) <= column or not cells[column].isdecimal() or int(cells[column]) < 1):
                raise ReadError(file, f"expected a number of iterations in column {column + 1}: {line!r}", line=number)
            counts.extend([int(cells[column])] if cells else [])
        if not counts:
            raise ReadError(file, "no window was completed")
        return np.array(counts, dtype=np.int64)


# ---- the file -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Element:
    name: str
    attributes: dict[str, str]
    line: int
    parent: _Element | None

    def get(self, attribute: str, path: Path) -> str:
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise ReadError(path, f"the tag {self.name} must have the attribute {attribute!r}", line=self.line)
        return value


def _elements(path: Path) -> list[_Element]:
    """Return all tags in order. preCICE declares no namespaces, so a prefix (``data:scalar``) belongs to the name."""
    elements: list[_Element] = []
    stack: list[_Element] = []
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        elements.append(_Element(name, attributes, parser.CurrentLineNumber, stack[-1] if stack else None))
        stack.append(elements[-1])

    def end(_: str) -> None:
        stack.pop()

    def doctype(*_: object) -> None:
        raise ReadError(
            path, "a document type is not allowed in a preCICE configuration", line=parser.CurrentLineNumber
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    data = path.read_bytes()
    if not data.strip():
        raise ReadError(path, "the file is empty")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ReadError(path, f"not well-formed XML: {expat.ErrorString(error.code)}", line=error.lineno) from None
    return elements


def _participants(elements: Sequence[_Element], path: Path) -> list[str]:
    names: list[str] = []
    for element in elements:
        is_top = element.parent is not None and element.parent.name in ("precice-configuration", "solver-interface")
        if element.name == "participant" and is_top:
            name = element.get("name", path)
            if name in names:
                raise ReadError(path, f"the participant {name!r} is defined twice", line=element.line)
            names.append(name)
    return names


def _scheme(element: _Element, elements: Sequence[_Element], known: Sequence[str], path: Path) -> Scheme:
    kind_name = element.name.removeprefix(_PREFIX)
    if kind_name not in _KINDS:
        allowed = ", ".join(_KINDS)
        raise ReadError(path, f"a coupling scheme must be one of {allowed}, but got {kind_name!r}", line=element.line)
    kind, implicit = _KINDS[kind_name]
    inside = [other for other in elements if other.parent is element]
    names = _coupled(kind, element, inside, path)
    strange = [name for name in names if name not in known]
    if strange:
        listed = ", ".join(known)
        raise ReadError(path, f"there is no participant {strange[0]!r} (there are {listed})", line=element.line)
    if len(set(names)) < max(len(names), 2):
        raise ReadError(
            path, f"a scheme couples two or more different participants, but got {names}", line=element.line
        )
    flows = [(tag.get("from", path), tag.get("to", path)) for tag in inside if tag.name == "exchange"]
    limit = _number("max-iterations", inside, path)
    return Scheme(
        kind,
        implicit,
        tuple(names),
        int(limit) if implicit and limit and limit >= 1 else None,
        flows=tuple(dict.fromkeys(flows)),
        windows=_windows(inside, path),
    )


def _coupled(kind: Kind, element: _Element, inside: Sequence[_Element], path: Path) -> list[str]:
    if kind == "multi":
        return [tag.get("name", path) for tag in inside if tag.name == "participant"]
    pair = next((tag for tag in inside if tag.name == "participants"), None)
    if pair is None:
        raise ReadError(path, f"{element.name} must have a tag 'participants' with first and second", line=element.line)
    return [pair.get("first", path), pair.get("second", path)]


def _windows(inside: Sequence[_Element], path: Path) -> int | None:
    """Return the number of time windows, if given; preCICE 1 calls them time steps, and -1 means no limit."""
    bounds = [_number(name, inside, path) for name in ("max-time-windows", "max-timesteps")]
    end = _number("max-time", inside, path)
    size = _number("time-window-size", inside, path) or _number("timestep-length", inside, path)
    if end is not None and size is not None and end > 0 and size > 0:
        bounds.append(math.ceil(end / size * (1 - 1e-9)))
    positive = [int(bound) for bound in bounds if bound is not None and bound >= 1]
    return min(positive, default=None)


def _number(name: str, inside: Sequence[_Element], path: Path) -> float | None:
    tag = next((tag for tag in inside if tag.name == name), None)
    if tag is None or "value" not in tag.attributes:
        return None
    try:
        value = float(tag.attributes["value"])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ReadError(path, f"{name} must be a number, but got {tag.attributes['value']!r}", line=tag.line)
    return value
