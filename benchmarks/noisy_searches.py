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

    python benchmarks/noisy_searches.py --judged judge --data shared/data

Without disturbed runs, in these and other programs, some of which fail beside their optimum, and in measured tables,
whose times count as true: how often the 95 % interval of the winner holds its true time, and how often a configuration
that is said to be the fastest of those run with a chance p is the fastest. On the searches of "choose", changes of the
method are compared; those of "judge" are looked at once, afterwards.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import evenly
from evenly import Categorical, Integer, Ordinal, RunFailed, Space
from evenly.tuning.result import Result
from tuning_problems import problems

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


def corner(at: Configuration) -> float:
    """Return a time that falls towards a corner, where memory ends."""
    if at["block"] * at["threads"] > 64:
        raise RunFailed("out of memory")
    work = 8 / at["block"] ** 0.5 + 8 / at["threads"] ** 0.7 + 0.02 * at["block"]
    return float(work + (0.3 if at["solver"] == "cg" else 0.0))


def ridge(at: Configuration) -> float:
    """Return a time that falls with the tile and the depth, of which only one can be large."""
    if at["tile"] * at["depth"] > 1500 or (at["ranks"] == 1 and at["tile"] > 200):
        raise RunFailed("out of memory")
    return float((1 + 60 / at["tile"]) * (1 + 1 / at["depth"]) * (1 + 0.05 * abs(np.log2(at["ranks"] / 8))))


def cliff(at: Configuration) -> float:
    """Return a time that is least at the largest buffers that fit beside some threads."""
    if at["buffer"] * at["threads"] > 2048:
        raise RunFailed("out of memory")
    kind = {"ring": 1.0, "tree": 1.06, "flat": 1.25}[at["kind"]]
    return float((1 + 40 / at["buffer"]) * (0.5 + 4 / at["threads"] + 0.03 * at["threads"]) * kind)


def ledge(at: Configuration) -> float:
    """Return a time that is least with as few, as large parts as memory allows, and many ranks."""
    if at["part"] ** 2 > 40 * at["ranks"]:
        raise RunFailed("out of memory")
    return float(20 / at["ranks"] + 0.1 * at["ranks"] ** 0.5 + 12 / at["part"] + (0.2 if at["order"] == "row" else 0.0))


def wall(at: Configuration) -> float:
    """Return a time that falls with the cache that a tile uses; too large ones fail, and one kind more often."""
    if at["width"] * at["height"] > (600 if at["fused"] == "yes" else 1200):
        raise RunFailed("out of shared memory")
    fused = 0.8 if at["fused"] == "yes" else 1.0
    return float(fused * (1 + 6 / at["width"]) * (1 + 10 / at["height"]))


def valley(at: Configuration) -> float:
    """Return a time that hangs on a product, with a flat optimum, and on a level of optimisation."""
    load = np.log2(at["teams"] * at["chunk"] / 256)
    return float((2 + 0.15 * load**2 + 0.02 * at["teams"]) * (1.3, 1.1, 1.0, 1.02)[at["level"]])


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
    "corner": (
        Space(
            block=Integer(1, 32, scale="log"), threads=Ordinal(1, 2, 4, 8, 16), solver=Categorical("cg", "amg"),
        ),
        corner,
        None,
    ),
    "ridge": (
        Space(tile=Integer(8, 512, scale="log"), depth=Integer(1, 12), ranks=Ordinal(1, 2, 4, 8, 16)), ridge, None,
    ),
    "cliff": (
        Space(
            buffer=Integer(16, 1024, scale="log"), threads=Ordinal(1, 2, 4, 8, 16, 32),
            kind=Categorical("ring", "tree", "flat"),
        ),
        cliff,
        None,
    ),
    "ledge": (
        Space(
            ranks=Ordinal(1, 2, 4, 8, 16, 32, 64), part=Integer(4, 64, scale="log"), order=Categorical("row", "column"),
        ),
        ledge,
        None,
    ),
    "wall": (
        Space(
            width=Ordinal(4, 8, 16, 24, 32, 48, 64), height=Integer(2, 64, scale="log"), fused=Categorical("yes", "no"),
        ),
        wall,
        None,
    ),
    "valley": (
        Space(teams=Ordinal(1, 2, 4, 8, 16), chunk=Integer(4, 512, scale="log"), level=Integer(0, 3)), valley, None,
    ),
}  # fmt: skip
#: Programs of the first tables in the documents.
_PLANTED = "bowl,blocks,switches,improved,equal,optimum"
#: Measured tables: part, program and place in `tuning_problems`.
TABLES = {
    "amg": ("choose", "AMG", 1), "lammps": ("choose", "LAMMPS", 0),
    "hsmgp": ("report", "HSMGP", 1), "convolution": ("report", "convolution", 0), "qr": ("report", "QR", 1),
    "hsmgp2": ("report", "HSMGP", 2), "broadcast": ("report", "broadcast", 2), "dune": ("choose", "DUNE", 1),
    "gemm": ("choose", "GEMM", 1),
}  # fmt: skip
_NOISES = (0.15, 0.05, 0.02)
#: Searches that are judged: program, runs, noises, seeds.
JUDGED: dict[str, list[tuple[str, int, tuple[float, ...], range]]] = {
    "choose": [
        ("corner", 40, (0.15,), range(14)), ("ridge", 40, (0.15,), range(8)), ("ridge", 24, (0.05,), range(6)),
        ("ridge", 16, (0.15,), range(20, 24)), ("switches", 24, (0.15,), range(6)),
        ("switches", 24, (0.15,), range(20, 28)), ("bowl", 24, (0.02,), range(6)), ("bowl", 16, (0.15,), range(20, 28)),
        ("lammps", 24, (0.15,), range(6)), ("amg", 24, (0.05,), range(6)), ("amg", 24, (0.15,), range(20, 24)),
        ("cliff", 40, _NOISES, range(100, 106)), ("equal", 16, _NOISES, range(100, 106)),
        *((name, 24, _NOISES, range(100, 106)) for name in ("blocks", "optimum", "hsmgp", "convolution", "qr")),
    ],
    "judge": [
        ("ledge", 40, _NOISES, range(200, 206)),
        *((name, 24, _NOISES, range(200, 206)) for name in ("wall", "valley", "hsmgp2", "broadcast", "dune", "gemm")),
    ],
}  # fmt: skip
_FAILING = ("corner", "ridge", "cliff", "lammps", "convolution", "ledge", "wall")
_CHANCES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
METHODS: dict[str, dict[str, Any]] = {"default": {}, "once": {"repeats": 1}, "most3": {"repeats": 3}}


def replayed(name: str, data: Path) -> tuple[Space, Callable[[Configuration], float], None]:
    """Return the space and the times of a measured table; what failed in it fails again."""
    part, program, place = TABLES[name]
    problem = [one for one in problems(data, part) if one.program == program][place]  # type: ignore[arg-type]
    knobs = problem.table[problem.knobs]
    times = dict(zip(knobs.itertuples(index=False, name=None), problem.table["seconds"], strict=True))

    def seconds(at: Configuration) -> float:
        took = float(times[tuple(at[knob] for knob in problem.knobs)])
        if not np.isfinite(took):
            raise RunFailed("it failed when it was measured")
        return took

    return Space.from_frame(knobs), seconds, None


def true_mean(seconds: float) -> float:
    """Return the geometric mean of the times of a configuration whose undisturbed median is `seconds`."""
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
    mine = true_mean(seconds(found.best))
    low, high = found.interval or (np.nan, np.nan)
    late = found.history[found.history["status"] == "timed out"]
    wrong = [row["at_least"] > true_mean(seconds(row)) for row in late.to_dict("records")]
    gain = None if found.gain is None or found.best == today else found.gain
    saved = np.nan if today is None else 1 - seconds(found.best) / seconds(today)
    least, most = (np.nan, np.nan) if gain is None or gain.interval is None else gain.interval
    return {
        "regret": seconds(found.best) / np.nanmin(_truth(space, seconds)) - 1, "error": found.seconds / mine - 1,
        "inside": float(low <= mine <= high) if found.interval else np.nan, "width": high / low - 1,
        "gain error": np.nan if gain is None else gain.saved - saved,
        "gain inside": float(least <= saved <= most) if np.isfinite(least) else np.nan, "gain width": most - least,
        "cut": len(late), "wrong": float(sum(wrong)),
    }  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """What is judged of one search.

    Attributes
    ----------
    name : str
    noise : float
    regret, error, width : float
        Relative, of the winner; the width is that of its interval.
    is_inside : bool
        Whether the interval holds the true time.
    chances : list of (float, bool)
        For each configuration that may be the fastest of those run: its chance, and whether it is.
    """

    name: str
    noise: float
    regret: float
    error: float
    width: float
    is_inside: bool
    chances: list[tuple[float, bool]]

    @classmethod
    def of(cls, name: str, noise: float, found: Result, seconds: Callable[[Configuration], float]) -> Judged:
        """Judge a result, given the true times."""
        everything, ran = _truth(found.space, seconds), found.history[found.history["status"] == "ok"]
        mine, least = seconds(found.best), min(seconds(row) for row in ran[found.space.names].to_dict("records"))
        low, high = found.interval or (np.nan, np.nan)
        alike = found.alike.to_dict("records")
        # Where all take the same time, no single one is the fastest.
        chances = [] if name == "equal" else [(row["chance"], seconds(row) <= least) for row in alike]
        return cls(
            name, noise, mine / np.nanmin(everything) - 1, found.seconds / mine - 1, high / low - 1,
            bool(low <= mine <= high), chances,
        )  # fmt: skip


def judge(name: str, noise: float, seed: int, runs: int, data: Path) -> Judged:
    """Make a search without disturbed runs, and judge it."""
    space, seconds, _ = replayed(name, data) if name in TABLES else PROGRAMS[name]
    random = np.random.default_rng([seed, round(1000 * noise)])

    def run(at: Configuration) -> float:
        return seconds(at) * float(np.exp(random.normal(0, noise)))

    return Judged.of(name, noise, evenly.tune(space, run, budget=runs, seed=seed), seconds)


def _truth(space: Space, seconds: Callable[[Configuration], float]) -> list[float]:
    """Return the true times of all configurations; nan where runs fail."""

    def one(at: Configuration) -> float:
        try:
            return seconds(at)
        except RunFailed:
            return np.nan

    return [one(dict(row)) for row in space.enumerate().to_dict("records")]


def print_judged(rows: list[Judged]) -> None:
    """Print how often intervals hold the true time, and how often the likely is the case."""
    groups = {f"noise {noise:.2f}": [row for row in rows if row.noise == noise] for noise in _noises(rows)}
    groups |= {"with failures": [row for row in rows if row.name in _FAILING]}
    groups |= {"measured tables": [row for row in rows if row.name in TABLES], "all": rows}
    print(f"{'':16s}{'searches':>9s}{'inside':>8s}{'width %':>9s}{'error %':>9s}{'regret %':>10s}")
    for title, group in groups.items():
        inside, width = np.mean([row.is_inside for row in group]), 100 * np.nanmedian([row.width for row in group])
        error, regret = (100 * np.mean([getattr(row, one) for row in group]) for one in ("error", "regret"))
        print(f"{title:16s}{len(group):9d}{inside:8.3f}{width:9.1f}{error:9.2f}{regret:10.2f}")
    chances = np.array([pair for row in rows for pair in row.chances], dtype=np.float64)
    print(f"\n{'chance':16s}{'mean':>9s}{'fastest':>9s}{'number':>8s}")
    for low, high in itertools.pairwise(_CHANCES):
        there = chances[(chances[:, 0] >= low) & ((chances[:, 0] < high) | (high == 1))]
        if len(there):
            print(f"{f'{low:.2f} to {high:.2f}':16s}{there[:, 0].mean():9.2f}{there[:, 1].mean():9.2f}{len(there):8d}")


def _noises(rows: list[Judged]) -> list[float]:
    return sorted({row.noise for row in rows})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--methods", default="once,default")
    parser.add_argument("--programs", default=_PLANTED)
    parser.add_argument("--noises", default="0.05,0.2")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--judged", choices=list(JUDGED))
    parser.add_argument("--data", type=Path, default=Path("shared/data"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.judged:
        print_judged([
            judge(name, noise, seed, runs, options.data)
            for name, runs, noises, seeds in JUDGED[options.judged]
            for noise in noises
            for seed in seeds
        ])  # fmt: skip
        return
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
