"""What was measured: one row per run and repetition.

`Runs` is a table with the parameters of each run, one or more measured quantities (the phases' times in seconds, but
also memory in bytes or energy in joules), whether the run went well, and where it comes from. Raw repetitions (repeated
runs, or the steps of one run) are kept; `aggregate` summarises them on request. Failed runs stay in the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError, MissingExtraError, ReadError
from evenly.expressions import Expression
from evenly.space import Space
from evenly.units import base_unit, to_base

__all__ = ["BOOKKEEPING", "FORMAT_VERSION", "Runs", "Statistic", "Status"]

Status = Literal["ok", "failed", "timed out"]
Statistic = Literal["median", "min", "mean"]

FORMAT_VERSION = 1
#: Columns that every table has beside parameters and quantities.
BOOKKEEPING = ("run", "repetition", "status", "machine", "when", "source")
_BASE_UNITS = ("s", "B", "J", "1")
_HEADER = "# evenly runs "


class Runs:
    """A table of measured runs.

    Parameters
    ----------
    table : DataFrame (n_rows, …)
        Columns: the parameters, the quantities, and `BOOKKEEPING`. Use `from_frame` for a table of one's own.
    space : Space
        The parameters, with their kinds, scales and units.
    quantities : mapping of str to str
        Measured columns and their units: ``"s"``, ``"B"``, ``"J"`` or ``"1"``.
    response : str
        The quantity that models learn.

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
    ) -> None:
        self.space = space
        self.quantities = dict(quantities)
        self.response = response
        self._table = table.reset_index(drop=True)
        if response not in self.quantities:
            raise InputError(
                f"the response must be one of the measured quantities ({', '.join(self.quantities)}), "
                f"but got {response!r}"
            )

    # ---- building -------------------------------------------------------------------------------------------

    @classmethod
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
            One row per run and repetition. Columns named as in `BOOKKEEPING` are taken as such.
        parameters : sequence of str
            Columns that say what was run.
        time : str
            Column that holds the time (or a rate; see `unit`); it becomes the quantity ``"seconds"``.
        unit : str
            Unit of `time`, see `evenly.units.to_base`.
        quantities : mapping of str to str, optional
            More measured columns and their units, e.g. ``{"communication": "ms", "peak_memory": "GiB"}``.
        space : Space, optional
            Kinds and scales of the parameters; guessed from the values by default.
        response : str, optional
            The quantity that models learn; the time by default.

        Returns
        -------
        Runs

        Raises
        ------
        InputError
            If a column is missing or a value of an ok run is not a positive finite number; the row is named.
        """
        extra = dict(quantities or {})
        _check_columns(frame, list(parameters), [time, *extra])
        source = frame.reset_index(drop=True)
        table = source[list(parameters)].copy()
        status = source["status"].astype(str) if "status" in source else pd.Series("ok", index=source.index)
        ok = (status == "ok").to_numpy()
        units = {"seconds": base_unit(unit)} | {name: base_unit(u) for name, u in extra.items()}
        if units["seconds"] != "s":
            raise InputError(f"the time's unit must be a time or a rate, but got {unit!r}: pass it as a quantity")
        for name, column, its_unit in [("seconds", time, unit), *((n, n, u) for n, u in extra.items())]:
            table[name] = _measured(source[column], its_unit, ok, must_be_positive=name == "seconds")
        _add_bookkeeping(table, source, status)
        if space is None:
            space = Space.from_data(table[list(parameters)]) if len(table) else Space()
        table[list(parameters)] = space.frame(table)
        return cls(table, space=space, quantities=units, response=response or "seconds")

    @classmethod
    def concat(cls, parts: Iterable[Runs]) -> Runs:
        """Stack tables over the same parameters; quantities that a part lacks are left empty there."""
        runs = list(parts)
        if not runs:
            raise InputError("there are no runs to put together")
        names = runs[0].parameters
        for other in runs[1:]:
            if set(other.parameters) != set(names):
                raise InputError(
                    f"runs can be put together only over the same parameters, "
                    f"but got {', '.join(names)} and {', '.join(other.parameters)}"
                )
        units = {name: unit for part in runs for name, unit in part.quantities.items()}
        table = pd.concat([part._table for part in runs], ignore_index=True)
        kinds = Space.from_data(table[names]).parameters
        order = [*names, *units, *BOOKKEEPING]
        return cls(table[order], space=Space.of(kinds), quantities=units, response=runs[0].response)

    # ---- looking --------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters."""
        return self.space.names

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        failed = len(self) - int(self._ok_mask().sum())
        ok = self._table.loc[self._ok_mask(), self.response]
        unit = self.quantities[self.response]
        spread = f"; {self.response} {ok.min():.4g} to {ok.max():.4g} {unit}" if len(ok) else ""
        lost = f", {failed} failed" if failed else ""
        count = len(self._table[self.parameters].drop_duplicates())
        return f"Runs({len(self)} rows, {count} configurations of {', '.join(self.parameters)}{lost}{spread})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs):
            return NotImplemented
        return (
            self.space == other.space
            and self.quantities == other.quantities
            and self.response == other.response
            and self._table.equals(other._table)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the whole table, failed runs included."""
        return self._table.copy()

    @property
    def configurations(self) -> pd.DataFrame:
        """Parameters of every row, shape (n_rows, n_parameters)."""
        return self._table[self.parameters].copy()

    @property
    def values(self) -> NDArray[np.float64]:
        """The response of every row in its base unit, shape (n_rows,); NaN where a run failed."""
        return self._table[self.response].to_numpy(dtype=np.float64).copy()

    def _ok_mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._table["status"] == "ok", dtype=np.bool_)

    # ---- choosing -------------------------------------------------------------------------------------------

    def where(self, condition: str | NDArray[np.bool_]) -> Runs:
        """Return the rows for which `condition` (an expression or a mask, shape (n_rows,)) holds.

        Examples
        --------
        >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2, 4], "seconds": [8, 4, 2]}), ["cores"])
        >>> len(runs.where("cores < 4"))
        2
        """
        if isinstance(condition, str):
            columns = {str(name): self._table[name].to_numpy() for name in self._table.columns}
            mask = np.broadcast_to(Expression(condition)(columns), (len(self),)).astype(np.bool_)
        else:
            mask = np.asarray(condition, dtype=np.bool_)
        return Runs(self._table[mask], space=self.space, quantities=self.quantities, response=self.response)

    def split(self, condition: str) -> tuple[Runs, Runs]:
        """Return the rows for which `condition` holds (to train on) and the others (to test on)."""
        columns = {str(name): self._table[name].to_numpy() for name in self._table.columns}
        mask = np.broadcast_to(Expression(condition)(columns), (len(self),)).astype(np.bool_)
        return self.where(mask), self.where(~mask)

    @property
    def ok(self) -> Runs:
        """The runs that went well."""
        return self.where(self._ok_mask())

    @property
    def failed(self) -> Runs:
        """The runs that failed or timed out."""
        return self.where(~self._ok_mask())

    def learning(self, response: str) -> Runs:
        """Return the same runs with another quantity as the response, for instance ``"peak_memory"``."""
        return Runs(self._table, space=self.space, quantities=self.quantities, response=response)

    # ---- summarising ----------------------------------------------------------------------------------------

    def aggregate(self, statistic: Statistic = "median") -> pd.DataFrame:
        """Summarise the repetitions of each configuration that went well at least once.

        Parameters
        ----------
        statistic : {"median", "min", "mean"}
            How the repetitions are condensed.

        Returns
        -------
        DataFrame (n_configurations, …)
            The parameters, every quantity, ``count`` (repetitions) and ``spread`` (standard deviation of the response
            over repetitions; 0 where there is only one).
        """
        if statistic not in get_args(Statistic):
            raise InputError(f"the statistic must be one of {', '.join(get_args(Statistic))}, but got {statistic!r}")
        good = self._table[self._ok_mask()]
        groups = good.groupby(self.parameters, sort=True, observed=True)
        result = getattr(groups[list(self.quantities)], statistic)()
        result["count"] = groups.size()
        result["spread"] = groups[self.response].std(ddof=1).fillna(0.0)
        return pd.DataFrame(result.reset_index())

    def repetitions(self, configuration: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the response of every ok repetition of one configuration, shape (n_repetitions,)."""
        mask = self._ok_mask().copy()
        for name in self.parameters:
            mask &= (self._table[name] == configuration[name]).to_numpy()
        return self.values[mask]

    def steps(self) -> NDArray[np.float64]:
        """Return the response of each step of the run that has most ok repetitions, in order, shape (n_steps,).

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [4, 4, 8], "seconds": [2.0, 3.0, 1.0], "run": ["a", "a", "b"]})
        >>> Runs.from_frame(table, ["cores"]).steps()
        array([2., 3.])
        """
        good = self._table[self._ok_mask()]
        if not len(good):
            return np.empty(0)
        groups = good.groupby([*self.parameters, "run"], sort=False, dropna=False).groups
        longest = good.loc[max(groups.values(), key=len)].sort_values("repetition")
        steps: NDArray[np.float64] = longest[self.response].to_numpy(dtype=np.float64)
        return steps

    # ---- files ----------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write to ``.csv`` or ``.parquet``, with the format version and all that `load` needs to restore it."""
        target = Path(path)
        header = json.dumps(
            {"space": self.space.to_dict(), "quantities": self.quantities, "response": self.response},
            separators=(",", ":"),
        )
        if target.suffix == ".parquet":
            _write_parquet(self._table, header, target)
        elif target.suffix == ".csv":
            with target.open("w", encoding="utf-8", newline="") as stream:
                stream.write(f"{_HEADER}{FORMAT_VERSION} {header}\n")
                self._table.to_csv(stream, index=False)
        else:
            raise InputError(f"runs are saved as .csv or .parquet, but got {target.name!r}")

    @classmethod
    def load(cls, path: str | Path) -> Runs:
        """Read what `save` wrote."""
        target = Path(path)
        table, head = _read_parquet(target) if target.suffix == ".parquet" else _read_csv(target)
        version, _, header = head.partition(" ")
        if version != str(FORMAT_VERSION):
            raise ReadError(target, f"format version {version} is not known (this evenly reads {FORMAT_VERSION})")
        fields = json.loads(header)
        space = Space.from_dict(fields["space"])
        for name in ("run", "status", "machine", "when", "source"):
            table[name] = _text(table[name])
        return cls(table, space=space, quantities=fields["quantities"], response=fields["response"])


def _check_columns(frame: pd.DataFrame, parameters: list[str], measured: list[str]) -> None:
    wanted = [*parameters, *measured]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise InputError(
            f"there is no column {missing[0]!r}: the table has {', '.join(map(repr, map(str, frame.columns)))}"
        )
    reserved = [name for name in parameters if name in (*BOOKKEEPING, "seconds", "count", "spread")]
    if reserved:
        raise InputError(f"a parameter may not be called {reserved[0]!r}, which evenly uses itself: rename the column")
    if not parameters:
        raise InputError("at least one column must be a parameter (what was varied between runs)")


def _measured(
    column: pd.Series[Any], unit: str, ok: NDArray[np.bool_], *, must_be_positive: bool
) -> NDArray[np.float64]:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    values = to_base(numbers, unit)
    bad = ok & ~(np.isfinite(values) & ((values > 0) if must_be_positive else (values >= 0)))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        rule = "positive" if must_be_positive else "zero or more"
        raise InputError(
            f"{column.name!r} must be a finite number, {rule}, for a run that went well, "
            f"but row {row} holds {column.iloc[row]!r}: correct it, or mark the run in a 'status' column"
        )
    return values


def _add_bookkeeping(table: pd.DataFrame, source: pd.DataFrame, status: pd.Series[str]) -> None:
    known = set(get_args(Status))
    strange = sorted(set(status) - known)
    if strange:
        raise InputError(f"status must be one of {', '.join(sorted(known))}, but got {strange[0]!r}")
    parameters = [name for name in table.columns if name in source.columns and name != "seconds"]
    repetition = source.groupby(parameters, sort=False, dropna=False).cumcount()
    given = {name: source[name] for name in ("run", "machine", "when", "source") if name in source}
    numbers = pd.Series([str(i) for i in range(len(source))], dtype=object)
    table["run"] = _text(given["run"]) if "run" in given else numbers
    table["repetition"] = source["repetition"].astype(np.int64) if "repetition" in source else repetition
    table["status"] = _text(status)
    for name in ("machine", "when", "source"):
        table[name] = _text(given[name]) if name in given else pd.Series("", index=table.index, dtype=object)


def _text(column: pd.Series[Any]) -> pd.Series[Any]:
    return pd.Series(["" if pd.isna(value) else str(value) for value in column], index=column.index, dtype=object)


def _read_csv(path: Path) -> tuple[pd.DataFrame, str]:
    try:
        with path.open(encoding="utf-8") as stream:
            first = stream.readline()
            if not first.startswith(_HEADER):
                raise ReadError(path, "not a runs file of evenly: read it as a table with evenly.read", line=1)
            table = pd.read_csv(stream, keep_default_na=True)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise ReadError(path, str(error)) from None
    return table, first.removeprefix(_HEADER).rstrip("\n")


def _write_parquet(table: pd.DataFrame, header: str, path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("writing Parquet", extra="parquet") from None
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**(arrow.schema.metadata or {}), b"evenly": f"{FORMAT_VERSION} {header}".encode()}
    pq.write_table(arrow.replace_schema_metadata(metadata), path)


def _read_parquet(path: Path) -> tuple[pd.DataFrame, str]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading Parquet", extra="parquet") from None
    try:
        arrow = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise ReadError(path, str(error)) from None
    header = (arrow.schema.metadata or {}).get(b"evenly")
    if header is None:
        raise ReadError(path, "not a runs file of evenly: read it as a table with evenly.read")
    return arrow.to_pandas(), header.decode()
