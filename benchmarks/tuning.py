"""How good searches are on measured tables of many programs, beside other programs that search.

    python benchmarks/tuning.py DATA --part {choose,report} --results FILE [--seeds 4] [--runs 40]
        [--methods model,greedy forest,…] [--rival smac=PYTHON …] [--by-problem]
    python benchmarks/tuning.py DATA --pooled [--seeds 20] [--others 100]

DATA holds the measured tables, see `benchmarks/tuning_problems.py`. A table is a program: what a search asks for is
looked up, what failed when it was measured fails again. All methods search the same configurations. Searches that FILE
holds aren't made again, and each is added to it as it ends, so an interrupted benchmark goes on. Each rival runs in its
own environment, whose Python is given, see `benchmarks/tuning_rivals.py`.

Printed after 5, 10, 20 and 40 runs, as means over problems, for each of which the mean over seeds is taken:

Random search isn't run: its expectation is known exactly.

* rank: the share of configurations that are faster than the fastest found, in percent (0: the optimum was found). After
  each rival's, by how much it lies above that of "model", ± two standard errors over problems.
* regret: by how much the fastest found lies above the optimum, relative to random search on the same problem; and the
  place among all methods (1: the best; ties share their places), over problems and seeds.

--pooled: other tasks of the table (numbers of cores, cells) were measured before, at `--others` configurations each
drawn at random, and one more task is searched; percent above the optimum after 1, 5, 10 and 20 runs of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from evenly.runs.runs import Runs
from evenly.space.space import Space
from evenly.tuning.candidates import Candidates
from evenly.tuning.search import Search
from tuning_problems import Problem, problems

Array = NDArray[np.float64]
AT, POOLED_AT = (5, 10, 20, 40), (1, 5, 10, 20)
#: Tables whose tasks are pooled: file, and the column that tells tasks apart.
POOLED = {"hsmgp": "numCore", "dune": "cells"}
METHODS: dict[str, dict[str, Any]] = {
    "random": {"strategy": "random"},
    "model": {"strategy": "model"},
    **{f"greedy {name}": {"strategy": "greedy", "surrogate": name} for name in ("forest", "svm", "gp", "neural-net")},
}


def searched(search: Search, table: pd.DataFrame, runs: int) -> list[float | None]:
    """Return the least seconds after each run of a search of a table (None: nothing found yet)."""
    names = list(search.space.names)
    seconds = dict(zip(table[names].itertuples(index=False, name=None), table["seconds"], strict=True))
    optimum, found = table["seconds"].min(), float("inf")
    best: list[float | None] = []
    while len(best) < runs and found > optimum:
        configuration = search.ask()
        if configuration is None:
            break
        took = float(seconds[tuple(configuration[name] for name in names)])
        search.tell(configuration, took if np.isfinite(took) else None)
        found = min(found, took) if np.isfinite(took) else found
        best.append(found if np.isfinite(found) else None)
    return best + best[-1:] * (runs - len(best))


class Own:
    """Searches by evenly."""

    version = "evenly"

    def __init__(self, method: str) -> None:
        self._settings = METHODS[method]
        self._candidates: tuple[str, Candidates] | None = None

    def __call__(self, problem: Problem, seed: int, runs: int) -> list[float | None]:
        if self._candidates is None or self._candidates[0] != problem.name:
            self._candidates = problem.name, Candidates(Space.from_frame(problem.table[problem.knobs]))
        candidates = self._candidates[1]
        return searched(
            Search(candidates.space, seed=seed, candidates=candidates, **self._settings), problem.table, runs
        )


class Rival:
    """Searches by another program, in its own environment."""

    def __init__(self, name: str, python: str) -> None:
        script = Path(__file__).with_name("tuning_rivals.py")
        self._process = subprocess.Popen(
            [python, str(script), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.version = ""

    def __call__(self, problem: Problem, seed: int, runs: int) -> list[float | None]:
        table, names = problem.table, problem.knobs
        values = [sorted(table[name].unique().tolist()) for name in names]
        places = [{value: place for place, value in enumerate(of)} for of in values]
        rows = zip(*([places[k][v] for v in table[name].tolist()] for k, name in enumerate(names)), strict=True)
        request = {
            "values": values, "numeric": [bool(pd.api.types.is_numeric_dtype(table[name])) for name in names],
            "rows": list(rows), "seconds": [s if np.isfinite(s) else None for s in table["seconds"].tolist()],
            "runs": runs, "seed": seed,
        }  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        self.version = answer["version"]
        return list(answer["best"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def searcher(name: str, pythons: dict[str, str]) -> Iterator[Own | Rival]:
    """Make what searches by a method's or a rival's name."""
    if name in METHODS:
        yield Own(name)
        return
    rival = Rival(name, pythons[name])
    try:
        yield rival
    finally:
        rival.close()


def kept(results: Path) -> dict[tuple[str, str, str, int], list[float | None]]:
    """Return the searches of a file: program, problem, method and seed, and the least seconds after each run."""
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    return {(one["program"], one["problem"], one["method"], one["seed"]): one["best"] for one in lines}


def make(told: list[Problem], methods: dict[str, str], seeds: int, runs: int, results: Path, label: str) -> None:
    """Make all searches that aren't in the file yet, and add them to it."""
    for name in methods:
        called = label if label and name == "model" else name
        with searcher(name, methods) as search:
            for problem in told:
                done = kept(results)
                for seed in range(seeds):
                    key = (problem.program, problem.name, called, seed)
                    if len(done.get(key, ())) >= runs:
                        continue
                    begin = time.perf_counter()
                    best = search(problem, seed, runs)
                    one = dict(zip(("program", "problem", "method", "seed"), key, strict=True), best=best)
                    one |= {"version": search.version, "wall_s": round(time.perf_counter() - begin, 2)}
                    with results.open("a") as file:
                        print(json.dumps(one), file=file)


def scores(
    told: list[Problem], found: dict[tuple[str, str, str, int], list[float | None]], methods: list[str], seeds: int
) -> tuple[Array, Array, Array]:
    """Return ranks in percent, regrets relative to random search's, and places among all methods.

    All have the shape (methods, problems, len(AT)); ranks and regrets are means over those seeds that were made, and
    places are those of mean ranks. Random search's are the exact expectation.
    """
    ranks, regrets = np.empty((2, len(methods), len(told), len(AT)))
    for k, name in enumerate(methods):
        for p, problem in enumerate(told):
            if name == "random":
                ranks[k, p], regrets[k, p] = zip(*(by_chance(problem, n) for n in AT), strict=True)
                continue
            keys = [(problem.program, problem.name, name, seed) for seed in range(seeds)]
            runs = [found[key] for key in keys if key in found]
            ranks[k, p], regrets[k, p] = zip(*(_mean(problem, runs, n) for n in AT), strict=True)
    chance = np.array([[by_chance(problem, n)[1] for n in AT] for problem in told])
    return ranks, regrets / chance, rankdata(ranks, axis=0, nan_policy="omit")


def _mean(problem: Problem, searches: list[list[float | None]], runs: int) -> tuple[float, float]:
    """Return the mean rank and regret of searches after so many runs; nan if they are shorter."""
    found = [one[runs - 1] for one in searches if len(one) >= runs]
    seconds = [problem.worst if s is None else s for s in found]
    if not seconds:
        return float("nan"), float("nan")
    return float(np.mean([problem.rank(s) for s in seconds])), float(np.mean([problem.regret(s) for s in seconds]))


def by_chance(problem: Problem, runs: int) -> tuple[float, float]:
    """Return the expected rank in percent and the expected regret of the fastest of so many rows drawn at random.

    The i fastest of N rows are all missed with the probability C(N - i, runs) / C(N, runs) [the minimum of draws
    without replacement]. If all that were drawn failed, the slowest time counts.
    """
    ordered = np.sort(problem.table["seconds"].dropna().to_numpy())
    left = len(problem.table) - np.arange(len(ordered))
    missed = np.concatenate([[1.0], np.cumprod(np.maximum(0.0, (left - runs) / left))])
    chance = missed[:-1] - missed[1:]
    chance[-1] += missed[-1]
    ranks = [problem.rank(s) for s in ordered]
    return float(chance @ ranks), float(chance @ (ordered / ordered[0] - 1))


def report(told: list[Problem], scored: tuple[Array, Array, Array], methods: list[str], ours: str) -> None:
    """Print the means over problems; of each rival's rank, also by how much it lies above ours."""
    ranks, regrets, places = scored
    titles = f"{'rank %, and beyond ours ± 2 standard errors':68s}{'regret / random':>28s}{'place':>28s}"
    print(f"{f'{len(told)} problems':20s}{titles}")
    print(f"{'after runs':20s}" + "".join(f"{n:6d}{'':11s}" for n in AT) + "".join(f"{n:7d}" for n in AT * 2))
    own = ranks[methods.index(ours)] if ours in methods else None
    for k, name in enumerate(methods):
        cells = []
        for n in range(len(AT)):
            beyond = "" if own is None or name == ours else _beyond(ranks[k, :, n] - own[:, n])
            cells.append(f"{_shown(ranks[k, :, n], 6)}{beyond:11s}")
        tail = "".join(_shown(of[k, :, n], 7) for of in (regrets, places) for n in range(len(AT)))
        print(f"{name:20s}{''.join(cells)}{tail}")


def _shown(values: Array, width: int) -> str:
    """Return the mean over problems; nothing if there are searches that are shorter."""
    return f"{values.mean():{width}.2f}" if np.isfinite(values).all() else " " * width


def _beyond(differences: Array) -> str:
    if not np.isfinite(differences).all():
        return ""
    error = 2 * differences.std(ddof=1) / np.sqrt(len(differences))
    return f" {differences.mean():+.2f}±{error:.2f}"


def report_each(told: list[Problem], scored: tuple[Array, Array, Array], methods: list[str]) -> None:
    """Print ranks and relative regrets after 10, 20 and 40 runs of each problem."""
    ranks, regrets, _ = scored
    print(f"{'rank % after 10/20/40 runs (regret at 20)':46s}" + "".join(f"{name[:20]:>22s}" for name in methods))
    for p, problem in enumerate(told):
        cells = [
            "/".join(f"{ranks[k, p, n]:.1f}" for n in (1, 2, 3)) + f" ({regrets[k, p, 2]:.2f})"
            for k in range(len(methods))
        ]
        print(f"{problem.program + ', ' + problem.name:46s}" + "".join(f"{cell:>22s}" for cell in cells))


def pooled(data: Path, name: str, method: str, seed: int, others: int) -> Array:
    """Return percent above the optimum after each run of a search of one task; others were measured before."""
    table, task = pd.read_csv(data / "tuning" / f"{name}.csv"), POOLED[name]
    names = [c for c in table.columns if c not in ("seconds", "status") and table[c].nunique() > 1]
    tasks = sorted(table[task].unique())
    asked = tasks[seed % len(tasks)]
    here = table[table[task] == asked].reset_index(drop=True)
    before = table[table[task] != asked].groupby(task).sample(others, random_state=seed)
    known = Runs.from_frame(before, names, space=Space.from_data(table[names]))
    search = Search(Space.from_frame(here[names]), seed=seed, known=known, tasks=[task], **METHODS[method])
    best = searched(search, here, max(POOLED_AT))
    worst = float(here["seconds"].max())
    return 100 * (np.array([worst if s is None else s for s in best]) / float(here["seconds"].min()) - 1)


def report_pooled(data: Path, methods: list[str], seeds: int, others: int) -> None:
    """Print percent above the optimum of searches of one task, where others were measured before."""
    for name in POOLED:
        print(f"{name + ', pooled':24s}{'runs':18s}" + "".join(f"{n:8d}" for n in POOLED_AT), flush=True)
        for method in methods:
            mean = np.mean([pooled(data, name, method, seed, others) for seed in range(seeds)], axis=0)
            print(f"{'':24s}{method:18s}" + "".join(f"{mean[n - 1]:8.1f}" for n in POOLED_AT), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("choose", "report"), default="choose")
    parser.add_argument("--results", type=Path, metavar="FILE", help="of searches, as JSON lines")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--runs", type=int, default=max(AT))
    parser.add_argument("--methods", default="model")
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--label", default="", help="keep the searches of 'model' under this name")
    parser.add_argument("--compared", default="", help="names of kept searches to print instead of those just made")
    parser.add_argument("--by-problem", action="store_true")
    parser.add_argument("--pooled", action="store_true")
    parser.add_argument("--others", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = [name for name in options.methods.split(",") if name]
    if options.pooled:
        report_pooled(options.data, ["random", *methods], options.seeds, options.others)
        return
    rivals = dict(one.split("=", 1) for one in options.rival)
    told = problems(options.data, options.part)
    named = {name: "" for name in methods if name != "random"} | rivals
    make(told, named, options.seeds, options.runs, options.results, options.label)
    shown = options.compared.split(",") if options.compared else ["random", *named]
    scored = scores(told, kept(options.results), shown, options.seeds)
    report(told, scored, shown, options.label or "model")
    if options.by_problem:
        report_each(told, scored, shown)


if __name__ == "__main__":
    main()
