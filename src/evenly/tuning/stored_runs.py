"""Runs of a search in a store: what a search is told of them, and the store of `evenly.tune(store=…)`."""

from __future__ import annotations

import math
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from evenly.campaign.corrections import MARKED
from evenly.campaign.making import Run
from evenly.campaign.record import Record
from evenly.campaign.store import Store, inside
from evenly.errors import EvenlyWarning, InputError
from evenly.runs.columns import Status
from evenly.space.space import Space
from evenly.tuning.function_code import code_of
from evenly.tuning.search import Search

__all__ = ["KeptRuns", "tell_stored"]


def tell_stored(search: Search, store: Store) -> str:
    """Tell a search the runs of a store, in the order they were made, and those under way.

    Returns which runs it doesn't learn from, if any.

    It learns neither from configurations that the study doesn't have any more, nor from runs that are marked as bad.
    """
    known, whys = store.configurations(), store.whys()
    there = inside(search.space, known)
    bad: list[Record] = []
    for record in store.records():
        if record.configuration not in there:
            continue
        configuration = {name: known[record.configuration][name] for name in search.space.names}
        if record.message.startswith(MARKED):
            bad.append(record)
            search.trials.leave_out(configuration)
            continue
        seconds = record.quantities.get("seconds", math.nan)
        # The status decides whether a run succeeded: its seconds alone don't show it.
        bound = record.quantities.get("at_least", seconds) if record.status == "timed out" else math.nan
        search.tell(
            configuration, seconds if record.status == "ok" else None,
            at_least=bound if math.isfinite(bound) else None,
            why=whys.get((record.configuration, record.repetition), "told"),
        )  # fmt: skip
    for mark, _ in store.left_running():
        next_run = Run.of(mark).next
        if next_run.configuration in there:
            configuration = {name: known[next_run.configuration][name] for name in search.space.names}
            search.trials.ask(configuration, whys.get((next_run.configuration, next_run.repetition), "told"))
    gone = {number for number in (record.configuration for record in store.records()) if number not in there}
    return "; ".join(filter(None, [_gone(gone, known, search.space.names), _bad(bad, known)]))


def _gone(gone: set[int], known: Mapping[int, Mapping[str, Any]], names: Sequence[str]) -> str:
    if not gone:
        return ""
    these = f"{len(gone)} configurations that aren't" if len(gone) > 1 else "1 configuration that isn't"
    first = ", ".join(f"{name} = {known[min(gone)][name]}" for name in names)
    return (
        f"runs of {these} in the study any more ({first}{', …' * (len(gone) > 1)}): the search doesn't use them, and "
        "they stay in the table"
    )


def _bad(bad: Sequence[Record], known: Mapping[int, Mapping[str, Any]]) -> str:
    if not bad:
        return ""
    told = [
        ", ".join(f"{name} = {value}" for name, value in known[record.configuration].items())
        + f": {record.message.removeprefix(MARKED)}"
        for record in bad[:3]
    ]
    these = f"{len(bad)} runs that are" if len(bad) > 1 else "1 run that is"
    shown = "; ".join(told) + "; …" * (len(bad) > 3)
    return f"{these} marked as bad ({shown}): the search doesn't learn from such runs; --retry makes them again"


class KeptRuns:
    """The store of a search of a Python function: each run is kept as it ends, as by `evenly tune`.

    Parameters
    ----------
    path : path
    space : Space
    run : callable
        The function, whose name the store knows.

    Raises
    ------
    InputError
        If the file holds runs of another function or of other parameters.
    ReadError
        If it isn't the file of a campaign, or is damaged.
    """

    def __init__(self, path: Path | str, space: Space, run: Callable[..., Any]) -> None:
        self._space, self._store = space, Store(Path(path))
        name = getattr(run, "__qualname__", type(run).__qualname__)
        now = {"callable": f"{getattr(run, '__module__', '')}:{name}", "parameters": sorted(space.names)}
        before = self._store.about("measured_as")
        if before not in (None, now):
            self._store.close()
            changed = next((key for key in now if (before or {}).get(key) != now[key]), "command")
            raise InputError(
                f"{path} holds runs of another search: {changed} was {(before or {}).get(changed)}, now it is "
                f"{now.get(changed, 'not set')}: give another store"
            )
        self._code = code_of(run)
        self._following = {record.configuration: record.repetition + 1 for record in self._store.records()}
        self._store.note("measured_as", now)
        self._store.note("kind", "search")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def _tell_changed(self) -> None:
        """Warn as long as the file has runs of another function than others: each call would mix them."""
        before = self._store.about("function_as") or {}
        same_python = before.get("python") == self._code["python"]
        if self._store.count() and (before.get("mixed") or (same_python and before["code"] != self._code["code"])):
            self._code = {**self._code, "mixed": "yes"}
            warnings.warn(
                EvenlyWarning(
                    f"{self._store.path} holds runs that were made before the function was changed, or a value that it "
                    "uses: if that changes how long runs take, keep the new runs in another file (store=)"
                ),
                stacklevel=5,
            )

    def tell(self, search: Search) -> None:
        """Tell a search the runs that were made before."""
        self._tell_changed()
        if said := tell_stored(search, self._store):
            warnings.warn(EvenlyWarning(f"{self._store.path}: {said}"), stacklevel=5)

    def add(
        self, configuration: Mapping[str, Any], status: Status, seconds: float, why: str, *,
        started: float, took: float, message: str = "",
    ) -> None:  # fmt: skip
        """Keep a run: its seconds, or their lower bound if it was ended early, or nan if it failed."""
        self._store.note("function_as", self._code)
        (number,) = self._store.add_configurations([configuration])
        repetition = self._following.get(number, 0)
        self._following[number] = repetition + 1
        quantities = {"seconds": seconds} if math.isfinite(seconds) else {}
        self._store.note_why(number, repetition, why)
        self._store.add(
            Record(
                number, repetition, status, quantities, message=message, started=started, took=took,
                machine=platform.node(),
            )
        )  # fmt: skip
