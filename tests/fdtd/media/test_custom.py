from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.geometry import ArrayMaterial, Block, FunctionMaterial, Material, Sphere
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.media.structure import Structure
from evenly.fdtd.simulation import Simulation

GRID = Grid((2, 1, 1), 10)


def inverse(material: Material, axis: int = 2) -> Any:
    return Structure(GRID, material=material).sample(GRID.box).electric.inverse[axis]


def test_functions_and_arrays_give_the_same_medium() -> None:
    ramp = ArrayMaterial(np.linspace(1, 5, 41).reshape(-1, 1, 1), size=(41 * 0.05, 0, 0))
    assert np.allclose(inverse(ramp), inverse(lambda x, y, z: 3 + 2 * x), rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_function_is_read_at_each_components_own_position(axis: int) -> None:
    got = inverse(lambda x, y, z: 6 + x + 2 * y + 3 * z, axis)
    x, y, z = GRID.points(("Ex", "Ey", "Ez")[axis], GRID.box)
    assert np.allclose(got, 1 / (6 + x + 2 * y + 3 * z), rtol=1e-14)


def test_an_index_is_squared_and_functions_of_single_numbers_work() -> None:
    def step(x: float, y: float, z: float) -> float:
        return 1.5 if x < 0 else 2.0

    values = inverse(FunctionMaterial(step, quantity="index"), 1)
    assert np.unique(values).tolist() == [0.25, 1 / 2.25]


def test_an_interface_with_a_graded_medium_is_averaged() -> None:
    grid = Grid((0, 0, 2), 10)
    film = Block(size=(9, 9, 1.05), material=lambda x, y, z: 3 + z)
    values = np.asarray(Structure(grid, [film]).sample(grid.box).electric.inverse[0])[0, 0]
    # Node 15 at z = 0.5: three quarters of its box lie in the film, whose ε is taken at the node.
    assert values[15] == pytest.approx(1 / (0.75 * 3.5 + 0.25), rel=1e-9)


def test_a_data_set_is_read_in_parts(tmp_path: Path) -> None:
    import h5py

    values = 1 + np.random.default_rng(0).random((20, 10, 10))
    with h5py.File(tmp_path / "cell.h5", "w") as file:
        file["eps"] = values
    stored = ArrayMaterial(tmp_path / "cell.h5", size=(2, 1, 1), dataset="eps")
    held = ArrayMaterial(values, size=(2, 1, 1))
    assert np.array_equal(inverse(stored), inverse(held))
    part = Box((3, 2, 1), (9, 8, 7))
    piece = Structure(GRID, material=stored).sample(part).electric.inverse[0]
    assert np.array_equal(piece, np.asarray(inverse(held, 0))[part.slices((0, 0, 0))])


def test_only_the_part_asked_for_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[slice, ...]] = []

    def read(self: ArrayMaterial, part: tuple[slice, ...]) -> Any:
        asked.append(part)
        return self.values[part]

    material = ArrayMaterial(np.full((40, 20, 20), 2.0), size=(4, 2, 2))
    monkeypatch.setattr(ArrayMaterial, "_read_part", read)
    material.epsilon(np.array([[[-1.55]], [[-1.45]]]), np.array([[[0.0]]]), np.array([[[0.0]]]))
    assert [s.stop - s.start for s in asked[0]] == [3, 2, 2]


def test_missing_files_and_data_sets_are_told_apart(tmp_path: Path) -> None:
    import h5py

    with pytest.raises(ReadError, match="can't be read as an HDF5 file"):
        ArrayMaterial(tmp_path / "none.h5", size=(1, 1, 1))
    with h5py.File(tmp_path / "cell.h5", "w") as file:
        file["eps"] = np.ones((2, 2, 2))
    with pytest.raises(ReadError, match=r"no data set 'epsilon' \(it holds: eps\)"):
        ArrayMaterial(tmp_path / "cell.h5", size=(1, 1, 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ArrayMaterial(np.ones((2, 2)), size=(1, 1, 1)), "three axes"),
        (lambda: ArrayMaterial(np.ones((2, 2, 2)), size=(-1, 1, 1)), "`size` of an ArrayMaterial must not be negative"),
        (lambda: FunctionMaterial(cast("Any", 3)), "`function` of a FunctionMaterial must be callable"),
        (lambda: FunctionMaterial(abs, quantity=cast("Any", "eps")), "`quantity`"),
        (lambda: FunctionMaterial(abs, smallest=0.0), "`smallest`"),
        (lambda: inverse(FunctionMaterial(lambda x, y, z: 0.5, name="gap")), "FunctionMaterial 'gap'.*at least.*= 1"),
        (
            lambda: inverse(FunctionMaterial(lambda x, y, z: 0.5, smallest=0.5)),
            "at most 0.4082 for the medium of the b",
        ),
    ],
)
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_custom_material_stays_non_magnetic_beside_a_magnetic_one() -> None:
    ball = Sphere(radius=0.3, material=Medium(mu=2))
    sample = Structure(GRID, [ball], lambda x, y, z: 2.0).sample(Box((0, 0, 0), (3, 3, 3)))
    assert sample.magnetic.inverse == (1.0, 1.0, 1.0)
    assert sample.electric.inverse == (0.5, 0.5, 0.5)


def test_a_function_may_fill_the_whole_cell() -> None:
    sim = Simulation(cell=(2, 1, 1), resolution=10, material=lambda x, y, z: 3 + x)
    assert np.allclose(sim.structure.sample(GRID.box).electric.inverse[2], inverse(lambda x, y, z: 3 + x))
