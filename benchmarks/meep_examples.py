"""Tries evenly on Meep's own example scripts, unedited.

``python benchmarks/meep_examples.py EXAMPLES [--python PYTHON] [--only NAME,NAME] [--steps 150] [--runs 4]`` takes the
folder ``python/examples`` of Meep's sources. Nothing of them is in this repository. Scripts that import MPB are left
out. Some need the modules autograd, gdstk, PyMieScatt or nlopt in Meep's Python. Five scripts get the arguments that
they ask for.

For each script, it finds the cell up to the first time step, as `evenly partition` does, and cuts it for two ranks.
Then the script runs twice on two ranks, with a layout and without one. Each of its runs ends after ``--steps`` time
steps at most, and the script after ``--runs`` runs or ``--limit`` seconds. After each run, this compares all that
monitors have recorded (fluxes, forces, energies, far fields, Fourier transformed fields) and the energy of the fields.
The table has the largest difference, relative to the largest value of each.

The compared layout has three chunks of equal volume, because evenly often proposes the cut that Meep makes, too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANKS = 2
#: Largest relative difference that rounding explains: sums of many terms in another order.
ROUND_OFF = 1e-9
#: Arguments without which a script ends with its usage.
ARGUMENTS = {
    "dipole_in_vacuum_1D": ["x"],
    "dipole_in_vacuum_cyl_off_axis": ["x", "1.5"],
    "dipole_in_vacuum_cyl_on_axis": ["x"],
    "edge_emitter_2D": ["x", "0.1"],
    "edge_emitter_3D": ["x", "0.1"],
}


def inside(layout: str, out: str, steps: int, runs: int, script: list[str]) -> None:
    """Run a script twice in Meep's Python, and write what its monitors recorded without and with a layout."""
    import meep as mp

    from evenly.adapters.meep.__main__ import _Layout

    found: dict[str, list[list[float]]] = {}
    ended: list[int] = []
    usual = mp.Simulation._run_until

    def shortened(sim: Any, conditions: Any, step_funcs: Any) -> None:
        if sim.fields is None:
            sim.init_sim()
        begin = sim.fields.t
        many = conditions if isinstance(conditions, list) else [conditions]
        usual(sim, [*many, lambda sim: sim.fields.t - begin >= steps], step_funcs)
        found.setdefault(way, []).extend(_recorded(sim))
        ended.append(sim.run_index)
        if len(ended) >= runs:
            raise _Enough

    mp.Simulation._run_until = shortened
    mp.verbosity(0)
    sys.argv = script
    sys.path[0] = str(Path(script[0]).resolve().parent)
    for way in ("usual", "ours"):
        if way == "ours":
            chunks = _Layout(layout, several=True)
            chunks.install()
        ended.clear()
        why = _stopped(script[0])
        if way == "ours" and not chunks.used:
            why = f"the layout wasn't used: {chunks.refused}"
        if mp.am_master():
            Path(f"{out}.{way}").write_text(json.dumps([found.get(way, []), why]), encoding="utf-8")


def _stopped(script: str) -> str:
    """Run a script, and return why it stopped early; "" if it didn't."""
    import runpy

    try:
        runpy.run_path(script, run_name="__main__")
    except _Enough:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:120]
    return ""


class _Enough(BaseException):
    """Raised after the last run that is compared."""


def _recorded(sim: Any) -> list[list[float]]:
    """Return what each monitor recorded, as lists of real numbers; all ranks must call this."""
    import meep as mp
    import numpy as np

    whole = sim.fields.total_volume()
    found = [np.array([sim.fields.electric_energy_in_box(whole), sim.fields.magnetic_energy_in_box(whole)])]
    for monitor in sim.dft_objects:
        kind = type(monitor).__name__
        if kind == "DftFlux":
            found.append(np.array(mp.get_fluxes(monitor)))
        elif kind == "DftForce":
            found.append(np.array(mp.get_forces(monitor)))
        elif kind == "DftEnergy":
            found.append(np.array(mp.get_total_energy(monitor)))
        elif kind == "DftNear2Far":
            found.append(np.array(sim.get_farfield(monitor, mp.Vector3(11.0, 0 if sim.is_cylindrical else 7.0, 5.0))))
        elif kind == "DftFields":
            found += [np.array(sim.get_dft_array(monitor, code, 0)).ravel() for code in monitor.args[0]]
    return [np.concatenate([values.real, values.imag]).tolist() for values in found]


def _layout_of(script: Path, python: str | None, folder: Path) -> tuple[str, str]:
    """Return the reason why there is no layout for a script, or "", and the file of the layout."""
    from evenly.adapters.meep.cell.scripts import cell_of_script
    from evenly.decomposition.partitioning.partition import partition
    from evenly.decomposition.partitioning.shifted_layouts import moved
    from evenly.errors import EvenlyError
    from evenly.fdtd.cell.partition import BinaryPartition

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cell = cell_of_script(script, ARGUMENTS.get(script.stem, ()), RANKS, python)
            partition(cell, RANKS)
    except EvenlyError as error:
        lines = str(error).strip().splitlines()
        return lines[-1] if len(lines) > 1 else lines[0], ""
    path = folder / f"{script.stem}.json"
    # Owners are taken modulo the number of processes.
    moved(BinaryPartition.equal(cell.grid, min(3, cell.grid.box.volume)), cell.center).save(path)
    return "", str(path)


def _ran(script: Path, layout: str, given: Any, python: str, folder: Path) -> tuple[dict[str, Any], str]:
    """Return what monitors recorded and why the script stopped, without and with a layout, and why both ended."""
    from evenly.adapters.meep.cell.interpreter import environment, find_mpirun, package_folder

    out = folder / "recorded"
    ways = {way: Path(f"{out}.{way}") for way in ("usual", "ours")}
    for path in ways.values():
        path.unlink(missing_ok=True)
    mpirun = find_mpirun(Path(python)) or shutil.which("mpirun")
    command = [str(mpirun), "--oversubscribe", "-n", str(RANKS), python, str(Path(__file__).resolve()), "--inside"]
    command += [layout, str(out), str(given.steps), str(given.runs)]
    command += [script.name, *ARGUMENTS.get(script.stem, ())]
    why = ""
    with package_folder() as package:
        variables = os.environ | environment(package, **AS_ROOT, MPLBACKEND="Agg")
        started = subprocess.Popen(
            command, env=variables, cwd=script.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            said, _ = started.communicate(timeout=given.limit)
            if started.returncode:
                errors = [line for line in said.splitlines() if "Error" in line or "meep:" in line]
                why = (errors or ["it failed"])[-1].strip()[:120]
        except subprocess.TimeoutExpired:
            started.terminate()
            started.communicate()
            why = f"cut off after {given.limit:g} s"
    return {way: json.loads(path.read_text()) for way, path in ways.items() if path.is_file()}, why


def _apart(usual: list[list[float]], ours: list[list[float]]) -> float:
    import numpy as np

    apart = 0.0
    for a, b in zip(usual, ours, strict=False):
        if len(a) != len(b):
            return float("inf")
        if a and (largest := float(np.abs(a).max())) > 1e-20:
            apart = max(apart, float(np.abs(np.subtract(a, b)).max()) / largest)
    return apart


def _compared(script: Path, layout: str, given: Any, python: str, folder: Path) -> tuple[str, str]:
    """Return a verdict on a script with its layout, and details."""
    found, why = _ran(script, layout, given, python, folder)
    usual, stopped = found.get("usual", ([], why))
    if not usual:
        return "not compared", f"without a layout: {stopped or 'nothing was recorded'}"
    if "ours" not in found and why.startswith("cut off"):
        return "not compared", why
    ours, broke = found.get("ours", ([], why))
    if not ours or broke != stopped:
        return "wrong", f"only with a layout: {broke or 'nothing was recorded'}"
    apart = _apart(usual, ours)
    told = f"{apart:.0e} over {min(len(usual), len(ours))} records" + (f"; {stopped}" if stopped else "")
    return ("equal" if apart <= ROUND_OFF and len(usual) == len(ours) else "wrong"), told


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--inside"]:
        layout, out, steps, runs, *script = sys.argv[2:]
        inside(layout, out, int(steps), int(runs), script)
        return
    from evenly.adapters.meep.cell.interpreter import find_python

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--python")
    parser.add_argument("--only", default="")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--after", default="", help="The script after which to begin.")
    parser.add_argument("--without-runs", action="store_true", help="Only cut the cells.")
    given = parser.parse_args()
    python, counts = str(find_python(given.python)), Counter[str]()
    print("| script | layout | with and without |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        # Scripts read files beside them, and write others.
        copy = shutil.copytree(given.examples, folder / "examples")
        for script in sorted([*copy.glob("*.py"), *copy.glob("*/*.py")]):
            if "mpb" in script.read_text(encoding="utf-8") or (given.only and script.stem not in given.only.split(",")):
                continue
            if script.stem <= given.after:
                continue
            os.chdir(script.parent)
            refused, layout = _layout_of(script, python, folder)
            verdict, told = ("refused", "") if refused else ("accepted", "")
            if not refused and not given.without_runs:
                verdict, told = _compared(script, layout, given, python, folder)
            counts[verdict] += 1
            print(f"| {script.stem} | {refused or 'yes'} | {verdict} {told} |", flush=True)
        os.chdir(given.examples)
    print(f"\n{sum(counts.values())} scripts: {', '.join(f'{n} {verdict}' for verdict, n in sorted(counts.items()))}")


if __name__ == "__main__":
    main()
