"""Tries evenly on Meep's own example scripts, unedited.

``python benchmarks/meep_examples.py EXAMPLES [--python PYTHON] [--only NAME,NAME] [--seconds 12]`` takes the folder
``python/examples`` of Meep's sources. Nothing of them is in this repository. Scripts that import MPB are left out. Some
need the modules autograd, gdstk, PyMieScatt or nlopt in Meep's Python. Five scripts get the arguments that they ask
for.

For each script, it finds the cell up to the first time step, as `evenly partition` does, and cuts it for two ranks.
Then the script runs twice, on two processes or as many as ``--processes`` says: without a layout and with one. Without
one, runs end by their own conditions or after half of ``--seconds``, and the script after ``--seconds``; with one, they
make as many steps. After each run, this compares all that monitors have recorded (fluxes, forces, energies, far fields,
Fourier transformed fields) and the energy of the fields. The table has the largest difference, relative to the largest
value of each. Where records differ, the script runs once more with chunks that Meep itself cuts otherwise: some of what
Meep's `get_dft_array` returns depends on those, too.

If Meep has no MPB, plain currents replace sources of modes in all runs, and the table says so. Where `h5topng`, which
draws pictures, is missing, a program that does nothing takes its place.

The compared layout has three chunks of equal volume, because evenly often proposes the cut that Meep makes, too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
#: Ranks that a cell is cut for.
RANKS = 2
#: Largest relative difference that rounding explains: sums of many terms in another order.
ROUND_OFF = 1e-9
#: Records whose values are all smaller are empty: fields haven't arrived.
LEAST = 1e-20
RUNS = Path(__file__).resolve().parent / "meep_example_runs.py"
#: Arguments without which a script ends with its usage.
ARGUMENTS = {
    "dipole_in_vacuum_1D": ["x"],
    "dipole_in_vacuum_cyl_off_axis": ["x", "1.5"],
    "dipole_in_vacuum_cyl_on_axis": ["x"],
    "edge_emitter_2D": ["x", "0.1"],
    "edge_emitter_3D": ["x", "0.1"],
}


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


def _ran(script: Path, layout: str, seconds: float, steps: list[int], given: Any) -> dict[str, Any]:
    """Return what a script's monitors recorded on two ranks, with a layout or, for "", without one."""
    from evenly.adapters.meep.cell.interpreter import environment, find_mpirun, package_folder

    out = Path(tempfile.mkdtemp()) / "recorded.json"
    mpirun = find_mpirun(Path(given.python)) or shutil.which("mpirun")
    command = [str(mpirun), "--oversubscribe", "-n", str(given.processes), given.python, str(RUNS)]
    command += [layout, str(out), str(seconds), json.dumps(steps), script.name, *ARGUMENTS.get(script.stem, ())]
    why = ""
    with package_folder() as package:
        path = f"{os.environ['PATH']}:{_no_pictures(out.parent)}"
        variables = os.environ | environment(package, **MPI, MPLBACKEND="Agg", PATH=path)
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
    found = json.loads(out.read_text()) if out.is_file() else {"records": [], "steps": [], "ended": []}
    found["why"] = why or found.get("why", "")
    return dict(found)


def _no_pictures(folder: Path) -> Path:
    """Make a program in a folder that takes the place of `h5topng` and does nothing, and return the folder."""
    program = folder / "h5topng"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


def _apart(usual: dict[str, Any], ours: dict[str, Any]) -> tuple[float, int]:
    """Return the largest relative difference of any record, and how many records have values at all."""
    import numpy as np

    apart, many = 0.0, 0
    after_runs = zip(usual["records"], ours["records"], strict=False)
    for a, b in (pair for both in after_runs for pair in zip(*both, strict=True)):
        if len(a) != len(b):
            return float("inf"), many
        if a and (largest := float(np.abs(a).max())) > LEAST:
            apart = max(apart, float(np.abs(np.subtract(a, b)).max()) / largest)
            many += 1
    return apart, many


def _compared(script: Path, layout: str, given: Any) -> tuple[str, str]:
    """Return a verdict on a script with its layout, and details."""
    usual = _ran(script, "", given.seconds, [], given)
    if not usual["steps"]:
        return "not compared", f"without a layout: {usual['why'] or 'nothing was recorded'}"
    ours = _ran(script, layout, given.seconds, usual["steps"], given)
    runs = len(ours["steps"])
    if not runs:
        return ("not compared" if ours["why"].startswith("cut off") else "wrong"), f"with a layout: {ours['why']}"
    if ours["steps"] != usual["steps"][:runs] or (runs < len(usual["steps"]) and not ours["why"].startswith("cut off")):
        return "wrong", f"steps {usual['steps']} without a layout, {ours['steps']} with it; {ours['why']}"
    apart, many = _apart(usual, ours)
    of = sum(len(records) for records in usual["records"][:runs])
    told = f"{apart:.0e} | {many} of {of} | {sum(usual['steps'][:runs]):,} | {sum(usual['ended'][:runs])} of {runs}"
    told += " | plain sources" if usual["without_modes"] else " |"
    if usual["tolerance"]:
        told += f" solved to {usual['tolerance']:.0e}"
    if not many:
        return "not compared", told
    if apart <= (allowed := ROUND_OFF + 10 * usual["tolerance"]):
        return "equal", told
    other, _ = _apart(usual, _ran(script, "other", given.seconds, usual["steps"], given))
    return ("wrong" if other <= allowed else "as Meep's own"), f"{told} Meep's own cuts: {other:.0e}"


def main() -> None:
    """Print the table."""
    from evenly.adapters.meep.cell.interpreter import find_python

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--python")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=12.0, help="Time of a script's runs; one run takes half.")
    parser.add_argument("--limit", type=float, default=60.0, help="Most seconds of a script, its making included.")
    parser.add_argument("--processes", type=int, default=RANKS, help="Processes of the compared runs.")
    parser.add_argument("--after", default="", help="The script after which to begin.")
    parser.add_argument("--without-runs", action="store_true", help="Only cut the cells.")
    given = parser.parse_args()
    given.python, counts = str(find_python(given.python)), Counter[str]()
    print("| script | verdict | difference | records with values | steps | runs to their end | |", flush=True)
    print("|---|---|---|---|---|---|---|", flush=True)
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
            refused, layout = _layout_of(script, given.python, folder)
            verdict, told = ("refused", refused) if refused else ("accepted", "")
            if not refused and not given.without_runs:
                verdict, told = _compared(script, layout, given)
            counts[verdict] += 1
            print(f"| {script.stem} | {verdict} | {told} |", flush=True)
        os.chdir(given.examples)
    print(f"\n{sum(counts.values())} scripts: {', '.join(f'{n} {verdict}' for verdict, n in sorted(counts.items()))}")


if __name__ == "__main__":
    main()
