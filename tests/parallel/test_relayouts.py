"""Layouts change in the middle of runs on several ranks, some of which own nothing for a while."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parallel import relayouts
from tests.parallel.everything import SCENES
from tests.parallel.ranks import run_ranks

ROOT = str(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="module")
def reference_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reference") / "results.npz"
    named = {f"{scene}/{name}": v for scene in SCENES for name, v in relayouts.run(scene, ()).items()}
    np.savez(path, **named)  # type: ignore[arg-type]  # stubs take them for options
    return path


@pytest.mark.slow
def test_results_are_those_of_one_rank_that_never_changed(reference_file: Path) -> None:
    output = run_ranks(
        4, Path(relayouts.__file__), str(reference_file), *SCENES, timeout_s=300, environment={"PYTHONPATH": ROOT}
    )
    lines = [line.split() for line in output.splitlines() if line.split()[:1] and line.split()[0] in SCENES]
    assert len(lines) == len(SCENES)
    # Rounding alone, as in `tests.parallel.test_same_fields`.
    assert max(float(difference) for _, difference in lines) < 1e-13, output
