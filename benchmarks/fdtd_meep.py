"""The FDTD simulation beside Meep, in one run: speed, small cells, and answers of physics.

Each package has a process of its own, and the two are asked in turns: one runs some steps, then the other. So the load
of the machine is about the same for both. What is counted is the CPU time of a run of evenly, with all that it does
beside stepping, and of `fields.step` of Meep, the bare step. Ratios are Meep's time over evenly's: medians over the
rounds, with the lowest and the highest.

    --speed    large cells: vacuum, a film, a Lorentz volume, layers, fluxes, all of these, two dimensions
    --media    cells filled with one kind of point, and Bloch's boundaries
    --small    small cells, and a band diagram from start to end
    --physics  a ring resonator, a bend, a lattice of rods, a metal cylinder: both answers beside theory's, and the CPU
               time of the whole process, Python's start included, kernels and bytecode on disk

    OMP_NUM_THREADS=1 python benchmarks/fdtd_meep.py --speed --small --meep /usr/bin/python3
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache

import numpy as np

import fdtd_meep_cells as cells
import fdtd_meep_physics as physics

PACKAGES = ("evenly", "meep")
WARM_BATCHES = 2
BANDS_GOAL = 1 / 1.5


def found_cells(group: str, size: int | None) -> dict[str, cells.Cell]:
    if group == "small":
        return cells.small()
    return cells.speed(size or cells.SIZE) if group == "speed" else cells.media(size or cells.SMALLER)


def work(package: str) -> None:
    """Answer questions on standard input with the CPU seconds of a step. A cell is kept until another is asked for."""
    builder = cells.by_evenly if package == "evenly" else cells.by_meep
    known, run = "", builder
    for line in sys.stdin:
        group, size, name = json.loads(line)
        cell = found_cells(group, size)[name]
        if name != known:
            run = None
            known, run = name, builder(cell)
            run(WARM_BATCHES * cell.steps)
        begin = time.process_time()
        run(cell.steps)
        print("seconds", (time.process_time() - begin) / cell.steps, flush=True)


class Worker:
    """A process that steps cells of one package."""

    def __init__(self, python: str, package: str) -> None:
        self._process = subprocess.Popen(
            [python, __file__, "--work", package], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, group: str, size: int | None, name: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([group, size, name]) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("seconds"):
                return float(line.split()[1])
        raise SystemExit("a worker has ended early")

    def end(self) -> None:
        self._process.communicate()


@cache
def bytecode() -> dict[str, str]:
    """Return an environment in which modules are read as bytecode, as after an installation."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def solved(python: str, package: str, problem: str, fineness: int) -> tuple[dict[str, float], float]:
    """Return what a process finds, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [python, __file__, "--solve", package, problem, str(fineness)]
    said = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=bytecode()
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = next(line for line in reversed(said.splitlines()) if line.startswith("{"))
    return json.loads(line), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name: str, unit: float, evenly: np.ndarray, meep: np.ndarray, goal: float | None) -> str:
    ratios = meep / evenly
    times = f"{np.median(evenly) * unit:10.4g} {np.median(meep) * unit:10.4g}"
    wanted = f"{goal:6.2f}" if goal else ""
    return f"{name:36} {times} {np.median(ratios):12.2f} ({ratios.min():.2f}-{ratios.max():.2f}) {wanted}".rstrip()


def head(title: str) -> None:
    print(f"{title:36} {'evenly':>10} {'Meep':>10} {'Meep/evenly':>12} {'(range)':>11} {'goal':>6}")


def compare(group: str, pythons: dict[str, str], rounds: int, size: int | None) -> None:
    """Print a table of cells."""
    workers = [Worker(pythons[package], package) for package in PACKAGES]
    each = group == "small"
    head("CPU time of a step, µs" if each else "CPU time of a step, ns per point")
    for name, cell in found_cells(group, size).items():
        taken = [[worker.seconds(group, size, name) for worker in workers] for _ in range(rounds)]
        print(row(name, 1e6 if each else 1e9 / cell.points, *np.transpose(taken), cell.goal), flush=True)
    for worker in workers:
        worker.end()


def compare_bands(pythons: dict[str, str], rounds: int) -> None:
    """Print a row of a table: the whole process of a band diagram."""
    for package in PACKAGES:
        solved(pythons[package], package, "rods", 20)
    taken = [[solved(pythons[p], p, "rods", 20)[1] for p in PACKAGES] for _ in range(max(3, rounds // 3))]
    print(row("band diagram, s in all", 1.0, *np.transpose(taken), BANDS_GOAL), flush=True)


def compare_physics(pythons: dict[str, str], rounds: int) -> None:
    """Print what both find beside theory, and how long they take."""
    for name, problem in physics.PROBLEMS.items():
        print(
            f"\n{problem.about}\n{'':36} {'theory':>10} {'evenly':>10} {'Meep':>10} {'off by':>8} {'Meep off by':>12}"
        )
        # Kernels and modules are compiled once, and kept.
        for package in PACKAGES:
            solved(pythons[package], package, name, problem.fineness[0])
        for fineness in problem.fineness:
            told = [[solved(pythons[p], p, name, fineness) for p in PACKAGES] for _ in range(rounds)]
            (ours, _), (theirs, _) = told[0]
            for quantity, value in ours.items():
                print(answer(f"{quantity}, {problem.unit.format(fineness)}", problem.exact(quantity), value, theirs))
            taken = np.array([[seconds for _, seconds in pair] for pair in told])
            ratios = taken[:, 1] / taken[:, 0]
            times = f"{np.median(taken[:, 0]):10.3g} {np.median(taken[:, 1]):10.3g}"
            print(f"{'CPU s':36} {'':10} {times}   Meep/evenly {np.median(ratios):.2f}", end="")
            print(f" ({ratios.min():.2f}-{ratios.max():.2f})", flush=True)


def answer(name: str, exact: float | None, ours: float, found: dict[str, float]) -> str:
    theirs = found[name.split(",", 1)[0]]
    if exact is None:
        return f"{name:36} {'':10} {ours:10.5g} {theirs:10.5g}   apart by {abs(ours / theirs - 1):.2%}"
    errors = f"{abs(ours / exact - 1):8.2%} {abs(theirs / exact - 1):12.2%}"
    return f"{name:36} {exact:10.5g} {ours:10.5g} {theirs:10.5g} {errors}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for group in ("speed", "media", "small", "physics"):
        parser.add_argument(f"--{group}", action="store_true", help="only this group, and others that are named")
    parser.add_argument("--meep", default="/usr/bin/python3", help="a Python that has Meep")
    parser.add_argument("--rounds", type=int, help="how often each is measured: 5, 15 for small cells, 2 for physics")
    parser.add_argument("--size", type=int, help="points along an edge of the large cubes")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--solve", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("Set OMP_NUM_THREADS=1: CPU time of several threads is no measure of one.")
    if options.work:
        return work(options.work)
    if options.solve:
        package, name, fineness = options.solve
        print("\n" + json.dumps(physics.PROBLEMS[name].solve(package, int(fineness))))
        return None
    pythons = {"evenly": sys.executable, "meep": options.meep}
    every = not (options.speed or options.media or options.small or options.physics)
    for group in ("speed", "media", "small"):
        if every or getattr(options, group):
            compare(group, pythons, options.rounds or (15 if group == "small" else 5), options.size)
    if every or options.small:
        compare_bands(pythons, options.rounds or 15)
    if every or options.physics:
        compare_physics(pythons, options.rounds or 2)
    return None


if __name__ == "__main__":
    main()
