"""Real ranks of Meep: their times, their chunks, layouts of evenly, and what can be missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenly.adapters.meep.timing.mpi_waiting import build_waiting
from evenly.adapters.meep.timing.ranks import MeepRun, cell_of_run, time_ranks
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.partitioning.partition import partition
from evenly.errors import InputError, RunFailed

STRUCTURES = Path(__file__).parents[1] / "structures.py"
TINY = MeepRun(STRUCTURES, "tandem", {"resolution": 20, "frequencies": 2})


def test_ranks_take_time_and_their_chunks_fill_the_cell(meep_python: Path) -> None:
    cell = cell_of_run(TINY, meep_python)
    times = time_ranks(TINY, 2, "even", python=meep_python, batches=2, batch_s=0.002)
    points = np.prod(times.high - times.low, axis=1)
    assert points.sum() == np.prod(cell.grid.shape)
    # Even halves differ by what cuts between whole points leave.
    assert np.ptp(np.bincount(times.owners, points)) <= points.sum() / min(cell.grid.shape)
    assert times.seconds.shape == times.waiting.shape == times.meep_cost.shape == (2,)
    assert np.all(times.seconds > 0)
    # Whoever has less to do waits, so not both wait for nothing.
    assert times.waiting.max() > 0


def test_a_layout_of_evenly_is_what_the_ranks_get(meep_python: Path, tmp_path: Path) -> None:
    cell = cell_of_run(TINY, meep_python)
    heavy = CostModel("meep", {"points": Coefficient(1e-9), "poles driven": Coefficient(1e-8)}, share_error=0.0)
    plan = partition(cell, 3, heavy)
    times = time_ranks(TINY, 3, plan.save(tmp_path / "layout.json"), python=meep_python, batches=1, batch_s=0.001)
    wanted = np.array([box.volume for box in plan.layout.boxes(cell.grid)])
    found = np.bincount(times.owners, np.prod(times.high - times.low, axis=1))
    assert found.tolist() == wanted[np.argsort(plan.layout.owners)].tolist()


def test_one_process_steps_the_chunks_of_all(meep_python: Path) -> None:
    times = time_ranks(TINY, 4, "even", one_process=True, python=meep_python, batches=1, batch_s=0.001)
    assert times.seconds.shape == (1,)
    assert len(times.low) >= 4
    assert times.waiting.tolist() == [0.0]
    assert times.pace is not None
    assert times.pace > 0


def test_a_run_that_fails_is_quoted(meep_python: Path) -> None:
    with pytest.raises(RunFailed, match="no_such_option"):
        time_ranks(MeepRun(STRUCTURES, "tandem", {"no_such_option": 1}), 2, "even", python=meep_python)


def test_no_compiler_is_said_with_what_to_do(
    meep_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="C compiler"):
        build_waiting(tmp_path, meep_python)
