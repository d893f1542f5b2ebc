"""Increments that off-diagonal elements need are kept for whole rows where that costs less; fields stay the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.fdtd.stepping import chunk
from tests.fdtd.scenes import scene


def _fields(layout: Any) -> tuple[list[np.ndarray[Any, Any]], int]:
    """Return all fields after some steps, and how many points keep increments."""
    sim = fdtd.Simulation(
        cell=(1.6, 1.4, 2.4), resolution=12, geometry=scene(3), boundaries=[fdtd.PML(0.3, axis="z")],
        sources=[fdtd.Source(fdtd.GaussianPulse(0.8, 0.4), "Ex", (0.1, 0.0, 0.2))], layout=layout,
    )  # fmt: skip
    for _ in range(40):
        sim.step()
    kept = sum(box.volume for one in sim.chunks for boxes in one.increment_boxes.values() for box in boxes)
    return [sim.field(name) for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")], kept


@pytest.mark.parametrize("layout", [None, [("z", 0.1), 0, 1]])
def test_whole_rows_change_no_field(layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    widened, more = _fields(layout)
    monkeypatch.setattr(chunk, "WIDENED", -1)
    bare, fewer = _fields(layout)
    assert more > fewer > 0
    for one, other in zip(widened, bare, strict=True):
        assert np.array_equal(one, other)
    assert max(float(np.abs(one).max()) for one in bare) > 1e-6
