"""Compares what Meep computes with a layout and without, in cells with symmetries and in cylindrical cells.

``python benchmarks/meep_symmetries.py [--ranks 1,2,4]`` runs each cell of ``tests/adapters/meep/reduced_cells.py`` with
Meep's own chunks and with a layout of evenly, and prints the largest difference of all that monitors recorded (flux,
mode monitor, far fields, Fourier transformed fields), relative to the largest value of each.

The last column has the same for the ``BinaryPartition`` that cuts the whole cell in two, as Meep 1.25 takes it from a
script. It needs Meep's Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CELLS = ROOT / "tests" / "adapters" / "meep"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def inside() -> None:
    """Run all cells in Meep's Python; print a line for each."""
    import meep as mp
    import numpy as np

    sys.path.insert(0, str(CELLS))
    import reduced_cells  # type: ignore[import-not-found]

    from evenly.adapters.meep.cell.cell import cell_of
    from evenly.adapters.meep.layouts import layout
    from evenly.decomposition.partitioning.shifted_layouts import moved
    from evenly.fdtd.cell.partition import BinaryPartition

    def difference(name: str, chunks: object) -> float:
        usual = reduced_cells.recorded(reduced_cells.build(name))
        sim = reduced_cells.build(name)
        sim.chunk_layout, sim.num_chunks = chunks, chunks.numchunks()  # type: ignore[attr-defined]
        ours = reduced_cells.recorded(sim)
        return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in zip(usual, ours, strict=False))

    mp.verbosity(0)
    for name in reduced_cells.NAMES:
        cell = cell_of(reduced_cells.build(name))
        plan = BinaryPartition.equal(cell.grid, max(3, mp.count_processors()))
        line = mp.Z if cell.grid.thin[0] else mp.R if name.startswith("cylinder") else mp.X
        halves = mp.BinaryPartition(data=[(line, 0.25), 0, 1])
        found = [difference(name, chunks) for chunks in (layout(moved(plan, cell.center)), halves)]
        if mp.am_master():
            sys.stdout.write("\nfound: " + json.dumps([name, *found]) + "\n")
            sys.stdout.flush()


def measured(ranks: int) -> dict[str, tuple[float, float]]:
    """Return the two differences of each cell."""
    from evenly.adapters.meep.cell.interpreter import environment, find_mpirun, find_python, package_folder

    python = find_python()
    command = [str(find_mpirun(python)), "--oversubscribe", "-n", str(ranks), str(python), __file__, "--inside"]
    with package_folder() as folder:
        variables = os.environ | environment(folder, **AS_ROOT)
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    lines = [json.loads(text[7:]) for text in done.stdout.splitlines() if text.startswith("found: ")]
    return {name: (ours, meeps) for name, ours, meeps in lines}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--inside", action="store_true")
    given = parser.parse_args()
    if given.inside:
        inside()
        return
    counts = [int(count) for count in given.ranks.split(",")]
    found = {ranks: measured(ranks) for ranks in counts}
    print("| cell |" + "".join(f" layout, {n} rank{'s' * (n > 1)} |" for n in counts) + " Meep's own BinaryPartition |")
    print("|---|" + "---|" * (len(counts) + 1))
    for name, (_, meeps) in found[counts[0]].items():
        ours = "".join(f" {found[n][name][0]:.0e} |" for n in counts)
        print(f"| {name} |{ours} {meeps:.0e} |")


if __name__ == "__main__":
    main()
