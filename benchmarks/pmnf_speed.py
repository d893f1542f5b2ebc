"""Candidates per second of the exact search, beside plain NumPy refits in the same run.

Usage::

    .venv/bin/python benchmarks/pmnf_speed.py

The search space is that of the thesis' equation 5.1 for two parameters, which it gave up on (62 hours at 225
candidates a second): 10,000 terms, 49,995,000 candidates of two terms, 176 runs. Each candidate's exact leave-one-out
loss counts.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import time
from typing import Any, get_args

import numpy as np

from evenly.models.pmnf.problem import Candidate, Fit, Loss, Problem, SearchReport
from evenly.models.pmnf.search import search_all
from evenly.models.pmnf.terms import TermSet, all_factors
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.dense_points import spread_points

RUNS = 176


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--naive", type=int, default=300, help="candidates for the plain baseline")
    arguments = parser.parse_args()
    points, values = measured()
    factors = tuple(all_factors(np.arange(-2, 2.76, 0.25), [-2, -1, 0, 1, 2]))
    terms = TermSet((factors, factors))
    asked = Conditions(spread_points([(14, 2240), (2.5, 9)], 256), {}, True)
    print(f"{RUNS} runs, {len(terms):,} terms, 49,995,000 candidates of two terms and a constant")
    print(f"{'fit':10}{'loss':10}{'seconds':>9}{'million/s':>11}{'times plain':>13}   what happened")
    fits: tuple[Fit, ...] = ("relative", "absolute", "log")
    for fit, loss in itertools.product(fits, get_args(Loss)):
        problem = Problem(points, values, np.ones(RUNS), fit, loss)
        small = TermSet((factors[:3], factors[:3]))
        search_all(problem, small, 2, asked, search=SearchReport("full", 0))  # compiles
        asked = Conditions(asked.points, {}, fit != "log")
        row(problem, terms, asked, naive_rate(problem, terms, arguments.naive))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:.0f} MiB")


def measured() -> tuple[Any, Any]:
    """A planted stand-in for the thesis' 176 training runs: core counts and refinement levels, 10 % noise."""
    rng = np.random.default_rng(0)
    points = np.stack([rng.choice(np.arange(28, 561, 14), RUNS), rng.choice(np.arange(3, 9), RUNS)], axis=1).astype(
        float
    )
    elements = 8.0 ** points[:, 1]
    values = (1e-3 * elements / points[:, 0] + 0.01 * points[:, 0] ** 0.5 + 0.05) * np.exp(0.1 * rng.normal(size=RUNS))
    return points, values / np.exp(np.log(values).mean())


def row(problem: Problem, terms: TermSet, asked: Conditions, plain: float) -> None:
    search = SearchReport("full", 49_995_000)
    start = time.perf_counter()
    search_all(problem, terms, 2, asked, search=search)
    seconds = time.perf_counter() - start
    rate = search.considered / seconds
    listed = ", ".join(f"{number:,} {name}" for name, number in search.counts.items() if number)
    print(
        f"{problem.fit:10}{problem.loss:10}{seconds:9.2f}{rate / 1e6:11.1f}{rate / plain:13,.0f}   {listed}", flush=True
    )


def naive_rate(problem: Problem, terms: TermSet, n: int) -> float:
    """Candidates per second with one NumPy least-squares solution for each run left out."""
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    for _ in range(n):
        refit(problem, terms, Candidate(0.0, tuple(rng.integers(1, len(terms), 2))))
    return n / (time.perf_counter() - start)


def refit(problem: Problem, terms: TermSet, candidate: Candidate) -> Any:
    design = np.column_stack(
        [np.ones(RUNS), terms.from_tables(terms.tables(problem.points), np.array(candidate.terms)).T]
    )
    left, right = design * problem.roots[:, None], problem.response * problem.roots
    predictions = np.empty(RUNS)
    for run in range(RUNS):
        others = np.arange(RUNS) != run
        predictions[run] = design[run] @ np.linalg.lstsq(left[others], right[others], rcond=None)[0]
    return predictions


if __name__ == "__main__":
    main()
