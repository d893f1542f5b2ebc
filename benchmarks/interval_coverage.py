"""How often 90 % intervals hold the truth, inside the measured range and beyond it.

Usage::

    .venv/bin/python benchmarks/interval_coverage.py [--simulations 40] [--method pmnf]

Times follow a known curve with 3 % noise; each core count 8, 16, 32 … is measured three times and the medians are
learned. A new median of three is then measured at 1, 2, 4 and 8 times the largest count. A row shows how often it fell
into the 90 % interval, the median ratio of prediction to truth, and the median width (upper over lower bound).

``--sizes`` takes curves of a size n and a count p instead, each measured once on a grid of both. It asks for a size and
a count between, for twice the largest count, for three times the largest size, and for both.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import evenly
from evenly.errors import ExtrapolationWarning

CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "100 p^-0.9": lambda p: 100 * p**-0.9,
    "900 p^-0.92 + 1.5": lambda p: 900 * p**-0.92 + 1.5,
    "400/p + 2": lambda p: 400 / p + 2,
    "400/p + log2(p)": lambda p: 400 / p + np.log2(p),
    "80/p + 2 log2(p) + 4": lambda p: 80 / p + 2 * np.log2(p) + 4,
    "50/p + 0.004 p": lambda p: 50 / p + 0.004 * p,
}
#: Of a size n from 10,000 on, scaled to 1 there: at n = 100,000, the second parts are a few per cent of one process.
SIZES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "n^1.1 (1/p + 0.05)": lambda n, p: n**1.1 * (1 / p + 0.05),
    "n/p + log2(p)/10": lambda n, p: n / p + np.log2(p) / 10,
    "n/p + (n/p)^2/3 / 5": lambda n, p: n / p + (n / p) ** (2 / 3) / 5,
    "n^1.5 p^-0.85": lambda n, p: n**1.5 * p**-0.85,
    "n/p, 1.3 out of cache": lambda n, p: n / p * (1 + 0.3 / (1 + (0.8 * p / n) ** 3)),
    "n/p + n/p^0.5/20": lambda n, p: n / p + n / p**0.5 / 20,
}
GRIDS = {"2 x 3": ((1, 10), (8, 16, 32)), "3 x 3": ((1, 3, 10), (8, 16, 32)), "3 x 4": ((1, 3, 10), (8, 16, 32, 64))}
FACTORS = (1, 2, 4, 8)
NOISE, REPEATS = 0.03, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--simulations", type=int, default=40)
    parser.add_argument("--method", default=None, help="see `evenly fit --methods`; the default model by default")
    parser.add_argument("--sizes", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ExtrapolationWarning)
    if arguments.sizes:
        print(f"{'truth':22}{'runs':>7}{'between':>22}{'2 p':>22}{'3 n':>22}{'3 n, 2 p':>22}")
        for name, curve in SIZES.items():
            for grid in GRIDS:
                print(f"{name:22}{grid:>7}{row_of_sizes(curve, grid, arguments)}")
        print("each: coverage of 90 % intervals, median error in %, median upper / lower bound")
        return
    heads = "".join(f"{f'{factor}×':>22}" for factor in FACTORS)
    print(f"{'truth':22}{'counts':>7}{heads}")
    for name, curve in CURVES.items():
        for counts in (4, 5, 7, 10):
            print(f"{name:22}{counts:7}{row(curve, counts, arguments)}")
    print("each: coverage of 90 % intervals, median prediction / truth, median upper / lower bound")


def row(curve: Callable[[np.ndarray], np.ndarray], counts: int, arguments: argparse.Namespace) -> str:
    p = 8.0 * 2.0 ** np.arange(counts)
    asked = p[-1] * np.array(FACTORS)
    held, ratio, width = (np.empty((arguments.simulations, len(FACTORS))) for _ in range(3))
    for k in range(arguments.simulations):
        rng = np.random.default_rng(k)
        cores = np.repeat(p, REPEATS)
        seconds = curve(cores) * rng.lognormal(0, NOISE, len(cores))
        table = pd.DataFrame({"cores": cores.astype(int), "seconds": seconds})
        model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]), method=arguments.method)
        lower, upper = model.interval({"cores": asked})
        new = np.median(curve(asked) * rng.lognormal(0, NOISE, (REPEATS, len(asked))), axis=0)
        held[k] = (lower <= new) & (new <= upper)
        ratio[k] = model.predict({"cores": asked}) / curve(asked)
        width[k] = upper / lower
    columns = zip(held.mean(axis=0), np.median(ratio, axis=0), np.median(width, axis=0), strict=True)
    return "".join(f"{a:9.2f} {b:5.2f} {c:6.1f}" for a, b, c in columns)


def row_of_sizes(
    curve: Callable[[np.ndarray, np.ndarray], np.ndarray], grid: str, arguments: argparse.Namespace
) -> str:
    n, p = (np.array(column, dtype=float) for column in zip(*itertools.product(*GRIDS[grid]), strict=True))
    asked = {"size": np.array([6.0, 10, 30, 30]) * 1e4, "cores": np.array([24, 2 * p.max(), 32, 2 * p.max()])}
    truth = curve(asked["size"] / 1e4, asked["cores"])
    found = []
    for k in range(arguments.simulations):
        rng = np.random.default_rng(k)
        table = pd.DataFrame({"size": n * 1e4, "cores": p.astype(int)})
        table["seconds"] = curve(n, p) * rng.lognormal(0, NOISE, len(n))
        model = evenly.fit(table, parameters=["size", "cores"], method=arguments.method)
        lower, upper = model.interval(asked)
        new = truth * rng.lognormal(0, NOISE, len(truth))
        error = 100 * np.abs(model.predict(asked) / truth - 1)
        found.append([(lower <= new) & (new <= upper), error, upper / lower])
    held, errors, widths = np.array(found).transpose(1, 0, 2)
    columns = zip(held.mean(axis=0), np.median(errors, axis=0), np.median(widths, axis=0), strict=True)
    return "".join(f"{a:9.2f} {b:5.1f} {c:6.1f}" for a, b, c in columns)


if __name__ == "__main__":
    main()
