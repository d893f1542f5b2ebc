"""How good the reported winner of a search is where times are noisy: planted programs, whose true times are known.

    python benchmarks/noisy_searches.py [--seeds 20] [--runs 24] [--methods default,once,most3] [--programs …]
    [--noises 0.05,0.2] [--limit 2]

A run's time is its true time × a lognormal factor, and one run in twenty takes half as long again, as if something else
had run on the machine. Printed for each program and noise, over seeds: by how much the true mean of the reported winner
lies above that of the fastest configuration (mean, and share of searches within 5 %), by how much the reported time
differs from the winner's true mean (mean of the relative error, and of its size), how often the reported interval holds
the true mean, and the median width of this interval. Where a configuration is in use today, and another is found to be
the fastest, the same of the gain, in points of today's time. In "equal", all configurations take the same time, and in
"optimum" the fastest is in use today: there is nothing to gain. With --limit, runs are ended early as
`evenly.tune(limit=…)` asks for: printed is also how many were ("cut"), and how many of these bounds lie above the true
mean of their configuration.

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


def equal(at: Configuration) -> float:
    """Return 1 s: no parameter matters."""
    del at
    return 1.0


def optimum(at: Configuration) -> float:
    """Return 1 s at 4 ranks and blocks of 16; neighbours take 10 % and 25 % longer."""
    return float(2 * (1 / at["ranks"] + at["ranks"] / 16) * (1 + 0.1 * abs(np.log2(at["block"] / 16))))


_SWITCHES = Space(ranks=Ordinal(1, 2, 4, 8, 16, 32), tile=Ordinal(1, 2, 4, 8, 16, 32, 64), extra=Integer(0, 5))
#: Each program's space, its time, and the configuration in use today.
PROGRAMS: dict[str, tuple[Space, Callable[[Configuration], float], Configuration | None]] = {
    "bowl": (
        Space(block=Integer(1, 32, scale="log"), threads=Ordinal(1, 2, 4, 8), solver=Categorical("cg", "gmres", "amg")),
        bowl,
        None,
    ),
    "blocks": (
        Space(
            nx=Ordinal(12, 16, 24, 32, 48, 64, 96), ny=Ordinal(10, 16, 20, 32, 40, 64, 80),
            kind=Categorical("cartesian", "rake", "roundrobin"),
        ),
        blocks,
        None,
    ),
    "switches": (_SWITCHES, switches, None),
    "improved": (_SWITCHES, switches, {"ranks": 1, "tile": 8, "extra": 3}),
    "equal": (Space(a=Ordinal(1, 2, 3, 4), b=Ordinal(1, 2, 3, 4)), equal, {"a": 2, "b": 2}),
    "optimum": (
        Space(ranks=Ordinal(1, 2, 4, 8, 16), block=Ordinal(4, 8, 16, 32, 64)),
        optimum,
        {"ranks": 4, "block": 16},
    ),
}  # fmt: skip
METHODS: dict[str, dict[str, Any]] = {"default": {}, "once": {"repeats": 1}, "most3": {"repeats": 3}}


def true_mean(seconds: float, noise: float) -> float:
    """Return the geometric mean of the times of a configuration whose undisturbed median is `seconds`."""
    del noise  # a lognormal factor doesn't change the geometric mean
    return float(seconds * np.exp(np.log(_TIMES) / _DISTURBED))


def one(name: str, noise: float, method: str, seed: int, runs: int, limit: float | None) -> dict[str, float]:
    """Return the figures of one search."""
    space, seconds, today = PROGRAMS[name]
    random = np.random.default_rng([seed, round(1000 * noise)])

    def run(at: Configuration, limit_s: float | None = None) -> float:
        took = seconds(at) * float(np.exp(random.normal(0, noise)))
        took *= _TIMES if random.random() < 1 / _DISTURBED else 1.0
        if limit_s is not None and took > limit_s:
            raise RunFailed("too slow", at_least=limit_s)
        return took

    found = evenly.tune(space, run, budget=runs, seed=seed, limit=limit, baseline=today, **METHODS[method])
    truth = np.array([seconds(dict(row)) for row in space.enumerate().to_dict("records")])
    mine = true_mean(seconds(found.best), noise)
    low, high = found.interval or (np.nan, np.nan)
    late = found.history[found.history["status"] == "timed out"]
    wrong = [row["at_least"] > true_mean(seconds(row), noise) for row in late.to_dict("records")]
    gain = None if found.gain is None or found.best == today else found.gain
    saved = np.nan if today is None else 1 - seconds(found.best) / seconds(today)
    least, most = (np.nan, np.nan) if gain is None or gain.interval is None else gain.interval
    return {
        "regret": seconds(found.best) / truth.min() - 1, "error": found.seconds / mine - 1,
        "inside": float(low <= mine <= high) if found.interval else np.nan, "width": high / low - 1,
        "gain error": np.nan if gain is None else gain.saved - saved,
        "gain inside": float(least <= saved <= most) if np.isfinite(least) else np.nan, "gain width": most - least,
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
    names = ["regret %", "within 5 %", "error %", "|error| %", "inside", "width %"]
    names += ["gain error", "inside", "width", "cut", "too high"]
    widths = [max(8, len(name) + 2) for name in names]
    titles = "".join(f"{name:>{width}s}" for name, width in zip(names, widths, strict=True))
    print(f"{'program':10s}{'noise':>6s} {'method':8s}{titles}  CPU s")
    for name in options.programs.split(","):
        for noise in map(float, options.noises.split(",")):
            for method in options.methods.split(","):
                begin = time.process_time()
                seeds = range(options.first_seed, options.first_seed + options.seeds)
                rows = [one(name, noise, method, seed, options.runs, options.limit) for seed in seeds]
                told = figures({key: np.array([row[key] for row in rows]) for key in rows[0]})
                shown = "".join(f"{_shown(x):>{width}s}" for x, width in zip(told, widths, strict=True))
                spent = (time.process_time() - begin) / options.seeds
                print(f"{name:10s}{noise:6.2f} {method:8s}{shown}{spent:7.1f}", flush=True)


def figures(of: dict[str, Any]) -> list[float]:
    """Return what is printed of the figures of all searches."""
    warnings.simplefilter("ignore")  # means of nothing but nan
    return [
        100 * of["regret"].mean(), np.mean(of["regret"] <= 0.05), 100 * of["error"].mean(),
        100 * np.abs(of["error"]).mean(), np.nanmean(of["inside"]), 100 * np.nanmedian(of["width"]),
        100 * np.nanmean(of["gain error"]), np.nanmean(of["gain inside"]), 100 * np.nanmedian(of["gain width"]),
        of["cut"].mean(), of["wrong"].mean(),
    ]  # fmt: skip


def _shown(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else ""


if __name__ == "__main__":
    main()
