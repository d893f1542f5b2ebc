"""Files that hold one table, as text cells: CSV and other delimited text, Excel, JSON, Parquet, tables within text.

What the columns are is told elsewhere: of runs in `table`, of jobs in `evenly.readers.jobs.job_table`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import EvenlyError, MissingExtraError, ReadError
from evenly.readers.files import UNENDED, head, is_file, is_unended, lines, plain_suffix
from evenly.readers.registry import Skipped
from evenly.readers.tables.bordered import aligned_in_text, boxes_as_bars, only_rows, tables_in_text
from evenly.readers.tables.columns import time_candidates
from evenly.readers.tables.constants import texts_of_all_rows
from evenly.readers.tables.delimited import COMMENTS, Delimited, is_prompt, parse, with_whole_cells
from evenly.readers.tables.doubts import without_doubts
from evenly.readers.tables.excel import read_sheet
from evenly.readers.tables.headings import headings_between, without_titles
from evenly.readers.tables.json_rows import is_rows, read_rows
from evenly.readers.tables.latex import comment_behind, latex_as_bars, latex_as_text
from evenly.readers.tables.number_texts import exact, numbers
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.org import org_as_bars
from evenly.readers.tables.products import with_factors
from evenly.readers.tables.qacct import is_qacct, jobs_of_qacct
from evenly.readers.tables.remarks import quoted_texts
from evenly.readers.tables.rst import rst_as_bars
from evenly.readers.tables.several_tables import headings_of, which_table
from evenly.readers.tables.unit_row import with_cell_units, with_counts, with_unit_column, with_units
from evenly.readers.tables.wiki import holds_wiki_table, wiki_as_bars
from evenly.readers.unread_texts import instead_of
from evenly.runs.durations import is_duration
from evenly.runs.files import check_parquet
from evenly.runs.runs import Runs

__all__ = [
    "TEXT_WITH_TABLES",
    "Cells",
    "looks_like_table",
    "may_hold_table",
    "plain_cells",
    "read_cells",
    "tables_beside",
]

_RUNS_HEADER = "# evenly runs "
_TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".psv")
_LOOSE_SUFFIXES = (".txt", ".dat")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_EXCEL_SUFFIXES = (".xlsx", ".xlsm")
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
#: Text of which a part is a table.
TEXT_WITH_TABLES = (".md", ".markdown", ".rst", ".org", ".tex", ".wiki", ".mediawiki")
#: So many lines of a table tell whether it is one.
_FIRST_LINES = 12
#: What marks text in Markdown, and is no part of a cell: bold, code, and the backslash before a mark.
_MARKS = re.compile(r"\*\*|`|\\(?=[~*_|<>#%-])")
#: A column of numbers, whose name would begin a comment elsewhere.
_NUMBERS = re.compile(r"^\s*\|?\s*#\s*(?=\|)")


@dataclass(frozen=True)
class Cells:
    """The text of a table.

    Parameters
    ----------
    frame : DataFrame (n_rows, n_columns)
        Stripped text.
    lines : array (n_rows,)
        The line, or the row of a file without lines, of each row.
    units : mapping of str to str
        The units that stood in the cells of a column or in a row below its name.
    notes : tuple of str
        What was assumed, or split.
    skipped : tuple of Skipped
        Rows that were cut off.
    first : tuple of str
        What is said before all else.
    semicolons : bool
        Whether semicolons stand between the cells, as where commas are decimal marks.
    typed : bool
        Whether the file tells numbers from text, so that their points say nothing of the commas in text.
    around : sequence of str
        The lines above and below the table, and texts that are the same in all rows.
    places : sequence of int
        The number of each line in a text.
    headings : mapping of int to tuple of str
        The lines of text right above rows, by the first line of each block, see `headings_between`.
    """

    frame: pd.DataFrame
    lines: NDArray[np.int64]
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    first: tuple[str, ...] = ()
    semicolons: bool = False
    typed: bool = False
    around: Sequence[str] = ()
    places: Sequence[int] = ()
    headings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def looks_like_table(path: Path) -> bool:
    """Tell whether a file holds a table, by its name and first lines; loosely named text must name a time.

    Examples
    --------
    >>> looks_like_table(Path("nothing_there.csv"))
    False
    """
    suffix = plain_suffix(path)
    if suffix in _JSON_SUFFIXES:
        return is_rows(path)
    if suffix in (*_PARQUET_SUFFIXES, *_TEXT_SUFFIXES, *_EXCEL_SUFFIXES):
        return is_file(path)
    return (suffix in _LOOSE_SUFFIXES and _names_a_time(path)) or is_qacct(head(path))


def may_hold_table(path: Path) -> bool:
    """Tell whether a file may hold a table by its name alone.

    Examples
    --------
    >>> may_hold_table(Path("nothing_there.csv"))
    False
    """
    known = (*_PARQUET_SUFFIXES, *_TEXT_SUFFIXES, *_EXCEL_SUFFIXES, *_JSON_SUFFIXES, *_LOOSE_SUFFIXES)
    return is_file(path) and plain_suffix(path) in (*known, *TEXT_WITH_TABLES)


def read_cells(path: Path, sheet: str | None = None, table: str | None = None) -> Cells | Runs:
    r"""Return the text of the table in a file; the runs themselves if evenly wrote it.

    Sentences that are the same in all rows count as lines beside the table, too.

    Parameters
    ----------
    path : Path
    sheet : str, optional
        The sheet of a file of Excel; by default, the only one that holds a table.
    table : str, optional
        The number, or the heading, of the table of a text with several.

    Raises
    ------
    EvenlyError
        If it holds no table, or several.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("cores,time_ms\n8,1200\n")
    >>> read_cells(path).frame.to_dict("list")
    {'cores': ['8'], 'time_ms': ['1200']}
    """
    cells = _read_cells(path, sheet, table)
    if isinstance(cells, Runs):
        return cells
    return replace(cells, around=[*cells.around, *texts_of_all_rows(cells.frame)])


def _read_cells(path: Path, sheet: str | None, table: str | None) -> Cells | Runs:
    suffix = plain_suffix(path)
    if suffix in _PARQUET_SUFFIXES:
        return _of_parquet(path)
    if suffix in _EXCEL_SUFFIXES:
        found = read_sheet(path, sheet)
        frame, rows_of, titles = without_titles(found.cells, found.rows)
        return Cells(
            frame, rows_of, first=found.notes, typed=True, around=[*found.texts, *titles.values()],
            headings=headings_between({**found.titles, **titles}, rows_of.tolist(), "", start=int(rows_of[0])),
        )  # fmt: skip
    if suffix in _JSON_SUFFIXES:
        frame, numbers_of_rows, beside = read_rows(path)
        return Cells(frame, numbers_of_rows, typed=True, around=beside)
    if head(path).startswith(_RUNS_HEADER):
        return _load_runs(path)
    if instead := instead_of(path):
        raise ReadError(path, instead)
    content, first = lines(path), tuple[str, ...]()
    if is_qacct("\n".join(content[:3])):
        frame, begin = jobs_of_qacct(content)
        return Cells(frame, begin)
    if suffix in TEXT_WITH_TABLES or holds_wiki_table(content):
        rows, content, first = _only_table(path, content, table)
        parsed = parse(path, rows)
    else:
        parsed = parse(path, content)
    again = f"{parsed.repeated} row{'s' * (parsed.repeated > 1)} with the names of the columns again"
    notes = [again] if parsed.repeated else []
    notes += [f"words below the table, left out: {quoted_texts(parsed.words)}"] if parsed.words else []
    lost: tuple[Skipped, ...] = ()
    if parsed.cut:
        lost = (Skipped(path, f"{parsed.cut}: that row is left out", line=len(content)),)
    elif is_unended(content):
        notes.append(UNENDED)
    around = _around(latex_as_text(content) if suffix == ".tex" else content, parsed)
    frame, rows_of, titles = without_titles(parsed.frame, parsed.lines, parsed.delimiter)
    names = content[parsed.header - 1] if parsed.header else ""
    headings = headings_between(around | titles, rows_of.tolist(), names, start=parsed.header)
    around = dict(sorted((around | titles).items()))
    if suffix == ".tex":
        behind = {n: comment_behind(content[n - 1]) for n in parsed.lines.tolist()}
        around |= {n: f"{comment} (line {n})" for n, comment in behind.items() if comment}
    return Cells(
        frame, rows_of, notes=tuple(notes), skipped=lost, first=first, semicolons=parsed.delimiter == ";",
        around=[*around.values()], places=[*around], headings=headings,
    )  # fmt: skip


def plain_cells(cells: Cells, options: TableOptions) -> Cells:
    """Return the cells with each unit beside its column, products split into factors, and numbers without doubts.

    Parameters
    ----------
    cells : Cells
    options : TableOptions
        What the user said: which column is the time, and which aren't split.

    Examples
    --------
    >>> rows = pd.DataFrame({"MPI x OMP": ["8x1", "8x4"], "time": ["9 s", "3 s"]}, dtype=object)
    >>> found = plain_cells(Cells(rows, np.array([2, 3])), TableOptions())
    >>> list(found.frame), found.notes[0]
    (['MPI', 'OMP', 'time'], "'MPI x OMP' is read as 'MPI' and 'OMP'")
    """
    frame, rows, units = with_units(cells.frame, cells.lines)
    frame, unit_told = with_unit_column(frame, options.time)
    given = {*options.parameters, options.solver or ""}
    frame, split = with_factors(frame, given, options.categories)
    frame, counted = with_counts(frame, given)
    frame, doubts = without_doubts(frame)
    frame, in_cells = with_cell_units(frame)
    told = (f"the numbers in {name!r} are in {unit}" for name, unit in in_cells.items())
    notes = (*cells.first, *unit_told, *split, *counted, *doubts, *told)
    return Cells(
        frame, rows, units | in_cells, notes, semicolons=cells.semicolons, typed=cells.typed, around=cells.around
    )


def _around(content: Sequence[str], table: Delimited) -> dict[int, str]:
    """Return the lines of a text that are no rows of its table, nor its header, by their numbers."""
    rows = {table.header, *table.lines.tolist()}
    whole = with_whole_cells(content)
    return {n: line for n, line in enumerate(whole, start=1) if n not in rows and line.strip() and not is_prompt(line)}


def _of_parquet(path: Path) -> Cells | Runs:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading Parquet", extra="parquet") from None
    try:
        check_parquet(path)
        arrow = pq.read_table(path)
        if b"evenly" in (arrow.schema.metadata or {}):
            return _load_runs(path)
        frame = arrow.to_pandas()
    except ReadError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ReadError(path, f"not a readable Parquet file: {error}") from None
    if not len(frame):
        raise ReadError(path, "the table has no rows")
    if isinstance(frame.index, pd.MultiIndex) or frame.index.name is not None:
        frame = frame.reset_index()
    cells = pd.DataFrame({str(name): [_cell(v) for v in frame[name]] for name in frame.columns}, dtype=object)
    return Cells(cells, np.arange(1, len(cells) + 1, dtype=np.int64), typed=True)


def _names_a_time(path: Path) -> bool:
    """Tell whether loosely named text starts with a header that names a time, and numbers below it."""
    try:
        start = head(path).split("\n")
        plain = [at for at, line in enumerate(start) if line.strip() and not line.lstrip().startswith(COMMENTS)]
        start = start[: min(plain, default=0) + _FIRST_LINES]
        table = parse(path, start[:-1] if len(start) > 2 else start)
        times = [table.frame[found.column] for found in time_candidates(table.frame.columns)]
        return any(
            np.isfinite(numbers(path, "", cells, table.lines)).any() or any(map(is_duration, cells)) for cells in times
        )
    except EvenlyError:
        return False


def _as_bars(path: Path, content: list[str]) -> list[str]:
    """Return the lines of a text with its tables as Markdown draws them."""
    if plain_suffix(path) == ".tex":
        content = latex_as_bars(content)
    if plain_suffix(path) == ".org":
        content = org_as_bars(content)
    if plain_suffix(path) == ".rst":
        content = rst_as_bars(content)
    if holds_wiki_table(content):
        content = wiki_as_bars(content)
    return boxes_as_bars(content)


def _only_table(path: Path, content: list[str], wanted: str | None) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Return the lines of a text with all but its table empty, so that their numbers stay the same.

    Beside it, the lines without those of other tables, and which table was chosen.
    """
    drawn = _as_bars(path, content)
    found = tables_in_text(drawn) or aligned_in_text(drawn)
    first = next((line for line in drawn if line.strip()), "")
    if not found and re.search(r"[,;\t]", first):  # delimited text of another name
        return drawn, content, ()
    if not found:
        raise ReadError(
            path,
            "the text holds no table (lines with bars, or columns that several blanks part), and is in none of the "
            "formats that evenly reads",
        )
    which = which_table(path, drawn, found, wanted)
    own, others = found[which], {number for one in found if one != found[which] for number in one}
    rows = [_NUMBERS.sub("| nr ", _MARKS.sub("", line)) for line in only_rows(drawn, own)]
    told = (f"table {which + 1} of {len(found)}, at line {own.start + 1}",) if len(found) > 1 else ()
    text = content if plain_suffix(path) == ".tex" else drawn  # without the parts of rows that take several lines
    return rows, ["" if number in others else line for number, line in enumerate(text)], told


def headings_of_tables(path: Path) -> list[str]:
    r"""Return the headings of the tables of a text.

    Raises
    ------
    ReadError
        If it can't be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "runs.md"
    >>> _ = path.write_text("# fluid\n\n|p|s|\n|---|---|\n|8|9|\n|9|8|\n\n# solid\n\n|p|s|\n|---|---|\n|8|3|\n|9|2|\n")
    >>> headings_of_tables(path)
    ['fluid', 'solid']
    """
    drawn = _as_bars(path, lines(path))
    return headings_of(drawn, tables_in_text(drawn) or aligned_in_text(drawn))


def tables_beside(path: Path) -> str:
    """Return which drawn tables a text holds, in words; "" if none.

    Examples
    --------
    >>> tables_beside(Path("nothing_there.md"))
    ''
    """
    try:
        found = tables_in_text(_as_bars(path, lines(path)))
    except EvenlyError:
        return ""
    at = ", ".join(str(one.start + 1) for one in found)
    return f"{len(found)} table{'s' * (len(found) > 1)}, at the line{'s' * (len(found) > 1)} {at}," if found else ""


def _load_runs(path: Path) -> Runs:
    try:
        runs = Runs.load(path)
    except EvenlyError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReadError(path, f"the runs file is damaged: {error}") from None
    if not len(runs):
        raise ReadError(path, "the runs file holds no runs")
    return runs


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)) or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, float | np.floating):
        return exact(float(value))
    return str(value)
