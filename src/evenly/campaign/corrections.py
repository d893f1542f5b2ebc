"""Changes to stores of runs by their owner: runs that are marked as bad, and stores that are put together."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenly.arguments import explained
from evenly.campaign.listing import check_is_store, holds, loaded_of, table_of
from evenly.campaign.record import Record, records_of
from evenly.campaign.store import Store, whys
from evenly.errors import EvenlyWarning, InputError

__all__ = ["MARKED", "mark_bad", "merge"]

#: How the message of a run begins that is marked as bad.
MARKED = "marked as bad: "


@explained
def mark_bad(path: Path | str, where: str, reason: str) -> int:
    """Mark runs of a store as bad, and return their number: nothing is learned from them, but they stay in the file.

    `evenly measure --retry` makes them again.

    Parameters
    ----------
    path : path
        The store.
    where : str
        Which runs, as an expression of the columns of `evenly.campaign.listing.Listing.table`.
    reason : str
        Why: it is stored as their message.

    Raises
    ------
    InputError
        If the expression holds for no run, or a campaign is using the file.
    ReadError
        If the file is none of a campaign, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder, "runs.db")) as store:
    ...         store.add(Record(store.add_configurations([{"n": 8}])[0], 0, "ok", {"seconds": 2.5}))
    ...     mark_bad(Path(folder, "runs.db"), "n == 8", "the file server hung")
    1
    """
    if not reason.strip():
        raise InputError("a reason is needed, which the runs keep")
    check_is_store(Path(path))
    with Store(Path(path)) as store:
        records = store.records()
        chosen = holds(table_of(records, store.configurations()), where)
        bad = [record for record, is_one in zip(records, chosen, strict=True) if is_one]
        if not bad:
            raise InputError(f"no run of {path} has {where}: `evenly runs list {path}` shows all")
        said = f"{MARKED}{reason.strip()}"
        store.put(record._replace(status="failed", message=said) for record in bad)
    return len(bad)


@explained
def merge(paths: Sequence[Path | str], into: Path | str) -> int:
    """Put the runs of several stores of one study into a new store, and return their number.

    Parameters
    ----------
    paths : sequence of path
        The stores, which aren't altered. Repetitions of a configuration are numbered anew; a run that is in several
        stores counts once.
    into : path
        The new store.

    Raises
    ------
    InputError
        If the stores hold runs of different studies, or the new file is there already.
    ReadError
        If a file is none of a campaign, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [Path(folder, name) for name in ("a.db", "b.db")]
    ...     for start, path in enumerate(paths):
    ...         with Store(path) as store:
    ...             number = store.add_configurations([{"n": 8}])[0]
    ...             store.add(Record(number, 0, "ok", {"seconds": 2.5}, started=start))
    ...     merge(paths, Path(folder, "all.db"))
    2
    """
    new = Path(into)
    if len(paths) < 2:
        raise InputError("several stores are merged: name at least two")
    if new.exists():
        raise InputError(f"{new} is there already: give the name of a new file")
    parts = [(Path(path), loaded_of(Path(path)).rows) for path in paths]
    abouts = [{key: json.loads(text) for key, text in rows["about"].values()} for _, rows in parts]
    _check_alike([path for path, _ in parts], [about.get("measured_as") for about in abouts])
    if busy := [path for path, rows in parts if rows["running"]]:
        raise InputError(f"{busy[0]} has runs under way: wait for their end")
    _tell_places([path for path, _ in parts], [about.get("placed_as") or {} for about in abouts])
    twice = 0
    with Store(new) as store:
        for key in ("measured_as", "kind"):
            store.note(key, abouts[0].get(key))
        there: dict[tuple[int, str, float, float], Record] = {}
        dropped: set[tuple[int, str, float, float]] = set()
        reasons: dict[tuple[int, str, float, float], str] = {}
        for (_, rows), about in zip(parts, abouts, strict=True):
            known = {number: json.loads(text) for number, text in rows["configurations"].values()}
            numbers = dict(zip(known, store.add_configurations(list(known.values())), strict=True))
            chosen = whys(rows)
            dropped |= {(numbers[number], *rest) for number, *rest in about.get("dropped") or []}
            for record in records_of(rows["records"].values()):
                why = chosen.get((record.configuration, record.repetition))
                record = record._replace(configuration=numbers[record.configuration])
                if why is not None:
                    reasons[record.identity] = why
                known_one = there.setdefault(record.identity, record)
                twice += known_one is not record
                if record.status != "ok":  # where it is marked as bad in one store, it is bad
                    there[record.identity] = record
        store.note("dropped", sorted(dropped))
        removed = len(there) - len(kept := [one for one in there.values() if one.identity not in dropped])
        found = _numbered(kept)
        store.put(found)
        for record in found:
            if record.identity in reasons:
                store.note_why(record.configuration, record.repetition, reasons[record.identity])
    if twice:
        said = (
            f"{twice} runs are in several of the stores (same machine, start and time): each counts once, and as bad "
            "if it is marked so in one of them"
        )
        warnings.warn(EvenlyWarning(said), stacklevel=3)
    if removed:
        said = f"{removed} runs are left out, since --retry made them again in one of the stores"
        warnings.warn(EvenlyWarning(said), stacklevel=3)
    return len(found)


def _numbered(records: Sequence[Record]) -> list[Record]:
    """Return the records with the repetitions of each configuration numbered anew."""
    counts: dict[int, int] = {}
    found = []
    for record in records:
        counts[record.configuration] = repetition = counts.get(record.configuration, -1) + 1
        found.append(record._replace(repetition=repetition))
    return found


def _tell_places(paths: Sequence[Path], places: Sequence[Mapping[str, Any]]) -> None:
    """Say if the runs of the stores were made on different machines, or in different parts of a cluster."""
    for path, place in zip(paths, places, strict=True):
        for key in place.keys() & places[0].keys():
            if place[key] != places[0][key]:
                said = f"{paths[0]} and {path} hold runs with another {key}: {places[0][key]} and {place[key]}"
                warnings.warn(EvenlyWarning(f"{said}; all are learned from together"), stacklevel=4)


def _check_alike(paths: Sequence[Path], measured: Sequence[Any]) -> None:
    """Refuse stores of different studies."""
    first = measured[0] or {}
    for path, other in zip(paths, measured, strict=True):
        for key in {**first, **(other or {})}:
            before, now = first.get(key), (other or {}).get(key)
            if before != now:
                raise InputError(f"{paths[0]} and {path} hold runs of different studies: {key} is {before} and {now}")
