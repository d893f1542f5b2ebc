"""Checkpoints hold everything, on any layout; what is broken or another simulation's is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.errors import InputError, ReadError
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.stepping.chunk_state import dense_arrays, packed_arrays, state_bytes
from evenly.fdtd.storage import checkpoint_files
from evenly.fdtd.storage.checkpoint_manifest import media_digest
from tests.parallel.checkpoints import HALF, WHOLE, results, simulation, steps
from tests.parallel.everything import SCENES, layouts


def everything(sim: fdtd.Simulation) -> dict[str, Any]:
    """Return all that a simulation remembers, chunk by chunk."""
    found: dict[str, Any] = {"step": sim.step_count}
    for chunk in sim.chunks:
        for name, values in dense_arrays(chunk).items():
            found[f"{chunk.index}.{name}"] = values.copy()
        for group in packed_arrays(chunk):
            for name, values in group.arrays.items():
                found[f"{chunk.index}.{name}"] = values.copy()
    for n, monitor in enumerate(sim.monitors):
        if isinstance(monitor, FourierMonitor):
            states = [part.patch.state() for part in monitor.parts()]
        else:
            assert isinstance(monitor, fdtd.FieldRecorder)
            states = [monitor.state()]
        for p, state in enumerate(states):
            found |= {f"monitor{n}.{p}.{name}": values for name, values in state.items()}
    return found


@pytest.mark.parametrize("scene", ["real", "bloch", "periodic", "flat"])
def test_state_survives_a_journey_over_other_layouts(scene: str, tmp_path: Path) -> None:
    cuts = layouts(SCENES[scene]["cell"])
    first = simulation(scene, cuts[2])
    steps(first, HALF)
    first.save(tmp_path / "one", extra={"note": [1, 2.5]})
    second = simulation(scene, cuts[1])
    assert second.load(tmp_path / "one") == {"note": [1, 2.5]}
    second.save(tmp_path / "two")
    third = simulation(scene, cuts[2])
    assert third.load(tmp_path / "two") is None
    before, after = everything(first), everything(third)
    assert before.keys() == after.keys()
    assert [name for name, values in before.items() if not np.array_equal(values, after[name])] == []
    # What is compared is not all zero.
    assert np.any(before["monitor0.0.kept"])
    assert any(np.any(v) for name, v in before.items() if ".now." in name)
    # To the last bit like a run that never stopped, where chunks are the same.
    steps(third, WHOLE)
    steps(first, WHOLE)
    wanted, found = results(first), results(third)
    assert [name for name in wanted if not np.array_equal(wanted[name], found[name])] == []


@pytest.mark.slow  # compiles kernels of its own
def test_single_precision_survives_too(tmp_path: Path) -> None:
    first, second = (simulation("flat", precision="float32") for _ in range(2))
    steps(first, HALF)
    first.save(tmp_path / "state")
    second.load(tmp_path / "state")
    before, after = everything(first), everything(second)
    assert all(np.array_equal(values, after[name]) for name, values in before.items())
    with pytest.raises(ReadError, match="precision 'float32' but here 'float64'"):
        simulation("flat").load(tmp_path / "state")


def small(**changes: Any) -> fdtd.Simulation:
    """Return a cell on a line with a film and a recorder."""
    epsilon = changes.pop("epsilon", 2.0)
    film = fdtd.Block(size=(1, 0.3, 0.3), material=epsilon if callable(epsilon) else fdtd.Medium(epsilon=epsilon))
    setup: dict[str, Any] = {"cell": (0, 0, 2), "resolution": 10, "boundaries": [fdtd.PML(0.3, "z")], **changes}
    sim = fdtd.Simulation(geometry=[film], **setup)
    sim.add(fdtd.FieldRecorder("Ex", (0, 0, 0.12)))
    return sim


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    sim = small()
    sim.chunks[0].view("Ex", 0, sim.chunks[0].box)[...] = 1.0
    sim.stepper.refresh()
    steps(sim, 5)
    sim.save(tmp_path / "state")
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cell": (0, 0, 3)}, r"cell \[0.0, 0.0, 2.0\] but here \[0.0, 0.0, 3.0\]"),
        ({"resolution": 20}, "resolution 10.0 but here 20.0"),
        ({"boundaries": [fdtd.Periodic()]}, "PML points"),
        ({"boundaries": [fdtd.PML(0.3, "z", order=4)]}, "layers"),
        ({"epsilon": 3.0}, r"object 1 Block\(.* but here Block\("),
        ({"epsilon": lambda x, y, z: 2.0 + 0 * z + 0.1 * (z > 0.1)}, "object 1"),
    ],
)
def test_another_simulation_is_refused_and_told_apart(saved: Path, changes: Any, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        small(**changes).load(saved)


def test_a_function_that_changed_is_noticed(tmp_path: Path) -> None:
    def cell(value: float) -> fdtd.Simulation:
        return small(epsilon=lambda x, y, z: value + 0 * z)

    cell(2.0).save(tmp_path / "state")
    cell(2.0).load(tmp_path / "state")
    with pytest.raises(ReadError, match="media of other values at some points"):
        cell(2.5).load(tmp_path / "state")


def test_other_monitors_are_refused(saved: Path) -> None:
    more = small()
    more.add(fdtd.FieldRecorder("Ey", (0, 0, 0)))
    with pytest.raises(ReadError, match=r"1 monitors \(the field recorder of Ex\) but here 2"):
        more.load(saved)


def test_what_is_broken_is_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no checkpoint here"):
        small().load(tmp_path / "nowhere")
    part = next(saved.glob("data-*/part-*.npz"))
    whole = part.read_bytes()
    part.write_bytes(whole[:-200])
    with pytest.raises(ReadError, match="damaged"):
        small().load(saved)
    # One flipped bit among the fields.
    where = len(whole) // 3
    part.write_bytes(whole[:where] + bytes([whole[where] ^ 1]) + whole[where + 1 :])
    with pytest.raises(ReadError, match="damaged"):
        small().load(saved)
    part.unlink()
    with pytest.raises(ReadError, match="damaged"):
        small().load(saved)


@pytest.mark.parametrize(
    ("change", "message"), [({"format": "else"}, "not that of a checkpoint"), ({"version": 99}, "version 99")]
)
def test_other_formats_are_refused(saved: Path, change: Any, message: str) -> None:
    path = saved / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ReadError, match=message):
        small().load(saved)
    path.write_text("{")
    with pytest.raises(ReadError, match="damaged"):
        small().load(saved)


def test_a_save_that_fails_leaves_the_older_one(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = small()
    sim.load(saved)
    steps(sim, 9)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint_files.PartWriter, "write", full)
    with pytest.raises(InputError, match="No space left on device"):
        sim.save(saved)
    monkeypatch.undo()
    assert sorted(p.name.split("-")[0] for p in saved.iterdir()) == ["data", "manifest.json"]
    again = small()
    again.load(saved)
    assert again.step_count == 5
    sim.save(saved)
    again.load(saved)
    assert again.step_count == 9
    assert len(list(saved.glob("data-*"))) == 1


def test_places_that_cannot_hold_a_checkpoint_are_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = small()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    for name, message in (("file", "is a file"), ("full", "not empty"), ("file/below", "can't be written")):
        with pytest.raises(InputError, match=message):
            sim.run(until=1.0, callbacks=[fdtd.Checkpoints(tmp_path / name, steps=5)])
    usage = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(InputError, match="make room"):
        sim.run(until=1.0, callbacks=[fdtd.Checkpoints(tmp_path / "new", steps=5)])
    assert sim.step_count == 0


def test_checkpoints_are_written_during_a_run(tmp_path: Path) -> None:
    sim = small()
    sim.run(until=1.0, callbacks=[fdtd.Checkpoints(tmp_path / "state", steps=7)])
    again = small()
    again.load(tmp_path / "state")
    assert again.step_count == 14
    sim.run(until=4.0, callbacks=[fdtd.Checkpoints(tmp_path / "state", seconds=1e-9)])
    again.load(tmp_path / "state")
    assert again.step_count == 64
    with pytest.raises(InputError, match="one of `steps`, `time` and `seconds`"):
        fdtd.Checkpoints("x", steps=1, time=2.0)


def test_a_random_generator_goes_on(tmp_path: Path) -> None:
    rng = fdtd.shared_random(7)
    rng.random(3)
    small().save(tmp_path / "state", extra=rng.bit_generator.state)
    wanted = rng.random(4)
    other = fdtd.shared_random(8)
    other.bit_generator.state = small().load(tmp_path / "state")
    np.testing.assert_array_equal(other.random(4), wanted)


def test_the_digest_of_media_knows_no_layout() -> None:
    cuts = layouts(SCENES["real"]["cell"])
    found = {media_digest(simulation("real", cut)) for cut in cuts}
    assert len(found) == 1


def test_bytes_of_a_state_are_counted_before_it_is_written() -> None:
    # Six components at 20 points; in two layers of 3 points, two derivatives of E and two of H along z.
    assert sum(state_bytes(chunk) for chunk in small().chunks) == 8 * (6 * 20 + 4 * 6)
