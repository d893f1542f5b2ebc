"""How long it takes to cut very large cells, and how much memory: 10^9 points, 1,000 objects, thousands of chunks.

Each number of chunks is measured in a process of its own, so that the peak is its own; seconds are CPU seconds. The
memory of an interpreter with everything imported is told beside it.

usage: python benchmarks/cut_scale.py [--edge 1000] [--objects 1000] [--chunks 4096 65536] [--cost FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

#: Chunks, most CPU seconds of survey and cuts together, most bytes.
TARGETS = {4096: (10.0, 2e9), 65536: (60.0, float("inf"))}


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def child(edge: int, count: int, chunks: int, cost_file: Path | None) -> None:
    """Survey and cut once, and print figures as JSON; a small cell goes first, so that all is compiled by then."""
    from cut_cells import costs, objects
    from evenly.decomposition.cells.fdtd.cell import cell_of
    from evenly.decomposition.partitioning.partition import partition

    cost, about = costs(cost_file)
    partition(cell_of(objects(40, 5)), 8, cost)
    start_bytes, simulation = peak_bytes(), objects(edge, count)
    begin = time.process_time()
    cell = cell_of(simulation)
    surveyed = time.process_time()
    plan = partition(cell, chunks, cost)
    done = time.process_time()
    told = {
        "chunks": chunks, "points": cell.grid.box.volume, "cost": about, "survey_s": surveyed - begin,
        "cut_s": done - surveyed, "peak": peak_bytes(), "start": start_bytes, "blocks": cell.survey.table[..., 0].size,
        "balanced": plan.balanced.imbalance, "even": plan.even.imbalance,
        "gain": plan.even.step_s / plan.balanced.step_s,
    }  # fmt: skip
    print(json.dumps(told))


def measured(edge: int, count: int, chunks: int, cost_file: Path | None) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", "--edge", str(edge), "--objects", str(count)]
    more = ["--chunks", str(chunks)] + ([] if cost_file is None else ["--cost", str(cost_file)])
    ended = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{chunks} chunks failed:\n{ended.stderr}")
    return json.loads(ended.stdout.splitlines()[-1])


def show(one: dict[str, float]) -> None:
    seconds = one["survey_s"] + one["cut_s"]
    most_s, most_bytes = TARGETS.get(int(one["chunks"]), (float("inf"), float("inf")))
    met = "met" if seconds < most_s and one["peak"] < most_bytes else "missed"
    target = f"  target {'none' if most_s == float('inf') else f'{most_s:g} s: {met}'}"
    print(
        f"{one['chunks']:>7,} {one['survey_s']:>9.2f} {one['cut_s']:>7.2f} {one['peak'] / 2**30:>9.2f} "
        f"{one['start'] / 2**30:>9.2f} {one['blocks']:>10,} {one['balanced']:>9.3f} {one['even']:>7.3f} "
        f"{one['gain']:>6.2f}{target}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edge", type=int, default=1000)
    parser.add_argument("--objects", type=int, default=1000)
    parser.add_argument("--chunks", type=int, nargs="+", default=list(TARGETS))
    parser.add_argument("--cost", type=Path, default=None)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.edge, given.objects, given.chunks[0], given.cost)
        return
    for n, chunks in enumerate(given.chunks):
        one = measured(given.edge, given.objects, chunks, given.cost)
        if n == 0:
            print(f"{int(one['points']):,} points, {given.objects:,} objects; {one['cost']}")
            print(" chunks  survey s   cut s  peak GiB  start GiB    blocks  max/mean    even   gain")
        show(one)


if __name__ == "__main__":
    main()
