"""How much faster Meep's steps are if glibc asks for huge pages, by an environment variable alone.

    python benchmarks/meep_huge_pages.py [--python /usr/bin/python3] [--edge 80] [--rounds 5]

Needs glibc 2.35 or later, and huge pages on request: /sys/kernel/mm/transparent_hugepage/enabled says "madvise". Three
cubes of EDGE points: periodic vacuum, a dielectric block in PML, and a block with two poles in PML. Each process makes
12 steps three times, after some to warm up. Processes with and without the variable take turns. Printed are the
medians of CPU milliseconds per step, the range over the processes, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess

VARIABLE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
PROGRAM = """
import sys, time
import meep as mp
mp.verbosity(0)
kind, n = sys.argv[1], int(sys.argv[2])
poles = [mp.LorentzianSusceptibility(frequency=1.1, gamma=1e-5, sigma=0.5),
         mp.DrudeSusceptibility(frequency=1, gamma=0.1, sigma=0.2)]
medium = mp.Medium(epsilon=2.25, E_susceptibilities=poles if kind == "poles" else [])
periodic = kind == "vacuum"
sim = mp.Simulation(
    cell_size=mp.Vector3(n / 20, n / 20, n / 20), resolution=20, k_point=mp.Vector3() if periodic else False,
    boundary_layers=[] if periodic else [mp.PML(0.3)],
    geometry=[] if periodic else [mp.Block(size=mp.Vector3(n / 40, n / 40, n / 40), material=medium)],
    sources=[mp.Source(mp.GaussianSource(1, fwidth=0.5), component=mp.Ez, center=mp.Vector3())])
sim.init_sim()
for _ in range(6):
    sim.fields.step()
times = []
for _ in range(3):
    began = time.process_time()
    for _ in range(12):
        sim.fields.step()
    times.append((time.process_time() - began) / 12)
print("seconds", sorted(times)[1])
"""


def seconds(python: str, kind: str, edge: int, more: dict[str, str]) -> float:
    """Return the CPU seconds of a step in a process of its own."""
    said = subprocess.run(
        [python, "-c", PROGRAM, kind, str(edge)], env={**os.environ, **more}, check=True, capture_output=True, text=True
    ).stdout
    return float(next(line.split()[1] for line in said.splitlines() if line.startswith("seconds")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--edge", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'cell':10}  {'without, ms':>19}  {'with huge pages, ms':>19}  ratio")
    for kind in ("vacuum", "PML", "poles"):
        found: list[tuple[float, float]] = []
        for _ in range(options.rounds):
            plain, huge = (seconds(options.python, kind, options.edge, more) for more in ({}, VARIABLE))
            found.append((1e3 * plain, 1e3 * huge))
        cells = [f"{statistics.median(one):5.1f} ({min(one):.1f} … {max(one):.1f})" for one in zip(*found, strict=True)]
        ratio = statistics.median(a for a, _ in found) / statistics.median(b for _, b in found)
        print(f"{kind:10}  {cells[0]:>19}  {cells[1]:>19}  {ratio:5.2f}", flush=True)


if __name__ == "__main__":
    main()
