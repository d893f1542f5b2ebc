"""On real ranks a cell with all its cost in a corner is balanced within two adjustments, its results unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.parallel import rebalances
from tests.parallel.ranks import run_ranks

ROOT = str(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="module")
def reference_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sim = rebalances.simulation()
    sim.run(until=rebalances.STEPS * sim.grid.dt, progress="off")
    path = tmp_path_factory.mktemp("reference") / "results.npz"
    np.savez(path, **rebalances.results(sim))  # type: ignore[arg-type]  # stubs take them for options
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4])
def test_a_serialised_cell_is_balanced_within_two_adjustments(ranks: int, reference_file: Path) -> None:
    output = run_ranks(
        ranks, Path(rebalances.__file__), str(reference_file), timeout_s=120, environment={"PYTHONPATH": ROOT}
    )
    told = json.loads(output.strip().splitlines()[-1])
    # Nearly all of the cost is on one rank at first. A layer of points is 2 to 4 % of what a rank then has: 1.045 is
    # the best there is for four, and 1.052 isn't left for it, the gain being less than the model's error.
    assert told["imbalances"][0] > 0.6 * ranks, told
    assert min(told["imbalances"][:3]) <= 1.055, told
    assert told["imbalances"][-1] <= 1.055, told
    assert sum(told["adjusted"]) <= 2, told
    assert told["wrong"] < 1e-13, told
    assert max(told["points"]) > 1.5 * min(told["points"])
