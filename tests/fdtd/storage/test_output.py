"""HDF5 output of one process: what is in the file, where its points are, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from evenly.errors import InputError, MissingExtraError
from evenly.fdtd import Bloch, Block, Box, GaussianPulse, Medium, Options, Simulation, Source
from evenly.fdtd.storage.output import output_bytes
from evenly.fdtd.storage.output_places import check_writable

SOURCE = Source(GaussianPulse(frequency=1.0, fwidth=0.8), "Ez", center=(0.1, 0.0, 0.0))
GLASS = Block(size=(0.8, 0.63, 1), center=(0.2, 0.1, 0), material=Medium(epsilon=(2, 3, 4)))


def ran(**keywords: Any) -> Simulation:
    sim = Simulation(**{"cell": (2, 1.6, 1.2), "resolution": 10, "geometry": [GLASS], "sources": [SOURCE], **keywords})
    for _ in range(12):
        sim.step()
    return sim


def test_fields_and_what_is_said_about_them(tmp_path: Path) -> None:
    sim = ran()
    path = sim.write(tmp_path / "new" / "fields", ["Ez", "Hx"])
    assert path == tmp_path / "new" / "fields.h5"
    with h5py.File(path) as file:
        for name in ("Ez", "Hx"):
            np.testing.assert_array_equal(file[name][:], sim.field(name))
        about = dict(file.attrs)
        assert about["step"] == 12
        assert about["resolution"] == 10
        assert file["Ez"].attrs["time"] == pytest.approx(sim.time)
        assert file["Hx"].attrs["time"] == pytest.approx(sim.time + sim.grid.dt / 2)
        for axis in range(3):
            at = file["Hx"].dims[axis]["xyz"[axis]][:]
            np.testing.assert_allclose(at, sim.grid.coordinates("Hx", axis, 0, sim.grid.shape[axis]), atol=1e-14)
    assert [p.name for p in path.parent.iterdir()] == ["fields.h5"]
    assert sim.timer.seconds("output") > 0


def test_a_region_by_points_or_by_place(tmp_path: Path) -> None:
    sim = ran()
    box = Box((3, 4, 5), (9, 12, 6))
    whole = sim.field("Ey")
    by_points = sim.write(tmp_path / "a.h5", ["Ey"], region=box)
    by_place = sim.write(tmp_path / "b.h5", ["Ey"], region=((-0.4, 0.0, -0.05), (0.6, 0.8, 0.1)))
    for path in (by_points, by_place):
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["Ey"][:], whole[3:9, 4:12, 5:6])
            assert tuple(file.attrs["first"]) == box.lo


def test_media_before_the_first_step_allocate_nothing(tmp_path: Path) -> None:
    sim = Simulation(cell=(2, 1.6, 1.2), resolution=10, geometry=[GLASS])
    path = sim.write(tmp_path / "media.h5", ["epsilon", "epsilon_y", "mu"])
    inverse = sim.structure.sample(sim.grid.box).electric.inverse
    with h5py.File(path) as file:
        np.testing.assert_allclose(file["epsilon_y"][:], 1 / np.asarray(inverse[1]))
        np.testing.assert_allclose(file["epsilon"][:], 3 / sum(np.asarray(v) for v in inverse))
        assert np.all(file["mu"][:] == 1)
        assert set(np.unique(file["epsilon_y"][:].round(9))) >= {1.0, 3.0}
    assert "chunks" not in vars(sim)


def test_averages_at_nodes_are_those_of_neighbours(tmp_path: Path) -> None:
    """A wave along z of a thin cell: E at whole indices already, H halfway, its mirror image behind the wall."""
    sim = Simulation(
        cell=(0, 0, 3), resolution=20, sources=[Source(GaussianPulse(1.0, fwidth=0.8), "Ex", center=(0, 0, 0.3))]
    )
    sim.run(until=2.0)
    path = sim.write(tmp_path / "nodes.h5", ["Ex", "Hy"], average="nodes")
    e, h = sim.field("Ex")[0, 0], sim.field("Hy")[0, 0]
    expected = np.concatenate([h[:1], (h[1:] + h[:-1]) / 2])
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["Ex"][0, 0], e)
        np.testing.assert_allclose(file["Hy"][0, 0], expected, rtol=1e-12)
        assert tuple(file["Hy"].attrs["offset"]) == (0, 0, 0)
    assert np.abs(h).max() > 1e-3


def test_averages_on_a_bloch_cell_wrap_with_their_phase_and_leave_the_fields_alone(tmp_path: Path) -> None:
    boundaries = [Bloch("xyz", k=(0.2, 0.1, 0.3))]
    sim, twin = ran(boundaries=boundaries), ran(boundaries=boundaries)
    path = sim.write(tmp_path / "nodes.h5", ["Ex"], average="nodes")
    field = sim.field("Ex")
    below = np.roll(field, 1, axis=0)
    below[0] *= np.conj(sim.layers.phases[0] or 1.0)
    with h5py.File(path) as file:
        assert file["Ex"].dtype == np.complex128
        np.testing.assert_allclose(file["Ex"][:], (field + below) / 2, atol=1e-15)
    for one in (sim, twin):
        one.run(until=one.time + 1.0)
    np.testing.assert_array_equal(sim.field("Hy"), twin.field("Hy"))


def test_single_precision_stays_single(tmp_path: Path) -> None:
    sim = ran(options=Options(precision="float32"))
    with h5py.File(sim.write(tmp_path / "a.h5", ["Ex"])) as file:
        assert file["Ex"].dtype == np.float32
    assert output_bytes(sim, ["Ex"]) == 4 * sim.grid.box.volume


def test_an_existing_file_is_replaced_or_kept_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "fields.h5"
    path.write_text("mine")
    sim = ran()
    with pytest.raises(InputError, match=r"fields.h5 exists already: give another name"):
        sim.write(path, ["Ez"], existing="error")
    assert path.read_text() == "mine"
    sim.write(path, ["Ez"])
    with h5py.File(path) as file:
        assert list(file) == ["Ez", "x", "y", "z_half"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"components": ["Ez", "Bz"]}, "A component to write is one of Ex, .*, mu_z, but got 'Bz'"),
        ({"components": []}, "but got none"),
        ({"region": Box((0, 0, 0), (99, 1, 1))}, r"lie in the cell, \(0, 0, 0\) to \(20, 16, 12\)"),
        ({"region": ((3, 0, 0), (1, 1, 1))}, "A region to write must hold points and lie in the cell"),
        ({"region": 3}, r"`region` must be a Box or \(center, size\), but got 3"),
        ({"average": "yes"}, '`average` must be "nodes" or None'),
    ],
)
def test_what_can_not_be_written_is_refused(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    sim = Simulation(cell=(2, 1.6, 1.2), resolution=10)
    with pytest.raises(InputError, match=message):
        sim.write(tmp_path / "a.h5", **{"components": ["Ez"], **arguments})
    assert not list(tmp_path.iterdir())


def test_places_that_can_not_be_written_are_told_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must not be a folder"):
        check_writable(tmp_path)
    with pytest.raises(InputError, match=r"needs 1e\+09 GB, but only .* are free in .*: write fewer components"):
        check_writable(tmp_path / "new" / "fields.h5", 1e18)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"its folder .*file allows no new file \(Not a directory\)"):
        check_writable(tmp_path / "file" / "fields.h5")
    with pytest.raises(InputError, match="allows no new file"):
        check_writable("/proc/fields.h5")
    check_writable(tmp_path / "new" / "fields.h5", 1000)
    assert not (tmp_path / "new").exists()


def test_without_h5py_the_command_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evenly\[hdf5\]'"):
        Simulation(cell=(1, 1, 1), resolution=5).write(tmp_path / "a.h5")
