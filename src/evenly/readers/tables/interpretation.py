"""Interpretation of a table of text: it finds the columns of time, parameters and solver, and builds the runs.

`TableReader` uses it. Every guess is reported as a note; every error message names the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError, did_you_mean
from evenly.readers.tables import columns as words
from evenly.readers.tables.delimited import numbers
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.repetitions import NUMBERS, are_whole, name_runs, number_steps
from evenly.readers.tables.rows import runs_of
from evenly.runs.runs import Runs
from evenly.runs.units import SECONDS_PER, base_unit, to_base
from evenly.space.expressions import Expression

__all__ = ["Interpretation"]

#: A column of at least this many cells, of which at most one in so many isn't a number, is meant to be numeric.
_ONE_IN = 5
_UNNAMED = re.compile(r"(unnamed: ?\d+|__index_level_\d+__)?", re.IGNORECASE)


class Interpretation:
    """Gives the columns of one table their meaning.

    Parameters
    ----------
    options : TableOptions
        What the user said.
    path : Path
        The file, for messages.
    cells : DataFrame (n_rows, n_columns)
        Stripped text.
    lines : array (n_rows,)
        The line, or the row of a file without lines, of each row.

    Attributes
    ----------
    notes : list of str
        What was guessed.

    Examples
    --------
    >>> cells = pd.DataFrame({"cores": ["8", "16"], "SYPD": ["2", "4"]})
    >>> meaning = Interpretation(TableOptions(), Path("scaling.csv"), cells, np.array([2, 3]))
    >>> meaning.runs()[""].values
    array([43200., 21600.])
    """

    def __init__(self, options: TableOptions, path: Path, cells: pd.DataFrame, lines: NDArray[np.int64]) -> None:
        self.options: Final = options
        self.path: Final = path
        self.cells = cells
        self.lines = lines
        self.notes: list[str] = []
        self._taken: set[str] = set()
        self._settled: set[str] = set()  # columns that `where` left with one value

    def runs(self) -> dict[str, Runs]:
        """Return the runs per solver.

        Raises
        ------
        ReadError
            If the time or the parameters can't be told, or a cell isn't what it must be.
        """
        self._refuse_exports()
        self._filter()
        book = self._bookkeeping()
        time, unit = self._time()
        quantities = self._quantities()
        solver = self._solver()
        parameters = self._parameters()
        frame = pd.DataFrame({name: self._parameter(name) for name in parameters}, index=self.cells.index)
        for name in parameters:
            self._check_counts(name)
        for name, value in self.options.constants.items():
            frame[name] = value
        frame["status"], frame["seconds"] = self._times(time, unit, book.get("status"))
        for column, (name, its_unit) in quantities.items():
            values = numbers(self.path, column, self.cells[column], self.lines, decimal=self.options.decimal)
            frame[name] = to_base(values, its_unit)
        self._keep_books(frame, book, [*parameters, *self.options.constants], solver)
        units = {name: base_unit(its_unit) for name, its_unit in quantities.values()}
        return self._split(frame, solver, [*parameters, *self.options.constants], units)

    # ---- roles of the columns ------------------------------------------------------------------------------

    def _refuse_exports(self) -> None:
        names = {name.lower() for name in self.cells.columns}
        if {"participant", "rank", "event", "duration"} <= names and self.options.time is None:
            raise ReadError(
                self.path,
                "this is a CSV export of preCICE's profiling, whose durations are cut to whole numbers: "
                "read the rank files or profiling.db instead",
            )

    def _filter(self) -> None:
        condition = self.options.where
        if not condition:
            return
        expression = Expression(condition)
        self._require(sorted(expression.names), "where")
        columns = {name: self._parameter(name).to_numpy() for name in expression.names}
        mask = np.broadcast_to(expression(columns), (len(self.cells),)).astype(np.bool_)
        if not mask.any():
            raise ReadError(self.path, f"no row is left by where={condition!r}")
        self.cells, self.lines = self.cells[mask].reset_index(drop=True), self.lines[mask]
        self._settled = {name for name in expression.names if self.cells[name].nunique() == 1}

    def _bookkeeping(self) -> dict[str, str]:
        """Return bookkeeping name → column."""
        asked = {self.options.time, self.options.solver, *self.options.quantities, *self.options.parameters}
        found: dict[str, str] = {}
        if self.options.status is not None:
            self._require([self.options.status], "status")
            found["status"] = self.options.status
        for column in self.cells.columns:
            role = words.ALIASES.get(column.strip().lower())
            if not role or role in found or column in asked or column in self._settled:
                continue
            if role == "step" and not are_whole(self._numbers(column), below=NUMBERS):
                continue  # the size of a time step, say
            found[role] = column
        self._taken |= set(found.values())
        if "step" in found:
            self.notes.append(
                f"{found['step']!r} numbers the steps of a run (if it was varied: name it in parameters=, --parameters)"
            )
        if "machine" in found and self.cells[found["machine"]].nunique() > 1:
            several = ", ".join(map(str, pd.unique(self.cells[found["machine"]])))
            self.notes.append(
                f"runs of several machines ({several}) are read together: choose one with where= (--where)"
            )
        return found

    def _time(self) -> tuple[str, str]:
        column = self.options.time
        if column is not None:
            self._require([column], "time")
        else:
            column = self._guess_time()
        known = words.measured(column)
        told = (known.unit if known else "") or words.unit_of_time(column)
        unit = words.canonical_unit(self.options.unit or "") or told or "s"
        if base_unit(unit) != "s":
            raise ReadError(self.path, f"the time's unit must be a time or a rate, but got {unit!r}")
        self._taken.add(column)
        assumed = "" if self.options.unit or told else " (assumed: pass unit=, --unit, otherwise)"
        if unit in SECONDS_PER or unit.startswith("ticks@"):
            self.notes.append(f"{column!r} is the time in {unit}{assumed}")
        else:
            self.notes.append(f"{column!r} is a rate in {unit}: seconds are those of one unit of work")
        return column, unit

    def _guess_time(self) -> str:
        free = [c for c in self.cells.columns if c not in self._taken and c not in self.options.parameters]
        found = words.time_candidates(c for c in free if c not in self.options.quantities)
        if len(found) == 1:
            return found[0].column
        shown = ", ".join(map(repr, self.cells.columns))
        why = (
            f"{' and '.join(repr(m.column) for m in found)} may each be the time"
            if found
            else "no column's name says that it is a time"
        )
        wide = (
            "; columns of each solver are told apart by names: a_cores, a_time_ms, b_cores, b_time_ms" if found else ""
        )
        raise ReadError(
            self.path,
            f"{why}: pass time= (--time) with one of the columns {shown}, and unit= (--unit) if it isn't in seconds"
            f"{wide}",
        )

    def _quantities(self) -> dict[str, tuple[str, str]]:
        """Return column → (quantity, unit)."""
        given = self.options.quantities
        self._require(list(given), "quantities")
        found = {column: (column, words.canonical_unit(unit)) for column, unit in given.items()}
        asked = {*self.options.parameters, *self._settled, self.options.solver}
        for column in self.cells.columns:
            known = words.measured(column)
            if known is None or column in asked or column in self._taken or column in found:
                continue
            clash = known.base in self.cells.columns or known.base in ("seconds", *words.ALIASES)
            found[column] = (column if clash else known.base, known.unit or "s")
            self.notes.append(f"{column!r} is another measured quantity in {known.unit or 's'}")
        self._taken |= set(found)
        return found

    def _solver(self) -> str | None:
        column = self.options.solver
        if column is not None:
            self._require([column], "solver")
        else:
            column = self._guess_solver()
            if column is not None:
                self.notes.append(f"{column!r} names the solvers")
        if column is not None:
            self._taken.add(column)
        return column

    def _guess_solver(self) -> str | None:
        free = [c for c in self._free() if c not in self.options.parameters]
        labels = [c for c in free if not self._is_numeric(c) and c not in self._settled]
        for wanted in words.SOLVER_NAMES:
            for column in labels:
                if column.strip().lower() == wanted and (wanted != "solver" or labels == [column]):
                    return column
        return None

    def _parameters(self) -> list[str]:
        asked = self.options.parameters
        if asked:
            self._require(list(asked), "parameters")
            left = [c for c in self._free() if c not in asked and c]
            if left:
                self.notes.append(f"left out: {', '.join(left)}")
            return list(asked)
        chosen = [c for c in self._free() if c and c.lower() not in words.STATISTICS and c not in self._settled]
        dropped = [c for c in self._free() if c and c not in chosen]
        if dropped:
            self.notes.append(f"left out: {', '.join(dropped)}")
        if not chosen and not self.options.constants:
            taken = ", ".join(repr(c) for c in self.cells.columns if c)
            raise ReadError(
                self.path,
                f"no column is left to be a parameter (what was varied between runs); the columns are {taken}: pass "
                "parameters= (--parameters), or constants= with what the file doesn't say, as in {'cores': 512} "
                "(--constant cores=512)",
            )
        self.notes.append(f"parameters: {', '.join([*chosen, *self.options.constants])}")
        return chosen

    def _free(self) -> list[str]:
        named = [c for c in self.cells.columns if not _UNNAMED.fullmatch(c) or c in self.options.parameters]
        return [c for c in named if c not in self._taken]

    def _require(self, names: list[str], option: str) -> None:
        missing = [name for name in names if name not in self.cells.columns]
        if missing:
            typed = {"quantities": "--quantity", "status": "-O status"}.get(option, f"--{option}")
            raise ReadError(
                self.path,
                f"{option}= ({typed}) names the column {missing[0]!r}, but there are only "
                f"{', '.join(map(repr, self.cells.columns))}{did_you_mean(missing[0], self.cells.columns)}",
            )

    # ---- cells to values -----------------------------------------------------------------------------------

    def _numbers(self, name: str) -> NDArray[np.float64]:
        return numbers(self.path, name, self.cells[name], self.lines, decimal=self.options.decimal)

    def _is_numeric(self, name: str) -> bool:
        return name not in self.options.categories and bool(np.isfinite(self._numbers(name)).any())

    def _parameter(self, name: str) -> pd.Series[Any]:
        """Return a column as whole numbers, numbers or labels; blank cells stay NaN or empty."""
        cells = self.cells[name]
        if name in self.options.categories:
            return cells
        values = self._numbers(name)
        blank = (cells == "").to_numpy()
        wrong = ~np.isfinite(values) & ~blank
        if wrong.any():
            self._complain_if_mostly_numeric(name, wrong, blank)
            return cells
        return pd.Series(values.astype(np.int64) if are_whole(values) else values, index=cells.index)

    def _check_counts(self, name: str) -> None:
        """Refuse cores, ranks, … that are no whole numbers above zero, unless the column holds labels."""
        if name.strip().lower() not in words.COUNTS or name in self.options.categories:
            return
        values, filled = self._numbers(name), (self.cells[name] != "").to_numpy()
        if np.isfinite(values).sum() * 2 < filled.sum():
            return
        fine = np.isfinite(values) & (values >= 1) & (values == np.round(values))
        wrong = np.flatnonzero(~fine & filled)
        if len(wrong):
            row = int(wrong[0])
            reason = f"{name!r} must be a whole number above zero, but got {self.cells[name].iloc[row]!r}"
            raise self._at(row, f"{reason}: correct it, or choose rows with where= (--where)")

    def _complain_if_mostly_numeric(self, name: str, wrong: NDArray[np.bool_], blank: NDArray[np.bool_]) -> None:
        filled = int((~blank).sum())
        if filled >= _ONE_IN and wrong.sum() * _ONE_IN <= filled:
            row = int(np.flatnonzero(wrong)[0])
            raise self._at(
                row,
                f"a number was expected in column {name!r}, as in most rows, but got {self.cells[name].iloc[row]!r}: "
                f"correct it, or pass categories=[{name!r}] (-O categories={name}) if the column holds labels",
            )

    def _times(self, column: str, unit: str, status_column: str | None) -> tuple[pd.Series[Any], pd.Series[Any]]:
        cells = self.cells[column]
        values = self._numbers(column)
        status = self._status(status_column)
        unmeasured = np.array(
            [cell.lower() in words.STATUS_WORDS or cell.lower() in words.NO_TIME for cell in cells], dtype=np.bool_
        )
        if status_column is None and unmeasured.any():
            texts = [cell.lower() for cell in cells[unmeasured]]
            status[unmeasured] = ["timed out" if words.STATUS_WORDS.get(t) == "timed out" else "failed" for t in texts]
            self.notes.append(f"{len(texts)} rows without a time are kept as failed runs")
        bad = (status == "ok") & ~((values > 0) & np.isfinite(values))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise self._at(
                row,
                f"the time in column {column!r} must be a number above 0, but got {cells.iloc[row]!r}: "
                "correct it, or mark the run as failed in a column 'status'",
            )
        seconds = np.where(status == "ok", to_base(np.where(status == "ok", values, 1.0), unit), np.nan)
        return pd.Series(status, index=cells.index), pd.Series(seconds, index=cells.index)

    def _status(self, column: str | None) -> NDArray[np.object_]:
        if column is None:
            return np.full(len(self.cells), "ok", dtype=object)
        found = [words.STATUS_WORDS.get(cell.lower()) for cell in self.cells[column]]
        if None in found:
            row = found.index(None)
            raise self._at(
                row,
                f"the status in column {column!r} must be ok, failed or timed out, "
                f"but got {self.cells[column].iloc[row]!r}: correct it, or choose rows with where= (--where)",
            )
        return np.array(found, dtype=object)

    def _keep_books(
        self, frame: pd.DataFrame, book: Mapping[str, str], parameters: list[str], solver: str | None
    ) -> None:
        for role in ("run", "machine", "when"):
            if role in book:
                frame[role] = self.cells[book[role]]
        frame["source"] = str(self.path)
        repetition, steps = self._repetition(book.get("repetition")), self._steps(book.get("step"))
        number = repetition if steps is None else steps
        if number is not None:
            frame["repetition"] = number
        if "run" not in book:
            keys = frame[[*parameters, *(role for role in ("machine",) if role in book)]].copy()
            for extra in (solver, book.get("repetition")):
                if extra is not None:
                    keys[f"{extra} of the file"] = self.cells[extra]
            frame["run"] = name_runs(self.path.stem, self.lines, keys, steps)
        elif repetition is not None and steps is not None:
            frame["run"] = [f"{run}:{again}" for run, again in zip(frame["run"], repetition, strict=True)]

    def _repetition(self, column: str | None) -> NDArray[np.int64] | None:
        if column is None:
            return None
        values = self._numbers(column)
        if not are_whole(values, below=NUMBERS):
            raise ReadError(self.path, f"the column {column!r} must hold the number of the repetition")
        return values.astype(np.int64)

    def _steps(self, column: str | None) -> NDArray[np.int64] | None:
        """Return the number of the step of each row, from its column or an unnamed index."""
        if column is not None:
            return self._numbers(column).astype(np.int64)
        unnamed = [c for c in self.cells.columns if _UNNAMED.fullmatch(c) and c not in self.options.parameters]
        if not unnamed:
            return None
        values = self._numbers(unnamed[0])
        if not number_steps(values):
            self.notes.append("the unnamed first column is an index and left out")
            return None
        self.notes.append("the unnamed first column numbers the repetitions (steps of one run)")
        return values.astype(np.int64)

    def _split(
        self, frame: pd.DataFrame, solver: str | None, parameters: list[str], units: Mapping[str, str]
    ) -> dict[str, Runs]:
        if solver is None:
            return {"": runs_of(frame, parameters, units, self._at)}
        names = self.cells[solver]
        blank = np.flatnonzero((names == "").to_numpy())
        if len(blank):
            raise self._at(int(blank[0]), f"the column {solver!r} must name the solver of every row")
        return {name: runs_of(frame[names == name], parameters, units, self._at) for name in pd.unique(names)}

    def _at(self, row: int, reason: str) -> ReadError:
        return ReadError(self.path, reason, line=int(self.lines[row]))
