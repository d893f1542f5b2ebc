"""Loads a program to run: a named structure, or a user's script.

A script defines a function that returns a simulation:

    from evenly.fdtd import PML, Flux, GaussianPulse, Simulation, Source

    until = 30                                        # optional: when to stop, in a/c

    def simulation(resolution=20, radius=0.4, **keywords):
        source = Source(GaussianPulse(1.0, fwidth=0.5), "Ez", (0, 0, 0))
        return Simulation(cell=(4, 4, 0), resolution=resolution, sources=[source], boundaries=[PML(1.0)], **keywords)

    def monitors():                                   # optional: a list, or monitors by name
        return {"out": Flux((0, 0), (1.5, 1.5), [0.9, 1.0, 1.1])}

The function's parameters can be set from outside. `layout` and `options` (threads, precision) are passed to it if it
takes them, by name or with ``**keywords`` as above. Instead of a `Simulation`, it may return its keywords as a dict, or
an `Example`, or a pair of any of these and monitors. ``script.py:name`` selects another function.

>>> load("oled", {"resolution": 20}).simulation.grid.shape
(60, 60, 38)
"""

from __future__ import annotations

import ast
import inspect
import runpy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.simulation import Options, Simulation
from evenly.fdtd.structures.example import Example, Look
from evenly.fdtd.structures.solving import Solution

__all__ = ["Program", "is_script", "libraries", "load", "load_script", "refuse_meep"]


@dataclass
class Program:
    """A simulation to run, with its monitors and parameters.

    Attributes
    ----------
    name : str
    simulation : Simulation
        The simulation without its monitors, so that nothing is allocated yet.
    monitors : mapping of str to monitor
        The monitors to add before the first step.
    example : Example or None
        The example, if the program is one.
    until : float or None
        Time of the end in a/c, if the program defines one.
    look : Look
        The slice that pictures show.
    parameters : mapping
        The program's parameters.
    """

    name: str
    simulation: Simulation
    monitors: Mapping[str, FourierMonitor] = field(default_factory=dict)
    example: Example | None = None
    until: float | None = None
    look: Look | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def attach(self) -> None:
        """Add the monitors to the simulation (all ranks must call)."""
        for monitor in self.monitors.values():
            self.simulation.add(monitor)

    def finish_steps(self) -> None:
        """Complete the work that steps postpone, so that its time is counted with these steps."""
        sim = self.simulation
        sim.stepper.settle()
        with sim.timer("fourier"):
            for monitor in sim.monitors:
                monitor.flush()

    def measurement(self, **told: Any) -> Measurement:
        """Return the measurement of the steps, with the program's name and parameters (all ranks must call)."""
        parameters = {
            name: value if isinstance(value, int | float | str) and not isinstance(value, bool) else str(value)
            for name, value in self.parameters.items()
        }
        return self.simulation.measurement(name=self.name, parameters=parameters, **told)

    @property
    def solution(self) -> Solution | None:
        """Return the example with its simulation, for normalised spectra; None if the program is no example."""
        return None if self.example is None else Solution(self.example, self.simulation)


def is_script(program: str) -> bool:
    """Return whether a program is the path of a script, not the name of a structure.

    Examples
    --------
    >>> is_script("oled"), is_script("cells/mine.py:small")
    (False, True)
    """
    path, _, _ = program.partition(":")
    return path.endswith(".py") or "/" in path


def libraries(tree: ast.AST, folder: Path | None = None) -> set[Literal["fdtd", "meep"]]:
    """Return which of evenly.fdtd and Meep a script imports; or its own modules, in its folder, if it imports neither.

    Examples
    --------
    >>> libraries(ast.parse("import numpy as np; from evenly.fdtd import PML"))
    {'fdtd'}
    """
    names, beside = _imported(tree), {folder} if folder else set[Path]()
    found: dict[Literal["fdtd", "meep"], str] = {"fdtd": "evenly.fdtd.", "meep": "meep."}
    while True:
        known = {library for library, start in found.items() if any(f"{name}.".startswith(start) for name in names)}
        own = {folder / f"{name.partition('.')[0]}.py" for name in names} - beside if folder else set[Path]()
        own = {path for path in own if path.is_file()}
        if known or not own:
            return known
        beside |= own
        names = [name for path in own for name in _imported(_tree_of(path))]


def _imported(tree: ast.AST) -> list[str]:
    """Return the names of modules, and what is imported from them."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def _tree_of(path: Path) -> ast.AST:
    """Return a module's tree, an empty one where it can't be read: Python says so when it imports it."""
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def load(
    program: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    layout: BinaryPartition | None = None,
    options: Options | None = None,
) -> Program:
    """Return the program of a structure or a script; nothing large is allocated.

    Parameters
    ----------
    program : str
        A structure's name, ``"script.py"`` or ``"script.py:function"``.
    parameters : mapping, optional
        Parameters of the structure or of the function.
    layout, options
        Passed on to the simulation.

    Raises
    ------
    InputError
        If there is no such program, it doesn't take a parameter, or it returns something else.
    """
    from evenly.fdtd.structures import build

    given = dict(parameters or {})
    if is_script(program):
        return load_script(program, given, layout=layout, options=options)
    example = build(program, **given)
    return _of_example(example, layout, options)


def _of_example(example: Example, layout: BinaryPartition | None, options: Options | None) -> Program:
    simulation = Simulation(**{**example.simulation, "layout": layout, "options": options})
    return Program(
        example.name, simulation, example.monitors, example, example.until, example.look, dict(example.parameters)
    )


def load_script(
    program: str,
    parameters: Mapping[str, Any],
    *,
    layout: BinaryPartition | None = None,
    options: Options | None = None,
) -> Program:
    """Return the program that a script defines; see the module's docstring.

    Raises
    ------
    InputError
        If there is no such script or function, it doesn't take a parameter, or it returns something else.
    """
    path, _, name = program.partition(":")
    if not Path(path).is_file():
        raise InputError(f"A script that exists must be given to run, but got {path!r}.")
    refuse_meep(program)
    try:
        script = runpy.run_path(path, run_name="evenly_program")
    except SyntaxError as error:
        where = f"{error.filename or path}, line {error.lineno}"
        raise InputError(f"{where}: a script must be Python that can be read, but: {error.msg}.") from None
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path} imports {error.name}, which can't be imported here: install it; if it is a script of Meep's, say "
            "--program meep."
        ) from None
    function = script.get(name or "simulation")
    if not callable(function):
        raise InputError(f"{path} must define a function {name or 'simulation'!r} that returns a Simulation.")
    label = f"{name or 'simulation'}() of {path}"
    keywords = {"layout": layout, "options": options}
    returned = function(**_accepted(function, label, parameters, keywords))
    made, monitors = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
    result = _as_program(made, Path(path).stem, label, layout, options)
    if monitors is None and "monitors" in script:
        monitors = script["monitors"]()
    if monitors is not None:
        result.monitors = _by_name(monitors, label)
    result.until = result.until if result.until is not None else _number(script.get("until"), path)
    result.parameters = {**result.parameters, **parameters}
    return result


def refuse_meep(program: str) -> None:
    """Refuse a script of Meep, which would run its simulation to the end before a missing function is noticed.

    Parameters
    ----------
    program : str
        ``"script.py"`` or ``"script.py:function"``. Only the text of the script is read.

    Raises
    ------
    InputError
        If it imports Meep, not evenly.fdtd, and doesn't define the function.
    """
    path, _, name = program.partition(":")
    function = name or "simulation"
    tree = _tree_of(Path(path))
    defined = any(isinstance(node, ast.FunctionDef) and node.name == function for node in ast.walk(tree))
    if libraries(tree, Path(path).parent) == {"meep"} and not defined:
        raise InputError(
            f"{path} is a script of Meep and defines no function {function!r}: `evenly partition {path}` and "
            f"`evenly predict --simulation {path}` take it as it is."
        )


def _accepted(
    function: Callable[..., Any], label: str, parameters: Mapping[str, Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    kinds = inspect.signature(function).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in kinds.values())
    known = [name for name, p in kinds.items() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    for name in parameters:
        if name not in known and not takes_all:
            raise InputError(f"{label} takes no parameter {name!r}: it takes {', '.join(known) or 'none'}.")
    passed = {name: value for name, value in keywords.items() if value is not None}
    if takes_all and "layout" not in known:
        return {**parameters, **passed}
    for name, value in passed.items():
        # Not passed to the function: a layout can also be set on the simulation that it returns.
        if name not in known and name != "layout" and not (name == "options" and value == Options()):
            raise InputError(
                f"{label} takes no `{name}`, so it can't be set from outside: let it take `{name}` and pass it on to "
                "Simulation."
            )
    return {**parameters, **{name: value for name, value in passed.items() if name in known}}


def _as_program(made: Any, name: str, label: str, layout: BinaryPartition | None, options: Options | None) -> Program:
    if isinstance(made, Simulation):
        _cut(made, layout, label)
        return Program(name, made)
    if isinstance(made, Example):
        return _of_example(made, layout, options)
    if isinstance(made, Mapping):
        return Program(name, Simulation(**{**made, "layout": layout, "options": options}))
    raise InputError(
        f"{label} must return a Simulation, its keywords as a dict, or an Example (or one of them with monitors), but "
        f"returned {made!r}."
    )


def _cut(sim: Simulation, layout: BinaryPartition | None, label: str) -> None:
    """Set the layout of a simulation that was created without it."""
    if layout is None or sim.layout == layout:
        return
    if "chunks" in vars(sim):
        raise InputError(
            f"{label} returns a simulation whose chunks are made already, so it can't be cut by a layout any more: let "
            "it take `layout` and pass it on to Simulation, or add monitors and step outside it."
        )
    layout.validate(sim.grid)
    sim.layout = layout
    vars(sim).pop("chunk_boxes", None)


def _by_name(monitors: Any, label: str) -> dict[str, FourierMonitor]:
    if isinstance(monitors, Mapping):
        found = dict(monitors)
    else:
        many = monitors if isinstance(monitors, Iterable) else [monitors]
        found = {getattr(one, "name", "") or f"monitor {n}": one for n, one in enumerate(many, 1)}
    for one in found.values():
        if not isinstance(one, FourierMonitor):
            raise InputError(f"Monitors of {label} must be Flux, DftFields and the like, but got {one!r}.")
    return found


def _number(value: Any, path: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise InputError(f"`until` of {path} must be a positive time, but got {value!r}.")
    return float(value)
