"""How fast allocation is, on one core: ``python benchmarks/allocation_speed.py``.

Plain formulas, and models of every method as `evenly.fit` learns them from seven runs each. CPU seconds of this
process, first call (compiled code read from the cache, or compiled) and best of the next three.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import evenly
from evenly.allocation.allocate import allocate
from evenly.allocation.balancers.pareto_fronts import build
from evenly.allocation.problem.curves import SolverCurve
from evenly.allocation.problem.layout import parse_layout
from evenly.allocation.problem.limits import Limits
from evenly.errors import ExtrapolationWarning
from evenly.models.base import Model
from evenly.runs.runs import Runs

MILLION = 10**6
METHODS = ("pmnf", "log-quadratic", "offset-power-law", "power-law", "piecewise-linear")


class Formula:
    """A fitted formula a/p + b·log2 p + k, with a model's face: tables in, certified shape out."""

    feature_names_in_ = ("cores",)

    def __init__(self, a: float, b: float, k: float) -> None:
        self.a, self.b, self.k = a, b, k

    def predict(self, table: pd.DataFrame) -> Any:
        cores = table["cores"].to_numpy(dtype=np.float64)
        return self.a / cores + self.b * np.log2(cores) + self.k

    def monotone_pieces(self, low: int, high: int) -> list[tuple[int, int, int]]:
        turn = int(min(max(self.a * np.log(2) / self.b, low), high))  # f' = 0
        return [(low, turn, -1), (turn + 1, high, 1)] if turn < high else [(low, high, -1)]


def formulas(n: int) -> dict[str, Formula]:
    random = np.random.default_rng(1)
    return {f"s{i}": Formula(*(random.uniform(0.5, 2.0, 3) * (1e4, 1e-3, 0.01))) for i in range(n)}


def curves(sources: dict[str, Any], step: int = 1) -> dict[str, SolverCurve]:
    return {name: SolverCurve(name, source, range(step, MILLION + 1, step)) for name, source in sources.items()}


def laws(n: int) -> dict[str, Callable[[Any], Any]]:
    random = np.random.default_rng(2)
    weights = [float(w) for w in random.uniform(1, 9, n)]
    return {f"s{i}": functools.partial(_law, a) for i, a in enumerate(weights)}


def _law(a: float, cores: Any) -> Any:
    return a / cores + 1e-9 * a * cores


def tables(n: int, blocks: int) -> dict[str, Callable[[Any], Any]]:
    random = np.random.default_rng(3)
    found = {f"s{i}": np.sort(random.random(blocks + 1))[::-1] + 0.1 for i in range(n)}
    return {name: functools.partial(_blocks, table) for name, table in found.items()}


def _blocks(table: Any, cores: Any) -> Any:
    return table[cores // 48]


@functools.cache
def fitted(method: str, n: int = 20) -> dict[str, Model]:
    """Return models of seven runs each, on 16 … 1024 cores with 2 % noise."""
    random, models = np.random.default_rng(7), {}
    cores = 2.0 ** np.arange(4, 11)
    for i in range(n):
        work, growth, rest = random.uniform(0.1, 1.0, 3) * (1e4, 0.1, 1.0)
        seconds = (work / cores + growth * np.log2(cores) + rest) * np.exp(random.normal(0, 0.02, len(cores)))
        runs = Runs.from_frame(pd.DataFrame({"cores": cores.astype(int), "seconds": seconds}), ["cores"])
        models[f"s{i}"] = evenly.fit(runs, method=method)
    return models


def of_fitted_models() -> dict[str, tuple[float, Callable[[], object]]]:
    found: dict[str, tuple[float, Callable[[], object]]] = {
        f"max, 20 fitted {method}, 1e6 cores, the answer": (
            0.1, functools.partial(_answer, method))
        for method in METHODS
    }  # fmt: skip
    asked: dict[str, Callable[[Any], object]] = {
        "the curve": lambda plan: plan.curve,
        "the cheapest total": lambda plan: plan.cheapest().cores,
        "runner-up and within noise": lambda plan: (plan.runner_up, plan.within_noise),
    }
    for what, ask in asked.items():
        run = functools.partial(_answer_and, ask)
        found[f"max, 20 fitted pmnf, 1e6 cores, and {what}"] = (np.nan, run)
    return found


def _answer(method: str) -> float:
    return allocate(fitted(method), MILLION).seconds


def _answer_and(ask: Callable[[Any], object]) -> object:
    return ask(allocate(fitted("pmnf"), MILLION))


def cases() -> dict[str, tuple[float, Callable[[], object]]]:
    twenty, four = formulas(20), formulas(4)
    nested = parse_layout("max(max(s0, s1) + s2, s3)")
    serial = laws(4)
    irregular = tables(4, 2_500)
    graph = parse_layout("max(sum(s0, s1), sum(s1, s2), sum(s2, s3))")
    return {
        **of_fitted_models(),
        "max, 20 formulas, 1e6 cores, the answer": (0.05, lambda: allocate(twenty, MILLION).seconds),
        "max, 20 functions, 1e6 cores, all totals": (
            np.nan,
            lambda: build(parse_layout("parallel", twenty), curves(dict(twenty)), MILLION).front,
        ),
        "nested, 4 formulas, all totals to 1e6": (1.0, lambda: build(nested, curves(dict(four)), MILLION).front),
        "sum, 4 convex curves, all totals to 1e6": (
            0.5, lambda: build(parse_layout("serial", serial), curves(dict(serial)), MILLION).front),
        "sum, 4 irregular curves, 2,500 blocks": (
            1.0, lambda: allocate(irregular, 120_000, layout="serial", limits=Limits(multiple=48)).seconds),
        "max(sum, sum, sum) with shared solvers, 2,500 cores": (
            np.nan, lambda: allocate(dict(four), 2_500, layout=graph).seconds),
    }  # fmt: skip


def cpu_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    warnings.simplefilter("ignore", ExtrapolationWarning)
    print(f"{'case':60} {'goal':>7} {'first':>8} {'warm':>8}   CPU seconds")
    for method in METHODS:
        fitted(method)
    for name, (goal, run) in cases().items():
        first = cpu_seconds(run)
        warm = min(cpu_seconds(run) for _ in range(3))
        print(f"{name:60} {goal:7.3f} {first:8.3f} {warm:8.3f}")


if __name__ == "__main__":
    main()
