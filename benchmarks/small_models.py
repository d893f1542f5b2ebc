"""How large the default model of 16,384 runs is, how fast it predicts, and what its small size costs.

    python benchmarks/small_models.py DATA [--data amg] [--runs 16384]

DATA is described in ``models_data.py``. A row shows the size of the stored file, the CPU seconds of 100,000 predictions
of the loaded model, MLogQ on the test file, how many methods have a share, and MLogQ on left-out runs before and after
methods that add nothing were dropped.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import evenly
from evenly.errors import ExtrapolationWarning
from evenly.metrics import mlogq
from evenly.models.base import Model
from evenly.models.ensemble import automatic
from models_data import load

_PREDICTED = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", choices=("amg", "bcast", "gemm"), default=("amg", "bcast", "gemm"))
    parser.add_argument("--runs", type=int, default=16_384)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ExtrapolationWarning)
    print(f"{'data':6s} {'file kB':>8s} {'10^5 in s':>10s} {'MLogQ':>7s} {'methods':>8s} {'all':>8s} {'kept':>8s}"
          f" {'lost':>6s}")  # fmt: skip
    for name in options.data:
        row(options.folder, name, options.runs)


def row(folder: Path, name: str, count: int) -> None:
    case = load(folder, name).sample(count, 0)
    table, seconds = case.of(case.train)
    kinds = {"parameters": list(case.parameters), "time": "seconds", "space": case.space}
    errors: list[float] = []

    def watched(predicted: Any, logs: Any, weights: Any, folds: Any, shares: Any, honest: Any) -> Any:
        found = dropped(predicted, logs, weights, folds, shares, honest)
        errors.extend(float(np.average(np.abs(one - logs), weights=weights)) for one in (honest, found[1]))
        return found

    dropped, automatic.lean_blend = automatic.lean_blend, watched
    try:
        model = evenly.fit(evenly.Runs.from_frame(table.assign(seconds=seconds), **kinds), outliers="keep")
    finally:
        automatic.lean_blend = dropped
    asked, truth = case.of(case.test)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "model.evenly")
        evenly.save(model, path)
        size, loaded = path.stat().st_size, evenly.load(path)
    assert isinstance(loaded, Model)
    many = asked.iloc[np.arange(_PREDICTED) % len(asked)].reset_index(drop=True)
    loaded.predict(many.iloc[:100])
    began = time.process_time()
    loaded.predict(many)
    taken = time.process_time() - began
    methods = int((model.choice_["weight"] > 0).sum())
    print(f"{name:6s} {size / 1e3:8.0f} {taken:10.2f} {mlogq(truth, loaded.predict(asked)):7.4f} {methods:8d}"
          f" {errors[0]:8.4f} {errors[1]:8.4f} {errors[1] / errors[0] - 1:6.1%}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
