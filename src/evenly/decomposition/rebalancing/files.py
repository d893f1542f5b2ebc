"""Rebalancing between runs, from the measurement files of earlier runs (`Simulation.measurement`)."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.rebalancing.cost_balancer import CostBalancer
from evenly.decomposition.rebalancing.decision import Decision
from evenly.decomposition.rebalancing.simulation_interface import timings_of
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.measurement.measurement import Measurement

__all__ = ["decide_from", "latest_of"]


def decide_from(
    runs: Sequence[Measurement],
    cell: Cell,
    cost: CostModel,
    *,
    steps_left: float = math.inf,
    rebuild_s: float = math.nan,
) -> Decision:
    """Return whether the next run should use another layout than the last measured run, which one, and why.

    Parameters
    ----------
    runs : sequence of Measurement
        Runs of one cell with the same number of ranks. Consecutive runs on one layout are repetitions and give the
        noise. Runs on several layouts tell slow ranks from costly regions. If a layout returns after another one, the
        ranks' speeds may have changed in between, so its earlier runs count less.
    cell : Cell
        The cell of the runs.
    cost : CostModel
    steps_left : float
        Steps of the next run, within which a change must pay; infinite where not known.
    rebuild_s : float
        Seconds that a change of layout takes; nan where it takes none or isn't known.

    Raises
    ------
    InputError
        If the runs are of another cell, have different numbers of ranks, or hold no layout.
    """
    if not runs:
        raise InputError("Rebalancing needs a measurement of a run, but got none.")
    for run in runs:
        _check(run, runs[0], cell)
    balancer = CostBalancer(cost, cell)
    measured = [(BinaryPartition(same[0].layout), timings_of(same)) for same in _in_a_row(runs)]
    for layout, timings in measured[:-1]:
        balancer.observe(timings, layout)
    layout, timings = measured[-1]
    return balancer.decide(timings, layout, steps_left=steps_left, rebuild_s=rebuild_s)


def latest_of(runs: Sequence[Measurement]) -> list[Measurement]:
    """Return the latest runs on one layout: the last run and those directly before it on the same layout."""
    return _in_a_row(runs)[-1]


def _in_a_row(runs: Sequence[Measurement]) -> list[list[Measurement]]:
    """Return the runs in time order, with consecutive runs on one layout grouped."""
    in_time = sorted(runs, key=lambda run: run.when)
    return [list(same) for _, same in itertools.groupby(in_time, key=lambda run: json.dumps(run.layout))]


def _check(run: Measurement, first: Measurement, cell: Cell) -> None:
    if run.layout is None:
        raise InputError(f"The measurement of {run.name!r} holds no layout: measure with this version of evenly.")
    if run.size != first.size:
        raise InputError(
            f"All runs must have as many ranks, but {run.name!r} has {run.size} and {first.name!r} {first.size}."
        )
    if tuple(run.shape) != cell.grid.shape:
        there, here = (" × ".join(map(str, shape)) for shape in (run.shape, cell.grid.shape))
        raise InputError(
            f"{run.name!r} was measured with {there} points, but the cell has {here}: give the program the parameters "
            "of the run."
        )
