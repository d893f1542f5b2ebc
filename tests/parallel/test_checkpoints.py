"""A run that is saved on some ranks and goes on on others ends as if it had never stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parallel import checkpoints
from tests.parallel.everything import SCENES, layouts
from tests.parallel.ranks import run_ranks

SCRIPT = Path(checkpoints.__file__)
ROOT = str(Path(__file__).resolve().parents[2])


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "before", "after"), [("real", 1, 3), ("bloch", 4, 2)])
def test_other_ranks_go_on_to_the_last_bit(scene: str, before: int, after: int, tmp_path: Path) -> None:
    number = 1
    whole = checkpoints.simulation(scene, layouts(SCENES[scene]["cell"])[number])
    checkpoints.steps(whole, checkpoints.WHOLE)
    reference, folder = tmp_path / "reference.npz", str(tmp_path / "state")
    np.savez(reference, **checkpoints.results(whole))  # type: ignore[arg-type]  # stubs take them for options
    paths = {"PYTHONPATH": ROOT}
    run_ranks(before, SCRIPT, "save", folder, scene, str(number), environment=paths)
    output = run_ranks(after, SCRIPT, "load", folder, scene, str(number), str(reference), environment=paths)
    assert output.strip().endswith(f"{{'scene': '{scene}'}} []")
