"""Runs the stages of the demo one after the other; a stage that fails does not stop the others."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from time import perf_counter

from evenly.demo.extent import NORMAL, Extent
from evenly.demo.findings import Findings
from evenly.demo.stages import STAGES, Told, why_no_ranks
from evenly.errors import EvenlyError, InputError
from evenly.fdtd.measurement.measure import available_cores

__all__ = ["Shown", "run_loop"]

#: Takes the description of a stage, and shows the stage's progress while it runs.
Shown = Callable[[str], AbstractContextManager[Told]]
#: Most ranks of the example.
_MOST_RANKS = 4


def run_loop(folder: Path, shown: Shown, *, extent: Extent = NORMAL, stages: Iterable[str] = tuple(STAGES)) -> Findings:
    """Run the stages and return their findings.

    Parameters
    ----------
    folder : Path
        Folder for all files; created if it is missing.
    shown : callable
        Shows progress.
    extent : Extent
    stages : iterable of str
        Names of the stages to run, in order.

    Raises
    ------
    InputError
        If the folder can't be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"nothing can be written to {folder}: {error.strerror or error}: name another folder"
        ) from None
    cores = available_cores()
    found = Findings(folder, extent, max(2, min(_MOST_RANKS, cores)), why_no_ranks(cores))
    for name in stages:
        _stage(name, found, shown)
    return found


def _stage(name: str, found: Findings, shown: Shown) -> None:
    text, function = STAGES[name]
    begin = perf_counter()
    try:
        with shown(text) as told:
            function(found, told)
    except EvenlyError as error:
        found.failures[name] = str(error)
    except Exception as error:
        # A defect of evenly: the page reports it, and the other stages still run.
        (found.folder / f"{name}-error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        found.failures[name] = f"{type(error).__name__}: {error}; all of it is in {name}-error.txt"
    found.seconds[name] = perf_counter() - begin
