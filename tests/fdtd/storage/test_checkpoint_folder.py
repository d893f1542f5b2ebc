"""A checkpoint's folder: nothing is removed or overwritten there that evenly didn't write."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evenly import fdtd
from evenly.errors import InputError, ReadError
from evenly.fdtd.storage import checkpoint_folder
from evenly.writing import put


def small() -> fdtd.Simulation:
    return fdtd.Simulation(cell=(1, 0, 0), resolution=10)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def users_folder(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "measured.csv").write_text("years of work")
    return folder


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def write_manifest(folder: Path, **changes: Any) -> None:
    (folder / "manifest.json").write_text(json.dumps({**manifest_of(folder), **changes}))


@pytest.mark.parametrize("name", ["data-2024", "data-raw", "data-000000001-0123abcd", "manifest.json.partial", ".git"])
def test_a_folder_of_somebody_else_is_refused_and_left(tmp_path: Path, name: str) -> None:
    before = contents(users_folder(tmp_path, name))
    with pytest.raises(InputError, match=r"no checkpoint and not empty.*new folder"):
        small().save(tmp_path)
    assert contents(tmp_path) == before


def test_a_manifest_of_somebody_else_is_refused_and_left(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "web application"}')
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"not that of a checkpoint.*new folder"):
        small().save(tmp_path)
    assert contents(tmp_path) == before


def test_what_users_put_beside_or_into_a_checkpoint_stays(tmp_path: Path) -> None:
    sim = small()
    sim.save(tmp_path)
    data = tmp_path / manifest_of(tmp_path)["data"]
    (data / "notes.txt").write_text("mine")
    (data / "part-7.npz").write_text("mine")
    users_folder(tmp_path, "data-2024")
    users_folder(tmp_path, "data-000000001-0123abcd")
    (tmp_path / "data-000000002-0123abcd").symlink_to(tmp_path / "data-2024")
    sim.save(tmp_path)
    assert manifest_of(tmp_path)["data"] != data.name
    assert sorted(path.name for path in data.iterdir()) == ["notes.txt", "part-7.npz"]
    for name in ("data-2024", "data-000000001-0123abcd", "data-000000002-0123abcd"):
        assert (tmp_path / name / "measured.csv").read_text() == "years of work"


def test_what_a_killed_process_left_blocks_nobody_and_is_removed_an_hour_later(tmp_path: Path) -> None:
    """Killed after making the folder, after marking it, and after writing a part."""
    (tmp_path / "data-000000003-00000000").mkdir()
    marked, written = (tmp_path / checkpoint_folder.new_data(tmp_path, 4) for _ in range(2))
    (written / "part-00000.npz").write_bytes(b"half a par")
    sim = small()
    sim.save(tmp_path)
    # Another job may be writing there just now.
    assert marked.is_dir()
    assert written.is_dir()
    for path in (*tmp_path.glob("data-*"), *tmp_path.glob("data-*/*")):
        if manifest_of(tmp_path)["data"] not in str(path):
            os.utime(path, (1e9, 1e9))
    sim.save(tmp_path)
    assert [path.name for path in tmp_path.glob("data-*")] == [manifest_of(tmp_path)["data"]]


def test_two_jobs_on_one_folder_are_told(tmp_path: Path) -> None:
    one, other = small(), small()
    one.save(tmp_path)
    other.load(tmp_path)
    other.step()
    other.save(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"Another process.*folder of its own"):
        one.save(tmp_path)
    assert contents(tmp_path) == before
    one.load(tmp_path)
    assert one.step_count == 1
    one.save(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"data": "../other"}, {"data": "/etc"}, {"data": None}, {"step": -5}, {"step": "many"}, {"time": float("nan")},
        {"ranks": {}}, {"ranks": [{"chunks": 3}]}, {"simulation": []}, {"monitors": None}, {"extra": 3},
    ],
)  # fmt: skip
def test_a_manifest_that_evenly_did_not_write_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    sim = small()
    sim.save(tmp_path)
    write_manifest(tmp_path, **changes)
    before = contents(tmp_path)
    with pytest.raises(ReadError, match="damaged"):
        small().load(tmp_path)
    with pytest.raises(InputError, match="damaged"):
        sim.save(tmp_path)
    assert contents(tmp_path) == before


def test_not_even_a_right_checksum_leads_out_of_the_folder(tmp_path: Path) -> None:
    small().save(tmp_path / "one")
    found = manifest_of(tmp_path / "one") | {"data": "../other"}
    del found["checksum"]
    write_manifest(tmp_path / "one", data="../other", checksum=checkpoint_folder._checksum(found))
    with pytest.raises(ReadError, match="damaged"):
        small().load(tmp_path / "one")


@pytest.mark.parametrize("name", ["data", "step", "extra", "ranks", "checksum"])
def test_a_manifest_that_lacks_a_key_is_refused(tmp_path: Path, name: str) -> None:
    small().save(tmp_path)
    found = manifest_of(tmp_path)
    del found[name]
    (tmp_path / "manifest.json").write_text(json.dumps(found))
    with pytest.raises(ReadError, match="damaged"):
        small().load(tmp_path)


def test_an_error_after_the_manifest_is_in_place_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an interruption nor old data that can't be removed."""
    sim = small()
    sim.save(tmp_path)

    def put_and_stop(*paths: Path) -> None:
        put(*paths)
        raise KeyboardInterrupt

    sim.step()
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_folder, "put", put_and_stop)
        with pytest.raises(KeyboardInterrupt):
            sim.save(tmp_path)
    small().load(tmp_path)

    def no_list(*_: object) -> None:
        raise OSError(5, "Input/output error")

    sim.step()
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_folder, "_is_left", no_list)
        sim.save(tmp_path)
    again = small()
    again.load(tmp_path)
    assert again.step_count == 2
