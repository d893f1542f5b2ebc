"""Whether the runs in a file are those of a study: runs of two programs must not be learned from as one."""

from __future__ import annotations

import platform
import warnings
from typing import Any, NoReturn

from evenly.campaign.making import Run
from evenly.campaign.store import Store
from evenly.campaign.study import Study
from evenly.errors import EvenlyWarning, InputError
from evenly.launch import launcher_class

__all__ = ["check_same", "note_place", "tell_changed", "tell_place"]

#: The command that makes the runs of a plan, and of a search.
_COMMAND = {"plan": "measure", "search": "tune"}


def check_same(study: Study, store: Store) -> None:
    """Check that a file holds runs of a study, and note in a new file what its runs measure.

    Raises
    ------
    InputError
        If the file holds runs of another study, or evenly would not write it.
    """
    now, before = study.measured_as(), store.about("measured_as")
    jobs = [Run.of(mark) for mark, launcher in store.left_running() if launcher_class(launcher).outlives]
    # Files of older versions of evenly say less of what they measure.
    changed = [key for key, value in now.items() if (before or {}).get(key, value) != value]
    kind, kind_before = "search" if study.plan.design == "tune" else "plan", store.about("kind")
    if kind_before not in (None, kind):
        # A plan adds its configurations to the file, and a search would go on with all of them.
        raise InputError(
            f"{store.path} holds runs of a {kind_before}: `evenly {_COMMAND[kind_before]}` goes on with them; give "
            f"`evenly {_COMMAND[kind]}` another file (--store)"
        )
    if jobs and changed:
        _refuse(store, changed[0], before, now, f"holds {len(jobs)} jobs under way")
    if before is None and store.count():
        _warn(store, "doesn't tell what its runs measured: they are taken for runs of this study")
    if before is None or not any(record.status == "ok" for record in store.each()):
        # A file without a successful run holds no results, so a corrected study may replace its contents.
        if changed:
            if n := store.count():
                _warn(store, f"held {n} runs, which all failed: they are deleted, since the study was changed")
            store.clear()
        store.note("measured_as", now)
        store.note("kind", kind)
    elif changed:
        _refuse(store, changed[0], before, now, "holds runs")


def tell_place(study: Study, store: Store) -> None:
    """Say if earlier runs were made elsewhere than further ones will be."""
    before = store.about("placed_as") or {}
    for key, value in _place(study).items():
        if before.get(key, value) != value:
            _warn(
                store,
                f"holds runs with {key} {_shown(before[key])}; now it is {_shown(value)}. All are learned from "
                "together: if their times differ, keep the new runs in another file (--store)",
            )


def tell_changed(study: Study, store: Store) -> None:
    """Say if a file that the command names was changed after the last run: what it holds isn't compared."""
    program = study.program
    names = [word.text for word in program.words] or [f"{program.callable.partition(':')[0]}.py"]
    files = [path for name in names if (path := study.folder / name).is_file()]
    changed = [file.name for file in files if file.stat().st_mtime > store.last_end()]
    if changed := changed or [name for name in [store.about("changed_before")] if name]:
        store.note("changed_before", changed[0])
        _warn(
            store,
            f"holds runs that were made before {changed[0]} was changed: if that changes how long runs take, keep the "
            "new runs in another file (--store)",
        )


def note_place(study: Study, store: Store) -> None:
    """Note where the first further run was made that went well."""
    store.note("placed_as", _place(study))


def _place(study: Study) -> dict[str, Any]:
    """Return where runs are made, as far as it may change how long they take."""
    here = {"machine": platform.node()} if launcher_class(study.program.launcher).pins else {}
    return {**here, **study.placed_as()}


def _refuse(store: Store, key: str, before: Any, now: dict[str, Any], holds: str) -> NoReturn:
    raise InputError(
        f"{store.path} {holds} of another study: {key} was {_shown((before or {}).get(key))}, now it is "
        f"{_shown(now[key])}: keep the new runs in another file (--store), or delete this one"
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value or value == 0 else "not set"


def _warn(store: Store, said: str) -> None:
    warnings.warn(EvenlyWarning(f"{store.path} {said}"), stacklevel=6)
