"""Where strong scaling ends: at how many points per rank half of a step is overhead, now and in another checkout.

A cell is cut into eight cubes, one for each rank. One rank is built, and stepped alone: it sweeps its chunks, copies
and packs what its neighbours would need, and sends nothing. So one core suffices, and the time inside MPI is left out.
Overhead is what a step takes beyond its points, each at the least price that a point has at any size: in this checkout,
or in any of them, since one that makes points cheaper is worse by the first measure, and not by the second. With
layers, a quarter of each of the cell's edges is PML on either side, so the work is the same at all sizes, and a rank
has eight chunks.

With --against, the same is measured with the sources of another checkout, in turns with these (its kernels are compiled
first, for some minutes):

    git worktree add ../before 2ac68fb5^
    OMP_NUM_THREADS=1 python benchmarks/fdtd_small_ranks.py --against ../before
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# Points along the edge of a rank's cube.
EDGES = (4, 6, 8, 12, 16, 24, 32, 48, 64)
KINDS = ("periodic", "PML box")
BATCH_S, WARM = 0.03, 3


def rank(kind: str, edge: int):
    """Return the simulation of one of eight ranks."""
    from evenly import fdtd
    from evenly.decomposition.calibration.fdtd_runs import lone_ranks

    whole = 2 * edge
    cell = {
        "cell": (float(whole),) * 3,
        "resolution": 1.0,
        "boundaries": [fdtd.PML(whole / 4) if kind == "PML box" else fdtd.Periodic()],
        "layout": fdtd.BinaryPartition.equal(fdtd.Grid((float(whole),) * 3, 1.0), 8),
    }
    return lone_ranks(cell, 8, list)[0]


def seconds(sim) -> float:
    """Return the CPU seconds of a step."""
    sim.step()
    begin = time.process_time()
    for _ in range(WARM):
        sim.step()
    steps = max(1, round(BATCH_S * WARM / max(time.process_time() - begin, 1e-6)))
    begin = time.process_time()
    for _ in range(steps):
        sim.step()
    return (time.process_time() - begin) / steps


def work() -> None:
    """Answer questions on standard input, a kind and an edge, with the seconds of a step."""
    made: dict[tuple[str, int], object] = {}
    for line in sys.stdin:
        kind, edge = json.loads(line)
        if (kind, edge) not in made:
            made = {(kind, edge): rank(kind, edge)}
        print("seconds", seconds(made[kind, edge]), flush=True)


class Worker:
    """A process that steps ranks with the sources of a checkout."""

    def __init__(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def seconds(self, kind: str, edge: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([kind, edge]) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("seconds"):
                return float(line.split()[1])
        raise SystemExit("a worker has ended early")


def half(edges: np.ndarray, times: np.ndarray, price: float) -> float:
    """Return the points of a rank at which a step takes twice what its points do; between sizes by a power law."""
    points = edges**3.0
    share = price * points / times
    enough = np.flatnonzero(share >= 0.5)
    if not len(enough) or enough[0] == 0:
        return points[0] if len(enough) else np.inf
    between = slice(enough[0] - 1, enough[0] + 1)
    return float(np.exp(np.interp(np.log(0.5), np.log(share[between]), np.log(points[between]))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout of evenly")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--largest", type=int, default=EDGES[-1], help="points along the edge of the largest cube")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("Set OMP_NUM_THREADS=1: CPU time of several threads is no measure of one.")
    if options.work:
        return work()
    checkouts = {"now": Path(__file__).parents[1], **({"before": options.against} if options.against else {})}
    workers = {name: Worker(checkout.resolve()) for name, checkout in checkouts.items()}
    edges = np.array([edge for edge in EDGES if edge <= options.largest])
    for kind in KINDS:
        print(
            f"{kind:24}" + "".join(f"{name + ', µs a step':>18}{'(range)':>16}" for name in workers) + f"{'ratio':>8}"
        )
        told = []
        for edge in map(int, edges):
            taken = np.array(
                [[worker.seconds(kind, edge) for worker in workers.values()] for _ in range(options.rounds)]
            )
            told.append(np.median(taken, axis=0))
            cells = [f"{1e6 * np.median(t):18.1f}{f'({1e6 * t.min():.0f}-{1e6 * t.max():.0f})':>16}" for t in taken.T]
            ratio = f"{np.median(taken[:, -1] / taken[:, 0]):8.2f}" if len(workers) > 1 else ""
            print(f"{f'{edge}³ points a rank':24}" + "".join(cells) + ratio, flush=True)
        columns = np.transpose(told)
        least = np.min(columns / edges**3.0, axis=1)
        for prices, whose in ((least, "own least price"), (np.full_like(least, least.min()), "least price of all")):
            halves = [half(edges, times, price) for times, price in zip(columns, prices, strict=True)]
            ratio = f"{halves[-1] / halves[0]:8.2f}" if len(halves) > 1 else ""
            print(f"{f'half, at {whose}':27}" + "".join(f"{h:8,.0f} points{'':19}" for h in halves) + ratio, flush=True)
    return None


if __name__ == "__main__":
    main()
