"""The table of measured runs: one row per run and repetition.

`Runs` holds the parameters of each run, one or more measured quantities (times of phases in seconds, memory in bytes,
energy in joules), the status of the run, and its source. Repetitions (repeated runs, or the steps of one run) are kept
as separate rows; `aggregate` summarises them. Failed runs stay in the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError, MissingExtraError, ReadError
from evenly.runs import files
from evenly.runs.assembly import label_names, shared_units, space_of
from evenly.runs.columns import (
    BOOKKEEPING,
    Status,
    add_bookkeeping,
    bounds_as_seconds,
    check_columns,
    group_ids,
    measured,
    series_of_runs,
    stacked,
    status_of,
    summarised,
    with_bounds,
)
from evenly.runs.files import FORMAT_VERSION
from evenly.runs.units import base_unit, check_named_unit
from evenly.showing import Shown
from evenly.space.configurations import as_table
from evenly.space.expressions import Expression
from evenly.space.ranges import union
from evenly.space.space import Space

__all__ = ["BOOKKEEPING", "FORMAT_VERSION", "Runs", "Statistic", "Status"]

Statistic = Literal["median", "min", "mean"]

_BASE_UNITS = ("s", "B", "J", "1")


@explained
class Runs(Shown):
    """A table of measured runs.

    Parameters
    ----------
    table : DataFrame (n_rows, …)
        Columns: the parameters, the quantities, and `BOOKKEEPING`. Use `from_frame` for any other table.
    space : Space
        The parameters, with their kinds, scales and units.
    quantities : mapping of str to str
        The name of each measured column, and its base unit: ``"s"``, ``"B"``, ``"J"`` or ``"1"``.
    response : str
        The quantity that models predict.
    days : float, optional
        The simulated days that each time is of, where that is known: 365 for simulated years per day.

    Examples
    --------
    >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 1, 2], "ms": [80, 82, 41]}), ["cores"], "ms", unit="ms")
    >>> runs
    Runs(3 rows, 2 configurations of cores; seconds 0.041 to 0.082 s)
    >>> runs.aggregate()[["cores", "seconds", "count"]]
       cores  seconds  count
    0      1    0.081      2
    1      2    0.041      1
    """

    def __init__(
        self,
        table: pd.DataFrame,
        *,
        space: Space,
        quantities: Mapping[str, str],
        response: str = "seconds",
        days: float | None = None,
    ) -> None:
        self.space = space
        self.days = days
        self.quantities = dict(quantities)
        self.response = response
        if response not in self.quantities:
            raise InputError(
                f"the response must be one of the measured quantities ({', '.join(self.quantities)}), "
                f"but got {response!r}"
            )
        strange = [(name, unit) for name, unit in self.quantities.items() if unit not in _BASE_UNITS]
        if strange:
            name, unit = strange[0]
            raise InputError(f"the unit of {name!r} must be one of {', '.join(_BASE_UNITS)}, but got {unit!r}")
        columns = [*space.names, *self.quantities, *BOOKKEEPING]
        missing = [name for name in columns if name not in table.columns]
        if missing or table.columns.duplicated().any():
            raise InputError(
                f"a table of runs has the columns {', '.join(columns)}, each once, but got "
                f"{', '.join(map(str, table.columns))}: build it with Runs.from_frame"
            )
        self._table = table[columns].reset_index(drop=True)

    @classmethod
    @explained
    def from_frame(
        cls,
        frame: pd.DataFrame,
        parameters: Sequence[str],
        time: str = "seconds",
        *,
        unit: str = "s",
        quantities: Mapping[str, str] | None = None,
        space: Space | None = None,
        response: str | None = None,
    ) -> Runs:
        """Build runs from a table.

        Parameters
        ----------
        frame : DataFrame (n_rows, …)
            One row per run and repetition. Columns with a name of `BOOKKEEPING` are used as bookkeeping.
        parameters : sequence of str
            The columns that hold the configuration of a run.
        time : str
            The column with the measured time (or a rate; see `unit`); it becomes the quantity ``"seconds"``.
        unit : str
            The unit of `time`; see `evenly.runs.units.to_base`.
        quantities : mapping of str to str, optional
            Further measured columns and their units, e.g. ``{"communication": "ms", "peak_memory": "GiB"}``.
        space : Space, optional
            Kinds and scales of the parameters; inferred from the values by default.
        response : str, optional
            The quantity that models predict; the time by default.

        Returns
        -------
        Runs

        Raises
        ------
        InputError
            If a column is missing, or a successful run has a value that is not allowed; the message names the row. A
            time must be finite and above zero; any other quantity must be finite and not negative, or missing.
        """
        source = as_table(frame)
        if isinstance(parameters, str):
            raise InputError(f"parameters must be a list of columns, but got {parameters!r}: put it into [ ]")
        extra = {name: its_unit for name, its_unit in (quantities or {}).items() if name != "seconds" or time != name}
        check_columns(source, parameters, time, extra)
        if not len(source) and space is None:
            raise InputError("the table has no rows: at least one run is needed")
        if base_unit(unit) != "s":
            raise InputError(f"the time's unit must be a time or a rate, but got {unit!r}: pass it as a quantity")
        check_named_unit(time, unit)
        space = space_of(source, list(parameters), space)
        ok = (status_of(source) == "ok").to_numpy(dtype=np.bool_)
        table = space.frame(source)
        table["seconds"] = measured(source[time], unit, ok, must_be_positive=True)
        for name, its_unit in extra.items():
            table[name] = measured(source[name], its_unit, ok, must_be_positive=False)
        add_bookkeeping(table, source, space.names)
        units = {"seconds": "s"} | {name: base_unit(its_unit) for name, its_unit in extra.items()}
        return cls(table, space=space, quantities=units, response=response or "seconds")

    @classmethod
    @explained
    def concat(cls, parts: Iterable[Runs]) -> Runs:
        """Concatenate tables with the same parameters; a quantity that a table lacks is NaN in its rows.

        Each parameter's range is the union of its ranges in the tables. Constraints are kept if all have the same.

        Raises
        ------
        InputError
            If the tables differ in their parameters, or in the unit of one quantity.

        Examples
        --------
        >>> tables = [pd.DataFrame({"cores": [n], "seconds": [8 / n]}) for n in (2, 4)]
        >>> Runs.concat(Runs.from_frame(table, ["cores"]) for table in tables)
        Runs(2 rows, 2 configurations of cores; seconds 2 to 4 s)
        """
        runs = list(parts)
        if not runs:
            raise InputError("there are no runs to put together")
        strange: list[Any] = [part for part in list[Any](runs) if not isinstance(part, Runs)]
        if strange:
            raise InputError(f"parts must be Runs, but one is {strange[0]!r}")
        names = runs[0].parameters
        units = shared_units([(part.parameters, part.quantities) for part in runs])
        columns = [*names, *units, *BOOKKEEPING]
        table = pd.DataFrame({name: stacked([part._table for part in runs], name) for name in columns})
        kinds = {name: union([part.space.parameters[name] for part in runs], table[name]) for name in names}
        alike = all(part.space == runs[0].space for part in runs)
        space = runs[0].space if alike else Space.of(kinds)
        table[names] = space.frame(table)
        days = {part.days for part in runs}
        return cls(
            table, space=space, quantities=units, response=runs[0].response, days=days.pop() if len(days) == 1 else None
        )

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters, in the order of the space."""
        return self.space.names

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        failed = len(self) - int(self._ok_mask().sum())
        ok = self._table.loc[self._ok_mask(), self.response]
        unit = self.quantities[self.response]
        spread = f"; {self.response} {ok.min():.4g} to {ok.max():.4g} {unit}" if len(ok) else ""
        lost = f", {failed} failed" if failed else ""
        count = group_ids(self._table, self.parameters).nunique() if len(self) else 0
        return f"Runs({len(self)} rows, {count} configurations of {', '.join(self.parameters)}{lost}{spread})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs):
            return NotImplemented
        same = self.space == other.space and self.quantities == other.quantities and self.response == other.response
        return same and self.days == other.days and self._table.equals(other._table)

    __hash__ = None  # type: ignore[assignment]

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the whole table, including failed runs."""
        return self._table.copy()

    @property
    def configurations(self) -> pd.DataFrame:
        """The configuration of each row as a table, shape (n_rows, n_parameters)."""
        return self._table[self.parameters].copy()

    @property
    def values(self) -> NDArray[np.float64]:
        """The response of each row in its base unit, shape (n_rows,); NaN for runs that failed or timed out."""
        return np.where(self._ok_mask(), self._table[self.response].to_numpy(dtype=np.float64), np.nan)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """The seconds after which a run was ended, a lower bound of its time, shape (n_rows,); NaN for all other rows.

        Such a row is "timed out", and its seconds are finite and above zero. Other quantities have no bounds.

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [1, 2], "seconds": [60.0, 41.0], "status": ["timed out", "ok"]})
        >>> Runs.from_frame(table, ["cores"]).bounds
        array([60., nan])
        """
        seconds = self._table[self.response].to_numpy(dtype=np.float64)
        late = (self._table["status"] == "timed out").to_numpy(dtype=np.bool_) & np.isfinite(seconds) & (seconds > 0)
        return np.where(late & (self.response == "seconds"), seconds, np.nan)

    def _ok_mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._table["status"] == "ok", dtype=np.bool_)

    @explained
    def where(self, condition: str | NDArray[np.bool_]) -> Runs:
        """Return the runs that satisfy `condition`: an expression, or a boolean mask of shape (n_rows,).

        Examples
        --------
        >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2, 4], "seconds": [8, 4, 2]}), ["cores"])
        >>> len(runs.where("cores < 4"))
        2
        """
        mask = self._holds(condition) if isinstance(condition, str) else np.asarray(condition)
        if mask.shape != (len(self),) or mask.dtype != np.bool_:
            raise InputError(
                f"a mask must hold {len(self)} truth values, one per row, but got shape {mask.shape} of {mask.dtype}"
            )
        return self._with(self._table[mask])

    def _holds(self, condition: str) -> NDArray[np.bool_]:
        return Expression(condition).holds({str(name): x for name, x in self._table.items()}, len(self))

    @explained
    def split(self, condition: str) -> tuple[Runs, Runs]:
        """Split into the runs that satisfy `condition` (training data) and all other runs (test data).

        Examples
        --------
        >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2, 4], "seconds": [8, 4, 2]}), ["cores"])
        >>> [len(part) for part in runs.split("cores < 4")]
        [2, 1]
        """
        mask = self._holds(condition)
        return self.where(mask), self.where(~mask)

    @property
    def ok(self) -> Runs:
        """The successful runs (status ``"ok"``)."""
        return self.where(self._ok_mask())

    @property
    def failed(self) -> Runs:
        """The runs that failed or timed out."""
        return self.where(~self._ok_mask())

    def learning(self, response: str) -> Runs:
        """Return the same runs with another quantity as the response, for instance ``"peak_memory"``.

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [1, 2], "seconds": [8, 4], "memory": [3.0, 2.0]})
        >>> Runs.from_frame(table, ["cores"], quantities={"memory": "GiB"}).learning("memory")
        Runs(2 rows, 2 configurations of cores; memory 2.147e+09 to 3.221e+09 B)
        """
        return Runs(self._table, space=self.space, quantities=self.quantities, response=response, days=self.days)

    def of_days(self, days: float | None) -> Runs:
        """Return the same runs, whose times are each of so many simulated days; None if that isn't known."""
        return Runs(self._table, space=self.space, quantities=self.quantities, response=self.response, days=days)

    def _with(self, table: pd.DataFrame) -> Runs:
        return Runs(table, space=self.space, quantities=self.quantities, response=self.response, days=self.days)

    @explained
    def aggregate(self, statistic: Statistic = "median") -> pd.DataFrame:
        """Summarise the successful repetitions of each configuration that has at least one.

        Parameters
        ----------
        statistic : {"median", "min", "mean"}
            The statistic of each quantity over the repetitions.

        Returns
        -------
        DataFrame (n_configurations, …)
            One row per configuration, sorted by the parameters. Columns: the parameters, the quantities, ``count``
            (repetitions with a measured response) and ``spread`` (sample standard deviation of the response over the
            repetitions; 0 for a single one).

        Examples
        --------
        >>> runs = Runs.from_frame(pd.DataFrame({"cores": [2, 2, 2], "seconds": [3.0, 5.0, 10.0]}), ["cores"])
        >>> runs.aggregate("min")
           cores  seconds  count    spread
        0      2      3.0      3  3.605551
        """
        if statistic not in get_args(Statistic):
            raise InputError(f"the statistic must be one of {', '.join(get_args(Statistic))}, but got {statistic!r}")
        return summarised(
            self._table[self._ok_mask()], self.parameters, list(self.quantities), self.response, statistic
        )

    @explained
    def evidence(self, statistic: Statistic = "median") -> pd.DataFrame:
        """Summarise the repetitions of each configuration, those that hit their limit included.

        The statistic is computed twice: as if these runs had ended at their limit, and as if they had never ended. If
        both agree, it is known: a median of three runs needs two. Else the smaller one is a lower bound of it. A limit
        below what successful repetitions took says nothing, and isn't counted.

        Parameters
        ----------
        statistic : {"median", "min", "mean"}
            The statistic over the repetitions.

        Returns
        -------
        DataFrame (n_configurations, …)
            What `aggregate` returns, and the column ``censored``: whether the response is a lower bound. Configurations
            of which only a bound is known come last; ``count`` is the number of their runs.

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [1, 2, 2, 2, 4], "seconds": [60.0, 41.0, 43.0, 60.0, 20.0]})
        >>> table["status"] = ["timed out", "ok", "ok", "timed out", "ok"]
        >>> Runs.from_frame(table, ["cores"]).evidence()[["cores", "seconds", "censored"]]
           cores  seconds  censored
        0      2     43.0     False
        1      4     20.0     False
        2      1     60.0      True
        """
        measured = self.aggregate(statistic)
        measured = measured[measured[self.response].notna()].assign(censored=False)
        bounds = self.bounds
        if np.isnan(bounds).all():
            return measured.reset_index(drop=True)
        rows = np.flatnonzero(self._ok_mask() | np.isfinite(bounds))
        return with_bounds(measured, self._table.iloc[rows], bounds[rows], self.parameters, self.response, statistic)

    @explained
    def repetitions(self, configuration: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the response of each successful repetition of one configuration, shape (n_repetitions,).

        Examples
        --------
        >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 1, 2], "seconds": [8.0, 9.0, 4.0]}), ["cores"])
        >>> runs.repetitions({"cores": 1})
        array([8., 9.])
        """
        wanted = self.space.frame(configuration)
        if len(wanted) != 1:
            raise InputError(f"repetitions are those of one configuration, but got {len(wanted)}")
        mask = self._ok_mask().copy()
        for name in self.parameters:
            value = wanted[name].iloc[0]
            mask &= np.array([x == value for x in self._table[name].tolist()], dtype=np.bool_)
        return self.values[mask]

    def steps(self) -> NDArray[np.float64]:
        """Return the response of each time step of the longest run, in order, shape (n_steps,).

        Each repetition of a run counts as one step; the longest run has the most successful repetitions.

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [4, 4, 8], "seconds": [2.0, 3.0, 1.0], "run": ["a", "a", "b"]})
        >>> Runs.from_frame(table, ["cores"]).steps()
        array([2., 3.])
        """
        return next(iter(self.steps_of_runs()), np.empty(0))

    def steps_of_runs(self) -> list[NDArray[np.float64]]:
        """Return what `steps` does for each run, that with most steps first.

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [4, 4, 8], "seconds": [2.0, 3.0, 1.0], "run": ["a", "a", "b"]})
        >>> Runs.from_frame(table, ["cores"]).steps_of_runs()
        [array([2., 3.]), array([1.])]
        """
        return series_of_runs(self._table[self._ok_mask()], self.parameters, self.response)

    @explained
    def save(self, path: str | Path) -> None:
        """Write the table to ``.csv`` or ``.parquet``, with the format version and the metadata that `load` needs.

        Raises
        ------
        InputError
            If the file can't be written, or a constraint is a function.

        Examples
        --------
        >>> import tempfile
        >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2], "seconds": [8.0, 4.0]}), ["cores"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     runs.save(Path(folder, "runs.csv"))
        ...     Runs.load(Path(folder, "runs.csv")) == runs
        True
        """
        about = {"quantities": self.quantities, "response": self.response}
        header = {"rows": len(self), "space": self.space.to_dict(), **about}
        header |= {} if self.days is None else {"days": self.days}
        table = files.encoded(self._table, label_names(self.space))
        files.write(table, json.dumps(header, separators=(",", ":"), allow_nan=False), Path(path))

    @classmethod
    @explained
    def load(cls, path: str | Path) -> Runs:
        """Read a table of runs from a file that `save` wrote.

        Raises
        ------
        ReadError
            If the file is missing, damaged, of another format version, or not a file of runs.
        MissingExtraError
            If it is a Parquet file and the packages that read Parquet are not installed.

        Examples
        --------
        >>> Runs.load("no/such/runs.csv")
        Traceback (most recent call last):
        evenly.errors.ReadError: no/such/runs.csv: there is no such file
        """
        target = Path(path)
        try:
            return cls._restore(*files.read(target))
        except (ReadError, MissingExtraError):
            raise
        except FileNotFoundError:
            raise ReadError(target, "there is no such file") from None
        except Exception as error:  # a damaged file may fail anywhere in the libraries that parse it
            raise ReadError(target, f"not a runs file of evenly, or damaged: {error}") from None

    @classmethod
    def _restore(cls, table: pd.DataFrame, fields: Mapping[str, Any]) -> Runs:
        space = Space.from_dict(fields["space"])
        table = files.decoded(table, label_names(space), list(fields["quantities"]))
        status_of(table)
        bounds_as_seconds(table)
        table[space.names] = space.frame(table)
        days = fields.get("days")
        return cls(table, space=space, quantities=fields["quantities"], response=fields["response"], days=days)
