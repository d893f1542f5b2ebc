"""Slurm's accounting as ``sacct`` prints it for people: columns of a fixed width, with dashes below their names."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from evenly.errors import ReadError
from evenly.readers.files import head, lines
from evenly.readers.jobs.accounting import USED, accounted, are_columns
from evenly.readers.jobs.job_reader import JobReader
from evenly.readers.jobs.jobs import Jobs

__all__ = ["SacctColumnsReader"]

_DASHES = re.compile(r"-+( +-+)+ *")
_ABOVE = 10
#: Columns whose values must be whole. Names may be cut off, and states are known by their beginning.
_EXACT = frozenset(USED) - {
    "jobid",
    "jobidraw",
    "jobname",
    "partition",
    "user",
    "account",
    "cluster",
    "state",
    "alloctres",
}


class SacctColumnsReader(JobReader):
    r"""Reads what ``sacct`` prints without ``-P``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.txt"
    >>> rows = ["JobID           Elapsed  AllocCPUS      State ", "------------ ---------- ---------- ---------- ",
    ...         "7              00:01:02          4  COMPLETED ", "7.batch        00:01:02          4  COMPLETED "]
    >>> _ = path.write_text("\n".join([*rows, ""]))
    >>> SacctColumnsReader().read(path)[""]
    Runs(1 rows, 1 configurations of cores; seconds 62 to 62 s)
    """

    name: ClassVar[str] = "sacct-columns"
    summary: ClassVar[str] = "Slurm's accounting: sacct in columns of a fixed width"

    def recognises(self, path: Path) -> bool:
        return _dashes(head(path).splitlines()) is not None

    def jobs(self, path: Path) -> Jobs:
        content = lines(path)
        row = _dashes(content)
        if row is None:
            raise ReadError(path, "there is no line of dashes below the names of the columns")
        spans = [match.span() for match in re.finditer("-+", content[row])]
        names = [content[row - 1][first:last].strip().lower() for first, last in spans]
        numbers = [n for n in range(row + 1, len(content)) if content[n].strip()]
        self._check_places(path, content, numbers, spans)
        table = pd.DataFrame(
            [[content[n][first:last].strip() for first, last in spans] for n in numbers],
            columns=names, index=np.array(numbers, dtype=np.int64) + 1, dtype=object,
        )  # fmt: skip
        if not len(table):
            raise ReadError(path, "there are no jobs below the names of the columns")
        for name in _EXACT & set(table):
            if (shortened := table[name].str.endswith("+")).any():
                raise ReadError(
                    path, f"{name} is cut off ({table[name][shortened].iloc[0]}): sacct -P prints all of it",
                    line=numbers[int(np.argmax(shortened))] + 1,
                )  # fmt: skip
        jobs = accounted(path, table)
        cut = any(
            table[name].str.endswith("+").any() for name in ("jobname", "partition", "user", "account") if name in table
        )
        note = ["names that end in + are cut off, so that several may have become one: sacct -P prints all of them"]
        return Jobs(jobs.table, (*jobs.notes, *(note if cut else [])))

    def _check_places(self, path: Path, content: list[str], numbers: list[int], spans: list[tuple[int, int]]) -> None:
        """Refuse rows that aren't below the dashes: they would lose digits."""
        for n in numbers:
            between = [content[n][last:following] for (_, last), (following, _) in pairwise(spans)]
            if "".join(between).strip() or content[n][spans[-1][1] :].strip():
                raise ReadError(
                    path, "the row isn't below the dashes, so that values would lose digits: print it with sacct -P",
                    line=n + 1,
                )  # fmt: skip


def _dashes(content: list[str]) -> int | None:
    """Return which line has the dashes below the names of the columns."""
    for row in range(1, min(_ABOVE, len(content))):
        if _DASHES.fullmatch(content[row]) and are_columns(content[row - 1].split()):
            return row
    return None
