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
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import ClassVar, get_args

import pandas as pd

from evenly.errors import EvenlyError, InputError, MissingExtraError, ReadError, option_text
from evenly.readers.base import Reader
from evenly.readers.registry import Skipped, name_list
from evenly.readers.tables.bookkeeping import with_labels_named
from evenly.readers.tables.cell_files import (
    TEXT_WITH_TABLES,
    Cells,
    headings_of_tables,
    looks_like_table,
    plain_cells,
    read_cells,
    tables_beside,
)
from evenly.readers.tables.excel import sheets_with_tables, texts_without_tables
from evenly.readers.tables.interpretation import Interpretation
from evenly.readers.tables.number_texts import Decimal
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.own_list import chosen
from evenly.readers.tables.per_work import time_of_work
from evenly.readers.tables.roles import Column
from evenly.readers.tables.side_by_side import refuse_units_in_solvers, stacked, stacked_by
from evenly.readers.tables.sizes import with_sizes, without_counts
from evenly.readers.tables.unit_row import with_unit_column
from evenly.readers.tables.wide import narrowed
from evenly.runs.runs import Runs
from evenly.runs.units import base_unit
from evenly.space.expressions import Expression

__all__ = ["TableReader"]

_RATE_OF_YEARS = re.compile(r"(?<![a-z])(?:s[yd]pd|chp?sy)(?![a-z])", re.IGNORECASE)


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
        Column that names the solver of a coupled run; ``"*"`` where what stands for the ``*`` in `time` names it.
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
        The sheet of a file of Excel; by default, the only one that holds a table. With ``"*"``, each sheet that holds
        one is of the solver that it is named after.
    table : int or str, optional
        Which table of a text with several: its number from 1 on, or the heading above it. With ``"*"``, each is of the
        solver that its heading names.

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
    named_only: ClassVar[tuple[str, ...]] = TEXT_WITH_TABLES

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
        table: int | str | None = None,
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
            table=None if table is None else str(table),
        )
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []
        self.columns: list[Column] = []

    def recognises(self, path: Path) -> bool:
        return looks_like_table(path)

    def beside(self, path: Path) -> str:
        """Return which tables a text of another format holds, too, in words; "" if none."""
        return tables_beside(path)

    def read(self, path: Path) -> dict[str, Runs]:
        return self._read(path, None)

    def read_changed(self, path: Path, cells: Cells) -> dict[str, Runs]:
        """Read the cells of a file, of which some were changed since they were read."""
        return self._read(path, cells)

    def _read(self, path: Path, cells: Cells | None) -> dict[str, Runs]:
        self.notes, self.skipped, self.columns = [], [], []
        try:
            if cells is not None:
                return self._of_cells(path, cells)
            if "*" in (self._options.sheet, self._options.table):
                return self._each_table(path)
            beside = [] if self._options.sheet is None else texts_without_tables(path)
            return self._one_table(path, beside)
        except (ReadError, MissingExtraError):
            raise
        except EvenlyError as error:
            raise ReadError(path, str(error)) from None

    def _one_table(self, path: Path, beside: Sequence[str] = ()) -> dict[str, Runs]:
        """Read the only table, or that which is chosen, with texts beside it that stand elsewhere in the file."""
        cells = read_cells(path, self._options.sheet, self._options.table)
        if isinstance(cells, Runs):
            return {"": chosen(cells, self._options, path)}
        return self._of_cells(path, dataclasses.replace(cells, around=[*cells.around, *beside]))

    def _of_cells(self, path: Path, cells: Cells) -> dict[str, Runs]:
        runs = self._interpret(path, cells)
        self.notes += cells.notes
        self.skipped = list(cells.skipped)
        return runs

    def _each_table(self, path: Path) -> dict[str, Runs]:
        """Read all sheets, or all tables of a text, each as the runs of the solver that it is named after."""
        if self._options.sheet == "*":
            options = [("sheet", sheet, sheet) for sheet in sheets_with_tables(path)]
        else:
            options = [("table", str(at), name) for at, name in enumerate(headings_of_tables(path), start=1)]
        names = [name for *_, name in options]
        if not names or len(set(names)) < len(names) or "" in names:
            why = "hold no table" if not names else "have no names of their own"
            raise ReadError(path, f"its {'sheets' if self._options.sheet == '*' else 'tables'} {why}")
        found: dict[str, Runs] = {}
        notes: list[str] = []
        columns: list[Column] = []
        for option, value, name in options:
            one = copy(self)
            sheet, table = (value, self._options.table) if option == "sheet" else (self._options.sheet, value)
            one._options = dataclasses.replace(self._options, sheet=sheet, table=table)
            runs = one._one_table(path)
            if [*runs] != [""]:
                chosen = option_text("-O", f"{option}={value}")
                raise ReadError(path, f"{option} {name!r} names solvers itself: choose it with {chosen}")
            found[name] = runs[""]
            notes += [f"{name}: {text}" for text in one.notes]
            columns += one.columns
        self.notes, self.columns = notes, columns
        return found

    def _interpret(self, path: Path, table: Cells) -> dict[str, Runs]:
        plain = plain_cells(table, self._options)
        cells, rows, units, told = plain.frame, plain.lines, dict(plain.units), plain.notes
        options = _renamed(self._options, units, cells)
        known = {options.time, options.solver, options.status, *options.quantities, *options.categories}
        known |= {*options.parameters, *(Expression(options.where).names if options.where else ())}
        cells, sizes = with_sizes(cells, {name for name in known if name})
        cells, bare = without_counts(cells, options.parameters)
        told, why_time = (*told, *sizes, *bare), ""
        free = not (options.time or options.solver or options.parameters or options.quantities)
        pattern = options.time if options.time and "*" in options.time and options.time not in cells else None
        wide = (narrowed(cells, rows) or stacked(cells, rows)) if free else None
        asked = options.parameters and not (options.time or options.solver or options.quantities)
        if asked and not {*options.parameters} <= {*cells}:  # they are those of the narrow table
            wide = narrowed(cells, rows, options.parameters)
        elif asked and (beside := stacked(cells, rows)) is not None and {*options.parameters} <= {*beside.cells}:
            wide = beside
        if (
            options.solver
            and options.solver in cells
            and not (options.time or options.parameters or options.quantities)
        ):
            wide = stacked(cells, rows)
        if pattern:
            wide = stacked_by(path, cells, rows, pattern, solvers=options.solver == "*")
        if wide is not None:
            options = dataclasses.replace(options, solver=wide.solver or options.solver, time=wide.time)
            why_time = "its name, beside that of each solver" if wide.solver else "repeated runs side by side"
            if pattern:
                why_time = "named in time= (--time)"
            gone = {*map(str, cells)} - {*map(str, wide.cells)}
            if pattern:
                _refuse_mixed_rates(path, gone, has_cores=wide.solver is not None)
            units |= _shared_unit(path, units, gone, wide.time)
            if pattern and wide.solver:
                refuse_units_in_solvers(path, wide.cells[wide.solver].unique(), sorted(gone))
            cells, rows, told = wide.cells, wide.lines, (*told, *wide.notes)
            cells, unit_told = with_unit_column(cells, wide.time)
            told = (*told, *unit_told)
        cells, labels = with_labels_named(cells)
        told = (*told, *labels)
        meaning = Interpretation(
            options,
            path,
            cells,
            rows,
            units,
            semicolons=table.semicolons,
            typed=table.typed,
            around=table.around,
            headings=table.headings,
            is_wide=wide is not None and bool(wide.solver) and not pattern,
        )
        runs = meaning.runs()
        self.notes, self.columns = (
            [*told, *meaning.notes],
            [
                dataclasses.replace(column, why=why_time) if why_time and column.role == "time" else column
                for column in meaning.columns
            ],
        )
        return runs


def _renamed(options: TableOptions, units: Mapping[str, str], cells: pd.DataFrame) -> TableOptions:
    """Return the options with the columns named as the cells have them: ``wall [s]`` where a row tells ``s``."""
    names = {name.removesuffix(f" [{unit}]"): name for name, unit in units.items()}
    names = {old: new for old, new in names.items() if old not in cells}
    columns = [str(name) for name in cells]
    return dataclasses.replace(
        options,
        time=names.get(options.time or "", options.time),
        quantities={names.get(name, name): unit for name, unit in options.quantities.items()},
        parameters=tuple(names.get(name, name) for name in _rejoined(options.parameters, columns)),
        categories=_rejoined(options.categories, columns),
    )


def _rejoined(names: Sequence[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Return names that were split at commas, with those of columns that hold commas in one.

    Examples
    --------
    >>> _rejoined(["cores", "mesh (fine", "2D)"], ["cores", "mesh (fine, 2D)", "time_s"])
    ('cores', 'mesh (fine, 2D)')
    """
    known = {tuple(part.strip() for part in name.split(",")): name for name in columns if "," in name}
    left, found = list(names), list[str]()
    while left:
        parts = next((parts for parts in known if tuple(left[: len(parts)]) == parts), (left[0],))
        found.append(known.get(parts, left[0]))
        left = left[len(parts) :]
    return tuple(found)


def _refuse_mixed_rates(path: Path, columns: set[str], *, has_cores: bool) -> None:
    """Refuse rates of several units side by side, and core-hours whose cores no column tells."""
    rates = {rate[0].upper() if (rate := _RATE_OF_YEARS.search(name)) else "" for name in columns}
    if len(rates) > 1 or not (has_cores or rates.isdisjoint(("CHSY", "CHPSY"))):
        raise ReadError(
            path,
            f"{', '.join(sorted(map(repr, columns)))} aren't all times, or all rates in one unit: give those of "
            "one unit, with the cores of each solver beside it, as atm_cores, atm_SYPD, ocn_cores, ocn_SYPD",
        )


def _shared_unit(path: Path, units: Mapping[str, str], columns: set[str], time: str) -> dict[str, str]:
    """Return the unit of a column of times that several columns became; nothing if none of them had one."""
    works = {work.said for name in columns if (work := time_of_work(name)) is not None and work.is_certain}
    if len(works) > 1:
        raise ReadError(
            path, f"the times side by side are of different work, {', '.join(sorted(works))}: give those of one"
        )
    told = {units[name] for name in columns if name in units and base_unit(units[name]) == "s"}
    if len(told) > 1:
        raise ReadError(
            path,
            f"the times side by side are in several units, {', '.join(sorted(told))}: give them in one unit",
        )
    return dict.fromkeys([time], told.pop()) if told else {}
