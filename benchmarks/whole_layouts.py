"""How far off are layouts that were left out, where curves are learned from whole layouts with one total each.

    python benchmarks/whole_layouts.py LAYOUTS.csv

LAYOUTS.csv has a row for each layout of E3SM: ``ntasks_…`` (negative: nodes), ``rootpe_…`` and ``sypd``. Layouts of one
grid, machine and component set are a group. Each layout of a group of three or more is left out in turn. Compared are
the curves of `learn_whole_runs` and a power law of the total number of tasks, which is the best of the simple rules
(the other is constant core-hours). Then planted layouts with 5 % noise: such whose shares vary by random, and such as
people make, which are balanced and all grow alike.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.coupled_runs import CoupledRuns
from evenly.allocation.problem.curves import SolverCurve
from evenly.allocation.problem.layout import Layout, parse_layout
from evenly.allocation.problem.noise import Draws, Noise
from evenly.allocation.problem.whole_runs import learn_whole_runs
from evenly.runs.units import SECONDS_PER_DAY

SOLVERS = ("atm", "lnd", "rof", "ice", "ocn", "cpl")
#: Layouts of E3SM by where the ocean starts: on the tasks of the others, or beside them.
STACKED, CONCURRENT = "atm + lnd + rof + ice + ocn + cpl", "max(max(ice, lnd + rof) + atm + cpl, ocn)"
#: Error of the curves, without and with its sign, whether the run is in the 90 % interval, errors of two simple rules,
#: and how many solvers the other runs tell.
Row = tuple[float, float, bool, float, float, int]
NOISE, DRAWS = 0.05, 4


def layouts(path: str) -> list[tuple[Layout, CoupledRuns, np.ndarray]]:
    """Return the groups of three or more layouts: their layouts, runs and total tasks."""
    table = pd.read_csv(path)
    table = table[table["sypd"].notna()]
    found = []
    for _, group in table.groupby(["grid", "mach", "compset"]):
        if len(group) < 3 or (group[[f"ntasks_{name}" for name in SOLVERS]] < 0).any(axis=None):
            continue
        cores = {name: group[f"ntasks_{name}"].to_numpy(dtype=np.int64) for name in SOLVERS}
        roots = {name: group[f"rootpe_{name}"].fillna(0).to_numpy(dtype=np.int64) for name in SOLVERS}
        each = [parse_layout(CONCURRENT if roots["ocn"][k] else STACKED) for k in range(len(group))]
        total = np.max([cores[name] + roots[name] for name in SOLVERS], axis=0)
        found.append((each, CoupledRuns(cores, (SECONDS_PER_DAY / group["sypd"]).to_numpy()), total))
    return found


def some(runs: CoupledRuns, rows: np.ndarray) -> CoupledRuns:
    """Return some of the runs."""
    return CoupledRuns({name: counts[rows] for name, counts in runs.cores.items()}, runs.seconds[rows])


def left_out(each: list[Layout], runs: CoupledRuns, total: np.ndarray) -> list[Row]:
    """Return a row for each run."""
    found, n = [], len(runs.seconds)
    for k in range(n):
        rest = np.array([i for i in range(n) if i != k])
        known = learn_whole_runs([each[i] for i in rest], some(runs, rest))
        cores = {name: int(counts[k]) for name, counts in runs.cores.items()}
        curves = {name: SolverCurve(name, known.curves[name], np.array([cores[name]])) for name in cores}
        draws = Draws(Problem(each[k], curves, int(total[k])), cores, Noise(inside=known.inside))
        seconds = draws.likely(draws.problem.times(cores))
        low, high = draws.interval() or (0.0, np.inf)
        logs = np.log(runs.seconds[rest])
        law = np.polyfit(np.log(total[rest]), logs, 1)
        power = np.exp(np.polyval(law, np.log(total[k])))
        constant = np.exp(np.mean(logs + np.log(total[rest]))) / total[k]
        truth = runs.seconds[k]
        found.append((
            abs(seconds / truth - 1), seconds / truth - 1, low <= truth <= high,
            abs(power / truth - 1), abs(constant / truth - 1),
            sum(known.told.values()),
        ))  # fmt: skip
    return found


def show(label: str, rows: list[Row], solvers: int) -> None:
    """Print the means of rows."""
    curves, lean, held, power, constant, told = np.mean(np.array(rows, dtype=float), axis=0)
    errors = f"{curves:8.1%} {lean:+7.1%} {held:8.0%} {power:10.1%} {constant:11.1%}"
    print(f"{label:34} {len(rows):7} {errors} {told:6.1f} of {solvers}")


def planted(count: int) -> list[Row]:
    """Return the rows of layouts whose shares vary by random."""
    rows = []
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        cores = {name: np.rint(np.exp(random.uniform(np.log(16), np.log(512), count))).astype(int) for name in "abc"}
        work = {name: 1000 * np.exp(random.normal(0, 0.8)) for name in "abc"}
        layout = parse_layout("max(a + b, c)")
        seconds = layout.seconds({name: work[name] / cores[name] ** 0.85 for name in "abc"})
        runs = CoupledRuns(cores, seconds * np.exp(NOISE * random.normal(size=count)))
        rows += left_out([layout] * count, runs, np.maximum(cores["a"], cores["b"]) + cores["c"])
    return rows


def balanced(count: int) -> list[Row]:
    """Return the rows of layouts in which both sides take one time, but for 10 %, on more and more cores.

    The work of solvers differs, and so do their exponents.
    """
    layout, rows = parse_layout("max(a + b, c)"), []
    for seed in range(2 * DRAWS):
        random = np.random.default_rng(seed)
        work = {name: 1000 * np.exp(random.normal(0, 0.8)) for name in "abc"}
        exponents = {name: random.normal(0.85, 0.07) for name in "abc"}
        total = np.rint(np.geomspace(128, 1024, count)).astype(int)
        most, shares = np.array([[t - c, c] for t in total for c in range(1, t)]).T, np.repeat(total, total - 1)
        beside = work["a"] / most[0] ** exponents["a"] + work["b"] / most[0] ** exponents["b"]
        waits = np.abs(np.log(beside * most[1] ** exponents["c"] / work["c"]))
        best = np.array([most[1][shares == t][np.argmin(waits[shares == t])] for t in total])
        c = np.clip(np.rint(best * np.exp(random.normal(0, 0.1, count))).astype(int), 1, total - 1)
        cores = {"a": total - c, "b": np.ceil((total - c) * random.uniform(0.5, 1)).astype(int), "c": c}
        seconds = layout.seconds({name: work[name] / cores[name] ** exponents[name] for name in "abc"})
        runs = CoupledRuns(cores, seconds * np.exp(NOISE * random.normal(size=count)))
        rows += left_out([layout] * count, runs, total)
    return rows


def main() -> None:
    errors = f"{'curves':>8} {'lean':>7} {'in 90 %':>8}"
    print(f"{'':34} {'layouts':>7} {errors} {'power law':>10} {'core-hours':>11}   told apart")
    groups = layouts(sys.argv[1]) if len(sys.argv) > 1 else []
    if groups:
        show("layouts of E3SM, left out in turn", [row for group in groups for row in left_out(*group)], len(SOLVERS))
    for count in (4, 6, 10):
        show(f"planted, {count} runs, shares vary", planted(count), 3)
    for count in (3, 4, 6):
        show(f"planted, {count} runs, balanced", balanced(count), 3)


if __name__ == "__main__":
    main()
