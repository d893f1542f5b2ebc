"""What time limits would have cost: users' own, factors on them and on earlier jobs, and evenly's.

Usage::

    .venv/bin/python benchmarks/limits.py JOBS … [--kill 0.05 0.1] [--from 0.5]

Tables of jobs are replayed whole, and judged by the jobs that were submitted last, from this fraction of them on. The
design was chosen on the first half of hpc2n.swf.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import evenly


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jobs", nargs="+", type=Path)
    parser.add_argument("--kill", nargs="+", type=float, default=[0.02, 0.05, 0.1])
    parser.add_argument("--from", dest="first", type=float, default=0.5)
    arguments = parser.parse_args()
    for path in arguments.jobs:
        began = time.process_time()
        jobs = evenly.read_jobs(path)
        print(f"{path.name}: {len(jobs)} jobs, read in {time.process_time() - began:.1f} s of CPU time")
        for kill in arguments.kill:
            began = time.process_time()
            found = evenly.replay(jobs, kill=kill, judged_from=arguments.first)
            took = time.process_time() - began
            print(f"  {kill:.0%} may be killed, {found.judged} jobs judged, {took:.1f} s of CPU time")
            print(f"    {'':26}{'killed':>8}{'unused':>12}{'lost':>10}{'limit/time':>12}")
            for one in found.outcomes:
                print(f"    {one.name:26}{one.killed:8.1%}{one.unused:12.0f}{one.lost:10.0f}{one.overestimate:12.2f}")


if __name__ == "__main__":
    main()
