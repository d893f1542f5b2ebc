"""What is in the file of a campaign, also while the campaign is at work: a copy of the file is read."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from evenly.arguments import explained
from evenly.campaign.checking import load_copy
from evenly.campaign.lock import is_in_use
from evenly.campaign.rows import COLUMNS, check_version
from evenly.errors import ReadError
from evenly.space.expressions import Expression

__all__ = ["Listing", "runs_in"]

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
        quantities in base units, ``exit_code``, ``message``, ``started`` (UTC), ``took`` (wall seconds), ``machine``.
    parameters : list of str
    under_way : list of dict
        The configurations of the runs that were started and have not ended.
    is_in_use : bool
        Whether a campaign is at work. If not, runs under way are those of one that was killed.
    """

    path: Path
    table: pd.DataFrame
    parameters: list[str]
    under_way: list[dict[str, Any]]
    is_in_use: bool = True

    @property
    def counts(self) -> dict[str, int]:
        """The number of runs by their status."""
        return dict(Counter(self.table["status"]))


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
    >>> from evenly.campaign.store import Record, Store
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder, "runs.db")) as store:
    ...         store.add(Record(store.add_configurations([{"n": 8}])[0], 0, "ok", {"seconds": 2.5}))
    ...     runs_in(Path(folder, "runs.db"), "n > 4").table[["n", "seconds", "status"]]
       n  seconds status
    0  8      2.5     ok
    """
    path = Path(path)
    if not path.is_file():
        raise ReadError(path, "there is no such file: name a store of runs, as study.db")
    loaded = load_copy(path)
    for _ in range(_TRIES):
        if not loaded.damages:
            break
        time.sleep(_PAUSE_S)
        loaded = load_copy(path)
    check_version(path, loaded)
    if loaded.damages:
        raise ReadError(path, f"it is damaged ({loaded.damages[0]}): `evenly runs check {path}` shows what is damaged")
    known = {number: json.loads(text) for number, text in loaded.rows["configurations"].values()}
    parameters = list(dict.fromkeys(name for one in known.values() for name in one))
    under_way = [known[number] for _, _, number in loaded.rows["running"].values()]
    rows = [
        _row(dict(zip(COLUMNS["records"], values, strict=True)), known) for values in loaded.rows["records"].values()
    ]
    first = [*parameters, "repetition", "purpose", "status"]
    table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=first)
    table = table[[*first, *(name for name in table.columns if name not in first)]]
    if where is not None:
        condition = Expression(where)
        table = table[condition.holds({str(name): table[name].to_numpy() for name in table}, len(table))]
    return Listing(path, table.reset_index(drop=True), parameters, under_way, is_in_use(path))


def _row(record: dict[str, Any], known: dict[int, dict[str, Any]]) -> dict[str, Any]:
    told = {name: record[name] for name in ("repetition", "purpose", "status")}
    after = {name: record[name] for name in ("exit_code", "message", "took", "machine")}
    started = pd.Timestamp(record["started"], unit="s").floor("s").isoformat() + "Z"
    return {
        **known[record["configuration"]], **told, **json.loads(record["quantities"]), **after, "started": started,
    }  # fmt: skip
