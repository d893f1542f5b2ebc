"""With mirror symmetries, all that can be read is what the whole cell without them gives.

Updates of a point and of its image are the same expression of the same numbers up to signs, so that fields of uniform
media are equal to the last bit. Averages at interfaces are computed from coordinates, whose round-off (1e-16) differs
between a point and its image; normals of curved surfaces and limits on off-diagonal elements make 1e-13 of it. Over 50
steps, and in sums in which values cancel, 1e-10 of the largest value is generous; a wrong sign is an error of order 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.fdtd.running.decays import _norms
from tests.parallel import mirrors
from tests.parallel.ranks import run_ranks

ROUND_OFF = 1e-10
SCENES = list(mirrors.SCENES)


@pytest.fixture(scope="module")
def references() -> dict[str, dict[str, Any]]:
    return {scene: mirrors.results(mirrors.simulation(scene, symmetric=False)) for scene in SCENES}


@pytest.mark.parametrize("scene", SCENES)
def test_one_chunk(scene: str, references: dict[str, dict[str, Any]]) -> None:
    sim = mirrors.simulation(scene)
    assert sim.layers.kept.volume < 0.6 * sim.grid.box.volume
    assert sum(chunk.box.volume for chunk in sim.chunks) == sim.layers.kept.volume
    assert mirrors.worst(mirrors.results(sim), references[scene]) < ROUND_OFF
    assert np.abs(references[scene]["flux"]).max() > 0


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("number", [1, 2])
def test_several_chunks(scene: str, number: int, references: dict[str, dict[str, Any]]) -> None:
    sim = mirrors.simulation(scene, layout=mirrors.layouts(scene)[number])
    assert mirrors.worst(mirrors.results(sim), references[scene]) < ROUND_OFF


@pytest.mark.parametrize("scene", ["lattice", "crystal", "eighth"])
@pytest.mark.parametrize("options", [{"threads": 3}, {"fused": False}])
def test_threads_and_separate_sweeps(
    scene: str, options: dict[str, Any], references: dict[str, dict[str, Any]]
) -> None:
    assert mirrors.worst(mirrors.results(mirrors.simulation(scene, **options)), references[scene]) < ROUND_OFF


def test_norms_that_runs_wait_for_hold_the_latest_samples() -> None:
    whole, kept = (mirrors.simulation("lattice", symmetric=symmetric) for symmetric in (False, True))
    for sim in (whole, kept):
        sim.add(fdtd.DftFields(["Ez"], (0, 0, 0), (1, 1, 0), [0.8], every=1))
        sim.run(until=53 * sim.grid.dt, progress="off")
    assert _norms(kept)[0] == pytest.approx(_norms(whole)[0], rel=1e-12)


@pytest.mark.parametrize("scene", SCENES)
def test_files_hold_the_whole_cell(scene: str, tmp_path: Path) -> None:
    expected = mirrors.written(mirrors.simulation(scene, symmetric=False), tmp_path / "whole.h5")
    sim = mirrors.simulation(scene, layout=mirrors.layouts(scene)[1])
    assert mirrors.worst(mirrors.written(sim, tmp_path / "kept.h5"), expected) < ROUND_OFF


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks(ranks: int, references: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "whole.npz"
    named: dict[str, Any] = {f"{s}:{name}": v for s, values in references.items() for name, v in values.items()}
    np.savez(path, **named)
    output = run_ranks(ranks, Path(mirrors.__file__), str(path), *SCENES, timeout_s=300)
    names = {scene.replace(" ", "_") for scene in SCENES}
    lines = [line.split() for line in output.splitlines() if line.split()[:1] and line.split()[0] in names]
    assert len(lines) == 4 * len(SCENES)
    assert max(float(difference) for _, _, difference in lines) < ROUND_OFF, output
