"""The cell of a user's Meep script, which is run unchanged in Meep's own Python up to its first time step.

evenly need not be installed there. The child process gets evenly's sources on its path, but no other package of this
environment.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenly.adapters.meep.cell.interpreter import environment, find_python, package_folder
from evenly.adapters.meep.cell.script_runner import FAILED, FOUND, NOTHING, REFUSED
from evenly.decomposition.cells.cell import Cell
from evenly.errors import EvenlyWarning, InputError, RunFailed
from evenly.processes import scratch_folder

__all__ = ["cell_of_script"]

_LINES = 12


def cell_of_script(
    script: Path | str, args: Sequence[str] = (), ranks: int = 1, python: str | None = None, *, simulation: int = 1
) -> Cell:
    """Return the cell of a simulation of a Meep script.

    The script runs unchanged until the simulation's first step; all monitors added before this step are included.
    Simulations that would run earlier are skipped without a step. The script sees `ranks` processes, so values that it
    computes from this number are right.

    Parameters
    ----------
    script : path
    args : sequence of str
        The script's own arguments.
    ranks : int
        Number of processes of the later run.
    python : str, optional
        Meep's Python; see `evenly.adapters.meep.cell.interpreter.find_python`.
    simulation : int
        Number of the simulation among those that run, from 1; a simulation counts again after a reset.

    Raises
    ------
    InputError
        If there is no such script or Python, the script runs no (or not so many) simulations, it imports a module that
        is missing, or the simulation can't be cut.
    RunFailed
        If the script fails before the first step. The message has the last lines of its output.

    Warns
    -----
    EvenlyWarning
        If the script may make other simulations after the first, which was taken, or if something that takes time is
        not counted.
    """
    path = Path(script)
    if not path.is_file():
        raise InputError(f"There is no script {path}.")
    if simulation < 1:
        raise InputError(f"`simulation` counts from 1, but got {simulation}.")
    found = find_python(python)
    with scratch_folder() as folder:
        request = {
            "cell": str(folder / "cell.npz"),
            "report": str(folder / "report.json"),
            "simulation": simulation,
            "ranks": ranks,
            "name": path.stem,
        }
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        result = _run(str(found), [str(folder / "request.json"), str(path), *args])
        report = _report(folder / "report.json")
        if result.returncode == FOUND:
            _tell(path, report, simulation)
            return Cell.load(folder / "cell.npz")
    if report.get("missing"):
        raise InputError(
            f"{path} imports {report['missing']!r}, which Meep's Python, {found}, doesn't have: install it there, or "
            "name another Python by --python."
        )
    raise _problem(path, result, report, simulation)


def _run(python: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "evenly.adapters.meep.cell.script_runner", *arguments]
    with package_folder() as package:
        # The script must still find the user's own modules.
        path = os.pathsep.join(part for part in (str(package), os.environ.get("PYTHONPATH", "")) if part)
        variables = environment(package, PYTHONPATH=path)
        variables.pop("MEEP_STATS", None)
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def _report(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _tell(path: Path, report: dict[str, Any], simulation: int) -> None:
    for text in report.get("notes", ()):
        warnings.warn(f"{path}: {text}", EvenlyWarning, stacklevel=3)
    if simulation == 1 and report["others"]:
        said = (
            f"{path} may make several simulations: this is the first that runs (--which 2 takes the second). Times and "
            "costs are those of this simulation alone: the script takes the sum over all simulations. A run on a "
            "layout uses it for each simulation whose cell has this size; those of other sizes get Meep's own chunks."
        )
        warnings.warn(said, EvenlyWarning, stacklevel=3)


def _problem(path: Path, result: Any, report: dict[str, Any], simulation: int) -> Exception:
    if result.returncode == NOTHING:
        ran = int(report.get("seen", 0))
        if ran:
            return InputError(f"{path} runs {ran} simulation(s), so there is no simulation {simulation}.")
        return InputError(
            f"{path} ended without a step of a simulation of Meep: give the script that makes steps, with the "
            "arguments that it needs for this."
        )
    if result.returncode == REFUSED:
        return InputError(f"{path}: {report['error']}")
    said = f"{result.stdout}\n{result.stderr}"
    text = str(report.get("error", "")) if result.returncode == FAILED else said
    if text.startswith("SystemExit"):
        # For example, a message of the script about its own arguments.
        text = f"{said}\n{text}\nArguments of the script are given with --args, as in --args '40 --size 3'."
    last = "\n".join(text.strip().splitlines()[-_LINES:])
    if result.returncode < 0:
        last = f"Meep ended with signal {signal.Signals(-result.returncode).name}. Its last lines:\n{last}"
    hint = " (the simulations before it make no steps, and measure nothing)" if simulation > 1 else ""
    whose = f"the first time step of simulation {simulation}{hint}" if simulation > 1 else "its first time step"
    return RunFailed(f"{path} failed before {whose}:\n{last}", exit_code=int(result.returncode), output=text)
