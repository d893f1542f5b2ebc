"""Speed and memory of the FDTD simulation: vacuum beside a plain kernel and the machine's bandwidth, and start-up.

Times are CPU time of the whole process per grid point and step, medians of several steps, one thread. How fast each
kind of point is, beside Meep, `fdtd_meep.py --media` says.

usage: python benchmarks/fdtd_speed.py [--steps 8]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from evenly import fdtd

RESOLUTION = 20
Setup = dict[str, Any]


@njit
def triad(a, b, c, s):
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


@njit
def two_sweeps(ex, ey, ez, hx, hy, hz, c):
    n = ex.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            for k in range(1, n):
                ex[i, j, k] += c * ((hz[i, j, k] - hz[i, j - 1, k]) - (hy[i, j, k] - hy[i, j, k - 1]))
                ey[i, j, k] += c * ((hx[i, j, k] - hx[i, j, k - 1]) - (hz[i, j, k] - hz[i - 1, j, k]))
                ez[i, j, k] += c * ((hy[i, j, k] - hy[i - 1, j, k]) - (hx[i, j, k] - hx[i, j - 1, k]))
    for i in range(n - 1):
        for j in range(n - 1):
            for k in range(n - 1):
                hx[i, j, k] -= c * ((ez[i, j + 1, k] - ez[i, j, k]) - (ey[i, j, k + 1] - ey[i, j, k]))
                hy[i, j, k] -= c * ((ex[i, j, k + 1] - ex[i, j, k]) - (ez[i + 1, j, k] - ez[i, j, k]))
                hz[i, j, k] -= c * ((ey[i + 1, j, k] - ey[i, j, k]) - (ex[i, j + 1, k] - ex[i, j, k]))


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    work()
    taken = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return float(np.median(taken))


def built(size: int, setup: Setup) -> fdtd.Simulation:
    options = {"cell": (size / RESOLUTION,) * 3, "resolution": RESOLUTION, "boundaries": [fdtd.Periodic()]} | setup
    sim = fdtd.Simulation(**options)
    sim.step()
    return sim


def bytes_per_point(sim: fdtd.Simulation) -> float:
    return sum(chunk.nbytes for chunk in sim.chunks) / sim.grid.box.volume


def ns_per_point(sim: fdtd.Simulation, repeats: int) -> float:
    return median_seconds(sim.step, repeats) / sim.grid.box.volume * 1e9


def whole(**medium: Any) -> Setup:
    return {"material": fdtd.Medium(**medium)}


def features(edge: float) -> dict[str, Setup]:
    """Return setups by name; layers reach to the middle of the cell."""
    film = fdtd.Block(size=(2 * edge, 2 * edge, edge / 2), material=fdtd.Medium(epsilon=4))
    poles = [fdtd.LorentzPole(1.1 + i, 0.1, 0.7) for i in range(5)]
    layer = [fdtd.PML(edge / 2, axis) for axis in "xyz"]
    return {
        "epsilon, a film": {"geometry": [film]},
        "epsilon, off-diagonal": whole(epsilon=(3, 4, 5), epsilon_off_diagonal=(0.3, 0.2, 0.1)),
        "mu, a film": {"geometry": [fdtd.Block(size=film.size, material=fdtd.Medium(mu=4))]},
        "conductivity": whole(epsilon=3, electric_conductivity=0.4),
        "1 Lorentz pole": whole(epsilon=3, electric_poles=poles[:1]),
        "2 Lorentz poles": whole(epsilon=3, electric_poles=poles[:2]),
        "5 Lorentz poles": whole(epsilon=3, electric_poles=poles),
        "chi3": whole(epsilon=3, chi3=0.1),
        "chi2": whole(epsilon=3, chi2=0.1),
        "PML along 1 axis": {"boundaries": [*layer[:1], fdtd.Periodic("yz")]},
        "PML along 2 axes": {"boundaries": [*layer[:2], fdtd.Periodic("z")]},
        "PML along 3 axes": {"boundaries": layer},
        "Bloch, complex fields": {"boundaries": [fdtd.Bloch(k=(0.1, 0.2, 0.3))]},
    }


def triad_bandwidth(repeats: int) -> float:
    """Return bytes per second that a = b + s c reads and writes."""
    a, b, c = (np.ones(20_000_000) for _ in range(3))
    return 24 * a.size / median_seconds(lambda: triad(a, b, c, 0.5), repeats)


def plain_cost(n: int, repeats: int) -> float:
    """Return ns per point and step of two plain sweeps."""
    fields = [np.random.default_rng(i).normal(size=(n, n, n)) for i in range(6)]
    return median_seconds(lambda: two_sweeps(*fields, 0.5), repeats) / n**3 * 1e9


def compare_vacuum(repeats: int) -> None:
    n = 200
    bandwidth = triad_bandwidth(repeats)
    plain = plain_cost(n, repeats)
    sim = built(n, {})
    double, size = ns_per_point(sim, repeats), bytes_per_point(sim)
    single = ns_per_point(built(n, {"options": fdtd.Options(precision="float32")}), repeats)
    print(f"vacuum, {n}^3, one thread{'':20}ns/point  Mpoints/s")
    for name, cost in (("plain two-sweep kernel", plain), ("evenly, float64", double), ("evenly, float32", single)):
        print(f"  {name:<40}{cost:9.2f}{1e3 / cost:11.0f}")
    print(f"  float64 over the plain kernel           {plain / double:9.2f}")
    print(f"  float32 over float64                    {double / single:9.2f}")
    print(f"  bytes per point                         {size:9.1f}")
    print(f"  triad bandwidth, GB/s                   {bandwidth / 1e9:9.1f}")
    print(f"  share of it at 96 bytes a point         {96 / double / (bandwidth / 1e9):9.2f}\n")


def compare_memory(size: int = 96) -> None:
    print(f"cell of {size}³ points{'':14}bytes per point")
    for name, setup in features(size / RESOLUTION).items():
        print(f"  {name:<32}{bytes_per_point(built(size, setup)):15.1f}")
    print()


def start_up(repeats: int) -> None:
    """A cell of 128^3 points with 30 objects, from the description to the first step, kernels compiled."""
    rng = np.random.default_rng(0)
    objects: list[Any] = []
    for i in range(30):
        medium = fdtd.Medium(epsilon=float(rng.uniform(1.5, 12)), name=f"medium {i}")
        center = tuple(rng.uniform(-0.8, 0.8, 3))
        objects.append(fdtd.Sphere(radius=float(rng.uniform(0.1, 0.4)), center=center, material=medium))

    def begin() -> None:
        fdtd.Simulation(cell=(2, 2, 2), resolution=64, geometry=objects, boundaries=[fdtd.PML(0.15)]).step()

    print(f"start-up of 128^3 with 30 objects and PML: {median_seconds(begin, repeats):.2f} s")


class Counter:
    """Counts how often a step calls its timer."""

    def __init__(self, timer: fdtd.PhaseTimer) -> None:
        self.timer, self.calls = timer, 0

    def __getattr__(self, name: str) -> Any:
        self.calls += 1
        return getattr(self.timer, name)


def clocks(repeats: int) -> None:
    """What the phase timer costs in a small chunk, 64^3."""
    sim = fdtd.Simulation(cell=(3.2,) * 3, resolution=RESOLUTION, boundaries=[fdtd.Periodic()])
    sim.step()
    step = median_seconds(lambda: [sim.step() for _ in range(20)], repeats) / 20
    timer, many = fdtd.PhaseTimer(), 10_000
    timer.start("other")
    one = median_seconds(lambda: [timer.switch("fused") for _ in range(many)], repeats) / many
    timer.stop()
    counter = Counter(sim.timer)
    sim.stepper.timer = counter
    # What a step does is written down anew, with this timer.
    sim.stepper.watch(())
    sim.step()
    share = counter.calls * one / step
    print(
        f"phase timer, 64^3: {counter.calls} calls of {one * 1e6:.2f} us in a step of {step * 1e3:.2f} ms = {share:.2%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=8)
    arguments = parser.parse_args()
    compare_vacuum(arguments.steps)
    compare_memory()
    start_up(3)
    clocks(arguments.steps)


if __name__ == "__main__":
    main()
