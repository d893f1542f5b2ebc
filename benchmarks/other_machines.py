"""How far off predictions are that learn from few runs and a model of other runs, beside those from the runs alone.

    python benchmarks/other_machines.py DATA                  # what was chosen on, then what was only judged on
    python benchmarks/other_machines.py DATA --cases DUNE --sizes 8 32

DATA holds the files that ``models_data.py`` describes, and a folder ``tuning``. Source and target are parts of one
table: other threads, cores, nodes, cells, or kernels. The source is learned from at most 1,000 runs (--source).
"unlike" are the same runs with the source's times shuffled: nothing can be learned from them.

A row shows the number of runs, then MLogQ on up to 1,000 other runs of the target: alone, with the source, and their
ratio; how many of them are in the 90 % interval with the source; the source's weight; the CPU seconds of both. Each is
the median over samples, the ratio that of medians. Configurations of which nothing can be said alone are left out of
the test: labels that the smallest sample lacks, and zeros where it has none. The last lines compare 32 runs with the
source to 128 without it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import evenly
from evenly import Categorical, Space
from evenly.errors import EvenlyWarning, ExtrapolationWarning
from evenly.metrics import mlogq
from evenly.models.base import Model

#: Names of cases that methods were chosen on; the others were looked at once.
CHOSEN_ON = ("AMG, 64 threads", "AMG, 1 thread", "AMG, unlike", "HSMGP, 1024 cores", "broadcast, 64 nodes")
_TEST = 1_000


@dataclass(frozen=True)
class Case:
    """Runs of a source and of a target."""

    name: str
    source: pd.DataFrame
    target: pd.DataFrame
    labels: tuple[str, ...] = ()


def cases(data: Path) -> Iterator[Case]:
    amg = pd.read_csv(data / "amg-train.csv").drop(columns=["P", "Q", "R"])
    labels = ("ct", "rt", "it")
    yield Case("AMG, 64 threads", amg[amg.tpp < 64], amg[amg.tpp == 64], labels)
    yield Case("AMG, unlike", shuffled(amg[amg.tpp < 64]), amg[amg.tpp == 64], labels)
    hsmgp = pd.read_csv(data / "tuning" / "hsmgp.csv").drop(columns="status")
    cores = dict(list(hsmgp.groupby("numCore")))
    yield Case("HSMGP, 1024 cores", cores[256], cores[1024], ("smoother", "cgs"))
    bcast = pd.read_csv(data / "bcast-train.csv")
    yield Case("broadcast, 64 nodes", bcast[bcast.nodes == 8], bcast[bcast.nodes == 64])
    yield Case("AMG, 1 thread", amg[amg.tpp > 1], amg[amg.tpp == 1], labels)
    yield Case("HSMGP, 4096 cores", cores[64], cores[4096], ("smoother", "cgs"))
    yield Case("HSMGP, unlike", shuffled(cores[64]), cores[4096], ("smoother", "cgs"))
    dune = pd.read_csv(data / "tuning" / "dune.csv").drop(columns="status")
    yield Case("DUNE, 55 cells", dune[dune.cells == 50], dune[dune.cells == 55], ("precond", "solver"))
    kernel = pd.read_csv(data / "tuning" / "convolution-a100.csv").query("status == 'ok'").drop(columns="status")
    yield Case("convolution, shared", kernel[kernel.use_shmem == 0], kernel[kernel.use_shmem == 1])
    gemm, geqrf = (pd.read_csv(data / f"{name}-train.csv") for name in ("gemm", "geqrf"))
    yield Case("matrices, large k", gemm[gemm.k < 512], gemm[gemm.k >= 2048])
    yield Case("QR from matrices", gemm[gemm.k.between(100, 300)].drop(columns="k"), geqrf)


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(seconds=np.random.default_rng(0).permutation(table.seconds.to_numpy()))


def runs_of(table: pd.DataFrame, labels: Sequence[str]) -> evenly.Runs:
    varied = [str(name) for name in table.columns if name != "seconds" and table[name].nunique() > 1]
    numbers = Space.from_data(table[[name for name in varied if name not in labels]])
    kinds = {
        name: Categorical(*sorted(table[name].unique())) if name in labels else numbers.parameters[name]
        for name in varied
    }
    kept = table[[*varied, "seconds"]].reset_index(drop=True)
    return evenly.Runs.from_frame(kept, varied, space=Space.of(kinds))


def fitted(runs: evenly.Runs, prior: Model | None, effort: str) -> tuple[Model, float]:
    began = time.process_time()
    model = evenly.fit(runs, method="auto", outliers="keep", effort=effort, prior=prior)
    return model, time.process_time() - began


def measure(case: Case, options: argparse.Namespace) -> dict[int, np.ndarray]:
    """Return medians for each number of runs: errors alone and with the source, cover, weight, and two CPU times."""
    sizes, effort = options.sizes, options.effort
    source = case.source.sample(min(options.source, len(case.source)), random_state=0)
    prior, learning = fitted(runs_of(source, case.labels), None, "quick")
    print(f"{case.name}: the source has {len(source):,} runs, learned in {learning:.1f} CPU s", flush=True)
    names = prior.space_.names
    found: dict[int, list[list[float]]] = {size: [] for size in sizes}
    for seed in range(options.samples):
        order = np.random.RandomState(seed).permutation(len(case.target))
        test = case.target.iloc[order[max(sizes) :][:_TEST]]
        for label in case.labels:
            test = test[test[label].isin(case.target.iloc[order[: min(sizes)]][label])]
        for name in set(test.columns) - set(case.labels):
            test = test[test[name] > 0]
        for size in sizes:
            table = case.target.iloc[order[:size]]
            # What the source knows and is the same in all runs is given, as with --constant.
            runs = runs_of(table, case.labels)
            missing = [name for name in names if name not in runs.parameters]
            if missing:
                kinds = {name: Space.from_data(table[[name]]).parameters[name] for name in missing}
                space = Space.of({**runs.space.parameters, **kinds})
                kept = table[[*space.names, "seconds"]].reset_index(drop=True)
                runs_with = evenly.Runs.from_frame(kept, list(space.names), space=space)
            else:
                runs_with = runs
            (alone, first), (both, second) = fitted(runs, None, effort), fitted(runs_with, prior, effort)
            truth = test.seconds.to_numpy()
            lower, upper = both.interval(test)
            errors = [mlogq(truth, model.predict(test)) for model in (alone, both)]
            cover = float(np.mean((lower <= truth) & (truth <= upper)))
            weight = both.prior_["weight"]
            found[size].append([*errors, cover, weight, first, second])
    return {size: np.median(rows, axis=0) for size, rows in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--cases", nargs="+", help="beginnings of names")
    parser.add_argument("--sizes", nargs="+", type=int, default=[8, 32, 128])
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--source", type=int, default=1_000, help="most runs of the source")
    parser.add_argument("--effort", choices=("quick", "normal"), default="quick")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ExtrapolationWarning)
    warnings.simplefilter("ignore", EvenlyWarning)
    print(f"{'case':22s} {'runs':>5s} {'alone':>7s} {'with':>7s} {'ratio':>6s} {'cover':>6s} {'weight':>7s}"
          f" {'CPU s':>6s} {'with':>6s}")  # fmt: skip
    reached = []
    for case in cases(options.data):
        if options.cases and not any(case.name.startswith(name) for name in options.cases):
            continue
        found = measure(case, options)
        for size, (alone, both, cover, weight, first, second) in found.items():
            mark = "*" if case.name in CHOSEN_ON else " "
            print(f"{case.name:21s}{mark} {size:5d} {alone:7.4f} {both:7.4f} {both / alone:6.2f} {cover:6.1%}"
                  f" {weight:7.0%} {first:6.1f} {second:6.1f}", flush=True)  # fmt: skip
        if {32, 128} <= set(found):
            reached.append(f"{case.name:22s} 32 runs with the source / 128 alone: {found[32][1] / found[128][0]:.2f}")
    print("\n".join(["", *reached, "* chosen on"]))


if __name__ == "__main__":
    main()
