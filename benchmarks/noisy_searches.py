"""How good the reported winner of a search is where times are noisy: planted programs, whose true times are known.

    python benchmarks/noisy_searches.py [--seeds 20] [--runs 24] [--methods default,once,most3] [--programs …]
    [--noises 0.05,0.2] [--limit 2]

A run's time is its true time × a lognormal factor, and one run in twenty takes half as long again, as if something else
had run on the machine. Printed for each program and noise, over seeds: by how much the true mean of the reported winner
lies above that of the fastest configuration (mean, and share of searches within 5 %), by how much the reported time
differs from the winner's true mean (mean of the relative error, and of its size), how often the reported interval holds
the true mean, and the median width of this interval. With --limit, runs are ended early as `evenly.tune(limit=…)` asks
for: printed is also how many were, and how many of these bounds lie above the true mean of their configuration.

"once" runs each configuration once (`repeats=1`), "most3" runs the same configuration up to three times (`repeats=3`).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import evenly
from evenly import Categorical, Integer, Ordinal, RunFailed, Space

Configuration = dict[str, Any]
#: One run in so many is disturbed, and takes so many times as long.
_DISTURBED, _TIMES = 20, 1.5


def bowl(at: Configuration) -> float:
    """Return 1 s at blocks of 8, 4 threads and amg; solvers differ by 30 and 100 %."""
    solver = {"cg": 1.3, "gmres": 2.0, "amg": 1.0}[at["solver"]]
    away = np.log2(at["block"] / 8) ** 2 / 8 + np.log2(at["threads"] / 4) ** 2 / 4
    return float(solver * np.exp(away))


def blocks(at: Configuration) -> float:
    """Return the time of a block decomposition of 384 × 320 points: idle ranks, and halos of small blocks."""
    count = -(-384 // at["nx"]) * -(-320 // at["ny"])
    each = -(-count // 16) * at["nx"] * at["ny"] * (1 + 2.5 / at["nx"] + 4.0 / at["ny"])
    return float(each / 384 / 320 * 16 * {"cartesian": 1.0, "rake": 1.04, "roundrobin": 1.09}[at["kind"]])


def switches(at: Configuration) -> float:
    """Return a time with a threshold, an interaction and a parameter that hardly matters."""
    work = 1 + 3.0 / at["ranks"] + 0.02 * at["ranks"] + 0.3 * abs(np.log2(at["tile"] / at["ranks"]))
    return float(work * (1.25 if at["tile"] > 32 else 1.0) * (1 + 0.01 * at["extra"]))


PROGRAMS: dict[str, tuple[Space, Callable[[Configuration], float]]] = {
    "bowl": (
        Space(block=Integer(1, 32, scale="log"), threads=Ordinal(1, 2, 4, 8), solver=Categorical("cg", "gmres", "amg")),
        bowl,
    ),
    "blocks": (
        Space(
            nx=Ordinal(12, 16, 24, 32, 48, 64, 96), ny=Ordinal(10, 16, 20, 32, 40, 64, 80),
            kind=Categorical("cartesian", "rake", "roundrobin"),
        ),
        blocks,
    ),
    "switches": (Space(ranks=Ordinal(1, 2, 4, 8, 16, 32), tile=Ordinal(1, 2, 4, 8, 16, 32, 64), extra=Integer(0, 5)),
                 switches),
}  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {"default": {}, "once": {"repeats": 1}, "most3": {"repeats": 3}}


def true_mean(seconds: float, noise: float) -> float:
    """Return the geometric mean of the times of a configuration whose undisturbed median is `seconds`."""
    del noise  # a lognormal factor doesn't change the geometric mean
    return float(seconds * np.exp(np.log(_TIMES) / _DISTURBED))


def one(name: str, noise: float, method: str, seed: int, runs: int, limit: float | None) -> dict[str, float]:
    """Return the figures of one search."""
    space, seconds = PROGRAMS[name]
    random = np.random.default_rng([seed, round(1000 * noise)])

    def run(at: Configuration, limit_s: float | None = None) -> float:
        took = seconds(at) * float(np.exp(random.normal(0, noise)))
        took *= _TIMES if random.random() < 1 / _DISTURBED else 1.0
        if limit_s is not None and took > limit_s:
            raise RunFailed("too slow", at_least=limit_s)
        return took

    found = evenly.tune(space, run, budget=runs, seed=seed, limit=limit, **METHODS[method])
    truth = np.array([seconds(dict(row)) for row in space.enumerate().to_dict("records")])
    mine = true_mean(seconds(found.best), noise)
    low, high = found.interval or (np.nan, np.nan)
    late = found.history[found.history["status"] == "timed out"]
    wrong = [row["at_least"] > true_mean(seconds(row), noise) for row in late.to_dict("records")]
    return {
        "regret": seconds(found.best) / truth.min() - 1, "error": found.seconds / mine - 1,
        "inside": float(low <= mine <= high) if found.interval else np.nan, "width": high / low - 1,
        "cut": len(late), "wrong": float(sum(wrong)),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--methods", default="once,default")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--noises", default="0.05,0.2")
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = ["regret %", "within 5 %", "error %", "|error| %", "inside", "width %", "cut", "too high"]
    print(f"{'program':10s}{'noise':>7s} {'method':9s}" + "".join(f"{c:>11s}" for c in columns) + "  CPU s")
    for name in options.programs.split(","):
        for noise in map(float, options.noises.split(",")):
            for method in options.methods.split(","):
                begin = time.process_time()
                seeds = range(options.first_seed, options.first_seed + options.seeds)
                rows = [one(name, noise, method, seed, options.runs, options.limit) for seed in seeds]
                of = {key: np.array([row[key] for row in rows]) for key in rows[0]}
                told = [
                    100 * of["regret"].mean(), np.mean(of["regret"] <= 0.05), 100 * of["error"].mean(),
                    100 * np.abs(of["error"]).mean(), np.nanmean(of["inside"]), 100 * np.nanmedian(of["width"]),
                    of["cut"].mean(), of["wrong"].mean(),
                ]  # fmt: skip
                spent = (time.process_time() - begin) / options.seeds
                print(f"{name:10s}{noise:7.2f} {method:9s}" + "".join(f"{x:11.2f}" for x in told) + f"{spent:7.1f}",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
