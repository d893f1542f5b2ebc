"""How soon a balancer evens out Meep runs that start from Meep's own cost split: max/mean of CPU time per process.

``python benchmarks/meep_balancer.py [--ranks 4,8] [--cost costs.json]`` starts Meep's Python under its own MPI and
prints a table: slowest process over the mean, at the start and after each adjustment, by evenly's balancer and by
Meep's algorithm on the same clock (CPU time, waiting left out).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

STRUCTURES = Path(__file__).resolve().parents[1] / "tests" / "adapters" / "meep"
ROUNDS = 4
STEPS = 400
#: What the balancer is told, so that it judges as in a long run.
STEPS_LEFT = 1e5
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def inside(name: str, way: str, cost: str) -> None:
    """Run one structure in Meep's Python; the first process prints the imbalance of each round."""
    sys.path.insert(0, str(STRUCTURES))
    import meep as mp
    import structures

    from evenly.adapters.meep import ChunkBalancer
    from evenly.adapters.meep.balancing.balancer import apply_layout
    from evenly.adapters.meep.balancing.measuring import forget, timings_of, volumes_of
    from evenly.adapters.meep.layouts import from_meep
    from evenly.decomposition.costs.cost_model import CostModel
    from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer as ByVolumes

    by_volumes = ByVolumes(sensitivity=0.5).compute_new_chunk_layout
    mp.verbosity(0)
    balancer = ChunkBalancer(CostModel.load(cost) if cost else None, steps_left=STEPS_LEFT)
    sim = structures.build(name, split_chunks_evenly=False)
    found = []
    for _ in range(ROUNDS):
        sim.run(until=10 * sim.fields.dt if sim.fields else 0.1)  # chunks are connected, monitors made
        sim.run(until=STEPS / 8 * sim.fields.dt)
        forget(sim)
        sim.run(until=STEPS * sim.fields.dt)
        found.append(timings_of(sim).imbalance)
        if way == "evenly":
            balancer.adjust_chunk_layout(sim)
        else:
            volumes, owners = volumes_of(sim.structure.get_chunk_volumes()), sim.structure.get_chunk_owners()
            apply_layout(sim, by_volumes(timings_of(sim), from_meep(sim.chunk_layout), volumes, owners))
    if mp.am_master():
        sys.stdout.write("\nfound: " + json.dumps(found) + "\n")


def measured(name: str, way: str, ranks: int, cost: str) -> list[float]:
    """Return max/mean at the start and after each adjustment."""
    from evenly.adapters.meep.cell.interpreter import environment, find_mpirun, find_python, package_folder

    python = find_python()
    mpirun = find_mpirun(python)
    command = [str(mpirun), "--oversubscribe", "-n", str(ranks), str(python), __file__, "--inside", name, way, cost]
    with package_folder() as folder:
        done = subprocess.run(
            command, env=os.environ | environment(folder, **AS_ROOT), capture_output=True, text=True, check=True
        )
    line = next(line for line in done.stdout.splitlines() if line.startswith("found: "))
    return list(json.loads(line.removeprefix("found: ")))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="4,8")
    parser.add_argument("--cost", default="")
    parser.add_argument("--inside", nargs=3)
    given = parser.parse_args()
    if given.inside:
        inside(*given.inside)
        return
    print("| cell, processes | balancer | start |" + "".join(f" after {n} |" for n in range(1, ROUNDS)))
    print("|---|---|" + "---|" * ROUNDS)
    for name in ("oled", "cmos", "tandem"):
        for ranks in map(int, given.ranks.split(",")):
            for way in ("evenly", "Meep's algorithm"):
                row = measured(name, way, ranks, str(Path(given.cost).resolve()) if given.cost else "")
                print(f"| {name}, {ranks} | {way} |" + "".join(f" {value:.2f} |" for value in row), flush=True)


if __name__ == "__main__":
    main()
