"""What stands about the solvers of coupled runs: names of files, folders and sheets, lines beside tables, notes.

A line is about a solver if it stands in the solver's own file or sheet, names it and no other, stands above its rows
alone, or is the footnote of its mark (``ocn*``, ``* for 30 days``). Of a line that says something of several solvers
(``atm: one day, ocn: five days``), each gets its part. All lines but those in own files and sheets are about all, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.errors import EvenlyError
from evenly.readers.tables.columns import canonical_unit
from evenly.readers.tables.works import Work, step_length_in, works_in
from evenly.runs.units import SECONDS_PER

if TYPE_CHECKING:
    import pandas as pd

    from evenly.readers import Measurements
    from evenly.readers.tables.cell_files import Cells
    from evenly.runs.runs import Runs

__all__ = ["Text", "Texts", "texts_about"]

#: Marks of footnotes.
_MARKS = "*†‡§"
#: A unit behind "in", or alone.
_UNIT = re.compile(r"\b(?:in|en)\s+(?P<a>[^\W\d_]+)\b|^\W*(?P<b>[^\W\d_]+)\W*$")
#: Words that only join names.
_AND = frozenset({"and", "und", "et", "y", "e", "with", "mit", "avec", "con", "or"})


@dataclass(frozen=True)
class Text:
    """A name, or a line of text.

    Parameters
    ----------
    text : str
    is_line : bool
        Whether it is a line beside a table, and no name of a solver, a file, a folder or a sheet.
    is_heading : bool
        Whether it is the heading of a column of times.
    """

    text: str
    is_line: bool = False
    is_heading: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it is the name of a solver, a file, a folder or a sheet."""
        return not (self.is_line or self.is_heading)

    @property
    def works(self) -> list[Work]:
        """The amounts of work that it tells; the reader uses those of a heading."""
        return [] if self.is_heading else works_in(self.text, is_line=self.is_line)

    @property
    def units(self) -> list[str]:
        """The units of time that it tells: ``in ms``, ``milliseconds!``."""
        found = [match["a"] or match["b"] for match in _UNIT.finditer(self.text)]
        return [unit for unit in map(canonical_unit, found) if unit in SECONDS_PER]

    @property
    def step_length(self) -> list[Work]:
        """The length of a step that it tells."""
        return step_length_in(self.text)


@dataclass
class Texts:
    """The texts about each solver, and the lines about all or several of them.

    Parameters
    ----------
    of : dict of str to list of Text
    shared : list of Text
    divided : list of str
        Lines of which each solver got its part.
    """

    of: dict[str, list[Text]]
    shared: list[Text] = field(default_factory=list)
    divided: list[str] = field(default_factory=list)

    def add(self, line: str, whose: str = "") -> None:
        """Add a line about one solver, or about those that it names, or about all."""
        if whose := whose or _named(line, self.of):
            self.of[whose].append(Text(line, is_line=True))
        elif parts := _parts(line, self.of):
            self.divided.append(line)
            for solver, part in parts.items():
                self.of[solver].append(Text(part, is_line=True))
        else:
            self.shared.append(Text(line, is_line=True))

    def all_of(self, solver: str) -> list[Text]:
        """Return the texts about a solver, those about all included."""
        return [*self.of[solver], *self.shared]


def texts_about(runs: Mapping[str, Runs], found: Measurements) -> Texts:
    """Return what stands about the solvers of tables.

    Parameters
    ----------
    runs : mapping of str to Runs
        The runs of each solver.
    found : Measurements
        Where they were read.
    """
    from evenly.readers.beside import lines_of_text

    texts = Texts({solver: [Text(solver)] for solver in runs})
    sources: dict[Path, list[str]] = {}
    for solver, one in runs.items():
        for path in sorted({Path(str(source)) for source in one.to_frame()["source"]}):
            sources.setdefault(path, []).append(solver)
    tables = {path.resolve() for path, name in found.sources if name == "table"}
    above = os.path.commonpath([path.resolve().parent for path in sources]) if sources else ""
    column = next((one.name for one in found.columns if one.role == "solver"), "")
    for path, solvers in sources.items():
        if len(solvers) == 1:
            folders = path.resolve().parent.relative_to(above).parts
            texts.of[solvers[0]] += [Text(name) for name in (path.name.split(".")[0], *folders)]
        for heading in _headings(path) if path.resolve() in tables else ():
            of_whom = solvers[0] if len(solvers) == 1 else _named(heading, runs)
            if of_whom:
                texts.of[of_whom].append(Text(heading, is_heading=True))
        for line, whose in _lines_of(path, solvers, column, found) if path.resolve() in tables else ():
            texts.add(line, whose)
    for path in found.beside:
        for line in lines_of_text(path):
            texts.add(line)
    return texts


def _named(line: str, solvers: Mapping[str, object]) -> str:
    """Return the only solver that a line names, or whose mark it begins with; "" if there is none."""
    named = {name for name in solvers if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line, re.IGNORECASE)}
    marked = {name for name in solvers if name[-1:] in _MARKS and line.startswith(name[-1:])}
    return named.pop() if len(named) == 1 else marked.pop() if len(marked) == 1 else ""


def _parts(line: str, solvers: Mapping[str, object]) -> dict[str, str]:
    """Return what a line says of each of several solvers behind its name; nothing if one of them has no part.

    Examples
    --------
    >>> solvers = {"atm": 1, "ocn": 2}
    >>> _parts("atm: one day, ocn: five days", solvers), _parts("Scaling of atm and ocn on Levante", solvers)
    ({'atm': 'atm: one day', 'ocn': 'ocn: five days'}, {})
    """
    places = sorted(
        (match.start(), match.end(), name)
        for name in solvers
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", line, re.IGNORECASE)
    )
    names = [name for *_, name in places]
    if len(set(names)) < 2 or len(set(names)) < len(names):
        return {}
    stops = [start for start, *_ in places[1:]] + [len(line)]
    parts = {name: line[start:stop].strip(" ,;.") for (start, _, name), stop in zip(places, stops, strict=True)}
    said = [re.findall(r"\w+", line[end:stop]) for (_, end, _), stop in zip(places, stops, strict=True)]
    return parts if all(set(map(str.lower, words)) - _AND for words in said) else {}


def _lines_of(path: Path, solvers: Sequence[str], column: str, found: Measurements) -> Iterator[tuple[str, str]]:
    """Yield lines beside the tables of a file, and texts in its cells, with the solver that each is about, or ""."""
    whose = solvers[0] if len(solvers) == 1 else ""
    is_book = path.suffix.lower().startswith(".xls")
    cells = _cells(path, None)
    if cells is None and is_book:  # each sheet is of a solver
        for line in _texts_of_sheets(path):
            yield line, whose
        for solver in solvers:
            for line in _bare(_cells(path, solver)):
                yield line, solver
        return
    cells = cells or _cells(path, None, table="1")  # each table of a text may be of a solver
    for number, line in enumerate(_bare(cells)):
        if re.search(r"\w", line):  # a rule tells nothing
            yield line, whose or _of_block(cells, number, column)
    if not whose and cells is not None:
        yield from _texts_in(cells, column, found)


def _texts_in(cells: Cells, column: str, found: Measurements) -> list[tuple[str, str]]:
    """Return the texts of columns that are left out, where each solver has one, and which solver that is.

    Of labels that differ from run to run, as ``ifs_10d_48``, it is what those of a solver have in common.
    """
    told: list[tuple[str, str]] = []
    if column not in cells.frame:
        return told
    for one in found.columns:
        if one.role not in ("identifier", "left out", "outcome") or one.name not in cells.frame:
            continue
        by_solver = {str(solver): _common(texts) for solver, texts in cells.frame.groupby(column)[one.name]}
        if all(by_solver.values()) and len(set(by_solver.values())) > 1:
            told += [(text, solver) for solver, text in by_solver.items()]
    return told


def _common(texts: pd.Series) -> str:
    """Return the text that is the same in all rows, or the words that all labels have; "" without letters."""
    labels = list(dict.fromkeys(map(str, texts)))
    if len(labels) == 1:
        return labels[0]
    words = [re.split(r"[\s_\-.]+", label) for label in labels]
    return " ".join(
        word for word in words[0] if re.search(r"[^\W\d]", word) and all(word in others for others in words)
    )


def _headings(path: Path) -> list[str]:
    """Return the headings of times that tell the length of a step."""
    cells = _cells(path, None)
    return [name for name in map(str, cells.frame.columns) if step_length_in(name)] if cells is not None else []


def _cells(path: Path, sheet: str | None, table: str | None = None) -> Cells | None:
    from evenly.readers.tables.cell_files import Cells, read_cells

    try:
        cells = read_cells(path, sheet, table)
    except EvenlyError:  # of a sheet that the user chose, say
        return None
    return cells if isinstance(cells, Cells) else None


def _bare(cells: Cells | None) -> list[str]:
    return [_plain(line) for line in cells.around] if cells is not None else []


def _plain(line: str) -> str:
    r"""Return a line without the marks of a comment: ``\* twice`` of Markdown begins with a star."""
    return line.strip().replace("\\*", "*").strip("#%/! ")


def _of_block(cells: Cells | None, number: int, column: str) -> str:
    """Return the only solver of the rows between a line and the next one; "" if they are of several, or all rows."""
    if cells is None or column not in cells.frame or number >= len(cells.places):
        return ""
    begin = cells.places[number]
    others = [
        place
        for place, line in zip(cells.places, cells.around, strict=False)
        if place > begin and re.search(r"\w", line)
    ]
    end = next((place for place in others if _rows(cells, begin, place)), float("inf"))
    inside = _rows(cells, begin, end)
    names = {str(cells.frame[column].iloc[row]) for row in inside}
    return names.pop() if len(names) == 1 and len(inside) < len(cells.frame) else ""


def _rows(cells: Cells, begin: float, end: float) -> list[int]:
    return [row for row, line in enumerate(cells.lines.tolist()) if begin < line < end]


def _texts_of_sheets(path: Path) -> list[str]:
    """Return the texts of the sheets of a workbook that hold no table."""
    from evenly.readers.tables.excel import texts_without_tables

    try:
        return texts_without_tables(path)
    except EvenlyError:
        return []
