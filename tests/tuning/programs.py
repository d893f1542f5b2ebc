"""A planted program for tests of searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.space.parameters import Categorical, Integer, Ordinal
from evenly.space.space import Space

__all__ = ["BOWL", "bowl"]

BOWL = Space(block=Integer(1, 32, scale="log"), threads=Ordinal(1, 2, 4, 8), solver=Categorical("cg", "gmres", "amg"))


def bowl(configuration: dict[str, Any]) -> float:
    """Fastest, 1 s, for blocks of 8, 4 threads and amg."""
    solver = {"cg": 1.3, "gmres": 2.0, "amg": 1.0}[configuration["solver"]]
    return float(
        solver * np.exp(np.log2(configuration["block"] / 8) ** 2 / 8 + np.log2(configuration["threads"] / 4) ** 2 / 4)
    )
