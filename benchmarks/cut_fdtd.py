"""How evenly the ranks of `evenly.fdtd` are loaded: chunks of equal volume beside the cut by predicted cost.

    python benchmarks/cut_fdtd.py [--cost FILE] [--mpi] [--repeats 3]

Every rank's CPU seconds per step are measured for both cuts: by stepping each rank on its own in this process, or,
with --mpi, on as many real ranks. "bound" is the least max/mean that cuts between whole layers of points allow, by
the same cost model without its error: what the best cut found is predicted to reach. The corner is a cell with nearly
all cost in one eighth of it; its speedup is against one rank.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import evenly
from evenly.decomposition.calibration.fdtd_runs import lone_ranks, paced_seconds
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.locations import find_cost
from evenly.fdtd import Block, DrudePole, LorentzPole, Medium, Simulation
from evenly.fdtd.scaling.runs import run_once
from evenly.fdtd.structures import build

RANKS = (2, 4, 8, 16)
STRUCTURES = {"oled": {"resolution": 40}, "cmos": {"resolution": 60}, "tandem": {"resolution": 100}}


def corner(size: float = 10.0, resolution: float = 10.0, **keywords: Any) -> Simulation:
    """Return a cell with six poles in one corner and nothing anywhere else."""
    poles = [LorentzPole(0.5 + 0.1 * i, 0.01, 0.3) for i in range(5)]
    heavy = Medium(epsilon=2, electric_poles=[*poles, DrudePole(0.3, 0.01, 0.2)])
    block = Block(size=(size / 2,) * 3, center=(-size / 4,) * 3, material=heavy)
    return Simulation(cell=(size,) * 3, resolution=resolution, geometry=[block], **keywords)


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and parameters."""
    yield from STRUCTURES.items()
    yield "corner", {}


def keywords_of(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what a simulation is made of."""
    if name != "corner":
        return {**build(name, **parameters).simulation, "sources": ()}
    sim = corner()
    return {"cell": sim.grid.size, "resolution": sim.grid.resolution, "geometry": sim.structure.objects[1:]}


def monitors_of(name: str, parameters: dict[str, Any]) -> list[Any]:
    return [] if name == "corner" else list(build(name, **parameters).monitors.values())


def measured(name: str, parameters: dict[str, Any], layout: Any, ranks: int, options: argparse.Namespace) -> Any:
    """Return CPU seconds per step of each rank: medians of the repeats, (ranks,)."""
    if options.mpi:
        program = f"{Path(__file__).resolve()}:corner" if name == "corner" else name
        task = {"program": program, "parameters": parameters, "options": {}, "steps": 16, "warm_up": 2}
        runs = [run_once({**task, "layout": layout.to_list(), "repetition": i}, ranks) for i in range(options.repeats)]
        return np.median([[rank.busy("cpu") / run.steps for rank in run.ranks] for run in runs], axis=0)
    keywords = {**keywords_of(name, parameters), "layout": layout}
    sims = lone_ranks(keywords, ranks, lambda: monitors_of(name, parameters))
    found = np.array([[paced_seconds(sim) for sim in sims] for _ in range(options.repeats)])
    return np.median(found[:, :, 0], axis=0) * np.median(found[:, :, 1])


def row(name: str, parameters: dict[str, Any], ranks: int, cost: Any, options: argparse.Namespace) -> Sequence[float]:
    """Return max/mean even, max/mean of the plan, its bound, slowest over slowest even, and seconds of the slowest."""
    sim = Simulation(**keywords_of(name, parameters))
    plan = evenly.partition(cell_of(sim, monitors_of(name, parameters)), ranks, cost)
    even = measured(name, parameters, plan.even.layout, ranks, options)
    ours = measured(name, parameters, plan.layout, ranks, options) if plan.chosen == "balanced" else even
    return even.max() / even.mean(), ours.max() / ours.mean(), plan.imbalance, ours.max() / even.max(), ours.max()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", type=Path, default=None, help="cost model (default: this machine's, or shipped)")
    parser.add_argument("--mpi", action="store_true", help="real ranks instead of one after the other")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    options = parser.parse_args()
    found = find_cost("fdtd") if options.cost is None else None
    cost = evenly.CostModel.load(options.cost) if found is None else found.cost
    print(f"cost model of {cost.machine}; share error {cost.share_error:.1%}")
    print("CPU seconds per rank and step, " + ("real ranks" if options.mpi else "each rank stepped alone"))
    print("cell     ranks  even max/mean    ours   bound  ours/even  speedup/P")
    for name, parameters in cases():
        serial = math.nan
        if name == "corner":
            layout = evenly.fdtd.BinaryPartition(0)
            serial = median(measured(name, parameters, layout, 1, options))
        for ranks in options.ranks:
            even, ours, bound, ratio, slowest = row(name, parameters, ranks, cost, options)
            speedup = "" if math.isnan(serial) else f"{serial / slowest / ranks:10.2f}"
            print(f"{name:8s} {ranks:5d} {even:14.3f} {ours:7.3f} {bound:7.3f} {ratio:10.3f} {speedup}", flush=True)


if __name__ == "__main__":
    main()
