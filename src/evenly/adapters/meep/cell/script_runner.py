"""Program for Meep's Python: runs an unchanged script up to its first time step and saves the cell to a file.

``python -m evenly.adapters.meep.cell.script_runner REQUEST script.py [arguments]``, where REQUEST is a JSON file. The
module `scripts` starts it. The script is not changed. Instead, ``meep.Simulation.run`` and the other methods that step
are replaced.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakSet

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
    script : str
    """

    def __init__(self, request: dict[str, Any], script: str) -> None:
        self.request, self.script = request, script
        self.seen: list[tuple[Any, int]] = []
        self.resets: dict[int, int] = {}
        self.made: WeakSet[Any] = WeakSet()
        #: What the structures of simulations that have one are made of: geometry, default material, other materials.
        self.materials: dict[int, tuple[list[Any], Any, list[Any]]] = {}
        self.others = False
        self.skipped: WeakSet[Any] = WeakSet()

    def install(self) -> None:
        """Replace the methods that step, and the functions that depend on the number of processes."""
        import meep

        from evenly.adapters.meep import layouts

        kind = meep.Simulation
        for name in STEPPING:
            setattr(kind, name, self._instead(name, getattr(kind, name)))
        meep.fields.step = self._direct(meep.fields.step)
        noted: dict[str, Callable[..., Any]] = {
            "__init__": lambda sim, *_args, **_kwargs: self.made.add(sim),
            "reset_meep": self._count_reset,
            "_init_structure": lambda sim, *_args, **_kwargs: self._keep_materials(sim),
            "set_materials": self._keep_materials,
            "set_epsilon": lambda *_args, **_kwargs: _say("what set_epsilon sets isn't counted"),
        }
        for name, note in noted.items():
            self._around(kind, name, note)
        for name in [name for name in dir(kind) if name.startswith("get_") or name.endswith("_in_box")]:
            self._around(kind, name, self._begin_skipped)
        ranks = int(self.request["ranks"])
        meep.count_processors = lambda: ranks
        meep.divide_parallel_processes = _one_group
        # The script may name a layout file that does not exist yet.
        layouts.layout = lambda source: None  # noqa: ARG005 - as the function it replaces

    def _instead(self, name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
        arguments = inspect.signature(usual)

        def stepped(sim: Any, *args: Any, **kwargs: Any) -> Any:
            if self._number(sim) < self.request["simulation"]:
                self.skipped.add(sim)
                return None
            given = arguments.bind(sim, *args, **kwargs).arguments
            self._take(sim, name, {**given, **given.get("kwargs", {})})
            raise _Reached

        stepped.__doc__ = usual.__doc__
        return stepped

    def _direct(self, usual: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return what takes the place of a step that a script itself makes: ``sim.fields.step()``."""

        def stepped(fields: Any) -> Any:
            sim = next((one for one in self.made if one.fields is fields), None)
            if sim is None:
                return usual(fields)
            if self._number(sim) < self.request["simulation"]:
                fields.t += 1  # a loop may end at a time
                return None
            self._take(sim, "step", {})
            raise _Reached

        return stepped

    def _take(self, sim: Any, method: str, given: Mapping[str, Any]) -> None:
        import meep

        from evenly.adapters.meep.cell.cell import cell_of
        from evenly.adapters.meep.cell.run_length import steps_of_run

        self.others = self._others_follow()
        self._restore_materials(sim)
        _take_k(sim, given, meep.Vector3())
        for text in _uncounted(sim, given):
            _say(text)
        cell = cell_of(sim, name=self.request["name"])
        steps = steps_of_run(sim, method, given, cell.grid.dt)
        known = {} if steps is None else {"steps": float(steps)}
        replace(cell, traits={**cell.traits, **known}).save(self.request["cell"])

    def _others_follow(self) -> bool:
        """Return whether other simulations than the one that is about to run may run after it."""
        import meep

        from evenly.adapters.meep.cell.simulations_made import makes_others_after

        library = Path(meep.__file__).parent
        trusted, adjoint = [str(Path(__file__).parents[3]), str(library)], str(library / "adjoint" / "")
        return len(self.made) > 1 or makes_others_after(self.script, sys._getframe(), trusted, adjoint)

    def _keep_materials(self, sim: Any, geometry: Any = None, default_material: Any = None) -> None:
        from evenly.adapters.meep.cell.media import bare, susceptibilities

        things = [copy(thing) for thing in (sim.geometry if geometry is None else geometry)]
        others = [default_material or sim.default_material, *sim.extra_materials]
        if sim.fields is not None:
            # Meep removes the susceptibilities of fields that exist, and makes no new ones.
            if susceptibilities([*(thing.material for thing in things), *others]):
                _say("after init_sim, Meep's set_materials leaves out all susceptibilities: none is counted")
            others = [bare(material) for material in others]
            for thing in things:
                thing.material = bare(thing.material)
        self.materials[id(sim)] = things, others[0], others[1:]

    def _restore_materials(self, sim: Any) -> None:
        """Give a simulation the materials of which its structure is made, which it may no longer name itself."""
        if sim.structure is not None and id(sim) in self.materials:
            sim.geometry, sim.default_material, sim.extra_materials = self.materials[id(sim)]

    def _number(self, sim: Any) -> int:
        """Return the number of a simulation among those that ran, from 1. After a reset, it has a new number."""
        key = self.resets.get(id(sim), 0)
        for number, (other, resets) in enumerate(self.seen, 1):
            if other is sim and resets == key:
                return number
        self.seen.append((sim, key))
        return len(self.seen)

    def _around(self, kind: Any, name: str, noted: Callable[..., Any]) -> None:
        usual = getattr(kind, name)

        @functools.wraps(usual)
        def wrapped(sim: Any, *args: Any, **kwargs: Any) -> Any:
            noted(sim, *args, **kwargs)
            return usual(sim, *args, **kwargs)

        setattr(kind, name, wrapped)

    def _begin_skipped(self, sim: Any, *_args: Any, **_kwargs: Any) -> None:
        """Give a simulation that was skipped its fields and spectra, which are 0, when a script reads them."""
        if sim in self.skipped:
            self.skipped.discard(sim)
            sim.init_sim()
            sim._evaluate_dft_objects()

    def _count_reset(self, sim: Any) -> None:
        self.resets[id(sim)] = self.resets.get(id(sim), 0) + 1


def _one_group(groups: int) -> int:
    """Return the number of the only group, in place of ``meep.divide_parallel_processes``, and say what is assumed."""
    if groups > 1:
        _say(
            f"the script divides its processes into {groups} groups, and each simulation runs on one of them: --ranks "
            "is taken for the processes of one group"
        )
    return 0


def _say(text: str) -> None:
    warnings.warn(EvenlyWarning(text), stacklevel=2)


def _take_k(sim: Any, given: Mapping[str, Any], zero: Any) -> None:
    """Give a simulation the k at which a call of ``run_k_points`` or ``run_k_point`` steps: the first that isn't 0."""
    points = list(given.get("k_points") or [given[name] for name in ("k",) if name in given])
    if points:
        others = [k for k in points if k != zero]
        sim.k_point = [*others, zero][0]
        if others and len(others) < len(points):
            _say("run_k_points runs at k = 0, too, where fields are real: a step at another k is counted")


def _uncounted(sim: Any, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a user must know of a run that isn't counted; `given` are the arguments of the call that starts it."""
    import meep

    from evenly.adapters.meep.cell.media import rough_costs, without_costs

    own = sim._chunk_layout_original  # Meep sets chunk_layout itself when it makes the chunks
    if own is not None and not hasattr(own, "of_evenly"):
        yield (
            "the simulation has a chunk_layout of its own, which isn't counted: a run on a layout by "
            "`python3 -m evenly.adapters.meep` replaces it"
        )
    for kind, times in rough_costs(sim).items():
        yield (
            f"the predicted step is a rough one: evenly counts {times:g} times the work of a Lorentzian susceptibility "
            f"for each {kind}, as was measured on one machine"
        )
    if kinds := without_costs(sim):
        yield (
            f"a step takes longer than predicted: evenly has no costs for {', '.join(kinds)}, and counts each as a "
            "Lorentzian susceptibility"
        )
    if len(sim.symmetries) == 1 and isinstance(sim.symmetries[0], meep.Rotate2):
        yield (
            "the only symmetry is Rotate2, with which Meep's fluxes and other transforms miss points, on any layout: "
            "use two mirrors or Rotate4 where the structure allows it (docs/meep.md)"
        )
    if given.get("step_funcs"):
        yield "the run calls functions between its steps (output, for example): their time comes on top"
    modes = any(isinstance(source, meep.EigenModeSource) for source in sim.sources)
    if modes and importlib.util.find_spec("meep.mpb") is None:
        yield f"the script can't run with {sys.executable}: it has an EigenModeSource, and this Meep has no MPB"


def main(arguments: list[str]) -> int:
    """Run a script up to the requested step, and write the result to the request's `report`."""
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    script = arguments[1]
    watch = _Watch(request, script)
    watch.install()
    sys.argv = arguments[1:]
    sys.path[0] = str(Path(script).resolve().parent)
    report: dict[str, Any] = {"notes": []}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        status = _run(script, report)
    report["notes"] = sorted({str(w.message) for w in caught if issubclass(w.category, EvenlyWarning)})
    report["seen"], report["others"] = len(watch.seen), watch.others
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
