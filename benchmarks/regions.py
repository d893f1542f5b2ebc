"""One law per region, beside Extra-P: errors far beyond the measured ranks, right growth, and time per region.

Usage::

    python3 -m venv /tmp/extrap && /tmp/extrap/bin/pip install extrap
    .venv/bin/python benchmarks/regions.py [--python /tmp/extrap/bin/python] [--files extrap/tests/data]

Planted laws are sums and products of powers and logarithms, drawn by seed; each has five repetitions of 5 values per
parameter (ranks 4 to 64). Asked are 1,024 and 4,096 ranks. With --files, Extra-P's own example files are read too:
asked are the largest values of the first parameter, which the fits don't see. Without --python, evenly stands alone.
Extra-P is shown as it comes and with negative exponents allowed. Growth is right if the exponent at the scale asked,
``log2(f(2 p) / f(p))``, is that of the truth within 0.1.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import evenly
from evenly.models.base import Model
from evenly.readers import scan
from extrap import ask_extrap

Case = dict[str, Any]
Array = Any

AXES = {"p": [4, 8, 16, 32, 64], "n": [256, 512, 1024, 2048, 4096], "b": [2, 4, 8, 16, 32]}
POWERS = (-1, -2 / 3, -1 / 2, 0, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1, 5 / 4, 4 / 3, 3 / 2, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", type=Path, help="python of an environment with Extra-P")
    parser.add_argument("--files", type=Path, help="folder with example files of Extra-P")
    parser.add_argument("--regions", type=int, default=100, help="planted laws per group")
    parser.add_argument("--seed", type=int, default=10_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    evenly.fit(evenly.Runs.from_frame(pd.DataFrame({"p": [1, 2, 4], "seconds": [4.0, 2, 1.1]}), ["p"]), method="pmnf")
    print(f"{'':34}{'tool':14}{'median':>9}{'90 %':>9}{'right growth':>14}{'CPU s/region':>14}")
    for d, noise in itertools.product((1, 2, 3), (0.0, 0.05, 0.10)):
        regions = arguments.regions if d == 1 else arguments.regions // 4
        cases = [planted(d, noise, np.random.default_rng([arguments.seed, d, k])) for k in range(regions)]
        judge(f"{d} parameter{'s' * (d > 1)}, noise {noise:.0%}", cases, arguments.python)
    if arguments.files is not None:
        for name, cases in examples(arguments.files):
            judge(name, cases, arguments.python)
    verdicts()
    print(f"500 regions, 7 points, 5 repetitions, fit(each=) and ranking: {many():.1f} s of CPU time")


def planted(d: int, noise: float, rng: Any) -> Case:
    """One to two terms and a constant; each parameter may scale a term, and ranks always scale one."""
    names = list(AXES)[:d]
    x = np.array(list(itertools.product(*(AXES[name] for name in names))), dtype=float)
    asked = np.array([[p, *(AXES[name][-1] for name in names[1:])] for p in (1024, 4096, 2048, 8192)], dtype=float)
    truth = np.ones(len(x)), np.ones(len(asked))
    for k in range(rng.integers(1, 3)):
        i, j = rng.choice(POWERS), rng.integers(0, 2)
        term = [rows[:, 0] ** i * np.log2(rows[:, 0]) ** j for rows in (x, asked)]
        for column in range(1, d):
            if rng.random() < 0.7 or k == 0:
                power = rng.choice((0.5, 1, 1.5))
                term = [one * rows[:, column] ** power for one, rows in zip(term, (x, asked), strict=True)]
        weight = np.exp(rng.uniform(np.log(0.1), np.log(10))) / np.exp(np.log(term[0]).mean())
        truth = truth[0] + weight * term[0], truth[1] + weight * term[1]
    repetitions = truth[0][:, None] * np.exp(noise * rng.normal(size=(len(x), 5)))
    return {
        "names": names, "x": x.tolist(), "y": np.median(repetitions, axis=1).tolist(), "asked": asked.tolist(),
        "truth": truth[1].tolist(),
    }  # fmt: skip


def examples(folder: Path) -> Iterator[tuple[str, list[Case]]]:
    """Each region of each file that can be read, without the largest values of the first parameter."""
    found: dict[int, list[Case]] = {}
    for path in sorted(folder.iterdir()):
        try:
            runs = next(iter(scan(path).runs.values()))
        except evenly.EvenlyError:
            continue
        if "region" not in runs.parameters:
            continue
        from evenly.runs.grouping import by_value

        for part in by_value(runs, "region").values():
            table = part.aggregate()
            first = part.parameters[0]
            values = np.unique(table[first])
            kept = values[: -2 if len(values) > 6 else -1]
            if len(kept) < 4:
                continue
            learn, ask = table[table[first].isin(kept)], table[~table[first].isin(kept)]
            found.setdefault(len(part.parameters), []).append({
                "names": part.parameters, "x": learn[part.parameters].to_numpy(float).tolist(),
                "y": learn[part.response].tolist(), "asked": ask[part.parameters].to_numpy(float).tolist(),
                "truth": ask[part.response].tolist(), "measured": True,
            })  # fmt: skip
    for d, cases in sorted(found.items()):
        yield f"Extra-P's files, {d} parameter{'s' * (d > 1)} ({len(cases)})", cases


def judge(group: str, cases: list[Case], python: Path | None) -> None:
    mine, seconds = ask_evenly(cases)
    rows = [("evenly", mine, seconds)]
    if python is not None:
        before = _children()
        ask_extrap(python, cases[:1])
        start_up = _children() - before
        both = ask_extrap(python, cases)
        spent = max(_children() - before - 2 * start_up, 0.0) / (2 * len(cases))
        rows += [(name, [one[k] for one in both], spent) for k, name in enumerate(("Extra-P", "Extra-P neg."))]
    for name, predictions, spent in rows:
        errors, right = [], []
        for case, predicted in zip(cases, predictions, strict=True):
            truth, asked = np.array(case["truth"]), slice(None) if case.get("measured") else slice(0, 2)
            values = np.full(len(truth), np.nan) if predicted is None else np.array(predicted, dtype=float)
            errors += list(np.nan_to_num(np.abs(values / truth - 1)[asked], nan=np.inf, posinf=np.inf))
            if not case.get("measured"):
                with np.errstate(all="ignore"):
                    slopes = np.log2(values[2:] / values[:2]) - np.log2(truth[2:] / truth[:2])
                right += list(np.abs(slopes) < 0.1)
        share = f"{np.mean(right):14.0%}" if right else f"{'':>14}"
        median, most = np.quantile(errors, [0.5, 0.9], method="higher")
        print(f"{group:34}{name:14}{median:9.1%}{most:9.1%}{share}{spent:14.3f}", flush=True)
        group = ""


def ask_evenly(cases: list[Case]) -> tuple[list[list[float]], float]:
    start = time.process_time()
    answers = []
    for case in cases:
        table = pd.DataFrame(case["x"], columns=case["names"]).assign(seconds=case["y"], region="one")
        models: dict[str, Model] = evenly.fit(
            evenly.Runs.from_frame(table, ["region", *case["names"]]), each="region",
            asked={name: _range(case, k) for k, name in enumerate(case["names"])},
        )  # fmt: skip
        asked = pd.DataFrame(case["asked"], columns=case["names"])
        answers.append(models["one"].predict(asked).tolist())
    return answers, (time.process_time() - start) / len(cases)


def verdicts(noise: float = 0.05, regions: int = 60) -> None:
    """Print how often regions of one law are called faster than an expectation: of their own law, that is wrong."""
    rng = np.random.default_rng(5)
    p = np.repeat([4.0, 8, 16, 32, 64], 5)
    laws = {"1": 1 + 0 * p, "log2(p)": np.log2(p), "1 + 0.05 * p": 1 + 0.05 * p, "p": p, "1 / p": 1 / p}
    print(f"{'called faster than, noise 5 %':34}" + "".join(f"{name:>14}" for name in laws))
    for law, truth in laws.items():
        parts = [
            pd.DataFrame({"region": f"r{k}", "p": p, "seconds": truth * np.exp(noise * rng.normal(size=len(p)))})
            for k in range(regions)
        ]
        models = evenly.fit(evenly.Runs.from_frame(pd.concat(parts), ["region", "p"]), each="region")
        found = [evenly.ranking(models, {"p": [4096]}, expect=expected)["verdict"] for expected in laws]
        print(f"{law:34}" + "".join(f"{(one == 'faster').mean():14.0%}" for one in found), flush=True)


def _range(case: Case, column: int) -> tuple[float, float]:
    values = [row[column] for row in (*case["x"], *case["asked"])]
    return min(values), max(values)


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def many() -> float:
    rng = np.random.default_rng(1)
    p = np.repeat([4, 8, 16, 32, 64, 128, 256], 5)
    parts = []
    for k in range(500):
        truth = 1 + rng.uniform(0, 1) * p ** rng.choice(POWERS)
        seconds = truth * np.exp(0.05 * rng.normal(size=len(p)))
        parts.append(pd.DataFrame({"region": f"r{k}", "p": p, "seconds": seconds}))
    runs = evenly.Runs.from_frame(pd.concat(parts), ["region", "p"])
    start = time.process_time()
    evenly.ranking(evenly.fit(runs, each="region"), {"p": [4096]}, expect="1")
    return time.process_time() - start


if __name__ == "__main__":
    main()
