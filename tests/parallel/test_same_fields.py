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


# Sources and monitors lie across the borders of ranks; the shares of two monitors are full at different steps.
STEPS_AT_ONCE = """
    import sys
    import numpy as np
    from evenly import fdtd
    from evenly.fdtd.ranks import requests

    if sys.argv[1:] == ["Python"]:  # as where MPI's functions can't be found
        requests._functions = lambda: ()

    def made(geometry):
        sources = [
            fdtd.Source(fdtd.GaussianPulse(1.0, fwidth=0.8), "Ez", center=(0, 0, 0), size=(1, 0, 0)),
            fdtd.Source(fdtd.CustomPulse(lambda t: np.sin(3 * t), end=4.0), "Hx", center=(0.2, 0.1, 0)),
        ]
        sim = fdtd.Simulation(
            cell=(2, 1.6, 1.2), resolution=10, sources=sources, geometry=geometry,
            boundaries=[fdtd.PML(0.3, "x"), fdtd.Periodic("y")],
        )
        for _ in range(3):
            sim.step()
        monitors = [
            sim.add(fdtd.Flux(center=(0, 0, 0.05), size=(1, 1, 0), frequencies=[0.8, 1.1], every=every))
            for every in (1, 3)
        ]
        return sim, [*monitors, sim.add(fdtd.FieldRecorder("Hy", (0.03, 0.04, 0)))]

    pole = fdtd.Medium(epsilon=2, electric_poles=[fdtd.LorentzPole(0.5, 0.05, 1.0)])
    for geometry in ([], [fdtd.Sphere(radius=0.4, material=pole)]):
        (together, many), (one_by_one, few) = made(geometry), made(geometry)
        together.run(until=150 * together.grid.dt)
        while one_by_one.step_count < together.step_count:
            one_by_one.step()
        assert together.stepper.free_steps(70) > 1, "several steps at once"
        for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz"):
            assert np.abs(together.field(name)).max() > 1e-6, name
            np.testing.assert_array_equal(together.field(name), one_by_one.field(name))
        for one, other in zip(many[:2], few[:2]):
            np.testing.assert_array_equal(one.flux(), other.flux())
        np.testing.assert_array_equal(many[2].values(), few[2].values())
    print("alike", flush=True)
"""


@pytest.mark.parametrize("sent_by", ["compiled code", "Python"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_run_on_ranks_is_bit_for_bit_what_single_steps_make(ranks: int, sent_by: str) -> None:
    assert run_ranks(ranks, STEPS_AT_ONCE, sent_by, timeout_s=300).count("alike") == ranks
