"""How the step of one rank scatters with pages of 4 KiB, and how it does in huge pages.

    python benchmarks/fdtd_huge_pages.py [--rounds 6]

One rank of a cell of `cmos` (resolution 40) that is cut in two is built again and again in one process, in turns with
arrays as NumPy makes them and within blocks that ask for huge pages (`evenly.fdtd.stepping.memory`). Each is timed in
CPU time; a machine gives huge pages on request if /sys/kernel/mm/transparent_hugepage/enabled says "madvise". All that
were built are kept, so that each lies elsewhere. That is done twice: alone, and beside a process that moves memory
without a pause on another core, as other ranks of a node do. Printed are least, median and longest ms of a step.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from typing import Any

from evenly.decomposition.calibration.fdtd_runs import paced_seconds
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import shipped_file
from evenly.decomposition.forecasting.lone_rank_timing import lone_rank
from evenly.decomposition.partitioning.partition import partition
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.stepping import memory
from evenly.fdtd.structures import build
from evenly.fdtd.structures.programs import load

PARAMETERS = {"resolution": 40, "lens": 0.9}
NEIGHBOUR = """
import numpy as np
a, b, c = (np.ones(40_000_000) for _ in range(3))
while True:
    np.multiply(c, 3.0, out=a)
    np.add(a, b, out=a)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=6)
    rounds = parser.parse_args().rounds
    program = load("cmos", PARAMETERS)
    cell = cell_of(program.simulation, program.monitors.values(), name=program.name)
    layout = partition(cell, 2, CostModel.load(shipped_file("fdtd"))).balanced.layout
    keywords = {**build("cmos", **PARAMETERS).simulation, "sources": ()}
    print(f"{'one rank of cmos':36}  {'least':>6}  {'median':>6}  {'longest':>7}")
    show("alone", keywords, layout, rounds)
    neighbour = subprocess.Popen([sys.executable, "-c", NEIGHBOUR])
    try:
        show("beside one that moves memory", keywords, layout, rounds)
    finally:
        neighbour.kill()
        neighbour.wait()


def show(where: str, keywords: dict[str, Any], layout: BinaryPartition, rounds: int) -> None:
    """Build and time the rank in both ways, in turns, and print the times."""
    smallest: int = memory._SMALLEST
    kept: list[Any] = []
    found: dict[str, list[float]] = {"arrays of NumPy": [], "in huge pages": []}
    for _ in range(rounds):
        for times, least in zip(found.values(), (sys.maxsize, smallest), strict=True):
            memory._SMALLEST = least
            monitors = list(build("cmos", **PARAMETERS).monitors.values())
            kept.append(lone_rank({**keywords, "layout": layout}, layout, 0, 2, monitors))
            ratio, pace = paced_seconds(kept[-1])
            times.append(1e3 * ratio * pace)
    print(where)
    for name, times in found.items():
        print(f"  {name:34}  {min(times):6.2f}  {statistics.median(times):6.2f}  {max(times):7.2f}", flush=True)


if __name__ == "__main__":
    main()
