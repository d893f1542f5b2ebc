"""Program for Meep's Python: runs an unchanged script up to its first time step and saves the cell to a file.

``python -m evenly.adapters.meep.cell.script_runner REQUEST script.py [arguments]``, where REQUEST is a JSON file. The
module `scripts` starts it. The script is not changed. Instead, ``meep.Simulation.run`` and the other methods that step
are replaced.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenly.errors import EvenlyError, EvenlyWarning

__all__ = ["main"]

#: Exit codes of the process.
FOUND, NOTHING, FAILED, REFUSED = 0, 3, 4, 5
#: Methods of a simulation that make steps, or that call such methods.
STEPPING = (
    "run", "run_k_point", "run_k_points", "solve_cw", "solve_eigfreq",
    "_run_until", "_run_sources_until", "_run_sources",
)  # fmt: skip


class _Reached(BaseException):
    """Raised at the requested step. No ``except Exception`` of a script catches it."""


class _Watch:
    """Counts the simulations that run, and saves the cell of one of them.

    Parameters
    ----------
    request : mapping
        `cell`: the file of the cell; `simulation`: its number among the simulations that run, from 1; `name`; `ranks`.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.seen: list[tuple[Any, int]] = []
        self.resets: dict[int, int] = {}

    def install(self) -> None:
        """Replace the methods that step, and the functions that depend on the number of processes."""
        import meep

        from evenly.adapters.meep import layouts

        kind = meep.Simulation
        for name in STEPPING:
            setattr(kind, name, self._instead(name, getattr(kind, name)))
        self._around(kind, "reset_meep", self._count_reset)
        ranks = int(self.request["ranks"])
        meep.count_processors = lambda: ranks
        meep.divide_parallel_processes = lambda _groups: 0
        # The script may name a layout file that does not exist yet.
        layouts.layout = lambda source: None  # noqa: ARG005 - as the function it replaces

    def _instead(self, name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(sim: Any, *args: Any, **kwargs: Any) -> Any:
            number = self._number(sim)
            if number < self.request["simulation"]:
                return None
            self._take(sim, name, args, kwargs)
            raise _Reached

        stepped.__doc__ = usual.__doc__
        return stepped

    def _take(self, sim: Any, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        from evenly.adapters.meep.cell.cell import cell_of
        from evenly.adapters.meep.cell.run_length import steps_of_run

        own = sim._chunk_layout_original  # Meep sets chunk_layout itself when it makes the chunks
        if own is not None and not hasattr(own, "of_evenly"):
            said = (
                "the simulation has a chunk_layout of its own, which isn't counted: a run on a layout by "
                "`python3 -m evenly.adapters.meep` replaces it"
            )
            warnings.warn(EvenlyWarning(said), stacklevel=2)
        cell = cell_of(sim, name=self.request["name"])
        steps = steps_of_run(sim, method, args, kwargs, cell.grid.dt)
        known = {} if steps is None else {"steps": float(steps)}
        replace(cell, traits={**cell.traits, **known}).save(self.request["cell"])

    def _number(self, sim: Any) -> int:
        """Return the number of a simulation among those that ran, from 1. After a reset, it has a new number."""
        key = self.resets.get(id(sim), 0)
        for number, (other, resets) in enumerate(self.seen, 1):
            if other is sim and resets == key:
                return number
        self.seen.append((sim, key))
        return len(self.seen)

    def _around(self, kind: Any, name: str, noted: Callable[[Any], None]) -> None:
        usual = getattr(kind, name)

        def wrapped(sim: Any, *args: Any, **kwargs: Any) -> Any:
            noted(sim)
            return usual(sim, *args, **kwargs)

        wrapped.__doc__ = usual.__doc__
        setattr(kind, name, wrapped)

    def _count_reset(self, sim: Any) -> None:
        self.resets[id(sim)] = self.resets.get(id(sim), 0) + 1


def main(arguments: list[str]) -> int:
    """Run a script up to the requested step, and write the result to the request's `report`."""
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    script = arguments[1]
    watch = _Watch(request)
    watch.install()
    sys.argv = arguments[1:]
    sys.path[0] = str(Path(script).resolve().parent)
    report: dict[str, Any] = {"notes": []}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        status = _run(script, report)
    report["notes"] = sorted({str(w.message) for w in caught if issubclass(w.category, EvenlyWarning)})
    report["seen"] = len(watch.seen)
    Path(request["report"]).write_text(json.dumps(report), encoding="utf-8")
    return status


def _run(script: str, report: dict[str, Any]) -> int:
    try:
        runpy.run_path(script, run_name="__main__")
    except _Reached:
        return FOUND
    except EvenlyError as error:
        report["error"] = str(error)
        return REFUSED
    except ModuleNotFoundError as error:
        report["missing"] = error.name
        report["error"] = _trimmed(error, script)
        return FAILED
    except SystemExit as error:
        if error.code in (None, 0):
            return NOTHING
        report["error"] = f"SystemExit: {error.code}"
        return FAILED
    except BaseException as error:
        report["error"] = _trimmed(error, script)
        return FAILED
    return NOTHING


def _trimmed(error: BaseException, script: str) -> str:
    """Return the part of the traceback that begins with the script's own lines."""
    found = traceback.TracebackException.from_exception(error)
    own = [n for n, frame in enumerate(found.stack) if Path(frame.filename).name == Path(script).name]
    if own:
        found.stack = traceback.StackSummary.from_list(found.stack[own[0] :])
    return "".join(found.format()).rstrip()


if __name__ == "__main__":
    # Exit handlers are skipped: those of Meep print statistics, and may wait for other processes.
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
