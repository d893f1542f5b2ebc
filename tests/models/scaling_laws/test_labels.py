"""Labels of log-linear models: any values can be labels, None and truth values among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenly.models.scaling_laws.log_quadratic import LogQuadratic
from evenly.models.scaling_laws.power_law import PowerLaw


@pytest.mark.parametrize("model", [PowerLaw(), LogQuadratic()])
@pytest.mark.parametrize(
    "labels", [("a", None, "b"), (True, None, False), (True, "x", False), (1, "x", None, 2.5), (False, 2, "x", None)]
)
def test_each_of_mixed_labels_has_its_own_factor(model: PowerLaw | LogQuadratic, labels: tuple[Any, ...]) -> None:
    # Planted: 3^k · 10 / cores for label k. The fit is exact, up to the rounding of logarithms.
    solver = np.repeat(np.array(labels, dtype=object), 5)
    cores = np.tile(2.0 ** np.arange(5), len(labels))
    factors = 3.0 ** np.arange(len(labels))
    model.fit({"solver": solver, "cores": cores}, np.repeat(factors, 5) * 10 / cores)
    at = {"solver": np.array(labels, dtype=object), "cores": np.ones(len(labels))}
    assert model.predict(at) == pytest.approx(10 * factors)
    for label, factor in zip(labels, factors, strict=True):
        alone = {"solver": np.array([label], dtype=object), "cores": [1.0]}
        assert model.predict(alone) == pytest.approx([10 * factor])
