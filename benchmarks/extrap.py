"""Prediction errors of evenly's PMNF beside Extra-P's, on the same measurements.

Usage::

    python3 -m venv /tmp/extrap && /tmp/extrap/bin/pip install extrap
    .venv/bin/python benchmarks/extrap.py --python /tmp/extrap/bin/python --samples SAMPLES --data DATA

SAMPLES holds ``thesis/table_5_1_5_2_5_3.csv``, DATA ``bcast-train.csv`` and ``bcast-test.csv``. Extra-P runs in its
own environment, in two settings: as it comes, and with negative exponents allowed. It needs lines of five points
along each parameter; the message sizes of the broadcast are drawn at random, so it is given their medians per half
octave, all training rows used, where evenly is given a sample of the rows themselves. All errors are MLogQ, the mean
absolute log ratio.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
Case = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", type=Path, required=True, help="python of the environment with Extra-P")
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    cases = [*thesis(arguments.samples), *planted(arguments.seeds), *broadcast(arguments.data)]
    rivals = ask_extrap(arguments.python, cases)
    rows = [(case["group"], errors(case, rival)) for case, rival in zip(cases, rivals, strict=True)]
    show(rows)


# ---- cases ------------------------------------------------------------------------------------------------------


def thesis(samples: Path) -> list[Case]:
    import pandas as pd

    table = pd.read_csv(samples / "thesis" / "table_5_1_5_2_5_3.csv")
    cases = []
    for domain in ("inner", "outer"):
        rows = table[(table["domain"] == domain) & (table["kind"] == "measured")].sort_values("cores")
        x, y = rows[["cores"]].to_numpy(float), rows["median_ms_or_P"].to_numpy(float)
        cases.append(case(f"thesis {domain}: last 2 from first 5", ["cores"], x[:5], y[:5], x[5:], y[5:]))
    return cases


TRUTHS: dict[str, tuple[list[str], Callable[[Array], Array]]] = {
    "2 parameters": (["p", "n"], lambda x: 2 + 0.01 * x[:, 1] * np.log2(x[:, 1]) / x[:, 0] + 0.3 * np.log2(x[:, 0])),
    "2 parameters, weak": (["p", "n"], lambda x: 5 + 1e-3 * x[:, 1] ** 1.5 * np.log2(x[:, 0])),
    "3 parameters": (
        ["p", "n", "b"],
        lambda x: 1 + 0.02 * x[:, 1] * x[:, 2] ** 0.5 / x[:, 0] + 0.05 * x[:, 2] * np.log2(x[:, 0]),
    ),
    "3 parameters, weak": (["p", "n", "b"], lambda x: 3 + 1e-3 * x[:, 1] ** 1.25 * np.log2(x[:, 0]) * x[:, 2] ** 0.5),
}


def planted(seeds: int) -> list[Case]:
    """Five values per parameter on a grid (which Extra-P needs), 5 % noise; asked between, and 4 times beyond each."""
    cases = []
    for (name, (names, truth)), seed in itertools.product(TRUTHS.items(), range(seeds)):
        rng = np.random.default_rng(seed)
        axes = [[4, 8, 16, 32, 64], [256, 512, 1024, 2048, 4096], [2, 4, 8, 16, 32]][: len(names)]
        x = np.array(list(itertools.product(*axes)), dtype=float)
        y = truth(x) * np.exp(0.05 * rng.normal(size=len(x)))
        low, high = np.array([a[0] for a in axes], float), np.array([a[-1] for a in axes], float)
        between = np.exp(rng.uniform(np.log(low), np.log(high), (200, len(names))))
        beyond = np.exp(rng.uniform(np.log(high), np.log(4 * high), (200, len(names))))
        cases.append(case(f"{name}: between", names, x, y, between, truth(between)))
        cases.append(case(f"{name}: 4x beyond", names, x, y, beyond, truth(beyond)))
    return cases


def broadcast(data: Path) -> list[Case]:
    import pandas as pd

    train, test = pd.read_csv(data / "bcast-train.csv"), pd.read_csv(data / "bcast-test.csv")
    names = ["msg", "ppn", "nodes"]
    cases = []
    for rows, seed in itertools.product((256, 4096), (0, 1, 2)):
        for group, learn, ask in (
            ("inside", train, test),
            ("128 nodes from <= 64", train[train.nodes <= 64], test[test.nodes == 128]),
        ):
            chosen = learn.iloc[np.random.RandomState(seed).permutation(len(learn))[:rows]]
            binned = (
                learn.assign(msg=2 ** (np.round(2 * np.log2(learn.msg)) / 2)).groupby(names, as_index=False).median()
            )
            made = case(
                f"broadcast {group}, {rows} rows", names, chosen[names].to_numpy(float), chosen.seconds.to_numpy(),
                ask[names].to_numpy(float), ask.seconds.to_numpy(),
            )  # fmt: skip
            made["extrap"] = {"x": binned[names].to_numpy(float).tolist(), "y": binned.seconds.tolist()}
            cases.append(made)
    return cases


def case(group: str, names: list[str], x: Array, y: Array, asked: Array, truth: Array) -> Case:
    return {
        "group": group, "names": names, "x": x.tolist(), "y": y.tolist(), "asked": asked.tolist(),
        "truth": np.asarray(truth).tolist(),
    }  # fmt: skip


# ---- errors -----------------------------------------------------------------------------------------------------


def errors(case: Case, rival: list[list[float] | None]) -> dict[str, float]:
    from evenly.metrics import mlogq
    from evenly.models.pmnf.pmnf import PMNF
    from evenly.models.scaling_laws.log_quadratic import LogQuadratic
    from evenly.models.scaling_laws.power_law import PowerLaw

    columns = dict(zip(case["names"], np.array(case["x"]).T, strict=True))
    asked = dict(zip(case["names"], np.array(case["asked"]).T, strict=True))
    found: dict[str, float] = {}
    for name, model in (("PMNF", PMNF()), ("log-quadratic", LogQuadratic()), ("power law", PowerLaw())):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = model.fit(columns, case["y"]).predict(asked)
        found[name] = mlogq(case["truth"], predicted)
        if name == "PMNF":
            found["PMNF seconds"] = time.perf_counter() - start
    for name, predictions in zip(("Extra-P", "Extra-P neg."), rival, strict=True):
        found[name] = float("nan") if predictions is None else mlogq(case["truth"], predictions)
    return found


def show(rows: list[tuple[str, dict[str, float]]]) -> None:
    columns = ["PMNF", "log-quadratic", "power law", "Extra-P", "Extra-P neg.", "PMNF seconds"]
    print(f"{'MLogQ, mean over cases':45}" + "".join(f"{name:>15}" for name in columns))
    for group in dict.fromkeys(name for name, _ in rows):
        mine = [found for name, found in rows if name == group]
        cells = [float(np.mean([found[name] for found in mine])) for name in columns]
        print(f"{group:45}" + "".join(f"{cell:15.3f}" for cell in cells), flush=True)


# ---- Extra-P, in its own environment -------------------------------------------------------------------------------


def ask_extrap(python: Path, cases: list[Case]) -> list[list[list[float] | None]]:
    asked = [{**c, **c.get("extrap", {})} for c in cases]
    done = subprocess.run(
        [str(python), __file__, "--worker"], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def worker() -> None:
    warnings.simplefilter("ignore")
    sys.path.pop(0)  # this file's folder, where this file hides the package of the same name
    answers = [[_extrap(case, negative) for negative in (False, True)] for case in json.load(sys.stdin)]
    print()
    print(json.dumps(answers))


def _extrap(case: Case, negative: bool) -> list[float] | None:
    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.experiment import Experiment
    from extrap.entities.measurement import Measure, Measurement
    from extrap.entities.metric import Metric
    from extrap.entities.parameter import Parameter
    from extrap.modelers.model_generator import ModelGenerator

    experiment, metric, path = Experiment(), Metric("time"), Callpath("main")
    for name in case["names"]:
        experiment.add_parameter(Parameter(name))
    experiment.add_metric(metric)
    experiment.add_callpath(path)
    for row, value in zip(case["x"], case["y"], strict=True):
        coordinate = Coordinate(*row)
        experiment.add_coordinate(coordinate)
        experiment.add_measurement(Measurement(coordinate, path, metric, [value]))
    generator = ModelGenerator(experiment, modeler="Default", use_measure=Measure.MEDIAN)
    single = getattr(generator.modeler, "single_parameter_modeler", generator.modeler)
    single.allow_negative_exponents = negative
    try:
        generator.model_all()
        function = generator.models[(path, metric)].hypothesis.function
        points = np.array(case["asked"]).T
        values = function.evaluate(points[0] if len(points) == 1 else points)
        return np.broadcast_to(np.asarray(values, dtype=float), points.shape[1]).tolist()
    except Exception as error:
        print("Extra-P:", error, file=sys.stderr)
        return None


if __name__ == "__main__":
    worker() if "--worker" in sys.argv else main()
