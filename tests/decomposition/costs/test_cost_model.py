"""What a cost model charges for borders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenly.decomposition.costs.cost_model import CostModel
from tests.decomposition.planted import cell, cost, planted


def test_numbers_of_single_precision_cost_half_on_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with planted(monkeypatch):
        model = replace(cost(points=1e-9), bytes_per_s=1e9)
        double = cell((8, 8, 8))
        single = replace(double, traits={**double.traits, "float bytes": 4.0})
        faces, alone = np.array([100.0]), np.array([0.0])
        # Per face two numbers go each way: 2 * 8 * 2 bytes in double precision, half of it in single.
        assert model.border_seconds(double, faces, alone) == pytest.approx([100 * 32 / 1e9 * double.parts])
        assert model.border_seconds(single, faces, alone) == pytest.approx([100 * 16 / 1e9 * double.parts])


def test_far_beyond_the_calibration_is_said() -> None:
    cost = CostModel("fdtd", {}, measured=({"seconds": 0.002}, {"seconds": 0.01}))
    assert cost.extrapolation(0.03) == ""
    assert "7 times as long" in cost.extrapolation(0.07)
    assert CostModel("fdtd", {}).extrapolation(1e9) == ""  # nothing is known of what was measured
