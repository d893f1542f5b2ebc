"""How long a fit of a table with many columns takes, and whether it finds those that matter.

Usage::

    .venv/bin/python benchmarks/wide_tables.py [--rows 256] [--columns 40] [--all-matter]

The time depends on four of the columns, ``x0 x3 / x7 + 0.2 x11^1.5``, or with ``--all-matter`` on a power of each. The
noise is 5 %. Shown are CPU seconds, the error (MLogQ) on other rows, that of a power law, and the columns kept.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

import evenly
from evenly.metrics import mlogq

ASKED = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--all-matter", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    n = given.rows + ASKED
    table = pd.DataFrame({f"x{k}": np.exp(rng.uniform(0, 4, n)).round(2) for k in range(given.columns)})
    names = list(table.columns)
    if given.all_matter:
        exact = np.exp(np.log(table.to_numpy()) @ rng.normal(0, 0.3, given.columns))
    else:
        exact = (table["x0"] * table["x3"] / table["x7"] + 0.2 * table["x11"] ** 1.5).to_numpy()
    table["seconds"] = exact * np.exp(0.05 * rng.normal(size=n))
    train, test = table.iloc[: given.rows], table.iloc[given.rows :]
    runs, begun = evenly.Runs.from_frame(train, names), time.process_time()
    model: Any = evenly.fit(runs)
    seconds = time.process_time() - begun
    errors = [mlogq(test["seconds"].to_numpy(), one.predict(test[names])) for one in
              (model, evenly.fit(runs, method="power-law"))]  # fmt: skip
    idle = model.training_.get("without_effect", [])
    kept = [name for name in names if name not in idle]
    told = f"{given.rows} rows, {given.columns} columns: {seconds:.0f} CPU s"
    print(f"{told}, error {errors[0]:.3f}, power law {errors[1]:.3f}")
    print(f"kept {len(kept)}: {', '.join(kept[:8])}{', …' if len(kept) > 8 else ''}")


if __name__ == "__main__":
    main()
