"""Published answers: the thesis' Gaussian pulse and the layouts of a climate model, from curves written out here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

from evenly.allocation.allocate import allocate
from evenly.allocation.problem.limits import Limits

Curve = Callable[[NDArray[np.int64]], Any]

CESM = "max(max(ice, lnd) + atm, ocn)"
CORES = 1024
_COUNTS = [32, 64, 128, 256, 512]
#: Cores and seconds per simulated day.
MEASURED: dict[str, tuple[list[int], list[float]]] = {
    "atm": (_COUNTS, [427.471, 223.332, 119.580, 66.182, 37.769]),
    "ocn": (_COUNTS, [15.745, 7.782, 4.383, 3.181, 2.651]),
    "lnd": (_COUNTS, [4.356, 2.191, 1.191, 0.705, 0.560]),
    "ice": ([32, 64, 160, 320, 640], [8.018, 4.921, 2.368, 1.557, 1.429]),
}


def _law(counts: list[int], seconds: list[float]) -> Curve:
    """a/n + b·n + k with a, b, k >= 0: the published form with exponent 1, least squares in seconds."""
    n = np.array(counts, dtype=np.float64)
    (a, b, k), _ = nnls(np.column_stack([1 / n, n, np.ones_like(n)]), np.array(seconds))
    return lambda cores: a / cores + b * cores + k


def _lines(counts: list[int], seconds: list[float]) -> Curve:
    """Lines between the points; one core by perfect scaling, all cores by the last interval's parallel fraction."""
    fraction = (1 - seconds[-1] / seconds[-2]) / (1 - counts[-2] / counts[-1])
    last = seconds[-1] * (1 - fraction + fraction * counts[-1] / CORES)
    x, y = [1, *counts, CORES], [counts[0] * seconds[0], *seconds, last]
    return lambda cores: np.interp(cores, x, y)


def test_power_laws_give_the_published_layout() -> None:
    curves = {name: _law(*points) for name, points in MEASURED.items()}
    plan = allocate(curves, CORES, layout=CESM)
    assert plan.cores == {"atm": 1006, "ocn": 18, "lnd": 117, "ice": 889}
    assert plan.seconds == pytest.approx(28.749, abs=5e-4)  # printed with three digits


def test_straight_lines_in_blocks_give_the_published_layout() -> None:
    curves = {name: _lines(*points) for name, points in MEASURED.items()}
    plan = allocate(curves, CORES, layout=CESM, limits=Limits(multiple=8))
    assert plan.cores == {"atm": 992, "ocn": 32, "lnd": 120, "ice": 872}
    assert plan.seconds == pytest.approx(23.943, abs=5e-4)


INNER = ([150, 170, 200, 250, 300, 330, 350], [453, 379, 305, 253, 269, 196, 176])
OUTER = ([74, 110, 136, 142, 148, 174, 210], [418, 281, 220, 229, 224, 186, 140])
TABLE_5_3 = {280: (190, 90), 336: (228, 108), 392: (266, 126), 448: (304, 144), 504: (342, 162), 560: (381, 179)}


def _power_law(counts: list[int], milliseconds: list[int]) -> tuple[Curve, float]:
    slope, offset = np.polyfit(np.log(counts), np.log(milliseconds), 1)
    return lambda cores: 1e-3 * np.exp(offset) * cores**slope, float(slope)


def test_gaussian_pulse_agrees_with_table_5_3() -> None:
    inner, slope_inner = _power_law(*INNER)
    outer, slope_outer = _power_law(*OUTER)
    assert slope_inner == pytest.approx(-0.971, abs=5e-4)
    assert slope_outer == pytest.approx(-1.004, abs=5e-4)
    for cores, (expected_inner, expected_outer) in TABLE_5_3.items():
        plan = allocate({"inner": inner, "outer": outer}, cores, layout="max(inner, outer)")
        assert abs(plan.cores["inner"] - expected_inner) <= 1
        assert abs(plan.cores["outer"] - expected_outer) <= 1
        assert plan.idle <= 1
