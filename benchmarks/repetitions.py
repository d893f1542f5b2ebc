"""What it brings to weight configurations by how often they ran.

    python benchmarks/repetitions.py [--methods log-quadratic gp] [--draws 6]

Three planted laws of cores and a size, 30 configurations with 1 to 20 runs each, and 2 % of noise that all runs of a
configuration share. Printed are the mean absolute log error at the truth, and how often 90 % intervals hold a single
new run, without weights and with those of `evenly.fit`. Ratios are geometric means over laws and draws.
"""

from __future__ import annotations

import argparse
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd

import evenly
import evenly.models.learned as learned

CONFIGURATIONS, ASKED, SHARED = 30, 200, 0.02
LAWS = (
    lambda c, n: n / c * 1e-3 + 0.002 * n**0.7 + 0.05 * np.log2(c),
    lambda c, n: 1e-4 * n * c**-0.9 * (1 + 0.4 * np.exp(-((np.log2(c) - 4) ** 2))) + 1e-4 * n**0.9,
    lambda c, n: 1e-5 * n**1.3 / c**0.7 * (1 + 0.3 * np.sin(1.5 * np.log(n))),
)


def table_of(rng: np.random.Generator, law: int, noise: float) -> pd.DataFrame:
    """Return runs: half of the tables have 1 or 15 of each configuration, the others any number up to 20."""
    cores = np.maximum(1, np.round(2.0 ** rng.uniform(0, 8, CONFIGURATIONS)))
    size = np.round(10 ** rng.uniform(3, 6, CONFIGURATIONS))
    few = rng.random() < 0.5
    counts = (
        np.where(rng.random(CONFIGURATIONS) < 0.3, 15, 1) if few else np.round(20 ** rng.uniform(0, 1, CONFIGURATIONS))
    )
    rows = np.repeat(np.arange(CONFIGURATIONS), counts.astype(int))
    shared = SHARED * rng.normal(size=CONFIGURATIONS)
    seconds = LAWS[law](cores[rows], size[rows]) * np.exp(shared[rows] + noise * rng.normal(size=len(rows)))
    return pd.DataFrame({"cores": cores[rows], "size": size[rows], "seconds": seconds})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", nargs="+", default=["log-quadratic", "gp"])
    parser.add_argument("--draws", type=int, default=6)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'method':14} {'noise':>6} {'error':>7} {'weighted':>9} {'ratio':>6} {'cover':>6} {'weighted':>9}")
    for method in options.methods:
        for noise in (0.05, 0.15, 0.3):
            found = np.array(
                [_compared(method, law, noise, seed) for law in range(len(LAWS)) for seed in range(options.draws)]
            )
            (plain, cover), (weighted, held) = found.mean(axis=0)
            ratio = np.exp(np.mean(np.log(found[:, 1, 0] / found[:, 0, 0])))
            print(
                f"{method:14} {noise:6.0%} {plain:7.4f} {weighted:9.4f} {ratio:6.2f} {cover:6.2f} {held:9.2f}",
                flush=True,
            )


def _compared(method: str, law: int, noise: float, seed: int) -> list[tuple[float, float]]:
    """Return error and cover without weights, and with them."""
    rng = np.random.default_rng(seed)
    table = table_of(rng, law, noise)
    asked = pd.DataFrame({"cores": np.round(2.0 ** rng.uniform(0, 8, ASKED)), "size": 10 ** rng.uniform(3, 6, ASKED)})
    truth = LAWS[law](asked["cores"].to_numpy(), asked["size"].to_numpy())
    single = truth * np.exp(noise * rng.normal(size=ASKED))

    def judged() -> tuple[float, float]:
        model = evenly.fit(table, method=method, parameters=["cores", "size"], effort="quick", outliers="keep")
        lower, upper = model.interval(asked)
        inside = float(np.mean((lower <= single) & (single <= upper)))
        return float(np.mean(np.abs(np.log(model.predict(asked) / truth)))), inside

    with patch.object(learned, "weights_of", lambda *_: None):
        plain = judged()
    return [plain, judged()]


if __name__ == "__main__":
    main()
