"""From measured run times to a core assignment, through the public face alone."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly import examples
from evenly.allocation.problem.limits import Limits

# Assignments that reach a little beyond the measured counts are told so; the tests ask for them on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")

#: Seconds per simulated day of CESM's components on a 1-degree grid, by cores.
CESM = {
    "atm": {32: 427.471, 64: 223.332, 128: 119.580, 256: 66.182, 512: 37.769},
    "ocn": {32: 15.745, 64: 7.782, 128: 4.383, 256: 3.181, 512: 2.651},
    "lnd": {32: 4.356, 64: 2.191, 128: 1.191, 256: 0.705, 512: 0.560},
    "ice": {32: 8.018, 64: 4.921, 160: 2.368, 320: 1.557, 640: 1.429},
}
LAYOUT = "max(max(ice, lnd) + atm, ocn)"
TABLE_5_3 = {280: (190, 90), 336: (228, 108), 392: (266, 126), 448: (304, 144), 504: (342, 162), 560: (381, 179)}


def cesm_runs() -> dict[str, evenly.Runs]:
    tables = {
        name: pd.DataFrame({"cores": list(points), "seconds": list(points.values())}) for name, points in CESM.items()
    }
    return {name: evenly.Runs.from_frame(table, ["cores"]) for name, table in tables.items()}


def test_power_laws_with_offset_give_the_published_layout() -> None:
    models = evenly.fit(cesm_runs(), method="offset-power-law")
    plan = evenly.allocate(models, cores=1024, layout=LAYOUT)
    assert plan.cores == {"atm": 1006, "ocn": 18, "lnd": 117, "ice": 889}
    assert plan.seconds == pytest.approx(28.749, abs=5e-4)


def test_piecewise_linear_curves_give_the_published_layout() -> None:
    models = evenly.fit(cesm_runs(), method="piecewise-linear", asked={"cores": (8, 1024)})
    plan = evenly.allocate(models, cores=1024, layout=LAYOUT, limits=Limits(multiple=8))
    assert plan.cores == {"atm": 992, "ocn": 32, "lnd": 120, "ice": 872}
    assert plan.seconds == pytest.approx(23.943, abs=5e-4)


@pytest.mark.parametrize("method", ["pmnf", "power-law"])
def test_the_shipped_example_gives_the_thesis_assignments(tmp_path: Path, method: str) -> None:
    runs = evenly.read(examples.copy("gaussian-pulse", tmp_path))
    models = evenly.fit(runs, method=method)
    assert isinstance(models, dict)
    for total, (inner, outer) in TABLE_5_3.items():
        plan = evenly.allocate(models, cores=total, layout="max(inner, outer)")
        assert abs(plan.cores["inner"] - inner) <= 2
        assert abs(plan.cores["outer"] - outer) <= 2
        assert plan.interval is not None
        assert plan.interval[0] < plan.seconds < plan.interval[1]


def test_profiles_with_known_truth_give_the_best_split(samples: Path) -> None:
    """Inner takes 80/p + 2 log2 p + 4 ms, Outer 40/p + log2 p + 3 ms, 10 % · (p - 1)/p more on the slowest rank."""
    runs = evenly.read(samples / "precice-v3" / "parallel-explicit")
    assert isinstance(runs, dict)
    plan = evenly.allocate(evenly.fit(runs), cores=12)

    def truth(name: str, p: int) -> float:
        work = {"Inner": 80 / p + 2 * np.log2(p) + 4, "Outer": 40 / p + np.log2(p) + 3}[name]
        return float(1e-3 * work * (1 + 0.1 * (p - 1) / p))

    splits = [(a, b) for a, b in itertools.product(range(1, 12), repeat=2) if a + b <= 12]
    best = min(max(truth("Inner", a), truth("Outer", b)) for a, b in splits)
    assert max(truth(name, count) for name, count in plan.cores.items()) <= 1.05 * best
