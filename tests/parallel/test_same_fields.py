"""The fields don't know how the cell was cut, over how many ranks and threads.

Every point's update is the same expression of the same numbers on any layout, so that fields are equal but for the
order in which layers' terms add up (rounding, 2^-53 per operation): with some hundred operations per value over a
hundred steps 1e-13 of the largest field is generous. Flux sums differ in order too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.parallel import everything
from tests.parallel.ranks import run_ranks

ROUND_OFF = 1e-13
SCENES = list(everything.SCENES)


@pytest.fixture(scope="module")
def references() -> dict[str, dict[str, NDArray[Any]]]:
    return {scene: everything.run(scene) for scene in SCENES}


@pytest.fixture(scope="module")
def reference_file(references: dict[str, dict[str, NDArray[Any]]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reference") / "fields.npz"
    named = {f"{s}.{name}": v for s, values in references.items() for name, v in values.items()}
    np.savez(path, **named)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize("scene", SCENES)
def test_something_happens_everywhere(scene: str, references: dict[str, dict[str, NDArray[Any]]]) -> None:
    fields = references[scene]
    assert all(np.isfinite(value).all() for value in fields.values())
    assert np.abs(fields["Ex"]).max() > 1e-4
    assert np.abs(fields["flux"]).min() > 0


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("number", range(1, 4))
def test_chunks_of_one_rank(scene: str, number: int, references: dict[str, dict[str, NDArray[Any]]]) -> None:
    layout = everything.layouts(everything.SCENES[scene]["cell"])[number]
    assert everything.worst(everything.run(scene, layout), references[scene]) < ROUND_OFF


@pytest.mark.parametrize("scene", SCENES)
def test_threads(scene: str, references: dict[str, dict[str, NDArray[Any]]]) -> None:
    assert everything.worst(everything.run(scene, threads=3), references[scene]) < ROUND_OFF


@pytest.mark.parametrize("scene", SCENES)
def test_separate_sweeps(scene: str, references: dict[str, dict[str, NDArray[Any]]]) -> None:
    assert everything.worst(everything.run(scene, fused=False), references[scene]) < ROUND_OFF


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_ranks(ranks: int, reference_file: Path) -> None:
    output = run_ranks(ranks, Path(everything.__file__), str(reference_file), *SCENES, timeout_s=300)
    lines = [line.split() for line in output.splitlines() if line.split()[:1] and line.split()[0] in SCENES]
    assert len(lines) == len(SCENES) * 4
    assert max(float(difference) for _, _, difference in lines) < ROUND_OFF, output
