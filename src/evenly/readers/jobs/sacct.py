"""Slurm's accounting as ``sacct --parsable2`` or ``--parsable`` prints it: one row per job and step, with bars."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from evenly.errors import InputError, ReadError, did_you_mean
from evenly.readers.files import UNENDED, head, is_unended, lines
from evenly.readers.jobs.accounting import USED, accounted, are_columns
from evenly.readers.jobs.job_reader import WANTED, JobReader
from evenly.readers.jobs.jobs import Jobs
from evenly.readers.registry import Skipped, name_list
from evenly.readers.slurm_texts import STATES, dates, durations, state

__all__ = ["SacctReader"]

_DELIMITERS = ("|", "\t", ",", ";")
_ID = re.compile(r"\d+(_(\d+|\[.*\]))?(\+\d+)?(\.\w+)?")
#: Fewer columns without names are no accounting.
_FEWEST = 5
#: How many lines may stand above the names of the columns, as the command that printed them.
_ABOVE = 10
#: The columns of Open XDMoD's job files, which have no names, with and without the quality of service.
_XDMOD = [
    "jobid", "jobidraw", "cluster", "partition", "qos", "account", "group", "gid", "user", "uid", "submit",
    "eligible", "start", "end", "elapsed", "exitcode", "state", "nnodes", "ncpus", "reqcpus", "reqmem", "reqtres",
    "alloctres", "timelimit", "nodelist", "jobname",
]  # fmt: skip
_LAYOUTS = (_XDMOD, [name for name in _XDMOD if name != "qos"])


class SacctReader(JobReader):
    r"""Reads what ``sacct -P`` prints, with or without names of the columns.

    Parameters
    ----------
    columns : sequence of str or str, optional
        The names of the columns of a file that doesn't name them, as they were given to ``sacct -o``.
    parameters : sequence of str or str, optional
        The columns of the job table that are parameters, see `Jobs.runs`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.txt"
    >>> _ = path.write_text("JobID|Elapsed|AllocCPUS|State\n7|00:01:02|4|COMPLETED\n8|00:00:30|8|COMPLETED\n")
    >>> SacctReader().read(path)[""]
    Runs(2 rows, 2 configurations of cores; seconds 30 to 62 s)
    """

    name: ClassVar[str] = "sacct"
    summary: ClassVar[str] = "Slurm's accounting: sacct -P, --parsable or --parsable2"

    def __init__(
        self,
        *,
        columns: Sequence[str] | str | None = None,
        parameters: Sequence[str] | str | None = None,
        where: str | None = None,
        cores_are: str | None = None,
        solver: str | None = None,
    ) -> None:
        super().__init__(parameters=parameters, where=where, cores_are=cores_are, solver=solver)
        self._columns = [name.lower() for name in name_list(columns)]
        for name in self._columns:
            if not are_columns([name, "jobid", "elapsed"]):
                raise InputError(f"columns must be names that sacct knows, but got {name!r}{did_you_mean(name, USED)}")

    def recognises(self, path: Path) -> bool:
        start = head(path)
        if start.lstrip().startswith(("{", "[")):  # sacct --json tells the command that it came from
            return False
        first = start.splitlines()
        if self._columns and _fit(first, len(self._columns)):
            return True
        return _find_names(first) is not None or _is_unnamed(first[:-1] if len(first) > 1 else first)

    def jobs(self, path: Path) -> Jobs:
        self.skipped = []
        content = lines(path)
        found = _find_names(content[:_ABOVE])
        if found is not None and self._columns:
            raise ReadError(path, "its columns have names, so that the option columns can't name them: leave it out")
        where, delimiter = found if found is not None else (-1, "|")
        if found is not None:
            names = _split(content[where], delimiter)
        else:
            names = self._columns or _unmistakable(path, content)
        unended = is_unended(content)
        table = self._table(path, content, where, names, delimiter)
        jobs = accounted(path, table)
        return Jobs(jobs.table, (*jobs.notes, *([UNENDED] if unended and not self.skipped else [])))

    def _table(self, path: Path, content: list[str], where: int, names: list[str], delimiter: str) -> pd.DataFrame:
        """Return the columns that are used, each row labelled with its line; rows with more or fewer are skipped."""
        bars = len(names) - 1
        counts = np.fromiter((line.count(delimiter) for line in content), dtype=np.int64, count=len(content))
        ends = np.fromiter((line.endswith(delimiter) for line in content), dtype=np.bool_, count=len(content))
        full = np.fromiter((bool(line) and not line.isspace() for line in content), dtype=np.bool_, count=len(content))
        if delimiter in (",", ";"):
            fits = full & (counts >= bars)  # texts in quotes may hold more
        else:
            # As sacct -p does; without names, a bar at the end may also stand before an empty last value.
            closed = (
                ends[where] if where >= 0 else bool(((ends & (counts == bars + 1)) | ~full | (counts < bars)).all())
            )
            fits = full & ((counts == bars + 1) & ends if closed else counts == bars)
        full[: where + 1] = fits[: where + 1] = False
        if where >= 0:  # tables that were put one below the other repeat the names
            again = np.fromiter((line == content[where] for line in content), dtype=np.bool_, count=len(content))
            full, fits = full & ~again, fits & ~again
        self._skip(path, content, np.flatnonzero(full & ~fits), names, delimiter)
        if not fits.any():
            raise ReadError(path, f"there is no row with {len(names)} columns below their names")
        numbers = np.flatnonzero(fits) + 1
        quoted = delimiter in (",", ";")  # its texts may hold commas
        closing = ends[fits].all() if quoted else counts[fits].max() > bars  # sacct -p ends each row with a bar
        names = [*names, *([""] if closing else [])]
        raw = "\n".join(line for line, fit in zip(content, fits, strict=True) if fit).encode()
        content.clear()
        return _parsed(path, raw, names, delimiter, numbers)

    def _skip(self, path: Path, content: list[str], wrong: np.ndarray, names: list[str], delimiter: str) -> None:
        for row in wrong.tolist():
            got = content[row].count(delimiter) + 1
            reason = f"the row has {got} values for {len(names)} columns and is left out"
            hint = ": the file may be cut off there" if got < len(names) else f": a text may hold {delimiter!r}"
            self.skipped.append(Skipped(path, reason + hint, line=row + 1))


def _parsed(path: Path, raw: bytes, names: list[str], delimiter: str, numbers: np.ndarray) -> pd.DataFrame:
    lowered = [name.strip().lower() for name in names]
    used = [name for name in lowered if name in USED]
    if len(set(used)) < len(used):
        raise ReadError(path, f"a column is named twice: {next(name for name in used if used.count(name) > 1)}")
    try:
        table = pd.read_csv(
            io.BytesIO(raw), sep=delimiter, header=None, names=[f"{i} {name}" for i, name in enumerate(lowered)],
            usecols=[f"{lowered.index(name)} {name}" for name in used], dtype="category", na_filter=False,
            quoting=0 if delimiter in (",", ";") else 3, index_col=False, skip_blank_lines=False,
        )  # fmt: skip
    except (ValueError, pd.errors.ParserError) as error:
        raise ReadError(path, f"its rows don't have {len(names)} columns each: {error}") from None
    if len(table) != len(numbers):
        raise ReadError(path, "a text in quotes goes on over several lines: print it with sacct -P")
    table.columns = [str(name).split(" ", 1)[1] for name in table.columns]
    return table.set_index(numbers)


def _split(line: str, delimiter: str) -> list[str]:
    names = line.strip().split(delimiter)
    names = names[:-1] if names[-1] == "" else names
    return [name.strip().strip('"') for name in names]


def _find_names(content: Sequence[str]) -> tuple[int, str] | None:
    """Return where the names of the columns stand, and what stands between them."""
    for row, line in enumerate(content[:_ABOVE]):
        for delimiter in _DELIMITERS:
            if delimiter in line and are_columns(_split(line, delimiter)):
                return row, delimiter
    return None


def _fit(content: Sequence[str], count: int) -> bool:
    """Return whether the rows have so many columns, as sacct -P and -p write them."""
    rows = [line for line in content if line.strip()]
    return bool(rows) and rows[0].count("|") in (count - 1, count) and count > 1


def _is_unnamed(content: Sequence[str]) -> bool:
    """Return whether rows are accounting without names: a column of job numbers, and one of states."""
    rows = [_split_row(line) for line in content if line.strip()]
    if not rows or min(map(len, rows)) < _FEWEST or len({len(row) for row in rows}) > 1:
        return False
    columns = list(zip(*rows, strict=True))
    ids = any(all(_ID.fullmatch(text) for text in column) for column in columns)
    return ids and any(all(state(text) in STATES for text in column) for column in columns)


def _split_row(line: str) -> list[str]:
    row = line.split("|")
    return row[:-1] if row[-1] == "" else row


def _unmistakable(path: Path, content: Sequence[str]) -> list[str]:
    """Return the names of columns that have none, if all rows prove them; else ask for them."""
    rows = [_split_row(line) for line in content if line.strip()]
    counts = [len(row) for row in rows]
    width = max(set(counts), key=counts.count)
    for layout in _LAYOUTS:
        if width == len(layout) and _proves([row for row in rows if len(row) == width], layout):
            return layout
    example = next(row for row in rows if len(row) == width)
    raise ReadError(
        path,
        f"its {width} columns have no names, and what they hold doesn't tell: name them all in their order, as in "
        f"--reader-option columns={','.join(_guess(text) for text in example)}, or print them anew: {WANTED}",
    )


def _guess(text: str) -> str:
    if _ID.fullmatch(text) and len(text) > 3:
        return "JobID"
    return "State" if state(text) in STATES else "?"


def _proves(rows: list[list[str]], layout: list[str]) -> bool:
    """Return whether states and job numbers are where the layout has them, and End less Start is Elapsed."""
    table = pd.DataFrame(rows, columns=layout)
    if not table["jobid"].str.fullmatch(_ID.pattern).all() or not table["state"].map(state).isin(list(STATES)).all():
        return False
    try:
        start, end, elapsed = dates(table["start"]), dates(table["end"]), durations(table["elapsed"])
    except ValueError:
        return False
    known = np.isfinite(start) & np.isfinite(end)
    same = np.abs(end - start - elapsed)[known] <= 1
    return bool(known.any() and same.mean() >= 0.99)
