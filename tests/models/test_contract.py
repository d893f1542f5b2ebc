from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.models.base import Model
from evenly.models.completion.cpr import CPR
from evenly.models.completion.positive import PositiveCompletion
from evenly.models.extrapolation.beyond import Beyond
from evenly.models.factorized import Factorized
from evenly.models.gaussian_process.gaussian_process import GaussianProcess
from evenly.models.kernel_methods.nearest_neighbours import NearestNeighbours
from evenly.models.kernel_methods.support_vectors import SupportVectors
from evenly.models.pmnf.pmnf import PMNF
from evenly.models.scaling_laws.log_quadratic import LogQuadratic
from evenly.models.scaling_laws.offset_power_law import OffsetPowerLaw
from evenly.models.scaling_laws.piecewise_linear import PiecewiseLinear
from evenly.models.scaling_laws.power_law import PowerLaw
from tests.models.contract import LAWS

Data = tuple[pd.DataFrame, NDArray[np.float64]]


def _scaling() -> Data:
    cores = np.array([1, 2, 4, 8, 16, 32, 64, 128])
    noise = np.random.default_rng(0).normal(size=8)
    return pd.DataFrame({"cores": cores}), (80 / cores + 2) * np.exp(0.03 * noise)


def _scattered() -> Data:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"cores": np.exp(rng.uniform(0, 6, 30)).round(), "size": np.exp(rng.uniform(2, 8, 30))})
    return table, (0.1 * table["size"] / table["cores"] + 1).to_numpy() * np.exp(0.1 * rng.normal(size=30))


def _with_zero() -> Data:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"cores": rng.choice([1, 2, 4, 8, 16], 20), "level": rng.choice([0, 1, 2], 20)})
    return table, (10.0 / table["cores"] * 2.0 ** table["level"] + 0.5).to_numpy() * np.exp(0.05 * rng.normal(size=20))


def _labels() -> Data:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"cores": rng.choice([2, 4, 8, 16], 24), "solver": rng.choice(["amg", "cg"], 24)})
    values = 50.0 / table["cores"] * np.where(table["solver"] == "amg", 1.0, 1.7)
    return table, values.to_numpy() * np.exp(0.05 * rng.normal(size=24))


ONE = [PowerLaw, LogQuadratic, OffsetPowerLaw, PiecewiseLinear, PMNF]
MANY = [PowerLaw, LogQuadratic, PMNF]
CASES = [
    *((model, _scaling) for model in ONE),
    *((model, data) for model in MANY for data in (_scattered, _with_zero)),
    *((model, _labels) for model in (PowerLaw, LogQuadratic)),
    *((model, data) for model in (NearestNeighbours,) for data in (_scaling, _scattered, _with_zero, _labels)),
    *(
        (model, data)
        for model in (GaussianProcess, SupportVectors)
        for data in (_scaling, _scattered, _with_zero, _labels)
    ),
    *((model, data) for model in (Beyond, PositiveCompletion) for data in (_scaling, _scattered, _with_zero, _labels)),
    *((model, data) for model in (Factorized,) for data in (_scaling, _scattered, _with_zero, _labels)),
    *((model, data) for model in (CPR,) for data in (_scaling, _scattered, _with_zero, _labels)),
]


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize(("model", "data"), CASES, ids=[f"{m.__name__}{d.__name__}" for m, d in CASES])
def test_law(model: type[Model], data: object, law: str) -> None:
    assert callable(data)
    table, values = data()
    LAWS[law](model, table, values)


@pytest.mark.parametrize(
    "options",
    [
        {"residuals": "log"},
        {"residuals": "absolute", "loss": "se", "ridge": 0.01},
        {"validation": 4, "loss": "smape"},
        {"terms": 3, "exponents": [-1, 0, 1], "log_exponents": [0, 1]},
        {"search": "hierarchical"},
        {"search": "golden-section"},
        {"monotone": "decreasing"},
        {"positive": False, "loss": "mlogq"},
        {"asked": {"cores": (1, 4096)}},
    ],
    ids=lambda options: "-".join(map(str, options.values())) if isinstance(options, dict) else "",
)
@pytest.mark.parametrize("law", list(LAWS))
def test_law_with_options(options: dict[str, object], law: str) -> None:
    if "monotone" in options and law == "a_parameter_of_one_value_is_no_obstacle":
        return  # nothing that has one value decreases
    table, values = _scaling()
    LAWS[law](lambda: PMNF(**options), table, values)  # type: ignore[arg-type]
