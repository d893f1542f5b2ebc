"""What a cost model charges for borders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

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
