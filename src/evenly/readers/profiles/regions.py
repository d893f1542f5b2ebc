"""What all readers of profiles share: regions × metrics become one table of runs, with the region as a label column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import InputError, ReadError
from evenly.runs.columns import BOOKKEEPING, add_bookkeeping
from evenly.runs.runs import Runs
from evenly.runs.units import base_unit, to_base
from evenly.space.space import Space

__all__ = ["PATH", "REGION", "WHOLE", "Profile", "from_folder_name", "is_time", "safe_name"]

#: The column that names the region, by its call path.
REGION = "region"
#: What stands between a region and the region that called it, as Extra-P writes it.
PATH = "->"
#: The region of what a file measures without naming a region.
WHOLE = "(whole)"

_TIME = re.compile(r"(wall|elapsed|run|cpu)?[-_ .]*(time|clock|seconds|walltime|runtime)([-_ .]*(total|sum))?", re.I)
#: So many regions are named in a note.
_NAMED = 3
_RESERVED = {*BOOKKEEPING, "count", "spread", "seconds"}
_REPETITION = re.compile(r"[.]r(?P<number>\d+)$")
_PARAMETER = re.compile(r"(?P<name>[A-Za-z_-]+)(?P<value>\d+(?:[.,]\d+)?)[._-]*")


def is_time(metric: str) -> bool:
    """Return whether a metric's name says that it is a time.

    Examples
    --------
    >>> is_time("time"), is_time("Wall time"), is_time("metr"), is_time("visits")
    (True, True, False, False)
    """
    return _TIME.fullmatch(metric.strip()) is not None


def safe_name(name: str) -> str:
    """Return a name for a column of a metric or parameter: ``_`` follows names that evenly uses itself.

    Examples
    --------
    >>> safe_name("visits"), safe_name("count"), safe_name("")
    ('visits', 'count_', 'value')
    """
    name = name.strip() or "value"
    return f"{name}_" if name in _RESERVED or name == REGION else name


def from_folder_name(name: str) -> tuple[str, dict[str, float], int]:
    """Return the program, the parameters and the repetition in a folder's name, by the rule of Extra-P.

    The name is ``PROGRAM.PARAMETERS.rN``; the parameters are names and numbers in turn. There are no parameters if the
    name is not built like this.

    Examples
    --------
    >>> from_folder_name("mm.x1000y1z1.r2")
    ('mm', {'x': 1000.0, 'y': 1.0, 'z': 1.0}, 2)
    >>> from_folder_name("scorep-20240101_1200_4711")
    ('', {}, 0)
    """
    found = _REPETITION.search(name)
    program, point, rest = (name[: found.start()] if found else name).partition(".")
    parts = list(_PARAMETER.finditer(rest))
    if not (point and parts and "".join(part.group() for part in parts) == rest):
        return "", {}, 0
    values = {part["name"].strip("_-"): float(part["value"].replace(",", ".")) for part in parts}
    if "" in values or len(values) < len(parts):
        return "", {}, 0
    return program, values, int(found["number"]) if found else 0


@dataclass
class Profile:
    """Measured values of regions, collected value by value, and made into `Runs`.

    Attributes
    ----------
    path : Path
        The file or folder, for errors and as the source of the runs.
    units : dict of str to str
        The unit of each metric: of its values as they are added. ``"1"`` for numbers.
    time : str or None
        The metric that becomes ``"seconds"``; None if none is a time.

    Examples
    --------
    >>> profile = Profile(Path("profile.txt"), {"time": "ms", "visits": "1"}, time="time")
    >>> for p, ms in ((4, 80.0), (8, 40.0)):
    ...     profile.add("main->solve", {"p": p}, {"time": ms, "visits": 3})
    >>> profile.runs().to_frame()[["region", "p", "seconds", "visits"]]
            region  p  seconds  visits
    0  main->solve  4     0.08     3.0
    1  main->solve  8     0.04     3.0
    """

    path: Path
    units: dict[str, str]
    time: str | None = None
    notes: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        region: str,
        point: Mapping[str, float],
        values: Mapping[str, float],
        *,
        run: str = "",
        repetition: int = 0,
    ) -> None:
        """Add the values of one region in one run, at one point: a value for each parameter."""
        plain = {safe_name(name): int(x) if float(x).is_integer() else float(x) for name, x in point.items()}
        self.rows.append({REGION: region or WHOLE, "run": run, "repetition": repetition, **plain, **{
            self._column(metric): value for metric, value in values.items()
        }})  # fmt: skip

    def _column(self, metric: str) -> str:
        return "seconds" if metric == self.time and metric in self.units else safe_name(metric)

    def runs(self) -> Runs:
        """Return the table of runs.

        Raises
        ------
        ReadError
            If there is no row, parameters differ between rows, or a value is no number that is zero or more.
        """
        if not self.rows:
            raise ReadError(self.path, "the profile has no region with a value")
        names = {self._column(metric) for metric in self.units}
        given = [value for row in self.rows for name, value in row.items() if name in names]
        if nothing := sum(value != value for value in given):
            self.notes.append(f"{nothing:,} of {len(given):,} values are no number (NaN) and left out")
        table = pd.DataFrame(self.rows)
        columns = {self._column(metric): unit for metric, unit in self.units.items()}
        columns = {name: unit for name, unit in columns.items() if name in table}
        parameters = [name for name in table.columns if name not in (*columns, "run", "repetition", REGION)]
        if not parameters:
            raise ReadError(self.path, "the profile has no parameter: nothing says what was varied")
        lost = [name for name in parameters if table[name].isna().any()]
        if lost:
            raise ReadError(self.path, f"some points have no {lost[0]!r}: all points need the same parameters")
        table = _joined(table, [REGION, *parameters, "run", "repetition"], list(columns))
        for name, unit in columns.items():
            table[name] = self._checked(table[name], unit)
        table = self._without_zeros(table, list(columns)).copy()
        space = Space.from_data(table[[REGION, *parameters]])
        result = space.frame(table)
        for name in columns:
            result[name] = table[name].to_numpy(dtype=np.float64)
        table["source"] = str(self.path)
        add_bookkeeping(result, table, space.names)
        response = "seconds" if "seconds" in columns else next(iter(columns))
        return Runs(result, space=space, quantities={n: base_unit(u) for n, u in columns.items()}, response=response)

    def _checked(self, column: pd.Series[Any], unit: str) -> np.ndarray[Any, Any]:
        values = column.to_numpy(dtype=np.float64)
        bad = np.flatnonzero(np.isinf(values) | (values < 0))
        if len(bad):
            raise ReadError(self.path, f"{column.name} must be zero or more, but there is {values[bad[0]]:g}")
        try:
            return np.asarray(to_base(values, unit), dtype=np.float64)
        except InputError as error:
            raise ReadError(self.path, str(error)) from None

    def _without_zeros(self, table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
        """Leave out times of zero: a region that did not run, or is faster than the clock ticks."""
        if "seconds" in columns:
            zero = (table["seconds"] == 0).to_numpy(dtype=np.bool_)
            if zero.any():
                table = table.assign(seconds=np.where(zero, np.nan, table["seconds"]))
                whose = table[REGION][zero].drop_duplicates().tolist()
                more = f" and {len(whose) - _NAMED} more" if len(whose) > _NAMED else ""
                self.notes.append(
                    f"{zero.sum():,} of {len(zero):,} times are zero and left out, as if they had not been measured: "
                    f"{', '.join(map(str, whose[:_NAMED]))}{more}"
                )
        kept = table[list(columns)].notna().any(axis=1).to_numpy(dtype=np.bool_)
        if not kept.any():
            raise ReadError(self.path, "all times are zero")
        return table[kept].reset_index(drop=True)


def _joined(table: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Join rows of the same key that hold different metrics; keep the order in which keys appear."""
    if len(columns) == 1 or not table.duplicated(keys).any():
        return table
    return table.groupby(keys, sort=False, as_index=False)[columns].first()
