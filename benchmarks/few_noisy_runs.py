"""How often 90 % intervals of the default model hold new runs where few noisy ones were measured, once each.

Usage::

    .venv/bin/python benchmarks/few_noisy_runs.py [--tables 8]

Times follow four kinds of laws with log-normal noise. A row shows the mean share of new runs in the interval at 3, 6
and 10 cores and at the largest measured count, the share in the worst tenth of the tables, the mean width (logarithm of
upper over lower bound), and how often the interval holds the law itself at 2 and 4 times the largest count.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import evenly
from evenly.errors import ExtrapolationWarning

LAWS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda p: 100 / p + 3,
    lambda p: 100 / p**0.7,
    lambda p: 100 / p + 2 * np.log2(p) + 1,
    lambda p: 100 / p**0.9 + 0.2 * p,
)
COUNTS = ((1, 2, 4, 8, 16), (1, 2, 4, 8, 12, 16), (1, 2, 4, 8, 16, 32, 64))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=int, default=8)
    tables = parser.parse_args().tables
    warnings.simplefilter("ignore", ExtrapolationWarning)
    print(f"{'noise':>5} {'counts':>6} {'inside':>7} {'worst tenth':>12} {'width':>6} {'beyond':>7}")
    for noise in (0.03, 0.1):
        for counts in COUNTS:
            found = np.array([table(law, counts, noise, seed) for law in LAWS for seed in range(tables)])
            inside, width, beyond = found.mean(axis=0)
            worst = np.quantile(found[:, 0], 0.1)
            print(
                f"{noise:>5.0%} {len(counts):>6} {inside:>7.0%} {worst:>12.0%} {width:>6.2f} {beyond:>7.0%}", flush=True
            )


def table(
    law: Callable[[np.ndarray], np.ndarray], counts: tuple[int, ...], noise: float, seed: int
) -> tuple[float, float, float]:
    """Return the share of new runs inside the interval, its width, and the share of the law beyond the range."""
    rng = np.random.default_rng(seed + 100)
    cores = np.array(counts)
    measured = pd.DataFrame({"cores": cores, "seconds": law(cores) * rng.lognormal(0, noise, len(cores))})
    model = evenly.fit(evenly.Runs.from_frame(measured, ["cores"]))
    asked, far = np.array([3, 6, 10, max(counts)]), np.array([2, 4]) * max(counts)
    lower, upper = (bound[:, None] for bound in model.interval({"cores": asked}))
    new = law(asked)[:, None] * rng.lognormal(0, noise, (len(asked), 200))
    low, high = model.interval({"cores": far})
    held = (law(far) >= low) & (law(far) <= high)
    return float(((new >= lower) & (new <= upper)).mean()), float(np.log(upper / lower).mean()), float(held.mean())


if __name__ == "__main__":
    main()
