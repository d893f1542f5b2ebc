"""What a plan claims to save, beside what it saves: planted solvers, each measured on few core counts.

    python benchmarks/saved_time.py --cases 100

Two solvers with times a / n + b + c log2 n (and with n to other powers) are measured once on each of 4, 5 or 7 core
counts, with noise of 3 %. A plan is compared with a random assignment of the same cores. The table tells, for each
number of counts, how often the true saving lies in the 90 % interval, how wide this is, and how often it is missed from
below (the plan saves less than the interval says).
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray

import evenly
from evenly.allocation.problem.noise import Compare, Noise

NOISE, CORES = 0.03, 640
COUNTS = {4: (16, 64, 256, 512), 5: (16, 32, 64, 128, 256), 7: (8, 16, 32, 64, 128, 256, 512)}


class Planted:
    """A solver with a random law."""

    def __init__(self, random: np.random.Generator) -> None:
        self.work = random.uniform(100.0, 1000.0)
        self.power = random.choice([1.0, 0.9, 0.8])
        self.fixed = random.choice([0.0, 0.5, 2.0])
        self.logs = random.choice([0.0, 0.05, 0.2])

    def seconds(self, cores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the true seconds (n,) on cores (n,)."""
        return np.asarray(self.work / cores**self.power + self.fixed + self.logs * np.log2(cores))

    def model(self, counts: tuple[int, ...], method: str, random: np.random.Generator) -> evenly.models.Model:
        """Return a model of one noisy run on each count."""
        cores = np.array(counts, dtype=np.float64)
        measured = self.seconds(cores) * np.exp(NOISE * random.standard_normal(len(cores)))
        runs = evenly.Runs.from_frame(evenly_frame(cores, measured), ["cores"])
        return evenly.fit(runs, method=method)


def evenly_frame(cores: NDArray[np.float64], seconds: NDArray[np.float64]) -> object:
    """Return a table of runs."""
    import pandas as pd

    return pd.DataFrame({"cores": cores.astype(int), "seconds": seconds})


def case(counts: tuple[int, ...], method: str, seed: int) -> tuple[float, tuple[float, float]]:
    """Return what a plan saves, and the interval that it claims."""
    random = np.random.default_rng(seed)
    solvers = {name: Planted(random) for name in "ab"}
    models = {name: solver.model(counts, method, random) for name, solver in solvers.items()}
    share = int(CORES * random.uniform(0.2, 0.8))
    current = {"a": share, "b": CORES - share}
    plan = evenly.allocate(models, CORES, compare=Compare(current=current), noise=Noise(scatter=0.0))
    own, other = (
        max(float(solvers[name].seconds(np.array([float(count)]))[0]) for name, count in cores.items())
        for cores in (plan.cores, current)
    )
    claimed = plan.versus["current"].interval
    assert claimed is not None
    return 1.0 - own / other, claimed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--method", default="pmnf")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("core counts  in 90 % intervals  saves less  saves more  median width")
    for n, counts in COUNTS.items():
        found = [case(counts, given.method, 1000 * n + k) for k in range(given.cases)]
        truth = np.array([saved for saved, _ in found])
        low, high = np.array([bounds for _, bounds in found]).T
        less, more = np.mean(truth < low - 1e-9), np.mean(truth > high + 1e-9)
        width = np.median(high - low)
        print(f"{n:11}  {1 - less - more:17.0%}  {less:10.0%}  {more:10.0%}  {width:12.1%}")


if __name__ == "__main__":
    main()
