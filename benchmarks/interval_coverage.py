"""How often 90 % intervals hold the truth, inside the measured range and beyond it.

Usage::

    .venv/bin/python benchmarks/interval_coverage.py [--simulations 40] [--method pmnf]

Times follow a known curve with 3 % noise; each core count 8, 16, 32 … is measured three times and the medians are
learned. A new median of three is then measured at 1, 2, 4 and 8 times the largest count. A row shows how often it fell
into the 90 % interval, the median ratio of prediction to truth, and the median width (upper over lower bound).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import evenly
from evenly.errors import ExtrapolationWarning

CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "100 p^-0.9": lambda p: 100 * p**-0.9,
    "400/p + 2": lambda p: 400 / p + 2,
    "400/p + log2(p)": lambda p: 400 / p + np.log2(p),
    "80/p + 2 log2(p) + 4": lambda p: 80 / p + 2 * np.log2(p) + 4,
    "50/p + 0.004 p": lambda p: 50 / p + 0.004 * p,
}
FACTORS = (1, 2, 4, 8)
NOISE, REPEATS = 0.03, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--simulations", type=int, default=40)
    parser.add_argument("--method", default=None, help="see `evenly fit --methods`; the default model by default")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ExtrapolationWarning)
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


if __name__ == "__main__":
    main()
