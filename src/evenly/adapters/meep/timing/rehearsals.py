"""Rehearsals of Meep: cells that evenly cut, and measured times of their ranks under MPI. They train forecasts.

All ranks run together, as in a real run, and their waiting is left out (see `ranks`). Between the simulation's steps,
each rank steps its own small vacuum cell, the pace. The pace converts times to the core speed at which the cost model
was measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evenly.adapters.meep.timing import simulation_builder
from evenly.adapters.meep.timing.random_cells import design_of
from evenly.adapters.meep.timing.ranks import MeepRun, cell_of_run, time_ranks
from evenly.adapters.meep.timing.worker import ReferenceWork
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.forecasting.features import shares_of, workload_of
from evenly.decomposition.forecasting.rehearsal import Rehearsal, Setting
from evenly.decomposition.partitioning.partition import partition
from evenly.fdtd.cell.grid import Grid
from evenly.processes import scratch_folder

__all__ = ["pace_of", "random_run", "rehearse", "rehearse_random"]


def rehearse(
    setting: Setting, run: MeepRun, cost: CostModel, *, python: Path | str | None = None, batch_s: float = 0.02
) -> Rehearsal:
    """Cut a cell and time all of its ranks.

    Parameters
    ----------
    setting : Setting
        The setting that the rehearsal is stored under. It has the number of ranks.
    run : MeepRun
        The simulation, for example from `random_run`.
    cost : CostModel
        The cost model of Meep.
    python : Path or str, optional
        Meep's own Python.
    batch_s : float
        The least CPU seconds of a batch of steps.

    Raises
    ------
    InputError
        If there is no Meep, no MPI, or no C compiler.
    RunFailed
        If the run fails.
    """
    cell = cell_of_run(run, python)
    plan = partition(cell, setting.ranks, cost)
    known = workload_of(cell, setting.ranks, cost, plan.layout)
    with scratch_folder() as folder:
        layout = plan.save(folder / "layout.json")
        times = time_ranks(run, setting.ranks, layout, beside_pace=True, python=python, batch_s=batch_s)
    assert times.paces is not None  # noqa: S101 - they were asked for
    seconds = times.seconds / times.paces * pace_of(cost)
    traits = {"points": float(cell.grid.box.volume), **shares_of(cell)}
    return Rehearsal(setting, traits, known.load, known.messages, seconds, np.arange(setting.ranks))


def rehearse_random(setting: Setting, cost: CostModel, *, python: Path | str | None = None) -> Rehearsal:
    """Cut a random cell and time all of its ranks, as `rehearse` does."""
    return rehearse(setting, random_run(setting), cost, python=python)


def random_run(setting: Setting) -> MeepRun:
    """Return the simulation of a random cell."""
    return MeepRun(Path(simulation_builder.__file__), "simulation", {"settings": design_of(setting.parameters)})


def pace_of(cost: CostModel) -> float:
    """Return the seconds that a step of the pace took when a cost model was measured.

    If the model does not hold this time, it is the model's prediction for the same cell.

    Examples
    --------
    >>> from evenly.decomposition.costs.cost_model import Coefficient
    >>> round(pace_of(CostModel("meep", {"points": Coefficient(1e-9)})) * 1e6, 3)    # 24³ points
    13.824
    """
    if np.isfinite(cost.pace_s):
        return cost.pace_s
    edge = ReferenceWork.SETTINGS["points"][0]
    empty = Survey.of_blocks([(0, edge)] * 3, (), np.zeros((1, 1, 1, 0)))
    cell = Cell("meep", Grid((float(edge),) * 3, 1), empty, layers_apart=("pml",))
    corners = np.zeros((1, 3), dtype=np.int64), np.full((1, 3), edge, dtype=np.int64)
    return float(cost.chunk_seconds(cell, *corners).sum())
