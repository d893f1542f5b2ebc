"""Tables: CSV, TSV and other delimited text, Excel, JSON, Parquet, and evenly's own runs files.

Without options, the meaning of a column is inferred from its name: a time (``seconds``, ``time_ms``, ``wall [s]``) or
rate (``SYPD``), the solver (``domain``, ``participant``, …), bookkeeping (``status``, ``machine``, …), or another
quantity (``peak_memory_GiB``). All remaining columns are parameters. A table may have columns for each solver
(``inner_cores``, ``inner_time_ms``, ``outer_cores``, ``outer_time_ms``); the common part of their names is the solver.
Every guess is reported, and options override it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import EvenlyError, InputError, MissingExtraError, ReadError
from evenly.readers.base import Reader
from evenly.readers.files import UNENDED, head, is_file, is_unended, lines, plain_suffix
from evenly.readers.registry import Skipped, name_list
from evenly.readers.tables.bordered import tables_in_text
from evenly.readers.tables.columns import time_candidates
from evenly.readers.tables.delimited import Decimal, Delimited, numbers, parse
from evenly.readers.tables.doubts import without_doubts
from evenly.readers.tables.excel import read_sheet
from evenly.readers.tables.interpretation import Interpretation
from evenly.readers.tables.json_rows import is_rows, read_rows
from evenly.readers.tables.latex import latex_as_bars
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.org import org_as_bars
from evenly.readers.tables.products import with_factors
from evenly.readers.tables.roles import Column
from evenly.readers.tables.side_by_side import stacked, stacked_by
from evenly.readers.tables.unit_row import with_cell_units, with_unit_column, with_units
from evenly.readers.tables.wide import narrowed
from evenly.runs.durations import is_duration
from evenly.runs.files import check_parquet
from evenly.runs.runs import Runs
from evenly.runs.units import base_unit

__all__ = ["TableReader"]

_RUNS_HEADER = "# evenly runs "
_TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".psv")
_LOOSE_SUFFIXES = (".txt", ".dat")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_EXCEL_SUFFIXES = (".xlsx", ".xlsm")
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_TEXT_WITH_TABLES = (".md", ".markdown", ".org", ".tex")
#: What marks text in Markdown, and is no part of a cell: bold, code, and the backslash before a mark.
_MARKS = re.compile(r"\*\*|`|\\(?=[~*_|<>#%-])")
#: A column of numbers, whose name would begin a comment elsewhere.
_NUMBERS = re.compile(r"^\s*\|?\s*#\s*(?=\|)")


class TableReader(Reader):
    r"""Reads tables with one row per run.

    Parameters
    ----------
    parameters : sequence of str or str, optional
        Columns that were varied (a text is split at commas); all that is not otherwise known by default.
    time : str, optional
        Column with the time or rate; with a ``*`` several of them, as ``"run *"`` or ``"* cores"``.
    unit : str, optional
        Its unit, see `evenly.runs.units.to_base`; told from the column's name, else seconds.
    solver : str, optional
        Column that names the solver of a coupled run.
    quantities : mapping of str to str, optional
        More measured columns and their units.
    status : str, optional
        Column that says whether a run went well.
    where : str, optional
        Keep only rows for which this holds, as in ``"kind == 'measured' and cores < 400"``.
    constants : mapping, optional
        Parameters that the file doesn't hold, with their value, as in ``{"cores": 512}``.
    categories : sequence of str or str
        Columns that hold labels although they look like numbers.
    decimal : {"auto", ".", ","}
        The decimal mark of a text file.
    sheet : str, optional
        The sheet of a file of Excel; by default, the only one that holds a table.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("cores,time_ms\n8,1200\n16,640\n")
    >>> reader = TableReader()
    >>> reader.read(path)[""]
    Runs(2 rows, 2 configurations of cores; seconds 0.64 to 1.2 s)
    >>> reader.notes
    ["'time_ms' is the time in ms", 'parameters: cores']
    """

    name: ClassVar[str] = "table"
    summary: ClassVar[str] = "CSV, TSV, other delimited text, Excel, JSON, Parquet, and evenly's own runs files"
    #: Asked after all readers of a particular format.
    generic: ClassVar[bool] = True
    #: Read only where such a file is named itself: a folder may hold one beside its measurements.
    named_only: ClassVar[tuple[str, ...]] = _TEXT_WITH_TABLES

    def __init__(
        self,
        *,
        parameters: Sequence[str] | str | None = None,
        time: str | None = None,
        unit: str | None = None,
        solver: str | None = None,
        quantities: Mapping[str, str] | None = None,
        status: str | None = None,
        where: str | None = None,
        constants: Mapping[str, float | str] | None = None,
        categories: Sequence[str] | str = (),
        decimal: Decimal = "auto",
        sheet: str | None = None,
    ) -> None:
        if decimal not in get_args(Decimal):
            raise InputError(f"decimal must be one of {', '.join(get_args(Decimal))}, but got {decimal!r}")
        self._options = TableOptions(
            parameters=name_list(parameters),
            time=time,
            unit=unit,
            solver=solver,
            quantities=dict(quantities or {}),
            status=status,
            where=where,
            constants=dict(constants or {}),
            categories=name_list(categories),
            decimal=decimal,
            sheet=sheet,
        )
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []
        self.columns: list[Column] = []

    def recognises(self, path: Path) -> bool:
        suffix = plain_suffix(path)
        if suffix in _JSON_SUFFIXES:
            return is_rows(path)
        if suffix in (*_PARQUET_SUFFIXES, *_TEXT_SUFFIXES, *_EXCEL_SUFFIXES):
            return is_file(path)
        return suffix in _LOOSE_SUFFIXES and _looks_like_table(path)

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped, self.columns = [], [], []
        try:
            if plain_suffix(path) in _PARQUET_SUFFIXES:
                return self._read_parquet(path)
            if plain_suffix(path) in _EXCEL_SUFFIXES:
                cells, rows, told = read_sheet(path, self._options.sheet)
                runs = self._interpret(path, cells, rows)
                self.notes = [*told, *self.notes]
                return runs
            if plain_suffix(path) in _JSON_SUFFIXES:
                return self._interpret(path, *read_rows(path))
            if head(path).startswith(_RUNS_HEADER):
                return {"": _load_runs(path)}
            content = lines(path)
            table = parse(path, _only_table(path, content) if plain_suffix(path) in _TEXT_WITH_TABLES else content)
            around = _around(content, table)
            runs = self._interpret(path, table.frame, table.lines, semicolons=table.delimiter == ";", around=around)
            if table.headers:
                self.notes.append(f"{table.headers} row{'s' * (table.headers > 1)} with the names of the columns again")
            if table.cut:
                self.skipped = [Skipped(path, f"{table.cut}: that row is left out", line=len(content))]
            elif is_unended(content):
                self.notes.append(UNENDED)
            return runs
        except (ReadError, MissingExtraError):
            raise
        except EvenlyError as error:
            raise ReadError(path, str(error)) from None

    def _read_parquet(self, path: Path) -> dict[str, Runs]:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtraError("reading Parquet", extra="parquet") from None
        try:
            check_parquet(path)
            arrow = pq.read_table(path)
            if b"evenly" in (arrow.schema.metadata or {}):
                return {"": _load_runs(path)}
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
        rows = np.arange(1, len(cells) + 1, dtype=np.int64)
        return self._interpret(path, cells, rows)

    def _interpret(
        self,
        path: Path,
        cells: pd.DataFrame,
        rows: NDArray[np.int64],
        *,
        semicolons: bool = False,
        around: Sequence[str] = (),
    ) -> dict[str, Runs]:
        cells, rows, units = with_units(cells, rows)
        cells, unit_told = with_unit_column(cells, self._options.time)
        given = {*self._options.parameters, self._options.solver or ""}
        cells, split = with_factors(cells, given, self._options.categories)
        cells, doubts = without_doubts(cells)
        cells, in_cells = with_cell_units(cells)
        units |= in_cells
        options = _renamed(self._options, units, cells)
        told = (
            *unit_told,
            *split,
            *doubts,
            *(f"the numbers in {name!r} are in {unit}" for name, unit in in_cells.items()),
        )
        why_time = ""
        free = not (options.time or options.solver or options.parameters or options.quantities)
        pattern = options.time if options.time and "*" in options.time and options.time not in cells else None
        wide = (narrowed(cells, rows) or stacked(cells, rows)) if free else None
        if pattern:
            wide = stacked_by(path, cells, rows, pattern)
        if wide is not None:
            options = dataclasses.replace(options, solver=wide.solver or options.solver, time=wide.time)
            why_time = "its name, beside that of each solver" if wide.solver else "repeated runs side by side"
            if pattern:
                why_time = "named in time= (--time)"
            units |= _shared_unit(path, units, {*map(str, cells)} - {*map(str, wide.cells)}, wide.time)
            cells, rows, told = wide.cells, wide.lines, (*told, *wide.notes)
            cells, unit_told = with_unit_column(cells, wide.time)
            told = (*told, *unit_told)
        meaning = Interpretation(options, path, cells, rows, units, semicolons=semicolons, around=around)
        runs = meaning.runs()
        self.notes, self.columns = (
            [*told, *meaning.notes],
            [
                dataclasses.replace(column, why=why_time) if why_time and column.role == "time" else column
                for column in meaning.columns
            ],
        )
        return runs


def _around(content: Sequence[str], table: Delimited) -> list[str]:
    """Return the lines of a text that are no rows of its table, nor its header."""
    rows = {table.header, *table.lines.tolist()}
    return [line for number, line in enumerate(content, start=1) if number not in rows and line.strip()]


def _renamed(options: TableOptions, units: Mapping[str, str], cells: pd.DataFrame) -> TableOptions:
    """Return the options with the columns named as the cells have them: ``wall [s]`` where a row tells ``s``."""
    names = {name.removesuffix(f" [{unit}]"): name for name, unit in units.items()}
    names = {old: new for old, new in names.items() if old not in cells}
    return dataclasses.replace(
        options,
        time=names.get(options.time or "", options.time),
        quantities={names.get(name, name): unit for name, unit in options.quantities.items()},
        parameters=tuple(names.get(name, name) for name in options.parameters),
    )


def _shared_unit(path: Path, units: Mapping[str, str], columns: set[str], time: str) -> dict[str, str]:
    """Return the unit of a column of times that several columns became; nothing if none of them had one."""
    told = {units[name] for name in columns if name in units and base_unit(units[name]) == "s"}
    if len(told) > 1:
        raise ReadError(
            path,
            f"the times side by side are in several units, {', '.join(sorted(told))}: give them in one unit",
        )
    return dict.fromkeys([time], told.pop()) if told else {}


def _looks_like_table(path: Path) -> bool:
    """Tell whether loosely named text starts with a header that names a time, and numbers below it."""
    try:
        start = head(path).split("\n")[:12]
        table = parse(path, start[:-1] if len(start) > 2 else start)
        times = [table.frame[found.column] for found in time_candidates(table.frame.columns)]
        return any(
            np.isfinite(numbers(path, "", cells, table.lines)).any() or any(map(is_duration, cells)) for cells in times
        )
    except EvenlyError:
        return False


def _only_table(path: Path, content: list[str]) -> list[str]:
    """Return the lines of a text with all but its table empty, so that their numbers stay the same."""
    if plain_suffix(path) == ".tex":
        content = latex_as_bars(content)
    if plain_suffix(path) == ".org":
        content = org_as_bars(content)
    found = tables_in_text(content)
    if len(found) > 1:
        at = " and ".join(str(one.start + 1) for one in found)
        raise ReadError(path, f"the text holds {len(found)} tables, at the lines {at}: save the one to read as a file")
    first = next((line for line in content if line.strip()), "")
    if not found and re.search(r"[,;\t]", first):  # delimited text of another name
        return content
    if not found:
        raise ReadError(
            path, "the text holds no table (lines with bars), and is in none of the formats that evenly reads"
        )
    return [
        _NUMBERS.sub("| nr ", _MARKS.sub("", line)) if number in found[0] else "" for number, line in enumerate(content)
    ]


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
        return repr(float(value))
    return str(value)
