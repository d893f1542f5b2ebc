"""Cells with mirror symmetries: what is surveyed, cut and predicted is the part that is stepped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly
from evenly import fdtd
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.errors import InputError

METAL = fdtd.Medium(epsilon=2, electric_poles=[fdtd.DrudePole(0.9, 0.1)])
MONITOR = fdtd.Flux((0.1, 0, 0), (1.4, 1, 1), [0.8, 1.1])


def _sim(symmetries: Any, layout: Any = None, resolution: float = 10) -> fdtd.Simulation:
    return fdtd.Simulation(
        cell=(4, 3, 2),
        resolution=resolution,
        geometry=[fdtd.Sphere(radius=0.6, material=METAL), fdtd.Block(size=(2, 1, 0.3), material=METAL)],
        sources=[fdtd.Source(fdtd.GaussianPulse(1.0, fwidth=0.5), "Ez", center=(0, 0, 0))],
        boundaries=[fdtd.PML(0.5, "x"), fdtd.Periodic("y"), fdtd.Absorber(0.3, "z")],
        symmetries=symmetries,
        layout=layout,
    )


ALL = [fdtd.Mirror("x"), fdtd.Mirror("y"), fdtd.Mirror("z", phase=-1)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_survey_counts_what_chunks_hold(count: int, tmp_path: Path) -> None:
    sim = _sim(ALL[:count])
    cell = cell_of(sim, [MONITOR])
    assert cell.grid.shape == sim.layers.kept.shape
    assert cell.pml[0] == (0, 5)
    assert cell.absorber[2] == ((0, 3) if count == 3 else (3, 3))
    assert cell.periodic == (False, count < 2, False)
    counts = sim.counts([MONITOR])
    totals = cell.survey.totals
    assert totals["dielectric"] == counts.dielectric
    assert totals["interface"] == counts.interface
    assert totals["pole Drude 0.9 (0.1)"] == sum(counts.electric_poles.values())
    values = sum(np.prod(np.subtract(t.high, t.low)) * t.values for t in cell.transforms)
    assert values * MONITOR.sampling(sim) == pytest.approx(counts.fourier)
    assert all(min(t.low) >= 0 and np.all(np.array(t.high) <= cell.grid.shape) for t in cell.transforms)
    cell.save(tmp_path / "cell.npz")
    again = Cell.load(tmp_path / "cell.npz")
    assert again.grid == cell.grid
    assert again.grid.origin == pytest.approx(
        [o + n / 10 for o, n in zip((-2, -1.5, -1), sim.layers.kept.lo, strict=True)]
    )


def test_a_survey_by_objects_counts_about_the_same() -> None:
    sim = _sim(ALL)
    exact, rough = cell_of(sim), cell_of(sim, points=1)
    assert rough.survey.shape == exact.survey.shape == rough.grid.shape
    for kind in ("dielectric", "pole Drude 0.9 (0.1)"):
        assert rough.survey.totals[kind] == pytest.approx(exact.survey.totals[kind], rel=0.1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_plan_fits_the_simulation_that_it_was_made_for(count: int, tmp_path: Path) -> None:
    sim = _sim(ALL[:count])
    plan = evenly.partition(sim, ranks=4)
    boxes = [box.shift(sim.layers.kept.lo) for box in plan.layout.boxes(plan.cell.grid)]
    assert _sim(ALL[:count], plan.layout).layout.boxes(sim.grid, sim.layers.kept) == boxes
    saved = fdtd.BinaryPartition.load(plan.save(tmp_path / "layout.json"))
    cut = _sim(ALL[:count], saved)
    assert sum(box.box.volume for box in cut.boxes_on(4)) == sim.layers.kept.volume
    assert {box.owner for box in cut.boxes_on(4)} == {0, 1, 2, 3}
    # The layout knows that it isn't one of the whole cell.
    with pytest.raises(InputError, match="was made for a cell of"):
        _sim([], saved)


def test_a_quarter_costs_about_a_quarter() -> None:
    whole, quarter = (cell_of(_sim(symmetries, resolution=30)) for symmetries in ([], ALL[::2]))
    one, other = (evenly.partition(cell, ranks=1).prediction.step_s for cell in (whole, quarter))
    # A cell that fits into the caches costs less per point.
    assert 0.12 < other / one < 0.35
