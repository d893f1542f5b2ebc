"""How long a fit of a table with many columns, or many rows, takes, and how good it is.

Usage::

    .venv/bin/python benchmarks/wide_tables.py [--rows 256] [--columns 40] [--all-matter]
    .venv/bin/python benchmarks/wide_tables.py --long [--rows 1000000]

Many columns: the time depends on four of the columns, ``x0 x3 / x7 + 0.2 x11^1.5``, or with ``--all-matter`` on a power
of each. The noise is 5 %. Shown are CPU seconds, the error (MLogQ) on other rows, that of a power law, and the columns
kept.

Many rows: the time is that of a solver with five parameters, which computes in blocks and exchanges surfaces. The noise
is 7 %. Shown are CPU seconds of reading the rows as CSV, of learning from them and of predicting others, the peak of
memory, and errors on other rows: of their times, and of the law itself.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import evenly
from evenly.metrics import mlogq

ASKED, ASKED_OF_LONG = 500, 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--all-matter", action="store_true")
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.long:
        many_rows(given.rows or 1_000_000)
    else:
        many_columns(given.rows or 256, given.columns, all_matter=given.all_matter)


def many_columns(rows: int, columns: int, *, all_matter: bool) -> None:
    """Print what a fit of a wide table takes, and how good it is."""
    rng = np.random.default_rng(0)
    n = rows + ASKED
    table = pd.DataFrame({f"x{k}": np.exp(rng.uniform(0, 4, n)).round(2) for k in range(columns)})
    names = list(table.columns)
    if all_matter:
        exact = np.exp(np.log(table.to_numpy()) @ rng.normal(0, 0.3, columns))
    else:
        exact = (table["x0"] * table["x3"] / table["x7"] + 0.2 * table["x11"] ** 1.5).to_numpy()
    table["seconds"] = exact * np.exp(0.05 * rng.normal(size=n))
    train, test = table.iloc[:rows], table.iloc[rows:]
    runs, begun = evenly.Runs.from_frame(train, names), time.process_time()
    model: Any = evenly.fit(runs)
    seconds = time.process_time() - begun
    errors = [mlogq(test["seconds"].to_numpy(), one.predict(test[names])) for one in
              (model, evenly.fit(runs, method="power-law"))]  # fmt: skip
    idle = model.training_.get("without_effect", [])
    kept = [name for name in names if name not in idle]
    told = f"{rows} rows, {columns} columns: {seconds:.0f} CPU s"
    print(f"{told}, error {errors[0]:.3f}, power law {errors[1]:.3f}")
    print(f"kept {len(kept)}: {', '.join(kept[:8])}{', …' if len(kept) > 8 else ''}")


def many_rows(rows: int) -> None:
    """Print what a long table takes, from its file to predictions, and how good these are."""
    train, (test, exact) = solver(rows, seed=0)[0], solver(ASKED_OF_LONG, seed=9)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.csv")
        train.round({"seconds": 4}).to_csv(path, index=False)
        del train
        laps = [time.process_time()]
        runs = evenly.read(path)
        laps.append(time.process_time())
    model: Any = evenly.fit(runs)
    laps.append(time.process_time())
    predicted = model.predict(test)
    laps.append(time.process_time())
    read, learned, asked = np.diff(laps)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    errors = mlogq(test["seconds"].to_numpy(), predicted), mlogq(exact, predicted)
    told = f"{rows:,} rows: read {read:.0f}, learned {learned:.0f}, predicted {asked:.1f} CPU s; peak {peak:.1f} GiB"
    print(told)
    print(f"from {model.n_runs_:,} configurations: error {errors[0]:.4f}, of the law itself {errors[1]:.4f}")


def solver(rows: int, *, seed: int, noise: float = 0.07) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """Return runs of a solver with five parameters, and what they take without noise."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "cores": np.round(2 ** rng.uniform(0, 10, rows)).astype(int),
        "size": np.round(10 ** rng.uniform(4, 7, rows)).astype(int),
        "degree": rng.integers(1, 9, rows),
        "block": rng.choice([8, 16, 32, 64, 128], rows),
        "digits": rng.uniform(2, 12, rows).round(2),
    })  # fmt: skip
    cores, size, degree, block, digits = (table[name].to_numpy(dtype=float) for name in table)
    work = 1e-7 * size * (degree + 1) ** 2.5 * digits / cores * (1 + 8 / block + (block / 64) ** 2)
    surface = 3e-6 * digits * (size / cores) ** (2 / 3) * (degree + 1)
    exact = work + surface + 2e-4 * digits * np.log2(cores + 1) + 0.05
    table["seconds"] = exact * np.exp(noise * rng.normal(size=rows))
    return table, exact


if __name__ == "__main__":
    main()
