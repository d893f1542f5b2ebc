"""How often 90 % intervals hold for labels that no run has, by the number of labels that are known.

    python benchmarks/unseen_labels.py [--methods log-quadratic gp] [--tables 20]

A planted law of cores and a size has a factor for each label, log-normal with a deviation of 0.5, and 3 % of noise.
Each table has 12 runs of each known label; asked are six new runs of each of eight labels that it doesn't have. The
best half-width, in logarithms, is 1.645 × 0.5 = 0.82.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import evenly

LABELS = (3, 4, 12, 30)
DEVIATION, NOISE, RUNS, NEW = 0.5, 0.03, 12, 8
#: Names that differ as much as those of programs do.
NAMES = [f"{'bcdfglmnprst'[n % 12]}{'aeiou'[n % 5]}{'klmnprstvwxz'[(5 * n) % 12]}{'oaie'[n % 4]}{n}" for n in range(64)]


def drawn(rng: np.random.Generator, labels: NDArray[np.int64], effects: NDArray[np.float64]) -> pd.DataFrame:
    """Return runs of labels (n,), with their times."""
    cores, size = 2 ** rng.integers(0, 8, len(labels)), np.round(10 ** rng.uniform(2, 4, len(labels)))
    seconds = np.exp(effects[labels]) * (size / cores**0.8 + 0.02 * size)
    noisy = seconds * np.exp(NOISE * rng.normal(size=len(labels)))
    return pd.DataFrame({"case": [NAMES[n] for n in labels], "cores": cores, "size": size, "seconds": noisy})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", nargs="+", default=["log-quadratic", "gp"])
    parser.add_argument("--tables", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'method':14} {'known labels':>13} {'cover':>7} {'half-width':>11}")
    for method in options.methods:
        for known in LABELS:
            inside, halves = [], []
            for seed in range(options.tables):
                rng = np.random.default_rng(seed)
                effects = rng.normal(0, DEVIATION, known + NEW)
                learned = drawn(rng, np.repeat(np.arange(known), RUNS), effects)
                asked = drawn(rng, np.repeat(np.arange(known, known + NEW), 6), effects)
                model = evenly.fit(learned, method=method, parameters=["case", "cores", "size"])
                model.unseen = "mean"
                lower, upper = model.interval(asked.drop(columns="seconds").assign(case="a new case"))
                inside.append(np.mean((lower <= asked["seconds"]) & (asked["seconds"] <= upper)))
                halves.append(np.mean(np.log(upper / lower)) / 2)
            print(f"{method:14} {known:13} {np.mean(inside):7.2f} {np.mean(halves):11.2f}", flush=True)


if __name__ == "__main__":
    main()
