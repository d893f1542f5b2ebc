"""Interpretation of a table of text: it gives each column its role, and builds the runs.

`TableReader` uses it. Every guess is reported as a note; every error message names the line.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables import columns as words
from evenly.readers.tables.blocks import refuse_second_table
from evenly.readers.tables.bookkeeping import is_unnamed, keep_books
from evenly.readers.tables.clock_times import time_of_day
from evenly.readers.tables.headings import rows_below_headings
from evenly.readers.tables.identifiers import ON_SOME_ROWS, identifies, is_of_remarks
from evenly.readers.tables.lone_work import refuse_lone_work
from evenly.readers.tables.number_texts import are_speed_ups
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.other_counts import counts_workers, refuse_other_counts, refuse_wished_counts
from evenly.readers.tables.own_list import OWN, own_list
from evenly.readers.tables.quantities import find_quantities, free_name, measured_in
from evenly.readers.tables.ratios import refuse_contradiction
from evenly.readers.tables.refusals import (
    refuse_choices,
    refuse_few_cores,
    refuse_marks,
    refuse_other_timings,
    refuse_remarks,
    refuse_summaries,
    refuse_totals,
)
from evenly.readers.tables.remarks import plain_text, quoted_texts, unused_lines
from evenly.readers.tables.repetitions import NUMBERS, are_whole, is_running_clock
from evenly.readers.tables.roles import (
    A_WISH,
    NAMED,
    ONE_VALUE,
    Column,
    Role,
    is_count,
    is_limit,
    is_memory,
    is_outcome,
    is_result,
    is_statistic,
    is_usage,
)
from evenly.readers.tables.rows import runs_of, status_and_seconds
from evenly.readers.tables.several_units import refuse_several_units
from evenly.readers.tables.simulated_rates import rate_beside
from evenly.readers.tables.state_column import find_states, stopped_at_limit
from evenly.readers.tables.states import name_key
from evenly.readers.tables.time_column import find_time
from evenly.readers.tables.time_relations import follows_response, parts_of, statistics_of_the_time
from evenly.readers.tables.values import Values
from evenly.runs.count_names import kind_of
from evenly.runs.runs import Runs
from evenly.runs.units import SECONDS_PER, base_unit
from evenly.space.expressions import Expression, quoted

__all__ = ["Interpretation"]

#: What begins with a number, also with one that is about so much.
_NUMBER = re.compile(r"\W*\d")


def _is_sibling(column: str, time: str) -> bool:
    """Tell whether a column is named as that of the time, but for a number: ``512^3`` beside ``256^3``."""
    alike = re.sub(r"\d+", "0", column) == re.sub(r"\d+", "0", time)
    return alike and column != time and any(map(str.isdigit, time))


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
    units : mapping of str to str, optional
        The units that stood in the cells of a column or in a row below its name, see `with_cell_units`.
    semicolons : bool
        Whether semicolons stand between the cells, as where commas are decimal marks.
    typed : bool
        Whether the file tells numbers from text, see `Cells`.
    around : sequence of str
        The lines above and below the table.
    headings : mapping of int to sequence of str, optional
        The lines of text right above rows, see `Values`.
    is_wide : bool
        Whether each solver has columns of its own in the file.

    Attributes
    ----------
    notes : list of str
        What was guessed.
    columns : list of Column
        The role of each column, once `runs` was called.

    Examples
    --------
    >>> cells = pd.DataFrame({"cores": ["8", "16"], "SYPD": ["2", "4"]})
    >>> meaning = Interpretation(TableOptions(), Path("scaling.csv"), cells, np.array([2, 3]))
    >>> meaning.runs()[""].values
    array([43200., 21600.])
    >>> [(column.name, column.role) for column in meaning.columns]
    [('cores', 'parameter'), ('SYPD', 'time')]
    """

    def __init__(
        self,
        options: TableOptions,
        path: Path,
        cells: pd.DataFrame,
        lines: NDArray[np.int64],
        units: Mapping[str, str] | None = None,
        *,
        semicolons: bool = False,
        typed: bool = False,
        around: Sequence[str] = (),
        headings: Mapping[int, tuple[str, ...]] = MappingProxyType({}),
        is_wide: bool = False,
    ) -> None:
        self.options = options
        self._is_wide = is_wide
        self.path = path
        self.values = Values(
            options,
            path,
            cells,
            lines,
            units or {},
            semicolons=semicolons,
            typed=typed,
            around=around,
            headings=headings,
        )
        self.notes: list[str] = []
        self._roles: dict[str, Column] = {}
        self._settled: set[str] = set()  # columns that `where` left with one value
        self._quantities_of_own: set[str] = set()  # columns that evenly itself measured
        self._labels_of_own: list[str] = []  # parameters of its list, whose empty labels are labels

    @property
    def cells(self) -> pd.DataFrame:
        """The cells of the rows that are read."""
        return self.values.cells

    @property
    def columns(self) -> list[Column]:
        """The roles of the columns, in the order of the file; parameters have the names that they have as such."""
        found = [self._roles[name] for name in self.cells.columns if name in self._roles]
        return [dataclasses.replace(one, name=free_name(one.name)) if one.role == "parameter" else one for one in found]

    def runs(self) -> dict[str, Runs]:
        """Return the runs per solver.

        Raises
        ------
        ReadError
            If the time or the parameters can't be told, or a cell isn't what it must be.
        """
        self._refuse_exports()
        self._filter()
        self._own_list()
        self._refuse_merged_cells()
        status = self._states()
        book = self._bookkeeping()
        time, unit = self._time()
        seconds = self.values.seconds(time, unit)
        stopped = self._stopped(seconds, time, unit)
        failed = stopped if status is None else stopped | (status != "ok")
        refuse_marks(self.values, time, seconds, failed)
        refuse_totals(self.values)
        measured = ~failed & np.isfinite(seconds) & (seconds > 0)
        refuse_contradiction(self.values, time, seconds, measured)
        self._days_by_rate(time, seconds, measured)
        quantities = self._quantities(unit)
        solver = self._solver()
        parameters = self._parameters(seconds, seconds / SECONDS_PER.get(unit, 1.0))
        refuse_second_table(self.values, [*parameters, *([solver] if solver else [])], seconds, failed)
        below = rows_below_headings(self.values, parameters, solver, seconds, measured)
        if not self.options.parameters:
            refuse_remarks(self.values, self._roles, parameters, seconds, failed | ~(seconds > 0))
            refuse_choices(self.values, self._roles, parameters, seconds)
            refuse_few_cores(self.values, parameters)
            refuse_other_timings(self.values, parameters, seconds)
            refuse_lone_work(self.values, parameters, solver, measured)
            refuse_several_units(self.values, time, parameters, solver, seconds, measured)
        self.notes += self.values.said_of(parameters)
        for name in parameters:
            self.values.check_counts(name)
        frame = pd.DataFrame(
            {free_name(name): self.values.parameter(name) for name in parameters}, index=self.cells.index
        )
        self.notes += [
            f"{name!r} is the parameter {free_name(name)!r} here: evenly uses that name itself"
            for name in parameters
            if free_name(name) != name
        ]
        for name, value in self.options.constants.items():
            frame[name] = value
        frame["status"], frame["seconds"], note = status_and_seconds(self.values, time, seconds, status, stopped)
        self.notes += [note] if note else []
        for column, (name, its_unit) in quantities.items():
            frame[name] = measured_in(self.values, column, its_unit)
        inputs = [*map(free_name, parameters), *self.options.constants]
        if note := keep_books(self.values, frame, book, inputs, solver):
            self.notes.append(note)
        if "step" in book and is_running_clock(frame):
            last = f"{quoted(book['step'])} == …"
            raise ReadError(
                self.path,
                f"{time!r} grows from step to step in all runs, as a clock does that runs from the start: choose the "
                f"last step of each run with where= ({self.options.with_where(last)}), or give the time of each step",
            )
        counts = {text for name in parameters if kind_of(name) for text in self.values.texts(name)}
        told = {text for texts in self.values.headings.values() for text in texts} if below else set()
        others = [line for line in self.values.around if plain_text(line) not in told]
        self.notes += filter(None, [below, unused_lines(others, counts)])
        units = {name: base_unit(its_unit) for name, its_unit in quantities.values()}
        return self._split(frame, solver, inputs, units)

    def _take(self, column: str, role: Role, why: str, unit: str = "") -> None:
        self._roles[column] = Column(column, role, why, unit)

    # ---- roles of the columns ------------------------------------------------------------------------------

    def _refuse_exports(self) -> None:
        names = {name.lower() for name in self.cells.columns}
        if {"participant", "rank", "event", "duration"} <= names and self.options.time is None:
            raise ReadError(
                self.path,
                "this is a CSV export of preCICE's profiling, whose durations are cut to whole numbers: "
                "read the rank files or profiling.db instead",
            )

    def _own_list(self) -> None:
        """Give the columns of a list of runs that evenly itself saved the roles that it knows."""
        found = own_list([*map(str, self.cells.columns)])
        if found is None:
            return
        self._quantities_of_own = {*found.quantities}
        self._labels_of_own = [name for name in found.parameters if not self.values.is_numeric(name)]
        free = [column for column in self._free() if column not in self._asked()]
        for column in free:
            if column in found.told:
                self._take(column, "left out", OWN)
        for column in free:
            if column in found.parameters:
                self._take(column, "parameter" if self.cells[column].nunique() > 1 else "constant", OWN)

    def _asked(self) -> set[str | None]:
        """Return the columns to which the user gave a role."""
        return {self.options.time, self.options.solver, *self.options.quantities, *self.options.parameters}

    def _filter(self) -> None:
        condition = self.options.where
        if not condition:
            return
        expression = Expression(condition)
        self.values.keep(self.values.holding(expression))
        self._settled = {name for name in expression.names if self.cells[name].nunique() == 1}
        for name in self._settled:
            self._take(name, "constant", "where= (--where) leaves one value")

    def _refuse_merged_cells(self) -> None:
        """Refuse labels of which each stands above empty cells, as merged cells come out of a spreadsheet."""
        if self.options.parameters:
            return
        for column in self.cells.columns:
            texts = self.values.texts(column)
            if "" not in texts or column in self._labels_of_own:
                continue
            labels = [row for row, text in enumerate(texts) if text]
            above = sum(row + 1 < len(texts) and not texts[row + 1] for row in labels)
            if (
                above < 2
                or labels[0]
                or 2 * above < len(labels)
                or 2 * len(labels) > len(texts)
                or self.values.is_numeric(column)
                or self._identifies(column)
            ):
                continue
            raise self.values.at(
                labels[0],
                f"{texts[labels[0]]!r} in column {column!r} stands above empty cells: fill them in if it holds there, "
                "too, or name the other columns that were varied in parameters= (--parameters)",
            )

    def _states(self) -> NDArray[np.object_] | None:
        """Return the status of each row, and leave out the rows of jobs that haven't ended, or were lost."""
        given = self.options.status
        if given is not None:
            self.values.require([given], "status")
        found = find_states(self.values, given, {*self._asked(), *self._settled, *self._roles})
        if found is None:
            return None
        self._take(found.name, "state", "its name and its values")
        for column in found.others:
            self._take(column, "state", f"its values, but {found.name!r} is taken")
        self.notes += found.notes
        ended = ~np.isin(found.status.astype(str), ("running", "lost"))
        if not ended.all():
            self.values.keep(ended)
        return np.asarray(found.status[ended])

    def _bookkeeping(self) -> dict[str, str]:
        """Return bookkeeping name → column."""
        asked, found = self._asked(), dict[str, str]()
        for column in self.cells.columns:
            role = words.ALIASES.get(column.strip().lower()) or words.ALIASES.get(name_key(column))
            if not role or role in found or column in asked or column in self._roles:
                continue
            if role == "step" and not are_whole(self.values.numbers(column), below=NUMBERS):
                continue  # the size of a time step, say
            found[role] = column
            what: Role = "repetition" if role in ("repetition", "step") else "identifier"
            self._take(column, what, "its name")
        at = time_of_day({str(name): self.values.texts(name) for name in self.cells.columns})
        if at and at not in asked and at not in self._roles:
            self._take(at, "identifier", "the time of day, behind a date")
            self.notes.append(f"{at!r} is the time of day, behind the date (if it is the time of a run: --time {at})")
        for role in ("run", "repetition"):
            if role in found:
                refuse_summaries(self.values, found[role])
        if "step" in found:
            self.notes.append(
                f"{found['step']!r} numbers the steps of a run (if it was varied: name it in parameters=, --parameters)"
            )
        if "machine" in found:
            self._check_machines(found["machine"])
        return found

    def _check_machines(self, column: str) -> None:
        """Ask about runs of several machines, unless parameters are named; hosts may be nodes of one machine."""
        names = [str(name) for name in pd.unique(self.cells[column])]
        if len(names) < 2:
            return
        several, chosen = ", ".join(names), f"{quoted(column)} == {json.dumps(names[0], ensure_ascii=False)}"
        are_nodes = "host" in column.lower() or len({re.sub(r"\d+", "", name) for name in names}) == 1
        if not (self.options.parameters or are_nodes):
            raise ReadError(
                self.path,
                f"the runs are of several machines ({several}): choose one with where= "
                f"({self.options.with_where(chosen)}); or name the parameters with parameters= (--parameters), with "
                f"{column!r} to learn what the machine does, or without it if all are alike",
            )
        self.notes.append(f"runs of several machines ({several}) are read together: choose one with where= (--where)")

    def _time(self) -> tuple[str, str]:
        """Return the column of the time and its unit."""
        column = self.options.time
        if column is not None:
            self.values.require([column], "time")
        taken = (*self.options.parameters, *self.options.quantities)
        found = find_time(self.values, [c for c in self._free() if c not in taken])
        self.notes += found.notes
        for used in found.spans:
            self._take(used, "left out", "the time is taken from it")
        self._take(found.name, "time", found.why, found.shown_unit)
        return found.name, found.unit

    def _days_by_rate(self, time: str, seconds: NDArray[np.float64], measured: NDArray[np.bool_]) -> None:
        """Let a rate beside the time tell of how many simulated days it is."""
        beside = rate_beside(self.values, time, seconds, measured)
        if beside is None:
            return
        if self._is_wide or self.options.time is None:
            beside.refuse_other_lengths(is_wide=self._is_wide)
        if self.options.parameters:
            return
        days, said = beside.of_equal_lengths()
        self.notes += [said] if said else []
        self._roles[time] = dataclasses.replace(self._roles[time], days=days)

    def _stopped(self, seconds: NDArray[np.float64], time: str, unit: str) -> NDArray[np.bool_]:
        """Return which runs a limit stopped; its column is nothing else then, unless the user names it."""
        stopped = stopped_at_limit(self.values, seconds, time, unit)
        if stopped is None:
            return np.zeros(len(seconds), dtype=np.bool_)
        self.notes.append(stopped.said)
        if stopped.limit not in (*self.options.parameters, *self.options.quantities):
            self._take(stopped.limit, "left out", "a limit at which runs were stopped")
        return stopped.rows

    # ---- the other columns ---------------------------------------------------------------------------------

    def _quantities(self, unit: str) -> dict[str, tuple[str, str]]:
        """Return column → (quantity, unit); a time without a unit has that of the time."""
        given = self.options.quantities
        self.values.require(list(given), "quantities")
        found = find_quantities(self.values, unit, {*self.options.parameters, self.options.solver or "", *self._roles})
        told: dict[str, list[str]] = {}
        for column, (_, its_unit) in found.items():
            why = "named in quantities= (--quantity)" if column in given else "measured, by its name or values"
            self._take(column, "quantity", why, its_unit)
            if column not in given:
                told.setdefault(its_unit, []).append(repr(column))
        for its_unit, names in told.items():
            are = "are other measured quantities" if len(names) > 1 else "is another measured quantity"
            self.notes.append(f"{', '.join(names)} {are} in {its_unit}")
        return found

    def _solver(self) -> str | None:
        column = self.options.solver
        if column is not None:
            self.values.require([column], "solver")
            self._take(column, "solver", "named in solver= (--solver)")
            return column
        column = self._guess_solver()
        if column is not None:
            self.notes.append(f"{column!r} names the solvers")
            self._take(column, "solver", "its name, and it holds labels")
        return column

    def _guess_solver(self) -> str | None:
        free = [c for c in self._free() if c not in self.options.parameters]
        labels = [
            c for c in free
            if not self.values.is_numeric(c) and not self._identifies(c) and self.cells[c].nunique() > 1
        ]  # fmt: skip
        for wanted in words.SOLVER_NAMES:
            for column in (c for c in free if not self.values.is_numeric(c)):
                if column.strip().lower() != wanted:
                    continue
                if wanted not in words.OF_METHODS or not set(labels) - {column}:
                    return column
                self.notes.append(
                    f"{column!r} is taken for a choice of method, a parameter, beside "
                    f"{', '.join(repr(c) for c in labels if c != column)}: pass solver={column!r} "
                    f"({option_text('--solver', column)}) if it names the parts of a coupled run"
                )
        own = [c for c in labels if {re.sub(r"[\W_]", "", text.lower()) for text in self.cells[c]} <= words.COMPONENTS]
        return own[0] if len(own) == 1 else None

    def _identifies(self, column: str) -> str:
        varied = any(
            self.cells[c].nunique() > 1 and self.values.is_numeric(c) for c in self._free() if c != column
        )  # fmt: skip
        counts = (self.values.numbers(c) for c in self.cells.columns if kind_of(c) and self.values.is_numeric(c))
        return identifies(column, self.values.texts(column), self.values.is_numeric(column), varied, counts)

    def _parameters(self, seconds: NDArray[np.float64], times: NDArray[np.float64]) -> list[str]:
        asked = self.options.parameters
        self.values.require(list(asked), "parameters")
        free = [c for c in self._free() if c]
        numeric = {c: self.values.numbers(c) for c in free if self.values.is_numeric(c)}
        statistics = statistics_of_the_time(numeric, seconds)
        judged = {c: self._judge(c, times, statistics) for c in free if c not in asked}
        judged |= {c: (one.role, OWN) for c, one in self._roles.items() if one.why == OWN and one.role != "left out"}
        # A phase that takes most of the time is a function of it.
        open_ = [
            c
            for c, (role, why) in judged.items()
            if (role in ("parameter", "constant") or why.startswith("a function of")) and self.values.is_numeric(c)
        ]
        others = [c.name for c in self._roles.values() if c.role == "quantity" and self.values.is_numeric(c.name)]
        for part in parts_of({c: self.values.numbers(c) for c in (*open_, *others)}, times):
            if part in judged:
                judged[part] = ("outcome", "a part of the time")
        for column, (role, why) in judged.items():
            self._take(column, "left out" if asked and role == "parameter" else role, why)
        for column in asked:
            self._take(column, "parameter", NAMED)
        chosen = list(asked) or [c for c, (role, _) in judged.items() if role in ("parameter", "constant")]
        self._tell_left_out([c for c in judged if c not in chosen], told=bool(asked))
        self._tell_remarks()
        if not asked:
            varied = [*([c for c in chosen if judged[c][0] == "parameter"] or chosen), *self.options.constants]
            refuse_wished_counts(self.values, [c for c, (_, why) in judged.items() if why == A_WISH], varied)
            refuse_other_counts(self.values, [c for c in varied if c in chosen])
            self.notes.append(f"parameters: {', '.join(varied)}")
        if not chosen and not self.options.constants:
            raise ReadError(self.path, self._no_parameter())
        return chosen

    def _judge(self, column: str, times: NDArray[np.float64], statistics: Collection[str]) -> tuple[Role, str]:
        """Return the role of a column that is nothing else yet, and why; some are `statistics` of the time."""
        if is_limit(column):
            return "left out", A_WISH
        if column in self._quantities_of_own:
            return "outcome", OWN
        if is_usage(column, self.cells.columns):
            return "outcome", "what a job used, as Grid Engine accounts it"
        if _is_sibling(column, self.options.time or ""):
            return "outcome", "named as the time, but for a number"
        if why := self._identifies(column):
            return "identifier", why
        if self.values.is_numeric(column):
            counts = {c: self.values.numbers(c) for c in self._free() if is_count(c) and self.values.is_numeric(c)}
            numbers = self.values.numbers(column)
            if column in statistics:
                return "outcome", "a statistic, and evenly computes its own"
            if why := is_outcome(column, numbers) or follows_response(column, numbers, times, counts):
                return "outcome", why
            if are_speed_ups([*filter(None, self.values.texts(column))]):
                return "outcome", "its values are speed-ups"
        elif is_statistic(column) and self.values.are_durations(column):  # 1.5 s, 652 ms
            return "outcome", "a statistic, and evenly computes its own"
        elif (is_result(column) or is_memory(column)) and 2 * sum(
            map(bool, map(_NUMBER.match, self.values.texts(column)))
        ) >= len(self.cells):
            return "outcome", "its name is that of a result"
        distinct = self.cells[column].unique().tolist()
        if len(distinct) == 1:
            return ("constant", f"{ONE_VALUE}{distinct[0]}") if distinct[0] else ("left out", "it is empty")
        blank, kind = int((self.cells[column] == "").sum()), "numbers" if self.values.is_numeric(column) else "labels"
        if kind == "labels" and 2 * blank >= len(self.cells) and not any(c.role == "solver" for c in self.columns):
            return "left out", f"no value in {blank} of {len(self.cells)} rows"
        return "parameter", f"its {kind} vary"

    def _tell_left_out(self, columns: Sequence[str], *, told: bool) -> None:
        """Say which columns are no parameters: outcomes and identifiers, since they could have been."""
        by_role: dict[str, list[str]] = {}
        if wished := [c for c in columns if self._roles[c].why == A_WISH and counts_workers(c)]:
            tell = "tells" if len(wished) == 1 else "tell"
            self.notes.append(f"left out: {', '.join(wished)}, which {tell} what was asked for, not what runs had")
        for column in (c for c in columns if c not in wished):
            by_role.setdefault(self._roles[column].role, []).append(column)
        for role, names in by_role.items():
            results = [c for c in names if "statistic" not in self._roles[c].why and not is_of_remarks(c)]
            hint = f" ({role}s; if they were chosen before the runs, name them: parameters=, --parameters)"
            self.notes.append(
                f"left out: {', '.join(names)}{hint if role != 'left out' and results and not told else ''}"
            )

    def _tell_remarks(self) -> None:
        """Quote the remarks on rows, the most frequent ones first: they may tell that some runs are no runs."""
        for column in (name for name, one in self._roles.items() if one.role in ("identifier", "left out")):
            cells = self.values.texts(column)
            are_remarks = is_of_remarks(column) or self._roles[column].why == ON_SOME_ROWS
            found = Counter(filter(None, cells)) if are_remarks else self._words_among_numbers(column)
            texts = [text for text, _ in found.most_common()]
            if len(texts) > 1 or (texts and found.total() < len(cells)):
                self.notes.append(f"remarks that were not used: {quoted_texts(texts)}")

    def _words_among_numbers(self, column: str) -> Counter[str]:
        """Return the words in place of dates or numbers that only name rows, as ``planned``."""
        cells = list(filter(None, self.values.texts(column)))
        words = [cell for cell in cells if not re.search(r"\d", cell)]
        are_others_numbers = all(cell[0].isdigit() for cell in cells if re.search(r"\d", cell))
        return Counter(words if len(words) < len(cells) and are_others_numbers else ())

    def _no_parameter(self) -> str:
        taken = ", ".join(f"{c.name!r} ({c.role})" for c in self.columns if c.name)
        return (
            f"no column is left to be a parameter (what was varied between runs); the columns are {taken}: pass "
            "parameters= (--parameters), or constants= with what the file doesn't say, as in {'cores': 512} "
            "(--constant cores=512)"
        )

    def _free(self) -> list[str]:
        named = [c for c in self.cells.columns if not is_unnamed(c) or c in self.options.parameters]
        return [c for c in named if c not in self._roles]

    # ---- runs ----------------------------------------------------------------------------------------------

    def _split(
        self, frame: pd.DataFrame, solver: str | None, parameters: list[str], units: Mapping[str, str]
    ) -> dict[str, Runs]:
        labels = [*map(free_name, self._labels_of_own)]
        if solver is None:
            return {"": runs_of(frame, parameters, units, self.values.at, labels)}
        names = self.cells[solver]
        blank = np.flatnonzero((names == "").to_numpy())
        if len(blank):
            raise self.values.at(int(blank[0]), f"the column {solver!r} must name the solver of every row")
        return {
            name: runs_of(frame[names == name], parameters, units, self.values.at, labels) for name in pd.unique(names)
        }
