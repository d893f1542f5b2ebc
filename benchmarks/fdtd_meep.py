"""The FDTD simulation beside Meep in small cells: CPU time of a step, and of a band diagram from start to end.

Each package has a process of its own, and the two are asked in turns: one runs some hundred steps, then the other. So
the load of the machine is about the same for both. A wave of one frequency keeps the fields at an ordinary size. What
is counted is `sim.run` of evenly, with all that a run does beside stepping, and `fields.step` of Meep, the bare step.
The band diagram is that of a square lattice of rods: 3 k-points, resolution 20; its figure is the CPU time of the whole
process, Python's start and imports included, kernels on disk.

    OMP_NUM_THREADS=1 python benchmarks/fdtd_meep.py --meep /usr/bin/python3
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

# Edge lengths in points; whether there are layers of ten points; steps of a batch.
CELLS = {
    "20², periodic": ((20, 20, 0), False, 4000),
    "40², layers": ((40, 40, 0), True, 1500),
    "160², layers": ((160, 160, 0), True, 400),
    "40³, layers": ((40, 40, 40), True, 30),
}
GOALS = {"20², periodic": 1.2, "40², layers": 1.0, "160², layers": 1.0, "40³, layers": 0.7}
BANDS_GOAL = 1.5
RESOLUTION, WARM_STEPS = 10, 100
K_POINTS = ((0.1, 0.0, 0.0), (0.3, 0.0, 0.0), (0.5, 0.0, 0.0))
RADIUS, EPSILON, AFTER = 0.2, 8.9, 300


def evenly_runner(cell: tuple[int, ...], *, layers: bool) -> Callable[[int], None]:
    """Return what does so many steps."""
    from evenly import fdtd

    source = fdtd.Source(fdtd.ContinuousWave(frequency=1.0), "Ez", center=(0.05, 0.05, 0))
    sim = fdtd.Simulation(
        cell=tuple(n / RESOLUTION for n in cell),
        resolution=RESOLUTION,
        sources=[source],
        boundaries=[fdtd.PML(1.0) if layers else fdtd.Periodic()],
    )
    return lambda steps: sim.run(until=(sim.step_count + steps) * sim.grid.dt, progress="off")


def meep_runner(cell: tuple[int, ...], *, layers: bool) -> Callable[[int], None]:
    """Return what does so many steps."""
    import meep as mp

    mp.verbosity(0)
    sim = mp.Simulation(
        cell_size=mp.Vector3(*(n / RESOLUTION for n in cell)),
        resolution=RESOLUTION,
        sources=[mp.Source(mp.ContinuousSource(frequency=1.0), mp.Ez, mp.Vector3(0.05, 0.05, 0))],
        boundary_layers=[mp.PML(1.0)] if layers else [],
        k_point=False if layers else mp.Vector3(),
    )
    sim.init_sim()

    def run(steps: int) -> None:
        for _ in range(steps):
            sim.fields.step()

    return run


def evenly_bands() -> list[list[float]]:
    """Return the frequencies of Ez at each k-point."""
    from evenly import fdtd

    rod = fdtd.Cylinder(radius=RADIUS, height=np.inf, material=fdtd.Medium(epsilon=EPSILON))
    found = []
    for k in K_POINTS:
        source = fdtd.Source(fdtd.GaussianPulse(frequency=0.5, fwidth=0.6), "Ez", center=(0.1234, 0.21, 0))
        sim = fdtd.Simulation(
            cell=(1, 1, 0), resolution=20, geometry=[rod], sources=[source], boundaries=[fdtd.Bloch(k=k)]
        )
        recorder = sim.add(fdtd.FieldRecorder("Ez", (0.1234, 0.21, 0)))
        sim.run(after_sources=AFTER, progress="off")
        found.append([mode.frequency for mode in recorder.resonances((0.2, 0.8))])
    return found


def meep_bands() -> list[list[float]]:
    """Return the frequencies of Ez at each k-point."""
    import meep as mp

    mp.verbosity(0)
    at = mp.Vector3(0.1234, 0.21)
    rod = mp.Cylinder(radius=RADIUS, material=mp.Medium(epsilon=EPSILON))
    source = mp.Source(mp.GaussianSource(0.5, fwidth=0.6), mp.Ez, at)
    sim = mp.Simulation(cell_size=mp.Vector3(1, 1), resolution=20, geometry=[rod], sources=[source])
    return [[f.real for f in row] for row in sim.run_k_points(AFTER, [mp.Vector3(*k) for k in K_POINTS])]


def work(package: str) -> None:
    """Answer questions on standard input: a cell's name, and how many steps; the answer is CPU seconds of a step."""
    runners: dict[str, Callable[[int], None]] = {}
    for line in sys.stdin:
        name, count = line.rsplit(":", 1)
        cell, layers, _ = CELLS[name]
        if name not in runners:
            runners[name] = (evenly_runner if package == "evenly" else meep_runner)(cell, layers=layers)
            runners[name](WARM_STEPS)
        begin = time.process_time()
        runners[name](int(count))
        print("seconds", (time.process_time() - begin) / int(count), flush=True)


class Worker:
    """A process that steps cells of one package."""

    def __init__(self, python: str, package: str) -> None:
        self._process = subprocess.Popen(
            [python, __file__, "--work", package], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, name: str, steps: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{name}:{steps}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("seconds"):
                return float(line.split()[1])
        raise SystemExit("a worker has ended early")


def bands_seconds(python: str, package: str) -> float:
    """Return the CPU seconds of a process that finds the bands."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, __file__, "--bands", package], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name: str, unit: float, evenly: list[float], meep: list[float], goal: float) -> str:
    ratios = np.array(evenly) / np.array(meep)
    low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    times = f"{np.median(evenly) * unit:10.4g} {np.median(meep) * unit:10.4g}"
    return f"{name:28} {times} {middle:8.2f} ({low:.2f}-{high:.2f}) {goal:6.1f}"


def compare(meep: str, repeats: int) -> None:
    workers = Worker(sys.executable, "evenly"), Worker(meep, "meep")
    print(f"{'CPU time':28} {'evenly':>10} {'Meep':>10} {'ratio':>8} {'(quartiles)':>11} {'goal':>6}")
    for name, (_, _, steps) in CELLS.items():
        rounds = np.array([[worker.seconds(name, steps) for worker in workers] for _ in range(repeats)])
        print(row(f"{name}, µs a step", 1e6, *rounds.T, GOALS[name]), flush=True)
    whole = [
        [bands_seconds(sys.executable, "evenly"), bands_seconds(meep, "meep")] for _ in range(max(3, repeats // 3))
    ]
    print(row("band diagram, s in all", 1.0, *np.array(whole).T, BANDS_GOAL))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--meep", default="/usr/bin/python3", help="a Python that has Meep")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--bands", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("Set OMP_NUM_THREADS=1: CPU time of several threads is no measure of one.")
    if options.work:
        work(options.work)
    elif options.bands:
        print("bands", (evenly_bands if options.bands == "evenly" else meep_bands)())
    else:
        compare(options.meep, options.repeats)


if __name__ == "__main__":
    main()
