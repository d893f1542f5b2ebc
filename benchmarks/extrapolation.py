"""How well models go on beyond the range they learned on: the tensor-completion paper's figure 8.

Usage::

    .venv/bin/python benchmarks/extrapolation.py DATA [--methods auto beyond] [--seeds 3] [--rows 4096] [--cases amg]

DATA is the folder that `models_data` describes. Matrix multiplication is learned from m, n, k < N (or m < N alone)
and asked from 2,048 to 4,096; broadcast is learned from at most 64 nodes and asked on 128. ``geqrf n ≤ 0.25`` and the
like are learned from runs with n up to this share of its largest value, and asked for the largest quarter. ``all``
takes every row of the asked region, those of the training file too: the test file has three with m, n, k ≥ 2,048.
Errors are MLogQ, medians over training samples; cover is the share of the asked rows inside 90 % intervals.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenly.errors import ExtrapolationWarning, InputError
from evenly.metrics import mlogq
from evenly.models.registry import model_class
from models import style
from models_data import Case, beyond, largest_quarter, load

METHODS = ("beyond", "cpr-positive", "log-quadratic", "pmnf", "power-law", "nearest")
#: Errors to stay below, by case.
TARGETS = {
    "m, n, k < 2048": 0.040, "m, n, k < 1024": 0.060, "m, n, k < 512": 0.20,
    "m < 2048": 0.050, "m < 1024": 0.070, "m < 512": 0.095, "nodes ≤ 64": 0.20,
}  # fmt: skip
#: Data, parameter and share of its range to learn from; the largest quarter of the range is asked.
LARGEST = (
    ("geqrf", "m", 1 / 2), ("geqrf", "m", 1 / 4), ("geqrf", "m", 1 / 8), ("geqrf", "n", 1 / 2), ("geqrf", "n", 1 / 4),
    ("geqrf", "n", 1 / 8), ("gemm", "k", 1 / 4), ("gemm", "k", 1 / 8), ("bcast", "msg", 1 / 4), ("bcast", "msg", 1 / 8),
    ("bcast", "nodes", 1 / 4), ("amg", "nx", 1 / 2), ("amg", "nx", 1 / 4),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4096, help="training rows; 0 for all there are")
    parser.add_argument("--plot", type=Path, help="draw errors against the largest size learned from, as figure 8 does")
    parser.add_argument("--cases", nargs="+", help="only cases that begin so")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ExtrapolationWarning)
    rows = []
    for name, case in cases(arguments.data).items():
        if arguments.cases and not name.startswith(tuple(arguments.cases)):
            continue
        for method in arguments.methods:
            rows.append({"case": name, "method": method, **measured(case, method, arguments.rows, arguments.seeds)})
            print(line(rows[-1]), flush=True)
    if arguments.plot:
        draw(pd.DataFrame(rows), arguments.plot)


def cases(folder: Path) -> dict[str, Case]:
    """Return what is asked, by name."""
    found = {}
    every = load(folder, "gemm")
    table = pd.concat([every.train, every.test], ignore_index=True)
    corner = table[(table[["m", "n", "k"]] >= 2048).all(axis=1)].reset_index(drop=True)
    for limit in (2048, 1024, 512):
        found[f"m, n, k < {limit}"] = beyond(folder, "gemm", limit)
        found[f"m, n, k < {limit}, all"] = replace(found[f"m, n, k < {limit}"], test=corner)
    for limit in (2048, 1024, 512):
        found[f"m < {limit}"] = beyond(folder, "gemm", limit, alone="m")
    found["nodes ≤ 64"] = beyond(folder, "bcast", 64)
    for name, parameter, share in LARGEST:
        found[f"{name} {parameter} ≤ {share:g}"] = largest_quarter(folder, name, parameter, share)
    return found


def measured(case: Case, method: str, rows: int, seeds: int) -> dict[str, float | str]:
    """Return medians over training samples, or why there are none."""
    found = []
    for seed in range(seeds):
        one = case.sample(rows or len(case.train), seed)
        try:
            begin = time.process_time()
            model = model_class(method)().fit(*one.of(one.train), space=one.space)
            fitted = time.process_time() - begin
            asked, seconds = one.of(one.test)
            predicted = model.predict(asked)
            lower, upper = model.interval(asked, 0.9)
        except InputError as error:
            return {"failed": str(error).split("\n")[0]}
        covered = float(np.mean((lower <= seconds) & (seconds <= upper)))
        worst = float(np.abs(np.log(predicted / seconds)).max())
        found.append((mlogq(seconds, predicted), worst, covered, fitted))
    return dict(zip(("error", "worst", "cover", "cpu_s"), np.median(found, axis=0).tolist(), strict=True))


def line(row: dict[str, float | str]) -> str:
    """Put one result as a line of the table."""
    if "failed" in row:
        return f"{row['case']:22s} {row['method']:14s} {row['failed']}"
    target = TARGETS.get(str(row["case"]))
    against = "" if target is None else f"  (target {target:.3f})"
    return (
        f"{row['case']:22s} {row['method']:14s} MLogQ {row['error']:.3f}  worst {row['worst']:.2f}  "
        f"cover {row['cover']:.2f}  fit {row['cpu_s']:.1f} s{against}"
    )


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw errors against the largest size learned from."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
    for axis, start in zip(axes, ("m, n, k < ", "m < "), strict=True):
        some = table[table["case"].str.startswith(start) & ~table["case"].str.endswith("all")]
        for method, group in some.groupby("method", sort=False):
            limits = group["case"].str.removeprefix(start).astype(int)
            axis.loglog(limits, group["error"], ms=4, label=str(method), **style(str(method)))
        axis.set(xlabel=f"N, learned from {start}N", xticks=(512, 1024, 2048), xticklabels=("512", "1024", "2048"))
        axis.minorticks_off()
    axes[0].set_ylabel("MLogQ where sizes are 2048-4096")
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=8, loc="outside right center")
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
