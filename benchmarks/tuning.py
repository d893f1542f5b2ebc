"""How far above the fastest configuration searches are after 5 to 80 runs, on measured tables.

    python benchmarks/tuning.py DATA [--seeds 20] [--methods model,random,…] [--tables …] [--workers 2] [--optuna
    PYTHON]

DATA holds hsmgp.csv, dune.csv, convolution-a100.csv and lammps-voro.csv. A table is a program: what a search asks for
is looked up, what failed when it was measured fails again. All methods see the same configurations. Figures are the
mean over seeds of (best found / best of the table - 1) in percent; a search that has found nothing yet counts as the
slowest.

"pooled": other tasks of the table (numbers of cores, cells) were measured before, at `--others` configurations each
drawn at random, and one more task is searched; after 1, 5, 10 and 20 runs of it, in the mean over tasks. With
--optuna, the Python of an environment that has Optuna runs its default sampler on the tables that aren't pooled, see
`benchmarks/optuna_search.py`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.runs.runs import Runs
from evenly.space.space import Space
from evenly.tuning.search import Search

Array = NDArray[np.float64]
AT, POOLED_AT = (5, 10, 20, 40, 80), (1, 5, 10, 20)
#: Table: file, rows, and the column that tells tasks apart where they are searched one at a time.
TABLES: dict[str, tuple[str, str, str]] = {
    "hsmgp, 4,096 cores": ("hsmgp", "numCore == 4096", ""),
    "dune, one space": ("dune", "", ""),
    "convolution-a100": ("convolution-a100", "", ""),
    "lammps-voro": ("lammps-voro", "", ""),
    "lammps-voro, no failures": ("lammps-voro", "status == 'ok'", ""),
    "hsmgp, pooled": ("hsmgp", "", "numCore"),
    "dune, pooled": ("dune", "", "cells"),
}
METHODS: dict[str, dict[str, Any]] = {
    "random": {"strategy": "random"},
    "model": {"strategy": "model"},
    **{f"greedy {name}": {"strategy": "greedy", "surrogate": name} for name in ("forest", "svm", "gp", "neural-net")},
}


def table_of(data: Path, name: str) -> pd.DataFrame:
    """Return the table of a program, without parameters that never vary."""
    file, rows, _ = TABLES[name]
    table = pd.read_csv(data / f"{file}.csv")
    table = table.query(rows) if rows else table
    varied = [c for c in table.columns if c in ("seconds", "status") or table[c].nunique() > 1]
    return table[varied].reset_index(drop=True)


def curve(table: pd.DataFrame, method: str, seed: int, runs: int, task: str, others: int) -> Array:
    """Return percent above the optimum after each run of one search, (runs,)."""
    names = [c for c in table.columns if c not in ("seconds", "status")]
    here, known = table, None
    if task:
        tasks = sorted(table[task].unique())
        asked = tasks[seed % len(tasks)]
        here = table[table[task] == asked].reset_index(drop=True)
        before = table[table[task] != asked].groupby(task).sample(others, random_state=seed)
        known = Runs.from_frame(before, names, space=Space.from_data(table[names]))
    seconds = dict(zip(here[names].itertuples(index=False, name=None), here["seconds"], strict=True))
    well = here["status"] == "ok"
    best, worst = here["seconds"][well].min(), here["seconds"][well].max()
    space = Space.from_frame(here[names])
    search = Search(space, seed=seed, known=known, tasks=[task] if task else (), **METHODS[method])
    found, reached = worst, []
    for _ in range(runs):
        if found > best:
            configuration = search.ask()
            if configuration is None:
                break
            took = seconds[tuple(configuration[name] for name in names)]
            search.tell(configuration, float(took) if np.isfinite(took) else None)
            found = min(found, took) if np.isfinite(took) else found
        reached.append((found / best - 1) * 100)
    return np.array(reached)


def _one(job: tuple[pd.DataFrame, str, int, int, str, int]) -> tuple[Array, float]:
    warnings.simplefilter("ignore")
    begin = time.process_time()
    return curve(*job), time.process_time() - begin


def optuna_curves(python: str, table: pd.DataFrame, seeds: int, runs: int) -> tuple[str, Array]:
    """Return the version of Optuna, and percent above the optimum after each run of its searches, (seeds, runs)."""
    names = [c for c in table.columns if c not in ("seconds", "status")]
    values = {name: sorted(table[name].unique().tolist()) for name in names}
    seconds = table["seconds"].where(table["status"] == "ok")
    request = {
        "values": list(values.values()),
        "numeric": [bool(pd.api.types.is_numeric_dtype(table[name])) for name in names],
        "rows": [[values[n].index(v) for n, v in row.items()] for row in table[names].to_dict("records")],
        "seconds": [float(s) if np.isfinite(s) else None for s in seconds],
        "runs": runs,
        "seeds": list(range(seeds)),
    }
    script = Path(__file__).with_name("optuna_search.py")
    told = json.dumps(request)
    answer = subprocess.run([python, str(script)], input=told, capture_output=True, text=True, check=True)
    found = json.loads(answer.stdout)
    best = np.array([[seconds.max() if s is None else s for s in one] for one in found["best"]])
    return found["version"], (best / seconds.min() - 1) * 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", default="random,model")
    parser.add_argument("--tables", default=";".join(TABLES))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--others", type=int, default=100)
    parser.add_argument("--optuna", metavar="PYTHON", help="of an environment that has Optuna")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        for name in options.tables.split(";"):
            table, task = table_of(options.data, name), TABLES[name][2]
            at = POOLED_AT if task else AT
            print(f"{name:24s} {'runs':18s}" + "".join(f"{n:8d}" for n in at) + "   CPU s per search", flush=True)
            for method in options.methods.split(","):
                jobs = [(table, method, seed, max(at), task, options.others) for seed in range(options.seeds)]
                curves, spent = zip(*pool.map(_one, jobs), strict=True)
                mean = np.mean(curves, axis=0)
                told = "".join(f"{mean[n - 1]:8.1f}" for n in at)
                print(f"{'':24s} {method:18s}{told}{np.mean(spent):12.1f}", flush=True)
            if options.optuna and not task:
                version, found = optuna_curves(options.optuna, table, options.seeds, max(at))
                told = "".join(f"{found.mean(axis=0)[n - 1]:8.1f}" for n in at)
                print(f"{'':24s} {'Optuna ' + version:18s}{told}", flush=True)


if __name__ == "__main__":
    main()
