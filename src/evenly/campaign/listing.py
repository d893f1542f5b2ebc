"""What is in the file of a campaign, also while the campaign is at work: a copy of the file is read."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.campaign.checking import load_copy
from evenly.campaign.lock import is_in_use
from evenly.campaign.record import Record, own_name, records_of
from evenly.campaign.rows import Loaded, check_version
from evenly.campaign.store import jobs_beside, whys
from evenly.errors import InputError, ReadError
from evenly.launch import check_mark, launcher_class
from evenly.launch.job_folders import is_queued
from evenly.space.expressions import Expression

__all__ = ["Listing", "check_is_store", "holds", "loaded_of", "runs_in", "table_of"]

#: A copy that is made while a run is stored may be torn; another one is made then.
_TRIES, _PAUSE_S = 5, 0.2


@dataclass(frozen=True)
class Listing:
    """The runs in the file of a campaign.

    Parameters
    ----------
    path : Path
    table : DataFrame
        A row per run, in the order in which they ended: parameters, ``repetition``, ``purpose``, ``status``, measured
        quantities in base units, ``exit_code``, ``message``, ``last_words`` (the last line of output of a run that
        failed), ``took`` (wall seconds), ``machine``, those of `evenly.campaign.record.DETAILS` that are known,
        ``started`` (UTC); ``why`` they were chosen, if a search did. A parameter or a quantity with one of these names
        keeps it; what evenly tells has ``run_`` before it then, as ``run_cpu``.
    parameters : list of str
    under_way : list of dict
        The configurations of the runs that were started and have not ended.
    queued : int or None
        How many of these are jobs that have not begun; None if their files can't be read here.
    is_in_use : bool
        Whether a campaign is at work. If not, runs under way are those of one that was killed.
    quantities : frozenset of str
        The names of what was measured.
    """

    path: Path
    table: pd.DataFrame
    parameters: list[str]
    under_way: list[dict[str, Any]]
    queued: int | None = 0
    is_in_use: bool = True
    quantities: frozenset[str] = frozenset()

    def column(self, name: str) -> str:
        """Return the column of the table with what evenly itself tells of runs: ``"took"``, as a rule."""
        return own_name(name, {*self.parameters, *self.quantities})

    @property
    def counts(self) -> dict[str, int]:
        """The number of runs by their status."""
        return dict(Counter(self.table["status"]))


def check_is_store(path: Path) -> None:
    """Raise `ReadError` if a path can't be that of a store: opening it would make one."""
    if not path.is_file():
        raise ReadError(path, "there is no such file: name a store of runs, as study.db")
    if path.suffix == ".toml":
        raise ReadError(path, f"it is a study, and no store of runs: name its store, as {path.with_suffix('.db').name}")
    if _is_table(path):
        said = "it is a table or another text, and no store of runs"
        raise ReadError(path, f"{said}: `evenly read {path}` reads tables; name a store, as study.db")


def _is_table(path: Path) -> bool:
    """Return whether a file is text, or Parquet: a store, even a damaged one, has bytes that no text has."""
    with path.open("rb") as file:
        begin = file.read(4096)
    return begin.startswith(b"PAR1") or (begin.strip() != b"" and b"\0" not in begin)


def loaded_of(path: Path) -> Loaded:
    """Return the rows in the file of a campaign, which may be in use.

    Raises
    ------
    ReadError
        If there is no such file, it is no file of a campaign, or it is damaged.
    """
    check_is_store(path)
    loaded = load_copy(path)
    for _ in range(_TRIES):
        if not loaded.damages:
            break
        time.sleep(_PAUSE_S)
        loaded = load_copy(path)
    check_version(path, loaded)
    if loaded.damages:
        raise ReadError(path, f"it is damaged ({loaded.damages[0]}): `evenly runs check {path}` shows what is damaged")
    return loaded


@explained
def runs_in(path: Path | str, where: str | None = None) -> Listing:
    """Return the runs in the file of a campaign. The file is not altered, and may be in use.

    Parameters
    ----------
    path : path
        A file of `evenly measure` or `evenly tune`.
    where : str, optional
        Which runs, as an expression of the table's columns: ``"status != 'ok' and n > 8"``.

    Raises
    ------
    ReadError
        If there is no such file, or it is damaged.
    InputError
        If the expression has names that the table hasn't.

    Examples
    --------
    >>> from evenly.campaign.record import Record
    >>> from evenly.campaign.store import Store
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder, "runs.db")) as store:
    ...         store.add(Record(store.add_configurations([{"n": 8}])[0], 0, "ok", {"seconds": 2.5}))
    ...     runs_in(Path(folder, "runs.db"), "n > 4").table[["n", "seconds", "status"]]
       n  seconds status
    0  8      2.5     ok
    """
    path = Path(path)
    loaded = loaded_of(path)
    known = {number: json.loads(text) for number, text in loaded.rows["configurations"].values()}
    under_way = [known[number] for _, _, number in loaded.rows["running"].values()]
    records = [*records_of(loaded.rows["records"].values())]
    table = table_of(records, known, whys(loaded.rows))
    if where is not None:
        table = table[holds(table, where)]
    queued = _queued(path, [(mark, launcher) for mark, launcher, _ in loaded.rows["running"].values()])
    parameters, quantities = _parameters(known), _quantities(records)
    return Listing(path, table.reset_index(drop=True), parameters, under_way, queued, is_in_use(path), quantities)


def _queued(path: Path, running: Iterable[tuple[str, str]]) -> int | None:
    """Return how many of these runs are jobs in the queue; None if their files or launchers aren't known here."""
    try:
        jobs = [mark for mark, launcher in running if launcher_class(launcher).outlives]
        for mark in jobs:
            check_mark(mark)  # it becomes the name of a folder
        return sum(is_queued(jobs_beside(path) / mark) for mark in jobs)
    except (InputError, OSError):
        return None


def _parameters(known: Mapping[int, Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for one in known.values() for name in one))


def _quantities(records: Iterable[Record]) -> frozenset[str]:
    return frozenset(name for one in records for name in one.quantities)


def table_of(
    records: Sequence[Record],
    known: Mapping[int, Mapping[str, Any]],
    chosen: Mapping[tuple[int, int], str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return a row per run, with the columns of `Listing.table`, of runs of these configurations.

    `chosen` are the reasons of runs that a search chose, by configuration and repetition.
    """
    taken = {*_parameters(known), *_quantities(records)}

    def own(**told: Any) -> dict[str, Any]:
        return {own_name(name, taken): value for name, value in told.items()}

    rows = [
        {
            **known[one.configuration], **own(repetition=one.repetition, purpose=one.purpose, status=one.status),
            **one.quantities,
            **own(
                exit_code=one.exit_code, message=one.message, last_words=one.last_words, took=one.took,
                machine=one.machine, **one.details,
                started=pd.Timestamp(one.started, unit="s").floor("s").isoformat() + "Z" if one.started else "",
                **({"why": chosen.get((one.configuration, one.repetition), "")} if chosen else {}),
            ),
        }
        for one in records
    ]  # fmt: skip
    first = [*_parameters(known), *own(repetition=0, purpose="", status="")]
    table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=first)
    return table[[*first, *(name for name in table.columns if name not in first)]]


def holds(table: pd.DataFrame, where: str) -> NDArray[np.bool_]:
    """Return for which rows (n,) an expression of the columns holds."""
    return Expression(where).holds({str(name): table[name].to_numpy() for name in table}, len(table))
