"""Models by other libraries, for `models.py` and `extrapolation.py`, in the Python of an environment of their own.

    PYTHON benchmarks/model_rivals.py {catboost,lightgbm,sklearn-gp} < request

Reads one JSON object: ``train`` and ``asked`` (columns by name), ``labels`` (which of them are labels), ``seconds`` and
``seed``. Prints ``seconds`` (predicted), ``lower`` and ``upper`` (ends of 90 % intervals; null without them), ``fit``
(CPU seconds) and ``version``.

All learn logarithms of seconds. Trees have their default settings. The Gaussian process has what its users give it:
logarithms of numbers above zero, a column for each label, one length for each column (ARD), noise, two restarts.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

#: Half-width of the 90 % interval of a normal distribution, in standard deviations.
_NORMAL_90 = 1.645


def main() -> None:
    warnings.simplefilter("ignore")
    request = json.load(sys.stdin)
    print(json.dumps(RIVALS[sys.argv[1]](request)))


def catboost(request: Mapping[str, Any]) -> dict[str, Any]:
    """CatBoost knows labels itself."""
    import pandas as pd
    from catboost import CatBoostRegressor

    train, asked = (pd.DataFrame(request[part]).astype(dict.fromkeys(request["labels"], str)) for part in _PARTS)
    model = CatBoostRegressor(
        random_seed=request["seed"],
        verbose=0,
        cat_features=request["labels"],
        thread_count=1,
        allow_writing_files=False,
    )
    return _trees(model, train, asked, request, "catboost")


def lightgbm(request: Mapping[str, Any]) -> dict[str, Any]:
    """LightGBM takes labels as pandas' categories."""
    import pandas as pd
    from lightgbm import LGBMRegressor

    kinds = {name: pd.CategoricalDtype(sorted(map(str, set(request["train"][name])))) for name in request["labels"]}
    train, asked = (
        pd.DataFrame(request[part]).astype(dict.fromkeys(request["labels"], str)).astype(kinds) for part in _PARTS
    )
    model = LGBMRegressor(random_state=request["seed"], verbose=-1, n_jobs=1)
    return _trees(model, train, asked, request, "lightgbm")


def sklearn_gp(request: Mapping[str, Any]) -> dict[str, Any]:
    """Matérn 5/2 with noise, on standardised columns."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    train, asked = (_columns(request[part], request) for part in _PARTS)
    middle, scale = train.mean(axis=0), np.maximum(train.std(axis=0), 1e-12)
    kernel = ConstantKernel(1.0) * Matern(np.ones(train.shape[1]), (1e-2, 1e3), nu=2.5) + WhiteKernel(1e-3, (1e-8, 1))
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=2, random_state=request["seed"])
    began = time.process_time()
    model.fit((train - middle) / scale, np.log(request["seconds"]))
    took = time.process_time() - began
    logs, apart = model.predict((asked - middle) / scale, return_std=True)
    ends = (np.exp(logs + sign * _NORMAL_90 * apart).tolist() for sign in (-1, 1))
    return {**dict(zip(("lower", "upper"), ends, strict=True)), **_found(logs, took, "scikit-learn")}


def _trees(model: Any, train: Any, asked: Any, request: Mapping[str, Any], package: str) -> dict[str, Any]:
    began = time.process_time()
    model.fit(train, np.log(request["seconds"]))
    took = time.process_time() - began
    return {"lower": None, "upper": None, **_found(model.predict(asked), took, package)}


def _found(logs: Any, took: float, package: str) -> dict[str, Any]:
    return {"seconds": np.exp(logs).tolist(), "fit": took, "version": version(package)}


def _columns(table: Mapping[str, Any], request: Mapping[str, Any]) -> Any:
    columns = []
    for name, values in table.items():
        if name in request["labels"]:
            columns += [np.array(values) == label for label in sorted(set(request["train"][name]))]
        else:
            above_zero = min(request["train"][name]) > 0
            columns.append(np.log(values) if above_zero else np.array(values, dtype=float))
    return np.column_stack(columns).astype(float)


_PARTS = ("train", "asked")
RIVALS = {"catboost": catboost, "lightgbm": lightgbm, "sklearn-gp": sklearn_gp}

if __name__ == "__main__":
    main()
