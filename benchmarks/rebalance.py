"""How many adjustments bring ranks together: ours beside the algorithm of Meep's document; and what moving costs.

    python benchmarks/rebalance.py [--cost FILE] [--ranks 4 8] [--most 6]

Three structures of `evenly.fdtd` start from chunks of equal volume and from a split by Meep's fixed coefficients of
2019. Every rank's CPU seconds per step are measured, each rank stepped alone in this process; a balancer sees these
times and cuts anew, until max/mean is at most 1.05. The second table is the CPU time of going over to another layout
in the middle of a run, fields kept, in steps of the same cell.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import evenly
from cut_cells import costs
from evenly.decomposition.calibration.fdtd_runs import lone_ranks, paced_seconds
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.rebalancing import (
    AbstractChunkBalancer,
    ChunkBalancer,
    CostBalancer,
    Timings,
    simulation_interface,
)
from evenly.fdtd import BinaryPartition, Simulation
from evenly.fdtd.structures import build

GOAL = 1.05
STRUCTURES = {"oled": {"resolution": 30}, "cmos": {"resolution": 45}, "tandem": {"resolution": 70}}
# Meep's coefficients as multiples of what a point costs there; per component where evenly counts components.
MEEP_2019 = {
    "points": 1.0, "PML 1d points": 0.29, "PML 2d points": 3.95, "PML 3d points": 1.92, "polarised values": 0.65 / 3,
    "increments": 0.33, "losses": 0.13, "nonlinear values": 0.48 / 3, "transformed values": 0.43,
}  # fmt: skip


class Case:
    """A structure whose ranks' times can be measured on any layout."""

    def __init__(self, name: str, parameters: dict[str, Any], repeats: int) -> None:
        self.name, self._parameters, self._repeats = name, parameters, repeats
        self.simulation = {**build(name, **parameters).simulation, "sources": ()}
        self.cell: Cell = cell_of(Simulation(**self.simulation), self.monitors(), name=name)

    def monitors(self) -> list[Any]:
        return list(build(self.name, **self._parameters).monitors.values())

    def timings(self, layout: BinaryPartition, ranks: int) -> Timings:
        """Return each rank's CPU seconds per step, in units of a fixed piece of work beside it."""
        sims = lone_ranks({**self.simulation, "layout": layout}, ranks, self.monitors)
        times = np.array([[paced_seconds(sim)[0] for sim in sims] for _ in range(self._repeats)])
        noise = float(np.mean(times.std(axis=0, ddof=1) / times.mean(axis=0))) / self._repeats**0.5
        return Timings(np.median(times, axis=0), steps=100, noise=max(noise, 0.002))

    def start(self, way: str, ranks: int) -> BinaryPartition:
        """Return chunks of equal volume, or the best by Meep's coefficients."""
        if way == "even":
            return BinaryPartition.equal(self.cell.grid, ranks)
        old = CostModel("fdtd", {term: Coefficient(1e-8 * value) for term, value in MEEP_2019.items()})
        return evenly.partition(self.cell, ranks, old).balanced.layout


def adjustments(case: Case, balancer: AbstractChunkBalancer, start: BinaryPartition, first: Timings, most: int) -> str:
    """Return how many adjustments were needed, and the measured max/mean after each."""
    layout, timings, seen = start, first, list[float]()
    while timings.imbalance > GOAL and len(seen) < most:
        volumes = [simulation_interface.volume(case.cell.grid, box) for box in layout.boxes(case.cell.grid)]
        layout = balancer.compute_new_chunk_layout(timings, layout, volumes, layout.owners)
        timings = case.timings(layout, first.ranks)
        seen.append(timings.imbalance)
    needed = str(len(seen)) if timings.imbalance <= GOAL else f">{most}"
    return f"{needed} ({' '.join(f'{value:.2f}' for value in seen)})"


def rivals(case: Case, cost: CostModel) -> Iterator[tuple[str, Callable[[], AbstractChunkBalancer]]]:
    yield "ours", lambda: CostBalancer(cost, case.cell)
    yield "document 0.4", lambda: ChunkBalancer(sensitivity=0.4)
    yield "document 0.5", lambda: ChunkBalancer(sensitivity=0.5)
    yield "document 1.0", lambda: ChunkBalancer(sensitivity=1.0)


def moving(case: Case, ranks: int, repeats: int) -> tuple[float, float]:
    """Return the CPU seconds of a change of layout, and of a step, with all chunks in this process."""
    even, other = (BinaryPartition(_one_owner(case.start(way, ranks).to_list())) for way in ("even", "Meep 2019"))
    sim = Simulation(**{**case.simulation, "layout": even})
    for monitor in case.monitors():
        sim.add(monitor)
    moved, stepped = [], []
    for number in range(2 * repeats):
        sim.step()
        begin = process_time()
        for _ in range(10):
            sim.step()
        stepped.append((process_time() - begin) / 10)
        moved.append(sim.relayout(even if number % 2 else other))
    return median(moved), median(stepped)


def _one_owner(tree: Any) -> Any:
    return 0 if isinstance(tree, int) else [tree[0], _one_owner(tree[1]), _one_owner(tree[2])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", type=Path, default=None, help="cost model (default: this machine's)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--most", type=int, default=6, help="adjustments at most")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--cells", nargs="+", default=list(STRUCTURES))
    options = parser.parse_args()
    cost, note = costs(options.cost)
    if note.startswith("round numbers"):
        # Made-up costs are not known to be any good.
        cost = replace(cost, share_error=math.nan)
    print(f"costs: {note}")
    cases = [Case(name, STRUCTURES[name], options.repeats) for name in options.cells]
    print(f"\nadjustments to max/mean <= {GOAL} (after each of them)")
    for case in cases:
        for ranks in options.ranks:
            for way in ("even", "Meep 2019"):
                start = case.start(way, ranks)
                first = case.timings(start, ranks)
                print(f"{case.name}, {ranks} ranks, from {way} split at {first.imbalance:.2f}", flush=True)
                for name, make in rivals(case, cost):
                    told = adjustments(case, make(), start, first, options.most)
                    print(f"    {name:14s} {told}", flush=True)
    print("\ncell     ranks' chunks  moving  step     steps that moving costs")
    for case in cases:
        move_s, step_s = moving(case, 8, options.repeats)
        print(f"{case.name:8s} {8:13d} {move_s:6.2f} s {step_s * 1e3:6.1f} ms {move_s / step_s:8.0f}", flush=True)


if __name__ == "__main__":
    main()
