"""HDF5 output of several ranks: parts that read as one array, wherever they are moved, and failures told by all."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from tests.parallel.ranks import run_ranks, start_ranks

BUILD = """
import sys
import numpy as np
from evenly.fdtd import BinaryPartition, Block, Bloch, GaussianPulse, Medium, PML, Periodic, Simulation, Source
from evenly.fdtd.ranks.parallel import am_master, my_rank

def build(boundaries):
    layout = BinaryPartition([("x", 0.3), [("y", -0.1), 0, 2], [("z", 0.1), 1, 0]])
    glass = Block(size=(0.8, 0.63, 1), center=(0.2, 0.1, 0), material=Medium(epsilon=(2, 3, 4)))
    source = Source(GaussianPulse(frequency=1.0, fwidth=0.8), "Ez", center=(0.1, 0.0, 0.0))
    sim = Simulation(cell=(2, 1.6, 1.2), resolution=10, geometry=[glass], sources=[source], layout=layout,
                     boundaries=boundaries)
    for _ in range(12):
        sim.step()
    return sim
"""

WRITE = (
    BUILD
    + """
folder = sys.argv[1]
sim = build([PML(0.2, "x"), Periodic("y")])
sim.write(f"{folder}/fields.h5", ["Ez", "Hx", "epsilon"])
sim.write(f"{folder}/nodes.h5", ["Ez", "Hx"], average="nodes")
sim.write(f"{folder}/corner.h5", ["Ez"], region=((-0.8, -0.6, 0), (0.3, 0.2, 0.5)))
whole = {name: sim.field(name) for name in ("Ez", "Hx")}
if am_master():
    np.savez(f"{folder}/whole.npz", **whole)
"""
)


def test_parts_read_as_one_array_wherever_the_folder_is_moved(tmp_path: Path) -> None:
    first, alone = tmp_path / "three", tmp_path / "alone"
    first.mkdir()
    alone.mkdir()
    run_ranks(3, WRITE, str(first))
    (first / "fields.rank0007.h5").write_bytes((first / "fields.rank0001.h5").read_bytes())
    (first / "fields.rank0008.h5").write_text("not evenly's")
    run_ranks(3, WRITE, str(first))
    run_ranks(1, WRITE, str(alone))
    moved = first.rename(tmp_path / "elsewhere")
    names = {p.name for p in moved.glob("*.h5")}
    assert {"fields.h5", "fields.rank0000.h5", "fields.rank0001.h5", "fields.rank0002.h5"} <= names
    assert "fields.rank0007.h5" not in names
    assert "fields.rank0008.h5" in names
    assert {n for n in names if n.startswith("corner")} == {"corner.h5", "corner.rank0000.h5"}
    whole = np.load(alone / "whole.npz")
    with h5py.File(moved / "fields.h5") as file, h5py.File(alone / "fields.h5") as one:
        assert file["Ez"].is_virtual
        for name in ("Ez", "Hx"):
            np.testing.assert_array_equal(file[name][:], whole[name])
        for name in one:
            np.testing.assert_array_equal(file[name][:], one[name][:])
        assert dict(file["Hx"].attrs).keys() == dict(one["Hx"].attrs).keys()
        sources = {source.file_name for source in file["Ez"].virtual_sources()}
        assert sources == {f"fields.rank{r:04}.h5" for r in range(3)}
    with h5py.File(moved / "nodes.h5") as file, h5py.File(alone / "nodes.h5") as one:
        for name in ("Ez", "Hx"):
            np.testing.assert_array_equal(file[name][:], one[name][:])
    (moved / "fields.rank0002.h5").unlink()
    with h5py.File(moved / "fields.h5") as file:
        missing = np.isnan(file["Ez"][:])
        assert 0 < missing.mean() < 1


LIMITED = (
    BUILD
    + """
import resource
from evenly.errors import InputError
sim = build([])
if my_rank() == 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
try:
    sim.write(sys.argv[1] + "/fields.h5", ["Ez", "Hx"])
except InputError as error:
    print(f"{my_rank()}: {error}")
"""
)


def test_what_one_rank_can_not_write_all_tell_and_nothing_is_left(tmp_path: Path) -> None:
    told = run_ranks(3, LIMITED, str(tmp_path)).splitlines()
    assert len(told) == 3
    assert len({line.partition(": ")[2] for line in told}) == 1
    assert "fields.h5 can't be written by rank 2: File too large" in told[0]
    assert not list(tmp_path.iterdir())


def test_a_folder_that_can_not_be_written_ends_the_job_with_its_text() -> None:
    job = start_ranks(2, BUILD + "build([]).write('/proc/fields.h5')")
    assert job.status == 2
    assert job.errors.count("its folder /proc allows no new file") == 1
