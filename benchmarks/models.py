"""How far off each method is, by the number of runs it learns from, on the tensor-completion paper's measurements.

    python benchmarks/models.py DATA                                  # all methods, all sizes
    python benchmarks/models.py DATA --methods auto gp --sizes 256 --data amg
    python benchmarks/models.py DATA --rivals PYTHON                  # beside other libraries
    python benchmarks/models.py DATA --plot docs/figures --keep figures.json

Each figure is the median over three training samples of MLogQ on the test file; methods get no options. With it stand
the CPU seconds of learning, those of predicting 10,000 configurations, the bytes of what was learned, and how many test
runs fall into the 90 % interval. --plot draws error against runs and against bytes (the paper's figures 6 and 7); what
lies beyond the measured range is in ``extrapolation.py``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import evenly
from evenly.errors import ExtrapolationWarning
from evenly.metrics import mlogq
from evenly.models.base import Model
from evenly.models.ensemble.automatic import state_bytes
from evenly.models.registry import model_class
from models_data import DATA, RIVALS, SEEDS, Case, load, rival

METHODS = (
    "power-law", "log-quadratic", "pmnf", "nearest", "sparse-grid", "mars", "svm", "forest", "extra-trees",
    "hist-boosting", "boosting", "neural-net", "gp", "cpr", "auto",
)  # fmt: skip
SIZES = (256, 1_024, 4_096, 16_384)
#: Best figure anyone has and target, of the four sizes.
KNOWN: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "amg": ((0.199, 0.117, 0.087, 0.074), (0.180, 0.105, 0.078, 0.064)),
    "bcast": ((0.095, 0.056, 0.046, 0.040), (0.088, 0.052, 0.043, 0.037)),
    "gemm": ((0.127, 0.077, 0.055, 0.045), (0.115, 0.070, 0.049, 0.039)),
}
#: Methods whose time or memory forbids more runs.
MOST = {"pmnf": 1_024, "svm": 4_096, "sklearn-gp": 1_024}
TITLES = {"amg": "AMG, 8 parameters", "bcast": "broadcast, 3 parameters", "gemm": "matrices, 3 parameters"}
Row = dict[str, Any]


def measure(case: Case, method: str, effort: str) -> Row:
    """Learn and predict once."""
    configurations, seconds = case.of(case.train)
    asked, truth = case.of(case.test)
    began = time.process_time()
    model = learn(method, effort, case, configurations, seconds)
    learned = time.process_time()
    many = asked.iloc[np.arange(10_000) % len(asked)].reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        predicted = model.predict(asked)
        begun = time.process_time()
        model.predict(many)
        predicting = time.process_time() - begun
        lower, upper = model.interval(asked, 0.9)
    return {
        "mlogq": mlogq(truth, predicted),
        "worst": float(np.max(np.abs(np.log(predicted / truth)))),
        "covered": float(np.mean((lower <= truth) & (truth <= upper))),
        "fit": learned - began,
        "predict": predicting,
        "bytes": state_bytes(model._get_state()),
    }


def measure_rival(python: Path, name: str, case: Case, seed: int) -> Row:
    """Learn by another library and predict once; what only evenly has is NaN."""
    truth, found = case.of(case.test)[1], rival(python, name, case, seed)
    inside = np.nan
    if found["lower"] is not None:
        inside = float(np.mean((found["lower"] <= truth) & (truth <= found["upper"])))
    error, worst = mlogq(truth, found["seconds"]), float(np.max(np.abs(np.log(found["seconds"] / truth))))
    return {"mlogq": error, "worst": worst, "covered": inside, "fit": found["fit"], "predict": np.nan, "bytes": np.nan}


def learn(method: str, effort: str, case: Case, configurations: Any, seconds: Any) -> Model:
    """Learn as `evenly.fit` does, the kinds of the parameters being known."""
    if method == "auto":
        table = configurations.assign(seconds=seconds)
        runs = evenly.Runs.from_frame(table, parameters=list(case.parameters), time="seconds", space=case.space)
        model = evenly.fit(runs, effort=effort)
        assert isinstance(model, Model)
        return model
    kind = model_class(method)
    given = {"effort": effort} if "effort" in kind.default_arguments() else {}
    return kind(**given).fit(configurations, seconds, space=case.space)


def median_of(rows: Sequence[Row]) -> Row:
    """Return the median of each figure."""
    return {name: float(np.median([row[name] for row in rows])) for name in rows[0]}


def table(case: Case, options: argparse.Namespace, found: dict[str, Row]) -> None:
    """Measure one data set and print its lines."""
    best, target = KNOWN.get(case.name, ((np.nan,) * 4,) * 2)
    print(f"\n{case.name}: MLogQ, median of {len(options.seeds)} training samples ({options.effort})")
    print(f"{'method':14s} {'runs':>6s} {'MLogQ':>7s} {'best':>6s} {'target':>6s} {'worst':>6s} {'cover':>6s}"
          f" {'fit s':>7s} {'10^4 ms':>8s} {'kB':>8s}")  # fmt: skip
    for method in (*options.methods, *(RIVALS if options.rivals else ())):
        for size in options.sizes:
            if size > MOST.get(method, size) or (method == "pmnf" and case.labels):
                continue
            samples = {seed: case.sample(size, seed) for seed in options.seeds}
            if method in RIVALS:
                row = median_of([measure_rival(options.rivals, method, one, seed) for seed, one in samples.items()])
            else:
                row = median_of([measure(one, method, options.effort) for one in samples.values()])
            found[f"{case.name} {method} {size}"] = row
            at = SIZES.index(size) if size in SIZES else None
            known = f"{best[at]:6.3f} {target[at]:6.3f}" if at is not None else " " * 13
            print(f"{method:14s} {size:6d} {row['mlogq']:7.3f} {known} {row['worst']:6.2f} {row['covered']:6.1%}"
                  f" {row['fit']:7.1f} {row['predict'] * 1e3:8.1f} {row['bytes'] / 1e3:8.0f}", flush=True)  # fmt: skip
            if options.keep:
                options.keep.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def draw(found: Mapping[str, Row], folder: Path) -> list[Path]:
    """Draw error against the number of runs and against bytes, one picture each."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    written = []
    names = sorted({key.split()[0] for key in found})
    methods = [method for method in METHODS if any(key.split()[1] == method for key in found)]
    for what, label in (("runs", "runs learned from"), ("bytes", "bytes of what was learned")):
        figure, axes = plt.subplots(1, len(names), figsize=(4.6 * len(names), 4.2), squeeze=False, layout="constrained")
        for axis, name in zip(axes[0], names, strict=True):
            for method in methods:
                rows = [(int(k.split()[2]), row) for k, row in found.items() if k.split()[:2] == [name, method]]
                x = [size if what == "runs" else row["bytes"] for size, row in rows]
                axis.loglog(x, [row["mlogq"] for _, row in rows], ms=4, label=method, **style(method))
            axis.set(title=TITLES.get(name, name), xlabel=label)
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
            axis.yaxis.set_minor_formatter(NullFormatter())
            if what == "runs":
                axis.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
                axis.minorticks_off()
        axes[0][0].set_ylabel("MLogQ on test runs")
        figure.legend(*axes[0][-1].get_legend_handles_labels(), fontsize=8, loc="outside right center")
        folder.mkdir(parents=True, exist_ok=True)
        written.append(folder / f"models-error-by-{what}.png")
        figure.savefig(written[-1], dpi=100)
        plt.close(figure)
    return written


def style(method: str) -> dict[str, Any]:
    """Each method looks the same in all pictures; the blend stands out."""
    if method == "auto":
        return {"color": "black", "lw": 2.5, "marker": "o", "zorder": 5}
    import matplotlib as mpl

    names = (*METHODS, "beyond", "cpr-positive")
    i = names.index(method) if method in names else len(names)
    return {"color": mpl.colormaps["tab20"](i % 20), "lw": 1, "marker": "osD^v"[i % 5]}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where gemm-train.csv and the others are")
    parser.add_argument("--data", nargs="+", choices=tuple(DATA), default=tuple(KNOWN))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--effort", choices=("quick", "normal", "thorough"), default="normal")
    parser.add_argument(
        "--rivals", type=Path, help="the Python of an environment with catboost, lightgbm, scikit-learn"
    )
    parser.add_argument("--keep", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--plot", type=Path, help="folder for the pictures")
    options = parser.parse_args(arguments)
    found: dict[str, Row] = {}
    for name in options.data:
        table(load(options.folder, name), options, found)
    for path in draw(found, options.plot) if options.plot else ():
        print(path)


if __name__ == "__main__":
    main()
