"""How often intervals beyond the largest count hold the truth where a label stands beside the cores.

    python benchmarks/label_laws.py

Tables of 1 to 4 labels on 4 to 128 cores are planted, each label with a law a / p^b + d of its own, with 1 and 5 %
noise. The truth at 256 and 512 cores is asked for, with 90 % intervals: of the model that evenly chooses, and of the
same without the laws of each label's own runs.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import evenly
from evenly.models.array_types import Floats

CORES, ASKED, TABLES = (4, 8, 16, 32, 64, 128), (256, 512), 25


def planted(labels: int, noise: float, seed: int) -> tuple[pd.DataFrame, dict[str, Floats]]:
    """Return a table, and the truth of each label at the cores that are asked for."""
    rng = np.random.default_rng(seed)
    rows, truth = [], {}
    for number in range(labels):
        a, b, d = rng.uniform(500, 3000), rng.uniform(0.75, 1), rng.uniform(2, 12)
        rows += [(f"l{number}", p, (a / p**b + d) * np.exp(noise * rng.normal())) for p in CORES]
        truth[f"l{number}"] = a / np.array(ASKED) ** b + d
    table = pd.DataFrame(rows, columns=["config", "cores", "seconds"])
    return (table if labels > 1 else table.drop(columns="config")), truth


def held(labels: int, noise: float, *, with_laws: bool) -> tuple[float, float]:
    """Return the share of truths that intervals hold, and the median of their upper end over the lower."""
    inside, widths = [], []
    for seed in range(TABLES):
        table, truth = planted(labels, noise, seed)
        model = evenly.fit(table, parameters=[name for name in table if name != "seconds"])
        if not with_laws:
            model._label_laws = None
        for label, times in truth.items():
            asked = {"cores": list(ASKED), **({"config": [label] * len(ASKED)} if labels > 1 else {})}
            lower, upper = model.interval(asked, 0.9)
            inside += list((lower <= times) & (times <= upper))
            widths += list(upper / lower)
    return float(np.mean(inside)), float(np.median(widths))


def main() -> None:
    warnings.simplefilter("ignore")
    write = sys.stdout.write
    write("labels  noise   with the laws: held, width   without: held, width\n")
    for labels in (1, 2, 3, 4):
        for noise in (0.01, 0.05):
            found = [held(labels, noise, with_laws=with_laws) for with_laws in (True, False)]
            cells = "".join(f"{share:>16.2f}{width:>8.2f}" for share, width in found)
            write(f"{labels:>6}{noise:>7.0%}{cells}\n")


if __name__ == "__main__":
    main()
